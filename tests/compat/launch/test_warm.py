"""Warm start: programs cannot tell that they were forked, and nothing is left of the forks.

Each program runs executed and forked; stdout, stderr and exit code have to be the same.
"""
import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import zipfile

import pytest

from nasty_programs import NASTY
from waiting import PATIENCE
from warm_interpreters import Warm, clean

TORCH = ["--preload", "numpy"]


@pytest.fixture(scope="module")
def warm():
    made = Warm()
    yield made
    made.close()


@pytest.fixture
def both(launch, warm, torch_version):
    """Runs a command line executed and forked; the second result."""
    def run(*args, stdin="in\n", env=None, **options):
        results = []
        for flags in ([], ["--warm", *TORCH]):
            process = launch.start(*flags, *args, env={**warm.env, **(env or {})},
                                   stdin=subprocess.PIPE, errors="surrogateescape", **options)
            out, err = process.communicate(stdin, timeout=PATIENCE)
            results.append((process.returncode, out, clean(err)))
            assert "warm start" not in err
        assert results[0] == results[1]
        return results[1]
    return run


@pytest.mark.parametrize("name", NASTY)
def test_a_program_cannot_tell(launch, both, name):
    launch.script("", "beside.py")
    launch.script("data", "data.txt")
    # Each launch has an endpoint for progress of its own, whose port and token differ.
    both("--explain=off", "--progress=off", launch.script(NASTY[name]), "--lr", "0.1", "")


@pytest.mark.parametrize("args", [
    ["main.py", "a"], ["./main.py"], ["sub/../main.py"], ["folder"], ["packed.zip", "x"],
    ["link.py"], ["-m", "package", "a b"], ["-m", "package.part"], ["-m", "none.such"],
    ["--run-path", "main.py", "a"], ["-m", "json.tool"],
    ["main.py", "${local_rank}", "-u", "-c"],
])
def test_every_way_to_name_a_program(launch, both, args):
    for name in ("folder", "package", "sub"):
        os.mkdir(launch.path(name))
    say = "import sys; print(sys.argv, __name__, __package__, __file__, sys.path[0], __spec__ and __spec__.name)"
    for name in ("main.py", "folder/__main__.py", "package/__init__.py", "package/__main__.py",
                 "package/part.py"):
        launch.script(say + "\nif __name__ == '__main__': raise ValueError(__file__)", name)
    os.symlink("main.py", launch.path("link.py"))
    with zipfile.ZipFile(launch.path("packed.zip"), "w") as file:
        file.writestr("__main__.py", say)
    code, out, err = both("--explain=off", *args)
    if "-m" not in args or args[1] not in ("json.tool", "none.such"):
        assert "__main__" in out


def test_a_terminal_is_one(launch, warm):
    script = launch.script("import sys\nprint(sys.stdout.isatty(), sys.stdin.isatty(), "
                           "sys.stdout.line_buffering)\nprint('half', end='')\nx = 1/0")
    seen = []
    for flags in ([], ["--warm", *TORCH]):
        ours, theirs = pty.openpty()
        process = launch.start(*flags, "--explain=off", script, env=warm.env, stdin=theirs,
                               stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the end of a terminal
            pass
        os.close(ours)
        process.wait()
        seen.append(clean(text.decode()))
    assert seen[0] == seen[1]
    assert "True True" in seen[1] and "ZeroDivisionError" in seen[1]


def test_ranks_reduce_and_draw_numbers_of_their_own(launch, warm, torch_version):
    script = launch.script("""
import os, random, numpy, torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(1) * int(os.environ["RANK"])
dist.all_reduce(x)
print("SUM", x.item(), random.random(), numpy.random.rand(), torch.rand(1).item(), torch.initial_seed())
dist.destroy_process_group()
""")
    done = launch.run("--warm", *TORCH, "--nproc-per-node", "3", script, env=warm.env)
    assert "warm start" not in done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[1] for line in lines] == ["3.0"] * 3
    assert all(len({line[column] for line in lines}) == 3 for column in (2, 3, 4, 5))


