"""The Markdown of the manual, and how its command blocks are run.

A fence of language `sh` is commands that succeed; one of `console` is commands (`$ ...`) and what they print, compared up to times,
ports and widths, where a line `...` stands for any lines. What a machine of the tests has not is named in the fence's info
string, and the block is then only parsed: ```sh needs=cluster. A comment <!-- prepare ... --> holds commands that readers need not see.
The blocks of a page are run in their order by one user, each by a shell of its own, in the folder where the last one ended.
MUSTER_ACCEPT=1 writes what was printed into the page."""
import os
import re
import subprocess

NEEDS = {"gpu", "cluster", "account", "containers", "build", "network", "root", "terminal"}
FENCE = re.compile(r"^( *)```([\w-]*) *(.*)$")


class Block:
    def __init__(self, page, line, language, needs, text, indent=0):
        self.page, self.line, self.language, self.needs, self.text = page, line, language, needs, text
        self.indent = indent

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks_of(path):
    """Every fence and every `prepare` of a page. Code that is only indented is refused: nobody could tell what it is."""
    found, fence, prepare, before = [], None, None, ""
    with open(path) as file:
        lines = file.read().splitlines()
    in_list = False
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if prepare is not None:
            if line.strip() == "-->":
                found.append(prepare)
                prepare = None
            else:
                prepare.text += line + "\n"
        elif fence is not None:
            if match and not match[2]:
                found.append(fence)
                fence = None
            else:
                fence.text += line[fence.indent:] + "\n"
        elif match:
            info = dict(part.partition("=")[::2] for part in match[3].split())
            assert set(info) <= {"needs"}, f"{path}:{number}: {match[3]}"
            needs = set(filter(None, info.get("needs", "").split(",")))
            assert needs <= NEEDS, f"{path}:{number}: {needs - NEEDS}"
            assert match[2], f"{path}:{number}: the fence names no language"
            fence = Block(path, number, match[2], needs, "", len(match[1]))
        elif line.strip() == "<!-- prepare":
            prepare = Block(path, number, "sh", set(), "")
        else:
            in_list = bool(re.match(r" *([*-]|\d+\.) ", line)) or (in_list and (not line or line.startswith(" ")))
            assert in_list or before or not line.startswith("    "), f"{path}:{number}: code without a fence"
        before = line
    assert fence is None and prepare is None, f"{path}: a block does not end"
    return found


def commands_of(text):
    """(command, expected output) for each `$ ` of a console block."""
    commands = []
    for line in text.splitlines():
        if commands and commands[-1][0].endswith("\\") and not commands[-1][1]:
            commands[-1][0] += "\n" + line
        elif line.startswith("$ "):
            commands.append([line[2:], []])
        else:
            commands[-1][1].append(line)
    return commands


NEVER_THE_SAME = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z?", "TIME"), (r"\b\d+(\.\d+)?(ms|s|m|h|d)\b", "TIME"), (r"(INFO|WARN|ERRO)\[\d+\]", r"\1[]"),
    (r"\bpid \d+", "pid N"), (r"127\.0\.0\.1:\d+", "ADDRESS"), (r"v\d+\.\d+\.\d+[^\s]* \([^)]*\)", "VERSION"),
    (r"/tmp/muster-e2e-\w+", "~"), (r"^\s+|\s+$", ""), (r"\s+", " "))
# Said only where the machine is so busy that a rank takes ten seconds to start.
BUSY = re.compile(r"muster-launch: waiting \d+ s: ")


def plain(line):
    for pattern, to in NEVER_THE_SAME:
        line = re.sub(pattern, to, line)
    return line


def is_as_printed(expected, printed):
    """Both are lists of lines."""
    pattern = "".join(r"(.*\n)*" if line.strip() == "..." else re.escape(plain(line)) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(plain(line) + "\n" for line in printed)) is not None


class Reader:
    """Somebody who types what the page says, first in `folder`. `scratch` is a folder for the reader's own file, `become` what
    subprocess.run is told of the user."""

    def __init__(self, env, folder, scratch, become=None):
        self.env, self.folder, self._scratch, self._become = env, folder, scratch, become or {}

    def bash(self, text):
        where = os.path.join(self._scratch, "where")
        done = subprocess.run(
            ["bash", "-c", text + f"\ncode=$?; pwd >{where}; exit $code"], env=self.env, cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **self._become)
        if os.path.exists(where):
            with open(where) as file:
                self.folder = file.read().strip()
        return done

    def read(self, block):
        if block.language == "sh":
            done = self.bash("set -e\n" + block.text)
            assert done.returncode == 0, f"{block}: exit code {done.returncode}\n{block.text}\n{done.stdout}"
            return
        accepted = []
        for command, expected in commands_of(block.text):
            printed = [line for line in self.bash(command).stdout.splitlines() if not BUSY.search(line)]
            if os.environ.get("MUSTER_ACCEPT"):
                accepted += [f"$ {command}", *(printed if not is_as_printed(expected, printed) else expected)]
                continue
            assert is_as_printed(expected, printed), (
                f"{block}: $ {command}\n--- the page\n" + "\n".join(expected) + "\n--- printed\n" + "\n".join(printed))
        if accepted:
            with open(block.page) as file:
                page = file.read()
            with open(block.page, "w") as file:
                file.write(page.replace(block.text, "\n".join(accepted) + "\n", 1))
