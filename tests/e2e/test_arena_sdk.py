"""Arena's own Python SDK, from the package index, with muster as its `arena`."""
import json
import os
import subprocess

import pytest

from conftest import ROOT

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
while (info := jobs.get("sdk", kind)).get_status() not in ends and time.monotonic() < deadline:
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
