"""The YAMLs of examples/mnist-pytorchjob on the embedded cluster: every pod's processes see what the table
of docs/launch.md says."""
import importlib.util
import os
import re
import shutil
import subprocess

import pytest

from embedded_muster import Cluster
from places import ROOT
from idx_files import write_data
from waiting import PATIENCE

IMAGE = "mnist-pytorchjob:latest"
TOLD = re.compile(r"^rank (\d) of (\d), local rank (\d): MASTER_ADDR=(\S+) MASTER_PORT=(\S+) WORLD_SIZE=(\S+) "
                  r"RANK=(\S+) LOCAL_RANK=(\S+)$", re.MULTILINE)
# Says what the programs say of their place, and needs no PyTorch.
STAND_IN = """\
import os
told = " ".join(f"{name}={os.environ.get(name, '-')}" for name in (
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK"))
local = os.environ.get("LOCAL_RANK", 0)
print(f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}, local rank {local}: {told}")
"""

needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")


@pytest.fixture(scope="module")
def cluster():
    """With the example in the place of its image, and 256 images to train on: an epoch is one step."""
    made = Cluster()
    for name in ("mnist-pytorch", "mnist-pytorchjob"):
        shutil.copytree(os.path.join(ROOT, "examples", name), made.path("home", name),
                        ignore=shutil.ignore_patterns("__pycache__", "*.pt", "raw", ".lock", "logs"))
    write_data(made.path("home", "mnist-pytorchjob", "data", "FashionMNIST", "raw"), 256, 32)
    os.mkdir(made.path("stand-in"))
    with open(made.path("stand-in", "mnist_ddp_launch.py"), "w") as file:
        file.write(STAND_IN)
    os.mkdir(made.path("shared"))
    made.run("data", "create", "mnist-shared", "--path", made.path("shared"))
    made.yamls = made.path("home", "mnist-pytorchjob", "yamls")
    yield made
    made.close()


def run(cluster, yaml, code="home/mnist-pytorchjob", changes=()):
    """Applies the YAML, once texts in it have become others, and waits for the job; its name."""
    cluster.run("image", "map", IMAGE, cluster.path(code))
    with open(os.path.join(cluster.yamls, f"{yaml}.yaml")) as file:
        text = file.read()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    with open(cluster.path("home", "applied.yaml"), "w") as file:
        file.write(text)
    applied = cluster.run("apply", "-f", cluster.path("home", "applied.yaml")).stdout
    name = yaml.replace("_", "-")
    assert applied == f"pytorchjob.kubeflow.org/{name} created\n"
    await_success(cluster, name)
    return name


def await_success(cluster, name):
    job = cluster.wait(name, "SUCCEEDED", "FAILED", timeout=240)
    assert job["status"] == "SUCCEEDED", cluster.run("logs", name, "--all").stdout + str(job)
    cluster.wait_for_all(name, "SUCCEEDED")  # the master may end before a worker has told what it is


def told(cluster, name, nodes):
    """(pod's number, what its processes say of their place) of all processes, by rank."""
    rows = []
    for node in range(nodes):
        pod = f"{name}-master-0" if node == 0 else f"{name}-worker-{node - 1}"
        log = cluster.run("logs", name, "-i", pod).stdout
        rows += [(node, *row) for row in TOLD.findall(log)]
    return sorted(rows, key=lambda row: int(row[1]))


def table(name, nodes, processes, port, has_launcher):
    """docs/launch.md. The pod's RANK is the node's; a launcher puts the process's in its place."""
    rows = []
    for rank in range(nodes * processes):
        node, local = divmod(rank, processes)
        seen = ((str(nodes * processes), str(rank), str(local)) if has_launcher
                else (str(nodes), str(node), "-"))
        rows.append((node, str(rank), str(nodes * processes), str(local), f"{name}-master-0", port, *seen))
    return rows


def check(cluster, name, nodes, processes, has_launcher):
    rows = told(cluster, name, nodes)
    assert rows, cluster.run("logs", name).stdout
    port = rows[0][5]
    assert port.isdigit()
    assert rows == table(name, nodes, processes, port, has_launcher)


@needs_torch
def test_dp(cluster):
    name = run(cluster, "mnist_dp")
    log = cluster.run("logs", name).stdout
    assert re.search(r"^test: loss=\d+\.\d+ accuracy=", log, re.MULTILINE)
    assert os.listdir(cluster.path("home", "mnist-pytorchjob", "ckpts")).count("epoch-0001.pt") == 1


@needs_torch
# As they stand, and with half or a quarter of their processes.
@pytest.mark.parametrize("yaml,nodes,processes,has_launcher,changes", [
    pytest.param("mnist_ddp_launch_host", 2, 4, True, (), marks=pytest.mark.soak),
    ("mnist_ddp_launch_host", 2, 2, True, [("--nproc_per_node=4", "--nproc_per_node=2")]),
    ("mnist_ddp_mp_file", 2, 2, False, ()),
    pytest.param("mnist_ddp_mp_tcp_host", 8, 1, False, (), marks=pytest.mark.soak),
    pytest.param("mnist_ddp_mp_tcp_host", 2, 1, False, [("replicas: 7", "replicas: 1"), ("--nnodes=8", "--nnodes=2")],
                 marks=pytest.mark.soak)])
def test_trains_and_sees_what_the_table_says(cluster, yaml, nodes, processes, has_launcher, changes):
    name = run(cluster, yaml, changes=changes)
    check(cluster, name, nodes, processes, has_launcher)
    assert "test: loss=" in cluster.run("logs", name).stdout
    assert os.listdir(cluster.path("shared")) == []
    cluster.run("delete", name)


@pytest.mark.parametrize("yaml,nodes,processes", [
    ("mnist_ddp_launch_host", 2, 4), ("mnist_ddp_launch_host_4x2", 4, 2), ("mnist_ddp_launch_host_8x1", 8, 1)])
def test_the_other_shapes_see_what_the_table_says(cluster, yaml, nodes, processes):
    name = run(cluster, yaml, "stand-in")
    check(cluster, name, nodes, processes, has_launcher=True)
    cluster.run("delete", name)


@needs_torch
@pytest.mark.skipif(not shutil.which("kubectl"), reason="no kubectl here")
@pytest.mark.parametrize("code", ["stand-in", pytest.param("home/mnist-pytorchjob", marks=pytest.mark.soak)])
def test_the_documents_kubectl_command(cluster, code):
    """pytorchjob-mnist-example.md, "Official example"."""
    command = "kubectl apply -f yamls/mnist_ddp_launch.yaml"
    cluster.run("image", "map", IMAGE, cluster.path(code))
    cluster.run("up", "--listen")
    config = cluster.path("home", "kubeconfig")
    with open(config, "w") as file:
        file.write(cluster.run("kubeconfig").stdout)
    done = subprocess.run(command, shell=True, cwd=os.path.dirname(cluster.yamls), text=True,
                          capture_output=True, timeout=PATIENCE, env={**cluster.env, "KUBECONFIG": config})
    assert done.stdout == "pytorchjob.kubeflow.org/mnist-ddp-launch created\n", done.stderr
    await_success(cluster, "mnist-ddp-launch")
    check(cluster, "mnist-ddp-launch", 4, 1, has_launcher=False)
    cluster.run("delete", "mnist-ddp-launch")
