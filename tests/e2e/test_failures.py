"""A job fails: the log of the rank that failed first is there, whole, and so are its peers'."""
import contextlib
import json
import os
import signal
import subprocess
import time

import pytest
from embedded_api import Api
from waiting import PATIENCE

TRACEBACK = ["Traceback (most recent call last):", "ValueError: no such dataset"]
DEPTH = 100
# Rank 1 fails, deep in its calls, when all have begun; its peers would go on for long.
PROGRAM = ("import os, time\n"
           "rank = int(os.environ['RANK'])\n"
           "print('rank', rank, 'begins', flush=True)\n"
           "begun = os.path.join(os.path.dirname(__file__), 'begun')\n"
           "os.makedirs(begun, exist_ok=True)\n"
           "open(os.path.join(begun, str(rank)), 'w').close()\n"
           "while rank == 1 and len(os.listdir(begun)) < int(os.environ['WORLD_SIZE']):\n"
           "    time.sleep(0.02)\n"
           + "".join(f"def f{i}(): f{i + 1}()\n" for i in range(DEPTH))
           + f"def f{DEPTH}(): raise ValueError('no such dataset')\n"
           "if rank == 1: f0()\n"
           "time.sleep(600)\n")


@pytest.fixture
def program(cluster):
    path = cluster.path("home", "tb.py")
    with open(path, "w") as file:
        file.write(PROGRAM)
    os.chmod(path, 0o644)
    return path


def assert_the_log_is_there(cluster, name, failed, others):
    """`get` and `logs` show what failed first; the logs of all instances can be read."""
    job = cluster.get(name)
    assert job["status"] == "FAILED"
    assert [one["name"] for one in job["instances"]] == [failed, *others], job
    log = cluster.run("logs", name).stdout.splitlines()
    assert log[:2] == ["rank 1 begins", TRACEBACK[0]] and log[-1] == TRACEBACK[1], log
    # Whole: no call is left out, and nothing ran twice.
    assert [line.split()[-1] for line in log if line.endswith(tuple("0123456789"))] == [
        f"f{i}" for i in range(DEPTH + 1)]
    assert cluster.run("logs", name, "-i", failed).stdout.splitlines() == log
    for rank, other in enumerate(others):
        lines = cluster.run("logs", name, "-i", other).stdout.splitlines()
        assert lines[0] == f"rank {rank if rank == 0 else rank + 1} begins"
    everything = cluster.run("logs", name, "--all", "--raw").stdout
    for line in TRACEBACK:
        assert f"[{failed}] {line}" in everything
    for other in others:
        assert f"[{other}] rank " in everything


@pytest.mark.parametrize("policy", [None, "None", "Running", "All"])
def test_the_log_of_the_rank_that_failed_first_stays(cluster, program, policy):
    flags = [f"--clean-task-policy={policy}"] if policy else []
    done = cluster.submit("tb", f"python {program}", "--workers=2", "--follow", *flags, code=1)
    reason = "rank 1 (tb-worker-0) exited with code 1: ValueError: no such dataset"
    assert f"the job tb has failed: {reason}" in done.stderr
    assert "`muster logs tb` prints the log of tb-worker-0, which failed first" in done.stderr
    cluster.await_no_process()

    job = cluster.get("tb")
    assert (job["reason"], job["failedInstance"], job["rank"], job["exitCode"]) == (
        reason, "tb-worker-0", 1, 1)
    assert_the_log_is_there(cluster, "tb", "tb-worker-0", ["tb-master-0"])
    shown = cluster.run("get", "tb").stdout
    assert f"REASON: {reason}\n" in shown
    assert f"  {TRACEBACK[1]}\n" in shown and f" in f{DEPTH}\n" in shown
    rows = [line.split() for line in shown.splitlines() if line.startswith("tb ")]
    assert [(row[1], row[4]) for row in rows] == [("FAILED", "tb-worker-0"),
                                                  ("FAILED", "tb-master-0")]

    cluster.run("delete", "tb")
    assert cluster.run("get", "tb", code=1).stdout == ""


def test_more_ranks_and_a_restarted_daemon(cluster, program):
    cluster.submit("tb", f"python {program}", "--workers=4")
    cluster.wait("tb", "FAILED")
    cluster.kill_daemon()
    # The peers may not have been ended yet: the next daemon does it.
    cluster.run("list")
    cluster.await_no_process()
    assert_the_log_is_there(cluster, "tb", "tb-worker-0",
                            ["tb-master-0", "tb-worker-1", "tb-worker-2"])


def test_after_its_restarts_the_last_run_is_shown(cluster, program):
    cluster.submit("tb", f"python {program}", "--workers=2", "--retry=1")
    cluster.wait("tb", "FAILED")
    cluster.await_no_process()
    assert_the_log_is_there(cluster, "tb", "tb-worker-0", ["tb-master-0"])


def test_after_a_deadline_the_logs_stay(cluster, program):
    cluster.submit("late", "echo begins; exec sleep 600", "--workers=2", "--running-timeout=2s")
    job = cluster.wait("late", "FAILED")
    assert "longer than specified deadline" in job["reason"]
    assert "rank" not in job
    cluster.await_no_process()
    for instance in ("late-master-0", "late-worker-0"):
        assert cluster.run("logs", "late", "-i", instance).stdout == "begins\n"


YAML = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: tb}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: {policy}
      template: &template
        spec:
          containers:
          - name: pytorch
            image: none
            command: [python, {program}]
    Worker:
      replicas: 1
      restartPolicy: {policy}
      template: *template
