#!/usr/bin/env python3
"""Holds the tree to the arrows of CMakeLists.txt: tests/structure/check_rooms.py BUILD-FOLDER

A room sees the headers of those that it names and no others, a forbidden include does not compile, and an arrow that nobody
needs is not drawn. The compiler is asked, with the flags that the room's own files are compiled with.
"""
import collections
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, "src")


def declared():
    """room -> (its layers, the lowest first; the rooms that it uses)"""
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        text = re.sub(r"#.*", "", file.read())
    rooms = {}
    for call in re.findall(r"^muster_room\(([^)]*)\)", text, re.M):
        words = re.split(r"\b(LAYERS|USES|TEST_USES|LIBS|TEST_LIBS|ALONE|EXCLUDE)\b", call)
        parts = dict(zip(words[1::2], (part.split() for part in words[2::2])))
        rooms[words[0].strip()] = (parts.get("LAYERS", []), set(parts.get("USES", [])))
    return rooms


def headers_of(room, layers):
    found = []
    for folder in ["", *layers]:
        found += glob.glob(os.path.join(SOURCE, room, folder, "*.h"))
    return sorted(os.path.relpath(path, SOURCE) for path in found)


def flags_of(build, room):
    """Of one of its files that is not a test's."""
    target = "muster_" + room.replace("/", "_")
    with open(os.path.join(build, "compile_commands.json")) as file:
        for command in json.load(file):
            if f"/{target}.dir/" in command["command"]:
                words = shlex.split(command["command"])
                return [word for word in words if word.startswith(("-I", "-D", "-std"))]
    sys.exit(f"{build}/compile_commands.json has no file of {room}")


def compiles(flags, text, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as source:
        source.write(text)
        source.flush()
        return subprocess.run(["c++", *flags, *more, source.name], capture_output=True, text=True)


def seen_by(flags, headers):
    """Those of `headers`, a dictionary room -> one of its headers, that an include would find."""
    lines = [f'#if __has_include("{header}")\nseen {room}\n#endif\n' for room, header in headers.items()]
    done = compiles(flags, "".join(lines), "-E", "-P")
    assert done.returncode == 0, done.stderr
    return {line.split()[1] for line in done.stdout.splitlines() if line.startswith("seen ")}


def needed(rooms):
    """room -> rooms whose headers its files read, be it by way of another's"""
    owner = {header: room for room, (layers, _) in rooms.items() for header in headers_of(room, layers)}

    def includes(path):
        with open(os.path.join(SOURCE, path)) as file:
            return re.findall(r'^#include "([^"]+)"', file.read(), re.M)

    below = {}

    def closure(header):
        if header not in below:
            below[header] = set()
            for one in includes(header):
                if one in owner:
                    below[header] |= {one} | closure(one)
        return below[header]

    found = collections.defaultdict(set)
    for room, (layers, _) in rooms.items():
        for folder in ["", *layers]:
            for path in glob.glob(os.path.join(SOURCE, room, folder, "*.cc")) + glob.glob(os.path.join(SOURCE, room, folder, "*.h")):
                if path.endswith(("_test.cc", "/main.cc")):
                    continue
                for one in includes(os.path.relpath(path, SOURCE)):
                    if one in owner:
                        found[room] |= {owner[header] for header in {one} | closure(one)}
        found[room].discard(room)
    return found


def upward(room, layers):
    """Includes of a layer above, or of none: (file, header)"""
    for number, layer in enumerate(layers):
        for path in filter(os.path.isfile, glob.glob(os.path.join(SOURCE, room, layer, "*"))):
            with open(path) as file:
                for one in re.findall(rf'^#include "{room}/([a-z_/]+)/[a-z_]+\.h"', file.read(), re.M):
                    if one in layers[number + 1:] and not path.endswith("_test.cc"):
                        yield os.path.relpath(path, SOURCE), one


def main():
    build = os.path.abspath(sys.argv[1])
    rooms = declared()
    of_each = {room: headers_of(room, layers)[0] for room, (layers, _) in rooms.items()}
    wants = needed(rooms)
    wrong = []
    for room, (_, uses) in rooms.items():
        flags = flags_of(build, room)
        seen = seen_by(flags, of_each) - {room}
        wrong += [f"{room} sees {one}, which it does not name" for one in sorted(seen - uses)]
        wrong += [f"{room} names {one} and does not see it" for one in sorted(uses - seen)]
        wrong += [f"{room} names {one} and has no use for it" for one in sorted(uses - wants[room])]
        forbidden = next(one for one in sorted(rooms) if one != room and one not in uses)
        done = compiles(flags, f'#include "{of_each[forbidden]}"\n', "-fsyntax-only")
        if done.returncode == 0 or "No such file or directory" not in done.stderr:
            wrong.append(f"{room} compiles an include of {of_each[forbidden]}: {done.stderr}")
    for room, (layers, _) in rooms.items():
        wrong += [f"{path} includes {one}, a layer above its own" for path, one in sorted(upward(room, layers))]
    for line in wrong:
        print(line)
    print(f"{len(rooms)} rooms, {sum(len(uses) for _, uses in rooms.values())} arrows, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
