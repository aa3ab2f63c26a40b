"""Ports for servers that are told which one to take."""
import os
import socket


def _ports():
    """Below those that the kernel gives to connections, which may take any of theirs before it is listened on. Each worker of
    pytest-xdist has its own."""
    width = 1400
    first = 10_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 16 * width
    begin = os.getpid() % width
    while True:
        yield first + begin
        begin = (begin + 1) % width


PORTS = _ports()


def free_ports(count):
    found = []
    while len(found) < count:
        port = next(PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            found.append(port)
        except OSError:
            pass  # somebody has it
    return found


def free_port():
    return free_ports(1)[0]
