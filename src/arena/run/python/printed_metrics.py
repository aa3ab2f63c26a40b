"""Named numbers in the lines that training programs print, by the rules of src/text/metrics.h."""
import json
import re

MAX_LINE = 64 << 10
MAX_WORD = 64
NAME = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_/.@-]*[A-Za-z0-9_])?\Z")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\Z")
NOT_FINITE = {"nan": "nan", "-nan": "nan", "inf": "inf", "+inf": "inf", "infinity": "inf", "-inf": "-inf", "-infinity": "-inf"}
MARK = re.compile("[=:]")
RANK = re.compile(r"\[(?:local-)?rank([0-9]{1,6})\](?=[:> ])[:>]?")


def number_of(word):
    """A float, or None if the whole word is not a number; "3/10" is 3, "95%" is 95."""
    word = word.rstrip(",;)]}%'\"").lstrip("'\"")
    head, _, whole = word.partition("/")
    if head:
        if whole.strip("0123456789"):
            return None
        word = head
    lower = word.lower()
    if len(lower) > MAX_WORD:
        return None
    if lower in NOT_FINITE:
        return float(NOT_FINITE[lower])
    return float(lower) if NUMBER.match(lower) else None


def name_of(word):
    """None if the word is not a name."""
    word = word.lstrip("([,{'\"").rstrip("'\"")
    return word if len(word) <= MAX_WORD and NAME.match(word) else None


def label_of_rank(line):
    """The rank whose line it is (0 where no launcher says so), and what it printed, by the rules of src/api/rank_label.h."""
    label = RANK.match(line)
    return (int(label.group(1)), line[label.end():]) if label else (0, line)


def refuse_constant(name):
    raise ValueError(name)


def of_json(line):
    try:
        members = json.loads(line, parse_constant=refuse_constant)
        return [(name_of(name), float(value)) for name, value in members.items()
                if name_of(name) and isinstance(value, (int, float)) and not isinstance(value, bool)]
    except (ValueError, AttributeError, OverflowError, RecursionError):
        return []


def pair_of(name, value):
    name, value = name_of(name), number_of(value)
    return [] if name is None or value is None else [(name, value)]


def metrics_of(line):
    """(name, number) pairs, in order."""
    line = line.strip()
    # `File "train.py", line 5, in <module>` belongs to a traceback.
    if len(line) > MAX_LINE or line.startswith("File \""):
        return []
    if line.startswith("{") and line.endswith("}"):
        found = of_json(line)
        if found:
            return found
    found = []
    words = re.findall(r"[^ \t\r]+", line)
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        mark = MARK.search(word)
        if mark and mark.end() < len(word):  # name=1 name:1, several separated by ","
            for part in word.split(","):
                inner = MARK.search(part)
                if inner:
                    found += pair_of(part[:inner.start()], part[inner.end():])
            continue
        if mark:  # name: 1
            word = word[:mark.start()]
        value = at + 1 if words[at:at + 1] in (["="], [":"]) else at
        if value >= len(words):
            break
        pair = pair_of(word, words[value])
        found += pair
        if pair:
            at = value + 1
    return found
