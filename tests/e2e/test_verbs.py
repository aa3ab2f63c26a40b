"""Arena's verbs with the real binary, as scripts call them."""
import json
import os
import re
import subprocess

import pytest

from embedded_muster import Cluster
from embedded_api import Api
from terminals import Terminal
from waiting import PATIENCE, await_words


@pytest.fixture
def arena(cluster):
    """Runs the binary under Arena's name."""
    link = cluster.path("bin", "arena")
    os.symlink(cluster.binary, link)

    def run(*args, code=0):
        done = subprocess.run([link, *args], env=cluster.env, cwd=cluster.path("home"), text=True,
                              capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"arena {args}: {done.returncode} {done.stdout}{done.stderr}"
        return done
    return run


def test_the_life_of_a_job_under_arena_s_name(cluster, arena):
    done = arena("submit", "pytorchjob", "--name=pytorchjob-test", "--image=python", "sleep 1")
    assert "pytorchjob.kubeflow.org/pytorchjob-test created" in done.stdout
    assert "pytorchjob-test" in arena("list").stdout
    assert arena("get", "pytorchjob-test", "--type=pytorchjob", "--namespace=default",
                 "--loglevel=info", "--arena-namespace=arena-system").stdout
    cluster.wait("pytorchjob-test", "SUCCEEDED")
    # Java's SDK reads both streams as one.
    for args in (["list", "-A", "-o", "json"], ["get", "pytorchjob-test", "-o=json"],
                 ["top", "node", "-d", "-o", "json"]):
        done = arena(*args)
        json.loads(done.stdout + done.stderr)
    deleted = arena("delete", "pytorchjob-test")
    assert deleted.stdout == ""
    assert "The training job pytorchjob-test has been deleted successfully" in deleted.stderr
    missing = arena("get", "pytorchjob-test", code=1)
    assert ("Not found training job pytorchjob-test in namespace default,please use 'arena submit' "
            "to create it.") in missing.stderr
    arena("delete", "pytorchjob-test", code=0)
    assert arena("completion", "fish", code=1).stdout == (
        "Invalid shell 'fish'. The supported shells are bash and zsh.\n")
    assert "muster" in arena("serve", "list", code=1).stderr
    assert arena("prune", "--since=1h").stdout == "No job need to be deleted\n"
    assert "\x1b[" not in arena("list", "-n", "nowhere", code=1).stderr


def test_the_newest_job_comes_first_also_of_those_of_one_second(cluster):
    for name in "abc":
        cluster.submit(name, "true")
    for form in ([], ["-o", "wide"], ["-A"]):
        rows = cluster.run("list", *form).stdout.splitlines()[1:]
        assert [row.split()[1 if form == ["-A"] else 0] for row in rows] == ["c", "b", "a"], rows
    assert [job["name"] for job in json.loads(cluster.run("list", "-o", "json").stdout)] == ["c", "b", "a"]


def first_separator(process):
    """The first line of dashes and a time that a refreshing command prints; ends the command."""
    for line in process.stdout:
        if line.startswith("----"):
            process.kill()
            process.communicate()
            return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", line)
    raise AssertionError(process.stderr.read())


def test_refreshing_separates_as_arena_does(cluster):
    cluster.submit("pt", "true")
    assert first_separator(cluster.start("top", "job", "pt", "-r")) == (
        "-" * 43 + " TIME " + "-" * 52 + "\n")
    node = cluster.run("top", "node").stdout.splitlines()[1].split()[0]
    assert first_separator(cluster.start("top", "node", node, "-d", "-r")) == (
        "-" * 25 + " TIME " + "-" * 37 + "\n")


def test_users_are_kept_apart_where_the_namespace_says_so(cluster):
    cluster.submit("mine", "true")
    Api(cluster).call("PATCH", "/api/v1/namespaces/default",
                      {"metadata": {"labels": {"arena.kubeflow.org/isolate-user": "true"}}})
    other = {"USER": "another"}
    assert "mine" in cluster.run("list").stdout
    assert "mine" not in cluster.run("list", env=other).stdout
    for args in (["get", "mine"], ["logs", "mine"], ["suspend", "mine"], ["delete", "mine"]):
        refused = cluster.run(*args, env=other, code=1)
        assert ("you have no privileges to operate the job,because the owner of job is not you"
                in refused.stderr)
    cluster.run("delete", "mine")


def test_all_ranks_are_one_log(cluster):
    cluster.submit("pt", "for i in 1 2 3; do echo rank $RANK line $i; sleep 0.2; done",
                   "--workers=3")
    followed = cluster.run("logs", "pt", "--all", "-f", "--raw").stdout.splitlines()
    cluster.wait_for_all("pt", "SUCCEEDED")
    printed = cluster.run("logs", "pt", "--all", "--timestamps", "--raw").stdout.splitlines()
    expected = sorted(f"[pt-{name}] rank {rank} line {i}" for i in (1, 2, 3)
                      for rank, name in enumerate(("master-0", "worker-0", "worker-1")))
    assert sorted(followed) == expected
    stamps = [line.split()[1] for line in printed]
    assert stamps == sorted(stamps) and len(stamps) == 9
    assert sorted(" ".join([line.split()[0], *line.split()[2:]]) for line in printed) == expected
    tail = cluster.run("logs", "pt", "--all", "--tail=1", "--raw").stdout.splitlines()
    assert len(tail) == 3 and all(line.endswith("line 3") for line in tail)


def test_following_all_goes_on_through_a_restart(cluster):
    cluster.submit("pt", 'if [ $RANK = 1 ] && [ ! -e seen ]; then touch seen; echo first; sleep 1; exit 1; fi;'
                   ' echo again; sleep 2', "--workers=2", "--retry=3", f"--working-dir={cluster.path('tmp')}")
    lines = cluster.run("logs", "pt", "--all", "-f").stdout.splitlines()
    assert sorted(lines) in (["[0-1] again", "[1] first"], ["[0] again", "[1] again", "[1] first"])


def test_suspend_returns_when_the_machine_is_free_and_resume_runs_it_again(cluster):
    cluster.submit("pt", "echo begins; sleep 600", "--workers=2")
    cluster.wait("pt", "RUNNING")
    assert "has been suspended" in cluster.run("suspend", "pt").stderr
    assert cluster.pod_processes() == []
    shown = cluster.run("get", "pt").stdout
    assert shown.startswith("STATUS: SUSPENDED") and "REASON: PyTorchJob pt is suspended." in shown
    assert "pt is suspended: nothing to suspend" in cluster.run("suspend", "pt").stderr
    cluster.run("resume", "pt")
    cluster.wait("pt", "RUNNING")


def test_delete_by_label_and_prune(cluster):
    for name, team in (("a", "vision"), ("b", "vision"), ("c", "nlp")):
        cluster.submit(name, "true", f"--label=team={team}")
    for name in "abc":
        cluster.wait(name, "SUCCEEDED")
    cluster.run("delete", "-l", "team=vision")
    left = [job["name"] for job in json.loads(cluster.run("list", "-o", "json").stdout)]
    assert left == ["c"]
    assert cluster.run("prune", "--since=0s").stdout.startswith("Delete pytorchjob c with Age ")
    assert json.loads(cluster.run("list", "-o", "json").stdout) == []


def test_under_arenas_name_an_empty_list_tells_a_person_and_no_script_of_jobs_of_others(cluster):
    arena = cluster.path("bin", "arena")
    os.symlink("muster", arena)
    container = {"name": "pytorch", "image": "x", "command": ["true"]}
    Api(cluster).call("POST", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs", {
        "metadata": {"name": "applied"}, "spec": {"pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": {"spec": {"containers": [container]}}}}}})
    piped = subprocess.run([arena, "list"], env=cluster.env, text=True, capture_output=True, check=True)
    assert (piped.stdout, piped.stderr) == ("NAME  STATUS  TRAINER  AGE  NODE\n", "")
    with Terminal([arena, "list"], cluster.env, cluster.path("home"), columns=200) as terminal:
        said = terminal.expect("shows it")
        assert said.startswith("NAME  STATUS  TRAINER  AGE  NODE")
        assert "1 PyTorchJob here was not made by `arena submit`, and not listed: `arena get applied -n default`" in said
        assert terminal.end() == 0


