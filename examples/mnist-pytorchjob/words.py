"""Lines for people: what happens, and what is wrong with what they gave us."""
import sys


def say(line, to=None):
    """In one write, so that the lines of several processes are never torn."""
    to = to or sys.stdout
    to.write(line + "\n")
    to.flush()


class Failure(Exception):
    pass


class Usage(Failure):
    """A flag is wrong: exit code 2."""


def exit_code_of(program):
    """Runs `program`; of a failure one line goes to stderr. The exit code."""
    try:
        program()
    except Failure as failure:
        say(f"error: {failure}", sys.stderr)
        return 2 if isinstance(failure, Usage) else 1
    return 0
