"""run --dry-run, byte for byte (compat/opctl.md 4.1), and train.yaml as PyYAML reads it (3.1, 3.2)."""
import os
import shutil
import subprocess

import pytest
import yaml

import recorded_dry_runs
from opctl_user import web_folder

BANNER = "." * 25 + " Initializing the process " + "." * 35 + "\n"
BEGIN = "-" * 29 + "Entering dryrun mode" + "-" * 34 + "\nCreating Job with payload: \n\n"
END = "-" * 29 + "Ending dryrun mode" + "-" * 34 + "\n"

PAYLOAD = """\
kind: job
spec:
  infrastructure:
    kind: infrastructure
    spec:
      blockStorageSize: 50
      compartmentId: oci.xxxx.<compartment_ocid>
      displayName: PyTorch-Distributed
      jobType: DEFAULT
      logGroupId: oci.xxxx.<log_group_ocid>
      logId: oci.xxx.<log_ocid>
      projectId: oci.xxxx.<project_ocid>
      shapeName: VM.GPU2.1
      subnetId: oci.xxxx.<subnet-ocid>
    type: dataScienceJob
  name: PyTorch-Distributed
  runtime:
    kind: runtime
    spec:
      entrypoint: null
      env:
      - name: NCCL_ASYNC_ERROR_HANDLING
        value: '1'
      - name: OCI__WORK_DIR
        value: oci://my-bucket@my-namespace/pytorch/distributed
      - name: OCI__EPHEMERAL
        value: None
      - name: OCI__CLUSTER_TYPE
        value: PYTORCH
      - name: OCI__WORKER_COUNT
        value: '3'
      - name: OCI__START_ARGS
        value: ''
      - name: OCI__ENTRY_SCRIPT
        value: train.py
      - name: OCI__ENTRY_SCRIPT_ARGS
        value: --data-dir /home/datascience/data --output-dir /home/datascience/outputs
          --backend gloo --timeout 5
      image: iad.ocir.io/my-tenancy/image-name:latest
    type: container
"""


def run_text(name, **env):
    lines = "".join(f"\t{key}:{value}\n" for key, value in env.items())
    return f"Name: {name}\nAdditional Environment Variables: \n{lines}"


MAIN = ("Creating Main Job Run with following details:\n"
        + run_text("PyTorch-Distributed-main", OCI__MODE="MAIN", RANK=0) + "~" * 78 + "\n")
WORKERS = "Creating Job Runs with following details:\n" + "".join(
    run_text(f"PyTorch-Distributed-worker_{i}", OCI__MODE="WORKER", RANK=i + 1) for i in range(3))
WHOLE = BANNER + BEGIN + PAYLOAD + "\n" + "+" * 80 + "\n" + MAIN + WORKERS + END


def test_the_documents_example_is_byte_exact(opctl):
    done = opctl.dry()
    assert done.stdout == WHOLE
    assert opctl.argv() == [], "a dry run builds nothing"
    assert opctl.dry("--nobuild").stdout == WHOLE
    assert opctl.dry("-nobuild", "-b", "pipeline").stdout == WHOLE
    assert opctl.run("run", "-rf", "train.yaml").stdout == WHOLE


@pytest.mark.parametrize("name", recorded_dry_runs.NAMES)
def test_what_the_original_printed_is_printed(opctl, name):
    opctl.write("train.yaml", recorded_dry_runs.read(name, "yaml"))
    # Keys that nothing reads are in some of them: what is printed for those is the original's too.
    flags = ["--no-strict"] if name in recorded_dry_runs.OF_UNKNOWN_KEYS else []
    assert opctl.dry(*flags).stdout == recorded_dry_runs.read(name, "out")


def test_without_worker_there_is_no_second_section(opctl):
    opctl.train(spec__cluster__spec__worker=None)
    payload = PAYLOAD.replace("'3'", "'0'")
    assert opctl.dry().stdout == BANNER + BEGIN + payload + "\n" + "+" * 80 + "\n" + MAIN + END


