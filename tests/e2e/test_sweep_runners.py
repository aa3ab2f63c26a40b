"""The two programs that run a sweep's trials do the same: muster's own, in a pod of this machine, and the Python one that travels to
another cluster."""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys

import pytest

from event_records import record
from places import BINARY, ROOT
from waiting import PATIENCE, await_true

PYTHON_FILES = os.path.join(ROOT, "src", "arena", "run", "python")
RUNNERS = ("muster", "python")


class Sweep:
    """The folder of a sweep, as its pod has it."""

    def __init__(self, folder, kind):
        self.folder, self.kind = str(folder), kind
        shutil.copytree(PYTHON_FILES, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        os.makedirs(self.path("files"))
        self.env = {"PATH": "/usr/bin:/bin", "MUSTER_RUN_DIR": self.path("files")}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def lines(self, name):
        with open(self.path(name)) as file:
            return file.read().splitlines()

    def start(self, trials, *flags):
        with open(self.path("sweep.jsonl"), "w") as file:
            for index, (values, command) in enumerate(trials):
                trial = {"index": index, "values": [list(pair) for pair in values.items()], "command": command}
                file.write(json.dumps(trial) + "\n")
        words = {"muster": [BINARY, "__trials"], "python": [sys.executable, "-B", self.path("sweep.py")]}[self.kind]
        return subprocess.Popen([*words, *flags], env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, trials, *flags, code=0):
        """What it printed, without the results that only the other cluster's log needs."""
        process = self.start(trials, *flags)
        out, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, out + error
        return [line for line in out.splitlines() if not line.startswith("trial ended: ")]

    def results(self):
        return {result["index"]: result for result in map(json.loads, filter(None, self.lines("files/trials.jsonl")))}


@pytest.fixture(params=RUNNERS)
def sweep(request, tmp_path):
    return Sweep(tmp_path / "sweep", request.param)


def test_each_trial_has_its_own_variables_and_folder(sweep):
    sweep.env["CUDA_VISIBLE_DEVICES"] = "4,5,6,7"
    command = ("echo $SWEEP_LR $SWEEP_INDEX $CUDA_VISIBLE_DEVICES; echo loss $SWEEP_LR; touch $MUSTER_RUN_DIR/made; "
               "test -n \"$MASTER_PORT\" -a $MASTER_ADDR = 127.0.0.1")
    out = sweep.run([({"lr": "1"}, command), ({"lr": "a b"}, command)], "--parallel=2")
    assert sorted(out[:4]) == ["[lr=1] 1 0 4,5", "[lr=1] loss 1", "[lr=a b] a b 1 6,7", "[lr=a b] loss a b"]
    assert out[4:] == ["2 of 2 trials ended, 0 of them failed"]
    assert sweep.lines("files/trials/0/log") == ["1 0 4,5", "loss 1"]
    assert os.listdir(sweep.path("files/trials/1/files")) == ["made"]


def test_a_failed_trial_is_named_and_the_others_go_on(sweep):
    out = sweep.run([({"a": "x"}, "exit 0"), ({"a": "y"}, "echo why; exit 7"), ({"a": "z"}, "kill -9 $$"),
                     ({"a": "w"}, "exit 0")], "--parallel=1", code=7)
    assert out == ["[a=y] why", "4 of 4 trials ended, 2 of them failed", "  a=y exited with code 7: why",
                   "  a=z exited with code 137", "the first of them: a=y exited with code 7: why"]


def test_of_many_failures_the_first_are_named(sweep):
    out = sweep.run([({"i": str(i)}, "exit 3") for i in range(25)], "--parallel=4", code=3)
    assert out[0] == "25 of 25 trials ended, 25 of them failed" and len(out) == 23 and out[-2:] == [
        "  and 5 more", "the first of them: i=0 exited with code 3"]


def test_at_most_so_many_run_at_a_time(sweep):
    go = sweep.path("go")
    command = f"echo >{sweep.folder}/up.$SWEEP_INDEX; while ! test -e {go}; do sleep 0.05; done; exit 0"
    process = sweep.start([({"i": str(i)}, command) for i in range(5)], "--parallel=2")

    def up():
        return sorted(name for name in os.listdir(sweep.folder) if name.startswith("up."))
    await_true(lambda: len(up()) == 2)
    os.kill(process.pid, signal.SIGCHLD)  # a reason to look again
    assert up() == ["up.0", "up.1"]
    open(go, "w").close()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and len(up()) == 5


def test_what_has_ended_is_not_run_again_and_torn_lines_are_left_out(sweep):
    command = f"echo run >>{sweep.folder}/count$SWEEP_INDEX"
    trials = [({"a": "x"}, command), ({"a": "y"}, command), ({"a": "z"}, command)]
    with open(sweep.path("files", "trials.jsonl"), "w") as file:
        file.write('{"index": 0, "exitCode": 5, "started": 1, "ended": 2, "lastLine": "", "metrics": {}}\n{"index": 1, "ex')
    sweep.run(trials, code=5)
    assert not os.path.exists(sweep.path("count0"))
    assert sweep.lines("count1") == sweep.lines("count2") == ["run"]


def test_when_all_have_ended_those_that_failed_are_tried_again(sweep):
    fails_once = f"echo run >>{sweep.folder}/count$SWEEP_INDEX; test $(wc -l <{sweep.folder}/count$SWEEP_INDEX) = 2"
    trials = [({"a": "x"}, fails_once), ({"a": "y"}, f"echo run >>{sweep.folder}/count$SWEEP_INDEX")]
    sweep.run(trials, code=1)
    assert sweep.run(trials) == ["2 of 2 trials ended, 0 of them failed"]
    assert sweep.lines("count0") == ["run", "run"] and sweep.lines("count1") == ["run"]


def test_of_the_ranks_of_a_trial_the_lowest_is_measured(sweep):
    command = "echo '[rank1]:loss 7'; echo '[rank0]:loss 1'; echo '[rank1]:loss 9'; echo '[rank1]: only 3'; echo '[rank0]:note [rank1]'"
    sweep.run([({"a": "x"}, command)])
    assert sweep.results()[0]["metrics"] == {"loss": 1, "only": 3}


def test_a_stopped_trial_is_run_again_next_time(sweep):
    trials = [({"a": "x"}, f"touch {sweep.folder}/up; exec sleep 60"), ({"a": "y"}, "exit 0")]
    process = sweep.start(trials, "--parallel=1")
    await_true(lambda: os.path.exists(sweep.path("up")))
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143 and out == "0 of 2 trials ended, 0 of them failed\n"
    assert sweep.run([({"a": "x"}, "exit 0"), trials[1]]) == ["2 of 2 trials ended, 0 of them failed"]


def test_what_a_trial_leaves_behind_is_not_waited_for(sweep):
    sweep.run([({"a": "x"}, f"setsid sleep 600 & echo $! >{sweep.folder}/pid"), ({"a": "y"}, "sleep 600 & exit 0")], "--parallel=1")
    with open(sweep.path("pid")) as file:
        os.kill(int(file.read()), signal.SIGKILL)
    assert sorted(sweep.results()) == [0, 1]


def test_a_bar_is_its_last_state_and_a_line_without_an_end_counts(sweep):
    out = sweep.run([({"a": "x"}, "printf '10%%\\r100%%\\r\\nloss 1\\nloss=0.5'")])
    assert out[:3] == ["[a=x] 100%", "[a=x] loss 1", "[a=x] loss=0.5"]
    assert sweep.results()[0]["metrics"] == {"loss": 0.5} and sweep.results()[0]["lastLine"] == "loss=0.5"


def test_a_full_disk_ends_the_sweep(sweep):
    os.makedirs(sweep.path("files", "trials", "0"))
    os.symlink("/dev/full", sweep.path("files", "trials", "0", "log"))
    process = sweep.start([({"a": "x"}, "echo more; exec sleep 60"), ({"a": "y"}, "exit 0")], "--parallel=1")
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "o space left on" in error and "Traceback" not in error, error
    assert sweep.results() == {}


# The lines of src/text/metrics_test.cc, and more at the edges.
LINES = r"""step 10 loss 1.2
loss=0.3, acc: 0.9
epoch 3/10 val_loss 2e-3
Epoch: 3 | train/loss = 1.5 | lr=1e-4
{"loss": 0.25, "step": 7, "name": "x", "flag": true, "none": null, "big": 123456789012345678901234567890}
{'loss': 1.5, 'lr': '2e-5'}
{"loss": NaN, "acc": 1}
{"a": {"loss": 1}, "b c": 2}
{"loss": 1} trailing 2}
 95%|#### | 95/100 [00:01<00:00, loss=0.5]
acc: 95%
loss=0.1,acc=0.2
accuracy -1.5
loss inf
loss -inf acc: nan
loss: +Infinity x -NaN
hello world
  File "t.py", line 5, in f
10 20 30
a=b
x = y
loss
loss=
= 3
http://host:80/
2026-11-23 10:00:00
v1.2.3
loss --1
{"a":
- -
e e
loss e
loss 1. x .5 y 1e3 z 1e w +.e1 v 5.e-2
train/ 3 .a 4 a. 5 a-b 6 a@b 7 _c 8 9a 10
loss 3/x acc /3 lr 3/
'loss' 3 ("acc" 4) [x: 5] f(y=6)
a:b=3 c=d:4 e==5
x : 5 y = = 6
caf\u00e9 3 \u540d 4 loss\u00a01
loss\t1\tacc\t2
loss 0x10 acc 1_000 lr 1,5
loss 1 loss 2
""".encode().decode("unicode_escape").splitlines() + ["n" * 64 + " 1", "n" * 65 + " 1", "x " + "1" * 64, "x " + "1" * 65,
                                                      "loss 1 " + "x" * 70_000]


def scalar_file(*scalars):
    """Each scalar: a tag and the protobuf fields of its value."""
    content = b""
    for tag, value in scalars:
        def field(number, bytes_):
            return bytes([number << 3 | 2, len(bytes_)]) + bytes_
        event = bytes([1 << 3 | 1]) + struct.pack("<d", 1) + field(5, field(1, field(1, tag) + value(field)))
        content += record(event)
    return content


EVENTS = scalar_file(
    (b"simple", lambda field: bytes([2 << 3 | 5]) + struct.pack("<f", 0.25)),
    (b"floats", lambda field: field(8, field(5, struct.pack("<f", 1.5)))),
    (b"doubles", lambda field: field(8, field(6, struct.pack("<d", 2.5)))),
    (b"content", lambda field: field(8, bytes([1 << 3, 1]) + field(4, struct.pack("<f", 3.5)))),
    (b"wide", lambda field: field(8, bytes([1 << 3, 2]) + field(4, struct.pack("<d", 4.5)))),
    (b"histogram", lambda field: field(8, bytes([1 << 3, 2]) + field(4, b"x" * 24))),
    (b"simple", lambda field: bytes([2 << 3 | 5]) + struct.pack("<f", 0.125)),
    (b"none", lambda field: b""))


def test_both_find_the_same_metrics(tmp_path):
    found = {}
    for kind in RUNNERS:
        sweep = Sweep(tmp_path / kind, kind)
        trials = []
        for index, line in enumerate(LINES):
            with open(sweep.path(f"line{index}"), "w", encoding="utf-8") as file:
                file.write(line + "\n")
            trials.append(({"i": str(index)}, f"cat {sweep.folder}/line{index}"))
        for length in (len(EVENTS), len(EVENTS) - 3, 40, 5):
            with open(sweep.path(f"events{length}"), "wb") as file:
                file.write(EVENTS[:length])
            trials.append(({"i": f"events{length}"},
                           f"mkdir $MUSTER_RUN_DIR/a; cp {sweep.folder}/events{length} $MUSTER_RUN_DIR/a/events.out.tfevents.1"))
        sweep.run(trials)
        found[kind] = {index: result["metrics"] for index, result in sweep.results().items()}
    for index, line in enumerate(LINES):
        assert found["python"][index] == found["muster"][index], line
    assert found["python"] == found["muster"]
    assert found["python"][len(LINES)] == {"simple": 0.125, "floats": 1.5, "doubles": 2.5, "content": 3.5, "wide": 4.5}


def test_the_results_are_told_in_the_log_and_again_where_there_is_much(tmp_path):
    sweep = Sweep(tmp_path / "sweep", "python")
    del sweep.env["MUSTER_RUN_DIR"]  # no run volume

    def told(trials, *flags):
        out, error = sweep.start(trials, *flags).communicate(timeout=PATIENCE)
        assert error == ""
        lines = out.splitlines()
        return lines, [json.loads(line[len("trial ended: "):]) for line in lines if line.startswith("trial ended: ")]
    _, results = told([({"lr": "a b", "seed": "1"}, "echo loss nan; echo acc 1; exit 3")])
    result, = results
    assert list(result["values"].items()) == [("lr", "a b"), ("seed", "1")]
    assert (result["index"], result["exitCode"], result["lastLine"]) == (0, 3, "acc 1")
    assert result["metrics"] == {"loss": "nan", "acc": 1} and result["started"] <= result["ended"]
    trials = [({"lr": "a b", "seed": "1"}, "exit 1"), ({"lr": "2", "seed": "2"}, "yes 'a long line of output' | head -c 5000000")]
    lines, results = told(trials)
    assert [result["index"] for result in results] == [0, 1, 0, 1], "as the container starts again, and of a long log at the end"
    assert lines[-4].startswith("trial ended: ") and lines[-2:] == [
        "2 of 2 trials ended, 1 of them failed", "  lr=a b seed=1 exited with code 3: acc 1"]


def test_an_image_that_has_only_python3_will_do(tmp_path):
    sweep = Sweep(tmp_path / "sweep", "python")
    os.mkdir(sweep.path("only"))
    for name in ("python3", "sh"):
        os.symlink(shutil.which(name), sweep.path("only", name))
    sweep.env["PATH"] = sweep.path("only")
    sweep.run([({"a": "x"}, "exec python -c 'print(1)'")])
    sweep.run([({"a": "x"}, "exec python -c 'print(1)'"), ({"a": "y"}, "exec python -c 'print(2)'")])
    assert [result["lastLine"] for result in sweep.results().values()] == ["1", "2"]


@pytest.mark.parametrize("given, flags, seen", (({}, ["--gpus=2"], ["0", "1"]), ({"CUDA_VISIBLE_DEVICES": "GPU-a"}, ["--gpus=2"], ["GPU-a"])))
def test_each_gpu_of_the_pod_has_a_trial(tmp_path, given, flags, seen):
    sweep = Sweep(tmp_path / "sweep", "python")
    sweep.env.update(given)
    out = sweep.run([({"i": "0"}, "echo $CUDA_VISIBLE_DEVICES"), ({"i": "1"}, "echo $CUDA_VISIBLE_DEVICES")], *flags)
    assert sorted({line.split()[1] for line in out[:-1]}) == seen
