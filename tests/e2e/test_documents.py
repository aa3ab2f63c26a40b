"""The commands of the two Arena documents, as printed there. Only the environment is adapted: where
the repository's address leads to, what lies in the data volume, which cluster `arena` finds."""
import json
import os
import re
import subprocess

import pytest

from idx_files import write_small_mnist

ADDRESS = "https://code.aliyun.com/370272561/mnist-pytorch.git"

# arena-pytorch-from-git.md, step 2
SUBMIT_FROM_GIT = r"""
arena --loglevel info submit pytorch \
    --name=pytorch-dist-git \
    --gpus=1 \
    --workers=2 \
    --image=registry.cn-beijing.aliyuncs.com/ai-samples/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
    --sync-mode=git \
    --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
    "python /root/code/mnist-pytorch/mnist.py --backend gloo"
"""

# arena-pytorch-shared-storage-tensorboard.zh.md, step 2
SUBMIT_WITH_STORAGE = r"""
arena submit pytorch \
        --name=pytorch-dist \
        --gpus=1 \
        --workers=3 \
        --working-dir=/root \
        --image=registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
        --sync-mode=git \
        --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
        --data=training-data:/mnist_data \
        --tensorboard \
        --logdir=/mnist_data/pytorch_data/logs \
        "python /root/code/mnist-pytorch/mnist.py --epochs 10 --backend nccl --dir /mnist_data/pytorch_data/logs --data /mnist_data/pytorch_data/"
"""


