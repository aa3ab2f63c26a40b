"""`kill -9` of the daemon while jobs run: nothing is lost, nothing runs twice."""
import contextlib
import glob
import os
import random
import signal
import socket
import subprocess
import time

import pytest

from waiting import PATIENCE

KILLS = int(os.environ.get("MUSTER_KILLS", "50"))
KILLS_PER_JOB = 10
LINES = 200
# Each process writes its pid first, so that a second start would show.
PROGRAM = ("python -c \"import os, time\n"
           "print('pid', os.getpid(), flush=True)\n"
           f"for i in range({LINES}):\n"
           "    print('line', os.environ['RANK'], i, flush=True)\n"
           "    time.sleep(0.015)\n"
           "\"")


def expected(rank):
    return [f"line {rank} {i}" for i in range(LINES)]


def test_random_kills_lose_and_repeat_nothing(cluster):
    chance = random.Random(os.environ.get("MUSTER_SEED", "1"))
    killed = 0
    number = 0
    while killed < KILLS:
        name = f"kill-{number}"
        number += 1
        cluster.submit(name, PROGRAM, "--workers=2")
        for _ in range(KILLS_PER_JOB):
            time.sleep(chance.uniform(0, 0.25))
            cluster.kill_daemon()
            killed += 1
            cluster.run("up")
        job = cluster.wait(name, "SUCCEEDED", "FAILED")
        assert job["status"] == "SUCCEEDED", cluster.run("get", name).stdout
        for rank, instance in enumerate((f"{name}-master-0", f"{name}-worker-0")):
            # The job is over with its master; -f waits for the worker's last line.
            lines = cluster.run("logs", name, "-i", instance, "-f").stdout.splitlines()
            assert [line for line in lines if line.startswith("pid")] == lines[:1]
            assert lines[1:] == expected(rank)
        cluster.run("delete", name)
        assert cluster.pod_processes() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_next_command_works_at_once(cluster, number):
    """Nobody waits for the daemon's end first."""
    for _ in range(KILLS):
        while not (pid := cluster.daemon_pid()):
            cluster.run("up")  # the last answer came from one that was ending
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        cluster.run("list")


def run_and_kill(cluster, chance, *args):
    """A command amid which the daemon is killed, whole."""
    command = cluster.start(*args, stdin=subprocess.DEVNULL)
    time.sleep(chance.uniform(0, 0.1))
    pid = cluster.daemon_pid()
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, chance.choice([signal.SIGKILL, signal.SIGTERM]))
    out, err = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0, f"{args}: exit {command.returncode}\n{out}\n{err}"
    return out


