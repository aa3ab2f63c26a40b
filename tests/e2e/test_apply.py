"""muster apply and muster diff with the real binary on the embedded cluster."""
import http.server
import json
import re
import subprocess
import threading
import time

import pytest

from waiting import PATIENCE

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: mnist
  labels: {{team: {team}}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        spec:
          containers:
          - name: pytorch
            image: python
            command: [sh, -c, "echo hello from apply"]
"""
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}}}
data: {{value: "{value}"}}
"""


def write(cluster, name, text):
    path = cluster.path("home", name)
    with open(path, "w") as file:
        file.write(text)
    return path


def test_a_job_of_a_file_runs_and_is_changed(cluster):
    job = write(cluster, "job.yaml", JOB.format(team="red"))
    preview = cluster.run("diff", "-f", job, code=1).stdout
    assert "+kind: PyTorchJob\n" in preview and "@@ -0,0 +1," in preview
    assert cluster.run("apply", "-f", job).stdout == "pytorchjob.kubeflow.org/mnist created\n"
    cluster.wait("mnist", "SUCCEEDED")
    assert "hello from apply" in cluster.run("logs", "mnist").stdout
    assert cluster.run("apply", "-f", job).stdout == "pytorchjob.kubeflow.org/mnist unchanged\n"
    assert cluster.run("diff", "-f", job).stdout == ""

    write(cluster, "job.yaml", JOB.format(team="blue"))
    diff = cluster.run("diff", "-f", job, code=1).stdout
    lines = diff.splitlines()
    file = r"{}\S+/kubeflow\.org\.v1\.PyTorchJob\.default\.mnist"
    live, merged = file.format("LIVE-"), file.format("MERGED-")
    assert re.fullmatch(rf"diff -u -N \S+{live} \S+{merged}", lines[0]), diff
    assert re.match(rf"--- \S+{live}\t", lines[1]) and re.match(rf"\+\+\+ \S+{merged}\t", lines[2]), diff
    changes = [line for line in lines[3:] if line[0] in "+-"]
    assert changes == ["-    team: red", "+    team: blue"]
    for dry, note in (("client", "dry run"), ("server", "server dry run")):
        done = cluster.run("apply", "-f", job, f"--dry-run={dry}")
        assert done.stdout == f"pytorchjob.kubeflow.org/mnist configured ({note})\n"
    assert cluster.run("apply", "-f", job).stdout == "pytorchjob.kubeflow.org/mnist configured\n"
    shown = json.loads(cluster.run("apply", "-f", job, "-o", "json").stdout)
    assert shown["metadata"]["labels"]["team"] == "blue" and "managedFields" not in shown["metadata"]
    assert shown["status"]["conditions"]
    assert cluster.run("delete", "mnist").returncode == 0


def test_standard_input_lists_and_fields_that_are_no_longer_named(cluster):
    def pipe(verb, text, *args):
        return subprocess.run([cluster.binary, verb, "-f", "-", *args], env=cluster.env, input=text,
                              cwd="/", text=True, capture_output=True, timeout=PATIENCE)
    items = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
              "data": {"kept": "1", "dropped": "2"}} for name in ("a", "b")]
    done = pipe("apply", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert (done.returncode, done.stdout) == (0, "configmap/a created\nconfigmap/b created\n"), done
    del items[1]["data"]["dropped"]
    text = "\n".join(json.dumps(item, indent=1) for item in items)
    changes = pipe("diff", text)
    assert changes.returncode == 1 and "-  dropped: \"2\"\n" in changes.stdout, changes
    done = pipe("apply", text)
    assert done.stdout == "configmap/a unchanged\nconfigmap/b configured\n", done
    done = pipe("apply", text, "-o", "yaml")
    assert done.stdout.count("dropped") == 1


def test_a_field_of_somebody_else_is_a_conflict(cluster):
    settings = write(cluster, "a.yaml", SETTINGS.format(name="a", value="mine"))
    cluster.run("apply", "-f", settings)
    write(cluster, "a.yaml", SETTINGS.format(name="a", value="theirs"))
    refused = cluster.run("apply", "-f", settings, "--field-manager=other", code=1)
    assert '"muster"' in refused.stderr and ".data.value" in refused.stderr
    assert "--force-conflicts" in refused.stderr
    assert cluster.run("diff", "-f", settings, "--field-manager=other", code=2).stdout == ""
    done = cluster.run("apply", "-f", settings, "--field-manager=other", "--force-conflicts")
    assert done.stdout == "configmap/a configured\n"


def test_what_is_wrong_is_said_with_its_place(cluster):
    broken = write(cluster, "broken.yaml", "kind: A\nspec: [1\n")
    refused = cluster.run("apply", "-f", broken, code=1)
    assert f"{broken}:3:1: " in refused.stderr
    assert cluster.run("diff", "-f", broken, code=2).stdout == ""
    assert "open /nowhere" in cluster.run("apply", "-f", "/nowhere", code=1).stderr
    cluster.run("apply", code=2)

    bad_job = JOB.format(team="red").replace("replicas: 1", "replicas: many")
    mixed = write(cluster, "mixed.yaml", "---\n".join([
        bad_job, SETTINGS.format(name="good", value="1"),
        "apiVersion: example.com/v1\nkind: Unheard\nmetadata: {name: x}\n"]))
    done = cluster.run("apply", "-f", mixed, code=1)
    assert done.stdout == "configmap/good created\n"
    first, last = [line for line in done.stderr.splitlines() if mixed in line]
    assert "document 1 (line 1): pytorchjob.kubeflow.org/mnist: " in first and "replicas" in first
    assert "document 3 (line 22): the embedded cluster knows no Unheard of example.com/v1" in last
    elsewhere = write(cluster, "other.yaml", "apiVersion: v1\nkind: ConfigMap\n"
                                             "metadata: {name: a, namespace: team}\n")
    assert '"team"' in cluster.run("apply", "-n", "default", "-f", elsewhere, code=1).stderr


def test_a_namespace_that_is_missing_is_created(cluster):
    job = write(cluster, "job.yaml", JOB.format(team="red").replace("name: mnist", "name: mnist\n  namespace: kubeflow"))
    dry = cluster.run("apply", "-f", job, "--dry-run=server", code=1)
    assert 'namespaces "kubeflow" not found' in dry.stderr
    done = cluster.run("apply", "-f", job)
    assert done.stdout == "pytorchjob.kubeflow.org/mnist created\n"
    assert "namespace kubeflow did not exist and was created" in done.stderr
    assert cluster.run("apply", "-f", job).stderr == ""
    assert "NAMESPACE: kubeflow" in cluster.run("get", "mnist", "-n", "kubeflow").stdout


@pytest.mark.parametrize("field, fault, words", [
    ("replicas: 1", "restartPolicy: never",
     'spec.restartPolicy: Unsupported value: "never": supported values: "Always", "OnFailure", "Never"'),
    ("    image: python", "ports: [{containerPort: 99999}]",
     "spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive"),
    ("    image: python", "imagePullPolicy: Sometimes",
     'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"'),
    ("    image: python", "resources: {requests: {cpu: 2}, limits: {cpu: 1}}",
     'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1')])
def test_a_pod_that_kubernetes_refuses_is_refused_in_its_words(cluster, field, fault, words):
    indent = re.search(rf"( *){field.strip()}", JOB)[1]
    text = JOB.format(team="red").replace(field, f"{field}\n{indent}{fault}")
    cluster.run("apply", "-f", write(cluster, "job.yaml", text))
    whole = f'Pod "mnist-master-0" is invalid: {words}\n'
    expected = (f"REASON: pod mnist-master-0: {whole}", f"[FailedCreatePod] Error creating: {whole}")
    deadline = time.monotonic() + 30
    shown = ""  # either comes first: the reason is the job's, and the event an object of its own
    while not all(line in shown for line in expected):
        assert time.monotonic() < deadline, shown
        time.sleep(0.05)
        shown = cluster.run("get", "mnist", "-e").stdout


def test_a_message_of_the_server_is_printed_as_it_is(cluster):
    text = JOB.format(team="red").replace("name: mnist", "name: mnist.1")
    refused = cluster.run("apply", "-f", write(cluster, "job.yaml", text), code=1)
    assert "(e.g. 'my-name',  or 'abc-123', regex used for validation is" in refused.stderr  # two spaces


@pytest.fixture
def web():
    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/a.yaml?raw=1")
                self.end_headers()
                return
            found = self.path == "/a.yaml?raw=1"
            body = SETTINGS.format(name="web", value="1").encode() if found else b"no"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_of_the_web(cluster, web):
    assert cluster.run("apply", "-f", f"{web}/moved").stdout == "configmap/web created\n"
    assert cluster.run("apply", "-f", f"{web}/a.yaml?raw=1").stdout == "configmap/web unchanged\n"
    refused = cluster.run("apply", "-f", f"{web}/absent", code=1)
    assert f"{web}/absent: the web server answers HTTP 404" in refused.stderr
    refused = cluster.run("apply", "-f", web.replace("://", "://tom:pw@") + "/a.yaml", code=1)
    assert f"{web}/a.yaml: the URL must not contain a user and password: fetch it with another program and pipe it " \
        "to -f -" in refused.stderr
