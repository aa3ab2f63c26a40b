"""muster run: the caller's folder and environment as a job, followed to its end."""
import glob
import json
import os
import signal
import stat
import subprocess
import time

import pytest

from embedded_api import Api
from waiting import PATIENCE

TRAIN = """import os, sys
print("args", sys.argv[1:], "rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
print("cwd", os.getcwd())
print("token", os.environ.get("API_TOKEN"))
open(os.path.join(os.environ["MUSTER_RUN_DIR"], "made-" + os.environ["RANK"]), "w").close()
"""
SLOW = """import signal, sys, time
def end(*_):
    print("saving", flush=True)
    time.sleep(float(sys.argv[1]))
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
while True:
    time.sleep(0.05)
"""
RANK = """import os, signal, sys, time
said = open(os.path.join(os.environ["MUSTER_RUN_DIR"], "said-" + os.environ["RANK"]), "w", buffering=1)
def end(*_):
    print("saving", file=said)
    time.sleep(1)
    print("saved", file=said)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", file=said)
while True:
    time.sleep(0.05)
"""


@pytest.fixture
def code(cluster):
    folder = cluster.path("home", "code")
    os.makedirs(folder)
    for name, text in (("train.py", TRAIN), ("slow.py", SLOW)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    for root, folders, files in os.walk(folder):
        for name in (root, *(os.path.join(root, file) for file in files)):
            os.chown(name, cluster.uid, cluster.uid)
    return folder


def run_folder(cluster, name):
    return cluster.path("state", "muster", "runs", name)


def test_a_script_runs_with_its_arguments_and_the_callers_environment(cluster, code):
    done = cluster.run("run", "--name=one", "train.py", "--lr", "0.1", cwd=code,
                       env={"API_TOKEN": "tiger-1"})
    assert done.stdout == (f"args ['--lr', '0.1'] rank 0 of 1\ncwd {run_folder(cluster, 'one')}/code\n"
                           "token tiger-1\n")
    assert os.listdir(run_folder(cluster, "one") + "/files") == ["made-0"]
    assert "tiger-1" not in done.stderr
    assert "tiger-1" not in cluster.run("get", "one", "-o", "yaml").stdout
    log = cluster.run("logs", "one").stdout
    assert "rank 0 of 1" in log


def test_a_progress_bar_moves_before_its_line_ends(cluster, code):
    command = ("import os, sys, time\n"
               "print('\\r 10%', end='', flush=True)\n"
               "while not os.path.exists(os.environ['MUSTER_RUN_DIR'] + '/go'): time.sleep(0.05)\n"
               "print('\\r100%')")
    running = cluster.start("run", "--name=bar", "python", "-c", command, cwd=code)
    assert os.read(running.stdout.fileno(), 100) == b"\r 10%"
    open(run_folder(cluster, "bar") + "/files/go", "w").close()
    assert running.wait(timeout=PATIENCE) == 0
    assert os.read(running.stdout.fileno(), 100) == b"\r100%\n"


def test_a_secret_is_a_variable_and_nowhere_else(cluster, code):
    made = subprocess.run([cluster.binary, "secret", "create", "hub", "TOKEN=-"], env=cluster.env, input="tiger-2\n",
                          text=True, capture_output=True, timeout=PATIENCE, **cluster._become())
    assert made.stdout == "secret/hub created (1 key)\n", made.stderr
    done = cluster.run("run", "--name=s", "--secret=hub:TOKEN=HF_TOKEN", "echo $HF_TOKEN", cwd=code)
    assert done.stdout == "tiger-2\n"
    shown = cluster.run("get", "s", "-o", "yaml").stdout + cluster.run("secret", "list").stdout
    assert "TOKEN" in shown and "tiger-2" not in shown
    assert cluster.run("secret", "delete", "hub").stdout == "secret/hub deleted\n"


def test_it_ends_as_the_program_ends(cluster, code):
    assert "has failed: rank 0" in cluster.run("run", "sh -c 'exit 7'", code=7, cwd=code).stderr
    cluster.run("run", "nothere", code=127, cwd=code)


def test_what_cannot_be_told_is_made_all_the_same(cluster, code):
    for name, verb, rest in (("detached", ["run"], ["-d", "train.py"]), ("followed", ["run"], ["train.py"]),
                             ("ranks", ["run"], ["-n", "2", "train.py"]), ("sent", ["submit", "pytorch"], ["true"])):
        with open("/dev/full", "w") as full:
            done = subprocess.run([cluster.binary, *verb, f"--name={name}", *rest], env=cluster.env, cwd=code, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERRO")]
        assert done.returncode == 1 and len(errors) == 1, done.stderr
        assert f"; the job {name} was created, `muster get {name}` shows it" in errors[0], done.stderr
        cluster.run("get", name)


def test_ranks_of_one_node_and_of_two(cluster, code):
    lines = cluster.run("run", "-n", "2", "train.py", cwd=code).stdout.splitlines()
    assert "[0-1] args [] rank 0..1 of 2" in lines, lines
    assert cluster.run("history").stdout.splitlines()[1].endswith("  torchrun train.py")
    lines = cluster.run("run", "--name=two", "--nodes=2", "train.py", cwd=code).stdout.splitlines()
    assert "[0-1] args [] rank 0..1 of 2" in lines, lines
    assert sorted(os.listdir(run_folder(cluster, "two") + "/files")) == ["made-0", "made-1"]


def test_a_retry_starts_it_again(cluster, code):
    def tries(name):
        with open(cluster.path("state", "muster", "runs", name, "files", "tries")) as file:
            return len(file.readlines())
    line = 'echo try >>"$MUSTER_RUN_DIR/tries"; [ $(wc -l <"$MUSTER_RUN_DIR/tries") -gt {} ]'
    cluster.run("run", "--name=second", "--retry=1", line.format(1), cwd=code)
    cluster.run("run", "--name=never", "--retry=1", line.format(9), cwd=code, code=1)
    assert (tries("second"), tries("never")) == (2, 2)
    # Of two replicas both are started again.
    each = ('all="$MUSTER_RUN_DIR/tries"; echo "try $RANK" | tee -a "$all" >>"$all-$RANK"; n=$(wc -l <"$all-$RANK"); '
            'until [ $(wc -l <"$all") -ge $((2 * n)) ]; do sleep 0.05; done; [ $n -gt 1 ]')
    cluster.run("run", "--name=both", "--nodes=2", "-n", "1", "--retry=1", each, cwd=code, timeout=120)
    assert tries("both") == 4


def test_a_failure_is_told_once(cluster, code):
    """The ranks' own lines, then why: not torchrun's table and the launcher's report, which the log keeps."""
    with open(os.path.join(code, "bad.py"), "w") as file:
        file.write("import os, time\n\ndef step():\n    if os.environ['RANK'] == '1':\n        raise ValueError('boom')\n"
                   "    time.sleep(60)\n\ndef main():\n    step()\n\nmain()\n")
    done = cluster.run("run", "-n", "2", "--name=bad", "bad.py", cwd=code, code=1)
    assert done.stdout.count("ValueError: boom") == 1 and "ChildFailedError" not in done.stdout, done.stdout
    assert not [line for line in done.stdout.splitlines() if not line.startswith("[1] ")], done.stdout
    said = [line for line in done.stderr.splitlines() if "bad" in line][-2:]
    assert said[0].endswith("the job bad has failed: rank 1 (bad-master-0) exited with code 1: ValueError: boom"), said
    assert "`muster explain bad`: " in said[1] and "bad.py:5" in said[1], said
    assert "rank 1 of 2 failed first" in cluster.run("logs", "bad").stdout


def test_a_traceback_on_stdout_is_why_it_failed(cluster, code):
    with open(os.path.join(code, "bad.py"), "w") as file:
        file.write("import os, sys, time, traceback\nif os.environ['RANK'] == '0': time.sleep(60)\n"
                   "try:\n    raise ValueError('boom')\nexcept ValueError:\n    traceback.print_exc(file=sys.stdout)\nsys.exit(2)\n")
    done = cluster.run("run", "-n", "2", "--name=said", "bad.py", cwd=code, code=2)
    assert "rank 1 (said-master-0) exited with code 2: ValueError: boom" in done.stderr, done.stderr


def test_a_launcher_leaves_nothing_when_its_job_is_deleted(cluster, code):
    """Its log folder was in /tmp, with a second copy of all output, and stayed."""
    def folder_of(file):
        pods = cluster.path("state", "muster", "pods")
        assert file.startswith(pods + "/") and "/torchelastic_" in file, file
        return os.path.join(pods, *os.path.relpath(file, pods).split("/")[:2])
    shown = cluster.run("run", "-n", "2", "--name=good", "echo $TORCHELASTIC_ERROR_FILE", cwd=code).stdout
    assert not os.path.exists(folder_of(shown.split("] ")[1].split()[0]))
    cluster.run("run", "-n", "2", "--name=bad", "exit 3", cwd=code, code=3)
    folder = folder_of(cluster.run("logs", "bad").stdout.split("report    : ")[1].split()[0])
    assert [file for _, _, files in os.walk(folder) for file in files] == ["failure.json"]
    cluster.run("delete", "bad")
    deadline = time.time() + 30
    while os.path.exists(folder) and time.time() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(folder)


def test_a_change_after_it_has_begun_does_not_reach_the_job(cluster, code):
    path = os.path.join(code, "late.py")
    with open(path, "w") as file:
        file.write("import time, os\n"
                   "while not os.path.exists(os.environ['MUSTER_RUN_DIR'] + '/go'): time.sleep(0.05)\n"
                   "print(open('late.py').read().count('changed'))\n")
    os.chown(path, cluster.uid, cluster.uid)
    cluster.run("run", "-d", "--name=late", "late.py", cwd=code)
    with open(path, "a") as file:
        file.write("# changed\n")
    open(run_folder(cluster, "late") + "/files/go", "w").close()
    cluster.wait("late", "SUCCEEDED")
    assert cluster.run("logs", "late").stdout == "1\n"
    live = cluster.run("run", "--live", "sh", "-c", "pwd; grep -c changed late.py", cwd=code)
    assert live.stdout == f"{code}\n2\n"


def test_a_file_that_looks_like_secrets_is_taken_and_named(cluster, code):
    def said(name):
        log = cluster.run("run", f"--name={name}", "cat .env*", cwd=code).stderr
        return next(line for line in log.splitlines() if "code: " in line)

    for name in (".env", ".env.example"):
        with open(os.path.join(code, name), "w") as file:
            file.write("KEY=tiger-2\n")
        os.chown(os.path.join(code, name), cluster.uid, cluster.uid)
    told = said("told")
    assert told.endswith("; takes .env, which looks like secrets: .musterignore keeps it out")
    assert "tiger-2" in cluster.run("logs", "told").stdout
    with open(os.path.join(code, ".musterignore"), "w") as file:
        file.write(".env\n")
    assert "secrets" not in said("kept")


def test_a_git_work_tree_goes_without_what_git_ignores(cluster, code):
    def git(*args):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=code, check=True,
                       capture_output=True, **cluster._become())
    os.makedirs(code + "/sub")
    os.chown(code + "/sub", cluster.uid, cluster.uid)
    for name in ("kept.txt", "left.log", ".gitignore"):
        with open(os.path.join(code, name), "w") as file:
            file.write("*.log\n")
        os.chown(os.path.join(code, name), cluster.uid, cluster.uid)
    git("init", "-q")
    git("add", "train.py", ".gitignore")
    git("commit", "-qm", "x")
    done = cluster.run("run", "ls ..; pwd", cwd=code + "/sub")
    assert done.stdout.splitlines()[:-1] == ["kept.txt", "slow.py", "sub", "train.py"]
    assert ", 2 files changed" in done.stderr


def test_a_file_that_git_keeps_from_the_job_is_named(cluster, code):
    os.mkdir(code + "/data")
    for name, text in ((".gitignore", "data\n"), ("read.py", "print(open('data/x.txt').read())\n"), ("data/x.txt", "5\n")):
        with open(os.path.join(code, name), "w") as file:
            file.write(text)
    subprocess.run(["git", "init", "-q", code], check=True, **cluster._become())
    done = cluster.run("run", "--name=reads", "read.py", code=1, cwd=code)
    why = f"data/x.txt is in {code}, but not in the job's copy of it: .gitignore leaves it out"
    assert why in done.stderr
    assert why in json.loads(cluster.run("explain", "reads", "-o", "json").stdout)["adviceText"]
    assert "5" in cluster.run("run", "--live", "read.py", cwd=code).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_job_and_lets_it_save(cluster, code, number):
    running = cluster.start("run", "--name=slow", "slow.py", "0.3", cwd=code)
    assert running.stdout.readline() == "up\n"
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, err
    assert out == "saving\nsaved\n"
    assert "slow is stopped: `muster resume slow` starts it again" in err
    assert cluster.get("slow")["status"] == "SUSPENDED"


@pytest.mark.parametrize("flags, ranks", [("-n2", 2), ("--nodes=2", 2), ("--nodes=2 -n2", 4)])
def test_an_interrupt_lets_every_rank_save_and_asks_it_once(cluster, code, flags, ranks):
    with open(os.path.join(code, "rank.py"), "w") as file:
        file.write(RANK)

    def said():
        made = glob.glob(run_folder(cluster, "slow") + "/files/said-*")
        return [open(path).read() for path in made]

    running = cluster.start("run", "--name=slow", *flags.split(), "rank.py", cwd=code)
    while said() != ["up\n"] * ranks:
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, err
    assert said() == ["up\nsaving\nsaved\n"] * ranks, out + err


def test_a_second_interrupt_kills_it(cluster, code):
    running = cluster.start("run", "--name=slow", "--grace=600", "slow.py", "500", cwd=code)
    assert running.stdout.readline() == "up\n"
    running.send_signal(signal.SIGINT)
    assert running.stdout.readline() == "saving\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130 and "saved" not in out, err


def test_a_closed_terminal_does_not_stop_it(cluster, code):
    running = cluster.start("run", "--name=slow", "slow.py", "0", cwd=code)
    assert running.stdout.readline() == "up\n"
    running.send_signal(signal.SIGHUP)
    running.wait(timeout=PATIENCE)
    assert cluster.get("slow")["status"] == "RUNNING"
    cluster.run("stop", "slow")
    assert cluster.get("slow")["status"] == "SUSPENDED"


def test_a_link_out_of_the_folder_leads_to_the_same_place(cluster, code):
    os.makedirs(cluster.path("home", "data"))
    with open(cluster.path("home", "data", "x"), "w") as file:
        file.write("tiger\n")
    os.symlink("../data", os.path.join(code, "data"))
    done = cluster.run("run", "cat data/x", cwd=code)
    assert done.stdout == "tiger\n" and f"; data -> {cluster.path('home', 'data')} leads out of it" in done.stderr
    cluster.run("up", "--listen")
    kubeconfig = cluster.path("home", "kubeconfig")
    cluster.run("kubeconfig", "-o", kubeconfig)
    far = cluster.run("--kubeconfig", kubeconfig, "run", "--image=host", "cat data/x", cwd=code, code=1)
    assert "the link data -> " in far.stderr and ".musterignore, or mount its target by --data-dir" in far.stderr


def test_on_another_cluster_the_folder_travels_with_the_job(cluster, code):
    cluster.run("up", "--listen")
    kubeconfig = cluster.path("home", "kubeconfig")
    cluster.run("kubeconfig", "-o", kubeconfig)
    with open(os.path.join(code, "far.py"), "w") as file:
        file.write("import os; print(os.getcwd(), os.environ.get('API_TOKEN'), sorted(os.listdir('.')))\n")
    done = cluster.run("--kubeconfig", kubeconfig, "run", "--name=far", "--image=host", "far.py", cwd=code,
                       env={"API_TOKEN": "tiger-1"})
    assert done.stdout == "/muster/code None ['far.py', 'slow.py', 'train.py']\n"
    two = cluster.run("--kubeconfig", kubeconfig, "run", "--name=two", "--image=host", "--nodes=2", "-n", "2",
                      "sh", "-c", "echo rank $RANK", cwd=code).stdout
    assert "[0-3] rank 0..3\n" in two
    api = Api(cluster)
    names = [item["metadata"]["name"] for item in api.call("GET", "/api/v1/namespaces/default/configmaps")["items"]]
    assert "far-code-0" in names
    cluster.run("delete", "far")
    names = [item["metadata"]["name"] for item in api.call("GET", "/api/v1/namespaces/default/configmaps")["items"]]
    assert "far-code-0" not in names and "two-code-0" in names


def test_files_are_the_callers_with_the_callers_umask(nobody_cluster):
    cluster = nobody_cluster
    folder = cluster.path("home", "code")
    os.makedirs(folder)
    os.chown(folder, cluster.uid, cluster.uid)
    running = cluster.start("run", "--name=mine", "touch $MUSTER_RUN_DIR/made; umask", cwd=folder,
                            umask=0o027)
    out, err = running.communicate(timeout=PATIENCE)
    assert out == "0027\n", err
    info = os.stat(run_folder(cluster, "mine") + "/files/made")
    assert (info.st_uid, stat.S_IMODE(info.st_mode)) == (cluster.uid, 0o640)


def test_what_was_pruned_is_gone(cluster, code):
    cluster.run("run", "--name=old", "true", cwd=code)
    cluster.run("delete", "old")
    assert os.path.exists(run_folder(cluster, "old"))
    assert "Delete what is remembered of run old (" in cluster.run("prune", "--since=0s").stdout
    assert not os.path.exists(run_folder(cluster, "old"))
    snapshots = cluster.path("state", "muster", "snapshots", "lists")
    assert len(os.listdir(snapshots)) == 1  # it may be another command's that has just begun
