"""Real servers for code on loopback: git over HTTP with basic authentication, SSH, rsync --daemon."""
import base64
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from places import ROOT
from ports import free_port

USER = "ann"
PASSWORD = "tiger-7391-hush"
# Called, in the server's thread, for each request to git over HTTP, before it is answered.
ON_REQUEST = []


def git(*args, cwd=None, **env):
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *args], check=True, capture_output=True, cwd=cwd,
                   env={**os.environ, **env})


class Repositories:
    """project.git with a tag, a branch and a submodule; everybody may read them."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-code-", dir="/tmp"))
        library, work = self.folder / "library", self.folder / "work"
        for tree, file in ((library, "lib.py"), (work, "main.py")):
            git("init", "-q", "-b", "main", str(tree))
            (tree / file).write_text(f"print('{tree.name} one')\n")
            git("add", "-A", cwd=tree)
            git("commit", "-q", "-m", "one", cwd=tree)
        git("clone", "-q", "--bare", str(library), str(self.folder / "library.git"))
        # Relative: found beside the project however that was reached.
        git("submodule", "--quiet", "add", f"file://{self.folder}/library.git", "library", cwd=work)
        git("config", "-f", ".gitmodules", "submodule.library.url", "../library.git", cwd=work)
        git("commit", "-q", "-am", "with the library", cwd=work)
        git("tag", "v1", cwd=work)
        git("checkout", "-q", "-b", "dev", cwd=work)
        (work / "main.py").write_text("print('work dev')\n")
        git("commit", "-q", "-am", "dev", cwd=work)
        git("checkout", "-q", "main", cwd=work)
        (work / "main.py").write_text("print('work two')\n")
        git("commit", "-q", "-am", "two", cwd=work)
        git("clone", "-q", "--bare", str(work), str(self.folder / "project.git"))
        for name in ("project.git", "library.git"):
            git("config", "uploadpack.allowReachableSHA1InWant", "true", cwd=self.folder / name)
            git("update-server-info", cwd=self.folder / name)
        self.tree = work
        subprocess.run(["chmod", "-R", "a+rX", str(self.folder)], check=True)

    def close(self):
        shutil.rmtree(self.folder)


class _GitOverHttp(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def _serve(self):
        for call in tuple(ON_REQUEST):
            call()
        self.server.seen.append(self.headers.get("Authorization"))
        expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, check=False,
            env={"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.server.root, "GIT_HTTP_EXPORT_ALL": "1",
                 "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                 "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                 "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                 "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                 "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _serve

    def log_message(self, *_):
        pass


class GitOverHttp:
    """git http-backend behind basic authentication."""

    def __init__(self, root):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _GitOverHttp)
        self.server.root, self.server.seen = str(root), []
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.port = self.server.server_port

    def url(self, name, user=""):
        return f"http://{user}127.0.0.1:{self.port}/{name}"

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def await_listener(port, process, log):
    deadline = time.monotonic() + 20
    while True:
        with socket.socket() as probe:
            probe.settimeout(5)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None and time.monotonic() < deadline, pathlib.Path(log).read_text()
        time.sleep(0.02)


class SshServer:
    """An SSH server of the test's own: its host key, one authorised key, nothing of the machine's."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-ssh-", dir="/tmp"))
        self.key, self.host_key = self.folder / "client", self.folder / "host"
        for key in (self.key, self.host_key, self.folder / "other"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        shutil.copy(f"{self.key}.pub", self.folder / "authorized_keys")
        self.port, log = free_port(), self.folder / "log"
        for name, key in (("known_hosts", self.host_key), ("bad_known_hosts", self.folder / "other")):
            kind, public = pathlib.Path(f"{key}.pub").read_text().split()[:2]
            (self.folder / name).write_text(f"[127.0.0.1]:{self.port} {kind} {public}\n")
        with open(log, "w") as out:
            self.process = subprocess.Popen(
                ["/usr/bin/python3", os.path.join(ROOT, "tests", "support", "ssh_server.py"), str(self.port), str(self.host_key),
                 str(self.folder / "authorized_keys")], stdout=out, stderr=out,
                env={**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                     "GIT_CONFIG_VALUE_0": "*"})
        await_listener(self.port, self.process, log)

    def url(self, path):
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        return f"ssh://{user}@127.0.0.1:{self.port}{path}"

    def give(self, name, uid):
        """A copy of a file that only that user may read."""
        copy = self.folder / f"{name}-{uid}"
        shutil.copy(self.folder / name, copy)
        os.chmod(copy, 0o600)
        os.chown(copy, uid, uid)
        os.chmod(self.folder, 0o755)
        return copy

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


class RsyncDaemon:
    """rsync --daemon with an open module and one that wants a password."""

    def __init__(self, tree):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-rsyncd-", dir="/tmp"))
        self.port = free_port()
        (self.folder / "secrets").write_text(f"{USER}:{PASSWORD}\n")
        os.chmod(self.folder / "secrets", 0o600)
        config, log = self.folder / "conf", self.folder / "log"
        config.write_text(
            f"use chroot = no\nlog file = {log}\n[open]\npath = {tree}\n[locked]\npath = {tree}\n"
            f"auth users = {USER}\nsecrets file = {self.folder}/secrets\n")
        log.write_text("")
        self.process = subprocess.Popen(
            ["rsync", "--daemon", "--no-detach", f"--config={config}", f"--port={self.port}",
             "--address=127.0.0.1"], stdin=subprocess.DEVNULL)
        await_listener(self.port, self.process, log)

    def url(self, module, user=""):
        return f"rsync://{user}127.0.0.1:{self.port}/{module}"

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)
