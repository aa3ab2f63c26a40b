"""What is remembered of runs: history, show, logs of the deleted, compare, rerun, code, files, cp, prune."""
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from waiting import await_true, await_words

TRAIN = """import os, sys
print("lr", sys.argv[1])
open(os.environ["MUSTER_RUN_DIR"] + "/model.pt", "w").write(sys.argv[1])
if float(sys.argv[1]) > 1: raise ValueError("diverged")
"""


@pytest.fixture
def code(cluster):
    folder = cluster.path("home", "code")
    os.makedirs(folder)
    write(cluster, folder + "/train.py", TRAIN)
    os.chown(folder, cluster.uid, cluster.uid)
    return folder


def write(cluster, path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chown(path, cluster.uid, cluster.uid)


def runs(cluster, *flags):
    return json.loads(cluster.run("history", "-o", "json", *flags).stdout)


def test_a_deleted_run_is_shown_with_its_log(cluster, code):
    assert "ValueError: diverged" in cluster.run("run", "--name=hot", "train.py", "7", code=1, cwd=code).stdout
    cluster.run("delete", "hot")
    assert "hot" not in cluster.run("list").stdout
    for table in (cluster.run("history").stdout, cluster.run("list", "--all").stdout):
        assert table.splitlines()[1].split()[1:3] == ["hot", "FAILED"], table
    log = cluster.run("logs", "hot")
    assert log.stdout.startswith("lr 7\n") and "ValueError: diverged" in log.stdout
    assert "was deleted at" in log.stderr
    assert "[0] lr 7\n" in cluster.run("logs", "hot", "--all").stdout
    shown = cluster.run("show", "hot").stdout
    assert "exited with code 1: ValueError: diverged" in shown and "hot-master-0  Error" in shown
    run = json.loads(cluster.run("show", "hot", "-o", "json").stdout)
    assert run["status"] == "FAILED" and run["command"] == "python train.py 7" and run["deleted"]
    assert run["attempts"][0]["exitCode"] == 1 and run["python"].startswith("/")
    assert run == json.loads(cluster.run("show", run["id"], "-o", "json").stdout)
    for verb in ("show", "code", "files", "rerun"):
        assert "no run nothere is known" in cluster.run(verb, "nothere", code=1).stderr


def test_a_run_that_printed_nothing_has_no_last_lines(cluster):
    cluster.submit("silent", "true", "--wait")
    assert "Last lines" not in cluster.run("show", "silent").stdout


def test_it_outlives_the_daemon_and_is_there_after_a_kill(cluster, code):
    cluster.run("run", "--name=one", "train.py", "0.1", cwd=code)
    cluster.run("delete", "one")
    os.kill(cluster.daemon_pid(), signal.SIGKILL)
    assert [run["name"] for run in runs(cluster)] == ["one"]
    assert cluster.run("logs", "one").stdout == "lr 0.1\n"


RETRIED = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: twice}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: ExitCode
      template:
        spec:
          containers:
          - name: pytorch
            image: host
            command: [sh, -c, "echo try; test -e %s && exit 0; touch %s; exit 143"]
