"""What `muster run` refuses: one line that names what is wrong and what to do, the exit code, and nothing half-made."""
import os
import subprocess

import pytest

from waiting import PATIENCE

USAGE, FAILURE = 2, 1


def written(folder, name, content="print(1)\n", mode=0o644, owner=None):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w" if isinstance(content, str) else "wb") as file:
        file.write(content)
    os.chmod(path, mode)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


@pytest.fixture
def code(cluster):
    folder = cluster.path("home", "code")
    written(folder, "train.py")
    return folder


def refused(cluster, code, words, *args, exit_code=USAGE, cwd=None):
    """The one line; neither a job nor a folder of a run is there after it."""
    done = cluster.run("run", *args, code=exit_code, cwd=cwd or code)
    lines = [line for line in done.stderr.splitlines() if "level=error" in line or line.startswith("ERRO")]
    assert len(lines) == 1 and words in lines[0], done.stderr
    assert done.stdout == ""
    runs = cluster.path("state", "muster", "runs")
    assert not os.path.exists(runs) or os.listdir(runs) == []
    return lines[0]


def test_flags_before_the_command_are_musters_and_the_rest_is_the_commands(cluster, code):
    refused(cluster, code, "unknown flag: --lr: flags of your program go after its name", "--lr", "1", "train.py")
    done = cluster.run("run", "echo", "--lr", "--name=x", "-n", "4", cwd=code)
    assert done.stdout == "--lr --name=x -n 4\n"


def test_scripts_and_folders_that_are_not_there(cluster, code):
    refused(cluster, code, f"nothere.py is not in {code}", "nothere.py")
    refused(cluster, code, "--directory: ", "-C", os.path.join(code, "none"), "train.py")
    refused(cluster, code, "--directory: train.py: not a folder", "-C", "train.py", "true")
    gone = cluster.path("home", "gone")
    os.makedirs(gone)
    line = f"cd {gone} && rmdir {gone} && exec {cluster.binary} run train.py"
    done = subprocess.run(["sh", "-c", line], env=cluster.env, text=True, capture_output=True, timeout=PATIENCE)
    assert done.returncode == USAGE and "the current folder no longer exists: change to another" in done.stderr, done.stderr


def test_programs_of_the_folder_that_could_not_start(cluster, code):
    written(code, "plain.sh", "echo hi\n")
    written(code, "windows.sh", "#!/bin/sh\r\necho hi\r\n", mode=0o755)
    written(code, "pkg/tool.sh", "#!/bin/sh\necho tool $1\n", mode=0o755)
    os.symlink("pkg", os.path.join(code, "link"))
    written(code, ".musterignore", "left.sh\n")
    written(code, "left.sh", "#!/bin/sh\n", mode=0o755)
    refused(cluster, code, f"./nothere is not in {code}", "./nothere")
    refused(cluster, code, "./pkg is a folder, not a program", "./pkg")
    refused(cluster, code, "./plain.sh may not be executed: `chmod +x ./plain.sh`", "./plain.sh")
    refused(cluster, code, "plain.sh is a file in this folder, not a program on PATH: run ./plain.sh", "-n", "2", "plain.sh")
    refused(cluster, code, "the lines of ./windows.sh end in CR LF, as on Windows", "./windows.sh")
    refused(cluster, code, "./left.sh is left out of the job by .musterignore", "./left.sh")
    refused(cluster, code, f"../link/tool.sh is outside of {code}/pkg", "../link/tool.sh", cwd=os.path.join(code, "pkg"))
    assert cluster.run("run", "./pkg/tool.sh", "1", cwd=code).stdout == "tool 1\n"
    assert cluster.run("run", "link/tool.sh", "3", cwd=code).stdout == "tool 3\n"
    assert cluster.run("run", "sh", "plain.sh", cwd=code).stdout == "hi\n"


def test_a_file_that_cannot_be_read(nobody_cluster):
    code = nobody_cluster.path("home", "code")
    written(code, "train.py", owner=nobody_cluster.uid)
    written(code, "secret.bin", "x", mode=0o000, owner=0)
    os.chown(code, nobody_cluster.uid, nobody_cluster.uid)
    refused(nobody_cluster, code, "--directory: read secret.bin: Permission denied; make it readable, or name it in .musterignore", "train.py")


