"""The dry runs of Oracle's oracle-ads beside ours: the recorded ones, and random files."""
import os
import subprocess

import pytest

import oci_mock
import recorded_dry_runs
import train_files
from oci_user import BINARY
from peer_dry_run import PeerDryRun

# The first file and how many: a failure names its own.
FIRST = int(os.environ.get("MUSTER_RANDOM_SEED", "0"))
COUNT = int(os.environ.get("MUSTER_RANDOM_FILES", "300"))


@pytest.fixture(scope="module")
def home(oci_key, tmp_path_factory):
    made = tmp_path_factory.mktemp("home")
    oci_mock.write_profile(str(made), oci_key)
    os.symlink(BINARY, made / "ads")
    return made


@pytest.fixture(scope="module")
def peer(home):
    return PeerDryRun(str(home))


@pytest.fixture
def folders(tmp_path):
    """Where the one works, and where the other."""
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
    return tmp_path / "theirs", tmp_path / "ours"


def ours(home, folder, *flags):
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return subprocess.run([home / "ads", "opctl", "run", "-f", "train.yaml", "--dry-run", "--nobuild", *flags],
                          cwd=folder, env=env, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("name", recorded_dry_runs.NAMES)
def test_what_is_recorded_is_what_the_original_prints(peer, folders, name):
    (folders[0] / "train.yaml").write_text(recorded_dry_runs.read(name, "yaml"), encoding="utf-8")
    code, shown, error = peer(folders[0])
    assert code == 0, error
    if os.environ.get("MUSTER_RECORD"):
        with open(recorded_dry_runs.path(name, "out"), "w", encoding="utf-8", newline="") as file:
            file.write(shown)
    assert recorded_dry_runs.read(name, "out") == shown


def compare(home, peer, folders, seed):
    """Why ours is not as theirs; None where it is."""
    text = train_files.train_file(seed)
    for folder in folders:
        (folder / "train.yaml").write_text(text, encoding="utf-8")
        (folder / "config.ini").unlink(missing_ok=True)
    code, shown, _ = peer(folders[0])
    done = ours(home, folders[1], "--no-strict")
    if code != 0:
        is_told = done.returncode == 0 or done.stderr.count(b"\n") >= 1
        return None if done.returncode in (0, 1) and is_told else f"exit {done.returncode}: {done.stderr}"
    if done.returncode != 0:
        return f"refused: {done.stderr.decode()}"
    if done.stdout != shown.encode():
        return f"shown otherwise:\n{done.stdout.decode()}\nby the original:\n{shown}"
    if (folders[0] / "config.ini").read_text() != (folders[1] / "config.ini").read_text():
        return "another config.ini"
    strict = ours(home, folders[1])
    if strict.returncode == 0 and strict.stdout != done.stdout:
        return f"strict, shown otherwise:\n{strict.stdout.decode()}"
    if strict.returncode != 0 and b"train.yaml line" not in strict.stderr:
        return f"refused without its line: {strict.stderr.decode()}"
    return None


def test_random_files_are_shown_as_the_original_shows_them(home, peer, folders):
    for seed in range(FIRST, FIRST + COUNT):
        why = compare(home, peer, folders, seed)
        assert why is None, f"seed {seed} (file in {folders[1]}): {why}"
