"""A command finds the user's daemon, and nobody else's, wherever their sockets are."""
import fcntl
import hashlib
import json
import os
import select
import shutil
import socket
import stat
import subprocess
import time

import pytest

from waiting import PATIENCE, await_true

NO_RUNTIME_DIR = {"XDG_RUNTIME_DIR": ""}


def record(cluster):
    with open(cluster.path("state", "muster", "daemon.lock")) as file:
        return json.loads(file.readline())


def await_new_socket(cluster, old):
    """Until the daemon has written where it listens now."""
    await_true(lambda: os.path.exists(record(cluster)["socket"]), f"{old} was not made again")


@pytest.fixture
def open_folder():
    """Where everybody may make things, as /tmp."""
    folder = f"/tmp/muster-open-{os.getpid()}"
    os.mkdir(folder)
    os.chmod(folder, 0o1777)
    yield folder
    shutil.rmtree(folder)


def test_a_stranger_who_made_the_socket_first_receives_nothing(nobody_cluster, open_folder):
    """Without a runtime directory of one's own, and with one that others can write to."""
    state = nobody_cluster.path("state", "muster")
    tag = hashlib.md5(state.encode()).hexdigest()[:8]
    folders = [f"{open_folder}/muster-{tag}", f"/tmp/muster-{nobody_cluster.uid}-{tag}"]
    strangers = []
    try:
        for folder in folders:
            os.mkdir(folder)
            os.chmod(folder, 0o777)
            strangers.append(socket.socket(socket.AF_UNIX))
            strangers[-1].bind(f"{folder}/muster.sock")
            os.chmod(f"{folder}/muster.sock", 0o777)
            strangers[-1].listen()
            strangers[-1].setblocking(False)
        for runtime in (open_folder, "", "/run/does/not/exist"):
            there = {"XDG_RUNTIME_DIR": runtime}
            for verb in (["up"], ["list"], ["cluster"], ["up", "--listen"], ["whoami"],
                         ["down", "--force"]):
                done = nobody_cluster.run(*verb, env=there)
                assert open_folder not in done.stdout and "/tmp/muster-6" not in done.stdout
        for stranger in strangers:
            with pytest.raises(BlockingIOError):
                stranger.accept()
    finally:
        for stranger in strangers:
            stranger.close()
        shutil.rmtree(folders[1], ignore_errors=True)


def test_a_state_directory_that_others_can_write_to_is_refused(cluster):
    cluster.run("up")
    os.chmod(cluster.path("state", "muster"), 0o777)
    for verb in (["list"], ["cluster"], ["down", "--force"]):
        done = cluster.run(*verb, code=1)
        assert "must be a directory of your own that nobody else can write to" in done.stderr
    os.chmod(cluster.path("state", "muster"), 0o700)
    cluster.run("list")


@pytest.mark.parametrize("first, then", [({}, NO_RUNTIME_DIR), (NO_RUNTIME_DIR, {}),
                                         ({}, {"XDG_RUNTIME_DIR": "/proc/1"})])
def test_another_runtime_directory_finds_the_same_daemon(cluster, first, then):
    """A login session and cron; `su`, which keeps the other user's."""
    cluster.run("up", env=first)
    pid = record(cluster)["pid"]
    assert f"running, pid {pid}" in cluster.run("cluster", env=then).stdout
    cluster.run("submit", "pytorch", "--name=seen", "true", env=then)
    assert "seen" in cluster.run("list", env=first).stdout
    assert record(cluster)["pid"] == pid
    assert "is down" in cluster.run("down", "--force", env=then).stdout
    assert "not running" in cluster.run("cluster", env=first).stdout


def test_a_socket_that_vanished_is_made_again(cluster):
    """A clean-up takes first the socket, then its directory, then the runtime directory itself."""
    cluster.run("up")
    pid = record(cluster)["pid"]
    before = record(cluster)["socket"]
    assert before.startswith(cluster.path("run"))
    for victim in (before, os.path.dirname(before), cluster.path("run")):
        # At once: of what is taken out file by file, the daemon makes the first anew amid it.
        os.rename(victim, cluster.path("gone"))
        subprocess.run(["rm", "-r", cluster.path("gone")], check=True)
        cluster.run("list")  # at once
        await_new_socket(cluster, victim)
        cluster.run("list")
        assert record(cluster)["pid"] == pid
    assert record(cluster)["socket"].startswith(cluster.path("state"))
    assert cluster.run("list", env=NO_RUNTIME_DIR).returncode == 0
    assert "is down" in cluster.run("down").stdout


