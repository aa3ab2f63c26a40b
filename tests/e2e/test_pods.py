"""Pods as processes of this machine: what they may, what they leave behind, what they are given."""
import json
import os
import signal
import time

import pytest

from embedded_api import Api
from waiting import PATIENCE, await_true

PODS = "/api/v1/namespaces/default/pods"


def run_with_umask(cluster, mask, *args, **options):
    """Runs muster as from a shell with that umask, to its end."""
    process = cluster.start(*args, umask=mask, **options)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, f"{args}: {out}{err}"
    return out


def log_of(cluster, job):
    return cluster.run("logs", job).stdout


def test_a_pod_has_the_umask_of_who_submitted_it(cluster):
    shared = cluster.path("shared")
    os.mkdir(shared)
    command = f"umask; mkdir {shared}/$NAME; echo 1 > {shared}/$NAME/result"
    for mask, folder, file in ((0o002, 0o775, 0o664), (0o027, 0o750, 0o640)):
        name = f"mask-{mask}"
        run_with_umask(cluster, mask, "submit", "pytorch", f"--name={name}", f"--env=NAME={name}",
                       command)
        cluster.wait(name, "SUCCEEDED")
        assert log_of(cluster, name).strip() == f"{mask:04o}"
        assert os.stat(f"{shared}/{name}").st_mode & 0o777 == folder
        assert os.stat(f"{shared}/{name}/result").st_mode & 0o777 == file
    # What is muster's own is its user's alone.
    for folder, _, files in os.walk(cluster.path("state")):
        assert os.stat(cluster.path("state", "muster")).st_mode & 0o077 == 0, folder


def make_pod(cluster, name, container, spec=None):
    """As kubectl creates one: nothing of a submitter comes along. Its API and its uid."""
    api = Api(cluster)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
           "spec": {"restartPolicy": "Never", **(spec or {}),
                    "containers": [{"name": "main", "image": "host", **container}]}}
    return api, api.call("POST", PODS, pod)["metadata"]["uid"]


def await_pod(api, name, accepts, timeout=30):
    deadline = time.monotonic() + timeout
    while True:
        pod = api.call("GET", f"{PODS}/{name}")
        if accepts(pod):
            return pod
        assert time.monotonic() < deadline, pod["status"]
        time.sleep(0.05)


def await_phase(api, name, *phases):
    return await_pod(api, name, lambda pod: pod["status"].get("phase") in phases)


def log_of_pod(api, name):
    api.request("GET", f"{PODS}/{name}/log")
    return api.getresponse().read().decode()


def test_a_pod_of_kubectl_has_the_usual_umask(cluster):
    api, _ = make_pod(cluster, "bare", {"command": ["sh", "-c", "umask"]})
    await_phase(api, "bare", "Succeeded")
    assert log_of_pod(api, "bare") == "0022\n"


def pod_folder(cluster, uid):
    return cluster.path("state", "muster", "pods", uid)


def shim_of(cluster, uid):
    """A descriptor of the pod's shim: nobody else is ever signalled."""
    with open(os.path.join(pod_folder(cluster, uid), "shim.json")) as file:
        return os.pidfd_open(json.load(file)["pid"])


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def await_end(pid, timeout=30):
    deadline = time.monotonic() + timeout
    while is_alive(pid):
        assert time.monotonic() < deadline, f"{pid} runs on"
        time.sleep(0.05)


def await_content(path, timeout=30):
    deadline = time.monotonic() + timeout
    while not os.path.exists(path):
        assert time.monotonic() < deadline, path
        time.sleep(0.05)
    with open(path) as file:
        return file.read()


def uid_of_pod(cluster, name):
    return Api(cluster).call("GET", f"{PODS}/{name}")["metadata"]["uid"]


def test_what_a_killed_shim_leaves_is_ended_whatever_it_hides(cluster):
    stray = cluster.path("home", "stray")
    cluster.submit("killed", f"setsid env -i sh -c 'echo $$ > {stray}.new; mv {stray}.new {stray}; "
                             "exec sleep 1000' & sleep 1000")
    pid = int(await_content(stray))
    assert is_alive(pid)
    shim = shim_of(cluster, uid_of_pod(cluster, "killed-master-0"))
    signal.pidfd_send_signal(shim, signal.SIGKILL)
    await_end(pid)
    cluster.wait("killed", "FAILED")


