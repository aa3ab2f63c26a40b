"""`make image`: which tool builds, under which name, and that the program in the image knows its commit."""
import os
import re
import shutil
import subprocess

import pytest

from places import ROOT
from waiting import PATIENCE

SCRIPT = os.path.join(ROOT, "scripts", "image")


@pytest.fixture
def tools(tmp_path):
    """A PATH with tools that note their words, one a line, and succeed as `works` says."""
    log = tmp_path / "log"
    for program in ("bash", "env", "sed", "git", "dirname", "mktemp", "rm", "cat"):
        os.symlink(shutil.which(program), tmp_path / program)

    def make(**works):
        for name, code in works.items():
            (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{log}\nexit {code}\n')
            (tmp_path / name).chmod(0o755)

        def run(*args, **env):
            done = subprocess.run([SCRIPT, *args], text=True, capture_output=True, timeout=PATIENCE,
                                  env={"PATH": str(tmp_path), "HOME": str(tmp_path), **env})
            return done, log.read_text().splitlines() if log.exists() else []
        return run
    return make


def build_line(said):
    return next(line for line in said if " build " in line)


def test_podman_builds_under_the_name_that_nodes_look_for(tools):
    done, said = tools(podman=0, docker=0)()
    assert done.returncode == 0, done.stderr
    line = build_line(said)
    assert re.search(r"^podman build .* -f deploy/Dockerfile -t docker\.io/library/muster:[0-9.]+ \.$", line)
    assert re.search(r"MUSTER_COMMIT=[0-9a-f]{40} .*MUSTER_COMMIT_DATE=20\S+Z .*MUSTER_TREE_STATE=(clean|dirty)", line)


def test_docker_builds_where_podman_does_not_work(tools):
    done, said = tools(podman=1, docker=0)("registry.local/muster:0.1.0")
    assert done.returncode == 0, done.stderr
    assert build_line(said).startswith("docker build ")
    assert build_line(said).endswith("-t registry.local/muster:0.1.0 .")


def test_one_line_says_that_neither_works(tools):
    done, said = tools(podman=1)()
    assert done.returncode == 1 and not any(" build " in line for line in said)
    assert done.stderr.startswith("make image: neither podman nor docker works here")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("env, built", [
    ({"MUSTER_COMMIT": "c0ffee", "MUSTER_COMMIT_DATE": "2026-01-01T00:00:00Z", "MUSTER_TREE_STATE": "clean"},
     '{"c0ffee", "2026-01-01T00:00:00Z", "clean"}'),
    ({}, '{"unknown", "unknown", "unknown"}')])
def test_a_tree_without_git_is_of_the_commit_that_it_is_said_to_be(tmp_path, env, built):
    out = tmp_path / "build_info.cc"
    subprocess.run(["cmake", f"-DSOURCE={tmp_path}", f"-DOUT={out}", "-P",
                    os.path.join(ROOT, "cmake", "BuildInfo.cmake")], check=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **env})
    assert built in out.read_text()


@pytest.mark.soak
def test_both_stages_are_built_and_the_operator_in_them_starts():
    """Where no registry answers, from Debian's packages alone (scripts/debian-base)."""
    name = "localhost/muster:soak"
    subprocess.run([SCRIPT, name], check=True, env={**os.environ, "CONTAINER_TOOL": "podman"})

    def run(*args):
        # Without limits that a container of CI may not raise.
        return subprocess.run(["podman", "--cgroup-manager=cgroupfs", "run", "--rm", "--network=host", "--ulimit=nofile=1024:1024",
                               "--ulimit=nproc=1024:1024", name, *args], text=True, capture_output=True, timeout=120)
    try:
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True, capture_output=True, check=True).stdout.strip()
        assert commit in run("version", "-o", "json").stdout
        nowhere = run("operator", "--kubeconfig=/nowhere")
        assert nowhere.returncode != 0 and "/nowhere" in nowhere.stderr
    finally:
        subprocess.run(["podman", "image", "rm", "-f", name], capture_output=True)
