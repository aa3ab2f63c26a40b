"""With a torch whose flight recorder can be asked (2.15), the number of a collective is told, and that ranks call different ones;
with any other, and against a rank's will, nothing is missed but that."""
import glob
import json
import os
import re
import subprocess
import time

import pytest

import faults
import test_stalls
from places import LAUNCHER, ROOT
from waiting import PATIENCE

NEWEST = os.environ.get("MUSTER_NEWEST_TORCH", "/var/cache/muster/torch-2.15/bin/python")
needs_newest = pytest.mark.skipif(not os.path.exists(NEWEST),
                                  reason="no torch 2.15: scripts/python-environment torch-2.15 torch torch==2.15.0 numpy (3 GB)")
STALLED = r"muster-launch: stalled \d+ s: .*"


class Launch(test_stalls.Launch):
    PYTHON = NEWEST


def said_of(tmp_path, text, *flags, **variables):
    """The first line that tells the number. On a busy machine one without it may come before: it is said again when a rank answers."""
    with Launch(tmp_path, text, *flags, **variables) as launch:
        return launch.await_line(r"muster-launch: stalled \d+ s: .* #\d.*", 120).group(0)


def submit(cluster, name, text, *flags, file=None):
    """A job of two instances that run the program."""
    path = cluster.path("home", file or f"{name}.py")
    with open(path, "w") as program:
        program.write(text)
    os.chmod(path, 0o644)
    cluster.submit(name, f"{NEWEST} {path}", "--workers=2", "--env=OMP_NUM_THREADS=1", *flags)


@needs_newest
@pytest.mark.parametrize("flags", [(), ("--warm",)])
def test_the_number_of_the_collective_is_told(tmp_path, warm, flags):
    text, fault, wait = faults.program("late-rank")
    line = said_of(tmp_path, text, *flags, **(warm if flags else {}))
    # Five all_reduce went before.
    assert f"rank 1 has not entered all_reduce #6 (train.py:{wait}); it is at train.py:{fault}" in line


@needs_newest
@pytest.mark.parametrize("name", faults.MISMATCHES)
def test_that_ranks_call_different_collectives_is_told(tmp_path, warm, name):
    text, fault, wait = faults.program(name)
    line = said_of(tmp_path, text, "--warm", **warm)
    assert faults.MISMATCHES[name][1] in line
    assert re.search(rf"rank 1 (calls|gives) \S+.* \(train.py:{fault}\) where rank 0 .* \(train.py:{wait}\): ", line)


@needs_newest
def test_a_rank_that_holds_the_interpreters_lock_still_tells(tmp_path, warm):
    text, _, wait = faults.program("gil-held")
    assert f"rank 1 has not entered all_reduce #6 (train.py:{wait})" in said_of(tmp_path, text, "--warm", **warm)


@needs_newest
def test_a_recorder_that_is_turned_off_stays_off(tmp_path):
    text, fault, wait = faults.program("late-rank")
    text = text.replace("RANK, WORLD =", "import glob; print('sockets', glob.glob(os.environ['MUSTER_STACKS'] + '/*.recorder'), flush=True)\n"
                                         "RANK, WORLD =")
    with Launch(tmp_path, text, TORCH_FR_BUFFER_SIZE="0") as launch:
        line = launch.await_line(STALLED, 120).group(0)
        assert launch.said().count("sockets []") == 2
    assert f"rank 1 has not entered all_reduce (train.py:{wait + 1}); it is at train.py:{fault + 1}" in line


@needs_newest
def test_a_temporary_folder_that_is_cleaned_up_meanwhile_is_no_error(tmp_path):
    text = ("import os, shutil\n"
            "import torch.distributed as dist\n"
            "dist.init_process_group('gloo')\n"
            "dist.barrier()\n"
            "if os.environ['RANK'] == '0':\n"
            "    shutil.rmtree(os.environ['MUSTER_STACKS'])\n"
            "dist.barrier()\n"
            "dist.destroy_process_group()\n")
    with Launch(tmp_path, text) as launch:
        assert launch.process.wait(120) == 0
        assert "Traceback" not in launch.said() and "atexit" not in launch.said()