def test_a_job_whose_shim_is_stopped_is_deleted_like_others(cluster):
    cluster.submit("stopped", "sleep 1000")
    cluster.wait("stopped", "RUNNING")
    shim = shim_of(cluster, uid_of_pod(cluster, "stopped-master-0"))
    signal.pidfd_send_signal(shim, signal.SIGSTOP)
    cluster.run("delete", "stopped", timeout=PATIENCE)
    cluster.await_no_process()


def test_a_replaced_rank_0_meets_the_launcher_that_serves_in_its_place(cluster):
    container = {"name": "pytorch", "image": "x", "command": [
        "torchrun", "--no-python", "sh", "-c", "echo $WORLD_SIZE have met; exec sleep 1000"]}
    api = Api(cluster)
    api.call("POST", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs", {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "elastic"},
        "spec": {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}, "nprocPerNode": "1",
                 "pytorchReplicaSpecs": {"Worker": {
                     "replicas": 2, "restartPolicy": "OnFailure",
                     "template": {"spec": {"containers": [container]}}}}}})

    def worker_that_met():
        """The uid of the pod of worker 0, once its log says so."""
        uids = [pod["metadata"]["uid"] for pod in api.call("GET", PODS)["items"]
                if pod["metadata"]["name"] == "elastic-worker-0"]
        done = cluster.run("logs", "elastic", "-i", "elastic-worker-0", code=None)
        return uids and "2 have met" in done.stdout and uids
    first = await_true(worker_that_met, "both have met")
    api.call("DELETE", f"{PODS}/elastic-worker-0")
    await_true(lambda: worker_that_met() not in (first, False, []), "they meet again")
    cluster.run("delete", "elastic")


def test_a_pod_that_uses_more_memory_than_its_limit_ends_and_says_so(cluster):
    cluster.submit("hungry", "echo begins; tail -n1 /dev/zero", "--memory=64Mi")
    cluster.wait("hungry", "FAILED")
    shown = cluster.run("get", "hungry").stdout
    assert "OOMKilled" in shown and "limit" in shown and "64 MiB" in shown, shown
    assert "begins\n" in log_of(cluster, "hungry")
    pod = Api(cluster).call("GET", f"{PODS}/hungry-master-0")
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    cluster.submit("modest", "true", "--memory=64Mi", "--cpu=1")
    cluster.wait("modest", "SUCCEEDED")


SHOW_RIGHTS = ["sh", "-c", "id -u; grep NoNewPrivs /proc/self/status; grep CapBnd /proc/self/status; "
                           "touch /etc/muster-test 2>/dev/null || echo read-only; "
                           "cat /secret/word; touch /scratch/file && echo written"]
RIGHTS = {"runAsUser": 4242, "runAsNonRoot": True, "allowPrivilegeEscalation": False,
          "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True}


def check_rights(cluster):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"word": "open\n"}}
    Api(cluster).call("POST", "/api/v1/namespaces/default/secrets", secret)
    mounts = [{"name": "secret", "mountPath": "/secret"}, {"name": "scratch", "mountPath": "/scratch"}]
    api, _ = make_pod(cluster, "reduced",
                      {"command": SHOW_RIGHTS, "securityContext": RIGHTS, "volumeMounts": mounts},
                      {"volumes": [{"name": "secret", "secret": {"secretName": "s"}},
                                   {"name": "scratch", "emptyDir": {}}]})
    pod = await_phase(api, "reduced", "Succeeded", "Failed")
    assert log_of_pod(api, "reduced") == (
        "4242\nNoNewPrivs:\t1\nCapBnd:\t0000000000000000\nread-only\nopen\nwritten\n"), pod["status"]


def test_a_pod_has_no_more_rights_than_its_security_context_leaves_it(cluster):
    check_rights(cluster)


def test_a_pod_of_a_user_who_is_not_root_has_them_in_its_own_namespace(nobody_cluster):
    check_rights(nobody_cluster)


def test_what_must_not_be_root_and_would_be_is_refused_by_name(cluster):
    if os.getuid() != 0:
        pytest.skip("only root's pods would be root")
    api, _ = make_pod(cluster, "root", {"command": ["true"],
                                        "securityContext": {"runAsNonRoot": True}})

    def waits(pod):
        statuses = pod["status"].get("containerStatuses", [{}])
        return "waiting" in statuses[0].get("state", {}) and statuses[0]["state"]["waiting"].get("message")
    waiting = await_pod(api, "root", waits)["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "CreateContainerConfigError"
    assert "runAsNonRoot, but it would run as root: set runAsUser" in waiting["message"]