def test_a_restart_is_warm_too(launch, warm):
    script = launch.script("""
import os, sys
print(os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"], "torch" in sys.modules, flush=True)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    if os.environ["RANK"] == "1": os.kill(os.getpid(), 9)
    import time; time.sleep(1000)
""")
    done = launch.run("--warm", *TORCH, "--nproc-per-node", "2", "--max-restarts", "1", script,
                      env=warm.env)
    assert {"0 1 True", "1 1 True", "1 0 True"} <= set(done.out.splitlines())
    launch.await_true(lambda: not warm.keepers(), "a keeper is left")


def test_a_wait_of_a_fork_is_explained_with_the_place_in_python(launch, warm, torch_version):
    script = launch.script("""
import os, time, torch.distributed as dist
def load_data():
    while not os.path.exists("go"): time.sleep(0.01)
if os.environ["RANK"] == "1": load_data()
dist.init_process_group("gloo")
dist.destroy_process_group()
""")
    process = launch.start("--warm", *TORCH, "--nproc-per-node=2", script, env=warm.env)
    lines = []
    while line := process.stderr.readline():
        lines.append(line)
        if "missing: rank 1" in line:
            break
    assert "waiting in load_data (main.py:4)" in lines[-1], lines
    open(launch.path("go"), "w").close()
    assert process.wait(PATIENCE) == 0


def huge_pages_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return int(re.search(r"AnonHugePages:\s+(\d+)", file.read())[1])


def test_an_idle_interpreter_puts_its_memory_into_huge_pages(launch, warm):
    script = launch.script("print('here')")
    assert launch.run("--warm", *TORCH, script, env=warm.env).out == "here\n"
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
        is_allowed = "[never]" not in file.read()
    kernel = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
    launch.await_true(lambda: not warm.keepers(), "a keeper is left")
    resident, = warm.alone()
    if is_allowed and kernel >= (6, 1):
        launch.await_true(lambda: huge_pages_kib(resident) > 10 << 10, "no huge pages")
    else:
        assert huge_pages_kib(resident) == 0
    assert launch.run("--warm", *TORCH, script, env=warm.env).out == "here\n"
    assert warm.alone() == [resident]


TREE = """
import os, subprocess, sys, time
subprocess.Popen(["setsid", "sh", "-c", "sleep 1000 & wait"])
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    time.sleep(1000)
print("UP", flush=True)
time.sleep(1000)
"""


def of_the_job(launch, warm):
    """Without the resident interpreters, which stay."""
    return [pid for pid in launch.processes() if pid not in warm.alone()] + warm.keepers()


@pytest.mark.parametrize("victim", ["launcher", "agent", "both", "keeper", "keeper and launcher",
                                    "rank"])
def test_nothing_is_left_whoever_is_killed(launch, warm, victim):
    script = launch.script(TREE)
    process = launch.start("--warm", *TORCH, script, env={**warm.env,
                                                          "MUSTER_TEST_MARK": launch.mark})
    launch.await_line(process, "UP")
    agent, (keeper,) = launch.agent(process), warm.keepers()
    with open(f"/proc/{keeper}/task/{keeper}/children") as file:
        rank = int(file.read().split()[0])
    for pid in {"launcher": [process.pid], "agent": [agent], "both": [agent, process.pid],
                "keeper": [keeper], "keeper and launcher": [keeper, process.pid],
                "rank": [rank]}[victim]:
        os.kill(pid, signal.SIGKILL)
    process.wait(PATIENCE)
    launch.await_true(lambda: not of_the_job(launch, warm), "processes are left")