def test_parameter_servers_follow_the_workers_and_have_no_rank(opctl):
    opctl.train(spec__cluster__kind="tensorflow", spec__cluster__spec__worker={"name": "w"},
                spec__cluster__spec__ps={"name": "p", "replicas": 2})
    out = opctl.dry().stdout
    assert out.endswith("~" * 78 + "\nCreating Job Runs with following details:\n"
                        + run_text("w_0", OCI__MODE="WORKER", RANK=1)
                        + run_text("p_0", OCI__MODE="PS") + run_text("p_1", OCI__MODE="PS") + END)
    assert "- name: OCI__PS_COUNT\n        value: '2'\n" in out


def test_parameter_servers_do_without_workers(opctl):
    opctl.train(spec__cluster__spec__worker=None, spec__cluster__spec__ps={"name": "p"})
    assert run_text("p_0", OCI__MODE="PS") in opctl.dry().stdout


def job_of(out):
    return yaml.safe_load(out.split("payload: \n", 1)[1].split("\n+++", 1)[0])


def env_of(opctl, *flags):
    env = job_of(opctl.dry(*flags).stdout)["spec"]["runtime"]["spec"]["env"]
    return {entry["name"]: entry["value"] for entry in env}


def test_roles_have_their_own_environment(opctl):
    opctl.train(spec__cluster__spec__main={
        "name": "m", "config": {"env": [{"name": "A", "value": "main"}, {"name": "OCI__MODE", "value": "x"},
                                        {"name": "RANK", "value": 7}], "startOptions": ["--m"]}})
    assert run_text("m", A="main", OCI__MODE="MAIN", RANK=0, OCI__START_ARGS="--m") in opctl.dry().stdout


@pytest.mark.parametrize("value,text", [
    ("yes", "True"), ("1.0", "1.0"), ("null", "None"), ("010", "8"), ("12:30:45", "45045"),
    ("0x10", "16"), ("1_000", "1000"), ("1e3", "1e3"), ("'010'", "010"), ("on", "True"), ("2026-07-30", "2026-07-30"),
])
def test_values_are_what_python_prints(opctl, value, text):
    opctl.write("train.yaml", opctl.read("train.yaml").replace("value: '1'", f"value: {value}"))
    assert env_of(opctl)["NCCL_ASYNC_ERROR_HANDLING"] == text


@pytest.mark.parametrize("value,text", [(True, "True"), (False, "False"), (None, "None")])
def test_ephemeral_is_text(opctl, value, text):
    opctl.train(spec__cluster__spec__ephemeral=value)
    assert env_of(opctl)["OCI__EPHEMERAL"] == text


def test_arguments_are_joined(opctl):
    opctl.train(spec__runtime__spec__args=["--msg", "hello world", 1.5, True, None])
    done = opctl.dry()
    assert "value: --msg hello world 1.5 True None\n" in done.stdout
    assert '"hello world" is split into words' in done.stderr
    opctl.train(spec__runtime__spec__args="--a 1 --b 2")
    assert env_of(opctl)["OCI__ENTRY_SCRIPT_ARGS"] == "--a 1 --b 2"
    opctl.train(spec__runtime__spec__args=None, spec__runtime__spec__kwargs={"k": "v"})
    assert "- name: OCI__ENTRY_SCRIPT_KWARGS\n        value: '{''k'': ''v''}'\n" in opctl.dry().stdout


def test_names_fall_back(opctl):
    opctl.train(spec__infrastructure__spec__displayName=None)
    assert "\n  name: null\n" in opctl.dry().stdout
    assert "\n  name: JN\n" in opctl.dry("--job-name", "JN").stdout
    opctl.train(spec__cluster__spec__name="my cluster")
    out = opctl.dry("--job-name", "JN").stdout
    assert "\n  name: my cluster\n" in out and "\n      displayName: my cluster\n" in out


def test_spellings_are_mapped_and_unknown_keys_refused(opctl):
    opctl.train(spec__infrastructure__spec__block_storage_size_in_GBs=70,
                spec__infrastructure__spec__freeformTags={"a": "b"},
                spec__infrastructure__spec__storageMount=[{"src": "oci://b@n/p", "dest": "/mnt/x"}])
    spec = job_of(opctl.dry().stdout)["spec"]["infrastructure"]["spec"]
    assert spec["blockStorageSize"] == 70 and "block_storage_size_in_GBs" not in spec
    assert spec["freeformTags"] == {"a": "b"}
    opctl.train(spec__infrastructure__spec__blockStorageSizes="50GB")
    refused = opctl.run("run", "-f", "train.yaml", "--dry-run", code=1)
    assert refused.stderr.count("\n") == 1
    assert "train.yaml line 1" in refused.stderr and 'did you mean "blockStorageSize"?' in refused.stderr
    assert "      blockStorageSizes: 50GB\n" in opctl.dry("--no-strict").stdout


