"""`muster operator` as a process of the test, against a cluster of real_kubernetes."""
import os
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from real_kubernetes import ROOT, free_ports

BINARY = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))
PATIENCE = 120  # of a busy machine


def wait_until(what, happened, patience=PATIENCE):
    """What `happened` returns, once it is true."""
    deadline = time.monotonic() + patience
    while True:
        value = happened()
        if value:
            return value
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.05)


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