def test_more_than_fits(cluster, code):
    for number in range(6):
        with open(os.path.join(code, f"big{number}.bin"), "wb") as file:
            file.truncate((30 + number) << 20)
    line = refused(cluster, code, "--large", "train.py")
    for number in range(1, 6):
        assert f"big{number}.bin" in line, line
    assert "big0.bin" not in line and ".musterignore" in line


def test_a_name_that_is_taken(cluster, code):
    cluster.run("run", "--name=mine", "train.py", cwd=code)
    written(code, "train.py", "print(2)\n")  # no snapshot has it

    def kept():
        return [entry for entry in os.walk(cluster.path("state", "muster")) if "/runs" in entry[0] or "/snapshots" in entry[0]]
    before = kept()
    told = cluster.run("run", "--name=mine", "train.py", code=FAILURE, cwd=code).stderr
    assert "the job mine is already exist, please delete it first" in told and "code: " not in told
    submit = ("submit", "pytorch", "--name=mine", "--sync-mode=local", "--sync-source=.", "true")
    told = cluster.run(*submit, code=FAILURE, cwd=code).stderr
    assert "the job mine is already exist, please delete it first" in told and "code: " not in told
    assert kept() == before


def test_sweeps(cluster, code):
    refused(cluster, code, "{lr} in the command: no --sweep has that name", "--sweep=rate=1,2", "train.py", "{lr}")
    refused(cluster, code, "--large", "--sweep=i=1..1000000", "train.py", "{i}")
    refused(cluster, code, "--sweep and --nodes contradict each other", "--nodes=2", "--sweep=i=1..2", "train.py")
    refused(cluster, code, "--parallel is for a --sweep", "--parallel=2", "train.py")


def test_a_value_that_no_sweep_has(cluster, code):
    refused(cluster, code, "{seed} in the command: no --sweep has that name", "--sweep=lr=1,2", "train.py", "{lr}", "{seed}")
    # Without any sweep it may be meant: it is passed on, and said.
    told = cluster.run("run", "echo", "{lr}", cwd=code)
    assert told.stdout == "{lr}\n" and "{lr} is passed on as it is: --sweep lr=VALUES would try" in told.stderr
    assert "passed on" not in cluster.run("run", "echo", "{}", "${x}", cwd=code).stderr


def test_jobs_to_wait_for(cluster, code):
    refused(cluster, code, "no run none is known", "--wait-for=none", "train.py", exit_code=FAILURE)
    refused(cluster, code, "--wait-for and --queue contradict each other", "--wait-for=a", "--queue", "train.py")


def test_secrets_and_runs_that_are_not_there(cluster, code):
    """A job would wait for such a secret in vain."""
    refused(cluster, code, '--secret "none" is invalid: there is no secret none; `muster secret create none',
            "--secret=none", "train.py", exit_code=FAILURE)
    token = cluster.path("home", "token")
    written(cluster.path("home"), "token", "x")
    cluster.run("secret", "create", "hub", f"TOKEN=@{token}")
    refused(cluster, code, '--secret "hub:KEY" is invalid: the secret has no such key', "--secret=hub:KEY=HF_KEY", "train.py",
            exit_code=FAILURE)
    refused(cluster, code, '--resume-from "none": no run none is known', "--resume-from=none", "train.py", exit_code=FAILURE)


def test_ranks(cluster, code):
    refused(cluster, code, "--nproc-per-node is invalid: it is auto, cpu, gpu or a number", "-n", "0", "train.py")
    refused(cluster, code, "a namespace is given as --namespace=two", "-n", "two", "train.py")
    for flag in ("--nproc-per-node=1000000", "--nodes=100000"):
        line = refused(cluster, code, "use fewer (--nproc-per-node, --nodes or --workers)", flag, "train.py", exit_code=FAILURE)
        assert "00000 processes (replicas times nprocPerNode), and this machine with" in line
    done = cluster.run("submit", "pytorch", "--name=many", "--workers=100000", "true", code=FAILURE)
    assert "the job has 100000 processes" in done.stderr and "many" not in cluster.run("list").stdout


