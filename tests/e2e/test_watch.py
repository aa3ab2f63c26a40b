"""`muster watch` in tmux: what the screen shows, what keys do, and that the terminal is as before when it ends."""
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

PRINTS = "for step in $(seq 1 1000); do echo \"step $step/1000 loss 0.$step\"; sleep 0.2; done"


class Screen:
    """A shell in a tmux of its own."""

    def __init__(self, cluster, width=80, height=24, **variables):
        self.server = f"muster-watch-{os.getpid()}-{time.monotonic_ns()}"
        environment = {**cluster.env, "TERM": "screen-256color", **variables}
        environment.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "sh", env=environment)

    def tmux(self, *args, env=None):
        return subprocess.run(["tmux", "-L", self.server, *args], env=env, text=True, capture_output=True, check=True, timeout=20).stdout

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def shown(self, *flags):
        return self.tmux("capture-pane", "-p", *flags)

    def await_that(self, holds, what, seconds):
        """The screen, once `holds` of it is true."""
        until = time.monotonic() + seconds
        while not holds(screen := self.shown()):
            assert time.monotonic() < until, f"{what} in\n{screen}"
            time.sleep(0.1)
        return screen

    def sees(self, *texts, seconds=30):
        """The screen, once all of these are on it."""
        return self.await_that(lambda screen: all(text in screen for text in texts), f"no {texts}", seconds)

    def is_empty(self):
        """But for the shell's prompt."""
        self.await_that(lambda screen: screen.strip() in ("#", "$"), "more than a prompt", 30)

    def goes_back(self):
        """Types Enter where a command has ended. The screen may still have the same words of an earlier one, further up."""
        self.await_that(lambda screen: screen.rstrip().endswith("enter goes back to watch"), "no end of a command", 60)
        self.type("Enter")

    def pid_of(self, words):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
            found = subprocess.run(["pgrep", "-P", shell, "-f", words], capture_output=True, text=True).stdout.split()
            if found:
                return int(found[0])
            time.sleep(0.1)
        raise AssertionError(f"no {words}")

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)


@pytest.fixture
def screen(cluster):
    assert shutil.which("tmux"), "scripts/install-packages test"
    made = []

    def make(**options):
        made.append(Screen(cluster, **options))
        return made[-1]
    yield make
    for one in made:
        one.close()


def test_shows_the_jobs_and_one_of_them(cluster, screen):
    cluster.run("submit", "pytorch", "--name=first", PRINTS)
    cluster.run("submit", "pytorch", "--name=failing", "exit 3")
    terminal = screen()
    terminal.type(f"{cluster.binary} watch; echo status $?", "Enter")
    shown = terminal.sees("first", "RUNNING", "failing", "FAILED", "2 jobs")
    assert shown.splitlines()[-1].startswith("enter look")
    assert "step" in terminal.sees("/1000")
    # Only what has these words.
    terminal.type("/", "fail", "Enter")
    assert "first " not in terminal.sees('with "fail"').split("\n", 2)[2]
    terminal.type("Escape")
    terminal.sees("first")
    terminal.type("?")
    terminal.sees("muster watch: keys")
    terminal.type("?")
    # The newest stands first, and is selected.
    terminal.type("j", "Enter")
    shown = terminal.sees("first  RUNNING", "RANK", "log", "loss 0.")
    assert "first-master-0" in shown
    terminal.type("Escape")
    terminal.sees("2 jobs")
    terminal.type("q")
    terminal.sees("status 0")
    assert "2 jobs" not in terminal.shown()


def test_stops_a_job_when_it_is_sure(cluster, screen):
    cluster.run("submit", "pytorch", "--name=stopped", PRINTS)
    terminal = screen()
    terminal.type(f"{cluster.binary} watch stopped; echo status $?", "Enter")
    terminal.sees("stopped  RUNNING")
    terminal.type("x")
    terminal.sees("stop stopped? y")
    terminal.type("n")
    terminal.sees("not stopped")
    terminal.type("x", "y")
    terminal.sees("enter goes back to watch", seconds=60)
    terminal.type("Enter")
    terminal.sees("stopped  SUSPENDED")
    terminal.type("q")
    terminal.sees("status 0")


def test_fits_the_screen_that_it_has(cluster, screen):
    cluster.run("submit", "pytorch", "--name=fits", PRINTS)
    terminal = screen(width=60, height=15, NO_COLOR="1")
    terminal.type(f"{cluster.binary} watch; echo status $?", "Enter")
    terminal.sees("fits", "RUNNING")
    coloured = terminal.shown("-e")
    assert "\x1b[36m" not in coloured and "\x1b[32m" not in coloured
    terminal.tmux("resize-window", "-x", "100", "-y", "30")
    until = time.monotonic() + 20
    while len(terminal.shown().rstrip("\n").splitlines()) < 30 and time.monotonic() < until:
        time.sleep(0.1)
    assert terminal.shown().splitlines()[29].startswith("enter look")
    terminal.tmux("resize-window", "-x", "30", "-y", "5")
    terminal.sees("at least")
    terminal.tmux("resize-window", "-x", "80", "-y", "24")
    terminal.sees("fits", "RUNNING")
    terminal.type("C-c")
    terminal.sees("status 0")


