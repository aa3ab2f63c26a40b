"""Programs of jobs post how far they are to the operator, over TLS with their pod's token, and `muster get` says it."""
import json
import ssl
import urllib.error
import urllib.request

import pytest

from muster_user import Muster
from ports import free_ports
from running_operator import wait_until
from test_operator_rights import NAME, Installed, granted, job

AUTHORITY = "muster.dev/status-authority"
STATUS = {"progressPercentage": 12, "estimatedRemainingSeconds": 90, "lastUpdatedTime": "2026-11-24T10:00:00Z",
          "metrics": [{"name": "current_step", "value": "120"}, {"name": "total_steps", "value": "1000"},
                      {"name": "loss", "value": "0.5"}]}


@pytest.fixture
def endpoint(real_cluster):
    made = Installed(real_cluster, install=["--status-posts"])
    port = free_ports(1)[0]
    # Services lead nowhere here.
    made.args += [f"--status-address=127.0.0.1:{port}", f"--status-url=https://localhost:{port}"]
    yield made
    made.close()


def submit(cluster, namespace, *names):
    """Jobs, and their masters' pods."""
    cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "trainer", "namespace": namespace}})
    for name in names:
        body = job(name, namespace)
        for replica in body["spec"]["pytorchReplicaSpecs"].values():
            replica["template"]["spec"]["serviceAccountName"] = "trainer"
        cluster.apply(body)
    wait_until("pods", lambda: len(cluster.get("pods", "-n", namespace)["items"]) == 2 * len(names))
    return [cluster.get("pod", f"{name}-master-0", "-n", namespace) for name in names]


def token(cluster, pod, audience="muster.dev/status"):
    """As the kubelet puts it into the pod."""
    return cluster.kubectl("create", "token", "trainer", "-n", pod["metadata"]["namespace"], f"--audience={audience}",
                           "--bound-object-kind=Pod", f"--bound-object-name={pod['metadata']['name']}",
                           f"--bound-object-uid={pod['metadata']['uid']}").stdout.strip()


def post(pod, secret, status=STATUS):
    variables = {each["name"]: each["value"] for each in pod["spec"]["containers"][0]["env"] if "value" in each}
    trust = ssl.create_default_context(cadata=pod["metadata"]["annotations"][AUTHORITY])
    request = urllib.request.Request(variables["KUBEFLOW_TRAINER_SERVER_URL"], method="POST",
                                     data=json.dumps({"trainerStatus": status}).encode(),
                                     headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30, context=trust) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def test_a_post_with_the_pods_token_is_the_progress_of_its_job(real_cluster, namespace, endpoint):
    endpoint.start()
    pod, other = submit(real_cluster, namespace, "one", "two")
    status, answer = post(pod, token(real_cluster, pod))
    assert (status, answer["trainerStatus"]["progressPercentage"]) == (200, 12)
    muster = Muster(real_cluster.kubeconfig)
    try:
        wait_until("its progress", lambda: "Progress: step 120/1000 (12%), 90 s left, loss 0.5 (status posts)" in
                   muster.run("get", "one", "-n", namespace).stdout)
        listed = json.loads(muster.run("get", "one", "-n", namespace, "-o", "json").stdout)["progress"]
        assert [(each["source"], each["step"], each["percent"]) for each in listed] == [("status posts", 120, 12)]
    finally:
        muster.close()
    assert post(other, token(real_cluster, pod))[0] == 403
    assert post(pod, token(real_cluster, pod, audience="https://kubernetes.default.svc"))[0] == 403
    assert post(pod, "x")[0] == 403
    assert post(pod, token(real_cluster, pod), {**STATUS, "progressPercentage": 150})[0] == 422
    assert endpoint.operator.stop() == 0, endpoint.operator.log()
    assert endpoint.refused() == []
    used = {(verb, resource) for verb, resource, _, _ in real_cluster.requests_of(endpoint.place, NAME)}
    rights = granted(real_cluster, "clusterrole", NAME + "-status") | granted(
        real_cluster, "role", NAME + "-status", "-n", endpoint.place)
    assert rights <= used, rights - used


def test_without_its_rights_jobs_run_without_the_endpoint(real_cluster, namespace, endpoint):
    real_cluster.kubectl("delete", "role", NAME + "-status", "-n", endpoint.place)
    endpoint.start(await_ready=False)
    wait_until("it is said", lambda: "jobs run without it" in endpoint.operator.log())
    wait_until("it is ready", lambda: endpoint.operator.readyz()[1].startswith("ok\n[!]status: "))
    endpoint.lead_webhook_here()
    pod, = submit(real_cluster, namespace, "plain")
    assert AUTHORITY not in pod["metadata"].get("annotations", {})
    assert "volumes" not in pod["spec"]
