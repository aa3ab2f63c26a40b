"""What a person sees on a terminal, and that scripts see none of it."""
import json
import os
import shlex

import pytest

from embedded_muster import Cluster
from terminals import Terminal, drawn

GREEN = "\x1b[32mSUCCEEDED\x1b[0m"


@pytest.fixture(scope="module")
def done():
    made = Cluster()
    made.submit("first", "true")
    made.wait("first", "SUCCEEDED")
    os.symlink(made.binary, made.path("bin", "arena"))
    yield made
    made.close()


def shown(cluster, *args, columns=80, **env):
    """What stands on a terminal when the command has ended, and its exit code."""
    command = f"{shlex.join([cluster.binary, *args])}; printf '<code %s>' $?"
    with Terminal(["/bin/sh", "-c", command], {**cluster.env, "TERM": "xterm", **env}, cluster.path("home"),
                  columns=columns) as terminal:
        text = terminal.expect("<code ").replace("\r\n", "\n")
        assert terminal.expect(">") == "0", text
        return text


def test_states_are_coloured_on_a_terminal_and_only_there(done):
    assert f"first  {GREEN}  PYTORCHJOB" in shown(done, "list")
    assert shown(done, "get", "first").startswith(f"STATUS: {GREEN}\n")
    assert f"first  {GREEN}  PYTORCHJOB" in shown(done, "get", "first")
    assert f"Status:      {GREEN}\n" in shown(done, "get", "first", "-o", "wide")
    assert f"  {GREEN}  pytorchjob" in shown(done, "top", "job")
    assert "\x1b" not in done.run("list").stdout
    assert GREEN in done.run("list", "--color=always").stdout
    assert "\x1b" not in shown(done, "list", "-o", "json")


@pytest.mark.parametrize("how", ["NO_COLOR", "TERM", "--color=never", "arena"])
def test_who_wants_no_colour_sees_none(done, how):
    if how == "arena":
        command = [done.path("bin", "arena"), "list"]
        with Terminal(command, done.env, done.path("home")) as terminal:
            assert "\x1b" not in terminal.expect("first  SUCCEEDED")
        return
    env = {"NO_COLOR": {"NO_COLOR": "1"}, "TERM": {"TERM": "dumb"}}.get(how, {})
    text = shown(done, "list", *([how] if how.startswith("--") else []), **env)
    assert "first  SUCCEEDED" in text and "\x1b" not in text


def test_a_table_that_is_wider_than_the_terminal_says_so(done):
    assert "columns wide" not in shown(done, "list", columns=80)
    assert "columns wide and the terminal 20" in shown(done, "list", columns=20)


def test_muster_alone_says_how_this_machine_is_and_what_comes_next(done):
    text = shown(done, "--color=never")
    assert "Cluster:  this machine (MUSTER_CLUSTER=local)" in text
    assert f"Daemon:   running, pid {done.daemon_pid()}\n" in text
    assert "Jobs:     1 SUCCEEDED\n" in text
    assert "Next:     muster list\n" in text
    # Scripts and pipes get the help that they got.
    assert done.run().stdout == done.run("--help").stdout


def test_status_without_a_job_is_this_machines(done):
    told = done.run("status").stdout
    assert f"Daemon:   running, pid {done.daemon_pid()}\n" in told and "Jobs:     1 SUCCEEDED\n" in told
    name = json.loads(done.run("list", "-o", "json").stdout)[0]["name"]
    assert done.run("status", name).stdout == done.run("get", name).stdout
    assert "JOB is missing: muster get JOB" in done.run("get", code=2).stderr


def test_no_line_of_any_help_is_wider_than_80_columns(done, tmp_path):
    done.run("__reference", str(tmp_path))
    pages = {path.name: path.read_text() for path in tmp_path.iterdir()}
    for name in ("launch", "python-shim"):
        pages[name] = done.run(name, "--help").stdout
    assert len(pages) > 40
    wide = {}
    for name, page in pages.items():
        is_help = name in ("launch", "python-shim")
        for line in page.splitlines():
            if line.startswith("```"):
                is_help = not is_help
            elif is_help and len(line) > 80 and "opctl" not in name:  # Click does not break its lists of choices
                wide[name] = line
    assert not wide


def test_muster_alone_starts_nothing_and_names_what_to_do_about_a_failure():
    fresh = Cluster()
    try:
        text = shown(fresh, "--color=never")
        assert "Daemon:   not running; the first command starts it\n" in text
        assert "Next:     muster run train.py\n" in text
        assert fresh.daemon_pid() is None
        fresh.run("run", "--name=bad", "exit 3", code=3)
        assert "Next:     muster explain bad\n" in shown(fresh, "--color=never")
    finally:
        fresh.close()


def test_help_has_the_verbs_in_groups_and_arena_has_its_list(done):
    text = done.run("help").stdout
    places = [text.index(f"\n{heading}:\n") for heading in ("Jobs", "Cluster", "Programs", "Other Commands", "Flags")]
    assert places == sorted(places)
    others = text[places[3]:places[4]].split("\n")[2:]
    assert [line.split()[0] for line in others if line] == ["completion", "help", "version"]


# The replicas begin when somebody looks, and wait for each other at every step and before what they say last: lines are the same if
# they come within half a second.
TOGETHER = 'touch {0}/$RANK.$i; until test -e {0}/0.$i && test -e {0}/1.$i; do sleep 0.02; done; '
BAR = ('until test -e {0}/go; do sleep 0.02; done; for i in 1 2 3 4 5; do ' + TOGETHER + 'printf "\\r%s0%%" $i; sleep 0.5; done; i=end; ' +
       TOGETHER + 'echo; i=trained; ' + TOGETHER + 'echo trained')


def test_progress_bars_of_several_replicas_move_in_the_last_line(done):
    done.submit("bars", BAR.format(done.path("home")), "--workers=2")
    with Terminal([done.binary, "logs", "bars", "--all", "-f"], {**done.env, "TERM": "xterm"}, done.path("home")) as terminal:
        terminal.expect("2 of 2 ranks up")
        open(done.path("home", "go"), "w").close()
        terminal.expect("[0-1] 20%\x1b[K")
        terminal.expect("[0-1] 40%\x1b[K")
        text = terminal.expect("trained\r\n")
        assert drawn(text)[-2:] == ["[0-1] 50%", "[0-1] "]
        assert terminal.end() == 0
    assert done.run("logs", "bars", "--all").stdout == "[0-1] 50%\n[0-1] trained\n"
