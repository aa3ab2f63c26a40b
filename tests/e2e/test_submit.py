"""submit as a user meets it: dry runs, waiting, values that arrive as they were typed, secrets, two at
once, elastic jobs, the model registry."""
import base64
import http.client
import http.server
import json
import os
import re
import select
import signal
import ssl
import subprocess
import threading

import pytest

from embedded_api import Api
from waiting import PATIENCE

USAGE, FAILURE, INTERRUPTED = 2, 1, 130


KINDS = ("api/v1/namespaces/default/configmaps", "api/v1/namespaces/default/secrets",
         "api/v1/namespaces/default/services", "apis/apps/v1/namespaces/default/deployments",
         "apis/kubeflow.org/v1/namespaces/default/pytorchjobs")


def objects(cluster):
    return sorted(f"{kind.rsplit('/', 1)[1]}/{item['metadata']['name']}" for kind in KINDS
                  for item in Api(cluster).call("GET", f"/{kind}")["items"]
                  if not item["metadata"]["name"].endswith("-master-0"))  # the controller's service


def test_a_dry_run_of_the_client_starts_nothing(cluster):
    done = cluster.submit("dry", "true", "--dry-run=client", "--workers=2", "-o", "json")
    items = json.loads(done.stdout)["items"]
    assert [item["kind"] for item in items] == ["PyTorchJob", "ConfigMap"]
    assert items[0]["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 1
    assert cluster.submit("dry", "true", "--dry-run=client").stdout.startswith("apiVersion: kubeflow.org/v1\n")
    assert os.listdir(cluster.path("run")) == [] and os.listdir(cluster.path("state")) == []


def test_a_dry_run_of_the_server_changes_nothing(cluster):
    done = cluster.submit("dry", "true", "--dry-run=server", "--tensorboard")
    assert done.stdout == ("configmap/dry-pytorchjob created (server dry run)\n"
                           "service/dry-tensorboard created (server dry run)\n"
                           "deployment.apps/dry-tensorboard created (server dry run)\n"
                           "pytorchjob.kubeflow.org/dry created (server dry run)\n")
    shown = cluster.submit("dry", "true", "--dry-run=server", "-o", "json", "--sync-mode=git",
                           "--sync-source=https://tom:tiger-1@h/r.git")
    assert {item["kind"] for item in json.loads(shown.stdout)["items"]} == {"PyTorchJob", "ConfigMap"}
    assert "tiger-1" not in shown.stdout + shown.stderr
    assert base64.b64encode(b"tiger-1").decode() not in shown.stdout
    assert objects(cluster) == []


def test_what_a_dry_run_prints_can_be_created(cluster):
    shown = cluster.submit("from-dry", "echo arrived", "--dry-run=client", "-o", "json")
    job = json.loads(shown.stdout)["items"][0]
    Api(cluster).call("POST", f"/{KINDS[-1]}", job)
    cluster.wait("from-dry", "SUCCEEDED")
    assert cluster.run("logs", "from-dry").stdout == "arrived\n"


def test_wait_ends_as_the_job_does(cluster):
    good = cluster.submit("good", "true", "--wait")
    assert "The Job good has succeeded" in good.stderr
    bad = cluster.submit("bad", "echo why; exit 3", "--wait", code=FAILURE)
    assert "the job bad has failed: rank 0 (bad-master-0) exited with code 3: why" in bad.stderr
    assert cluster.get("bad")["status"] == "FAILED"


def test_follow_prints_the_log(cluster):
    done = cluster.submit("followed", "echo one; echo two", "--workers=2", "--follow")
    assert done.stdout.splitlines()[-2:] == ["one", "two"]
    bad = cluster.submit("bad", "echo one; exit 7", "--follow", code=FAILURE)
    assert bad.stdout.splitlines()[-1] == "one"
    assert "exited with code 7" in bad.stderr


@pytest.mark.parametrize("flag", ["--wait", "--follow"])
def test_who_waits_hears_why_the_job_does_not_begin(cluster, flag):
    os.symlink(cluster.binary, cluster.path("bin", "arena"))
    cluster.binary = cluster.path("bin", "arena")
    process = cluster.start("submit", "pytorch", "--name=early", flag, "--env-from-secret=TOKEN=hub:token", "true")
    why = 'secret "hub" not found'
    for line in process.stderr:
        if why.replace('"', '\\"') in line:
            break
    else:
        raise AssertionError(f"{process.wait(30)}: it does not say why")
    # Others are told the same.
    assert why in cluster.run("get", "early").stderr.replace('\\"', '"')
    assert why in cluster.run("logs", "early", code=1).stderr.replace('\\"', '"')
    Api(cluster).call("POST", f"/{KINDS[1]}", {"metadata": {"name": "hub"}, "data": {"token": "eA=="}})
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said


@pytest.mark.parametrize("flag", ["--wait", "--follow"])
@pytest.mark.parametrize("program,code", [("muster", INTERRUPTED), ("arena", FAILURE)])
def test_interrupting_leaves_the_job_running(cluster, flag, program, code):
    muster = cluster.binary
    os.symlink(muster, cluster.path("bin", "arena"))
    gate = cluster.path("tmp", "gate")
    os.mkfifo(gate)
    # As pods see /tmp of the machine, the gate is there; the job ends when it opens.
    cluster.binary = cluster.path("bin", program)
    process = cluster.start("submit", "pytorch", "--name=long", flag, f"echo begun; cat {gate}")
    cluster.binary = muster
    lines = b""
    while b"pytorchjob.kubeflow.org/long created" not in lines:
        assert select.select([process.stdout], [], [], 30)[0], lines
        lines += os.read(process.stdout.fileno(), 4096)
    cluster.wait("long", "RUNNING")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert f"The job long keeps running: `{program} logs long -f` follows it, `{program} delete long` ends it" in said
    assert cluster.get("long")["status"] == "RUNNING"
    with open(gate, "w") as opened:
        opened.write("opened\n")
    cluster.wait("long", "SUCCEEDED")
    assert cluster.run("logs", "long").stdout == "begun\nopened\n"


def test_what_this_machine_does_not_do_is_said_by_submit_and_by_get(cluster):
    cluster.run("up")
    flags = ["--selector=disk=ssd", "--device=a.b/card=1", "--scheduler=volcano", "--rdma", "--gpus=1"]
    done = cluster.submit("wishes", "true", "--workers=2", *flags, "--wait")
    warnings = [line.split("] ", 1)[1] for line in done.stderr.splitlines() if line.startswith("WARN")]
    gpus = warnings.pop(0)  # with or without why there are none
    assert gpus.startswith("--gpus: the job asks for 2 nvidia.com/gpu, this machine has ")
    assert warnings == [
        "--device has no effect here: this machine does not assign a.b/card",
        "--rdma has no effect here: this machine does not assign RDMA devices, each pod sees all of them",
        "--selector disk=ssd has no effect here: there is only one machine",
        "--scheduler volcano has no effect here: muster's own scheduler places every pod"], done.stderr
    shown = cluster.run("get", "wishes").stderr.splitlines()
    assert [line.split("] ", 1)[1] for line in shown if line.startswith("WARN")] == [gpus, *warnings]
    dry = cluster.submit("others", "true", "--dry-run=server", *flags[:1])
    assert "--selector disk=ssd has no effect here" in dry.stderr
    plain = cluster.submit("plain", "true", "--wait")
    assert "WARN" not in plain.stderr and "WARN" not in cluster.run("get", "plain").stderr
    chosen = cluster.run("list", "-l", "release in (plain)").stdout
    assert "plain" in chosen and "wishes" not in chosen, "the daemon's table is narrowed by labels, too"


EVERYTHING = ("--tensorboard", "--sync-mode=git", "--sync-source=https://tom:tiger-1@127.0.0.1:1/r.git",
              "--config-file=/etc/hostname:/etc/app/name")


def parts(cluster, name):
    """How many objects there are of a submission with EVERYTHING; six when it is whole. Its request may be under way
    when its client is gone, and each kind is a list of its own."""
    counts = []
    while len(counts) < 2 or counts[-1] != counts[-2]:
        counts.append(len([each for each in objects(cluster) if each.split("/")[1].startswith(name)]))
    return counts[-1]


def test_a_submission_that_is_killed_is_whole_or_nothing(cluster):
    cluster.run("up")
    for moment in range(24):
        name = f"job-{moment:02}"
        process = cluster.start("submit", "pytorch", f"--name={name}", *EVERYTHING, "true")
        try:
            process.wait(moment * 0.004)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        assert parts(cluster, name) in (0, 6), objects(cluster)


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_last_line_of_an_interrupted_submission_says_whether_the_job_exists(cluster, interrupt):
    cluster.run("up")
    for moment in range(16):
        name = f"job-{moment:02}"
        process = cluster.start("submit", "pytorch", f"--name={name}", *EVERYTHING, "true")
        try:
            process.wait(moment * 0.005)
        except subprocess.TimeoutExpired:
            process.send_signal(interrupt)
        _, said = process.communicate(timeout=PATIENCE)
        made = parts(cluster, name)
        assert made in (0, 6), objects(cluster)
        last = said.splitlines()[-1] if said else ""
        if process.returncode == 0 or f"`muster get {name}" in last:
            assert made == 6 and f"`muster get {name}" in last
        elif last:  # else the program had not begun to look at its command line
            assert process.returncode == INTERRUPTED, said
            assert last == (f"The job {name} keeps running: `muster logs {name} -f` follows it, `muster delete {name}` ends it"
                            if made else f"The job {name} was not created")
        else:
            assert made == 0


def test_nohup_keeps_a_submission_from_ending_with_its_terminal(cluster):
    gate = cluster.path("tmp", "gate")
    os.mkfifo(gate)
    process = cluster.start("submit", "pytorch", "--name=kept", "--wait", f"cat {gate}",
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    while "created" not in process.stdout.readline():
        assert process.poll() is None, process.communicate()
    cluster.wait("kept", "RUNNING")
    process.send_signal(signal.SIGHUP)
    with open(gate, "w") as opened:
        opened.write("opened\n")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said


class KillingProxy(http.server.BaseHTTPRequestHandler):
    """The embedded cluster's API for a client that takes it for Kubernetes; kills the client at a request."""
    protocol_version = "HTTP/1.1"
    client, left, is_after = None, None, False
    has_client = threading.Event()

    def answer(self):
        cls = type(self)
        cls.has_client.wait(60)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_last = cls.left == 0
        if cls.left is not None:
            cls.left -= 1
        if is_last and not cls.is_after:
            cls.client.kill()
            cls.client.wait()
            return
        api = Api.__new__(Api)
        http.client.HTTPConnection.__init__(api, "localhost")
        api.path = cls.socket
        api.request(self.command, self.path, body or None,
                    {key: self.headers[key] for key in ("Content-Type", "Accept") if key in self.headers})
        answer = api.getresponse()
        text = answer.read()
        if is_last:
            cls.client.kill()
            cls.client.wait()
            return
        self.send_response(answer.status)
        for key, value in (("Content-Type", answer.headers["Content-Type"]), ("Content-Length", str(len(text)))):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


def test_a_submission_to_kubernetes_that_is_killed_is_whole_or_taken_back(cluster):
    KillingProxy.socket = Api(cluster).path
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), KillingProxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = cluster.path("kubeconfig")
    with open(config, "w") as file:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
                   "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                   "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}]}, file)
    halves = 0
    for is_after in (False, True):
        for request in range(20):
            name = f"job-{request:02}-{'after' if is_after else 'before'}"
            KillingProxy.left, KillingProxy.is_after = request, is_after
            KillingProxy.has_client.clear()
            client = KillingProxy.client = cluster.start(
                "submit", "pytorch", f"--name={name}", "--image=i", f"--kubeconfig={config}", *EVERYTHING, "true")
            KillingProxy.has_client.set()
            client.communicate(timeout=PATIENCE)
            KillingProxy.left = None
            before = parts(cluster, name)
            listed = cluster.run("list", f"--kubeconfig={config}")
            whole = parts(cluster, name)
            assert whole in (0, 6), objects(cluster)
            assert (name in listed.stdout) == (whole == 6), listed.stdout
            if before != whole:
                halves += 1
                assert f"the submission of the job {name} was interrupted before it was complete: it is undone" \
                    in listed.stderr
            if client.returncode == 0:
                break
        else:
            raise AssertionError("the client makes no end of requests")
    server.shutdown()
    assert halves > 2, "no submission was broken off"