def test_a_lock_that_vanished_is_taken_again(cluster):
    """Without it a second daemon would start beside the first."""
    cluster.run("up")
    before = record(cluster)
    for _ in range(2):
        os.unlink(cluster.path("state", "muster", "daemon.lock"))
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if record(cluster) == before:
                    break
            except (OSError, ValueError):
                pass
            assert time.monotonic() < deadline, "the lock was not taken again"
            time.sleep(0.01)
        cluster.run("list", env=NO_RUNTIME_DIR)
        assert record(cluster)["pid"] == before["pid"]
    assert "is down" in cluster.run("down").stdout


def test_a_removed_state_folder_is_the_end_of_its_daemon_not_of_what_runs(cluster):
    """What a daemon took into a removed store would be lost, with `submit` and `down` saying otherwise."""
    go = cluster.path("go")
    os.mkfifo(go)
    cluster.submit("before", f"read line < {go}; echo $line > {cluster.path('said')}")
    cluster.wait("before", "RUNNING")
    old = record(cluster)["pid"]
    pod, = os.listdir(cluster.path("state", "muster", "pods"))
    # The last file that a shim makes at its start: `rm` would stop at one that appears meanwhile.
    await_true(lambda: os.path.exists(cluster.path("state", "muster", "pods", pod, "status.reserve")))
    with open(cluster.path("state", "muster", "pods", pod, "shim.json")) as file:
        shim = os.pidfd_open(json.load(file)["pid"])
    daemon = os.pidfd_open(old)
    # The folder itself may stay, with a lock that the daemon has made anew meanwhile.
    subprocess.run(["rm", "-rf", cluster.path("state", "muster")], stderr=subprocess.DEVNULL)
    assert select.select([daemon], [], [], 60)[0], "the daemon goes on without its store"
    assert not os.path.exists(cluster.path("state", "muster", "pods"))
    assert "before" not in cluster.run("list").stdout
    cluster.submit("after", "echo here")
    cluster.wait("after", "SUCCEEDED")
    assert record(cluster)["pid"] != old
    assert "is down" in cluster.run("down").stdout
    assert "after" in cluster.run("list").stdout
    with open(go, "w") as file:
        file.write("still running\n")
    assert select.select([shim], [], [], 60)[0], "the shim outlives its program"
    with open(cluster.path("said")) as file:
        assert file.read() == "still running\n"
    os.close(shim)
    os.close(daemon)


def test_commands_that_come_first_and_at_once_start_one_daemon(cluster):
    commands = [cluster.start("list", stdin=subprocess.DEVNULL) for _ in range(8)]
    for command in commands:
        out, err = command.communicate(timeout=120)
        assert command.returncode == 0, out + err
    with open(cluster.path("state", "muster", "daemon.log")) as file:
        assert file.read().count("the embedded cluster is up") == 1


def test_a_home_with_a_path_longer_than_a_socket_may_have(cluster):
    home = cluster.path("h" * 150)
    os.mkdir(home, 0o700)
    env = {"HOME": home, "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": ""}
    try:
        cluster.submit("far", "echo here", env=env)
        assert cluster.run("logs", "far", "-f", env=env).stdout == "here\n"
        assert home in cluster.run("cluster", env=env).stdout
    finally:
        cluster.run("down", "--force", env=env)


def test_nothing_is_open_to_others_whatever_the_umask(cluster):
    before = os.umask(0)
    try:
        cluster.run("up", env=NO_RUNTIME_DIR)
        cluster.run("list")
    finally:
        os.umask(before)
    state = cluster.path("state", "muster")
    for name in (".", "run"):
        assert stat.S_IMODE(os.stat(os.path.join(state, name)).st_mode) == 0o700, name
    for name in ("daemon.lock", "daemon.log", "cluster.db", "run/muster.sock"):
        assert stat.S_IMODE(os.stat(os.path.join(state, name)).st_mode) == 0o600, name


def test_the_daemon_of_another_machine_is_not_waited_for_in_vain(cluster):
    """Nor is a lock that somebody holds that is not muster: the error says what it is."""
    cluster.run("up")
    cluster.run("down")
    lock = cluster.path("state", "muster", "daemon.lock")
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = cluster.run("list", code=1)
        assert lock in done.stderr and "is not visible here" in done.stderr


def test_the_limits_of_the_shell_that_came_first_are_not_those_of_all_jobs(cluster):
    """A daemon that `up` starts keeps them, one that another command starts does not; neither is killed for a large file."""
    seen = "python3 -c 'import os; print(os.getpriority(os.PRIO_PROCESS, 0))'"
    for number, (verb, niceness) in enumerate((("list", 0), ("up", 7))):
        subprocess.run(["sh", "-c", f'ulimit -f 2048; nice -n 7 "$0" {verb}', cluster.binary], env=cluster.env,
                       cwd=cluster.path("home"), check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, capture_output=True)
        cluster.submit(f"seen-{number}", seen)
        assert cluster.run("logs", "-f", f"seen-{number}").stdout == f"{niceness}\n"
        cluster.run("down")
