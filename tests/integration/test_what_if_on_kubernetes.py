"""`what-if` and `submit --dry-run=schedule` on Kubernetes: whether a job would fit now, and who holds the rest."""
import json

import pytest

from running_operator import Api


@pytest.fixture
def node(real_cluster):
    """A node with eight GPUs, three of which a pod of the job `bert` holds."""
    api = Api(real_cluster)
    name = "gpu-node-of-what-if"
    real_cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    api.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": {
        "allocatable": {"nvidia.com/gpu": "8"}, "capacity": {"nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}]}}, "application/merge-patch+json")
    yield name
    real_cluster.kubectl("delete", "node", name)


def test_a_job_fits_or_it_is_said_who_holds_what(real_cluster, muster, muster_as, node, namespace):
    limits = {"limits": {"nvidia.com/gpu": "3"}}
    real_cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "bert-master-0", "namespace": namespace, "labels": {"training.kubeflow.org/job-name": "bert"}},
        "spec": {"nodeName": node, "containers": [{"name": "pytorch", "image": "x", "resources": limits}]}})
    assert f"  {node}: 5 of 8 GPUs free; held by {namespace}/bert (3)\n" in muster.run("what-if", "--gpus=5", "-n", namespace).stdout
    assert muster.run("what-if", "--gpus=5", "-n", namespace).stdout.startswith("Its GPUs are free now: ")
    said = muster.run("submit", "pytorch", "--name=x", "--image=x", "-n", namespace, "--gpus=6", "--dry-run=schedule", "true").stdout
    assert said.startswith("It does not fit now: it needs a node with 6 GPUs free.\n") and "When it starts is not known" in said
    assert json.loads(muster.run("what-if", "--gpus=9", "-n", namespace, "-o", "json").stdout)["kind"] == "never"
    assert "asks for none" in muster.run("what-if", "--gpus=0", code=1).stderr
    # Somebody who may list nodes, and the pods of this namespace alone.
    real_cluster.kubectl("create", "quota", "fair", "-n", namespace, "--hard=requests.nvidia.com/gpu=2")
    real_cluster.allow(namespace, "what-ifs", [{"apiGroups": [""], "resources": ["pods", "resourcequotas"], "verbs": ["list"]}])
    viewer = muster_as(real_cluster.user_kubeconfig("wanda", ["what-ifs"]))
    refused = viewer.run("what-if", "--gpus=1", "-n", namespace, code=1).stderr
    assert "what is free on Kubernetes is read from its nodes" in refused and len(refused.splitlines()) == 1, refused