TEXTS = ["plain", "two  blanks", " '\"` # x: y, z ", "a\nb\n", '{"a": ["b,c"], "d": "\\\\"}', "back\\slash\\n",
         "$HOME ${HOME} $(date) $$ $$$ $$(A) $(A) $", "*.py ~ & ; | < > !", "ä😀", "- x\n: y\n%d", "\ttab", "-e"]


def test_values_arrive_as_they_were_typed(cluster):
    command = "printf '%s\\0' " + " ".join("\"$T%d\"" % n for n in range(len(TEXTS))) + " | od -An -v -tx1"
    flags = [f"--env=T{n}={text}" for n, text in enumerate(TEXTS)] + ["--env=A=expanded"]
    cluster.submit("verbatim", command, *flags, "--wait")
    printed = bytes.fromhex(cluster.run("logs", "verbatim").stdout.replace("\n", ""))
    assert printed == "".join(text + "\0" for text in TEXTS).encode()
    literals = " ".join("'%s'" % text.replace("'", "'\\''") for text in TEXTS)
    cluster.submit("literal", f"printf '%s\\0' {literals} | od -An -v -tx1", "--env=A=expanded", "--wait")
    printed = bytes.fromhex(cluster.run("logs", "literal").stdout.replace("\n", ""))
    assert printed == "".join(text + "\0" for text in TEXTS).encode()


