"""Arena's verbs of the real binary against a real API server, through a kubeconfig."""
import base64
import collections
import json
import os

import pytest

from real_kubernetes import Authority

JOB_FLAGS = ("--workers=2", "--image=registry.local/mnist:1")


def submit(muster, name, namespace, *flags, **options):
    return muster.run("submit", "pytorch", f"--name={name}", "-n", namespace, *JOB_FLAGS, *flags,
                      "python mnist.py", **options)


def play_operator(cluster, namespace, job, phase="Running", node="node-1"):
    """What the operator and a kubelet would do: the job's pods, and both statuses."""
    made = cluster.get("pytorchjob", job, "-n", namespace)
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": job,
             "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    for replica, spec in made["spec"]["pytorchReplicaSpecs"].items():
        template, count = spec["template"], spec["replicas"]
        for index in range(count):
            labels = {**template.get("metadata", {}).get("labels", {}),
                      "training.kubeflow.org/operator-name": "pytorchjob-controller",
                      "training.kubeflow.org/job-name": job,
                      "training.kubeflow.org/replica-type": replica.lower(),
                      "training.kubeflow.org/replica-index": str(index)}
            if replica == "Master":
                labels["training.kubeflow.org/job-role"] = "master"
            name = f"{job}-{replica.lower()}-{index}"
            cluster.apply({"apiVersion": "v1", "kind": "Pod",
                           "metadata": {"name": name, "namespace": namespace, "labels": labels,
                                        "ownerReferences": [owner]},
                           "spec": {**template["spec"], "nodeName": node}})
            cluster.patch_status("pod", name, namespace, {
                "phase": phase, "hostIP": "127.0.0.1",
                "startTime": "2026-01-01T00:00:00Z",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{
                    "name": template["spec"]["containers"][0]["name"], "ready": True,
                    "restartCount": 0, "image": "x", "imageID": "x", "started": True,
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]})
    cluster.patch_status("pytorchjob", job, namespace, {
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "Created", "status": "True", "reason": "PyTorchJobCreated",
                        "message": "", "lastUpdateTime": "2026-01-01T00:00:00Z",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"},
                       {"type": phase, "status": "True", "reason": "x", "message": "",
                        "lastUpdateTime": "2026-01-01T00:00:00Z",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]})


EDIT_RULES = [
    {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"],
     "verbs": ["get", "list", "watch", "create", "delete", "patch", "update"]},
    {"apiGroups": [""], "resources": ["pods", "pods/log", "services", "configmaps", "secrets",
                                      "events", "persistentvolumeclaims"],
     "verbs": ["get", "list", "watch", "create", "delete", "patch", "update"]},
    {"apiGroups": ["apps"], "resources": ["deployments"],
     "verbs": ["get", "list", "watch", "create", "delete", "patch", "update"]},
]


