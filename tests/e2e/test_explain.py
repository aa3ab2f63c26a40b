"""`explain`: each failure is really injected, and the verdict names it."""
import json
import os
import re
import subprocess
import tarfile

import pytest

from places import LAUNCHER
from test_recorder import NEWEST, needs_newest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What the program of rank 1 does, the class, who is named, and a part of the deciding line.
FAULTS = {
    "exception": ("raise KeyError('lr')", "KeyError: 'lr'"),
    "file-missing": ("open('nosuch.csv')", "No such file or directory: 'nosuch.csv'"),
    "checkpoint-missing": ("open('out/last.pt')", "out/last.pt"),
    "import": ("import no_such_module", "No module named 'no_such_module'"),
    "native-crash": ("import os; os.kill(os.getpid(), 11)", ""),
    "unreachable": ("import socket; socket.create_connection(('127.0.0.1', 1))", "Connection refused"),
    "port-in-use": ("import socket; a = socket.create_server(('127.0.0.1', 0)); "
                    "socket.create_server(a.getsockname())", "Address already in use"),
    "dns": ("import socket; socket.getaddrinfo('no.such.invalid', 80)", "gaierror"),
    "too-many-open-files": ("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9)); "
                            "kept = [open('/dev/null') for i in range(20)]", "Too many open files"),
    "host-out-of-memory": ("import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
                           "bytearray(1 << 31)", "MemoryError"),
    "disk-full": ("open('/dev/full', 'w').write('x' * 100000)", "No space left on device"),
    "arguments": ("import argparse; argparse.ArgumentParser('train.py').parse_args(['--lrr', '1'])",
                  "unrecognized arguments: --lrr"),
    "checkpoint-corrupt": ("import pickle; pickle.loads(b'')", "Ran out of input"),
    "unknown": ("import sys; print('bye'); sys.exit(3)", "bye"),
}


def program(cluster, name, fault):
    """Rank 1 fails when its peer has begun; the peer ends by what its peer's end does to it."""
    path = cluster.path("home", f"{name}.py")
    with open(path, "w") as file:
        file.write("import os, time\n"
                   "print('step 1 loss 0.5', flush=True)\n"
                   f"if os.environ['RANK'] == '1':\n    {fault}\n"
                   "time.sleep(600)\n")
    os.chmod(path, 0o644)
    return path


def explain(cluster, name, *flags):
    return json.loads(cluster.run("explain", name, "-o", "json", *flags).stdout)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_named(cluster, kind):
    fault, line = FAULTS[kind]
    path = program(cluster, kind, fault)
    done = cluster.submit("job", f"python3 {path}", "--workers=2", "--wait", code=None)
    assert done.returncode != 0
    verdict = explain(cluster, "job")
    assert verdict["class"] == kind, verdict
    assert verdict["who"]["instance"] == "job-worker-0" and verdict["who"]["rank"] == 1
    assert line in verdict["line"]
    if verdict["where"]:
        assert (verdict["where"]["file"], verdict["where"]["line"]) == (path, 4)
    assert ("`muster explain job`: " in done.stderr) == (kind != "unknown")


def folder_that_fails(cluster):
    folder = cluster.path("home", "work")
    os.makedirs(folder)
    with open(os.path.join(folder, "train.py"), "w") as file:
        file.write("import os, time\nif os.environ['RANK'] == '1':\n    raise ValueError('boom')\n"
                   "time.sleep(600)\n")
    return folder


def test_ranks_that_are_counted_by_pods(cluster):
    folder = folder_that_fails(cluster)
    cluster.run("run", "--nodes=2", "-n", "2", "--name=four", "train.py", cwd=folder, code=None)
    verdict = explain(cluster, "four")
    assert (verdict["class"], verdict["line"]) == ("exception", "ValueError: boom"), verdict
    assert (verdict["who"]["rank"], verdict["who"]["instance"]) == (1, "four-master-0")
    others = sorted(fact["source"] for fact in verdict["consequences"])
    assert others == ["rank 0 (four-master-0)", "rank 2 (four-worker-0)", "rank 3 (four-worker-0)"]


