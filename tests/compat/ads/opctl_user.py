"""`ads opctl` as a user meets it: in a folder of its own, with a docker that only notes its argv."""
import contextlib
import functools
import http.server
import os
import subprocess
import tempfile
import threading

import yaml

from places import BINARY
from train_yaml import TRAIN
from waiting import PATIENCE

FAKE_TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "$ARGV_FILE"
echo "FAKE $(basename "$0") $*"
case "$1" in
  build) exit ${BUILD_EXIT:-0} ;;
  push) exit ${PUSH_EXIT:-0} ;;
  manifest) exit ${INSPECT_EXIT:-0} ;;
esac
"""


@contextlib.contextmanager
def web_folder(folder):
    """Serves the folder's files; gives its URL."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class Opctl:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="muster-ads-test-", dir="/tmp")
        for name in ("home", "bin", "state", "run", "work"):
            os.makedirs(self.path(name))
        # Its name decides that it is opctl alone.
        os.symlink(BINARY, self.path("bin", "ads"))
        self.tool("docker")
        self.env = {"HOME": self.path("home"), "PATH": f"{self.path('bin')}:/usr/bin:/bin",
                    "LANG": "C.UTF-8", "ARGV_FILE": self.path("argv"),
                    "XDG_STATE_HOME": self.path("state"), "XDG_RUNTIME_DIR": self.path("run"),
                    "XDG_CONFIG_HOME": self.path("home", ".config"), "MUSTER_CLUSTER": "local"}
        self.write("train.yaml", TRAIN)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def tool(self, name):
        self.write(self.path("bin", name), FAKE_TOOL)
        os.chmod(self.path("bin", name), 0o755)

    def write(self, name, text):
        with open(self.path("work", name), "w") as file:
            file.write(text)

    def train(self, **changes):
        """Writes train.yaml with these values: a dotted path with __ for the dots; None takes it out."""
        document = yaml.safe_load(TRAIN)
        for where, value in changes.items():
            *above, key = where.split("__")
            at = document
            for step in above:
                at = at[step]
            if value is None:
                at.pop(key, None)
            else:
                at[key] = value
        self.write("train.yaml", yaml.safe_dump(document, sort_keys=False))

    def read(self, name):
        with open(self.path("work", name)) as file:
            return file.read()

    def argv(self):
        """The fake tool's command lines since the last call."""
        try:
            with open(self.path("argv")) as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        os.remove(self.path("argv"))
        return lines

    def start(self, *args, env=None, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([self.path("bin", "ads"), "opctl", *args], cwd=self.path("work"),
                                env={**self.env, **(env or {})}, text=True, **{**pipes, **options})

    def run(self, *args, code=0, stdin="", env=None):
        done = subprocess.run([self.path("bin", "ads"), "opctl", *args], cwd=self.path("work"),
                              env={**self.env, **(env or {})}, text=True, capture_output=True,
                              input=stdin, timeout=PATIENCE)
        assert done.returncode == code, (
            f"ads opctl {' '.join(args)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def dry(self, *flags):
        return self.run("run", "-f", "train.yaml", "--dry-run", *flags)
