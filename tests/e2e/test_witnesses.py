"""What the machine tells of a program that has failed, beside its own words: the kernel's log, full file systems, kills for want of memory."""
import json
import os
import signal
import subprocess
import time

import pytest

from embedded_muster import Cluster
from waiting import PATIENCE, await_true, await_words


def explain(cluster, name):
    return json.loads(cluster.run("explain", name, "-o", "json").stdout)


def program(cluster, text):
    path = cluster.path("home", "train.py")
    with open(path, "w") as file:
        file.write(text)
    return path


def told_by(verdict, source):
    return [fact["text"] for fact in verdict["evidence"] if fact["source"] == source and fact["time"]]


def test_a_full_shared_memory_explains_a_bus_error(cluster):
    path = program(cluster, "import mmap, os\n"
                            "file = open('/dev/shm/batch', 'w+b')\n"
                            "os.ftruncate(file.fileno(), 64 << 20)\n"
                            "mmap.mmap(file.fileno(), 64 << 20)[:] = b'x' * (64 << 20)\n")
    cluster.submit("shared", f"python3 {path}", "--share-memory=16Mi", "--wait", code=None)
    verdict = explain(cluster, "shared")
    assert (verdict["class"], verdict["confidence"]) == ("shm-too-small", "medium")
    assert verdict["who"]["exitCode"] == 128 + 7
    assert verdict["line"] == "file system: /dev/shm is full: 0 KiB free of 16 MiB"
    assert told_by(verdict, "file system") == ["/dev/shm is full: 0 KiB free of 16 MiB"]
    screen = cluster.run("explain", "shared", "--all").stdout
    assert "file system: /dev/shm is full: 0 KiB free of 16 MiB\n" in screen
    cluster.run("delete", "shared")
    assert explain(cluster, "shared") == verdict


def test_a_full_disk_explains_a_checkpoint_that_could_not_be_written(cluster):
    path = program(cluster, "try:\n    open('/data/checkpoint', 'wb').write(b'x' * (32 << 20))\nexcept OSError:\n    pass\n"
                            "raise RuntimeError('[enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0')\n")
    container = {"name": "pytorch", "image": "host", "command": ["python3", path],
                 "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    volume = {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}
    job = cluster.path("home", "job.json")
    with open(job, "w") as file:
        json.dump({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "disk", "namespace": "default"},
                   "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {
                       "spec": {"containers": [container], "volumes": [volume]}}}}}}, file)
    cluster.run("apply", "-f", job)
    cluster.wait("disk", "FAILED")
    verdict = explain(cluster, "disk")
    assert (verdict["class"], verdict["confidence"]) == ("disk-full", "high")
    assert verdict["where"]["line"] == 5
    assert told_by(verdict, "file system") == ["/data is full: 0 KiB free of 8 MiB"]


