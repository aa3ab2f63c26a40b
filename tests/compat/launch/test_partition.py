"""Nodes in network namespaces of their own, with a cable between them that can be pulled."""
import os
import subprocess
import sys

import pytest

from places import LAUNCHER
from test_nodes import ENV, WAIT, ended, go
from waiting import PATIENCE


def ip(*args):
    subprocess.run(["ip", *map(str, args)], check=True, capture_output=True)


@pytest.fixture
def cable():
    if os.getuid() != 0:
        pytest.skip("needs root to make network namespaces")
    names = [f"mlt{os.getpid()}{side}" for side in "ab"]
    for name in names:
        ip("netns", "add", name)
    try:
        ip("link", "add", names[0], "netns", names[0], "type", "veth", "peer", "name", names[1],
           "netns", names[1])
        for number, name in enumerate(names, 1):
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"10.213.0.{number}/24", "dev", name)
            ip("-n", name, "link", "set", name, "up")
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)


def start(launch, cable, number, script, nnodes):
    command = ["ip", "netns", "exec", cable[number - 1], LAUNCHER, f"--nnodes={nnodes}",
               "--rdzv-backend=c10d", "--rdzv-endpoint=10.213.0.1:29400",
               f"--local-addr=10.213.0.{number}", "--max-restarts=3",
               "--rdzv-conf=last_call_timeout=60,heartbeat_timeout=3,keep_alive_interval=0.3",
               script]
    process = subprocess.Popen(command, env={**launch.env, **ENV}, cwd=launch.folder, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    launch.started.append(process)
    return process


def test_a_node_behind_a_pulled_cable_stops_and_comes_back(launch, cable):
    script = launch.script(WAIT)
    nodes = [start(launch, cable, number, script, "1:2") for number in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    pid = int(launch.await_file("up1_2_0"))
    ip("-n", cable[0], "link", "set", cable[0], "down")
    # The first goes on alone, and only when the other's worker is gone.
    launch.await_file("up0_1_0")
    assert pid not in launch.processes()
    for rank in range(2):
        os.remove(launch.path(f"up{rank}_2_0"))
    ip("-n", cable[0], "link", "set", cable[0], "up")
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
        go(launch, rank)
    assert [ended(node)[0] for node in nodes] == [0, 0]
    launch.await_none_left()


def test_the_store_of_one_node_is_its_own(launch, cable):
    def connects(side, address):
        code = f"import socket; socket.create_connection(('{address}', 29500), timeout=30)"
        done = subprocess.run(["ip", "netns", "exec", cable[side], sys.executable, "-c", code],
                              capture_output=True, text=True)
        assert done.returncode == 0 or "ConnectionRefusedError" in done.stderr, done.stderr
        return done.returncode == 0

    for address, is_open in (("127.0.0.1", False), ("10.213.0.1", True)):
        command = ["ip", "netns", "exec", cable[0], LAUNCHER, "--master-port=29500",
                   f"--master-addr={address}", launch.script(WAIT)]
        process = subprocess.Popen(command, env={**launch.env, **ENV}, cwd=launch.folder,
                                   stdin=subprocess.DEVNULL)
        launch.started.append(process)
        launch.await_file("up0_1_0")
        assert connects(0, "127.0.0.1")
        assert connects(1, "10.213.0.1") == is_open
        go(launch, 0)
        assert process.wait(timeout=PATIENCE) == 0
        for name in ("up0_1_0", "go0"):
            os.remove(launch.path(name))


def test_gloo_between_namespaces(launch, cable, torch_version):
    script = launch.script("""
import torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * dist.get_rank()
dist.all_reduce(value)
dist.barrier()
print("sum", value.item())
dist.destroy_process_group()
""")
    nodes = []
    for number in (1, 2):
        launch.env["GLOO_SOCKET_IFNAME"] = cable[number - 1]
        nodes.append(start(launch, cable, number, script, "2"))
    for node in nodes:
        code, out, err = ended(node)
        assert code == 0 and out == "sum 1.0\n", err
