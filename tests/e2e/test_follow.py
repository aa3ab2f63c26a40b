"""What a person sees who follows a job on a terminal of 80 columns, and that pipes see none of it."""
import os
import re
import signal
import time

import pytest

from embedded_muster import Cluster
from terminals import Terminal, drawn
from waiting import PATIENCE, await_true

BARS = """import os, sys, time
go = os.environ["MUSTER_RUN_DIR"] + "/go"
rank = os.environ["RANK"]
print("start", rank, flush=True)
for step in range(1, 1000):
    sys.stderr.write(f"\\r{step:3}%|{'█' * int(rank) * 3}")
    sys.stderr.flush()
    time.sleep(0.1)
    if os.path.exists(go):
        break
sys.stderr.write("\\r100%|done\\n")
print("end", rank, flush=True)
"""


@pytest.fixture
def cluster():
    made = Cluster()
    with open(made.path("home", "bars.py"), "w") as file:
        file.write(BARS)
    yield made
    made.close()


def on_terminal(cluster, *args):
    return Terminal([cluster.binary, *args], {**cluster.env, "TERM": "xterm"}, cluster.path("home"), columns=80)


def go(cluster, name):
    open(cluster.path("state", "muster", "runs", name, "files", "go"), "w").close()


def rest_of(terminal):
    """What is still to come until the program has ended."""
    code = terminal.process.wait(timeout=PATIENCE)
    os.write(terminal.slave, b"<over>")
    return code, terminal.expect("<over>")


def test_ranks_of_one_pod_have_colours_bars_that_move_and_a_status_line(cluster):
    with on_terminal(cluster, "run", "--name=two", "-n", "2", "bars.py") as terminal:
        text = terminal.expect("2 of 2 ranks up, ")
        # Each has a line of its own, for they do not look alike.
        for rank in (0, 1):
            text += terminal.expect(f"[{rank}] ")
            assert re.match(r" *\d+%\|", terminal.expect("\x1b[K"))
        terminal.expect("2 of 2 ranks up, 3s")
        go(cluster, "two")
        code, end = rest_of(terminal)
        assert code == 0
    assert "start 0..1" in text and "\x1b[1;36m[0-1]\x1b[0m " in text
    lines = drawn(text + end)
    assert "[0-1] end 0..1" in lines and "[0-1] 100%|done" in lines
    assert not any("ranks up" in line for line in lines), lines
    # The widest line is the terminal's.
    assert max(len(line) for line in lines if not line.startswith("INFO")) <= 80


def test_logs_of_that_pod_are_coloured_by_rank_on_a_terminal_alone(cluster):
    cluster.run("run", "-d", "--name=plain", "-n", "2", "bars.py")
    with on_terminal(cluster, "logs", "-f", "plain") as terminal:
        terminal.expect("[rank1]: ")
        terminal.expect("2 of 2 ranks up")
        go(cluster, "plain")
        code, text = rest_of(terminal)
        assert code == 0
    assert "\x1b[36m[rank0]:\x1b[0mend 0" in text and "\x1b[33m[rank1]:\x1b[0mend 1" in text
    piped = cluster.run("logs", "plain").stdout
    assert "\x1b" not in piped and "> " not in piped and "ranks up" not in piped
    assert sorted(line for line in piped.splitlines() if line.endswith(("end 0", "end 1"))) == [
        "[rank0]:end 0", "[rank1]:end 1"]
    folded = cluster.run("logs", "--all", "plain").stdout
    assert "[0-1] 100%|done\n" in folded and "ranks up" not in folded and "> " not in folded


def test_a_pipe_gets_what_the_ranks_write_and_no_more(cluster):
    running = cluster.start("run", "--name=piped", "-n", "2", "bars.py")
    await_true(lambda: os.path.exists(cluster.path("state", "muster", "runs", "piped", "files")))
    await_true(lambda: {"start 0", "start 1"} <= {line.split(":")[-1] for line in cluster.run("logs", "piped", code=None).stdout.splitlines()})
    go(cluster, "piped")
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    # On a busy machine a rank's line may come too late to be folded with the other's.
    whole = {"[0-1] 100%|done": ("[0] 100%|done", "[1] 100%|done"), "[0-1] end 0..1": ("[0] end 0", "[1] end 1"),
             "[0-1] start 0..1": ("[0] start 0", "[1] start 1")}
    lines = [each for line in out.splitlines() for each in whole.get(line, (line,))]
    assert sorted(lines) == sorted(each for pair in whole.values() for each in pair), out
    assert "ranks up" not in out + err and "\x1b" not in out + err


