"""`muster install` and `uninstall` on a real API server. No controller manager is there: where a
Deployment has to have pods, the test says that it has."""
import base64
import json
import os
import re
import subprocess
import threading

import pytest
import yaml

from muster_user import Muster
from real_kubernetes import ROOT, Authority
from running_operator import wait_until

IMAGE = "registry.local/muster:1"
NAME = "muster-operator"
THEIR_WEBHOOKS = ["validator.pytorchjob.training-operator.kubeflow.org",
                  "validator.tfjob.training-operator.kubeflow.org"]


def lines(done):
    return [line for line in done.stdout.splitlines() if line]


def documents(done):
    return [item for item in yaml.safe_load_all(done.stdout) if item]


@pytest.fixture
def place(real_cluster, muster):
    """A namespace that install makes; everything of it is gone afterwards."""
    real_cluster._names += 1
    name = f"operators-{real_cluster._names}"
    yield name
    muster.run("uninstall", "-n", name, "--delete-namespace", code=None)


def roll_out(cluster, place, deployment=NAME, available=None):
    """What a controller manager and kubelets would do."""
    made = cluster.get("deployment", deployment, "-n", place)
    count = made["spec"]["replicas"]
    cluster.patch_status("deployment", deployment, place, {
        "observedGeneration": made["metadata"]["generation"], "replicas": count,
        "updatedReplicas": count, "readyReplicas": count,
        "availableReplicas": count if available is None else available})


def test_a_dry_run_asks_nobody_and_prints_what_kubectl_takes(real_cluster):
    nowhere = Muster(None)
    try:
        done = nowhere.run("install", "--dry-run", "-n", "somewhere", "--image", IMAGE,
                           "--service-monitor")
        kinds = [item["kind"] for item in documents(done)]
        assert kinds[0] == "CustomResourceDefinition" and "ServiceMonitor" in kinds
        as_list = json.loads(nowhere.run("install", "--dry-run=client", "-n", "somewhere", "--image",
                                         IMAGE, "--service-monitor", "-o", "json").stdout)
        assert as_list["items"] == documents(done)
    finally:
        nowhere.close()
    taken = [item for item in documents(done)
             if item["kind"] not in ("ServiceMonitor", "Namespace")
             and item["metadata"].get("namespace") is None]
    real_cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-",
                         stdin="\n---\n".join(json.dumps(item) for item in taken))


def test_install_upgrade_and_uninstall(real_cluster, muster, place):
    done = muster.run("install", "-n", place, "--image", IMAGE)
    assert f"deployment.apps/{NAME} created" in lines(done)
    assert f"namespace/{place} created" in lines(done)
    assert f"The operator (image {IMAGE}) starts in namespace {place}." in done.stdout
    deployment = real_cluster.get("deployment", NAME, "-n", place)
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE

    again = muster.run("install", "-n", place, "--image", IMAGE)
    assert all(line.endswith(" unchanged") for line in lines(again)[:-1]), again.stdout

    # What the operator writes into these is left alone.
    real_cluster.kubectl("patch", "secret", "muster-operator-webhook-cert", "-n", place,
                         "--type=merge", "-p", '{"stringData": {"tls.crt": "x"}}')
    real_cluster.kubectl("patch", "validatingwebhookconfiguration", NAME, "--type=merge", "-p",
                         json.dumps({"webhooks": [entry(place, ca_bundle(real_cluster))]}))
    done = muster.run("install", "-n", place, "--image", "registry.local/muster:2")
    changed = [line for line in lines(done) if line.endswith(" configured")]
    assert changed == [f"deployment.apps/{NAME} configured"]
    assert "tls.crt" in real_cluster.get("secret", "muster-operator-webhook-cert", "-n",
                                         place)["data"]
    webhook = real_cluster.get("validatingwebhookconfiguration", NAME)["webhooks"][0]
    assert webhook["clientConfig"]["caBundle"]

    # A job stays, with its definition.
    done = muster.run("uninstall", "-n", place)
    assert lines(done)[0] == f"validatingwebhookconfiguration.admissionregistration.k8s.io/{NAME} deleted"
    assert real_cluster.get("deployments", "-n", place)["items"] == []
    assert real_cluster.get("crd", "pytorchjobs.kubeflow.org")
    assert real_cluster.get("clusterrole", "muster-pytorchjobs-edit")
    assert real_cluster.get("namespace", place)
    done = muster.run("uninstall", "-n", place)
    assert done.stdout == f"Nothing of muster is installed in namespace {place}.\n"