def test_variables_from_secrets(cluster):
    encoded = base64.b64encode(b"hush-4711").decode()
    Api(cluster).call("POST", f"/{KINDS[1]}", {"metadata": {"name": "hub"},
                                               "data": {"TOKEN": encoded, "other": encoded}})
    cluster.submit("secretive", 'echo "$MINE $TOKEN" | tr h H', "--env-from-secret=MINE=hub:other",
                   "--env-from-secret=hub", "--wait")
    assert cluster.run("logs", "secretive").stdout == "HusH-4711 HusH-4711\n"
    shown = cluster.run("get", "secretive", "-o", "json").stdout + json.dumps(
        Api(cluster).call("GET", f"/{KINDS[-1]}/secretive"))
    assert "hush-4711" not in shown and encoded not in shown


def test_of_two_at_once_one_wins(cluster):
    cluster.run("up")
    args = ("submit", "pytorch", "--name=both", "--tensorboard", "--sync-mode=git", "--sync-source=https://u:pw@h/r.git", "true")
    racers = [cluster.start(*args) for _ in range(6)]
    ended = [(*racer.communicate(timeout=PATIENCE), racer.returncode) for racer in racers]
    assert sorted(code for _, _, code in ended) == [0, 1, 1, 1, 1, 1]
    for out, err, code in ended:
        if code:
            assert out == ""
            assert "the job both is already exist, please delete it first. use 'muster delete both'" in err
    assert objects(cluster) == ["configmaps/both-pytorchjob", "deployments/both-tensorboard",
                                "pytorchjobs/both", "secrets/both-git-sync", "services/both-tensorboard"]
    cluster.run("delete", "both")
    assert objects(cluster) == []


