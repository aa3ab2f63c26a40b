"""muster doctor: what the machine has, and what to do about the rest."""
import json
import os
import subprocess

import pytest


def findings(cluster, code=0, env=None, flags=()):
    done = cluster.run("doctor", "-o", "json", *flags, code=code, env=env)
    return {finding["check"]: finding for finding in json.loads(done.stdout)}


def test_every_check_says_what_it_found(cluster):
    found = findings(cluster)
    assert set(found) == {"state", "sockets", "namespaces", "cgroups", "gpus", "shm", "limits", "programs", "launcher",
                          "host name", "python"}
    assert all(finding["found"] for finding in found.values())
    assert all((finding["state"] == "ok") == (finding["advice"] == "") for finding in found.values())
    assert found["state"]["found"].startswith(cluster.path("state", "muster"))
    table = cluster.run("doctor").stdout
    assert all(f" {name} " in table for name in found)


def test_the_python_is_the_jobs_own_and_gloo_is_tried(cluster):
    found = findings(cluster, env={"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": ""})["python"]
    assert found["state"] == "ok" and "gloo works" in found["found"], found
    bare = cluster.path("home", "bare")
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", bare], check=True)
    os.remove(cluster.path("config", "muster", "config.yaml"))  # it names the system's
    found = findings(cluster, env={"VIRTUAL_ENV": bare})["python"]
    assert found["state"] == "poor" and "no torch" in found["found"], found
    assert "No module named 'torch'" in found["advice"] and f"`{bare}/bin/python" in found["advice"]
    assert "-m pip install torch`" in found["advice"], "Debian's package would not help this Python"


@pytest.mark.parametrize("program, state", [("echo 'Welcome!'; exec /usr/bin/python3 \"$@\"", "ok"), ("exit 3", "bad")])
def test_a_python_that_greets_is_asked_all_the_same(cluster, program, state):
    folder = cluster.path("home", "greeting")
    os.makedirs(folder)
    for name in ("python", "python3"):
        with open(f"{folder}/{name}", "w") as file:
            file.write(f"#!/bin/sh\n{program}\n")
        os.chmod(file.name, 0o755)
    os.remove(cluster.path("config", "muster", "config.yaml"))  # it names the system's
    found = findings(cluster, code=state == "bad", env={"PATH": f"{folder}:/usr/bin:/bin", "VIRTUAL_ENV": ""})["python"]
    assert found["state"] == state and folder in found["found"], found
    assert (state == "ok") == (found["advice"] == ""), found


def test_what_is_missing_is_named_with_its_package(cluster):
    programs = cluster.path("home", "programs")
    os.makedirs(programs)
    os.symlink("/usr/bin/tar", programs + "/tar")
    found = findings(cluster, env={"PATH": programs})["programs"]
    assert found["state"] == "poor"
    assert found["advice"] == "`apt-get install git rsync diffutils`"


def test_a_cluster_that_does_not_answer_is_bad(cluster):
    kubeconfig = cluster.path("home", "kubeconfig")
    with open(kubeconfig, "w") as file:
        file.write("""apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x, user: x}}]
clusters: [{name: x, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: x, user: {}}]
""")
    found = findings(cluster, code=1, flags=("--kubeconfig", kubeconfig))["cluster"]
    assert found["state"] == "bad" and "127.0.0.1:1" in found["advice"], found


def test_a_state_folder_that_cannot_be_made_is_bad(cluster):
    path = cluster.path("home", "file")
    open(path, "w").close()
    found = findings(cluster, code=1, env={"XDG_STATE_HOME": path})
    assert found["state"]["state"] == "bad" and "cannot be written to" in found["state"]["found"]
