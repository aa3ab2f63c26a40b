"""Code from real servers: git over HTTP with a password, over ssh with a key, rsync's daemon. Secrets
are seen by whoever needs them and by nobody else."""
import contextlib
import os
import stat
import subprocess
import threading

import pytest

from code_servers import ON_REQUEST, PASSWORD, USER, GitOverHttp, Repositories, RsyncDaemon, SshServer
from ports import free_port
from waiting import PATIENCE

FAILURE = 1


@pytest.fixture(scope="module")
def repositories():
    made = Repositories()
    yield made
    made.close()


@pytest.fixture(scope="module")
def git_http(repositories):
    server = GitOverHttp(repositories.folder)
    yield server
    server.close()


@pytest.fixture(scope="module")
def ssh_server():
    server = SshServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def rsyncd(repositories):
    server = RsyncDaemon(repositories.tree)
    yield server
    server.close()


class Watcher(threading.Thread):
    """Looks at every command line of the machine again and again, and whenever a git waits for the answer of the test's server; keeps
    those with one of the secrets."""

    def __init__(self, secrets):
        super().__init__()
        self.secrets, self.found, self.looks, self.stopping = secrets, set(), 0, threading.Event()

    def look(self):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            # What the user types is the user's own.
            if b"\0submit\0" not in line and any(secret.encode() in line for secret in self.secrets):
                self.found.add(line)
        self.looks += 1

    def run(self):
        self.look()
        while not self.stopping.wait(0.05):
            self.look()

    def __enter__(self):
        ON_REQUEST.append(self.look)
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()
        ON_REQUEST.remove(self.look)
        assert self.looks > 0 and not self.found, self.found


def assert_secret(cluster, name, said, *secrets):
    """None of the secrets is in what muster says, nor in a file that others may read."""
    for command in (["get", name], ["get", name, "-e"], ["get", name, "-o", "json"], ["get", name, "-o", "yaml"],
                    ["logs", name], ["logs", name, "-c", "init-code"], ["list", "-o", "json"]):
        done = cluster.run(*command, code=None)
        said += done.stdout + done.stderr
    for secret in secrets:
        assert secret not in said
    for folder, _, files in os.walk(cluster.folder):
        for file in files:
            path = os.path.join(folder, file)
            mode = os.lstat(path).st_mode
            if not stat.S_ISREG(mode):
                continue
            with open(path, "rb") as content:
                held = content.read()
            if any(secret.encode() in held for secret in secrets):
                assert mode & 0o077 == 0, f"{path} has mode {mode:o}"


def sync(cluster, name, *flags, secrets=(), code=0):
    """The training's own output, its code having been fetched."""
    with Watcher(secrets) if secrets else contextlib.nullcontext():
        done = cluster.submit(name, "cat /root/code/*/main.py /root/code/*/library/lib.py; true", "--wait",
                              *flags, code=code)
    assert_secret(cluster, name, done.stdout + done.stderr, *secrets)
    return done


def log(cluster, name):
    return cluster.run("logs", name).stdout.splitlines()


def failure(cluster, name, *flags, secrets=()):
    """The one line that submit --wait ends with."""
    done = sync(cluster, name, *flags, secrets=secrets, code=FAILURE)
    lines = [line for line in done.stderr.splitlines() if f"the job {name} has failed: " in line]
    assert len(lines) == 1, done.stderr
    return lines[0]


USERS = pytest.mark.parametrize("user", ["cluster", "nobody_cluster"])
AUTH = (f"--env=GIT_SYNC_USERNAME={USER}", f"--env=GIT_SYNC_PASSWORD={PASSWORD}")