def test_code_that_was_pruned(cluster, code):
    cluster.run("run", "--name=old", "train.py", cwd=code)
    store = cluster.path("state", "muster", "snapshots")
    subprocess.run(["rm", "-r", store], check=True)
    done = cluster.run("rerun", "old", code=FAILURE, cwd=code)
    assert "the code of old is not kept any more" in done.stderr and f"run it again in {code}" in done.stderr


def test_a_folder_without_git_and_without_a_runtime_directory(cluster, code):
    env = {name: value for name, value in cluster.env.items() if name != "XDG_RUNTIME_DIR"}
    cluster.env = env
    line = f"umask 027; {cluster.binary} run --name=plain 'umask; touch \"$MUSTER_RUN_DIR/made\"'"
    done = subprocess.run(["sh", "-c", line], env=env, cwd=code, text=True, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout == "0027\n", done.stderr
    made = cluster.path("state", "muster", "runs", "plain", "files", "made")
    assert os.stat(made).st_mode & 0o777 == 0o640


def environment_in(folder):
    """A virtual environment without pip; its Python."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", folder], check=True, timeout=PATIENCE)
    return os.path.join(folder, "bin", "python")


def test_a_virtual_environment_of_the_folder_is_used_if_it_is_active_or_named(cluster, code):
    written(code, "where.py", "import sys; print(sys.prefix)\n")
    os.remove(cluster.path("config", "muster", "config.yaml"))  # it names a Python for all jobs
    python = environment_in(os.path.join(code, ".venv"))
    prefix = os.path.join(code, ".venv")
    for ranks in ((), ("-n", "2")):
        refused(cluster, code, f"activate it (`. .venv/bin/activate`), or name the whole path: {python}",
                *ranks, ".venv/bin/python", "where.py")
    idle = cluster.run("run", "where.py", cwd=code)
    assert f"the job does not use {prefix}, which is not active" in idle.stderr
    assert idle.stdout.strip() != prefix
    # The launcher has a Python of its own.
    for words in ((python, "where.py"), ("-n", "1", python, "where.py"), ("-n", "1", python, "-m", "where")):
        named = cluster.run("run", *words, cwd=code)
        assert prefix in named.stdout and "not active" not in named.stderr, (words, named.stdout)
    active = cluster.run("run", "where.py", cwd=code,
                         env={"VIRTUAL_ENV": prefix, "PATH": os.path.dirname(python) + ":" + cluster.env["PATH"]})
    assert active.stdout.strip() == prefix and "not active" not in active.stderr
    cluster.run("run", "--live", ".venv/bin/python", "where.py", cwd=code)


def test_a_file_of_any_size_goes_along_without_being_held_in_memory(cluster, code):
    with open(os.path.join(code, "large"), "w") as file:
        file.truncate(150 << 20)
    cluster.run("up")
    command = "ulimit -d 100000; exec \"$0\" run --large 'stat -c %s large'"
    done = subprocess.run(["bash", "-c", command, cluster.binary], env=cluster.env, cwd=code, text=True, capture_output=True,
                          timeout=120)
    assert done.returncode == 0 and done.stdout == f"{150 << 20}\n", done.stderr


def test_pointers_of_lfs_are_counted(cluster, code):
    for name in ("a.bin", "b.bin"):
        written(code, name, "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n")
    written(code, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    subprocess.run(["git", "init", "-q", code], check=True, timeout=PATIENCE)
    done = cluster.run("run", "true", cwd=code)
    assert "; 2 files are only pointers of git LFS: `git lfs pull` fetches the contents" in done.stderr


def test_the_home_of_another_user_has_a_way_out(nobody_cluster):
    folder = nobody_cluster.path("anothers")
    os.makedirs(os.path.join(folder, "muster"))
    os.chmod(folder, 0o700)
    done = nobody_cluster.run("list", code=FAILURE, env={"XDG_CONFIG_HOME": folder})
    assert "config.yaml: Permission denied: set HOME to your own folder (`sudo -H` does)" in done.stderr
    done = nobody_cluster.run("list", code=FAILURE, env={"XDG_STATE_HOME": folder})
    assert "Permission denied: set HOME (`sudo -H` does) or XDG_STATE_HOME to a folder of yours" in done.stderr
