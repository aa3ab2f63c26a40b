"""Servers that a test plays: a kubelet that has logs, a proxy, and servers that answer nonsense."""
import datetime
import http.server
import os
import re
import socket
import ssl
import subprocess
import threading
import urllib.parse

from real_kubernetes import BOUND, ROOT


def server_tls(cert, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


class Threaded(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A peer that goes away is part of the test."""


class FakeKubelet:
    """Serves /containerLogs as a kubelet does; what is written can be followed."""

    def __init__(self, cluster, node):
        self._logs = {}
        self._changed = threading.Condition()
        cert, key = cluster.authority.issue("kubelet", "kubelet", names=("IP:127.0.0.1",))
        kubelet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                kubelet._serve(self)
        self._server = Threaded(("127.0.0.1", 0), Handler)
        self._server.socket = server_tls(cert, key).wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        cluster.patch_status("node", node, "default", {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._server.server_address[1]}}})

    def write(self, namespace, pod, container, *lines):
        with self._changed:
            log = self._logs.setdefault((namespace, pod, container), {"lines": [], "ended": False})
            for line in lines:
                log["lines"].append((datetime.datetime.now(datetime.timezone.utc), line))
            self._changed.notify_all()

    def end(self, namespace, pod, container):
        with self._changed:
            self._logs[(namespace, pod, container)]["ended"] = True
            self._changed.notify_all()

    def _serve(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        key = tuple(url.path.split("/")[2:5])
        if key not in self._logs:
            handler.send_error(404)
            return
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Content-Type", "text/plain")
        handler.end_headers()
        since = query.get("sinceTime")
        since = since and datetime.datetime.fromisoformat(since.replace("Z", "+00:00"))
        sent = 0
        while True:
            with self._changed:
                log = self._logs[key]
                self._changed.wait_for(lambda: len(log["lines"]) > sent or log["ended"]
                                       or query.get("follow") != "true")
                new, ended = log["lines"][sent:], log["ended"] or query.get("follow") != "true"
                sent += len(new)
            for time, line in new:
                if since and time < since:
                    continue
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z "
                data = ((stamp if query.get("timestamps") == "true" else "") + line + "\n").encode()
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            handler.wfile.flush()
            if ended:
                handler.wfile.write(b"0\r\n\r\n")
                return

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class StreamingKubelet:
    """The node of pods in which commands run and ports are open: tests/tools/kubernetes/fake-kubelet."""

    def __init__(self, cluster, node):
        program = subprocess.run(
            [os.path.join(ROOT, "scripts", "kubernetes-tools"), "fake-kubelet"], check=True, text=True,
            stdout=subprocess.PIPE).stdout.strip()
        cert, key = cluster.authority.issue(node, node, names=("IP:127.0.0.1",))
        self._log = open(cluster.path(f"{node}.log"), "w")
        self._process = subprocess.Popen([*BOUND, program, "-cert", cert, "-key", key], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._log)
        port = int(self._process.stdout.readline())
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        cluster.patch_status("node", node, "default", {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}})

    def close(self):
        self._process.communicate(timeout=30)
        self._log.close()


class Proxy:
    """A CONNECT proxy whose every name is 127.0.0.1; remembers what was asked of it."""

    def __init__(self, refuse=False):
        self.asked = []
        self._refuse = refuse
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        target = re.match(rb"CONNECT (\S+) ", head).group(1).decode()
        self.asked.append(target)
        if self._refuse:
            client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            client.close()
            return
        upstream = socket.create_connection(("127.0.0.1", int(target.rsplit(":", 1)[1])))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=self._pump, args=(upstream, client), daemon=True).start()
        self._pump(client, upstream)

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self._listener.close()


class CannedServer:
    """Gives every request over TLS the same answer; None breaks the connection off."""

    def __init__(self, cert, key, status=200, headers=(), body=b""):
        self.requests = []
        canned = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                canned.requests.append(f"{self.command} {self.path}")
                if body is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer
        self._server = Threaded(("127.0.0.1", 0), Handler)
        self._server.socket = server_tls(cert, key).wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class SlowWay(threading.Thread):
    """Passes bytes on to a port, a while later; cuts all connections when it is told to, or keeps
    what comes to itself."""

    def __init__(self, port, delay):
        super().__init__(daemon=True)
        self.to, self.delay, self.pairs = port, delay, []
        self.flows = threading.Event()
        self.flows.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            self.pairs += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(a, b), daemon=True).start()

    def _carry(self, a, b):
        try:
            while data := a.recv(1 << 16):
                threading.Event().wait(self.delay)
                self.flows.wait()
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stall(self):
        self.flows.clear()

    def flow(self):
        self.flows.set()

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for end in pairs:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        self.flow()
        self.cut()