def one_line(done):
    """The error that a command printed, which is one line."""
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_submit_makes_the_job_and_what_belongs_to_it(real_cluster, muster, namespace):
    done = submit(muster, "mnist", namespace, "--gpus=1", "--env=A=b",
                  "--sync-mode=git", "--sync-source=https://git.local/mnist.git")
    assert "pytorchjob.kubeflow.org/mnist created" in done.stdout
    job = real_cluster.get("pytorchjob", "mnist", "-n", namespace)
    specs = job["spec"]["pytorchReplicaSpecs"]
    assert (specs["Master"]["replicas"], specs["Worker"]["replicas"]) == (1, 1)
    container = specs["Worker"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.local/mnist:1"
    assert container["resources"]["limits"]["nvidia.com/gpu"] in (1, "1")
    assert {"name": "A", "value": "b"} in container["env"]
    assert job["metadata"]["labels"]["release"] == "mnist"
    identity = real_cluster.get("configmap", "mnist-pytorchjob", "-n", namespace)
    assert identity["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]


def test_on_kubernetes_an_image_is_required(muster, namespace):
    done = muster.run("submit", "pytorch", "--name=none", "-n", namespace, "true", code=2)
    assert "--image must be set" in done.stderr


def test_list_get_top_and_delete(real_cluster, muster, namespace):
    submit(muster, "one", namespace)
    play_operator(real_cluster, namespace, "one")
    listed = json.loads(muster.run("list", "-n", namespace, "-o", "json").stdout)
    assert [(job["name"], job["status"]) for job in listed] == [("one", "RUNNING")]
    assert "one" in muster.run("list", "-n", namespace).stdout
    assert "one" in muster.run("list", "-A").stdout
    got = json.loads(muster.run("get", "one", "-n", namespace, "-o", "json").stdout)
    assert {i["name"] for i in got["instances"]} == {"one-master-0", "one-worker-0"}
    assert "one-master-0" in muster.run("get", "one", "-n", namespace).stdout
    assert "one" in muster.run("top", "job", "-n", namespace).stdout
    # No kubelet confirms the end of pods that a node is said to run.
    real_cluster.kubectl("delete", "pods", "--all", "-n", namespace, "--force", "--grace-period=0")
    done = muster.run("delete", "one", "-n", namespace)
    assert "The training job one has been deleted successfully" in done.stderr
    assert real_cluster.get("pytorchjobs", "-n", namespace)["items"] == []
    assert "mnist" not in muster.run("list", "-n", namespace).stdout
    done = muster.run("get", "one", "-n", namespace, code=1)
    assert f"Not found training job one in namespace {namespace}" in done.stderr


def test_a_second_job_of_the_name_is_refused(muster, namespace):
    submit(muster, "twice", namespace)
    done = submit(muster, "twice", namespace, code=1)
    assert "the job twice is already exist, please delete it first" in done.stderr


def test_data_and_nodes(real_cluster, muster, namespace):
    real_cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                        "metadata": {"name": "training-data", "namespace": namespace,
                                     "annotations": {"description": "numbers", "owner": "tom"}},
                        "spec": {"accessModes": ["ReadWriteMany"],
                                 "resources": {"requests": {"storage": "1Gi"}}}})
    real_cluster.patch_status("pvc", "training-data", namespace, {"phase": "Bound"})
    assert "numbers" in muster.run("data", "list", "-n", namespace).stdout
    real_cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-gpu"}})
    real_cluster.kubectl("patch", "node", "node-gpu", "--subresource=status", "--type=merge", "-p",
                         json.dumps({"status": {"capacity": {"nvidia.com/gpu": "8"},
                                                "allocatable": {"nvidia.com/gpu": "8"}}}))
    assert "node-gpu" in muster.run("top", "node").stdout
    real_cluster.kubectl("delete", "node", "node-gpu")


def test_whoami_is_the_name_that_the_server_knows(real_cluster, muster, muster_as):
    assert json.loads(muster.run("whoami").stdout)["Name"] == "admin"
    alice = muster_as(real_cluster.user_kubeconfig("alice"))
    assert json.loads(alice.run("whoami").stdout)["Name"] == "alice"
    tina = muster_as(real_cluster.write_kubeconfig("tina", {"token": "token-one"}))
    assert json.loads(tina.run("whoami").stdout)["Name"] == "tina"


def test_a_user_of_one_namespace_needs_no_right_of_the_cluster(real_cluster, muster_as, namespace):
    real_cluster.allow(namespace, "members-of-" + namespace, EDIT_RULES)
    member = muster_as(real_cluster.user_kubeconfig("mia", ["members-of-" + namespace], namespace))
    submit(member, "hers", namespace)
    play_operator(real_cluster, namespace, "hers")
    # The namespace comes from the context.
    assert "hers" in member.run("list").stdout
    assert json.loads(member.run("get", "hers", "-o", "json").stdout)["status"] == "RUNNING"
    member.run("data", "list")
    member.run("top", "job")
    real_cluster.kubectl("delete", "pods", "--all", "-n", namespace, "--force", "--grace-period=0")
    member.run("delete", "hers")


def test_what_rbac_forbids_is_named(real_cluster, muster_as, namespace):
    nobody = muster_as(real_cluster.user_kubeconfig("ned", ["strangers"], namespace))
    for args, verb, resource in ((("get", "x"), "get", "pytorchjobs"),
                                 (("list",), "list", "pytorchjobs"),
                                 (("data", "list"), "list", "persistentvolumeclaims")):
        line = one_line(nobody.run(*args, code=1))
        assert f'User "ned" cannot {verb} resource "{resource}"' in line, line
        assert f'in the namespace "{namespace}"' in line, line
    line = one_line(submit(nobody, "x", namespace, code=1))
    assert 'cannot create resource "pytorchjobs"' in line, line
    assert "nodes" in one_line(nobody.run("top", "node", code=1))