# Only the launcher's report names ranks, and both launchers end within a second.
@pytest.mark.parametrize("pods", [1, 2])
def test_ranks_whose_lines_nothing_marks(cluster, pods):
    script = cluster.path("home", "train.py")
    with open(script, "w") as file:
        file.write("import os, time\nprint('step 1', flush=True)\n"
                   f"if os.environ['RANK'] == '{pods}':\n    raise ValueError('boom')\ntime.sleep(600)\n")
    done = cluster.submit("job", f"torchrun {script}", f"--workers={pods}", "--nproc-per-node=2", "--wait", code=1)
    verdict = explain(cluster, "job")
    assert (verdict["class"], verdict["line"]) == ("exception", "ValueError: boom"), verdict
    assert (verdict["who"]["rank"], verdict["where"]["file"], verdict["where"]["line"]) == (pods, script, 4)
    assert f"rank {pods} ({verdict['who']['instance']}) exited with code 1: ValueError: boom" in done.stderr


def test_what_ended_by_another_hand(cluster):
    cluster.run("run", "-d", "--name=first", "sleep 600")
    cluster.run("run", "-d", "--name=then", "--wait-for=first", "true")
    cluster.wait("first", "RUNNING")
    cluster.run("delete", "first")
    cluster.wait("then", "FAILED")
    assert explain(cluster, "first")["class"] == "stopped"
    verdict = explain(cluster, "then")
    assert verdict["class"] == "awaited-job" and "job first" in verdict["line"]
    cluster.run("run", "--name=well", "true")
    verdict = explain(cluster, "well")
    assert (verdict["class"], verdict["title"]) == ("none", "nothing failed")


def test_a_sweep_is_explained_by_the_first_trial_that_failed(cluster):
    folder = folder_that_fails(cluster)
    with open(os.path.join(folder, "trial.py"), "w") as file:
        file.write("import sys\nprint('loss', 1)\nif sys.argv[1] == '2':\n    raise ValueError('too big')\n")
    cluster.run("run", "--name=trials", "--sweep", "lr=1..3", "trial.py", "{lr}", cwd=folder, code=1)
    verdict = explain(cluster, "trials")
    assert (verdict["class"], verdict["line"]) == ("exception", "ValueError: too big")
    assert verdict["where"]["file"] == "trial.py" and verdict["where"]["line"] == 4
    assert (verdict["trial"]["index"], verdict["trial"]["values"]) == (1, {"lr": "2"}), verdict


def test_a_program_that_is_not_there_and_where_it_was_looked_for(cluster):
    cluster.run("run", "--name=typo", "nosuchprogram", "--lr", "1", code=127)
    verdict = explain(cluster, "typo")
    assert (verdict["class"], verdict["title"]) == ("program-missing", "a program is not found")
    assert "nosuchprogram: not found" in verdict["line"]
    assert any(fact["source"] == "the job's PATH" and "/usr/bin" in fact["text"] for fact in verdict["evidence"]), verdict


def test_a_run_of_two_ranks_and_after_its_deletion(cluster):
    folder = folder_that_fails(cluster)
    done = cluster.run("run", "-n", "2", "--name=two", "train.py", cwd=folder, code=None)
    assert done.returncode == 1
    assert "exited with code 1: ValueError: boom" in done.stderr
    before = explain(cluster, "two")
    assert (before["class"], before["who"]["rank"]) == ("exception", 1)
    assert before["where"] == {"file": "train.py", "line": 3, "function": "<module>"}
    cluster.run("delete", "two")
    assert explain(cluster, "two") == before
    screen = cluster.run("explain", "two").stdout
    assert len(screen.splitlines()) <= 24 and max(map(len, screen.splitlines())) <= 100
    assert "Where:     train.py:3 in <module>\n" in screen


def test_a_deadline_and_a_limit_of_memory(cluster):
    cluster.submit("late", "exec sleep 600", "--running-timeout=1s")
    cluster.wait("late", "FAILED")
    assert explain(cluster, "late")["class"] == "deadline"
    cluster.submit("fat", "python3 -c 'x = [bytearray(1 << 20) for i in range(4000)]'", "--memory=200Mi", "--wait",
                   code=None)
    assert explain(cluster, "fat")["class"] == "host-out-of-memory"


def test_what_a_program_printed_in_one_long_line(cluster):
    cluster.submit("long", "python3 -c 'print(\"long\" * (5 << 20)); raise SystemExit(3)'", "--wait", code=None)
    told = explain(cluster, "long")
    assert told["title"] == "it ended itself, and said nothing that decides why"
    assert "longlong" in told["line"]


