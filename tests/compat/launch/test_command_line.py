"""torchrun's command lines (compat/torchrun.md 2.1, 4): cases 1-30, 35-42, 82-85."""
import json
import os
import re
import resource
import subprocess
import sys

import pytest

from places import BINARY, LAUNCHER

# What torch's own bin/test_script.py checks and prints.
TOUCH = """
import os, sys
for name in ("LOCAL_RANK RANK GROUP_RANK ROLE_RANK ROLE_NAME LOCAL_WORLD_SIZE WORLD_SIZE "
             "ROLE_WORLD_SIZE MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT "
             "TORCHELASTIC_MAX_RESTARTS TORCHELASTIC_RUN_ID TEST_SENTINEL_PARENT "
             "TORCHELASTIC_ERROR_FILE GROUP_WORLD_SIZE TORCHELASTIC_USE_AGENT_STORE "
             "TORCH_NCCL_ASYNC_ERROR_HANDLING TORCHELASTIC_SIGNALS_TO_HANDLE").split():
    os.environ[name]
open(os.path.join(sys.argv[-1], os.environ["RANK"]), "w").close()
"""


def touched(launch):
    return sorted(os.listdir(launch.path("d")), key=int)


@pytest.fixture
def touch(launch):
    os.mkdir(launch.path("d"))
    launch.env["TEST_SENTINEL_PARENT"] = "FOOBAR"
    return launch.script(TOUCH)


@pytest.mark.parametrize("flags, count", [
    (["--nnodes=1", "--nproc-per-node=4", "--rdzv-id=X", "--monitor-interval=1",
      "--start-method=spawn"], 4),
    (["--nnodes=1", "--nproc_per_node=4", "--rdzv_backend=static"], 4),
    (["--nproc-per-node", "4", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0",
      "--rdzv-id=a/b c"], 4),
    (["--standalone", "--nproc-per-node=4"], 4),
    (["--standalone", "--nnodes=1:2", "--nproc-per-node=2"], 2),
    (["--stand", "--nproc-per", "2", "--max-r", "1"], 2),
    (["--nproc-per-node=4", "--run-path"], 4),
    (["--nproc-per-node=2", "--run-path", "--start-method=fork"], 2),
    (["--node-rank=0", "--nproc-per-node=2", "--master-addr=localhost", "--master-port=0"], 2),
    (["--nnodes=1:1", "--nproc-per-node=2", "--rdzv-conf=join_timeout=5,last_call_timeout=1"], 2),
    (["--nproc-per-node=2", "--rdzv-conf='join_timeout=5,last_call_timeout=1,timeout=5'"], 2),
    (["--nproc-per-node=2", "--local-addr=127.0.0.1", "--role=trainer"], 2),
    (["--nproc-per-node=2", "--numa-binding=node"], 2),
    (["--nproc-per-node=2", "--numa-binding=exclusive"], 2),
    (["--nproc-per-node=2", "--numa-binding=core-complex"], 2),
    (["--nproc-per-node=2", "--numa-binding=socket"], 2),
    (["--nproc-per-node=2", "--event-log-handler=console", "--logs-specs=default"], 2),
    ([], 1),
])
def test_touches_one_file_a_rank(launch, touch, flags, count):
    launch.run(*flags, touch, launch.path("d"))
    assert touched(launch) == [str(rank) for rank in range(count)]
    launch.await_none_left()


def test_module(launch, touch):
    os.mkdir(launch.path("package"))
    os.rename(touch, launch.path("package", "train.py"))
    launch.run("--nproc-per-node=2", "-m", "package.train", launch.path("d"))
    assert touched(launch) == ["0", "1"]


def test_no_python(launch):
    os.mkdir(launch.path("d"))
    script = launch.script('#!/bin/sh\necho "creating $1/$RANK"\ntouch "$1/$RANK"\n', "t.sh")
    launch.run("--nproc-per-node=4", "--no-python", script, launch.path("d"))
    assert touched(launch) == ["0", "1", "2", "3"]
    launch.run("--no-python", "true")
    refused = launch.run("--no-python", "--module", script, launch.path("d"), code=1)
    assert "--module" in refused.err


