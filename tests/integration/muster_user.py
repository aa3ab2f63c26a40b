"""muster as somebody runs it against a cluster, in a home of their own."""
import os
import shutil
import subprocess
import tempfile

from places import BINARY


class Muster:
    """Runs muster in a home of its own, with `kubeconfig` as ~/.kube/config unless None."""

    def __init__(self, kubeconfig):
        self.folder = tempfile.mkdtemp(prefix="muster-int-", dir="/tmp")
        self.env = {"HOME": self.folder, "USER": "tester", "LANG": "C.UTF-8",
                    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        for name in ("run", "state", "config", ".kube"):
            os.makedirs(self.path(name), mode=0o700)
        for variable, name in (("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"),
                               ("XDG_CONFIG_HOME", "config")):
            self.env[variable] = self.path(name)
        if kubeconfig:
            shutil.copy(kubeconfig, self.path(".kube", "config"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def start(self, *args, env=None, **options):
        return subprocess.Popen([BINARY, *args], env={**self.env, **(env or {})}, cwd=self.folder,
                                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run(self, *args, code=0, env=None, timeout=120):
        done = subprocess.run([BINARY, *args], env={**self.env, **(env or {})}, cwd=self.folder,
                              text=True, capture_output=True, timeout=timeout,
                              stdin=subprocess.DEVNULL)
        if code is not None:
            assert done.returncode == code, (
                f"muster {' '.join(args)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
