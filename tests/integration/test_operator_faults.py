"""`muster operator` when things go wrong around it: against an API server of its own, which the
tests stop, and whose CRD and rights they take away."""
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from fake_servers import SlowWay
from real_kubernetes import ROOT, Kubernetes
from running_operator import Api, Operator, job, wait_until

ALL = ["j-master-0", "j-worker-0", "j-worker-1"]
CRD = os.path.join(ROOT, "deploy", "crd.yaml")


@pytest.fixture(scope="module")
def cluster():
    made = Kubernetes()
    yield made
    made.close()


@pytest.fixture
def api(cluster):
    return Api(cluster)


@pytest.fixture
def namespace(cluster):
    return cluster.new_namespace("fault")


@pytest.fixture
def operator(cluster, namespace):
    """operator(flags…): an operator of the namespace; killed at the end."""
    made = []

    def start(*flags, kubeconfig=None, **options):
        made.append(Operator(kubeconfig or cluster.kubeconfig, f"--namespace={namespace}", *flags,
                             **options))
        return made[-1]
    yield start
    for one in made:
        one.kill()


def await_pods(api, namespace, pods):
    wait_until(f"pods {pods}", lambda: api.names("pods", namespace) == pods)


def test_one_leads_and_hands_over(api, namespace, operator):
    flags, env = ["--leader-elect", "--leader-election-id=muster"], {"MY_POD_NAMESPACE": namespace}
    first = operator(*flags, env={**env, "MY_POD_NAME": "first"})

    def holder():
        lease = api.get("leases", namespace, "muster")
        return lease["spec"]["holderIdentity"] if lease else ""
    wait_until("the first leads", lambda: holder().startswith("first_"))
    second = operator(*flags, env={**env, "MY_POD_NAME": "second"})
    api.create("pytorchjobs", namespace, job())
    await_pods(api, namespace, ALL)
    assert second.metrics()['leader_election_master_status{name="muster"}'] == 0
    assert first.stop() == 0, first.log()
    # Released: nobody has to wait for it to run out.
    wait_until("the second leads", lambda: holder().startswith("second_"))
    assert api.get("leases", namespace, "muster")["spec"]["leaseTransitions"] >= 1
    for pod in ALL:
        api.set_pod(namespace, pod, "Running")
    wait_until("Running", lambda: api.is_condition(namespace, "j", "Running"))
    assert "working on jobs" in second.log()


def kubeconfig_by(cluster, way):
    """The admin's, by another way."""
    return cluster.write_kubeconfig(
        f"way-{way.port}", {"client-certificate": cluster.admin_cert, "client-key": cluster.admin_key},
        cluster={"server": f"https://127.0.0.1:{way.port}"})


def test_a_leader_that_gets_no_answers_ends_before_another_begins(cluster, api, namespace, operator):
    """The server takes its requests and says nothing."""
    flags, env = ["--leader-elect", "--leader-election-id=muster"], {"MY_POD_NAMESPACE": namespace}
    way = SlowWay(cluster.port, 0)
    try:
        first = operator(*flags, env={**env, "MY_POD_NAME": "first"},
                         kubeconfig=kubeconfig_by(cluster, way))
        wait_until("the first leads", lambda: "leading by lease" in first.log())
        second = operator(*flags, env={**env, "MY_POD_NAME": "second"})
        way.stall()
        wait_until("the second leads", lambda: "leading by lease" in second.log())
        assert "no longer leading" in first.log()
        api.create("pytorchjobs", namespace, job())
        await_pods(api, namespace, ALL)
        way.flow()
        wait_until("the first looks again", lambda: first.log().count('msg="standing by"') == 1)
        assert second.metrics()['leader_election_master_status{name="muster"}'] == 1
        assert first.metrics()['leader_election_master_status{name="muster"}'] == 0
    finally:
        way.close()