def test_what_has_not_failed(cluster):
    cluster.submit("well", "true", "--wait")
    assert cluster.run("explain", "well").stdout.endswith(" SUCCEEDED: nothing failed\n")
    cluster.submit("runs", "exec sleep 600")
    cluster.wait("runs", "RUNNING")
    assert cluster.run("explain", "runs").stdout.endswith(" RUNNING: nothing has failed yet\n")
    cluster.run("stop", "runs")
    assert " SUSPENDED: " in cluster.run("explain", "runs").stdout


def test_a_loss_that_is_no_number(cluster):
    cluster.submit("lost", "echo step 1 loss 0.5; echo step 2 loss nan; echo step 3 loss nan", "--wait")
    told = cluster.run("explain", "lost").stdout.splitlines()
    assert told[0].endswith(" SUCCEEDED: nothing failed")
    assert told[1] == "But a loss is not a number any more: lost-master-0: step 2 loss nan"
    assert re.search(r"^Progress: .*nan.*: the loss is not a number any more$", cluster.run("get", "lost").stdout, re.MULTILINE)
    followed = cluster.run("logs", "lost", "-f")
    assert followed.stdout.splitlines()[1] == "step 2 loss nan"
    assert followed.stderr.count("a loss is not a number any more: step 2 loss nan") == 1, followed.stderr


def test_a_program_that_ends_after_a_loss_that_is_no_number_and_says_nothing(cluster):
    cluster.submit("silent", "echo step 1 loss 0.5; echo step 2 loss nan; echo step 3 loss nan; exit 3")
    cluster.wait("silent", "FAILED")
    verdict = json.loads(cluster.run("explain", "silent", "-o", "json").stdout)
    assert verdict["class"] == "unknown", verdict
    assert any(each["text"].endswith("step 2 loss nan") for each in verdict["evidence"]), verdict
    assert "learning rate" in cluster.run("explain", "silent").stdout


@pytest.mark.parametrize("flags", [["--restart-policy=OnFailure"], []])
def test_a_job_stops_when_its_loss_is_no_number(cluster, flags):
    done = cluster.submit("lost", "echo step 1 loss 0.5; echo step 2 loss inf; exec sleep 600", "--stop-on-nan", "--wait",
                          *flags, code=None)
    assert done.returncode != 0
    verdict = explain(cluster, "lost")
    assert (verdict["class"], verdict["who"]["instance"]) == ("nan", "lost-master-0"), verdict
    assert "a loss is not a number any more: step 2 loss inf" in verdict["line"]


@pytest.mark.parametrize("flags", [["--restart-policy=OnFailure"], ["--restart-policy=ExitCode"], []])
def test_a_loss_that_is_no_number_in_one_pod_stops_all_pods(cluster, flags):
    done = cluster.submit("lost", 'test "$RANK" = 1 && echo step 2 loss nan; exec sleep 600', "--workers=2", "--stop-on-nan", "--wait",
                          *flags, code=None)
    assert done.returncode != 0
    verdict = explain(cluster, "lost")
    assert (verdict["class"], verdict["who"]["instance"]) == ("nan", "lost-worker-0"), verdict
    assert "a loss is not a number any more: step 2 loss nan" in verdict["line"]
    cluster.wait("lost", "FAILED")


TRACE = 'Traceback (most recent call last):\n  File "{0}", line 7, in f\n{1}\n'


def test_logs_of_other_launchers(cluster):
    folder = cluster.path("home", "logs")
    for rank, text in ((0, TRACE.format("a.py", "RuntimeError: Connection closed by peer")),
                       (1, TRACE.format("b.py", "ValueError: boom"))):
        os.makedirs(os.path.join(folder, "attempt_0", str(rank)))
        with open(os.path.join(folder, "attempt_0", str(rank), "stderr.log"), "w") as file:
            file.write(text)
    for flags in (["--logs", folder], [f"--logs={folder}"]):
        verdict = json.loads(cluster.run("explain", *flags, "-o", "json").stdout)
        assert (verdict["class"], verdict["who"]["rank"], verdict["where"]["file"]) == ("exception", 1, "b.py")
    srun = "".join(f"{rank}: {line}\n" for line in TRACE.format("c.py", "MemoryError").splitlines() for rank in (3,))
    done = subprocess.run([cluster.binary, "explain", "--logs", "-", "-o", "json"], input="0: fine\n" + srun,
                          capture_output=True, text=True, env=cluster.env, check=True)
    assert json.loads(done.stdout)["class"] == "host-out-of-memory"
    assert json.loads(done.stdout)["who"]["rank"] == 3


