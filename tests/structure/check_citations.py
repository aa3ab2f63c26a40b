#!/usr/bin/env python3
"""Whether every section of docs/compat that the tree cites is there, as in `compat/arena.md 2.3, 2.4`,
and every page of docs that it names.

  tests/structure/check_citations.py
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPAT = os.path.join(ROOT, "docs", "compat")
NUMBER = r"\d+(?:\.\d+)*"
CITATION = re.compile(rf"\b(compat|spec)/([a-z-]+)\.md((?:(?: |, | and | to |-)(?:of delete, )?{NUMBER})*)")
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
    for line in wrong:
        print(line)
    print(f"{count} citations, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
