"""Further requests, both servers; prints every difference."""
import json, sys, os
import pytest
import test_same_api as s
from test_same_api import *  # noqa
from test_same_api import embedded, real  # fixtures

YAML = {"Content-Type": "application/yaml"}
PLAINJSON = {"Content-Type": "application/json"}
M = lambda **kw: {"metadata": kw}

def wjob(name, **more):
    j = job(name, **more)
    j["spec"]["pytorchReplicaSpecs"]["Worker"] = json.loads(json.dumps(WORKER))
    return j

def spec(j, path, value):
    at = j
    for p in path[:-1]:
        at = at[p] if not isinstance(at, list) else at[p]
    at[path[-1]] = value
    return j

def bad(path, value, name="bad"):
    return ("POST", JOBS + "?dryRun=All", spec(wjob(name), ["spec", *path], value), {})

MASTER = ["pytorchReplicaSpecs", "Master"]
C0 = MASTER + ["template", "spec", "containers", 0]

UJ = lambda n, **m: wjob(n, metadata=m)
BIG = "x" * 262145
MORE = {
 "create2": [
  ("POST", JOBS + "?dryRun=All", UJ("a1", labels={"a": None}), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a2", annotations={"a": BIG}), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a3", annotations={"a": 5}), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a4", finalizers=["x/y", "x/y"]), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a5", finalizers=["foregroundDeletion", "orphan"]), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a6", ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}]), {}),
  ("POST", JOBS + "?dryRun=All", {**wjob("a7"), "spec": None}, {}),
  ("POST", JOBS + "?dryRun=All", UJ("a8", generateName="gen-"), {}),
  ("POST", JOBS + "?dryRun=All", UJ("a9", creationTimestamp="2020-01-01T00:00:00Z", generation=7, selfLink="/x"), {}),
  ("POST", JOBS + "?dryRun=All", UJ("b1", creationTimestamp=None), {}),
  ("POST", JOBS + "?dryRun=All", UJ("b2", deletionTimestamp="2020-01-01T00:00:00Z"), {}),
  ("POST", JOBS + "?dryRun=All", {**wjob("b3"), "status": {"startTime": "x"}}, {}),
  ("POST", JOBS + "?dryRun=All", {**wjob("b4"), "status": {"conditions": [{"type": "Created"}]}}, {}),
  ("POST", JOBS + "?dryRun=All", UJ("b5", labels={"UPPER_case.x/y-z": "Z_9.a"}), {}),
  ("POST", JOBS + "?dryRun=All", UJ("b6", labels={"x" * 64: "1"}), {}),
  ("POST", JOBS + "?dryRun=All", UJ("b7", managedFields=[{"manager": "m", "operation": "Update", "apiVersion": "kubeflow.org/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]), {}),
  ("POST", JOBS + "?dryRun=All&fieldManager=fm", UJ("b8"), {}),
  ("POST", JOBS + "?dryRun=All&fieldValidation=Strict", UJ("b9", wrong="x"), {}),
  ("POST", JOBS + "?dryRun=All", json.dumps(wjob("c1")).replace('"replicas": 2', '"replicas": 2.0'), {}),
  ("POST", JOBS + "?dryRun=All", json.dumps(wjob("c2")).replace('"replicas": 2', '"replicas": 2e0'), {}),
  ("POST", JOBS + "?dryRun=All", json.dumps(wjob("c3")).replace('"replicas": 2', '"replicas": 2.5'), {}),
  ("POST", JOBS + "?dryRun=All", "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: c4}\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: i}]}}}}}\n", {"Content-Type": "application/yaml"}),
  ("POST", JOBS + "?dryRun=All", wjob("c5"), {"Content-Type": "text/xml"}),
  ("POST", JOBS + "?dryRun=All&pretty=true", wjob("c6"), {"Content-Type": "application/json; charset=utf-8"}),
 ],
 "reads2": [
  ("POST", JOBS, UJ("p1", labels={"a": "1"}), {}),
  ("GET", JOBS + "/p1", None, {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}),
  ("GET", JOBS, None, {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}),
  ("GET", JOBS + "/p1?includeObject=Object", None, TABLE), ("GET", JOBS + "?includeObject=None", None, TABLE), ("GET", JOBS + "?includeObject=Foo", None, TABLE),
  ("GET", JOBS + "/p1/status", None, TABLE), ("GET", JOBS + "/p1/scale", None, TABLE),
  ("GET", JOBS + "/p1", None, {"Accept": "text/html"}), ("GET", JOBS + "/p1", None, {"Accept": "application/xml"}), ("GET", JOBS + "/p1", None, {"Accept": "*/*"}), ("GET", JOBS + "/p1", None, {"Accept": "application/vnd.kubernetes.protobuf,application/json"}),
  ("GET", JOBS + "?limit=0", None, {}), ("GET", JOBS + "?limit=1&continue=xx", None, {}), ("GET", JOBS + "?labelSelector=a%3D1&fieldSelector=metadata.name%3Dp1", None, {}),
  ("GET", JOBS + "?watch=true&timeoutSeconds=1&resourceVersion=999999999", None, {}), ("GET", JOBS + "?fieldSelector=metadata.name%3Dp1&watch=true&timeoutSeconds=1&allowWatchBookmarks=true", None, {}),
  ("GET", "/apis/kubeflow.org/v1/watch/namespaces/{ns}/pytorchjobs?timeoutSeconds=1", None, {}),
  ("GET", "/api/v1/namespaces/{ns}/pods/nope/log", None, {}), ("GET", "/api/v1/namespaces/{ns}/pods/nope/status", None, {}), ("POST", "/api/v1/namespaces/{ns}/pods/nope/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "nope", "namespace": "{ns}"}}, {}),
  ("GET", "/api/v1/namespaces/{ns}", None, {}), ("GET", "/api/v1/namespaces/{ns}/services/nope", None, {}), ("DELETE", "/api/v1/namespaces/{ns}/services?labelSelector=a%3Db", None, {}), ("DELETE", "/api/v1/namespaces/{ns}/pods?labelSelector=a%3Db", None, {}),
 ],
 "pods2": [
  ("POST", CORE + "pods", pod("p", terminationGracePeriodSeconds=5), {}), ("PATCH", CORE + "pods/p/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}, STRATEGIC),
  ("PATCH", CORE + "pods/p/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "X", "status": "True"}]}}, STRATEGIC), ("PATCH", CORE + "pods/p/status", {"status": {"phase": "Weird"}}, MERGE), ("PATCH", CORE + "pods/p/status", {"metadata": {"labels": {"z": "1"}}, "status": {"phase": "Failed", "reason": "Evicted", "message": "m"}}, MERGE),
  ("GET", CORE + "pods?fieldSelector=status.phase%3DFailed", None, TABLE), ("GET", CORE + "pods?fieldSelector=status.phase!%3DFailed", None, TABLE), ("GET", CORE + "pods?fieldSelector=spec.restartPolicy%3DAlways,metadata.name%3Dp", None, TABLE),
  ("PATCH", CORE + "pods/p", {"metadata": {"annotations": {"a": "b"}, "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "1", "controller": True}]}}, STRATEGIC),
  ("PATCH", CORE + "pods/p", {"spec": {"containers": [{"name": "pytorch", "image": "new"}]}}, STRATEGIC), ("PATCH", CORE + "pods/p", {"spec": {"activeDeadlineSeconds": 9}}, STRATEGIC), ("PATCH", CORE + "pods/p", {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, MERGE), ("PATCH", CORE + "pods/p", {"spec": {"containers": [{"name": "pytorch", "env": [{"name": "A", "value": "1"}]}]}}, STRATEGIC),
  ("DELETE", CORE + "pods/p", None, {}), ("GET", CORE + "pods/p", None, {}),
  ("POST", CORE + "pods", pod("q", terminationGracePeriodSeconds=30), {}), ("DELETE", CORE + "pods/q?gracePeriodSeconds=10", None, {}), ("DELETE", CORE + "pods/q?gracePeriodSeconds=20", None, {}), ("DELETE", CORE + "pods/q?gracePeriodSeconds=3", None, {}), ("GET", CORE + "pods/q", None, TABLE), ("POST", CORE + "pods", pod("q"), {}), ("DELETE", CORE + "pods/q", {"gracePeriodSeconds": 0}, {}), ("GET", CORE + "pods/q", None, {}),
  ("POST", CORE + "pods", pod("r", nodeName=""), {}), ("DELETE", CORE + "pods/r", None, {}), ("GET", CORE + "pods/r", None, {}),
 ],
}

def test_all(embedded, real):
    out = open("/tmp/operaud/diffs.txt", "w")
    n = 0
    for name, steps in MORE.items():
        ns = "more-" + name
        ours, theirs = (run_all(e, ns, steps) for e in (embedded, real))
        for i, (a, b) in enumerate(zip(ours, theirs)):
            if a != b:
                n += 1
                body = steps[i][2]
                print(f"=== {name} {i} {steps[i][0]} {steps[i][1]} {json.dumps(body)[:300] if not isinstance(body, str) else body[:300]}", file=out)
                diff(a, b, "", out)
    out.close()
    print(n, "differences")

def run_all(endpoint, ns, steps):
    status, answer = endpoint.send("POST", "/api/v1/namespaces", thing("Namespace", ns))
    answers = []
    for method, path, body, headers in steps:
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        text = text and text.replace("{ns}", ns)
        try:
            status, answer, warnings = endpoint.ask(method, path.replace("{ns}", ns), text, headers)
            answers.append({"status": status, "answer": normal(answer, ns), "warnings": [w for w in warnings if OWN_WARNING not in w]})
        except Exception as e:
            answers.append({"exception": repr(e)})
    return answers

def diff(a, b, path, out):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted({*a, *b}):
            if a.get(k) != b.get(k):
                diff(a.get(k), b.get(k), f"{path}.{k}", out)
    else:
        print(f"  {path}\n    ours   {json.dumps(a)[:900]}\n    theirs {json.dumps(b)[:900]}", file=out)
