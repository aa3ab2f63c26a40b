"""A webhook of the cluster that denies the pods of a job, or the job itself: `get`, `explain` and `submit` say which and why."""
import base64
import http.server
import json
import ssl
import threading

import pytest

from running_operator import job, wait_until
from test_operator import Started
from waiting import await_words

WHY = "image registry.local/train:1 is not signed"


class Denies(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
            "uid": review["request"]["uid"], "allowed": False, "status": {"message": WHY, "code": 403}}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def webhook(real_cluster, namespace):
    """webhook(resource, is_there): whatever is created of that kind in the namespace is denied."""
    made = []

    def make(group, resource, is_there=True):
        cert, key = real_cluster.authority.issue(f"denies-{namespace}", "denies", names=("IP:127.0.0.1",))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Denies)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        if is_there:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        else:
            server.server_close()
        with open(real_cluster.authority.cert, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        name = f"denies-{namespace}"
        real_cluster.apply({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": name},
            "webhooks": [{
                "name": "signed.policy.example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "clientConfig": {"url": f"https://127.0.0.1:{server.server_address[1]}/", "caBundle": bundle},
                "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE"]}]}]})
        made.append((name, server if is_there else None))

    yield make
    for name, server in made:
        real_cluster.kubectl("delete", "validatingwebhookconfiguration", name)
        if server:
            server.shutdown()
            server.server_close()


@pytest.mark.parametrize("is_there, words, advice", [
    (True, f'admission webhook "signed.policy.example.org" denied the request: {WHY}', "fix-first"),
    (False, 'failed calling webhook "signed.policy.example.org"', "retry")])
def test_pods_that_a_webhook_denies(real_cluster, muster, api, namespace, webhook, is_there, words, advice):
    webhook("", "pods", is_there)
    # The API server reads the configuration a moment later.
    wait_until("the webhook is asked", lambda: words.split(":")[0] in real_cluster.kubectl(
        "run", "probe", "--image=x", "--dry-run=server", "-n", namespace, code=None).stderr)
    Started(api, namespace, job(), [])
    # The job's status has it a moment before the event that the verdict is made of.
    verdict = wait_until("the reason is known", lambda: (
        lambda told: told if words in told["title"] + told["line"] and told["class"] != "none" else None)(
            json.loads(muster.run("explain", "j", "-n", namespace, "-o", "json").stdout)))
    shown = muster.run("get", "j", "-n", namespace).stdout
    assert words in shown, shown
    assert (verdict["class"], verdict["advice"]) == ("admission", advice), verdict


def test_a_job_that_a_webhook_denies(real_cluster, muster, api, namespace, webhook):
    webhook("kubeflow.org", "pytorchjobs")
    done = wait_until("the webhook is asked", lambda: (lambda done: done if "denied" in done.stderr else None)(muster.run(
        "submit", "pytorch", "--name=x", "--image=registry.local/train:1", "-n", namespace, "--dry-run=server", "true", code=None)))
    assert f'admission webhook "signed.policy.example.org" denied the request: {WHY}' in done.stderr, done.stderr
    assert done.returncode == 1