def test_a_keeper_that_is_killed_is_a_failed_rank_and_the_restart_is_executed(launch, warm):
    script = launch.script("""
import os, sys, time
print("UP", os.environ["TORCHELASTIC_RESTART_COUNT"], "torch" in sys.modules, flush=True)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0": time.sleep(1000)
""")
    process = launch.start("--warm", *TORCH, "--max-restarts", "1", script, env=warm.env)
    launch.await_line(process, "UP 0 True")
    (keeper,) = warm.keepers()
    os.kill(keeper, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "UP 1 False\n"), err
    assert "failed, SIGKILL: restart 1 of 1" in err


def test_a_signal_reaches_the_ranks(launch, warm):
    script = launch.script("import signal, sys, time\n"
                           "signal.signal(signal.SIGTERM, lambda *a: (print('TERM'), sys.exit(0)))\n"
                           "print('UP'); time.sleep(1000)")
    process = launch.start("--warm", *TORCH, script, env=warm.env)
    launch.await_line(process, "UP")
    process.terminate()
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (143, "TERM\n")
    launch.await_true(lambda: not warm.keepers(), "a keeper is left")


@pytest.fixture
def modules(launch):
    """A folder on PYTHONPATH, with a torch that is quick to import; an interpreter of its own."""
    folder = launch.path("modules")
    os.mkdir(folder)
    launch.script("import os\nclass cuda: is_initialized = staticmethod(lambda: False)\n",
                  "modules/torch.py")
    made = Warm()
    made.env.update(PYTHONPATH=folder)
    yield made
    made.close()


def cold(launch, modules, text, reason, *flags, env=None):
    """Falls back, says why once, and the program runs all the same."""
    script = launch.script(text)
    done = launch.run("--warm", "--nproc-per-node", "2", *flags, script,
                      env={**modules.env, **(env or {})})
    said = [line for line in done.err.splitlines() if "warm start" in line]
    assert len(said) == 1 and re.search(reason, said[0]), done.err
    assert said[0].endswith("; the workers are executed")
    return done.out


@pytest.mark.parametrize("name, text, reason", [
    ("a thread", "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
     r"started 1 thread\(s\) \(\w"),
    ("a print", "print('welcome to extra')", "the imports print \"welcome to extra\""),
    ("an error", "1/0", "import extra: ZeroDivisionError: division by zero"),
    ("a GPU", "import torch\ntorch.cuda.is_initialized = lambda: True", r"use a GPU \(CUDA\)"),
])
def test_imports_that_a_fork_would_not_survive_are_executed(launch, modules, name, text, reason):
    launch.script(text, "modules/extra.py")
    assert cold(launch, modules, "print('RAN')", reason, "--preload", "extra") == "RAN\nRAN\n"
    if name == "a GPU":
        launch.await_true(lambda: not modules.residents(), "it holds the GPU")


def test_a_module_that_is_missing_is_named(launch, modules):
    cold(launch, modules, "", "import no_such: ModuleNotFoundError", "--preload", "no_such")


def test_a_module_beside_the_script_that_the_imports_did_not_see(launch, modules):
    launch.script("import statistics", "modules/extra.py")
    launch.script("mine = True", "statistics.py")
    out = cold(launch, modules, "import statistics; print(statistics.mine)",
               "statistics.py stands before", "--preload", "extra")
    assert out == "True\nTrue\n"


def test_environment_that_the_imports_read(launch, modules):
    launch.script("import os\nflavour = os.environ.get('FLAVOUR')", "modules/extra.py")
    text = "import extra, os; print(extra.flavour, os.environ.get('OTHER'))"
    flags = ["--warm", "--preload", "extra", launch.script(text)]
    first = launch.run(*flags, env={**modules.env, "FLAVOUR": "a", "OTHER": "1"})
    second = launch.run(*flags, env={**modules.env, "FLAVOUR": "a", "OTHER": "2"})
    assert "warm start" not in first.err + second.err
    assert (first.out, second.out) == ("a 1\n", "a 2\n")
    assert len(modules.alone()) == 1
    assert cold(launch, modules, text, "FLAVOUR is read by the imports", "--preload", "extra",
                env={"FLAVOUR": "b", "OTHER": "3"}) == "b 3\nb 3\n"
    # What libraries in C read has an interpreter of its own.
    other = launch.run(*flags, env={**modules.env, "FLAVOUR": "b", "MKL_NUM_THREADS": "2"})
    assert (other.out, len(modules.alone())) == ("b None\n", 2)


