"""What becomes of a job of several pods when a rank holds up the others: --on-stall, --stall-after."""
import json
import os
import re
import time

import pytest

import faults
from embedded_api import Api
from places import LAUNCHER
from test_stalls import PYTHON
from waiting import PATIENCE


def submit_late_rank(cluster, name, *flags, only_once=False, command=f"exec {PYTHON}"):
    text, fault, wait = faults.program("late-rank")
    path = cluster.path("home", "train.py")
    if only_once:
        text = text.replace("if ODD:", "if ODD and not os.path.exists('late') and not open('late', 'w').close():")
    with open(path, "w") as file:
        file.write(text)
    cluster.submit(name, f"{command} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1",
                   f"--working-dir={cluster.path('home')}", *flags)
    return fault, wait


def test_a_job_of_several_pods_is_stopped_when_it_is_stalled(cluster):
    fault, wait = submit_late_rank(cluster, "held", "--on-stall=stop", "--stall-after=4", "--restart-policy=OnFailure", "--retry=9")
    cluster.wait("held", "FAILED")
    verdict = json.loads(cluster.run("explain", "held", "-o", "json").stdout)
    assert (verdict["class"], verdict["who"]["rank"], verdict["confidence"]) == ("hang", 1, "high"), verdict
    assert f"rank 1 has not entered all_reduce (train.py:{wait}); it is at train.py:{fault}" in verdict["line"]
    assert any("the number of the collective" in each for each in verdict["missing"]), verdict
    assert "it was stalled (--on-stall=stop): rank 1 has not entered" in cluster.run("get", "held").stdout
    cluster.wait_for_all("held", "FAILED")


def test_the_stacks_of_several_pods_are_in_the_log(cluster):
    fault, wait = submit_late_rank(cluster, "held", "--on-stall=stacks")
    cluster.wait("held", "RUNNING")
    end = time.monotonic() + PATIENCE
    stalled, log = None, ""
    # On a busy machine it may wait for a rank that imports torch before that, and say so, with stacks.
    while not (stalled and "stacks, the rarest first:" in log[stalled.end():]):
        assert time.monotonic() < end, log + cluster.run("get", "held").stdout
        time.sleep(0.2)
        log = cluster.run("logs", "held").stdout
        stalled = re.search(r"^muster: stalled \d+ s: rank 1 has not entered all_reduce", log, re.MULTILINE)
    path = cluster.path("home", "train.py")
    assert f"> <module>  {path}:{fault}\n" in log and f"> <module>  {path}:{wait}\n" in log, log
    assert cluster.get("held")["status"] == "RUNNING"
    cluster.run("delete", "held")


def test_the_rank_that_stalls_several_pods_is_restarted(cluster):
    submit_late_rank(cluster, "held", "--on-stall=restart", "--restart-policy=OnFailure", "--retry=9", only_once=True)
    cluster.wait("held", "SUCCEEDED")
    events = cluster.run("get", "held", "-e").stdout
    assert "rank 1 is killed (--on-stall=restart): rank 1 has not entered all_reduce" in events


def test_a_job_that_may_not_restart_fails_by_its_stall(cluster):
    fault, _ = submit_late_rank(cluster, "held", "--on-stall=restart")
    cluster.wait("held", "FAILED")
    verdict = json.loads(cluster.run("explain", "held", "-o", "json").stdout)
    assert (verdict["class"], verdict["who"]["rank"]) == ("hang", 1), verdict
    assert f"it is at train.py:{fault}" in verdict["line"]
    why = "rank 1 held up the others (--on-stall=restart)"
    assert cluster.get("held")["reason"].endswith(f"was killed by SIGKILL (exit code 137): container pytorch was killed: {why}")
    assert why in cluster.run("logs", "held", "--rank", "1").stdout


def test_a_launcher_knows_that_the_daemon_has_killed_its_rank_for_a_stall(cluster):
    fault, _ = submit_late_rank(cluster, "held", "--on-stall=restart", command=f"{LAUNCHER} --nnodes=2 --nproc-per-node=1 "
                                "--node-rank=$RANK --master-addr=$MASTER_ADDR --master-port=$MASTER_PORT --python " + PYTHON)
    cluster.wait("held", "FAILED")
    log = cluster.run("logs", "held", "--rank", "1").stdout
    assert re.search(r"why +: stalled \d+ s: rank 1 has not entered all_reduce", log), log
    assert "administrator" not in log


def test_a_rank_that_was_busy_before_it_stalled_is_restarted_too(cluster):
    with open(cluster.path("home", "train.py"), "w") as file:
        file.write(faults.program("late-rank")[0].replace("if ODD:", """\
if ODD and not os.path.exists('late'):
    open('late', 'w').close()
    while not os.path.exists('seen'):
        pause = time.monotonic() + 0.02
        while time.monotonic() < pause: pass
        time.sleep(0.03)
"""))
    cluster.submit("held", f"exec {PYTHON} train.py", "--workers=2", "--env=OMP_NUM_THREADS=1", f"--working-dir={cluster.path('home')}",
                   "--on-stall=restart", "--restart-policy=OnFailure", "--retry=9")
    end = time.monotonic() + PATIENCE
    while not cluster.get("held").get("reason", "").startswith("waiting"):
        assert time.monotonic() < end, cluster.run("get", "held").stdout
        time.sleep(0.2)
    open(cluster.path("home", "seen"), "w").close()
    cluster.wait("held", "SUCCEEDED")
    assert "rank 1 is killed (--on-stall=restart): " in cluster.run("get", "held", "-e").stdout


