"""`muster report` and progress: buckets that add up, of a run that is there and of one that was deleted; restarts; event files."""
import json
import os
import struct
import time

from event_records import record
from waiting import PATIENCE, await_true

STEPS = 'for step in 1 2 3 4 5 6 7 8 9 10; do echo "step $step/10 loss 0.$step"; sleep 0.2; done'
RESTARTS = """
import os, time
mark = os.path.join(os.environ["MUSTER_RUN_DIR"], "done")
first = int(open(mark).read()) + 1 if os.path.exists(mark) else 1
for step in range(first, 21):
    time.sleep(0.3)
    with open(os.path.join(os.environ["MUSTER_RUN_DIR"], "times"), "a") as file:
        print(time.monotonic(), file=file)
    print(f"step {step}/20 loss {1 / step:.3f}", flush=True)
    if step == 5:
        open(mark, "w").write("5")
    if step == 10 and first == 1:
        os._exit(3)
"""


def report(cluster, run):
    made = json.loads(cluster.run("report", run, "-o", "json").stdout)
    ledger = made["ledger"]
    assert sum(bucket["ms"] for bucket in ledger["buckets"]) == ledger["wallMs"]
    assert sum(segment["ms"] for segment in ledger["segments"]) == ledger["wallMs"]
    at = 0
    for segment in ledger["segments"]:
        assert segment["fromMs"] == at and segment["ms"] > 0
        at += segment["ms"]
    return made, {bucket["name"]: bucket["ms"] / 1000 for bucket in ledger["buckets"]}


def timed(cluster, name, line):
    """The line, which then keeps when it began and ended: on a busy machine it takes longer."""
    times = cluster.path("home", name + ".times")
    return f"date +%s.%N >{times}; {line}; date +%s.%N >>{times}"


def seconds_of(cluster, name):
    with open(cluster.path("home", name + ".times")) as file:
        began, ended = map(float, file)
    return ended - began


def test_says_where_the_time_of_a_run_went(cluster):
    cluster.run("submit", "pytorch", "--name=counted", "--wait", timed(cluster, "counted", STEPS), timeout=120)
    made, seconds = report(cluster, "counted")
    took = seconds_of(cluster, "counted")
    # At most half of the steps took twice as long as they did on average.
    assert made["steps"]["last"] == 10 and 150 < made["steps"]["usualMs"] <= 2 * took * 100
    assert 1.5 < seconds["steps"] < took + 3
    shown = cluster.run("report", "counted").stdout
    assert "Goodput: " in shown and "Steps: up to 10" in shown
    cluster.run("delete", "counted")
    gone, _ = report(cluster, "counted")
    assert gone["ledger"] == made["ledger"]
    everything = json.loads(cluster.run("report", "--since", "1h", "--by", "user", "-o", "json").stdout)
    assert [run["name"] for run in everything["runs"]] == ["counted"]
    assert everything["groups"][0]["group"] == "tester" and everything["all"]["runs"] == 1
    assert "counted" not in cluster.run("report", "--since", "1ms").stdout


def test_the_trials_of_a_sweep_are_no_restarts(cluster):
    cluster.run("run", "--name=trials", "--parallel=1", "--sweep", "i=1..3",
                timed(cluster, "trial-{i}", 'for step in 1 2 3 4 5; do echo "step $step/5 loss 0.$step"; sleep 0.2; done') + "; test {i} != 2",
                code=None, timeout=120)
    made, seconds = report(cluster, "trials")
    first, lost, third = (seconds_of(cluster, f"trial-{i}") for i in (1, 2, 3))
    assert made["ledger"]["attempts"] == 1 and made["steps"] is None
    assert 1.9 < seconds["steps"] < first + third + 2 and 0.9 < seconds["lost progress"] < lost + 1.5
    shown = cluster.run("report", "trials").stdout
    assert "In a sweep, steps are the time" in shown and "print step numbers" not in shown
    assert "Progress:" not in cluster.run("show", "trials").stdout


