"""A rank that holds the others up is named while it does; who is only slow is not called stalled."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

import faults
from embedded_api import Api
from places import LAUNCHER

PYTHON = "/usr/bin/python3"
# An interpreter that forks ranks serves one environment: pytest's own variable, which names the test, would be another one each time.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


class Launch:
    """Two ranks below `launch`; what it says is read until the end."""
    PYTHON = PYTHON

    def __init__(self, folder, text, *flags, ranks=2, **variables):
        script = os.path.join(folder, "train.py")
        with open(script, "w") as file:
            file.write(text)
        self.path = os.path.join(folder, "said")
        with open(self.path, "w") as said:
            self.process = subprocess.Popen(
                [LAUNCHER, "--python", self.PYTHON, "--standalone", f"--nproc-per-node={ranks}", *flags, script], stderr=said,
                stdout=said, env={**ENVIRONMENT, "XDG_STATE_HOME": str(folder), "XDG_RUNTIME_DIR": "", "TMPDIR": str(folder), **variables})

    def said(self):
        with open(self.path) as file:
            return file.read()

    def await_line(self, pattern, timeout=60):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = re.search(pattern, self.said())
            if found or self.process.poll() is not None:
                break
            time.sleep(0.1)
        found = re.search(pattern, self.said())
        assert found, self.said()
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for number in (signal.SIGTERM, signal.SIGTERM):
                self.process.send_signal(number)
                time.sleep(0.2)
        self.process.wait(30)


# Forked ranks take a tenth of the processor time of executed ones.
@pytest.mark.parametrize("name, flags", [*((name, ("--warm",)) for name in faults.STALLS), ("late-rank", ()), *(
    pytest.param(name, (), marks=pytest.mark.soak) for name in faults.STALLS if name != "late-rank")])
def test_the_rank_its_line_and_the_collective_are_named(tmp_path, warm, name, flags):
    text, fault, wait = faults.program(name)
    with Launch(tmp_path, text, *flags, **(warm if flags else {})) as launch:
        line = launch.await_line(r"muster-launch: (stalled|waiting) \d+ s: .*").group(0)
    assert "stalled" in line
    assert re.search(r"\brank 1\b", line)
    assert f"{faults.STALLS[name][1]} (train.py:{wait})" in line
    if fault:
        assert f"train.py:{fault}" in line


# They are looked at after 3, 6 and 12 s.
@pytest.mark.parametrize("seconds", [7, pytest.param(13, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", faults.HEALTHY)
def test_slow_is_not_called_stalled(tmp_path, warm, name, seconds):
    with Launch(tmp_path, faults.healthy(name, seconds), "--warm", **warm) as launch:
        assert launch.process.wait(120) == 0
        assert "stalled" not in launch.said()


def test_they_go_on(tmp_path, warm):
    held = str(tmp_path / "held")
    os.mkfifo(held)
    text = faults.program("late-rank")[0].replace("time.sleep(600)", f"open({held!r}).read()")
    with Launch(tmp_path, text, "--warm", **warm) as launch:
        launch.await_line(r"stalled \d+ s: rank 1 .*\n")
        open(held, "w").close()
        assert launch.process.wait(60) == 0
        # The end of the job says that, too.
        assert launch.said().count("stalled") == 1


def test_on_stall_stop_says_it_in_the_report(tmp_path, warm):
    text, fault, _ = faults.program("late-rank")
    with Launch(tmp_path, text, "--warm", "--on-stall=stop", "--max-restarts=3", **warm) as launch:
        assert launch.process.wait(60) != 0
        said = launch.said()
    assert f"> <module>  {tmp_path}/train.py:{fault}" in said  # the stacks
    assert re.search(r"why +: stalled \d+ s: rank 1 has not entered all_reduce", said)
    assert "restart 1" not in said


def test_on_stall_restart(tmp_path, warm):
    text = faults.program("late-rank")[0].replace(
        "if ODD:", "if ODD and os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':")
    with Launch(tmp_path, text, "--warm", "--on-stall=restart", "--max-restarts=1", **warm) as launch:
        assert launch.process.wait(60) == 0
        assert "restart 1 of 1" in launch.said()


@pytest.mark.parametrize("flags, variables", [(["--on-stall=off"], {}), ([], {"MUSTER_STACKS": "off"}), (["--warm"], {})])
def test_the_program_sees_nothing_of_it(tmp_path, flags, variables):
    text = ("import os, sys, signal\n"
            "print('path', os.environ.get('PYTHONPATH'), [each for each in sys.path if 'muster-launch-' in each], flush=True)\n")
    with Launch(tmp_path, text, *flags, PYTHONPATH="/mine:/yours", **variables) as launch:
        assert launch.process.wait(60) == 0
        assert launch.said().count("path /mine:/yours []") == 2


def test_a_start_up_hook_of_the_users_runs_too(tmp_path):
    os.mkdir(tmp_path / "mine")
    (tmp_path / "mine" / "sitecustomize.py").write_text("print('mine', flush=True)\n")
    with Launch(tmp_path, "print('end')\n", PYTHONPATH=str(tmp_path / "mine")) as launch:
        assert launch.process.wait(60) == 0
        assert launch.said().count("mine\n") == 2
    assert not [name for name in os.listdir(tmp_path) if name.startswith("muster-launch-")]


def test_without_a_home(tmp_path):
    text, fault, _ = faults.program("late-rank")
    with Launch(tmp_path, text, HOME="/nonexistent", XDG_STATE_HOME="/nonexistent/state") as launch:
        assert f"train.py:{fault}" in launch.await_line(r"muster-launch: stalled \d+ s: .*").group(0)


@pytest.mark.parametrize("bad", ["--on-stall=panic", "--stall-after=0", "--stall-after=soon"])
def test_bad_flags(tmp_path, bad):
    with Launch(tmp_path, "print('never')\n", bad) as launch:
        assert launch.process.wait(30) in (1, 2)
        assert bad.split("=")[0] in launch.said() and "never" not in launch.said()


def test_pods_say_it_in_get_and_stacks_shows_it(cluster):
    text, fault, wait = faults.program("late-rank")
    path = cluster.path("home", "train.py")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o644)
    cluster.submit("held", f"{PYTHON} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1")
    reason = ""
    end = time.monotonic() + 60
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


def test_who_is_told_of_a_hang(cluster):
    text, fault, _ = faults.program("late-rank")
    os.makedirs(cluster.path("home", "code"))
    with open(cluster.path("home", "code", "train.py"), "w") as file:
        file.write(text)
    told = cluster.path("home", "told")
    cluster.run("run", "-d", "-n", "2", "--name=hung", f"--notify=cat >{told}", "--notify-on=hang", "train.py",
                cwd=cluster.path("home", "code"))
    end = time.monotonic() + 60
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
    end = time.monotonic() + 60
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
    end = time.monotonic() + 60
    log = ""
    while "stacks, the rarest first:" not in log:
        assert time.monotonic() < end, cluster.run("get", "held").stdout
        time.sleep(0.2)
        log = cluster.run("logs", "held").stdout
    path = cluster.path("home", "train.py")
    assert re.search(r"^muster: stalled \d+ s: rank 1 has not entered all_reduce", log, re.MULTILINE), log
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
    begin = time.monotonic()
    while time.monotonic() - begin < 15: pass
"""))
    cluster.submit("held", f"exec {PYTHON} train.py", "--workers=2", "--env=OMP_NUM_THREADS=1", f"--working-dir={cluster.path('home')}",
                   "--on-stall=restart", "--restart-policy=OnFailure", "--retry=9")
    end = time.monotonic() + 60
    while not cluster.get("held").get("reason", "").startswith("waiting"):
        assert time.monotonic() < end, cluster.run("get", "held").stdout
        time.sleep(0.2)
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


