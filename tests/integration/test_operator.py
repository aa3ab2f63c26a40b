"""`muster operator` against a real kube-apiserver and etcd; the test plays the kubelet."""
import signal

import pytest

from running_operator import Operator, wait_until


def job(name, workers=2, **spec):
    def replica(count):
        return {"replicas": count, "restartPolicy": "OnFailure", "template": {"spec": {
            "containers": [{"name": "pytorch", "image": "registry.local/train:1"}]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"pytorchReplicaSpecs": {"Master": replica(1), "Worker": replica(workers)},
                     **spec}}


@pytest.fixture
def operator(real_cluster, namespace):
    made = Operator(real_cluster.kubeconfig, f"--namespace={namespace}")
    yield made
    made.kill()


def names(real_cluster, kind, namespace):
    return sorted(item["metadata"]["name"] for item in real_cluster.get(kind, "-n", namespace)["items"])


def conditions(real_cluster, namespace, name):
    status = real_cluster.get("pytorchjob", name, "-n", namespace).get("status", {})
    return [(c["type"], c["status"]) for c in status.get("conditions", [])]


def submit(real_cluster, namespace, body):
    body["metadata"]["namespace"] = namespace
    real_cluster.apply(body)


def test_runs_a_job_and_ends_cleanly(real_cluster, namespace, operator):
    submit(real_cluster, namespace, job("first"))
    wanted = ["first-master-0", "first-worker-0", "first-worker-1"]
    wait_until("three pods", lambda: names(real_cluster, "pods", namespace) == wanted)
    wait_until("three services", lambda: names(real_cluster, "services", namespace) == wanted)
    real_cluster.patch_status("pod", "first-master-0", namespace, {"phase": "Running"})
    wait_until("Running", lambda: ("Running", "True") in conditions(real_cluster, namespace, "first"))
    real_cluster.patch_status("pod", "first-master-0", namespace, {"phase": "Succeeded"})
    wait_until("Succeeded", lambda: conditions(real_cluster, namespace, "first") == [
        ("Created", "True"), ("Running", "False"), ("Succeeded", "True")])
    assert operator.stop() == 0, operator.log()


def test_ends_cleanly_on_interrupt(real_cluster, namespace, operator):
    assert operator.stop(signal.SIGINT) == 0, operator.log()