"""


def test_pods_of_earlier_attempts_are_remembered(cluster):
    mark = cluster.path("home", "tried")
    path = cluster.path("home", "job.yaml")
    write(cluster, path, RETRIED % (mark, mark))
    cluster.run("apply", "-f", path)
    cluster.wait("twice", "SUCCEEDED")
    attempts = json.loads(cluster.run("show", "twice", "-o", "json").stdout)["attempts"]
    assert [attempt["exitCode"] for attempt in attempts] == [143, 0], attempts


def test_compare_names_what_differs_and_no_value(cluster, code):
    cluster.run("run", "--name=a", "train.py", "0.1", cwd=code, env={"HIDDEN": "tiger-1"})
    write(cluster, code + "/train.py", TRAIN + "# changed\n")
    cluster.run("run", "--name=b", "--env=OPEN=yes", "train.py", "0.2", cwd=code, env={"HIDDEN": "tiger-2"})
    cluster.run("delete", "a")
    out = cluster.run("compare", "a", "b", "--diff").stdout
    rows = {line.split("  ")[0]: line for line in out.splitlines() if "  " in line}
    assert "python train.py 0.1" in rows["command"] and "python train.py 0.2" in rows["command"]
    assert rows["env OPEN"].split()[-2:] == ["-", "yes"]
    assert "variable HIDDEN" in rows and "tiger" not in out
    assert "~ train.py" in out and "+# changed" in out
    assert "image" not in rows and "variable HOME" not in rows
    told = json.loads(cluster.run("compare", "a", "b", "-o", "json").stdout)
    assert told["files"] == [["~ train.py"]] and told["differences"]["env OPEN"] == [None, "yes"]


def test_compare_tells_the_last_metrics(cluster, code):
    for name, loss in (("worse", 0.5), ("better", 0.25)):
        cluster.run("run", f"--name={name}", f"echo step 1 loss 9; echo step 2 loss {loss}", cwd=code)
        await_words(f"loss {loss}", lambda name=name: cluster.run("show", name).stdout.split("Last lines")[0])
    cluster.run("delete", "worse")
    told = json.loads(cluster.run("compare", "worse", "better", "-o", "json").stdout)["differences"]
    assert told["last loss"] == ["0.5", "0.25"] and "last step" not in told


def test_words_for_a_rerun_go_on_with_a_line_for_a_shell(cluster, code):
    cluster.run("run", "--name=line", "echo a; echo b", cwd=code)
    assert cluster.run("rerun", "line", "--", "c", "d e").stdout == "a\nb c d e\n"


def test_rerun_takes_the_code_of_then(cluster, code):
    cluster.run("run", "--name=base", "--env=A=b", "train.py", "0.1", cwd=code)
    write(cluster, code + "/train.py", "raise SystemExit('the new code')\n")
    cluster.run("delete", "base")
    assert cluster.run("rerun", "base").stdout == "lr 0.1\n"
    assert cluster.run("rerun", "base-2", "--with", "--env=A=c --name=named", "--", "more").stdout == "lr 0.1\n"
    last = json.loads(cluster.run("show", "named", "-o", "json").stdout)
    assert last["command"] == "python train.py 0.1 more" and last["spec"]["env A"] == "c"
    assert [run["name"] for run in runs(cluster, "--limit=2")] == ["named", "base-2"]
    # As a shell divides words, and as the reader of `run -n 2` writes it.
    cluster.run("rerun", "base", "--with", "--env='A=b c' --name=quoted")
    assert json.loads(cluster.run("show", "quoted", "-o", "json").stdout)["spec"]["env A"] == "b c"
    assert "unclosed quote" in cluster.run("rerun", "base", "--with", "--env='A", code=1).stderr
    assert "-n is the namespace here, and ranks are given as --with '-n 2'" in cluster.run("rerun", "base", "-n", "2", code=1).stderr
    listed = cluster.run("code", "base").stdout.split()
    assert listed[1] == "train.py"
    cluster.run("code", "base", "-o", cluster.path("home", "then"))
    with open(cluster.path("home", "then", "train.py")) as file:
        assert file.read() == TRAIN


def test_what_was_not_committed_is_remembered(cluster, code):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", code]
    for args in (["init", "-q"], ["add", "train.py"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *args], check=True, env=cluster.env, user=cluster.uid)
    cluster.run("run", "--name=clean", "train.py", "0.1", cwd=code)
    assert cluster.run("code", "clean", "--diff").stdout == ""
    write(cluster, code + "/train.py", TRAIN.replace("lr", "rate"))
    write(cluster, code + "/new.py", "")
    assert ", 2 files changed" in cluster.run("run", "--name=dirty", "train.py", "0.1", cwd=code).stderr
    shutil.rmtree(code + "/.git")
    cluster.run("delete", "dirty")
    diff = cluster.run("code", "dirty", "--diff").stdout
    assert '\n-print("lr", sys.argv[1])\n+print("rate", sys.argv[1])\n' in diff and "new.py" not in diff
    assert ", 2 files changed\n" in cluster.run("show", "dirty").stdout
    assert json.loads(cluster.run("show", "dirty", "-o", "json").stdout)["changes"] == 2
    # What repeats it, and what repeats that, has the same.
    for earlier, again in (("dirty", "dirty-2"), ("dirty-2", "dirty-3")):
        assert ", 2 files changed" in cluster.run("rerun", earlier).stderr
        assert cluster.run("code", again, "--diff").stdout == diff
        shown = json.loads(cluster.run("show", again, "-o", "json").stdout)
        assert shown["changes"] == 2 and shown["commit"] == json.loads(cluster.run("show", "dirty", "-o", "json").stdout)["commit"]
    cluster.run("run", "--name=plain", "train.py", "0.1", cwd=code)
    assert "not run in a git work tree" in cluster.run("code", "plain", "--diff", code=1).stderr


def test_folders_are_copied_without_what_has_no_contents(cluster, code):
    cluster.run("run", "--name=odd", "cd $MUSTER_RUN_DIR && mkdir d && mkfifo d/pipe && echo 1 >d/a && ln -s a d/b", cwd=code)
    cluster.run("cp", "odd:", cluster.path("home", "odd"))
    assert sorted(os.listdir(cluster.path("home", "odd", "d"))) == ["a", "b"]
    assert os.readlink(cluster.path("home", "odd", "d", "b")) == "a"
    assert "d/pipe is not a file or folder" in cluster.run("cp", "odd:d/pipe", cluster.path("home", "pipe"), code=1).stderr
    assert not os.path.exists(cluster.path("home", "pipe"))


def test_a_submitted_job_runs_again_as_it_was(cluster):
    cluster.run("submit", "pytorch", "--name=sub", "--workers=2", "--env=A=b", "echo $A $RANK")
    cluster.wait("sub", "SUCCEEDED")
    cluster.run("delete", "sub")
    cluster.run("rerun", "sub")
    cluster.wait("sub-2", "SUCCEEDED")
    assert cluster.run("logs", "sub-2").stdout == "b 0\n"
    assert "without --failed, --with" in cluster.run("rerun", "sub", "--with", "--gpus=1", code=1).stderr


def test_files_are_listed_and_copied_and_stay_inside(cluster, code):
    cluster.run("run", "--name=m", "train.py", "0.5", cwd=code)
    cluster.run("delete", "m")
    assert cluster.run("files", "m").stdout.split() == ["3", "model.pt"]
    cluster.run("cp", "m:model.pt", cluster.path("home"))
    with open(cluster.path("home", "model.pt")) as file:
        assert file.read() == "0.5"
    assert "is there already" in cluster.run("cp", "m:model.pt", cluster.path("home"), code=1).stderr
    assert "leads out" in cluster.run("cp", "m:../run.json", cluster.path("home"), code=1).stderr
    assert "RUN:PATH" in cluster.run("cp", "model.pt", ".", code=2).stderr


def test_names_that_a_terminal_would_obey_are_quoted(cluster, code):
    write(cluster, code + "/a\x1b[2Jb.py", "")
    write(cluster, code + "/train.py", "import os; open(os.environ['MUSTER_RUN_DIR'] + '/c\\x1b]0;d', 'w')\n")
    cluster.run("run", "--name=odd", "train.py", cwd=code)
    os.remove(code + "/a\x1b[2Jb.py")
    cluster.run("run", "--name=even", "train.py", cwd=code)
    for words, name in ((["code", "odd"], "$'a\\x1b[2Jb.py'"), (["files", "odd"], "$'c\\x1b]0;d'"),
                        (["compare", "odd", "even"], "- $'a\\x1b[2Jb.py'")):
        shown = cluster.run(*words).stdout
        assert name in shown and "\x1b" not in shown, shown
    assert "a\\x1b[2Jb.py is not in" in cluster.run("run", "a\x1b[2Jb.py", cwd=code, code=2).stderr


def test_a_run_reads_the_files_of_an_earlier_one_and_cannot_change_them(cluster, code):
    cluster.run("run", "--name=first", "train.py", "0.5", cwd=code)
    cluster.run("delete", "first")
    done = cluster.run("run", "--name=second", "--resume-from=first",
                       'cat "$MUSTER_RESUME_DIR/model.pt"; touch "$MUSTER_RESUME_DIR/x" || echo refused', cwd=code)
    assert "0.5" in done.stdout and "Read-only file system" in done.stdout and "refused" in done.stdout, done.stdout
    assert cluster.run("files", "first").stdout.split() == ["3", "model.pt"]
    cluster.run("submit", "pytorch", "--name=plain", "--wait", "true")
    assert "has no files on this machine" in cluster.run("run", "--resume-from=plain", "true", code=1).stderr
    assert "no run nothere is known" in cluster.run("run", "--resume-from=nothere", "true", code=1).stderr


def test_prune_forgets_by_number_and_by_age(cluster, code):
    for name in ("p1", "p2", "p3"):
        cluster.run("run", f"--name={name}", "train.py", "0.1", cwd=code)
        time.sleep(1.1)  # times of creation are of seconds
    cluster.run("delete", "p1", "p2")
    records = cluster.path("state", "muster", "records")
    await_true(lambda: len(os.listdir(records)) == 2, lambda: os.listdir(records))  # each comes once its pod has gone
    out = cluster.run("prune", "--keep=2").stdout
    assert "remembered of run p1" in out and "p2" not in out
    assert [run["name"] for run in runs(cluster)] == ["p3", "p2"]
    assert len(os.listdir(records)) == 1
    assert sorted(os.listdir(cluster.path("state", "muster", "runs"))) == ["p2", "p3"]
    assert "--since 72h, --keep 100" in cluster.run("prune", code=2).stderr
    # Logs that the daemon has not moved yet are forgotten, too.
    late = cluster.path("state", "muster", "pods", os.listdir(records)[0], "logs")
    os.makedirs(late)
    cluster.run("prune", "--since=0s")
    assert not os.path.exists(late)
    assert runs(cluster) == [] and os.listdir(records) == []
    assert os.listdir(cluster.path("state", "muster", "runs")) == []
    assert "not kept" not in cluster.run("history").stderr


def test_a_rerun_without_its_code_says_so(cluster, code):
    cluster.run("run", "--name=gone", "train.py", "0.1", cwd=code)
    subprocess.run(["rm", "-r", cluster.path("state", "muster", "snapshots")], check=True)
    assert "the code of gone is not kept any more" in cluster.run("rerun", "gone", code=1).stderr
    assert "not kept any more" in cluster.run("code", "gone", code=1).stderr
