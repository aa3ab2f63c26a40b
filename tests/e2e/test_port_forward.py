"""`port-forward`: ports of instances through ports of this machine, and by the Python client."""
import os
import sys

import port_clients
import pytest

from ports import free_port
from waiting import PATIENCE


@pytest.fixture
def served(cluster):
    """A job whose master serves HTTP; (job, port)."""
    port = free_port()
    cluster.submit("j", f"{sys.executable} -u -m http.server --bind 127.0.0.1 {port}")
    cluster.wait("j", "RUNNING")
    port_clients.await_listener(port)
    return "j", port


def test_carries_http(cluster, served):
    job, port = served
    with port_clients.Forwarder([cluster.binary, "port-forward", job, f":{port}"],
                                env=cluster.env) as forwarder:
        assert forwarder.remote == port
        bodies = [port_clients.get(forwarder.local) for _ in range(3)]
        assert all("Directory listing" in body for body in bodies)
        assert forwarder.line() == f"Handling connection for {port}\n"
        # When the job is gone the next connection ends it.
        cluster.run("delete", job)
        port_clients.touch(forwarder.local)
        assert forwarder.wait() == 1
        assert 'lost j-master-0: pods "j-master-0" not found' in forwarder.errors()


def test_what_cannot_be_forwarded_is_named(cluster, served):
    job, port = served
    done = cluster.run("port-forward", job, "http", code=2)
    assert '"http" is not a port' in done.stderr
    assert "at least one port is needed" in cluster.run("port-forward", job, code=2).stderr
    done = cluster.run("port-forward", "nobody", "80", code=1)
    assert "Not found training job nobody" in done.stderr
    done = cluster.run("port-forward", job, "-i", "j-worker-7", "80", code=1)
    assert "invalid instance name j-worker-7" in done.stderr
    # The instance has the port of this machine already.
    done = cluster.run("port-forward", job, str(port), code=1)
    assert f"port {port} is in use here" in done.stderr
    silent = free_port()
    with port_clients.Forwarder([cluster.binary, "port-forward", "j-master-0", f":{silent}"],
                                env=cluster.env) as forwarder:
        assert port_clients.touch(forwarder.local) == b""
        assert forwarder.error_line() == (
            f"error: port {silent} of j-master-0: nothing listens on port {silent}: "
            "Connection refused\n")


def test_the_python_client_of_kubernetes(cluster, served):
    from kubernetes import client, config
    from kubernetes.stream import portforward
    _, port = served
    cluster.run("up", "--listen")
    path = cluster.path("kubeconfig")
    with open(path, "w") as file:
        file.write(cluster.run("kubeconfig").stdout)
    os.chmod(path, 0o600)
    api = client.CoreV1Api(config.new_client_from_config(path))
    forward = portforward(api.connect_get_namespaced_pod_portforward, "j-master-0", "default",
                          ports=str(port))
    socket = forward.socket(port)
    socket.setblocking(True)
    socket.sendall(b"GET / HTTP/1.0\r\n\r\n")
    text = b""
    while data := socket.recv(65536):
        text += data
    assert b"Directory listing" in text
    assert forward.error(port) is None


def test_under_a_signal(cluster, served):
    job, port = served
    forwarder = port_clients.Forwarder([cluster.binary, "port-forward", job, f":{port}"],
                                       env=cluster.env)
    forwarder.process.terminate()
    forwarder.process.communicate(timeout=PATIENCE)
    assert forwarder.process.returncode in (-15, 143)
