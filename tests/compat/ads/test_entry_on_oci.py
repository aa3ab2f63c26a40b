"""`opctl entry` in a job run: rendezvous and artifacts in a bucket (compat/opctl.md 3.4, 5.1; 7, 65-67)."""
import json
import os
import re

import pytest

from oci_user import make_token

JOB = "ocid1.datasciencejob.oc1.iad.j"
SCRIPT = """\
import os, sys
folder = os.environ["OCI__SYNC_DIR"]
os.makedirs(folder + "/logs", exist_ok=True)
for i in range(int(os.environ.get("FILES", "3"))):
    with open(f"{folder}/logs/{i}.json", "w") as file:
        file.write(str(i))
if os.environ.get("LARGE"):
    with open(folder + "/large", "wb") as file:
        file.write(os.urandom(int(os.environ["LARGE"])))
print("TRAIN", os.environ["RANK"], os.environ["MASTER_ADDR"], flush=True)
sys.exit(int(os.environ.get("CODE", "0")))
"""


@pytest.fixture
def node(user):
    """Starts a node as the service would, with a resource principal."""
    user.write("train.py", SCRIPT)
    token = make_token(3600)
    user.mock.trust_token(token, user.key)
    os.remove(user.config)
    user.mock.jobs[JOB] = {"id": JOB, "compartmentId": "c", "projectId": "p",
                           "jobInfrastructureConfigurationDetails": {"subnetId": "s"}}
    user.mock.subnets["s"] = {"id": "s", "cidrBlock": "127.0.0.0/8"}

    def start(rank, **env):
        return user.start("entry", env={
            "OCI_RESOURCE_PRINCIPAL_VERSION": "2.2", "OCI_RESOURCE_PRINCIPAL_REGION": "iad",
            "OCI_RESOURCE_PRINCIPAL_RPST": user.write("rpst", token),
            "OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM": user.key.path,
            "JOB_OCID": JOB, "JOB_RUN_OCID": f"ocid1.datasciencejobrun.oc1.iad.r{rank}",
            "RANK": str(rank), "OCI__WORKER_COUNT": "1", "OCI__CLUSTER_TYPE": "PYTORCH",
            "OCI__WORK_DIR": "oci://my-bucket@my-namespace/work", "CUDA_VISIBLE_DEVICES": "",
            "OCI__NODE_IP": "127.0.0.1",
            "OCI__CODE_DIR": user.home, "OCI__ENTRY_SCRIPT": "train.py",
            "OCI__SYNC_DIR": user.path("sync"), **env})

    user.start_node = start
    return user


def end(process, code=0):
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, f"exit {process.returncode}\n{out}\n{err}"
    return out


def content(user, name):
    return user.mock.object("my-bucket", name)


def test_nodes_meet_in_a_bucket(node):
    worker = node.start_node(1)
    main = node.start_node(0)
    out = end(main)
    assert "TRAIN 0 127.0.0.1" in out
    uri = f"oci://my-bucket@my-namespace/work/{JOB}/MAIN_config.json"
    assert f"Writing configuration: {{'MASTER_ADDR': '127.0.0.1'}} to file: {uri}" in out
    assert "TRAIN 1 127.0.0.1" in end(worker)
    assert content(node, f"work/{JOB}/MAIN_config.json") == b'{"MASTER_ADDR": "127.0.0.1"}'
    assert content(node, f"work/{JOB}/WORKER_ocid1.datasciencejobrun.oc1.iad.r1_config.json") == (
        b'{"OCI__WORKER_IP": "127.0.0.1"}')
    assert content(node, f"work/{JOB}/stop") == b"stop"
    assert {one["status"] for one in node.mock.requests} <= {200, 204, 206, 404}


def test_a_failure_is_known_to_the_others(node):
    worker = node.start_node(1, CODE="3")
    main = node.start_node(0, CODE="0", OCI__ENTRY_SCRIPT=node.write(
        "wait.py", "import signal\nsignal.pause()\n"))
    end(worker, 3)
    assert "the node of rank 1 failed with exit code 3" in end(main, 1)


