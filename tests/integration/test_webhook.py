"""The validating webhook of `muster operator`, called by a real kube-apiserver: refusals word for word,
certificates that it makes, shares and renews, and what happens without them."""
import base64
import json
import subprocess

import pytest

from ports import free_ports
from real_kubernetes import Authority
from running_operator import Operator, wait_until
from running_webhook import Webhook
from waiting import PATIENCE

PREFIX = ('admission webhook "validator.pytorchjob.training-operator.kubeflow.org" denied the '
          'request: ')
DNS_RULE = ("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
            "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
            "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')")
CONTAINERS = "spec.pytorchReplicaSpecs[Worker].template.spec.containers"


@pytest.fixture(scope="module")
def checked(real_cluster):
    """A namespace whose jobs are checked by a running operator."""
    namespace = real_cluster.new_namespace()
    hook = Webhook(real_cluster, namespace, free_ports(1)[0])
    operator = hook.start()
    # Suspended jobs alone are made here, and the operator is to check them, not to run them.
    yield namespace
    assert operator.stop() == 0, operator.log()
    hook.close()


@pytest.fixture
def hook(real_cluster, namespace):
    made = Webhook(real_cluster, namespace, free_ports(1)[0])
    yield made
    made.close()


def pod(containers=None):
    return {"spec": {"containers": containers or [{"name": "pytorch", "image": "x"}]}}


def job(name="good", namespace=None, master=None, worker=None, **spec):
    specs = spec.pop("specs", None)
    if specs is None:
        specs = {"Worker": {"replicas": 1, "template": pod(), **(worker or {})}}
        if master is not None:
            specs["Master"] = {"template": pod(), **master}
    policy = {"suspend": True, **spec.pop("runPolicy", {})}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"pytorchReplicaSpecs": specs, "runPolicy": policy, **spec}}


def create(cluster, namespace, item, code=0):
    item["metadata"]["namespace"] = namespace
    return cluster.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(item), code=code)


