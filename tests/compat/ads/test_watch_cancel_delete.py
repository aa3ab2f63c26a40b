"""`watch`, `cancel`, `delete` against the mock (compat/opctl.md 1.3, 4.5; 7, 50-56)."""
import os
import re
import shutil
import subprocess
import threading

import pytest

from oci_user import oci_mock
from waiting import PATIENCE

STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture
def runs(user):
    user.submit()
    return list(user.mock.runs)


def watch(user, *args, **options):
    return user.run("watch", *args, "--interval", "0", "--wait", "0", "--exit-status", **options)


def test_one_run_to_its_end(user, runs):
    user.mock.move(runs[0], "IN_PROGRESS")
    user.mock.log(runs[0], "hello")
    user.mock.log(runs[0], "world")
    user.mock.move(runs[0], "SUCCEEDED")
    job = next(iter(user.mock.jobs))
    lines = watch(user, runs[0]).stdout.splitlines()
    assert lines[:2] == [f"Job OCID: {job}", f"Job Run OCID: {runs[0]}"]
    assert [re.sub(STAMP, "T", line) for line in lines[2:]] == [
        "T - hello", "T - world", "T - Job Run SUCCEEDED"]


def test_the_run_goes_on_meanwhile(user, runs):
    watching = user.start("watch", runs[0], "--interval", "0", "--wait", "0", "--exit-status")
    seen = []
    for line in watching.stdout:
        text = re.sub(STAMP, "T", line.strip())
        seen.append(text)
        if text == "T - Job Run ACCEPTED":
            user.mock.move(runs[0], "IN_PROGRESS")
        elif text == "T - Job Run IN_PROGRESS":
            user.mock.log(runs[0], "one")
        elif text == "T - one":
            user.mock.log(runs[0], "two")
            user.mock.move(runs[0], "FAILED", "Job run failed. exit code 3")
    watching.communicate(timeout=PATIENCE)
    assert seen[2:] == ["T - Job Run ACCEPTED", "T - Job Run IN_PROGRESS", "T - one", "T - two",
                        "T - Job Run FAILED, Job run failed. exit code 3"]
    assert watching.returncode == 3


def test_a_jobs_runs_are_merged_by_time(user, runs):
    for at, (run, message) in enumerate([(0, "m1"), (2, "w1"), (0, "m2"), (1, "w0")]):
        user.mock.log(runs[run], message, at=f"2026-11-21T00:00:0{at}.000Z")
    for run in user.mock.runs.values():
        run["timeAccepted"] = "2026-11-20T23:00:00.000Z"
        user.mock.move(run["id"], "SUCCEEDED")
    user.mock.move(runs[2], "FAILED")
    job = next(iter(user.mock.jobs))
    lines = watch(user, job, code=1).stdout.splitlines()
    assert lines[:5] == [f"Job OCID: {job}"] + [
        f"[{role}] Job Run OCID: {run}"
        for role, run in zip(["main", "worker_0", "worker_1", "worker_2"], runs)]
    assert lines[5:9] == [
        "[main] 2026-11-21 00:00:00 - m1", "[worker_1] 2026-11-21 00:00:01 - w1",
        "[main] 2026-11-21 00:00:02 - m2", "[worker_0] 2026-11-21 00:00:03 - w0"]
    assert len(lines) == 13
    assert watch(user, *runs, "--no-exit-status").returncode == 0