def test_after_a_leaders_death_the_next_one_acts(api, namespace, operator):
    flags, env = ["--leader-elect", "--leader-election-id=muster"], {"MY_POD_NAMESPACE": namespace}
    first = operator(*flags, env={**env, "MY_POD_NAME": "first"})
    wait_until("the first leads", lambda: "leading by lease" in first.log())
    operator(*flags, env={**env, "MY_POD_NAME": "second"})
    api.create("pytorchjobs", namespace, job())
    await_pods(api, namespace, ALL)
    first.kill()
    began = time.monotonic()
    api.create("pytorchjobs", namespace, job("next", workers=None))
    wait_until("its pod", lambda: "next-master-0" in api.names("pods", namespace))
    # The Lease's 15 s and at most two more; printed, for a busy machine takes what it takes.
    print(f"the next leader acted after {time.monotonic() - began:.1f} s")


def test_a_leader_that_was_stopped_finds_that_another_leads(api, namespace, operator):
    """SIGSTOP, as a machine that sleeps: it wakes with a lease that is no longer its own, and writes nothing."""
    flags, env = ["--leader-elect", "--leader-election-id=muster"], {"MY_POD_NAMESPACE": namespace}
    first = operator(*flags, env={**env, "MY_POD_NAME": "first"})
    wait_until("the first leads", lambda: "leading by lease" in first.log())
    second = operator(*flags, env={**env, "MY_POD_NAME": "second"})
    first.process.send_signal(signal.SIGSTOP)
    try:
        wait_until("the second leads", lambda: "leading by lease" in second.log())
        api.create("pytorchjobs", namespace, job())
        await_pods(api, namespace, ALL)
        made = {name: pod["metadata"]["uid"] for name, pod in api.items("pods", namespace).items()}
    finally:
        first.process.send_signal(signal.SIGCONT)
    wait_until("it sees that", lambda: "no longer leading" in first.log())
    wait_until("it stands by", lambda: first.log().count('msg="standing by"') == 1)
    assert first.metrics()['leader_election_master_status{name="muster"}'] == 0
    for pod in ALL:
        api.set_pod(namespace, pod, "Running")
    wait_until("Running", lambda: api.is_condition(namespace, "j", "Running"))
    assert {name: pod["metadata"]["uid"] for name, pod in api.items("pods", namespace).items()} == made
    assert first.metrics()["created_pods_total"] == 0


def test_yields_while_kubeflows_operator_runs(api, namespace, operator):
    api.create("pods", namespace, {
        "metadata": {"name": "training-operator-1",
                     "labels": {"control-plane": "kubeflow-training-operator"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}})
    api.set_pod(namespace, "training-operator-1", "Running")
    ours = operator()
    wait_until("it is said", lambda: f"(pod {namespace}/training-operator-1)" in ours.log())
    api.create("pytorchjobs", namespace, job())
    assert "working on jobs" not in ours.log()
    assert "status" not in api.get("pytorchjobs", namespace, "j")
    api.delete("pods", namespace, "training-operator-1")
    await_pods(api, namespace, ALL)
    api.create("pods", namespace, {
        "metadata": {"name": "training-operator-2",
                     "labels": {"control-plane": "kubeflow-training-operator"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}})
    api.set_pod(namespace, "training-operator-2", "Running")
    wait_until("it yields again", lambda: 'msg="standing by"' in ours.log())


def test_waits_for_the_crd(cluster, api, namespace, operator):
    cluster.kubectl("delete", "crd", "pytorchjobs.kubeflow.org", "--wait=true")
    ours = operator(await_ready=False)
    try:
        wait_until("it is said", lambda: "`muster install`" in ours.log())
        status, text = ours.readyz()
        assert status == 503 and "the cluster knows no PyTorchJob" in text
    finally:
        cluster.kubectl("apply", "--server-side", "-f", CRD)
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                        "crd/pytorchjobs.kubeflow.org")
    wait_until("it goes on", ours.is_ready)
    api.create("pytorchjobs", namespace, job())
    await_pods(api, namespace, ALL)


RULES = [
    {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs", "pytorchjobs/status"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods", "services", "events"], "verbs": ["*"]},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["*"]}]


