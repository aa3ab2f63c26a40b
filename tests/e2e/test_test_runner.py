"""What `make test` says of itself: all suites in one run, what was left out, another apt that is waited for."""
import glob
import os
import shlex
import shutil
import subprocess
import sys

import pytest

import places
import skips
from places import ROOT
from ports import free_ports


SUITES = ["tests/compat/ads", "tests/compat/launch", "tests/e2e", "tests/integration"]


@pytest.mark.parametrize("asked", [[], ["tests/integration/test_apply_on_kubernetes.py", "tests/e2e/test_apply.py"]],
                         ids=["all", "files of two"])
def test_one_run_has_as_many_suites_as_it_is_asked_for(asked):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-qq", *asked], cwd=ROOT, env=environment, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout
    files = {line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("tests/")}
    wanted = asked or [
        os.path.relpath(path, ROOT) for suite in SUITES for path in glob.glob(os.path.join(ROOT, suite, "test_*.py"))]
    assert files == set(wanted)


def test_no_two_files_of_tests_have_one_name():
    names = [os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "tests", "**", "*.py"), recursive=True)]
    assert [name for name in set(names) if names.count(name) > 1] == ["conftest.py"]


@pytest.mark.parametrize("reason, in_ci, code", [
    ("no libtorch-dev and libgloo-dev here", "", 0),
    ("no libtorch-dev and libgloo-dev here", "true", 1),
    ("ssh wants its user to have a name", "true", 0),
])
def test_a_skip_that_ci_does_not_expect_fails_it(tmp_path, reason, in_ci, code):
    shutil.copy(os.path.join(ROOT, "tests", "conftest.py"), tmp_path)
    for shared in (places, skips):
        shutil.copy(shared.__file__, tmp_path)
    (tmp_path / "test_it.py").write_text(
        f"import pytest\ndef test_runs(): pass\ndef test_is_left_out(): pytest.skip({reason!r})\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "."], cwd=tmp_path,
                          env={**environment, "CI": in_ci}, text=True, capture_output=True)
    assert done.returncode == code, done.stdout
    assert ("not tested on this machine" in done.stdout) == reason.startswith("no libtorch")


