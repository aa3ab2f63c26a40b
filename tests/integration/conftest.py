"""Tests against a real etcd and kube-apiserver: `real_cluster`, and `muster` to run the binary."""
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from real_kubernetes import ROOT, Kubernetes
from running_operator import Api, Operator

sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
BINARY = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))


class Muster:
    """Runs muster in a home of its own, with `kubeconfig` as ~/.kube/config unless None."""

    def __init__(self, kubeconfig):
        self.folder = tempfile.mkdtemp(prefix="muster-int-", dir="/tmp")
        self.env = {"HOME": self.folder, "USER": "tester", "LANG": "C.UTF-8",
                    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        for name in ("run", "state", "config", ".kube"):
            os.makedirs(self.path(name), mode=0o700)
        for variable, name in (("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"),
                               ("XDG_CONFIG_HOME", "config")):
            self.env[variable] = self.path(name)
        if kubeconfig:
            shutil.copy(kubeconfig, self.path(".kube", "config"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def start(self, *args, env=None, **options):
        return subprocess.Popen([BINARY, *args], env={**self.env, **(env or {})}, cwd=self.folder,
                                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run(self, *args, code=0, env=None, timeout=120):
        done = subprocess.run([BINARY, *args], env={**self.env, **(env or {})}, cwd=self.folder,
                              text=True, capture_output=True, timeout=timeout,
                              stdin=subprocess.DEVNULL)
        if code is not None:
            assert done.returncode == code, (
                f"muster {' '.join(args)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def real_cluster():
    """The Kubernetes of the session: kubeconfig, kubectl(), get(), apply(), new_namespace() …"""
    made = Kubernetes()
    yield made
    made.close()


@pytest.fixture
def namespace(real_cluster):
    return real_cluster.new_namespace()


@pytest.fixture
def muster(real_cluster):
    """The binary, as the cluster's admin."""
    made = Muster(real_cluster.kubeconfig)
    yield made
    made.close()


@pytest.fixture
def muster_as():
    """muster_as(kubeconfig): the binary of somebody else."""
    made = []

    def make(kubeconfig):
        made.append(Muster(kubeconfig))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def operator(real_cluster):
    """muster's, for all namespaces. Modules that need others have their own."""
    made = Operator(real_cluster.kubeconfig)
    yield made
    assert made.stop() == 0, made.log()


@pytest.fixture(scope="module")
def api(real_cluster, operator):
    return Api(real_cluster)