class Shell:
    """A user's shell in which `arena` is muster and the documents' repository is a local one."""

    def __init__(self, cluster, repository):
        self.cluster = cluster
        os.symlink(cluster.binary, cluster.path("bin", "arena"))
        with open(cluster.path("home", ".gitconfig"), "w") as file:
            file.write(f'[url "file://{repository}"]\n\tinsteadOf = {ADDRESS}\n')

    def __call__(self, line, code=0, timeout=300):
        env = {**self.cluster.env, "PATH": self.cluster.path("bin") + ":" + self.cluster.env["PATH"]}
        done = subprocess.run(["bash", "-c", line], env=env, cwd=self.cluster.path("home"), text=True,
                              capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"{line}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture
def shell(cluster, repository):
    return Shell(cluster, repository)


def columns(table):
    return [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()]


def test_distributed_training_from_git(shell):
    nodes = columns(shell("arena top node").stdout)
    assert nodes[0] == ["NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)"]
    assert "Allocated/Total GPUs In Cluster:" in shell("arena top node").stdout

    submitted = shell(SUBMIT_FROM_GIT)
    assert submitted.stdout.splitlines() == [
        "configmap/pytorch-dist-git-pytorchjob created",
        "configmap/pytorch-dist-git-pytorchjob labeled",
        "pytorchjob.kubeflow.org/pytorch-dist-git created"]
    assert "The Job pytorch-dist-git has been submitted successfully" in submitted.stderr
    assert ("You can run `arena get pytorch-dist-git --type pytorchjob -n default` to check the job"
            " status") in submitted.stderr

    log = shell("arena logs pytorch-dist-git -f").stdout.splitlines()
    assert log[0] == "WORLD_SIZE: 2, CURRENT_RANK: 0"
    assert log[1].startswith(
        "args: Namespace(backend='gloo', batch_size=64, data='/root/code/mnist-pytorch', "
        "dir='/root/code/mnist-pytorch/logs', epochs=1, log_interval=10, lr=0.01, momentum=0.5, "
        "no_cuda=False, save_model=False, seed=1, test_batch_size=1000")
    assert "Using distributed PyTorch with gloo backend" in log
    assert any(re.fullmatch(r"Train Epoch: 1 \[640/60000 \(1%\)\]\tloss=\d\.\d{4}", line)
               for line in log)
    shell.cluster.wait("pytorch-dist-git", "SUCCEEDED")

    listed = columns(shell("arena list").stdout)
    assert listed[0] == ["NAME", "STATUS", "TRAINER", "AGE", "NODE"]
    assert listed[1][:3] == ["pytorch-dist-git", "SUCCEEDED", "PYTORCHJOB"]

    shown = shell("arena get pytorch-dist-git").stdout
    assert re.match(r"STATUS: SUCCEEDED\nNAMESPACE: default\nPRIORITY: N/A\n"
                    r"TRAINING DURATION: [0-9ms]+\n\n", shown)
    instances = columns(shown)[5:]
    assert instances[0] == ["NAME", "STATUS", "TRAINER", "AGE", "INSTANCE", "NODE"]
    assert [row[4] for row in instances[1:]] == ["pytorch-dist-git-master-0",
                                                "pytorch-dist-git-worker-0"]
    # The document asks for a job of another name there; docs/errata.md.
    missing = shell("arena get pytorch-local-git", code=1)
    assert ("Not found training job pytorch-local-git in namespace default,please use "
            "'arena submit' to create it.") in missing.stderr

    assert shell("arena logs pytorch-dist-git").stdout.splitlines() == log
    worker = shell("arena logs pytorch-dist-git -i pytorch-dist-git-worker-0").stdout
    assert worker.splitlines()[0] == "WORLD_SIZE: 2, CURRENT_RANK: 1"
    tail = shell("arena logs pytorch-dist-git -i pytorch-dist-git-worker-0 -t 5").stdout
    assert tail.splitlines() == worker.splitlines()[-5:]
    assert re.search(r"^accuracy=0\.9\d+$", tail, re.MULTILINE)
    # As printed, with a blank before `help`; docs/errata.md.
    assert "--tail" in shell("arena logs -- help").stdout


def test_shared_storage_and_tensorboard(shell):
    cluster = shell.cluster
    volume = cluster.path("volume")
    os.makedirs(os.path.join(volume, "pytorch_data"))
    write_small_mnist(os.path.join(volume, "pytorch_data"))
    shell(f"arena data create training-data --path {volume}")

    volumes = columns(shell("arena data list").stdout)
    assert volumes[0] == ["NAME", "ACCESSMODE", "DESCRIPTION", "OWNER", "AGE"]
    assert volumes[1][:2] == ["training-data", "ReadWriteMany"]

    assert shell(SUBMIT_WITH_STORAGE).stdout.splitlines() == [
        "configmap/pytorch-dist-pytorchjob created",
        "configmap/pytorch-dist-pytorchjob labeled",
        "service/pytorch-dist-tensorboard created",
        "deployment.apps/pytorch-dist-tensorboard created",
        "pytorchjob.kubeflow.org/pytorch-dist created"]
    assert columns(shell("arena list").stdout)[1][0] == "pytorch-dist"
    top = shell("arena top job").stdout
    assert columns(top)[0] == ["NAME", "GPU(Requests)", "GPU(Allocated)", "STATUS", "TRAINER", "AGE",
                               "NODE"]
    assert "Total Allocated GPUs of Training Job:\n" in top
    assert "Total Requested GPUs of Training Job:\n" in top
    assert "Allocated/Total GPUs In Cluster:" in shell("arena top node").stdout

    log = shell("arena logs pytorch-dist -f", timeout=240).stdout.splitlines()
    assert log[0] == "WORLD_SIZE: 3, CURRENT_RANK: 0"
    assert log[1].startswith(
        "args: Namespace(backend='nccl', batch_size=64, data='/mnist_data/pytorch_data/', "
        "dir='/mnist_data/pytorch_data/logs', epochs=10, ")
    assert any(line.startswith("Train Epoch: 10 [") for line in log)
    cluster.wait("pytorch-dist", "SUCCEEDED")

    shown = shell("arena get pytorch-dist").stdout
    assert [row[4] for row in columns(shown)[6:9]] == ["pytorch-dist-master-0", "pytorch-dist-worker-0",
                                                     "pytorch-dist-worker-1"]
    assert re.search(r"^Your tensorboard will be available on:\nhttp://127\.0\.0\.1:\d+$", shown,
                     re.MULTILINE)
    rank1 = shell("arena logs pytorch-dist -i pytorch-dist-worker-0").stdout.splitlines()
    assert rank1[0] == "WORLD_SIZE: 3, CURRENT_RANK: 1"
    assert shell("arena logs pytorch-dist").stdout.splitlines() == log
    tail = shell("arena logs pytorch-dist -t 5").stdout
    assert tail.splitlines() == log[-5:] and re.search(r"^accuracy=0\.\d+$", tail, re.MULTILINE)
    assert "--follow" in shell("arena logs --help").stdout
    # Events went where --dir says: into the volume.
    assert any(name.startswith("events.out.tfevents")
               for _, _, names in os.walk(os.path.join(volume, "pytorch_data", "logs"))
               for name in names)
    assert json.loads(shell("arena get pytorch-dist -o json").stdout)["tensorboard"].startswith("http")
