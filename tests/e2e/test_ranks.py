"""`logs --rank` and `--grep`, of ranks in pods of their own and of several in one; `list --watch`."""
import json
import os
import queue
import threading

import pytest

from waiting import PATIENCE, await_true

SAY = "import os; print('hello from', os.environ['RANK']); print('loss', os.environ['RANK'])"


@pytest.fixture
def two(cluster):
    cluster.submit("two", f'python3 -c "{SAY}"', "--workers=2", "--wait")
    cluster.wait_for_all("two", "SUCCEEDED")
    return cluster


def lines(cluster, *words):
    return cluster.run("logs", *words).stdout.splitlines()


def test_the_log_of_a_rank(two):
    assert lines(two, "two", "--rank=1") == ["hello from 1", "loss 1"]
    assert lines(two, "two", "--rank=0-1", "--grep=loss") == ["[0-1] loss 0..1"]
    assert sorted(lines(two, "two", "--rank=0-1", "--grep=loss", "--raw")) == [
        "[two-master-0] loss 0", "[two-worker-0] loss 1"]
    assert lines(two, "two", "--rank=1", "--follow") == ["hello from 1", "loss 1"]
    two.run("delete", "two")
    assert lines(two, "two", "--rank=1", "--grep=loss") == ["loss 1"]


def test_the_log_of_a_rank_of_several_in_a_pod(cluster):
    cluster.run("run", "-n", "2", "--name=one", "--", "python3", "-c", SAY)
    assert lines(cluster, "one", "--rank=1") == ["[rank1]:hello from 1", "[rank1]:loss 1"]
    # Several ranks are folded as with --all, also if they share a pod.
    assert lines(cluster, "one", "--rank=0,1") == ["[0-1] hello from 0..1", "[0-1] loss 0..1"]
    assert sorted(lines(cluster, "one", "--rank=0,1", "--raw")) == [
        f"[one-master-0] [rank{rank}]:{words} {rank}" for rank in (0, 1) for words in ("hello from", "loss")]
    assert lines(cluster, "one", "--rank=0-9", "--grep=loss") == ["[0-1] loss 0..1"]
    assert lines(cluster, "one", "--rank=0,1", "--tail=1") == ["[0-1] loss 0..1"]
    assert lines(cluster, "one", "--all", "--grep=hello", "--tail=1") == ["[0-1] hello from 0..1"]
    assert lines(cluster, "one", "--rank=0,1", "--since=1h", "--errors") == []
    assert lines(cluster, "one", "--rank=0", "--tail=1") == ["[rank0]:loss 0"]
    assert "no line is marked" not in cluster.run("logs", "one", "--rank=0", "--tail=1").stderr
    assert lines(cluster, "one", "--rank=1", "--grep=hello", "--tail=9") == ["[rank1]:hello from 1"]
    stamped = lines(cluster, "one", "--rank=0", "--grep=loss", "--timestamps")
    assert len(stamped) == 1 and stamped[0].endswith("Z [rank0]:loss 0")


def test_ranks_that_torchrun_starts_are_known_by_its_labels(cluster):
    path = cluster.path("home", "say.py")
    with open(path, "w") as file:
        file.write(SAY)
    cluster.submit("tee", f"torchrun --tee=3 {path}", "--nproc-per-node=2", "--wait")
    assert lines(cluster, "tee", "--rank=0-1") == ["[0-1] hello from 0..1", "[0-1] loss 0..1"]
    assert lines(cluster, "tee", "--rank=1") == ["[default1]:hello from 1", "[default1]:loss 1"]
    cluster.submit("plain", f"torchrun {path}", "--nproc-per-node=2", "--wait")
    for ranks in ("--rank=0", "--rank=0,1"):
        done = cluster.run("logs", "plain", ranks)
        assert done.stdout == "" and "no line is marked as one of these ranks'" in done.stderr, done


@pytest.mark.parametrize("words, told", [
    (["--rank="], '--rank "" is invalid: give ranks like 1 or 0,4-7'),
    (["--rank=2"], '--rank "2" is invalid: the ranks of two are 0 to 1'),
    (["--rank=x"], '--rank "x" is invalid: give ranks like 1 or 0,4-7'),
    (["--rank=1", "-i", "two-master-0"], "give either --rank or --instance, not both")])
def test_ranks_that_are_not_there(two, words, told):
    done = two.run("logs", "two", *words, code=None)
    assert done.returncode != 0 and told in done.stderr and done.stdout == ""


def test_the_list_is_watched(cluster):
    cluster.submit("first", "true", "--wait")
    watching = cluster.start("list", "--watch")
    lines_of_it = queue.Queue()
    reader = threading.Thread(target=lambda: [lines_of_it.put(line) for line in watching.stdout])
    reader.start()
    seen = []

    def read_until(state):
        while not any(line.split()[:2] == state for line in seen):
            seen.append(lines_of_it.get(timeout=PATIENCE))

    try:
        read_until(["first", "SUCCEEDED"])
        cluster.submit("second", "sleep 600")
        read_until(["second", "RUNNING"])
        cluster.run("delete", "second")
        read_until(["second", "DELETED"])
        assert [line.split()[0] for line in seen].count("first") == 1, "what has not changed is not printed again"
    finally:
        watching.kill()
        watching.wait()
        reader.join()
    assert "leave out -o" in cluster.run("list", "-w", "-o", "json", code=None).stderr