def test_deleted_and_submitted_again_at_once(cluster):
    for _ in range(5):
        cluster.submit("again", "true", "--tensorboard")
        cluster.run("delete", "again")
    assert objects(cluster) == []


def test_a_refused_submit_leaves_nothing(cluster):
    in_the_way = {"metadata": {"name": "pt-tensorboard"}, "spec": {"ports": [{"port": 1}]}}
    Api(cluster).call("POST", f"/{KINDS[2]}", in_the_way)
    done = cluster.submit("pt", "true", "--tensorboard", "--config-file=/etc/hosts:/etc/x/hosts", code=FAILURE)
    assert "service pt-tensorboard already exists and belongs to something else" in done.stderr
    assert done.stdout == ""
    assert objects(cluster) == ["services/pt-tensorboard"]


def test_elastic_workers_hear_of_their_bounds(cluster):
    cluster.submit("elastic", "echo $PET_NNODES $PET_RDZV_BACKEND $PET_RDZV_ENDPOINT $PET_MAX_RESTARTS", "--elastic=2:3",
                   "--retry=1", "--wait")
    job = Api(cluster).call("GET", f"/{KINDS[-1]}/elastic")
    assert list(job["spec"]["pytorchReplicaSpecs"]) == ["Worker"]
    # The job has succeeded with its first worker: this one may not have begun.
    words = cluster.run("logs", "elastic", "-f", "-i", "elastic-worker-1").stdout.split()
    assert words[:2] == ["2:3", "c10d"] and re.fullmatch(r"elastic-worker-0:\d+", words[2]) and words[3] == "1"


