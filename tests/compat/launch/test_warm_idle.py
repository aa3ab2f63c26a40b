"""Idle interpreters are bounded in number and memory: the oldest one goes. What is read later makes no other one."""
import contextlib
import os
import signal
import subprocess
import sys

import pytest

from waiting import PATIENCE
from test_warm import modules  # noqa: F401
from warm_interpreters import Warm

import idle as warm_idle


def run_with(launch, modules, threads, kept):
    """With an interpreter of its own; the pids of all that are there after it."""
    before, keepers = modules.alone(), modules.keepers()
    env = {**modules.env, "MKL_NUM_THREADS": str(threads)}
    assert launch.run("--warm", "--warm-kept", str(kept), launch.script("print('RAN')"), env=env).out == "RAN\n"
    launch.await_true(lambda: modules.keepers() == keepers, "a keeper is left")
    return [pid for pid in modules.alone() if pid not in before]


def test_the_oldest_idle_one_leaves_when_there_are_too_many(launch, modules):  # noqa: F811
    made = [run_with(launch, modules, threads, kept=2)[0] for threads in range(4)]
    launch.await_true(lambda: sorted(modules.alone()) == sorted(made[2:]), "there are more than two")
    # Who is wanted again is not the oldest any more.
    assert run_with(launch, modules, 2, kept=2) == []
    newest, = run_with(launch, modules, 5, kept=2)
    launch.await_true(lambda: sorted(modules.alone()) == sorted([made[2], newest]), "another one has left")


def test_one_that_is_in_use_stays_and_does_not_count(launch, modules):  # noqa: F811
    script = launch.script("""
import os, sys, time
print("UP", os.environ["TORCHELASTIC_RESTART_COUNT"], "torch" in sys.modules, flush=True)
while not os.path.exists("go"): time.sleep(0.01)
sys.exit(os.environ["TORCHELASTIC_RESTART_COUNT"] == "0")
""", "busy.py")
    busy = launch.start("--warm", "--warm-kept", "1", "--max-restarts", "1", script, env=modules.env)
    launch.await_line(busy, "UP 0 True")
    of_busy, = modules.alone()
    first, = run_with(launch, modules, 2, kept=1)
    assert sorted(modules.alone()) == sorted([of_busy, first])
    second, = run_with(launch, modules, 3, kept=1)
    launch.await_true(lambda: sorted(modules.alone()) == sorted([of_busy, second]), "the first one is still there")
    open(launch.path("go"), "w").close()
    assert (busy.communicate(timeout=PATIENCE)[0], busy.returncode) == ("UP 1 True\n", 0)
    launch.await_true(lambda: modules.alone() == [of_busy], "the one that became idle last is alone")


class StandIn:
    """Idle interpreters, as far as others see them."""

    def __init__(self, folder, key):
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import signal; print('UP', flush=True); signal.sigwait([signal.SIGURG])",
             "/muster-warm/" + key], stdout=subprocess.PIPE,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [warm_idle.ASK]))
        self.process.stdout.readline()
        with open(os.path.join(folder, key + ".lock"), "w") as file:
            file.write(str(self.process.pid))


@pytest.mark.parametrize("share, stay", [(1, [0, 1, 2]), (1 << 60, [2])])
def test_idle_ones_hold_a_share_of_the_memory_only(tmp_path, monkeypatch, share, stay):
    monkeypatch.setattr(warm_idle, "SHARE", share)
    found = [StandIn(tmp_path, str(number)) for number in range(3)]
    for number in range(3):  # the order is known whatever the file system's clock does
        os.utime(tmp_path / f"{number}.lock", ns=(number, number))
    (tmp_path / "gone.lock").write_text(str(2 ** 22 - 1))
    (tmp_path / "busy.lock").write_text("")
    # Its number is another program's now.
    stranger = StandIn(tmp_path, "stranger")
    os.rename(tmp_path / "stranger.lock", tmp_path / "3.lock")
    idle = warm_idle.Idle.__new__(warm_idle.Idle)
    idle.lock, idle.kept = str(tmp_path / "busy.lock"), 4
    try:
        idle.ask_the_oldest()
        for number in {0, 1, 2} - set(stay):
            assert found[number].process.wait(PATIENCE) == 0
        assert [number for number in range(3) if found[number].process.poll() is None] == stay
        assert stranger.process.poll() is None
    finally:
        for each in [*found, stranger]:
            with contextlib.suppress(ProcessLookupError):
                each.process.kill()
            each.process.wait()


def test_what_is_read_when_a_process_group_is_made_needs_no_other_interpreter(launch, torch_version):
    warm = Warm()
    try:
        script = launch.script("import torch.distributed as dist\n"
                               "dist.init_process_group('gloo')\ndist.barrier()\nprint('RAN')\n")
        codes = []
        for env in ({}, {"GLOO_SOCKET_IFNAME": "lo", "NCCL_DEBUG": "INFO"}, {"GLOO_SOCKET_IFNAME": "none0"}):
            cold = launch.start("--explain=off", "--nproc-per-node=1", script, env={**warm.env, **env})
            forked = launch.start("--explain=off", "--warm", "--nproc-per-node=1", script, env={**warm.env, **env})
            results = [(process.communicate(timeout=PATIENCE), process.returncode) for process in (cold, forked)]
            (cold_text, code), (text, forked_code) = results
            assert (text[0], forked_code) == (cold_text[0], code)
            assert "warm start" not in text[1]
            assert ("none0" in text[1]) == ("none0" in cold_text[1]) == bool(code), text[1]
            codes.append(code)
        assert codes == [0, 0, 1]
        assert len(warm.alone()) == 1
    finally:
        warm.close()
