"""The other kinds of Kubeflow's jobs, which a cluster may serve beside PyTorchJobs."""
import json
import os
import stat
import time

import pytest

from test_client import play_operator, submit

GROUP = "kubeflow.org"
READ_RULES = [
    {"apiGroups": [GROUP], "resources": ["pytorchjobs", "tfjobs", "mpijobs"],
     "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list"]},
]


def definition(kind):
    singular = kind.lower()
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{GROUP}"},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": kind, "plural": singular + "s", "singular": singular},
            "versions": [{
                "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def make(cluster, kind, replicas, name, namespace, condition):
    template = {"spec": {"containers": [{"name": "c", "image": "x",
                                         "resources": {"limits": {"nvidia.com/gpu": 2}}}]}}
    cluster.apply({"apiVersion": f"{GROUP}/v1", "kind": kind,
                   "metadata": {"name": name, "namespace": namespace},
                   "spec": {replicas: {"Worker": {"replicas": 3, "template": template}}}})
    cluster.patch_status(kind.lower(), name, namespace, {
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T02:00:00Z",
        "conditions": [{"type": "Created", "status": "True"},
                       {"type": "Running", "status": "False"},
                       {"type": condition, "status": "True"}]})


def serve(cluster, *kinds):
    """Defines the kinds; returns once the discovery, which comes after Established, names them."""
    cluster.apply(*[definition(kind) for kind in kinds])
    missing = {kind.lower() + "s" for kind in kinds}
    deadline = time.monotonic() + 120
    while missing:
        assert time.monotonic() < deadline, f"not served: {missing}"
        time.sleep(0.1)
        found = json.loads(cluster.kubectl("get", "--raw", f"/apis/{GROUP}/v1").stdout)["resources"]
        missing -= {resource["name"] for resource in found}


def remove(cluster, *kinds):
    cluster.kubectl("delete", *[f"crd/{kind.lower()}s.{GROUP}" for kind in kinds])


@pytest.fixture
def other_kinds(real_cluster):
    serve(real_cluster, "TFJob", "MPIJob")
    yield
    remove(real_cluster, "TFJob", "MPIJob")


def rows(done):
    """The table without its AGE, which goes on: (NAME, STATUS, TRAINER, NODE)."""
    head, *lines = [line.split() for line in done.stdout.splitlines()]
    assert head == ["NAME", "STATUS", "TRAINER", "AGE", "NODE"]
    return sorted((name, status, trainer, node) for name, status, trainer, _, node in lines)


def test_list_shows_every_kind_in_one_request_each(real_cluster, muster, muster_as, namespace,
                                                   other_kinds):
    submit(muster, "pt", namespace)
    play_operator(real_cluster, namespace, "pt")
    make(real_cluster, "TFJob", "tfReplicaSpecs", "tf-dist", namespace, "Succeeded")
    make(real_cluster, "MPIJob", "mpiReplicaSpecs", "mpi", namespace, "Failed")
    real_cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                        "metadata": {"name": "reader", "namespace": namespace}})
    real_cluster.allow(namespace, "readers-of-" + namespace, READ_RULES)
    real_cluster.kubectl("patch", "rolebinding", "readers-of-" + namespace, "-n", namespace,
                         "--type=json", "-p", json.dumps([{
                             "op": "add", "path": "/subjects/-", "value": {
                                 "kind": "ServiceAccount", "name": "reader",
                                 "namespace": namespace}}]))
    reader = muster_as(real_cluster.account_kubeconfig(namespace, "reader"))
    every = [("mpi", "FAILED", "MPIJOB", "N/A"), ("pt", "RUNNING", "PYTORCHJOB", "127.0.0.1"),
             ("tf-dist", "SUCCEEDED", "TFJOB", "N/A")]
    done = reader.run("list", "-n", namespace)
    assert rows(done) == every and done.stderr == ""

    def asked():
        """What was listed since the start, by kind, and the paths outside of the kinds."""
        lists = [what for verb, what, _, _ in real_cluster.requests_of(namespace, "reader")
                 if verb == "list"]
        return sorted(lists), real_cluster.paths_of(namespace, "reader")

    once = sorted(["pods"] + [f"{plural}.{GROUP}" for plural in ("pytorchjobs", "tfjobs", "mpijobs")])
    assert asked() == (once, [f"/apis/{GROUP}/v1"])
    folder = reader.path(".cache", "muster")
    (kept,) = os.listdir(folder)
    assert stat.S_IMODE(os.stat(os.path.join(folder, kept)).st_mode) == 0o600
    # The answer is kept: the second time nobody is asked for the kinds.
    assert rows(reader.run("list", "-n", namespace)) == every
    assert asked() == (sorted(once * 2), [f"/apis/{GROUP}/v1"])

    assert rows(reader.run("list", "-n", namespace, "-T", "tfjob")) == [every[2]]
    assert rows(reader.run("list", "-n", namespace, "--type=MPI")) == [every[0]]
    assert rows(reader.run("list", "-n", namespace, "-T", "pytorchjob")) == [every[1]]
    jobs = json.loads(reader.run("list", "-n", namespace, "-o", "json").stdout)
    found = {job["name"]: (job["trainer"], job["status"], job["duration"], job["requestGPUs"])
             for job in jobs if job["name"] != "pt"}
    assert found == {"tf-dist": ("tfjob", "SUCCEEDED", "7200s", 6),
                     "mpi": ("mpijob", "FAILED", "7200s", 6)}
    wide = reader.run("list", "-n", namespace, "-o", "wide", "-T", "tf").stdout.splitlines()
    assert wide[1].split() == ["tf-dist", "SUCCEEDED", "TFJOB", "2h", "6", "N/A", "N/A"]

    got = reader.run("get", "tf-dist", "-n", namespace, "-T", "tfjob", "-o", "wide").stdout
    assert got.splitlines()[4].split() == ["Trainer:", "TFJOB"], got
    assert reader.run("get", "tf-dist", "-n", namespace, "-o", "wide").stdout == got
    for kind in ("-T", "tfjob"), ():
        done = muster.run("delete", "tf-dist", "-n", namespace, *kind, code=1)
        assert f"kubectl delete tfjob tf-dist -n {namespace}" in done.stderr
    assert real_cluster.get("tfjob", "tf-dist", "-n", namespace)


