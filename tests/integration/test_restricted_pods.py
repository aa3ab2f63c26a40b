"""Jobs in a namespace that lets only restricted pods in: what the operator adds to them is let in too."""
import json

import pytest

from running_operator import Api, Operator, replica, wait_until

LEAST = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
         "seccompProfile": {"type": "RuntimeDefault"}}
IMAGE = "registry.local/muster:7"


@pytest.fixture(scope="module")
def api(real_cluster):
    """An operator that runs as a pod does, of an image of its own."""
    place = real_cluster.new_namespace("operators")
    real_cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": place},
                        "spec": {"containers": [{"name": "operator", "image": IMAGE}]}})
    operator = Operator(real_cluster.kubeconfig, "--webhook-server-port=0",
                        env={"MY_POD_NAMESPACE": place, "MY_POD_NAME": "one"})
    yield Api(real_cluster)
    assert operator.stop() == 0, operator.log()


@pytest.fixture
def restricted(real_cluster):
    name = real_cluster.new_namespace("restricted")
    real_cluster.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    return name


@pytest.mark.parametrize("step, image", [("dns", IMAGE), ("port", "registry.local/train:1")])
@pytest.mark.parametrize("place", ["pod", "container"])
def test_workers_with_an_init_step_are_let_in(api, restricted, step, image, place):
    own = {**LEAST, **({"runAsNonRoot": True, "runAsUser": 1000} if place == "container" else {})}
    pod = {"securityContext": {"runAsNonRoot": True}} if place == "pod" else {}
    api.create("pytorchjobs", restricted, {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": "j", "annotations": {"muster.dev/init-step": step}},
        "spec": {"pytorchReplicaSpecs": {
            kind: replica(1, pod=pod, container={"securityContext": own}) for kind in ("Master", "Worker")}}})
    wait_until("both pods", lambda: set(api.names("pods", restricted)) == {"j-master-0", "j-worker-0"})
    init = api.get("pods", restricted, "j-worker-0")["spec"]["initContainers"][0]
    assert init["securityContext"] == own, json.dumps(init)
    assert init["image"] == image
