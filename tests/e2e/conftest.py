"""What end-to-end tests ask for: a muster of their own, as this user or as nobody, and a git repository."""
import os
import shutil
import subprocess
import tempfile

import pytest

import browser
from embedded_muster import NOBODY, Cluster
from places import ROOT
from warm_interpreters import Warm


@pytest.fixture
def cluster():
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def nobody_cluster():
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    made = Cluster(NOBODY)
    yield made
    made.close()


@pytest.fixture(scope="session")
def warm():
    """The environment in which `launch --warm` forks ranks from the session's interpreters: each imports torch once."""
    made = Warm()
    yield {**made.env, "XDG_STATE_HOME": made.folder}
    made.close()


@pytest.fixture(scope="session")
def chromium():
    """The Browser of the session. A test takes a `window()` of it."""
    if None in browser.programs():
        pytest.skip("needs chromium and its driver: scripts/install-packages browser")
    made = browser.Browser()
    yield made
    made.close()


@pytest.fixture(scope="session")
def repository():
    """The example, as a bare git repository that everybody may read."""
    folder = tempfile.mkdtemp(prefix="muster-git-", dir="/tmp")
    source = os.path.join(folder, "source")
    shutil.copytree(os.path.join(ROOT, "examples", "mnist-pytorch"), source,
                    ignore=shutil.ignore_patterns("__pycache__", "logs"))
    bare = os.path.join(folder, "mnist-pytorch.git")

    def git(*args):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *args],
                       check=True, capture_output=True)
    git("init", "-q", "-b", "main", source)
    git("-C", source, "add", "-A")
    git("-C", source, "commit", "-q", "-m", "example")
    git("clone", "-q", "--bare", source, bare)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield bare
    shutil.rmtree(folder)
