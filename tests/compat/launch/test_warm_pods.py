"""Warm starts in pods: the interpreter is outside, its forks are inside, and programs cannot tell.

A pod is what unshare makes here: a user, a mount and a UTS namespace. tests/e2e has real ones.
"""
import os
import signal
import socket
import subprocess
import sys
import zipfile

import pytest

from nasty_programs import NASTY
from places import LAUNCHER
from waiting import PATIENCE
from warm_interpreters import Warm, clean

POD = ["unshare", "--user", "--map-current-user", "--mount", "--uts", "--"]


class Pods(Warm):
    """A broker, as the daemon starts it, and who stands in for python in a pod."""

    def __init__(self, **variables):
        super().__init__()
        self.stand_in = os.path.join(self.folder, "muster warm-python")
        os.symlink(LAUNCHER, self.stand_in)
        name = os.path.join(self.folder, "muster warm-broker")
        os.symlink(LAUNCHER, name)
        path = os.path.join(self.folder, "broker.socket")
        self.env.update(MUSTER_WARM_BROKER=path, PET_PRELOAD="numpy", PATH="/usr/bin:/bin",
                        LANG="C.UTF-8", **variables)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            self.broker = subprocess.Popen(
                ["bash", "-c", f'exec "$0" "$1" 3<&{listener.fileno()}', name, self.folder],
                pass_fds=[listener.fileno()])

    def start(self, *words, before=POD, env=None, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True,
                   "stderr": subprocess.PIPE, "start_new_session": True, **options}
        return subprocess.Popen([*before, self.stand_in, *words], env={**self.env, **(env or {})},
                                **options)

    def end_broker(self):
        self.broker.kill()
        self.broker.wait()

    def close(self):
        self.end_broker()
        super().close()


@pytest.fixture(scope="module")
def pods():
    made = Pods()
    yield made
    made.close()


@pytest.fixture
def both(launch, pods, torch_version):
    def run(*words, stdin="in\n", before=()):
        results = []
        for stand_in in ([], [pods.stand_in]):
            done = subprocess.run([*POD, *before, *stand_in, sys.executable, *words], input=stdin, text=True,
                                  env=pods.env, cwd=launch.folder, capture_output=True,
                                  start_new_session=True, errors="surrogateescape",
                                  timeout=PATIENCE)
            assert "warm start" not in done.stderr
            results.append((done.returncode, done.stdout, clean(done.stderr)))
        assert results[0] == results[1]
        return results[1]
    return run


@pytest.mark.parametrize("signals", ["HUP", "INT QUIT", "TERM USR1 CHLD PIPE"])
def test_signals_that_are_ignored_stay_so(launch, both, signals):
    ignoring = ["sh", "-c", f"trap '' {signals}; exec \"$@\"", "sh"]
    both(launch.script(NASTY["process"]), before=ignoring)


# PyTorch's loader is asked for in test_warm.py.
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak) if name == "loader" else name for name in NASTY])
def test_a_program_cannot_tell(launch, both, name):
    launch.script("", "beside.py")
    launch.script("data", "data.txt")
    both(launch.script(NASTY[name]), "--lr", "0.1", "")


@pytest.mark.parametrize("words", [
    ["main.py", "a"], ["-u", "./main.py"], ["folder"], ["packed.zip", "x"], ["-m", "package", "a b"],
    ["-u", "-m", "package.part"], ["-m", "none.such"], ["missing.py"],
    # These are executed, and nothing is said.
    ["-c", "import sys; print(sys.argv, 'torch' in sys.modules)", "a"], ["-B", "main.py"], [], ["-V"],
])
def test_every_way_to_name_a_program(launch, both, words):
    for name in ("folder", "package"):
        os.mkdir(launch.path(name))
    say = ("import sys; print(sys.argv, __name__, __file__, sys.path[0], sys.flags, sys.orig_argv,"
           " sys.stdout.line_buffering, sys.stdout.write_through, sys.stderr.line_buffering)")
    for name in ("main.py", "folder/__main__.py", "package/__init__.py", "package/__main__.py",
                 "package/part.py"):
        launch.script(say + "\nif __name__ == '__main__': raise ValueError(__file__)", name)
    with zipfile.ZipFile(launch.path("packed.zip"), "w") as file:
        file.writestr("__main__.py", say)
    both(*words, stdin="print('from stdin')\n")


@pytest.fixture
def quick(launch):
    """A torch that is quick to import, and a broker of its own."""
    os.mkdir(launch.path("modules"))
    launch.script("class cuda: is_initialized = staticmethod(lambda: False)\n", "modules/torch.py")
    made = Pods(PYTHONPATH=launch.path("modules"))
    made.env.update(PET_PRELOAD="", MUSTER_TEST_MARK=launch.mark)
    yield made
    made.close()


def ended(process, stdin=None):
    out, err = process.communicate(stdin, timeout=PATIENCE)
    return process.returncode, out, err


def test_a_stop_during_the_imports_ends_it(launch, quick):
    os.mkfifo(launch.path("imports"))
    launch.script(f"open({launch.path('imports')!r}).read()\nclass cuda: is_initialized = staticmethod(lambda: False)\n",
                  "modules/torch.py")
    process = quick.start("python3", launch.script("import time; time.sleep(1000)"))
    with open(launch.path("imports"), "w"):  # waits for the import
        process.terminate()
    assert ended(process)[:2] == (-signal.SIGTERM, "")


PROBE = "import os, platform, sys; print(platform.node(), 'torch' in sys.modules, os.getppid())"