def test_documented_keys_are_accepted(opctl):
    opctl.train(spec__infrastructure__spec__blockStorageSizeGB="50GB", spec__runtime__spec__entryFunction="main")
    done = opctl.dry()
    assert "      blockStorageSizeGB: 50GB\n" in done.stdout
    assert "spec.runtime.spec.entryFunction is ignored: entryPoint is run as a program" in done.stderr
    opctl.train(spec__infrastructure__spec__blockStorageSizeGB="many")
    assert ("spec.infrastructure.spec.blockStorageSizeGB must be a whole number of gigabytes, not 'many'"
            in opctl.run("run", "-f", "train.yaml", "--dry-run", code=1).stderr)


@pytest.mark.parametrize("changes,message", [
    ({"kind": "Distributed"}, "NotImplementedError: backend Distributed is not implemented. (train.yaml line "),
    ({"kind": None}, "KeyError: 'kind' (train.yaml: "),
    ({"spec__cluster__kind": None}, "spec.cluster.kind is missing"),
    ({"spec__cluster__spec": None}, "spec.cluster.spec is missing"),
    ({"spec__cluster__spec__image": None}, "spec.cluster.spec.image is missing"),
    ({"spec__cluster__spec__main": None}, "spec.cluster.spec.main is missing"),
    ({"spec__runtime": None}, "spec.runtime is missing"),
    ({"spec__infrastructure": None}, "spec.infrastructure is missing"),
    ({"spec__cluster__spec__config": {"env": [{"name": "A"}]}}, 'the entry "A" of'),
    ({"spec__cluster__spec__worker": {"replicas": "many"}}, "spec.cluster.spec.worker.replicas"),
])
def test_what_is_wrong_is_one_line_with_the_path(opctl, changes, message):
    opctl.train(**changes)
    refused = opctl.run("run", "-f", "train.yaml", "--dry-run", code=1)
    assert refused.stderr.count("\n") == 1 and "train.yaml" in refused.stderr
    assert message in refused.stderr


def test_files_that_cannot_be_read(opctl):
    assert "FileNotFoundError: No such file: 'nope.yaml'" in opctl.run(
        "run", "-f", "nope.yaml", "--dry-run", code=1).stderr
    opctl.write("bad.yaml", "kind: [\n")
    refused = opctl.run("run", "-f", "bad.yaml", "--dry-run", code=1)
    assert refused.stderr.startswith("Error: bad.yaml line 2 column 1: ")
    assert "ValueError: Either an ADS operator" in opctl.run("run", code=1).stderr


def test_a_file_of_the_web(opctl, tmp_path):
    (tmp_path / "train.yaml").write_text(opctl.read("train.yaml"))
    with web_folder(tmp_path) as url:
        assert opctl.run("run", "-f", f"{url}/train.yaml", "--dry-run").stdout == WHOLE
        refused = opctl.run("run", "-f", f"{url}/nope.yaml", "--dry-run", code=1)
        with_password = opctl.run("run", "-f", url.replace("://", "://tom:pw@") + "/train.yaml", "--dry-run", code=1)
    assert refused.stderr.count("\n") == 1 and f"{url}/nope.yaml" in refused.stderr
    assert with_password.stderr.strip().endswith(
        "/train.yaml: the URL must not contain a user and password: fetch it with another program and pipe it to -f -")


def test_a_certificate_below_the_other_is_ignored(opctl):
    opctl.train(spec__cluster__spec__certificate={"caCert": {"id": "a", "cert": {"id": "b"}}})
    done = opctl.dry()
    assert done.stdout == WHOLE
    assert "spec.cluster.spec.certificate is ignored: caCert and cert are wanted side by side" in done.stderr


