"""opctl on this machine: main and workers of a train.yaml on the embedded cluster."""
import os
import shutil

import pytest

from embedded_api import Api
from conftest import ROOT

EXAMPLE = os.path.join(ROOT, "examples", "ads-pytorch")
TRAIN = """
kind: distributed
spec:
  infrastructure:
    spec: {projectId: oci.xxxx.<project>, compartmentId: oci.xxxx.<c>, displayName: My Training, shapeName: VM.GPU2.1}
  cluster:
    kind: pytorch
    spec:
      image: iad.ocir.io/t/i:1
      workDir: oci://bucket@namespace/prefix
      config: {env: [{name: GREETING, value: hello}]}
      main: {name: the-main}
      worker: {name: the-worker, replicas: 2, config: {env: [{name: GREETING, value: hi}]}}
  runtime:
    spec: {entryPoint: train.py, args: [--x, 1]}
"""


@pytest.fixture
def opctl(cluster):
    os.symlink(cluster.binary, cluster.path("bin", "ads"))

    def run(*args, **options):
        binary, cluster.binary = cluster.binary, cluster.path("bin", "ads")
        try:
            return cluster.run("opctl", *args, **options)
        finally:
            cluster.binary = binary

    def write(name, text):
        with open(cluster.path("home", name), "w") as file:
            file.write(text)
    run.write = write
    return run


def test_main_and_workers_run_here(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    # All wait for the others' files: none ends before each has said its piece.
    opctl.write("train.py", "import os, sys, time\nr, n = os.environ['RANK'], int(os.environ['WORLD_SIZE'])\n"
                            "open('seen-' + r, 'w').close()\n"
                            "while len([f for f in os.listdir('.') if f.startswith('seen-')]) < n: time.sleep(0.02)\n"
                            "print('RANK', r, n, os.environ['OCI__MODE'], os.environ['GREETING'], sys.argv[1:])\n")
    done = opctl("run", "-f", "train.yaml", "-b", "local", "--job-info", "info.yaml")
    lines = sorted(line.split("] ", 1)[1] for line in done.stdout.splitlines() if "] RANK " in line
                   and "MODE" not in line)
    assert "RANK 0 3 MAIN hello ['--x', '1']" in lines
    assert "Job run info saved to info.yaml" in done.stderr and "has succeeded" in done.stderr
    shown = opctl("distributed-training", "show-config", "-f", "info.yaml", "--worker-info").stdout
    assert shown.startswith("Main Info:\nMASTER_ADDR: 127.0.0.1\n\n")
    assert shown.count("OCI__WORKER_IP: 127.0.0.1") == 2
    [job] = Api(cluster).call("GET", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs")["items"]
    name = job["metadata"]["name"]
    assert name.startswith("my-training-")
    for index in range(2):
        log = cluster.run("logs", name, "-i", f"{name}-worker-{index}").stdout
        assert f"RANK {index + 1} 3 WORKER hi ['--x', '1']" in log
    # The file is there: it is asked for.
    kept = cluster.run("opctl", "run", "-f", "train.yaml", "-b", "local", "--job-info", "info.yaml")
    assert "File info.yaml already exists. Overwrite the file? [yN]: " in kept.stdout


def test_a_failure_ends_all_and_is_the_exit_code(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    opctl.write("train.py", "import os, signal, sys\nif os.environ['RANK'] == '2': sys.exit(5)\nsignal.pause()\n")
    done = opctl("run", "-f", "train.yaml", "-b", "local", code=1, timeout=120)
    assert "Error Running the code: exit code 5" in done.stdout
    assert "has failed" in done.stderr
    cluster.await_no_process(timeout=60)


def test_what_cannot_run_here_is_refused(cluster, opctl):
    opctl.write("train.yaml", TRAIN.replace("pytorch", "dask"))
    assert "RuntimeError: Framework not supported: DASK" in opctl(
        "run", "-f", "train.yaml", "-b", "local", code=1).stderr
    opctl.write("train.yaml", TRAIN.replace("entryPoint: train.py, ", ""))
    assert "entryPoint is missing" in opctl("run", "-f", "train.yaml", "-b", "local", code=1).stderr
    opctl.write("train.yaml", TRAIN)
    assert 'the source folder "nowhere"' in opctl(
        "run", "-f", "train.yaml", "-b", "local", "-s", "nowhere", code=1).stderr
    assert not os.path.exists(cluster.path("state", "muster", "cluster.db"))


def test_the_example_trains(cluster, opctl):
    pytest.importorskip("torch", reason="python3-torch is in the demo set of scripts/install-packages")
    for name in ("train.py", "cifar.py", "train.yaml"):
        shutil.copy(os.path.join(EXAMPLE, name), cluster.path("home", name))
    opctl("distributed-training", "init", "--framework", "pytorch", "--version", "v1")
    dockerfile = "oci_dist_training_artifacts/pytorch/v1/Dockerfile"
    built = opctl("distributed-training", "build-image", "-t", "1.0", "-reg", "iad.ocir.io/t/i", "-df", dockerfile,
                  "--dry-run").stdout
    assert built == f"docker build --build-arg CODE_DIR=. -t iad.ocir.io/t/i:1.0 -f {dockerfile} .\n"
    assert "image: iad.ocir.io/t/i:1.0\n" in opctl("run", "-f", "train.yaml", "--dry-run").stdout
    done = opctl("run", "-f", "train.yaml", "-b", "local", timeout=600)
    assert "Rank 0: Finished Training" in done.stdout
    accuracy = [line for line in done.stdout.splitlines() if "Accuracy of the network on the 500 test images" in line]
    assert int(accuracy[0].split()[-2]) > 50
    assert done.stdout.count("Accuracy of") == 11
    assert os.path.getsize(cluster.path("home", "outputs", "cifar_net.pt")) > 100_000
