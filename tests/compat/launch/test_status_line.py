"""The line at the bottom of a terminal that says how the ranks are."""
import os
import pty
import re
import signal

import pytest

SCRIPT = """
import os, time
rank, restart = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
# Whole: print() writes the end of a line by itself.
for n in range(20):
    os.write(1, f"out {rank} {n}\\n".encode()); os.write(2, f"err {rank} {n}\\n".encode())
open(f"up.{rank}.{restart}", "w").write(str(os.getpid()))
while not os.path.exists("go"): time.sleep(0.01)
print("end", rank)
"""


class Terminal:
    def __init__(self, launch, *args, env=None, **streams):
        self.launch = launch
        self.ours, theirs = pty.openpty()
        self.process = launch.start(*args, stdin=theirs, **{"stdout": theirs, "stderr": theirs,
                                                            **streams},
                                    env={"TERM": "xterm", "OMP_NUM_THREADS": "1", **(env or {})})
        os.close(theirs)
        self.text = ""

    def read(self):
        try:
            part = os.read(self.ours, 1 << 16)
        except OSError:  # the last one has closed it
            return False
        self.text += part.decode()
        return bool(part)

    def until(self, pattern):
        while not re.search(pattern, self.text):
            assert self.read(), self.text

    def until_at_the_bottom(self, pattern):
        while not re.match(pattern, self.screen()[-1]):
            assert self.read(), self.text

    def finish(self):
        while self.read():
            pass
        os.close(self.ours)
        return self.process.wait()

    def screen(self):
        """What is left to see."""
        lines, column = [""], 0
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.", self.text, re.S):
            line = lines[-1]
            if part == "\r":
                column = 0
            elif part == "\n":
                lines.append("")
                column = 0
            elif part == "\x1b[K":
                lines[-1] = line[:column]
            elif not part.startswith("\x1b"):
                lines[-1] = line[:column] + part + line[column + 1:]
                column += 1
        return lines


def test_it_is_below_what_ranks_print_and_goes_with_them(launch):
    terminal = Terminal(launch, "--nproc-per-node=2", launch.script(SCRIPT))
    terminal.until_at_the_bottom(r"muster: 2 of 2 ranks running \| (out|err) \d 19")
    open(launch.path("go"), "w").close()
    assert terminal.finish() == 0
    expected = [f"{what} {rank} {n}" for what in ("out", "err") for rank in (0, 1)
                for n in range(20)] + ["end 0", "end 1", ""]
    assert sorted(terminal.screen()) == sorted(expected)


def test_it_tells_of_restarts(launch):
    terminal = Terminal(launch, "--nproc-per-node=2", "--max-restarts=3", launch.script(SCRIPT))
    terminal.until("muster: 2 of 2 ranks running")
    os.kill(int(launch.await_file("up.1.0")), signal.SIGKILL)
    terminal.until("muster: 2 of 2 ranks running, restart 1 of 3")
    open(launch.path("go"), "w").close()
    assert terminal.finish() == 0
    assert not [line for line in terminal.screen() if line.startswith("muster: ")]


def test_a_prompt_keeps_its_place(launch):
    script = launch.script("""
import os, sys, time
if os.environ["RANK"] == "0":
    sys.stdout.write("continue? ")
    open("asked", "w").write("1")
# The other writes when the line has its end: after a second it would end it itself.
while not os.path.exists("go" if os.environ["RANK"] == "0" else "answered"): time.sleep(0.01)
print("yes")
open("answered", "w").close()
""")
    terminal = Terminal(launch, "--nproc-per-node=2", script)
    terminal.until(r"continue\? ")
    launch.await_file("asked")
    open(launch.path("go"), "w").close()
    assert terminal.finish() == 0
    assert "continue? yes" in terminal.screen() and "yes" in terminal.screen()


@pytest.mark.parametrize("flags, env", [
    (["--no-status"], {}), ([], {"PET_NO_STATUS": "1"}), ([], {"TERM": "dumb"}),
])
def test_it_can_be_turned_off(launch, flags, env):
    open(launch.path("go"), "w").close()
    terminal = Terminal(launch, "--nproc-per-node=2", *flags, launch.script(SCRIPT), env=env)
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.text and "ranks running" not in terminal.text


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_is_no_terminal_gets_none_and_leaves_none(launch, stream):
    open(launch.path("go"), "w").close()
    with open(launch.path("file"), "w") as file:
        terminal = Terminal(launch, "--nproc-per-node=2", launch.script(SCRIPT), **{stream: file})
        assert terminal.finish() == 0
    with open(launch.path("file")) as file:
        assert "\x1b" not in terminal.text + file.read()


def test_a_rank_that_is_alone_has_the_terminal_to_itself(launch):
    open(launch.path("go"), "w").close()
    terminal = Terminal(launch, launch.script(SCRIPT))
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.text


def test_an_end_by_a_signal_leaves_none(launch):
    terminal = Terminal(launch, "--nproc-per-node=2", launch.script(SCRIPT))
    terminal.until("muster: 2 of 2 ranks running")
    terminal.process.terminate()
    assert terminal.finish() == 143
    assert terminal.screen()[-2:] == ["muster-launch: ended by SIGTERM", ""]
    assert not [line for line in terminal.screen() if line.startswith("muster: ")]
    launch.await_none_left()
