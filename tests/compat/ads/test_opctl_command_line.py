"""Click's habits (compat/opctl.md 1): flags, usage errors, help, completion."""
import os
import re
import subprocess

import pytest


def usage(path, arguments=""):
    return f"Usage: ads opctl {path} [OPTIONS]{arguments}\nTry 'ads opctl {path} --help' for help.\n\n"


@pytest.mark.parametrize("args,error", [
    (["run", "-b", "foo"], "Error: Invalid value for '--backend' / '-b': 'foo' is not one of 'job', 'dataflow', "
                           "'pipeline', 'deployment', 'local', 'operator.local', 'marketplace', 'kubernetes'."),
    (["run", "--no-such"], "Error: No such option '--no-such'."),
    (["run", "--job-inf", "x"], "Error: No such option '--job-inf'. Did you mean '--job-info'?"),
    (["run", "-f"], "Error: Option '-f' requires an argument."),
    (["run", "extra"], "Error: Got unexpected extra argument (extra)"),
])
def test_usage_errors(opctl, args, error):
    refused = opctl.run(*args, code=2)
    assert refused.stderr == usage("run") + error + "\n" and refused.stdout == ""


def test_usage_errors_of_groups(opctl):
    refused = opctl.run("distributed-training", "init", "--framework", "mpi", code=2)
    assert refused.stderr == usage("distributed-training init") + (
        "Error: Invalid value for '--framework' / '-f': 'mpi' is not one of 'dask', 'horovod-tensorflow', "
        "'horovod-pytorch', 'pytorch', 'tensorflow', 'ray'.\n")
    assert "Missing option '--framework' / '-f'" in opctl.run("distributed-training", "init", code=2).stderr
    assert "Error: No such command 'buidl-image'. Did you mean 'build-image'?" in opctl.run(
        "distributed-training", "buidl-image", code=2).stderr


def test_a_program_that_is_not_of_ads(opctl):
    done = subprocess.run([opctl.path("bin", "ads"), "opct"], env=opctl.env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", (
        "Usage: ads [OPTIONS] COMMAND [ARGS]...\nTry 'ads --help' for help.\n\n"
        "Error: No such command 'opct'. Did you mean 'opctl'?\n"))


@pytest.mark.parametrize("command,has_short", [
    (["run"], True), (["configure"], True), (["publish-image"], True), ([], True), (["distributed-training"], True),
    (["distributed-training", "init"], True), (["distributed-training", "publish-image"], True),
    (["distributed-training", "build-image"], False), (["distributed-training", "show-config"], False)])
def test_help_flags(opctl, command, has_short):
    text = opctl.run(*command, "--help").stdout
    assert text.startswith(f"Usage: ads opctl {' '.join(command)}".rstrip() + " [OPTIONS]")
    assert re.search(f"\\n  {'-h, ' if has_short else ''}--help +Show this message and exit.\\n", text), text
    if has_short:
        assert opctl.run(*command, "-h").stdout == text
    else:
        assert "Error: No such option '-h'." in opctl.run(*command, "-h", code=2).stderr


def test_ignored_flags_are_taken(opctl):
    plain = opctl.dry().stdout
    assert opctl.dry("--env-var", "A=1", "-e", "other.py", "-c", "x", "--cmd-args", "y", "-g", "-v", "a:b", "-o",
                     "--conda-slug", "s", "--use-conda", "--archive", "z", "--exclude-tag", "t", "-n", "op",
                     "--conda-pack-folder", "f", "--conf-file", "c", "--conf-profile", "p", "-a", "api_key",
                     "--oci-profile", "P", "--ads-config", "d", "-d").stdout == plain


def test_dataflow_is_refused(opctl):
    refused = opctl.run("run", "-f", "train.yaml", "-b", "dataflow", "--nobuild", code=1)
    assert refused.stderr == (
        "RuntimeError: backend operator for distributed training can either be local or job \n")


def test_a_flexible_shape_of_the_defaults_wants_its_size(opctl):
    os.makedirs(opctl.path("ops"))
    opctl.write(opctl.path("ops", "ml_job_config.ini"), "[DEFAULT]\nshape_name = VM.Standard.E3.Flex\n")
    flags = ["run", "-f", "train.yaml", "--nobuild", "--dry-run", "--ads-config", opctl.path("ops")]
    refused = opctl.run(*flags, "-b", "job", code=1)
    assert (refused.stdout, refused.stderr) == ("", (
        "ValueError: Parameters `ocpus` and `memory_in_gbs` must be provided for using flex shape. Call `ads opctl "
        "configure` to specify. \n"))
    opctl.run(*flags)


def test_quiet_keeps_stdout_for_the_answer(opctl):
    assert opctl.dry("-q").stdout.startswith("-----------------------------Entering dryrun mode")