def test_auto_is_one_for_each_cpu(launch, touch):
    launch.run("--nproc-per-node=auto", touch, launch.path("d"),
               env={"CUDA_VISIBLE_DEVICES": ""})
    assert len(touched(launch)) == len(os.sched_getaffinity(0))
    for name in touched(launch):
        os.remove(launch.path("d", name))
    launch.run("--nproc-per-node=cpu", touch, launch.path("d"))
    assert len(touched(launch)) == len(os.sched_getaffinity(0))


def test_variables_stand_for_flags(launch, touch):
    launch.run(touch, launch.path("d"), env={"PET_NPROC_PER_NODE": "3"})
    assert touched(launch) == ["0", "1", "2"]
    launch.run("--nproc-per-node=5", touch, launch.path("d"), env={"PET_NPROC_PER_NODE": "3"})
    assert len(touched(launch)) == 5


@pytest.mark.parametrize("flags, address", [
    (["--local-addr=127.0.0.2"], "127.0.0.2"),
    (["--local-addr=127.0.0.2", "--master-port=0"], "127.0.0.1"),
    (["--master-addr=[::1]", "--master-port=0"], "::1"),
])
def test_the_address_that_workers_find_the_store_at(launch, flags, address):
    done = launch.run(*flags, "--no-python", "printenv", "MASTER_ADDR")
    assert done.out == address + "\n"


def test_streams_that_the_caller_closed_are_nobodys(launch):
    """Else files of the launcher's own would get their numbers, and the workers would have those."""
    script = launch.script("""
import os
print("lost")
with open("links", "w") as file:
    for fd in range(3): print(os.readlink(f"/proc/self/fd/{fd}"), file=file)
""")
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', LAUNCHER, script],
                          env=launch.env, cwd=launch.folder)
    assert done.returncode == 0
    links = launch.await_file("links").splitlines()
    assert links[:2] == ["/dev/null"] * 2 and links[2].startswith("pipe:")


def test_a_temporary_folder_that_is_not_here_stops_nobody(launch):
    """As Python's tempfile: TMPDIR, TEMP, TMP, /tmp."""
    launch.run("-t3", launch.script("print('x')"),
               env={"TMPDIR": launch.path("none"), "TEMP": launch.path("tmp")})
    assert os.listdir(launch.path("tmp"))[0].startswith("torchelastic_")


@pytest.mark.parametrize("exit_code", [0, 3])
def test_a_pods_log_is_the_only_copy_of_what_is_teed(launch, exit_code):
    """A failure leaves its report, in the folder that is deleted with the pod."""
    os.mkdir(launch.path("pod"))
    done = launch.run("-t3", launch.script(f"import sys; print('x'); sys.exit({exit_code})"),
                      code=exit_code, env={"MUSTER_LOG_DIR": launch.path("pod"), "TMPDIR": launch.path("tmp")})
    assert done.out == "[default0]:x\n"
    files = [name for _, _, names in os.walk(launch.path("pod")) for name in names]
    assert files == (["failure.json"] if exit_code else [])
    assert os.listdir(launch.path("tmp")) == []


def test_a_script_on_stdin(launch):
    with open(launch.script("import sys; print(sys.argv)")) as file:
        done = launch.run("-", "a", stdin=file)
    assert done.out == "['-', 'a']\n"


def test_arguments_reach_the_script_untouched(launch):
    script = launch.script("import sys, json; print(json.dumps(sys.argv[1:]))")
    args = ["--nnodes", "7", "-h", "", "a b", "ü", "${local_rank}", "${HOME}", "--", "-t3"]
    done = launch.run("--nproc-per-node=1", script, *args)
    assert json.loads(launch.run("--", script, "--", "x").out) == ["--", "x"]
    assert json.loads(launch.run(script, "--", "x").out) == ["x"]
    assert json.loads(done.out) == ["--nnodes", "7", "-h", "", "a b", "ü", "0", "${HOME}", "--",
                                    "-t3"]


