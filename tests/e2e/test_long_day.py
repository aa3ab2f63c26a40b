"""Many jobs through one daemon: its memory and the disk that it takes stay what they were. `make soak` lives a day's ten thousand."""
import os

import pytest

JOBS = int(os.environ.get("MUSTER_JOBS", "30"))
BATCH = 10
# What a daemon's memory may grow by beyond what it has once the first jobs have gone, and the state folder.
MORE_MEMORY = 16 << 20
MORE_DISK = 16 << 20
# Of each job that was here in the last hour, its four events, which go an hour after they were seen (src/local/daemon/event_janitor.h).
EVENTS = 6 << 10


def memory_of(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} has no memory")


def size_of(folder):
    return sum(os.lstat(os.path.join(path, name)).st_blocks * 512
               for path, _, names in os.walk(folder) for name in names)


@pytest.mark.parametrize("jobs", [JOBS])
def test_memory_and_disk_stay_flat(cluster, jobs):
    cluster.run("up")
    pid = cluster.daemon_pid()
    seen = []
    for first in range(0, jobs, BATCH):
        names = [f"day-{number}" for number in range(first, first + BATCH)]
        for name in names:
            cluster.submit(name, "true")
        for name in names:
            cluster.wait_for_all(name, "SUCCEEDED")
        cluster.run("delete", *names)
        cluster.run("prune", "--keep", "0")
        seen.append((memory_of(pid), size_of(cluster.path("state"))))
    assert cluster.daemon_pid() == pid
    assert cluster.pod_processes() == []
    settled = seen[len(seen) // 4]
    assert seen[-1][0] <= settled[0] + MORE_MEMORY, seen
    assert seen[-1][1] <= settled[1] + MORE_DISK + EVENTS * jobs * 3 // 4, seen