def test_the_same_under_both_names(opctl):
    os.symlink(os.path.realpath(opctl.path("bin", "ads")), opctl.path("bin", "muster"))
    done = subprocess.run([opctl.path("bin", "muster"), "opctl", "run", "-f", "train.yaml", "--dry-run"],
                          cwd=opctl.path("work"), env=opctl.env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == opctl.dry().stdout


@pytest.mark.parametrize("args,code", [
    (["run", "-f", "train.yaml", "--dry-run"], 0), (["watch", "foo"], 1), (["delete", "xx"], 1), (["watch"], 2)])
def test_the_older_group_does_the_same(opctl, args, code):
    done = subprocess.run([opctl.path("bin", "ads"), "jobs", *args], cwd=opctl.path("work"), env=opctl.env,
                          capture_output=True, text=True, timeout=120)
    same = opctl.run(*args, code=code)
    assert (done.returncode, done.stdout) == (code, same.stdout)
    assert done.stderr == same.stderr.replace("ads opctl", "ads jobs")


def test_completion(opctl):
    def complete(*words):
        return subprocess.run([opctl.path("bin", "ads"), "__complete", "opctl", *words], env=opctl.env,
                              capture_output=True, text=True, timeout=120).stdout
    assert "distributed-training\t" in complete("")
    assert "-reg\t" in complete("run", "-") and "--registry\t" in complete("run", "--reg")
    assert complete("run", "-b", "lo").startswith("local\n")


def test_configure_asks_in_order_and_run_reads_it(opctl):
    os.makedirs(opctl.path("home", ".oci"))
    opctl.write(opctl.path("home", ".oci", "config"), "[DEFAULT]\nuser=u\n[P]\nregion=r\n")
    answers = ["", "", "", "P", "", "oci://b@n/p", "y", "n", "y", "c1", "p1", "s1", "VM.GPU2.1", "50",
               "", "", "iad.ocir.io/ns", "", "", "", "n"]
    out = opctl.run("configure", stdin="\n".join(answers) + "\n").stdout
    folder = opctl.path("home", ".ads_ops")
    assert f"Configuration saved at {folder}/config.ini" in out
    with open(os.path.join(folder, "config.ini")) as file:
        assert file.read() == (
            f"[OCI]\noci_config = ~/.oci/config\noci_profile = P\nauth = api_key\n\n[CONDA]\nconda_pack_folder = "
            f"{opctl.path('home')}/conda\nconda_pack_os_prefix = oci://b@n/p\n\n")
    with open(os.path.join(folder, "ml_job_config.ini")) as file:
        assert file.read() == ("[P]\ncompartment_id = c1\nproject_id = p1\nsubnet_id = s1\nshape_name = VM.GPU2.1\n"
                               "block_storage_size_in_GBs = 50\ndocker_registry = iad.ocir.io/ns\n\n")
    opctl.run("publish-image", "a/b:c", "--oci-profile", "P")
    assert opctl.argv()[0] == "docker tag a/b:c iad.ocir.io/ns/b:c"
    again = [""] * 6 + ["y", "n", "y"] + [""] * 7 + ["-"] + [""] * 3 + ["n"]
    opctl.run("configure", stdin="\n".join(again) + "\n")
    opctl.run("publish-image", "a/b:c", "--oci-profile", "P")
    assert opctl.argv() == ["docker push a/b:c"]
    # Oracle's ads reads the section of the profile, of the principal, or else DEFAULT.
    opctl.run("publish-image", "a/b:c", "--oci-profile", "Q")
    assert opctl.argv() == ["docker push a/b:c"]
    opctl.write(os.path.join(folder, "ml_job_config.ini"), "[DEFAULT]\ndocker_registry = of/default\n")
    opctl.run("publish-image", "a/b:c", "--oci-profile", "Q")
    assert opctl.argv()[0] == "docker tag a/b:c of/default/b:c"
    refused = opctl.run("configure", stdin="\n\n\nX\n", code=1)
    assert "ValueError: profile X is not found in" in refused.stderr
    local = ["", "instance_principal", "", "", "", "", "n", "y", "y", "2", ""]
    opctl.run("configure", stdin="\n".join(local) + "\n")
    with open(os.path.join(folder, "local_backend.ini")) as file:
        assert file.read() == ("[INSTANCE_PRINCIPAL]\nmax_parallel_containers = 2\n"
                               "pipeline_status_poll_interval_seconds = 5\n\n")


def test_show_config_without_and_before_a_cluster(opctl):
    hint = "Either job ocid or yaml file with `jobId` key is required\n"
    command = ["distributed-training", "show-config"]
    assert opctl.run(*command).stdout == hint and opctl.run(*command, "-j", "x").stdout == hint
    opctl.write("info.yaml", f"jobId: j\nworkDir: file://{opctl.path('meet')}\n")
    assert opctl.run(*command, "-f", "info.yaml").stdout == (
        f"MAIN_config file not found at location file://{opctl.path('meet')}/j. If you just started the cluster "
        "please wait until the main node is in `inprogress` state\n")
    os.makedirs(opctl.path("meet", "j"))
    opctl.write(opctl.path("meet", "j", "MAIN_config.json"), "half")
    refused = opctl.run(*command, "-f", "info.yaml", code=1)
    assert refused.stdout == "" and "j/MAIN_config.json: it is not a JSON object" in refused.stderr
    opctl.write(opctl.path("meet", "j", "MAIN_config.json"), '{"MASTER_ADDR": "a"}')
    assert opctl.run(*command, "-j", "j", "--work-dir", "../meet").stdout == "Main Info:\nMASTER_ADDR: a\n\n"