@pytest.mark.parametrize("flags", [[], ["--all"]])
@pytest.mark.parametrize("goes_on", ["exec sleep 600", "while :; do echo first; sleep 0.1; done"])
def test_a_follower_ends_with_who_reads_it(cluster, flags, goes_on):
    """As with `| head -1`, also while the program says nothing or only the same."""
    cluster.run("run", "-d", "--name=says", f"echo first; {goes_on}")
    running = cluster.start("logs", "-f", *flags, "says")
    assert running.stdout.readline().endswith("first\n")
    running.stdout.close()
    began = time.monotonic()
    assert running.wait(timeout=PATIENCE) == -signal.SIGPIPE
    assert time.monotonic() - began < 8  # before the repetitions are counted


def test_one_rank_is_as_it_writes_with_the_status_line_below(cluster):
    script = 'echo up; while ! test -e "$MUSTER_RUN_DIR/go"; do sleep 0.1; done; echo down'
    with on_terminal(cluster, "run", "--name=one", script) as terminal:
        terminal.expect("\nup\r\n")
        terminal.expect("\r1 of 1 rank up, ")
        terminal.expect(", quiet for ")
        go(cluster, "one")
        code, text = rest_of(terminal)
        assert code == 0
    assert "\r\x1b[Kdown\r\n" in text and "rank up" not in drawn(text)[-2]


def test_after_ctrl_c_no_status_line_is_left(cluster):
    with on_terminal(cluster, "run", "--name=cut", "--grace=5", "echo up; exec sleep 60") as terminal:
        terminal.expect("1 of 1 rank up, ")
        terminal.type("\x03")
        code, text = rest_of(terminal)
        assert code == 130
    lines = drawn(text)
    assert any("cut is stopped" in line for line in lines), lines
    assert not any("waiting for" in line or "waits:" in line for line in lines), "it does not wait, it ends"
    assert not any("rank up" in line for line in lines), lines


def test_a_program_that_starts_again_is_not_up_meanwhile(cluster):
    with on_terminal(cluster, "run", "--name=again", "--retry=2", "--grace=1", "echo up; exit 3") as terminal:
        terminal.expect("again-master-0 exited with code 3, starts again (restart 1)")
        terminal.expect("\r0 of 1 rank up")
        terminal.expect("exited with code 3, starts again (restart 2)")
        terminal.type("\x03")
        code, _ = rest_of(terminal)
        assert code == 130


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_pipe_hears_that_a_program_starts_again(cluster, nodes):
    done = cluster.run("run", "--name=again", f"--nodes={nodes}", "--retry=1", 'test "$RANK" = 0 && exit 3; sleep 60', code=3)
    told = [line for line in done.stderr.splitlines() if "starts again" in line]
    # Of two replicas each may be restarted once, and it may be the same one.
    assert [line.split("] ")[1] for line in told] == [
        f"again-master-0 exited with code 3, starts again (restart {number})" for number in range(1, nodes + 1)]


def test_a_second_ctrl_c_kills_and_says_nothing_of_waits(cluster):
    script = "trap '' TERM; echo up; while :; do sleep 0.1; done"
    with on_terminal(cluster, "run", "--name=stubborn", "--grace=600", script) as terminal:
        terminal.expect("1 of 1 rank up, ")
        terminal.type("\x03")
        terminal.expect("Ctrl-C again kills it at once")
        terminal.type("\x03")
        code, text = rest_of(terminal)
        assert code == 130
    lines = drawn(text)
    assert not any("waiting for" in line or "waits:" in line for line in lines), lines
    assert any("stubborn is stopped" in line for line in lines), lines


def test_all_lines_of_an_instance_that_is_still_to_start_are_new(cluster):
    os.mkfifo(cluster.path("go"))
    cluster.submit("first", f"read line < {cluster.path('go')}")
    cluster.submit("second", "echo one; echo two", "--wait-for=first")
    follower = cluster.start("logs", "-f", "-t", "0", "second")
    assert "waiting for instance second-master-0" in follower.stderr.readline()
    with open(cluster.path("go"), "w") as file:
        file.write("on\n")
    out, said = follower.communicate(timeout=PATIENCE)
    assert (follower.returncode, out) == (0, "one\ntwo\n"), said


def test_following_the_log_of_a_job_that_is_deleted_says_so(cluster):
    cluster.submit("brief", "echo here; sleep 600")
    follower = cluster.start("logs", "-f", "brief")
    assert follower.stdout.readline() == "here\n"
    cluster.run("delete", "brief")
    out, said = follower.communicate(timeout=PATIENCE)
    assert (follower.returncode, out) == (0, "")
    assert "brief was deleted while its log was followed" in said