@needs_newest
def test_the_program_sees_and_hears_nothing_of_it(tmp_path):
    text = ("import os, sys, threading, time\n"
            "import torch.distributed as dist\n"
            "dist.init_process_group('gloo')\n"
            "print('size', os.environ.get('TORCH_FR_BUFFER_SIZE'), [each for each in sys.meta_path if 'sitecustomize' in str(each)],\n"
            "      threading.active_count(), flush=True)\n"
            "if os.fork() == 0:\n"
            "    sys.exit(0)\n"
            "assert os.wait()[1] == 0\n"
            "dist.destroy_process_group()\n")
    with Launch(tmp_path, text) as launch:
        assert launch.process.wait(120) == 0
        said = launch.said()
    assert said.count("size None [] 1\n") == 2
    assert "WorkerServer" not in said
    assert not glob.glob(str(tmp_path / "muster-launch-*"))


# As torch's server does: a thread for each processor that it may use less one, eight at least, and one that listens.
MANY_PROCESSORS = """
import os, sys, threading, types
ALL = set(range(64))
allowed = {}
os.sched_getaffinity = lambda thread: allowed.get(thread or threading.get_native_id(), ALL)
os.sched_setaffinity = lambda thread, to: allowed.__setitem__(thread or threading.get_native_id(), set(to))
os.environ.update(MUSTER_STACKS=sys.argv[2], WORLD_SIZE="2")
done = threading.Event()
threads = []

class Server:
    def __init__(self, path):
        may_use = os.sched_getaffinity(0)
        for _ in range(max(8, len(may_use) - 1) + 1):
            threads.append(threading.Thread(target=done.wait))
            threads[-1].start()
            allowed[threads[-1].native_id] = set(may_use)
        open(path, "w").close()

c10d = types.SimpleNamespace(_WorkerServer=Server, _dump_fr_trace_json=None)
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch._C"] = types.SimpleNamespace(_distributed_c10d=c10d)
sys.modules["torch.distributed"] = types.ModuleType("torch.distributed")
exec(open(sys.argv[1]).read())
muster_recorder()
print(len(threads), all(os.sched_getaffinity(thread.native_id) == ALL for thread in threads), os.sched_getaffinity(0) == ALL)
done.set()
"""


