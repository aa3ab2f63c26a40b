"""muster run and submit --sync-mode=local against a real API server: the folder travels with the job, and what was submitted is remembered.
No kubelet runs here: what its init container would do is done by the test."""
import base64
import json
import os
import socket
import subprocess

import pytest

from fake_servers import SlowWay
from running_operator import wait_until


@pytest.fixture
def code(muster):
    folder = muster.path("project")
    os.makedirs(os.path.join(folder, "pkg"))
    for name, text in (("train.py", "print('hello')\n"), ("pkg/model.py", "X = 1\n"), (".musterignore", "*.ckpt\n"),
                       ("old.ckpt", "no\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return folder


def run(muster, namespace, folder, *args, **options):
    return muster.run("run", "--namespace", namespace, "-C", folder, "-d", "--image=registry.local/train:1", *args, **options)


def parts_of(cluster, namespace, job):
    return {item["metadata"]["name"]: item for item in cluster.get("configmaps", "-n", namespace)["items"]
            if item["metadata"]["name"].startswith(f"{job}-code-")}


def unpack(cluster, namespace, job, replica, folder):
    """By the init container's own command, with the volume as a kubelet would mount it."""
    pod = cluster.get("pytorchjob", job, "-n", namespace)["spec"]["pytorchReplicaSpecs"][replica]["template"]["spec"]
    init, = pod["initContainers"]
    assert init["image"] == pod["containers"][0]["image"]
    sources = next(volume for volume in pod["volumes"] if "projected" in volume)["projected"]["sources"]
    archive, code = os.path.join(folder, "archive"), os.path.join(folder, "code")
    os.makedirs(archive)
    os.makedirs(code)
    for source in sources:
        part = cluster.get("configmap", source["configMap"]["name"], "-n", namespace)
        item, = source["configMap"]["items"]
        with open(os.path.join(archive, item["path"]), "wb") as file:
            file.write(base64.b64decode(part["binaryData"][item["key"]]))
    script = init["command"][2].replace("/muster/archive", archive).replace("/muster/code", code)
    subprocess.run([*init["command"][:2], script], check=True)
    return code, pod


def test_the_folder_travels_in_configmaps_that_the_job_owns(real_cluster, namespace, muster, code, tmp_path):
    with open(os.path.join(code, "noise"), "wb") as file:
        file.write(os.urandom(1_500_000))
    done = run(muster, namespace, code, "--name=far", "--nodes=2", "train.py", "--lr", "1")
    assert "code: 4 files (1.5 MB) of " in done.stderr
    job = real_cluster.get("pytorchjob", "far", "-n", namespace)
    assert "muster.dev/submitting" not in job["metadata"]["annotations"]
    parts = parts_of(real_cluster, namespace, "far")
    assert sorted(parts) == ["far-code-0", "far-code-1", "far-code-2"]
    for part in parts.values():
        owner, = part["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("PyTorchJob", job["metadata"]["uid"], True)
        assert len(part["binaryData"]["part"]) <= 900 << 10
    for number, replica in enumerate(("Master", "Worker")):
        unpacked, pod = unpack(real_cluster, namespace, "far", replica, str(tmp_path / str(number)))
        assert subprocess.run(["diff", "-r", "-x", "*.ckpt", code, unpacked], capture_output=True).stdout == b""
        container, = pod["containers"]
        assert container["workingDir"] == "/muster/code"
        assert container["command"] == ["sh", "-c", "exec python train.py --lr 1"]
        assert {"name": "muster-code", "mountPath": "/muster/code"} in container["volumeMounts"]
    secrets = real_cluster.get("secrets", "-n", namespace)["items"]
    assert not [secret for secret in secrets if secret["metadata"]["name"].startswith("far")]
    muster.run("delete", "far", "-n", namespace)
    assert not parts_of(real_cluster, namespace, "far")


def test_submit_brings_it_under_the_working_directory(real_cluster, namespace, muster, code, tmp_path):
    muster.run("submit", "pytorch", "-n", namespace, "--name=sent", "--image=i", "--sync-mode=local",
               f"--sync-source={code}", "python /root/code/project/train.py")
    unpacked, pod = unpack(real_cluster, namespace, "sent", "Master", str(tmp_path))
    assert os.path.exists(os.path.join(unpacked, "pkg", "model.py"))
    assert {"name": "muster-code", "mountPath": "/root/code/project"} in pod["containers"][0]["volumeMounts"]


def test_what_cannot_travel_is_refused_and_nothing_is_made(real_cluster, namespace, muster, code):
    def refused(words, *args):
        done = run(muster, namespace, code, "--name=no", *args, code=None)
        assert done.returncode != 0 and words in done.stderr, done.stderr
        assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]
        assert not parts_of(real_cluster, namespace, "no")
    refused("--live is for this machine", "--live", "train.py")
    refused("on another cluster `run` itself notifies: leave out --detach", "--notify=true", "train.py")
    with open(os.path.join(code, "noise"), "wb") as file:
        file.write(os.urandom(9_000_000))
    refused("a job can carry at most 8192", "train.py")


def test_a_namespace_that_takes_no_configmaps_is_left_as_it_was(real_cluster, namespace, muster, code):
    none = {"hard": {"count/configmaps": "0"}}
    real_cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": namespace}, "spec": none})
    real_cluster.patch_status("resourcequota", "none", namespace, {**none, "used": {"count/configmaps": "0"}})
    done = run(muster, namespace, code, "--name=full", "train.py", code=1)
    assert "create configmap full-code-0: " in done.stderr or "exceeded quota" in done.stderr, done.stderr
    assert "the job full was not created" in done.stderr
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]


def test_what_was_submitted_from_here_is_remembered(real_cluster, namespace, muster, code):
    run(muster, namespace, code, "--name=base", "--run-volume=disk", "train.py")
    job = real_cluster.get("pytorchjob", "base", "-n", namespace)
    listed = muster.run("history", "-n", namespace)
    assert "base" in listed.stdout and "1 existing job, and 0 gone" in listed.stderr
    real_cluster.patch_status("pytorchjob", "base", namespace, {
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T01:00:00Z",
        "conditions": [{"type": "Succeeded", "status": "True", "reason": "x", "message": "",
                        "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
    muster.run("list", "--all", "-n", namespace)
    real_cluster.kubectl("delete", "pytorchjob", "base", "-n", namespace)
    listed = muster.run("list", "--all", "-n", namespace)
    assert "base" in listed.stdout and "0 existing jobs, and 1 gone" in listed.stderr
    shown = muster.run("show", "base", "-n", namespace).stdout
    assert "as this machine saw it last" in shown and job["metadata"]["uid"][:8] in shown
    assert muster.run("code", "base", "-n", namespace).stdout.split()[-1] == "train.py"
    muster.run("rerun", "base", "-d", "-n", namespace, "--", "--lr", "2")
    again = real_cluster.get("pytorchjob", "base-2", "-n", namespace)
    container = again["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["command"][2] == "exec python train.py --lr 2"
    assert parts_of(real_cluster, namespace, "base-2")
    volume = next(mount for mount in container["volumeMounts"] if mount["mountPath"] == "/muster/run")
    assert volume["subPath"].startswith("base-2-")
    stranger = muster.run("show", "nobody", "-n", namespace, code=1).stderr
    assert "only existing jobs are known, and the ones that this machine submitted" in stranger


@pytest.mark.parametrize("comes_back", [True, False])
def test_an_api_server_that_goes_away_in_the_middle(real_cluster, namespace, muster, muster_as, code, comes_back):
    """The job is made, its code is on the way: either all of it comes, or none is left."""
    with open(os.path.join(code, "noise"), "wb") as file:
        file.write(os.urandom(2_500_000))
    way = SlowWay(real_cluster.port, 0.1)
    far = muster_as(real_cluster.write_kubeconfig(
        f"way-{way.port}", {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key},
        cluster={"server": f"https://127.0.0.1:{way.port}"}))
    running = far.start("run", "--namespace", namespace, "-C", code, "-d", "--image=i", "--name=half", "train.py")

    def is_whole():
        job = real_cluster.get("pytorchjob", "half", "-n", namespace)["metadata"]
        assert "muster.dev/submitting" not in job["annotations"]
        return {item["metadata"]["ownerReferences"][0]["uid"]
                for item in parts_of(real_cluster, namespace, "half").values()} == {job["uid"]}
    try:
        wait_until("its job is made", lambda: real_cluster.get("pytorchjobs", "-n", namespace)["items"])
        if not comes_back:
            way.listener.shutdown(socket.SHUT_RDWR)
        way.cut()
        out, err = running.communicate(timeout=120)
    finally:
        way.close()
    if comes_back:
        assert running.returncode == 0 and is_whole(), err
        return
    assert running.returncode == 1 and out == "", (out, err)
    assert "half" in err and ("was not created" in err or "is not known" in err), err
    done = muster.run("get", "half", "-n", namespace, code=1)
    assert "the submission of the job half was interrupted before it was complete: it is undone" in done.stderr
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    # No garbage collector runs here: what is left of it is in nobody's way.
    run(muster, namespace, code, "--name=half", "train.py")
    assert is_whole()


def test_secrets_are_where_the_context_says_and_their_values_only_there(real_cluster, namespace, muster_as, code, tmp_path):
    path = real_cluster.write_kubeconfig("of-secrets", {"client-certificate": real_cluster.admin_cert,
                                                        "client-key": real_cluster.admin_key}, namespace)
    muster = muster_as(path)
    (tmp_path / "env").write_text("TOKEN=hush-4711\nOTHER=x\n")
    (tmp_path / "env").chmod(0o600)
    muster.run("secret", "create", "key", "--env-file", str(tmp_path / "env"))
    assert muster.run("secret", "list").stdout.splitlines()[1].split()[::2] == ["key", "OTHER,"]
    secret = real_cluster.get("secret", "key", "-n", namespace)
    assert base64.b64decode(secret["data"]["TOKEN"]) == b"hush-4711"
    run(muster, namespace, code, "--name=secret", "--secret=key:TOKEN=HF_TOKEN", "train.py")
    job = real_cluster.get("pytorchjob", "secret", "-n", namespace)
    container, = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    assert {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "key", "key": "TOKEN"}}} in container["env"]
    for words in (("get", "secret", "-o", "yaml"), ("show", "secret"), ("show", "secret", "-o", "json")):
        assert "hush-4711" not in muster.run(*words).stdout
    assert "hush-4711" not in real_cluster.kubectl("get", "configmaps,pytorchjobs", "-n", namespace, "-o", "yaml").stdout
    muster.run("secret", "delete", "key")
    assert "hush" not in real_cluster.kubectl("get", "secrets", "-n", namespace, "-o", "yaml").stdout


def test_what_the_job_will_wait_for_is_said_at_once(real_cluster, namespace, muster, code):
    flags = ("--run-volume=disk", "--data=corpus:/data", "--secret=key")
    done = run(muster, namespace, code, "--name=early", *flags, "train.py")
    for kind, name in (("persistentvolumeclaim", "corpus"), ("persistentvolumeclaim", "disk"), ("secret", "key")):
        assert f'namespace {namespace} has no {kind} "{name}": the job waits until there is one' in done.stderr, done.stderr
    for name in ("disk", "corpus"):
        real_cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace},
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    real_cluster.kubectl("create", "secret", "generic", "key", "--from-literal=K=v", "-n", namespace)
    assert "has no" not in run(muster, namespace, code, "--name=late", *flags, "train.py").stderr


def test_commands_that_are_proposed_lead_there(real_cluster, namespace, muster, code):
    """Another namespace than the context's, and a sweep: every proposed command finds the job."""
    done = run(muster, namespace, code, "--name=there", "--sweep=lr=1,2", "train.py", "--lr", "{lr}")
    proposed = [line.split("#")[0].split() for line in done.stdout.splitlines() if line.startswith("  muster ")]
    assert [words[1] for words in proposed] == ["logs", "get", "delete"]
    for words in proposed:
        assert words[-2:] == ["-n", namespace], words
    assert f"`muster show there -n {namespace}` has their table" in done.stderr
    muster.run(*proposed[1][1:])
    for words in (("show", "there", "--best", "loss"), ("rerun", "there", "--failed")):
        assert "the results of there are in the log of its instance, which is not there" in muster.run(*words, "-n", namespace, code=1).stderr
    muster.run(*proposed[2][1:])
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]


def test_files_on_a_claim_are_said_to_be_there(namespace, muster, code):
    run(muster, namespace, code, "--name=kept", "--run-volume=disk", "train.py")
    for words in (("files", "kept"), ("cp", "kept:model.pt", ".")):
        done = muster.run(*words, "-n", namespace, code=1)
        assert "of the claim disk, not on this machine" in done.stderr, done.stderr
        assert f"`muster attach kept -n {namespace} -- ls /muster/run`" in done.stderr, done.stderr


def test_a_job_waits_for_another_where_the_operator_is_musters(real_cluster, namespace, muster, code, operator):
    for name, *flags in (("base",), ("next", "--wait-for=base"), ("other", "--wait-for=base")):
        done = run(muster, namespace, code, f"--name={name}", *flags, "train.py")
        assert ("muster's operator will start it" in done.stderr) == bool(flags)
    assert real_cluster.get("pytorchjob", "next", "-n", namespace)["spec"]["runPolicy"]["suspend"] is True
    assert "waits for base to succeed" in muster.run("get", "next", "-n", namespace).stdout
    real_cluster.kubectl("wait", "--for=create", "pod/base-master-0", "-n", namespace, "--timeout=60s")
    real_cluster.patch_status("pod", "base-master-0", namespace, {
        "phase": "Succeeded", "containerStatuses": [{
            "name": "pytorch", "ready": False, "restartCount": 0, "image": "x", "imageID": "x",
            "state": {"terminated": {"exitCode": 0}}}]})
    real_cluster.kubectl("wait", "--for=create", "pod/next-master-0", "-n", namespace, "--timeout=60s")
    next_one = real_cluster.get("pytorchjob", "next", "-n", namespace)
    assert next_one["spec"]["runPolicy"]["suspend"] is False
    assert "muster.dev/wait-for" not in next_one["metadata"]["annotations"]