def test_an_installation_whose_webhook_install_wrote_is_upgraded(real_cluster, muster, place):
    """As muster did it once: the entry is then the operator's to keep."""
    muster.run("install", "-n", place)
    configuration = real_cluster.get("validatingwebhookconfiguration", NAME)
    before = {**configuration, "metadata": {key: configuration["metadata"][key] for key in ("name", "labels")},
              "webhooks": [entry(place, "")]}
    real_cluster.kubectl("apply", "--server-side", "--field-manager=muster-install", "-f", "-",
                         stdin=json.dumps(before))
    real_cluster.kubectl(
        "patch", "validatingwebhookconfiguration", NAME, "--type=json", "-p", json.dumps(
            [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": ca_bundle(real_cluster)}]))
    muster.run("install", "-n", place)


def entry(place, bundle):
    """The webhook that the operator puts into its configuration, for no kind that there is."""
    return {"name": THEIR_WEBHOOKS[0], "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"caBundle": bundle, "service": {"name": NAME, "namespace": place}},
            "rules": [{"apiGroups": ["none"], "apiVersions": ["v1"], "operations": ["CREATE"],
                       "resources": ["none"]}]}


def ca_bundle(cluster):
    with open(Authority(cluster.path("some-ca")).cert, "rb") as file:
        return base64.b64encode(file.read()).decode()


def test_a_field_that_somebody_set_is_a_conflict(real_cluster, muster, place):
    muster.run("install", "-n", place)
    real_cluster.kubectl("scale", f"deployment/{NAME}", "-n", place, "--replicas=3")
    done = muster.run("install", "-n", place, "--replicas=1", code=1)
    assert ".spec.replicas" in done.stderr and "--force-conflicts" in done.stderr, done.stderr
    muster.run("install", "-n", place, "--image", IMAGE)
    assert real_cluster.get("deployment", NAME, "-n", place)["spec"]["replicas"] == 3, "nobody asked for another number"
    muster.run("install", "-n", place, "--replicas=1", "--force-conflicts")
    muster.run("install", "-n", place)
    assert real_cluster.get("deployment", NAME, "-n", place)["spec"]["replicas"] == 1


def test_wait_ends_when_the_operator_runs(real_cluster, muster, place):
    waiting = muster.start("install", "-n", place, "--wait", "--timeout=2m")
    out = []
    for line in waiting.stdout:
        out.append(line)
        if line.startswith("validatingwebhook"):
            break
    roll_out(real_cluster, place)
    rest, err = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, err
    assert "runs in namespace" in rest


def test_wait_that_ends_in_vain_says_why(real_cluster, muster, place):
    muster.run("install", "-n", place)
    roll_out(real_cluster, place, available=0)
    # The pod that a controller manager would make: the namespace lets only restricted ones in.
    template = real_cluster.get("deployment", NAME, "-n", place)["spec"]["template"]
    real_cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": f"{NAME}-x", "namespace": place, "labels": template["metadata"]["labels"]},
        "spec": {**template["spec"], "nodeName": "node-1"}})
    real_cluster.patch_status("pod", f"{NAME}-x", place, {"containerStatuses": [{
        "name": "operator", "ready": False, "restartCount": 0, "image": "x", "imageID": "",
        "state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}]})
    done = muster.run("install", "-n", place, "--wait", "--timeout=1s", code=1)
    assert (f"deployment.apps/{NAME}: 0 of 1 pods are ready "
            f"(pod {NAME}-x: ErrImagePull: no such image)") in done.stderr, done.stderr


def test_a_server_dry_run_changes_nothing(real_cluster, muster):
    done = muster.run("install", "-n", "not-there", "--dry-run=server")
    assert (f"deployment.apps/{NAME} created, unchecked: its namespace does not exist yet "
            "(server dry run)") in lines(done)
    assert real_cluster.kubectl("get", "namespace", "not-there", code=1)
    assert real_cluster.kubectl("get", "clusterrole", NAME, code=1)


def test_a_second_place_is_refused(muster, place):
    muster.run("install", "-n", place)
    done = muster.run("install", "-n", "elsewhere", code=1)
    assert f"is installed in namespace {place} already: give -n {place}" in done.stderr


def test_two_operators_for_the_same_jobs_are_refused(real_cluster, muster, place, namespace):
    muster.run("install", "--crd-only")
    muster.run("install", "--namespaced", "-n", namespace)
    try:
        done = muster.run("install", "-n", place, code=1)
        assert (f"the operator in namespace {namespace} runs the jobs of namespace {namespace}" in done.stderr and
                f"`muster uninstall --namespaced -n {namespace}`" in done.stderr), done.stderr
        assert made_in(real_cluster, place) == []
        muster.run("install", "-n", place, "--", "--namespace=another")
        muster.run("install", "--namespaced", "-n", namespace)
    finally:
        muster.run("uninstall", "--namespaced", "-n", namespace)
    muster.run("install", "-n", place)
    done = muster.run("install", "--namespaced", "-n", namespace, code=1)
    assert f"the operator in namespace {place} runs the jobs of all namespaces" in done.stderr
    assert f"`muster uninstall -n {place}`" in done.stderr and made_in(real_cluster, namespace) == []


def test_the_operator_of_another_namespace_is_not_uninstalled(real_cluster, muster, place):
    muster.run("install", "-n", place)
    for flags in ((), ("--crd", "--delete-namespace")):
        done = muster.run("uninstall", "-n", "elsewhere", *flags, code=1)
        assert len(done.stderr.strip().splitlines()) == 1 and done.stdout == "", done
        assert f"nothing is uninstalled: the operator is installed in namespace {place}: give -n {place}" in done.stderr
    for kind in ("clusterrolebinding", "clusterrole", "validatingwebhookconfiguration"):
        assert real_cluster.get(kind, NAME)


def test_a_namespace_that_is_missing_or_ends_is_told_with_what_to_do(real_cluster, muster, namespace):
    done = muster.run("install", "--namespaced", "-n", "nowhere", code=1)
    assert "kubectl create namespace nowhere" in done.stderr and len(done.stderr.strip().splitlines()) == 1
    real_cluster.kubectl("delete", "namespace", namespace, "--wait=false")  # nobody finishes it here
    for flags in ((), ("--namespaced",)):
        done = muster.run("install", "-n", namespace, *flags, code=1)
        assert f"wait until it is gone: kubectl wait --for=delete namespace/{namespace}" in done.stderr, done.stderr
        assert "administrator" not in done.stderr, done.stderr


def test_without_rights_one_line_says_which(real_cluster, muster_as, namespace):
    nobody = muster_as(real_cluster.user_kubeconfig("ines", ["installers"], namespace))
    done = nobody.run("install", code=1)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert 'User "ines" cannot' in done.stderr


def aggregate(cluster):
    """What the controller manager does: Kubernetes' roles get the rules of those that are labelled so."""
    for role in ("view", "edit", "admin"):
        rules = [rule for other in cluster.get("clusterroles", "-l", (
            f"rbac.authorization.k8s.io/aggregate-to-{role}=true"))["items"] for rule in other["rules"] or []]
        cluster.kubectl("patch", "clusterrole", role, "--type=merge", "-p", json.dumps({"rules": rules}))


@pytest.fixture
def owner(real_cluster, muster_as, namespace):
    """A ServiceAccount that is administrator of `namespace`, as Kubernetes' role `admin` has it, and nothing
    else; the roles of the definition are not there."""
    real_cluster.kubectl("delete", "clusterroles", "-l", "app.kubernetes.io/name=muster-operator")
    aggregate(real_cluster)
    real_cluster.kubectl("create", "serviceaccount", "owner", "-n", namespace)
    real_cluster.kubectl("create", "rolebinding", "owner", "-n", namespace, "--clusterrole=admin",
                         f"--serviceaccount={namespace}:owner")
    return muster_as(real_cluster.account_kubeconfig(namespace, "owner"))


def made_in(cluster, namespace):
    """What of muster is in the namespace."""
    kinds = "serviceaccounts,roles,rolebindings,services,deployments,poddisruptionbudgets"
    return cluster.kubectl("get", kinds, "-n", namespace, "-o", "name", "-l",
                           "app.kubernetes.io/name=muster-operator").stdout.split()


def test_without_the_roles_of_the_definition_nothing_is_half_made(real_cluster, owner, namespace):
    done = owner.run("install", "--namespaced", "-n", namespace, "--image", IMAGE, code=1)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert f"nothing is installed: role.rbac.authorization.k8s.io/{NAME}: " in done.stderr
    assert "an administrator of the cluster runs `muster install --crd-only`" in done.stderr
    assert made_in(real_cluster, namespace) == []


def test_who_is_no_administrator_of_the_namespace_leaves_nothing_there(real_cluster, muster, muster_as,
                                                                       namespace):
    real_cluster.allow(namespace, "owners", [{"apiGroups": ["", "rbac.authorization.k8s.io"],
                                              "resources": ["*"], "verbs": ["*"]}])
    olga = muster_as(real_cluster.user_kubeconfig("olga", ["owners"], namespace))
    done = olga.run("install", "--namespaced", "--image", IMAGE, code=1)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "nothing is installed: " in done.stderr and 'User "olga"' in done.stderr, done.stderr
    assert made_in(real_cluster, namespace) == []


def test_a_namespace_s_administrator_installs_there(real_cluster, muster, owner, namespace):
    done = muster.run("install", "--crd-only")
    assert lines(done)[1:] == [f"clusterrole.rbac.authorization.k8s.io/muster-pytorchjobs-{role} created"
                               for role in ("admin", "edit", "view")]
    aggregate(real_cluster)
    done = owner.run("install", "--namespaced", "-n", namespace, "--image", IMAGE)
    assert f"role.rbac.authorization.k8s.io/{NAME} created" in lines(done)
    assert f"starts in namespace {namespace}, for its jobs alone" in done.stdout
    container = real_cluster.get("deployment", NAME, "-n", namespace)["spec"]["template"]["spec"][
        "containers"][0]
    assert f"--namespace={namespace}" in container["args"]
    owner.run("uninstall", "--namespaced", "-n", namespace)
    assert made_in(real_cluster, namespace) == []


def test_no_job_is_refused_for_want_of_an_operator_that_never_started(real_cluster, muster, place,
                                                                      namespace):
    muster.run("install", "-n", place, "--image", IMAGE)
    real_cluster.apply({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                        "metadata": {"name": "early", "namespace": namespace},
                        "spec": {"pytorchReplicaSpecs": {}}})


def by_name(objects):
    """Objects as a cluster would have them: an empty map is none."""
    return {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]): item
            for item in objects}


def test_the_kustomization_holds_what_is_installed(real_cluster, tmp_path):
    nowhere = Muster(None)
    deploy = os.path.join(ROOT, "deploy")
    try:
        ours = by_name(documents(nowhere.run("install", "--dry-run")))
        made = real_cluster.kubectl("kustomize", deploy)
        order = [item["kind"] for item in documents(made)]
        assert by_name(documents(made)) == ours
        # Nothing comes before the namespace and the definition that it needs.
        assert order[0] == "Namespace" and order[-1] == "ValidatingWebhookConfiguration"

        ours = by_name(documents(nowhere.run("install", "--dry-run", "-n", "training", "--image",
                                             "registry.local/muster:2", "--replicas=2")))
        (tmp_path / "kustomization.yaml").write_text(json.dumps({
            "resources": [os.path.relpath(deploy, tmp_path)], "namespace": "training",
            "replicas": [{"name": NAME, "count": 2}],
            "images": [{"name": "muster", "newName": "registry.local/muster", "newTag": "2"}]}))
        assert by_name(documents(real_cluster.kubectl("kustomize", str(tmp_path)))) == ours
    finally:
        nowhere.close()


def test_the_kustomization_can_be_applied(real_cluster, muster):
    """By a client-side apply too, twice, and `muster install` goes on from there."""
    deploy = os.path.join(ROOT, "deploy")
    try:
        real_cluster.kubectl("apply", "-k", deploy)
        real_cluster.kubectl("apply", "-k", deploy)
        real_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", deploy)
        done = muster.run("install")
        assert all(line.endswith(" unchanged") for line in lines(done)[:-1]), done.stdout
    finally:
        muster.run("uninstall", "--delete-namespace")


CHART = os.path.join(ROOT, "deploy", "helm", "muster")
CHARTS = [
    ([], []),
    (["--set", "image=registry.local/muster:2,replicas=2,failurePolicy=Ignore,serviceMonitor=true",
      "--set-json", 'operatorFlags=["--gang-scheduler-name=volcano"]'],
     ["--image=registry.local/muster:2", "--replicas=2", "--failure-policy=Ignore", "--service-monitor",
      "--", "--gang-scheduler-name=volcano"]),
    (["--set", "namespaced=true"], ["--namespaced"]),
    (["--set", "statusPosts=true"], ["--status-posts"]),
]


@pytest.fixture
def helm(tmp_path):
    program = subprocess.run([os.path.join(ROOT, "scripts", "kubernetes-tools"), "helm"], check=True,
                             text=True, stdout=subprocess.PIPE).stdout.strip()

    def run(*args):
        done = subprocess.run([program, *args], text=True, capture_output=True, timeout=120,
                              env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
        assert done.returncode == 0, done.stderr
        return done
    return run


@pytest.mark.parametrize("values, flags", CHARTS)
def test_the_chart_renders_what_is_installed(values, flags, helm):
    nowhere = Muster(None)
    try:
        ours = documents(nowhere.run("install", "--dry-run", "-n", "training", *flags))
        rendered = helm("template", "muster", CHART, "-n", "training", "--include-crds",
                        "--kube-version=1.33.0", *values)
        theirs = documents(rendered)
        # The namespace is helm's (--create-namespace); who has no rights of the cluster's has the definition.
        assert by_name(item for item in theirs if "--namespaced" not in flags
                       or item["kind"] != "CustomResourceDefinition") == by_name(
                           item for item in ours if item["kind"] != "Namespace")
    finally:
        nowhere.close()


def test_the_chart_is_installed_and_upgraded(real_cluster, helm, place):
    # Helm takes over nothing that `muster install` made.
    real_cluster.kubectl("delete", "clusterroles", "-l", f"app.kubernetes.io/name={NAME}")
    options = ["muster", CHART, "--namespace", place, "--kubeconfig", real_cluster.kubeconfig]
    helm("install", *options, "--create-namespace")
    assert real_cluster.get("deployment", NAME, "-n", place)["spec"]["replicas"] == 1
    # By this the operator knows it for its own, although Helm writes another managed-by.
    configuration = real_cluster.get("validatingwebhookconfiguration", NAME)
    assert configuration["metadata"]["labels"]["app.kubernetes.io/name"] == NAME
    # What the operator puts there meanwhile stays.
    real_cluster.kubectl("patch", "validatingwebhookconfiguration", NAME, "--type=merge", "-p",
                         json.dumps({"webhooks": [entry(place, ca_bundle(real_cluster))]}))
    helm("upgrade", *options, "--set", "replicas=2")
    assert real_cluster.get("deployment", NAME, "-n", place)["spec"]["replicas"] == 2
    assert real_cluster.get("validatingwebhookconfiguration", NAME)["webhooks"]
    helm("uninstall", "muster", "--namespace", place, "--kubeconfig", real_cluster.kubeconfig)
    assert real_cluster.get("crd", "pytorchjobs.kubeflow.org")
    assert made_in(real_cluster, place) == []


@pytest.fixture
def kubeflow(real_cluster, namespace):
    """What Kubeflow's manifests make, in `namespace`."""
    labels = {"control-plane": "kubeflow-training-operator"}
    client = {"service": {"name": "training-operator", "namespace": namespace, "path": "/x"}}
    real_cluster.apply(
        {"apiVersion": "apps/v1", "kind": "Deployment",
         "metadata": {"name": "training-operator", "namespace": namespace, "labels": labels},
         "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
             "metadata": {"labels": labels},
             "spec": {"containers": [{"name": "training-operator", "image": "x",
                                      "command": ["/manager"]}]}}}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
         "metadata": {"name": "validator.training-operator.kubeflow.org"},
         "webhooks": [{"name": name, "clientConfig": client, "failurePolicy": "Ignore",
                       "sideEffects": "None", "admissionReviewVersions": ["v1"],
                       "rules": [{"apiGroups": ["none"], "apiVersions": ["v1"],
                                  "operations": ["CREATE"], "resources": ["none"]}]}
                      for name in THEIR_WEBHOOKS]},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
         "metadata": {"name": "tfjobs.kubeflow.org"},
         "spec": {"group": "kubeflow.org", "scope": "Namespaced",
                  "names": {"kind": "TFJob", "listKind": "TFJobList", "plural": "tfjobs",
                            "singular": "tfjob"},
                  "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
                      "openAPIV3Schema": {"type": "object",
                                          "x-kubernetes-preserve-unknown-fields": True}}}]}})
    real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                         "crd/tfjobs.kubeflow.org")
    yield namespace
    real_cluster.kubectl("delete", "validatingwebhookconfiguration",
                         "validator.training-operator.kubeflow.org")
    real_cluster.kubectl("delete", "crd", "tfjobs.kubeflow.org")
    real_cluster.kubectl("delete", "deployment", "training-operator", "-n", namespace)


