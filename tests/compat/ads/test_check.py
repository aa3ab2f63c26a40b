"""`check` and what its run does in the container (compat/opctl.md 1.4)."""
import threading
import time

import pytest

from oci_user import TRAIN
from oci_user import make_token
from waiting import PATIENCE

SUBNET = {"id": "ocid1.subnet.oc1.iad.s", "cidrBlock": "127.0.0.0/8", "securityListIds": ["list"]}
OPEN = {"ingressSecurityRules": [
    {"protocol": "6", "source": "127.0.0.0/8",
     "tcpOptions": {"destinationPortRange": {"min": 29400, "max": 29400}}}]}


@pytest.fixture
def tenancy(user):
    """As `user`; the first job run that comes is run, as the service would."""
    user.mock.subnets[SUBNET["id"]] = SUBNET
    user.mock.security_lists["list"] = OPEN
    token = make_token(3600)
    user.mock.trust_token(token, user.key)

    def run_it():
        deadline = time.monotonic() + PATIENCE
        while not user.mock.runs:
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)
        run = next(iter(user.mock.runs.values()))
        job = user.mock.jobs[run["jobId"]]
        env = {**job["jobConfigurationDetails"]["environmentVariables"],
               **run["jobConfigurationOverrideDetails"]["environmentVariables"]}
        user.mock.move(run["id"], "IN_PROGRESS")
        done = user.run("diagnose", "-t", "distributed", code=None, env={
            **env, "JOB_OCID": run["jobId"], "JOB_RUN_OCID": run["id"],
            "OCI_RESOURCE_PRINCIPAL_VERSION": "2.2", "OCI_RESOURCE_PRINCIPAL_REGION": "iad",
            "OCI_RESOURCE_PRINCIPAL_RPST": token,
            "OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM": user.key.path})
        for line in (done.stdout + done.stderr).splitlines():
            user.mock.log(run["id"], line)
        user.mock.move(run["id"], "FAILED" if done.returncode else "SUCCEEDED",
                       f"exit code {done.returncode}" if done.returncode else None)

    user.container = threading.Thread(target=run_it)
    user.container.start()
    yield user
    user.container.join()


def check(user):
    done = user.run("check", "-f", "train.yaml", "--interval", "0", "--wait", "0", code=None)
    user.container.join()
    return [line.split(" - ", 1)[-1] for line in done.stdout.splitlines()]


def test_what_is_there_and_what_is_not(tenancy):
    # The bucket is not, and this machine may have no way out.
    tenancy.mock.has_buckets = {"other"}
    tenancy.mock.fail("PUT", "diagnostic_report", 200)
    lines = check(tenancy)
    assert "Read the job: ✅" in lines and "Read the subnet: ✅" in lines
    assert "Ingress from the subnet to port 29400: ✅" in lines
    [line] = [line for line in lines if line.startswith("Write to the work dir")]
    assert line.startswith("Write to the work dir oci://my-bucket@my-namespace/pytorch/distributed: "
                           "❎ . Resolution: allow the dynamic group to manage objects")
    assert "BucketNotFound" in line


def test_the_report_is_saved(tenancy):
    lines = check(tenancy)
    assert ("Write to the work dir oci://my-bucket@my-namespace/pytorch/distributed: ✅") in lines
    assert "Report saved to diagnostic_report.html" in lines
    page = tenancy.read("diagnostic_report.html")
    assert "<h1>Requirements of a PYTORCH cluster</h1>" in page
    assert "<td>1</td><td>Read the job</td><td>✅</td>" in page
    [job] = tenancy.sent("/jobs")
    assert job["jobEnvironmentConfigurationDetails"] == {
        "jobEnvironmentType": "OCIR_CONTAINER", "image": "iad.ocir.io/my-tenancy/image-name:latest",
        "entrypoint": ["/bin/bash", "--login", "-c"],
        "cmd": ["python -m ads.opctl.diagnostics -t distributed"]}
    assert [run["displayName"] for run in tenancy.sent("/jobRuns")] == ["PyTorch-Distributed-main"]


def test_a_closed_port(tenancy):
    tenancy.mock.security_lists["list"] = {"ingressSecurityRules": [
        {"protocol": "6", "source": "10.0.0.0/8", "tcpOptions": None}]}
    [line] = [line for line in check(tenancy) if line.startswith("Ingress")]
    assert line == ("Ingress from the subnet to port 29400: ❎ . Resolution: add an ingress rule for "
                    "TCP port 29400 from the subnet's CIDR to a security list of the subnet (no rule "
                    "lets 127.0.0.1 in)")


def test_the_dry_run_sends_nothing(user):
    out = user.run("check", "-f", "train.yaml", "--dry-run").stdout
    assert "      cmd: python -m ads.opctl.diagnostics -t distributed\n" in out
    assert "      entrypoint:\n      - /bin/bash\n      - --login\n      - -c\n" in out
    assert out.endswith("+" * 200 + "\nCreating Main Job Run with following details:\n"
                        "Name: PyTorch-Distributed-main\nAdditional Environment Variables: \n"
                        "\tOCI__MODE:MAIN\n\tRANK:0\n" + "~" * 200 + "\n"
                        "-----------------------------Ending dryrun mode-----------------------"
                        "-----------\n")
    assert user.mock.requests == []


def test_a_key_that_is_not_sent_is_named(user):
    user.write("train.yaml", TRAIN.replace("blockStorageSize: 50", "blockStorageSize: 50\n      reservation: {id: 1}"))
    assert user.run("check", "-f", "train.yaml", "--dry-run").stderr == (
        "train.yaml line 16: the unknown key \"reservation\" in spec.infrastructure.spec is not sent\n")


@pytest.mark.parametrize("change, message", [
    (None, "FileNotFoundError: train.yaml is not found"),
    (lambda text: text.replace("iad.ocir.io/my-tenancy/image-name:latest", "'@image'"),
     "ValueError: Invalid image name: @image and also not able to locate config.ini file. Please "
     "update image name in Job config."),
])
def test_what_cannot_be_checked(user, change, message):
    import os
    if change is None:
        os.remove(user.path("train.yaml"))
    else:
        user.write("train.yaml", change(TRAIN))
    assert user.fails("check", "-f", "train.yaml", "--dry-run") == message


def test_references_without_end_are_refused_before_any_request(user):
    user.write("train.yaml", TRAIN.replace("value: '1'", "value: '${NCCL_ASYNC_ERROR_HANDLING}:1'"))
    line = user.fails("check", "-f", "train.yaml")
    assert line.startswith("InterpolationDepthError: train.yaml: the value of NCCL_ASYNC_ERROR_HANDLING refers to itself")
    assert user.mock.requests == []


def test_another_kind(user):
    user.write("train.yaml", "kind: job\n")
    assert user.run("check", "-f", "train.yaml").stdout == "Diagnostics not available for kind: job\n"