"""


def apply(cluster, program, policy="Never"):
    path = cluster.path("home", "job.yaml")
    with open(path, "w") as file:
        file.write(YAML.format(policy=policy, program=program))
    cluster.run("apply", "-f", path)


@pytest.mark.parametrize("policy", ["Never", "ExitCode"])
def test_of_an_applied_job_too(cluster, program, policy):
    apply(cluster, program, policy)
    cluster.wait("tb", "FAILED")
    cluster.await_no_process()
    assert_the_log_is_there(cluster, "tb", "tb-worker-0", ["tb-master-0"])


def test_a_stopped_cluster_keeps_the_logs(cluster):
    cluster.submit("tb", "echo begins; exec sleep 600", "--workers=2")
    cluster.wait("tb", "RUNNING")
    cluster.run("down", "--force")
    assert cluster.pod_processes() == []
    assert "stopped by `muster down --force`" in cluster.wait("tb", "FAILED")["reason"]
    for instance in ("tb-master-0", "tb-worker-0"):
        assert cluster.run("logs", "tb", "-i", instance).stdout == "begins\n"


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shell"},
       "spec": {"restartPolicy": "Never", "containers": [
           {"name": "c", "image": "none", "command": ["sleep", "600"]}]}}


def test_down_names_bare_pods_and_ends_them_by_force(cluster):
    with open(cluster.path("home", "pod.json"), "w") as file:
        json.dump(POD, file)
    cluster.run("apply", "-f", cluster.path("home", "pod.json"))
    api = Api(cluster)
    while api.call("GET", "/api/v1/namespaces/default/pods/shell")["status"]["phase"] != "Running":
        time.sleep(0.05)
    refused = cluster.run("down", code=1)
    assert ("a pod is still running: default/shell. `muster down --force` ends it first"
            in refused.stderr)
    cluster.run("down", "--force")
    assert cluster.pod_processes() == []


def test_down_ends_by_force_what_a_succeeded_job_has_left(cluster):
    cluster.submit("done", 'echo begins; [ "$RANK" = 0 ] || exec sleep 600', "--workers=2",
                   "--clean-task-policy=None")
    cluster.wait("done", "SUCCEEDED")
    refused = cluster.run("down", code=1)
    assert "a pod is still running: default/done-worker-0." in refused.stderr
    cluster.run("down", "--force")
    assert cluster.pod_processes() == []
    assert cluster.get("done")["status"] == "SUCCEEDED"
    assert cluster.run("logs", "done", "-i", "done-worker-0").stdout == "begins\n"


# It does not heed SIGTERM.
STUBBORN = "trap '' TERM; echo begins; while :; do sleep 1; done"


@pytest.fixture
def stubborn(cluster):
    cluster.submit("stub", STUBBORN, "--workers=2")
    cluster.wait("stub", "RUNNING")
    for instance in ("stub-master-0", "stub-worker-0"):
        while cluster.run("logs", "stub", "-i", instance).stdout != "begins\n":
            time.sleep(0.05)
    yield cluster
    for pid in cluster.pod_processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("verb", ["delete", "suspend"])
def test_a_second_interrupt_leaves_the_instances_to_the_daemon(stubborn, verb):
    waiting = stubborn.start(verb, "stub")
    assert "waiting for 2 instances of the job stub to end" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert "Ctrl-C again leaves them to the cluster" in waiting.stderr.readline()
    assert waiting.poll() is None
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=PATIENCE)
    assert (out, waiting.returncode) == ("", 130)
    assert "its instances may still be ending" in err
    if verb == "delete":
        assert stubborn.run("get", "stub", code=1).stdout == ""
        # Nothing of it is in the way of a job of the same name.
        assert "configmap" not in stubborn.submit("stub", "true").stderr.lower()


@pytest.mark.parametrize("verb", ["delete", "suspend"])
def test_force_ends_instances_at_once(stubborn, verb):
    stubborn.run(verb, "stub", "--force", timeout=25)  # under the grace of 30 s
    stubborn.await_no_process()


@pytest.mark.parametrize("verb", ["delete", "suspend"])
def test_without_waiting(stubborn, verb):
    done = stubborn.run(verb, "stub", "--wait=false", timeout=25)
    assert "waiting" not in done.stderr
    assert stubborn.pod_processes() != []


def run_as_arena(cluster, *args):
    link = cluster.path("bin", "arena")
    if not os.path.exists(link):
        os.symlink("muster", link)
    return subprocess.run([link, *args], env=cluster.env, text=True, capture_output=True,
                          timeout=PATIENCE, check=True).stdout


def test_a_job_is_listed_however_it_came(cluster, program):
    apply(cluster, program, "OnFailure")
    cluster.submit("sub", "sleep 600")
    cluster.wait("sub", "RUNNING")
    cluster.run("suspend", "sub")

    def status_of(text):
        return {line.split()[0]: line.split()[1] for line in text.splitlines()[1:]}
    listed = status_of(cluster.run("list").stdout)
    assert set(listed) == {"tb", "sub"} and listed["sub"] == "SUSPENDED"
    machine = {job["name"]: job["status"]
               for job in json.loads(cluster.run("list", "-o", "json").stdout)}
    assert set(machine) == {"tb", "sub"} and machine["sub"] == "SUSPENDED"
    assert "STATUS: SUSPENDED" in cluster.run("get", "sub").stdout
    # Under Arena's name, as Arena.
    assert status_of(run_as_arena(cluster, "list")) == {"sub": "PENDING"}
    assert json.loads(run_as_arena(cluster, "get", "sub", "-o", "json"))["status"] == "PENDING"
    assert "reason" not in json.loads(run_as_arena(cluster, "get", "sub", "-o", "json"))
