"""A muster of the test's own: its state, configuration and socket are in a temporary folder."""
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from places import BINARY, ROOT, TRAINING
from waiting import PATIENCE, pause

NOBODY = 65534
FAKE_NVML = os.environ.get("MUSTER_FAKE_NVML_DIR", os.path.join(ROOT, "build", "dev", "fake_nvml"))


class Cluster:
    """Runs muster as one user against an embedded cluster that nobody else uses."""

    def __init__(self, uid=None):
        self.uid = os.getuid() if uid is None else uid
        self.folder = tempfile.mkdtemp(prefix="muster-e2e-", dir="/tmp")
        self.binary = os.path.join(self.folder, "bin", "muster")
        os.makedirs(os.path.dirname(self.binary))
        shutil.copy2(BINARY, self.binary)
        shutil.copy2(os.path.join(os.path.dirname(BINARY), "muster-launch"),
                     self.path("bin", "muster-launch"))
        for name in ("home", "run", "state", "config/muster", "tmp"):
            os.makedirs(os.path.join(self.folder, name))
        with open(self.path("config/muster/config.yaml"), "w") as file:
            file.write(f"local:\n  python: {sys.executable}\n")
        for name in ("home", "run", "state", "config"):
            os.chmod(self.path(name), 0o700)
        if self.uid != os.getuid():
            for folder, folders, files in os.walk(self.folder):
                os.chown(folder, self.uid, self.uid)
                for name in files:
                    os.chown(os.path.join(folder, name), self.uid, self.uid)
            os.chmod(self.folder, 0o755)
        self.env = {
            "HOME": self.path("home"), "USER": "tester", "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "XDG_RUNTIME_DIR": self.path("run"), "XDG_STATE_HOME": self.path("state"),
            "XDG_CONFIG_HOME": self.path("config"), "MUSTER_CLUSTER": "local", **TRAINING,
        }

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def show_gpus(self, machine):
        """GPUs of a stand-in for NVIDIA's library (tests/support/fake_nvml.cc). No other cluster of this machine has the same, whose
        locks it would see."""
        assert os.path.exists(os.path.join(FAKE_NVML, "libnvidia-ml.so")), "build the dev preset first"
        self.env.update(MUSTER_NVML=FAKE_NVML, MUSTER_FAKE_NVML=machine, MUSTER_FAKE_NVML_SERIAL=self.folder[-8:])

    def _become(self):
        if self.uid != os.getuid():
            return {"user": self.uid, "group": self.uid, "extra_groups": []}
        return {}

    def start(self, *args, **options):
        options = {"cwd": self.path("home"), **self._become(), **options}
        return subprocess.Popen([self.binary, *args], env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, *args, code=0, timeout=PATIENCE, env=None, cwd=None):
        done = subprocess.run([self.binary, *args], env={**self.env, **(env or {})},
                              cwd=cwd or self.path("home"), text=True, capture_output=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, **self._become())
        if code is not None:
            assert done.returncode == code, (
                f"muster {' '.join(args)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def submit(self, name, command, *flags, **options):
        return self.run("submit", "pytorch", f"--name={name}", *flags, command, **options)

    def get(self, name):
        return json.loads(self.run("get", name, "-o", "json").stdout)

    def wait(self, name, *statuses, timeout=PATIENCE):
        began = time.monotonic()
        while True:
            job = self.get(name)
            if job["status"] in statuses:
                return job
            assert time.monotonic() < began + timeout, (
                f"{name} is {job['status']}, not {statuses}\n" + self.run("get", name).stdout)
            pause(began)

    def wait_for_all(self, name, *statuses, timeout=PATIENCE):
        """The same, and no instance runs on or is still to start: a job has succeeded with its master."""
        began = time.monotonic()
        job = self.wait(name, *statuses, timeout=timeout)
        while any(one["status"] in ("Running", "Pending", "ContainerCreating") for one in job["instances"]):
            assert time.monotonic() < began + timeout, f"an instance of {name} runs on: {job}"
            pause(began)
            job = self.get(name)
        return job

    def daemon_pid(self):
        for line in self.run("cluster").stdout.splitlines():
            if "running, pid " in line:
                return int(line.rsplit(" ", 1)[1])
        return None

    def kill_daemon(self):
        pid = self.daemon_pid()
        pidfd = os.pidfd_open(pid)
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        _await_end(pidfd)

    def pod_processes(self):
        """Pids of every process of a pod of this cluster."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environ = file.read()
            except OSError:
                continue
            if b"MUSTER_POD_UID=" in environ and self.folder.encode() in environ:
                found.append(int(entry))
        return found

    def await_no_process(self, timeout=PATIENCE):
        began = time.monotonic()
        while left := self.pod_processes():
            assert time.monotonic() < began + timeout, left
            pause(began)

    def close(self):
        subprocess.run([self.binary, "down", "--force"], env=self.env, cwd="/", timeout=PATIENCE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._become())
        shutil.rmtree(self.folder, ignore_errors=True)


def _await_end(pidfd):
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    assert poller.poll(10_000), "the daemon did not end"
    os.close(pidfd)
