"""One node of a job (compat/opctl.md 3.4): `opctl entry` with the environment of the service."""
import json
import os
import subprocess
import sys

import pytest

from opctl_user import web_folder
from waiting import await_true

SCRIPT = """
import json, os, sys
names = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "NODE_RANK", "LOCAL_WORLD_SIZE",
         "NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "PYTHONPATH", "OCI__SYNC_DIR")
print("TRAIN " + json.dumps([{name: os.environ.get(name) for name in names}, sys.argv[1:]]), flush=True)
"""


@pytest.fixture
def nodes(opctl):
    opctl.write("train.py", SCRIPT)
    opctl.env.update({
        "OCI__CLUSTER_TYPE": "PYTORCH", "OCI__WORKER_COUNT": "1", "OCI__NODE_IP": "127.0.0.1",
        "OCI__WORK_DIR": "file://" + opctl.path("meet"), "OCI__CODE_DIR": opctl.path("work"),
        "OCI__ENTRY_SCRIPT": "train.py", "CUDA_VISIBLE_DEVICES": "", "JOB_OCID": "job"})

    def start(rank, **env):
        return opctl.start("entry", env={"RANK": str(rank), "JOB_RUN_OCID": f"run{rank}", **env})
    opctl.start_node = start
    return opctl


def end(process, code=0):
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, f"exit {process.returncode}\n{out}\n{err}"
    return out, err


def trained(out):
    return [json.loads(line[6:]) for line in out.splitlines() if line.startswith("TRAIN ")]


def meeting(opctl, name):
    with open(opctl.path("meet", "job", name)) as file:
        return file.read()


def test_main_and_worker_meet(nodes):
    args = {"OCI__ENTRY_SCRIPT_ARGS": "--a 1 --b 'x y'", "NCCL_ASYNC_ERROR_HANDLING": "1"}
    worker = nodes.start_node(1, **args)
    main = nodes.start_node(0, **args)
    out, _ = end(main)
    [[env, argv]] = trained(out)
    assert argv == ["--a", "1", "--b", "x y"]
    assert env == {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29400", "WORLD_SIZE": "2", "RANK": "0",
                   "LOCAL_RANK": "0", "NODE_RANK": None, "LOCAL_WORLD_SIZE": "1",
                   "NCCL_ASYNC_ERROR_HANDLING": "1", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
                   "PYTHONPATH": nodes.path("work"), "OCI__SYNC_DIR": None}
    uri = "file://" + nodes.path("meet", "job", "MAIN_config.json")
    for line in ("local setup ip 127.0.0.1", "sync_artifacts - 0", f"MAIN. Config File: ['{uri}']",
                 f"Writing configuration: {{'MASTER_ADDR': '127.0.0.1'}} to file: {uri}",
                 "Loading config: {'MASTER_ADDR': '127.0.0.1'}", "MASTER_ADDR: 127.0.0.1", "MASTER_PORT: 29400",
                 "GPU COUNT: 0", f"Running:  python {nodes.path('work')}/train.py --a 1 --b x y", "WORLD_SIZE: 2",
                 "RANK: 0", "Signalling Stop!!!", "Exiting with exit code: 0"):
        assert line in out.splitlines(), line
    out, _ = end(worker)
    [[env, _]] = trained(out)
    assert (env["RANK"], env["MASTER_ADDR"]) == ("1", "127.0.0.1")
    assert f"WORKER. Config File: ['{uri}']" in out
    assert meeting(nodes, "MAIN_config.json") == '{"MASTER_ADDR": "127.0.0.1"}'
    assert meeting(nodes, "WORKER_run1_config.json") == '{"OCI__WORKER_IP": "127.0.0.1"}'
    assert meeting(nodes, "stop") == "stop"
    shown = nodes.run("distributed-training", "show-config", "-j", "job", "--work-dir", nodes.env["OCI__WORK_DIR"],
                      "--worker-info").stdout
    assert shown == ("Main Info:\nMASTER_ADDR: 127.0.0.1\n\n"
                     "Worker Info from WORKER_run1_config.json\nOCI__WORKER_IP: 127.0.0.1\n\n")


def test_the_python_path_begins_with_the_code(nodes):
    out, _ = end(nodes.start_node(0, OCI__WORKER_COUNT="0", OCI__RUNTIME_PYTHON_PATH="~/lib:sub"))
    [[env, _]] = trained(out)
    assert env["PYTHONPATH"] == ":".join((nodes.path("work"), nodes.path("home", "lib"), nodes.path("work", "sub")))


