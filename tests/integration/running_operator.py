"""`muster operator` as a process of the test, against a cluster of real_kubernetes."""
import http.client
import json
import os
import signal
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request

from ports import free_ports
from real_kubernetes import ROOT
from waiting import PATIENCE, await_true

BINARY = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))


def wait_until(what, happened, patience=PATIENCE, longest=0.5):
    """What `happened` returns, once it is true; it is asked every `longest` seconds at least."""
    return await_true(happened, f"in vain: {what}", patience, longest)


class Operator:
    """Runs until stop() or kill(); its log is in `log()`."""

    def __init__(self, kubeconfig, *flags, env=None, await_ready=True):
        self.metrics_port, self.probe_port = free_ports(2)
        self._log = tempfile.NamedTemporaryFile(prefix="muster-operator-", suffix=".log", mode="w")
        home = os.path.dirname(kubeconfig)
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", BINARY, "operator", "--kubeconfig", kubeconfig,
             f"--metrics-bind-address=127.0.0.1:{self.metrics_port}",
             f"--health-probe-bind-address=127.0.0.1:{self.probe_port}", *flags],
            env={"HOME": home, "PATH": os.environ["PATH"], **(env or {})},
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        if await_ready:
            wait_until("the operator is ready", self.is_ready)

    def _read(self, port, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def is_ready(self):
        assert self.process.poll() is None, f"the operator ended:\n{self.log()}"
        try:
            return self._read(self.probe_port, "/readyz") == "ok"
        except OSError:
            return False

    def readyz(self):
        """(status, text) of the probe."""
        try:
            return 200, self._read(self.probe_port, "/readyz")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self):
        """name{labels} -> value."""
        lines = self._read(self.metrics_port, "/metrics").splitlines()
        return {key: float(value) for key, _, value in
                (line.rpartition(" ") for line in lines if line and not line.startswith("#"))}

    def log(self):
        with open(self._log.name) as file:
            return file.read()

    def stop(self, ending=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(ending)
        return self.process.wait(timeout=PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=PATIENCE)


class Refused(Exception):
    """An answer of the API server that is not a success."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body.get('message')}")
        self.status, self.message = status, body.get("message", "")


class Api:
    """The REST API as admin, on one kept connection: kubectl takes a process a call."""

    JOBS = "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs"
    FOLDERS = {"pods": "/api/v1/namespaces/{}/pods", "services": "/api/v1/namespaces/{}/services",
               "events": "/api/v1/namespaces/{}/events", "pytorchjobs": JOBS,
               "horizontalpodautoscalers":
                   "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
               "leases": "/apis/coordination.k8s.io/v1/namespaces/{}/leases"}

    def __init__(self, cluster):
        self._port = cluster.port
        self._context = ssl.create_default_context(cafile=cluster.authority.cert)
        self._context.load_cert_chain(cluster.admin_cert, cluster.admin_key)
        self._connection = None

    def ask(self, method, path, body=None, kind="application/json"):
        for attempt in range(2):
            if self._connection is None:
                self._connection = http.client.HTTPSConnection(
                    "127.0.0.1", self._port, context=self._context, timeout=PATIENCE)
            try:
                self._connection.request(method, path, None if body is None else json.dumps(body),
                                         {"Content-Type": kind})
                answer = self._connection.getresponse()
                data = json.loads(answer.read() or b"{}")
                break
            except (http.client.HTTPException, OSError):
                self._connection = None
                if attempt == 1:
                    raise
        if answer.status >= 300:
            raise Refused(answer.status, data)
        return data

    def path(self, kind, namespace, name=None):
        return self.FOLDERS[kind].format(namespace) + (f"/{name}" if name else "")

    def items(self, kind, namespace):
        """name -> object."""
        return {item["metadata"]["name"]: item
                for item in self.ask("GET", self.path(kind, namespace))["items"]}

    def names(self, kind, namespace):
        return sorted(self.items(kind, namespace))

    def get(self, kind, namespace, name):
        """None when there is none."""
        try:
            return self.ask("GET", self.path(kind, namespace, name))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def create(self, kind, namespace, body):
        return self.ask("POST", self.path(kind, namespace), body)

    def patch(self, kind, namespace, name, body, subresource=""):
        return self.ask("PATCH", self.path(kind, namespace, name) + subresource, body,
                        "application/merge-patch+json")

    def delete(self, kind, namespace, name):
        return self.ask("DELETE", self.path(kind, namespace, name),
                        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})

    def set_pod(self, namespace, pod, phase, exit_code=None, restarts=0, reason=None,
                terminated=None):
        """Plays the kubelet."""
        container = {"name": "pytorch", "image": "x", "imageID": "x", "ready": phase == "Running",
                     "restartCount": restarts}
        if exit_code is not None:
            container["state"] = {"terminated": {"exitCode": exit_code,
                                                 "reason": "Completed" if exit_code == 0 else "Error",
                                                 **(terminated or {})}}
        elif phase == "Running":
            container["state"] = {"running": {}}
        status = {"phase": phase, "containerStatuses": [container]}
        if reason:
            status = {"phase": phase, "reason": reason}
        self.patch("pods", namespace, pod, {"status": status}, "/status")

    def conditions(self, namespace, job):
        """(type, status, reason) of each, in order."""
        status = (self.get("pytorchjobs", namespace, job) or {}).get("status", {})
        return [(c["type"], c["status"], c["reason"]) for c in status.get("conditions", [])]

    def is_condition(self, namespace, job, kind, value="True"):
        return any(c[0] == kind and c[1] == value for c in self.conditions(namespace, job))

    def messages(self, namespace):
        """Reasons and messages of events."""
        return {(e["reason"], e["message"]) for e in self.items("events", namespace).values()}


def replica(count=1, restart="OnFailure", **pod):
    spec = {"containers": [{"name": "pytorch", "image": "registry.local/train:1",
                            **pod.pop("container", {})}], **pod.pop("pod", {})}
    return {"replicas": count, "restartPolicy": restart,
            "template": {**({"metadata": pod["metadata"]} if "metadata" in pod else {}), "spec": spec}}


def job(name="j", master=True, workers=2, restart="OnFailure", policy=None, spec=None, **pod):
    replicas = {}
    if master:
        replicas["Master"] = replica(1, restart, **pod)
    if workers is not None:
        replicas["Worker"] = replica(workers, restart, **pod)
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"pytorchReplicaSpecs": replicas, **({"runPolicy": policy} if policy else {}),
                     **(spec or {})}}