@USERS
def test_a_copy_of_the_callers_folder(user, request):
    cluster = request.getfixturevalue(user)
    code = cluster.path("home", "project")
    os.makedirs(os.path.join(code, "inside"))
    for name, text in (("train.py", "print('trained')\n"), ("inside/a", "a\n")):
        with open(os.path.join(code, name), "w") as file:
            file.write(text)
    for folder, folders, files in os.walk(code):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, cluster.uid, cluster.uid)
    flags = ["submit", "pytorch", "--workers=2", "--sync-mode=local", "--follow"]
    done = cluster.run(*flags, "--name=here", "pwd; cd /root/code/project && python train.py && cat inside/a", cwd=code)
    assert "code at /root/code/project in the replicas: 2 files (0.0 MB) of " in done.stderr
    assert done.stdout.endswith("/root\ntrained\na\n"), done.stdout
    with open(os.path.join(code, "train.py"), "w") as file:
        file.write("print('changed')\n")
    again = cluster.run("rerun", "here")
    cluster.wait("here-2", "SUCCEEDED")
    assert "trained" in again.stdout
    there = cluster.run(*flags, "--name=there", f"--sync-source={code}", "cat /root/code/project/train.py")
    assert there.stdout.endswith("print('changed')\n")
    assert "train.py" in cluster.run("code", "there").stdout


@USERS
def test_git_over_http(user, request, git_http):
    cluster = request.getfixturevalue(user)
    source = ("--sync-mode=git", "--sync-source=" + git_http.url("project.git"), *AUTH)
    sync(cluster, "head", *source, secrets=[PASSWORD])
    assert log(cluster, "head") == ["print('work two')", "print('library one')"]
    sync(cluster, "branch", *source, "--git-branch=dev", "--git-depth=1", secrets=[PASSWORD])
    assert log(cluster, "branch")[0] == "print('work dev')"
    sync(cluster, "revision", *source, "--git-revision=v1", secrets=[PASSWORD])
    assert log(cluster, "revision")[0] == "print('work one')"
    sync(cluster, "bare", *source, "--env=GIT_SYNC_SUBMODULES=off", secrets=[PASSWORD])
    assert log(cluster, "bare") == ["print('work two')", "cat: '/root/code/*/library/lib.py': No such file or directory"]


def test_a_password_in_the_url(cluster, git_http):
    sync(cluster, "url", "--sync-mode=git",
         "--sync-source=" + git_http.url("project.git", f"{USER}:{PASSWORD}@"), secrets=[PASSWORD])
    assert log(cluster, "url")[0] == "print('work two')"


def test_git_over_http_says_what_is_wrong(cluster, git_http):
    url = git_http.url("project.git")
    source = ("--sync-mode=git", "--sync-source=" + url)
    wrong = "wrong-8812-password"
    words = failure(cluster, "wrong", *source, f"--env=GIT_SYNC_USERNAME={USER}",
                    f"--env=GIT_SYNC_PASSWORD={wrong}", secrets=[wrong])
    assert f"Authentication failed for '{url}/'" in words
    words = failure(cluster, "none", *source)
    assert "could not read Username" in words or "Authentication failed" in words
    words = failure(cluster, "norev", *source, *AUTH, "--git-revision=v99", secrets=[PASSWORD])
    assert f'revision "v99" does not exist in {url}' in words
    words = failure(cluster, "nobranch", *source, *AUTH, "--git-branch=nope", secrets=[PASSWORD])
    assert "Remote branch nope not found in upstream origin" in words
    words = failure(cluster, "norepo", "--sync-mode=git", "--sync-source=" + git_http.url("absent.git"), *AUTH,
                    secrets=[PASSWORD])
    assert "absent.git" in words and "not found" in words
    words = failure(cluster, "nohost", "--sync-mode=git", f"--sync-source=http://127.0.0.1:{free_port()}/x.git",
                    *AUTH, secrets=[PASSWORD])
    assert "Failed to connect" in words or "Couldn't connect" in words


