"""Tests against a real etcd and kube-apiserver: `real_cluster`, and `muster` to run the binary."""
import pytest

from muster_user import Muster
from real_kubernetes import Kubernetes
from running_operator import Api, Operator


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