def test_each_rank_may_have_a_script_of_its_own(launch):
    for rank in range(2):
        launch.script(f"print('part {rank}')", f"part{rank}.py")
    for flags in ([], ["--run-path"]):
        done = launch.run("--nproc-per-node=2", *flags, "part${local_rank}.py")
        assert sorted(done.out.splitlines()) == ["part 0", "part 1"]
    done = launch.run("--nproc-per-node=3", "part${local_rank}.py", code=1)
    assert '"part2.py" is not here' in done.err and not done.out


def test_launch_module_gives_the_local_rank(launch):
    script = launch.script("import sys, os; print(os.environ['LOCAL_RANK'], sys.argv[1:])")
    done = launch.run("--nproc-per-node=1", script, "x", argv0="torch.distributed.launch")
    # With a dash since torch 2.0.
    assert done.out in ("0 ['--local-rank=0', 'x']\n", "0 ['--local_rank=0', 'x']\n")
    done = launch.run("--use-env", script, "x", argv0="torch.distributed.launch")
    assert done.out == "0 ['x']\n"
    done = launch.run("--use_env", script, "x")
    assert done.out == "0 ['x']\n"
    launch.run("--no-python", "true", argv0="torch.distributed.launch", code=1)


@pytest.mark.parametrize("name, value, nccl", [
    ("1.13.1", "--local_rank=0", "1"), ("2.1.0", "--local-rank=0", "1"),
    ("2.2.0+cu118", "--local-rank=0", ""), ("2.15.0", "--local-rank=0", ""),
    ("12.0", "--local-rank=0", ""),
])
def test_arguments_and_environment_are_spelt_as_this_torch_spells_them(launch, name, value, nccl):
    """The interpreter's torch is looked at, never imported."""
    library = launch.path("env", "lib", "python3.9", "site-packages", "torch")
    os.makedirs(library)
    with open(os.path.join(library, "version.py"), "w") as file:
        file.write(f"__version__ = '{name}'\nraise SystemExit('imported')\n")
    os.makedirs(launch.path("env", "bin"))
    with open(launch.path("env", "bin", "python"), "w") as file:
        file.write('#!/bin/sh\necho "nccl=$NCCL_ASYNC_ERROR_HANDLING $@"\n')
    os.chmod(launch.path("env", "bin", "python"), 0o755)
    done = launch.run(launch.script(""), argv0="torch.distributed.launch",
                      env={"PYTHON_EXEC": launch.path("env", "bin", "python")})
    assert done.out.split()[-1] == value and done.out.split()[0] == f"nccl={nccl}"


@pytest.mark.parametrize("args, code, text", [
    ([], 2, "training_script"),
    (["--no-such-flag", "x.py"], 2, "unrecognized arguments: --no-such-flag"),
    (["--nproc-per-nod=2x", "--start-method=thread", "x.py"], 2, "invalid choice"),
    (["--monitor-interval=1e-400", "x.py"], 1, "--monitor-interval 1e-400"),
    (["--max-restarts=x", "x.py"], 2, "invalid int value: 'x'"),
    (["--rdzv", "x", "x.py"], 2, "ambiguous option"),
    (["--nproc", "2", "x.py"], 2,
     "ambiguous option: --nproc could match --nproc-per-node, --nproc_per_node"),
    (["--nnodes=0", "x.py"], 1, "--nnodes '0'"),
    (["--nnodes=3:2", "x.py"], 1, "MIN <= MAX"),
    (["--nnodes=2:20:30", "x.py"], 1, "MIN:MAX"),
    (["--nproc-per-node=0", "x.py"], 1, "--nproc-per-node 0"),
    (["--nproc-per-node=-1", "x.py"], 1, "--nproc-per-node -1"),
    (["--nproc-per-node=gpu", "x.py"], 1, "Cuda is not available."),
    (["--nproc-per-node=many", "x.py"], 1, "Unsupported nproc_per_node value"),
    (["--redirects=4", "x.py"], 1, "--redirects"),
    (["-t", "0:1,", "x.py"], 1, "--tee"),
    (["--rdzv-backend=mine", "x.py"], 1, "'mine' is not known"),
    (["--rdzv-backend=c10d", "--rdzv-endpoint=~", "x.py"], 1, "hostname"),
    (["--nnodes=2", "--rdzv-endpoint=node0", "x.py"], 1, "its port is missing"),
    (["--rdzv-conf=a", "x.py"], 1, "option 'a' must have a value"),
    (["--logs-specs=mine", "x.py"], 1, "mine"),
    (["nothing-here.py"], 1, '"nothing-here.py" is not here'),
    (["--no-python", "nothing-here"], 1, "No such file or directory"),
    (["--no-python", "./main.py"], 1, "not executable"),
    (["--python=/no/python", "./main.py"], 1, "/no/python"),
    (["--log-dir=main.py", "./main.py"], 1, "Not a directory"),
    (["--max-restarts=-1", "./main.py"], 1, "--max-restarts -1"),
    (["--master-port=4294996796", "./main.py"], 1, "--master-port 4294996796"),
    (["--shutdown-timeout=-1", "./main.py"], 1, "--shutdown-timeout -1"),
])
def test_bad_input_is_one_clear_line(launch, args, code, text):
    os.chmod(launch.script("raise SystemExit('started')"), 0o644)
    done = launch.run(*args, code=code, env={"CUDA_VISIBLE_DEVICES": ""})
    assert text in done.err
    lines = done.err.splitlines()
    assert len(lines) == (2 if code == 2 else 1), done.err
    assert "started" not in done.err and not os.listdir(launch.path("tmp"))
    launch.await_none_left()