@pytest.mark.parametrize("action", ["stop", "restart"])
def test_ranks_that_wait_for_a_pod_that_is_still_to_start_are_left_alone(cluster, action):
    with open(cluster.path("home", "meets.py"), "w") as file:
        file.write(MEETS)
    with open(cluster.path("home", "job.yaml"), "w") as file:
        file.write(LATE_POD.replace("HOME", cluster.path("home")).replace("PYTHON", PYTHON).replace("ACTION", action))
    cluster.run("apply", "-f", cluster.path("home", "job.yaml"))
    end = time.monotonic() + 60
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
    end = time.monotonic() + 60
    while "it has not started" not in note_of(cluster, "late"):
        assert time.monotonic() < end, cluster.run("get", "late").stdout
        time.sleep(0.2)
    open(cluster.path("home", "fetched"), "w").close()
    cluster.wait("late", "FAILED")
    assert "it was stalled (--on-stall=stop): rank 1 has not entered init_process_group" in cluster.run("get", "late").stdout


def test_no_rank_is_killed_where_the_missing_one_has_ended(cluster):
    with open(cluster.path("home", "meets.py"), "w") as file:
        file.write(MEETS)
    cluster.submit("left", f"exec {PYTHON} meets.py", "--workers=2", "--env=OMP_NUM_THREADS=1", "--env=GOES=1",
                   f"--working-dir={cluster.path('home')}", "--on-stall=restart", "--restart-policy=OnFailure", "--retry=9")
    end = time.monotonic() + 60
    events = ""
    while "because one that is missing does not run (--on-stall=restart): rank 1 has not entered" not in events:
        assert time.monotonic() < end, events
        time.sleep(0.2)
        events = cluster.run("get", "left", "-e").stdout
    job = cluster.get("left")
    assert job["status"] == "RUNNING" and "is killed (" not in events, job
    assert all(one.get("restarts", 0) == 0 for one in job["instances"]), job


