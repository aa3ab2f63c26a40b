"""Any part of muster is killed while a job runs: the daemon, a shim, a launch's guardian or agent, the interpreter that
forks its ranks or the keeper of those, a rank, the command. The next command works at once, every job ends, and a deleted
one leaves no process. MUSTER_KILLS says how often."""
import contextlib
import os
import random
import re
import signal
import subprocess
import time

from waiting import PATIENCE, pause

# Each round has one whose turn it is, and kills another where that one has ended too soon.
PARTS = ("guardian", "keeper", "daemon", "shim", "agent", "resident", "rank", "command")
ROUNDS = max(len(PARTS), int(os.environ.get("MUSTER_KILLS", "50")) // 8)
LINES = 30
PROGRAM = ("import os, time\n"
           f"for i in range({LINES}):\n"
           "    print('line', os.environ['RANK'], i, flush=True)\n"
           "    time.sleep(0.03)\n")
EXPECTED = sorted(f"line {rank} {i}" for rank in range(4) for i in range(LINES))
ENDED = ("SUCCEEDED", "FAILED")


def parts(cluster):
    """Pids by what they are: of each process that this cluster has started."""
    found = {part: [] for part in PARTS}
    interpreters = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry}/environ", "rb") as file:
                is_ours = cluster.folder.encode() in file.read()
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{entry}/stat") as file:
                name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
            program = os.readlink(f"/proc/{entry}/exe")
            if program == cluster.binary and words[1:2] in ([b"daemon"], [b"shim"]):
                found[words[1].decode()].append(int(entry))
            elif program == cluster.path("bin", "muster-launch"):
                found["agent" if name == "muster-agent" else "guardian"].append(int(entry))
            elif is_ours and any(word.startswith(b"/muster-warm/") for word in words[1:3]):
                interpreters[int(entry)] = int(fields.split()[1])
            elif is_ours and b"train.py" in words[-2:]:
                found["rank"].append(int(entry))
    for pid, parent in interpreters.items():
        found["keeper" if parent in interpreters else "resident"].append(pid)
    return found


def await_part(cluster, part, name):
    """Until there is one, or there will be none any more."""
    began = time.monotonic()
    while not parts(cluster)[part] and cluster.get(name)["status"] not in ENDED:
        pause(began)


def settle(cluster, name, verb):
    """The job's status when it changes no more."""
    if verb == "suspend":
        return cluster.wait(name, "SUSPENDED", *ENDED)["status"]
    return cluster.wait_for_all(name, *ENDED)["status"]


def test_the_next_command_works_and_every_job_ends(cluster):
    chance = random.Random(os.environ.get("MUSTER_SEED", "1"))
    with open(cluster.path("home", "train.py"), "w") as file:
        file.write(PROGRAM)
    # An interpreter without torch: one that is killed is there again soon.
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", cluster.path("venv")], check=True)
    with open(cluster.path("config/muster/config.yaml"), "w") as file:
        file.write(f"local:\n  python: {cluster.path('venv', 'bin', 'python')}\n  warm: true\n")
    # The interpreter is made.
    cluster.run("run", "-d", "--name=first", "-n", "2", "train.py")
    cluster.wait_for_all("first", "SUCCEEDED")
    cluster.run("delete", "first")
    killed = set()
    for number in range(ROUNDS):
        name = f"j{number}"
        cluster.run("run", "-d", f"--name={name}", "--nodes=2", "-n", "2", "train.py")
        follower = cluster.start("logs", "-f", "--all", "--raw", name)
        part = PARTS[number % len(PARTS)]
        if part != "command":
            await_part(cluster, part, name)
        time.sleep(chance.uniform(0, 0.8) if number >= len(PARTS) else 0)
        there = {**parts(cluster), "command": [follower.pid]}
        if not there[part]:
            part = chance.choice(sorted(kind for kind, pids in there.items() if pids))
        killed.add(part)
        verb = chance.choice(["suspend", "delete", "get", "list", "explain", "show"])
        what = f"round {number}: {verb} after the kill of a {part}"
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(sorted(there[part])), chance.choice([signal.SIGKILL, signal.SIGTERM]))
        done = cluster.run(verb, *([] if verb == "list" else [name]), code=None)
        # Nothing is to be explained or suspended where the job has succeeded before the command came.
        assert done.returncode == 0 or verb in ("explain", "suspend"), f"{what}\n{done.stderr}"
        if verb == "delete":
            cluster.run("get", name, code=1)
        elif part in ("daemon", "command") and verb != "suspend":
            assert settle(cluster, name, verb) == "SUCCEEDED", f"{what}\n{cluster.run('explain', name, code=None).stdout}"
            shown = cluster.run("logs", name, "--all", "--raw").stdout
            assert sorted(re.findall(r"line \d \d+$", shown, re.MULTILINE)) == EXPECTED, what
        else:
            settle(cluster, name, verb)
        if verb == "suspend":
            cluster.run("delete", name)
        try:
            follower.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            follower.kill()
            raise AssertionError(f"{what}: logs -f does not end") from None
        cluster.run("delete", name)
        cluster.await_no_process()
    assert killed == set(PARTS), f"never killed: {set(PARTS) - killed}"
