"""build-image, publish-image, run's build step and ./config.ini (compat/opctl.md 2)."""
import os
import re
import subprocess

import pytest

from train_yaml import TRAIN_OF_ACCOUNT
from waiting import PATIENCE

INI = """\
[main]
tag = {}
registry = {}
dockerfile = {}
source_folder = {}
; mount oci keys for local testing
oci_key_mnt = ~/.oci:/home/oci_dist_training/.oci

"""
DT = "distributed-training"
BARE = "[main]\ntag = t1\nregistry = reg/x\ndockerfile = DF\nsource_folder = src\n"


def test_build_image_of_flags(opctl):
    done = opctl.run(DT, "build-image", "-t", "v1", "-reg", "iad.ocir.io/ns/repo", "-df", "Dockerfile", "-s", "src")
    line = "docker build --build-arg CODE_DIR=src -t iad.ocir.io/ns/repo:v1 -f Dockerfile ."
    assert opctl.argv() == [line] and done.stdout == f"FAKE {line}\n"
    assert opctl.read("config.ini") == INI.format("v1", "iad.ocir.io/ns/repo", "Dockerfile", "src")
    # Without flags: the file's.
    opctl.run(DT, "build-image")
    assert opctl.argv() == [line]


@pytest.mark.parametrize("flags,missing", [
    (["-reg", "r", "-df", "D"], "tag"), (["-t", "1", "-df", "D"], "registry"),
    (["-t", "1", "-reg", "r"], "dockerfile")])
def test_build_image_names_what_is_missing(opctl, flags, missing):
    assert opctl.run(DT, "build-image", *flags, code=1).stderr.startswith(f"ValueError: {missing} arg is missing")
    assert not os.path.exists(opctl.path("work", "config.ini")) and opctl.argv() == []


def test_an_existing_file_gains_what_it_lacks(opctl):
    opctl.write("config.ini", BARE)
    opctl.run(DT, "build-image")
    assert opctl.argv() == ["docker build --build-arg CODE_DIR=src -t reg/x:t1 -f DF ."]
    assert opctl.read("config.ini") == INI.format("t1", "reg/x", "DF", "src")


def test_a_link_to_the_file_stays(opctl):
    opctl.write("shared.ini", BARE)
    os.symlink("shared.ini", opctl.path("work", "config.ini"))
    opctl.run(DT, "build-image")
    assert os.path.islink(opctl.path("work", "config.ini"))
    assert opctl.read("shared.ini") == INI.format("t1", "reg/x", "DF", "src")


def test_proxies_are_build_arguments(opctl):
    opctl.write("config.ini", BARE)
    opctl.run(DT, "build-image", env={"https_proxy": "http://s", "no_proxy": "a,b", "http_proxy": "http://p",
                                      "HTTP_PROXY": "http://upper"})
    assert opctl.argv() == [
        "docker build --build-arg CODE_DIR=src -t reg/x:t1 -f DF --build-arg no_proxy=a,b "
        "--build-arg http_proxy=http://p --build-arg https_proxy=http://s ."]
    opctl.run(DT, "build-image", env={"no_proxy": ""})
    assert "no_proxy" not in opctl.argv()[0]


@pytest.mark.parametrize("flag", ["-p", "--push", "-push"])
def test_build_image_pushes(opctl, flag):
    opctl.write("config.ini", BARE)
    out = opctl.run(DT, "build-image", flag).stdout
    assert opctl.argv()[1:] == ["docker push reg/x:t1"]
    assert out.endswith("pushing docker image\nFAKE docker push reg/x:t1\npushed reg/x:t1\n")


