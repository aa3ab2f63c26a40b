"""Log files, redirection, tee, prefixes (compat/torchrun.md 2.4; cases 24, 39, 52-56)."""
import fcntl
import glob
import os
import re
import select
import subprocess
import time

import pytest

from waiting import PATIENCE

TALK = """
import os, sys
rank = os.environ["RANK"]
print("out of", rank)
print("err of", rank, file=sys.stderr)
"""


def files(launch, folder="logs"):
    base = glob.glob(launch.path(folder, "*", "attempt_0"))
    assert len(base) == 1
    found = {}
    for parent, _, names in os.walk(base[0]):
        for name in names:
            path = os.path.join(parent, name)
            with open(path) as file:
                found[os.path.relpath(path, base[0])] = file.read()
    return found


def both(rank):
    return {f"{rank}/stdout.log": f"out of {rank}\n", f"{rank}/stderr.log": f"err of {rank}\n"}


@pytest.mark.parametrize("flags, expected, out, err", [
    ([], {}, ["out of 0", "out of 1"], ["err of 0", "err of 1"]),
    (["-r3"], {**both(0), **both(1)}, [], []),
    (["-r1"], {"0/stdout.log": "out of 0\n", "1/stdout.log": "out of 1\n"}, [],
     ["err of 0", "err of 1"]),
    (["-r", "0:2"], {"0/stderr.log": "err of 0\n"}, ["out of 0", "out of 1"], ["err of 1"]),
    (["-t3"], {**both(0), **both(1)}, ["[default0]:out of 0", "[default1]:out of 1"],
     ["[default0]:err of 0", "[default1]:err of 1"]),
    (["-t", "1:1", "-r", "0:3"], {**both(0), "1/stdout.log": "out of 1\n"},
     ["[default1]:out of 1"], ["err of 1"]),
    (["-t3", "--role", ""], {**both(0), **both(1)}, ["[0]:out of 0", "[1]:out of 1"],
     ["[0]:err of 0", "[1]:err of 1"]),
    (["-t3", "--log-line-prefix-template", "<${role_name} ${rank}/${local_rank}> "],
     {**both(0), **both(1)}, ["<default 0/0> out of 0", "<default 1/1> out of 1"],
     ["<default 0/0> err of 0", "<default 1/1> err of 1"]),
    (["--local-ranks-filter", "1"], {}, ["out of 1"], ["err of 1"]),
    (["--local-ranks-filter", "1", "-t3"], {**both(0), **both(1)}, ["[default1]:out of 1"],
     ["[default1]:err of 1"]),
    (["-t3", "--duplicate-stdout-filters", "of 1", "--duplicate-stderr-filters", "nothing"],
     {**both(0), **both(1), "filtered_stdout.log": "[default1]:out of 1\n", "filtered_stderr.log": ""},
     ["[default0]:out of 0", "[default1]:out of 1"],
     ["[default0]:err of 0", "[default1]:err of 1"]),
])
def test_streams_go_where_they_are_sent(launch, flags, expected, out, err):
    done = launch.run("--nproc-per-node=2", "--log-dir", launch.path("logs"), *flags,
                      launch.script(TALK), env={"OMP_NUM_THREADS": "1"})
    assert files(launch) == expected
    assert sorted(done.out.splitlines()) == out
    assert sorted(done.err.splitlines()) == err
    ranks = glob.glob(launch.path("logs", "*", "attempt_0", "[01]"))
    assert len(ranks) == 2


def test_a_last_line_without_end_is_filtered_too(launch):
    launch.run("-t3", "--duplicate-stdout-filters=tail,,,other", "--log-dir", launch.path("logs"),
               launch.script("print('x'); print('the tail, y', end='')"))
    assert files(launch)["filtered_stdout.log"] == "[default0]:the tail, y\n"