@USERS
def test_git_over_ssh(user, request, repositories, ssh_server):
    cluster = request.getfixturevalue(user)
    if cluster.uid != os.getuid() and not os.path.exists("/etc/passwd"):
        pytest.skip("ssh wants its user to have a name")
    key, hosts = ssh_server.give("client", cluster.uid), ssh_server.give("known_hosts", cluster.uid)
    secret = ssh_server.key.read_text().splitlines()[2]
    source = ("--sync-mode=git", "--sync-source=" + ssh_server.url(f"{repositories.folder}/project.git"),
              f"--git-ssh-key={key}")
    sync(cluster, "key", *source, f"--git-known-hosts={hosts}", secrets=[secret])
    assert log(cluster, "key") == ["print('work two')", "print('library one')"]
    sync(cluster, "branch", *source, "--env=GIT_KNOWN_HOSTS=false", "--git-branch=dev", secrets=[secret])
    assert log(cluster, "branch")[0] == "print('work dev')"
    # git-sync's own variables, the key where it lies on this machine
    sync(cluster, "variables", *source[:2], "--env=GIT_SYNC_SSH=true", f"--env=GIT_SSH_KEY_FILE={key}",
         f"--env=GIT_SSH_KNOWN_HOSTS_FILE={hosts}", "--env=GIT_SYNC_REV=v1")
    assert log(cluster, "variables")[0] == "print('work one')"


def test_the_training_does_not_see_the_key(cluster, repositories, ssh_server):
    cluster.submit("see", "ls -d /etc/git-secret; env | grep -c GIT_; true", "--wait", "--sync-mode=git",
                   "--sync-source=" + ssh_server.url(f"{repositories.folder}/project.git"),
                   f"--git-ssh-key={ssh_server.key}", f"--git-known-hosts={ssh_server.folder}/known_hosts")
    assert log(cluster, "see") == ["ls: cannot access '/etc/git-secret': No such file or directory", "0"]


def test_git_over_ssh_says_what_is_wrong(cluster, repositories, ssh_server):
    source = ("--sync-mode=git", "--sync-source=" + ssh_server.url(f"{repositories.folder}/project.git"))
    words = failure(cluster, "badhost", *source, f"--git-ssh-key={ssh_server.key}",
                    f"--git-known-hosts={ssh_server.folder}/bad_known_hosts")
    assert "Host key verification failed" in words
    words = failure(cluster, "badkey", *source, f"--git-ssh-key={ssh_server.folder}/other",
                    f"--git-known-hosts={ssh_server.folder}/known_hosts")
    assert "Permission denied (publickey)" in words
    words = failure(cluster, "norepo", "--sync-mode=git", "--sync-source=" + ssh_server.url("/absent.git"),
                    f"--git-ssh-key={ssh_server.key}", f"--git-known-hosts={ssh_server.folder}/known_hosts")
    assert "absent.git" in words and "not appear to be a git repository" in words
    words = failure(cluster, "down", "--sync-mode=git", f"--sync-source=ssh://127.0.0.1:{free_port()}/x.git",
                    f"--git-ssh-key={ssh_server.key}", f"--git-known-hosts={ssh_server.folder}/known_hosts")
    assert "Connection refused" in words


@USERS
def test_rsync(user, request, rsyncd):
    cluster = request.getfixturevalue(user)
    sync(cluster, "open", "--sync-mode=rsync", "--sync-source=" + rsyncd.url("open"))
    cluster.submit("show", "cat /root/code/main.py /root/code/library/lib.py", "--wait", "--sync-mode=rsync",
                   "--sync-source=" + rsyncd.url("open/"))
    assert log(cluster, "show") == ["print('work two')", "print('library one')"]
    locked = ("--sync-mode=rsync", "--sync-source=" + rsyncd.url("locked/main.py", f"{USER}@"))
    with Watcher([PASSWORD]):
        done = cluster.submit("locked", "cat /root/code/main.py", "--wait", *locked,
                              f"--env=RSYNC_PASSWORD={PASSWORD}")
    assert_secret(cluster, "locked", done.stdout + done.stderr, PASSWORD)
    assert log(cluster, "locked") == ["print('work two')"]


@USERS
@pytest.mark.parametrize("source,found", [(".", "train.py library"), ("./", "train.py library"),
                                          ("library", "library"), ("./library/", "lib.py"),
                                          ("../project/train.py", "train.py")])
