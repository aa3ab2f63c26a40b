"""muster run --sweep against a real API server. No kubelet runs here: what the pod would run is run by the test, from its object, and
its log is served as a kubelet serves it."""
import json
import os
import subprocess

import pytest

from fake_servers import FakeKubelet
from running_operator import wait_until
from test_client import play_operator
from test_run_on_kubernetes import parts_of, run, unpack
from waiting import PATIENCE

NODE = "node-of-sweeps"
TRIAL = """import os, sys
rate = float(sys.argv[1])
print("loss", (rate - 2) ** 2)
with open(os.path.join(os.environ["MUSTER_RUN_DIR"], "model"), "a") as file:
    file.write("run\\n")
if rate > 2 and not os.path.exists("mended"):
    raise ValueError("diverged")
"""


@pytest.fixture
def code(muster):
    folder = muster.path("project")
    os.makedirs(folder)
    with open(os.path.join(folder, "trial.py"), "w") as file:
        file.write(TRIAL)
    return folder


@pytest.fixture(scope="module")
def kubelet(real_cluster):
    made = FakeKubelet(real_cluster, NODE)
    yield made
    made.close()


class Pod:
    """The sweep's pod: its init container has run; run() is its container's start."""

    def __init__(self, cluster, namespace, job, folder):
        self.code, self.spec = unpack(cluster, namespace, job, "Master", folder)
        self.container, = self.spec["containers"]
        self.volume = os.path.join(folder, "volume")

    def run(self, **options):
        env = {"PATH": "/usr/bin:/bin"}
        for variable in self.container["env"]:
            env[variable["name"]] = variable["value"].replace("/muster/run", self.volume)
        command = [word.replace("/muster/code", self.code) for word in self.container["command"]]
        folder = self.container["workingDir"].replace("/muster/code", self.code)
        return subprocess.run(command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)


def table(muster, namespace, *args):
    return [line.split() for line in muster.run("show", *args, "-n", namespace).stdout.splitlines()]


def test_a_sweep_is_one_job_and_the_best_is_found(real_cluster, kubelet, namespace, muster, code, tmp_path):
    done = run(muster, namespace, code, "--name=rates", "--sweep=lr=1,2,3", "--parallel=2", "trial.py", "{lr}")
    assert "without --run-volume the trials' files end with the pod" in done.stderr
    assert f"3 trials; `muster show rates -n {namespace}` has their table" in done.stderr
    play_operator(real_cluster, namespace, "rates", node=NODE)
    assert [line.split()[0] for line in muster.run("list", "-n", namespace).stdout.splitlines()] == ["NAME", "rates"]
    pod = Pod(real_cluster, namespace, "rates", str(tmp_path))
    ended = pod.run()
    assert ended.returncode == 1, ended.stdout
    lines = ended.stdout.splitlines()
    assert "[lr=2] loss 0.0" in lines
    assert lines[-2:] == ["3 of 3 trials ended, 1 of them failed", "  lr=3 exited with code 1: ValueError: diverged"]
    kubelet.write(namespace, "rates-master-0", "pytorch", *lines)
    assert [row[:3] for row in table(muster, namespace, "rates", "--best=loss")] == [
        ["TRIAL", "lr", "STATUS"], ["1", "2", "SUCCEEDED"], ["0", "1", "SUCCEEDED"], ["2", "3", "FAILED"]]
    trials = json.loads(muster.run("show", "rates", "-n", namespace, "-o", "json", "--best=loss", "--max").stdout)["trials"]
    assert {trial["values"]["lr"]: trial["metrics"]["loss"] for trial in trials} == {"1": 1, "2": 0, "3": 1}
    assert trials[-1]["values"] == {"lr": "2"} and trials[0]["seconds"] >= 0
    assert muster.run("history", "-n", namespace).stdout.splitlines()[1].endswith("python trial.py {lr} (3 trials)")

    with open(os.path.join(code, "mended"), "w"):
        pass
    muster.run("rerun", "rates", "--failed", "-d", "-n", namespace)
    again = Pod(real_cluster, namespace, "rates-2", str(tmp_path / "again"))
    assert again.run().stdout.splitlines()[-1] == "  lr=3 exited with code 1: ValueError: diverged", "the code that it had"
    muster.run("stop", "rates", "--wait=false", "-n", namespace)
    assert real_cluster.get("pytorchjob", "rates", "-n", namespace)["spec"]["runPolicy"]["suspend"] is True
    deleting = muster.start("delete", "rates", "-n", namespace)
    wait_until("the job is gone", lambda: "rates" not in [
        job["metadata"]["name"] for job in real_cluster.get("pytorchjobs", "-n", namespace)["items"]])
    assert deleting.poll() is None
    # What the garbage collector would do, which does not run here.
    real_cluster.kubectl("delete", "pod", "rates-master-0", "-n", namespace, "--force", "--grace-period=0")
    assert deleting.wait(60) == 0, deleting.communicate()
    assert not parts_of(real_cluster, namespace, "rates")
    assert "the log of its instance, which is not there any more" in muster.run(
        "show", "rates", "--best=loss", "-n", namespace, code=1).stderr