class Mlflow(http.server.BaseHTTPRequestHandler):
    """The two calls of MLflow's REST API that register a version, as its documentation has them."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        expected = "Basic " + base64.b64encode(b"tom:tiger-2").decode()
        self.server.asked.append((self.path, body))
        if self.headers.get("Authorization") != expected:
            return self._send(401, {"message": "You are not authenticated."})
        if self.path == "/ml/api/2.0/mlflow/registered-models/create":
            if body["name"] in self.server.models:
                return self._send(400, {"error_code": "RESOURCE_ALREADY_EXISTS",
                                        "message": f"Registered Model (name={body['name']}) already exists."})
            self.server.models[body["name"]] = 0
            return self._send(200, {"registered_model": {"name": body["name"]}})
        if self.path == "/ml/api/2.0/mlflow/model-versions/create":
            self.server.models[body["name"]] += 1
            return self._send(200, {"model_version": {**body, "version": str(self.server.models[body["name"]])}})
        return self._send(404, {"error_code": "ENDPOINT_NOT_FOUND", "message": "no such thing"})

    def _send(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(params=["http", "https"])
def mlflow(request, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mlflow)
    server.asked, server.models = [], {}
    server.address, server.env = f"http://127.0.0.1:{server.server_port}/ml", {}
    if request.param == "https":
        key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
                        "-out", cert, "-subj", "/CN=mlflow", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.address = server.address.replace("http:", "https:")
        server.env = {"MLFLOW_TRACKING_SERVER_CERT_PATH": cert}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_registered(cluster, mlflow):
    env = {"MLFLOW_TRACKING_URI": mlflow.address + "/", "MLFLOW_TRACKING_USERNAME": "tom",
           "MLFLOW_TRACKING_PASSWORD": "tiger-2", **mlflow.env}
    for version in ("1", "2"):
        done = cluster.submit(f"model-{version}", "true", "--model-name=mnist", "--model-source=pvc://models/mnist",
                              "--env=TOKEN=hush-1", env=env)
        assert f"The model mnist is registered as version {version}" in done.stderr
        labels = Api(cluster).call("GET", f"/{KINDS[-1]}/model-{version}")["metadata"]["labels"]
        assert (labels["modelName"], labels["modelVersion"]) == ("mnist", version)
    assert [path.rsplit("/", 2)[1] for path, _ in mlflow.asked] == ["registered-models", "model-versions"] * 2
    asked = mlflow.asked[1][1]
    assert (asked["name"], asked["source"]) == ("mnist", "pvc://models/mnist")
    assert asked["description"].startswith("submit pytorchjob --name=model-1 ") and "hush-1" not in str(mlflow.asked)


def test_a_model_that_cannot_be_registered_is_a_warning(cluster, mlflow):
    flags = ("--model-name=m", "--model-source=s")
    trusted = {"MLFLOW_TRACKING_URI": mlflow.address, **mlflow.env}
    cases = [
            ("unset", {}, "MLFLOW_TRACKING_URI is not set"),
            ("denied", trusted, "You are not authenticated. (MLFLOW_TRACKING_USERNAME"),
            ("token", {**trusted, "MLFLOW_TRACKING_TOKEN": "hush-2"}, "You are not authenticated. (MLFLOW_TRACKING_USERNAME"),
            ("down", {"MLFLOW_TRACKING_URI": "http://127.0.0.1:1"}, "Connection refused")]
    if mlflow.env:
        cases += [("stranger", {"MLFLOW_TRACKING_URI": mlflow.address}, "it is signed by an authority that is not known here"),
                  ("insecure", {"MLFLOW_TRACKING_URI": mlflow.address, "MLFLOW_TRACKING_INSECURE_TLS": "true"},
                   "You are not authenticated.")]
    for name, env, words in cases:
        done = cluster.submit(name, "true", *flags, env=env)
        warnings = [line for line in done.stderr.splitlines() if "the model m is not registered: " in line]
        assert len(warnings) == 1 and words in warnings[0], done.stderr
        assert f"The job {name} runs all the same; register m with the source s yourself" in warnings[0]
        assert "hush-2" not in done.stderr


def test_help_groups_and_teaches(cluster):
    text = cluster.run("submit", "pytorchjob", "--help").stdout
    headings = [line for line in text.splitlines() if re.match(r"[A-Z].*:$", line)]
    assert headings == ["Usage:", "Aliases:", "Examples:", "Flags:", "Replicas, and what each of them gets:", "Images:",
                        "Code, which is at WORKING-DIR/code/PROJECT in each replica:", "Data and results:",
                        "Where and when it runs:", "Failures and the end:", "This command:", "Global Flags:"]
    assert all(len(line) <= 132 for line in text.splitlines())


BAD = [
    # flags, words
    (["--workers=0"], "--workers is invalid: it counts the master too, so it must be at least 1"),
    (["--env=NOVALUE"], '--env "NOVALUE" is invalid, should like key=value: no such variable is set here'),
    (["--env=1A=x"], '--env "1A" is invalid: the name must be'),
    (["--label=a"], '--label "a" is invalid, should like key=value'),
    (["--label=a=b c"], '--label "a" is invalid: the value must be'),
    (["--annotation=a"], '--annotation "a" is invalid, should like key=value'),
    (["--selector==b"], '--selector "=b" is invalid, should like key=value'),
    (["--toleration=gpu_node"], '--toleration "gpu_node" is invalid, should like key=value:effect,operator or all'),
    (["--toleration=a=b:Sometimes,Equal"], "the effect is NoSchedule, PreferNoSchedule or NoExecute"),
    (["--data=x"], "dataset x has incorrect format, should like data_name:/data0"),
    (["--data=aa:/x", "--data=bb:/x"], "--data=aa and --data=bb would both be at /x"),
    (["--data-dir=/a:b"], "invalid dataDir: 'b' must be absolute"),
    (["--device=x"], "invalid device 'x', refer to amd.com/gpu=1"),
    (["--config-file=/absent"], "stat /absent: no such file or directory"),
    (["--elastic=4:2"], '--elastic "4:2" is invalid, should like MIN:MAX'),
    (["--env-from-secret=A=b"], '--env-from-secret "A=b" is invalid, should like NAME=SECRET:KEY or SECRET'),
    (["--env-from-secret=A=s:k", "--env=A=b"], "--env-from-secret and --env both set A: leave out one of them"),
    (["--git-branch=dev"], "--git-branch is only for --sync-mode=git"),
    (["--dry-run=client", "--wait"], "--dry-run creates no job: --wait cannot be combined with it"),
    (["-o", "yaml"], "--output is the form of what --dry-run prints: give --dry-run too"),
    (["--sync-source=https://h/r.git"], "--sync-mode should be set when --sync-source is set"),
    (["--data=xx:/.."], "invalid dataDir: '/..' must not hold '..'"),
    (["--data-dir=/h://"], "invalid specification: dataDir can't be '/'"),
    (["--tensorboard", "--logdir=/"], "--logdir is invalid: '/' is not a directory for --tensorboard"),
    (["--label=app=mine"], '--label "app" is invalid: jobs are found by it; choose another key'),
    (["--device=amd.com/gpu=1.5"], "device value '1.5' is not a valid quantity, refer to amd.com/gpu=1"),
    (["--image=my image"], '--image "my image" is invalid: the name of an image has no blanks'),
    (["--sync-mode=git", "--sync-source=https://h/.."], '--sync-source is invalid: "https://h/.." is not an address of code'),
    (["true", "--lr", "1"], "unknown flag: --lr: if it belongs to COMMAND, put COMMAND in quotes or after --"),
    (["--model-name=m"], "model version source must be specified when registering a model version"),
]


def test_bad_values_are_refused_in_one_line(cluster):
    for flags, words in BAD:
        done = cluster.submit("j", "true", *flags, code=USAGE)
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and words in lines[0], done.stderr
        assert done.stdout == ""
    assert os.listdir(cluster.path("run")) == []  # no cluster was even started