def test_every_gpu_has_its_process(nodes):
    out, _ = end(nodes.start_node(0, CUDA_VISIBLE_DEVICES="0,1"), )
    found = sorted((env["RANK"], env["LOCAL_RANK"], env["NODE_RANK"], env["WORLD_SIZE"]) for env, _ in trained(out))
    assert found == [("0", "0", "0", "4"), ("1", "1", "0", "4")]
    out, _ = end(nodes.start_node(1, CUDA_VISIBLE_DEVICES="0,1"))
    assert sorted(env["RANK"] for env, _ in trained(out)) == ["2", "3"]
    assert "GPU COUNT: 2" in out and ", LOCAL_RANK: 1" in out


def test_the_exit_code_is_the_scripts_and_the_others_are_told(nodes):
    nodes.write("train.py", "import os, signal, sys\nif os.environ['RANK'] == '1':\n    sys.exit(3)\nsignal.pause()\n")
    main = nodes.start_node(0)
    worker = nodes.start_node(1)
    out, _ = end(worker, 3)
    assert "Stopping the process. Reason: Code Execution Failure" in out and "Exiting with exit code: 3" in out
    out, _ = end(main, 1)
    assert "Stopping the process. Reason: the node of rank 1 failed with exit code 3" in out
    # Another start in the same folder knows nothing of it.
    nodes.write("train.py", SCRIPT)
    main = nodes.start_node(0)
    end(main)


def test_a_worker_that_waits_learns_of_a_failure(nodes):
    third = nodes.start_node(2, OCI__WORKER_COUNT="2")
    out, _ = end(nodes.start_node(1, OCI__RUNTIME_TYPE="nonsense"), 1)
    _, err = end(third, 1)
    assert "the node of rank 1 failed with exit code 1" in err


WAITING = "print('READY', flush=True)\nimport signal\nsignal.pause()\n"


def await_line(process, line):
    for found in process.stdout:
        if found == line + "\n":
            return
    raise AssertionError(f"{line}: not printed\n{process.stderr.read()}")


@pytest.fixture
def local_nodes(nodes):
    """Nodes as `run -b local` starts them."""
    nodes.env["OCI__LOCAL_FOLDER"] = nodes.path("local")
    return nodes


# While it trains, and after it has ended, when it only waits for the worker.
@pytest.mark.parametrize("script, line, said", [
    (WAITING, "READY", "Stopping the process. Reason: the node of rank 1 was killed"),
    ("", "Exiting with exit code: 0", "The node of rank 1 was killed")])
def test_the_main_node_is_told_of_a_worker_that_was_killed(local_nodes, script, line, said):
    local_nodes.write("main.py", script)
    local_nodes.write("worker.py", WAITING)
    main = local_nodes.start_node(0, OCI__ENTRY_SCRIPT="main.py")
    worker = local_nodes.start_node(1, OCI__ENTRY_SCRIPT="worker.py")
    await_line(worker, "READY")
    await_line(main, line)
    worker.kill()
    out, _ = end(main, 1)
    assert said in out
    end(worker, -9)


def test_the_last_line_of_a_failed_node_says_why(local_nodes):
    local_nodes.write("main.py", WAITING)
    local_nodes.write("worker.py", "raise SystemExit(3)\n")
    main = local_nodes.start_node(0, OCI__ENTRY_SCRIPT="main.py")
    await_line(main, "READY")
    end(local_nodes.start_node(1, OCI__ENTRY_SCRIPT="worker.py"), 3)
    out, _ = end(main, 1)
    assert out.splitlines()[-1] == "Stopped because the node of rank 1 failed with exit code 3"
    # In a pod's log both streams are one.
    lost = local_nodes.start("entry", env={"RANK": "0", "OCI__RUNTIME_TYPE": "git"}, stderr=subprocess.STDOUT)
    out, _ = end(lost, 1)
    assert out.splitlines()[-1].startswith("ValueError: OCI__RUNTIME_URI is not set"), out


def test_a_worker_is_told_of_a_main_node_that_was_killed(local_nodes):
    local_nodes.write("train.py", WAITING)
    main = local_nodes.start_node(0)
    worker = local_nodes.start_node(1)
    await_line(worker, "READY")
    await_line(main, "READY")
    main.kill()
    out, _ = end(worker, 1)
    assert "Stopping the process. Reason: the node of rank 0 was killed" in out
    end(main, -9)