MEETS = """\
import os
import torch.distributed as dist
if os.environ["RANK"] == os.environ.get("GOES"):
    raise SystemExit
dist.init_process_group("gloo")
"""

LATE_POD = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: late}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [&program
      {name: pytorch, image: host, workingDir: HOME, command: [PYTHON, meets.py],
       env: [{name: PET_ON_STALL, value: ACTION}, {name: OMP_NUM_THREADS, value: "1"}]}]}}}
    Worker: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [*program], initContainers: [
      {name: fetch, image: host, workingDir: HOME, command: [sh, -c, "while ! test -e fetched; do sleep 0.1; done"]}]}}}
"""


def note_of(cluster, name):
    metadata = Api(cluster).call("GET", f"/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/{name}")["metadata"]
    return metadata.get("annotations", {}).get("muster.dev/stall", "")


# That nothing is stopped is seen below, too.
@pytest.mark.parametrize("action", [pytest.param("stop", marks=pytest.mark.soak), "restart"])
def test_ranks_that_wait_for_a_pod_that_is_still_to_start_are_left_alone(cluster, action):
    with open(cluster.path("home", "meets.py"), "w") as file:
        file.write(MEETS)
    with open(cluster.path("home", "job.yaml"), "w") as file:
        file.write(LATE_POD.replace("HOME", cluster.path("home")).replace("PYTHON", PYTHON).replace("ACTION", action))
    cluster.run("apply", "-f", cluster.path("home", "job.yaml"))
    end = time.monotonic() + PATIENCE
    note = ""
    while not note:
        assert time.monotonic() < end, cluster.run("get", "late").stdout
        time.sleep(0.2)
        note = note_of(cluster, "late")
        assert cluster.get("late")["status"] in ("PENDING", "RUNNING"), note
    assert re.fullmatch(r"waiting \S+ rank 1 has not entered init_process_group \(meets.py:5\); it has not started", note)
    open(cluster.path("home", "fetched"), "w").close()
    cluster.wait_for_all("late", "SUCCEEDED")
    assert "is killed" not in cluster.run("get", "late", "-e").stdout


def test_a_job_is_stopped_although_its_ranks_waited_before_its_last_pod_began(cluster):
    with open(cluster.path("home", "meets.py"), "w") as file:
        file.write("import os, time\nif os.environ['RANK'] == '1': time.sleep(600)\n" + MEETS)
    with open(cluster.path("home", "job.yaml"), "w") as file:
        file.write(LATE_POD.replace("HOME", cluster.path("home")).replace("PYTHON", PYTHON).replace("ACTION", "stop"))
    cluster.run("apply", "-f", cluster.path("home", "job.yaml"))
    end = time.monotonic() + PATIENCE
    while "it has not started" not in note_of(cluster, "late"):
        assert time.monotonic() < end, cluster.run("get", "late").stdout
        time.sleep(0.2)
    assert cluster.get("late")["status"] in ("PENDING", "RUNNING")
    open(cluster.path("home", "fetched"), "w").close()
    cluster.wait("late", "FAILED")
    assert "it was stalled (--on-stall=stop): rank 1 has not entered init_process_group" in cluster.run("get", "late").stdout


def test_no_rank_is_killed_where_the_missing_one_has_ended(cluster):
    with open(cluster.path("home", "meets.py"), "w") as file:
        file.write(MEETS)
    cluster.submit("left", f"exec {PYTHON} meets.py", "--workers=2", "--env=OMP_NUM_THREADS=1", "--env=GOES=1",
                   f"--working-dir={cluster.path('home')}", "--on-stall=restart", "--restart-policy=OnFailure", "--retry=9")
    end = time.monotonic() + PATIENCE
    events = ""
    while "because one that is missing does not run (--on-stall=restart): rank 1 has not entered" not in events:
        assert time.monotonic() < end, events
        time.sleep(0.2)
        events = cluster.run("get", "left", "-e").stdout
    job = cluster.get("left")
    assert job["status"] == "RUNNING" and "is killed (" not in events, job
    assert all(one.get("restarts", 0) == 0 for one in job["instances"]), job


def test_a_check_that_is_off_says_nothing(cluster):
    submit_late_rank(cluster, "held", "--on-stall=off", "--stall-after=1")
    end = time.monotonic() + PATIENCE
    while "Traceback" in cluster.run("stacks", "held", code=None).stderr or "all_reduce" not in cluster.run(
            "stacks", "held", code=None).stdout:
        assert time.monotonic() < end
        time.sleep(0.3)
    on = time.monotonic() + 3
    while time.monotonic() < on:
        assert "stalled" not in cluster.get("held").get("reason", "")
        time.sleep(0.5)


@pytest.mark.parametrize("flag, words", [
    ("--on-stall=panic", '--on-stall is invalid: off, report, stacks, restart, stop, not "panic"'),
    ("--stall-after=0", "--stall-after is invalid: give 1 to 604800 seconds"),
    ("--stall-after=soon", "--stall-after")])
def test_bad_flags_of_jobs(cluster, flag, words):
    for verb in (["run", "-n", "2"], ["submit", "pytorch", "--name=x"]):
        done = cluster.run(*verb, flag, "true", code=2)
        assert words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
