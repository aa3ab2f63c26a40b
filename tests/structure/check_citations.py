#!/usr/bin/env python3
"""Whether every section of docs/compat that a comment cites is there: `compat/arena.md 2.3, 2.4`.

  tests/structure/check_citations.py
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CITATION = re.compile(r"(?:compat|spec)/([a-z-]+)\.md((?:[ ,]+(?:and |of delete, )?\d+(?:\.\d+)*(?![-\d]))*)")


def sections_of(page):
    with open(os.path.join(ROOT, "docs", "compat", page + ".md")) as file:
        text = file.read()
    # Where torchrun surprises is one section, whose points are cited too.
    return set(re.findall(r"^#+ (\d+(?:\.\d+)*) ", text, re.M)) | set(re.findall(r"\b(0\.\d) ", text))


def main():
    paths = [os.path.join(folder, name) for top in ("src", "tests", "bench") for folder, _, names in os.walk(os.path.join(ROOT, top))
             for name in names if name.endswith((".cc", ".h", ".py", ".txt"))]
    pages = {name[:-3]: sections_of(name[:-3]) for name in os.listdir(os.path.join(ROOT, "docs", "compat"))}
    wrong, count = [], 0
    for path in paths:
        if os.path.samefile(path, __file__):
            continue
        with open(path) as file:
            text = re.sub(r"\n\s*(//|#)?\s*", " ", file.read())
        for page, numbers in CITATION.findall(text):
            count += 1
            if page not in pages:
                wrong.append(f"{os.path.relpath(path, ROOT)} cites {page}.md, which is no page of docs/compat")
                continue
            for number in re.findall(r"\d+(?:\.\d+)*", numbers):
                if number not in pages[page]:
                    wrong.append(f"{os.path.relpath(path, ROOT)} cites {page}.md {number}, which has no such section")
    for line in wrong:
        print(line)
    print(f"{count} citations, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
