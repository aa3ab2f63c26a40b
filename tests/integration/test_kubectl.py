"""A stock kubectl on the embedded cluster, over TLS and with the token."""
import concurrent.futures
import json
import os
import socket
import socketserver
import ssl
import stat
import threading
import urllib.error
import urllib.request

import port_clients
import pytest

from embedded_cluster import EmbeddedCluster
from ports import free_port
from waiting import PATIENCE, await_true, await_words

JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: {name}, labels: {{team: a}}}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template: {{spec: {{containers: [{{name: pytorch, image: x, command: [bash, -c, "{command}"]}}]}}}}
    Worker:
      replicas: 1
      restartPolicy: Never
      template: {{spec: {{containers: [{{name: pytorch, image: x, command: [bash, -c, "echo worker"]}}]}}}}
"""
# Suspended: the specs may change without anything running.
IDLE = JOB.replace("spec:\n", "spec:\n  runPolicy: {{suspend: true}}\n", 1)

OTHER_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


@pytest.fixture(scope="module")
def cluster():
    made = EmbeddedCluster()
    yield made
    made.close()


@pytest.fixture(scope="module")
def done(cluster):
    """A job that has succeeded."""
    cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name="done", command="echo one; echo two"))
    out = cluster.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/done", "--timeout=60s")
    assert out == "pytorchjob.kubeflow.org/done condition met\n"
    return "done"


@pytest.fixture
def idle(cluster, request):
    name = request.node.name.replace("_", "-").removeprefix("test-")[:40]
    cluster.kubectl("apply", "-f", "-", stdin=IDLE.format(name=name, command="true"))
    yield name
    cluster.kubectl("delete", "pytorchjob", name, "--ignore-not-found")


def test_version_and_resources(cluster):
    assert "Server Version: v1." in cluster.kubectl("version")
    rows = {tuple(line.split()[:1]) for line in cluster.kubectl("api-resources").splitlines()}
    assert {("pods",), ("pytorchjobs",), ("events",), ("deployments",)} <= rows
    assert "pytorchjobs.kubeflow.org" in cluster.kubectl("api-resources", "-o", "name")


def test_who_am_i_and_what_may_i(cluster):
    assert "Username    tester" in cluster.kubectl("auth", "whoami")
    assert cluster.kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "*.*" in cluster.kubectl("auth", "can-i", "--list")


def test_tables(cluster, done):
    header, row = cluster.kubectl("get", "pytorchjobs", done).splitlines()
    assert header.split() == ["NAME", "STATE", "AGE"] and row.split()[:2] == [done, "Succeeded"]
    header, master, worker = cluster.kubectl(
        "get", "pods", "-o", "wide", "-l", f"training.kubeflow.org/job-name={done}").splitlines()
    assert header.split()[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert master.split()[:4] == ["done-master-0", "0/1", "Completed", "0"]
    assert worker.split()[0] == "done-worker-0"
    assert cluster.kubectl("get", "pods", "--field-selector", "metadata.name=done-worker-0",
                           "-o", "name") == "pod/done-worker-0\n"


def test_output_formats(cluster, done):
    job = json.loads(cluster.kubectl("get", "pytorchjob", done, "-o", "json"))
    assert job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 1
    assert "managedFields" in json.loads(cluster.kubectl(
        "get", "pytorchjob", done, "-o", "json", "--show-managed-fields"))["metadata"]
    assert "kind: PyTorchJob" in cluster.kubectl("get", "pytorchjob", done, "-o", "yaml")
    assert cluster.kubectl("get", "pytorchjob", done, "-o",
                           "jsonpath={.status.conditions[-1:].type}") == "Succeeded"
    assert cluster.kubectl("get", "--raw", "/readyz") == "ok"


def test_pages(cluster):
    for i in range(5):
        cluster.kubectl("create", "configmap", f"page-{i}")
    names = cluster.kubectl("get", "configmaps", "-o", "name", "--chunk-size=2").split()
    assert [f"configmap/page-{i}" for i in range(5)] == [n for n in names if "/page-" in n]


def test_logs(cluster, done):
    assert cluster.kubectl("logs", "-f", "done-master-0") == "one\ntwo\n"
    assert cluster.kubectl("logs", "done-master-0", "--tail=1") == "two\n"
    assert "worker" in cluster.kubectl("logs", "-l", "training.kubeflow.org/replica-type=worker")


def test_exec(cluster, done):
    cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name="runs", command="sleep 1000"))
    cluster.kubectl("wait", "--for=condition=Running", "pytorchjob/runs", "--timeout=60s")
    assert cluster.kubectl("exec", "-i", "runs-master-0", "--", "cat", stdin="in and out") == (
        "in and out")
    out, err = cluster.kubectl("exec", "runs-master-0", "--", "sh", "-c", "echo out; exit 5", code=5)
    assert out == "out\n" and err == "command terminated with exit code 5\n"
    _, err = cluster.kubectl("exec", "done-master-0", "--", "true", code=1)
    assert "cannot exec into a container in a completed pod; current phase is Succeeded" in err
    cluster.kubectl("delete", "pytorchjob", "runs")


@pytest.fixture
def running(cluster):
    cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name="served", command="sleep 1000"))
    cluster.kubectl("wait", "--for=condition=Running", "pytorchjob/served", "--timeout=60s")
    yield "served-master-0"
    cluster.kubectl("delete", "pytorchjob", "served")


@pytest.fixture
def echo():
    """The port of a server that answers when its client has said everything."""
    class Echo(socketserver.StreamRequestHandler):
        def handle(self):
            data = self.rfile.read()
            self.wfile.write(b"%d " % len(data) + data)

    class Server(socketserver.ThreadingTCPServer):
        request_queue_size = 128  # beyond it Linux itself loses what was sent with the end of a stream
    with Server(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def ask(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(1 << 20), b""))


def test_port_forward(cluster, running, echo):
    command = [cluster.kubectl_path, "--kubeconfig", cluster.kubeconfig, "port-forward",
               f"pod/{running}", "--address", "127.0.0.1"]
    with port_clients.Forwarder([*command, f":{echo}"]) as forwarder:
        large = os.urandom(3 << 20)
        assert ask(forwarder.local, large) == b"%d " % len(large) + large
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            words = [b"%d" % n for n in range(100)]
            answers = list(pool.map(lambda word: ask(forwarder.local, word), words))
        assert answers == [b"%d " % len(word) + word for word in words]
        # Who goes without a word costs the others nothing.
        socket.create_connection(("127.0.0.1", forwarder.local), timeout=PATIENCE).close()
        assert ask(forwarder.local, b"still") == b"5 still"
    silent = free_port()
    with port_clients.Forwarder([*command, f":{silent}"]) as forwarder:
        assert port_clients.touch(forwarder.local) == b""
        assert f"nothing listens on port {silent}: Connection refused" in forwarder.error_line()


def test_run_has_its_arguments_for_a_command(cluster):
    cluster.kubectl("run", "answer", "--image=busybox", "--restart=Never", "--", "echo", "42")
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/answer", "--timeout=60s")
    assert cluster.kubectl("logs", "answer") == "42\n"
    cluster.kubectl("delete", "pod", "answer")


def test_describe(cluster, done):
    job = cluster.kubectl("describe", "pytorchjob", done)
    assert "Kind:         PyTorchJob" in job and "PyTorchJobSucceeded" in job
    pod = cluster.kubectl("describe", "pod", "done-master-0")
    assert "Controlled By:  PyTorchJob/done" in pod and "Exit Code:    0" in pod
    assert "Capacity:" in cluster.kubectl("describe", "nodes")


def test_events(cluster, done):
    out = cluster.kubectl("get", "events", "--field-selector", f"involvedObject.name={done}")
    assert "SuccessfulCreatePod" in out and "PyTorchJobSucceeded" in out
    assert "PyTorchJobSucceeded" in cluster.kubectl("events", "--for", f"pytorchjob/{done}")


def test_watch(cluster):
    watching = cluster.start_kubectl("get", "pytorchjobs", "-w", "--no-headers", "-o",
                                     "custom-columns=N:.metadata.name,L:.metadata.labels.step")
    try:
        cluster.kubectl("apply", "-f", "-", stdin=IDLE.format(name="watched", command="true"))
        cluster.kubectl("label", "pytorchjob", "watched", "step=1")
        for line in watching.stdout:
            if line.split() == ["watched", "1"]:
                break
        events = cluster.start_kubectl("get", "events", "-w", "-o", "name")
        assert events.stdout.readline().startswith("event/")
        events.kill()
        events.communicate()
    finally:
        watching.kill()
        watching.communicate()
        cluster.kubectl("delete", "pytorchjob", "watched")


def test_explain(cluster):
    assert "pytorchReplicaSpecs" in cluster.kubectl("explain", "pytorchjob.spec")
    assert "FIELD: containers <[]Container>" in cluster.kubectl("explain", "pods.spec.containers")
    assert "schedulingPolicy" in cluster.kubectl("explain", "pytorchjob.spec.runPolicy", "--recursive")


def test_a_kind_that_is_not_here_is_said_to_be_none(cluster):
    """kubectl asks for OpenAPI v2 as protobuf then."""
    for kind in ("kubeflow.org/v1, kind: TFJob", "v1, kind: ServiceAccount"):
        _, err = cluster.kubectl("apply", "-f", "-", stdin=f"{{apiVersion: {kind}, metadata: {{name: x}}}}", code=1)
        assert "no matches for kind" in err, err


def test_required_fields_are_marked(cluster):
    assert "pytorchReplicaSpecs\t<map[string]PytorchReplicaSpecs> -required-" in cluster.kubectl("explain", "pytorchjob.spec")


def test_create_of_built_in_kinds(cluster):
    """Which kubectl sends as protobuf."""
    assert cluster.kubectl("create", "namespace", "made") == "namespace/made created\n"
    for args in (("configmap", "c", "--from-literal=a=1"), ("secret", "generic", "s", "--from-literal=a=1"),
                 ("service", "clusterip", "svc", "--tcp=80:8080"),
                 ("priorityclass", "high", "--value=7"),
                 ("deployment", "d", "--image=x", "--replicas=0", "--", "true")):
        assert "created" in cluster.kubectl("-n", "made", "create", *args)
    assert cluster.kubectl("get", "secret", "s", "-n", "made", "-o", "jsonpath={.data.a}") == "MQ=="
    assert cluster.kubectl("get", "svc", "svc", "-n", "made", "-o",
                           "jsonpath={.spec.ports[0].targetPort}") == "8080"
    assert cluster.kubectl("get", "deploy", "d", "-n", "made", "-o",
                           "jsonpath={.spec.replicas}") == "0"
    cluster.kubectl("delete", "namespace", "made", "--wait", "--timeout=30s")
    cluster.kubectl("delete", "priorityclass", "high")
    _, err = cluster.kubectl("get", "namespace", "made", code=1)
    assert 'namespaces "made" not found' in err


def test_definitions_are_applied_before_jobs(cluster):
    """As scripts for Kubernetes do: the kinds that are here are here already."""
    definition = os.path.join(os.path.dirname(__file__), "..", "..", "deploy", "crd.yaml")
    for flags in ((), ("--server-side", "--force-conflicts")):
        assert "pytorchjobs.kubeflow.org" in cluster.kubectl("apply", "-f", definition, *flags)
    _, err = cluster.kubectl("apply", "-f", "-", stdin=OTHER_DEFINITION, code=1)
    assert 'CustomResourceDefinition "things.example.com"' in err, err
    assert "accepts no definitions of other kinds" in err and "pytorchjobs.kubeflow.org" in err, err


def test_client_side_apply(cluster, idle):
    text = IDLE.format(name=idle, command="true")
    assert "unchanged" in cluster.kubectl("apply", "-f", "-", stdin=text)
    assert "configured" in cluster.kubectl("apply", "-f", "-", stdin=text.replace("team: a", "team: b"))
    assert cluster.kubectl("get", "pytorchjob", idle, "-o", "jsonpath={.metadata.labels.team}") == "b"


def test_server_side_apply(cluster, idle):
    text = IDLE.format(name=idle, command="true")
    # Moves what was applied by the client to server-side apply.
    assert "serverside-applied" in cluster.kubectl("apply", "--server-side", "-f", "-", stdin=text)
    other = text.replace("team: a", "team: c")
    _, err = cluster.kubectl("apply", "--server-side", "--field-manager=other", "-f", "-",
                             stdin=other, code=1)
    assert 'conflict with "kubectl": .metadata.labels.team' in err
    cluster.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-",
                    stdin=other)
    assert cluster.kubectl("get", "pytorchjob", idle, "-o", "jsonpath={.metadata.labels.team}") == "c"
    # What the last manager does not apply any more goes.
    cluster.kubectl("apply", "--server-side", "--field-manager=other", "-f", "-",
                    stdin=other.replace("labels: {team: c}", "labels: {}"))
    assert cluster.kubectl("get", "pytorchjob", idle, "-o", "jsonpath={.metadata.labels}") == ""


def test_dry_run(cluster):
    out = cluster.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-",
                          stdin=IDLE.format(name="dry", command="true"))
    assert "serverside-applied (server dry run)" in out
    assert "created (server dry run)" in cluster.kubectl("create", "configmap", "dry", "--dry-run=server")
    assert 'pytorchjobs.kubeflow.org "dry" not found' in cluster.kubectl(
        "get", "pytorchjob", "dry", code=1)[1]
    cluster.kubectl("create", "configmap", "kept")
    for what in ("kept", "--all"):
        assert '"kept" deleted (server dry run)' in cluster.kubectl("delete", "configmap", what, "--dry-run=server")
    assert cluster.kubectl("delete", "configmap", "kept") == 'configmap "kept" deleted\n'


def test_diff_shows_what_would_change_and_nothing_else(cluster, idle):
    changed = IDLE.format(name=idle, command="true").replace("team: a", "team: b")
    out = cluster.kubectl("diff", "-f", "-", stdin=changed, code=1)[0]
    assert [line for line in out.splitlines() if line.startswith(("- ", "+ "))] == [
        "-    team: a", "+    team: b"]
    made = json.loads(cluster.kubectl("create", "configmap", "dry", "--dry-run=server", "-o", "json"))
    assert "resourceVersion" not in made["metadata"]


def test_a_diff_by_the_server_of_what_the_client_applied(cluster):
    text = "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: compared}}, data: {{a: '{}'}}}}"
    cluster.kubectl("apply", "-f", "-", stdin=text.format(1))
    out, err = cluster.kubectl("diff", "--server-side", "-f", "-", stdin=text.format(2), code=1)
    assert '+  a: "2"' in out, out + err


def test_the_order_of_variables_is_applied(cluster):
    text = json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ordered"}, "spec": {
        "replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "c", "image": "x", "env": "ENV"}]}}}})
    for names in ("AB", "CAB", "BC"):
        env = json.dumps([{"name": name, "value": "1"} for name in names])
        cluster.kubectl("apply", "-f", "-", stdin=text.replace('"ENV"', env))
        assert cluster.kubectl("get", "deployment", "ordered", "-o",
                               "jsonpath={.spec.template.spec.containers[0].env[*].name}") == " ".join(names)
    cluster.kubectl("delete", "deployment", "ordered")


def test_a_cordoned_node_starts_nothing(cluster):
    node = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    cluster.kubectl("cordon", node)
    try:
        assert cluster.kubectl("get", "nodes", "--field-selector", "spec.unschedulable=true", "-o", "name") == f"node/{node}\n"
        cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name="held", command="true"))
        cluster.kubectl("wait", "--for=create", "pod/held-master-0", "--timeout=60s")
        cluster.kubectl("wait", "--for=jsonpath={.status.conditions[0].reason}=Unschedulable", "pod/held-master-0", "--timeout=60s")
        assert f"{node} is cordoned" in cluster.kubectl("get", "pod", "held-master-0", "-o", "jsonpath={.status.conditions[0].message}")
    finally:
        cluster.kubectl("uncordon", node)
    cluster.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/held", "--timeout=60s")
    cluster.kubectl("delete", "pytorchjob", "held")


def test_label_annotate_patch(cluster, idle):
    cluster.kubectl("label", "pytorchjob", idle, "x=y")
    cluster.kubectl("annotate", "pytorchjob", idle, "n=1")
    cluster.kubectl("label", "pytorchjob", idle, "team-")
    cluster.kubectl("patch", "pytorchjob", idle, "--type=merge", "-p",
                    '{"spec":{"runPolicy":{"backoffLimit":3}}}')
    cluster.kubectl("patch", "pytorchjob", idle, "--type=json", "-p",
                    '[{"op":"replace","path":"/metadata/labels/x","value":"z"}]')
    job = json.loads(cluster.kubectl("get", "pytorchjob", idle, "-o", "json"))
    assert job["metadata"]["labels"] == {"x": "z"} and job["metadata"]["annotations"]["n"] == "1"
    assert job["spec"]["runPolicy"]["backoffLimit"] == 3
    cluster.kubectl("create", "configmap", "patched", "--from-literal=a=1")
    cluster.kubectl("patch", "configmap", "patched", "-p", '{"data":{"b":"2"}}')  # strategic
    assert json.loads(cluster.kubectl("get", "cm", "patched", "-o", "jsonpath={.data}")) == {
        "a": "1", "b": "2"}


def test_edit_and_replace(cluster, idle):
    editor = cluster.muster.path("editor")
    with open(editor, "w") as file:
        file.write('#!/bin/sh\nsed -i "s/team: a/team: edited/" "$1"\n')
    os.chmod(editor, 0o755)
    assert "edited" in cluster.kubectl("edit", "pytorchjob", idle, env={"EDITOR": editor})
    # Then nobody else writes it.
    await_words("Suspended", lambda: cluster.kubectl("get", "pytorchjob", idle, "-o", "jsonpath={.status.conditions[*].type}"))
    job = json.loads(cluster.kubectl("get", "pytorchjob", idle, "-o", "json"))
    assert job["metadata"]["labels"]["team"] == "edited"
    job["metadata"]["labels"]["team"] = "replaced"
    assert "replaced" in cluster.kubectl("replace", "-f", "-", stdin=json.dumps(job))
    _, err = cluster.kubectl("replace", "-f", "-", stdin=json.dumps(job), code=1)
    assert "the object has been modified" in err


def test_scale(cluster, idle):
    assert "scaled" in cluster.kubectl("scale", "pytorchjob", idle, "--replicas=3")
    assert cluster.kubectl("get", "pytorchjob", idle, "-o",
                           "jsonpath={.spec.pytorchReplicaSpecs.Worker.replicas}") == "3"
    scale = json.loads(cluster.kubectl("get", "pytorchjob", idle, "--subresource=scale", "-o", "json"))
    assert scale["kind"] == "Scale" and scale["spec"]["replicas"] == 3


def test_scale_of_a_deployment(cluster):
    cluster.kubectl("create", "deployment", "web", "--image=x", "--", "sleep", "1000")
    cluster.kubectl("scale", "deployment/web", "--replicas=2")
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    assert cluster.kubectl("get", "deployment", "web", "-o",
                           "jsonpath={.spec.replicas} {.status.readyReplicas}") == "2 2"
    everything = cluster.kubectl("get", "all", "-o", "name").split()
    assert "deployment.apps/web" in everything and any(n.startswith("pod/web-") for n in everything)
    cluster.kubectl("delete", "deployment", "web")


@pytest.mark.parametrize("cascade", ["background", "foreground", "orphan"])
def test_delete_cascades(cluster, cascade):
    name = f"gone-{cascade}"
    cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name=name, command="true"))
    cluster.kubectl("wait", "--for=condition=Succeeded", f"pytorchjob/{name}", "--timeout=60s")
    cluster.kubectl("delete", "pytorchjob", name, f"--cascade={cascade}", "--timeout=30s")

    def left():
        return cluster.kubectl("get", "pods", "-o", "name", "-l", f"training.kubeflow.org/job-name={name}")

    if cascade == "background":  # the pods go after the job
        await_true(lambda: not left())
    assert bool(left()) == (cascade == "orphan")


def test_errors_in_kubernetes_words(cluster):
    assert 'Error from server (NotFound): pods "none" not found' in cluster.kubectl(
        "get", "pod", "none", code=1)[1]
    assert "is invalid" in cluster.kubectl(
        "apply", "-f", "-", code=1,
        stdin=JOB.format(name="bad", command="true").replace("replicas: 1", "replicas: one"))[1]


def open_api(cluster, token, context=None):
    config = open(cluster.kubeconfig).read()
    server = next(line.split()[-1] for line in config.splitlines() if "server:" in line)
    request = urllib.request.Request(server + "/api", headers={"Authorization": token} if token else {})
    context = context or ssl._create_unverified_context()
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return answer.status


@pytest.mark.parametrize("token", [None, "Bearer", "Bearer wrong", "Basic {token}", "{token}"])
def test_nothing_without_the_token(cluster, token):
    secret = next(line.split()[-1] for line in open(cluster.kubeconfig) if "token:" in line)
    with pytest.raises(urllib.error.HTTPError) as refused:
        open_api(cluster, token and token.format(token=secret))
    assert refused.value.code == 401
    assert json.load(refused.value)["reason"] == "Unauthorized"
    assert open_api(cluster, f"Bearer {secret}") == 200


def test_the_authority_is_checked_by_name(cluster):
    import base64
    config = open(cluster.kubeconfig).read()
    authority = next(line.split()[-1] for line in config.splitlines() if "authority-data" in line)
    context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    secret = next(line.split()[-1] for line in config.splitlines() if "token:" in line)
    assert open_api(cluster, f"Bearer {secret}", context) == 200


def test_everything_lasts_over_down_and_up(cluster, done):
    before = cluster.muster.run("kubeconfig").stdout
    cluster.muster.run("down")
    assert "refused" in cluster.kubectl("get", "ns", code=1)[1]
    cluster.up("--loglevel=info")  # listens again without being told
    assert cluster.muster.run("kubeconfig").stdout == before
    assert done in cluster.kubectl("get", "pytorchjobs", "-o", "name")


def test_off_means_off(cluster):
    assert "no longer listens on a port" in cluster.up("--listen=off")
    assert "refused" in cluster.kubectl("get", "ns", code=1)[1]
    assert "muster up --listen" in cluster.muster.run("kubeconfig", code=1).stderr
    assert "https://127.0.0.1:" in cluster.up("--listen")
    assert "default" in cluster.kubectl("get", "ns")


def test_prune_of_kinds_that_are_named(cluster):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, labels: {{pruned: by-label}}}}\n---\n"
    cluster.kubectl("apply", "-f", "-", stdin=text.format("kept") + text.format("left-out"))
    out = cluster.kubectl("apply", "--prune", "-l", "pruned=by-label", "--prune-allowlist=core/v1/ConfigMap",
                          "-f", "-", stdin=text.format("kept"))
    assert out == "configmap/kept unchanged\nconfigmap/left-out pruned\n"


def test_what_is_not_served_is_said(cluster):
    cluster.kubectl("apply", "-f", "-", stdin=JOB.format(name="attached", command="sleep 600"))
    cluster.kubectl("wait", "--for=condition=Running", "pytorchjob/attached", "--timeout=60s")
    assert "attaching to the main process is not supported here" in cluster.kubectl(
        "attach", "attached-master-0", code=1)[1]
    cluster.kubectl("delete", "pytorchjob", "attached")
    for kind in ("pods", "nodes"):
        assert cluster.kubectl("top", kind, code=1)[1] == "error: Metrics API not available\n"


@pytest.mark.parametrize("address", ["0.0.0.0:8443", "example.com", "127.0.0.1:99999", "[::"])
def test_only_this_machine(cluster, address):
    done = cluster.muster.run("up", f"--listen={address}", code=2)
    assert "use 127.0.0.1:PORT, localhost:PORT or [::1]:PORT" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_taken_port_is_named(cluster):
    import socket
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cluster.muster.run("up", f"--listen=127.0.0.1:{port}", code=1)
    assert f"listen on 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "default" in cluster.kubectl("get", "ns")  # the old one is still there


def test_secrets_are_private(cluster):
    folder = cluster.muster.path("state", "muster", "listen")
    for name in os.listdir(folder):
        assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600, name
    secret = open(os.path.join(folder, "token")).read().strip()
    state = cluster.muster.path("state", "muster")
    logs = [name for name in os.listdir(state) if name.endswith(".log")]
    assert logs and all(secret not in open(os.path.join(state, name)).read() for name in logs)
