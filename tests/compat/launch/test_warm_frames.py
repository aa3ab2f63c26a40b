"""Where a forked rank stands, read from its memory: by every Python that this machine has."""
import glob
import os
import subprocess
import sys

import pytest

from places import ROOT

INTERPRETERS = sorted({"/usr/bin/python3", sys.executable,
                       *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))})
PROGRAM = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import frames as warm_frames

def waits(reader):
    held = 1

    return os.read(reader, 1)

def calls(reader):
    return sorted([2], key=lambda item: waits(reader))

ready, told = os.pipe()
reader, writer = os.pipe()
if (pid := os.fork()) == 0:
    exec(compile("def begin():\\n\\n    os.write(told, b'x')\\n    calls(reader)\\n\\nbegin()",
                 "/x/train.py", "exec"))
    os._exit(0)
os.read(ready, 1)
state = ""
while state != "S":
    with open("/proc/%d/stat" % pid) as file:
        state = file.read().rsplit(")", 1)[1].split()[0]
print(warm_frames.dump(pid))
os.write(writer, b"x")
os.waitpid(pid, 0)
print(repr(warm_frames.dump(pid)))
"""


def version_of(python):
    asked = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"],
                           capture_output=True, text=True)
    return tuple(map(int, asked.stdout.split())) if asked.returncode == 0 else (0, 0)


@pytest.mark.parametrize("python", [each for each in INTERPRETERS if version_of(each) >= (3, 8)])
def test_frames_are_those_of_the_main_thread(python, tmp_path):
    main = tmp_path / "main.py"
    main.write_text(PROGRAM)
    done = subprocess.run([python, main, os.path.join(ROOT, "src", "warm", "python")], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, *frames, gone = done.stdout.splitlines()
    assert first.endswith('"MainThread"')
    wanted = [("waits", main, 9), ("<lambda>", main, 12), ("calls", main, 12),
              ("begin", "/x/train.py", 4), ("<module>", "/x/train.py", 6), ("<module>", main, 17)]
    has_lines = version_of(python) >= (3, 11)
    assert frames == [f"    {name} ({file}:{line if has_lines else '?'})"
                      for name, file, line in wanted]
    assert gone == "''"


def test_a_layout_that_is_not_known_says_nothing(tmp_path):
    main = tmp_path / "main.py"
    main.write_text("""
import os, sys
sys.path.insert(0, sys.argv[1])
import frames as warm_frames
warm_frames.THREAD_WORDS = 1
print(repr(warm_frames.dump(os.getpid())), repr(warm_frames.dump(2 ** 30)))
""")
    done = subprocess.run(["/usr/bin/python3", main, os.path.join(ROOT, "src", "warm", "python")],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "'' ''\n", done.stderr
