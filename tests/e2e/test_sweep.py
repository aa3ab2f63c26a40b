"""muster run --sweep: one job, many trials."""
import inspect
import json
import os
import signal

import pytest

import event_records
from waiting import PATIENCE, await_true

TRIAL = """import os, sys
rate = float(sys.argv[1])
print("step 1 loss", (rate - 0.3) ** 2)
open(os.environ["MUSTER_RUN_DIR"] + "/model", "w").write(sys.argv[1])
if rate > 1: raise ValueError("diverged")
"""


@pytest.fixture
def code(cluster):
    folder = cluster.path("home", "code")
    os.makedirs(folder)
    with open(folder + "/trial.py", "w") as file:
        file.write(TRIAL)
    for path in (folder, folder + "/trial.py"):
        os.chown(path, cluster.uid, cluster.uid)
    return folder


def trials(cluster, name, *flags):
    return json.loads(cluster.run("show", name, "-o", "json", *flags).stdout)["trials"]


def test_five_rates_and_the_best_of_them(cluster, code):
    done = cluster.run("run", "--name=rates", "--sweep=lr=0.1,0.2,0.3,0.4,2", "trial.py", "{lr}", cwd=code, code=1)
    assert "[lr=0.3] step 1 loss 0.0\n" in done.stdout
    assert "5 of 5 trials ended, 1 of them failed\n  lr=2 exited with code 1: ValueError: diverged\n" in done.stdout
    assert [line.split()[0] for line in cluster.run("list").stdout.splitlines()] == ["NAME", "rates"]
    best = cluster.run("show", "rates", "--best=loss").stdout.splitlines()
    assert best[0].split()[:4] == ["TRIAL", "lr", "STATUS", "EXIT"] and best[1].split()[:3] == ["2", "0.3", "SUCCEEDED"]
    assert trials(cluster, "rates", "--best=loss", "--max")[0]["values"] == {"lr": "2"}
    assert "there are loss, step" in cluster.run("show", "rates", "--best=acc", code=1).stderr
    assert cluster.run("history").stdout.splitlines()[1].endswith("python trial.py {lr} (5 trials)")
    assert len(cluster.run("files", "rates").stdout.splitlines()) == 11  # a log and a model each, and the results

    again = cluster.run("rerun", "rates", "--failed", cwd=code, code=1)
    assert "1 of 1 trial ended, 1 of them failed" in again.stdout
    assert "none of its trials has failed" in cluster.run(
        "rerun", good_sweep(cluster, code), "--failed", code=1).stderr


def test_a_sweep_is_explained_by_one_of_its_trials(cluster, code):
    quiet = "test {a} = 2 && exit 3; test {a} = 4 && kill -9 $$; test {a} = 5 && exec python3 trial.py 2; echo {a}"
    cluster.run("run", "--name=five", "--sweep=a=1..5", quiet, cwd=code, code=3)
    first = cluster.run("explain", "five").stdout
    assert "\nTrial:     1 (a=2): one of 3 that failed, of 5; the next: muster explain five --trial 3\n" in first
    assert "it ended itself, and printed nothing" in first and "exited with code 3" in first and "Last line" not in first
    assert "killed by SIGKILL" in cluster.run("explain", "five", "--trial=3").stdout
    last = json.loads(cluster.run("explain", "five", "--trial=4", "-o", "json").stdout)
    assert last["line"] == "ValueError: diverged" and last["where"]["file"] == "trial.py"
    assert last["trial"] == {"index": 4, "values": {"a": "5"}, "failed": [1, 3, 4], "trials": 5}
    assert "Trial:     0 (a=1): nothing failed\n" in cluster.run("explain", "five", "--trial=0").stdout
    assert "the trials of five are 0 to 4" in cluster.run("explain", "five", "--trial=5", code=1).stderr
    cluster.run("delete", "five")
    assert "ValueError: diverged" in cluster.run("explain", "five", "--trial=4").stdout


LOGGING = inspect.getsource(event_records) + """
import os, sys
def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content
value = field(1, b"loss/val") + bytes([2 << 3 | 5]) + struct.pack("<f", abs(float(sys.argv[1]) - 2))
event = bytes([1 << 3 | 1]) + struct.pack("<d", 1) + field(5, field(1, value))
folder = os.environ["MUSTER_RUN_DIR"] + "/logs"
os.mkdir(folder)
with open(folder + "/events.out.tfevents.1.host", "wb") as file:
    file.write(record(event))
"""