def test_a_job_that_was_deleted_while_suspended_was_not_ending(cluster):
    cluster.run("submit", "pytorch", "--name=halted", "sleep 600")
    cluster.run("suspend", "halted")
    time.sleep(2.1)
    cluster.run("delete", "halted")
    _, seconds = report(cluster, "halted")
    assert seconds["suspended"] >= 1 and seconds["ending"] < seconds["suspended"]


def test_steps_that_a_restart_makes_again_are_lost(cluster):
    script = cluster.path("home", "again.py")
    with open(script, "w") as file:
        file.write(RESTARTS)
    cluster.run("run", "-d", "--name=again", "--restart-policy=OnFailure", "--retry=3", script, timeout=120)
    cluster.wait("again", "SUCCEEDED", "FAILED", timeout=120)
    made, seconds = report(cluster, "again")
    assert made["ledger"]["attempts"] == 2
    with open(cluster.path("state", "muster", "runs", "again", "files", "times")) as file:
        at = [float(line) for line in file]
    # Steps 6 to 10, and all twenty of them that stayed.
    lost, stayed = at[9] - at[4], at[4] - at[0] + at[24] - at[10]
    assert 1.2 < seconds["lost progress"] < lost + 1.5 and 5.4 < seconds["steps"] < stayed + 2.5, seconds


# Rank 1 comes to the rendezvous 5 seconds after rank 0; then most of a step is waiting for its batch.
WAITS = """
import os, time
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        time.sleep(0.9)
        return torch.ones(4)

print("begins", flush=True)
if os.environ["RANK"] == "0":
    open(__file__ + ".begun", "w").close()
else:
    while not os.path.exists(__file__ + ".begun"):
        time.sleep(0.1)
    time.sleep(5)
dist.init_process_group("gloo")
for step, batch in enumerate(DataLoader(Slow(), batch_size=1), 1):
    time.sleep(0.1)
    batch[0][0] = os.path.exists(__file__ + ".enough")
    dist.all_reduce(batch)
    print(f"step {step} loss {1 / step:.3f}", flush=True)
    if batch[0][0] > 0:
        break
"""


def write(cluster, name, text):
    script = cluster.path("home", name)
    with open(script, "w") as file:
        file.write(text)
    os.chmod(script, 0o644)
    return script


def test_the_rendezvous_is_measured_and_waits_for_data_are_estimated_from_stacks(cluster):
    script = write(cluster, "waits.py", WAITS)
    cluster.submit("waits", f"/usr/bin/python3 {script}", "--workers=2", "--env=OMP_NUM_THREADS=1")

    def has_been_looked_at():
        seconds = report(cluster, "waits")[1]
        return seconds["data wait"] > max(5, 2 * seconds["steps"])
    # The stacks are looked at when the machine has time for it.
    await_true(has_been_looked_at, timeout=200)
    write(cluster, "waits.py.enough", "")
    cluster.wait_for_all("waits", "SUCCEEDED")
    made, seconds = report(cluster, "waits")
    buckets = {bucket["name"]: bucket for bucket in made["ledger"]["buckets"]}
    assert buckets["data wait"]["ms"] == buckets["data wait"]["estimatedMs"] > 0, seconds
    assert buckets["data wait"]["sources"] == ["looks at the ranks' stacks"]
    assert 4 <= seconds["rendezvous"] < 60 and buckets["rendezvous"]["estimatedMs"] == 0, seconds
    assert buckets["rendezvous"]["sources"] == ["init_process_group in the ranks"]
    assert seconds["data wait"] > seconds["steps"], seconds
    cluster.run("delete", "waits")
    assert report(cluster, "waits")[0]["ledger"] == made["ledger"]


