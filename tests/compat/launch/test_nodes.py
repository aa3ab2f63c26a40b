"""Jobs on several nodes, static and elastic (compat/torchrun.md 0.2-0.4, 2.3; cases 71, 75-78).

A node is a launcher with an address of its own in 127.0.0.0/8.
"""
import os
import signal
import socket
import subprocess
import sys

import pytest

from ports import free_port
from waiting import PATIENCE

ENV = {"OMP_NUM_THREADS": "1"}
QUICK = "last_call_timeout=0,join_timeout=60"


@pytest.fixture
def port():
    return free_port()


class Nodes:
    def __init__(self, launch, port):
        self.launch, self.port = launch, port

    def static(self, rank, count, *args, **options):
        return self.launch.start(f"--nnodes={count}", f"--node-rank={rank}",
                                 "--master-addr=127.0.0.1", f"--master-port={self.port}",
                                 f"--local-addr=127.0.0.{rank + 1}", *args, env=ENV, **options)

    def c10d(self, name, nnodes, *args, conf=QUICK, **options):
        # Which of them has the port would be chance: here it is always the first.
        if "is_host" not in conf:
            conf += f",is_host={'true' if name == 1 else 'false'}"
        return self.launch.start(f"--nnodes={nnodes}", "--rdzv-backend=c10d", "--rdzv-id=job",
                                 f"--rdzv-endpoint=127.0.0.1:{self.port}", f"--rdzv-conf={conf}",
                                 f"--local-addr=127.0.0.{name}", *args, env=ENV, **options)


@pytest.fixture
def nodes(launch, port):
    return Nodes(launch, port)


def ended(process, timeout=120):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


SHOW = """
import os
print(*(os.environ[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
      "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE")))
"""


@pytest.mark.parametrize("backend", ["static", "c10d"])
def test_ranks_are_contiguous_and_agreed(launch, nodes, backend):
    script = launch.script(SHOW)
    if backend == "static":
        # The second node first: it waits.
        started = [nodes.static(rank, 2, "--nproc-per-node=2", script) for rank in (1, 0)]
    else:
        started = [nodes.c10d(name, 2, "--nproc-per-node=2", script) for name in (1, 2)]
    lines = []
    for process in started:
        code, out, err = ended(process)
        assert code == 0, err
        lines += out.splitlines()
    assert sorted(lines) == ["0 0 4 2 0 2 0 4", "1 1 4 2 0 2 1 4", "2 0 4 2 1 2 2 4",
                             "3 1 4 2 1 2 3 4"]
    launch.await_none_left()


SUM = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * dist.get_rank()
dist.all_reduce(value)
print("sum", value.item(), os.environ["TORCHELASTIC_RESTART_COUNT"])
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and dist.get_rank() == FAILS:
    os._exit(9)
