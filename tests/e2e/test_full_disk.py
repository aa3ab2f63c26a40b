"""The disk below the state folder is full: jobs can be deleted, the daemon starts, messages name the
disk, and what a log has lost is told. The disk is a small tmpfs in a mount namespace of the test's."""
import os
import subprocess

import pytest

from waiting import await_true, await_words

SIZE_MB = 48


class SmallDisk:
    def __init__(self, cluster):
        self.cluster = cluster
        self.state = cluster.path("state", "muster")
        os.makedirs(self.state, mode=0o700)
        script = ('mount -t tmpfs -o size="$1",mode=0700 tmpfs "$2" && echo mounted && '
                  "exec sleep 3600")
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh",
             f"{SIZE_MB}m", self.state], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "mounted\n":
            pytest.skip(f"a disk of its own needs root: {self.holder.stderr.read()}")
        self.binary = cluster.binary
        wrapper = cluster.path("bin", "on-small-disk")
        with open(wrapper, "w") as file:
            file.write("#!/bin/sh\n"
                       f'exec nsenter --target={self.holder.pid} --mount {cluster.binary} "$@"\n')
        os.chmod(wrapper, 0o755)
        cluster.binary = wrapper
        # The same folder, as the namespace sees it.
        self.inside = f"/proc/{self.holder.pid}/root{self.state}"

    def free(self):
        disk = os.statvfs(self.inside)
        return disk.f_bavail * disk.f_frsize

    def fill(self):
        """To the last byte."""
        with open(f"{self.inside}/fill", "ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass
        assert self.free() == 0

    def leave_room_for_files(self, count):
        """None: for as many as there is memory for."""
        disk = os.statvfs(self.inside)
        limit = 0 if count is None else disk.f_files - disk.f_ffree + count
        subprocess.run(["nsenter", f"--target={self.holder.pid}", "--mount", "mount", "-o",
                        f"remount,nr_inodes={limit}", self.state], check=True)

    def empty(self):
        os.remove(f"{self.inside}/fill")

    def pods(self):
        return os.listdir(f"{self.inside}/pods")

    def close(self):
        self.cluster.run("down", "--force", code=None)
        self.cluster.binary = self.binary
        self.holder.kill()
        self.holder.wait()


@pytest.fixture
def disk(cluster):
    made = SmallDisk(cluster)
    yield made
    made.close()


def await_pods(disk, count):
    await_true(lambda: len(disk.pods()) == count, disk.pods)


def test_a_snapshot_that_does_not_fit_leaves_nothing(cluster, disk):
    cluster.submit("before", "true")
    cluster.wait_for_all("before", "SUCCEEDED")
    code = cluster.path("home", "code")
    os.makedirs(code)
    for number in range(4):
        with open(os.path.join(code, f"{number}.bin"), "wb") as file:
            file.write(os.urandom(1 << 20))
    disk.fill()
    refused = cluster.run("run", "-C", code, "--name=copied", "true", code=1).stderr
    assert "no space left on the disk of" in refused and disk.state in refused, refused
    assert "copied" not in cluster.run("list").stdout
    assert not os.path.exists(f"{disk.inside}/runs/copied")
    disk.empty()
    assert not os.path.exists(f"{disk.inside}/snapshots/lists") or not os.listdir(f"{disk.inside}/snapshots/lists")
    assert cluster.run("run", "-C", code, "--name=copied", "ls").stdout.split() == [f"{n}.bin" for n in range(4)]


def test_jobs_are_deleted_with_no_byte_free_and_the_daemon_starts(cluster, disk):
    for name in ("one", "two", "three"):
        cluster.submit(name, "echo done")
        cluster.wait_for_all(name, "SUCCEEDED")
    cluster.submit("runs", "sleep 600")
    cluster.wait("runs", "RUNNING")
    disk.fill()

    refused = cluster.submit("more", "true", code=1).stderr
    assert "no space left on the disk of" in refused and disk.state in refused, refused
    assert f"(mounted on {disk.state})" in refused and "muster prune" in refused, refused
    assert "more" not in cluster.run("list").stdout

    disk.fill()
    cluster.run("delete", "one")
    assert "one" not in cluster.run("list").stdout
    await_pods(disk, 3)

    disk.fill()
    cluster.kill_daemon()
    assert "runs" in cluster.run("list").stdout
    assert cluster.get("runs")["status"] == "RUNNING"
    disk.fill()
    cluster.run("prune", "--since", "0s")
    await_pods(disk, 1)
    disk.fill()
    cluster.run("delete", "runs")
    await_pods(disk, 0)
    assert cluster.pod_processes() == []

    disk.empty()
    cluster.submit("after", "echo room again")
    cluster.wait_for_all("after", "SUCCEEDED")
    assert os.path.exists(f"{disk.inside}/reserve")


def test_a_disk_that_has_bytes_but_no_inodes(cluster, disk):
    """A job would wait for ever without a reason: the report of its pod cannot be written."""
    cluster.submit("before", "true")
    cluster.wait_for_all("before", "SUCCEEDED")
    disk.leave_room_for_files(10)
    refused = cluster.submit("more", "true", code=1).stderr
    assert f'no space left for more files on the disk of "{disk.state}"' in refused, refused
    cluster.run("delete", "before")
    disk.leave_room_for_files(None)
    cluster.submit("after", "true")
    cluster.wait_for_all("after", "SUCCEEDED")


def test_lost_log_lines_are_told(cluster, disk):
    program = ("python -c \"import sys, os, time\n"
               "print('first', flush=True)\n"
               "while not os.path.exists('go'): time.sleep(0.05)\n"
               "for i in range(2000): print('line', i, 'x' * 1000, flush=True)\n"
               "open('printed', 'w').close()\n"
               "time.sleep(600)\"")
    cluster.submit("prints", program, f"--working-dir={cluster.path('tmp')}")
    await_true(lambda: cluster.run("logs", "prints", code=None).stdout == "first\n")
    disk.fill()
    open(cluster.path("tmp", "go"), "w").close()
    await_words("bytes lost", lambda: cluster.run("logs", "prints").stdout.splitlines()[-1])
    assert cluster.run("logs", "prints").stdout.startswith("first\n")
    await_words("bytes lost", lambda: cluster.run("get", "prints").stdout)


def test_the_daemon_starts_on_a_disk_that_was_filled_after_it_went(cluster, disk):
    for name in ("one", "two", "three"):
        cluster.submit(name, "echo done")
        cluster.wait_for_all(name, "SUCCEEDED")
    disk.fill()
    cluster.run("delete", "one")
    await_pods(disk, 2)
    # The worst of it: all that was kept back is spent, and what is left is what goes with the daemon.
    os.remove(f"{disk.inside}/reserve")
    disk.fill()
    cluster.run("down")
    assert os.path.exists(f"{disk.inside}/reserve")
    disk.fill()
    assert "two" in cluster.run("list").stdout
    disk.fill()
    cluster.run("delete", "two")
    await_pods(disk, 1)
    disk.fill()
    cluster.run("down")
    disk.fill()
    cluster.run("prune", "--since", "0s")
    await_pods(disk, 0)
    assert "three" not in cluster.run("list").stdout

    disk.empty()
    cluster.submit("after", "echo room again")
    cluster.wait_for_all("after", "SUCCEEDED")


def test_code_that_does_not_fit_names_the_disk(cluster, disk):
    repository = cluster.path("tmp", "large")
    os.makedirs(repository)
    with open(f"{repository}/data", "wb") as file:
        for _ in range(SIZE_MB):
            file.write(os.urandom(1 << 20))
    for command in (["init", "--quiet"], ["add", "data"],
                    ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", "-C", repository, *command], check=True)
    cluster.submit("large", "true", "--sync-mode=git", f"--sync-source=file://{repository}",
                   "--retry=0")
    cluster.wait("large", "FAILED")
    told = cluster.run("logs", "large", code=None)
    told = told.stdout + told.stderr + cluster.run("get", "large").stdout
    assert "no space left on the disk of" in told and f"(mounted on {disk.state})" in told, told
    assert "muster prune" in told, told
