"""Jobs whose pods have containers beside the training's, as meshes and agents of logs add them: what is said is about the program."""
import json

import pytest

from fake_servers import FakeKubelet
from running_operator import job, wait_until

NODE = "node-of-sidecars"
SIDE = {"name": "a-proxy", "image": "registry.local/proxy:1"}
RUNS = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def ended(code):
    return {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "startedAt": "2026-01-01T00:00:00Z",
                           "finishedAt": "2026-01-01T00:01:00Z"}}


class Meshed:
    """A job of a master and a worker, with a sidecar each; `set` plays the kubelet."""

    def __init__(self, cluster, muster, api, namespace):
        self._api, self._muster, self._namespace = api, muster, namespace
        self.kubelet = FakeKubelet(cluster, NODE)
        made = job(workers=1, restart="Never")
        for replica in made["spec"]["pytorchReplicaSpecs"].values():
            replica["template"]["spec"]["containers"].insert(0, SIDE)
        api.create("pytorchjobs", namespace, made)

    def set(self, pod, phase, program, side, lines=(), side_lines=()):
        self._api.patch("pods", self._namespace, pod, {"status": {"phase": phase, "containerStatuses": [
            {"name": name, "ready": "running" in state, "restartCount": 0, "image": "x", "imageID": "x", "state": state}
            for name, state in ((SIDE["name"], side), ("pytorch", program))]}}, "/status")
        self.kubelet.write(self._namespace, pod, "pytorch", *lines)
        self.kubelet.write(self._namespace, pod, SIDE["name"], *side_lines)

    def run(self, *args):
        return self._muster.run(*args, "-n", self._namespace).stdout


@pytest.fixture
def meshed(real_cluster, muster, api, namespace):
    made = Meshed(real_cluster, muster, api, namespace)
    wait_until("the pods exist", lambda: len(api.names("pods", namespace)) == 2)
    for pod in ("j-master-0", "j-worker-0"):
        api.ask("POST", api.path("pods", namespace, pod) + "/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"kind": "Node", "name": NODE}})
        made.set(pod, "Running", RUNS, RUNS, ["step 7 loss 0.5"], ["the proxy listens"])
    wait_until("the job runs", lambda: api.is_condition(namespace, "j", "Running"))
    yield made
    made.kubelet.close()


def test_the_log_is_that_of_the_training(meshed):
    for flags in ((), ("--rank", "0"), ("-i", "j-worker-0")):
        assert meshed.run("logs", "j", *flags) == "step 7 loss 0.5\n"
    assert meshed.run("logs", "j", "--all") == "[0-1] step 7 loss 0.5\n"
    assert meshed.run("logs", "j", "-c", SIDE["name"]) == "the proxy listens\n"
    assert [rank["step"] for rank in json.loads(meshed.run("get", "j", "--ranks", "-o", "json"))] == ["step 7", "step 7"]
    assert "Progress: step 7, loss 0.5" in meshed.run("get", "j")


def test_a_program_that_ended_while_its_sidecar_runs_on_is_named(meshed):
    meshed.set("j-worker-0", "Running", ended(1), RUNS, ["ModuleNotFoundError: No module named 'foo'"])
    assert "REASON: j-worker-0 exited with code 1, but its container a-proxy runs on: the pod does not end\n" in meshed.run("get", "j")
    told = meshed.run("explain", "j")
    assert "Who:       rank 1 (j-worker-0) on" in told and "Why:       ModuleNotFoundError: No module named 'foo'\n" in told, told


def test_a_failure_of_the_program_counts_more_than_its_sidecars(meshed):
    meshed.set("j-worker-0", "Failed", ended(1), ended(143), ["ValueError: bad"], ["the proxy ends"])
    told = meshed.run("explain", "j")
    assert "Who:       rank 1 (j-worker-0) on" in told and "Why:       ValueError: bad\n" in told, told


def test_a_sidecar_that_failed_is_named_with_its_own_log(meshed):
    meshed.set("j-worker-0", "Failed", ended(0), ended(3), ["done"], ["upstream is gone"])
    told = meshed.run("explain", "j")
    assert "Who:       rank 1 (j-worker-0, container a-proxy) on" in told and "upstream is gone" in told, told
