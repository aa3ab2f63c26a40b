"""Gang scheduling of `muster operator` against a real API server: the test plays Volcano and the
scheduler-plugins' controller (compat/pytorchjob.md 2.11)."""
import pytest

from dying_kubelet import DyingKubelet
from running_operator import Api, Operator, job, wait_until

ALL = ["j-master-0", "j-worker-0", "j-worker-1"]
GROUPS = {"volcano": ("scheduling.volcano.sh", "v1beta1"),
          "my-scheduler": ("scheduling.x-k8s.io", "v1alpha1")}


def crd(group, version):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"podgroups.{group}",
                         "annotations": {"api-approved.kubernetes.io": "unapproved, a test's"}},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups",
                               "singular": "podgroup"},
                     "versions": [{"name": version, "served": True, "storage": True,
                                   "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": {
                                       "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture(scope="module")
def api(real_cluster):
    for group, version in GROUPS.values():
        real_cluster.apply(crd(group, version))
        real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                             f"crd/podgroups.{group}")
    made = Api(real_cluster)
    made.FOLDERS = {**made.FOLDERS, **{name: f"/apis/{group}/{version}/namespaces/{{}}/podgroups"
                                       for name, (group, version) in GROUPS.items()}}
    yield made
    for group, _ in GROUPS.values():
        real_cluster.kubectl("delete", "crd", f"podgroups.{group}", "--wait=false")


@pytest.fixture
def operator(real_cluster, namespace):
    made = []

    def start(scheduler):
        made.append(Operator(real_cluster.kubeconfig, f"--namespace={namespace}",
                             f"--gang-scheduler-name={scheduler}"))
        return made[-1]
    yield start
    for one in made:
        one.kill()


def gang_job():
    return job(policy={"schedulingPolicy": {"queue": "q", "minAvailable": 2}, "cleanPodPolicy": "All"},
               container={"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}})


def test_volcano_lets_pods_in(api, namespace, operator):
    ours = operator("volcano")
    api.create("pytorchjobs", namespace, gang_job())
    group = wait_until("a PodGroup", lambda: api.get("volcano", namespace, "j"))
    assert group["spec"] == {"minMember": 2, "minResources": {"cpu": "1", "memory": "2Gi"}, "queue": "q"}
    assert group["metadata"]["ownerReferences"][0]["kind"] == "PyTorchJob"
    wait_until("the wait is on record", lambda: api.get("pytorchjobs", namespace, "j").get(
        "status", {}).get("lastReconcileTime"))
    assert api.names("pods", namespace) == []
    version = api.get("pytorchjobs", namespace, "j")["metadata"]["resourceVersion"]
    # v1 writes and writes while it waits.
    api.patch("volcano", namespace, "j", {"status": {"phase": "Pending"}}, "/status")
    api.create("pytorchjobs", namespace, {**job("later"), "metadata": {"name": "later"}})
    wait_until("another", lambda: api.get("volcano", namespace, "later"))
    assert api.get("pytorchjobs", namespace, "j")["metadata"]["resourceVersion"] == version
    api.patch("volcano", namespace, "j", {"status": {"phase": "Inqueue"}}, "/status")
    wait_until("pods", lambda: api.names("pods", namespace) == ALL)
    pod = api.get("pods", namespace, "j-worker-1")
    assert pod["spec"]["schedulerName"] == "volcano"
    assert pod["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "j",
                                              "volcano.sh/task-spec": "worker"}
    api.set_pod(namespace, "j-master-0", "Succeeded", 0)
    wait_until("no PodGroup", lambda: api.get("volcano", namespace, "j") is None)
    wait_until("it is told", lambda: ("SuccessfulDeletePodGroup", "Deleted PodGroup: j") in
               api.messages(namespace))
    assert ours.metrics()["created_pod_groups_total"] == 2
    assert ours.metrics()["deleted_pod_groups_total"] == 1


def test_what_volcano_preempts_takes_its_scope_with_it(real_cluster, api, namespace, operator):
    operator("volcano")
    body = gang_job()
    body["metadata"]["annotations"] = {"muster.dev/restart-scope": "job"}
    with DyingKubelet(real_cluster, namespace):
        api.create("pytorchjobs", namespace, body)
        wait_until("a PodGroup", lambda: api.get("volcano", namespace, "j"))
        api.patch("volcano", namespace, "j", {"status": {"phase": "Running"}}, "/status")
        running = ["Running"] * 3
        wait_until("all run", lambda: [pod["status"].get("phase") for pod in
                                       api.items("pods", namespace).values()] == running)
        before = {pod["metadata"]["uid"] for pod in api.items("pods", namespace).values()}
        # As its evictor does it.
        api.patch("pods", namespace, "j-worker-0", {"status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "Evict",
             "message": "Pod is evicted, because of preempt"}]}}, "/status")
        api.ask("DELETE", api.path("pods", namespace, "j-worker-0"))
        wait_until("others run", lambda: [
            pod["status"].get("phase") for pod in api.items("pods", namespace).values()
            if pod["metadata"]["uid"] not in before] == running)
        assert {one["type"]: one.get("message") for one in api.get("pytorchjobs", namespace, "j")[
            "status"]["conditions"]}["Disruptions"] == "job=1"
        wait_until("it is told", lambda: "Disrupted" in {r for r, _ in api.messages(namespace)})


def test_scheduler_plugins_need_a_label(api, namespace, operator):
    operator("my-scheduler")
    api.create("pytorchjobs", namespace, gang_job())
    wait_until("pods", lambda: api.names("pods", namespace) == ALL)
    # It is written together with the pods, in any order.
    group = wait_until("the PodGroup", lambda: api.get("my-scheduler", namespace, "j"))
    assert group["spec"] == {"minMember": 2, "minResources": {"cpu": "1", "memory": "2Gi"}}
    pod = api.get("pods", namespace, "j-master-0")
    assert pod["spec"]["schedulerName"] == "my-scheduler"
    assert pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "j"
    api.patch("pytorchjobs", namespace, "j", {"spec": {"runPolicy": {"suspend": True}}})
    wait_until("no PodGroup while suspended", lambda: api.get("my-scheduler", namespace, "j") is None)
    wait_until("no pods", lambda: api.names("pods", namespace) == [])
    api.patch("pytorchjobs", namespace, "j", {"spec": {"runPolicy": {"suspend": False}}})
    wait_until("pods again", lambda: api.names("pods", namespace) == ALL)
    wait_until("a PodGroup again", lambda: api.get("my-scheduler", namespace, "j"))
