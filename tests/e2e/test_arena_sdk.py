"""Arena's own Python SDK, from the package index, with muster as its `arena`."""
import json
import os
import subprocess

import pytest

from places import ROOT
from waiting import PATIENCE

# The SDK logs on its own stderr; stdout is ours.
SCRIPT = """
import json, sys, time
from arenasdk.client.client import ArenaClient
from arenasdk.enums.types import ArenaErrorType, TrainingJobStatus, TrainingJobType
from arenasdk.exceptions.arena_exception import ArenaException
from arenasdk.logger.logger import LoggerBuilder
from arenasdk.training.pytorch_job_builder import PytorchJobBuilder

jobs = ArenaClient("", "default", "info", "arena-system").training()
said = {}
kind = TrainingJobType.PytorchTrainingJob
said["empty"] = jobs.list(kind, True)
said["missing"] = jobs.get("sdk", kind)
job = (PytorchJobBuilder().with_name("sdk").with_image("any").with_workers(2)
       .with_envs({"GREETING": "hello"}).with_clean_task_policy("None")
       .with_command("'echo $GREETING from $RANK; sleep 1'").build())
said["submitted"] = jobs.submit(job)
try:
    jobs.submit(job)
except ArenaException as error:
    said["twice"] = error.err_type.name
ends = (TrainingJobStatus.TrainingJobSucceeded, TrainingJobStatus.TrainingJobFailed)
deadline = time.monotonic() + 60
# The job has succeeded with its master: the worker may end a moment later.
while time.monotonic() < deadline:
    info = jobs.get("sdk", kind)
    if info.get_status() in ends and all(one.get_status() != "Running" for one in info.get_instances()):
        break
    time.sleep(0.1)
said["status"] = info.get_status().name
said["chief"] = info.get_chief_name()
said["instances"] = {one.get_name(): [one.get_status(), one.is_chief(), one.get_request_gpus()]
                     for one in info.get_instances()}
with open(sys.argv[1], "w") as log:
    info.get_instances()[0].get_logs(LoggerBuilder().with_accepter(log).with_follow()
                                     .with_since("5m").with_tail(10))
said["deleted"] = jobs.delete("sdk", TrainingJobType.AllTrainingJob)
said["gone"] = jobs.get("sdk", kind)
nodes = ArenaClient().nodes().all()
said["nodes"] = [len(nodes.get_normal_nodes()) + len(nodes.get_gpu_exclusive_nodes())]
said["pruned"] = jobs.prune("1h", True)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def python():
    """The interpreter of an environment in which the SDK is installed."""
    done = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "arena-sdk",
                           "arenasdk.client.client", "arenasdk", "setuptools"],
                          check=True, stdout=subprocess.PIPE, text=True)
    return os.path.join(done.stdout.strip(), "bin", "python")


def test_runs_a_job_through_arenas_python_sdk(cluster, python):
    os.symlink(cluster.binary, cluster.path("bin", "arena"))
    env = {**cluster.env, "PATH": cluster.path("bin") + ":" + cluster.env["PATH"]}
    done = subprocess.run([python, "-c", SCRIPT, cluster.path("log")], env=env, text=True,
                          capture_output=True, timeout=120, cwd=cluster.path("home"))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["empty"] == [] and said["missing"] is None and said["gone"] is None
    assert "pytorchjob.kubeflow.org/sdk created\n" in said["submitted"]
    assert said["twice"] == "TrainingJobExistError"
    assert said["status"] == "TrainingJobSucceeded"
    assert said["chief"] == "sdk-master-0"
    assert said["instances"] == {"sdk-master-0": ["Completed", True, 0],
                                 "sdk-worker-0": ["Completed", False, 0]}
    with open(cluster.path("log")) as log:
        assert "hello from 0" in log.read()
    assert said["deleted"] == ""  # Arena says it on stderr
    assert said["nodes"] == [1]
    assert said["pruned"] == "No job need to be deleted\n"


class JavaSdk:
    """Says what Arena's Java SDK says (its package cannot be had here): the global flags follow the
    verb, stderr comes with stdout, and what is to be JSON is all of it."""

    def __init__(self, cluster, config):
        self._env = {**cluster.env, "PATH": cluster.path("bin") + ":" + cluster.env["PATH"]}
        self._globals = ["--namespace=default", *([f"--config={config}"] if config else []),
                         "--loglevel=info", "--arena-namespace=arena-system"]

    def say(self, verb, *words, code=0):
        done = subprocess.run(["arena", *verb.split(), *self._globals, *words], env=self._env,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE)
        assert done.returncode == code, done.stdout
        return done.stdout


@pytest.mark.parametrize("through", ["socket", "kubeconfig"])
def test_answers_what_arenas_java_sdk_says(cluster, through):
    os.symlink(cluster.binary, cluster.path("bin", "arena"))
    config = None
    if through == "kubeconfig":
        cluster.run("up", "--listen")
        config = cluster.path("java-kubeconfig")
        with open(config, "w") as file:
            file.write(cluster.run("kubeconfig").stdout)
    arena = JavaSdk(cluster, config)
    config_file = cluster.path("settings.txt")
    with open(config_file, "w") as file:
        file.write("from a file\n")

    missing = arena.say("get", "--type=pytorchjob", "jv", "-o", "json", code=1)
    assert ("Not found training job jv in namespace default,"
            "please use 'arena submit' to create it.") in missing
    flags = ("pytorchjob", "--name=jv", "--image=any", "--workers=2", "--env=GREETING=hi there",
             "--label=team=a", "--annotation=note=b", "--selector=kubernetes.io/os=linux",
             f"--config-file={config_file}:/etc/jv/settings.txt", "--clean-task-policy=None",
             "--retry=1", "--gang", "--shell=bash")
    command = "echo $GREETING $RANK; cat /etc/jv/settings.txt"
    submitted = arena.say("submit", *flags, command)
    assert "pytorchjob.kubeflow.org/jv created\n" in submitted
    twice = arena.say("submit", *flags, command, code=1)
    assert "the job jv is already exist, please delete it first." in twice
    cluster.wait("jv", "SUCCEEDED")

    listed = json.loads(arena.say("list", "--type=pytorchjob", "-A", "-o", "json"))
    got = json.loads(arena.say("get", "--type=pytorchjob", "jv", "-o", "json"))
    for info in (listed[0], got):
        assert (info["name"], info["namespace"], info["status"], info["trainer"]) == (
            "jv", "default", "SUCCEEDED", "pytorchjob")
        assert info["chiefName"] == "jv-master-0" and info["priority"] == "N/A"
        assert (info["requestGPUs"], info["allocatedGPUs"]) == (0, 0)
        assert isinstance(info["creationTimestamp"], int) and isinstance(info["duration"], str)
        for one in info["instances"]:
            assert set(one) >= {"name", "ip", "age", "status", "node", "nodeIP", "requestGPUs",
                                "chief", "gpuMetrics"}
            assert isinstance(one["chief"], bool) and isinstance(one["requestGPUs"], int)
    assert [one["name"] for one in got["instances"]] == ["jv-master-0", "jv-worker-0"]
    assert cluster.run("logs", "jv").stdout == "hi there 0\nfrom a file\n"

    nodes = json.loads(arena.say("top node -d -o json"))
    assert sum(len(nodes[kind] or []) for kind in ("normalNodes", "gpuExclusiveNodes")) == 1
    mode, count = ("-m=n", len(nodes["normalNodes"] or [])) if nodes["normalNodes"] else (
        "-m=e", len(nodes["gpuExclusiveNodes"]))
    filtered = json.loads(arena.say("top node -d -o json", mode))
    assert len(filtered["normalNodes"] or filtered["gpuExclusiveNodes"]) == count
    assert "not found nodes" in arena.say("top node -d -o json", "-m=s", code=1)
    assert "No job need to be deleted" in arena.say("prune", "--since=1h", "-A")
    arena.say("delete", "--type=pytorchjob", "jv")
    arena.say("delete", "jv")  # one that is not there is no failure
    assert json.loads(arena.say("list", "-o", "json")) == []
