"""`run -b job` against the mock: payloads, order, retries, rollback (compat/opctl.md 7, cases 41-48)."""
import os
import signal

import pytest
import yaml

from oci_user import TRAIN, make_token, oci_mock
from train_yaml import TRAIN as THE_DOCUMENTS
from waiting import PATIENCE, await_true

JOB = {
    "projectId": "ocid1.datascienceproject.oc1.iad.p",
    "compartmentId": "ocid1.compartment.oc1..c",
    "displayName": "PyTorch-Distributed",
    "jobConfigurationDetails": {
        "jobType": "DEFAULT",
        "environmentVariables": {
            "NCCL_ASYNC_ERROR_HANDLING": "1",
            "OCI__WORK_DIR": "oci://my-bucket@my-namespace/pytorch/distributed",
            "OCI__EPHEMERAL": "None", "OCI__CLUSTER_TYPE": "PYTORCH", "OCI__WORKER_COUNT": "3",
            "OCI__START_ARGS": "", "OCI__ENTRY_SCRIPT": "train.py",
            "OCI__ENTRY_SCRIPT_ARGS": "--timeout 5"}},
    "jobInfrastructureConfigurationDetails": {
        "jobInfrastructureType": "STANDALONE", "shapeName": "VM.GPU2.1",
        "subnetId": "ocid1.subnet.oc1.iad.s", "blockStorageSizeInGBs": 50},
    "jobEnvironmentConfigurationDetails": {
        "jobEnvironmentType": "OCIR_CONTAINER",
        "image": "iad.ocir.io/my-tenancy/image-name:latest"},
    "jobLogConfigurationDetails": {
        "enableLogging": True, "enableAutoLogCreation": False,
        "logGroupId": "ocid1.loggroup.oc1.iad.g", "logId": "ocid1.log.oc1.iad.l"},
}
INFO = """\
......................... Initializing the process ...................................
jobId: ocid1.datasciencejob.oc1.iad.mock1
mainJobRunId:
  PyTorch-Distributed-main: ocid1.datasciencejobrun.oc1.iad.mock2
otherJobRunIds:
- PyTorch-Distributed-worker_0: ocid1.datasciencejobrun.oc1.iad.mock3
- PyTorch-Distributed-worker_1: ocid1.datasciencejobrun.oc1.iad.mock4
- PyTorch-Distributed-worker_2: ocid1.datasciencejobrun.oc1.iad.mock5
workDir: oci://my-bucket@my-namespace/pytorch/distributed
# ⭐ To stream the logs of the main job run:
# $ ads opctl watch ocid1.datasciencejobrun.oc1.iad.mock2
"""


def without(text, *keys):
    return "\n".join(line for line in text.splitlines()
                     if not any(line.strip().startswith(key + ":") for key in keys)) + "\n"


def states(user):
    return [run["lifecycleState"] for run in user.mock.runs.values()]


def test_creates_one_job_and_its_runs_in_order(user):
    assert user.submit().stdout == INFO
    assert user.sent("/jobs") == [JOB]
    runs = user.sent("/jobRuns")
    assert [(run["displayName"],
             run["jobConfigurationOverrideDetails"]["environmentVariables"]) for run in runs] == [
        ("PyTorch-Distributed-main", {"OCI__MODE": "MAIN", "RANK": "0"}),
        ("PyTorch-Distributed-worker_0", {"OCI__MODE": "WORKER", "RANK": "1"}),
        ("PyTorch-Distributed-worker_1", {"OCI__MODE": "WORKER", "RANK": "2"}),
        ("PyTorch-Distributed-worker_2", {"OCI__MODE": "WORKER", "RANK": "3"})]
    assert set(runs[0]) == {"projectId", "compartmentId", "displayName", "jobId",
                            "jobConfigurationOverrideDetails"}
    assert [request["status"] for request in user.mock.requests] == [200] * 5
    assert [request["path"] for request in user.mock.requests] == (
        ["/20190101/jobs"] + ["/20190101/jobRuns"] * 4)