def test_a_user_who_may_list_pytorchjobs_alone_sees_those(real_cluster, muster, muster_as, namespace,
                                                          other_kinds):
    submit(muster, "pt", namespace)
    make(real_cluster, "TFJob", "tfReplicaSpecs", "tf", namespace, "Running")
    real_cluster.allow(namespace, "torch-of-" + namespace, [
        {"apiGroups": [GROUP], "resources": ["pytorchjobs"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
    user = muster_as(real_cluster.user_kubeconfig("ann", ["torch-of-" + namespace], namespace))
    done = user.run("list")
    assert [row[0] for row in rows(done)] == ["pt"] and done.stderr == ""
    assert 'cannot list resource "tfjobs"' in user.run("list", "-T", "tfjob", code=1).stderr


def test_a_kind_that_the_cluster_does_not_serve_has_no_jobs(muster, namespace):
    assert rows(muster.run("list", "-n", namespace, "-T", "tfjob")) == []
    done = muster.run("get", "x", "-n", namespace, "-T", "tfjob", code=1)
    assert f"Not found training job x in namespace {namespace}" in done.stderr


def test_kinds_that_were_removed_are_forgotten(real_cluster, muster, namespace):
    serve(real_cluster, "XGBoostJob")
    try:
        make(real_cluster, "XGBoostJob", "xgbReplicaSpecs", "x", namespace, "Running")
        assert rows(muster.run("list", "-n", namespace)) == [("x", "RUNNING", "XGBOOSTJOB", "N/A")]
    finally:
        remove(real_cluster, "XGBoostJob")
    for _ in range(2):
        assert rows(muster.run("list", "-n", namespace)) == []
