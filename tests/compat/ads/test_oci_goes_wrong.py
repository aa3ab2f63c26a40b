"""When things go wrong in the cloud while they cost money: starts that break, networks that are away,
answers that are lost, users who want no more."""
import os
import signal
import time

import pytest
import yaml

from oci_user import TRAIN
from waiting import PATIENCE, await_true

JOB = "ocid1.datasciencejob.oc1.iad.mock1"


def states(user):
    return [run["lifecycleState"] for run in user.mock.runs.values()]


def start(user):
    return user.start("run", "-f", "train.yaml", "--nobuild")


def refused(user, *args, **options):
    return user.fails("run", "-f", "train.yaml", "--nobuild", *args, **options)


def end(running, code):
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == code, (out, err)
    return err


# A start that breaks.

def test_runs_that_cannot_be_cancelled_yet_are_cancelled_in_the_end(user):
    user.mock.fail("POST", "/jobRuns$", 400, after=2, code="LimitExceeded")
    user.mock.cancel_refusals = 2
    user.mock.cancel_looks = 2
    line = refused(user)
    assert f"2 runs of job {JOB} were cancelled" in line and "STILL" not in line
    assert states(user) == ["CANCELED"] * 2


def test_a_run_that_lives_on_is_named_with_the_command_that_ends_it(user):
    user.mock.fail("POST", "/jobRuns$", 400, after=1)
    user.mock.cancel_refusals = 10 ** 6
    running = start(user)
    await_true(lambda: len(user.mock.seen("POST", "cancelJobRun")) == 2)
    running.send_signal(signal.SIGINT)
    line = end(running, 1).splitlines()[-1]
    [run] = user.mock.runs
    assert f"STILL RUNNING, and to be cancelled by you: {run} (ACCEPTED: ServiceError: 409 " in line
    assert line.rstrip().endswith(f": `ads opctl cancel {JOB}`") and "were cancelled" not in line
    user.mock.cancel_refusals = 0
    user.run("cancel", JOB)
    assert states(user) == ["CANCELING"]


def test_a_list_that_fails_names_the_job(user):
    user.mock.fail("POST", "/jobRuns$", "reset", times=99, after=1)
    user.mock.fail("GET", "/jobRuns\\?", 500, times=10 ** 6)
    running = start(user)
    await_true(lambda: len(user.mock.seen("GET", "/jobRuns\\?")) == 2)
    running.send_signal(signal.SIGINT)
    line = end(running, 1).splitlines()[-1]
    assert f"the runs of job {JOB} could not be listed (ServiceError: 500" in line
    assert ("the answer about run PyTorch-Distributed-worker_0 was lost, and it MAY STILL BE "
            f"RUNNING: `ads opctl watch {JOB}`") in line


def test_a_job_whose_answer_was_lost_is_named(user):
    user.mock.fail("POST", "/jobs$", "reset", times=99)
    line = refused(user)
    assert ("whether the job PyTorch-Distributed was created is not known: it has no runs, and "
            "costs nothing") in line
    assert user.mock.runs == {}


def test_a_job_without_a_run_that_cannot_be_deleted_is_named(user):
    user.mock.fail("POST", "/jobRuns$", 400)
    user.mock.fail("DELETE", "/jobs/", 404, times=9, code="NotAuthorizedOrNotFound")
    assert f"the job {JOB} is left, without runs: `ads opctl delete {JOB}`" in refused(user)


# A user who wants no more.

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_done", [True, False])
def test_a_signal_breaks_the_wait_for_an_answer(user, number, is_done):
    answer = user.mock.hold("POST", "/jobRuns$", is_done, after=1)
    running = start(user)
    await_true(lambda: len(user.mock.seen("POST", "/jobRuns$")) == 2)
    running.send_signal(number)
    # The service does it all the same, after everybody has stopped waiting.
    await_true(lambda: user.mock.seen("GET", "/jobRuns\\?"))
    answer.set()
    err = end(running, 130)
    assert f"interrupted: the start of job {JOB} is undone" in err
    assert f"Error: interrupted; 2 runs of job {JOB} were cancelled" in err
    assert states(user) == ["CANCELED"] * 2


