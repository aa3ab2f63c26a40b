"""What the state folder holds is kept: whatever the host is called, from wherever muster is called,
and whatever the store has forgotten."""
import glob
import os
import shutil
import signal
import subprocess

import pytest

from waiting import PATIENCE, await_file, await_true

WAITS = "echo begun; sleep 600"


def as_another_host(cluster, *args):
    command = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh",
               cluster.binary, *args]
    done = subprocess.run(command, env=cluster.env, cwd=cluster.path("home"), text=True,
                          capture_output=True, timeout=PATIENCE)
    if "unshare" in done.stderr:
        pytest.skip(f"a host name of its own needs root: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return done


def end_daemon(cluster, number):
    pidfd = os.pidfd_open(cluster.daemon_pid())
    signal.pidfd_send_signal(pidfd, number)
    await_true(lambda: cluster.daemon_pid() is None, "the daemon runs on")
    os.close(pidfd)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_another_host_name_ends_and_removes_nothing(cluster, number):
    cluster.submit("over", "echo the end")
    cluster.wait_for_all("over", "SUCCEEDED")
    cluster.submit("runs", WAITS)
    cluster.wait("runs", "RUNNING")
    before = cluster.pod_processes()
    end_daemon(cluster, number)
    table = as_another_host(cluster, "list").stdout
    assert "runs" in table and "RUNNING" in table, table
    # Its agent has looked through the folders once a pod of its own runs.
    cluster.submit("next", "true")
    cluster.wait("next", "SUCCEEDED")
    assert cluster.get("runs")["status"] == "RUNNING"
    assert set(before) <= set(cluster.pod_processes())
    assert "the end" in cluster.run("logs", "over").stdout
    assert "begun" in cluster.run("logs", "runs").stdout
    assert not os.path.exists(cluster.path("state/muster/lost+found"))


def test_muster_in_a_pod_talks_to_the_daemon_that_runs_it(cluster):
    cluster.submit("inside", f"{cluster.binary} list > said 2>&1; {WAITS}",
                   f"--working-dir={cluster.path('tmp')}")
    cluster.wait("inside", "RUNNING")
    await_true(lambda: "inside" in await_file(cluster.path("tmp", "said")), lambda: await_file(cluster.path("tmp", "said")))


def test_muster_in_a_pod_starts_no_daemon(cluster):
    cluster.submit("inside", f"while [ ! -e go ]; do sleep 0.1; done; {cluster.binary} list > said "
                   f"2>&1; echo $? > code; {cluster.binary} daemon 2> daemon; echo > done; {WAITS}",
                   f"--working-dir={cluster.path('tmp')}")
    cluster.wait("inside", "RUNNING")
    cluster.kill_daemon()
    open(cluster.path("tmp", "go"), "w").close()
    await_file(cluster.path("tmp", "done"))
    assert open(cluster.path("tmp", "code")).read() == "1\n"
    said = open(cluster.path("tmp", "said")).read()
    assert "starts no daemon" in said and len(said.splitlines()) == 1, said
    assert "starts no daemon" in open(cluster.path("tmp", "daemon")).read()
    assert cluster.daemon_pid() is None
    assert cluster.get("inside")["status"] == "RUNNING"


def test_what_the_store_has_forgotten_runs_on_and_is_kept_and_told(cluster):
    cluster.submit("over", "echo the end")
    cluster.wait_for_all("over", "SUCCEEDED")
    cluster.submit("runs", WAITS)
    cluster.wait("runs", "RUNNING")
    before = cluster.pod_processes()
    cluster.kill_daemon()
    for file in glob.glob(cluster.path("state/muster/cluster.db*")):
        os.remove(file)
    # Its agent has looked through the folders once a pod of its own runs.
    cluster.submit("next", "true")
    cluster.wait("next", "SUCCEEDED")
    assert set(before) <= set(cluster.pod_processes())
    told = cluster.run("list").stderr
    assert "is left alone: `kill " in told and "lost+found" in told, told
    with open(cluster.path("state/muster/daemon.log")) as log:
        assert "is left alone: `kill " in log.read()
    (kept,) = glob.glob(cluster.path("state/muster/lost+found/pod-*"))
    (log,) = glob.glob(kept + "/logs/pytorch/0.log")
    assert "the end" in open(log).read()

    pid = int(told.split("`kill ")[1].split("`")[0])
    os.kill(pid, signal.SIGTERM)
    cluster.await_no_process()
    await_true(lambda: len(glob.glob(cluster.path("state/muster/lost+found/pod-*"))) == 2)
    assert "left alone" not in cluster.run("list").stderr
    shutil.rmtree(cluster.path("state/muster/lost+found"))
    assert cluster.run("list").stderr == ""
