"""opctl on this machine: main and workers of a train.yaml on the embedded cluster."""
import glob
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest
import yaml

from embedded_api import Api
from places import ROOT
from test_tensorboard import fetch, use_python
from waiting import PATIENCE

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
    assert lines == ["RANK 0 3 MAIN hello ['--x', '1']", "RANK 1 3 WORKER hi ['--x', '1']",
                     "RANK 2 3 WORKER hi ['--x', '1']"]
    assert done.stdout.count("Exiting with exit code: 0") == 3
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


def test_the_nodes_sign_in_as_the_user(cluster, opctl):
    opctl.write("train.py", "import os\nprint('LOGIN', os.environ['OCI_IAM_TYPE'], os.environ['OCI_CONFIG_LOCATION'],"
                            " os.environ['OCI_CONFIG_PROFILE'])\n")

    def logins(*args):
        out = opctl("run", "-f", "train.yaml", "-b", "local", *args).stdout
        return {line.split("] LOGIN ", 1)[1] for line in out.splitlines() if "] LOGIN " in line}
    opctl.write("train.yaml", TRAIN)
    config = cluster.path("home", ".oci", "config")
    assert logins() == {f"api_key {config} DEFAULT"}
    assert logins("--oci-profile", "P", "-a", "security_token", "--oci-config", "/c") == {"security_token /c P"}
    opctl.write("train.yaml", TRAIN.replace("{name: GREETING, value: hello}", "{name: OCI_IAM_TYPE, value: mine}"))
    assert logins() == {f"mine {config} DEFAULT"}


def test_a_run_on_this_machine_needs_no_image(cluster, opctl):
    opctl.write("train.py", "")
    opctl.write("train.yaml", TRAIN.replace("iad.ocir.io/t/i:1", '"@image"'))
    assert "has succeeded" in opctl("run", "-f", "train.yaml", "-b", "local").stderr
    assert "tag arg is missing" in opctl("run", "-f", "train.yaml", "--dry-run", code=1).stderr


@pytest.mark.parametrize("path", ["/code/train.py", "/code/below/train.py"])
def test_the_entry_point_of_an_image_is_found_here(cluster, opctl, path):
    os.makedirs(cluster.path("home", "below"))
    for name in ("train.py", "below/train.py"):
        opctl.write(name, f"print('RAN {name}')\n")
    opctl.write("train.yaml", TRAIN.replace("entryPoint: train.py", f"entryPoint: {path}"))
    out = opctl("run", "-f", "train.yaml", "-b", "local").stdout
    assert out.count(f"] RAN {path.removeprefix('/code/')}\n") == 3


