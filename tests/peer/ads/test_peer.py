"""Oracle's own packages (oracle-ads, oci) beside muster, against the same mock: `make test-ads-peer`."""
import json
import os
import subprocess
import sys
import time

import oci
import pytest
from oci.signer import Signer

from oci_user import TRAIN, oci_mock

ADS = os.path.join(os.path.dirname(sys.executable), "ads")


def run_peer(user, *args, code=0):
    """Oracle's `ads opctl`; only its data science endpoint can be said by the environment."""
    env = {**user.env, "OCI_ODSC_SERVICE_ENDPOINT": user.mock.url,
           "PATH": os.path.dirname(ADS) + ":/usr/bin:/bin"}
    done = subprocess.run([ADS, "opctl", *args], cwd=user.home, env=env, text=True,
                          capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done


def runtime(text, old, new):
    assert old in text
    return text.replace(old, new)


YAMLS = {
    "the document's": TRAIN,
    "one node": TRAIN.replace("      worker:\n        name: PyTorch-Distributed-worker\n"
                              "        replicas: 3\n", ""),
    "parameter servers": TRAIN.replace("kind: pytorch", "kind: tensorflow").replace(
        "      worker:", "      ps:\n        name: ps\n        replicas: 2\n      worker:"),
    "scalars": runtime(TRAIN, "            value: '1'\n", """            value: yes
          - {name: B, value: 1.0}
          - {name: C, value: null}
          - {name: D, value: 010}
          - {name: E, value: 12:30:45}
          - {name: F, value: '3'}
          - {name: G, value: 'True'}
          - {name: H, value: ''}
          - {name: I, value: 1e3}
          - {name: J, value: 'a: b'}
          - {name: K, value: "tab\\tand \\u00e9"}
          - {name: B, value: again}
"""),
    "long words": runtime(TRAIN, "        - --timeout\n        - 5\n", "        - --msg\n" + "".join(
        f"        - word{i}-{'x' * (i % 17)}\n" for i in range(60))),
    "git": runtime(TRAIN, "    kind: python\n    spec:\n", """    kind: python
    type: git
    spec:
      uri: https://github.com/a/b.git
      branch: main
      commit: abc
      codeDir: /code
      pythonPath: src
      env:
        - {name: OCI__EPHEMERAL, value: x}
"""),
    "certificates and start options": runtime(TRAIN, "      main:\n", """      ephemeral: True
      certificate:
        caCert: {id: ca, downloadLocation: there.pem}
        cert: {id: cert}
      main:
        config:
          startOptions: ["--port 8786", "--x"]
          env: [{name: M, value: m}]
"""),
    "what the infrastructure has": runtime(TRAIN, "      blockStorageSize: 50\n", """      blockStorageSize: '60'
      jobInfrastructureType: ME_STANDALONE
      freeformTags: {a: b, 1: '2'}
      definedTags: {ns: {a: 1, b: x}}
      storageMount:
      - {src: "oci://b@n/p/q/", dest: x}
      - {src: "oci://b@n", dest: /x/}
      - {src: "ocid1.mounttarget.oc1..m:ocid1.export.oc1..e", dest: /data/x}
"""),
    "snake case and unknown keys": runtime(TRAIN, "      blockStorageSize: 50\n",
                                           "      block_storage_size: 60\n"
                                           "      freeformTags: {a: b}\n"),
}


@pytest.mark.parametrize("name", YAMLS)
def test_the_dry_run_to_the_byte(user, name):
    user.write("train.yaml", YAMLS[name])
    theirs = run_peer(user, "run", "-f", "train.yaml", "--dry-run", "--nobuild").stdout
    their_ini = user.read("config.ini")
    os.remove(user.path("config.ini"))
    ours = user.run("run", "-f", "train.yaml", "--dry-run", "--nobuild", "--no-strict").stdout
    assert ours == theirs
    assert user.read("config.ini") == their_ini


@pytest.mark.parametrize("name", ["the document's", "one node", "scalars", "git", "what the infrastructure has",
                                  "certificates and start options"])
def test_the_requests_of_a_run(user, name):
    user.write("train.yaml", YAMLS[name])
    their_out = run_peer(user, "run", "-f", "train.yaml", "--nobuild").stdout
    theirs = user.mock.seen("POST")
    user.mock.requests.clear()
    user.mock.jobs.clear()
    user.mock.runs.clear()
    user.mock._count = 0
    our_out = user.run("run", "-f", "train.yaml", "--nobuild", "--no-strict").stdout
    ours = user.mock.seen("POST")
    assert our_out == their_out
    assert [one["path"] for one in ours] == [one["path"] for one in theirs]
    for our, their in zip(ours, theirs):
        assert json.loads(our["body"]) == json.loads(their["body"])
        for header in ("accept", "content-type"):
            assert our["headers"][header] == their["headers"][header], header
        # What theirs carries, ours does.
        names = {"authorization", "date", "host", "content-length", "x-content-sha256",
                 "opc-request-id", "opc-client-info", "user-agent"}
        assert names <= set(their["headers"]) and names <= set(our["headers"])
        assert our["headers"]["authorization"].split("signature=")[0] == (
            their["headers"]["authorization"].split("signature=")[0])


def test_the_dry_run_of_a_check(user):
    theirs = run_peer(user, "check", "-f", "train.yaml", "--dry-run").stdout
    assert user.run("check", "-f", "train.yaml", "--dry-run").stdout == theirs


def test_the_job_of_a_check(user):
    def posted(command, **options):
        user.mock.requests.clear()
        checking = subprocess.Popen(command, cwd=user.home, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **options)
        deadline = time.monotonic() + 300
        while not user.mock.seen("POST", "/jobRuns$"):
            assert checking.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        checking.kill()
        checking.wait()
        return [json.loads(one["body"]) for one in user.mock.seen("POST")
                if one["path"].endswith("/jobs")]

    env = {**user.env, "OCI_ODSC_SERVICE_ENDPOINT": user.mock.url}
    theirs = posted([ADS, "opctl", "check", "-f", "train.yaml"], env=env)
    ours = posted([user.path("bin", "ads"), "opctl", "check", "-f", "train.yaml"], env=env)
    assert ours == theirs


def signer_of(user):
    return Signer(tenancy=oci_mock.TENANCY, user=oci_mock.USER,
                  fingerprint=user.key.fingerprint, private_key_file_location=user.key.path)


def test_every_signature_is_the_sdks(user):
    user.run("run", "-f", "train.yaml", "--nobuild")
    run = next(iter(user.mock.runs))
    user.run("cancel", run)
    user.mock.move(run, "CANCELED")
    user.run("watch", run, "--interval", "0", "--wait", "0", "--no-exit-status")
    user.run("delete", run)
    user.mock.put_object("ns", "b", "j/MAIN_config.json", b"{}")
    user.run("distributed-training", "show-config", "-j", "j", "--work-dir", "oci://b@ns/")
    signer = signer_of(user)
    methods = set()
    for one in user.mock.requests:
        headers = dict(one["headers"])
        sent = headers.pop("authorization")
        generic = signer._body_signer if one["method"] in ("POST", "PUT") else signer._basic_signer
        assert generic.sign(headers, host=headers["host"], method=one["method"],
                            path=one["path"])["authorization"] == sent, one["path"]
        methods.add(one["method"])
    assert methods == {"GET", "POST", "DELETE"}


@pytest.fixture
def sdk(user):
    config = oci.config.from_file(user.config)
    oci.config.validate_config(config)
    none = oci.retry.NoneRetryStrategy()
    return {
        "jobs": oci.data_science.DataScienceClient(config, service_endpoint=user.mock.url + "/20190101",
                                                   retry_strategy=none),
        "objects": oci.object_storage.ObjectStorageClient(
            config, service_endpoint=user.mock.url, retry_strategy=none),
        "search": oci.loggingsearch.LogSearchClient(
            config, service_endpoint=user.mock.url + "/20190909", retry_strategy=none),
    }


def test_the_sdk_reads_what_muster_made(user, sdk):
    user.run("run", "-f", "train.yaml", "--nobuild")
    job = sdk["jobs"].get_job(next(iter(user.mock.jobs))).data
    assert job.job_environment_configuration_details.image == (
        "iad.ocir.io/my-tenancy/image-name:latest")
    user.mock.page_size = 3
    runs = oci.pagination.list_call_get_all_results(
        sdk["jobs"].list_job_runs, job.compartment_id, job_id=job.id).data
    assert sorted(run.display_name for run in runs) == [
        "PyTorch-Distributed-main"] + [f"PyTorch-Distributed-worker_{i}" for i in range(3)]
    sdk["jobs"].cancel_job_run(runs[0].id)
    assert user.mock.runs[runs[0].id]["lifecycleState"] == "CANCELING"
    with pytest.raises(oci.exceptions.ServiceError) as error:
        sdk["jobs"].get_job("ocid1.datasciencejob.oc1.iad.none")
    assert error.value.code == "NotAuthorizedOrNotFound"


def test_objects_go_both_ways(user, sdk):
    sdk["objects"].put_object("ns", "b", "w/job/MAIN_config.json", b'{"MASTER_ADDR": "10.0.0.1"}')
    shown = user.run("distributed-training", "show-config", "-j", "job", "--work-dir",
                     "oci://b@ns/w").stdout
    assert shown == "Main Info:\nMASTER_ADDR: 10.0.0.1\n\n"
    large = os.urandom(50 << 20)
    user.write("train.py", "import os\n")
    os.makedirs(user.path("sync"))
    with open(user.path("sync", "large"), "wb") as file:
        file.write(large)
    user.run("entry", env={
        "RANK": "0", "OCI__WORKER_COUNT": "0", "OCI__CLUSTER_TYPE": "PYTORCH", "JOB_OCID": "j",
        "JOB_RUN_OCID": "r", "OCI__WORK_DIR": "oci://b@ns/w", "OCI__CODE_DIR": user.home,
        "OCI__ENTRY_SCRIPT": "train.py", "OCI__SYNC_DIR": user.path("sync"), "SYNC_ARTIFACTS": "1",
        "OCI_IAM_TYPE": "api_key", "OCI__NODE_IP": "127.0.0.1", "CUDA_VISIBLE_DEVICES": ""})
    assert sdk["objects"].get_object("ns", "b", "w/sync/j/r/large").data.content == large
    listed = sdk["objects"].list_objects("ns", "b", prefix="w/sync/").data.objects
    assert [one.name for one in listed] == ["w/sync/j/r/large"]


def test_the_sdk_finds_the_same_log_lines(user, sdk):
    user.run("run", "-f", "train.yaml", "--nobuild")
    run = next(iter(user.mock.runs))
    user.mock.log(run, "hello")
    user.mock.move(run, "SUCCEEDED")
    user.run("watch", run, "--interval", "0", "--wait", "0")
    asked = json.loads(user.mock.seen("POST", "/search")[0]["body"])
    details = oci.loggingsearch.models.SearchLogsDetails(
        time_start=asked["timeStart"], time_end=asked["timeEnd"], search_query=asked["searchQuery"])
    found = sdk["search"].search_logs(details, limit=1000).data.results
    assert found[0].data["logContent"]["data"]["message"] == "hello"


@pytest.mark.parametrize("key, value", [
    ("user", ""), ("user", "me"), ("user", "a.b.c.d"), ("user", "a.b..c."), ("tenancy", "ocid1.x"),
    ("fingerprint", "a6:4b"), ("fingerprint", "zz" * 16), ("region", ""), ("key_file", ""),
])
def test_a_profile_that_the_sdk_refuses_is_refused(user, key, value):
    lines = [line for line in user.read(".oci/config").splitlines()
             if not line.startswith(key + "=")]
    user.write(".oci/config", "\n".join(lines + ([f"{key}={value}"] if value else [])) + "\n")
    with pytest.raises((oci.exceptions.InvalidConfig, ValueError)) as theirs:
        oci.config.validate_config(oci.config.from_file(user.config))
    why = "malformed" if value else "missing"
    assert why in str(theirs.value)
    assert f"'{key}': '{why}'" in user.fails("run", "-f", "train.yaml", "--nobuild")


def test_an_instance_principal_asks_alike(user, tmp_path, monkeypatch):
    user.submit()
    user.mock.instance = oci_mock.Instance(str(tmp_path))
    metadata = user.mock.url + "/opc/v2"
    user.run("cancel", next(iter(user.mock.runs)), "-a", "instance_principal", env={"OCI_METADATA_BASE_URL": metadata})
    monkeypatch.setenv("OCI_METADATA_BASE_URL", metadata)
    oci.auth.signers.InstancePrincipalsSecurityTokenSigner(federation_endpoint=user.mock.url + "/v1/x509")
    ours, theirs = user.mock.seen("POST", "/v1/x509")
    bodies = [json.loads(one["body"]) for one in (ours, theirs)]
    assert [len(body.pop("publicKey")) for body in bodies] == [392, 392]
    assert bodies[0] == bodies[1]
    authorizations = [one["headers"]["authorization"].split("signature=")[0] for one in (ours, theirs)]
    assert authorizations[0] == authorizations[1]
    assert [one["status"] for one in (ours, theirs)] == [200, 200]


def test_the_parts_of_a_large_file_carry_what_theirs_do(user, tmp_path):
    path = tmp_path / "large"
    path.write_bytes(os.urandom((20 << 20) + 5))
    config = oci.config.from_file(user.config)
    client = oci.object_storage.ObjectStorageClient(config, service_endpoint=user.mock.url)
    oci.object_storage.UploadManager(client, allow_parallel_uploads=False).upload_file(
        "my-namespace", "my-bucket", "large", str(path), part_size=10 << 20, opc_checksum_algorithm="CRC32C")
    theirs = user.mock.seen("PUT", "uploadPartNum=")
    user.mock.requests.clear()
    folder = tmp_path / "artifacts"
    folder.mkdir()
    path.rename(folder / "large")
    user.write("train.py", "")
    user.run("entry", env={"RANK": "0", "OCI__WORKER_COUNT": "0", "OCI__WORK_DIR": "oci://my-bucket@my-namespace/w",
                           "OCI__ENTRY_SCRIPT": "train.py", "OCI__CODE_DIR": user.home, "OCI__SYNC_DIR": str(folder),
                           "SYNC_ARTIFACTS": "1", "OCI_IAM_TYPE": "api_key", "OCI__NODE_IP": "127.0.0.1",
                           "CUDA_VISIBLE_DEVICES": ""})
    ours = user.mock.seen("PUT", "uploadPartNum=")

    def checksums(parts):
        return sorted((part["path"].split("uploadPartNum=")[1], part["headers"]["opc-checksum-algorithm"],
                       part["headers"]["opc-content-crc32c"]) for part in parts)
    assert len(ours) == 3
    assert checksums(ours) == checksums(theirs)