def test_help_and_completion(launch):
    done = launch.run("--help")
    assert "--nproc-per-node" in done.out and not done.err
    for shell in ("bash", "zsh", "tcsh"):
        script = launch.run("--print-completion", shell).out
        assert "--rdzv-endpoint" in script
        if shell == "bash":
            subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_muster_launch_and_torchrun_are_this_program(launch):
    script = launch.script("import os; print('rank', os.environ['RANK'])")
    environment = {**launch.env, "XDG_STATE_HOME": launch.path("s"),
                   "XDG_RUNTIME_DIR": launch.path("r")}
    os.mkdir(launch.path("bin"))
    os.symlink(BINARY, launch.path("bin", "torchrun"))
    for command in ([BINARY, "launch"], [launch.path("bin", "torchrun")]):
        done = subprocess.run([*command, "--nproc-per-node=1", script], env=environment,
                              capture_output=True, text=True)
        assert (done.returncode, done.out if hasattr(done, "out") else done.stdout) == (
            0, "rank 0\n"), done.stderr
    done = subprocess.run([BINARY, "launch", "--help"], env=environment, capture_output=True,
                          text=True)
    assert done.stdout.startswith("usage: muster launch")


def test_is_static_and_small():
    assert os.path.exists(LAUNCHER)
    with open(LAUNCHER, "rb") as file:
        assert b"/lib64/ld-linux" not in file.read()


def run_with_small_log_disk(launch, options, *args):
    """The launcher with its logs on a file system of its own, mounted with `options`."""
    if os.getuid() != 0:
        pytest.skip("needs root to mount a small file system")
    os.mkdir(launch.path("small"))
    mount = f"mount -t tmpfs -o {options} none {launch.path('small')} && exec \"$@\""
    return subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", LAUNCHER, "--log-dir",
                           launch.path("small", "logs"), *args], env=launch.env,
                          capture_output=True, text=True, cwd=launch.folder)


def test_full_folder_for_logs(launch):
    script = launch.script("print('started')")
    done = run_with_small_log_disk(launch, "size=4k,nr_inodes=2", script)
    assert done.returncode == 1 and "no space left for more files on the disk of" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and "started" not in done.stdout
    launch.await_none_left()


def test_a_log_disk_that_fills_up_is_named(launch):
    script = launch.script("while True: print('x' * 1000)")
    done = run_with_small_log_disk(launch, "size=64k", "-r3", script)
    assert done.returncode == 1 and "the log folder's disk is full" in done.stderr
    launch.await_none_left()


