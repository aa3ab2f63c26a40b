"""muster-launch in pods: as torchrun, and for python -m torch.distributed.run."""
import glob
import os
import re
import subprocess
import time

import pytest

from places import BINARY
from waiting import await_true, await_words

# Each rank says who it is and which program started it.
PROBE = """
import os, sys
parent = os.readlink(f"/proc/{os.getppid()}/exe").rsplit("/", 1)[-1]
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "by", parent, sys.argv[1:],
      os.path.basename(sys.executable))
"""


@pytest.mark.parametrize("command", [
    "torchrun --nproc-per-node=2", "torchrun --nproc_per_node 2",
    "python -m torch.distributed.run --nproc-per-node=2",
    "python -u -m torch.distributed.run --nproc-per-node=2",
    "python3 -W ignore -um torch.distributed.launch --use-env --nproc_per_node=2",
    "python -u $(which torchrun) --nproc-per-node=2",
])
def test_several_processes_in_a_pod(cluster, command):
    with open(cluster.path("probe.py"), "w") as file:
        file.write(PROBE)
    os.chmod(cluster.folder, 0o755)
    cluster.submit("several", f"{command} {cluster.path('probe.py')} a b", "--workers=1")
    cluster.wait("several", "SUCCEEDED")
    lines = [line[line.index("rank"):] for line in cluster.run("logs", "several").stdout.splitlines()
             if "by" in line]
    assert [line.rsplit(" ", 1)[0] for line in sorted(lines)] == [
        f"rank {rank} of 2 by muster-launch ['a', 'b']" for rank in range(2)]


@pytest.mark.parametrize("asked", ["--nproc-per-node=3", "--env=PET_NPROC_PER_NODE=3"])
def test_submit_says_how_many_processes_torchrun_starts(cluster, asked):
    cluster.submit("three", "torchrun --no-python sh -c 'echo rank $RANK of $WORLD_SIZE'", asked, "--workers=2", "--wait")
    said = "".join(cluster.run("logs", "three", "-i", f"three-{one}-0").stdout for one in ("master", "worker"))
    assert sorted(re.findall(r"rank \d of \d+$", said, re.MULTILINE)) == [f"rank {rank} of 6" for rank in range(6)]


TOKENS = """
import os, socket, sys, time
print("rank", os.environ["RANK"], os.environ["MUSTER_RDZV_TOKEN"], socket.gethostbyname(os.environ["MASTER_ADDR"]),
      os.environ["MASTER_PORT"], flush=True)
while not os.path.exists(sys.argv[1]): time.sleep(0.05)
"""


def test_pods_of_a_job_have_its_token_and_strangers_are_refused(cluster):
    with open(cluster.path("token.py"), "w") as file:
        file.write(TOKENS)
    os.chmod(cluster.folder, 0o755)
    cluster.submit("guarded", f"torchrun --nproc-per-node=1 {cluster.path('token.py')} {cluster.path('go')}",
                   "--workers=2")

    def told():
        return sorted(re.findall(r"rank (\d) (\S+) (\S+) (\d+)$", "".join(
            cluster.run("logs", "guarded", "-i", f"guarded-{one}-0", code=None).stdout for one in ("master", "worker")),
            re.MULTILINE))
    deadline = time.monotonic() + 120
    while len(told()) < 2:
        assert time.monotonic() < deadline, told()
        time.sleep(0.1)
    (_, token, address, port), (_, other, _, _) = told()
    assert token == other and len(token) == 36
    stranger = subprocess.run(
        [BINARY, "launch", "--nnodes=2", "--node-rank=1", f"--master-addr={address}", f"--master-port={port}",
         "--no-python", "true"], capture_output=True, text=True, timeout=120)
    assert stranger.returncode == 1 and "token" in stranger.stderr, stranger.stderr
    open(cluster.path("go"), "w").close()
    cluster.wait("guarded", "SUCCEEDED")


def test_the_exit_code_of_a_pod_is_the_ranks(cluster):
    cluster.submit("bad", "torchrun --nproc-per-node=2 --no-python sh -c 'exit $((RANK * 7))'",
                   "--workers=1")
    job = cluster.wait("bad", "FAILED")
    assert "7" in str(job["instances"])


def test_other_modules_are_left_alone(cluster):
    cluster.submit("module", "python -m json.tool --help && python -c 'import sys; print(sys.argv)' "
                   "-m torch.distributed.run && echo fine", "--workers=1")
    cluster.wait("module", "SUCCEEDED")
    assert "fine" in cluster.run("logs", "module").stdout


def test_redirection_can_be_turned_off(cluster):
    with open(cluster.path("config/muster/config.yaml"), "a") as file:
        file.write("  redirect_launch: false\n")
    cluster.submit("plain", "echo path $PYTHONPATH. && torchrun --version", "--workers=1")
    cluster.wait("plain", "SUCCEEDED")
    out = cluster.run("logs", "plain").stdout
    assert "path ." in out and "torchrun v" in out


WARM = """
import os, sys
print("rank", os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"], "torch" in sys.modules)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), 9)
    import time
    time.sleep(1000)
"""


def warm(cluster, text):
    """Turns warm starts on; the path of a script."""
    with open(cluster.path("config/muster/config.yaml"), "a") as file:
        file.write("  warm: true\n")
    with open(cluster.path("probe.py"), "w") as file:
        file.write(text)
    os.chmod(cluster.folder, 0o755)
    return cluster.path("probe.py")


