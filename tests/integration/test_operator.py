"""`muster operator` against a real kube-apiserver and etcd: what a job comes to. The test plays the
kubelet. The cases are those of compat/pytorchjob.md 4.5, 4.6 and 4.9, in its names."""
import json
import signal
import time

import pytest

from ports import free_ports
from running_operator import Operator, Refused, job, replica, wait_until

CREATED = ("Created", "True", "PyTorchJobCreated")
RUNNING = ("Running", "True", "PyTorchJobRunning")
ENDED_RUNNING = ("Running", "False", "PyTorchJobRunning")
SUCCEEDED = ("Succeeded", "True", "PyTorchJobSucceeded")
FAILED = ("Failed", "True", "PyTorchJobFailed")
RESTARTING = ("Restarting", "True", "PyTorchJobRestarting")
SUSPENDED = ("Suspended", "True", "PyTorchJobSuspended")
RESUMED = ("Suspended", "False", "PyTorchJobResumed")
ALL = ["j-master-0", "j-worker-0", "j-worker-1"]


class Started:
    """A job in a namespace of its own, with all its pods there."""

    def __init__(self, api, namespace, body, pods):
        self.api, self.namespace, self.name = api, namespace, body["metadata"]["name"]
        api.create("pytorchjobs", namespace, body)
        self.await_pods(pods)

    def await_pods(self, pods):
        wait_until(f"pods {pods}", lambda: self.api.names("pods", self.namespace) == pods)

    def await_services(self, services):
        wait_until(f"services {services}",
                   lambda: self.api.names("services", self.namespace) == services)

    def await_conditions(self, *conditions):
        wait_until(f"{conditions}, not {self.conditions()}",
                   lambda: self.conditions() == list(conditions))

    def await_condition(self, kind):
        wait_until(kind, lambda: self.api.is_condition(self.namespace, self.name, kind))

    def conditions(self):
        return self.api.conditions(self.namespace, self.name)

    def status(self):
        return self.api.get("pytorchjobs", self.namespace, self.name)["status"]

    def set(self, pods, phase, *args, **kwargs):
        for pod in [pods] if isinstance(pods, str) else pods:
            self.api.set_pod(self.namespace, pod, phase, *args, **kwargs)

    def pod(self, name):
        return self.api.get("pods", self.namespace, name)

    def patch(self, spec):
        self.api.patch("pytorchjobs", self.namespace, self.name, {"spec": spec})


@pytest.fixture
def start(api, namespace):
    def make(body, pods=ALL):
        return Started(api, namespace, body, list(pods))
    return make


def test_E1_a_job_from_its_creation_to_its_success(start):
    ports = {"ports": [{"name": "pytorchjob-port", "containerPort": 8080}]}
    j = start(job(container=ports))
    j.await_services(ALL)
    uid = j.api.get("pytorchjobs", j.namespace, "j")["metadata"]["uid"]
    owner = [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "j", "uid": uid,
              "controller": True, "blockOwnerDeletion": True}]
    master = j.pod("j-master-0")
    service = j.api.get("services", j.namespace, "j-master-0")
    assert master["metadata"]["ownerReferences"] == owner
    assert service["metadata"]["ownerReferences"] == owner
    assert master["spec"]["containers"][0]["ports"][0]["containerPort"] == 8080
    env = {e["name"]: e["value"] for e in master["spec"]["containers"][0]["env"]}
    assert env["MASTER_PORT"] == "8080" and env["MASTER_ADDR"] == "j-master-0"
    assert env["PET_NPROC_PER_NODE"] == "auto" and env["WORLD_SIZE"] == "3" and env["RANK"] == "0"
    assert [p["port"] for p in service["spec"]["ports"]] == [8080]
    assert service["spec"]["clusterIP"] == "None"
    assert [c["name"] for c in j.pod("j-worker-1")["spec"]["initContainers"]] == ["init-pytorch"]
    j.await_conditions(CREATED)
    j.set(["j-worker-0", "j-worker-1"], "Running")
    wait_until("two active", lambda: j.status()["replicaStatuses"]["Worker"].get("active") == 2)
    j.await_conditions(CREATED)  # the master decides
    j.set("j-master-0", "Running")
    j.await_conditions(CREATED, RUNNING)
    j.set("j-master-0", "Succeeded", 0)
    j.await_conditions(CREATED, ENDED_RUNNING, SUCCEEDED)
    wait_until("the counts", lambda: j.status()["replicaStatuses"]["Worker"].get("succeeded") == 2)
    assert j.status()["replicaStatuses"]["Master"]["succeeded"] == 1
    assert "completionTime" in j.status()
    assert j.api.names("pods", j.namespace) == ALL  # cleanPodPolicy None
    wait_until("the events", lambda: {
        *(("SuccessfulCreatePod", f"Created pod: {name}") for name in ALL),
        *(("SuccessfulCreateService", f"Created service: {name}") for name in ALL),
        ("ExitedWithCode", f"Pod: {j.namespace}.j-master-0 exited with code 0"),
        ("PyTorchJobSucceeded", "PyTorchJob j is successfully completed.")} <=
        j.api.messages(j.namespace))