dist.barrier()
dist.destroy_process_group()
"""


# Nodes of 1 and 2 ranks reduce over the static rendezvous, too, and the job that fails reduces before.
@pytest.mark.parametrize("backend, fails", [
    pytest.param("static", -1, marks=pytest.mark.soak), pytest.param("c10d", -1, marks=pytest.mark.soak), ("c10d", 1)])
def test_gloo_over_two_nodes(launch, nodes, torch_version, backend, fails):
    """After a failure the restart count is the same at every node (pytorch/pytorch#108158)."""
    script = launch.script(SUM.replace("FAILS", str(fails)))
    if backend == "static":
        started = [nodes.static(rank, 2, script) for rank in range(2)]
    else:
        started = [nodes.c10d(name, 2, "--max-restarts=1", script) for name in (1, 2)]
    for process in started:
        code, out, err = ended(process)
        assert code == 0, err
        assert out.splitlines()[-1] == f"sum 1.0 {int(fails >= 0)}"


@pytest.mark.parametrize("backend", ["static", pytest.param("c10d", marks=pytest.mark.soak)])
def test_nodes_of_different_sizes_reduce(launch, nodes, torch_version, backend):
    script = launch.script(SUM.replace("FAILS", "-1"))
    starts = [nodes.static(rank, 2, f"--nproc-per-node={rank + 1}", script) if backend == "static" else
              nodes.c10d(rank + 1, 2, f"--nproc-per-node={rank + 1}", script) for rank in range(2)]
    for count, process in enumerate(starts, 1):
        code, out, err = ended(process)
        assert code == 0, err
        assert out.splitlines() == ["sum 3.0 0"] * count


@pytest.mark.parametrize("backend", ["static", "c10d"])
def test_nodes_of_different_sizes(launch, nodes, backend):
    """Case 71: one, two and three workers on three nodes."""
    script = launch.script(SHOW)
    sizes = [f"--nproc-per-node={count}" for count in (1, 2, 3)]
    if backend == "static":
        started = [nodes.static(rank, 3, size, script) for rank, size in enumerate(sizes)]
    else:
        started = [nodes.c10d(name, 3, size, script) for name, size in enumerate(sizes, 1)]
    rows = []
    for process in started:
        code, out, err = ended(process)
        assert code == 0, err
        rows += [tuple(map(int, line.split())) for line in out.splitlines()]
    # With c10d, which node comes second is chance.
    sizes = {row[4]: row[3] for row in rows}
    assert sorted(sizes.values()) == [1, 2, 3]
    places = [(node, local) for node in range(3) for local in range(sizes[node])]
    assert sorted(rows) == [(rank, local, 6, sizes[node], node, 3, rank, 6) for rank, (node, local) in enumerate(places)]


WAIT = """
import os, sys, time
name = "_".join(os.environ[n] for n in ("RANK", "WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT"))
open("up" + name, "w").write(str(os.getpid()))
while not os.path.exists("go" + os.environ["RANK"]): time.sleep(0.01)
sys.exit(int(open("go" + os.environ["RANK"]).read() or 0))
"""


def go(launch, rank, code=0):
    with open(launch.path(".go"), "w") as file:
        file.write(str(code))
    os.rename(launch.path(".go"), launch.path(f"go{rank}"))


@pytest.mark.parametrize("backend", ["static", "c10d"])
def test_a_failed_node_is_a_failed_job(launch, nodes, backend):
    """The original lets the other node run to its end, and then waits 300 s (section 0.3)."""
    script = launch.script(WAIT)
    if backend == "static":
        started = [nodes.static(rank, 2, script) for rank in range(2)]
    else:
        started = [nodes.c10d(name, 2, script) for name in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    go(launch, 1, 3)
    for process in started:
        code, _, err = ended(process)
        assert code == 3, err
        assert "rank      : 1 (local_rank: 0)" in err.split("Root Cause")[1]
    launch.await_none_left()


def test_a_second_node_joins_while_the_first_runs(launch, nodes):
    """torch 2.15 deadlocks here with its default settings (section 0.2)."""
    script = launch.script(WAIT)
    first = nodes.c10d(1, "1:2", script)
    launch.await_file("up0_1_0")
    second = nodes.c10d(2, "1:2", script)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    for rank in range(2):
        go(launch, rank)
    assert [ended(node)[0] for node in (first, second)] == [0, 0]


@pytest.mark.parametrize("victim", ["guardian", "agent"])
def test_a_node_whose_launcher_is_killed_is_missed(launch, nodes, victim):
    """The original never notices (section 0.4)."""
    script = launch.script(WAIT)
    first = nodes.c10d(1, "1:2", script, conf="last_call_timeout=60,join_timeout=60")
    second = nodes.c10d(2, "1:2", script)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    os.kill(second.pid if victim == "guardian" else launch.agent(second), signal.SIGKILL)
    launch.await_file("up0_1_0")
    second.wait(timeout=PATIENCE)
    # And comes back.
    os.remove(launch.path("up1_2_0"))
    third = nodes.c10d(3, "1:2", script)
    launch.await_file("up1_2_0")
    for rank in range(2):
        go(launch, rank)
    assert [ended(node)[0] for node in (first, third)] == [0, 0]
    launch.await_none_left()


@pytest.mark.parametrize("flags", [[], ["--warm", "--warm-idle=1"]])
def test_an_agent_that_stands_still_has_no_workers_when_the_others_go_on(launch, nodes, flags):
    script = launch.script(WAIT)
    launch.env["XDG_RUNTIME_DIR"] = launch.folder
    conf = QUICK + ",heartbeat_timeout=2,keep_alive_interval=0.3"
    # Both at first: the second comes before the first has begun alone.
    conf = conf.replace("last_call_timeout=0", "last_call_timeout=60")
    started = [nodes.c10d(name, "1:2", *flags, script, conf=conf) for name in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    worker = int(launch.await_file("up1_2_0"))
    agent = launch.agent(started[1])
    os.kill(agent, signal.SIGSTOP)
    launch.await_file("up0_1_0")
    assert worker not in launch.processes()
    for rank in range(2):
        os.remove(launch.path(f"up{rank}_2_0"))
    os.kill(agent, signal.SIGCONT)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
        go(launch, rank)
    ends = [ended(node) for node in started]
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert "has stood still" in ends[1][2]
    launch.await_none_left()


@pytest.mark.parametrize("code", [0, 7])
def test_a_launcher_on_standby_ends_as_the_job_does(launch, nodes, code):
    script = launch.script(f"""
import os, sys, time
rank = os.environ["RANK"]
open("up" + rank, "w").write("x")
while not os.path.exists("go"): time.sleep(0.01)
sys.exit({code} if rank == "0" else 0)
""")
    def start(name):
        return nodes.c10d(name, "1:2", "--event-log-handler=console", script,
                          conf="last_call_timeout=60,join_timeout=60")
    job = [start(name) for name in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}")
    spare = start(3)
    assert any("this one is on standby" in line for line in spare.stderr)
    open(launch.path("go"), "w").close()
    for process in (*job, spare):
        assert ended(process)[0] == code


def test_a_node_that_is_asked_to_end_leaves_the_others_running(launch, nodes):
    script = launch.script(WAIT)
    first = nodes.c10d(1, "1:2", script, conf="last_call_timeout=60,join_timeout=60")
    second = nodes.c10d(2, "1:2", script)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    second.terminate()
    assert ended(second)[0] == 143
    launch.await_file("up0_1_0")
    go(launch, 0)
    assert ended(first)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_node_of_the_same_machine_takes_the_place_of_a_host_that_is_gone(launch, port, number):
    """Case 76, whichever of the two it is: with torchrun the store is lost with its host."""
    command = ["--nnodes=1:2", "--rdzv-backend=c10d", f"--rdzv-endpoint=localhost:{port}",
               f"--rdzv-conf={QUICK}", "-t3", "--log-dir", launch.path("logs"), launch.script(WAIT)]
    host = launch.start(*command, env=ENV)
    launch.await_file("up0_1_0")
    second = launch.start(*command, env=ENV)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    os.remove(launch.path("up0_1_0"))
    host.send_signal(number)
    ended(host)
    launch.await_file("up0_1_0")
    go(launch, 0)
    code, _, err = ended(second)
    assert code == 0, err
    # Each start has a folder of its own.
    folders = [name for name in os.listdir(launch.path("logs")) for name in os.listdir(launch.path("logs", name))]
    assert sorted(folders) == ["attempt_0", "attempt_1", "attempt_1", "attempt_2"]
    launch.await_none_left()


def test_nodes_elsewhere_follow_when_the_host_leaves_and_is_replaced(launch, port):
    started = []
    for conf in ["last_call_timeout=60", "last_call_timeout=0", "is_host=false"]:
        started.append(launch.start("--nnodes=2:3", "--rdzv-backend=c10d", f"--rdzv-endpoint=localhost:{port}",
                                    f"--rdzv-conf=join_timeout=60,{conf}", launch.script(WAIT), env=ENV))
        launch.await_true(lambda: is_listening(port), "nobody listens")
    for rank in range(3):
        launch.await_file(f"up{rank}_3_0")
    started[0].terminate()
    assert ended(started[0])[0] == 143
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
        go(launch, rank)
    for code, _, err in map(ended, started[1:]):
        assert code == 0 and "has left: it got SIGTERM; another launcher of its machine takes its place" in err, err
    launch.await_none_left()


def test_a_lost_node_fails_a_job_that_cannot_do_without_it(launch, nodes):
    script = launch.script(WAIT)
    first = nodes.c10d(1, 2, script)
    second = nodes.c10d(2, 2, script)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    os.kill(launch.agent(second), signal.SIGKILL)
    code, _, err = ended(first)
    assert code == 1 and "127.0.0.2 was lost" in err
    launch.await_none_left()


@pytest.mark.parametrize("backend", ["static", "c10d"])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_loss_that_is_no_number_ends_all_nodes_whatever_restarts_are_left(launch, nodes, backend, bad):
    script = launch.script(f"""
import os, time
print("step 1 loss 0.5", flush=True)
if os.environ["RANK"] == "{bad}":
    print("step 2 loss nan", flush=True)
time.sleep(1000)
""")
    flags = ["--stop-on-nan", "--max-restarts=3", script]
    started = [nodes.static(node, 2, *flags) if backend == "static" else nodes.c10d(node + 1, 2, *flags) for node in range(2)]
    ends = [ended(node) for node in started]
    for code, _, err in ends:
        assert code == 137 and "all stop and start again" not in err, err
        assert "a loss is not a number any more: step 2 loss nan" in err
    assert f"rank {bad}: a loss is not a number any more" in ends[bad][2]
    launch.await_none_left()


def test_nodes_that_disagree_are_told(launch, nodes):
    script = launch.script(WAIT)
    started = [nodes.c10d(1, 2, script), nodes.c10d(2, 3, script)]
    for process in started:
        code, _, err = ended(process)
        assert code == 1 and "--nnodes" in err, err
    assert not [name for name in os.listdir(launch.folder) if name.startswith("up")]


def test_two_nodes_with_the_same_rank_are_told(launch, nodes):
    script = launch.script(WAIT)
    host = nodes.static(0, 2, script)
    await_said(host, "1 of 2 nodes have joined")
    code, _, err = ended(nodes.static(0, 2, script))
    assert code == 1 and "does another node have --node-rank=0 too?" in err, err


def test_a_static_node_that_is_started_again_before_its_end_is_noticed_takes_its_place(launch, nodes):
    script = launch.script(WAIT)
    host, guest = [nodes.static(rank, 2, "--max-restarts=1", script) for rank in range(2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    agent = launch.agent(guest)
    os.kill(agent, signal.SIGSTOP)
    guest.kill()
    again = nodes.static(1, 2, "--max-restarts=1", script)
    await_said(again, "one of which has --node-rank 1; this one is on standby")
    os.kill(agent, signal.SIGCONT)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_1")
        go(launch, rank)
    assert [ended(node)[0] for node in (host, again)] == [0, 0]
    launch.await_none_left()


def test_another_nodes_failure_has_its_pid_and_last_lines(launch, nodes):
    script = launch.script("""
import os, sys, time
if os.environ["RANK"] == "0": time.sleep(1000)
print("pid", os.getpid(), flush=True)
print("no data on the shelf", file=sys.stderr)
sys.exit(7)
""")
    host, other = [nodes.static(rank, 2, "--nproc-per-node=1", script) for rank in range(2)]
    _, out, _ = ended(other)
    code, _, err = ended(host)
    pid = out.split()[1]
    assert code == 7 and f"(pid: {pid})" in err and f"pid {pid}, host 127.0.0.2" in err, err
    assert "evidence  : no data on the shelf" in err


def test_a_node_of_another_job_is_refused_alone(launch, nodes):
    script = launch.script(WAIT)
    host = nodes.c10d(1, 2, script)
    await_said(host, "1 of 2 nodes have joined")
    code, _, err = ended(nodes.c10d(2, 2, "--rdzv-id=other", script))
    assert code == 1 and "--rdzv-id other" in err, err
    await_said(host, "a node was refused")
    friend = nodes.c10d(3, 2, script)
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
        go(launch, rank)
    assert [ended(node)[0] for node in (host, friend)] == [0, 0]


def test_a_node_whose_ranks_were_done_early_is_named_as_the_cause(launch, nodes):
    script = launch.script("""
import os, time
if os.environ["RANK"] == "1":
    os.symlink(str(os.getpid()), "done")
    raise SystemExit
while not os.path.lexists("done"): time.sleep(0.05)
# Until the launcher of rank 1 has seen its end.
while os.path.exists("/proc/" + os.readlink("done")): time.sleep(0.05)
raise RuntimeError("[./gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:43238")
""")
    _, second = [ended(node) for node in [nodes.static(rank, 2, script) for rank in range(2)]]
    assert second[0] != 0
    assert "why       : rank 1 had ended with exit code 0 while rank 0 still waited" in second[2]


TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


def await_said(process, text):
    """Reads stderr up to the line that holds `text`."""
    said = []
    while line := process.stderr.readline():
        said.append(line)
        if text in line:
            return line
    raise AssertionError(f"no {text!r}: {said}")


@pytest.mark.parametrize("host", ["torchrun", "muster"])
@pytest.mark.parametrize("backend", ["static", "c10d"])
def test_a_torchrun_at_the_other_end_is_named(launch, port, torch_version, backend, host):
    """Both are quiet where they wait for each other: the one hosts, the other joins."""
    common = [f"--rdzv_endpoint=127.0.0.1:{port}", "--rdzv_backend=c10d", "--rdzv_id=job"]
    place = [[], ["--rdzv_conf=is_host=false"]]
    if backend == "static":
        common = ["--master_addr=127.0.0.1", f"--master_port={port}"]
        place = [["--node_rank=0"], ["--node_rank=1"]]
    started = []
    for role in range(2):
        is_torchrun = (host == "torchrun") == (role == 0)
        words = ["--nnodes=2", *common, *place[role], launch.script(WAIT)]
        if is_torchrun:
            started.append(subprocess.Popen([*TORCHRUN, *words], env={**launch.env, **ENV},
                                            cwd=launch.folder, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        else:
            ours = launch.start(*words, env=ENV)
            started.append(ours)
        if role == 0:
            launch.await_true(lambda: is_listening(port), "nobody listens")
    try:
        line = await_said(ours, "is torchrun running there?")
        assert (f"127.0.0.1:{port} accepts" if host == "torchrun" else "127.0.0.1 uses the workers' store") in line
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.communicate(timeout=PATIENCE)


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_token_keeps_strangers_out(launch, nodes):
    script = launch.script(WAIT)
    host = nodes.c10d(1, 2, script, conf=QUICK + ",token=secret")
    for conf in (QUICK, QUICK + ",token=guess"):
        code, _, err = ended(nodes.c10d(2, 2, script, conf=conf))
        assert code == 1 and "token" in err
    friend = nodes.c10d(3, 2, script, conf=QUICK + ",token=secret")
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
        go(launch, rank)
    assert [ended(node)[0] for node in (host, friend)] == [0, 0]


def test_an_endpoint_that_nobody_serves_is_named(launch, nodes):
    process = nodes.c10d(2, 2, launch.script(WAIT), conf="is_host=false,join_timeout=1")
    code, _, err = ended(process)
    assert code == 1 and f"127.0.0.1:{nodes.port}" in err and "Connection refused" in err


# Longer than a name in DNS can be: no server is asked.
UNKNOWN = "x" * 64


@pytest.mark.parametrize("flags, flag", [
    (["--node-rank=0", f"--master-addr={UNKNOWN}", "--master-port={}"], "--master-addr"),
    (["--node-rank=1", f"--master-addr={UNKNOWN}", "--master-port={}"], "--master-addr"),
    (["--node-rank=0", f"--rdzv-endpoint={UNKNOWN}:{{}}"], "--rdzv-endpoint"),
    (["--rdzv-backend=c10d", f"--rdzv-endpoint={UNKNOWN}:{{}}"], "--rdzv-endpoint"),
])
def test_an_address_that_nobody_knows_is_an_error_that_names_the_flag(launch, port, flags, flag):
    flags = [word.format(port) for word in flags]
    done = launch.run("--nnodes=2", "--rdzv-conf=join_timeout=1", *flags, launch.script(WAIT), code=1,
                      env=ENV)
    assert flag in done.err and f"no address is known for host {UNKNOWN}" in done.err
    assert "cannot be reached" in done.err.splitlines()[-1]


@pytest.mark.parametrize("conf", ["join_timeout=soon", "is_host=perhaps", "timeout=-1"])
def test_bad_settings_are_refused(launch, nodes, conf):
    code, _, err = ended(nodes.c10d(1, 2, launch.script(WAIT), conf=conf))
    assert code == 1 and conf in err and len(err.splitlines()) == 1


def test_a_program_that_cannot_be_started_on_one_node_ends_the_job(launch, nodes):
    script = launch.script("#!/nowhere/interpreter\n", "bad")
    started = [nodes.c10d(name, 2, "--no-python", script) for name in (1, 2)]
    for process in started:
        assert ended(process)[0] == 1
    launch.await_none_left()


def test_a_wait_that_does_not_end_is_explained(launch, torch_version):
    script = launch.script("""
import os, time, torch.distributed as dist
if os.environ["RANK"] == "1":
    while not os.path.exists("go"): time.sleep(0.01)
dist.init_process_group("gloo")
dist.destroy_process_group()
""")
    process = launch.start("--nproc-per-node=2", script, env=ENV)
    while line := process.stderr.readline():
        if "missing: rank 1" in line:
            break
    assert "1/2 joined" in line and "pid" in line, line
    open(launch.path("go"), "w").close()
    assert ended(process)[0] == 0


def test_a_wait_is_explained_with_the_place_in_python(launch, torch_version):
    os.mkdir(launch.path("site-packages"))
    launch.script("""
import os, time
def poll():
    while not os.path.exists("go"): time.sleep(0.01)
""", "site-packages/clock.py")
    script = launch.script("""
import os, sys, torch.distributed as dist
sys.path.insert(0, "site-packages")
import clock
def load_data():
    clock.poll()
if os.environ["RANK"] == "1": load_data()
dist.init_process_group("gloo")
dist.destroy_process_group()
""")
    process = launch.start("--nproc-per-node=2", script, env=ENV)
    while line := process.stderr.readline():
        if "missing: rank 1" in line:
            break
    assert "waiting in poll (clock.py:4), called from load_data (main.py:6)" in line
    open(launch.path("go"), "w").close()
    assert ended(process)[0] == 0
    launch.await_none_left()
