"""Ranks that hold up those of other nodes: every launcher says which, and on which node."""
import pytest

from test_nodes import ended, nodes, port  # noqa: F401 (fixtures)

# Rank 1 is late at the third step, the first time only.
TRAIN = """
import os, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(8)
for step in range(6):
    if step == 3 and dist.get_rank() == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        while not os.path.exists("go"): time.sleep(600)
    dist.all_reduce(x)
print("done", dist.get_rank(), flush=True)
dist.destroy_process_group()
"""
SAID = "rank 1 has not entered all_reduce (main.py:8)"


@pytest.mark.parametrize("backend", ["static", pytest.param("c10d", marks=pytest.mark.soak)])
def test_every_launcher_names_the_rank_and_its_node(launch, nodes, torch_version, backend):
    script = launch.script(TRAIN)
    started = [nodes.static(node, 2, script) if backend == "static" else nodes.c10d(node + 1, 2, script)
               for node in range(2)]
    for process in started:
        line = next(line for line in process.stderr if "stalled" in line)
        assert SAID in line and line.endswith("; rank 1 is on 127.0.0.2\n"), line
    started[1].terminate()
    assert ended(started[1])[0] == 143
    code, _, err = ended(started[0])
    assert code == 1 and "127.0.0.2 (node rank 1) has left" in err if backend == "static" else code == 1, err
    launch.await_none_left()


def test_the_stalled_rank_of_another_node_ends_the_job_with_that_reason(launch, nodes, torch_version):
    script = launch.script(TRAIN)
    started = [nodes.static(node, 2, "--on-stall=stop", "--max-restarts=3", script) for node in range(2)]
    for process in started:
        code, out, err = ended(process)
        assert code == 137 and out == "", err
        assert err.count("muster-launch: stalled") == 1, err
        why = next(line for line in err.splitlines() if line.startswith("  why "))
        assert "stalled" in why and SAID in why, err
        assert "what to do: look at the stacks in the log" in err
    launch.await_none_left()


def test_the_stalled_rank_of_another_node_is_restarted(launch, nodes, torch_version):
    script = launch.script(TRAIN)
    started = [nodes.c10d(node, 2, "--on-stall=restart", "--max-restarts=1", script) for node in (1, 2)]
    ends = [ended(process) for process in started]
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert sorted(out for _, out, _ in ends) == ["done 0\n", "done 1\n"]


@pytest.mark.parametrize("early", [0, 1])
def test_a_rank_that_has_ended_while_that_of_another_node_waits_is_named(launch, nodes, torch_version, early):
    script = launch.script(f"""
import os, torch.distributed as dist
if os.environ["RANK"] != "{early}": dist.init_process_group("gloo")
""")
    started = [nodes.static(node, 2, script) for node in range(2)]
    for process in started:
        line = next(line for line in process.stderr if "stalled" in line)
        assert f"rank {early} has not entered init_process_group" in line, line
        assert f"; it has ended with exit code 0; rank {early} is on 127.0.0.{early + 1}" in line, line
    for process in started:
        process.terminate()
    for process in started:
        ended(process)
    launch.await_none_left()


def test_a_connection_that_nobody_answers_is_named(launch, nodes, torch_version):
    """As if a firewall were between the nodes."""
    script = launch.script("""
import os, socket
if os.environ["RANK"] == "0":
    full = socket.create_server(("127.0.0.3", 0), backlog=0)
    clients = [socket.socket() for _ in range(3)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(full.getsockname())
    print(full.getsockname()[1], flush=True)
    import time
    time.sleep(4)
""" + TRAIN)
    started = [nodes.static(node, 2, script) for node in range(2)]
    port_of_full = launch.await_line(started[0], "").strip()
    for process in started:
        line = next(line for line in process.stderr if "rank 1 has not entered all_reduce" in line)
        assert f"; rank 0 connects to 127.0.0.3:{port_of_full} and gets no answer: is there a firewall?" in line, line
    for process in started:
        process.terminate()
    for process in started:
        ended(process)
    launch.await_none_left()
