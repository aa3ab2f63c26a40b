"""Kubeflow's Python SDK drives a cluster on which `muster operator` runs
(compat/pytorchjob.md 4.8). The test plays the kubelet."""
import json
import os
import subprocess
import threading

import pytest

from real_kubernetes import ROOT
from running_operator import Api, Operator, wait_until
from waiting import PATIENCE

PROGRAM = """
import json, sys
from kubernetes import client
from kubeflow.training import TrainingClient, KubeflowOrgV1PyTorchJob, KubeflowOrgV1PyTorchJobSpec
from kubeflow.training import KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy
namespace = sys.argv[2]
training = TrainingClient(config_file=sys.argv[1], namespace=namespace)
def replica(count):
    return KubeflowOrgV1ReplicaSpec(replicas=count, restart_policy="OnFailure", template={"spec": {
        "containers": [{"name": "pytorch", "image": "registry.local/train:1"}]}})
training.create_job(KubeflowOrgV1PyTorchJob(
    api_version="kubeflow.org/v1", kind="PyTorchJob", metadata=client.V1ObjectMeta(name="sdk"),
    spec=KubeflowOrgV1PyTorchJobSpec(
        run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
        pytorch_replica_specs={"Master": replica(1), "Worker": replica(2)})))
training.wait_for_job_conditions("sdk", expected_conditions={"Running"}, wait_timeout=120,
                                 polling_interval=1)
got = {"running": training.is_job_running("sdk"), "created": training.is_job_created("sdk")}
got["master"] = [p.metadata.name for p in training.get_job_pods(
    "sdk", is_master=True, replica_type="master", replica_index=0)]
got["workers"] = sorted(training.get_job_pod_names("sdk", replica_type="worker"))
print("running", flush=True)
training.wait_for_job_conditions("sdk", wait_timeout=120, polling_interval=1)
got["succeeded"] = training.is_job_succeeded("sdk")
got["conditions"] = [c.type for c in training.get_job_conditions("sdk")]
training.create_job(name="made", base_image="hello-world", num_workers=2)
got["jobs"] = sorted(j.metadata.name for j in training.list_jobs())
training.delete_job("sdk")
print(json.dumps(got))
"""


@pytest.fixture(scope="module")
def python():
    made = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "kubernetes-sdk",
                           "kubeflow.training", "kubernetes==35.0.0", "kubeflow-training==1.9.4"],
                          check=True, text=True, stdout=subprocess.PIPE)
    return os.path.join(made.stdout.strip(), "bin", "python")


def test_the_sdk_sees_its_job_through(python, real_cluster, namespace):
    operator, api = Operator(real_cluster.kubeconfig, f"--namespace={namespace}"), Api(real_cluster)
    sdk = subprocess.Popen([python, "-c", PROGRAM, real_cluster.kubeconfig, namespace], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env={"HOME": real_cluster.folder, "PATH": os.environ["PATH"]})
    errors = []
    reader = threading.Thread(target=lambda: errors.append(sdk.stderr.read()), daemon=True)
    reader.start()
    try:
        pods = ["sdk-master-0", "sdk-worker-0", "sdk-worker-1"]
        wait_until("pods", lambda: api.names("pods", namespace) == pods or sdk.poll() is not None)
        for pod in pods:
            api.set_pod(namespace, pod, "Running")
        for line in sdk.stdout:
            if line.strip() == "running":
                api.set_pod(namespace, "sdk-master-0", "Succeeded", 0)
            last = line
        assert sdk.wait(timeout=PATIENCE) == 0, "".join(errors)
    finally:
        sdk.kill()
        operator.kill()
    got = json.loads(last)
    assert got["created"] and got["running"] and got["succeeded"]
    assert got["master"] == ["sdk-master-0"] and got["workers"] == pods[1:]
    assert got["conditions"] == ["Created", "Running", "Succeeded"]
    assert got["jobs"] == ["made", "sdk"]
