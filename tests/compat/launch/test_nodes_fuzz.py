"""Nodes that come, leave and crash in random orders, with real launchers on loopback.

MUSTER_SEED and MUSTER_ROUNDS choose which and how many; a failure names its seed.
"""
import collections
import os
import random
import re
import signal

import pytest

from ports import free_port

# Says which start of the job it is of, and accuses ranks of earlier starts that do not end.
RANK = """
import os, re, sys, time
attempt = int(re.search(r"/attempt_(\\d+)/", os.environ["TORCHELASTIC_ERROR_FILE"]).group(1))

def born(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]

def say(*words):
    fd = os.open("events", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (" ".join(map(str, words)) + "\\n").encode())
    os.close(fd)

with open("events") as file:
    others = [line.split() for line in file]
for word, number, rank, world, pid, start, *_ in others:
    patience = time.monotonic() + 30
    # One that was killed with its node may be dying still.
    while word == "UP" and int(number) < attempt and born(pid) == start:
        if time.monotonic() > patience:
            say("TWO", attempt, rank, world, pid, start)
            break
        time.sleep(0.01)
say("UP", attempt, os.environ["RANK"], os.environ["WORLD_SIZE"], os.getpid(), born(os.getpid()),
    os.environ["GROUP_RANK"], os.environ["LOCAL_RANK"])
while not os.path.exists("stop"): time.sleep(0.02)
"""
Up = collections.namedtuple("Up", "attempt rank world pid start node local")


class Job:
    def __init__(self, launch, seed):
        self.launch, self.seed = launch, seed
        self.random = random.Random(seed)
        self.count = self.random.choice([1, 1, 2])  # of ranks, on each node
        self.port = free_port()
        self.script = launch.script(RANK)
        open(launch.path("events"), "w").close()
        self.nodes = {}
        self.done = []

    def join(self, name):
        self.done.append(f"join {name}")
        self.nodes[name] = self.launch.start(
            "--nnodes=1:4", f"--nproc-per-node={self.count}", "--rdzv-backend=c10d", "--rdzv-id=fuzz",
            f"--rdzv-endpoint=127.0.0.1:{self.port}", f"--local-addr=127.0.0.{name}",
            f"--rdzv-conf=last_call_timeout=0,join_timeout=100,is_host={str(name == 1).lower()}",
            "--max-restarts=1000", "--log-dir", self.launch.path(f"logs{name}"), self.script,
            stdout=open(os.devnull, "w"), stderr=open(self.launch.path(f"err{name}"), "a"),
            env={"OMP_NUM_THREADS": "1"})

    def act(self):
        """Node 1 has the store and stays."""
        others = [name for name in self.nodes if name != 1]
        absent = [name for name in (2, 3, 4) if name not in self.nodes]
        what = self.random.choice(["join"] * 3 * bool(absent) + ["leave", "kill launcher",
                                  "kill agent", "kill both"] * bool(others) + ["kill rank"])
        if what == "join":
            return self.join(self.random.choice(absent))
        if what == "kill rank":
            up = self.up()
            if not up:
                return None
            victim = self.random.choice(up)
            self.done.append(f"kill rank {victim.rank} of attempt {victim.attempt}")
            return self.kill(victim.pid)
        name = self.random.choice(others)
        self.done.append(f"{what} {name}")
        process = self.nodes.pop(name)
        if what == "leave":
            process.terminate()
        else:
            try:
                agent = self.launch.agent(process)
            except (OSError, IndexError):  # it is only just starting
                agent = process.pid
            for pid in {"kill launcher": [process.pid], "kill agent": [agent],
                        "kill both": [agent, process.pid]}[what]:
                self.kill(pid)
        process.wait(timeout=120)

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def events(self):
        with open(self.launch.path("events")) as file:
            return [line.split() for line in file if line.endswith("\n")]

    def up(self):
        """The ranks that live."""
        alive = set(self.launch.processes())
        return [Up(*map(int, words[1:])) for words in self.events()
                if words[0] == "UP" and int(words[4]) in alive]

    def is_agreed(self):
        up = self.up()
        size = self.count * len(self.nodes)
        return (len({one.attempt for one in up}) == 1 and {one.world for one in up} == {size} and
                sorted(one.rank for one in up) == list(range(size)))

    def check(self):
        story = f"seed {self.seed}: " + ", ".join(self.done)
        assert not [words for words in self.events() if words[0] == "TWO"], story
        groups = collections.defaultdict(list)
        for words in self.events():
            one = Up(*map(int, words[1:]))
            groups[one.attempt].append(one)
        for group in groups.values():
            # Not all of them may have come so far before the next change; those that did agree.
            assert len({one.world for one in group}) == 1, story
            assert len({one.rank for one in group}) == len(group), story
            by_node = collections.defaultdict(list)
            for one in sorted(group, key=lambda one: one.local):
                by_node[one.node].append(one.rank - one.local)
            assert all(len(set(firsts)) == 1 for firsts in by_node.values()), story
            firsts = [ranks[0] for _, ranks in sorted(by_node.items())]
            assert firsts == sorted(firsts), story


ROUNDS = int(os.environ.get("MUSTER_ROUNDS", "2"))
SEED = int(os.environ.get("MUSTER_SEED", "1"))


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seed", range(SEED, SEED + ROUNDS))
def test_ranks_are_contiguous_and_agreed_whatever_happens(launch, seed):
    job = Job(launch, seed)
    job.join(1)
    for _ in range(4):
        for _ in range(job.random.randint(1, 3)):
            job.act()
        try:
            launch.await_true(job.is_agreed, "")
        except AssertionError:
            said = "".join(open(launch.path(name)).read()[-1500:]
                           for name in sorted(os.listdir(launch.folder)) if re.match("err", name))
            pytest.fail(f"seed {seed}: {', '.join(job.done)}: no agreement: {job.up()}\n{said}")
        job.check()
    open(launch.path("stop"), "w").close()
    for process in job.nodes.values():
        assert process.wait(timeout=120) == 0, (seed, job.done)
    launch.await_none_left()
    job.check()
