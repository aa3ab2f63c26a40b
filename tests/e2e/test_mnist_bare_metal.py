"""Every shape of pytorchjob-mnist-example.md on bare metal: the nodes are processes of this machine, in a
network of their own in which it has the document's address."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from places import BINARY, ROOT, TRAINING
from ports import free_port
from test_mnist_yamls import STAND_IN

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")
ADDRESS = "10.252.192.48"
# The training of the document with a small network and few images.
SHORT = ("--model=net", "--limit=256", "--batch-size=64", "--lr=0.05", "--epochs=2")

# pytorchjob-mnist-example.md, "Personal Usage", without the prompts
PRINTED = {
    "launch-2x4": """
python -m torch.distributed.launch --nproc_per_node=4 --nnodes=2 --node_rank=0 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
python -m torch.distributed.launch --nproc_per_node=4 --nnodes=2 --node_rank=1 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
""",
    "launch-4x2": """
CUDA_VISIBLE_DEVICES=0,1 python -m torch.distributed.launch --nproc_per_node=2 --nnodes=4 --node_rank=0 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=2,3 python -m torch.distributed.launch --nproc_per_node=2 --nnodes=4 --node_rank=1 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=0,1 python -m torch.distributed.launch --nproc_per_node=2 --nnodes=4 --node_rank=2 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=2,3 python -m torch.distributed.launch --nproc_per_node=2 --nnodes=4 --node_rank=3 --master_addr="10.252.192.48" --master_port=22222 mnist_ddp_launch.py --epochs=1 --batch-size=256
""",
    "mp-8x1": """
