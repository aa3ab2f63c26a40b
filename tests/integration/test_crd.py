"""deploy/crd.yaml in a real kube-apiserver: what it takes, keeps, drops and refuses."""
import copy
import json
import os
import time

import pytest
import yaml

from real_kubernetes import ROOT

CRD = os.path.join(ROOT, "deploy", "crd.yaml")
# Of the annotation in which a client-side apply keeps the whole object.
ANNOTATION_LIMIT = 262144


def replica(count=1, **more):
    return {"replicas": count, "restartPolicy": "OnFailure",
            "template": {"spec": {"containers": [{"name": "pytorch", "image": "x"}]}}, **more}


def job(name, namespace, **spec):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"pytorchReplicaSpecs": {"Master": replica(), "Worker": replica(2)}, **spec}}


def create(cluster, item, code=0):
    return cluster.kubectl("create", "-f", "-", stdin=json.dumps(item), code=code)


def test_a_client_side_apply_takes_it(real_cluster):
    with open(CRD) as file:
        assert len(json.dumps(yaml.safe_load(file))) < ANNOTATION_LIMIT / 8
    real_cluster.kubectl("apply", "-f", CRD)
    real_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", CRD)
    crd = real_cluster.get("crd", "pytorchjobs.kubeflow.org")
    assert crd["spec"]["names"]["plural"] == "pytorchjobs"
    assert "shortNames" not in crd["spec"]["names"] and "categories" not in crd["spec"]["names"]
    conditions = {c["type"]: c for c in crd["status"]["conditions"]}
    assert conditions["Established"]["status"] == "True"
    assert conditions.get("NonStructuralSchema", {"status": "False"})["status"] == "False"


def test_every_field_of_muster_s_is_explained(real_cluster):
    # A definition's OpenAPI is published some time after it is taken.
    deadline = time.monotonic() + 120
    explained = ""
    while "None (the default)" not in explained and time.monotonic() < deadline:
        explained = real_cluster.kubectl("explain", "pytorchjob.spec.runPolicy", code=None).stdout
        time.sleep(0.2)
    for field in ("cleanPodPolicy", "backoffLimit", "suspend", "managedBy"):
        assert field in explained
    assert "None (the default), Running or All" in explained


def test_columns_show_the_condition_that_changed_last(real_cluster, namespace):
    create(real_cluster, job("shown", namespace))
    stamp = "2026-01-01T00:00:00Z"
    real_cluster.patch_status("pytorchjob", "shown", namespace, {"conditions": [
        {"type": kind, "status": "True", "lastUpdateTime": stamp, "lastTransitionTime": stamp}
        for kind in ("Created", "Running")]})
    table = real_cluster.kubectl("get", "pytorchjobs", "-n", namespace).stdout.splitlines()
    assert table[0].split() == ["NAME", "STATE", "AGE"]
    assert table[1].split()[:2] == ["shown", "Running"]


def test_scale_is_that_of_the_workers(real_cluster, namespace):
    create(real_cluster, job("scaled", namespace))
    real_cluster.kubectl("scale", "pytorchjob/scaled", "-n", namespace, "--replicas=5")
    specs = real_cluster.get("pytorchjob", "scaled", "-n", namespace)["spec"]["pytorchReplicaSpecs"]
    assert (specs["Master"]["replicas"], specs["Worker"]["replicas"]) == (1, 5)
    real_cluster.patch_status("pytorchjob", "scaled", namespace, {"replicaStatuses": {"Worker": {
        "active": 3, "selector": "training.kubeflow.org/job-name=scaled"}}})
    scale = json.loads(real_cluster.kubectl(
        "get", "--raw",
        f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs/scaled/scale").stdout)
    assert scale["status"] == {"replicas": 3, "selector": "training.kubeflow.org/job-name=scaled"}


# Every field of the specification's 1.2, and a pod template with fields that muster has never heard of.
WHOLE = {
    "nprocPerNode": "gpu",
    "elasticPolicy": {
        "minReplicas": 1, "maxReplicas": 3, "rdzvBackend": "c10d", "rdzvPort": 29400,
        "rdzvHost": "h", "rdzvId": "i", "rdzvConf": [{"key": "a", "value": "b"}],
        "standalone": False, "nProcPerNode": 2, "maxRestarts": 3,
        "metrics": [{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]},
    "runPolicy": {
        "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 60, "activeDeadlineSeconds": 3600,
        "backoffLimit": 3, "suspend": True, "managedBy": "kubeflow.org/training-operator",
        "schedulingPolicy": {"minAvailable": 2, "queue": "q", "minResources": {"cpu": "2", "m": 1},
                             "priorityClass": "high", "scheduleTimeoutSeconds": 10}},
    "pytorchReplicaSpecs": {"Worker": {
        "replicas": 2, "restartPolicy": "ExitCode",
        "template": {
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
            "spec": {
                "fieldOfTomorrow": {"list": [1, {"x": None, "y": "z"}]},
                "overhead": {"cpu": "1"}, "priorityClassName": "high", "hostNetwork": True,
                "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [
                        {"key": "k", "operator": "In", "values": ["v"]}]}]}}},
                "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
                "volumes": [{"name": "v", "csi": {"driver": "d"}},
                            {"name": "e", "emptyDir": {"medium": "Memory"}}],
                "containers": [{
                    "name": "pytorch", "image": "x", "command": ["sh", "-c"], "args": ["true"],
                    "env": [{"name": "A", "value": "b"},
                            {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                    "ports": [{"name": "pytorchjob-port", "containerPort": 1, "protocol": "TCP"}],
                    "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "500m"},
                                  "claims": [{"name": "c"}]},
                    "startupProbe": {"exec": {"command": ["true"]}},
                    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v", "recursiveReadOnly": "x"}]}],
            }}}},
}


