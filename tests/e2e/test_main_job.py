"""The main job: a real two-process training from a git repository (spec: the Arena document)."""
import os
import re

import pytest

from idx_files import write_small_mnist
from places import ONE_THREAD


def small_data(cluster):
    folder = cluster.path("digits")
    os.mkdir(folder)
    write_small_mnist(folder)
    os.chmod(cluster.folder, 0o755)
    return f" --data {folder}"


# With all of the data, as tests/e2e/test_documents.py trains in a thread of its own choice.
@pytest.mark.parametrize("user,is_whole", [
    ("nobody_cluster", False), pytest.param("nobody_cluster", True, marks=pytest.mark.soak),
    pytest.param("cluster", True, marks=pytest.mark.soak)])
def test_trains_two_processes_from_git(user, is_whole, repository, request):
    cluster = request.getfixturevalue(user)
    data = "" if is_whole else small_data(cluster)
    name = "pytorch-dist-git"
    done = cluster.submit(
        name, f"python /root/code/mnist-pytorch/mnist.py --backend gloo{data}", "--workers=2",
        "--sync-mode=git", f"--sync-source=file://{repository}", ONE_THREAD)
    assert done.stdout == (f"configmap/{name}-pytorchjob created\n"
                           f"configmap/{name}-pytorchjob labeled\n"
                           f"pytorchjob.kubeflow.org/{name} created\n")
    assert f"The Job {name} has been submitted successfully" in done.stderr
    assert f"`muster get {name} --type pytorchjob" in done.stderr

    lines = cluster.run("logs", name, "-f", timeout=300).stdout.splitlines()
    assert lines[0] == "WORLD_SIZE: 2, CURRENT_RANK: 0"
    assert lines[1].startswith("args: Namespace(backend='gloo', batch_size=64, "
                               f"data='{data.split()[-1] if data else '/root/code/mnist-pytorch'}', "
                               "dir='/root/code/mnist-pytorch/logs', epochs=1, ")
    assert "Using distributed PyTorch with gloo backend" in lines
    assert any(line.startswith("Train Epoch: 1 [640/") for line in lines)
    accuracy = [line for line in lines if line.startswith("accuracy=")]
    assert len(accuracy) == 1 and float(accuracy[0].split("=")[1]) > (0.9 if is_whole else 0.1)

    job = cluster.wait_for_all(name, "SUCCEEDED")
    assert [instance["name"] for instance in job["instances"]] == [f"{name}-master-0",
                                                                   f"{name}-worker-0"]
    table = cluster.run("list").stdout.splitlines()
    assert table[0].split() == ["NAME", "STATUS", "TRAINER", "AGE", "NODE"]
    assert table[1].split()[:3] == [name, "SUCCEEDED", "PYTORCHJOB"]

    shown = cluster.run("get", name).stdout
    assert re.match(r"STATUS: SUCCEEDED\nNAMESPACE: default\nPRIORITY: N/A\n"
                    r"TRAINING DURATION: (\d+[hms])+\n\nNAME ", shown)
    assert f"{name}-worker-0" in shown

    tail = cluster.run("logs", name, "-i", f"{name}-worker-0", "-t", "5").stdout.splitlines()
    assert len(tail) == 5 and any(line.startswith("accuracy=") for line in tail)
    first = cluster.run("logs", name, "-i", f"{name}-worker-0").stdout.splitlines()[0]
    assert first == "WORLD_SIZE: 2, CURRENT_RANK: 1"

    assert "NAME" in cluster.run("top", "node").stdout
    assert name in cluster.run("top", "job").stdout

    cluster.await_no_process()  # the worker may end a moment after the master
    deleted = cluster.run("delete", name)
    assert f"The training job {name} has been deleted successfully" in deleted.stderr
    assert cluster.run("list").stdout.splitlines()[1:] == []


def test_alone_trains_on_one_process(cluster, repository):
    cluster.submit("alone", "python /root/code/mnist-pytorch/mnist.py --backend nccl" + small_data(cluster),
                   "--sync-mode=git", f"--sync-source=file://{repository}", ONE_THREAD)
    log = cluster.run("logs", "alone", "-f", timeout=300).stdout
    assert "gloo instead of nccl" in log
    assert "accuracy=0." in log
    cluster.wait("alone", "SUCCEEDED")
