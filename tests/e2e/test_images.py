"""muster image: directories that stand for images, for every way to submit."""
import os
import shutil
import subprocess

import pytest

from waiting import PATIENCE

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: {name}}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: {image}
            command: {command}
"""
USAGE, FAILURE = 2, 1


def apply(cluster, name, image, command):
    path = cluster.path("home", f"{name}.yaml")
    with open(path, "w") as file:
        file.write(JOB.format(name=name, image=image, command=command))
    return cluster.run("apply", "-f", path)


def write_code(cluster):
    folder = cluster.path("code")
    os.mkdir(folder)
    with open(os.path.join(folder, "main.py"), "w") as file:
        file.write("import os\nprint('from', os.getcwd())\n")
    return folder


@pytest.fixture
def code(cluster):
    return write_code(cluster)


@pytest.mark.parametrize("user", ["cluster", "nobody_cluster"])
def test_a_directory_stands_for_an_image(user, request):
    cluster = request.getfixturevalue(user)
    code = write_code(cluster)
    done = cluster.run("image", "map", "team/train:1", code)
    assert done.stdout == f"image team/train:1 mapped to {code}\n"
    said = apply(cluster, "applied", "team/train:1", "[python, main.py]").stderr
    assert f"directory {code} takes the place of image team/train:1" in said
    cluster.wait("applied", "SUCCEEDED")
    assert cluster.run("logs", "applied").stdout == f"from {code}\n"

    # --workdir: where the image's maker put the code; it holds for absolute paths too.
    cluster.run("image", "map", "team/train:1", code, "--workdir", "/opt/muster-e2e")
    apply(cluster, "there", "team/train:1", "[python, /opt/muster-e2e/main.py]")
    cluster.wait("there", "SUCCEEDED")
    assert cluster.run("logs", "there").stdout == "from /opt/muster-e2e\n"
    assert not os.path.exists("/opt/muster-e2e")
    rows = [line.split() for line in cluster.run("image", "list").stdout.splitlines()]
    assert rows == [["IMAGE", "DIRECTORY", "WORKDIR"], ["team/train:1", code, "/opt/muster-e2e"]]

    # It outlives the daemon.
    cluster.run("down")
    cluster.submit("submitted", "python main.py", "--image=team/train:1")
    cluster.wait("submitted", "SUCCEEDED")
    assert cluster.run("logs", "submitted").stdout == "from /opt/muster-e2e\n"
    assert cluster.run("image", "unmap", "team/train:1").stdout == "image team/train:1 unmapped\n"
    assert cluster.run("image", "list").stdout.splitlines()[1:] == []


@pytest.mark.skipif(not shutil.which("kubectl"), reason="no kubectl here")
def test_kubectl_apply_finds_the_directory_too(cluster, code):
    cluster.run("image", "map", "train", code)
    cluster.run("up", "--listen")
    config = cluster.path("home", "kubeconfig")
    with open(config, "w") as file:
        file.write(cluster.run("kubeconfig").stdout)
    text = JOB.format(name="by-kubectl", image="train:latest", command="[python, main.py]")
    done = subprocess.run(["kubectl", "--kubeconfig", config, "apply", "-f", "-"], input=text, text=True,
                          capture_output=True, timeout=PATIENCE, env=cluster.env)
    assert done.returncode == 0, done.stderr
    assert f"Warning: directory {code} takes the place of image train:latest" in done.stderr
    cluster.wait("by-kubectl", "SUCCEEDED")
    assert cluster.run("logs", "by-kubectl").stdout == f"from {code}\n"


@pytest.mark.parametrize("command", ["[python, main.py]", '[sh, -c, "python main.py"]', "[./main.sh]"])
def test_an_unmapped_image_is_said_where_the_program_is_missed(cluster, command):
    apply(cluster, "missing", "team/train:1", command)
    cluster.wait("missing", "FAILED")
    words = "the image team/train:1 is not used on this machine"
    shown = cluster.run("get", "missing").stdout
    assert words in shown and "muster image map team/train:1 DIR" in shown
    assert words in cluster.run("logs", "missing").stdout


def test_a_directory_that_has_gone_is_said(cluster, code):
    cluster.run("image", "map", "train", code)
    shutil.rmtree(code)
    apply(cluster, "gone", "train", "[python, main.py]")
    job = cluster.wait("gone", "PENDING")
    while "does not exist" not in (shown := cluster.run("get", "gone").stdout):
        assert job["status"] == "PENDING", shown
        job = cluster.get("gone")
    assert code in shown and "muster image map train DIR" in shown


def test_commands_at_once_lose_nothing(cluster, code):
    started = [cluster.start("image", "map", f"image{number}", code) for number in range(8)]
    assert [process.wait(60) for process in started] == [0] * 8
    for process in started:
        process.communicate()
    listed = cluster.run("image", "list").stdout.splitlines()[1:]
    assert [line.split()[0] for line in listed] == [f"image{number}:latest" for number in range(8)]


@pytest.mark.parametrize("args,code,words", [
    (["map", "train"], USAGE, "DIR is missing: muster image map IMAGE DIR"),
    (["map", "two words", "."], USAGE, '"two words" is not a valid image name'),
    (["map", "host", "."], USAGE, "means this machine's own environment"),
    (["map", "train", "."], 0, "image train:latest mapped to"),
    (["map", "train", "/does/not/exist"], FAILURE, '"/does/not/exist": No such file or directory'),
    (["map", "train", "/etc/passwd"], FAILURE, '"/etc/passwd" is not a directory'),
    (["map", "train", ".", "--workdir=opt"], USAGE, '--workdir is invalid: "opt" must be absolute'),
    (["map", "train", ".", "--workdir=/a/../b"], USAGE, "--workdir is invalid"),
    (["unmap", "absent"], FAILURE, "the image absent is not mapped to a directory"),
    (["unmap"], USAGE, "IMAGE is missing: muster image unmap IMAGE")])
def test_one_clear_line(cluster, args, code, words):
    done = cluster.run("image", *args, code=code)
    assert words in done.stdout + done.stderr


def test_another_cluster_has_its_images_itself(cluster):
    config = cluster.path("home", "kubeconfig")
    with open(config, "w") as file:
        file.write("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                   "contexts: [{name: c, context: {cluster: c}}]\n")
    done = cluster.run("image", "map", "train", ".", "--kubeconfig", config, code=FAILURE,
                       env={"MUSTER_CLUSTER": ""})
    assert "on the embedded cluster only" in done.stderr
