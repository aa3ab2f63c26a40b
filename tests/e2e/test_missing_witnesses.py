"""Ranks of pods that answer badly, or cannot answer: what is known is told in time, and which witness is missing. For `launch`,
test_recorder.py has them."""
import json
import os
import re
import time

import pytest

import faults
from test_recorder import BAD_ANSWERS, BAD_SERVER
from test_stalls import PYTHON, Launch
from waiting import PATIENCE

PODS = ("--env=OMP_NUM_THREADS=1",)


def submit(cluster, name, text, workers, command=PYTHON):
    path = cluster.path("home", f"{name}.py")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o644)
    cluster.submit(name, command.replace("FILE", path) if "FILE" in command else f"{command} {path}", f"--workers={workers}", *PODS)


def await_reason(cluster, name, pattern):
    end = time.monotonic() + PATIENCE
    while True:
        reason = cluster.get(name).get("reason", "")
        if re.search(pattern, reason):
            return reason
        assert time.monotonic() < end, (reason, cluster.run("get", name, "--ranks").stdout)
        time.sleep(0.3)


def test_recorders_that_misbehave_are_named_as_missing_witnesses(cluster):
    text, fault, wait = faults.program("late-rank")
    kinds = ["a gigabyte", "garbage", "nonsense", "nothing"]  # the rank that is late is not the one that is busy sending
    serve = "[None, *({!r}[int(os.environ['RANK']) - 1:][:1])]".format([BAD_ANSWERS[kind] for kind in kinds])
    # Rank 0 has none, as with this torch; each other one misbehaves in its way.
    bad = BAD_SERVER.replace("ANSWER", f"exec(({serve})[-1] or '')").replace(
        "threading.Thread", "if os.environ['RANK'] != '0': threading.Thread")
    lines = bad.count("\n")
    submit(cluster, "bad", bad + text, 5)
    # On a busy machine it is first called busy, because it is asked again and again.
    reason = await_reason(cluster, "bad", "^stalled.*recorder")
    assert re.fullmatch(rf"stalled \d+ s: rank 4 has not entered all_reduce \(bad.py:{wait + lines}\); it is at bad.py:{fault + lines}: "
                        r"time.sleep\(600\)  # FAULT; no usable answer of the flight recorder of ranks 1-4", reason), reason
    assert reason.split(": ", 1)[1] in cluster.run("explain", "bad").stdout


def test_a_rank_that_is_no_python_is_not_said_to_have_not_started(cluster):
    text, _, wait = faults.program("late-rank")
    # -I leaves out the start-up hook, as a program in C++ has none.
    submit(cluster, "mixed", text, 2, f'sh -c "exec {PYTHON} $(test $RANK = 0 || echo -I) FILE"')
    reason = await_reason(cluster, "mixed", "waiting|stalled")
    assert re.fullmatch(rf"waiting \d+ s: rank 1 has not entered all_reduce \(mixed.py:{wait}\); it runs no Python that says where it is"
                        r"(, and sleeps \(hrtimer_nanosleep\))?", reason)


def test_who_does_not_come_to_the_rendezvous_is_named_whatever_store_it_has(cluster):
    text = ("import os, time\n"
            "import torch.distributed as dist\n"
            "if os.environ['RANK'] == os.environ['LATE']: time.sleep(600)\n"
            "dist.init_process_group('gloo')\n")
    for late in (0, 1):  # the others poll: for the store, or in it
        submit(cluster, f"late-{late}", text.replace("os.environ['LATE']", f"'{late}'"), 2)
    for late in (0, 1):
        reason = await_reason(cluster, f"late-{late}", "stalled")
        assert f"rank {late} has not entered init_process_group (late-{late}.py:4); it is at late-{late}.py:3" in reason


ABORTS = """\
import os, time
def work():
    if os.environ["RANK"] == "1":
        os.abort()
    time.sleep(600)
work()
"""


def test_a_crash_says_where_the_program_was(cluster, tmp_path, warm):
    submit(cluster, "crash", ABORTS, 2)
    cluster.wait("crash", "FAILED")
    verdict = json.loads(cluster.run("explain", "crash", "-o", "json").stdout)
    assert verdict["who"]["rank"] == 1
    assert verdict["where"] == {"file": cluster.path("home", "crash.py"), "line": 4, "function": "work"}
    assert [fact["text"] for fact in verdict["evidence"] if fact["source"] == "Python's stack"] == [
        f'rank 1: Aborted at File "{cluster.path("home", "crash.py")}", line 4 in work']
    # The log is as the program wrote it.
    assert "Fatal Python error" not in cluster.run("logs", "crash", "-i", "crash-worker-0").stdout
    for flags, variables in (((), {}), (("--warm",), warm)):
        with Launch(tmp_path, ABORTS, *flags, **variables) as launch:
            assert launch.process.wait(60) != 0
            assert re.search(rf'\n  where     : Aborted at File "{tmp_path}/train.py", line 4 in work\n', launch.said()), launch.said()
            assert "Fatal Python error" not in launch.said()


def test_a_programs_own_place_for_its_crashes_stays(tmp_path):
    text = "import faulthandler\nfaulthandler.enable()\n" + ABORTS
    with Launch(tmp_path, text) as launch:
        assert launch.process.wait(60) != 0
        assert "Fatal Python error: Aborted" in launch.said()


FORKS = """\
import faulthandler, os
faulthandler.CALL()
child = os.fork()
if child == 0:
    print("ENABLED", faulthandler.is_enabled(), flush=True)
    os.abort()
os.waitpid(child, 0)
"""


@pytest.mark.parametrize("is_warm", [False, True])
def test_forks_keep_the_programs_own_place_for_their_crashes(tmp_path, warm, is_warm):
    for call in ("enable", "disable"):
        folder = tmp_path / call
        folder.mkdir()
        with Launch(folder, FORKS.replace("CALL", call), *(["--warm"] if is_warm else []), **(warm if is_warm else {})) as launch:
            assert launch.process.wait(60) == 0, launch.said()
            assert launch.said().count(f"ENABLED {call == 'enable'}") == 2, launch.said()
            assert launch.said().count("Fatal Python error: Aborted") == (2 if call == "enable" else 0), launch.said()


def test_a_native_program_that_crashes_lacks_a_python_stack(cluster):
    cluster.submit("native", "sh -c 'test $RANK = 0 && sleep 600; kill -SEGV $$'", "--workers=2", "--wait", code=None)
    verdict = json.loads(cluster.run("explain", "native", "-o", "json").stdout)
    assert (verdict["class"], verdict["who"]["rank"]) == ("native-crash", 1)
    assert verdict["where"] is None
    assert verdict["missing"] == ["the Python stack of rank 1 (native-worker-0) at its end"]