def test_debug_names_each_request(user):
    assert user.submit().stderr == ""
    lines = user.submit("-d").stderr.splitlines()
    assert len(lines) == 5 and "create_job of data_science: HTTP 200, opc-request-id " in lines[0]


def test_keeps_the_information_that_cancel_reads(user):
    user.submit("--job-info", "info.yaml", "-q")
    assert yaml.safe_load(user.read("info.yaml"))["jobId"] in user.mock.jobs
    out = user.run("distributed-training", "cancel", "-f", "info.yaml").stdout
    assert out == "".join(f"Cancelling Job Run: {run}\n" for run in user.mock.runs)
    assert states(user) == ["CANCELED"] * 4
    assert yaml.safe_load(user.submit("-q").stdout)["workDir"].startswith("oci://")


def test_quiet_output_is_the_information_alone(user):
    done = user.submit("--job-info", "info.yaml", "-q")
    assert yaml.safe_load(done.stdout) == yaml.safe_load(user.read("info.yaml"))
    assert "Job run info saved to info.yaml\n" in done.stderr
    [job] = user.mock.jobs
    again = user.run("run", "--ocid", job, "-q", "--job-info", "again.yaml")
    assert yaml.safe_load(again.stdout) == yaml.safe_load(user.read("again.yaml"))


def test_output_with_the_line_about_the_file_is_read(user):
    user.write("info.yaml", user.submit("--job-info", "other.yaml").stdout)
    assert "Job run info saved" in user.read("info.yaml")
    user.run("distributed-training", "cancel", "-f", "info.yaml")
    assert states(user) == ["CANCELED"] * 4


def test_information_can_go_to_a_descriptor(user):
    out = user.submit("--job-info", "/dev/stderr", "-q")
    assert yaml.safe_load(out.stdout)["jobId"] in out.stderr
    assert "Overwrite" not in out.stdout + out.stderr


@pytest.mark.parametrize("mode", ["w", "a"])
def test_information_in_a_log_file_leaves_its_other_lines(user, mode):
    user.write("all.log", "earlier\n")
    with open(user.path("all.log"), mode) as log:
        user.start("run", "-f", "train.yaml", "--nobuild", "--job-info", "/dev/stdout",
                   stdout=log).communicate(timeout=PATIENCE)
        print("later", file=log)
    lines = user.read("all.log").splitlines()
    assert (lines[0] == "earlier") == (mode == "a") and lines[-1] == "later"
    assert sum(line.startswith("jobId: ") for line in lines) == 2
    assert "Job run info saved to /dev/stdout" in lines


def test_a_passing_error_creates_a_run_once(user):
    user.mock.fail("POST", "/jobRuns$", 500, after=2)
    user.mock.fail("POST", "/jobRuns$", "reset", after=3)
    user.submit()
    assert len(user.mock.runs) == 4
    tokens = [one["headers"]["opc-retry-token"] for one in user.mock.seen("POST", "/jobRuns$")]
    assert len(tokens) == 6 and len(set(tokens)) == 4
    assert all(len(token) == 30 and token.isalnum() for token in tokens)


def test_a_run_that_cannot_be_created_cancels_the_others(user):
    user.mock.fail("POST", "/jobRuns$", 400, after=2, code="LimitExceeded",
                   headers={"opc-request-id": "r"})
    line = user.fails("run", "-f", "train.yaml", "--nobuild")
    assert line.startswith("ServiceError: 400 LimitExceeded: an injected fault (create_job_run of "
                           "data_science"), line
    assert "2 runs of job ocid1.datasciencejob.oc1.iad.mock1 were cancelled" in line
    assert states(user) == ["CANCELED"] * 2