def test_objects_come_back_as_they_were_written(real_cluster, namespace):
    item = {**job("whole", namespace), "spec": copy.deepcopy(WHOLE)}
    create(real_cluster, item)
    kept = real_cluster.get("pytorchjob", "whole", "-n", namespace)["spec"]
    # Null stands for absence, in what is kept as it is too.
    assert kept == json.loads(json.dumps(WHOLE)), json.dumps(kept)


def test_the_defaults_that_the_schema_fills_in(real_cluster, namespace):
    item = job("defaults", namespace, runPolicy={})
    item["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["ports"] = [
        {"containerPort": 1}]
    create(real_cluster, item)
    spec = real_cluster.get("pytorchjob", "defaults", "-n", namespace)["spec"]
    assert spec["runPolicy"] == {"suspend": False}
    port = spec["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["ports"][0]
    assert port["protocol"] == "TCP"
    # The operator's are its own: nothing else is written into the job.
    bare = job("bare", namespace)
    create(real_cluster, bare)
    assert real_cluster.get("pytorchjob", "bare", "-n", namespace)["spec"] == bare["spec"]


def test_unknown_fields_beside_the_template_are_dropped(real_cluster, namespace):
    item = job("pruned", namespace, unknown=1, runPolicy={"suspend": False, "nonsense": "x"})
    real_cluster.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(item))
    spec = real_cluster.get("pytorchjob", "pruned", "-n", namespace)["spec"]
    assert set(spec) == {"pytorchReplicaSpecs", "runPolicy"}
    assert spec["runPolicy"] == {"suspend": False}


@pytest.mark.parametrize("spec, message", [
    ({}, "spec.pytorchReplicaSpecs: Required value"),
    ({"pytorchReplicaSpecs": {"Worker": {"replicas": "two"}}},
     "spec.pytorchReplicaSpecs.Worker.replicas: Invalid value: \"string\""),
    ({"pytorchReplicaSpecs": {}, "runPolicy": {"backoffLimit": "many"}},
     "spec.runPolicy.backoffLimit: Invalid value: \"string\""),
])
def test_types_are_checked(real_cluster, namespace, spec, message):
    item = {**job("wrong", namespace), "spec": spec}
    done = real_cluster.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(item),
                                code=1)
    assert 'The PyTorchJob "wrong" is invalid' in done.stderr, done.stderr
    assert message in done.stderr, done.stderr


def test_the_queue_is_immutable_once_it_is_set(real_cluster, namespace):
    create(real_cluster, job("queued", namespace))

    def set_queue(queue, code=0):
        return real_cluster.kubectl(
            "patch", "pytorchjob", "queued", "-n", namespace, "--type=merge", "-p",
            json.dumps({"spec": {"runPolicy": {"schedulingPolicy": {"queue": queue}}}}), code=code)
    set_queue("initial-queue")
    done = set_queue("test", code=1)
    assert ('The PyTorchJob "queued" is invalid: spec.runPolicy.schedulingPolicy.queue: Invalid '
            'value: "string": spec.runPolicy.schedulingPolicy.queue is immutable') in done.stderr
    kept = real_cluster.get("pytorchjob", "queued", "-n", namespace)
    assert kept["spec"]["runPolicy"]["schedulingPolicy"]["queue"] == "initial-queue"
