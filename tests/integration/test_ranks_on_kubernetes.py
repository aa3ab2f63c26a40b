"""What an API server alone tells of a job's instances: why they wait, how often they were restarted, what they said last and
what they use; `get`, `get --ranks` and `watch` show it, with few requests."""
import collections
import json
import os
import pty
import re
import subprocess
import threading

import pytest

from fake_servers import FakeKubelet
from places import BINARY
from running_operator import Api, wait_until
from test_client import play_operator, submit
from waiting import PATIENCE

NODE = "node-of-ranks"
METRICS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "pods.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}},
    "spec": {"group": "metrics.k8s.io", "scope": "Namespaced",
             "names": {"plural": "pods", "singular": "pod", "kind": "PodMetrics"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture
def kubelet(real_cluster):
    made = FakeKubelet(real_cluster, NODE)
    yield made
    made.close()


class Played:
    """A job of a master and two workers that run; what becomes of its pods is the test's."""

    def __init__(self, cluster, muster, namespace, name, phase="Running", flags=()):
        self.cluster, self.namespace, self.name = cluster, namespace, name
        submit(muster, name, namespace, "--workers=3", *flags)
        play_operator(cluster, namespace, name, phase, node=NODE)

    def set(self, pod, phase, restarts=0, last=None, **state):
        self.cluster.patch_status("pod", f"{self.name}-{pod}", self.namespace, {
            "phase": phase, "conditions": [{"type": "Ready", "status": "True" if "running" in state else "False"}],
            "containerStatuses": [{
                "name": "pytorch", "ready": "running" in state, "started": "running" in state, "image": "x", "imageID": "x",
                "restartCount": restarts, "state": state, "lastState": {"terminated": last} if last else {}}]})

    def warn(self, pod, reason, message):
        """As kubelets do."""
        about = self.cluster.get("pod", f"{self.name}-{pod}", "-n", self.namespace)["metadata"]
        self.cluster.apply({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{about['name']}.{reason.lower()}", "namespace": self.namespace},
            "involvedObject": {"kind": "Pod", "namespace": self.namespace, "name": about["name"], "uid": about["uid"]},
            "reason": reason, "message": message, "type": "Warning", "count": 1, "source": {"component": "kubelet"},
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"})


@pytest.fixture
def play(real_cluster, muster, namespace, kubelet):
    def make(name, **options):
        job = Played(real_cluster, muster, namespace, name, **options)
        for pod in ("master-0", "worker-0", "worker-1"):
            job.set(pod, "Running", running={"startedAt": "2026-01-01T00:00:00Z"})
        return job
    return make


def ranks(muster, namespace, name):
    return json.loads(muster.run("get", name, "-n", namespace, "--ranks", "-o", "json").stdout)


def test_what_each_rank_waits_for_and_said_last(muster, namespace, kubelet, play):
    job = play("many")
    killed = {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}
    job.set("worker-0", "Running", restarts=2, last=killed, running={"startedAt": "2026-01-01T00:00:00Z"})
    kubelet.write(namespace, "many-worker-0", "pytorch", "step 7/10 loss 0.5", "\x1b[31mwriting\x1b[0m a checkpoint")
    job.set("worker-1", "Pending", waiting={"reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\""})
    done = muster.run("get", "many", "-n", namespace, "--ranks")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines["RANK"].split() == ["RANK", "INSTANCE", "STATE", "RESTARTS", "STEP", "QUIET", "CPU", "MEMORY", "SAYS"]
    assert re.fullmatch(r"1 +many-worker-0 +Running +2 \(OOMKilled\) +step 7 +\S+ +- +- +writing a checkpoint", lines["1"]), lines["1"]
    assert re.fullmatch(r'2 +many-worker-1 +ImagePullBackOff +0 .* ImagePullBackOff: Back-off pulling image "x"', lines["2"]), lines["2"]
    assert "the cluster serves no metrics.k8s.io" in done.stderr and "is known only on this machine" in done.stderr
    first, second, third = ranks(muster, namespace, "many")
    assert (second["restarts"], second["lastEnd"], second["lastLine"]) == (2, "OOMKilled", "writing a checkpoint")
    assert third["waits"].startswith("ImagePullBackOff: ") and first["waits"] == ""
    shown = muster.run("get", "many", "-n", namespace).stdout
    assert 'REASON: ImagePullBackOff: Back-off pulling image "x"' in shown, shown


def test_what_only_an_event_tells(muster, namespace, play):
    job = play("stuck")
    job.set("worker-1", "Pending", waiting={"reason": "ContainerCreating"})
    assert "REASON" not in muster.run("get", "stuck", "-n", namespace).stdout
    words = 'FailedMount: MountVolume.SetUp failed for volume "data": exit status 32'
    job.warn("worker-1", *words.split(": ", 1))
    assert f"REASON: stuck-worker-1: {words}" in muster.run("get", "stuck", "-n", namespace).stdout
    assert [rank["waits"] for rank in ranks(muster, namespace, "stuck")] == ["", "", words]


def test_an_init_container_that_has_not_ended_is_named(real_cluster, muster, namespace, play):
    job = play("slow")
    job.set("worker-0", "Pending", waiting={"reason": "PodInitializing"})
    real_cluster.patch_status("pod", "slow-worker-0", namespace, {"initContainerStatuses": [
        {"name": "init-pytorch", "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "started": False,
         "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]})
    assert ranks(muster, namespace, "slow")[1]["waits"] == "its init container init-pytorch has not ended"


def test_what_instances_use_where_the_cluster_measures_it(real_cluster, muster, namespace, play):
    play("busy")
    play("shared", flags=("--nproc-per-node=2",))
    real_cluster.apply(METRICS)
    try:
        real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/pods.metrics.k8s.io")
        for pod in ("busy-worker-0", "shared-worker-0"):
            labels = real_cluster.get("pod", pod, "-n", namespace)["metadata"]["labels"]
            wait_until("it is served", lambda: real_cluster.kubectl("apply", "-f", "-", code=None, stdin=json.dumps({
                "apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
                "metadata": {"name": pod, "namespace": namespace, "labels": labels},
                "timestamp": "2026-01-01T00:00:00Z", "window": "30s", "containers": [
                    {"name": "pytorch", "usage": {"cpu": "1500000000n", "memory": "2Gi"}},
                    {"name": "side", "usage": {"cpu": "250m", "memory": "0"}}]})).returncode == 0)
        first, second, _ = ranks(muster, namespace, "busy")
        assert first["cpu"] is None and (second["cpu"], second["memoryBytes"]) == (1.75, 2 << 30)
        done = muster.run("get", "busy", "-n", namespace, "--ranks")
        assert re.search(r"^1 .* 175% +2048 MiB", done.stdout, re.M), done.stdout
        assert "as metrics.k8s.io reports them" in done.stderr
        done = muster.run("get", "shared", "-n", namespace, "--ranks")
        assert re.search(r"^2 .* 175% in all +2048 MiB in all", done.stdout, re.M), done.stdout
        assert ranks(muster, namespace, "shared")[3]["cpu"] is None
    finally:
        real_cluster.kubectl("delete", "crd", "pods.metrics.k8s.io", "--wait=true")
        # The paths are served a while longer.
        wait_until("it is gone", lambda: real_cluster.kubectl(
            "get", "--raw", f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods", code=None).returncode != 0)


def test_the_last_instance_may_be_the_one_that_knows_the_loss(muster, namespace, kubelet, play):
    play("pipeline")
    kubelet.write(namespace, "pipeline-master-0", "pytorch", "loading")
    kubelet.write(namespace, "pipeline-worker-1", "pytorch", "step 3/10 loss 0.25")
    shown = muster.run("get", "pipeline", "-n", namespace).stdout
    assert re.search(r"^Progress: step 3/10 .*loss 0.25 \(log of pipeline-worker-1\)$", shown, re.M), shown


def user_of(cluster, namespace, name):
    cluster.kubectl("create", "serviceaccount", name, "-n", namespace)
    cluster.kubectl("create", "rolebinding", name, "-n", namespace, "--clusterrole=cluster-admin",
                    f"--serviceaccount={namespace}:{name}")
    return cluster.account_kubeconfig(namespace, name)


def test_watch_asks_little_of_the_api_server(real_cluster, muster_as, namespace, kubelet, play):
    """One watch of the job and one of its pods, however long it is looked at; of the logs two a second."""
    play("seen")
    for pod in ("master-0", "worker-0", "worker-1"):
        kubelet.write(namespace, f"seen-{pod}", "pytorch", f"this is {pod}")
    watcher = muster_as(user_of(real_cluster, namespace, "watcher"))
    near, far = pty.openpty()
    screen = []
    watching = subprocess.Popen([BINARY, "watch", "seen", "-n", namespace], env={**watcher.env, "TERM": "xterm", "LINES": "40", "COLUMNS": "150"},
                                cwd=watcher.folder, stdin=far, stdout=far, stderr=far, start_new_session=True)
    os.close(far)

    def read():
        try:
            while data := os.read(near, 65536):
                screen.append(data)
        except OSError:
            pass
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    api = Api(real_cluster)
    try:
        wait_until("it shows the ranks", lambda: b"seen-worker-1" in b"".join(screen))

        def asked():
            return collections.Counter(request[:2] for request in real_cluster.requests_of(namespace, "watcher"))
        begin = asked()
        wait_until("it has looked a while", lambda: asked()["get", "pods/log"] >= begin["get", "pods/log"] + 12)
        during = asked() - begin
        assert during["get", "pytorchjobs.kubeflow.org"] <= 1 and during["list", "pods"] <= 2, during
        # What changes comes by the watch.
        api.patch("pods", namespace, "seen-worker-1", {"status": {"phase": "Pending", "containerStatuses": [
            {"name": "pytorch", "image": "x", "imageID": "x", "ready": False, "restartCount": 0,
             "state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}]}}, "/status")
        wait_until("it shows why one waits", lambda: b"no such image" in b"".join(screen))
    finally:
        watching.terminate()
        watching.wait(timeout=PATIENCE)
        reader.join()
        os.close(near)