def test_the_main_node_waits_for_a_living_worker_beyond_its_time(local_nodes):
    local_nodes.write("main.py", "")
    local_nodes.write("worker.py", "import sys, time\ntime.sleep(2)\nsys.exit(4)\n")
    worker = local_nodes.start_node(1, OCI__ENTRY_SCRIPT="worker.py")
    await_true(lambda: os.path.exists(local_nodes.path("local", "nodes", "1")), "the worker does not begin")
    main = local_nodes.start_node(0, OCI__ENTRY_SCRIPT="main.py", OCI__TIMEOUT="1")
    out, _ = end(main, 1)
    assert "The node of rank 1 failed with exit code 4" in out
    end(worker, 4)


def test_without_a_main_node_the_time_runs_out(nodes):
    _, err = end(nodes.start_node(1, OCI__TIMEOUT="1"), 1)
    assert err.startswith("Exception: Timed out waiting to be in ready status. Likely cause configuration is missing")
    assert not os.path.exists(nodes.path("meet", "job", "stop"))


def test_what_is_missing_is_named(nodes):
    def err(**env):
        return nodes.run("entry", code=1, env=env).stderr
    assert err().startswith("KeyError: RANK is not set")
    assert err(RANK="0", OCI__WORK_DIR="").startswith("ValueError: OCI__WORK_DIR is not set")
    assert err(RANK="0", OCI__ENTRY_SCRIPT="").startswith("ValueError: OCI__ENTRY_SCRIPT is not set")
    assert "no closing quotation" in err(RANK="0", OCI__ENTRY_SCRIPT_ARGS="'a").lower()


def test_a_signal_ends_the_training(nodes):
    nodes.write("train.py", "import signal\nprint('READY', flush=True)\nsignal.pause()\n")
    main = nodes.start_node(0)
    for line in main.stdout:
        if line == "READY\n":
            break
    main.terminate()
    end(main, 143)


def test_a_signal_still_lets_the_artifacts_be_copied(nodes):
    nodes.write("train.py", "import os, signal\nopen(os.environ['OCI__SYNC_DIR'] + '/last', 'w').write('kept')\n"
                            "print('READY', flush=True)\nsignal.pause()\n")
    main = nodes.start_node(0, SYNC_ARTIFACTS="1", OCI__SYNC_DIR=nodes.path("artifacts"))
    for line in main.stdout:
        if line == "READY\n":
            break
    main.terminate()
    end(main, 143)
    with open(nodes.path("meet", "sync", "job", "run0", "last")) as file:
        assert file.read() == "kept"


def test_code_from_git_and_from_storage(nodes):
    source = nodes.path("source")
    os.makedirs(source)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", source]
    with open(os.path.join(source, "train.py"), "w") as file:
        file.write("print('first')\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", "one"]):
        subprocess.run(git + command, check=True)
    with open(os.path.join(source, "train.py"), "w") as file:
        file.write("print('second')\n")
    subprocess.run(git + ["commit", "-qam", "two"], check=True)
    code = {"OCI__CODE_DIR": nodes.path("code"), "OCI__RUNTIME_TYPE": "git", "OCI__RUNTIME_URI": source,
            "OCI__WORKER_COUNT": "0"}
    out, _ = end(nodes.start_node(0, **code))
    assert "second\n" in out
    # What was there is moved aside; a commit wins over a branch.
    out, _ = end(nodes.start_node(0, OCI__RUNTIME_GIT_BRANCH="main", OCI__RUNTIME_GIT_COMMIT="one", **code))
    assert "first\n" in out
    assert len([name for name in os.listdir(nodes.folder) if name.startswith("code_")]) == 1
    remote = {**code, "OCI__CODE_DIR": nodes.path("fetched"), "OCI__RUNTIME_TYPE": "remote",
              "OCI__RUNTIME_URI": "file://" + source, "OCI__ENTRY_SCRIPT": "source/train.py"}
    out, _ = end(nodes.start_node(0, **remote))
    assert "second\n" in out
    _, err = end(nodes.start_node(0, **{**remote, "OCI__RUNTIME_URI": "file:///nowhere/at/all"}), 1)
    assert "nothing at file:///nowhere/at/all" in err