def test_a_bucket_that_is_busy_is_asked_again(node):
    node.mock.fail("PUT", "MAIN_config", 429, headers={"retry-after": "0"})
    node.mock.fail("GET", "MAIN_config", 503, headers={"retry-after": "0"})
    node.mock.fail("GET", "MAIN_config", "cut", after=1)
    assert "TRAIN 0" in end(node.start_node(0, OCI__WORKER_COUNT="0"))


def test_a_bucket_that_is_not_there(node):
    node.mock.has_buckets = set()
    process = node.start_node(0, OCI__WORKER_COUNT="0")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "404 BucketNotFound: The bucket 'my-bucket' does not exist" in err


def test_the_subnet_says_which_address(node):
    out = end(node.start_node(0, OCI__WORKER_COUNT="0", OCI__NODE_IP=""))
    assert "IP address: 127.0.0.1" in out
    node.mock.subnets["s"]["cidrBlock"] = "203.0.113.0/24"
    process = node.start_node(0, OCI__WORKER_COUNT="0", OCI__NODE_IP="")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "IP ADDRESS NOT FOUND!!" in out and "is in the subnet 203.0.113.0/24" in err


@pytest.mark.parametrize("env, bucket, prefix", [
    ({}, "my-bucket", "work/"),
    ({"WORKSPACE": "other", "WORKSPACE_PREFIX": "/a/b/"}, "other", "a/b/"),
    ({"WORKSPACE": "other"}, "other", ""),
])
def test_artifacts_are_in_the_bucket_at_the_end(node, env, bucket, prefix):
    end(node.start_node(0, OCI__WORKER_COUNT="0", SYNC_ARTIFACTS="1", **env))
    run = f"{prefix}sync/{JOB}/ocid1.datasciencejobrun.oc1.iad.r0"
    for i in range(3):
        assert node.mock.object(bucket, f"{run}/logs/{i}.json") == str(i).encode()


def test_artifacts_stay_without_being_asked_for(node):
    end(node.start_node(0, OCI__WORKER_COUNT="0", SYNC_ARTIFACTS="true"))
    assert not node.mock.seen("PUT", "sync")


def test_many_files_and_a_large_one(node):
    size = 40 * 1024 * 1024 + 1
    end(node.start_node(0, OCI__WORKER_COUNT="0", SYNC_ARTIFACTS="1", FILES="300", LARGE=str(size)))
    run = f"work/sync/{JOB}/ocid1.datasciencejobrun.oc1.iad.r0"
    with open(node.path("sync", "large"), "rb") as file:
        assert content(node, f"{run}/large") == file.read()
    assert len(node.mock.seen("PUT", "uploadPartNum=")) == 5
    assert not node.mock.uploads
    assert len(node.mock.seen("PUT", re.escape("logs%2F"))) == 300


def test_an_upload_that_fails_is_told(node):
    node.mock.fail("PUT", "uploadPartNum=2", 400, times=99, code="InvalidPart")
    process = node.start_node(0, OCI__WORKER_COUNT="0", SYNC_ARTIFACTS="1", LARGE=str(20 << 20))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "sync: ServiceError: 400 InvalidPart" in err
    # Its parts are not left to be paid for.
    assert not node.mock.uploads


def test_show_config_of_a_bucket(node):
    end(node.start_node(0, OCI__WORKER_COUNT="0"))
    key = node.key
    from oci_user import oci_mock
    oci_mock.write_profile(node.home, key)
    place = ["-j", JOB, "--work-dir", "oci://my-bucket@my-namespace/work"]
    shown = node.run("distributed-training", "show-config", *place).stdout
    assert shown == "Main Info:\nMASTER_ADDR: 127.0.0.1\n\n"
    told = node.run("distributed-training", "show-config", *place, "-d")
    assert told.stdout == shown and "get_object of object_storage: HTTP 200, opc-request-id " in told.stderr
    missing = node.run("distributed-training", "show-config", "-j", "nojob", *place[2:]).stdout
    assert missing.startswith("MAIN_config file not found at location "
                              "oci://my-bucket@my-namespace/work/nojob.")


def test_a_file_in_a_bucket_is_run(user):
    with open(user.path("train.yaml"), "rb") as file:
        user.mock.put_object("ns", "conf", "a/train.yaml", file.read())
    out = user.run("run", "-f", "oci://conf@ns/a/train.yaml", "--nobuild").stdout
    assert "jobId: " in out and len(user.mock.runs) == 4