RECORDED = """import os, sys, time
from torch.distributed.elastic.multiprocessing.errors import record

@record
def main():
    if os.environ["RANK"] == "1":
        open(__file__ + ".raised", "w").close()
        raise ValueError("boom")
    while not os.path.exists(__file__ + ".raised"):
        time.sleep(0.05)
    time.sleep(2.5)  # times of error files are of seconds
    raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

main()
"""


# Debian's torch 1.13 cannot start its own launcher with Python 3.11.
@pytest.mark.parametrize("launcher", [pytest.param("torchrun", marks=needs_newest), "muster-launch"])
def test_error_files_of_recorded_exceptions_tell_who_was_first(cluster, launcher):
    script, folder = cluster.path("home", "recorded.py"), cluster.path("home", launcher)
    with open(script, "w") as file:
        # A launcher ends the others when the first has failed: they hear of it when they have failed, too.
        file.write("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + RECORDED)
    start = {"torchrun": [NEWEST, "-m", "torch.distributed.run"],
             "muster-launch": [LAUNCHER, "--python", "/usr/bin/python3"]}[launcher]
    done = subprocess.run([*start, "--standalone", "--nproc_per_node=2", f"--log_dir={folder}", script], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "MUSTER_PYTHON_SHIM": "off"})
    assert done.returncode != 0
    files = [name for _, _, names in os.walk(folder) for name in names]
    assert files.count("error.json") == 2 and not [name for name in files if name.endswith(".log")], files
    verdict = json.loads(cluster.run("explain", "--logs", folder, "-o", "json").stdout)
    assert (verdict["class"], verdict["who"]["rank"], verdict["line"]) == ("exception", 1, "ValueError: boom")
    assert (verdict["where"]["file"], verdict["where"]["line"]) == (script, 9)
    # With what the launcher has printed, in which the other one stands first.
    with open(os.path.join(folder, "out.log"), "w") as file:
        file.write(done.stdout + done.stderr)
    verdict = json.loads(cluster.run("explain", "--logs", folder, "-o", "json").stdout)
    assert (verdict["who"]["rank"], verdict["line"]) == (1, "ValueError: boom")


