"""`muster dash` as a process, and its page in a browser or by plain HTTP."""
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import threading

from waiting import PATIENCE


class Dash:
    """A running `muster dash`, with the link that it printed."""

    def __init__(self, cluster, *args):
        self.process = cluster.start("dash", "--no-open", *args)
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        assert ready, "muster dash prints no link"
        self.link = self.process.stdout.readline().strip()
        assert self.link.startswith("http://127.0.0.1:"), self.link + self.process.stderr.read()
        self.base, self.token = self.link.split("/#")
        self.port = int(self.base.rsplit(":", 1)[1])
        self.cookie = None

    def ask(self, path, method="GET", body=None, **headers):
        """(status, headers, body) of a request; `headers` with _ for -, None takes one away."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Accept-Encoding": "gzip"}
        if method != "GET":
            sent["Origin"] = self.base
        if self.cookie:
            sent["Cookie"] = self.cookie
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = b"" if body is None else json.dumps(body).encode()
        if data:
            connection.putheader("Content-Length", str(len(data)))
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def enter(self):
        """Uses the link up, and keeps the cookie."""
        status, headers, content = self.ask("/api/session", "POST", {"link": self.token})
        assert status == 200, content
        self.cookie = headers["Set-Cookie"].split(";")[0]
        return headers["Set-Cookie"]

    def get(self, path):
        status, _, content = self.ask(path)
        assert status == 200, content
        return json.loads(content)

    def events(self, query):
        return Events(self, query)

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class Events:
    """The stream of events of a tab."""

    def __init__(self, dash, query):
        self._connection = http.client.HTTPConnection("127.0.0.1", dash.port, timeout=PATIENCE)
        self._connection.request("GET", "/api/events?" + query, headers={"Cookie": dash.cookie})
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self._last = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        name = ""
        try:
            for line in self._answer:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    self._last[name] = json.loads(value)
        except (OSError, ValueError, AttributeError):
            pass  # it was closed

    def last(self, name):
        """What the last event of that name told; {} before."""
        return self._last.get(name, {})

    def close(self):
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._connection.close()
