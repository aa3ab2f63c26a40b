"""Who calls torch.distributed.run as a function (accelerate, fabric, notebooks) starts muster-launch by way of the shim."""
import glob
import os
import signal
import subprocess

import pytest

from places import BINARY
from waiting import PATIENCE
from test_warm_libraries import python  # noqa: F401

WHO = """
import os, sys
print("RANK", os.environ["RANK"], sys.argv[1:], os.readlink("/proc/%d/exe" % os.getppid()).rsplit("/", 1)[-1],
      os.environ["OMP_NUM_THREADS"], flush=True)
"""
REDUCE = WHO + """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
tensor = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(tensor)
print("SUM", tensor.item())
dist.destroy_process_group()
"""
HANG = WHO + "import time\ntime.sleep(1000)"


@pytest.fixture
def shim(launch, python):  # noqa: F811
    """Starts a program of that environment in which Python has the shim, as in a pod."""
    assert subprocess.run([BINARY, "python-shim", "pods", launch.path("pods")]).returncode == 0
    launch.env.pop("PYTHON_EXEC")
    folder = os.path.dirname(python)

    def start(name, *words, **variables):
        process = subprocess.Popen(
            [os.path.join(folder, name), *words], text=True, cwd=launch.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**launch.env, "PYTHONPATH": launch.path("pods", "python"), "OMP_NUM_THREADS": "1", **variables})
        launch.started.append(process)
        return process
    return start


def caller(launch, text):
    return launch.script("import sys, torch.distributed.run as run\n" + text, "caller.py")


def test_a_finder_of_the_old_kind_is_no_error(shim, launch):
    text = ("class Old:\n"
            "    def find_module(self, name, path=None): return None\n"
            "sys.meta_path.insert(0, Old())\n"
            "import torch.distributed.run\n"
            "print('wrapped', hasattr(torch.distributed.run.run, '__wrapped__'))\n")
    process = shim("python", launch.script("import sys\n" + text, "old.py"))
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "wrapped True\n"), err


ACCELERATE = ["accelerate", "launch", "--multi_gpu", "--num_machines", "1", "--mixed_precision", "no",
              "--dynamo_backend", "no"]


@pytest.mark.parametrize("words", [
    [*ACCELERATE, "--num_processes", "2"],
    ["fabric", "run", "model", "--accelerator=cpu", "--devices=2"],
    pytest.param(["fabric", "run", "model", "--accelerator=cpu", "--strategy=ddp", "--devices=2", "--main-port=29777"],
                 marks=pytest.mark.soak),
    ["python", "-c", "import sys, torch.distributed.run as run; run.main(['--nproc_per_node=2'] + sys.argv[1:])"],
    ["python", "-c", "import sys; from torch.distributed.launch import main; main(['--use_env', '--nproc_per_node=2'] + sys.argv[1:])"],
])
def test_the_real_programs_reach_the_launcher(launch, shim, words):
    # That ranks of the launcher meet is the same whoever calls it.
    reduces = words[0] == "accelerate"
    launch.script(REDUCE if reduces else WHO)
    args = ["--lr", "0.1", "a b"]
    out, err = shim(*words, "main.py", *args).communicate(timeout=PATIENCE)
    assert sorted(out.splitlines()) == [
        "RANK %d %s muster-launch 1" % (rank, args) for rank in (0, 1)] + ["SUM 3.0"] * 2 * reduces, err


def test_turned_off_it_is_pytorch_that_runs(launch, shim):
    launch.script(REDUCE)
    process = shim("fabric", "run", "model", "--accelerator=cpu", "--devices=2", "main.py", MUSTER_PYTHON_SHIM="off")
    out, err = process.communicate(timeout=PATIENCE)
    # Debian's torch 1.13 does not start ranks with Python 3.11.
    assert "SUM 3.0" in out or "torch/distributed/launcher/api.py" in err
    assert "muster-launch" not in out + err


def test_a_failure_is_the_exception_that_pytorch_raises(launch, shim):
    launch.script(WHO + "if os.environ['RANK'] == '1': sys.exit(3)\nimport time; time.sleep(1000)")
    script = caller(launch, """
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
try:
    run.main(["--nproc_per_node=2", "main.py"])
except ChildFailedError as error:
    rank, failure = error.get_first_failure()
    print("FAILED", rank, failure.local_rank, failure.exitcode)
""")
    out, err = shim("python", script).communicate(timeout=PATIENCE)
    assert "FAILED 1 1 3" in out, err
    assert "rank 1 of 2 failed first" in err
    # The report that the launcher names is there.
    report, = [line.split(" : ")[1] for line in err.splitlines() if line.strip().startswith("report ")]
    assert os.path.exists(report)


def test_accelerate_fails_when_a_rank_does(launch, shim):
    launch.script("raise ValueError('of the script')")
    process = shim(*ACCELERATE, "--num_processes", "2", "main.py")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ValueError: of the script" in err and "ChildFailedError" in err


def test_the_callers_settings_are_the_launchers(launch, shim):
    launch.script("import os\nprint(os.environ['TORCHELASTIC_MAX_RESTARTS'], os.environ['TORCHELASTIC_RUN_ID'],"
                  " os.environ['ROLE_NAME'], os.environ['MASTER_PORT'])")
    script = caller(launch, """
args = run.parse_args(["--max_restarts=2", "--role", "tr", "--rdzv_id", "mine", "--master_port=29778", "main.py"])
run.run(args)
args.max_restarts = 0  # as a caller may
run.run(args)
""")
    out, err = shim("python", script, PET_MAX_RESTARTS="5").communicate(timeout=PATIENCE)
    assert out == "2 mine tr 29778\n0 mine tr 29778\n", err


def test_lists_of_the_caller_are_the_launchers(launch, shim):
    launch.script("print('apples, pears')\nprint('pears')\nprint('plums')")
    script = caller(launch, """
parser = run.get_args_parser()  # with the flag of the newest PyTorch
parser.add_argument("--duplicate-stdout-filters", default=[])
run.get_args_parser = lambda: parser
args = parser.parse_args(["--tee=1", "--log_dir=logs", "main.py"])
args.duplicate_stdout_filters = ["s, p", "plum"]
run.run(args)
""")
    _, err = shim("python", script).communicate(timeout=PATIENCE)
    found = glob.glob(launch.path("logs", "*", "attempt_0", "filtered_stdout.log"))
    assert [open(name).read() for name in found] == ["[default0]:apples, pears\n[default0]:plums\n"], err


def test_a_thread_may_call_it(launch, shim):
    launch.script(WHO)
    script = caller(launch, """
import threading
thread = threading.Thread(target=run.main, args=(["--nproc_per_node=2", "main.py"],))
thread.start()
thread.join()
print("AFTER")
""")
    out, err = shim("python", script).communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "AFTER" and out.count("muster-launch") == 2, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_the_caller_ends_the_job(launch, shim, number):
    launch.script(HANG)
    script = caller(launch, "run.main(['--nproc_per_node=2', 'main.py'])")
    process = shim("python", script)
    for _ in range(2):
        launch.await_line(process, "RANK")
    os.kill(process.pid, number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -number
    launch.await_none_left()
