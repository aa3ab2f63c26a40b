"""A daemon that does not answer: the user is told, and can end it."""
import os
import pathlib
import select
import signal
import subprocess

from waiting import PATIENCE, await_true

WORDS = "has not answered for 5 s"


def read_until(process, words, timeout=30):
    """What the process says on stderr up to a line with the words."""
    said = ""
    while words not in said:
        assert select.select([process.stderr], [], [], timeout)[0], said
        line = process.stderr.readline()
        assert line, (said, process.wait(), process.stdout.read())
        said += line
    return said


def states_of_threads(pid):
    return {stat.read_text().rpartition(")")[2].split()[0] for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")}


def stopped_daemon(cluster):
    """The signal stops one thread after the other: on a busy machine the last ones answer for a while."""
    pid = cluster.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    await_true(lambda: states_of_threads(pid) == {"T"}, "its threads do not stop")
    return pid


def test_the_user_is_told_what_to_do_and_another_daemon_answers(cluster):
    cluster.submit("runs", "sleep 600")
    cluster.wait("runs", "RUNNING")
    pid = stopped_daemon(cluster)
    command = cluster.start("list", stdin=subprocess.DEVNULL)
    said = read_until(command, WORDS)
    assert f"(pid {pid})" in said and f"kill -9 {pid}" in said and "down --force" in said
    assert said.count("\n") == 1
    os.kill(pid, signal.SIGKILL)
    out, err = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0, err
    assert "runs" in out and "RUNNING" in out


def test_down_force_ends_it_and_its_jobs(cluster):
    cluster.submit("runs", "sleep 600")
    cluster.wait("runs", "RUNNING")
    pid = stopped_daemon(cluster)
    pidfd = os.pidfd_open(pid)
    down = cluster.start("down", "--force", stdin=subprocess.DEVNULL)
    ended = select.poll()
    ended.register(pidfd, select.POLLIN)
    assert ended.poll(10_000), "the promise is ten seconds"
    os.close(pidfd)
    out, err = down.communicate(timeout=PATIENCE)
    assert down.returncode == 0, err
    assert "does not answer" in err and "is down" in out
    assert cluster.pod_processes() == []
    assert cluster.get("runs")["status"] == "FAILED"