@pytest.mark.parametrize("reason, in_ci, code", [
    ("this machine has no IPv6", "", 0),
    ("this machine has no IPv6", "true", 1),
    ("a user namespace wants one thread; the sanitizer has its own", "true", 0),
])
def test_a_unit_test_that_ci_does_not_expect_to_be_skipped_fails_it(tmp_path, reason, in_ci, code):
    """ctest itself calls a skipped test passed."""
    said = f"[ RUN      ] It.IsLeftOut\n/src/it_test.cc:7: Skipped\n{reason}\n\n[  SKIPPED ] It.IsLeftOut (0 ms)\n"
    scripts = tmp_path / "scripts"
    for folder in (scripts, tmp_path / "build" / "dev"):
        folder.mkdir(parents=True)
    shutil.copy(os.path.join(ROOT, "scripts", "test"), scripts)
    for name, script in {"build": "true", "say": f"printf %s {shlex.quote(said)}"}.items():
        (scripts / name).write_text(f"#!/bin/sh\n{script}\n")
        (scripts / name).chmod(0o755)
    os.symlink(os.path.join(ROOT, "tests"), tmp_path / "tests")
    (tmp_path / "build" / "dev" / "CTestTestfile.cmake").write_text(
        f'add_test(It.IsLeftOut "{scripts}/say")\n'
        r'set_tests_properties(It.IsLeftOut PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")' + "\n")
    done = subprocess.run([scripts / "test", "unit"], env={**os.environ, "CI": in_ci}, text=True, capture_output=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert (f"It.IsLeftOut: {reason}" in done.stdout) == reason.endswith("IPv6")


def test_the_files_that_took_longest_begin_first_the_next_time(tmp_path):
    (tmp_path / "build").mkdir()
    (tmp_path / "tests" / "support").mkdir(parents=True)
    shutil.copy(os.path.join(ROOT, "tests", "conftest.py"), tmp_path / "tests")
    for shared in (places, skips):
        shutil.copy(shared.__file__, tmp_path / "tests" / "support")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\npythonpath = tests/support\n")
    for number in range(40):
        (tmp_path / "tests" / f"test_{number:02}.py").write_text(
            f"import time\ndef test_it(): time.sleep({0.3 if number == 17 else 0})\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}

    def run(*flags):
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", *flags], cwd=tmp_path, env=environment, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout
        return done.stdout.splitlines()[0]
    assert run("--collect-only").startswith("tests/test_00.py")
    run("-n", "2", "--dist", "loadfile")
    assert run("--collect-only").startswith("tests/test_17.py")


def test_files_that_ask_for_an_api_server_share_three(tmp_path):
    (tmp_path / "tests" / "support").mkdir(parents=True)
    (tmp_path / "tests" / "integration").mkdir()
    shutil.copy(os.path.join(ROOT, "tests", "conftest.py"), tmp_path / "tests")
    for shared in (places, skips):
        shutil.copy(shared.__file__, tmp_path / "tests" / "support")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider --import-mode=importlib\npythonpath = tests/support\n")
    for number in range(9):
        (tmp_path / "tests" / "integration" / f"test_{number}.py").write_text(
            "import os\ndef test_it(worker_id): open(f'of-{worker_id}', 'a').write('one')\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "4", "--dist", "loadfile"], cwd=tmp_path, env=environment, text=True,
                          capture_output=True)
    assert done.returncode == 0 and "9 passed" in done.stdout, done.stdout
    assert len(glob.glob(str(tmp_path / "of-*"))) <= 3


@pytest.mark.parametrize("failing", [None, "lives", "fuzzers"])
def test_what_runs_beside_the_tests_is_waited_for_and_fails_them(tmp_path, failing):
    programs = {"scripts/build": "true", "scripts/kubernetes-tools": "true", "build/simulate_cluster": "true", "passes": "true",
                "scripts/simulate": "while [ ! -e tested ]; do sleep 0.05; done; echo lived",
                "fuzz": "exit 7" if failing == "fuzzers" else "true"}
    if failing == "lives":
        programs["scripts/simulate"] += "; exit 7"
    for name, body in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    shutil.copy(os.path.join(ROOT, "scripts", "test"), tmp_path / "scripts")
    (tmp_path / "tests" / "support").mkdir(parents=True)
    shutil.copy(skips.__file__, tmp_path / "tests" / "support")
    for folder, program in (("", "passes"), ("tests/fuzz", "fuzz")):
        (tmp_path / "build" / "dev" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "build" / "dev" / folder / "CTestTestfile.cmake").write_text(f'add_test(one "{tmp_path}/{program}")\n')
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    (tmp_path / "test_it.py").write_text("def test_it(): open('tested', 'w').close()\n")
    environment = {**{key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}, "MUSTER_TEST_WORKERS": "1"}
    done = subprocess.run([tmp_path / "scripts" / "test", "all"], cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=120)
    assert done.returncode == bool(failing), done.stdout + done.stderr
    assert done.stderr.startswith("FAILED: ") == bool(failing) and (failing or "") in done.stderr
    assert "lived\n" in done.stdout


@pytest.mark.parametrize("uid, reason, expected", [
    (0, "needs root to mount a small file system", False), (1000, "needs root to mount a small file system", True),
    (1000, "only root can become nobody", True), (1000, "no kubectl on this machine", False)])
def test_what_only_root_can_do_is_left_out_for_others_alone(monkeypatch, uid, reason, expected):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert skips.is_expected(reason) == expected


def test_a_port_that_a_server_will_have_is_not_given_to_a_connection_before():
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first, _ = map(int, file.read().split())
    ports = free_ports(5)
    assert len(set(ports)) == 5 and max(ports) < first


def test_packages_wait_for_another_apt(tmp_path):
    programs = {
        "dpkg-query": "exit 1",
        "apt-cache": "echo known",
        "systemctl": "exit 0",
        "id": "echo 0",
        # Busy twice, as while unattended-upgrades has the lists.
        "apt-get": f"echo \"$@\" >>{tmp_path}/asked\n"
                   f"[ $(wc -l <{tmp_path}/asked) -gt 2 ] && exit 0\n"
                   "echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt)' >&2; exit 100",
    }
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)

    def install(wait):
        (tmp_path / "asked").unlink(missing_ok=True)
        return subprocess.run([os.path.join(ROOT, "scripts", "install-packages"), "cpp"], text=True, capture_output=True,
                              env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "MUSTER_APT_WAIT": wait})
    waited = install("60")
    assert waited.returncode == 0, waited.stderr
    assert waited.stderr.count("waiting for another apt: Could not get lock /var/lib/apt/lists/lock") == 1
    assert "libtorch-dev" in (tmp_path / "asked").read_text().splitlines()[-1]
    gave_up = install("0")
    assert gave_up.returncode == 1
    assert "held by process 7" in gave_up.stderr


@pytest.mark.parametrize("tests, sanitizers, seconds, code, says", [
    ("exit 0", "exit 0", 60, 0, None),
    ("exit 3", "exit 0", 60, 2, None),
    ("exit 0", "exit 3", 60, 2, None),
    ("exit 0", "exit 0", 0, 1, "RED: the sanitizers have not run"),
    ("exit 0", "cat idle", 5, 1, "RED: the sanitizers have not finished"),
], ids=["all runs", "tests fail", "sanitizers fail", "no time", "too little time"])
def test_ci_is_green_only_when_the_sanitizers_have_run(tmp_path, tests, sanitizers, seconds, code, says):
    (tmp_path / ".ci").mkdir()
    shutil.copy(os.path.join(ROOT, ".ci", "run"), tmp_path / ".ci")
    os.mkfifo(tmp_path / "idle")
    (tmp_path / "Makefile").write_text(f"test:\n\t@{tests}\nsanitize:\n\t@{sanitizers}\n")
    done = subprocess.run([".ci/run"], cwd=tmp_path, env={**os.environ, "MUSTER_CI_SECONDS": str(seconds)}, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.count("RED") == (1 if says else 0)
    assert not says or says in done.stdout


def test_packages_for_tests_change_the_machine_by_its_package_manager_only(tmp_path):
    note = f"echo \"$(basename \"$0\")\" >>{tmp_path}/called"
    programs = {"dpkg-query": "exit 1", "apt-cache": "echo known", "apt-get": note, "id": "echo 0",
                **{name: note for name in ("systemctl", "tee", "chmod", "ln", "cp", "install", "service")}}
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    subprocess.run([os.path.join(ROOT, "scripts", "install-packages"), "build", "test", "browser", "demo"], check=True,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True)
    assert set((tmp_path / "called").read_text().split()) == {"apt-get"}
    # Packages whose installation starts a service of the machine's.
    script = open(os.path.join(ROOT, "scripts", "install-packages")).read()
    assert "openssh-server" not in script and "/usr/sbin/" not in script
