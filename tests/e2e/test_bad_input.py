"""Bad input: one clear line, the documented exit code, nothing left behind."""
import http.server
import os
import shlex
import subprocess
import threading

import pytest

from waiting import PATIENCE, await_words

USAGE = 2
FAILURE = 1

LINE_CASES = [
    # arguments, exit code, words of the line
    (["submit", "pytorch", "--name=j", "--workrs=2", "true"], USAGE, ["unknown flag: --workrs", "--workers"]),
    (["submit", "pytorch", "--name=Bad_Name", "true"], USAGE, ["job name must consist of lower case"]),
    (["submit", "pytorch", "--name=" + "a" * 50, "true"], USAGE, ["too long", "less than 49"]),
    (["submit", "pytorch", "--name=j", "--workers=0", "true"], USAGE, ["--workers"]),
    (["submit", "pytorch", "--name=j", "--workers=two", "true"], USAGE, ["--workers", "two"]),
    (["submit", "pytorch", "--name=j"], USAGE, ["not found command args: give the command after the flags"]),
    (["submit", "--name=j", "true"], USAGE, ["unknown flag: --name", "the kind of job comes first: muster submit pytorch"]),
    (["submit", "pytorch", "true"], USAGE, ['required flag(s) "name" not set']),
    (["submit", "pytorch", "--name=j", "--gpus=-1", "true"], USAGE, ["--gpus is invalid"]),
    (["submit", "pytorch", "--name=j", "--memory=lots", "true"], USAGE, ["--memory is invalid"]),
    (["submit", "pytorch", "--name=j", "--env=NOVALUE", "true"], USAGE, ["--env", "NOVALUE"]),
    (["submit", "pytorch", "--name=j", "--sync-mode=hdfs", "--sync-source=x", "true"], None, ["hdfs"]),
    (["submit", "pytorch", "--name=j", "--sync-mode=git", "true"], USAGE,
     ["--syncSource should be set when syncMode is set"]),
    (["submit", "tfjob", "--name=j", "true"], None, ["muster"]),
    (["lst"], USAGE, ['unknown command "lst"', "list"]),
    (["install", "--image=two words"], USAGE, ["--image=two words: is no image's name: "]),
    (["install", "--", "--gang-schduler-name=volcano"], USAGE,
     ["muster operator has no flag --gang-schduler-name", "did you mean --gang-scheduler-name?"]),
    (["install", "--image=https://registry.local/Muster"], USAGE, ["is no image's name: "]),
    (["operator", "--metrics-bind-address=nonsense"], USAGE, ["--metrics-bind-address: "]),
    (["operator", "--health-probe-bind-address=8081"], USAGE, ["--health-probe-bind-address: "]),
    (["submt"], USAGE, ['unknown command "submt" for "muster" (did you mean submit?)']),
    (["get"], USAGE, ["JOB is missing: muster get JOB [flags]"]),
    (["attach"], USAGE, ["JOB is missing: muster attach JOB"]),
    (["show"], USAGE, ["RUN is missing: muster show RUN [flags]"]),
    (["compare", "a"], USAGE, ["RUN... is missing: muster compare RUN RUN..."]),
    (["list", "absent"], USAGE, ['"absent" is one argument too many: muster list [flags]']),
    (["run", "--nam=x", "true"], USAGE,
     ["unknown flag: --nam (did you mean --name?): flags of your program go after its name"]),
    (["get", "absent"], FAILURE, ["Not found training job absent in namespace default"]),
    (["logs", "absent"], FAILURE, ["training job not found"]),
    (["list", "-o", "xml"], None, ["unknown output format"]),
    (["logs", "absent", "--since=yesterday"], None, ["since"]),
    (["top", "node", "absent"], FAILURE, ["not found nodes"]),
    (["--loglevel=loud", "list"], None, ["unknown loglevel"]),
    (["operator", "--enable-scheme=dummyjob"], USAGE, ["scheme dummyjob is not supported yet"]),
    (["operator", "--enable-scheme=TFJob", "--enable-scheme=mpijob"], USAGE,
     ["--enable-scheme", "PyTorchJobs only"]),
    (["operator", "--zap-log-level=silly"], USAGE, ["--zap-log-level", "silly"]),
    (["operator", "--controller-threads=0"], USAGE, ["--controller-threads"]),
    (["operator", "--zap-devel", "--zap-log-level=2", "--zap-encoder=json", "--enable-scheme=tfjob",
      "--enable-scheme=PyTorchJob", "--kubeconfig=/does/not/exist"], FAILURE,
     ["--enable-scheme=tfjob: muster runs PyTorchJobs only", "open /does/not/exist"]),
    (["list", "--config=/does/not/exist"], FAILURE, ["open /does/not/exist", "flag --config /does/not/exist"]),
    (["list", "--config=/x", "--kubeconfig=/does/not/exist"], FAILURE, ["flag --kubeconfig /does/not/exist"]),
    (["data", "create", "d", "--path", "relative"], None, ["absolute"]),
    (["data", "create", "d", "--path", "/does/not/exist"], None, ["/does/not/exist"]),
]