def test_run_folder_is_named_by_the_id(launch):
    launch.run("--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--rdzv-id=job",
               "--log-dir", launch.path("logs"), launch.script(""))
    (name,) = os.listdir(launch.path("logs"))
    assert re.fullmatch(r"job_.{8}", name)


@pytest.mark.parametrize("umask, folder, file", [(0o077, 0o700, 0o600), (0o002, 0o775, 0o664)])
def test_the_callers_umask_decides_who_reads_the_logs(launch, umask, folder, file):
    launch.run("-t1", "-r3", "--log-dir", launch.path("logs"), launch.script(TALK), umask=umask)
    (rank,) = glob.glob(launch.path("logs", "*", "*", "0"))
    attempt = os.path.dirname(rank)
    modes = {path: os.stat(path).st_mode & 0o777 for path in (
        launch.path("logs"), attempt, rank, f"{rank}/stdout.log", f"{rank}/stderr.log")}
    assert list(modes.values()) == [folder] * 3 + [file] * 2, modes
    # A run's own folder is private, as torchrun makes it.
    assert os.stat(os.path.dirname(attempt)).st_mode & 0o777 == 0o700
    launch.run("--log-dir", launch.path("logs"), launch.script("raise SystemExit(3)"), umask=umask, code=3)
    (report,) = glob.glob(launch.path("logs", "*", "failure.json"))
    assert os.stat(report).st_mode & 0o777 == file


