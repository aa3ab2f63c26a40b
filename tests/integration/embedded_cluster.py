"""An embedded cluster of a test's own, listening for kubectl and SDKs."""
import os
import subprocess
import sys

from muster_user import Muster
from real_kubernetes import tools
from waiting import PATIENCE


class EmbeddedCluster:
    def __init__(self):
        self.muster = Muster(None)
        self.muster.env["MUSTER_CLUSTER"] = "local"
        os.makedirs(self.muster.path("config", "muster"))
        with open(self.muster.path("config", "muster", "config.yaml"), "w") as file:
            file.write(f"local:\n  python: {sys.executable}\n")
        self.up()
        self.kubeconfig = self.muster.path("kubeconfig")
        with open(self.kubeconfig, "w") as file:
            file.write(self.muster.run("kubeconfig").stdout)
        os.chmod(self.kubeconfig, 0o600)
        self.kubectl_path = os.path.join(tools(), "kubectl")

    def up(self, *args):
        return self.muster.run("up", *(args or ("--listen",))).stdout

    def socket(self):
        return next(line.split()[-1] for line in self.muster.run("cluster").stdout.splitlines()
                    if line.startswith("Socket:"))

    def start_kubectl(self, *args, env=None, **options):
        return subprocess.Popen(
            [self.kubectl_path, "--kubeconfig", self.kubeconfig, "--cache-dir",
             self.muster.path("kubectl-cache"), *args],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.muster.folder,
            env={"HOME": self.muster.folder, "PATH": os.environ["PATH"], **(env or {})}, **options)

    def kubectl(self, *args, code=0, stdin=None, env=None, timeout=PATIENCE):
        """stdout of kubectl, or the finished (stdout, stderr) where it is to fail."""
        process = self.start_kubectl(*args, env=env, stdin=subprocess.PIPE)
        out, err = process.communicate(stdin, timeout=timeout)
        assert process.returncode == code, f"kubectl {args}: {process.returncode}\n{out}\n{err}"
        return out if code == 0 else (out, err)

    def close(self):
        self.muster.run("down", "--force", code=None)
        self.muster.close()
