"""Two versions of muster in use: the newer command replaces the daemon, the older one says so.

MUSTER_OLDER is a muster of an earlier commit (scripts/soak builds one); without it, it is this one
with an earlier date."""
import json
import os
import shutil
import subprocess

import pytest

from places import BINARY
from embedded_api import Api
from waiting import PATIENCE

RECORDS = 1000
JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
LINES = 300
PROGRAM = ("python -c \"import os, time\n"
           "print('pid', os.getpid(), flush=True)\n"
           f"for i in range({LINES}):\n"
           "    print('line', i, flush=True)\n"
           "    time.sleep(0.02)\n"
           "\"")


@pytest.fixture
def older(cluster):
    """Path of the older muster."""
    folder = cluster.path("bin", "older")
    os.mkdir(folder)
    source = os.environ.get("MUSTER_OLDER", BINARY)
    for name in ("muster", "muster-launch"):
        shutil.copy2(os.path.join(os.path.dirname(source), name), folder)
    path = os.path.join(folder, "muster")
    if source == BINARY:
        date = json.loads(cluster.run("version", "-o", "json").stdout)["buildDate"]
        assert date != "unknown", "built outside of a git repository"
        with open(path, "rb") as file:
            program = file.read()
        assert date.encode() in program
        with open(path, "wb") as file:
            file.write(program.replace(date.encode(), b"2001-01-01T00:00:00Z"))
    return path


def run(cluster, binary, *args):
    done = subprocess.run([binary, *args], env=cluster.env, cwd=cluster.path("home"), text=True,
                          capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
    return done


def suspended(name):
    container = {"name": "pytorch", "image": "host", "command": ["true"]}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "template": {"spec": {"containers": [container]}}}}}}


def pid_line(text):
    return next(line for line in text.splitlines() if line.startswith("pid"))


def test_a_newer_command_replaces_the_daemon_and_nothing_is_lost(cluster, older):
    run(cluster, older, "up")
    api = Api(cluster, is_up=True)
    for number in range(RECORDS):
        api.call("POST", JOBS, suspended(f"record-{number}"))
    api.close()
    run(cluster, older, "submit", "pytorch", "--name=runs", PROGRAM)
    follower = subprocess.Popen([older, "logs", "runs", "-f"], env=cluster.env, text=True,
                                stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    first = follower.stdout.readline()
    assert first.startswith("pid"), first

    done = cluster.run("list")
    assert "replacing the embedded cluster's daemon" in done.stderr and "its jobs continue" in done.stderr
    assert len(Api(cluster).call("GET", JOBS)["items"]) == RECORDS + 1
    shown = cluster.run("cluster").stdout.splitlines()
    versions = [line.split(": ", 1)[1].strip() for line in shown
                if line.startswith(("Version:", "Daemon's version:"))]
    assert len(versions) == 2 and versions[0] == versions[1]
    assert "is replaced" not in cluster.run("list").stderr

    out = follower.stdout.read()
    assert follower.wait(timeout=120) == 0
    assert out.splitlines() == [f"line {i}" for i in range(LINES)]
    assert cluster.wait("runs", "SUCCEEDED", "FAILED")["status"] == "SUCCEEDED"
    assert pid_line(cluster.run("logs", "runs").stdout) == first.strip(), "it was not started again"


def test_an_older_command_says_that_it_is_older(cluster, older):
    if "MUSTER_OLDER" in os.environ:
        pytest.skip("musters of then did not compare")
    cluster.run("up")
    pid = cluster.daemon_pid()
    done = run(cluster, older, "list")
    assert done.stderr.count("\n") == 1 and "older than the daemon" in done.stderr
    assert "2001-01-01" in done.stderr
    assert cluster.daemon_pid() == pid
    machine = run(cluster, older, "list", "-o", "json")
    assert machine.stderr == "" and json.loads(machine.stdout) is not None


def test_a_program_that_is_removed_under_the_daemon_still_starts_jobs(cluster):
    """An upgrade unlinks the file, and for a moment there is none."""
    folder = cluster.path("bin", "installed")
    os.mkdir(folder)
    for name in ("muster", "muster-launch"):
        shutil.copy2(os.path.join(os.path.dirname(BINARY), name), folder)
    installed = os.path.join(folder, "muster")
    run(cluster, installed, "up")
    os.remove(installed)
    cluster.submit("after", "echo started")
    # By the build that the daemon is of: it is not replaced.
    assert cluster.run("logs", "-f", "after", timeout=PATIENCE).stdout == "started\n"