# Rank 1 never comes, and rank 0 has no time to say how long it waited.
ALONE = """
import os, signal, time
import torch.distributed as dist
print("begins", flush=True)
if os.environ["RANK"] == "1":
    while not os.path.exists(os.environ["MUSTER_RUN_DIR"] + "/rank0"):
        time.sleep(0.1)
    time.sleep(12)
    pid, since = open(os.environ["MUSTER_RUN_DIR"] + "/rank0").read().split()
    open(os.environ["MUSTER_RUN_DIR"] + "/waited", "w").write(str(time.monotonic() - float(since)))
    os.kill(int(pid), signal.SIGKILL)
    time.sleep(100)
with open(os.environ["MUSTER_RUN_DIR"] + "/new", "w") as file:
    file.write(f"{os.getpid()} {time.monotonic()}")
os.rename(file.name, os.environ["MUSTER_RUN_DIR"] + "/rank0")
dist.init_process_group("gloo")
"""


def test_a_rendezvous_that_was_never_over_is_estimated(cluster):
    script = write(cluster, "alone.py", ALONE)
    cluster.run("run", "-n", "2", "--name=alone", "--env=OMP_NUM_THREADS=1", script, code=None, timeout=120)
    made, seconds = report(cluster, "alone")
    buckets = {bucket["name"]: bucket for bucket in made["ledger"]["buckets"]}
    with open(cluster.path("state", "muster", "runs", "alone", "files", "waited")) as file:
        waited = float(file.read())
    # Or that rank 1 holds rank 0 up: who looks decides.
    assert 5 <= seconds["rendezvous"] + seconds["stalled"] <= waited + 13, seconds
    assert buckets["rendezvous"]["estimatedMs"] == buckets["rendezvous"]["ms"]
    assert "init_process_group in the ranks" not in json.dumps(made["ledger"])


# Ranks of two launchers, of which one starts 4 seconds after the other has begun to wait; the job is short.
MEETS = """
import torch.distributed as dist
dist.init_process_group("gloo")
print("rank", dist.get_rank(), dist.init_process_group.__name__, flush=True)
"""
LATE = """
import os, socket, time
while True:
    try:
        socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))).close()
        break
    except OSError:
        time.sleep(0.1)
time.sleep(4)
"""


def test_launchers_and_ranks_of_a_short_job_tell_how_long_they_waited(cluster):
    script = write(cluster, "meets.py", MEETS)
    late = write(cluster, "late.py", LATE)
    line = f"[ $RANK = 0 ] || /usr/bin/python3 {late}; exec /usr/bin/python3 -m torch.distributed.run {script}"
    cluster.submit("meets", line, "--workers=2", "--nproc-per-node=2", "--env=OMP_NUM_THREADS=1", "--wait")
    made, seconds = report(cluster, "meets")
    rendezvous = next(bucket for bucket in made["ledger"]["buckets"] if bucket["name"] == "rendezvous")
    assert rendezvous["sources"] == ["rendezvous of the launchers", "init_process_group in the ranks"]
    assert rendezvous["estimatedMs"] == 0 and 3 < seconds["rendezvous"] < 60, seconds


def test_says_how_far_a_job_is(cluster):
    cluster.run("submit", "pytorch", "--name=far", STEPS + "; sleep 100")
    until = time.monotonic() + PATIENCE
    while "Progress: step 10/10 (100%)" not in cluster.run("get", "far").stdout:
        assert time.monotonic() < until
        time.sleep(0.2)
    told = json.loads(cluster.run("get", "far", "-o", "json").stdout)["progress"][0]
    assert told["source"] == "log of far-master-0" and told["scalars"] == {"loss": 0.1} and told["percent"] == 100
    assert json.loads(cluster.run("list", "-o", "json").stdout)[0]["progress"][0]["step"] == 10
    kept = json.loads(cluster.run("show", "far", "-o", "json").stdout)["progress"]
    assert kept["series"][0]["name"] == "loss" and kept["series"][0]["points"]
    cluster.run("delete", "far")


def event(step, loss, seconds=0):
    """Of so many seconds from now."""
    value = b"\x0a\x04loss\x15" + struct.pack("<f", loss)
    summary = b"\x0a" + bytes([len(value)]) + value
    data = b"\x09" + struct.pack("<d", time.time() + seconds) + b"\x10" + bytes([step]) + b"\x2a" + bytes([len(summary)]) + summary
    return record(data)