def test_reports_in_json_that_a_folder_has_beside_logs(cluster):
    def judge(name, path, text):
        folder = cluster.path("home", name)
        os.makedirs(os.path.join(folder, "attempt_0", "1"))
        open(os.path.join(folder, "attempt_0", "1", "stderr.log"), "w").close()
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)
        verdict = json.loads(cluster.run("explain", "--logs", folder, "-o", "json").stdout)
        return verdict["class"], (verdict["who"] or {}).get("rank")

    failure = {"rank": 1, "local_rank": 1, "host": "n1", "pid": 7, "exit_code": -11}
    report = {"restarts_used": 0, "failures": [failure],
              "root_cause": {**failure, "class": "signal", "message": "ended by signal 11 (SIGSEGV)"}}
    assert judge("reported", "failure.json", json.dumps(report)) == ("native-crash", 1)
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"labels": {"batch.kubernetes.io/job-completion-index": "3"}, "name": "a-3-x7f2k"},
           "status": {"containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}]}}
    assert judge("described", "pods.json", json.dumps(pod, indent=4)) == ("host-out-of-memory", 3)
    assert judge("neither", "config.json", json.dumps({"reason": "OOMKilled"}, indent=4)) == ("unknown", None)


def test_bad_input(cluster):
    empty = cluster.path("home", "empty")
    os.makedirs(empty)
    reports = cluster.path("home", "reports")
    os.makedirs(reports)
    with open(os.path.join(reports, "verdict.json"), "w") as file:
        file.write("{}")
    for words, told in ((["explain"], "explain takes one job, or files of logs after --logs"),
                        (["explain", "a", "b"], "explain takes one job"),
                        (["explain", "nosuch"], "no run nosuch is known"),
                        (["explain", "--logs", "/nosuch"], 'open "/nosuch": No such file'),
                        (["explain", "--logs", empty], "there is no file in"),
                        (["explain", "--logs", reports], "there are only reports in")):
        done = cluster.run(*words, code=None)
        assert done.returncode != 0 and done.stdout == ""
        assert told in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    binary = cluster.path("home", "random")
    with open(binary, "wb") as file:
        file.write(os.urandom(1 << 20))
    assert json.loads(cluster.run("explain", "--logs", binary, "-o", "json").stdout)["class"]


def test_every_class_is_in_the_manual():
    kinds = set()
    for name in os.listdir(os.path.join(ROOT, "src", "answers", "rules")):
        with open(os.path.join(ROOT, "src", "answers", "rules", name)) as file:
            kinds |= set(re.findall(r"^class (.*)", file.read(), re.MULTILINE))
    for name in ("explain.cc", "chain_finding.cc", "exit_finding.cc", "status.cc"):
        with open(os.path.join(ROOT, "src", "answers", name)) as file:
            kinds |= set(re.findall(r'kind = "([a-z-]+)"', file.read()))
    with open(os.path.join(ROOT, "docs", "explain.md")) as file:
        listed = set(re.findall(r"^\| `([a-z-]+)` \|", file.read(), re.MULTILINE))
    assert kinds - listed == {"peer-lost"}, "a consequence, which is never a verdict"


def test_every_flag_that_an_advice_names_is_one(cluster):
    told = []
    for name in os.listdir(os.path.join(ROOT, "src", "answers", "rules")):
        with open(os.path.join(ROOT, "src", "answers", "rules", name)) as file:
            told += re.findall(r"^advice (.*)", file.read(), re.MULTILINE)
    for name in ("explain.cc", "exit_finding.cc", "status.cc"):
        with open(os.path.join(ROOT, "src", "answers", name)) as file:
            told.append(file.read())
    known = {"--ntasks", "--cpus-per-task", "--mem", "--gres", "--exclude"}  # of Slurm
    for help_of in (("submit", "pytorch"), ("run",), ("launch",)):
        known |= set(re.findall(r"--[a-z][a-z-]+", cluster.run(*help_of, "--help").stdout))
    assert set(re.findall(r"--[a-z][a-z-]+", "\n".join(told))) <= known


def test_a_bundle_for_a_colleague(cluster, tmp_path):
    # Only the master fails: a worker that is faster would end it before it speaks.
    (tmp_path / "private").write_text("DB_PASSWORD=lion-9\nDEVICE=cuda-9\n")
    cluster.submit("told", "echo token $HF_TOKEN; echo in words $DB_PASSWORD, on $DEVICE; echo clone https://me:pass@host/x; [ $RANK = 0 ] || sleep 60; exit 3",
                   "--workers=2", "--env=HF_TOKEN=tiger-2", f"--env-file={tmp_path}/private")
    cluster.wait("told", "FAILED")
    path = str(tmp_path / "told.tar.gz")
    assert cluster.run("explain", "told", "--bundle", path).stdout.startswith(path + " has ")
    assert os.stat(path).st_mode & 0o777 == 0o600
    with tarfile.open(path) as bundle:
        texts = {name.split("/", 1)[1]: bundle.extractfile(name).read().decode()
                 for name in bundle.getnames() if bundle.getmember(name).isfile()}
    assert {"explain.txt", "explain.json", "job.yaml", "pods.yaml", "warnings.txt", "about.txt",
            "logs/told-master-0.log", "logs/told-worker-0.log"} == set(texts)
    assert "in words ***, on cuda-9\n" in texts["logs/told-master-0.log"]
    assert "token ***\n" in texts["logs/told-master-0.log"] and "https://me:***@host/x" in texts["logs/told-master-0.log"]
    assert "tiger-2" not in "".join(texts.values()) and "name: HF_TOKEN" in texts["job.yaml"]
    assert json.loads(texts["explain.json"])["who"]["exitCode"] == 3
    before = open(path, "rb").read()
    assert "there is a file of that name" in cluster.run("explain", "told", "--bundle", path, code=1).stderr
    assert open(path, "rb").read() == before
    nowhere = str(tmp_path / "no" / "told.tar.gz")
    assert nowhere in cluster.run("explain", "told", "--bundle", nowhere, code=1).stderr
    cluster.run("delete", "told")
    cluster.run("explain", "told", "--bundle", str(tmp_path / "gone.tar.gz"))
