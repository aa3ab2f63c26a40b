"""Texts of failures as the programs' sources print them, for `muster explain --logs`: the files of source_texts/.

A line "## raised CLASS ADVICE: SOURCE" begins a text: an exception that ended a program, with what belongs to it; "printed" instead of
"raised": lines of a log as they are. The advice "-" is any: symptoms alone.
"""
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "source_texts")
FRAMES = ('Traceback (most recent call last):\n  File "/home/ann/work/train.py", line 301, in <module>\n    main()\n'
          '  File "/home/ann/work/train.py", line 212, in main\n    step(batch)\n')


def texts_of(family):
    """(source, class, advice, log)"""
    with open(os.path.join(FOLDER, family + ".txt")) as file:
        parts = file.read().split("\n## ")
    for part in parts:
        head, text = part.removeprefix("## ").split("\n", 1)
        words, source = head.split(": ", 1)
        way, kind, advice = words.split()
        text = text.rstrip("\n") + "\n"
        yield source, kind, advice, (FRAMES if way == "raised" else "") + text


FAMILIES = sorted(name.removesuffix(".txt") for name in os.listdir(FOLDER))


def fragments_of(family):
    """(form, number, class, text) of each raised text as people cut it: its message without the type, in a sentence, and as Python shows
    the exception. Of the class exception nothing is left without the type."""
    for number, (_, kind, advice, log) in enumerate(texts_of(family)):
        text = log.removeprefix(FRAMES)
        first, _, below = text.partition("\n")
        name, _, message = first.partition(": ")
        if advice == "-" or kind == "exception" or text == log or not message or " " in name:
            continue
        yield "untyped", number, kind, f"{message}\n{below}"
        yield "sentence", number, kind, f"trial 3 was given up: {first}\n"
        yield "shown", number, kind, f"Trial 3 errored: {name.rsplit('.', 1)[-1]}({message!r})\n"