def test_build_arguments_are_passed_on(opctl):
    opctl.write("config.ini", BARE)
    for verb in ([DT, "build-image"], ["run", "-f", "train.yaml", "--no-strict", "--dry-run"]):
        refused = opctl.run(*verb, "--build-arg", "NSYS_PACKAGE", code=1)
        assert refused.stderr.startswith("ValueError: --build-arg NSYS_PACKAGE: write NAME=VALUE")
    opctl.run(DT, "build-image", "--build-arg", "NSYS_PACKAGE=nsight-systems", "--build-arg", "A=b c")
    assert opctl.argv() == ["docker build --build-arg CODE_DIR=src -t reg/x:t1 -f DF "
                            "--build-arg NSYS_PACKAGE=nsight-systems --build-arg A=b c ."]


def test_a_failed_build_or_push_stops_everything(opctl):
    opctl.write("config.ini", BARE)
    failed = opctl.run(DT, "build-image", "-p", code=1, env={"BUILD_EXIT": "5"})
    assert failed.stderr.startswith("RuntimeError: Docker build failed.") and len(opctl.argv()) == 1
    failed = opctl.run(DT, "build-image", "-p", code=1, env={"PUSH_EXIT": "1"})
    assert failed.stderr.startswith("RuntimeError: Docker push failed.") and "pushed reg" not in failed.stdout
    failed = opctl.run(DT, "publish-image", "a/b:c", code=1, env={"PUSH_EXIT": "1"})
    assert "pushed" not in failed.stdout


def test_who_cannot_sign_in_does_not_wait_for_the_image(opctl):
    opctl.write("train.yaml", TRAIN_OF_ACCOUNT)
    build = ["run", "-f", "train.yaml", "-df", "D"]
    assert "ConfigFileNotFound: Could not find config file" in opctl.run(*build, code=1).stderr
    assert "/nowhere" in opctl.run(*build, "-b", "kubernetes", "--kubeconfig", "/nowhere", code=1).stderr
    assert opctl.argv() == []


def test_build_image_dry_run_prints_the_command(opctl):
    opctl.write("config.ini", BARE)
    assert opctl.run(DT, "build-image", "--dry-run").stdout == (
        "docker build --build-arg CODE_DIR=src -t reg/x:t1 -f DF .\n")
    assert opctl.argv() == []


def test_publish_image(opctl):
    assert opctl.run(DT, "publish-image", code=1).stderr.startswith("ValueError: Arg image is missing")
    assert opctl.run(DT, "publish-image", "a/b:c").stdout == "FAKE docker push a/b:c\npushed a/b:c\n"
    assert "pushed a/b:c" in opctl.run(DT, "publish-image", "-image", "a/b:c").stdout
    opctl.write("config.ini", BARE)
    assert opctl.run(DT, "publish-image").stdout.endswith("pushed reg/x:t1\n")
    opctl.argv()
    assert opctl.run("publish-image", "a/b:c", "-r", "iad.ocir.io/ns/").stdout.endswith("pushed iad.ocir.io/ns/b:c\n")
    assert opctl.argv() == ["docker tag a/b:c iad.ocir.io/ns/b:c", "docker push iad.ocir.io/ns/b:c"]


def test_podman_or_buildah_will_do(opctl):
    opctl.write("config.ini", BARE)
    tools = opctl.path("tools")
    os.makedirs(tools)
    for name in ("sh", "basename"):
        os.symlink(f"/bin/{name}", os.path.join(tools, name))
    env = {"PATH": tools}
    assert "docker, podman and buildah are not on PATH" in opctl.run(DT, "build-image", code=1, env=env).stderr
    for name in ("buildah", "podman"):
        opctl.tool(name)
        os.rename(opctl.path("bin", name), os.path.join(tools, name))
        opctl.run(DT, "build-image", env=env)
        assert opctl.argv()[0].startswith(f"{name} build --build-arg CODE_DIR=src ")


