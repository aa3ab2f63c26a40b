"""Commands in pods of a real cluster, and their ports: through kube-apiserver to a kubelet's own streaming code."""
import http.server
import os
import subprocess
import threading

import port_clients
import pytest

from places import BINARY
from ports import free_port
from fake_servers import Proxy, StreamingKubelet
from terminals import Terminal
from test_client import EDIT_RULES, one_line, play_operator, submit
from waiting import PATIENCE

HELLO = "Attached to the container pytorch of instance {}\n"
NO_TTY = "Unable to use a TTY - input is not a terminal or the right kind of file\n"


@pytest.fixture(scope="module")
def kubelet(real_cluster):
    made = StreamingKubelet(real_cluster, "node-streams")
    yield made
    made.close()


@pytest.fixture
def job(real_cluster, kubelet, muster, namespace):
    submit(muster, "j", namespace)
    play_operator(real_cluster, namespace, "j", node="node-streams")
    return "j"


def attach(muster, namespace, *args, data=b"", code=0, env=None):
    done = subprocess.run([BINARY, "attach", "-n", namespace, *args], input=data,
                          env={**muster.env, **(env or {})}, cwd=muster.folder, capture_output=True,
                          timeout=120)
    assert done.returncode == code, (done.returncode, done.stdout[-500:], done.stderr)
    return done


def test_pipes_and_exit_codes(muster, job, namespace):
    done = attach(muster, namespace, job, "--", "sh", "-c",
                  'echo "$POD $CONTAINER"; echo bad >&2; exit 7', code=7)
    assert done.stdout == b"j-master-0 pytorch\n"
    assert done.stderr.decode() == HELLO.format("j-master-0") + NO_TTY + "bad\n"
    # sh is the default, and reads what it is given; the end of the input ends it.
    assert attach(muster, namespace, job, data=b"echo from the pipe; exit 3\n", code=3).stdout == \
        b"from the pipe\n"
    data = os.urandom(4 << 20)
    assert attach(muster, namespace, job, "-i", "j-worker-0", "--", "cat", data=data).stdout == data
    assert attach(muster, namespace, job, "printenv", "POD").stdout == b"j-master-0\n"
    done = attach(muster, namespace, job, "--", "no-such-program", code=1)
    assert "no-such-program" in done.stderr.decode().splitlines()[-1]


def test_a_terminal(muster, job, namespace):
    window = Terminal([BINARY, "attach", "-n", namespace, job, "bash"], env=muster.env,
                      cwd=muster.folder, rows=50, columns=132)
    with window:
        window.expect(HELLO.format("j-master-0").strip())
        window.type("PS1=; until [ \"$(stty size)\" = '50 132' ]; do sleep 0.05; done; echo fi''rst\n")
        window.expect("first\r\n")
        window.resize(33, 77)
        window.type("until [ \"$(stty size)\" = '33 77' ]; do sleep 0.05; done; echo re''sized\n")
        window.expect("resized\r\n")
        window.type("exit 9\n")
        assert window.end() == 9


def test_what_stands_in_the_way_is_named(real_cluster, muster, muster_as, job, namespace):
    group = "streamers-of-" + namespace
    real_cluster.allow(namespace, group, EDIT_RULES)
    mia = muster_as(real_cluster.user_kubeconfig("mia-" + namespace, [group], namespace))
    line = attach(mia, namespace, job, "true", code=1).stderr.decode().splitlines()[-1]
    assert 'resource "pods/exec"' in line and f'in the namespace "{namespace}"' in line, line
    wrong = muster_as(real_cluster.write_kubeconfig("forged-stream", {"token": "no-such-token"}))
    assert "does not accept the token" in one_line(wrong.run("attach", job, "-n", namespace, code=1))


@pytest.mark.parametrize("way", ["token", "proxy", "tls-server-name", "insecure"])
def test_the_ways_of_a_kubeconfig(real_cluster, muster_as, job, namespace, way):
    user = {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key}
    cluster = {}
    proxy = Proxy()
    if way == "token":
        real_cluster.allow(namespace, "team", [
            *EDIT_RULES, {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get", "create"]}])
        user = {"token": "token-one"}
    elif way == "proxy":
        cluster = {"proxy-url": proxy.url}
    elif way == "tls-server-name":
        cluster = {"server": f"https://far.invalid:{real_cluster.port}", "proxy-url": proxy.url,
                   "tls-server-name": "kubernetes.default.svc"}
    else:
        cluster = {"certificate-authority": None, "insecure-skip-tls-verify": True}
    made = muster_as(real_cluster.write_kubeconfig("stream-" + way, user, namespace, cluster=cluster))
    assert attach(made, namespace, job, "--", "cat", data=b"x" * 100_000).stdout == b"x" * 100_000
    if "proxy-url" in cluster:
        assert len(proxy.asked) == 2  # the command's requests, and its stream
    proxy.close()


def test_an_api_server_that_goes_ends_the_command(real_cluster, muster, job, namespace):
    client = subprocess.Popen([BINARY, "attach", "-n", namespace, job, "--", "sh", "-c",
                               "echo ready; exec sleep 1000"], env=muster.env, cwd=muster.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    assert client.stdout.readline() == "ready\n"
    real_cluster.stop_api_server(kill=True)
    try:
        _, errors = client.communicate(timeout=PATIENCE)
    finally:
        real_cluster.start_api_server()
    assert client.returncode == 1
    assert "closed the connection" in errors.splitlines()[-1], errors


class Pages(http.server.BaseHTTPRequestHandler):
    """A large page."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 3_000_000)

    def log_message(self, *args):
        pass


@pytest.fixture
def served():
    """The port of a server that a pod is said to run."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_ports_are_forwarded(real_cluster, muster, job, namespace, served):
    command = [BINARY, "port-forward", "-n", namespace, job, f":{served}"]
    with port_clients.Forwarder(command, env=muster.env, cwd=muster.folder) as forwarder:
        bodies = []
        clients = [threading.Thread(target=lambda: bodies.append(port_clients.get(forwarder.local)))
                   for _ in range(5)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert [len(body) for body in bodies] == [3_000_000] * 5
        real_cluster.kubectl("delete", "pod", "j-master-0", "-n", namespace, "--force",
                             "--grace-period=0")
        port_clients.touch(forwarder.local)
        assert forwarder.wait() == 1
        assert 'lost j-master-0: pods "j-master-0" not found' in forwarder.errors()


def test_a_port_that_is_shut_is_reported(muster, job, namespace):
    silent = free_port()
    command = [BINARY, "port-forward", "-n", namespace, job, "-i", "j-worker-0", f":{silent}"]
    with port_clients.Forwarder(command, env=muster.env, cwd=muster.folder) as forwarder:
        assert port_clients.touch(forwarder.local) == b""
        line = forwarder.error_line()
        assert line.startswith(f"error: port {silent} of j-worker-0: ") and "refused" in line, line
