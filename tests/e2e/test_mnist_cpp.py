"""examples/mnist-cpp: built by its own CMakeLists, it ends at the loss of the Python program."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from places import BINARY, ROOT, TRAINING

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")
EXAMPLES = os.path.join(ROOT, "examples")
LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(BINARY)), "muster-launch")
FLAGS = ("--limit=512", "--batch-size=64", "--lr=0.05")


@pytest.fixture(scope="module")
def program():
    if not os.path.exists("/usr/include/torch/csrc") or not os.path.exists("/usr/include/gloo"):
        pytest.skip("no libtorch-dev and libgloo-dev here")
    folder = os.path.join(ROOT, "build", "example-cpp")
    cache = shutil.which("ccache")
    env = {**os.environ, **({"CMAKE_CXX_COMPILER_LAUNCHER": cache, "CCACHE_BASEDIR": ROOT, "CCACHE_NOHASHDIR": "1"} if cache else {})}
    for command in (["cmake", "-G", "Ninja", "-S", os.path.join(EXAMPLES, "mnist-cpp"), "-B", folder],
                    ["ninja", "-C", folder]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=800, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning:" not in done.stdout + done.stderr
    return os.path.join(folder, "mnist_ddp")


def run(*command, code=0, **env):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": "/tmp", **TRAINING,
                               **env})
    assert done.returncode == code, done.stdout + done.stderr
    return done


def loss_of(output):
    return float(re.search(r"^test: loss=([\d.]+) ", output, re.MULTILINE)[1])


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """(checkpoint after one epoch, loss after three) of two processes of the Python program."""
    folder = str(tmp_path_factory.mktemp("ckpts"))
    copy = os.path.join(folder, "first.pt")
    script = os.path.join(EXAMPLES, "mnist-pytorchjob", "mnist_ddp_launch.py")

    def train(*flags):
        return run(LAUNCHER, "--nproc-per-node=2", "--python", sys.executable, script, "--model=net",
                   "--no-cuda", "--ckpt-dir", folder, *FLAGS, *flags, PYTHONDONTWRITEBYTECODE="1").stdout
    train("--epochs=1")
    shutil.copy(os.path.join(folder, "epoch-0001.pt"), copy)
    return copy, loss_of(train("--epochs=3", "--resume"))


@pytest.mark.parametrize("processes", [1, 2, pytest.param(4, marks=pytest.mark.soak)])
def test_the_same_weights_come_to_the_same_loss(program, python, processes):
    checkpoint, loss = python
    output = run(LAUNCHER, "--no-python", f"--nproc-per-node={processes}", program, "--epochs=3",
                 f"--init={checkpoint}", *FLAGS).stdout
    assert loss_of(output) == pytest.approx(loss, abs=1e-4)
    assert [f"rank {rank} of {processes}" in output for rank in range(processes)] == [True] * processes
    if processes > 1:
        assert int(re.search(r"gradients travel in (\d+) buckets", output)[1]) > 1


def test_a_pytorchjob_runs_it_as_it_runs_python(program, python, cluster):
    checkpoint, loss = python
    cluster.submit("cpp", f"{program} --epochs=3 --init={checkpoint} {' '.join(FLAGS)}", "--workers=3",
                   code=0)
    failed = cluster.wait("cpp", "SUCCEEDED", "FAILED", timeout=120)
    assert failed["status"] == "FAILED"  # 64 images of a step among three
    assert "--batch-size=64 cannot be shared out evenly among 3 processes" in cluster.run("get", "cpp").stdout
    cluster.submit("cpp2", f"{program} --epochs=3 --init={checkpoint} {' '.join(FLAGS)}", "--workers=2")
    cluster.wait("cpp2", "SUCCEEDED", timeout=120)
    assert loss_of(cluster.run("logs", "cpp2").stdout) == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("flags,env,code,words", [
    (["--epochs=two"], {}, 2, '--epochs: "two" is not a positive number'),
    (["--epochs"], {}, 2, "--epochs: flags are --NAME=VALUE"),
    (["--epoch=2"], {}, 2, "no flag --epoch; there are --epochs"),
    (["--lr=fast"], {}, 2, '--lr: "fast" is not a number'),
    (["--batch-size=8000"], {}, 2, "--batch-size=8000 is more than the 7185 images"),
    (["--data=/absent"], {}, 1, "/absent/train-images-idx3-ubyte: No such file or directory"),
    (["--init=/absent"], {}, 1, "/absent: cannot be opened"),
    ([], {"RANK": "2", "WORLD_SIZE": "2"}, 1, "RANK=2 is none of the ranks of WORLD_SIZE=2"),
    ([], {"RANK": "x", "WORLD_SIZE": "2"}, 1, 'RANK="x" is not a number'),
    ([], {"RANK": "0", "WORLD_SIZE": "2"}, 1, "MASTER_ADDR and MASTER_PORT name no place to meet")])
def test_one_clear_line(program, flags, env, code, words):
    said = run(program, *flags, code=code, **env).stderr
    assert said.startswith("error: ") and words in said and said.count("\n") == 1


@pytest.mark.parametrize("content,words", [
    (b"\0\0\x0d\x03", "is not an IDX file of bytes in 3 dimension(s)"),
    (b"\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2" + bytes(7), "holds 7 bytes, its head says 8"),
    (b"\0\0\x08\x03" + b"\xff" * 12, "its head names no such size")])
def test_a_corrupt_idx_file_is_named(program, tmp_path, content, words):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(content)
    said = run(program, f"--data={tmp_path}", code=1).stderr
    assert f"{path}: {words}" in said