def test_a_signal_breaks_a_pause(user):
    user.mock.fail("POST", "/jobRuns$", 429, times=9, after=1, headers={"retry-after": "300"})
    running = start(user)
    await_true(lambda: len(user.mock.seen("POST", "/jobRuns$")) == 2)
    time.sleep(0.5)  # the answer has come
    running.send_signal(signal.SIGINT)
    err = end(running, 130)
    # The service refused the second run: there is none to look for.
    assert "1 run of job" in err and "MAY STILL BE RUNNING" not in err
    assert states(user) == ["CANCELED"]


def test_a_signal_before_there_is_a_job(user):
    answer = user.mock.hold("POST", "/jobs$", False)
    running = start(user)
    await_true(lambda: user.mock.seen("POST", "/jobs$"))
    running.send_signal(signal.SIGINT)
    assert "interrupted; whether the job PyTorch-Distributed was created is not known" in end(
        running, 130)
    answer.set()


def test_the_wait_is_told(user):
    user.mock.fail("POST", "/jobRuns$", 503, headers={"retry-after": "5"})
    assert "create_job_run of data_science: HTTP 503; again in 5.0 s" in user.submit().stderr


def test_a_pause_that_is_too_long_is_said(user):
    user.mock.fail("POST", "/jobs$", 503, headers={"retry-after": "3600"})
    assert "it asks to be left alone for 3600 s" in refused(user)
    assert len(user.mock.requests) == 1


# What is known before the first request.

@pytest.mark.parametrize("work_dir, why", [
    ('""', "workDir is missing"),
    ("s3://bucket/prefix", 'workDir is "s3://bucket/prefix": nodes cannot meet in s3://'),
    ("http://host/x", 'workDir is "http://host/x": nodes cannot meet in http://'),
    ("work/dir", 'workDir is "work/dir", a relative path'),
    ("file://work", 'workDir is "file://work": a folder is named from its root'),
    ("oci://my-bucket/prefix", "workDir is not a bucket: "),
])
def test_a_work_dir_in_which_nobody_meets(user, work_dir, why):
    user.write("train.yaml", TRAIN.replace('"oci://my-bucket@my-namespace/pytorch/distributed"', work_dir))
    line = refused(user)
    assert line.startswith("ValueError: train.yaml: spec.cluster.spec." + why), line
    assert line.endswith("write oci://bucket@namespace/prefix, where the nodes meet")
    assert user.mock.requests == []


def test_a_folder_for_a_work_dir_wants_a_mount(user):
    text = TRAIN.replace('"oci://my-bucket@my-namespace/pytorch/distributed"', "file:///mnt/work")
    user.write("train.yaml", text)
    assert "without a storageMount each node has a folder of its own" in user.submit().stderr
    user.write("train.yaml", text.replace("blockStorageSize: 50", "storageMount: [{src: oci://b@n/p, "
                                          "dest: /mnt/work}]"))
    assert user.submit().stderr == ""


@pytest.mark.parametrize("path, why", [
    ("nowhere/info.yaml", "No such file or directory"), (".", "Is a directory"),
    ("train.yaml/x", "Not a directory"), ("/proc/info.yaml", "No such file or directory"),
])
def test_an_info_file_that_cannot_be_written(user, path, why):
    line = refused(user, "--job-info", path)
    assert line == (f'ValueError: --job-info "{path}": {why}: name a file that can be written; '
                    "nothing was started")
    assert user.mock.requests == []
    line = user.fails("run", "--ocid", JOB, "--job-info", path)
    assert line.startswith(f'ValueError: --job-info "{path}": {why}')
    assert user.mock.requests == []


def test_the_overwriting_is_decided_before_the_start(user):
    user.write("info.yaml", "mine")
    done = user.submit("--job-info", "info.yaml", answer="n\n")
    assert "File info.yaml already exists. Overwrite the file? [yN]: " in done.stdout
    assert user.read("info.yaml") == "mine"
    user.submit("--job-info", "info.yaml", answer="y\n")
    assert yaml.safe_load(user.read("info.yaml"))["jobId"] in user.mock.jobs
    job = next(iter(user.mock.jobs))
    user.run("run", "--ocid", job, "--job-info", "info.yaml", "-y")
    assert yaml.safe_load(user.read("info.yaml"))["jobId"] == job


# A watch.

@pytest.fixture
def run_id(user):
    user.submit()
    return next(iter(user.mock.runs))