# tqdm looks for TQDM_ so, fsspec for FSSPEC_; others copy all of it.
@pytest.mark.parametrize("walk", [
    "{k: v for k, v in os.environ.items() if k.startswith('FLAVOUR')}",
    "{k: os.environ[k] for k in list(os.environ) if k.startswith(('FLAVOUR', 'TASTE'))}",
])
def test_environment_that_the_imports_walk_through(launch, modules, walk):
    launch.script("import os\nflavours = %s" % walk, "modules/extra.py")
    text = "import extra, os; print(extra.flavours, os.environ['RANK'], os.environ.get('OTHER'))"
    flags = ["--warm", "--preload", "extra", launch.script(text)]
    for other in "12":
        done = launch.run(*flags, env={**modules.env, "OTHER": other})
        assert done.out == "{} 0 %s\n" % other
        assert "warm start" not in done.err
    out = cold(launch, modules, text, "FLAVOUR_X is read by the imports", "--preload", "extra",
               env={"FLAVOUR_X": "sweet", "OTHER": "3"})
    assert sorted(out.splitlines()) == ["{'FLAVOUR_X': 'sweet'} %d 3" % rank for rank in (0, 1)]


@pytest.mark.parametrize("walk", ["dict(os.environ)", "os.environ.copy()", "list(os.environ)"])
def test_a_copy_of_the_environment_may_have_been_read_whole(launch, modules, walk):
    launch.script("import os\nkept = %s" % walk, "modules/extra.py")
    text = "import extra; print('HOME' in extra.kept)"
    flags = ["--warm", "--preload", "extra", launch.script(text)]
    done = launch.run(*flags, env={**modules.env, "OTHER": "1"})
    assert done.out == "True\n" and "warm start" not in done.err
    cold(launch, modules, text, "OTHER is read by the imports", "--preload", "extra",
         env={"OTHER": "2"})


def test_each_folder_for_temporary_files_has_an_interpreter_of_its_own(launch, modules):
    launch.script("import tempfile\nfolder = tempfile.gettempdir()", "modules/extra.py")
    script = launch.script("import extra; print(extra.folder)")
    for name in ("one", "two", "one"):
        os.makedirs(launch.path(name), exist_ok=True)
        done = launch.run("--warm", "--preload", "extra", script, env={**modules.env, "TMPDIR": launch.path(name)})
        assert (done.out, "warm start" in done.err) == (launch.path(name) + "\n", False), done.err
    assert len(modules.alone()) == 2


def test_environment_that_the_imports_change(launch, modules):
    launch.script("import os\nos.environ['SET'] = 'by extra'\nos.environ.pop('TAKEN', None)",
                  "modules/extra.py")
    done = launch.run("--warm", "--preload", "extra", launch.script(
        "import os; print(os.environ.get('SET'), os.environ.get('TAKEN'))"),
        env={**modules.env, "TAKEN": "1"})
    assert done.out == "by extra None\n"


# nanobind, which triton brings, reports leaks so, in a rank that never uses it.
def test_what_the_imports_leave_for_the_end_of_python_does_not_run(launch, modules):
    later = "import ctypes\nctypes.pythonapi.Py_AtExit(ctypes.cast(ctypes.CDLL(None).%s, ctypes.c_void_p))"
    launch.script(later % "abort", "modules/extra.py")
    assert launch.run(launch.script("import extra"), env=modules.env, code=134).out == ""
    done = launch.run("--warm", "--preload", "extra", launch.script("import extra\n" + later % "malloc_stats"),
                      env=modules.env)
    assert "Total (incl. mmap):" in done.err and "warm start" not in done.err