@pytest.mark.parametrize("args,code,words", LINE_CASES, ids=lambda value: None)
def test_one_clear_line(shared_cluster, args, code, words):
    done = shared_cluster.run(*args, code=None)
    assert done.returncode in ((code,) if code else (USAGE, FAILURE)), done.stderr
    said = done.stderr + done.stdout
    for word in words:
        assert word in said
    assert len(done.stderr.splitlines()) <= 2, done.stderr  # of flags that are taken and mean nothing, one each
    assert shared_cluster.run("list").stdout.splitlines()[1:] == []


@pytest.fixture(scope="module")
def shared_cluster():
    from embedded_muster import Cluster
    made = Cluster()
    yield made
    made.close()


def failed(cluster, name, timeout=PATIENCE):
    job = cluster.wait(name, "FAILED", timeout=timeout)
    shown = cluster.run("get", name).stdout
    assert job["status"] == "FAILED"
    return shown


def test_name_already_taken(cluster):
    cluster.submit("taken", "true")
    done = cluster.submit("taken", "false", code=FAILURE)
    assert "the job taken is already exist, please delete it first." in done.stderr
    assert len(cluster.run("list").stdout.splitlines()) == 2


def test_unknown_instance(cluster):
    cluster.submit("known", "true")
    done = cluster.run("logs", "known", "-i", "known-worker-9", code=FAILURE)
    assert "invalid instance name known-worker-9 in job known" in done.stderr


def test_unreachable_git_url_fails_with_gits_words(cluster):
    cluster.submit("nogit", "true", "--workers=2", "--sync-mode=git", "--sync-source=file:///absent/repo.git")
    shown = failed(cluster, "nogit")
    assert "absent/repo.git" in shown and "fatal:" in shown, shown


def test_missing_revision_names_it(cluster, repository):
    cluster.submit("norev", "true", "--sync-mode=git", f"--sync-source=file://{repository}",
                   "--env=GIT_SYNC_REV=v9.9")
    assert "v9.9" in failed(cluster, "norev")


class Forbidding(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()

    def log_message(self, *_):
        pass


def test_wrong_password_is_said_and_never_shown(cluster):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forbidding)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    password = "s3cr3t-passw0rd"
    try:
        cluster.submit("nopass", "true", "--sync-mode=git",
                       f"--sync-source=http://127.0.0.1:{server.server_port}/repo.git",
                       "--env=GIT_SYNC_USERNAME=me", f"--env=GIT_SYNC_PASSWORD={password}")
        shown = failed(cluster, "nopass")
    finally:
        server.shutdown()
    assert "Authentication failed" in shown
    everything = shown + cluster.run("get", "nopass", "-o", "json").stdout
    everything += cluster.run("get", "nopass", "-o", "yaml").stdout
    assert password not in everything
    for folder, _, files in os.walk(cluster.path("state")):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                holds_password = password.encode() in file.read()
            assert not holds_password or os.stat(path).st_mode & 0o077 == 0, path
            assert not (holds_password and name.endswith(".log")), path


