"""docs/kueue.md: what the operator and `muster get` do for jobs that Kueue holds. The test plays
Kueue: it makes the Workload and sets `suspend`, as Kueue's documentation has it."""
import json

import pytest

from dying_kubelet import DyingKubelet
from running_operator import Api, Operator, job, wait_until
from test_operator import ALL, Started

QUEUE = {"kueue.x-k8s.io/queue-name": "team-a"}
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/{}/workloads"
WHY = "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "workloads.kueue.x-k8s.io",
                 "annotations": {"api-approved.kubernetes.io": "unapproved, a test's"}},
    "spec": {"group": "kueue.x-k8s.io", "scope": "Namespaced",
             "names": {"kind": "Workload", "listKind": "WorkloadList", "plural": "workloads",
                       "singular": "workload"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True,
                           "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {
                               "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture(scope="module")
def api(real_cluster):
    real_cluster.apply(DEFINITION)
    real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                         "crd/workloads.kueue.x-k8s.io")
    made = Api(real_cluster)
    made.FOLDERS = {**made.FOLDERS, "workloads": WORKLOADS}
    yield made
    real_cluster.kubectl("delete", "crd", "workloads.kueue.x-k8s.io", "--wait=false")


@pytest.fixture(autouse=True)
def operator(real_cluster, namespace):
    made = Operator(real_cluster.kubeconfig, f"--namespace={namespace}")
    yield made
    made.kill()


def queued(**policy):
    body = job(policy={"suspend": True, **policy})
    body["metadata"]["labels"] = QUEUE
    return body


def workload_of(api, namespace):
    uid = api.get("pytorchjobs", namespace, "j")["metadata"]["uid"]
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {
        "name": "pytorchjob-j-1a2b3", "labels": {"kueue.x-k8s.io/job-uid": uid}, "ownerReferences": [
            {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "j", "uid": uid,
             "controller": True}]}, "spec": {"queueName": "team-a"}}


def reason(muster, namespace):
    lines = muster.run("get", "j", "-n", namespace).stdout.splitlines()
    return next((line.removeprefix("REASON: ") for line in lines if line.startswith("REASON")), "")


def test_a_job_that_is_held_says_which_queue_and_why(real_cluster, muster, muster_as, api, namespace):
    j = Started(api, namespace, queued(), [])
    j.await_condition("Suspended")
    held = "waits for Kueue to admit it, in queue team-a"
    assert reason(muster, namespace) == held
    api.create("workloads", namespace, workload_of(api, namespace))
    assert reason(muster, namespace) == held
    api.patch("workloads", namespace, "pytorchjob-j-1a2b3", {"status": {"conditions": [
        {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": WHY}]}}, "/status")
    assert reason(muster, namespace) == f"{held}: {WHY}"
    assert f"SUSPENDED: {held}: {WHY}\n" in muster.run("explain", "j", "-n", namespace).stdout
    # Somebody who may not see Workloads.
    real_cluster.allow(namespace, "viewers", [
        {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["pods", "services", "events", "nodes"],
         "verbs": ["get", "list"]}])
    viewer = muster_as(real_cluster.user_kubeconfig("vera", ["viewers"]))
    assert reason(viewer, namespace) == held


def test_preempted_and_admitted_again_to_another_flavor(real_cluster, api, namespace):
    with DyingKubelet(real_cluster, namespace) as kubelet:
        kubelet.exit_on_term = 0
        j = Started(api, namespace, queued(), [])
        j.await_condition("Suspended")
        for flavor in ("spot", "on-demand"):
            before = {p["metadata"]["uid"] for p in api.items("pods", namespace).values()}
            j.patch({"runPolicy": {"suspend": False}, "pytorchReplicaSpecs": {
                kind: {"template": {"spec": {"nodeSelector": {"flavor": flavor}}}}
                for kind in ("Master", "Worker")}})
            wait_until(f"all run, not {j.conditions()}", lambda: [
                pod["status"]["phase"] for pod in api.items("pods", namespace).values()
                if pod["metadata"]["uid"] not in before] == ["Running"] * 3)
            j.await_condition("Running")
            assert {pod["spec"]["nodeSelector"]["flavor"]
                    for pod in api.items("pods", namespace).values()} == {flavor}
            if flavor == "spot":
                j.patch({"runPolicy": {"suspend": True}})
                # Kueue gives the quota away once nothing is active.
                wait_until("nothing is active", lambda: not any(
                    "active" in counts for counts in j.status()["replicaStatuses"].values()))
                found = api.items("pods", namespace)
                assert all("deletionTimestamp" in pod["metadata"]
                           for pod in found.values()), json.dumps([found, j.status()], indent=1)
        kubelet.exit("j-master-0", 0)
        j.await_condition("Succeeded")
        assert api.names("pods", namespace) == ALL


def test_a_job_of_multikueue_is_not_touched(muster, api, namespace):
    body = queued(managedBy="kueue.x-k8s.io/multikueue", cleanPodPolicy="All", ttlSecondsAfterFinished=0)
    api.create("pytorchjobs", namespace, body)
    api.patch("pytorchjobs", namespace, "j", {"spec": {"runPolicy": {"suspend": False}}})
    other = job("other", workers=None)
    api.create("pytorchjobs", namespace, other)  # comes after it
    wait_until("the other", lambda: api.names("pods", namespace) == ["other-master-0"])
    assert "status" not in api.get("pytorchjobs", namespace, "j")
    assert reason(muster, namespace) == "managed by kueue.x-k8s.io/multikueue"
    # What MultiKueue copies here stands, and is not acted upon.
    status = {"conditions": [{"type": "Succeeded", "status": "True", "reason": "PyTorchJobSucceeded",
                              "message": "m"}], "completionTime": "2026-01-01T00:00:00Z"}
    api.patch("pytorchjobs", namespace, "j", {"status": status}, "/status")
    api.patch("pytorchjobs", namespace, "other", {"spec": {"runPolicy": {"suspend": True}}})
    wait_until("the other is gone", lambda: api.names("pods", namespace) == [])
    assert api.get("pytorchjobs", namespace, "j")["status"] == status