def test_a_strangers_pod_is_no_instance_and_the_reason(muster, api, namespace):
    labels = {"training.kubeflow.org/job-name": "j", "training.kubeflow.org/operator-name": "pytorchjob-controller",
              "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0"}
    api.create("pods", namespace, {"metadata": {"name": "j-worker-0", "labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    Started(api, namespace, job(), ["j-master-0", "j-worker-0", "j-worker-1"])
    shown = await_words("REASON", lambda: muster.run("get", "j", "-n", namespace).stdout)
    assert "REASON: pod j-worker-0 is needed, but a pod that is not this job's has that name\n" in shown, shown
    assert [line.split()[4] for line in shown.splitlines() if line.startswith("j ")] == ["j-master-0", "j-worker-1"], shown


def test_a_strangers_service_is_the_reason_also_of_explain(muster, api, namespace):
    """The workers wait for the name of rank 0, which selects other pods."""
    api.create("services", namespace, {"metadata": {"name": "j-master-0"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}})
    started = Started(api, namespace, job(), ["j-master-0", "j-worker-0", "j-worker-1"])
    started.set("j-master-0", "Running")
    why = "service j-master-0 is needed, but a service that is not this job's has that name\n"
    for verb, words in (("get", f"REASON: {why}"), ("explain", f"PENDING: {why}")):
        wait_until(f"{verb} names it", lambda verb=verb, words=words: words in muster.run(verb, "j", "-n", namespace).stdout)
    api.delete("services", namespace, "j-master-0")
    wait_until("the event alone does not", lambda: why not in muster.run("get", "j", "-n", namespace).stdout)


def test_what_kept_pods_waiting_is_over_once_they_run(real_cluster, muster, api, namespace):
    """The events of a quota that was full, and of a volume that was late, stay for an hour."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}}
    for most, used in ((1, 0), (9, 1)):  # no controller counts here
        real_cluster.apply({**quota, "spec": {"hard": {"pods": most}}})
        real_cluster.patch_status("resourcequota", "q", namespace, {"hard": {"pods": most}, "used": {"pods": used}})
        if most == 1:
            api.create("pytorchjobs", namespace, job())
            wait_until("the quota is full", lambda: "exceeded quota" in muster.run("get", "j", "-n", namespace).stdout)
            assert "the namespace's quota is used up" in muster.run("explain", "j", "-n", namespace).stdout
    pods = ["j-master-0", "j-worker-0", "j-worker-1"]
    wait_until("there is room", lambda: api.names("pods", namespace) == pods)
    about = api.get("pods", namespace, "j-worker-1")["metadata"]
    api.create("events", namespace, {
        "metadata": {"name": "late"}, "reason": "FailedMount", "message": "MountVolume.SetUp failed for volume \"data\"", "type": "Warning",
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": about["name"], "uid": about["uid"]},
        "lastTimestamp": about["creationTimestamp"]})
    assert "a volume could not be mounted" in muster.run("explain", "j", "-n", namespace).stdout
    for pod in pods:
        api.patch("pods", namespace, pod, {"status": {"phase": "Running", "containerStatuses": [
            {"name": "pytorch", "ready": True, "restartCount": 0, "image": "x", "imageID": "x",
             "state": {"running": {"startedAt": "2099-01-01T00:00:00Z"}}}]}}, "/status")
    wait_until("nothing is wrong any more", lambda: muster.run("explain", "j", "-n", namespace).stdout.endswith(
        " RUNNING: nothing has failed yet\n"))


def test_how_a_pod_ended_that_was_replaced_is_said(muster, api, namespace):
    """Of the pod nothing is left, and the condition Restarting goes while the master runs."""
    pods = ["j-master-0", "j-worker-0", "j-worker-1"]
    started = Started(api, namespace, job(restart="ExitCode"), pods)
    started.set(pods, "Running")
    started.await_condition("Running")
    before = api.get("pods", namespace, "j-worker-0")["metadata"]["uid"]
    started.set("j-worker-0", "Failed", 137)
    wait_until("it is replaced", lambda: (api.get("pods", namespace, "j-worker-0") or {"metadata": {"uid": before}})["metadata"]["uid"] != before)
    why = "rank 1 (j-worker-0) was killed by SIGKILL (exit code 137), and was replaced\n"
    for verb, words in (("get", f"REASON: {why}"), ("explain", f"PENDING: {why}")):
        wait_until(f"{verb} says it", lambda verb=verb, words=words: words in muster.run(verb, "j", "-n", namespace).stdout)
    started.set("j-worker-0", "Running")
    wait_until("explain says it", lambda: f"RUNNING: {why}" in muster.run("explain", "j", "-n", namespace).stdout)


@pytest.mark.parametrize("policy", ["None", "All"])
def test_a_job_of_which_only_an_exit_code_is_known_names_it(muster, api, namespace, policy):
    """The message of Failed is Kubeflow's, to the byte: the pods say it, and events where they are gone."""
    started = Started(api, namespace, job(restart="Never", policy={"cleanPodPolicy": policy}), ["j-master-0", "j-worker-0", "j-worker-1"])
    started.set(["j-master-0", "j-worker-0", "j-worker-1"], "Running")
    started.await_condition("Running")
    started.set("j-worker-1", "Failed", 3)
    started.await_condition("Failed")
    assert started.status()["conditions"][-1]["message"] == "PyTorchJob j is failed because 1 Worker replica(s) failed."
    started.await_pods([] if policy == "All" else ["j-master-0", "j-worker-0", "j-worker-1"])
    told = wait_until("the code is known", lambda: (lambda told: told if "exitCode" in told else None)(
        json.loads(muster.run("get", "j", "-n", namespace, "-o", "json").stdout)))
    assert (told["reason"], told["rank"], told["exitCode"]) == ("rank 2 (j-worker-1) exited with code 3", 2, 3), told
