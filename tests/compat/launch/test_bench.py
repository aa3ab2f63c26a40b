"""bench/launch where the other launcher fails or hangs: a row that says so, and no crash."""
import os
import re
import subprocess
import sys

import pytest

from places import LAUNCHER, ROOT

# An interpreter whose torch is a word, and whose torchrun is what the test says.
PYTHON = """#!/bin/sh
case "$*" in
  *"import torch; print"*) echo 2.9; exit 0;;
  "-m torch.distributed.run "*) {peer};;
esac
exec {python} "$@"
"""


@pytest.mark.parametrize("peer, why", [
    ("exit 3", "0 of 2 workers said something"),
    ("exec sleep 1000", "no end within 5 s"),
])
def test_a_peer_that_fails_or_hangs_is_a_row(launch, peer, why):
    python = launch.script(PYTHON.format(peer=peer, python=sys.executable), "python")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "launch"), "--peer", python,
                           "--runs", "1", "--only", "start", "--limit", "5"], timeout=240,
                          env={**launch.env, "MUSTER_LAUNCH_BINARY": LAUNCHER},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"start to the last first line, 2 workers +[0-9.]+ +failed ms", done.stdout)
    assert f"  the other: {why}" in done.stdout and "Traceback" not in done.stderr
    assert re.search(r"first line of the restart, 2 workers +[0-9.]+ +failed", done.stdout)
    launch.await_none_left()