CUDA_VISIBLE_DEVICES=0 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=0 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=1 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=1 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=2 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=2 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=3 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=3 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=0 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=4 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=1 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=5 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=2 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=6 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
CUDA_VISIBLE_DEVICES=3 python mnist_ddp_mp.py --nproc_per_node=1 --nnodes=8 --node_rank=7 --dist-url="tcp://10.252.192.48:22222" --epochs=1 --batch-size=256
"""}

ENTER_NETWORK = ("unshare", "--map-root-user", "--net", "--", "sh", "-c",
                 f'ip link set lo up && ip addr add {ADDRESS}/32 dev lo && exec "$@"', "sh")


class Machine:
    """A copy of the example, a `python` whose torch.distributed.launch is muster's, and a network."""

    def __init__(self, folder):
        for name in ("mnist-pytorch", "mnist-pytorchjob"):
            shutil.copytree(os.path.join(ROOT, "examples", name), os.path.join(folder, name),
                            ignore=shutil.ignore_patterns("__pycache__", "*.pt", ".lock", "raw", "logs"))
        self.example = os.path.join(folder, "mnist-pytorchjob")
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        for name in ("muster", "muster-launch"):
            os.symlink(os.path.join(os.path.dirname(os.path.abspath(BINARY)), name),
                       os.path.join(programs, name))
        os.symlink("muster", os.path.join(programs, "torchrun"))
        venv = os.path.join(folder, "venv")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", venv],
                       check=True)
        self.env = {"PATH": f"{venv}/bin:{programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                    "HOME": folder, "LANG": "C.UTF-8", "MASTER_ADDR": ADDRESS,
                    "PYTHONDONTWRITEBYTECODE": "1", **TRAINING, "DIST_FILE": os.path.join(folder, "meet")}
        self.run("muster", "python-shim", "install", "--python", f"{venv}/bin/python")
        probe = subprocess.run([*ENTER_NETWORK, "true"], capture_output=True, text=True)
        self.no_network = probe.stderr.strip() if probe.returncode else None

    def run(self, *command, code=0, env=None):
        done = subprocess.run(command, env={**self.env, **(env or {})}, cwd=self.example, text=True,
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def shape(self, name, *flags, code=0, **env):
        if self.no_network is not None:
            pytest.skip(f"no network namespaces here: {self.no_network}")
        return self.run(*ENTER_NETWORK, "./run.sh", name, *flags, code=code, env=env)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return Machine(str(tmp_path_factory.mktemp("bare-metal")))


@pytest.fixture(scope="module")
def alone(machine):
    """The loss of one process."""
    return losses(machine.run("./run.sh", "dp", *SHORT).stdout)[0]


def losses(output):
    return [float(loss) for loss in re.findall(r"^\[0\] test: loss=([\d.]+) ", output, re.MULTILINE)]


TOLD = re.compile(r"^\[(\d)\] rank (\d) of (\d), local rank (\d): MASTER_ADDR=(\S+) MASTER_PORT=(\S+) "
                  r"WORLD_SIZE=(\S+) RANK=(\S+) LOCAL_RANK=(\S+)$", re.MULTILINE)


def check_ranks(output, nodes, processes, has_launcher):
    """docs/launch.md: which process saw what."""
    seen = sorted(TOLD.findall(output), key=lambda row: int(row[1]))
    expected = []
    for rank in range(nodes * processes):
        node, local = divmod(rank, processes)
        ids = (str(node), str(rank), "8", str(local))
        # MASTER_ADDR is the shell's of this test where no launcher sets it.
        expected.append(ids + ((ADDRESS, "22222", "8", str(rank), str(local)) if has_launcher
                               else (ADDRESS, "-", "-", "-", "-")))
    assert seen == expected


def test_the_commands_are_those_of_the_document(machine):
    for shape, commands in PRINTED.items():
        done = machine.run("./run.sh", "--print", shape,
                           env={"LAUNCHER": "python -m torch.distributed.launch"})
        assert done.stdout.strip() == commands.strip()


def test_the_help_is_whole(machine):
    said = machine.run("./run.sh", code=2).stderr
    for word in ("dp", "launch-2x4", "mp-8x1", "mp-2x4-file", "--print", "FLAG"):
        assert word in said
    assert "set -euo" not in said


@pytest.mark.parametrize("shape,launcher", [
    ("launch-2x4", "torchrun"), ("launch-4x2", "python -m torch.distributed.launch"), ("launch-8x1", "")])
def test_the_ranks_of_every_shape_are_those_of_the_table(machine, shape, launcher):
    """As the shapes below say it, by a program that does not train."""
    trains = os.path.join(machine.example, "mnist_ddp_launch.py")
    os.rename(trains, trains + ".kept")
    try:
        with open(trains, "w") as file:
            file.write(STAND_IN)
        output = machine.shape(shape, LAUNCHER=launcher).stdout
    finally:
        os.rename(trains + ".kept", trains)
    nodes, processes = map(int, shape.split("-")[1].split("x"))
    check_ranks(output, nodes, processes, has_launcher=True)


# Eight ranks each; test_mnist_yamls.py trains with the same programs in pods.
@pytest.mark.soak
@pytest.mark.parametrize("shape,launcher", [
    ("launch-2x4", "torchrun"), ("launch-4x2", "python -m torch.distributed.launch"), ("launch-8x1", ""), ("mp-8x1", ""), ("mp-2x4-file", "")])
def test_every_shape_ends_at_the_same_loss(machine, alone, shape, launcher):
    output = machine.shape(shape, *SHORT, LAUNCHER=launcher).stdout
    assert losses(output) == [pytest.approx(alone, abs=1e-4)], output
    assert output.count("no CUDA device here") + output.count("--no-cuda: training on the CPU, with gloo") == 1
    nodes, processes = int(shape.split("-")[1][0]), int(shape.split("-")[1][2])
    # Those of mp.spawn say nothing to each other through the environment.
    check_ranks(output, nodes, processes, has_launcher=shape.startswith("launch"))
    assert not os.path.exists(machine.env["DIST_FILE"])


def test_env_and_spawn(machine, alone):
    """--dist-url=env://, with two processes."""
    done = machine.run("python", "mnist_ddp_mp.py", "--nproc_per_node=2", "--dist-url=env://", *SHORT,
                       env={"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())})
    assert float(re.search(r"^test: loss=([\d.]+)", done.stdout, re.MULTILINE)[1]) == (
        pytest.approx(alone, abs=1e-4))


def test_a_node_that_fails_ends_its_peers(machine, tmp_path):
    launcher = tmp_path / "launcher"
    launcher.write_text('case "$*" in *--node_rank=1*) echo no disk; exit 3;; esac\nexec sleep 1000\n')
    done = machine.run("./run.sh", "launch-4x2", "--lr=1", code=3, env={"LAUNCHER": f"sh {launcher}"})
    assert done.stderr == "launch-4x2: node 1 ended with exit code 3; its peers are ended\n"
    assert done.stdout.splitlines()[1:] == ["[1] no disk"]


def test_a_rank_that_never_joins_is_named(machine):
    """No hang; test_mnist_modules.py has more."""
    done = machine.run("python", "mnist_ddp_mp.py", "--nnodes=3", "--node_rank=0", "--join-timeout=1",
                       "--nproc_per_node=1", f"--dist-url=tcp://127.0.0.1:{free_port()}", code=1)
    assert "error: ranks 1,2 of 3 did not come within 1 s" in done.stderr
    assert "Traceback" not in done.stderr
