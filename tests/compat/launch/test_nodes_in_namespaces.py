"""Nodes with a network of their own: a bridge, and a namespace for each node, whose cable can be pulled
(docs/formats/rendezvous.md). Needs root."""
import ctypes
import os
import shutil
import subprocess

import pytest

CLONE_NEWNET = 0x40000000
CONF = "last_call_timeout=0,join_timeout=100,keep_alive_interval=0.2,heartbeat_timeout=2"


class Network:
    """Node n is at 10.199.7.n."""

    def __init__(self, count):
        self.prefix = f"mst{os.getpid() % 100000}"
        self.count = count
        self.ip("netns", "add", self.name(0))
        self.ip("-n", self.name(0), "link", "add", "bridge", "type", "bridge")
        self.ip("-n", self.name(0), "link", "set", "bridge", "up")
        for node in range(1, count + 1):
            self.ip("netns", "add", self.name(node))
            self.ip("-n", self.name(node), "link", "add", "eth0", "type", "veth", "peer", "name", f"port{node}",
                    "netns", self.name(0))
            self.ip("-n", self.name(0), "link", "set", f"port{node}", "master", "bridge", "up")
            self.ip("-n", self.name(node), "addr", "add", f"10.199.7.{node}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                self.ip("-n", self.name(node), "link", "set", device, "up")

    @staticmethod
    def ip(*args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def name(self, node):
        return f"{self.prefix}n{node}"

    def cable(self, node, state):
        self.ip("-n", self.name(0), "link", "set", f"port{node}", state)

    def enter(self, node):
        def enter_in_child():
            fd = os.open(f"/run/netns/{self.name(node)}", os.O_RDONLY)
            if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) != 0:
                os._exit(99)
            os.close(fd)
        return enter_in_child

    def close(self):
        for node in range(self.count + 1):
            subprocess.run(["ip", "netns", "del", self.name(node)], capture_output=True)


@pytest.fixture
def network():
    if not shutil.which("ip"):
        pytest.skip("no ip program (iproute2)")
    try:
        made = Network(3)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
    yield made
    made.close()


@pytest.fixture
def node(launch, network):
    def start(number, nnodes, *args):
        return launch.start(f"--nnodes={nnodes}", "--rdzv-backend=c10d", "--rdzv-id=job",
                            "--rdzv-endpoint=10.199.7.1:29400", f"--rdzv-conf={CONF}",
                            f"--local-addr=10.199.7.{number}", *args, preexec_fn=network.enter(number))
    return start


def test_the_node_that_has_the_endpoints_address_hosts_the_job(launch, node):
    script = launch.script("import os\nprint(*(os.environ[n] for n in ('RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT')))")
    started = [node(number, 3, script) for number in (3, 2, 1)]
    lines = []
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        lines += out.splitlines()
    assert sorted(lines) == [f"{rank} 3 10.199.7.1 29400" for rank in range(3)]
    assert lines[-1].startswith("0 ")  # the host is first


def test_a_node_whose_cable_is_pulled_stops_by_itself_and_comes_back(launch, network, node):
    # Each start leaves a line in its node's file, each end of a worker another.
    script = launch.script("""
import os, signal, sys, time
log = open(sys.argv[1], "a", buffering=1)
signal.signal(signal.SIGTERM, lambda *_: (print("stopped", time.monotonic(), file=log), sys.exit(1)))
print("started", os.environ["RANK"], os.environ["WORLD_SIZE"], time.monotonic(), file=log)
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
""")

    def lines(number, what):
        try:
            with open(launch.path(f"log{number}")) as file:
                return [line.split() for line in file if line.startswith(what)]
        except OSError:
            return []

    def start(number):
        return node(number, "1:2", script, launch.path(f"log{number}"), launch.path("done"))

    first = start(1)
    launch.await_true(lambda: lines(1, "started 0 1"), "the first node does not start alone")
    second = start(2)
    launch.await_true(lambda: lines(1, "started 0 2") and lines(2, "started 1 2"), "not two")
    network.cable(2, "down")
    launch.await_true(lambda: len(lines(1, "started 0 1")) == 2, "the first does not go on alone")
    # It had stopped by itself before the others went on without it.
    stopped = float(lines(2, "stopped")[0][1])
    assert stopped < float(lines(1, "started 0 1")[1][3])
    network.cable(2, "up")
    launch.await_true(lambda: len(lines(1, "started 0 2")) == 2 and len(lines(2, "started 1 2")) == 2,
                      "the second does not come back")
    launch.script("", "done")
    for process in (first, second):
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    launch.await_none_left()
