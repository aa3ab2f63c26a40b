"""The operator with the rights of deploy/ and no other: it works, it uses what it has, and what is taken
from it is named."""
import base64
import json

import pytest

from muster_user import Muster
from fake_servers import SlowWay
from ports import free_ports
from running_operator import Operator, wait_until

NAME = "muster-operator"
# Rights that this file's jobs give no occasion to use, each with its reason.
UNUSED = {
    ("get", "pytorchjobs.kubeflow.org"): "a read past the cache, after a conflict",
    ("update", "pytorchjobs/finalizers.kubeflow.org"): "asked by an admission plugin that is off here",
    ("get", "pods"): "a read past the cache", ("get", "services"): "a read past the cache",
    ("patch", "events"): "the same event again",
}
# Kinds that are not on this cluster, or only read with a gang scheduler.
ABSENT = ("podgroups.", "priorityclasses.")


class Installed:
    """An operator as `muster install` sets it up, run here with its ServiceAccount's token."""

    def __init__(self, cluster, *flags, namespaced=None, install=()):
        self.cluster = cluster
        cluster._names += 1
        self.place = namespaced or f"rights-{cluster._names}"
        self.flags = ["--namespaced"] if namespaced else []
        self.muster = Muster(cluster.kubeconfig)
        self.muster.run("install", "-n", self.place, *self.flags, *install)
        self.kubeconfig = cluster.account_kubeconfig(self.place, NAME)
        container = cluster.get("deployment", NAME, "-n", self.place)["spec"]["template"]["spec"][
            "containers"][0]
        self.args = [arg for arg in container["args"][1:]
                     if "bind-address" not in arg and "webhook-server-port" not in arg]
        self.port = 0
        if not namespaced:
            # Services lead nowhere here: the API server is sent to this machine.
            self.port = free_ports(1)[0]
            cluster.kubectl("delete", "service", NAME, "-n", self.place)
            cluster.apply({"apiVersion": "v1", "kind": "Service",
                           "metadata": {"name": NAME, "namespace": self.place},
                           "spec": {"type": "ExternalName", "externalName": "localhost"}})
        self.args += [f"--webhook-server-port={self.port}", *flags]
        self.operator = None

    def go_by(self, way):
        """By another way than the API server's own port."""
        with open(self.kubeconfig) as file:
            text = file.read()
        self.kubeconfig += "-by-way"
        with open(self.kubeconfig, "w") as file:
            file.write(text.replace(f":{self.cluster.port}", f":{way.port}"))

    def bundle(self):
        return self.cluster.get("validatingwebhookconfiguration", NAME)["webhooks"][0]["clientConfig"][
            "caBundle"]

    def spoil_bundle(self):
        wrong = base64.b64encode(open(self.cluster.authority.cert, "rb").read()).decode()
        self.cluster.kubectl(
            "patch", "validatingwebhookconfiguration", NAME, "--type=json", "-p", json.dumps(
                [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": wrong}]))
        return wrong

    def start(self, **options):
        self.operator = Operator(self.kubeconfig, *self.args, **options,
                                 env={"MY_POD_NAMESPACE": self.place, "MY_POD_NAME": "one"})
        if self.port and options.get("await_ready", True):
            self.lead_webhook_here()
        return self.operator

    def lead_webhook_here(self):
        """Once the operator has put its webhook in, which has the Service's usual port."""
        wait_until("a webhook", lambda: self.cluster.get("validatingwebhookconfiguration", NAME).get("webhooks"))
        self.cluster.kubectl("patch", "validatingwebhookconfiguration", NAME, "--type=json", "-p", json.dumps(
            [{"op": "replace", "path": "/webhooks/0/clientConfig/service/port", "value": self.port}]))

    def refused(self):
        return [request for request in self.cluster.requests_of(self.place, NAME) if request[3] == 403]

    def close(self):
        if self.operator is not None:
            self.operator.kill()
        self.muster.run("uninstall", "-n", self.place, *self.flags, code=None)
        self.muster.close()


@pytest.fixture
def installed(real_cluster):
    made = Installed(real_cluster)
    yield made
    made.close()


def job(name, namespace, **policy):
    replica = {"restartPolicy": "Never", "template": {"spec": {
        "containers": [{"name": "pytorch", "image": "x"}]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"runPolicy": policy, "pytorchReplicaSpecs": {
                "Master": {**replica, "replicas": 1}, "Worker": {**replica, "replicas": 1}}}}


def state(cluster, namespace, name):
    status = cluster.get("pytorchjob", name, "-n", namespace).get("status", {})
    return [c["type"] for c in status.get("conditions", []) if c["status"] == "True"]


def run_to_the_end(cluster, namespace, name, phase="Succeeded"):
    wait_until("pods", lambda: len(cluster.get("pods", "-n", namespace, "-l",
                                               f"training.kubeflow.org/job-name={name}")["items"]) == 2)
    for pod in (f"{name}-master-0", f"{name}-worker-0"):
        cluster.patch_status("pod", pod, namespace, {"phase": "Running"})
    wait_until("Running", lambda: "Running" in state(cluster, namespace, name))
    cluster.patch_status("pod", f"{name}-master-0", namespace, {"phase": phase})


def granted(cluster, kind, name, *where):
    """(verb, resource.group) of a role."""
    found = set()
    for rule in cluster.get(kind, name, *where)["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                found |= {(verb, resource + (f".{group}" if group else "")) for verb in rule["verbs"]}
    return found


def elastic(cluster, namespace):
    """A job that scales by itself and asks what becomes of it when a node dies."""
    body = job("elastic", namespace)
    body["metadata"]["annotations"] = {"muster.dev/node-lost-seconds": "60"}
    body["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2, "metrics": [
        {"type": "Resource", "resource": {"name": "cpu", "target": {
            "type": "Utilization", "averageUtilization": 80}}}]}
    cluster.apply(body)

    def most():
        found = cluster.get("hpa", "-n", namespace)["items"]
        return found[0]["spec"]["maxReplicas"] if found else 0
    wait_until("an autoscaler", lambda: most() == 2)

    def change(policy):
        cluster.kubectl("patch", "pytorchjob", "elastic", "-n", namespace, "--type=merge", "-p",
                        json.dumps({"spec": {"elasticPolicy": policy}}))
    change({"maxReplicas": 3})
    wait_until("its new bound", lambda: most() == 3)
    change({"metrics": None})
    wait_until("no autoscaler", lambda: most() == 0)


def test_it_works_with_these_rights_and_uses_them(real_cluster, namespace, installed):
    installed.start()
    real_cluster.apply(job("whole", namespace, cleanPodPolicy="All"))
    run_to_the_end(real_cluster, namespace, "whole")
    wait_until("Succeeded", lambda: "Succeeded" in state(real_cluster, namespace, "whole"))
    wait_until("cleaned up", lambda: not real_cluster.get("services", "-n", namespace)["items"])
    real_cluster.apply(job("brief", namespace, ttlSecondsAfterFinished=0))
    run_to_the_end(real_cluster, namespace, "brief", "Failed")
    wait_until("deleted", lambda: "brief" not in real_cluster.kubectl(
        "get", "pytorchjobs", "-n", namespace, "-o", "name").stdout)
    elastic(real_cluster, namespace)
    # The webhook's certificate, by the same rights.
    assert base64.b64decode(real_cluster.get("secret", "muster-operator-webhook-cert", "-n",
                                             installed.place)["data"]["ca.crt"])
    done = real_cluster.kubectl("create", "-f", "-", stdin=json.dumps(job("0-bad", namespace)), code=1)
    assert "denied the request: metadata.name: Invalid value" in done.stderr
    assert installed.operator.stop() == 0, installed.operator.log()

    requests = real_cluster.requests_of(installed.place, NAME)
    absent = [r for r in requests if r[3] == 403]
    assert absent == [], absent
    used = {(verb, resource) for verb, resource, _, _ in requests}
    rights = granted(real_cluster, "clusterrole", NAME) | granted(
        real_cluster, "role", NAME, "-n", installed.place)
    idle = {right for right in rights - used - set(UNUSED) if not right[1].startswith(ABSENT)}
    assert idle == set(), idle


def test_a_right_that_is_taken_away_is_named_and_given_back_it_goes_on(real_cluster, namespace,
                                                                       installed):
    installed.start()
    role = real_cluster.get("clusterrole", NAME)
    rules = json.loads(json.dumps(role["rules"]))
    for rule in rules:
        if "pods" in rule["resources"]:
            rule["verbs"].remove("create")

    def set_rules(new):
        real_cluster.kubectl("patch", "clusterrole", NAME, "--type=merge", "-p",
                             json.dumps({"rules": new}))
    set_rules(rules)
    real_cluster.apply(job("short", namespace))
    refusal = (f'User "system:serviceaccount:{installed.place}:{NAME}" cannot create resource "pods" in '
               f'API group "" in the namespace "{namespace}"')
    wait_until("an event that says so", lambda: any(
        refusal in event["message"] for event in
        real_cluster.get("events", "-n", namespace)["items"]))
    set_rules(role["rules"])
    wait_until("pods", lambda: len(real_cluster.get("pods", "-n", namespace)["items"]) == 2)


@pytest.fixture
def way(real_cluster):
    made = SlowWay(real_cluster.port, 0)
    yield made
    made.close()


def test_after_a_broken_watch_the_webhook_is_looked_after(real_cluster, installed, way):
    """Its rights are to one name."""
    installed.go_by(way)
    installed.start()
    wait_until("a bundle", installed.bundle)
    good = installed.bundle()
    way.cut()
    installed.spoil_bundle()
    wait_until("it is put back", lambda: installed.bundle() == good)
    assert installed.refused() == []
    assert installed.operator.is_ready()


@pytest.fixture
def unwatched(real_cluster, installed, way):
    """An operator that may no longer watch what its webhook is made of."""
    installed.go_by(way)
    installed.start()
    wait_until("a bundle", installed.bundle)
    for kind, where in (("clusterrole", ()), ("role", ("-n", installed.place))):
        rules = real_cluster.get(kind, NAME, *where)["rules"]
        for rule in rules:
            if {"secrets", "validatingwebhookconfigurations"} & set(rule["resources"]):
                rule["verbs"].remove("watch")
        real_cluster.kubectl("patch", kind, NAME, *where, "--type=merge", "-p",
                             json.dumps({"rules": rules}))
    way.cut()
    wait_until("it is said", lambda: "[!]webhook: cannot be watched" in installed.operator.readyz()[1])
    assert installed.operator.readyz()[0] == 200
    return installed


def empty_secret(installed):
    """Makes the operator need another; True of what it returns, once it has made one."""
    secret = ("secret", "muster-operator-webhook-cert", "-n", installed.place)
    before = installed.cluster.get(*secret)["data"]
    installed.cluster.kubectl("patch", *secret, "--type=json", "-p", '[{"op": "remove", "path": "/data"}]')

    def is_renewed():
        data = installed.cluster.get(*secret).get("data")
        return data and data["ca.crt"] != before["ca.crt"] and installed.bundle() == data["ca.crt"]
    return is_renewed


def test_without_a_watch_the_webhook_is_looked_after_and_readyz_says_so(unwatched):
    """Once a minute, both of its objects."""
    unwatched.spoil_bundle()
    wait_until("both are made anew", empty_secret(unwatched), longest=2)


@pytest.mark.soak
def test_without_a_watch_either_object_of_the_webhook_is_looked_after(unwatched):
    good = unwatched.bundle()
    unwatched.spoil_bundle()
    wait_until("it is put back", lambda: unwatched.bundle() == good, longest=2)
    wait_until("it is made anew", empty_secret(unwatched), longest=2)


def test_a_namespaced_one_works_without_a_right_of_the_cluster(real_cluster, namespace):
    installed = Installed(real_cluster, namespaced=namespace)
    try:
        installed.start()
        real_cluster.apply(job("own", namespace))
        run_to_the_end(real_cluster, namespace, "own")
        wait_until("Succeeded", lambda: "Succeeded" in state(real_cluster, namespace, "own"))
        assert installed.operator.stop() == 0
        assert installed.refused() == []
        assert {request[2] for request in real_cluster.requests_of(namespace, NAME)} == {namespace}
    finally:
        installed.close()