def test_E2_the_queue_stays(start):
    j = start(job(policy={"schedulingPolicy": {"queue": "initial-queue"}}))
    with pytest.raises(Refused) as refused:
        j.patch({"runPolicy": {"schedulingPolicy": {"queue": "test"}}})
    assert "spec.runPolicy.schedulingPolicy.queue is immutable" in refused.value.message


def test_E3_E4_suspended_resumed_and_suspended_again(start):
    j = start(job(policy={"suspend": True}), [])
    j.await_conditions(CREATED, SUSPENDED)
    assert "startTime" not in j.status()
    assert j.api.names("services", j.namespace) == []
    j.patch({"runPolicy": {"suspend": False}})
    j.await_pods(ALL)
    j.set(ALL, "Running")
    j.await_conditions(CREATED, RESUMED, RUNNING)
    started = j.status()["startTime"]
    j.patch({"runPolicy": {"suspend": True}})
    j.await_pods([])
    j.await_services([])
    j.await_conditions(CREATED, ("Running", "False", "PyTorchJobSuspended"), SUSPENDED)
    assert j.status()["startTime"] == started
    wait_until("nothing is active", lambda: "active" not in j.status()["replicaStatuses"]["Worker"])
    wait_until("another second", lambda: time.time() >= time.mktime(time.strptime(
        started, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone + 2)
    j.patch({"runPolicy": {"suspend": False}})
    j.await_pods(ALL)
    j.await_conditions(CREATED, ("Running", "False", "PyTorchJobSuspended"), RESUMED)
    assert j.status()["startTime"] != started
    j.set(ALL, "Running")
    j.await_conditions(CREATED, RESUMED, RUNNING)


def test_E5_managed_elsewhere_is_left_alone(start, api, namespace):
    other = job("other", policy={"managedBy": "kueue.x-k8s.io/multikueue", "suspend": True})
    api.create("pytorchjobs", namespace, other)
    start(job("own"), ["own-master-0", "own-worker-0", "own-worker-1"])  # comes after `other`
    api.patch("pytorchjobs", namespace, "other", {"spec": {"runPolicy": {"suspend": False}}})
    own = Started(api, namespace, job("late", workers=None),
                  ["late-master-0", "own-master-0", "own-worker-0", "own-worker-1"])
    own.await_conditions(CREATED)
    assert "status" not in api.get("pytorchjobs", namespace, "other")


METRIC = {"type": "Resource", "resource": {
    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


def elastic(**policy):
    return {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3, "maxRestarts": 3,
                              "rdzvBackend": "c10d", "metrics": [METRIC], **policy}}


def test_E6_E7_an_elastic_job_and_its_autoscaler(start):
    j = start(job(master=False, workers=1, spec=elastic()), ["j-worker-0"])

    def scaler():
        return j.api.get("horizontalpodautoscalers", j.namespace, "j")
    spec = wait_until("an autoscaler", scaler)["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 3)
    assert spec["scaleTargetRef"] == {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "j"}
    env = {e["name"]: e["value"] for e in j.pod("j-worker-0")["spec"]["containers"][0]["env"]}
    assert env["PET_RDZV_BACKEND"] == "c10d" and env["PET_NNODES"] == "1:3"
    assert env["PET_RDZV_ENDPOINT"] == "j-worker-0:23456" and env["PET_MAX_RESTARTS"] == "3"
    j.patch({"elasticPolicy": {"maxReplicas": 5}})
    wait_until("the new maximum", lambda: scaler()["spec"]["maxReplicas"] == 5)
    j.patch({"runPolicy": {"suspend": True}})
    wait_until("no autoscaler", lambda: scaler() is None)
    j.patch({"runPolicy": {"suspend": False}})
    wait_until("an autoscaler again", scaler)
    j.await_pods(["j-worker-0"])
    j.set("j-worker-0", "Running")
    j.await_condition("Running")
    j.set("j-worker-0", "Succeeded", 0)
    j.await_conditions(CREATED, RESUMED, ENDED_RUNNING, SUCCEEDED)
    # Unlike v1, which leaves it behind.
    wait_until("no autoscaler once finished", lambda: scaler() is None)


def test_an_autoscaler_goes_with_its_metrics(start):
    j = start(job(master=False, workers=1, spec=elastic()), ["j-worker-0"])
    wait_until("one", lambda: j.api.get("horizontalpodautoscalers", j.namespace, "j"))
    j.patch({"elasticPolicy": {"metrics": None}})
    wait_until("none", lambda: j.api.get("horizontalpodautoscalers", j.namespace, "j") is None)


@pytest.mark.parametrize("policy, left", [("All", []), ("Running", ["j-master-0"]), ("None", ALL)])
def test_J3_J4_clean_pod_policy(start, policy, left):
    j = start(job(policy={"cleanPodPolicy": policy}))
    j.set(ALL[:2], "Running")  # the third stays Pending
    j.set("j-master-0", "Succeeded", 0)
    j.await_condition("Succeeded")
    j.await_pods(left)
    j.await_services(left)
    wait_until("all count as succeeded",
               lambda: j.status()["replicaStatuses"]["Worker"].get("succeeded") == 1)


def test_J5_the_deadline_has_a_timer(start):
    j = start(job(policy={"activeDeadlineSeconds": 2}))
    j.set(ALL, "Running")
    # Unlike v1, which notices at the next event of the job only.
    j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
    j.await_pods([])
    j.await_services([])
    assert "longer than specified deadline" in j.status()["conditions"][-1]["message"]
    assert "completionTime" in j.status()


@pytest.mark.parametrize("limit, restarts, fails", [(0, 1, True), (3, 3, True), (3, 2, False)])
def test_J6_restarts_in_place_reach_the_backoff_limit(start, limit, restarts, fails):
    j = start(job(policy={"backoffLimit": limit}))
    j.set(["j-master-0", "j-worker-0"], "Running")
    j.await_condition("Running")
    j.set("j-worker-1", "Running", restarts=restarts)
    if fails:
        j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
        j.await_pods([])
        assert j.status()["conditions"][-1]["message"] == (
            "Job j has failed because it has reached the specified backoff limit")
    else:
        wait_until("active", lambda: j.status()["replicaStatuses"]["Worker"].get("active") == 2)
        j.await_conditions(CREATED, RUNNING)


@pytest.mark.parametrize("policy, left", [(None, ["j-worker-0"]), ("None", ["j-worker-0"]),
                                          ("Running", ["j-worker-0"]), ("All", [])])
def test_the_pod_that_failed_first_stays_and_its_last_lines_too(start, policy, left):
    j = start(job(policy={"backoffLimit": 0, **({"cleanPodPolicy": policy} if policy else {})}))
    spec = j.pod("j-worker-0")["spec"]
    assert spec["restartPolicy"] == "Never"
    assert spec["containers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"
    j.set(ALL, "Running")
    j.await_condition("Running")
    j.set("j-worker-0", "Failed", 1, terminated={"message": "Traceback:\n  t.py\nValueError: x\n"})
    j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
    j.await_pods(left)
    line = ("Job j has failed because it has reached the specified backoff limit: "
            "rank 1 (j-worker-0) exited with code 1: ValueError: x")
    assert j.status()["conditions"][-1]["message"] == (
        f"{line}\nIts last lines:\nTraceback:\n  t.py\nValueError: x")
    wait_until("it is told", lambda: ("PyTorchJobFailed", line) in j.api.messages(j.namespace))


@pytest.mark.parametrize("ttl", [0, 2])
@pytest.mark.parametrize("end", ["Succeeded", "Failed", "ExitCode"])
def test_J7_a_finished_job_is_deleted_after_its_time(start, ttl, end):
    restart = {"Failed": "Never", "ExitCode": "ExitCode"}.get(end, "OnFailure")
    j = start(job(restart=restart, policy={"ttlSecondsAfterFinished": ttl}))
    j.set(ALL, "Running")
    # v1 never deletes a job that a permanent exit code has failed.
    j.set("j-master-0", "Succeeded" if end == "Succeeded" else "Failed",
          0 if end == "Succeeded" else 1)
    wait_until("the job is gone", lambda: j.api.get("pytorchjobs", j.namespace, "j") is None)
    wait_until("it is told", lambda: ("SuccessfulDeletePod", "Deleted job: j") in
               j.api.messages(j.namespace))


@pytest.mark.parametrize("suspended", [False, True])
def test_a_job_that_has_long_finished_may_be_given_a_time_to_live(start, suspended):
    j = start(job())
    j.set(ALL, "Running")
    j.set("j-master-0", "Succeeded", 0)
    j.await_condition("Succeeded")
    wait_until("all is counted", lambda: j.status()["replicaStatuses"]["Worker"].get("succeeded") == 2)
    j.patch({"runPolicy": {"ttlSecondsAfterFinished": 0, "suspend": suspended}})
    wait_until("the job is gone", lambda: j.api.get("pytorchjobs", j.namespace, "j") is None)


@pytest.mark.parametrize("code, is_replaced", [(1, False), (127, False), (128, True), (137, True),
                                               (255, True)])
def test_J10_exit_codes(start, code, is_replaced):
    j = start(job(restart="ExitCode"))
    before = j.pod("j-worker-0")["metadata"]["uid"]
    assert j.pod("j-worker-0")["spec"]["restartPolicy"] == "Never"
    j.set(ALL, "Running")
    j.await_condition("Running")
    j.set("j-worker-0", "Failed", code)
    if is_replaced:
        wait_until("a new pod", lambda: (j.pod("j-worker-0") or {"metadata": {"uid": before}})
                   ["metadata"]["uid"] != before)
        wait_until("Restarting is told", lambda: "PyTorchJobRestarting" in
                   {reason for reason, _ in j.api.messages(j.namespace)})
        j.await_condition("Running")
    else:
        j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
        assert j.pod("j-worker-0")["metadata"]["uid"] == before
        assert "completionTime" in j.status()
        assert j.status()["conditions"][-1]["message"] == (
            'job "j" is failing because "Worker" replica(s) failed.')


@pytest.mark.parametrize("restart", ["OnFailure", "Always"])
def test_a_pod_that_was_evicted_is_replaced(start, restart):
    j = start(job(restart=restart))
    before = j.pod("j-worker-1")["metadata"]["uid"]
    j.set(ALL, "Running")
    j.set("j-worker-1", "Failed", reason="Evicted")
    wait_until("a new pod", lambda: (j.pod("j-worker-1") or {"metadata": {"uid": before}})
               ["metadata"]["uid"] != before)


def set_node(api, name, ready, since):
    """A Node whose kubelet was last heard of so."""
    path = f"/api/v1/nodes/{name}"
    try:
        api.ask("POST", "/api/v1/nodes", {"metadata": {"name": name}})
    except Refused as refused:
        assert refused.status == 409
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - since))
    api.ask("PATCH", path + "/status", {"status": {"conditions": [
        {"type": "Ready", "status": ready, "reason": "NodeStatusUnknown",
         "lastHeartbeatTime": stamp, "lastTransitionTime": stamp}]}}, "application/merge-patch+json")


@pytest.mark.parametrize("restart", ["OnFailure", "Never"])
def test_a_node_that_dies(start, api, restart):
    body = job(restart=restart)
    body["metadata"]["annotations"] = {"muster.dev/node-lost-seconds": "5"}
    j = start(body)
    nodes = {pod: f"{j.namespace}-{pod}" for pod in ALL}
    for pod, node in nodes.items():
        set_node(api, node, "True", 60)
        api.ask("POST", api.path("pods", j.namespace, pod) + "/binding",
                {"metadata": {"name": pod}, "target": {"kind": "Node", "name": node}})
    j.set(ALL, "Running")
    j.await_condition("Running")
    before = {pod: j.pod(pod)["metadata"]["uid"] for pod in ALL}
    set_node(api, nodes["j-worker-0"], "Unknown", 10)
    if restart == "Never":
        j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
        assert j.status()["conditions"][-1]["message"].endswith(
            f"pod j-worker-0 is lost with its node {nodes['j-worker-0']}")
    else:
        # Nobody is there to end it: a deletion that waits would wait for ever.
        wait_until("a new pod", lambda: (j.pod("j-worker-0") or {"metadata": {
            "uid": before["j-worker-0"]}})["metadata"]["uid"] != before["j-worker-0"])
        wait_until("it is told", lambda: "NodeLost" in {r for r, _ in api.messages(j.namespace)})
    assert {pod: j.pod(pod)["metadata"]["uid"] for pod in ALL if pod != "j-worker-0"} == {
        pod: uid for pod, uid in before.items() if pod != "j-worker-0"}


def test_a_node_that_dies_is_no_concern_of_a_job_that_does_not_ask(start, api):
    j = start(job())
    node = f"{j.namespace}-node"
    set_node(api, node, "Unknown", 1000)
    api.ask("POST", api.path("pods", j.namespace, "j-worker-0") + "/binding",
            {"metadata": {"name": "j-worker-0"}, "target": {"kind": "Node", "name": node}})
    before = j.pod("j-worker-0")["metadata"]["uid"]
    j.set(ALL, "Running")
    j.await_condition("Running")
    j.set("j-master-0", "Succeeded", 0)
    j.await_condition("Succeeded")
    assert j.pod("j-worker-0")["metadata"]["uid"] == before


def test_J12_J13_scaling_through_the_scale_subresource(start):
    j = start(job())
    path = j.api.path("pytorchjobs", j.namespace, "j") + "/scale"
    wait_until("a selector", lambda: j.api.ask("GET", path)["status"].get("selector"))
    j.api.patch("pytorchjobs", j.namespace, "j", {"spec": {"replicas": 4}}, "/scale")
    more = ["j-master-0", "j-worker-0", "j-worker-1", "j-worker-2", "j-worker-3"]
    j.await_pods(more)
    j.await_services(more)
    j.patch({"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}})
    j.await_pods(ALL[:2])
    j.await_services(ALL[:2])


@pytest.mark.parametrize("policy, left", [(None, ALL), ("Running", ["j-worker-0"])])
def test_J15_a_failure_under_never_fails_the_job(start, policy, left):
    j = start(job(restart="Never", policy={"cleanPodPolicy": policy} if policy else None))
    j.set(ALL, "Running")
    j.await_condition("Running")
    j.set("j-worker-0", "Failed", 137, terminated={"reason": "OOMKilled"})
    j.await_conditions(CREATED, ENDED_RUNNING, FAILED)
    message = j.status()["conditions"][-1]["message"]
    assert message.startswith("PyTorchJob j is failed because 1 Worker replica(s) failed.")
    assert "rank 1 (j-worker-0) was killed by SIGKILL (OOMKilled: out of memory)" in message
    j.await_pods(left)


def test_J16_a_master_that_is_done_decides(start):
    j = start(job(restart="Never"))
    j.set(["j-master-0", "j-worker-0"], "Running")
    j.await_condition("Running")
    j.set("j-master-0", "Succeeded", 0)
    j.await_condition("Succeeded")
    j.set("j-worker-0", "Failed", 1)
    j.set("j-worker-1", "Failed", 1)
    j.await_conditions(CREATED, ENDED_RUNNING, SUCCEEDED)


def test_J16_workers_alone(start):
    j = start(job(master=False, workers=2, restart="Never"), ["j-worker-0", "j-worker-1"])
    j.set("j-worker-0", "Succeeded", 0)
    wait_until("counted", lambda: j.status().get("replicaStatuses", {}).get("Worker", {}).get(
        "succeeded") == 1)
    j.set("j-worker-1", "Running")
    j.await_conditions(CREATED, RUNNING)
    j.set("j-worker-1", "Succeeded", 0)
    j.await_conditions(CREATED, ENDED_RUNNING, SUCCEEDED)


def test_O13_what_is_deleted_comes_back(start):
    j = start(job())
    j.await_services(ALL)
    before = j.pod("j-worker-0")["metadata"]["uid"]
    j.api.delete("pods", j.namespace, "j-worker-0")
    j.api.delete("services", j.namespace, "j-worker-1")
    wait_until("a new pod", lambda: (j.pod("j-worker-0") or {"metadata": {"uid": before}})
               ["metadata"]["uid"] != before)
    j.await_services(ALL)


def test_O13_a_strangers_pod_is_in_the_way_and_said(api, namespace):
    api.create("pods", namespace, {"metadata": {"name": "j-worker-0"}, "spec": {"containers": [
        {"name": "c", "image": "i"}]}})
    # Unlike v1, all the others are made.
    Started(api, namespace, job(), ALL)
    wait_until("it is said", lambda: any(
        reason == "FailedCreatePod" and 'pods "j-worker-0" already exists' in message
        for reason, message in api.messages(namespace)))
    api.delete("pods", namespace, "j-worker-0")
    wait_until("ours in its place", lambda: (api.get("pods", namespace, "j-worker-0") or {}).get(
        "metadata", {}).get("ownerReferences"))
    wait_until("Created", lambda: api.conditions(namespace, "j") == [CREATED])


def test_O14_created_survives_an_early_change(api, namespace):
    # v1 loses it each time.
    for number in range(5):
        api.create("pytorchjobs", namespace, job(f"e{number}"))
        api.patch("pytorchjobs", namespace, f"e{number}", {"metadata": {"labels": {"a": "b"}}})
    for number in range(5):
        wait_until("Created", lambda: api.conditions(namespace, f"e{number}") == [CREATED])


def test_hostile_objects_stall_nobody(api, namespace):
    # v1 panics on the first of them for ever.
    api.create("pytorchjobs", namespace, job(
        "empty-conf", master=False, workers=1, spec={"elasticPolicy": {"rdzvConf": []}}))
    api.create("pytorchjobs", namespace, {**job("no-replicas"), "spec": {"pytorchReplicaSpecs": {}}})
    api.create("pytorchjobs", namespace, job("odd", policy={"cleanPodPolicy": "Whatever"},
                                             restart="Sometimes"))
    api.create("pytorchjobs", namespace, job("below-zero", policy={"backoffLimit": -1}))
    fine = job("fine", workers=None)
    api.create("pytorchjobs", namespace, fine)
    wait_until("their pods", lambda: {"empty-conf-worker-0", "fine-master-0"} <=
               set(api.names("pods", namespace)))
    wait_until("the odd one is said", lambda: any(
        reason == "FailedCreatePod" for reason, _ in api.messages(namespace)))
    wait_until("none was left", lambda: api.is_condition(namespace, "below-zero", "Failed"))


def refuse_by_pod_security(cluster, namespace):
    cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")


def refuse_by_quota(cluster, namespace):
    hard = {"pods": "1"}
    cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard},
                   "metadata": {"name": "few", "namespace": namespace}})
    # Its controller is none of this cluster's.
    cluster.kubectl("patch", "resourcequota", "few", "-n", namespace, "--subresource=status", "--type=merge", "-p",
                    json.dumps({"status": {"hard": hard, "used": {"pods": "1"}}}))


def refuse_by_webhook(cluster, namespace):
    """It calls one that answers nobody."""
    cluster.apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                   "metadata": {"name": namespace}, "webhooks": [{
                       "name": "strict.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                       "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                       "clientConfig": {"url": f"https://127.0.0.1:{free_ports(1)[0]}/"},
                       "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                  "resources": ["pods"]}]}]})


def refuse_by_policy(cluster, namespace):
    group = "admissionregistration.k8s.io/v1"
    chosen = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    cluster.apply(
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": namespace}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                                                    "operations": ["CREATE"], "resources": ["pods"]}]},
            "validations": [{"expression": "false", "message": "not on a Sunday"}]}},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": namespace},
         "spec": {"policyName": namespace, "validationActions": ["Deny"], "matchResources": chosen}})

    def is_in_force():
        probe = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        return cluster.kubectl("create", "--dry-run=server", "-n", namespace, "-f", "-", code=None, stdin=json.dumps(
            {"apiVersion": "v1", "kind": "Pod", **probe})).returncode != 0
    wait_until("the policy is in force", is_in_force)


@pytest.mark.parametrize("refuse, words", [
    (refuse_by_pod_security, 'violates PodSecurity "restricted'),
    (refuse_by_quota, "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1"),
    (refuse_by_webhook, 'failed calling webhook "strict.example.com"'),
    (refuse_by_policy, "denied request: not on a Sunday")])
def test_refused_pods_leave_a_status_a_reason_and_a_deadline(real_cluster, api, namespace, muster, refuse, words):
    refuse(real_cluster, namespace)
    api.create("pytorchjobs", namespace, job(policy={"activeDeadlineSeconds": 5}))
    wait_until("Created", lambda: api.is_condition(namespace, "j", "Created"))
    assert "startTime" in api.get("pytorchjobs", namespace, "j")["status"]
    assert words in muster.run("get", "j", "-n", namespace).stdout
    wait_until("Failed", lambda: api.is_condition(namespace, "j", "Failed"))
    assert api.names("pods", namespace) == []


def test_a_failed_pod_takes_with_it_what_the_scope_says(start):
    body = job(restart="ExitCode", policy={"backoffLimit": 1})
    body["metadata"]["annotations"] = {"muster.dev/restart-scope": "job"}
    j = start(body)
    before = {name: pod["metadata"]["uid"] for name, pod in j.api.items("pods", j.namespace).items()}
    j.set(ALL, "Running")
    j.set("j-worker-0", "Failed", 137)

    def are_all_new():
        now = {name: pod["metadata"]["uid"] for name, pod in j.api.items("pods", j.namespace).items()}
        return sorted(now) == ALL and all(now[name] != before[name] for name in ALL)
    wait_until("all pods are new", are_all_new)
    j.set(ALL, "Running")
    j.await_condition("Running")
    j.set("j-master-0", "Failed", 137, terminated={"message": "killed"})
    j.await_condition("Failed")
    assert "backoff limit: rank 0 (j-master-0)" in j.status()["conditions"][-1]["message"]


def test_a_port_per_job_and_an_init_step_without_a_foreign_image(start):
    body = job(pod={"hostNetwork": True})
    body["metadata"]["annotations"] = {"muster.dev/master-port": "auto",
                                       "muster.dev/init-step": "port"}
    j = start(body)
    master, worker = j.pod("j-master-0"), j.pod("j-worker-0")
    env = {e["name"]: e["value"] for e in worker["spec"]["containers"][0]["env"]}
    port = int(env["MASTER_PORT"])
    assert 20000 <= port < 30000
    assert master["spec"]["containers"][0]["ports"][0]["containerPort"] == port
    assert not worker["spec"]["containers"][0].get("ports")  # two of them may share a node
    init = worker["spec"]["initContainers"][0]
    assert init["image"] == "registry.local/train:1" and init["command"][4] == str(port)


def test_events_and_counters_tell_of_pods(operator, start):
    before = operator.metrics()
    j = start(job())
    j.await_services(ALL)
    j.await_conditions(CREATED)
    label = f'{{framework="pytorch",job_namespace="{j.namespace}"}}'
    wait_until("a job more", lambda: operator.metrics().get(
        f"training_operator_jobs_created_total{label}") == 1)
    after = operator.metrics()
    assert after["created_pods_total"] >= before["created_pods_total"] + 3
    assert after["succeeded_service_creation_total"] >= before["succeeded_service_creation_total"] + 3
    log = operator.log()
    assert log.count(f"job={j.namespace}/j ") == 1, log  # one line for Created, none for the passes


def test_each_pod_in_trouble_has_its_event(start):
    j = start(job())
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit",
                 "lastTransitionTime": "2026-07-30T10:00:00Z"}
    for pod in ALL:  # one after another, with the same date
        j.api.patch("pods", j.namespace, pod, {"status": {"conditions": [scheduled]}}, "/status")
        told = ("Unschedulable", f"Error pod {pod} condition message: 0/3 nodes fit")
        wait_until(told, lambda: told in j.api.messages(j.namespace))
    for reason in ("ErrImagePull", "ImagePullBackOff"):
        waits = [{"name": "pytorch", "image": "x", "imageID": "", "ready": False, "restartCount": 0,
                  "state": {"waiting": {"reason": reason, "message": "no such image"}}}]
        j.api.patch("pods", j.namespace, ALL[0], {"status": {"containerStatuses": waits}}, "/status")
        told = (reason, f"Error pod {ALL[0]} container pytorch waiting message: no such image")
        wait_until(told, lambda: told in j.api.messages(j.namespace))


def test_ends_cleanly_on_interrupt(real_cluster, namespace):
    interrupted = Operator(real_cluster.kubeconfig, f"--namespace={namespace}")
    assert interrupted.stop(signal.SIGINT) == 0, interrupted.log()
