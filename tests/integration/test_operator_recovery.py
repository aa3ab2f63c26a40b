"""`muster operator` and pods that end as real ones do (dying_kubelet.py): slowly, on request of
others, and again in place."""
import http.client
import json

import pytest

from dying_kubelet import DyingKubelet, now
from running_operator import Api, Operator, job, wait_until
from test_operator import ALL, CREATED, Started
from waiting import PATIENCE

SCOPE = {"muster.dev/restart-scope": "job"}


@pytest.fixture
def api(real_cluster):
    return Api(real_cluster)


class Ours:
    """The operator of one namespace."""

    def __init__(self, cluster, namespace):
        self._arguments = (cluster.kubeconfig, f"--namespace={namespace}")
        self.start()

    def start(self):
        self._running = Operator(*self._arguments)

    def kill(self):
        self._running.kill()


@pytest.fixture(autouse=True)
def ours(real_cluster, namespace):
    made = Ours(real_cluster, namespace)
    yield made
    made.kill()


@pytest.fixture
def kubelet(real_cluster, namespace):
    with DyingKubelet(real_cluster, namespace) as made:
        yield made


def begin(api, namespace, annotations=None, labels=None, **about):
    """The job, all of it running."""
    body = job(**about)
    body["metadata"].update(annotations=annotations or {}, labels=labels or {})
    j = Started(api, namespace, body, ALL)
    await_running(j)
    return j


def await_running(j):
    wait_until(f"all run, not {j.conditions()}", lambda: j.api.is_condition(
        j.namespace, j.name, "Running") and phases(j) == dict.fromkeys(ALL, "Running"))


def phases(j):
    return {name: pod["status"]["phase"] for name, pod in j.api.items("pods", j.namespace).items()
            if "deletionTimestamp" not in pod["metadata"]}


def uids(j):
    return {name: pod["metadata"]["uid"] for name, pod in j.api.items("pods", j.namespace).items()}


def await_new(j, before, names=ALL):
    """All of them are others, and run."""
    wait_until(f"others than {before}, not {j.conditions()}", lambda: phases(j) == dict.fromkeys(
        ALL, "Running") and all(uids(j)[name] != before[name] for name in names))


def counted(j):
    """What the status has of restarts and disruptions."""
    return {one["type"]: one["message"] for one in j.status()["conditions"]
            if one["type"] in ("Restarts", "Disruptions")}


def events(j, reason):
    return {message for kind, message in j.api.messages(j.namespace) if kind == reason}


def test_what_the_api_server_does_with_a_pod_that_dies(api, namespace, kubelet):
    """The facts that dying_kubelet.py builds on."""
    kubelet.death_seconds = 2
    api.create("pods", namespace, {"metadata": {"name": "p"}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "pytorch", "image": "x"}]}})
    wait_until("it runs", lambda: api.get("pods", namespace, "p")["status"]["phase"] == "Running")
    version = api.get("pods", namespace, "p")["metadata"]["resourceVersion"]
    kubelet.drain("p")
    wait_until("it is gone", lambda: api.get("pods", namespace, "p") is None)
    seen = watched(api, namespace, version)
    assert [kind for kind, _ in seen][-1] == "DELETED"
    first = next(pod for _, pod in seen if "deletionTimestamp" in pod["metadata"])
    assert first["status"]["phase"] == "Running"
    assert first["metadata"]["deletionGracePeriodSeconds"] == 30
    assert [(c["type"], c["status"], c["reason"]) for c in first["status"]["conditions"]
            if c["type"] == "DisruptionTarget"] == [("DisruptionTarget", "True", "EvictionByEvictionAPI")]
    ended = [pod for _, pod in seen if pod["status"]["phase"] == "Failed"]
    assert ended and all("deletionTimestamp" in pod["metadata"] for pod in ended)
    last = seen[-1][1]["metadata"]
    assert last["deletionGracePeriodSeconds"] == 0
    assert last["deletionTimestamp"] != first["metadata"]["deletionTimestamp"]


def watched(api, namespace, version):
    """(type, pod) of what has happened since."""
    connection = http.client.HTTPSConnection("127.0.0.1", api._port, context=api._context, timeout=PATIENCE)
    connection.request("GET", api.path("pods", namespace) +
                       f"?watch=true&resourceVersion={version}&timeoutSeconds=3")
    found = []
    for line in connection.getresponse().read().splitlines():
        event = json.loads(line)
        if event["type"] != "BOOKMARK":
            found.append((event["type"], event["object"]))
    connection.close()
    return found


@pytest.mark.parametrize("exit_code", [143, 0])
@pytest.mark.parametrize("restart, policy", [("Never", {}), ("OnFailure", {"backoffLimit": 0}),
                                             ("ExitCode", {})])
def test_resumed_while_the_old_pods_die(api, namespace, kubelet, restart, policy, exit_code):
    """Kueue preempts and admits again in the same way."""
    kubelet.exit_on_term = exit_code  # 0: it has saved its state, and is not done
    j = begin(api, namespace, restart=restart, policy=policy)
    before = uids(j)
    j.patch({"runPolicy": {"suspend": True}})
    wait_until("all are asked to go", lambda: all(
        "deletionTimestamp" in pod["metadata"] for pod in api.items("pods", namespace).values()))
    assert uids(j) == before
    j.patch({"runPolicy": {"suspend": False}})
    await_new(j, before)
    await_running(j)
    j.await_conditions(CREATED, ("Suspended", "False", "PyTorchJobResumed"),
                       ("Running", "True", "PyTorchJobRunning"))
    assert "failed" not in j.status()["replicaStatuses"]["Worker"]
    kubelet.exit("j-master-0", 0)
    j.await_condition("Succeeded")