def test_a_run_whose_answer_was_lost_is_cancelled_too(user):
    # The service did it each time, under one token, and nobody heard.
    user.mock.fail("POST", "/jobRuns$", "reset", times=99, after=1)
    line = user.fails("run", "-f", "train.yaml", "--nobuild")
    assert "2 runs of job" in line
    assert states(user) == ["CANCELED"] * 2


def test_a_run_that_cannot_be_cancelled_is_named(user):
    user.mock.fail("POST", "/jobRuns$", 400, after=1)
    user.mock.fail("POST", "cancelJobRun$", 400, times=9)
    line = user.fails("run", "-f", "train.yaml", "--nobuild")
    assert "STILL RUNNING, and to be cancelled by you: ocid1.datasciencejobrun.oc1.iad.mock2" in line


def test_a_job_without_a_run_is_taken_away(user):
    user.mock.fail("POST", "/jobRuns$", 400)
    user.fails("run", "-f", "train.yaml", "--nobuild")
    assert user.mock.jobs == {}


def test_an_interrupt_while_runs_are_created_cancels_them(user):
    user.mock.fail("POST", "/jobRuns$", 429, times=2, after=1, headers={"retry-after": "2"})
    running = user.start("run", "-f", "train.yaml", "--nobuild")
    await_true(lambda: len(user.mock.seen("POST", "/jobRuns$")) == 2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, (out, err)
    assert "interrupted" in err
    assert set(states(user)) == {"CANCELED"}


@pytest.mark.parametrize("change, part, expected", [
    (lambda text: without(text, "subnetId"), "jobInfrastructureConfigurationDetails",
     {"jobInfrastructureType": "ME_STANDALONE", "shapeName": "VM.GPU2.1",
      "blockStorageSizeInGBs": 50}),
    (lambda text: without(text, "logId"), "jobLogConfigurationDetails",
     {"enableLogging": True, "enableAutoLogCreation": True,
      "logGroupId": "ocid1.loggroup.oc1.iad.g"}),
    (lambda text: without(text, "logId", "logGroupId"), "jobLogConfigurationDetails", None),
    (lambda text: text.replace("VM.GPU2.1", "VM.Standard.E3.Flex\n      shapeConfigDetails: "
                               "{ocpus: 2, memoryInGBs: 22}"),
     "jobInfrastructureConfigurationDetails",
     {"jobInfrastructureType": "STANDALONE", "shapeName": "VM.Standard.E3.Flex",
      "subnetId": "ocid1.subnet.oc1.iad.s", "blockStorageSizeInGBs": 50,
      "jobShapeConfigDetails": {"ocpus": 2.0, "memoryInGBs": 22.0}}),
    (lambda text: text.replace("blockStorageSize: 50", "freeformTags: {a: b}"), "freeformTags",
     {"a": "b"}),
    (lambda text: text.replace("blockStorageSize: 50", "storageMount: [{src: oci://b@n/p, "
                               "dest: /mnt/x}]"),
     "jobStorageMountConfigurationDetailsList",
     [{"storageType": "OBJECT_STORAGE", "destinationDirectoryName": "x",
       "destinationPath": "/mnt", "namespace": "n", "bucket": "b", "prefix": "p"}]),
    (lambda text: without(text, "displayName").replace(
        "    kind: pytorch\n    spec:", "    kind: pytorch\n    spec:\n      name: mine"),
     "displayName", "mine"),
    (lambda text: text.replace("displayName: PyTorch-Distributed", "displayName: of-${OCI__WORKER_COUNT}"),
     "displayName", "of-3"),
    (lambda text: text.replace("shapeName: VM.GPU2.1", "shapeConfigDetails: {ocpus: 2, memoryInGBs: 22}"),
     "jobInfrastructureConfigurationDetails",
     {"jobInfrastructureType": "STANDALONE", "subnetId": "ocid1.subnet.oc1.iad.s", "blockStorageSizeInGBs": 50,
      "jobShapeConfigDetails": {"ocpus": 2.0, "memoryInGBs": 22.0}}),
])
def test_the_job_says_what_the_file_says(user, change, part, expected):
    user.write("train.yaml", change(TRAIN))
    user.submit()
    assert user.sent("/jobs")[0].get(part) == expected


def test_a_key_that_is_not_known_is_shown_and_not_sent(user):
    user.submit()
    user.write("train.yaml", TRAIN.replace("blockStorageSize: 50", "blockStorageSize: 50\n      reservation: {id: 1}"))
    said = "train.yaml line 16: the unknown key \"reservation\" in spec.infrastructure.spec is not sent\n"
    dry = user.run("run", "-f", "train.yaml", "--dry-run")
    assert "      reservation:\n        id: 1\n" in dry.stdout and dry.stderr == said
    assert user.submit().stderr == said
    plain, other = user.sent("/jobs")
    assert plain == other


def test_a_service_of_a_test_takes_the_documents_example(user):
    user.write("train.yaml", THE_DOCUMENTS)
    for env in ({}, {"MUSTER_OCI_ENDPOINT": "", "OCI_ODSC_SERVICE_ENDPOINT": user.mock.url}):
        user.submit(env=env)
        assert user.sent("/jobs")[-1]["projectId"] == "oci.xxxx.<project_ocid>"


def test_the_group_of_a_log_is_looked_up(user):
    user.mock.log_groups = {"ocid1.loggroup.oc1.iad.x": ["ocid1.log.oc1.iad.other"],
                            "ocid1.loggroup.oc1.iad.y": ["ocid1.log.oc1.iad.l"]}
    user.write("train.yaml", without(TRAIN, "logGroupId"))
    user.submit()
    logs = user.sent("/jobs")[0]["jobLogConfigurationDetails"]
    assert logs["logGroupId"] == "ocid1.loggroup.oc1.iad.y"


@pytest.mark.parametrize("key, message", [
    ("compartmentId", "ValueError: Specify compartment ID for data science job."),
    ("projectId", "ValueError: Specify project ID for data science job."),
])
def test_what_is_missing_is_said_before_any_request(user, key, message):
    user.write("train.yaml", without(TRAIN, key))
    assert user.fails("run", "-f", "train.yaml", "--nobuild") == message
    assert user.mock.requests == []


def test_references_without_end_are_refused_before_any_request(user):
    user.write("train.yaml", TRAIN.replace("value: '1'", "value: '${NCCL_ASYNC_ERROR_HANDLING}:1'"))
    line = user.fails("run", "-f", "train.yaml")
    assert line.startswith("InterpolationDepthError: train.yaml: the value of NCCL_ASYNC_ERROR_HANDLING refers to itself")
    assert user.mock.requests == []


def test_new_runs_of_a_distributed_job_take_their_places(user):
    user.write("train.yaml", TRAIN.replace("worker\n", "worker\n        config: {env: [{name: OF_ROLE, value: x}]}\n"))
    user.submit()
    job = next(iter(user.mock.jobs))
    for run in list(user.mock.runs):
        user.mock.move(run, "SUCCEEDED")
    user.run("run", "--ocid", job)
    assert user.sent("/jobRuns")[4:] == user.sent("/jobRuns")[:4]
    # The latest run of a place counts.
    list(user.mock.runs.values())[4]["displayName"] = "renamed"
    user.mock.fail("POST", "/jobRuns$", 400, after=1)
    user.fails("run", "--ocid", job)
    assert user.sent("/jobRuns")[8]["displayName"] == "renamed"
    # Of the three starts only the last is undone.
    assert states(user) == ["SUCCEEDED"] * 4 + ["ACCEPTED"] * 4 + ["CANCELED"]


def test_a_dry_run_of_an_existing_job_creates_nothing(user):
    user.submit()
    [job] = user.mock.jobs
    user.write("info.yaml", "kept\n")
    out = user.run("run", "--ocid", job, "--dry-run", "--job-info", "info.yaml").stdout
    begin = out.index("\n" + "+" * 80)
    assert out[:begin] == "-" * 29 + "Entering dryrun mode" + "-" * 34 + f"\nJob OCID: {job}"
    whole = user.run("run", "-f", "train.yaml", "--dry-run").stdout
    assert out[begin:] == whole[whole.index("\n" + "+" * 80):]
    assert len(user.mock.runs) == 4 and user.read("info.yaml") == "kept\n"


# Signing in.

def refused(user, **options):
    return user.fails("run", "-f", "train.yaml", "--nobuild", **options)


def test_no_configuration(user):
    os.remove(user.config)
    assert refused(user).startswith(
        f"ConfigFileNotFound: Could not find config file at {user.config}: write one with")


@pytest.mark.parametrize("text, message", [
    ("user=x\n", "InvalidConfig: {path} line 1: a [section] must come before the first key"),
    ("[DEFAULT]\n", "InvalidConfig: {{'fingerprint': 'missing', 'key_file': 'missing', 'region': "
     "'missing', 'tenancy': 'missing', 'user': 'missing'}} in profile DEFAULT of {path}"),
])
def test_a_malformed_configuration(user, text, message):
    user.write(".oci/config", text)
    assert refused(user) == "Error: " + message.format(path=user.config)
    assert user.mock.requests == []


def test_a_profile_that_is_not_there(user):
    line = user.fails("run", "-f", "train.yaml", "--nobuild", "--oci-profile", "X")
    assert line.endswith(f"ProfileNotFound: Profile 'X' not found in config file {user.config}: it "
                         "has DEFAULT")


def test_a_fingerprint_of_another_key(user):
    wrong = "00" + user.key.fingerprint[2:]
    user.write(".oci/config", user.read(".oci/config").replace(user.key.fingerprint, wrong))
    line = refused(user)
    assert f"is {wrong}, and the key in {user.key.path} has {user.key.fingerprint}" in line
    assert user.mock.requests == []


def test_a_key_file_that_is_not_there(user):
    user.write(".oci/config", user.read(".oci/config").replace(user.key.path, "/nowhere/key"))
    assert 'read "/nowhere/key": No such file or directory' in refused(user)


def test_an_encrypted_key(user):
    key = oci_mock.Key(user.path("locked.pem"), "secret words")
    user.mock.trust(key)
    oci_mock.write_profile(user.home, key, "LOCKED")
    user.submit("--oci-profile", "LOCKED")
    user.write(".oci/config", user.read(".oci/config").replace("secret words", "other words"))
    line = user.fails("run", "-f", "train.yaml", "--nobuild", "--oci-profile", "LOCKED")
    assert "pass_phrase does not open it" in line and "other words" not in line


def test_a_user_whom_the_service_does_not_know(user):
    user.mock.keys.clear()
    line = refused(user)
    assert line.startswith("ServiceError: 401 NotAuthenticated: ")
    assert f"check user, tenancy and fingerprint of profile DEFAULT in {user.config}" in line


def test_a_clock_that_is_off(user):
    user.mock.clock_offset = 900
    line = refused(user)
    assert "behind the service's, which allows 300 s: set it (timedatectl set-ntp true)" in line
    user.mock.clock_offset = -200
    user.submit()


@pytest.mark.parametrize("status, code", [(404, "NotAuthorizedOrNotFound"), (409, "Conflict"),
                                          (400, "InvalidParameter")])
def test_an_error_is_one_line(user, status, code):
    user.mock.fail("POST", "/jobs$", status, code=code)
    line = refused(user)
    assert line.startswith(f"ServiceError: {status} {code}: an injected fault (create_job of "
                           "data_science, opc-request-id "), line
    assert user.mock.runs == {}


def test_a_service_that_is_not_there(user):
    line = refused(user, env={"MUSTER_OCI_ENDPOINT": "http://127.0.0.1:1"})
    assert "nothing listens at 127.0.0.1:1" in line


def test_a_security_token(user):
    token = make_token(3600)
    user.mock.trust_token(token, user.key)
    path = user.write("token", token + "\n")
    user.write(".oci/config", f"[S]\nkey_file={user.key.path}\nregion=iad\n"
                              f"security_token_file={path}\n")
    user.submit("--auth", "security_token", "--oci-profile", "S")
    user.write("token", make_token(-10))
    line = user.fails("run", "-f", "train.yaml", "--nobuild", "-a", "security_token",
                      "--oci-profile", "S")
    assert "the session token expired at" in line
    assert "oci session authenticate --profile-name S" in line


@pytest.mark.parametrize("is_path", [False, True])
def test_a_resource_principal(user, is_path):
    token = make_token(3600)
    user.mock.trust_token(token, user.key)
    with open(user.key.path) as file:
        pem = file.read()
    if is_path:
        token, pem = user.write("rpst", token), user.key.path
    os.remove(user.config)
    user.submit(env={"OCI_RESOURCE_PRINCIPAL_VERSION": "2.2", "OCI_RESOURCE_PRINCIPAL_REGION": "iad",
                     "OCI_RESOURCE_PRINCIPAL_RPST": token, "OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM": pem,
                     "JOB_RUN_OCID": "ocid1.datasciencejobrun.oc1.iad.x"})


def test_the_data_science_endpoint_of_oracles_own_tools(user):
    user.submit(env={"MUSTER_OCI_ENDPOINT": "http://127.0.0.1:1",
                     "OCI_ODSC_SERVICE_ENDPOINT": user.mock.url})
    assert len(user.mock.runs) == 4


def test_the_key_is_in_no_argument_and_no_core_dump(user):
    user.mock.fail("POST", "/jobs$", 429, times=1, headers={"retry-after": "1"})
    running = user.start("run", "-f", "train.yaml", "--nobuild")
    await_true(lambda: user.mock.seen("POST", "/jobs$"))
    with open(f"/proc/{running.pid}/cmdline") as file:
        assert "PRIVATE" not in file.read()
    # Not dumpable: what /proc shows of it belongs to root.
    assert os.stat(f"/proc/{running.pid}/mem").st_uid == 0
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0


@pytest.mark.parametrize("line, why", [
    ("storageMount: {src: 'oci://b@n/p', dest: x}", "storageMount (line 15): it is a list"),
    ("storageMount: [{src: '10.0.0.1:/share', dest: x}]", "addresses and paths of File Storage are not looked up"),
    ("freeformTags: {a: 1}", "freeformTags.a (line 15) must be a text in quotes ('1'), not 1"),
    ("jobInfrastructureType: OTHER", "jobInfrastructureType (line 15) must be one of STANDALONE, ME_STANDALONE"),
    ("blockStorageSizeGB: 60.5", "blockStorageSizeGB (line 15) must be a whole number of gigabytes, not 60.5"),
])
def test_what_the_service_would_not_take_is_refused_before_the_image_is_built(user, line, why):
    anchor = "      blockStorageSize: 50\n"
    assert anchor in TRAIN
    user.write("train.yaml", TRAIN.replace(anchor, f"      {line}\n"))
    # Without --nobuild: nothing is built, for there is no docker, and nothing is asked.
    assert why in user.fails("run", "-f", "train.yaml", "--no-strict")
    assert user.mock.requests == []


def test_a_subnet_wants_the_infrastructure_of_its_own(user):
    user.write("train.yaml", TRAIN.replace("      blockStorageSize: 50\n", "      blockStorageSizeGB: 100GB\n"
                                           "      job_infrastructure_type: ME_STANDALONE\n"))
    user.submit()
    sent = user.sent("/jobs")[0]["jobInfrastructureConfigurationDetails"]
    assert (sent["jobInfrastructureType"], sent["blockStorageSizeInGBs"]) == ("STANDALONE", 100)