def test_ranks_in_pods_are_warm_when_it_is_asked_for(cluster):
    script = warm(cluster, WARM)
    cluster.submit("warm", f"torchrun --nproc-per-node=2 --max-restarts=1 {script}", "--workers=1")
    cluster.wait("warm", "SUCCEEDED")
    out = cluster.run("logs", "warm").stdout
    for line in ("rank 1 0 True", "rank 0 1 True", "rank 1 1 True"):
        assert line in out, out
    assert len(interpreters(cluster.folder)) == 1
    cluster.run("down")
    await_true(lambda: not interpreters(cluster.folder), "an interpreter outlives the cluster")


def test_the_trials_of_a_sweep_are_warm_too(cluster):
    script = warm(cluster, "import sys; print('torch' in sys.modules)")
    done = cluster.run("run", "--live", "--sweep=i=1,2", script, cwd=os.path.dirname(script))
    assert "[i=1] True\n" in done.stdout and "[i=2] True\n" in done.stdout


def test_warm_starts_go_on_when_their_socket_has_vanished(cluster):
    script = warm(cluster, "import sys; print('torch' in sys.modules)")
    cluster.run("up")
    (socket,) = glob.glob(cluster.path("run", "*", "warm.socket"))
    os.unlink(socket)
    await_true(lambda: os.path.exists(socket), "the socket was not made again")
    cluster.submit("warm", f"python {script}", "--workers=1")
    cluster.wait("warm", "SUCCEEDED")
    assert "True\n" in cluster.run("logs", "warm").stdout


# Its parent is a fork of the interpreter, and its parent the interpreter.
FORKED = """
import os, platform, sys, time
def parent(pid): return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
keeper = os.getppid()
words = open(f"/proc/{keeper}/cmdline").read().split("\\0")
print("torch" in sys.modules, "/muster-warm/" in "".join(words[1:3]), platform.node(), sys.argv[1:],
      parent(keeper), "end", flush=True)
if sys.argv[1] == "stay": time.sleep(1000)
"""


def forked(cluster, name):
    line = next(line for line in cluster.run("logs", name).stdout.splitlines() if "end" in line)
    return line[line.index("True"):].split()


@pytest.mark.parametrize("user", ["cluster", "nobody_cluster"])
def test_programs_of_pods_are_forked_from_one_interpreter(request, user):
    cluster = request.getfixturevalue(user)
    script = warm(cluster, FORKED)
    residents = set()
    for name, command in (("first", f"python {script} $((1+1))"), ("second", f"python {script} a"),
                          ("third", f"exec python '{script}' a")):
        cluster.submit(name, command, "--workers=1")
        cluster.wait(name, "SUCCEEDED")
        is_simple = "$((" not in command
        words = forked(cluster, name) if is_simple else None
        if is_simple:
            assert words[:4] == ["True", "True", name + "-master-0", "['a']"]
            residents.add(words[4])
    assert len(residents) == 1 and len(interpreters(cluster.folder)) == 1
    cluster.submit("failing", f"python {script}", "--workers=1")
    job = cluster.wait("failing", "FAILED")
    assert "IndexError" in cluster.run("logs", "failing").stdout, job


def test_a_forked_program_ends_with_its_job(cluster):
    script = warm(cluster, FORKED)
    cluster.submit("stays", f"python {script} stay", "--workers=1")
    cluster.wait("stays", "RUNNING")
    await_words("end", lambda: cluster.run("logs", "stays").stdout)
    assert forked(cluster, "stays")[:2] == ["True", "True"]
    cluster.run("delete", "stays")
    await_true(lambda: not running(script), "the program runs on")


def running(script):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if script.encode() in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            continue
    return found


def interpreters(folder):
    """Resident ones of a cluster, without keepers."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                is_one = b"\0/muster-warm/" in file.read()
            with open(f"/proc/{entry}/environ", "rb") as file:
                is_ours = folder.encode() in file.read()
            with open(f"/proc/{entry}/stat") as file:
                parent = file.read().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if is_one and is_ours:
            found[entry] = parent
    return [pid for pid, parent in found.items() if parent not in found]


GLOO = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * dist.get_rank()
dist.all_reduce(value)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and dist.get_rank() == FAILS:
    os._exit(9)
dist.barrier()
print("sum", value.item(), "of", dist.get_world_size())
"""


@pytest.mark.parametrize("flags, fails", [
    # As the YAML mnist_ddp_launch_host does, and as the elastic job does before its rank fails.
    pytest.param(["--workers=2"], -1, marks=pytest.mark.soak), pytest.param(["--elastic=2:2", "--retry=1"], -1, marks=pytest.mark.soak),
    (["--elastic=2:2", "--retry=1"], 1),
])
def test_gloo_over_pods_of_two_processes(cluster, flags, fails):
    with open(cluster.path("gloo.py"), "w") as file:
        file.write(GLOO.replace("FAILS", str(fails)))
    os.chmod(cluster.folder, 0o755)
    cluster.submit("gloo", f"torchrun --nproc-per-node=2 {cluster.path('gloo.py')}", *flags)
    try:
        cluster.wait_for_all("gloo", "SUCCEEDED", timeout=120)
    finally:
        out = cluster.run("logs", "gloo", "--all", "--raw", code=None).stdout
        print(out)
    assert out.count("sum 6.0 of 4") == 4
