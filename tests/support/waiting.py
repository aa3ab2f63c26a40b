"""How tests wait for what they look at."""
import os
import time

# Seconds, longer than two processors with forty programs at work take: only what never comes is waited for as long.
PATIENCE = 240


def pause(began, longest=0.5):
    """Before the next look at what has been waited for since `began` (time.monotonic()): short at first; what takes long is looked at
    less often, since each look takes the processor from what is waited for."""
    time.sleep(min(longest, max(0.05, (time.monotonic() - began) / 10)))


def await_true(look, what="it does not come true", timeout=PATIENCE, longest=0.5):
    """What `look` answers, once that is true. `what`, or what it answers, says otherwise what is missing."""
    began = time.monotonic()
    while not (value := look()):
        assert time.monotonic() < began + timeout, what() if callable(what) else what
        pause(began, longest)
    return value


def await_words(words, look, timeout=PATIENCE):
    """The text that `look` answers, once the words are in it. Without them the last text is shown."""
    text = ""

    def has_words():
        nonlocal text
        text = look()
        return words in text

    await_true(has_words, lambda: f"no {words!r} in:\n{text}", timeout)
    return text


def await_file(path, timeout=PATIENCE):
    """The text of a file, once it has some."""
    await_true(lambda: os.path.exists(path) and os.path.getsize(path), f"no {path}", timeout)
    with open(path) as file:
        return file.read()
