"""A rank that holds the others up is named while it does; who is only slow is not called stalled."""
import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import time

import pytest

import faults
from places import BINARY, LAUNCHER
from waiting import PATIENCE

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

    def await_line(self, pattern, timeout=PATIENCE):
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


@pytest.fixture(scope="module")
def stalls(tmp_path_factory, warm):
    """A launch of each program that comes to a standstill, by name. They wait at the same time, and a forked rank takes a tenth of the
    processor time of an executed one."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(Launch(tmp_path_factory.mktemp("first"), "import torch\n", "--warm", **warm))
        assert first.process.wait(60) == 0  # there is an interpreter that forks
        made = {name: stack.enter_context(Launch(tmp_path_factory.mktemp(name), faults.program(name)[0], "--warm", **warm))
                for name in faults.STALLS}
        yield made
        for launch in made.values():
            launch.process.terminate()


def check_line(name, launch):
    _, fault, wait = faults.program(name)
    line = launch.await_line(r"muster-launch: (stalled|waiting) \d+ s: .*").group(0)
    assert "stalled" in line
    assert re.search(r"\brank 1\b", line)
    assert f"{faults.STALLS[name][1]} (train.py:{wait})" in line
    if fault:
        assert f"train.py:{fault}" in line


@pytest.mark.parametrize("name", faults.STALLS)
def test_the_rank_its_line_and_the_collective_are_named(stalls, name):
    check_line(name, stalls[name])


@pytest.mark.parametrize("name", ["late-rank", *(pytest.param(name, marks=pytest.mark.soak) for name in faults.STALLS if name != "late-rank")])
def test_those_of_executed_ranks_are_too(tmp_path, name):
    with Launch(tmp_path, faults.program(name)[0]) as launch:
        check_line(name, launch)


# What was said while it lasted is the answer at the end, too, when the others have run into their time-out.
@pytest.mark.parametrize("name", ["wrong-order", *(pytest.param(name, marks=pytest.mark.soak) for name in faults.STALLS if name != "wrong-order")])
def test_the_log_of_its_end_names_it_too(tmp_path, name):
    text, fault, _ = faults.program(name)
    meeting = 'init_process_group("gloo"'
    assert meeting in text
    text = text.replace(meeting, meeting + ', timeout=__import__("datetime").timedelta(seconds=12)')
    with Launch(tmp_path, text, ranks=3) as launch:
        assert launch.process.wait(120) == 1
    told = json.loads(subprocess.run([BINARY, "explain", "--logs", launch.path, "-o", "json"], capture_output=True, text=True, check=True).stdout)
    calls_differ = "they wait for each other" in told["line"]
    assert (told["class"], told["who"]["rank"]) == ("collective-mismatch" if calls_differ else "hang", 2), told
    assert not fault or told["where"]["line"] == fault, told


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


def said_to_a_late_reader(tmp_path, seconds, lines, length, *flags):
    """What `launch` says to whoever reads its console only then: a pager, or a terminal that was stopped. Rank 0 prints that many
    lines of x."""
    text = ("import os\n"
            "import torch, torch.distributed as dist\n"
            "dist.init_process_group('gloo')\n"
            "if os.environ['RANK'] == '0':\n"
            f"    for _ in range({lines}): print('x' * {length}, flush=True)\n"
            "dist.all_reduce(torch.ones(1))\n"
            "dist.destroy_process_group()\n")  # torch 1.13 may abort in a thread of gloo's at the end without
    script = tmp_path / "train.py"
    script.write_text(text)
    with subprocess.Popen([LAUNCHER, "--python", PYTHON, "--standalone", "--nproc-per-node=2", *flags, script],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**ENVIRONMENT, "TMPDIR": str(tmp_path)}) as launch:
        time.sleep(seconds)
        said = launch.stdout.read()
    assert launch.returncode == 0, said[-2000:]
    assert said.count("x" * length) == lines
    return said


def test_a_rank_that_polls_for_the_others_waits(tmp_path):
    """As torch 1.13 does at the end of init_process_group."""
    text = ("import os, time, torch.distributed as dist\n"
            "from torch.distributed import distributed_c10d\n"
            "if os.environ['RANK'] == '1':\n"
            "    distributed_c10d._store_based_barrier = lambda *_: time.sleep(600)\n"
            "dist.init_process_group('gloo')\n")
    with Launch(tmp_path, text) as launch:
        launch.await_line(r"stalled \d+ s: rank 1 has not entered init_process_group \(train.py:5\); it is at train.py:4: .*sleep\(600\)")


def test_a_rank_that_waits_for_the_consoles_reader_is_not_stopped(tmp_path):
    assert "stalled" not in said_to_a_late_reader(tmp_path, 12, 2000, 4000, "--on-stall=stop")


def test_a_look_cuts_off_nothing_of_what_a_rank_prints(tmp_path):
    """A signal ends a write to a full pipe before its end, and Python loses the rest. It is looked at after 3 s, and after 6."""
    said_to_a_late_reader(tmp_path, 8, 80, 100000)


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


# No start-up hook runs with -I.
HANGS = "python3 -Ic 'import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()'"


@functools.cache
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
        pytest.skip("this kernel does not say where a process sleeps")
    path = tmp_path / "hangs.sh"
    path.write_text(f"#!/bin/sh\n[ $RANK = 1 ] && exec sleep 600\n{HANGS}\n")
    path.chmod(0o755)
    said = tmp_path / "said"
    with open(said, "w") as file:
        process = subprocess.Popen([LAUNCHER, "--standalone", "--nproc-per-node=3", "--no-python", str(path)], stdout=file, stderr=file)
    try:
        end = time.monotonic() + PATIENCE
        while "waiting" not in said.read_text():
            assert time.monotonic() < end and process.poll() is None, said.read_text()
            time.sleep(0.2)
    finally:
        process.terminate()
        process.wait(30)
    assert re.search(r"^muster-launch: waiting 1\d s: no rank does anything, and none runs Python that says where it is: "
                     r"rank 1 \(pid \d+\): sleeps \(hrtimer_nanosleep\); ranks 0, 2: each waits for another thread \(futex_",
                     said.read_text(), re.MULTILINE), said.read_text()