def test_more_gpus_than_the_machine_has_waits_and_says_why(cluster):
    with open(cluster.path("config/muster/config.yaml"), "a") as file:
        file.write("  gpus: strict\n")
    cluster.submit("gpus", "true", "--gpus=64")
    await_words("Insufficient nvidia.com/gpu", lambda: cluster.run("get", "gpus").stdout)
    assert cluster.get("gpus")["status"] == "PENDING"


DEATHS = [
    ("killed", "kill -KILL $$", ["rank 0", "SIGKILL"]),
    ("segfault", "python -c 'import ctypes; ctypes.string_at(0)'", ["rank 0", "SIGSEGV"]),
    ("code", "echo the last word; exit 3", ["rank 0", "exited with code 3", "the last word"]),
    ("term", "kill -TERM $$", ["rank 0", "SIGTERM"]),
    ("nosuch", "/no/such/program", ["rank 0", "127", "/no/such/program"]),
]


@pytest.mark.parametrize("name,command,words", DEATHS, ids=[case[0] for case in DEATHS])
def test_a_dead_process_is_told_with_its_rank(cluster, name, command, words):
    cluster.submit(name, command)
    shown = failed(cluster, name)
    for word in words:
        assert word in shown, shown


def test_the_first_rank_that_failed_is_named(cluster):
    cluster.run("submit", "pytorch", "--name=first", "--workers=3",
                "if [ $RANK = 0 ]; then sleep 1; exit 5; fi; sleep 30")
    shown = failed(cluster, "first")
    assert "rank 0" in shown and "code 5" in shown


def test_a_full_disk_while_logging_does_not_stop_the_training(cluster):
    if os.getuid() != 0:
        pytest.skip("needs root to mount a small file system")
    state = cluster.path("state")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", state], check=True)
    try:
        cluster.submit("full", "python -c \"for i in range(200000): print('x' * 100)\nprint('done')\"")
        job = cluster.wait("full", "SUCCEEDED", "FAILED")
        assert job["status"] == "SUCCEEDED", cluster.run("get", "full").stdout
    finally:
        cluster.run("down", "--force", code=None)
        subprocess.run(["umount", "-l", state], check=True)


def test_stdout_is_data_and_stderr_is_talk(cluster):
    assert cluster.run("list").stderr == ""
    cluster.submit("quiet", "true")
    cluster.wait("quiet", "SUCCEEDED")
    assert cluster.run("list", "-o", "json").stderr == ""


def test_a_closed_stdout_is_told_and_nothing_else_receives_what_it_was_to_get(cluster):
    cluster.submit("said", "echo said")
    cluster.wait("said", "SUCCEEDED")
    for args in (["list"], ["get", "said"], ["logs", "said"], ["--help"]):
        done = subprocess.run(["/bin/sh", "-c", shlex.join([cluster.binary, *args]) + " >&-"], env=cluster.env,
                              cwd=cluster.path("home"), text=True, capture_output=True, timeout=PATIENCE)
        assert (done.returncode, done.stderr.split("] ")[-1]) == (
            FAILURE, "write standard output: Bad file descriptor\n"), args


def test_down_refuses_while_a_job_runs_unless_forced(cluster):
    cluster.submit("busy", "sleep 600")
    cluster.wait("busy", "RUNNING")
    refused = cluster.run("down", code=FAILURE)
    assert "default/busy" in refused.stderr and "--force" in refused.stderr
    assert cluster.get("busy")["status"] == "RUNNING"
    cluster.run("down", "--force")
    assert cluster.pod_processes() == []
    assert cluster.get("busy")["status"] == "FAILED"
    assert "muster down --force" in cluster.run("get", "busy").stdout