def test_a_folder_that_cannot_be_written(opctl):
    shutil.copy2(opctl.path("bin", "ads"), opctl.path("ads"))
    os.chmod(opctl.folder, 0o755)
    os.chmod(opctl.path("work"), 0o555)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run([opctl.path("ads"), "opctl", "run", "-f", "train.yaml", "--dry-run"], cwd=opctl.path("work"),
                          env=opctl.env, capture_output=True, text=True, timeout=120, **nobody)
    os.chmod(opctl.path("work"), 0o755)
    assert done.returncode == 0 and done.stdout == WHOLE
    assert done.stderr.startswith("WARNING:ads.opctl:write ./config.ini: ") and done.stderr.count("\n") == 1
    # A file that is as it would be written is no reason to write.
    opctl.dry()
    os.chmod(opctl.path("work"), 0o555)
    again = subprocess.run(done.args, cwd=opctl.path("work"), env=opctl.env, capture_output=True, text=True, timeout=120,
                           **nobody)
    os.chmod(opctl.path("work"), 0o755)
    assert (again.returncode, again.stdout, again.stderr) == (0, WHOLE, "")


def test_null_start_options_are_none(opctl):
    opctl.train(spec__cluster__spec__config={"env": None, "startOptions": None})
    assert env_of(opctl)["OCI__START_ARGS"] == ""


def test_main_replicas_are_one(opctl):
    opctl.train(spec__cluster__spec__main={"replicas": 2}, spec__cluster__spec__worker={"replicas": 0})
    done = opctl.dry()
    assert "replicas` greater than 1 is currently not supported. This will be default to 1" in done.stderr
    assert "Name: main\n" in done.stdout and "Name: worker_0\n" in done.stdout
    assert "worker_1" not in done.stdout


def test_a_job_of_one_run_is_refused_with_what_to_write(opctl):
    opctl.write("job.yaml", "kind: job\nspec:\n  runtime:\n    type: pyTorchDistributed\n    spec:\n"
                            "      replicas: 2\n      command: torchrun train.py\n")
    for backend in ("job", "local", "kubernetes"):
        refused = opctl.run("run", "-f", "job.yaml", "-b", backend, code=1)
        assert refused.stderr.count("\n") == 1
        assert "job.yaml line 4: kind job of type pyTorchDistributed is not run here" in refused.stderr
        assert "worker: {replicas: 1}" in refused.stderr and "`torchrun train.py`" in refused.stderr


# What PyYAML prints of a document is what a dry run of `kind: job` prints of it: nothing is sent.
DOCUMENTS = [
    {"a": "plain", "b": ["x", {"y": 1, "z": []}, ["n", ["m"]]], "c": {}, "d": None, "e": True, "f": 1.5},
    {"words": ["yes", "No", "on", "null", "~", "3", "1.0", "1e5", "0x1", "12:30", "", " ", " a", "a ", "-", "- a",
               "--a", "a: b", "a:b", "a #b", "a#b", "#a", "?", "? a", "?a", ":", ":a", "a:", "[a", "{a", "a, b",
               "&a", "*a", "!a", "|", ">", "'a'", '"a"', "%a", "@a", "`a", "=", "<<", "---", "---a", "...", "2026-07-30"]},
    {"spaces": "word " * 30, "long": "x" * 100 + " y z", "two": "a  b" * 40, "quoted": "it's: " * 20},
    {"lines": ["a\nb", "a\n", "\na", "a\n\nb", " a\nb", "a\n b", "a \nb", "# a\nb: c"]},
    {"escapes": ["\t", "a\tb", "caf\u00e9", "\u00e9 " * 50, "\x07", "\x85", "\u2028", "\U0001f600", "\\", "\"\t\""]},
    {"floats": [1e16, 1e-5, 0.1, 123456789.125, 1e300, float("inf"), -0.0], "ints": [0, -1, 10 ** 30]},
    {"": 1, "k" * 122: 1, "l" * 123: {"a": [1]}, "m " * 80: ["x", {"y": 1}], "a\nb": [], "n" * 130: "x " * 60},
    {"fold'd": "'" * 3 + " and " * 25, "k: y": 1, "yes": 2, "3": 3},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_documents_are_printed_as_pyyaml_prints_them(opctl, document):
    document = {"kind": "job", **document}
    opctl.write("job.yaml", yaml.safe_dump(document, width=10000))
    out = opctl.run("run", "-f", "job.yaml", "--dry-run").stdout
    assert out.split("payload: \n\n", 1)[1].removesuffix("\n" + END) == yaml.safe_dump(document)