GUARDED = """\
import builtins
real = builtins.open
def guarded(path, *args, **options):
    if path == "/proc/self/mem":
        raise PermissionError(13, "Permission denied", path)
    return real(path, *args, **options)
builtins.open = guarded
"""


def test_where_a_process_may_not_read_its_memory_the_start_is_warm_too(launch, modules):
    launch.script(GUARDED, "modules/extra.py")
    done = launch.run("--warm", "--preload", "extra", launch.script("import extra; print('here')"), env=modules.env)
    assert done.out == "here\n" and "warm start" not in done.err


def test_a_changed_file_is_imported_anew(launch, modules):
    script = launch.script("import extra; print(extra.version)")
    for version in ("1", "22"):
        launch.script(f"version = {version}", "modules/extra.py")
        done = launch.run("--warm", "--preload", "extra", script, env=modules.env)
        assert (done.out, "warm start" in done.err) == (version + "\n", False), done.err
    launch.await_true(lambda: len(modules.alone()) == 1, "the old one stays")


def test_it_leaves_when_nobody_wants_it(launch, modules):
    done = launch.run("--warm", "--warm-idle", "1", launch.script("print('RAN')"), env=modules.env)
    assert done.out == "RAN\n"
    launch.await_true(lambda: not modules.residents(), "it stays")
    left = [name for _, _, names in os.walk(modules.folder) for name in names]
    assert not [name for name in left if not name.endswith(".lock")]


def test_a_python_without_torch_is_served_too(launch, modules):
    os.remove(launch.path("modules", "torch.py"))
    venv = launch.path("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    script = launch.script("import sys; print(sys.prefix, 'torch' in sys.modules)")
    for python in (venv + "/bin/python", "venv/bin/python"):
        done = launch.run("--warm", "--python", python, script, env=modules.env)
        assert (done.out, done.err) == (f"{venv} False\n", "")
    assert len(modules.alone()) == 1


def test_two_that_start_at_once_share_one(launch, modules):
    launch.script("import time; time.sleep(0.5)", "modules/extra.py")
    script = launch.script("print('RAN')")
    started = [launch.start("--warm", "--preload", "extra", script, env=modules.env)
               for _ in range(4)]
    assert [process.communicate(timeout=PATIENCE)[0] for process in started] == ["RAN\n"] * 4
    assert len(modules.alone()) == 1


def test_an_interpreter_that_is_killed_is_started_again(launch, modules):
    script = launch.script("print('RAN')")
    for _ in range(2):
        assert launch.run("--warm", script, env=modules.env).out == "RAN\n"
        for pid in modules.residents():
            with contextlib.suppress(ProcessLookupError):  # it went with its parent
                os.kill(pid, signal.SIGKILL)
        launch.await_true(lambda: not modules.residents(), "it lives")


def test_a_folder_that_others_can_write_to_is_not_used(launch, modules):
    launch.run("--warm", launch.script("print('RAN')"), env=modules.env)
    (folder,) = [path for path, _, _ in os.walk(modules.folder) if path.endswith("/warm")]
    os.chmod(folder, 0o770)
    cold(launch, modules, "print('RAN')", "others can access")


@pytest.mark.parametrize("flags, reason", [
    (["--no-python", "/bin/echo"], "--no-python starts a program"),
    (["--numa-binding", "node", "main.py"], "--numa-binding gives each rank CPUs of its own"),
])
def test_flags_that_a_fork_cannot_serve(launch, modules, flags, reason):
    launch.script("print('RAN')")
    done = launch.run("--warm", *flags, env=modules.env)
    assert reason in done.err


@pytest.mark.parametrize("flags, message", [
    (["--preload", "a;b"], "--preload 'a;b': must be names of modules"),
    (["--warm-idle", "0"], "--warm-idle 0: must be from 1 to"),
    (["--warm-kept", "0"], "--warm-kept 0: must be from 1 to"),
])
def test_values_that_cannot_be_meant(launch, flags, message):
    assert message in launch.run("--warm", *flags, launch.script(""), code=1).err