def test_kubeflow_s_operator_is_found_and_hands_over(real_cluster, muster, place, kubeflow):
    done = muster.run("install", "-n", place, code=1)
    assert f"Kubeflow's training operator (deployment {kubeflow}/training-operator)" in done.stderr
    assert "--replace" in done.stderr
    assert real_cluster.kubectl("get", "clusterrole", NAME, code=1)

    before = real_cluster.get("deployment", "training-operator", "-n", kubeflow)
    replacing = muster.start("install", "-n", place, "--replace")
    playing = threading.Thread(target=lambda: (
        real_cluster.kubectl("wait", "deployment/training-operator", "-n", kubeflow,
                             "--for=jsonpath={.metadata.generation}=2", "--timeout=60s"),
        roll_out(real_cluster, kubeflow, "training-operator")))
    assert before["metadata"]["generation"] == 1
    playing.start()
    out, err = replacing.communicate(timeout=180)
    playing.join()
    assert replacing.returncode == 0, err
    assert out.startswith("Kubeflow's training operator (deployment ")
    theirs = real_cluster.get("deployment", "training-operator", "-n", kubeflow)
    container = theirs["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["/manager"]
    assert container["args"] == ["--enable-scheme=tfjob"]
    webhooks = real_cluster.get("validatingwebhookconfiguration",
                                "validator.training-operator.kubeflow.org")["webhooks"]
    assert [webhook["name"] for webhook in webhooks] == THEIR_WEBHOOKS[1:]
    # It is not a rival any more.
    muster.run("install", "-n", place)


def test_a_definition_that_is_another_s_stays_unless_it_is_replaced(real_cluster, muster, place):
    label = "app.kubernetes.io/managed-by"
    real_cluster.kubectl("label", "crd", "pytorchjobs.kubeflow.org", f"{label}-", "--overwrite")
    try:
        done = muster.run("install", "-n", place)
        assert "pytorchjobs.kubeflow.org kept as it is: it is not muster's" in done.stdout
        done = muster.run("install", "--crd-only", "--replace", "--wait")
        assert lines(done)[0] == (
            "customresourcedefinition.apiextensions.k8s.io/pytorchjobs.kubeflow.org configured")
    finally:
        real_cluster.kubectl("label", "crd", "pytorchjobs.kubeflow.org", f"{label}=muster",
                             "--overwrite")


def test_the_definition_is_not_taken_from_under_jobs(real_cluster, muster, place, namespace):
    real_cluster.apply({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                        "metadata": {"name": "here", "namespace": namespace},
                        "spec": {"pytorchReplicaSpecs": {}}})
    done = muster.run("uninstall", "-n", place, "--crd", code=1)
    assert "PyTorchJobs would be deleted with their definition" in done.stderr
    assert real_cluster.get("pytorchjob", "here", "-n", namespace)


def test_the_definition_and_its_roles_go_where_no_jobs_are(real_cluster, muster, place):
    muster.run("install", "-n", place, "--image", IMAGE)
    real_cluster.kubectl("delete", "pytorchjobs", "--all", "--all-namespaces")
    try:
        gone = lines(muster.run("uninstall", "-n", place, "--crd"))
        assert "customresourcedefinition.apiextensions.k8s.io/pytorchjobs.kubeflow.org deleted" in gone
        assert [line for line in gone if "pytorchjobs-" in line] == [
            f"clusterrole.rbac.authorization.k8s.io/muster-pytorchjobs-{role} deleted" for role in ("view", "edit", "admin")]
        left = real_cluster.kubectl("get", "clusterroles", "-o", "name").stdout
        assert "muster" not in left
    finally:
        wait_until("the definition is gone", lambda: real_cluster.kubectl(
            "get", "crd", "pytorchjobs.kubeflow.org", code=None).returncode != 0)
        muster.run("install", "--crd-only")
        real_cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/pytorchjobs.kubeflow.org")


def test_the_embedded_cluster_needs_nothing():
    here = Muster(None)
    try:
        done = here.run("install")
        assert done.stdout.startswith("The embedded cluster has PyTorchJobs and their operator built in")
        assert "nothing to uninstall" in here.run("uninstall").stdout
    finally:
        here.close()


# tests/e2e/test_operator_image.py runs the first; there is no registry here for the second.
ELSEWHERE = ("make image IMAGE=registry.local/muster:0.1.0", "podman push registry.local/muster:0.1.0")


def test_the_commands_that_the_document_prints_are_taken(real_cluster, helm):
    with open(os.path.join(ROOT, "docs", "operator.md")) as file:
        text = file.read()
    chapter = text[text.index("\n## Installing\n"):text.index("\n## Flags\n")]
    blocks = re.findall(r"^```sh[^\n]*\n(.*?)^```", chapter, re.M | re.S)
    commands = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    assert len(commands) >= 8
    nowhere = Muster(None)
    try:
        for command in commands:
            words = command.replace("...", "x").replace(" deploy", f" {ROOT}/deploy").split()
            if words[0] == "muster":
                assert documents(nowhere.run(*words[1:], "--dry-run")), command
            elif words[0] == "helm":
                assert documents(helm("template", *words[2:], "--kube-version=1.33.0")), command
            elif words[0] == "kubectl":
                real_cluster.kubectl(*words[1:], "--dry-run=client")
            else:
                assert command in ELSEWHERE, command
    finally:
        nowhere.close()
