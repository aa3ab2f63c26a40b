"""`make package`: what is packed, and that it works in a root of its own, with nothing of this machine's."""
import glob
import os
import shutil
import subprocess
import tarfile

import pytest

from places import ROOT
from waiting import PATIENCE

# The build that is tested: build/ or build/<preset>.
BUILD = os.path.dirname(os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster")))
WANTED = ("bin/muster", "bin/muster-launch", "share/bash-completion/completions/muster",
          "share/zsh/vendor-completions/_muster", "share/fish/vendor_completions.d/muster.fish", "share/doc/muster/copyright",
          "share/man/man1/muster.1", "share/man/man1/muster-submit-pytorchjob.1", "share/man/man1/muster-launch.1")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages():
    preset = "release" if os.path.basename(BUILD) == "build" else os.path.basename(BUILD)
    # `scripts/test` has built it: other tests run these programs now.
    run(os.path.join(ROOT, "scripts", "package"), "--as-built", preset)
    return os.path.join(BUILD, "packages")


def one(packages, pattern):
    found = glob.glob(os.path.join(packages, pattern))
    assert len(found) == 1, os.listdir(packages)
    return found[0]


def libraries_of(program):
    """The loader and what it loads, as `ldd` says."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=PATIENCE).stdout
    return [word for word in said.split() if word.startswith("/")]


def in_fresh_root(root, *command):
    """Runs it with `root` as the whole file system: of this machine only the C library's files are there."""
    return run("unshare", "--map-root-user", "--user", "--mount", "--pid", "--fork", "--mount-proc",
               "--root", root, *command,
               env={"PATH": "/usr/bin:/bin", "HOME": "/root"})


def check_installed(root):
    os.makedirs(os.path.join(root, "proc"), exist_ok=True)
    for path in WANTED:
        assert os.path.getsize(os.path.join(root, "usr", path)) > 0, path
    for program in ("muster", "muster-launch"):
        for library in libraries_of(os.path.join(root, "usr/bin", program)):
            os.makedirs(root + os.path.dirname(library), exist_ok=True)
            shutil.copy(os.path.realpath(library), root + library)
    version = run(os.path.join(ROOT, "scripts", "version")).strip()
    assert in_fresh_root(root, "/usr/bin/muster", "version", "--short") == f"muster: v{version}\n"
    assert "muster launch" in in_fresh_root(root, "/usr/bin/muster", "launch", "--help")
    assert "muster submit" in in_fresh_root(root, "/usr/bin/muster", "help", "submit")
    with open(os.path.join(root, "usr/share/man/man1/muster-list.1")) as page:
        assert f"muster v{version}" in page.read().replace("\\-", "-")
    for shell, name in (("bash", "bash-completion/completions/muster"), ("zsh", "zsh/vendor-completions/_muster"),
                        ("fish", "fish/vendor_completions.d/muster.fish")):
        with open(os.path.join(root, "usr/share", name)) as script:
            assert script.read() == in_fresh_root(root, "/usr/bin/muster", "completion", shell)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb: a .deb is for Debian and its kin")
def test_the_deb_works_in_a_fresh_root(packages, tmp_path):
    deb = one(packages, "muster_*.deb")
    root = str(tmp_path / "root")
    os.makedirs(root)
    run("dpkg-deb", "-x", deb, root)
    check_installed(root)
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "-f", deb).splitlines() if ": " in line)
    assert fields["Package"] == "muster" and fields["Depends"].startswith("libc6")
    assert fields["Version"] == run(os.path.join(ROOT, "scripts", "version"), "--package").strip()


def test_dpkg_installs_and_removes_it_whole(packages, tmp_path):
    if shutil.which("dpkg") is None or os.getuid() != 0:
        pytest.skip("dpkg installs into a root of its own for root only")
    root = str(tmp_path / "root")
    for folder in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
        os.makedirs(os.path.join(root, folder))
    for name in ("status", "available"):
        open(os.path.join(root, "var/lib/dpkg", name), "w").close()
    # Its dependencies are of a whole Debian.
    run("dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", "--install", one(packages, "muster_*.deb"))
    assert os.path.exists(os.path.join(root, "usr/bin/muster"))
    run("dpkg", f"--root={root}", "--purge", "muster")
    assert not [path for path in WANTED if os.path.exists(os.path.join(root, "usr", path))]


def test_the_tarball_works_in_a_fresh_root(packages, tmp_path):
    root = str(tmp_path / "root")
    with tarfile.open(one(packages, "muster-*.tar.gz")) as archive:
        top = {name.split("/")[0] for name in archive.getnames()}
        assert len(top) == 1
        archive.extractall(tmp_path)
    os.makedirs(root)
    os.rename(tmp_path / top.pop(), os.path.join(root, "usr"))
    check_installed(root)


def test_cmake_installs_the_same(packages, tmp_path):
    root = str(tmp_path / "root")
    run("cmake", "--install", BUILD, "--strip", "--prefix", os.path.join(root, "usr"))
    check_installed(root)


def test_the_version_is_the_last_tags(tmp_path):
    tree = tmp_path / "tree"
    os.makedirs(tree / "scripts")
    shutil.copy(os.path.join(ROOT, "scripts", "version"), tree / "scripts")
    script = str(tree / "scripts" / "version")
    git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    otherwise = run(script).strip()
    assert run(script, "--package").strip() == otherwise
    run("git", "init", "-q", str(tree))
    run(*git, "commit", "-q", "--allow-empty", "-m", "one")
    assert run(script).strip() == otherwise
    run(*git, "tag", "v1.2.3")
    assert run(script).strip() == run(script, "--package").strip() == "1.2.3"
    run(*git, "tag", "nightly")
    run(*git, "commit", "-q", "--allow-empty", "-m", "two")
    assert run(script).strip() == "1.2.3"
    assert run(script, "--package").startswith("1.2.3+1.g")
    assert run(script, env={**os.environ, "MUSTER_VERSION": "9.9.9"}).strip() == "9.9.9"