def test_the_best_by_what_is_logged_for_tensorboard(cluster, code):
    with open(code + "/logs.py", "w") as file:
        file.write(LOGGING)
    cluster.run("run", "--name=logged", "--sweep=x=1,2,4", "logs.py", "{x}", cwd=code)
    best = cluster.run("show", "logged", "--best=loss/val").stdout.splitlines()
    assert [line.split()[1] for line in best[1:]] == ["2", "1", "4"], best


def good_sweep(cluster, code):
    cluster.run("run", "--name=good", "--sweep=lr=0.1", "trial.py", "{lr}", cwd=code)
    return "good"


def test_trials_of_several_ranks_run_side_by_side(cluster, code):
    # Each waits until all have begun: they share no port.
    line = ('touch {i}.$RANK; while [ $(ls [0-9].* | wc -l) -lt 6 ]; do sleep 0.1; done; echo rank $RANK of {i}; '
            'echo loss $(($RANK * 100 - {i}))')
    out = cluster.run("run", "--name=wide", "-n", "2", "--parallel=3", "--sweep=i=1..3", line, cwd=code).stdout
    for trial in (1, 2, 3):
        for rank in (0, 1):
            assert f"\n[i={trial}] [rank{rank}]:rank {rank} of {trial}\n" in "\n" + out
    assert "3 of 3 trials ended, 0 of them failed" in out
    best = cluster.run("show", "wide", "--best=loss").stdout.splitlines()
    assert [line.split()[1] for line in best[1:]] == ["3", "2", "1"], best
    of_one = cluster.run("logs", "wide", "--rank=1").stdout.splitlines()
    assert len(of_one) == 6 and all("[rank1]:" in line for line in of_one), of_one


def test_a_retry_is_for_the_trials_that_failed(cluster, code):
    line = 'echo run {i}; test {i} = 1 || test -e $MUSTER_RUN_DIR/again || { touch $MUSTER_RUN_DIR/again; exit 5; }'
    done = cluster.run("run", "--name=tried", "--retry=1", "--sweep=i=1..2", "--parallel=1", line, cwd=code)
    assert [line for line in done.stdout.splitlines() if "] run" in line] == ["[i=1] run 1", "[i=2] run 2", "[i=2] run 2"]
    assert done.stdout.endswith("2 of 2 trials ended, 0 of them failed\n")


def test_it_goes_on_where_it_was_stopped(cluster, code):
    mark = cluster.path("home", "go")
    running = cluster.start("run", "--name=long", "--sweep=i=1..4", "--parallel=1", "--grace=1",
                            f"test {{i}} -lt 3 || test -e {mark} || sleep 600", cwd=code)
    await_true(lambda: [trial["status"] for trial in trials_or_none(cluster, "long")][:2] == ["SUCCEEDED"] * 2)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=PATIENCE)
    assert [trial["status"] for trial in trials(cluster, "long")] == ["SUCCEEDED"] * 2 + ["PENDING"] * 2
    before = trials(cluster, "long")[0]
    open(mark, "w").close()
    cluster.run("resume", "long")
    cluster.wait("long", "SUCCEEDED")
    after = trials(cluster, "long")
    assert [trial["status"] for trial in after] == ["SUCCEEDED"] * 4
    assert after[0] == before, "what had ended is not run again"


def trials_or_none(cluster, name):
    done = cluster.run("show", name, "-o", "json", code=None)
    return json.loads(done.stdout).get("trials", []) if done.returncode == 0 else []


def test_a_thousand_trials_and_what_is_refused(cluster, code):
    done = cluster.run("run", "--name=many", "--sweep=i=1..1000", "true", cwd=code)
    assert done.stdout.endswith("1000 of 1000 trials ended, 0 of them failed\n")
    for flags, words, why in ((["--sweep=lr=1"], ["trial.py", "{rate}"], "{rate} in the command: no --sweep has that name"),
                              (["--sweep=i=1..1000000"], ["true"], "more than 10000 trials"),
                              (["--sweep=lr=1", "--nodes=2"], ["true"], "--sweep and --nodes contradict each other"),
                              (["--parallel=2"], ["true"], "--parallel is for a --sweep")):
        refused = cluster.run("run", "--name=no", *flags, *words, cwd=code, code=2)
        assert why in refused.stderr and len(refused.stderr.splitlines()) == 1
    assert "no run no is known" in cluster.run("show", "no", code=1).stderr