def test_the_exit_code_is_oracles_unless_it_is_wanted(user, runs):
    user.mock.move(runs[0], "FAILED", "Job run failed. exit code 3")
    command = ["watch", runs[0], "--interval", "0", "--wait", "0"]
    assert " - Job Run FAILED, Job run failed. exit code 3\n" in user.run(*command).stdout
    user.run(*command, "--exit-status", code=3)
    shutil.copy2(user.path("bin", "ads"), user.path("bin", "muster"))
    for flags, code in [([], 3), (["--no-exit-status"], 0)]:
        done = subprocess.run([user.path("bin", "muster"), "opctl", *command, *flags], cwd=user.home, env=user.env,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stderr


def test_only_the_last_start_of_a_job(user, runs):
    for run in runs:
        user.mock.move(run, "FAILED")
    job = next(iter(user.mock.jobs))
    for run in user.mock.runs.values():
        run["timeAccepted"] = "2026-11-20T23:00:00.000Z"
    user.run("run", "--ocid", job)
    for run in user.mock.runs:
        user.mock.move(run, "SUCCEEDED")
    out = watch(user, job).stdout
    assert not any(run in out for run in runs)


def test_without_a_log(user, runs):
    user.mock.runs[runs[0]]["logDetails"] = None
    user.mock.move(runs[0], "CANCELED")
    lines = watch(user, runs[0], code=1).stdout.splitlines()
    assert lines[2] == "Logging is not configured for the job. Watch() will only show job status."
    assert lines[3].endswith(" - Job Run CANCELED") and len(lines) == 4


def test_a_log_without_lines(user, runs):
    user.mock.move(runs[0], "SUCCEEDED")
    assert watch(user, runs[0]).stdout.splitlines()[-1] == (
        "No logs in the last 14 days. Please set time_start to see older logs.")


def test_flags_without_meaning_for_jobs_are_taken(user, runs):
    user.mock.move(runs[0], "SUCCEEDED")
    plain = watch(user, runs[0]).stdout
    assert watch(user, runs[0], "--log-type", "custom_log", "--log-filter", "x", "--conda-pack-folder", "f",
                 "-d").stdout == plain


def test_late_lines_are_waited_for(user, runs):
    user.mock.move(runs[0], "SUCCEEDED")
    user.mock.log(runs[0], "late", delay=1.0)
    done = user.run("watch", runs[0], "--interval", "0", "--wait", "3")
    assert " - late\n" in done.stdout


def test_more_lines_than_one_answer_holds(user, runs):
    for i in range(2600):
        user.mock.log(runs[0], f"line {i}", at=f"2026-11-21T00:00:{i // 100:02d}.{i % 100:02d}0Z")
    user.mock.runs[runs[0]]["timeAccepted"] = "2026-11-20T23:00:00.000Z"
    user.mock.move(runs[0], "SUCCEEDED")
    lines = watch(user, runs[0]).stdout.splitlines()[2:-1]
    assert [line.split(" - ")[1] for line in lines] == [f"line {i}" for i in range(2600)]


def test_errors_of_the_log_are_tolerated(user, runs):
    user.mock.fail("POST", "/search", 404, times=5, code="NotFound")
    user.mock.log(runs[0], "there")
    user.mock.move(runs[0], "SUCCEEDED")
    done = user.run("watch", runs[0], "--interval", "0", "--wait", "3")
    assert " - there\n" in done.stdout


@pytest.mark.parametrize("args, message", [
    (["watch", "foo"], "ValueError: Must provide a resource run OCID."),
    (["cancel", "foo"], "ValueError: Must provide a resource OCID."),
    (["delete", "xx"], "ValueError: Must provide a resource OCID."),
    (["activate", "x"], "NotImplementedError: `activate` has not been implemented yet."),
    (["deactivate", "x", "-a", "instance_principal", "--wait-for-completion"],
     "NotImplementedError: `deactivate` has not been implemented yet."),
])
def test_what_is_no_ocid(user, args, message):
    assert user.fails(*args) == message
    assert user.mock.requests == []


def test_a_run_that_is_not_there(user):
    line = user.fails("watch", "ocid1.datasciencejobrun.oc1.iad.nope")
    assert line.startswith("ServiceError: 404 NotAuthorizedOrNotFound: Authorization failed or "
                           "requested resource not found. (get_job_run of data_science")


def test_cancel_of_a_run_says_nothing(user, runs):
    done = user.run("cancel", runs[1])
    assert done.stdout == "" and done.stderr == ""
    assert user.mock.runs[runs[1]]["lifecycleState"] == "CANCELING"


def test_cancel_waits_for_the_end(user, runs):
    user.mock.cancel_looks = 3
    out = user.run("cancel", runs[0], "--wait-for-completion", "--poll-interval", "0").stdout
    assert out == f"Job run {runs[0]} has been cancelled.\n"
    job = next(iter(user.mock.jobs))
    out = user.run("cancel", job, "--wait-for-completion", "--poll-interval", "0").stdout
    assert out == f"All job runs under {job} have been cancelled.\n"
    assert {run["lifecycleState"] for run in user.mock.runs.values()} == {"CANCELED"}


def test_cancel_of_a_run_that_ends_by_itself(user, runs):
    user.mock.cancel_looks = 10 ** 6

    def end():
        user.mock.move(runs[0], "SUCCEEDED")

    cancelling = user.start("cancel", runs[0], "--wait-for-completion", "--poll-interval", "0")
    timer = threading.Timer(0.5, end)
    timer.start()
    out, _ = cancelling.communicate(timeout=PATIENCE)
    timer.join()
    assert cancelling.returncode == 0
    assert out == f"Job run {runs[0]} has ended already: SUCCEEDED\n"
    assert user.run("cancel", runs[0]).stdout == ""


def test_cancel_does_not_wait_for_ever(user, runs):
    user.mock.cancel_looks = 10 ** 6
    line = user.fails("cancel", runs[0], "--wait-for-completion", "--poll-interval", "0",
                      "--max-wait-time", "1")
    assert line.endswith(f"the job run {runs[0]} is still CANCELING after 1 s")


def test_cancel_of_a_cluster(user, runs):
    assert user.run("distributed-training", "cancel").stdout == (
        "Either job ocid or yaml file with `jobId` key is required\n")
    job = next(iter(user.mock.jobs))
    user.mock.fail("POST", f"{runs[1]}/actions", 404, code="NotFound")
    out = user.run("distributed-training", "cancel", "-j", job, code=1).stdout.splitlines()
    assert out[0] == f"Cancelling Job Run: {runs[0]}"
    assert out[2].startswith("Error cancelling: ServiceError: 404 NotFound")
    assert len(out) == 5


def test_a_file_goes_before_the_id_of_a_job(user, runs):
    user.write("info.yaml", f"jobId: {next(iter(user.mock.jobs))}\n")
    user.run("distributed-training", "cancel", "-j", "ocid1.datasciencejob.oc1.iad.other", "-f", "info.yaml")
    assert {run["lifecycleState"] for run in user.mock.runs.values()} == {"CANCELED"}


def test_cancel_of_a_cluster_that_has_ended(user, runs):
    for run in runs:
        user.mock.move(run, "SUCCEEDED")
    job = next(iter(user.mock.jobs))
    assert user.run("distributed-training", "cancel", "-j", job).stdout == (
        f"All job runs of {job} have ended already\n")


def test_cancel_of_a_cluster_without_runs(user, runs):
    user.mock.runs.clear()
    job = next(iter(user.mock.jobs))
    assert user.run("distributed-training", "cancel", "-j", job).stdout == (
        f"No Job runs found for : {job}\n")


def test_a_list_of_many_pages(user, runs):
    user.mock.page_size = 2
    job = next(iter(user.mock.jobs))
    user.run("cancel", job)
    assert {run["lifecycleState"] for run in user.mock.runs.values()} == {"CANCELING"}
    assert len(user.mock.seen("GET", r"jobRuns\?")) == 2


def test_delete(user, runs):
    user.mock.move(runs[0], "FAILED")
    assert user.run("delete", runs[0]).stdout == f"Job run {runs[0]} has been deleted.\n"
    job = next(iter(user.mock.jobs))
    assert user.run("delete", job).stdout == f"Job {job} has been deleted.\n"
    assert user.mock.jobs == {}
    assert {run["lifecycleState"] for run in user.mock.runs.values()} == {"DELETED"}
    paths = [one["path"] for one in user.mock.seen("DELETE")]
    assert paths[-1].endswith(job)


@pytest.fixture
def instance(user, runs, tmp_path):
    """The user's machine is a compute instance, and nothing is configured on it."""
    user.mock.instance = oci_mock.Instance(str(tmp_path))
    user.env["OCI_METADATA_BASE_URL"] = user.mock.url + "/opc/v2"
    os.remove(user.config)
    return user


def test_an_instance_principal(instance, runs):
    for run in runs:
        instance.mock.move(run, "SUCCEEDED")
    watch(instance, runs[0], "--auth", "instance_principal")
    instance.run("cancel", runs[0], "-a", "instance_principal")
    [asked] = instance.mock.seen("POST", "/v1/x509")[:1]
    assert asked["headers"]["authorization"].startswith(
        'Signature algorithm="rsa-sha256",headers="date (request-target) content-length content-type x-content-sha256"')
    # `run` has no such choice; the environment and ~/.ads_ops have.
    instance.submit(env={"OCI_IAM_TYPE": "instance_principal"})
    assert len(instance.mock.runs) == 8


def test_an_instances_token_is_renewed(instance, runs):
    # One that is about to run out, within 30 s, is not used again; it is valid until then.
    instance.mock.token_lifetime = 25
    instance.run("delete", runs[0], "-a", "instance_principal")  # each request makes a key, which takes a while
    assert len(instance.mock.seen("POST", "/v1/x509")) > 1


def test_an_instance_principal_where_there_is_none(user, runs, tmp_path):
    user.env["OCI_METADATA_BASE_URL"] = user.mock.url + "/opc/v2"
    line = user.fails("cancel", runs[0], "-a", "instance_principal")
    assert line == (f"Error: instance principal: {user.mock.url}/opc/v2/instance/region: HTTP 404: only compute "
                    "instances of Oracle's cloud have this service; elsewhere use --auth api_key")
    # A certificate that the service does not know.
    user.mock.instance = oci_mock.Instance(str(tmp_path))
    user.mock.instance.certificate_base64 = "another"
    line = user.fails("cancel", runs[0], "-a", "instance_principal")
    assert line.startswith("ServiceError: 401 NotAuthenticated: The certificate is not the instance's.")
    user.mock.instance.certificate = "none"
    line = user.fails("cancel", runs[0], "-a", "instance_principal")
    assert line == "Error: instance principal: the instance's certificate (cert.pem) is none"