def test_what_it_writes_has_the_umask_of_who_ran_it(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    opctl.write("train.py", "import os\nopen('result-' + os.environ['RANK'], 'w').close()\n")
    process = cluster.start("opctl", "run", "-f", "train.yaml", "-b", "local", umask=0o002)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out + err
    for rank in range(3):
        assert os.stat(cluster.path("home", f"result-{rank}")).st_mode & 0o777 == 0o664


def test_a_failure_ends_all_and_is_the_exit_code(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    opctl.write("train.py", "import os, signal, sys\nif os.environ['RANK'] == '2': sys.exit(5)\nsignal.pause()\n")
    done = opctl("run", "-f", "train.yaml", "-b", "local", code=1, timeout=120)
    assert "Error Running the code: exit code 5" in done.stdout
    assert "has failed" in done.stderr
    cluster.await_no_process(timeout=PATIENCE)


def test_a_worker_that_fails_after_the_main_node_counts(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    opctl.write("train.py", "import os, sys, time\nif os.environ['RANK'] == '0': sys.exit()\n"
                            "if os.environ['RANK'] == '1': time.sleep(0.5)\nsys.exit(4 * int(os.environ['RANK'] == '1'))\n")
    done = opctl("run", "-f", "train.yaml", "-b", "local", code=1, timeout=120)
    assert "Error Running the code: exit code 4" in done.stdout and "has failed" in done.stderr


def test_a_node_that_is_killed_ends_the_job(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    # Its launcher, when the main node has ended and only waits for the others.
    opctl.write("train.py", "import os, signal, time\nif os.environ['RANK'] == '0': raise SystemExit\n"
                            "if os.environ['RANK'] == '2': signal.pause()\n"
                            "while not os.path.exists(os.environ['OCI__LOCAL_FOLDER'] + '/nodes/0.ended'): time.sleep(0.02)\n"
                            "os.kill(os.getppid(), signal.SIGKILL)\n")
    done = opctl("run", "-f", "train.yaml", "-b", "local", code=1, timeout=120)
    # The others end a moment after it: the cluster may hear of one of them first.
    assert "was killed" in done.stderr or "exited with code 1" in done.stderr, done.stderr
    assert "has failed" in done.stderr
    cluster.await_no_process(timeout=PATIENCE)


def test_cancel_ends_what_runs_here_without_the_cloud(cluster, opctl):
    opctl.write("train.yaml", TRAIN)
    opctl.write("train.py", "import os, signal\nopen('seen-' + os.environ['RANK'], 'w').close()\nsignal.pause()\n")
    Api(cluster).call("POST", "/api/v1/namespaces",
                      {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    running = cluster.start("opctl", "run", "-f", "train.yaml", "-b", "local", "--namespace", "team",
                            "--job-info", "info.yaml")
    deadline = time.monotonic() + 120
    while len(glob.glob(cluster.path("home", "seen-*"))) < 3:
        assert running.poll() is None and time.monotonic() < deadline, running.communicate()
        time.sleep(0.05)
    with open(cluster.path("home", "info.yaml")) as file:
        name = yaml.safe_load(file)["jobId"]
    done = opctl("distributed-training", "cancel", "-f", "info.yaml")
    assert sorted(done.stdout.splitlines()) == [
        f"Cancelling Job Run: {name}-{node}" for node in ("master-0", "worker-0", "worker-1")]
    cluster.await_no_process()
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 1
    # Over or gone, and of no known kind.
    assert opctl("distributed-training", "cancel", "-j", name).stdout == f"No Job runs found for : {name}\n"
    assert "typo is not an OCID" in opctl("distributed-training", "cancel", "-j", "typo", code=1).stderr


def test_what_cannot_run_here_is_refused(cluster, opctl):
    opctl.write("train.yaml", TRAIN.replace("pytorch", "dask"))
    assert "RuntimeError: Framework not supported: DASK" in opctl(
        "run", "-f", "train.yaml", "-b", "local", code=1).stderr
    opctl.write("train.yaml", TRAIN.replace("      main:", "      ps: {replicas: 1}\n      main:"))
    assert "leave out spec.cluster.spec.ps" in opctl("run", "-f", "train.yaml", "-b", "local", code=1).stderr
    opctl.write("train.yaml", TRAIN.replace("entryPoint: train.py, ", ""))
    assert "entryPoint is missing" in opctl("run", "-f", "train.yaml", "-b", "local", code=1).stderr
    opctl.write("train.yaml", TRAIN)
    assert 'the source folder "nowhere"' in opctl(
        "run", "-f", "train.yaml", "-b", "local", "-s", "nowhere", code=1).stderr
    assert not os.path.exists(cluster.path("state", "muster", "cluster.db"))


def one_thread(text):
    """Of a train.yaml: as tests/support/places.py says."""
    assert "        env:\n" in text
    return text.replace("        env:\n", "        env:\n          - name: OMP_NUM_THREADS\n            value: '1'\n")


@pytest.mark.parametrize("epochs, accuracy", [(1, 15), pytest.param(2, 50, marks=pytest.mark.soak)])
def test_the_example_trains(cluster, opctl, epochs, accuracy):
    pytest.importorskip("torch", reason="python3-torch is in the demo set of scripts/install-packages")
    for name in ("train.py", "cifar.py", "train.yaml"):
        shutil.copy(os.path.join(EXAMPLE, name), cluster.path("home", name))
    opctl("distributed-training", "init", "--framework", "pytorch", "--version", "v1")
    dockerfile = "oci_dist_training_artifacts/pytorch/v1/Dockerfile"
    # Two epochs as they stand, or one, with the profiler.
    with open(cluster.path("home", "train.yaml")) as file:
        text = file.read()
    assert "- --epochs\n        - 2\n" in text
    text = text.replace("- --epochs\n        - 2\n", f"- --epochs\n        - {epochs}\n")
    opctl.write("train.yaml", one_thread(text).replace("args:\n", "args:\n        - --profile\n"))
    built = opctl("distributed-training", "build-image", "-t", "1.0", "-reg", "iad.ocir.io/t/i", "-df", dockerfile,
                  "--dry-run").stdout
    assert built == f"docker build --build-arg CODE_DIR=. -t iad.ocir.io/t/i:1.0 -f {dockerfile} .\n"
    assert "image: iad.ocir.io/t/i:1.0\n" in opctl("run", "-f", "train.yaml", "--dry-run").stdout
    done = opctl("run", "-f", "train.yaml", "-b", "local", timeout=600)
    assert "Rank 0: Finished Training" in done.stdout
    reached, = [line for line in done.stdout.splitlines() if "Accuracy of the network on the 500 test images" in line]
    assert int(reached.split()[-2]) > accuracy
    assert done.stdout.count("Accuracy of") == 11
    assert os.path.getsize(cluster.path("home", "outputs", "cifar_net.pt")) > 100_000
    # The traces of all nodes lie side by side where TensorBoard is pointed at.
    traces = glob.glob(cluster.path("state", "muster", "ads", "*", "work", "sync", "*", "*", "logs", "*.pt.trace.json"))
    assert len({trace.split("/")[-3] for trace in traces}) == 2


def python_with_kineto():
    """An interpreter whose PyTorch can write traces that the plug-in reads; Debian's is built without."""
    for python in (os.environ.get("MUSTER_NEWEST_TORCH", "/var/cache/muster/torch-2.15/bin/python"), "/usr/bin/python3"):
        probe = [python, "-c", "import torch.autograd.profiler as p; assert p.kineto_available()"]
        if os.path.exists(python) and subprocess.run(probe, capture_output=True).returncode == 0:
            return python
    pytest.skip("no PyTorch with Kineto here: scripts/python-environment torch-2.15 torch torch==2.15.0 numpy (3 GB)")


# The plug-in's page is in a frame of its own.
PROFILER_PAGE = ("return Array.from(document.querySelectorAll('iframe'))"
                 ".map(frame => frame.contentDocument?.body?.innerText ?? '').join('\\n')")


def test_the_profile_is_seen(cluster, opctl, chromium):
    """The document's last part: traced by the example, synced, opened in TensorBoard with torch-tb-profiler."""
    use_python(cluster, python_with_kineto())
    for name in ("train.py", "cifar.py", "train.yaml"):
        shutil.copy(os.path.join(EXAMPLE, name), cluster.path("home", name))
    with open(cluster.path("home", "train.yaml")) as file:
        text = file.read()
    assert "- --epochs\n        - 2\n" in text
    # Of the steps that are traced there are five: 20 images, two a step, for two nodes.
    images = cluster.path("home", "cifar", "cifar-10-batches-bin")
    os.makedirs(images)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        with open(os.path.join(images, f"{name}.bin"), "wb") as file:
            file.write(b"".join(bytes([label]) + bytes(range(256)) * 12 for label in range(4)))
    words = ["--profile", "--epochs", "1", "--batch-size", "2", "--data-dir", cluster.path("home", "cifar")]
    opctl.write("train.yaml", one_thread(text).replace("- --epochs\n        - 2\n", "\n        ".join(f"- '{word}'" for word in words) + "\n"))
    opctl("run", "-f", "train.yaml", "-b", "local", "--image", "any", "-t", "1", "-reg", "a/b", "-nobuild", timeout=600)
    [job] = glob.glob(cluster.path("state", "muster", "ads", "*", "work", "sync", "*"))
    runs = sorted(os.path.relpath(folder, job) for folder in glob.glob(os.path.join(job, "*", "logs")))
    assert len(runs) == 2

    environment = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "tb-profiler", "torch_tb_profiler",
                                  "torch-tb-profiler", "tensorboard", "setuptools"], text=True, stdout=subprocess.PIPE,
                                 check=True).stdout.splitlines()[-1]
    board = subprocess.Popen([os.path.join(environment, "bin", "python"), "-m", "tensorboard.main", "--logdir", job,
                              "--port", "0"], stderr=subprocess.PIPE, text=True, env=cluster.env, start_new_session=True)
    try:
        url = next(match[1] for match in (re.search(r" at (http://\S+)", line) for line in board.stderr) if match)
        drain = threading.Thread(target=board.stderr.read, daemon=True)
        drain.start()
        plugin = url.rstrip("/") + "/data/plugin/pytorch_profiler"
        deadline = time.monotonic() + 120
        while json.loads(fetch(plugin + "/runs"))["runs"] != runs:
            assert time.monotonic() < deadline, fetch(plugin + "/runs")
            time.sleep(0.1)
        with chromium.window() as page:
            page.open(url + "#pytorch_profiler")
            shown = page.wait(f"const text = (() => {{{PROFILER_PAGE}}})(); return text.includes('Overview') && text")
        assert any(run in shown for run in runs), shown
        # The steps themselves; the page draws them with a script of the Internet's.
        for run in runs:
            query = "run=" + urllib.parse.quote(run, safe="")
            [worker] = json.loads(fetch(f"{plugin}/workers?{query}&view=Overview"))
            [span] = json.loads(fetch(f"{plugin}/spans?{query}&worker={worker}"))
            overview = json.loads(fetch(f"{plugin}/overview?{query}&worker={worker}&span={span}&view=Overview"))
            assert len(overview["steps"]["rows"]) == 3
            traced = fetch(f"{plugin}/operation/table?{query}&worker={worker}&span={span}&group_by=Operation")
            assert b"aten::conv2d" in traced
    finally:
        os.killpg(board.pid, signal.SIGKILL)  # it has processes of its own
        board.wait()


CIFAR_LOADS = """
import cifar, json, sys
for folder in sys.argv[1:]:
    try:
        train, test, source = cifar.load(folder)
        print(json.dumps([source, len(train), len(test), train.labels[:2].tolist(), test.labels[:2].tolist(),
                          train.images[0, :, 0, 0].tolist(), round(train[0][0][0, 0, 0].item(), 3)]))
    except Exception as error:
        print(json.dumps(str(error)))
"""


def cifar_loads(*folders):
    """What the example finds in each folder: images' shapes, and the first labels and pixels; or its error."""
    done = subprocess.run([sys.executable, "-c", CIFAR_LOADS, *map(str, folders)], cwd=EXAMPLE, capture_output=True, text=True,
                          timeout=300, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_example_reads_both_forms_of_cifar(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    labels = [3, 9]
    data = numpy.arange(2 * 3072, dtype=numpy.uint32).astype(numpy.uint8).reshape(2, 3072)
    expected = [10, 2, labels, labels, [data[0, 0], data[0, 1024], data[0, 2048]], -1.0]
    expected = yaml.safe_load(str(expected).replace("np.uint8(", "").replace(")", ""))

    binary = tmp_path / "binary" / "cifar-10-batches-bin"
    python = tmp_path / "python" / "cifar-10-batches-py"
    for folder in (binary, python):
        folder.mkdir(parents=True)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        records = b"".join(bytes([label]) + row.tobytes() for label, row in zip(labels, data))
        (binary / f"{name}.bin").write_bytes(records)
        # As Python 2 wrote them: every text is bytes.
        (python / name).write_bytes(pickle.dumps({b"data": data, b"labels": labels}, protocol=2))
    # The archive as it is published.
    shutil.make_archive(str(tmp_path / "cifar-10-python"), "gztar", str(tmp_path / "python"), "cifar-10-batches-py")
    (tmp_path / "packed").mkdir()
    shutil.move(str(tmp_path / "cifar-10-python.tar.gz"), str(tmp_path / "packed"))
    # Cut short, and one that would run something.
    short, bad = tmp_path / "short", tmp_path / "bad"
    shutil.copytree(tmp_path / "binary", short)
    (short / binary.name / "data_batch_3.bin").write_bytes(b"\0" * 100)
    shutil.copytree(tmp_path / "python", bad)
    (bad / python.name / "data_batch_1").write_bytes(pickle.dumps({b"data": os.getcwd}, protocol=2))
    *found, of_short, of_bad = cifar_loads(tmp_path / "binary", tmp_path / "python", tmp_path / "packed", short, bad)
    assert [each[1:] for each in found] == [expected] * 3, found
    assert "is not a whole number of records: 100 bytes" in of_short
    assert "a batch of CIFAR-10 holds no" in of_bad


def test_kubernetes_gets_the_image_that_was_built(cluster, opctl):
    tools = cluster.path("tools")
    os.makedirs(tools)
    with open(os.path.join(tools, "docker"), "w") as file:
        file.write('#!/bin/sh\necho "docker $*" >> "$ARGV"\n[ "$1" != manifest ]\n')
    os.chmod(os.path.join(tools, "docker"), 0o755)
    argv = cluster.path("argv")
    env = {"PATH": tools + ":" + cluster.env["PATH"], "ARGV": argv}
    opctl.write("train.yaml", TRAIN)
    # The embedded cluster stands for Kubernetes here: tests/integration has a real one.
    done = opctl("run", "-f", "train.yaml", "-b", "kubernetes", "-df", "D", "--auto_increment", "-q", env=env)
    with open(argv) as file:
        assert file.read() == ("docker build --build-arg CODE_DIR=. -t iad.ocir.io/t/i:1_v_1 -f D .\n"
                               "docker push iad.ocir.io/t/i:1_v_1\n")
    info = yaml.safe_load(done.stdout)
    name = info["jobId"]
    assert info["mainJobRunId"] == {"the-main": f"{name}-master-0"}
    assert f"# $ muster logs {name} --all -f -n default\n" in done.stdout
    assert "running image: iad.ocir.io/t/i:1_v_1\n" in done.stderr
    job = Api(cluster).call("GET", f"/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/{name}")
    [container] = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert container["image"] == "iad.ocir.io/t/i:1_v_1" and "command" not in container
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    os.remove(argv)
    # --nopush: the registry has it not; what is answered decides.
    flags = ("run", "-f", "train.yaml", "-b", "kubernetes", "--nopush")
    refused = opctl(*flags, env=env, code=1)
    assert "⚠ Image: iad.ocir.io/t/i:1 does not exist in registry\n" in refused.stdout
    assert refused.stderr.endswith("RuntimeError: Stopping the execution as image doesn't exist in OCI registry \n")
    pushed = subprocess.run([cluster.binary, "opctl", *flags], env={**cluster.env, **env}, input="Y\n", text=True,
                            cwd=cluster.path("home"), capture_output=True, timeout=120)
    assert pushed.returncode == 0, pushed.stderr
    assert "✅ pushing image to registry\npushed iad.ocir.io/t/i:1\nrunning image: iad.ocir.io/t/i:1\n" in pushed.stdout