def test_nobuild_writes_a_dummy_that_a_build_refuses(user):
    user.run("run", "-f", "train.yaml", "--dry-run", "--nobuild")
    assert user.read("config.ini") == INI.format("latest", "iad.ocir.io/my-tenancy/image-name", "DUMMY_PATH", ".")
    assert user.fails("run", "-f", "train.yaml").startswith("ValueError: dockerfile arg is missing")
    os.remove(user.path("config.ini"))
    user.run("run", "-f", "train.yaml", "--dry-run", "--nobuild", "-s", "src")
    assert user.read("config.ini") == INI.format("latest", "iad.ocir.io/my-tenancy/image-name", "DUMMY_PATH", "src")
    assert user.mock.requests == []


def test_the_image_of_the_yaml_and_of_the_file(opctl):
    opctl.train(spec__cluster__spec__image="@image")
    refused = opctl.run("run", "-f", "train.yaml", "--dry-run", code=1)
    assert refused.stderr.startswith("ValueError: tag arg is missing")
    opctl.write("config.ini", BARE)
    assert "      image: reg/x:t1\n" in opctl.dry().stdout
    opctl.train(spec__cluster__spec__image="localhost:5000/img")
    assert "      image: localhost:5000/img:latest\n" in opctl.dry().stdout
    opctl.train(spec__cluster__spec__image="img:1")
    done = opctl.dry()
    assert "      image: img:1\n" in done.stdout
    assert done.stderr == "WARNING:ads.opctl:Did you include registry in image name?\n"


@pytest.mark.parametrize("flags", [["--auto_increment"], ["-i"]])
def test_a_dry_run_shows_the_next_tag_and_keeps_the_old(opctl, flags):
    opctl.write("config.ini", BARE)
    opctl.train(spec__cluster__spec__image="@image")
    assert "      image: reg/x:t1_v_1\n" in opctl.dry(*flags).stdout
    assert "tag = t1\n" in opctl.read("config.ini")
    assert "      image: reg/x:t1\n" in opctl.dry("-i", "ignored").stdout


def test_placeholders_are_refused_before_anything_is_done(opctl):
    refused = opctl.run("run", "-f", "train.yaml", "-t", "1", "-df", "D", code=1)
    assert opctl.argv() == [] and not os.path.exists(opctl.path("work", "config.ini"))
    for key in ("projectId", "compartmentId", "logGroupId", "logId", "subnetId"):
        assert f"spec.infrastructure.spec.{key}: oci.xxx" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["git", "remote"])
@pytest.mark.parametrize("backend", ["job", "local", "kubernetes"])
def test_code_of_no_place_is_refused_before_anything_is_done(opctl, kind, backend):
    opctl.train(spec__infrastructure__spec={}, spec__cluster__spec__image="iad.ocir.io/t/i:1",
                spec__runtime__type=kind)
    refused = opctl.run("run", "-f", "train.yaml", "-b", backend, "-df", "D", code=1)
    assert opctl.argv() == [] and not os.path.exists(opctl.path("work", "config.ini"))
    assert "train.yaml: spec.runtime.spec.uri is missing" in refused.stderr and f"`type: {kind}`" in refused.stderr
    assert refused.stderr.count("\n") == 1
    opctl.dry()


@pytest.mark.parametrize("backend", ["job", "local", "kubernetes"])
def test_a_quote_without_end_is_refused_before_anything_is_done(opctl, backend):
    opctl.train(spec__infrastructure__spec={}, spec__runtime__spec__args=["--msg", "it's"])
    refused = opctl.run("run", "-f", "train.yaml", "-b", backend, "-df", "D", code=1)
    assert opctl.argv() == [] and not os.path.exists(opctl.path("work", "config.ini"))
    assert "ValueError: train.yaml: spec.runtime.spec.args: a quote has no end: --msg it's" in refused.stderr
    assert refused.stderr.splitlines()[-1].startswith("ValueError")
    opctl.dry()