def test_reads_event_files_as_they_grow(cluster):
    cluster.run("run", "-d", "--name=events", 'mkdir -p "$MUSTER_RUN_DIR/tb" && sleep 100', timeout=120)
    folder = cluster.path("state", "muster", "runs", "events", "files", "tb")
    until = time.monotonic() + PATIENCE
    while not os.path.isdir(folder):
        assert time.monotonic() < until
        time.sleep(0.1)
    with open(os.path.join(folder, "events.out.tfevents.1.host"), "ab", buffering=0) as file:
        for step in (3, 4):
            file.write(event(step, 0.5))
            while True:
                told = json.loads(cluster.run("get", "events", "-o", "json").stdout)["progress"]
                if told and told[0]["step"] == step:
                    break
                assert time.monotonic() < until
                time.sleep(0.2)
    assert told[0]["source"] == "event files" and told[0]["scalars"] == {"loss": 0.5}


def test_reads_event_files_below_the_logdir_of_submit(cluster):
    with open(cluster.path("home", "event"), "wb") as file:
        file.write(event(5, 0.5, 30))
    cluster.submit("logged", f"cp {cluster.path('home', 'event')} /training_logs/events.out.tfevents.1.host && sleep 100",
                   "--tensorboard", "--logdir=/training_logs")
    until = time.monotonic() + PATIENCE
    while not (told := cluster.get("logged")["progress"]):
        assert time.monotonic() < until
        time.sleep(0.2)
    assert (told[0]["source"], told[0]["step"]) == ("event files", 5)


def test_reads_event_files_of_a_logdir_on_a_claim_or_in_a_folder(cluster, tmp_path):
    (tmp_path / "event").write_bytes(event(5, 0.5, 30))
    cluster.run("data", "create", "shared", "--path", str(tmp_path))
    write = "mkdir -p /d/logs && cp /d/event /d/logs/events.out.tfevents.1.host && sleep 100"
    for name, flag in (("on-claim", "--data=shared:/d"), ("in-folder", f"--data-dir={tmp_path}:/d")):
        cluster.submit(name, write, "--tensorboard", "--logdir=/d/logs", flag)
        until = time.monotonic() + PATIENCE
        while not (told := cluster.get(name)["progress"]):
            assert time.monotonic() < until
            time.sleep(0.2)
        assert (told[0]["source"], told[0]["step"]) == ("event files", 5)
        cluster.run("delete", name)
        (tmp_path / "logs" / "events.out.tfevents.1.host").unlink()


def test_event_files_of_earlier_runs_are_not_of_this_one(cluster, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "events.out.tfevents.1700000000.host").write_bytes(event(9, 9, -86_400))
    (tmp_path / "new").write_bytes(event(3, 0.5, 30))
    cluster.run("run", "-d", "--name=again", "cp new runs/events.out.tfevents.$(date +%s).host && sleep 100", cwd=tmp_path, timeout=120)
    until = time.monotonic() + PATIENCE
    while not cluster.get("again")["progress"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    shown = json.loads(cluster.run("show", "again", "-o", "json").stdout)
    assert [[step, value] for _, step, value in shown["progress"]["series"][0]["points"]] == [[3, 0.5]]


def test_runs_that_are_shorter_than_a_second_have_a_ledger(cluster):
    for number in range(3):  # at different times of a second
        name = f"short-{number}"
        cluster.submit(name, "echo step 1; sleep 0.1; echo step 2; sleep 0.1; exit 3")
        cluster.wait(name, "SUCCEEDED", "FAILED", timeout=120)
        made, _ = report(cluster, name)
        assert 200 <= made["ledger"]["wallMs"] < 20_000, made
        assert made["ledger"]["attempts"] == 1


def test_refuses_what_it_does_not_mean(cluster):
    for flags, word in ((("--since", "soon"), "--since soon"), (("--by", "team"), "--by team"), (("x", "--by", "user"), "--by"),
                        (("nobody",), "no run nobody")):
        said = cluster.run("report", *flags, code=1 if flags == ("nobody",) else 2)
        assert said.stdout == "" and word in said.stderr and len(said.stderr.strip().splitlines()) == 1