def test_a_watch_outlives_a_network_that_is_away(user, run_id):
    user.mock.move(run_id, "IN_PROGRESS")
    watching = user.start("watch", run_id, "--interval", "0", "--wait", "0")
    for line in watching.stdout:
        if "IN_PROGRESS" in line:
            break
    user.mock.go_away()
    for line in watching.stderr:
        if "retrying for 10 minutes; the runs continue" in line:
            break
    user.mock.log(run_id, "meanwhile")
    user.mock.move(run_id, "SUCCEEDED")
    user.mock.come_back()
    out, _ = watching.communicate(timeout=PATIENCE)
    assert watching.returncode == 0
    assert " - meanwhile\n" in out and "Job Run SUCCEEDED" in out


@pytest.mark.parametrize("is_held", [False, True])
def test_a_watch_that_is_interrupted_leaves_the_runs_alone(user, run_id, is_held):
    if is_held:
        answer = user.mock.hold("POST", "/search", True)
    watching = user.start("watch", run_id, "--interval", "600")
    await_true(lambda: user.mock.seen("POST", "/search"))
    watching.send_signal(signal.SIGINT)
    line = end(watching, 130).splitlines()[-1]
    assert line == (f"what runs in the cloud goes on: `ads opctl watch {run_id}` follows it again, "
                    f"`ads opctl cancel {run_id}` ends it")
    assert states(user) == ["ACCEPTED"] * 4
    if is_held:
        answer.set()


# Answers of somebody else.

@pytest.mark.parametrize("action, part", [
    (b"<html><body>Sign in to the hotel's network</body></html>", "the answer is not JSON"),
    (b'{"ok": true}', "the answer is not an OCID: is there a proxy that answers?"),
    ("cut", "broke"),
    (307, "ServiceError: 307"),
])
def test_an_answer_that_is_not_the_services_is_one_line(user, action, part):
    times = 99 if action == "cut" else 1
    user.mock.fail("POST", "/jobs$", action, times=times, headers={"location": "http://x/"})
    done = user.run("run", "-f", "train.yaml", "--nobuild", code=1)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert len(lines) == 1 and part in lines[0], lines
    assert user.mock.runs == {}


@pytest.mark.parametrize("kind", ["directory", "a loop", "no key"])
def test_a_key_that_cannot_be_used_is_one_line(user, kind):
    text = user.read(".oci/config")
    if kind == "directory":
        user.write(".oci/config", text.replace(user.key.path, user.home))
        assert f'read "{user.home}": Is a directory' in refused(user)
    elif kind == "no key":
        user.write(".oci/config", text.replace(user.key.path, user.write("empty", "")))
        assert "it holds no private key (PEM)" in refused(user)
    else:
        user.write(".oci/config", text.replace(user.key.path, user.path("k")))
        os.symlink("k", user.path("k"))
        assert "Too many levels of symbolic links" in refused(user)
    assert user.mock.requests == []


def test_a_key_that_others_can_read_is_warned_of(user):
    path = user.write("key.pem", open(user.key.path).read())
    os.chmod(path, 0o644)
    user.write(".oci/config", user.read(".oci/config").replace(user.key.path, path))
    assert f"others can read the key {path}: `chmod 600 {path}`" in user.submit().stderr
    os.chmod(path, 0o600)
    assert user.submit().stderr == ""


def test_cancel_and_delete_of_runs_that_cannot_be_cancelled_yet(user, run_id):
    user.mock.cancel_refusals = 1
    user.run("cancel", run_id)
    assert len(user.mock.seen("POST", "cancelJobRun")) == 2
    user.mock.cancel_refusals = 0
    job = next(iter(user.mock.jobs))
    done = user.run("delete", job)
    assert done.stderr == "Waiting until 4 runs have ended\n"
    # All of them before the first is waited for.
    paths = [one["path"] for one in user.mock.requests]
    cancels = [at for at, path in enumerate(paths) if path.endswith("cancelJobRun")]
    looks = [at for at, path in enumerate(paths) if path.endswith(list(user.mock.runs)[-1])]
    assert cancels[5] < looks[0]
    assert user.mock.jobs == {}


def test_new_runs_beside_living_ones_are_warned_of(user, run_id):
    job = next(iter(user.mock.jobs))
    assert f"4 run(s) of {job} have not ended" in user.run("run", "--ocid", job).stderr


def test_names_that_are_very_long(user):
    name = "n" * 5000
    user.write("train.yaml", TRAIN.replace("PyTorch-Distributed-main", name))
    user.submit()
    assert user.mock.run_named(name)