@pytest.fixture
def small_machine():
    """A muster in a memory cgroup of 400 MiB, as on a machine that has no more."""
    name = f"muster-test-{os.getpid()}"
    groups = [place for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")
              if os.path.exists(f"{place}/memory.limit_in_bytes") or os.path.exists(f"{place}/cgroup.subtree_control")]
    if not groups or not os.access(groups[0], os.W_OK):
        pytest.skip("a memory cgroup needs root")
    group = os.path.join(groups[0], name)
    os.mkdir(group)
    limit = next(file for file in ("memory.limit_in_bytes", "memory.max") if os.path.exists(f"{group}/{file}"))
    with open(f"{group}/{limit}", "w") as file:
        file.write(str(400 << 20))
    made = Cluster()
    subprocess.run(["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$0" up', made.binary], env=made.env, check=True,
                   capture_output=True)
    yield made
    made.close()
    deadline = time.monotonic() + 20
    while open(f"{group}/cgroup.procs").read() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.rmdir(group)


def test_the_kernels_log_tells_who_killed_a_data_loaders_worker(small_machine):
    path = program(small_machine, "import subprocess, sys\n"
                                  "worker = subprocess.Popen([sys.executable, '-c', 'x = [bytearray(1 << 20) for i in range(4000)]'])\n"
                                  "killed = worker.wait() == -9\n"
                                  "raise RuntimeError(f'DataLoader worker (pid {worker.pid}) is killed by signal: Killed. ' if killed else 'no')\n")
    small_machine.submit("fat", f"python3 {path}", "--wait", code=None)
    verdict = explain(small_machine, "fat")
    assert (verdict["class"], verdict["confidence"]) == ("host-out-of-memory", "high"), verdict
    assert "Killed process" in verdict["line"] or "oom-kill:" in verdict["line"]
    assert (verdict["where"]["file"], verdict["where"]["line"]) == (path, 4)
    assert told_by(verdict, "kernel's log")


def test_a_rank_that_is_killed_for_a_limit_around_the_cluster_is_named(small_machine):
    path = program(small_machine, "import os, time\n"
                                  "if os.environ['RANK'] == '0': time.sleep(600)\n"
                                  "x = [bytearray(1 << 20) for i in range(4000)]\n")
    small_machine.run("run", "-n", "2", "--name=fat", path, code=137)
    verdict = explain(small_machine, "fat")
    assert (verdict["class"], verdict["who"]["rank"]) == ("host-out-of-memory", 1), verdict
    assert "a limit around the job" in verdict["title"] and "--memory" not in verdict["adviceText"], verdict
    assert "report" not in verdict["line"], verdict


@pytest.mark.parametrize("record", [
    "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
    "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)"])
def test_a_gpu_that_fails_is_told_by_the_kernels_log(tmp_path, record):
    made = Cluster()
    try:
        os.makedirs(tmp_path / "dev")
        log = tmp_path / "dev" / "kmsg"
        log.write_text("")
        made.env["MUSTER_WITNESS_ROOT"] = str(tmp_path)
        words = "RuntimeError: CUDA error: unspecified launch failure"
        path = program(made, "import time\n"
                             f"open({str(log)!r}, 'w').write('4,7,%d,-;{record}\\n'"
                             " % (time.monotonic() * 1e6))\n"
                             f"raise RuntimeError({words[14:]!r})\n")
        for flags, kind in (((), "cuda-error"), (("--env=CUDA_VISIBLE_DEVICES=0",), "gpu-hardware")):
            made.submit("gpu", f"python3 {path}", *flags, "--wait", code=None)
            verdict = explain(made, "gpu")
            assert verdict["class"] == kind, verdict
            assert told_by(verdict, "kernel's log") == (
                [record] if flags else [])
            made.run("delete", "gpu")
        assert verdict["advice"] == "retry-elsewhere"
    finally:
        made.close()


def test_a_kernels_log_that_cannot_be_read_is_missing(tmp_path):
    made = Cluster()
    try:
        made.env["MUSTER_WITNESS_ROOT"] = str(tmp_path)
        for name, end in (("killed", "kill -9 $$"), ("left", "exit 3")):
            made.submit(name, f"echo step 1; {end}", "--wait", code=None)
        assert len(explain(made, "killed")["missing"]) == 1
        assert explain(made, "killed")["missing"][0].endswith(" (cannot be read: No such file or directory)")
        assert explain(made, "left")["missing"] == []
    finally:
        made.close()


def test_what_ends_with_its_job_is_told_nothing_of(cluster):
    path = program(cluster, "import os, sys, time\nif os.environ['RANK'] == '1':\n    sys.exit(3)\ntime.sleep(600)\n")
    cluster.submit("two", f"python3 {path}", "--workers=2", "--wait", code=None)
    assert "muster: witness:" not in cluster.run("logs", "two", "--all", "--raw").stdout


def test_descriptors_at_death_explain_a_program_that_says_nothing(cluster):
    path = program(cluster, "import os, resource, sys, time\n"
                            "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
                            "kept = []\n"
                            "try:\n"
                            "    while True:\n"
                            "        kept.append(open('/dev/null'))\n"
                            "except OSError:\n"
                            "    for step in range(30):\n"
                            "        print('cannot go on', flush=True)\n"
                            "        time.sleep(0.1)\n"
                            "    os._exit(3)\n")
    cluster.submit("leaks", f"python3 {path}", "--wait", code=None)
    verdict = explain(cluster, "leaks")
    told = told_by(verdict, "limits")
    assert len(told) == 1 and told[0].endswith(" has 64 of 64 descriptors open"), verdict
    assert (verdict["class"], verdict["confidence"]) == ("too-many-open-files", "medium")


def test_a_program_whose_threads_are_at_work_may_be_asked_at_any_time(cluster):
    """Its daemon asks each job every few seconds. faulthandler crashes a process in which it reads the frames of a running thread."""
    cluster.submit("busy", "python " + program(cluster, """
import threading, time
def down(depth):
    return 0 if depth == 0 else down(depth - 1) + 1
def work():
    while True:
        down(15)
        [down(3) for _ in range(5)]
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
print("begun", flush=True)
time.sleep(600)
"""))
    cluster.wait("busy", "RUNNING")
    deadline = time.monotonic() + PATIENCE
    while "<module>" not in cluster.run("stacks", "busy", code=None).stdout:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    [asked] = json.loads(cluster.run("stacks", "busy", "-o", "json").stdout)
    for _ in range(500):
        os.kill(asked["pid"], signal.SIGRTMAX - 2)  # as each look does
        time.sleep(0.002)
    # Once its main thread sleeps again.
    def all_threads():
        told = cluster.run("stacks", "busy", "--all-threads")
        return told.stderr + told.stdout

    assert "work" not in await_words("only its main thread is shown", all_threads)
    assert cluster.get("busy")["status"] == "RUNNING"


def test_a_look_does_not_end_a_program_that_is_freeing_the_memory_of_its_frames(cluster):
    """CPython 3.11 gives the memory of a large generator's first frame back while it is still the current one: a signal to faulthandler ended the program at
    every tenth look or so."""
    cluster.submit("frees", "python " + program(cluster, """
exec("def large():\\n    yield\\n    " + " = ".join("v%d" % i for i in range(3000)) + " = None\\n")
def calls():
    while True:
        large()
calls()
"""))
    cluster.wait("frees", "RUNNING")
    await_true(lambda: "> calls  " in cluster.run("stacks", "frees", code=None).stdout)
    for look in range(60):
        told = cluster.run("stacks", "frees", *["--all-threads"] * (look % 2))
        assert "> calls  " in told.stdout and "answer" not in told.stdout and "main thread is shown" not in told.stderr
    assert cluster.get("frees")["status"] == "RUNNING"


def test_all_threads_of_a_program_whose_threads_sleep(cluster):
    cluster.submit("asleep", "python " + program(cluster, """
import threading, time
def idle():
    time.sleep(600)
threading.Thread(target=idle, daemon=True).start()
time.sleep(600)
"""))
    cluster.wait("asleep", "RUNNING")
    deadline = time.monotonic() + PATIENCE
    while "idle" not in cluster.run("stacks", "asleep", "--all-threads", code=None).stdout:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "idle" not in cluster.run("stacks", "asleep").stdout