def test_interrupting_a_command_goes_back(cluster, screen):
    cluster.run("submit", "pytorch", "--name=long", PRINTS)
    terminal = screen()
    terminal.type(f"{cluster.binary} watch; echo status $?", "Enter")
    terminal.sees("long", "RUNNING")
    # ^C ends the log that is followed, and not the screen behind it.
    terminal.type("l")
    terminal.sees("$ muster logs long", "loss 0.")
    terminal.type("C-c")
    terminal.sees("enter goes back to watch")
    terminal.type("C-c")
    terminal.sees("1 job", "back from muster logs long")
    # ^Z stops both, for the shell to continue.
    terminal.type("l")
    terminal.sees("loss 0.")
    terminal.type("C-z")
    terminal.sees("Stopped", "status")
    terminal.type("clear", "Enter")
    terminal.is_empty()
    terminal.type("fg; echo status $?", "Enter")
    terminal.sees("loss 0.")
    terminal.type("C-c")
    terminal.sees("enter goes back to watch")
    terminal.type("Enter")
    terminal.sees("1 job")
    # What ends the screen ends the command, too.
    terminal.type("l")
    terminal.sees("loss 0.")
    os.kill(terminal.pid_of("muster watch"), signal.SIGTERM)
    terminal.sees(f"status {128 + signal.SIGTERM}")
    shell = terminal.tmux("list-panes", "-F", "#{pane_pid}").strip()
    until = time.monotonic() + 20
    while subprocess.run(["pgrep", "-s", shell, "-f", "logs long"], capture_output=True).returncode == 0:
        assert time.monotonic() < until, "the command runs on"
        time.sleep(0.1)


def test_every_key_of_a_job(cluster, screen):
    cluster.run("submit", "pytorch", "--name=keys", "--workers=12", PRINTS)
    cluster.run("submit", "pytorch", "--name=reason", "echo " + "because " * 9 + "; python3 -c 'int(\"abcdefghijk\")'")
    cluster.wait("reason", "FAILED")
    terminal = screen()
    terminal.type(f"{cluster.binary} watch; echo status $?", "Enter")
    terminal.sees("keys", "reason", "12/12")
    # The row has no room for the reason; the rows above the foot have.
    assert "ValueError: invalid literal" in " ".join(terminal.sees("abcdefghijk").splitlines()[-3:])
    terminal.type("j", "Enter")
    shown = terminal.sees("keys  RUNNING", "more ranks: n", "loss 0.")
    assert "\n11 " not in shown
    terminal.type(*"nnnnnnnnnnn")
    assert "\n0 " not in terminal.sees("\n11 ", "before: p")
    terminal.type(*"ppppppppppp")
    terminal.sees("\n0 ", "more ranks: n")
    terminal.type("/", "step 5/", "Enter")
    shown = terminal.sees('log with "step 5/"', "] step 5/1000")
    assert "] step 6/1000" not in shown
    terminal.type("Escape")
    terminal.await_that(lambda screen: re.search(r"\] step ([2-9]\d|\d{3})", screen), "whole log", 60)
    terminal.type("PageUp")
    terminal.sees("lines before its end")
    terminal.type("G")
    assert "before its end" not in terminal.sees("\nlog\n")
    for key, said in (("e", "nothing has failed yet"), ("r", "Goodput"), ("t", "$ muster stacks keys")):
        terminal.type(key)
        terminal.sees(said)
        terminal.goes_back()
        terminal.sees("keys  RUNNING")
    terminal.type("s")
    terminal.sees("Attached to")
    terminal.type("echo rank-$RANK-here", "Enter")
    terminal.sees("rank-0-here")
    terminal.type("exit", "Enter")
    terminal.goes_back()
    terminal.sees("keys  RUNNING")
    terminal.type("x")
    terminal.sees("stop keys? y")
    terminal.type("y")
    terminal.goes_back()
    terminal.sees("keys  SUSPENDED")
    terminal.type("x")
    terminal.sees("start again keys? y")
    terminal.type("y")
    terminal.sees("has been resumed", seconds=60)
    terminal.goes_back()
    terminal.sees("keys  RUNNING")
    # A large screen has room for all ranks, what they used, and a higher curve.
    terminal.tmux("resize-window", "-x", "200", "-y", "50")
    terminal.type("g")
    shown = terminal.sees("keys-worker-10", "\nlog", "loss 0.", "\nl logs")
    assert "more rank" not in shown and len(shown.splitlines()) == 50
    terminal.type("Escape", "q")
    terminal.sees("status 0")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV])
def test_gives_the_terminal_back_when_it_is_ended(cluster, screen, number):
    cluster.run("submit", "pytorch", "--name=ended", PRINTS)
    terminal = screen()
    terminal.type(f"stty -g > {cluster.path('before')}; {cluster.binary} watch; echo status $?; stty -g | cmp - {cluster.path('before')} && echo sa''me", "Enter")
    terminal.sees("ended", "RUNNING")
    os.kill(terminal.pid_of("muster watch"), number)
    terminal.sees(f"status {128 + number}", "same")
    assert terminal.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]


def test_needs_a_terminal(cluster):
    said = cluster.run("watch", code=2)
    assert said.stdout == ""
    assert "muster list --watch" in said.stderr and len(said.stderr.strip().splitlines()) == 1
