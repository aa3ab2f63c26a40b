"""muster-launch in pods: as torchrun, and for python -m torch.distributed.run."""
import os

import pytest

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