def test_prefix_template_of_the_environment(launch):
    """torch's test_capture_logs_using_default_logs_specs."""
    script = launch.script('#!/bin/sh\necho "creating $RANK"\n', "t.sh")
    done = launch.run("--nproc-per-node=4", "--redirect=3", "--tee=3", "--no-python", script,
                      env={"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "[rank${rank}]: "})
    assert sorted(done.out.splitlines()) == [f"[rank{i}]: creating {i}" for i in range(4)]


def test_ranks_above_nine_can_be_named(launch):
    done = launch.run("--nproc-per-node=12", "-t", "11:1", "--log-dir", launch.path("logs"),
                      launch.script(TALK))
    assert files(launch) == {"11/stdout.log": "out of 11\n"}
    assert "[default11]:out of 11" in done.out.splitlines()


def test_null_turns_logs_off(launch):
    done = launch.run("--nproc-per-node=2", "--log-dir=/dev/null", "-t3", launch.script(TALK))
    assert sorted(done.out.splitlines()) == ["out of 0", "out of 1"]
    assert not os.listdir(launch.path("tmp"))


def test_temporary_folders_are_left_only_when_worth_reading(launch):
    script = launch.script(TALK)
    launch.run("--nproc-per-node=2", script)
    assert not os.listdir(launch.path("tmp"))
    launch.run("--nproc-per-node=2", "-r3", script)
    assert len(os.listdir(launch.path("tmp"))) == 1


@pytest.mark.parametrize("flags", [[], ["-t3"]])
def test_lines_are_never_torn_and_none_is_lost(launch, flags):
    """Unbuffered Python writes the text and the end of a line apart."""
    script = launch.script(
        "import os\nfor i in range(4000): print(os.environ['RANK'] * 40, i)\n")
    done = launch.run("--nproc-per-node=4", *flags, script)
    lines = [line.split(":")[-1].split() for line in done.out.splitlines()]
    assert len(lines) == 16000
    seen = {str(rank): 0 for rank in range(4)}
    for text, number in lines:
        assert text == text[0] * 40
        assert int(number) == seen[text[0]]
        seen[text[0]] += 1


def test_an_unfinished_line_is_shown_and_not_continued(launch):
    script = launch.script("""
import os, sys, time
if os.environ["RANK"] == "0":
    sys.stdout.write("name? ")
    sys.stdout.flush()
    while not os.path.exists("go"): time.sleep(0.01)
    print("done")
else:
    while not os.path.exists("go"): time.sleep(0.01)
    print("other")
""")
    process = launch.start("--nproc-per-node=2", script, bufsize=0, text=False)
    assert os.read(process.stdout.fileno(), 100) == b"name? "
    open(launch.path("go"), "w").close()
    out = process.communicate()[0].decode()
    assert sorted(out.replace("\n", " ").split()) == ["done", "other"]
    assert "other" in out.splitlines()


def test_a_progress_bar_is_shown_while_it_moves_also_with_a_prefix(launch):
    script = launch.script("""
import os, sys, time
sys.stderr.write("\\r 50%|## ")
sys.stderr.flush()
while not os.path.exists("go"): time.sleep(0.01)
sys.stderr.write("\\r100%|####\\n")
""")
    process = launch.start("-t3", script, bufsize=0, text=False)
    assert select.select([process.stderr], [], [], PATIENCE)[0], "nothing is shown"
    assert os.read(process.stderr.fileno(), 100) == b"[default0]:\r 50%|## "
    open(launch.path("go"), "w").close()
    assert process.communicate()[1] == b"\r100%|####\n"


def test_a_line_behind_a_progress_bar_stays_whole(launch):
    script = launch.script("""
import sys, time
for part, seconds in (("\\r 50%|## ", 0.02), ("\\nhal", 0.5), ("f\\n", 0)):
    sys.stderr.write(part)
    sys.stderr.flush()
    time.sleep(seconds)
""")
    process = launch.start("-t3", script, bufsize=0, text=False)
    parts = list(iter(lambda: os.read(process.stderr.fileno(), 1000), b""))
    assert b"".join(parts) == b"[default0]:\r 50%|## \n[default0]:half\n"
    assert not any(part.endswith(b"hal") for part in parts), parts


def test_the_two_streams_of_a_rank_keep_their_order_in_one_file(launch):
    """As after `>log 2>&1`, where a worker of torchrun's writes for itself."""
    script = launch.script("""
import os
for i in range(300):
    for fd, name in ((1, "out"), (2, "err")):
        os.write(fd, b"%s %s " % (os.environ["RANK"].encode(), name.encode()))
        os.write(fd, b"%d\\n" % i)
""")
    for ranks in (1, 2):
        with open(launch.path("log"), "w+") as log:
            launch.run(f"--nproc-per-node={ranks}", script, stdout=log, stderr=log,
                       env={"OMP_NUM_THREADS": "1"})
            log.seek(0)
            lines = log.read().splitlines()
        for rank in range(ranks):
            assert [line for line in lines if line.startswith(str(rank))] == [
                f"{rank} {name} {i}" for i in range(300) for name in ("out", "err")]


def test_a_rank_that_is_alone_sees_that_the_reader_of_both_streams_is_gone(launch):
    script = launch.script("while True: print('x' * 100)")
    reader, writer = os.pipe()
    process = launch.start(script, stdout=writer, stderr=writer, text=False)
    os.close(writer)
    assert os.read(reader, 1) == b"x"
    os.close(reader)
    assert process.wait(timeout=120) == 1
    launch.await_none_left()


def test_a_long_line_without_end_comes_through(launch):
    script = launch.script("import sys; sys.stdout.write('x' * 5_000_000)")
    done = launch.run("--nproc-per-node=2", script)
    assert done.out.replace("\n", "") == "x" * 10_000_000


def test_a_slow_console_stops_neither_signals_nor_the_end(launch):
    script = launch.script("import os\nwhile True: print('x' * 1000)")
    process = launch.start("--nproc-per-node=2", "--shutdown-timeout=1", script)
    launch.await_line(process, "xxx")
    process.terminate()
    process.terminate()
    process.communicate(timeout=120)
    assert process.returncode == 143
    launch.await_none_left()


@pytest.mark.parametrize("begin", ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"])
def test_a_console_that_nobody_reads_does_not_keep_the_launcher(launch, begin):
    script = launch.script(begin + "while True: print('x' * 1000)")
    reader, writer = os.pipe()
    process = launch.start("--nproc-per-node=2", "--shutdown-timeout=1", script, stdout=writer)
    # As long as the pipe has room, the first signal ends it all: nothing waits for a reader.
    launch.await_true(lambda: not select.select([], [writer], [], 0)[1], "the pipe is not full")
    process.terminate()
    # The workers go, what they wrote waits for a reader; the second signal ends that too.
    launch.await_true(lambda: len(launch.processes()) == 2, "workers are left")
    time.sleep(0.3)  # within 200 ms of the first it would be the same one by another way
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 143
    launch.await_none_left()
    os.close(reader)
    os.close(writer)


@pytest.fixture
def full_console():
    """A pipe with no room for a byte more."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)  # the launcher's, which leaves it as it is then
    filler = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)
    size = 1 << 16
    while size:
        try:
            os.write(filler, b"." * size)
        except BlockingIOError:
            size //= 2
    os.close(filler)
    yield reader, writer
    os.close(reader)


def test_nothing_waits_for_a_reader_while_ranks_run(launch, full_console):
    reader, writer = full_console
    script = launch.script("""
import os, signal
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
open("up" + os.environ["RANK"], "w").write("x")
signal.pause()
""")
    process = launch.start("--nproc-per-node=2", "--event-log-handler=console", script, stdout=writer, stderr=writer)
    os.close(writer)
    launch.await_file("up0")
    launch.await_file("up1")
    process.terminate()
    launch.await_true(lambda: len(launch.processes()) <= 2, "workers are left")
    time.sleep(0.3)  # within 200 ms of the first it would be the same one by another way
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 143
    launch.await_none_left()


@pytest.mark.parametrize("ends_by", ["a reader", "a signal"])
def test_the_last_words_wait_for_a_reader_until_a_signal(launch, full_console, ends_by):
    reader, writer = full_console
    script = launch.script("open('up', 'w').write('x')\nraise SystemExit(3)\n")
    # So that there is nothing to say before.
    process = launch.start("--nproc-per-node=2", script, stdout=writer, stderr=writer, env={"OMP_NUM_THREADS": "1"})
    os.close(writer)
    launch.await_file("up")
    launch.await_true(lambda: len(launch.processes()) == 2, "workers are left")
    time.sleep(1)
    assert process.poll() is None
    if ends_by == "a signal":
        process.terminate()
    else:
        said = b""
        while some := os.read(reader, 1 << 20):
            said += some.lstrip(b".")
        assert b"exitcode  : 3" in said, said
    # On a busy machine it may not have been at its last words.
    assert process.wait(timeout=PATIENCE) in (3, 143 if ends_by == "a signal" else 3)
    launch.await_none_left()


def test_stdin_is_inherited(launch):
    script = launch.script("import sys; print(sys.stdin.read())")
    process = launch.start(script, stdin=subprocess.PIPE)
    assert process.communicate("hello", timeout=120)[0] == "hello\n"


def test_a_writer_that_pauses_within_a_line_is_waited_for(launch):
    """On a loaded machine the end of a line may come much later than its beginning."""
    script = launch.script("""
import os, time
if os.environ["RANK"] == "0":
    os.write(1, b"first ")
    open("begun", "w").close()
    while not os.path.exists("other"): time.sleep(0.01)
    os.write(1, b"second\\n")
else:
    while not os.path.exists("begun"): time.sleep(0.01)
    os.write(1, b"between\\n")
    open("other", "w").close()
""")
    done = launch.run("--nproc-per-node=2", "-t3", script)
    assert sorted(done.out.splitlines()) == ["[default0]:first second", "[default1]:between"]


def test_a_loss_that_is_no_number_is_told_once(launch):
    done = launch.run("--nproc-per-node=2", launch.script("for loss in (0.5, 'nan', 'nan'): print('step', loss, 'loss', loss)"))
    told = re.findall(r"muster-launch: warning: rank ([01]): a loss is not a number any more: step nan loss nan\n", done.err)
    assert len(told) == 1 and done.err.count("not a number") == 1, done.err