def test_a_check_that_is_off_says_nothing(cluster):
    submit_late_rank(cluster, "held", "--on-stall=off")
    end = time.monotonic() + 60
    while "Traceback" in cluster.run("stacks", "held", code=None).stderr or "all_reduce" not in cluster.run(
            "stacks", "held", code=None).stdout:
        assert time.monotonic() < end
        time.sleep(0.3)
    on = time.monotonic() + 6
    while time.monotonic() < on:
        assert "reason" not in cluster.get("held") or "stalled" not in cluster.get("held")["reason"]
        time.sleep(0.5)


@pytest.mark.parametrize("flag, words", [
    ("--on-stall=panic", '--on-stall is invalid: off, report, stacks, restart, stop, not "panic"'),
    ("--stall-after=0", "--stall-after is invalid: give 1 to 604800 seconds"),
    ("--stall-after=soon", "--stall-after")])
def test_bad_flags_of_jobs(cluster, flag, words):
    for verb in (["run", "-n", "2"], ["submit", "pytorch", "--name=x"]):
        done = cluster.run(*verb, flag, "true", code=2)
        assert words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_job_that_does_nothing_and_is_no_python_says_what_is_known(cluster):
    cluster.submit("native", "echo up; exec sleep 600", "--workers=2")
    cluster.wait("native", "RUNNING")
    end = time.monotonic() + 60
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


# No start-up hook runs with -I.
HANGS = "python3 -Ic 'import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()'"


def kernel_says_where():
    with subprocess.Popen(["sleep", "60"]) as process:
        end = time.monotonic() + 10
        place = "0"
        while place == "0" and time.monotonic() < end:
            time.sleep(0.05)
            with open(f"/proc/{process.pid}/wchan") as file:
                place = file.read()
        process.kill()
    return place != "0"


def test_ranks_that_are_no_python_and_hang_are_named_by_launch(tmp_path):
    if not kernel_says_where():
        return
    path = tmp_path / "hangs.sh"
    path.write_text(f"#!/bin/sh\n[ $RANK = 1 ] && exec sleep 600\n{HANGS}\n")
    path.chmod(0o755)
    said = tmp_path / "said"
    with open(said, "w") as file:
        process = subprocess.Popen([LAUNCHER, "--standalone", "--nproc-per-node=3", "--no-python", str(path)], stdout=file, stderr=file)
    try:
        end = time.monotonic() + 60
        while "waiting" not in said.read_text():
            assert time.monotonic() < end and process.poll() is None, said.read_text()
            time.sleep(0.2)
    finally:
        process.terminate()
        process.wait(30)
    assert re.search(r"^muster-launch: waiting 1\d s: no rank does anything, and none runs Python that says where it is: "
                     r"rank 1 \(pid \d+\): sleeps \(hrtimer_nanosleep\); ranks 0, 2: each waits for another thread \(futex_",
                     said.read_text(), re.MULTILINE), said.read_text()


def test_pods_that_are_no_python_and_hang_say_it_in_get_and_list(cluster):
    if not kernel_says_where():
        return
    cluster.submit("native", f"if [ $RANK = 1 ]; then exec sleep 600; fi; exec {HANGS}", "--workers=2")
    end = time.monotonic() + 60
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
    end = time.monotonic() + 60
    while looks < 3:
        assert time.monotonic() < end, cluster.run("logs", "late", "--all").stdout
        looks += "_create_c10d_store" in cluster.run("stacks", "late", code=None).stdout
        assert cluster.get("late")["status"] in ("PENDING", "RUNNING"), cluster.run("logs", "late", "--all").stdout
    open(cluster.path("home", "looked"), "w").close()
    cluster.wait_for_all("late", "SUCCEEDED")
    assert "[0-1] went on 0..1\n" in cluster.run("logs", "late", "--all").stdout