def test_a_write_amid_a_kill_is_done_once(cluster):
    chance = random.Random(os.environ.get("MUSTER_SEED", "1"))
    cluster.run("up")
    for number in range(max(3, KILLS // 10)):
        name = f"write-{number}"
        run_and_kill(cluster, chance, "submit", "pytorch", f"--name={name}", "--workers=2",
                     "--selector=no=such", "sleep 600")
        run_and_kill(cluster, chance, "suspend", name)
        run_and_kill(cluster, chance, "resume", name)
        assert name in run_and_kill(cluster, chance, "list")
        run_and_kill(cluster, chance, "delete", name)
        assert name not in cluster.run("list").stdout
    assert cluster.pod_processes() == []


def test_a_follower_brings_the_daemon_back_by_itself(cluster):
    cluster.submit("followed", PROGRAM)
    cluster.wait("followed", "RUNNING")
    follower = cluster.start("logs", "followed", "-f")
    for _ in range(5):
        time.sleep(0.3)
        pid = cluster.daemon_pid()
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    out, err = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 0, err
    assert out.splitlines()[1:] == expected(0)


@pytest.mark.parametrize("ranks", ["--nproc-per-node=2", "--nodes=2"])
def test_a_run_that_is_followed_goes_on_and_ends_as_its_program(cluster, ranks):
    go = cluster.path("home", "go")
    script = (f"echo begun; while ! test -e {go}; do sleep 0.05; done; echo ended; touch {go}.$RANK; "
              f"while ! test -e {go}.0 -a -e {go}.1; do sleep 0.05; done; exit 7")
    following = cluster.start("run", "--name=kept", ranks, "sh", "-c", script)
    while "begun" not in following.stdout.readline():
        assert following.poll() is None, following.stderr.read()
    for _ in range(3):
        cluster.kill_daemon()
        deadline = time.monotonic() + PATIENCE
        while not cluster.daemon_pid():  # the follower starts another
            assert time.monotonic() < deadline and following.poll() is None
            time.sleep(0.05)
    open(go, "w").close()
    out, err = following.communicate(timeout=PATIENCE)
    assert following.returncode == 7, err
    said = [line for line in out.splitlines() if line.endswith("ended")]
    assert sum(2 if line.startswith("[0-1]") else 1 for line in said) == 2, out
    assert out.count("begun") <= 1, out
    assert "exited with code 7" in err and "ERRO" in err.splitlines()[-1], err


def test_a_follower_does_not_undo_a_down(cluster):
    cluster.submit("ended", "echo begun; sleep 600")
    follower = cluster.start("logs", "ended", "-f")
    assert follower.stdout.readline() == "begun\n"
    cluster.run("down", "--force", timeout=120)
    follower.communicate(timeout=PATIENCE)
    assert cluster.daemon_pid() is None
    assert cluster.get("ended")["status"] == "FAILED", "the next command starts it again"


def test_down_knows_what_a_killed_daemon_left_running(cluster):
    cluster.submit("left", "sleep 600")
    cluster.wait("left", "RUNNING")
    cluster.kill_daemon()
    assert "default/left" in cluster.run("down", code=1).stderr
    cluster.kill_daemon()
    cluster.run("down", "--force", timeout=120)
    assert cluster.pod_processes() == [] and cluster.daemon_pid() is None
    assert "not running" in cluster.run("down").stdout


def test_a_failure_while_the_daemon_is_dead_keeps_its_exit_code(cluster):
    go = cluster.path("home", "go")
    cluster.submit("dies", f"while ! test -e {go}; do sleep 0.05; done; exit 7")
    cluster.wait("dies", "RUNNING")
    cluster.kill_daemon()
    open(go, "w").close()
    cluster.await_no_process()
    cluster.wait("dies", "FAILED")
    assert "exited with code 7" in cluster.run("get", "dies").stdout


def test_deleting_after_a_restart_leaves_no_process(cluster):
    cluster.submit("stays", "(setsid sleep 600 &) ; sleep 600", "--workers=2")
    cluster.wait("stays", "RUNNING")
    cluster.kill_daemon()
    assert cluster.pod_processes() != []
    cluster.run("delete", "stays", timeout=PATIENCE)
    assert cluster.pod_processes() == []


def test_a_command_in_a_pod_ends_plainly_with_the_daemon(cluster):
    cluster.submit("runs", "sleep 600")
    cluster.wait("runs", "RUNNING")
    attached = cluster.start("attach", "runs", "--", "sh", "-c", "echo begun; exec sleep 600",
                             stdin=subprocess.DEVNULL)
    assert attached.stdout.readline() == "begun\n"
    cluster.kill_daemon()
    _, told = attached.communicate(timeout=PATIENCE)
    assert attached.returncode == 1
    assert "went away while the command ran in runs-master-0" in told, told
    assert "not run a second time" in told, told
    # The next one finds another daemon.
    done = cluster.run("attach", "runs", "--", "echo", "again")
    assert done.stdout == "again\n"


def test_a_daemon_waits_for_the_socket_of_the_one_before(cluster):
    """The kernel frees the lock of a daemon that was killed before its socket."""
    cluster.run("up")
    [path] = glob.glob(cluster.path("run", "muster-*", "muster.sock"))
    cluster.run("down")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as before:
        before.bind(path)
        before.listen()
        daemon = cluster.start("daemon", stdin=subprocess.DEVNULL)
        time.sleep(1)
        assert daemon.poll() is None, daemon.communicate()
    cluster.run("list")
    assert cluster.daemon_pid() == daemon.pid