def test_who_may_only_create_leaves_a_whole_job_or_none(real_cluster, muster_as, namespace):
    rules = [{"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["create"]}]
    real_cluster.allow(namespace, "starters", rules)
    starter = muster_as(real_cluster.user_kubeconfig("sue", ["starters"], namespace))
    line = one_line(submit(starter, "half", namespace, code=1))
    assert 'User "sue" cannot create resource "configmaps"' in line and "the job half was not created" in line
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    real_cluster.allow(namespace, "starters", [*rules, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}])
    submit(starter, "whole", namespace)
    assert [made["metadata"]["name"] for made in real_cluster.get("configmaps", "-n", namespace)["items"]
            if made["metadata"].get("ownerReferences")] == ["whole-pytorchjob"]


def test_who_may_not_read_configmaps_deletes_jobs_still(real_cluster, muster, muster_as, namespace):
    submit(muster, "theirs", namespace)
    rules = [{"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["get", "list", "watch", "delete"]},
             {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    real_cluster.allow(namespace, "trimmers", rules)
    trimmer = muster_as(real_cluster.user_kubeconfig("tom", ["trimmers"], namespace))
    done = trimmer.run("delete", "theirs")
    assert 'cannot get resource "configmaps"' in done.stderr and "that ConfigMap remains" in done.stderr
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    assert 'cannot get resource "configmaps"' in one_line(trimmer.run("delete", "theirs", code=1))


def test_many_jobs_that_are_gone_take_few_requests(real_cluster, muster, muster_as, namespace):
    """What a job that has ended meanwhile takes: three to begin, and two looks instead of two lists and two watches."""
    count = 8
    for number in range(count):
        submit(muster, f"j{number}", namespace)
    real_cluster.kubectl("create", "serviceaccount", "deleter", "-n", namespace)
    real_cluster.kubectl("create", "rolebinding", "deleter", "-n", namespace, "--clusterrole=cluster-admin",
                         f"--serviceaccount={namespace}:deleter")
    deleter = muster_as(real_cluster.account_kubeconfig(namespace, "deleter"))
    deleter.run("delete", "-n", namespace, *(f"j{number}" for number in range(count)))
    asked = collections.Counter(request[:2] for request in real_cluster.requests_of(namespace, "deleter"))
    assert sum(number for (verb, _), number in asked.items() if verb == "watch") <= 2, asked
    assert asked["list", "pytorchjobs.kubeflow.org"] <= 1, asked
    # Of a job: its ConfigMap is read and deleted, it is read, deleted and read again, its pods are listed; and the
    # namespace is read, because the jobs are another user's.
    assert sum(asked.values()) <= 7 * count + 4, asked


def test_a_cluster_without_the_crd_says_how_to_install_it(real_cluster, muster, namespace):
    crd = os.path.join(os.path.dirname(__file__), "..", "..", "deploy", "crd.yaml")
    real_cluster.kubectl("delete", "-f", crd)
    try:
        for args in (("list",), ("get", "x"), ("logs", "x"), ("delete", "x")):
            line = one_line(muster.run(*args, "-n", namespace, code=1))
            assert "the cluster knows no PyTorchJob (kubeflow.org/v1)" in line, line
            assert "`muster install`" in line
        assert "knows no PyTorchJob" in one_line(submit(muster, "x", namespace, code=1))
    finally:
        real_cluster.kubectl("apply", "--server-side", "-f", crd)
        real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                             "crd/pytorchjobs.kubeflow.org")


def test_an_expired_client_certificate_is_told_from_others(real_cluster, muster_as):
    late = muster_as(real_cluster.user_kubeconfig("otto", days=-1))
    line = one_line(late.run("list", code=1))
    assert "does not accept the client certificate, which expired at" in line, line
    assert 'user "otto"' in line
    wrong = muster_as(real_cluster.write_kubeconfig("forged", {"token": "no-such-token"}))
    assert 'does not accept the token of user "forged"' in one_line(wrong.run("list", code=1))


def test_an_expired_token_is_told_from_others(real_cluster, muster_as):
    claims = base64.urlsafe_b64encode(json.dumps({"exp": 1_500_000_000, "sub": "system:serviceaccount:a:b"}).encode())
    for token, words in (("ey." + claims.decode().rstrip("=") + ".x", "the token, which expired at 2017-07-14T02:40:00Z, of"),
                         ("wrong", "does not accept the token of")):
        user = muster_as(real_cluster.write_kubeconfig("tokens", {"token": token}))
        line = one_line(user.run("list", code=1))
        assert words in line and line.endswith("log in again"), line


def test_a_server_of_an_unknown_authority_is_refused(real_cluster, muster_as):
    other = Authority(real_cluster.path("other-pki"), "another")
    path = real_cluster.write_kubeconfig("stranger", {"token": "token-one"},
                                         cluster={"certificate-authority": other.cert})
    line = one_line(muster_as(path).run("list", code=1))
    assert "is not trusted: it is signed by an authority" in line, line
    insecure = real_cluster.write_kubeconfig(
        "insecure", {"client-certificate": real_cluster.admin_cert,
                     "client-key": real_cluster.admin_key},
        cluster={"certificate-authority": None, "insecure-skip-tls-verify": True})
    muster_as(insecure).run("list")


def test_tls_server_name_stands_for_the_name_in_the_certificate(real_cluster, muster_as):
    admin = {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key}
    # The certificate holds kubernetes.default.svc and 127.0.0.1, not example.test.
    path = real_cluster.write_kubeconfig("wrong-name", admin,
                                         cluster={"tls-server-name": "example.test"})
    line = one_line(muster_as(path).run("list", code=1))
    assert "it is for another name" in line and "tls-server-name" in line, line
    path = real_cluster.write_kubeconfig("right-name", admin,
                                         cluster={"tls-server-name": "kubernetes.default.svc"})
    muster_as(path).run("list")


def test_the_cluster_command_says_which_and_why(real_cluster, muster):
    said = muster.run("cluster").stdout
    assert real_cluster.url in said and "Version:    v1." in said and "User:       admin" in said
    assert f"Because:    {muster.path('.kube', 'config')} exists" in said
    said = muster.run("cluster", "--kubeconfig", real_cluster.kubeconfig).stdout
    assert f"flag --kubeconfig {real_cluster.kubeconfig}" in said
    assert "flag --local" in muster.run("cluster", "--local").stdout
    done = muster.run("cluster", "--context", "nowhere", code=1)
    assert 'context "nowhere" does not exist; there are: admin' in one_line(done)


def test_kubeconfig_lists_are_merged_and_contexts_chosen(real_cluster, muster_as, namespace):
    nobody = muster_as(None)
    admin = real_cluster.kubeconfig
    tina = real_cluster.write_kubeconfig("tina-two", {"token": "token-two"}, namespace)
    lists = {"KUBECONFIG": f"/nonexistent/config:{tina}:{admin}"}

    def whoami(*flags):
        return json.loads(nobody.run("whoami", *flags, env=lists).stdout)["Name"]
    assert whoami() == "tina"  # the first file's current-context
    assert whoami("--context", "admin") == "admin"
    assert f"Namespace:  {namespace}" in nobody.run("cluster", env=lists).stdout
    # Arena's name for --kubeconfig.
    done = nobody.run("whoami", "--config", admin)
    assert json.loads(done.stdout)["Name"] == "admin"
    done = nobody.run("list", "--kubeconfig", "/nonexistent/config", code=1)
    assert "/nonexistent/config" in one_line(done) and "No such file" in done.stderr


def test_relative_paths_are_relative_to_their_file(real_cluster, muster_as):
    path = real_cluster.write_kubeconfig(
        "relative", {"client-certificate": "pki/admin.crt", "client-key": "pki/admin.key"},
        cluster={"certificate-authority": "pki/ca.crt"})
    assert json.loads(muster_as(None).run("whoami", "--kubeconfig", path).stdout)["Name"] == "admin"


def test_impersonation(real_cluster, muster_as):
    path = real_cluster.write_kubeconfig(
        "actor", {"client-certificate": real_cluster.admin_cert,
                  "client-key": real_cluster.admin_key, "as": "eve", "as-groups": ["g1", "g2"]})
    actor = muster_as(path)
    assert json.loads(actor.run("whoami").stdout)["Name"] == "eve"
    assert 'User "eve" cannot list' in one_line(actor.run("list", code=1))


EXEC_API = "client.authentication.k8s.io/v1"


def exec_user(command, **more):
    return {"exec": {"apiVersion": EXEC_API, "command": command, "interactiveMode": "Never", **more}}


def write_program(path, body):
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + body)
    os.chmod(path, 0o755)
    return path


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_exec_plugins_give_tokens(real_cluster, muster_as, version):
    api = f"client.authentication.k8s.io/{version}"
    program = write_program(real_cluster.path(f"plugin-{version}"), f"""
echo "$KUBERNETES_EXEC_INFO" >>{real_cluster.path(f"seen-{version}")}
echo '{{"apiVersion":"{api}","kind":"ExecCredential","status":{{"token":"'"$1-$WHICH"'"}}}}'
""")
    path = real_cluster.write_kubeconfig(f"exec-{version}", exec_user(
        program, apiVersion=api, args=["token"], env=[{"name": "WHICH", "value": "one"}],
        provideClusterInfo=True))
    user = muster_as(path)
    assert json.loads(user.run("whoami").stdout)["Name"] == "tina"
    with open(real_cluster.path(f"seen-{version}")) as file:
        runs = file.read().splitlines()
    assert len(runs) == 1  # once a process, however many requests
    info = json.loads(runs[0])
    assert info["kind"] == "ExecCredential" and info["apiVersion"] == api
    assert info["spec"]["interactive"] is False
    assert info["spec"]["cluster"]["server"] == real_cluster.url
    assert info["spec"]["cluster"]["certificate-authority-data"]


def test_exec_plugins_that_fail_are_named(real_cluster, muster_as):
    path = real_cluster.write_kubeconfig("exec-gone", exec_user(
        "no-such-credential-program", installHint="install it\nwith care"))
    line = one_line(muster_as(path).run("list", code=1))
    assert '"no-such-credential-program"' in line and "install it with care" in line, line
    failing = write_program(real_cluster.path("plugin-fails"), "echo please log in >&2; exit 3\n")
    done = muster_as(real_cluster.write_kubeconfig("exec-fails", exec_user(failing))).run(
        "list", code=1)
    assert "please log in" in done.stderr and "it failed with exit code 3" in done.stderr
    prints = write_program(real_cluster.path("plugin-prints"), "echo not json\n")
    line = one_line(muster_as(real_cluster.write_kubeconfig("exec-prints", exec_user(prints))).run(
        "list", code=1))
    assert "it printed no ExecCredential" in line, line


def test_exec_plugins_give_certificates(real_cluster, muster_as):
    with open(real_cluster.admin_cert) as cert, open(real_cluster.admin_key) as key:
        status = {"clientCertificateData": cert.read(), "clientKeyData": key.read()}
    answer = real_cluster.path("credential.json")
    with open(answer, "w") as file:
        json.dump({"apiVersion": EXEC_API, "kind": "ExecCredential", "status": status}, file)
    path = real_cluster.write_kubeconfig("exec-cert", exec_user("cat", args=[answer]))
    assert json.loads(muster_as(path).run("whoami").stdout)["Name"] == "admin"


def test_a_truncated_kubeconfig_is_told_by_its_line(real_cluster, muster_as):
    path = real_cluster.path("cut.kubeconfig")
    for text, said in (("apiVersion: v1\nclusters: [", "line "),
                       ("clusters: {}\n", "clusters: must be a list"),
                       ("users:\n- name: u\n  user: {exec: {command: x}}\n",
                        "users[0].user.exec.apiVersion"),
                       ("current-context: c\ncontexts: [{name: c, context: {cluster: d}}]\n",
                        'names cluster "d", which does not exist'),
                       ("", "has no contexts")):
        with open(path, "w") as file:
            file.write(text)
        line = one_line(muster_as(None).run("list", "--kubeconfig", path, code=1))
        assert said in line and path in line, line