def test_a_log_that_may_not_grow_ends_and_the_job_goes_on(launch):
    script = launch.script("print('x' * 9999); print('the end')")
    done = launch.run("--tee=3", "--log-dir", launch.path("logs"), script,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    assert "the end" in done.out and "it ends here, the job continues" in done.err


@pytest.mark.parametrize("flags", [["--nproc-per-node=1"], ["--nproc-per-node=2", "--tee=3"]])
@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_streams_that_are_closed_are_nothing_of_the_launchers(launch, closed, flags):
    script = launch.script("""
import os, sys
print("to whom?"); print("to whom?", file=sys.stderr)
with open("seen" + os.environ["RANK"], "w") as file:
    for fd in range(3): print(os.readlink(f"/proc/self/fd/{fd}").split(":")[0], file=file)
""")
    # Not by pipes: they would be closed with the streams.
    launch.run("--log-dir", launch.path("logs"), *flags, script, stdin=None, stdout=None,
               stderr=None, preexec_fn=lambda: [os.close(fd) for fd in closed])
    words = launch.await_file("seen0").splitlines()
    assert {words[fd] for fd in closed} <= {"/dev/null", "pipe"}


@pytest.mark.parametrize("level, is_said", [("INFO", True), ("debug", True), ("WARNING", False),
                                            (None, False)])
def test_loglevel_says_what_is_launched(launch, level, is_said):
    """Section 2.2: INFO prints the launch config, the log directory, the rendezvous' result."""
    script = launch.script("import os, sys, time\n"
                           "if os.environ['RANK'] == '1': sys.exit(3)\ntime.sleep(1000)")
    done = launch.run("--nproc-per-node=2", "--rdzv-id=job7", "--log-dir", launch.path("logs"), script,
                      env={"LOGLEVEL": level} if level else {}, code=3)
    said = [re.sub(r"\s+", " ", line).strip() for line in done.err.splitlines()]
    for wanted in ("muster-launch: nproc_per_node : 2", "muster-launch: max_restarts : 0",
                   "muster-launch: group_world_size : 1", "muster-launch: global_ranks : 0, 1",
                   f"muster-launch: binary : {sys.executable}"):
        assert (wanted in said) == is_said, done.err
    assert any(line.startswith(f"muster-launch: log_dir : {launch.path('logs')}/") for line in said) == is_said
    assert ("failed (exitcode: 3) local_rank: 1 (pid: " in done.err) == is_said
    assert bool(re.search(r"Sending process \d+ closing signal SIGTERM", done.err)) == is_said


def test_events_have_torchruns_keys(launch):
    script = launch.script("import os, sys, time\n"
                           "if os.environ['RANK'] == '1': sys.exit(3)\ntime.sleep(1000)")
    done = launch.run("--nproc-per-node=2", "--event-log-handler=console", "--role=r", script, code=3)
    events = [json.loads(line) for line in done.err.splitlines() if line.startswith('{"name"')]
    assert [(event["name"].rsplit(".", 1)[1], event["source"], event["metadata"]["global_rank"])
            for event in events] == [("START", "WORKER", 0), ("START", "WORKER", 1), ("TERMINATED", "WORKER", 0),
                                     ("FAILED", "WORKER", 1), ("SUCCEEDED", "AGENT", None)]
    metadata = events[3]["metadata"]
    assert list(metadata) == ["run_id", "global_rank", "group_rank", "worker_id", "role", "hostname", "state",
                              "total_run_time", "rdzv_backend", "raw_error", "metadata", "agent_restarts",
                              "duration_ms"]
    assert json.loads(metadata["raw_error"])["message"] == "<NONE>"
    assert json.loads(metadata["metadata"]) == {
        "group_world_size": 1, "entry_point": os.path.basename(sys.executable), "local_rank": [1],
        "role_rank": [1], "role_world_size": [2], "exit_code": [3], "worker_pid": [int(metadata["worker_id"])]}


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(3)"])
def test_run_path_ends_as_python_does(launch, end):
    launch.script("class Group:\n    def __del__(self): print('gone', flush=True)\n", "beside.py")
    launch.env["PYTHONPATH"] = launch.folder
    script = launch.script("import atexit, beside\ngroup = beside.Group()\n"
                           "atexit.register(print, 'atexit', flush=True)\n" + end)
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert plain.stdout == "atexit\ngone\n"
    done = launch.run("--run-path", script, code=None)
    assert done.out == plain.stdout
    assert (done.returncode == 0) == (plain.returncode == 0)