FOUR = '''import os, sys, time
rank = int(os.environ["RANK"])
# They begin together, however busy the machine is.
open(f"{__file__}.{rank}", "w").close()
while not all(os.path.exists(f"{__file__}.{each}") for each in range(4)):
    time.sleep(0.01)
print("loading data", flush=True)
for step in range(3):
    print("warning: slow disk", flush=True)
print(f"rank {rank}: loss {rank / 10}", flush=True)
if rank != 2:
    print("all but one say this", flush=True)
for share in (10, 50, 100):
    print(f"\\r{share}%", end="", flush=True)
print(flush=True)
time.sleep(1)
if rank == 3:
    print("before", flush=True)
    raise ValueError("boom")
time.sleep(1)
'''


@pytest.fixture
def four(cluster):
    with open(cluster.path("four.py"), "w") as file:
        file.write(FOUR)
    os.chmod(cluster.folder, 0o755)
    cluster.submit("four", f"python3 {cluster.path('four.py')}", "--workers=4")
    yield cluster


def test_what_ranks_say_alike_is_shown_once(four):
    expected = ["[0-3] loading data", "[0-3] warning: slow disk", "[0-3] (2 more of the same)",
                "[0-3] rank 0..3: loss 0.0..0.3", "[all but 2] all but one say this", "[0-3] 100%"]
    followed = lines(four, "four", "--all", "--follow")
    assert followed[:6] == expected
    assert lines(four, "four", "--all")[:6] == expected
    assert len(lines(four, "four", "--all", "--raw")) > 4 * len(expected)
    assert lines(four, "four", "--rank=0,1", "--grep=loss") == ["[0-1] rank 0..1: loss 0.0..0.1"]


def test_the_first_error_of_each_rank(four):
    four.wait("four", "FAILED")
    shown = lines(four, "four", "--errors")
    assert "[3] before" in shown and shown[-1] == "[3] ValueError: boom", shown
    assert not [line for line in shown if "loading data" in line]
    others = four.run("logs", "four", "--errors", "--rank=0")
    assert others.stdout == "" and "there is no error in these logs" in others.stderr, others
    four.run("delete", "four")
    assert lines(four, "four", "--errors") == shown


@pytest.mark.parametrize("words, told", [
    (["--errors", "-f"], "--errors reads the logs as they are now: leave --follow out"),
    (["--errors", "-i", "four-master-0"], "give either --errors or --instance, not both"),
    (["--raw"], "--raw is for --all: give both"),
])
def test_flags_of_all_ranks_are_checked(cluster, words, told):
    assert told in cluster.run("logs", "four", *words, code=2).stderr


BUSY_AND_IDLE = '''import os, time
def rest():
    time.sleep(600)
print("epoch 1", flush=True)
if os.environ["RANK"] == "1":
    rest()
step = 0
while True:
    sum(range(100000))
    step += 1
    if step % 100 == 0:
        print(f"step {step}: loss 0.5", flush=True)
'''


def test_what_each_rank_does(cluster):
    with open(cluster.path("uneven.py"), "w") as file:
        file.write(BUSY_AND_IDLE)
    os.chmod(cluster.folder, 0o755)
    cluster.submit("uneven", f"python3 {cluster.path('uneven.py')}", "--workers=2")
    cluster.wait("uneven", "RUNNING")

    def both_are_at_work():
        ranks = json.loads(cluster.run("get", "uneven", "--ranks", "-o", "json").stdout)
        # Other programs may leave it little of the machine, and nothing for a second.
        are = ranks[0]["step"].startswith("step ") and ranks[0]["cpu"] > 0.005 and ranks[1]["where"]
        return ranks if are else None
    busy, idle = await_true(both_are_at_work)
    assert busy["instance"] == "uneven-master-0" and busy["state"] == "Running"
    assert busy["memoryBytes"] > 1 << 20 and busy["where"].startswith("uneven.py:")
    assert idle["cpu"] < busy["cpu"] and idle["where"] == "uneven.py:3" and idle["step"] == "epoch 1"
    head, first, second = cluster.run("get", "uneven", "--ranks").stdout.splitlines()
    assert head.split() == ["RANK", "INSTANCE", "STATE", "STEP", "QUIET", "CPU", "MEMORY", "LATE", "BY", "WHERE"]
    assert first.startswith("0     uneven-master-0  Running  step ") and second.endswith("uneven.py:3")
    cluster.run("suspend", "uneven")
    ranks = json.loads(cluster.run("get", "uneven", "--ranks", "-o", "json").stdout)
    assert [(rank["pid"], rank["cpu"], rank["where"]) for rank in ranks] == [(None, None, "")] * 2


def test_ranks_in_one_pod_and_programs_that_are_no_python(cluster):
    cluster.submit("shell", "echo iter 7; sleep 600", "--workers=2")
    cluster.wait("shell", "RUNNING")
    ranks = await_true(lambda: [
        rank for rank in json.loads(cluster.run("get", "shell", "--ranks", "-o", "json").stdout) if rank["step"]])
    assert ranks[0]["step"] == "iter 7" and ranks[0]["pid"] and ranks[0]["quietSeconds"] >= 0


def test_a_text_is_found_in_a_large_log(cluster):
    # Most pieces of which do not have it; a last line without an end may have it, too.
    cluster.submit("large", "seq 1 300000; printf 'at the end: 100000'", "--wait")
    raw = [line for line in cluster.run("logs", "large").stdout.splitlines() if "00000" in line]
    assert raw == ["100000", "200000", "300000", "at the end: 100000"]
    assert lines(cluster, "large", "--all", "--raw", "--grep=00000") == [f"[large-master-0] {line}" for line in raw]
    assert lines(cluster, "large", "--all", "--grep=no such text") == []
