"""local.images: podman - pods run in their images, made here from nothing but a static busybox. (That of
examples/mnist-pytorchjob/Dockerfile takes minutes: scripts/example-image, `make soak`.)"""
import io
import os
import shutil
import subprocess
import tarfile
import tempfile

import pytest

from embedded_muster import Cluster
from places import ROOT
from waiting import await_true

IMAGE = "localhost/muster-e2e:1"


def podman_settings(folder, driver="vfs"):
    """Images of the test's own; no limits that a container of CI may not raise, and a runtime that knows
    every layout of cgroups."""
    with open(os.path.join(folder, "storage.conf"), "w") as file:
        file.write(f'[storage]\ndriver = "{driver}"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n')
    with open(os.path.join(folder, "containers.conf"), "w") as file:
        file.write('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\nnetns = "host"\n'
                   '[engine]\nevents_logger = "none"\ncgroup_manager = "cgroupfs"\n'
                   + ('runtime = "runc"\n' if shutil.which("runc") else ""))
    return {"CONTAINERS_STORAGE_CONF": os.path.join(folder, "storage.conf"),
            "CONTAINERS_CONF": os.path.join(folder, "containers.conf")}


def image_archive():
    """A root file system: a shell, /opt/code as the WORKDIR's content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        def add(name, content, mode=0o755):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            archive.addfile(info, io.BytesIO(content))
        with open(shutil.which("busybox"), "rb") as file:
            add("bin/busybox", file.read())
        for name in ("sh", "cat", "sleep", "pwd", "ls", "hostname", "env", "grep", "df"):
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        add("opt/code/train.sh", b"echo in $(pwd) as rank $RANK of $WORLD_SIZE at $MASTER_ADDR\n"
                                 b"grep -q \"127.0.0.1.*$MASTER_ADDR\" /etc/hosts && echo named\n")
        add("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n", 0o644)
        add("only-in-the-image", b"yes\n", 0o644)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def podman():
    for program in ("podman", "busybox"):
        if not shutil.which(program):
            pytest.skip(f"no {program} here")
    folder = tempfile.mkdtemp(prefix="muster-podman-", dir="/tmp")
    env = {**os.environ, **podman_settings(folder)}

    def run(*args, **options):
        return subprocess.run(["podman", *args], env=env, capture_output=True, timeout=120, **options)
    made = run("import", "--change=WORKDIR /opt/code", "--change=CMD [\"sh\", \"train.sh\"]", "-", IMAGE,
               input=image_archive())
    probe = run("run", "--rm", IMAGE, "cat", "/only-in-the-image") if made.returncode == 0 else made
    run.settings = {name: env[name] for name in ("CONTAINERS_STORAGE_CONF", "CONTAINERS_CONF")}
    if probe.stdout == b"yes\n":
        yield run
        run("system", "reset", "--force")
    shutil.rmtree(folder, ignore_errors=True)
    if probe.stdout != b"yes\n":
        pytest.skip("podman cannot run a container here: " + probe.stderr.decode().strip())


@pytest.fixture
def cluster(podman):
    made = Cluster()
    with open(made.path("config/muster/config.yaml"), "a") as file:
        file.write("  images: podman\n")
    made.env.update(podman.settings)
    yield made
    made.close()
    assert podman("ps", "--all", "--quiet").stdout == b""  # nothing is left with podman


def job(cluster, name, container, workers=1, image=IMAGE):
    replica = (f"restartPolicy: Never, template: {{spec: {{terminationGracePeriodSeconds: 2, containers: "
               f"[{{name: pytorch, image: '{image}', {container}}}]}}}}")
    path = cluster.path("home", f"{name}.yaml")
    with open(path, "w") as file:
        file.write(f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: {name}}}\nspec:\n"
                   f"  pytorchReplicaSpecs:\n    Master: {{replicas: 1, {replica}}}\n")
        if workers:
            file.write(f"    Worker: {{replicas: {workers}, {replica}}}\n")
    return cluster.run("apply", "-f", path)


def test_pods_run_in_their_image(cluster):
    said = job(cluster, "mnist", 'command: [sh, -c, "cat /only-in-the-image; sh train.sh"]').stderr
    assert f"podman runs image {IMAGE}" in said
    cluster.wait("mnist", "SUCCEEDED")
    for rank, pod in enumerate(("mnist-master-0", "mnist-worker-0")):
        log = cluster.run("logs", "mnist", "-i", pod).stdout
        assert log == f"yes\nin /opt/code as rank {rank} of 2 at mnist-master-0\nnamed\n"


def test_an_images_own_command_and_variables_and_volumes(cluster):
    os.mkdir(cluster.path("data"))
    with open(cluster.path("data", "file"), "w") as file:
        file.write("from the volume\n")
    cluster.run("data", "create", "volume", "--path", cluster.path("data"))
    job(cluster, "own", "imagePullPolicy: Never", workers=0)
    cluster.wait("own", "SUCCEEDED")
    assert cluster.run("logs", "own").stdout.startswith("in /opt/code as rank 0 of 1")
    cluster.submit("vol", "cat /data/file; echo $TOKEN; df /dev/shm | grep -c 65536; exit 3",
                   f"--image={IMAGE}", "--data=volume:/data", "--env=TOKEN=two words", "--share-memory=64Mi",
                   "--image-pull-policy=IfNotPresent", "--shell=sh")
    failed = cluster.wait("vol", "FAILED")
    assert cluster.run("logs", "vol").stdout == "from the volume\ntwo words\n1\n"
    assert "exited with code 3" in cluster.run("get", "vol").stdout, failed


def test_exec_runs_in_the_container_and_delete_ends_it(cluster, podman):
    job(cluster, "long", 'command: [sh, -c, "trap : TERM; echo started; while :; do sleep 1000; done"]',
        workers=0)
    cluster.wait("long", "RUNNING")
    await_true(lambda: cluster.run("logs", "long", code=None).stdout == "started\n")
    done = cluster.run("exec", "long", "--", "sh", "-c", "cat /only-in-the-image; hostname; exit 7", code=7)
    assert done.stdout == "yes\nlong-master-0\n"
    cluster.run("delete", "long")
    await_true(lambda: not podman("ps", "--all", "--quiet").stdout, "podman still has the container")
    cluster.await_no_process()


def test_an_image_that_podman_has_not_is_its_words(cluster):
    job(cluster, "absent", "imagePullPolicy: Never", workers=0, image="localhost/no-such-image:1")
    cluster.wait("absent", "FAILED")
    assert "localhost/no-such-image:1" in cluster.run("get", "absent").stdout


def test_another_value_is_refused(cluster):
    path = cluster.path("config/muster/config.yaml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("images: podman", "images: docker"))
    done = cluster.run("list", code=1)
    assert 'local.images: "docker" must be host or podman' in done.stderr
    with open(path, "w") as file:
        file.write(text)


@pytest.mark.skipif(not os.environ.get("MUSTER_EXAMPLE_IMAGE"),
                    reason="makes an image of 1.7 GB from Debian's packages, in minutes: make soak")
def test_the_image_of_the_example(tmp_path):
    folder = tempfile.mkdtemp(prefix="muster-podman-", dir="/tmp")
    settings = podman_settings(folder, "overlay")
    made = Cluster()
    try:
        subprocess.run([os.path.join(ROOT, "scripts", "example-image")], check=True, timeout=3000,
                       env={**os.environ, **settings})
        with open(made.path("config/muster/config.yaml"), "a") as file:
            file.write("  images: podman\n")
        made.env.update(settings)
        made.run("apply", "-f", os.path.join(ROOT, "examples", "mnist-pytorchjob", "yamls",
                                             "mnist_ddp_launch_host.yaml"))
        made.wait("mnist-ddp-launch-host", "SUCCEEDED", timeout=900)
        log = made.run("logs", "mnist-ddp-launch-host").stdout
        assert "WORLD_SIZE=8 RANK=3 LOCAL_RANK=3" in log and "test: loss=" in log
        assert "/opt/mnist/mnist-pytorchjob/data" in log
    finally:
        made.close()
        subprocess.run(["podman", "system", "reset", "--force"], env={**os.environ, **settings})
        shutil.rmtree(folder, ignore_errors=True)