def test_pods_share_an_interpreter_outside_of_them(launch, quick):
    script = launch.script(PROBE)
    seen = []
    for name in ("pod-a", "pod-b"):
        inside = [*POD, "sh", "-c", f'hostname {name} && exec "$@"', "sh"]
        code, out, err = ended(quick.start("python3", script, before=inside))
        assert (code, out.split()[:2], err) == (0, [name, "True"], "")
        seen.append(out.split()[2])
    assert len(quick.alone()) == 1 and seen[0] != seen[1]
    launch.await_true(lambda: not quick.keepers(), "a keeper is left")


def test_ranks_of_a_launcher_in_a_pod_are_forked_from_one_outside(launch, quick):
    script = launch.script(PROBE)
    done = subprocess.run([*POD, LAUNCHER, "--warm", "--nproc-per-node=2", script], text=True,
                          env={**quick.env, "TMPDIR": launch.path("tmp")}, capture_output=True,
                          timeout=PATIENCE)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["True"] * 2, done.stderr
    (resident,) = quick.alone()
    assert os.readlink(f"/proc/{resident}/ns/mnt") == os.readlink("/proc/self/ns/mnt")


def test_interpreters_leave_with_their_broker(launch, quick):
    process = quick.start("python3", launch.script("print('UP', flush=True); input()"),
                          stdin=subprocess.PIPE)
    launch.await_line(process, "UP")
    quick.end_broker()
    assert ended(process, "\n")[0] == 0
    launch.await_true(lambda: not quick.residents(), "an interpreter stays")


def cold_in_pod(launch, quick, reason, **options):
    script = launch.script("import os, sys, torch; print('RAN', sys.argv[1:], torch.__file__)")
    code, out, err = ended(quick.start("python3", script, "a", **options))
    assert (code, out.startswith("RAN ['a']")) == (0, True), err
    assert err.count("\n") == 1 and err.startswith("muster: warm start: ")
    assert reason in err and err.endswith("; the program is executed\n")
    return out


def test_without_a_broker_it_is_executed(launch, quick):
    quick.end_broker()
    cold_in_pod(launch, quick, "Connection refused")


def test_other_limits_than_outside_are_executed(launch, quick):
    limited = [*POD, "sh", "-c", 'ulimit -n 99 && exec "$@"', "sh"]
    cold_in_pod(launch, quick, "this pod has other limits, rights or another interpreter", before=limited)


def test_other_modules_than_outside_are_executed(launch, quick):
    os.mkdir(launch.path("others"))
    launch.script("", "others/torch.py")
    hidden = [*POD, "sh", "-c", f'mount --bind {launch.path("others")} {launch.path("modules")} && '
              'exec "$@"', "sh"]
    cold_in_pod(launch, quick, "the files that were imported are others in the pod", before=hidden)


def test_a_python_that_is_not_there(launch, quick):
    assert ended(quick.start("python9", "a.py"))[::2] == (127, "python9: not found\n")


HANDLES = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *a: (os.write(1, b"TERM\\n"), sys.exit(5)))
signal.signal(signal.SIGUSR1, lambda *a: os.write(1, b"USR1\\n"))
os.write(1, b"UP\\n")
while True: time.sleep(0.05)  # not pause(): a signal just before it would be lost
"""


def test_signals_are_passed_on(launch, quick):
    process = quick.start("python3", launch.script(HANDLES))
    launch.await_line(process, "UP")
    os.kill(process.pid, signal.SIGUSR1)
    launch.await_line(process, "USR1")
    os.killpg(process.pid, signal.SIGTERM)
    assert ended(process)[:2] == (5, "TERM\n")


@pytest.mark.parametrize("ending", ["exits", "is killed"])
def test_what_a_program_leaves_behind_ends_with_it(launch, quick, ending):
    process = quick.start("python3", launch.script(
        "import os, subprocess, sys, time\n"
        "subprocess.Popen(['setsid', 'sh', '-c', 'sleep 1000 & wait'])\n"
        "print('UP', os.getpid(), flush=True); input()"), stdin=subprocess.PIPE)
    program = int(launch.await_line(process, "UP").split()[1])
    if ending == "is killed":
        os.kill(program, signal.SIGKILL)
    assert ended(process, "\n")[0] == {"exits": 0, "is killed": -9}[ending]
    assert set(launch.processes()) <= set(quick.alone())


def test_nothing_outlives_who_stands_in(launch, quick):
    process = quick.start("python3", launch.script(
        "import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '1000'])\n"
        "print('UP', flush=True); time.sleep(1000)"))
    launch.await_line(process, "UP")
    process.kill()
    launch.await_true(lambda: set(launch.processes()) <= set(quick.alone()), "processes are left")


def test_children_of_a_program_that_sigterm_ended_have_the_grace(launch, quick):
    launch.script(HANDLES, "child.py")
    process = quick.start("python3", launch.script(
        "import subprocess, sys, time\nsubprocess.Popen([sys.executable, 'child.py'], "
        f"cwd={launch.folder!r})\ntime.sleep(1000)"))
    launch.await_line(process, "UP")
    process.terminate()
    code, out, _ = ended(process)
    assert (code, out) == (-signal.SIGTERM, "TERM\n")


def test_orphans_in_sessions_of_their_own_are_asked_when_sigterm_ended_the_program(launch, quick):
    launch.script(HANDLES, "child.py")
    process = quick.start("python3", launch.script(
        "import subprocess, sys, time\nsubprocess.Popen([sys.executable, 'child.py'], "
        f"cwd={launch.folder!r}, start_new_session=True)\ntime.sleep(1000)"))
    launch.await_line(process, "UP")
    process.terminate()
    code, out, _ = ended(process)
    assert (code, out) == (-signal.SIGTERM, "TERM\n")
