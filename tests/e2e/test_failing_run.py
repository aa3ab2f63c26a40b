"""What `run`, `explain`, `logs` and `report` say of a run of two ranks that fails, and whether they agree."""
import os
import signal

import pytest

from waiting import PATIENCE

PEER = 'raise RuntimeError("[gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:50073")'
ENDS_EARLY = f"""import os, sys, time
if os.environ["RANK"] == "1":
    with open(__file__ + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(__file__ + ".new", __file__ + ".pid")
    sys.exit(0)
while not os.path.exists(__file__ + ".pid"):
    time.sleep(0.02)
while os.path.exists("/proc/" + open(__file__ + ".pid").read()):  # its launcher knows that it has ended
    time.sleep(0.02)
def step(number):
    {PEER}
print("step 2 loss 0.5", flush=True)
step(100)
"""
WORDS = """import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit("the data set is empty")
time.sleep(60)
"""
CRASHES = """import os, signal, time
print("step 2 loss 0.5", flush=True)
if os.environ["RANK"] == "1":
    os.kill(os.getpid(), signal.SIGSEGV)
time.sleep(60)
"""
LOSES_ITS_LOSS = """import os, time
print("step 4 loss 0.5", flush=True)
if os.environ["RANK"] == "1":
    print("step 5 loss nan", flush=True)
time.sleep(60)
"""
SAVES = """import signal, sys, time
def save(*_):
    time.sleep(2)
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(cluster):
    folder = cluster.path("home", "code")
    os.mkdir(folder)

    def run_script(text, *flags, code=1):
        with open(os.path.join(folder, "train.py"), "w") as file:
            file.write(text)
        return cluster.run("run", "--name=base", "-n", "2", *flags, "train.py", code=code, cwd=folder)
    return run_script


def explained(cluster):
    return cluster.run("explain", "base").stdout


def test_a_rank_that_was_done_early_is_named_by_all(cluster, run):
    done = run(ENDS_EARLY)
    assert "rank 1 had ended with exit code 0 while rank 0 still waited for it" in done.stderr
    assert "(ended-early)" in explained(cluster)
    # The call in the traceback is no step.
    assert "step 2, loss 0.5" in cluster.run("get", "base").stdout
    assert "up to 100" not in cluster.run("report", "base").stdout


def test_the_last_words_of_a_program_are_in_the_first_line(cluster, run):
    done = run(WORDS)
    assert "rank 1 (base-master-0) exited with code 1: its last line: the data set is empty\n" in done.stderr
    assert "Last line: the data set is empty" in explained(cluster)


def test_a_crash_is_not_explained_by_what_was_printed_before(cluster, run):
    run(CRASHES, code=139)
    told = explained(cluster)
    assert "(native-crash)" in told and "ended by signal 11 (SIGSEGV)" in told and "Why:       step" not in told


def test_a_lost_loss_that_stopped_the_job_is_why(cluster, run):
    done = run(LOSES_ITS_LOSS, "--stop-on-nan", code=137)
    assert "a loss is not a number any more" in done.stderr
    told = explained(cluster)
    assert "(nan)" in told and "step 5 loss nan" in told


@pytest.fixture
def started(cluster):
    """A `run` of one rank that is up, and takes two seconds to save at the end."""
    with open(cluster.path("home", "train.py"), "w") as file:
        file.write(SAVES)
    running = cluster.start("run", "--live", "--name=base", "--grace=600", "train.py")
    assert running.stdout.readline() == "up\n"
    yield running
    running.kill()
    running.communicate()


def test_a_stopped_run_keeps_its_log(cluster, started):
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=PATIENCE) == 130
    logs = cluster.run("logs", "base")
    assert logs.stdout == "up\nsaved\n" and "base is suspended: this is its log until then" in logs.stderr
    assert "saved" in cluster.run("logs", "base", "--all").stdout
    assert cluster.run("logs", "base", "-i", "other", code=1).stdout == ""


def test_two_signals_of_one_sender_at_once_are_one_request(started):
    """timeout(1) signals the program and then its group; two of one number may melt into one, so here they differ."""
    started.send_signal(signal.SIGINT)
    started.send_signal(signal.SIGTERM)
    out, err = started.communicate(timeout=PATIENCE)
    assert out == "saved\n", err