def test_on_many_processors_the_server_has_few_threads_that_run_anywhere(tmp_path):
    source = os.path.join(ROOT, "src", "warm", "python", "recorder.py")
    done = subprocess.run(["/usr/bin/python3", "-c", MANY_PROCESSORS, source, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "9 True True\n", done.stderr


# Steps of two collectives; one rank, or each in turns, is late at both.
TRAINS = """\
import random
import time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
RANK = dist.get_rank()
x, y = torch.ones(8), torch.ones(4)

def load():
    time.sleep(LATE)

for step in range(100000):
    time.sleep(0.1)
    load()
    dist.all_reduce(x)
    dist.all_reduce(y)
"""


def train(cluster, name, late):
    submit(cluster, name, TRAINS.replace("LATE", late))


@needs_newest
def test_a_rank_that_is_always_late_is_told_by_get_and_list_and_none_that_is_late_in_turns(cluster):
    train(cluster, "slowed", "0.2 if RANK == 1 else 0")
    train(cluster, "healthy", "random.uniform(0, 0.2)")
    reason = ""
    end = time.monotonic() + 180
    while time.monotonic() < end and "mostly at slowed.py:10" not in reason:
        time.sleep(0.5)
        reason = cluster.get("slowed").get("reason", "")
        assert "reason" not in cluster.get("healthy") or cluster.get("healthy")["reason"] == ""
    told = re.fullmatch(r"slowed \d+ s: rank 1 is late at collectives: the last in (\d+) of (\d+) steps, by (\d+) ms of (\d+) ms each; "
                        r"it is mostly at slowed.py:10", reason)
    assert told, reason
    last, of, late, step = map(int, told.groups())
    assert last >= 0.9 * of >= 45 and 100 < late < step
    listed = cluster.run("list").stderr
    assert re.search(r"slowed: slowed \d+ s: rank 1 is late at collectives", listed) and "healthy" not in listed, listed
    shown, other = cluster.run("get", "slowed"), cluster.run("get", "healthy")
    assert re.search(r"slowed \d+ s: rank 1 is late at collectives", shown.stdout + shown.stderr)
    assert "late" not in other.stdout + other.stderr
    # A job that goes on is not counted as stalled.
    ledger = json.loads(cluster.run("report", "slowed", "-o", "json").stdout)["ledger"]
    assert {bucket["name"]: bucket["ms"] for bucket in ledger["buckets"]}["stalled"] == 0


@needs_newest
def test_in_pods_the_number_is_told_by_get_and_list(cluster):
    text, fault, wait = faults.program("late-rank")
    submit(cluster, "held", text, file="train.py")
    reason = ""
    end = time.monotonic() + PATIENCE
    while "stalled" not in reason and time.monotonic() < end:
        time.sleep(0.3)
        reason = cluster.get("held").get("reason", "")
    assert f"rank 1 has not entered all_reduce #6 (train.py:{wait}); it is at train.py:{fault}" in reason
    listed = cluster.run("list")
    assert re.search(r"held: stalled \d+ s: rank 1 has not entered all_reduce #6", listed.stderr), listed.stderr
    assert "stalled" not in listed.stdout


def test_a_torch_without_a_recorder_is_left_as_it_is(tmp_path):
    os.makedirs(tmp_path / "fake" / "torch" / "distributed")
    (tmp_path / "fake" / "torch" / "__init__.py").write_text("")
    (tmp_path / "fake" / "torch" / "distributed" / "__init__.py").write_text("def is_available(): return False\n")
    (tmp_path / "train.py").write_text("import torch.distributed as dist\nprint('here', dist.is_available(), flush=True)\n")
    done = subprocess.run([LAUNCHER, "--python", "/usr/bin/python3", "--standalone", "--nproc-per-node=2", str(tmp_path / "train.py")],
                          env={**os.environ, "PYTHONPATH": str(tmp_path / "fake"), "TMPDIR": str(tmp_path)}, text=True,
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.count("here False") == 2, done.stderr


# A stand-in for a worker server that misbehaves: it listens where the hook of a newer torch would.
BAD_SERVER = """\
import os, socket, threading, time
def serve():
    place = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(os.environ["MUSTER_STACKS"])
    place.bind("%d.recorder" % os.getpid())
    os.chdir(here)
    place.listen(8)
    while True:
        one = place.accept()[0]
        try:
            ANSWER
        except OSError:
            pass
threading.Thread(target=serve, daemon=True).start()
"""
BAD_ANSWERS = {
    "nothing": "held = globals().setdefault('held', []); held.append(one)",
    "garbage": "one.sendall(bytes(range(256)) * 100); one.close()",
    "nonsense": "one.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 14\\r\\n\\r\\n{\\\"entries\\\": 7}'); one.close()",
    "a gigabyte": "[one.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 1000000000\\r\\n\\r\\n' if not i else b'x' * 1000000) for i in range(1001)]",
    "its end": "one.close(); place.close(); return",
}


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_a_rank_whose_recorder_misbehaves_is_named_all_the_same(tmp_path, warm, answer):
    text, fault, wait = faults.program("late-rank")
    bad = BAD_SERVER.replace("ANSWER", BAD_ANSWERS[answer])
    lines = bad.count("\n")
    with test_stalls.Launch(tmp_path, bad + text, "--warm", **warm) as launch:
        line = launch.await_line(STALLED).group(0)
    assert f"rank 1 has not entered all_reduce (train.py:{wait + lines}); it is at train.py:{fault + lines}" in line


# The last of two ranks works 60 ms longer before each of its collectives.
LATE = """\
import os, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
RANK, x = dist.get_rank(), torch.ones(8)
for step in range(STEPS):
    end = time.monotonic() + (0.1 if RANK == 1 else 0.04)
    while time.monotonic() < end:
        time.sleep(0.01)
    dist.all_reduce(x)
"""


@needs_newest
def test_a_straggler_is_told_while_the_job_goes_on(tmp_path, warm):
    with Launch(tmp_path, LATE.replace("STEPS", "10000"), "--warm", **warm) as launch:
        said = launch.await_line(r"muster-launch: rank 1 is late at collectives: the last in (\d+) of (\d+) steps, by (\d+) ms of (\d+) ms each"
                                 r"; it is mostly at train.py:(\d+)", 180)
    last, of, late, step, line = map(int, said.groups())
    assert last >= 0.9 * of >= 45 and 5 <= late <= step
    assert (tmp_path / "train.py").read_text().splitlines()[line - 1].strip() in ("time.sleep(0.01)", "while time.monotonic() < end:")


@needs_newest
def test_of_a_rank_that_has_died_its_last_collective_is_told(tmp_path, warm):
    text = LATE.replace("STEPS", "10000") + "    if RANK == 1 and step == 60:\n        os.kill(os.getpid(), 9)\n"
    with Launch(tmp_path, text, "--warm", **warm) as launch:
        said = launch.await_line(r"muster-launch: rank 1, \d+\.\d s before its end, had (entered|finished) all_reduce #(\d+)", 120)
        assert launch.process.wait(60) != 0
    assert 1 <= int(said[2]) <= 61


DIES = LATE.replace("STEPS", "10000") + """\
    if RANK == 1 and os.path.exists(__file__ + ".die"):
        os.kill(os.getpid(), 9)
"""


@needs_newest
@pytest.mark.parametrize("flags", [(), pytest.param(("--on-stall=off",), marks=pytest.mark.soak)])
def test_who_comes_late_is_told_by_get_ranks_and_of_one_that_has_died_the_last_collective_is_evidence(cluster, flags):
    submit(cluster, "dies", DIES, *flags)
    ranks = []
    end = time.monotonic() + PATIENCE
    while not ranks or not all(rank["late"] and rank["late"]["collectives"] >= 80 for rank in ranks):
        assert time.monotonic() < end, ranks
        time.sleep(0.5)
        ranks = json.loads(cluster.run("get", "dies", "--ranks", "-o", "json").stdout)
    first, second = (rank["late"] for rank in ranks)
    assert second["last"] > 0.9 * second["collectives"] and first["last"] < 0.1 * first["collectives"]
    assert 40_000 < second["medianMicroseconds"] < 500_000 and first["medianMicroseconds"] == 0
    assert re.search(r"ms, last \d+ of \d+ ", cluster.run("get", "dies", "--ranks").stdout)
    open(cluster.path("home", "dies.py.die"), "w").close()
    cluster.wait("dies", "FAILED", timeout=180)
    said = ""
    end = time.monotonic() + 30
    while "flight recorder" not in said and time.monotonic() < end:
        time.sleep(0.3)
        said = cluster.run("explain", "dies").stdout
    told = re.search(r"recorder: rank 1 had (?:entered|finished) all_reduce #(\d+).*recorder: rank 0 had (?:entered|finished) all_reduce #(\d+)",
                     said, re.DOTALL)
    assert told, said
    # What the daemon has heard last may be two seconds old: some 40 calls.
    assert int(told[1]) > second["collectives"] / 3 and abs(int(told[1]) - int(told[2])) <= 20