@pytest.fixture
def gpu_cluster():
    made = Cluster()
    made.show_gpus("2")
    made.run("up")
    yield made
    made.close()


def test_gpus_are_measured_when_somebody_asks(gpu_cluster):
    await_words("0/2 (0%)", lambda: gpu_cluster.run("top", "node").stdout)
    gpu_cluster.submit("pt", "sleep 600", "--gpus=1")
    gpu_cluster.wait("pt", "RUNNING")
    instance = json.loads(gpu_cluster.run("list", "-o", "json").stdout)[0]["instances"][0]
    (index, metric), = instance["gpuMetrics"].items()
    assert metric["totalGPUMemory"] > metric["usedGPUMemory"] > 0
    measured = json.loads(gpu_cluster.run("get", "pt", "-g", "-o", "json").stdout)["instances"][0]
    assert measured["gpuMetrics"] == instance["gpuMetrics"]
    assert json.loads(gpu_cluster.run("get", "pt", "-o", "json").stdout)[
        "instances"][0]["gpuMetrics"] == {}
    shown = gpu_cluster.run("top", "job", "pt").stdout
    assert f"{metric['gpuDutyCycle']:.1f}%" in shown and "(MiB)" in shown
    details = gpu_cluster.run("top", "node", "-d", "--metric").stdout
    assert "DUTY_CYCLE" in details and f"gpu{index}" in details
    # One that has ended holds nothing.
    gpu_cluster.run("delete", "pt")
    assert gpu_cluster.run("list", "-o", "json").stdout == "[]"


def test_a_kubeconfig_is_for_nobody_elses_eyes(cluster):
    cluster.run("up", "--listen")
    said = cluster.run("up", "--listen").stdout
    assert "muster kubeconfig -o ~/.kube/muster" in said
    path = cluster.path("home", ".kube", "muster")
    old = os.umask(0)
    try:
        for _ in range(2):
            assert cluster.run("kubeconfig", "-o", path).stdout == ""
            assert os.stat(path).st_mode & 0o777 == 0o600
            assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
        with open(path) as file:
            text = file.read()
        assert text == cluster.run("kubeconfig").stdout
        # What the shell's redirection makes.
        with open(cluster.path("open"), "w") as file:
            done = subprocess.run([cluster.binary, "kubeconfig"], env=cluster.env, stdout=file, stderr=subprocess.PIPE,
                                  text=True, timeout=PATIENCE)
        assert "others can read the file (mode 666)" in done.stderr
        with open(cluster.path("home", "other"), "w") as file:
            file.write("apiVersion: v1\nkind: Config\ncurrent-context: prod\n")
        refused = cluster.run("kubeconfig", "-o", cluster.path("home", "other"), code=1)
        assert "exists and was not written by muster: choose another file" in refused.stderr
        with open(cluster.path("home", "other")) as file:
            assert "prod" in file.read()
    finally:
        os.umask(old)
    assert cluster.run("list", f"--kubeconfig={path}").returncode == 0
