"""A rank that holds the others of a job up is named where people look at the job; who hangs without Python, as far as the kernel tells."""
import glob
import json
import os
import re
import signal
import time

import pytest

import faults
from embedded_api import Api
from test_any_part_killed import parts
from test_stalls import HANGS, PYTHON, kernel_says_where
from waiting import PATIENCE, await_file, await_true, await_words


def test_pods_say_it_in_get_and_stacks_shows_it(cluster):
    text, fault, wait = faults.program("late-rank")
    path = cluster.path("home", "train.py")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o644)
    cluster.submit("held", f"{PYTHON} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1")
    reason = ""
    end = time.monotonic() + PATIENCE
    while "stalled" not in reason and time.monotonic() < end:
        time.sleep(0.3)
        reason = cluster.get("held").get("reason", "")
    assert re.fullmatch(rf"stalled \d+ s: rank 1 has not entered all_reduce \(train.py:{wait}\); it is at train.py:{fault}: "
                        r"time.sleep\(600\)  # FAULT", reason)
    assert "stalled" in cluster.run("explain", "held").stdout
    # The same over time, as the page and `watch` draw it.
    api = Api(cluster)
    uid = api.call("GET", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/held")["metadata"]["uid"]
    roles = []
    end = time.monotonic() + PATIENCE
    while roles != ["waits", "late"] and time.monotonic() < end:
        time.sleep(0.3)
        grid = api.call("GET", f"/muster/progress?uid={uid}&ranks=240")
        roles = [rank["stall"][-1] for rank in grid["ranks"]]
    assert roles == ["waits", "late"], grid
    assert [rank["rank"] for rank in grid["ranks"]] == [0, 1] and grid["ranks"][1]["memoryBytes"][-1] > 1 << 20
    stacks = cluster.run("stacks", "held").stdout
    assert f"> <module>  {path}:{fault}" in stacks and "rank 1 (held-worker-0, pid " in stacks
    assert "all_reduce" not in cluster.run("stacks", "held", "--rank", "1").stdout
    assert "no such rank" in cluster.run("stacks", "held", "--rank", "2", code=1).stderr
    # What a daemon before has noted is noted anew, and once.
    cluster.kill_daemon()
    cluster.run("get", "held")
    cluster.run("suspend", "held", "--force")
    cluster.wait("held", "SUSPENDED")
    assert "stalled" not in cluster.get("held").get("reason", "")
    assert "only a running job has stacks" in cluster.run("stacks", "held", code=1).stderr


# Gloo's time-out names nobody: who was late was known while they waited.
IMPATIENT = """\
import datetime, os, time, torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
if os.environ["RANK"] == "1":
    time.sleep(600)
dist.all_reduce(torch.ones(1))
"""


def test_a_time_out_names_the_rank_that_the_others_waited_for(cluster):
    os.makedirs(cluster.path("home", "code"))
    path = cluster.path("home", "code", "train.py")
    with open(path, "w") as file:
        file.write(IMPATIENT)
    os.chmod(path, 0o644)
    cluster.submit("pods", f"{PYTHON} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1")
    code = cluster.path("home", "code")
    cluster.run("run", "-d", "-n", "2", "--name=one", PYTHON, "train.py", cwd=code)
    told = cluster.run("launch", "--python", PYTHON, "--nproc-per-node=2", "train.py", cwd=code, code=1).stderr
    assert re.search(r"  why       : stalled \d+ s: rank 1 has not entered all_reduce \(train.py:5\); it is at train.py:4: .*"
                     r"\(RuntimeError: .*Timed out waiting", told), told
    cluster.wait("pods", "FAILED")
    cluster.wait("one", "FAILED")
    for name in ("pods", "one"):
        told = json.loads(cluster.run("explain", name, "-o", "json").stdout)
        assert (told["class"], told["who"]["rank"], told["confidence"]) == ("hang", 1, "high"), told
        assert "rank 1 has not entered all_reduce (train.py:5); it is at train.py:4: " in told["line"]
        assert told["where"] == {"file": "train.py", "line": 4, "function": ""}, told
        assert "Timed out waiting" in json.dumps(told["evidence"])


def test_who_is_told_of_a_hang(cluster):
    text, fault, _ = faults.program("late-rank")
    os.makedirs(cluster.path("home", "code"))
    with open(cluster.path("home", "code", "train.py"), "w") as file:
        file.write(text)
    told = cluster.path("home", "told")
    cluster.run("run", "-d", "-n", "2", "--name=hung", f"--notify=cat >{told}", "--notify-on=hang", "train.py",
                cwd=cluster.path("home", "code"))
    end = time.monotonic() + PATIENCE
    while not (os.path.exists(told) and os.path.getsize(told)):
        assert time.monotonic() < end, cluster.run("get", "hung").stdout
        time.sleep(0.2)
    with open(told) as file:
        notice = json.load(file)
    assert (notice["event"], notice["job"], notice["status"]) == ("hang", "hung", "RUNNING")
    assert notice["text"].startswith("hung hangs: stalled ") and f"train.py:{fault}" in notice["text"]
    cluster.run("delete", "hung")


def test_a_job_that_ends_while_it_hangs_is_explained_by_the_hang(cluster):
    text, fault, wait = faults.program("late-rank")
    path = cluster.path("home", "train.py")
    with open(path, "w") as file:
        file.write(text)
    cluster.submit("hung", f"exec {PYTHON} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1")
    end = time.monotonic() + PATIENCE
    while not cluster.get("hung").get("reason", "").startswith("stalled"):
        assert time.monotonic() < end, cluster.run("get", "hung").stdout
        time.sleep(0.2)
    # Somebody's patience ends: of who waits, not of who is waited for.
    for pid in cluster.pod_processes():
        with open(f"/proc/{pid}/environ", "rb") as environ:
            if b"RANK=0" in environ.read().split(b"\0"):
                os.kill(pid, signal.SIGTERM)
    cluster.wait("hung", "FAILED")
    verdict = json.loads(cluster.run("explain", "hung", "-o", "json").stdout)
    assert (verdict["class"], verdict["who"]["rank"], verdict["confidence"]) == ("hang", 1, "high"), verdict
    assert f"rank 1 has not entered all_reduce (train.py:{wait}); it is at train.py:{fault}" in verdict["line"]


def test_a_job_that_does_nothing_and_is_no_python_says_what_is_known(cluster):
    cluster.submit("native", "echo up; exec sleep 600", "--workers=2")
    cluster.wait("native", "RUNNING")
    end = time.monotonic() + PATIENCE
    told = ""
    while "they may hang" not in told:
        assert time.monotonic() < end, told
        time.sleep(0.5)
        told = cluster.run("explain", "native").stdout
    assert "RUNNING: nothing has failed yet\n" in told
    assert "\nkernel: ranks 0, 1: sleeps (" in told or "\nkernel: ranks 0, 1: the kernel does not say" in told, told
    assert told.endswith("Missing: stacks and collectives: the ranks run no Python that says where it is\n")
    verdict = json.loads(cluster.run("explain", "native", "-o", "json").stdout)
    assert verdict["class"] == "none" and len(verdict["missing"]) == 1
    ranks = json.loads(cluster.run("get", "native", "--ranks", "-o", "json").stdout)
    assert all(rank["pid"] and rank["cpu"] == 0 and rank["memoryBytes"] for rank in ranks), ranks


def test_pods_that_are_no_python_and_hang_say_it_in_get_and_list(cluster):
    if not kernel_says_where():
        pytest.skip("this kernel does not say where a process sleeps")
    cluster.submit("native", f"if [ $RANK = 1 ]; then exec sleep 600; fi; exec {HANGS}", "--workers=2")
    end = time.monotonic() + PATIENCE
    reason = ""
    while "waiting" not in reason:
        assert time.monotonic() < end, reason
        time.sleep(0.2)
        reason = cluster.get("native").get("reason", "")
    assert re.fullmatch(r"waiting \d+ s: no rank does anything, and none runs Python that says where it is: "
                        r"rank \d \(pid \d+\): .*\((hrtimer_nanosleep|futex_\w+)\); rank \d \(pid \d+\): .*", reason)
    assert "no rank does anything" in cluster.run("list").stderr
    cluster.run("delete", "native")


LATE_MASTER = """\
import os, time
if os.environ["RANK"] == "0":
    while not os.path.exists("looked"): time.sleep(0.1)
import torch.distributed as dist
dist.init_process_group("gloo")
print("went on", dist.get_rank(), flush=True)
"""


def test_a_look_at_a_rank_that_waits_for_its_store_does_not_end_it(cluster):
    with open(cluster.path("home", "late.py"), "w") as file:
        file.write(LATE_MASTER)
    cluster.submit("late", f"{PYTHON} late.py", "--workers=2", f"--working-dir={cluster.path('home')}", "--env=OMP_NUM_THREADS=1")
    looks = 0
    end = time.monotonic() + PATIENCE
    while looks < 3:
        assert time.monotonic() < end, cluster.run("logs", "late", "--all").stdout
        looks += "_create_c10d_store" in cluster.run("stacks", "late", code=None).stdout
        assert cluster.get("late")["status"] in ("PENDING", "RUNNING"), cluster.run("logs", "late", "--all").stdout
    open(cluster.path("home", "looked"), "w").close()
    cluster.wait_for_all("late", "SUCCEEDED")
    assert "[0-1] went on 0..1\n" in cluster.run("logs", "late", "--all").stdout


PATIENT = """\
import os, signal, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
if os.environ["RANK"] == "2":
    signal.signal(signal.SIGUSR1, lambda *_: 1 / 0)
    open(os.path.expanduser("~/pid"), "w").write(str(os.getpid()))
    try:
        time.sleep(600)
    except ZeroDivisionError:
        pass
while True:
    dist.all_reduce(torch.ones(1))
"""


@pytest.fixture
def patient(cluster):
    """A job of three ranks in one pod, which go on once the last one gets SIGUSR1."""
    code = cluster.path("home", "code")
    os.makedirs(code)
    with open(f"{code}/train.py", "w") as file:
        file.write(PATIENT)
    cluster.run("run", "-d", "-n", "3", "--name=one", "train.py", cwd=code)
    yield int(await_file(cluster.path("home", "pid")))
    cluster.run("delete", "one")


def reason_of_stall(cluster):
    return await_true(lambda: re.fullmatch(r"stalled \d+ s: (rank 2 has not entered all_reduce .*)", cluster.get("one").get("reason", "")))[1]


def test_get_says_what_the_launcher_of_the_pod_says(cluster, patient):
    reason = reason_of_stall(cluster)
    assert re.search(rf"stalled \d+ s: {re.escape(reason)}$", cluster.run("logs", "one").stdout, re.MULTILINE)
    word, = glob.glob(cluster.path("state", "muster", "pods", "*", "stacks", "stall-*"))
    with open(word) as file:
        told = json.load(file)
    assert (told["kind"], told["waiting"], told["missing"], told["text"]) == ("stalled", [0, 1], [2], reason), told
    os.kill(patient, signal.SIGUSR1)
    await_true(lambda: "stalled" not in cluster.get("one").get("reason", ""))
    assert "they continue after" in cluster.run("logs", "one").stdout
    with open(word) as file:
        assert json.load(file) == {}


def test_a_launcher_that_does_not_run_is_not_waited_for(cluster, patient):
    agent, = parts(cluster)["agent"]
    os.kill(agent, signal.SIGSTOP)
    reason_of_stall(cluster)
    assert "stalled" not in cluster.run("logs", "one").stdout
    os.kill(agent, signal.SIGCONT)
    await_words("stalled", lambda: cluster.run("logs", "one").stdout)
    reason_of_stall(cluster)