def test_suspended_and_resumed_over_and_over(api, namespace, kubelet):
    kubelet.death_seconds = 1
    j = begin(api, namespace, restart="Never")
    for _ in range(5):
        before = uids(j)
        j.patch({"runPolicy": {"suspend": True}})
        j.patch({"runPolicy": {"suspend": False}})
        j.patch({"runPolicy": {"suspend": True}})
        wait_until("it is suspended", lambda: api.is_condition(namespace, "j", "Suspended"))
        wait_until("all are asked to go", lambda: all(
            "deletionTimestamp" in pod["metadata"] for pod in api.items("pods", namespace).values()))
        j.patch({"runPolicy": {"suspend": False}})
        await_new(j, before)
        await_running(j)
    assert not api.is_condition(namespace, "j", "Failed")


def test_the_first_failure_may_have_been_restarted_in_place(api, namespace, kubelet):
    j = begin(api, namespace, restart="OnFailure", policy={"backoffLimit": 2})
    kubelet.exit("j-worker-1", 137, "the one")
    wait_until("another second", lambda before=now(): now() != before)
    kubelet.exit("j-master-0", 1, "Connection closed by peer")
    j.await_condition("Failed")
    assert "rank 2 (j-worker-1) was killed by SIGKILL (exit code 137): the one" in (
        j.status()["conditions"][-1]["message"])
    wait_until("none of the rest is active", lambda: not any(
        "active" in counts for counts in j.status()["replicaStatuses"].values()))


@pytest.mark.parametrize("way, words", [
    ("drain", "was evicted (Eviction API: evicting)"),
    ("preempt", "was preempted (default-scheduler: preempting to accommodate a higher priority pod)"),
    ("taint", "was evicted from its node (Taint manager: deleting due to NoExecute taint)"),
    ("press", "was ended by its node (The node was low on resource: memory.)")])
def test_a_disruption_restarts_the_scope_and_is_not_counted(api, namespace, kubelet, way, words):
    j = begin(api, namespace, SCOPE, restart="ExitCode", policy={"backoffLimit": 0})
    before = uids(j)
    getattr(kubelet, way)("j-worker-0")
    await_new(j, before)
    await_running(j)
    assert counted(j) == {"Restarts": "job=1", "Disruptions": "job=1"}
    wait_until("it is told", lambda: events(j, "Disrupted") == {f"Pod j-worker-0 {words}"})
    assert f"job j is restarting because pod j-worker-0 {words}." in events(j, "PyTorchJobRestarting")
    before = uids(j)
    kubelet.exit("j-master-0", 137)
    j.await_condition("Failed")  # that one counts


def test_its_peers_may_end_before_the_evicted_pod_is_gone(api, namespace, kubelet):
    kubelet.death_seconds = 5
    j = begin(api, namespace, SCOPE, restart="ExitCode", policy={"backoffLimit": 9})
    before = uids(j)
    kubelet.drain("j-worker-0")
    try:
        kubelet.exit("j-master-0", 1, "Connection reset by peer")  # permanent, else
    except Exception:  # pylint: disable=broad-except
        pass  # it has been deleted already
    await_new(j, before)
    await_running(j)


def test_an_evicted_master_that_ends_with_0_is_not_done(api, namespace, kubelet):
    kubelet.exit_on_term = 0
    j = begin(api, namespace, restart="OnFailure")
    before = uids(j)
    kubelet.drain("j-master-0")
    await_new(j, before, ["j-master-0"])
    await_running(j)
    wait_until("it is told", lambda: events(j, "Disrupted") == {
        "Pod j-master-0 was evicted (Eviction API: evicting)"})


def test_disruptions_count_where_the_job_says_so(api, namespace, kubelet):
    j = begin(api, namespace, {**SCOPE, "muster.dev/count-disruptions": "true"}, restart="ExitCode",
              policy={"backoffLimit": 0})
    kubelet.drain("j-worker-0")
    j.await_condition("Failed")
    assert "rank 1 (j-worker-0) was evicted (Eviction API: evicting)" in (
        j.status()["conditions"][-1]["message"])


def test_under_never_a_disruption_fails_the_job_and_is_named(api, namespace, kubelet):
    j = begin(api, namespace, restart="Never")
    kubelet.drain("j-worker-0")
    j.await_condition("Failed")
    assert "rank 1 (j-worker-0) was evicted (Eviction API: evicting)" in (
        j.status()["conditions"][-1]["message"])


@pytest.mark.parametrize("first, is_restarted", [("j-worker-1", True), ("j-master-0", False)])
def test_of_two_ends_that_are_seen_at_once_the_first_decides(api, namespace, kubelet, ours, first,
                                                             is_restarted):
    j = begin(api, namespace, SCOPE, restart="ExitCode", policy={"backoffLimit": 9})
    before = uids(j)
    ours.kill()
    ends = {"j-worker-1": 137, "j-master-0": 1}
    for name in sorted(ends, key=lambda name: name != first):
        kubelet.exit(name, ends[name], "the last line")
        wait_until("another second", lambda before=now(): now() != before)
    ours.start()
    if is_restarted:
        await_new(j, before)
        await_running(j)
        assert counted(j)["Restarts"] == "job=1"
    else:
        j.await_condition("Failed")
        assert "rank 0 (j-master-0) exited with code 1: the last line" in j.status()["conditions"][-1]["message"]
