"""The official Python client and Kubeflow's TrainingClient run a job on the embedded cluster."""
import json
import os
import subprocess

import pytest

from embedded_cluster import EmbeddedCluster
from real_kubernetes import ROOT

CORE = """
import json, sys, threading
from kubernetes import client, config, watch
config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
custom = client.CustomObjectsApi()
core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="py")))
core.create_namespaced_config_map("py", client.V1ConfigMap(
    metadata=client.V1ObjectMeta(name="c", labels={"a": "b"}), data={"k": "1"}))
core.patch_namespaced_config_map("c", "py", {"data": {"l": "2"}})
seen = []
for event in watch.Watch().stream(core.list_namespaced_config_map, "py", timeout_seconds=1):
    seen.append((event["type"], event["object"].metadata.name))
listed = core.list_namespaced_config_map("py", label_selector="a=b")
deleted = core.delete_namespaced_config_map("c", "py")
try:
    core.read_namespaced_config_map("c", "py")
except client.ApiException as error:
    missing = json.loads(error.body)["message"]
applied = client.ApiClient().call_api(
    "/api/v1/namespaces/py/configmaps/s", "PATCH", query_params=[("fieldManager", "py")],
    header_params={"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"},
    body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": {"x": "y"}},
    auth_settings=["BearerToken"], response_type="object")
print(json.dumps({
    "seen": seen, "data": listed.items[0].data, "deleted": deleted.status, "missing": missing,
    "applied": applied[0]["metadata"]["managedFields"][0]["operation"],
    "nodes": len(core.list_node().items), "version": client.VersionApi().get_code().major,
    "groups": [g.name for g in client.ApisApi().get_api_versions().groups],
    "jobs": custom.list_namespaced_custom_object("kubeflow.org", "v1", "py", "pytorchjobs")["items"],
}))
"""

TRAINING = """
import json, sys
from kubernetes import client
from kubeflow.training import TrainingClient, KubeflowOrgV1PyTorchJob, KubeflowOrgV1PyTorchJobSpec
from kubeflow.training import KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy
training = TrainingClient(config_file=sys.argv[1])
def replica(count):
    return KubeflowOrgV1ReplicaSpec(replicas=count, restart_policy="Never", template={"spec": {
        "containers": [{"name": "pytorch", "image": "any", "command": ["python3", "-c",
            "import os; print('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])"]}]}})
job = KubeflowOrgV1PyTorchJob(
    api_version="kubeflow.org/v1", kind="PyTorchJob",
    metadata=client.V1ObjectMeta(name="sdk", namespace="default"),
    spec=KubeflowOrgV1PyTorchJobSpec(
        run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
        pytorch_replica_specs={"Master": replica(1), "Worker": replica(2)}))
training.create_job(job)
training.wait_for_job_conditions("sdk", wait_timeout=60, polling_interval=1)
logs, events = training.get_job_logs("sdk", is_master=False, verbose=True)
got = {
    "logs": logs, "events": sorted(events), "succeeded": training.is_job_succeeded("sdk"),
    "pods": sorted(training.get_job_pod_names("sdk")),
    "listed": [j.metadata.name for j in training.list_jobs()],
    "conditions": [c.type for c in training.get_job_conditions("sdk")],
}
training.update_job({"metadata": {"labels": {"by": "sdk"}}}, "sdk")
got["label"] = training.get_job("sdk").metadata.labels["by"]
training.delete_job("sdk")
got["left"] = [j.metadata.name for j in training.list_jobs()]
print(json.dumps(got))
"""

# The SDK turns the function into a script that the pod starts with torchrun.
TRAIN_FUNCTION = """
import json, sys
from kubeflow.training import TrainingClient
def train(parameters):
    import os
    print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], parameters["lr"], flush=True)
training = TrainingClient(config_file=sys.argv[1])
training.create_job(name="func", namespace="default", base_image="any", train_func=train,
                    parameters={"lr": "0.1"}, num_workers=2, num_procs_per_worker=2)
training.wait_for_job_conditions("func", wait_timeout=120, polling_interval=1)
logs, _ = training.get_job_logs("func", is_master=False)
print(json.dumps({"succeeded": training.is_job_succeeded("func"), "logs": logs}))
"""


@pytest.fixture(scope="module")
def cluster():
    made = EmbeddedCluster()
    yield made
    made.close()


@pytest.fixture(scope="module")
def python():
    made = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "kubernetes-sdk",
                           "kubeflow.training", "kubernetes==35.0.0", "kubeflow-training==1.9.4"],
                          check=True, text=True, stdout=subprocess.PIPE)
    return os.path.join(made.stdout.strip(), "bin", "python")


def run(python, cluster, program):
    done = subprocess.run([python, "-c", program, cluster.kubeconfig], text=True,
                          capture_output=True, timeout=180,
                          env={"HOME": cluster.muster.folder, "PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_python_client(python, cluster):
    got = run(python, cluster, CORE)
    assert got["seen"] == [["ADDED", "c"]] and got["data"] == {"k": "1", "l": "2"}
    assert got["deleted"] == "Success" and got["missing"] == 'configmaps "c" not found'
    assert got["applied"] == "Apply" and got["nodes"] == 1 and got["version"] == "1"
    assert "kubeflow.org" in got["groups"] and got["jobs"] == []


def test_training_client(python, cluster):
    got = run(python, cluster, TRAINING)
    assert got["succeeded"] and got["conditions"][-1] == "Succeeded"
    assert got["pods"] == ["sdk-master-0", "sdk-worker-0", "sdk-worker-1"]
    assert got["logs"] == {f"sdk-{name}": f"rank {rank} of 3\n" for name, rank in
                           (("master-0", 0), ("worker-0", 1), ("worker-1", 2))}
    assert got["listed"] == ["sdk"] and got["label"] == "sdk" and got["left"] == []
    assert got["events"], "get_job_logs(verbose=True) found no events"


def test_train_function_runs_under_torchrun(python, cluster):
    path = cluster.muster.path("train_function.py")  # its source is read
    with open(path, "w") as file:
        file.write(TRAIN_FUNCTION)
    done = subprocess.run([python, path, cluster.kubeconfig], text=True, capture_output=True,
                          timeout=180, env={"HOME": cluster.muster.folder,
                                            "PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stdout + done.stderr
    got = json.loads(done.stdout.splitlines()[-1])
    assert got["succeeded"], got
    lines = [line for log in got["logs"].values() for line in log.splitlines()
             if line.startswith("rank")]
    assert sorted(lines) == [f"rank {rank} of 4 0.1" for rank in range(4)], got