def test_code_of_an_unknown_type_is_shown_and_not_run(opctl):
    opctl.train(spec__infrastructure__spec={}, spec__runtime__type="zzz")
    done = opctl.dry()
    assert "- name: OCI__RUNTIME_TYPE\n        value: zzz\n" in done.stdout
    assert 'spec.runtime.type "zzz" is not supported: git or remote' in done.stderr
    refused = opctl.run("run", "-f", "train.yaml", "-b", "local", code=1)
    assert refused.stderr.splitlines()[-1].startswith("ValueError: Runtime type zzz is not supported.")


def test_init_writes_files_that_build(opctl):
    out = opctl.run(DT, "init", "--framework", "pytorch", "--version", "v1").stdout
    assert out.endswith("Check oci_dist_training_artifacts/pytorch/v1/README.md for build instructions \n")
    folder = opctl.path("work", "oci_dist_training_artifacts", "pytorch", "v1")
    assert sorted(os.listdir(folder)) == ["Dockerfile", "README.md", "entrypoint.sh", "muster", "requirements.txt"]
    assert os.access(os.path.join(folder, "entrypoint.sh"), os.X_OK)
    # What the Dockerfile copies is there.
    text = opctl.read("oci_dist_training_artifacts/pytorch/v1/Dockerfile")
    assert "COPY ${CODE_DIR} /code" in text and 'ENTRYPOINT ["/etc/datascience/entrypoint.sh"]' in text
    # The user's changes stay.
    opctl.write("oci_dist_training_artifacts/pytorch/v1/requirements.txt", "numpy\n")
    kept = opctl.run(DT, "init", "-f", "pytorch")
    assert "requirements.txt was changed and is kept" in kept.stderr
    assert opctl.read("oci_dist_training_artifacts/pytorch/v1/requirements.txt") == "numpy\n"
    assert "there are no artifacts for dask" in opctl.run(DT, "init", "-f", "dask", code=1).stderr


def dockerfile(opctl):
    opctl.run(DT, "init", "--framework", "pytorch")
    return opctl.read("oci_dist_training_artifacts/pytorch/v1/Dockerfile").replace("\\\n", " ")


def test_the_base_image_has_its_whole_name(opctl):
    base = re.search("^ARG BASE_IMAGE=(.*)$", dockerfile(opctl), re.M).group(1)
    registry = base.split("/")[0]
    assert "." in registry and ":" in base.split("/")[-1]


@pytest.mark.parametrize("argument, value, installed", [
    ("NSYS_PACKAGE", "nsight-systems", "apt-get install -y --no-install-recommends nsight-systems"),
    ("WITH_OCI_CLI", "1", "python -m pip install --no-cache-dir oci-cli"),
])
def test_the_tools_of_a_profile_and_of_the_cloud_are_installed_where_they_are_asked_for(
        opctl, argument, value, installed):
    text = dockerfile(opctl)
    assert f"ARG {argument}=\n" in text
    step = re.search(rf'^RUN (if \[ -n "\${argument}" \].*)$', text, re.M).group(1)
    # What the step would call, noted; it takes no root and no network.
    note = opctl.path("note")
    home = opctl.path("home")
    for name in ("apt-get", "python", "nsys", "rm"):
        opctl.write(opctl.path("bin", name), f'#!/bin/sh\necho "{name} $*" >> {note}\n')
        os.chmod(opctl.path("bin", name), 0o755)
    step = step.replace("/opt/oci-cli", opctl.path("opt"))
    os.makedirs(opctl.path("opt", "bin"))
    for name in ("python", "oci"):
        os.symlink(opctl.path("bin", "python"), opctl.path("opt", "bin", name))

    def run(env):
        subprocess.run(["sh", "-ec", step], check=True, timeout=PATIENCE,
                       env={"HOME": home, "PATH": f"{opctl.path('bin')}:/usr/bin:/bin", **env})
        return open(note).read() if os.path.exists(note) else ""
    assert run({}) == ""
    assert installed in run({argument: value})
    assert (argument == "WITH_OCI_CLI") == os.path.exists(os.path.join(home, "bin", "oci"))
