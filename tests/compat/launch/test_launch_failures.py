"""Failures, restarts, reports and exit codes (compat/torchrun.md 0, 2.5, 2.6; cases 39-74)."""
import contextlib
import ctypes
import glob
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import pytest

from places import LAUNCHER
from ports import free_port
from waiting import PATIENCE


@pytest.mark.parametrize("body, code", [
    ("sys.exit(3)", 3), ("raise ValueError('boom')", 1), ("os._exit(138)", 138),
    ("os.kill(os.getpid(), signal.SIGSEGV)", 139), ("os.kill(os.getpid(), signal.SIGKILL)", 137),
    ("os.abort()", 134), ("pass", 0),
])
def test_exit_code_is_the_root_causes(launch, body, code):
    script = launch.script(f"import os, signal, sys\nif os.environ['RANK'] == '1':\n    {body}\n")
    launch.run("--nproc-per-node=2", script, code=code)
    launch.await_none_left()


def test_the_table_is_torchruns(launch):
    script = launch.script("""
import os, sys, time
if os.environ["RANK"] == "1":
    while not os.path.exists("up"): time.sleep(0.01)
    sys.exit(3)
open("up", "w").close()
time.sleep(1000)
""", "fail3.py")
    done = launch.run("--nproc-per-node=2", script, code=3, env={"OMP_NUM_THREADS": "1"})
    pattern = r"""torch\.distributed\.elastic\.multiprocessing\.errors\.ChildFailedError: 
=+
(?P<title>.*) FAILED
-+
Failures:
\[1\]:
  time      : \d{4}-\d\d-\d\d_\d\d:\d\d:\d\d
  host      : .+
  rank      : 0 \(local_rank: 0\)
  exitcode  : -15 \(pid: \d+\)  \(SIGTERM\)
  error_file: <N/A>
  traceback : Signal 15 \(SIGTERM\) received by PID \d+
-+
Root Cause \(first observed failure\):
\[0\]:
  time      : \d{4}-\d\d-\d\d_\d\d:\d\d:\d\d
  host      : .+
  rank      : 1 \(local_rank: 1\)
  exitcode  : 3 \(pid: \d+\) 
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch\.org/docs/stable/elastic/errors\.html
={60}
"""
    found = re.match(pattern, done.err)
    assert found, done.err
    assert found["title"] == script
    assert done.err.count("FAILED") == 1


def test_the_host_is_named_as_torchrun_names_it(launch):
    # From /etc/hosts alone: elsewhere torchrun asks a name server too.
    with open("/etc/hosts") as file:
        known = [line.split("#")[0].split()[1:] for line in file]
    name = os.uname().nodename
    expected = socket.getfqdn() if any(name in names for names in known) else name
    done = launch.run(launch.script("raise SystemExit(3)"), code=3)
    assert re.findall(r"^  host      : (.*)$", done.err, re.M) == [expected]


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def has_ended(pid):
    return state_of(pid) == "Z"