def test_a_relative_source_is_of_the_callers_folder(user, request, source, found):
    cluster = request.getfixturevalue(user)
    project = cluster.path("project")
    os.makedirs(f"{project}/library")
    for name in ("train.py", "library/lib.py"):
        with open(f"{project}/{name}", "w") as file:
            file.write(name)
    for mode in ("rsync", "git"):
        if mode == "git":
            if source not in (".", "./"):
                continue
            git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", project]
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
                subprocess.run([*git, *words], check=True)
            subprocess.run(["chmod", "-R", "a+rX", project], check=True)
            found = "project"
        process = cluster.start("submit", "pytorch", f"--name={mode}", f"--sync-mode={mode}", f"--sync-source={source}",
                                "--wait", "ls /root/code | sort -r | xargs", cwd=project)
        said = "".join(process.communicate(timeout=PATIENCE))
        assert process.returncode == 0, said
        assert log(cluster, mode) == [found]


def test_a_source_is_refused_that_would_copy_the_machine(cluster):
    os.makedirs(cluster.path("home", "project"))
    for source in ("/", cluster.folder, cluster.path("state"), "..", "~/.."):
        refused = cluster.submit("never", "true", "--sync-mode=rsync", f"--sync-source={source}", code=2)
        assert "where each pod gets its copy: name the folder of the code" in refused.stderr
    for mode in ("rsync", "git"):
        refused = cluster.submit("never", "true", f"--sync-mode={mode}", "--sync-source=absent/x", code=2)
        assert f"--sync-source is invalid: {cluster.path('home')}/absent/x: No such file" in refused.stderr
    cluster.submit("mine", "ls /root/code", "--wait", "--sync-mode=rsync", "--sync-source=~/project")
    assert log(cluster, "mine") == ["project"]


def test_a_job_that_others_made_copies_no_machine_either(cluster):
    """Written by hand, or by Arena."""
    os.makedirs(cluster.path("home", "project"))
    shown = cluster.submit("applied", "true", "--dry-run=client", "--sync-mode=rsync", "--sync-source=project").stdout
    for source in (".", "/", cluster.folder):
        with open(cluster.path("tmp", "job.yaml"), "w") as file:
            file.write(shown.replace(cluster.path("home", "project"), source))
        cluster.run("apply", "-f", cluster.path("tmp", "job.yaml"))
        cluster.wait("applied", "FAILED")
        assert f'rsync: the source "{source}" ' in cluster.run("get", "applied").stdout
        cluster.run("delete", "applied")


def test_rsync_says_what_is_wrong(cluster, rsyncd):
    wrong = "wrong-8812-password"
    words = failure(cluster, "wrong", "--sync-mode=rsync", "--sync-source=" + rsyncd.url("locked", f"{USER}@"),
                    f"--env=RSYNC_PASSWORD={wrong}", secrets=[wrong])
    assert "@ERROR: auth failed on module locked" in words
    words = failure(cluster, "nomodule", "--sync-mode=rsync", "--sync-source=" + rsyncd.url("absent"))
    assert "Unknown module 'absent'" in words
    words = failure(cluster, "nofile", "--sync-mode=rsync", "--sync-source=" + rsyncd.url("open/absent.py"))
    assert "absent.py" in words and "No such file or directory" in words
    words = failure(cluster, "down", "--sync-mode=rsync", f"--sync-source=rsync://127.0.0.1:{free_port()}/m")
    assert "Connection refused" in words


def test_an_encrypted_key_is_an_error_and_no_prompt(cluster, repositories, ssh_server):
    locked = ssh_server.folder / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "words", "-f", str(locked)], check=True)
    words = failure(cluster, "locked", "--sync-mode=git",
                    "--sync-source=" + ssh_server.url(f"{repositories.folder}/project.git"),
                    f"--git-ssh-key={locked}", "--env=GIT_KNOWN_HOSTS=false")
    assert "Permission denied" in words