def test_code_from_a_bucket(node):
    node.mock.put_object("ns", "code", "v1/src/train.py", b"print('from the bucket', flush=True)\n")
    node.mock.put_object("ns", "code", "v1/src/lib/one.py", b"")
    out = end(node.start_node(
        0, OCI__WORKER_COUNT="0", OCI__RUNTIME_TYPE="remote",
        OCI__RUNTIME_URI="oci://code@ns/v1/src", OCI__CODE_DIR=node.path("code"),
        OCI__ENTRY_SCRIPT="src/train.py"))
    assert "from the bucket" in out
    assert os.path.exists(node.path("code", "src", "lib", "one.py"))


def test_an_api_key_in_the_container(node):
    from oci_user import oci_mock
    oci_mock.write_profile(node.home, node.key)
    end(node.start_node(0, OCI__WORKER_COUNT="0", OCI_IAM_TYPE="api_key",
                        OCI_RESOURCE_PRINCIPAL_VERSION=""))
    assert json.loads(content(node, f"work/{JOB}/MAIN_config.json"))["MASTER_ADDR"] == "127.0.0.1"


FAKE_SSH = """\
#!/bin/bash
printf '%s\\n' "$@" > "$ARGV_FILE"
for ((i = 1; i < $#; ++i)); do
  if [ "${!i}" = -i ]; then i=$((i + 1)); cat "${!i}" >> "$ARGV_FILE"; fi
done
exit 1
"""


@pytest.mark.parametrize("secret", ["", "ocid1.vaultsecret.oc1.iad.s"])
@pytest.mark.parametrize("uri", ["git@host.example:a/b.git", "deploy@host.example:a/b.git"])
def test_git_over_ssh_has_the_vaults_key_and_the_proxy(node, secret, uri):
    """The key of somebody else at the key's place stays."""
    for name, text in (("ssh", FAKE_SSH), ("socat", "#!/bin/sh\n")):
        os.chmod(node.write("bin/" + name, text), 0o755)
    node.mock.secrets["ocid1.vaultsecret.oc1.iad.s"] = b"of the vault"
    for name in ("mine", "new"):
        node.write("mine", "mine")
        place = {"OCI__GIT_SSH_KEY_PATH": f"~/{name}", "OCI__RUNTIME_GIT_SECRET_ID": secret}
        end(node.start_node(
            0, OCI__WORKER_COUNT="0", OCI__RUNTIME_TYPE="git", OCI__RUNTIME_URI=uri,
            OCI__CODE_DIR=node.path("code"), PATH=node.path("bin") + ":/usr/bin:/bin", ARGV_FILE=node.path("argv"),
            ssh_proxy="http://proxy.example:3128", **place), 1)
        words = node.read("argv").splitlines()
        assert "ProxyCommand=socat - PROXY:proxy.example:%h:%p,proxyport=3128" in words
        assert ("of the vault" in words) == bool(secret)
        assert node.read("mine") == "mine" and not os.path.lexists(node.path("new"))
        if secret:
            assert (words[words.index("-i") + 1] == node.path(name)) == (name == "new")


def test_a_proxy_with_a_password_is_refused(node):
    """Unless the user says how ssh reaches the repository."""
    for name, text in (("ssh", FAKE_SSH), ("socat", "#!/bin/sh\n")):
        os.chmod(node.write("bin/" + name, text), 0o755)
    over_proxy = {"OCI__WORKER_COUNT": "0", "OCI__RUNTIME_TYPE": "git", "OCI__RUNTIME_URI": "git@host.example:a/b.git",
                  "OCI__CODE_DIR": node.path("code"), "PATH": node.path("bin") + ":/usr/bin:/bin",
                  "ARGV_FILE": node.path("argv"), "ssh_proxy": "http://tom:s3cret@proxy.example:3128"}
    process = node.start_node(0, **over_proxy)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "ssh_proxy must not contain a user and password" in err and "s3cret" not in out + err
    assert not os.path.exists(node.path("argv"))
    end(node.start_node(0, GIT_SSH_COMMAND="ssh -o Own=1", **over_proxy), 1)
    assert "Own=1" in node.read("argv").splitlines()