def test_ranks_that_fail_at_the_same_time_are_failures_of_their_own(launch):
    script = launch.script("""
import os, sys, time
rank = int(os.environ["RANK"])
with open(f"new{rank}", "w") as file: file.write(str(os.getpid()))
os.rename(f"new{rank}", f"up{rank}")
while not os.path.exists("go"): time.sleep(0.01)
if rank == 2: time.sleep(1000)
sys.exit(3 + rank)
""")
    process = launch.start("--nproc-per-node=3", script)
    pids = [int(launch.await_file(f"up{rank}")) for rank in range(3)]
    agent = launch.agent(process)
    # What it learns of both, it learns at once.
    os.kill(agent, signal.SIGSTOP)
    open(launch.path("go"), "w").close()
    launch.await_true(lambda: all(map(has_ended, pids[:2])), "they have not ended")
    os.kill(agent, signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode in (3, 4)
    assert "others    : 1 failed too" in err and "ended     : 1 more, because of it" in err
    for rank, code in enumerate((3, 4, -15)):
        assert f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {code} (" in err
    (report,) = glob.glob(launch.path("tmp", "*", "*", "failure.json"))
    with open(report) as file:
        failures = json.load(file)["failures"]
    assert {f["rank"]: f["stopped_by_launcher"] for f in failures} == {0: False, 1: False, 2: True}


def test_explanation_comes_last_with_or_without_record(launch):
    script = launch.script("""
import os, time
if os.environ["RANK"] == "1":
    raise ValueError("boom")
time.sleep(1000)
""")
    done = launch.run("--nproc-per-node=2", script, code=1)
    table, explanation = done.err.split("=" * 60 + "\n")[-2:]
    assert "rank 1 of 2 failed first" in explanation
    assert "ValueError: boom" in explanation and 'raise ValueError("boom")' in explanation
    (report,) = glob.glob(launch.path("tmp", "*", "*", "failure.json"))
    assert report in explanation
    with open(report) as file:
        cause = json.load(file)["root_cause"]
    assert (cause["rank"], cause["class"], cause["message"]) == (1, "exception",
                                                                 "ValueError: boom")
    done = launch.run("--nproc-per-node=2", "--explain=off", "--failure-file",
                      launch.path("f.json"), script, code=1)
    assert done.err.endswith("=" * 60 + "\n")
    with open(launch.path("f.json")) as file:
        assert json.load(file)["root_cause"]["rank"] == 1


RECORD = """
import os
from torch.distributed.elastic.multiprocessing.errors import record
@record
def main():
    raise ValueError("boom")
main()
"""


def test_error_file_of_record_is_read_and_passed_on(launch, torch_version):
    done = launch.run("--nproc-per-node=1", launch.script(RECORD), code=1,
                      env={"TORCHELASTIC_ERROR_FILE": launch.path("mine.json")})
    assert re.search(r"error_file: /.*/attempt_0/0/error\.json\n  traceback : Traceback", done.err)
    with open(launch.path("mine.json")) as file:
        message = json.load(file)["message"]
    assert message["message"] == "ValueError: boom" and message["errorCode"] == 1


def test_no_error_file_no_copy(launch):
    launch.run(launch.script("raise SystemExit(4)"), code=4,
               env={"TORCHELASTIC_ERROR_FILE": launch.path("mine.json")})
    assert not os.path.exists(launch.path("mine.json"))


@pytest.mark.parametrize("args", [["--nnodes=0"], ["--log-dir=/proc/x"], ["--python=/no/python"]])
def test_errors_of_the_launcher_are_in_its_own_error_file(launch, args):
    done = launch.run(*args, launch.script(""), code=1,
                      env={"TORCHELASTIC_ERROR_FILE": launch.path("mine.json")})
    message = json.loads(launch.await_file("mine.json"))["message"]
    assert message["message"] in done.err and message["extraInfo"]["timestamp"].isdigit()


def test_files_for_the_failure_stay_what_they_are(launch):
    """A pod's /dev/termination-log is a mount, /dev/null a device."""
    os.symlink("/dev/null", launch.path("null"))
    open(launch.path("log"), "w").close()
    os.link(launch.path("log"), launch.path("other"))
    launch.run("--failure-file", launch.path("null"), "--run-path",
               launch.script("raise ValueError('boom')"), code=1,
               env={"TORCHELASTIC_ERROR_FILE": launch.path("log")})
    assert os.readlink(launch.path("null")) == "/dev/null"
    with open(launch.path("other")) as file:
        assert "boom" in file.read()


def test_run_path_records_by_itself(launch):
    done = launch.run("--run-path", launch.script("raise ValueError('boom')"), code=1)
    assert "run_script_path FAILED" in done.err
    assert re.search(r"error_file: /.*/error\.json", done.err)


def test_malformed_error_file_is_said(launch):
    script = launch.script("import os\nopen(os.environ['TORCHELASTIC_ERROR_FILE'], 'w')"
                           ".write('{}')\nraise SystemExit(5)")
    assert 'no "message"' in launch.run(script, code=5).err


BIPOLAR = """
import os, sys, time
count, rank = os.environ["TORCHELASTIC_RESTART_COUNT"], os.environ["RANK"]
open(f"start.{rank}.{count}", "w").close()
if int(rank) % 2 and (len(sys.argv) < 2 or int(count) < int(sys.argv[1])):
    sys.exit(1)
if len(sys.argv) < 2 or int(count) < int(sys.argv[1]):
    time.sleep(1000)
"""


def test_restarts_until_none_is_left(launch):
    done = launch.run("--nproc-per-node=2", "--max-restarts=2", launch.script(BIPOLAR), code=1)
    starts = {name for name in os.listdir(launch.folder) if name.startswith("start.1")}
    assert starts == {f"start.1.{count}" for count in range(3)}
    assert "restart 2 of 2" in done.err and "2 of 2 used" in done.err
    assert done.err.count("FAILED") == 1
    launch.await_none_left()


def test_restart_that_helps(launch):
    launch.run("--nproc-per-node=4", "--max-restarts=3", launch.script(BIPOLAR), "2", "-t3")
    assert os.path.exists(launch.path("start.3.2"))
    assert not os.path.exists(launch.path("start.3.3"))


def test_attempts_have_folders_of_their_own(launch):
    launch.run("--nproc-per-node=2", "--max-restarts=1", "-t3", "--log-dir", launch.path("logs"),
               launch.script(BIPOLAR), "1")
    attempts = glob.glob(launch.path("logs", "*", "*"))
    assert sorted(map(os.path.basename, attempts)) == ["attempt_0", "attempt_1"]


def test_a_peer_that_ignores_the_signal_is_killed_after_the_grace(launch):
    """The original waits 30 s whatever --shutdown-timeout says (section 0.5)."""
    script = launch.script("""
import os, signal, sys, time
if os.environ["RANK"] == "0":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("up", "w").close()
    time.sleep(1000)
while not os.path.exists("up"): time.sleep(0.01)
sys.exit(3)
""")
    done = launch.run("--nproc-per-node=2", "--shutdown-timeout=0", script, code=3)
    assert "exitcode  : -9" in done.err
    os.remove(launch.path("up"))
    launch.run("--nproc-per-node=2", "--shutdown-timeout=1", script, code=3)
    launch.await_none_left()


GRANDCHILDREN = """
import os, subprocess, sys, time
subprocess.Popen(["sleep", "1000"])
subprocess.Popen(["sleep", "1001"], start_new_session=True)
subprocess.Popen(["sh", "-c", "trap '' TERM; (trap '' TERM; sleep 1002) & sleep 1003"],
                 start_new_session=True)
open(f"up{os.environ['RANK']}", "w").write("x")
print("up", flush=True)
"""


@pytest.mark.parametrize("body, code", [("sys.exit(3)", 3), ("", 0)])
def test_children_of_a_worker_do_not_outlive_the_launcher(launch, body, code):
    script = launch.script(GRANDCHILDREN + body)
    launch.run("--nproc-per-node=2", "--shutdown-timeout=1", script, code=code,
               stdout=None, stderr=None)
    assert not launch.processes()


def test_what_a_shell_started_before_it_became_the_launcher_is_left_alone(launch):
    script = launch.script(GRANDCHILDREN)
    shell = "(sleep 1000; sleep 1001) >/dev/null 2>&1 & echo $! >others; exec \"$0\" \"$@\""
    done = subprocess.run(["sh", "-c", shell, LAUNCHER, "--shutdown-timeout=1", script], env=launch.env,
                          cwd=launch.folder, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0
    other = int(launch.await_file("others"))
    assert len(launch.processes()) == 2 and other in launch.processes()
    os.kill(other, signal.SIGKILL)


PTRACE_SEIZE = 0x4206


@pytest.mark.parametrize("flags", [
    ["--master-port={}"], ["--rdzv-backend=c10d", "--rdzv-endpoint=localhost:{}"],
    ["--nnodes=1:2", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:{}",
     "--rdzv-conf=is_host=true,last_call_timeout=0"]])
def test_a_launcher_that_was_killed_leaves_its_port_to_the_next(launch, flags):
    """Its agent still ends the ranks, which takes long for one with much memory."""
    port = free_port()
    flags = [flag.format(port) for flag in flags]
    script = launch.script("""
import os, sys, time
if len(sys.argv) == 1: sys.exit()
open("new", "w").write(str(os.getpid()))
os.rename("new", "up")
time.sleep(1000)
""")
    process = launch.start(*flags, script, "first")
    rank, agent = int(launch.await_file("up")), launch.agent(process)
    # The agent cannot reap it before its tracer has.
    if ctypes.CDLL(None).ptrace(PTRACE_SEIZE, rank, None, None) != 0:
        pytest.skip("ptrace is not allowed")
    process.kill()
    launch.await_true(lambda: has_ended(rank), "the rank is not killed")
    launch.run(*flags, script)
    assert agent in launch.processes()
    os.waitpid(rank, 0)
    launch.await_none_left()


@pytest.mark.parametrize("victim", ["guardian", "agent"])
def test_sigkill_of_the_launcher_leaves_nothing(launch, victim):
    script = launch.script(GRANDCHILDREN + "time.sleep(1000)")
    process = launch.start("--nproc-per-node=2", script, stdout=None, stderr=None)
    for rank in range(2):
        launch.await_file(f"up{rank}")
    assert len(launch.processes()) > 8
    os.kill(process.pid if victim == "guardian" else launch.agent(process), signal.SIGKILL)
    launch.await_none_left()
    assert process.wait(timeout=PATIENCE) == (-signal.SIGKILL if victim == "guardian" else 137)


def test_sigkill_by_name_leaves_nothing(launch):
    # As pkill -9 -f main.py and pkill -9 muster-launch do.
    script = launch.script(GRANDCHILDREN + "time.sleep(1000)")
    process = launch.start("--nproc-per-node=2", script, stdout=None, stderr=None)
    for rank in range(2):
        launch.await_file(f"up{rank}")
    victims = []
    for pid in launch.processes():
        with open(f"/proc/{pid}/cmdline") as line, open(f"/proc/{pid}/comm") as name:
            if "main.py" in line.read() or name.read().strip() == "muster-launch":
                victims.append(pid)
    assert process.pid in victims and len(victims) == 3
    for pid in victims:
        with contextlib.suppress(ProcessLookupError):  # the agent is as quick as we are
            os.kill(pid, signal.SIGKILL)
    launch.await_none_left()


SLEEP = """
import os, signal, sys, time
name = "up" + os.environ["RANK"]
def note(number, frame):
    open(name + ".signal", "a").write(f"{signal.Signals(number).name}\\n")
    if number not in (signal.SIGUSR1, signal.SIGUSR2): sys.exit(0)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
               signal.SIGUSR2):
    signal.signal(number, note)
open(name, "w").write("x")
while True: time.sleep(0.2)  # a signal just before a sleep is handled behind it
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])
def test_a_signal_reaches_the_ranks_and_ends_the_job(launch, name):
    process = launch.start("--nproc-per-node=2", launch.script(SLEEP),
                           env={"TORCHELASTIC_ERROR_FILE": launch.path("own.json")})
    for rank in range(2):
        launch.await_file(f"up{rank}")
    number = getattr(signal, name)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert f"ended by {name}" in err
    # As torchrun's @record does.
    with open(launch.path("own.json")) as file:
        assert json.load(file)["message"]["message"] == (
            f"SignalException: Process {process.pid} got signal: {number.value}")
    for rank in range(2):
        assert launch.await_file(f"up{rank}.signal") == name + "\n"
    launch.await_none_left()


def test_user_signals_are_passed_on_and_the_job_goes_on(launch):
    process = launch.start("--nproc-per-node=2", launch.script(SLEEP))
    for rank in range(2):
        launch.await_file(f"up{rank}")
    process.send_signal(signal.SIGUSR1)
    for rank in range(2):
        assert launch.await_file(f"up{rank}.signal") == "SIGUSR1\n"
    assert process.poll() is None
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 143


def test_user_signal_ends_the_job_when_it_is_to_be_handled(launch):
    process = launch.start("--signals-to-handle=SIGUSR1,SIGNONE", "--nproc-per-node=1",
                           launch.script(SLEEP))
    launch.await_file("up0")
    process.send_signal(signal.SIGUSR1)
    launch.await_file("up0.signal")
    said = ""
    while "a second one kills them at once" not in said:  # two that come at once are one
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGUSR1)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 138 and "SIGNONE" in said + err


def test_a_second_ctrl_c_hastens_the_end(launch):
    """The original waits another 30 s (2.5)."""
    script = launch.script("""
import signal, time
signal.signal(signal.SIGINT, lambda *_: open("asked", "w").write("x"))
open("up", "w").write("x")
while True: time.sleep(1000)
""")
    process = launch.start("--shutdown-timeout=1000", script)
    launch.await_file("up")
    process.send_signal(signal.SIGINT)
    launch.await_file("asked")  # two that come at once are one
    while line := process.stderr.readline():
        if "1 of 1 ranks are still running after SIGINT: a second one kills them at once" in line:
            break
    assert line
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 130
    launch.await_none_left()


def test_one_request_that_comes_by_several_ways_is_one(launch):
    """systemd signals each process of a unit, timeout(1) signals twice: ranks still have their grace."""
    script = launch.script("""
import os, signal, sys, time
def save(*_):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while not os.path.exists("go"): time.sleep(0.01)
    open("saved", "w").write("x")
    sys.exit(0)
signal.signal(signal.SIGINT, save)
signal.signal(signal.SIGTERM, save)
open("up", "w").write("x")
while True: time.sleep(1000)
""")
    process = launch.start(script)
    launch.await_file("up")
    agent = launch.agent(process)
    os.kill(agent, signal.SIGSTOP)
    # Two that it finds at once.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        os.kill(agent, number)
    assert any("1 of 1 ranks are still running" in line for line in process.stderr)
    open(launch.path("go"), "w").close()
    assert process.wait(timeout=PATIENCE) == 130
    assert os.path.exists(launch.path("saved"))


def test_a_program_whose_parent_ends_first_gets_one_sigterm(launch):
    """A shell dies of the group's SIGTERM while its program still saves its work."""
    child = launch.script("""
import os, signal, time
def save(*_):
    with open("asked", "a") as file: file.write("x")
signal.signal(signal.SIGTERM, save)
open("up", "w").write(str(os.getppid()))
while not os.path.exists("go"): time.sleep(0.01)
""", "child.py")
    script = launch.script(f"""
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: None)
subprocess.Popen([sys.executable, {child!r}])
while not os.path.exists("asked"): time.sleep(0.01)
os._exit(0)
""")
    process = launch.start(script)
    worker, agent = int(launch.await_file("up")), launch.agent(process)
    process.terminate()
    launch.await_true(lambda: not os.path.exists(f"/proc/{worker}"), "the parent lives on")
    # What the agent does at its end is done.
    launch.await_true(lambda: state_of(agent) == "S", "the agent does not wait")
    open(launch.path("go"), "w").close()
    assert process.wait(timeout=PATIENCE) == 143
    assert launch.await_file("asked") == "x"


def test_who_is_late_for_its_own_timer_is_ended(launch):
    """FileTimerClient's requests, as torch.distributed.elastic.timer writes them (case 80)."""
    script = launch.script("""
import json, os, stat, time
path = os.environ["TORCHELASTIC_TIMER_FILE"]
assert stat.S_ISFIFO(os.stat(path).st_mode)
def ask(scope, when, signal=9):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wt") as file:
        file.write(json.dumps({"version": 1, "pid": os.getpid(), "scope_id": scope,
                               "expiration_time": when, "signal": signal}) + "\\n")
ask("taken back", time.time() + 1000)
ask("taken back", -1, 0)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    if os.environ["RANK"] == "1": ask("step 7", time.time() + 0.2)
    time.sleep(1000)
""")
    done = launch.run("--nproc-per-node=2", "--max-restarts=1", script, code=0,
                      env={"TORCHELASTIC_ENABLE_FILE_TIMER": "1"})
    assert re.search(r'rank 1 \(pid \d+\) has not finished "step 7" by the time that it set: it gets '
                     r"SIGKILL", done.err)
    assert os.listdir(launch.path("tmp")) == []


def test_torchs_own_timer_client_reaches_the_launcher(launch, torch_version):
    script = launch.script("""
import time
import torch.distributed.elastic.timer as timer
from torch.distributed.elastic.timer.file_based_local_timer import FileTimerClient
import os
timer.configure(FileTimerClient(os.environ["TORCHELASTIC_TIMER_FILE"]))
with timer.expires(after=1000): pass
with timer.expires(after=0.2, scope="step"): time.sleep(1000)
""")
    done = launch.run(script, code=137, env={"TORCHELASTIC_ENABLE_FILE_TIMER": "1",
                                             "TORCHELASTIC_TIMER_FILE": launch.path("pipe")})
    assert 'has not finished "step"' in done.err and not os.path.exists(launch.path("pipe"))


def test_without_the_variable_there_is_no_timer(launch):
    launch.run("--nproc-per-node=1", launch.script(
        "import os; assert os.environ['TORCHELASTIC_TIMER_FILE'] == '/mine'"),
        env={"TORCHELASTIC_TIMER_FILE": "/mine"})


KERNEL_SLEEP = """
import ctypes, os, platform, time
print("up", os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"], flush=True)
if os.environ["RANK"] == "0": open("up", "w").close()
if os.environ["RANK"] == "1":
    while not os.path.exists("up"): time.sleep(0.01)
    # The parent of a vfork is in state D; the child's memory is its own (no CLONE_VM).
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    ctypes.CDLL(None).syscall(number, 0x4000 | 17, 0, 0, 0, 0, 0)
time.sleep(1000)
"""


def test_a_worker_that_the_kernel_does_not_let_go_ends_the_job_without_restarts(launch):
    """Section 2.2: TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT."""
    done = launch.run("--nproc-per-node=2", "--max-restarts=3", "--shutdown-timeout=1",
                      "--failure-file", launch.path("why.json"), launch.script(KERNEL_SLEEP),
                      code=143, env={"TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT": "1"})
    assert sorted(done.out.splitlines()) == ["up 0 0", "up 1 0"]
    assert re.search(r"muster-launch: rank 1 \(pid \d+\) is in uninterruptible sleep", done.err)
    assert re.search(r"rank      : 1 .*\n.*\n.*\n  traceback : in uninterruptible sleep", done.err)
    cause = json.loads(launch.await_file("why.json"))["root_cause"]
    assert (cause["rank"], cause["class"]) == (1, "uninterruptible-sleep")
    launch.await_none_left()


def test_who_waits_for_a_peer_in_the_kernel_is_told_soon(launch):
    script = launch.script("""
import signal, sys, os, time
if os.environ["RANK"] == "0":
    while not os.path.exists("stubborn"): time.sleep(0.01)
    sys.exit(3)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("stubborn", "w").close()
open("up", "w").close()
""" + KERNEL_SLEEP)
    done = launch.run("--nproc-per-node=2", "--shutdown-timeout=5", script, code=3)
    assert re.search(r"rank 1 \(pid \d+\) is in uninterruptible sleep \(state D", done.err)
    launch.await_none_left()


def test_a_rank_that_is_done_early_is_named_as_the_cause(launch, torch_version):
    script = launch.script("""
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
if dist.get_rank() == 1: os._exit(0)  # torch 1.13 now and then aborts while Python ends
while True: dist.all_reduce(torch.ones(1))
""")
    done = launch.run("--nproc-per-node=2", script, code=None, env={"OMP_NUM_THREADS": "1"})
    assert done.returncode != 0
    assert "why       : rank 1 had ended with exit code 0 while rank 0 still waited" in done.err


def test_the_limit_of_descriptors_is_named(launch):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    script = launch.script("import time\nwhile True: time.sleep(1000)\n")
    done = launch.run("--nproc-per-node=32", script, code=1, preexec_fn=limit)
    assert "40 descriptors (ulimit -n)" in done.err
    port = free_port()
    process = launch.start(f"--master-port={port}", script, preexec_fn=limit)
    with contextlib.ExitStack() as clients:
        def connects():
            try:
                clients.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            except ConnectionRefusedError:
                return False
            return True

        launch.await_true(connects, "nobody listens")
        for _ in range(60):
            assert connects()
        while line := process.stderr.readline():
            if "cannot accept more connections" in line:
                break
        assert "40 descriptors (ulimit -n)" in line


@pytest.mark.parametrize("limit", ["", "0", "never"])
def test_a_worker_in_the_kernel_is_left_alone_unless_asked(launch, limit):
    process = launch.start("--nproc-per-node=2", launch.script(KERNEL_SLEEP),
                           env={"TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT": limit})
    launch.await_line(process, "up")
    launch.await_line(process, "up")
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 143
    launch.await_none_left()


def test_nohup_is_respected(launch):
    process = launch.start("--nproc-per-node=1", launch.script(SLEEP),
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    launch.await_file("up0")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR2)
    assert launch.await_file("up0.signal") == "SIGUSR2\n"
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 143


def test_a_busy_port_is_named_with_its_holder(launch):
    with socket.socket() as held:
        held.bind(("", 0))
        held.listen()
        port = held.getsockname()[1]
        script = launch.script("print('started')")
        for flags in (["--master-port", port],
                      ["--rdzv-backend=c10d", f"--rdzv-endpoint=localhost:{port}"]):
            done = launch.run(*flags, script, code=1)
            assert str(port) in done.err and str(os.getpid()) in done.err
            assert "started" not in done.out


DDP = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * dist.get_rank()
dist.all_reduce(value)
assert dist.is_torchelastic_launched() if hasattr(dist, "is_torchelastic_launched") else True
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and os.environ["RANK"] == "1" and FAIL:
    os._exit(9)
dist.barrier()
print("sum", value.item())
dist.destroy_process_group()
"""


@pytest.mark.parametrize("flags, ranks, fails", [
    # The ranks of test_stalls.py are started with --standalone.
    ([], 4, False), pytest.param(["--standalone"], 2, False, marks=pytest.mark.soak),
    pytest.param(["--master-port=0"], 2, False, marks=pytest.mark.soak), (["--max-restarts=1"], 2, True),
])
def test_gloo_all_reduce(launch, torch_version, flags, ranks, fails):
    """Debian's own torchrun crashes at its start (section 0.1)."""
    script = launch.script(DDP.replace("FAIL", str(fails)))
    done = launch.run(f"--nproc-per-node={ranks}", *flags, script)
    assert done.out.splitlines() == [f"sum {sum(range(ranks)):.1f}"] * ranks


def test_workers_without_torch_do_not_need_it(launch):
    done = launch.run("--nproc-per-node=2", launch.script(
        "import sys; assert 'torch' not in sys.modules; print('ok')"))
    assert done.out == "ok\nok\n"


def test_many_workers_start_and_stop(launch):
    done = launch.run("--nproc-per-node=256", "--no-python", launch.script(
        '#!/bin/sh\necho "$RANK"\n', "t.sh"))
    assert sorted(map(int, done.out.split())) == list(range(256))
    launch.await_none_left()


def test_an_idle_launcher_never_wakes_up(launch):
    process = launch.start("--nproc-per-node=2", launch.script(SLEEP))
    for rank in range(2):
        launch.await_file(f"up{rank}")
    pids = [process.pid, launch.agent(process)]

    def switches():
        total = 0
        for pid in pids:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/status") as file:
                    total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(),
                                           re.M)[1])
        return total
    # It settles once what it started has started; then nothing may happen.
    seen = [switches()]
    launch.await_true(lambda: (time.sleep(0.5), seen.append(switches()), seen[-1] == seen[-2])[-1],
                      "it never rests")
    with open(f"/proc/{pids[1]}/status") as file:
        assert int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) < 6 * 1024
    process.terminate()
    process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_loss_that_is_no_number_stops_the_job(launch, ranks):
    script = launch.script("""
import os, time
print("step 1 loss 0.5", flush=True)
if os.environ["RANK"] == os.environ["WORLD_SIZE_LESS_ONE"]:
    print("{'loss': nan, 'step': 2}", flush=True)
time.sleep(1000)
""")
    done = launch.run(f"--nproc-per-node={ranks}", "--stop-on-nan", "--max-restarts=3", script, code=137,
                      env={"WORLD_SIZE_LESS_ONE": str(ranks - 1)})
    assert f"rank {ranks - 1}: a loss is not a number any more: {{'loss': nan, 'step': 2}}" in done.err
    assert "restart 1 of 3" not in done.err
    launch.await_none_left()


def test_without_the_flag_a_loss_may_be_anything(launch):
    script = launch.script("print('step 2 loss nan', flush=True)")
    launch.run("--nproc-per-node=2", script, code=0)
