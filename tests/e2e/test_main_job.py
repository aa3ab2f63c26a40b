"""The main job: a real two-process training from a git repository (spec: the Arena document)."""
import re

import pytest
from places import ONE_THREAD


# As the tests' own user: tests/e2e/test_documents.py trains the same.
@pytest.mark.parametrize("user", [pytest.param("cluster", marks=pytest.mark.soak), "nobody_cluster"])
def test_trains_two_processes_from_git(user, repository, request):
    cluster = request.getfixturevalue(user)
    name = "pytorch-dist-git"
    done = cluster.submit(
        name, "python /root/code/mnist-pytorch/mnist.py --backend gloo", "--workers=2",
        "--sync-mode=git", f"--sync-source=file://{repository}", ONE_THREAD)
    assert done.stdout == (f"configmap/{name}-pytorchjob created\n"
                           f"configmap/{name}-pytorchjob labeled\n"
                           f"pytorchjob.kubeflow.org/{name} created\n")
    assert f"The Job {name} has been submitted successfully" in done.stderr
    assert f"`muster get {name} --type pytorchjob" in done.stderr

    lines = cluster.run("logs", name, "-f", timeout=300).stdout.splitlines()
    assert lines[0] == "WORLD_SIZE: 2, CURRENT_RANK: 0"
    assert lines[1].startswith("args: Namespace(backend='gloo', batch_size=64, "
                               "data='/root/code/mnist-pytorch', "
                               "dir='/root/code/mnist-pytorch/logs', epochs=1, ")
    assert "Using distributed PyTorch with gloo backend" in lines
    assert any(line.startswith("Train Epoch: 1 [640/") for line in lines)
    accuracy = [line for line in lines if line.startswith("accuracy=")]
    assert len(accuracy) == 1 and float(accuracy[0].split("=")[1]) > 0.9

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
    cluster.submit("alone", "python /root/code/mnist-pytorch/mnist.py --backend nccl",
                   "--sync-mode=git", f"--sync-source=file://{repository}", ONE_THREAD)
    log = cluster.run("logs", "alone", "-f", timeout=300).stdout
    assert "gloo instead of nccl" in log
    assert "accuracy=0.9" in log
    cluster.wait("alone", "SUCCEEDED")