def test_with_a_run_volume_what_has_ended_is_not_run_again(real_cluster, namespace, muster, code, tmp_path):
    done = run(muster, namespace, code, "--name=kept", "--run-volume=disk", "--sweep=lr=1,3", "trial.py", "{lr}")
    assert "--run-volume" not in done.stderr
    pod = Pod(real_cluster, namespace, "kept", str(tmp_path))
    os.makedirs(pod.volume)
    mount, = [mount for mount in pod.container["volumeMounts"] if mount["mountPath"] == "/muster/run"]
    assert mount["subPath"].startswith("kept-")
    first, second = pod.run(), pod.run()
    assert first.returncode == second.returncode == 1, first.stdout
    told = [[line for line in output.splitlines() if line.startswith("trial ended: ")] for output in (first.stdout, second.stdout)]
    # Which of the two ends first is chance. All had ended: the one that failed is tried again.
    assert set(told[0]) < set(told[1]) and len(told[1]) == 3
    for trial, runs in (("0", 1), ("1", 2)):
        with open(os.path.join(pod.volume, "trials", trial, "files", "model")) as file:
            assert file.read() == "run\n" * runs


def test_a_sweep_is_a_sweep_for_who_did_not_submit_it(real_cluster, kubelet, namespace, muster, muster_as, code):
    run(muster, namespace, code, "--name=ours", "--sweep=lr=1,2", "trial.py", "{lr}")
    colleague = muster_as(real_cluster.kubeconfig)
    assert "the log of its instance, which is not there" in colleague.run("show", "ours", "--best=loss", "-n", namespace, code=1).stderr
    play_operator(real_cluster, namespace, "ours", node=NODE)
    kubelet.write(namespace, "ours-master-0", "pytorch", "[lr=1] loss 1",
                  'trial ended: {"index": 0, "values": {"lr": "1"}, "exitCode": 0, "metrics": {"loss": 1}, "started": 0, "ended": 1}')
    assert table(colleague, namespace, "ours", "--best=loss")[1][:3] == ["0", "1", "SUCCEEDED"]
    assert "there are loss" in colleague.run("show", "ours", "--best=acc", "-n", namespace, code=1).stderr
    assert "was not created by `muster run` on this machine" in colleague.run(
        "rerun", "ours", "--failed", "-n", namespace, code=1).stderr


def test_sweeps_that_cannot_be_are_refused_and_nothing_is_made(real_cluster, namespace, muster, code):
    for args, words in ((["--sweep=lr=1", "trial.py", "{rate}"], "{rate} in the command: no --sweep has that name"),
                        (["--sweep=i=1..10001", "true"], "more than 10000 trials: take fewer values, or say --large"),
                        (["--sweep=lr=1", "--nodes=2", "true"], "--sweep and --nodes contradict each other")):
        done = run(muster, namespace, code, "--name=no", *args, code=2)
        assert words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not real_cluster.get("pytorchjobs", "-n", namespace)["items"]
    assert not parts_of(real_cluster, namespace, "no")