LONG = "a" * 64
REFUSALS = {
    "name begins with a digit": (job("0-test"),
        f'metadata.name: Invalid value: "0-test": should match: {DNS_RULE}'),
    "name has a dot": (job("a.b"), f'metadata.name: Invalid value: "a.b": should match: {DNS_RULE}'),
    "name is too long": (job(LONG),
        f'metadata.name: Invalid value: "{LONG}": should match: must be no more than 63 characters'),
    "two masters": (job(master={"replicas": 2}),
        "spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1"),
    "masters unset": (job(master={}),
        "spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1"),
    "no workers": (job(worker={"replicas": 0}),
        "spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1"),
    "another type": (job(specs={"Chief": {"template": pod()}}),
        'spec.pytorchReplicaSpecs[Chief]: Unsupported value: "Chief": supported values: "Master", '
        '"Worker"'),
    "no template": (job(specs={"Worker": {"replicas": 1}}),
        f"[{CONTAINERS}: Required value: must be specified, {CONTAINERS}: Required value: must have "
        "at least one container with name pytorch]"),
    "no container pytorch": (job(worker={"template": pod([{"name": "main", "image": "x"}])}),
        f"{CONTAINERS}: Required value: must have at least one container with name pytorch"),
    "no image": (job(worker={"template": pod([{"name": "pytorch"}])}),
        f"{CONTAINERS}[0].image: Required value: must be required"),
    "elastic without workers": (job(specs={"Master": {"replicas": 1, "template": pod()}},
                                    elasticPolicy={}),
        "spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if elastic policy is "
        "used"),
    "both nproc fields": (job(nprocPerNode="1", elasticPolicy={"nProcPerNode": 1}),
        "spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with spec.nprocPerNode"),
    "managed by a stranger": (job(runPolicy={"managedBy": "other"}),
        'spec.runPolicy.managedBy: Unsupported value: "other": supported values: '
        '"kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"'),
    "managed by nobody": (job(runPolicy={"managedBy": ""}),
        'spec.runPolicy.managedBy: Unsupported value: "": supported values: '
        '"kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"'),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_jobs_are_refused_word_for_word(real_cluster, checked, case):
    item, message = REFUSALS[case]
    done = create(real_cluster, checked, json.loads(json.dumps(item)), code=1)
    assert "(Forbidden)" in done.stderr, done.stderr
    assert (PREFIX + message) in done.stderr.strip().splitlines()[-1], done.stderr
    assert done.stderr.strip().endswith(message), done.stderr


ACCEPTED = {
    "a whole one": job("whole", master={"replicas": 1}, elasticPolicy={"rdzvBackend": "c10d"},
                       runPolicy={"managedBy": "kubeflow.org/training-operator"}),
    "workers unset": job("unset", specs={"Worker": {"template": pod()}}),
    "no replicas at all": job("none", specs={}),
    "useless values": job("useless", worker={"restartPolicy": "Sometimes"}, nprocPerNode="foo",
                          elasticPolicy={"minReplicas": 3, "maxReplicas": 1, "rdzvConf": []},
                          runPolicy={"backoffLimit": -1, "cleanPodPolicy": "Maybe"}),
    "54 characters": job("a" * 54),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_useless_is_accepted(real_cluster, checked, case):
    assert create(real_cluster, checked, json.loads(json.dumps(ACCEPTED[case]))).stderr == ""


def test_the_deprecated_field_warns(real_cluster, checked):
    done = create(real_cluster, checked, job("warned", elasticPolicy={"nProcPerNode": 2}))
    assert done.stderr.strip() == (
        "Warning: spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead")


def test_the_manager_of_a_job_cannot_be_changed(real_cluster, checked):
    create(real_cluster, checked, job("kept", runPolicy={"managedBy": "kubeflow.org/training-operator"}))

    def edit(patch, code):
        return real_cluster.kubectl("patch", "pytorchjob", "kept", "-n", checked, "--type=merge", "-p",
                                    json.dumps(patch), code=code)
    done = edit({"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}}, 1)
    assert (PREFIX + 'spec.runPolicy.managedBy: Invalid value: "kueue.x-k8s.io/multikueue": field is '
            "immutable") in done.stderr, done.stderr
    edit({"metadata": {"annotations": {"a": "b"}}}, 0)
    # Neither is asked about: the scale and the status.
    real_cluster.kubectl("scale", "pytorchjob/kept", "-n", checked, "--replicas=0")


def test_a_typo_in_a_pod_template_is_refused_by_default(real_cluster, checked):
    item = job("typo", checked)
    item["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["comand"] = ["a"]
    told = ('unknown field "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].comand": did you '
            'mean "command"?')
    for verb in (["create"], ["apply"], ["apply", "--server-side"]):
        done = real_cluster.kubectl(*verb, "-f", "-", stdin=json.dumps(item), code=1)
        assert PREFIX + told in done.stderr, done.stderr
    done = real_cluster.kubectl("create", "--validate=warn", "-f", "-", stdin=json.dumps(item))
    assert f"Warning: {told}" in done.stderr, done.stderr


def every_field(definitions, schema, seen=()):
    """A value with every field that the schema knows."""
    while "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name.endswith(("api.resource.Quantity", "util.intstr.IntOrString")):
            return "1"
        if name.endswith("meta.v1.FieldsV1") or name in seen:
            return {}
        seen, schema = (*seen, name), definitions[name]
    if schema.get("type") == "array":
        return [every_field(definitions, schema["items"], seen)]
    if "properties" in schema:
        return {name: every_field(definitions, below, seen)
                for name, below in schema["properties"].items()}
    if "additionalProperties" in schema:
        return {"a": every_field(definitions, schema["additionalProperties"], seen)}
    return {"string": "2026-01-01T00:00:00Z" if schema.get("format") == "date-time" else "a",
            "integer": 1, "boolean": True, "number": 1}.get(schema.get("type"), {})


def test_no_field_that_pods_have_is_taken_for_a_typo(real_cluster, checked):
    definitions = json.loads(real_cluster.kubectl("get", "--raw", "/openapi/v2").stdout)["definitions"]
    spec = every_field(definitions, definitions["io.k8s.api.core.v1.PodSpec"])
    assert len(spec) > 35 and len(spec["containers"][0]) > 20
    for kind in ("containers", "initContainers"):
        spec[kind][0].update(name="pytorch")
        spec[kind][0]["ports"][0]["protocol"] = "TCP"
    item = job("every-field", checked, worker={"template": {"spec": spec}})
    real_cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-",
                         stdin=json.dumps(item))


def served(port):
    """The certificate shown on the port."""
    shown = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE).stdout
    begin = shown.find("-----BEGIN CERTIFICATE-----")
    end = "-----END CERTIFICATE-----"
    return shown[begin:shown.find(end) + len(end)] + "\n" if begin >= 0 else ""


def test_certificates_are_made_and_shared(real_cluster, namespace, hook):
    operator = hook.start()
    try:
        made = hook.secret()
        assert set(made) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
        assert hook.bundle() == made["ca.crt"]
        assert served(hook.port) == made["tls.crt"]
        # No key is in the log.
        assert "PRIVATE" not in operator.log()
    finally:
        assert operator.stop() == 0
    # Another replica goes on with them.
    hook.port = free_ports(1)[0]
    second = hook.start()
    try:
        assert hook.secret() == made
        assert served(hook.port) == made["tls.crt"]
    finally:
        second.kill()


def test_replicas_that_start_at_once_agree(real_cluster, namespace, hook):
    ports = free_ports(3)
    replicas = []
    try:
        for port in ports:
            hook.port = port
            replicas.append(hook.start(await_ready=False))
        for replica in replicas:
            wait_until("ready", replica.is_ready)
        made = hook.secret()
        for port in ports:
            wait_until("the shared certificate", lambda: served(port) == made["tls.crt"])
        assert hook.bundle() == made["ca.crt"]
    finally:
        for replica in replicas:
            replica.kill()


def test_what_is_lost_or_spoilt_is_mended(real_cluster, namespace, hook):
    operator = hook.start()
    try:
        before = hook.secret()
        # A certificate that has ended, of another authority.
        other = Authority(real_cluster.path(f"other-{hook.place}"))
        cert, key = other.issue("old", "x", names=["DNS:localhost"], days=-1)
        with open(cert, "rb") as crt, open(key, "rb") as pem:
            spoilt = {"tls.crt": base64.b64encode(crt.read()).decode(),
                      "tls.key": base64.b64encode(pem.read()).decode()}
        real_cluster.kubectl("patch", "secret", "cert", "-n", hook.place, "--type=merge", "-p",
                             json.dumps({"data": spoilt}))
        wait_until("a new certificate", lambda: hook.secret()["tls.key"] not in (
            before["tls.key"], base64.b64decode(spoilt["tls.key"]).decode()))
        assert hook.secret()["ca.crt"] == before["ca.crt"]
        wait_until("it is shown", lambda: served(hook.port) == hook.secret()["tls.crt"])
        # Somebody applies the configuration's file again, and the authority is gone.
        real_cluster.kubectl("patch", "validatingwebhookconfiguration", hook.name, "--type=json", "-p",
                             json.dumps([{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]))
        wait_until("the authority is back", lambda: hook.bundle() == before["ca.crt"])
        create(real_cluster, namespace, job("after", master={"replicas": 1}))
        # Deleted by mistake: all of it is made anew.
        real_cluster.kubectl("delete", "secret", "cert", "-n", hook.place)
        wait_until("a new Secret", lambda: real_cluster.kubectl(
            "get", "secret", "cert", "-n", hook.place, code=None).returncode == 0 and hook.secret())
        wait_until("it is known", lambda: hook.bundle() == hook.secret().get("ca.crt"))
        wait_until("it is shown", lambda: served(hook.port) == hook.secret()["tls.crt"])
        create(real_cluster, namespace, job("anew", master={"replicas": 1}))
    finally:
        operator.kill()


def test_while_it_is_down_the_policy_decides(real_cluster, namespace, hook):
    done = create(real_cluster, namespace, job("down"), code=1)
    assert 'failed calling webhook "validator.pytorchjob' in done.stderr, done.stderr
    real_cluster.kubectl("patch", "validatingwebhookconfiguration", hook.name, "--type=json", "-p",
                         json.dumps([{"op": "replace", "path": "/webhooks/0/failurePolicy",
                                      "value": "Ignore"}]))
    wait_until("unchecked jobs are let in", lambda: create(
        real_cluster, namespace, job("0-unchecked"), code=None).returncode == 0)


def test_without_a_configuration_it_works_and_says_so(real_cluster, namespace):
    operator = Operator(real_cluster.kubeconfig, f"--namespace={namespace}",
                        f"--webhook-server-port={free_ports(1)[0]}",
                        "--webhook-configuration-name=nobody-s")
    try:
        wait_until("it is said", lambda: "no webhook: jobs are checked by the schema of "
                   "their CRD only (no ValidatingWebhookConfiguration nobody-s" in operator.log())
    finally:
        assert operator.stop() == 0


def test_hostile_requests_do_not_end_it(real_cluster, namespace, hook):
    operator = hook.start()
    try:
        bodies = ["", "{", "[]", "x" * 100_000, "[" * 50_000,
                  '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":'
                  '{"uid":"u","object":{"spec":{"pytorchReplicaSpecs":{"Worker":[]}}}}}']
        for body in bodies:
            for path in ("/validate-kubeflow-org-v1-pytorchjob", "/other"):
                done = subprocess.run(
                    ["curl", "-sk", "--max-time", "60", "-o", "/dev/null", "-w", "%{http_code}",
                     "--data-binary", "@-", f"https://127.0.0.1:{hook.port}{path}"],
                    input=body, text=True, capture_output=True)
                assert done.stdout in ("200", "400", "404"), (body[:40], done.stdout, done.stderr)
        assert operator.is_ready()
        create(real_cluster, namespace, job("still", master={"replicas": 1}))
    finally:
        assert operator.stop() == 0
