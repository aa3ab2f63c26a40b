#!/usr/bin/env python3
"""Whether every section of docs/compat that the tree cites is there, as in `compat/arena.md 2.3, 2.4`,
every page of docs that it names, and every test that a page of TESTED names.

  tests/structure/check_citations.py
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPAT = os.path.join(ROOT, "docs", "compat")
NUMBER = r"\d+(?:\.\d+)*"
CITATION = re.compile(rf"\b(compat|spec)/([a-z-]+)\.md((?:(?: |, | and | to |-)(?:of delete, )?{NUMBER})*)")
# Pages whose claims name their tests: `Suite.Test` of C++, `tests/x/test_y.py::test_z`, and files of either.
TESTED = ("docs/security.md", "docs/architecture/simulation.md")
CPP_TEST = re.compile(r"`([A-Z]\w+)\.([A-Z]\w+)`")
TEST_FILE = re.compile(r"`((?:src|tests)/[\w/]+\.(?:py|cc))(?:::(\w+))?`")
HELP = re.compile(r'\.Help\("([a-z/_]+)"')
PAGE = re.compile(r"\bdocs/[a-z-]+(?:/[a-z-]+)*\.md\b")


def sections_of(page):
    with open(os.path.join(COMPAT, page)) as file:
        return set(re.findall(rf"^#+ ({NUMBER}) ", file.read(), re.M))


def texts():
    """The path of each file, and its text as one line: comments go on over several."""
    for top in ("src", "tests", "bench", "docs", "scripts"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.join(folder, name)
                is_script = top == "scripts" and "." not in name
                if os.path.samefile(path, __file__) or not (is_script or name.endswith((".cc", ".h", ".py", ".txt", ".md", ".sh"))):
                    continue
                with open(path) as file:
                    yield os.path.relpath(path, ROOT), re.sub(r"\n\s*(//|#)?\s*", " ", file.read())


def tests_missing_in(page):
    """What the page names and the tree has not."""
    with open(os.path.join(ROOT, page)) as file:
        text = file.read()
    have = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            if name.endswith("_test.cc"):
                with open(os.path.join(folder, name)) as file:
                    have.update(re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read(), re.M))
    for suite, name in CPP_TEST.findall(text):
        if (suite, name) not in have:
            yield f"{suite}.{name}"
    for path, name in TEST_FILE.findall(text):
        whole = os.path.join(ROOT, path)
        if not os.path.exists(whole):
            yield path
        elif name:
            with open(whole) as file:
                if not re.search(rf"^ *def {name}\(", file.read(), re.M):
                    yield f"{path}::{name}"


def help_pages_wrong():
    """Each page of help beside a source is a verb's, and each verb's page is there."""
    source = os.path.join(ROOT, "src")
    pages, used = set(), set()
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".md"):
                pages.add(os.path.relpath(path, source)[:-len(".md")].removesuffix(".arena"))
            elif name.endswith(".cc"):
                with open(path) as file:
                    used |= set(HELP.findall(file.read()))
    return [f"src/{page}.md is no verb's help, or is not there" for page in sorted(pages ^ used)]


def main():
    pages = {name[:-3]: sections_of(name) for name in os.listdir(COMPAT)}
    wrong, count = [], 0
    for path, text in texts():
        for folder, page, numbers in CITATION.findall(text):
            count += 1
            if folder == "spec" or page not in pages:
                wrong.append(f"{path} cites {folder}/{page}.md, which is not a page of docs/compat")
                continue
            for number in re.findall(NUMBER, numbers):
                if number not in pages[page]:
                    wrong.append(f"{path} cites {page}.md {number}, which has no such section")
        wrong += [f"{path} names {page}, which is not there" for page in PAGE.findall(text) if not os.path.exists(os.path.join(ROOT, page))]
    for page in TESTED:
        wrong += [f"{page} names the test {test}, which is not there" for test in tests_missing_in(page)]
    wrong += help_pages_wrong()
    for line in wrong:
        print(line)
    print(f"{count} citations, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
