"""Clients of `muster port-forward`, for the tests with both clusters."""
import re
import socket
import subprocess
import time
import urllib.request

from waiting import PATIENCE


def await_listener(port):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
            return
        except OSError:
            assert time.monotonic() < deadline, f"nobody listens on port {port}"
            time.sleep(0.05)


def get(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
        return answer.read().decode()


def touch(port, data=b""):
    """What a connection that sends only this hears before it ends."""
    heard = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(data)
        try:
            while more := client.recv(65536):
                heard += more
        except ConnectionResetError:
            pass
    return heard


class Forwarder:
    """A port-forward that listens; `local` is the port."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        first = self.process.stdout.readline()
        found = re.fullmatch(r"Forwarding from 127\.0\.0\.1:(\d+) -> (\d+)\n", first)
        assert found, (first, self.process.communicate(timeout=PATIENCE))
        self.local, self.remote = map(int, found.groups())

    def line(self):
        """The next line about connections."""
        while (line := self.process.stdout.readline()).startswith("Forwarding"):
            pass
        return line

    def error_line(self):
        return self.process.stderr.readline()

    def wait(self):
        return self.process.wait(timeout=PATIENCE)

    def errors(self):
        return self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)