def test_rights_taken_away_and_given_back(cluster, api, namespace, operator):
    cluster.allow(namespace, "operators", RULES)
    ours = operator(kubeconfig=cluster.user_kubeconfig("oscar", ["operators"]))
    api.create("pytorchjobs", namespace, job("before", workers=None))
    await_pods(api, namespace, ["before-master-0"])
    cluster.kubectl("delete", "rolebinding", "operators", "-n", namespace)
    api.create("pytorchjobs", namespace, job("meanwhile", workers=None))
    wait_until("it is said", lambda: "forbidden" in ours.log())
    cluster.allow(namespace, "operators", RULES)
    await_pods(api, namespace, ["before-master-0", "meanwhile-master-0"])
    assert ours.process.poll() is None


METRIC = {"type": "Resource", "resource": {
    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


@pytest.mark.parametrize("policy", [{"metrics": None}, None], ids=["metrics", "whole policy"])
def test_an_autoscaler_goes_that_was_taken_out_while_no_operator_ran(api, namespace, operator, policy):
    names = ["elastic", "kept"]
    first = operator()
    for name in names:
        api.create("pytorchjobs", namespace, job(name, master=False, workers=1, spec={
            "elasticPolicy": {"minReplicas": 1, "maxReplicas": 3, "metrics": [METRIC]}}))
    autoscalers = lambda: api.names("horizontalpodautoscalers", namespace)  # noqa: E731
    wait_until("autoscalers", lambda: autoscalers() == names)
    wait_until("a status", lambda: all(api.conditions(namespace, name) for name in names))
    assert first.stop() == 0, first.log()
    api.patch("pytorchjobs", namespace, "elastic", {"spec": {"elasticPolicy": policy}})
    operator()
    wait_until("one autoscaler", lambda: autoscalers() == ["kept"])


def test_works_without_the_right_to_list_autoscalers(cluster, api, namespace, operator):
    cluster.allow(namespace, "operators", RULES[:2])
    ours = operator(kubeconfig=cluster.user_kubeconfig("oscar", ["operators"]))
    api.create("pytorchjobs", namespace, job("plain", workers=None))
    await_pods(api, namespace, ["plain-master-0"])
    assert "list horizontalpodautoscalers: " in ours.log()


def test_outlives_the_api_server(cluster, api, namespace, operator):
    ours = operator()
    api.create("pytorchjobs", namespace, job())
    await_pods(api, namespace, ALL)
    cluster.stop_api_server(kill=True)
    cluster.start_api_server()
    for pod in ALL:
        api.set_pod(namespace, pod, "Running")
    wait_until("Running", lambda: api.is_condition(namespace, "j", "Running"))
    api.create("pytorchjobs", namespace, job("next", workers=None))
    wait_until("its pod", lambda: "next-master-0" in api.names("pods", namespace))
    assert ours.process.poll() is None
    assert ours.stop() == 0, ours.log()


def test_a_deadline_that_passes_while_the_api_server_is_down(cluster, api, namespace, operator):
    ours = operator()
    api.create("pytorchjobs", namespace, job(policy={"activeDeadlineSeconds": 4}))
    await_pods(api, namespace, ALL)
    wait_until("its start", lambda: api.conditions(namespace, "j"))
    cluster.stop_api_server(kill=True)
    # Longer than the deadline: nothing can be heard of it but that it goes on trying.
    tried = len(ours.log())
    began = time.monotonic()
    wait_until("the deadline is over", lambda: time.monotonic() - began > 6)
    assert ours.process.poll() is None, ours.log()[tried:]
    cluster.start_api_server()
    wait_until("Failed", lambda: api.is_condition(namespace, "j", "Failed"))
    wait_until("no pods", lambda: api.names("pods", namespace) == [])


def test_an_api_server_that_is_restored_from_an_older_copy(cluster, api, namespace, operator):
    """resourceVersions go back: what was seen since the copy never happened."""
    ours = operator()
    for name in ("runs", "ends"):
        api.create("pytorchjobs", namespace, job(name, workers=None,
                                                 policy={"cleanPodPolicy": "All"}))
        wait_until("a pod", lambda: f"{name}-master-0" in api.names("pods", namespace))
        api.set_pod(namespace, f"{name}-master-0", "Running")
        wait_until("Running", lambda: api.is_condition(namespace, name, "Running"))
    cluster.copy_state("copy")
    # One job ends and is forgotten, one comes, and many versions pass.
    api.set_pod(namespace, "ends-master-0", "Succeeded", 0)
    wait_until("Succeeded", lambda: api.is_condition(namespace, "ends", "Succeeded"))
    wait_until("cleaned up", lambda: "ends-master-0" not in api.names("pods", namespace))
    api.create("pytorchjobs", namespace, job("never", workers=None))
    wait_until("its pod", lambda: "never-master-0" in api.names("pods", namespace))
    for number in range(50):
        api.patch("pytorchjobs", namespace, "never", {"metadata": {"labels": {"n": str(number)}}})
    cluster.restore_state("copy")
    wait_until("it is said", lambda: "older state of the cluster" in ours.log())
    # Not even a pod of the job that never was.
    assert api.names("pods", namespace) == ["ends-master-0", "runs-master-0"]
    for name in ("runs", "ends"):
        assert api.is_condition(namespace, name, "Running")
        api.set_pod(namespace, f"{name}-master-0", "Succeeded", 0)
        wait_until("Succeeded", lambda: api.is_condition(namespace, name, "Succeeded"))
    wait_until("cleaned up", lambda: api.names("pods", namespace) == [])
    api.create("pytorchjobs", namespace, job("next", workers=None))
    wait_until("its pod", lambda: api.names("pods", namespace) == ["next-master-0"])
    assert ours.process.poll() is None


def test_a_storm_of_conflicts(cluster, namespace, operator):
    """Somebody writes to the job without a pause."""
    mine, theirs = Api(cluster), Api(cluster)
    over, writes = threading.Event(), []

    def write():
        while not over.is_set():
            theirs.patch("pytorchjobs", namespace, "j", {"metadata": {"labels": {
                "n": str(len(writes))}}})
            writes.append(1)
    operator()
    mine.create("pytorchjobs", namespace, job(policy={"cleanPodPolicy": "All"}))
    storm = threading.Thread(target=write, daemon=True)
    storm.start()
    try:
        await_pods(mine, namespace, ALL)
        for pod in ALL:
            mine.set_pod(namespace, pod, "Running")
        wait_until("Running", lambda: mine.is_condition(namespace, "j", "Running"))
        wait_until("a storm", lambda: len(writes) > 20)
        mine.set_pod(namespace, "j-master-0", "Succeeded", 0)
        wait_until("Succeeded", lambda: mine.is_condition(namespace, "j", "Succeeded"))
        await_pods(mine, namespace, [])
    finally:
        over.set()
        storm.join()
    assert [c[0] for c in mine.conditions(namespace, "j")] == ["Created", "Running", "Succeeded"]


def test_a_slow_way_to_the_api_server_that_is_cut(cluster, api, namespace, operator):
    way = SlowWay(cluster.port, 0.2)
    try:
        ours = operator(kubeconfig=kubeconfig_by(cluster, way))
        api.create("pytorchjobs", namespace, job(policy={"cleanPodPolicy": "All"}))
        wait_until("a pod", lambda: api.names("pods", namespace))
        way.cut()
        await_pods(api, namespace, ALL)
        for pod in ALL:
            api.set_pod(namespace, pod, "Running")
        way.cut()
        wait_until("Running", lambda: api.is_condition(namespace, "j", "Running"))
        api.set_pod(namespace, "j-master-0", "Succeeded", 0)
        wait_until("Succeeded", lambda: api.is_condition(namespace, "j", "Succeeded"))
        way.cut()
        await_pods(api, namespace, [])
        assert ours.process.poll() is None
    finally:
        way.close()


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* The wall clock is off by as many seconds as the file CLOCK_OFFSET says. */
int clock_gettime(clockid_t id, struct timespec* at) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  long off = 0;
  FILE* file = id == CLOCK_REALTIME ? fopen(getenv("CLOCK_OFFSET"), "re") : NULL;
  if (file) {
    if (fscanf(file, "%ld", &off) == 1) at->tv_sec += off;
    fclose(file);
  }
  return result;
}
"""


def test_the_clock_jumps(api, namespace, operator, tmp_path):
    (tmp_path / "clock.c").write_text(CLOCK)
    library, offset = tmp_path / "clock.so", tmp_path / "offset"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"],
                   check=True)

    def jump(seconds):
        (tmp_path / "new").write_text(str(seconds))
        os.replace(tmp_path / "new", offset)
    jump(0)
    ours = operator(env={"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)})
    api.create("pytorchjobs", namespace, job(policy={"activeDeadlineSeconds": 3600}))
    await_pods(api, namespace, ALL)
    wait_until("its start", lambda: "startTime" in api.get("pytorchjobs", namespace, "j").get(
        "status", {}))
    jump(-1800)
    for pod in ALL:
        api.set_pod(namespace, pod, "Running")
    wait_until("Running", lambda: api.is_condition(namespace, "j", "Running"))
    # A day: the deadline is over as soon as anything is heard of the job.
    jump(86400)
    api.patch("pytorchjobs", namespace, "j", {"metadata": {"labels": {"news": "1"}}})
    wait_until("Failed", lambda: api.is_condition(namespace, "j", "Failed"))
    jump(0)
    api.create("pytorchjobs", namespace, job("next", workers=None,
                                             policy={"ttlSecondsAfterFinished": 1}))
    wait_until("its pod", lambda: "next-master-0" in api.names("pods", namespace))
    jump(-86400)
    api.set_pod(namespace, "next-master-0", "Succeeded", 0)
    wait_until("it ends and is deleted",
               lambda: api.get("pytorchjobs", namespace, "next") is None)
    assert ours.process.poll() is None


def test_sigterm_ends_it_while_the_api_server_is_down(cluster, namespace, operator):
    ours = operator()
    cluster.stop_api_server(kill=True)
    try:
        assert ours.stop() == 0, ours.log()
    finally:
        cluster.start_api_server()


def env_of_v1(name, rank):
    pairs = [("PYTHONUNBUFFERED", "1"), ("MASTER_PORT", "23456"), ("PET_MASTER_PORT", "23456"),
             ("MASTER_ADDR", f"{name}-master-0"), ("PET_MASTER_ADDR", f"{name}-master-0"),
             ("WORLD_SIZE", "2"), ("RANK", rank), ("PET_NODE_RANK", rank),
             ("PET_NPROC_PER_NODE", "auto"), ("PET_NNODES", "2")]
    return [{"name": key, "value": str(value)} for key, value in pairs]


def write_as_v1(api, namespace, name):
    """A running job of one master and one worker, as Kubeflow's operator would have left it."""
    made = api.create("pytorchjobs", namespace, job(name, workers=1))
    owner = [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": name,
              "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]
    for rank, kind in enumerate(("master", "worker")):
        labels = {"training.kubeflow.org/operator-name": "pytorchjob-controller",
                  "training.kubeflow.org/job-name": name, "training.kubeflow.org/replica-type": kind,
                  "training.kubeflow.org/replica-index": "0"}
        role = {"training.kubeflow.org/job-role": "master"} if kind == "master" else {}
        metadata = {"name": f"{name}-{kind}-0", "ownerReferences": owner}
        api.create("pods", namespace, {
            "metadata": {**metadata, "labels": {**labels, **role}},
            "spec": {"restartPolicy": "OnFailure", "containers": [
                {"name": "pytorch", "image": "registry.local/train:1",
                 "ports": [{"name": "pytorchjob-port", "containerPort": 23456}],
                 "env": env_of_v1(name, rank)}]}})
        api.create("services", namespace, {
            "metadata": {**metadata, "labels": labels},
            "spec": {"clusterIP": "None", "selector": labels,
                     "ports": [{"name": "pytorchjob-port", "port": 23456}]}})
        api.set_pod(namespace, f"{name}-{kind}-0", "Running")
    now = "2026-01-01T10:00:00Z"

    def condition(kind, message):
        return {"type": kind, "status": "True", "reason": f"PyTorchJob{kind}", "message": message,
                "lastUpdateTime": now, "lastTransitionTime": now}

    def selector(kind):
        return (f"training.kubeflow.org/job-name={name},training.kubeflow.org/operator-name="
                f"pytorchjob-controller,training.kubeflow.org/replica-type={kind}")
    api.patch("pytorchjobs", namespace, name, {"status": {
        "conditions": [condition("Created", f"PyTorchJob {name} is created."),
                       condition("Running", f"PyTorchJob {name} is running.")],
        "replicaStatuses": {"Master": {"active": 1, "selector": selector("master")},
                            "Worker": {"active": 1, "selector": selector("worker")}},
        "startTime": now}}, "/status")


def test_upgrade_from_kubeflows_operator_restarts_nothing(api, namespace, operator):
    for number in range(5):
        write_as_v1(api, namespace, f"old-{number}")

    def world():
        return {kind: {name: (o["metadata"]["uid"], o["metadata"]["resourceVersion"])
                       for name, o in api.items(kind, namespace).items() if name.startswith("old-")}
                for kind in ("pytorchjobs", "pods", "services")}
    before = world()
    operator()
    # Jobs are looked at in the order in which they are heard of: this one last.
    api.create("pytorchjobs", namespace, job("zz", workers=None))
    wait_until("its status", lambda: api.is_condition(namespace, "zz", "Created"))
    assert world() == before
    assert not any("old-" in message for _, message in api.messages(namespace))
    api.set_pod(namespace, "old-3-master-0", "Succeeded", 0)
    wait_until("Succeeded", lambda: api.is_condition(namespace, "old-3", "Succeeded"))


class Kubelet(threading.Thread):
    """Runs every pod it sees, and lets it succeed at the second look."""

    def __init__(self, cluster, namespace):
        super().__init__(daemon=True)
        self.api, self.namespace, self.over = Api(cluster), namespace, threading.Event()
        self.looks = {}

    def run(self):
        while not self.over.wait(0.05):
            for name, pod in self.api.items("pods", self.namespace).items():
                uid = pod["metadata"]["uid"]
                seen = self.looks[uid] = self.looks.get(uid, 0) + 1
                try:
                    if seen == 1:
                        self.api.set_pod(self.namespace, name, "Running")
                    elif seen == 4:
                        self.api.set_pod(self.namespace, name, "Succeeded", 0)
                except Exception:  # pylint: disable=broad-except
                    pass  # deleted meanwhile


def test_killed_at_any_moment_every_job_ends_right(cluster, api, namespace, operator):
    kills = int(os.environ.get("MUSTER_KILLS", "10"))
    seed = int(os.environ.get("MUSTER_SEED", "1"))
    dice = random.Random(seed)
    kubelet = Kubelet(cluster, namespace)
    kubelet.start()
    jobs = 0
    try:
        for kill in range(kills):
            ours = operator(await_ready=False)
            batch = [f"k{kill}-{number}" for number in range(4)]
            for name in batch:
                api.create("pytorchjobs", namespace, job(
                    name, policy={"cleanPodPolicy": dice.choice(["All", "Running"])}))
            jobs += len(batch)
            # From before its first write to the clean-up of the last job.
            seen = dice.choice(["pod", "status", "Running", "Succeeded"])
            name = dice.choice(batch)
            wait_until(f"{seen} of {name}, seed {seed}", lambda: (
                any(pod.startswith(name) for pod in api.names("pods", namespace))
                if seen == "pod" else api.conditions(namespace, name) if seen == "status" else
                any(c[0] in (seen, "Succeeded") for c in api.conditions(namespace, name))))
            ours.kill()
        operator()
        wait_until("all jobs succeeded", lambda: sum(
            any(c["type"] == "Succeeded" and c["status"] == "True"
                for c in one.get("status", {}).get("conditions", []))
            for one in api.items("pytorchjobs", namespace).values()) == jobs, patience=600)
        wait_until("nothing is left of them but what ended", lambda: all(
            pod["status"]["phase"] == "Succeeded"
            for pod in api.items("pods", namespace).values()), patience=300)
    finally:
        kubelet.over.set()
        kubelet.join()
    for one in api.items("pytorchjobs", namespace).values():
        kinds = [c["type"] for c in one["status"]["conditions"]]
        assert kinds.count("Created") == 1 and len(kinds) == len(set(kinds)), json.dumps(one)
        assert "completionTime" in one["status"]
