"""docs/quickstart.md on a real API server with muster's operator, word for word from its first folder to a job that fails (to its compared
runs in `make soak`); of what follows, which is about this machine, what has a meaning there. The pods run on a node of the test's own."""
import os
import stat

import pytest

import manual_pages
from places import BINARY, LAUNCHER, ROOT
from running_node import RunningNode

PAGE = os.path.join(ROOT, "docs", "quickstart.md")
SWEEP = "## Five learning rates, and the best of them"
LAST = "## Submit it, and follow it"  # from here on a job needs a folder that its pods see


def steps(last):
    """The blocks above that heading."""
    with open(PAGE) as file:
        end = file.read().splitlines().index(last) + 1
    return [block for block in manual_pages.blocks_of(PAGE) if block.line < end and not block.needs]


@pytest.fixture
def programs(tmp_path):
    """What the image holds: Python with PyTorch, and a torchrun. That of Debian's PyTorch 1.13 does not run with its Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (("python", 'exec /usr/bin/python3 "$@"'), ("torchrun", f'exec {LAUNCHER} "$@"')):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(folder)


@pytest.fixture
def reader(real_cluster, namespace, operator, muster_as, programs, tmp_path):
    muster = muster_as(real_cluster.write_kubeconfig(
        f"reader-of-{namespace}", {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key}, namespace))
    # The one thing that its reader needs here besides a kubeconfig, as the page says.
    os.makedirs(muster.path("first"))
    with open(muster.path("first", "muster.yaml"), "w") as file:
        file.write("image: registry.local/train:1\n")
    (tmp_path / "bin").mkdir()
    os.symlink(BINARY, tmp_path / "bin" / "muster")
    node = RunningNode(real_cluster, namespace, f"node-of-{namespace}", programs)
    yield manual_pages.Reader({**muster.env, "PATH": f"{tmp_path}/bin:{muster.env['PATH']}"}, muster.folder, str(tmp_path))
    node.close()


def test_a_job_of_the_quickstart_runs_and_one_fails_on_a_cluster(real_cluster, namespace, reader):
    for block in steps(SWEEP):
        reader.read(block)
    jobs = real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    assert sorted(job["metadata"]["name"] for job in jobs) == ["broken", "try"]


@pytest.mark.soak
def test_the_quickstart_is_read_on_a_cluster(real_cluster, namespace, reader):
    assert len(steps(LAST)) > 6
    for block in steps(LAST):
        reader.read(block)
    jobs = real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    assert sorted(job["metadata"]["name"] for job in jobs) == ["broken", "rates", "try", "try-2"]
    submitted = reader.bash("muster submit pytorch --name=first --workers=2 --image=registry.local/train:1 --sync-mode=local "
                             "--follow 'python /root/code/first/train.py --lr 0.1'")
    assert submitted.returncode == 0 and "The Job first has succeeded" in submitted.stdout, submitted.stdout
    assert "of 2: step 4 loss" in submitted.stdout
    long = reader.bash("muster run -d --name=long sleep 600 && muster suspend long && muster resume long && "
                        "muster delete long first broken rates")
    assert long.returncode == 0, long.stdout
    jobs = real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    assert sorted(job["metadata"]["name"] for job in jobs) == ["try", "try-2"]