def test_code_from_the_web(nodes, tmp_path):
    (tmp_path / "other.py").write_text("print('from the web')\n")
    with web_folder(tmp_path) as url:
        code = {"OCI__CODE_DIR": nodes.path("code"), "OCI__RUNTIME_TYPE": "remote", "OCI__WORKER_COUNT": "0"}
        out, _ = end(nodes.start_node(0, OCI__RUNTIME_URI=url + "/other.py?secret=s", OCI__ENTRY_SCRIPT="other.py", **code))
        _, err = end(nodes.start_node(0, OCI__RUNTIME_URI=url + "/nope.py?secret=s", **code), 1)
        without_file = [end(nodes.start_node(0, OCI__RUNTIME_URI=url + end_of, **code), 1)[1]
                        for end_of in ("", "/", "/?file=train.py")]
        with_password = url.replace("://", "://tom:pw@") + "/other.py"
        _, refused = end(nodes.start_node(0, OCI__RUNTIME_URI=with_password, **code), 1)
    assert all("names no file" in line for line in without_file), without_file
    assert refused.strip().endswith("/other.py: the URL must not contain a user and password"), refused
    assert "from the web\n" in out and "secret" not in out
    assert url + "/nope.py" in err and "secret" not in err


def test_the_folder_of_artifacts_is_there_without_a_sync(local_nodes):
    local_nodes.write("train.py", "import os\nopen(os.environ['OCI__SYNC_DIR'] + '/model.pt', 'w').close()\n")
    end(local_nodes.start_node(0, OCI__WORKER_COUNT="0"))
    assert os.path.exists(local_nodes.path("local", "node-0", "artifacts", "model.pt"))


def test_artifacts_are_synced(nodes):
    nodes.write("train.py", "import os\nos.makedirs(os.environ['OCI__SYNC_DIR'] + '/logs')\n"
                            "open(os.environ['OCI__SYNC_DIR'] + '/logs/a', 'w').write('kept')\n")
    out, _ = end(nodes.start_node(0, SYNC_ARTIFACTS="1", OCI__SYNC_DIR=nodes.path("artifacts"), OCI__WORKER_COUNT="0"))
    assert "sync_artifacts - 1" in out
    with open(nodes.path("meet", "sync", "job", "run0", "logs", "a")) as file:
        assert file.read() == "kept"


def test_kubernetes_says_who_the_master_is(nodes):
    out, _ = end(nodes.start_node(1, OCI__RENDEZVOUS="environment", MASTER_ADDR="master-0", MASTER_PORT="23456",
                                  OCI__WORK_DIR="None"))
    [[env, _]] = trained(out)
    assert (env["MASTER_ADDR"], env["MASTER_PORT"], env["RANK"], env["WORLD_SIZE"]) == ("master-0", "23456", "1", "2")


@pytest.mark.parametrize("names", [["python3"], ["python", "python3"]])
def test_a_profiler_finds_python_by_the_name_that_it_has(nodes, names):
    os.makedirs(nodes.path("few"))
    for name in [*names, "env"]:
        os.symlink("/usr/bin/env" if name == "env" else sys.executable, nodes.path("few", name))
    out, _ = end(nodes.start_node(0, PATH=nodes.path("few"), PROFILE="1", PROFILE_CMD="env  PROFILED=1",
                                  OCI__WORKER_COUNT="0"))
    assert len(trained(out)) == 1
    assert f"Running:  env PROFILED=1 python {nodes.path('work')}/train.py" in out


def test_another_frameworks_job_is_told_what_it_gets(nodes):
    out, err = end(nodes.start_node(0, OCI__CLUSTER_TYPE="DASK", OCI__WORKER_COUNT="0"))
    assert len(trained(out)) == 1
    assert err == ("WARNING: OCI__CLUSTER_TYPE=DASK: this entry point starts the script with PyTorch's variables "
                   "only\n")


# The cluster names the node that ended first as the one that failed.
@pytest.mark.parametrize("script", [WAITING, ""])
def test_a_failed_node_ends_before_those_that_it_ends(local_nodes, script):
    local_nodes.write("main.py", script)
    local_nodes.write("worker.py", "raise SystemExit(3)\n")
    main = local_nodes.start_node(0, OCI__ENTRY_SCRIPT="main.py")
    worker = local_nodes.start_node(1, OCI__ENTRY_SCRIPT="worker.py", POST_PROCESSING_WAIT="1")
    end(main, 1)
    assert worker.poll() == 3
    end(worker, 3)


def test_nothing_is_waited_for_at_the_end(nodes):
    out, _ = end(nodes.start_node(0, OCI__WORKER_COUNT="0"))
    assert "post processing wait" not in out
    out, _ = end(nodes.start_node(0, OCI__WORKER_COUNT="0", POST_PROCESSING_WAIT="1"))
    assert out.endswith("post processing wait..1 seconds\n..\n")
