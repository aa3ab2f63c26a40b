"""muster python-shim: python -m torch.distributed.run and .launch start muster-launch."""
import os
import subprocess
import sys

import pytest

from places import BINARY

WHO = ("import os; print(os.readlink(f'/proc/{os.getppid()}/exe').rsplit('/', 1)[-1], "
       "os.environ['RANK'])")


@pytest.fixture
def environment(launch):
    """A virtualenv of the test's own, whose torch is a stand-in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", launch.path("venv")], check=True)
    python = launch.path("venv", "bin", "python")
    library = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                             capture_output=True, text=True, check=True).stdout.strip()
    os.makedirs(os.path.join(library, "torch", "distributed"))
    for name in ("__init__", "distributed/__init__", "distributed/run", "distributed/launch"):
        with open(os.path.join(library, "torch", name + ".py"), "w") as file:
            file.write("print('PyTorch')" if name.endswith(("run", "launch")) else "")
    launch.env.pop("PYTHON_EXEC")
    return python


def shim(launch, *args):
    return subprocess.run([BINARY, "python-shim", *args], env=launch.env, capture_output=True,
                          text=True)


def test_install_and_remove(launch, environment):
    script = launch.script(WHO)

    def run(module, *flags, **variables):
        return subprocess.run([environment, *flags, "-m", module, script],
                              env={**launch.env, **variables}, capture_output=True, text=True,
                              cwd=launch.folder).stdout
    assert run("torch.distributed.run") == "PyTorch\n"
    done = shim(launch, "install", "--python", environment)
    assert done.returncode == 0, done.stderr
    assert launch.path("venv") in done.stdout
    for module in ("torch.distributed.run", "torch.distributed.launch"):
        assert run(module) == "muster-launch 0\n"
        assert run(module, "-X", "utf8", "-u") == "muster-launch 0\n"
    assert run("torch.distributed.run", MUSTER_PYTHON_SHIM="off") == "PyTorch\n"
    assert run("torch.distributed.run", "-S") == ""  # no site: no torch here either
    removed = shim(launch, "remove", f"--python={environment}")
    assert removed.returncode == 0 and removed.stdout.startswith("removed ")
    assert run("torch.distributed.run") == "PyTorch\n"
    assert "it is not installed" in shim(launch, "remove", "--python", environment).stdout


def test_a_python_that_prints_at_its_start_has_the_hook_in_its_own_folder(launch, environment):
    os.mkdir(launch.path("greets"))
    with open(launch.path("greets", "sitecustomize.py"), "w") as file:
        file.write("print('Welcome')")
    launch.env["PYTHONPATH"] = launch.path("greets")
    done = subprocess.run([BINARY, "python-shim", "install", "--python", environment], env=launch.env,
                          capture_output=True, text=True, cwd=launch.path("greets"))
    assert done.stdout.startswith(f"installed {launch.path('venv')}/"), done
    assert not os.path.exists(launch.path("greets", "Welcome"))


def test_a_sitecustomize_that_was_there_still_runs(launch, environment):
    assert shim(launch, "pods", launch.path("pods")).returncode == 0
    os.mkdir(launch.path("theirs"))
    with open(launch.path("theirs", "sitecustomize.py"), "w") as file:
        file.write("print('theirs')")
    path = {"PYTHONPATH": launch.path("pods", "python") + ":" + launch.path("theirs")}
    done = subprocess.run([environment, "-c", "import sitecustomize; print(sitecustomize.__file__)"],
                          env={**launch.env, **path}, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["theirs", launch.path("theirs", "sitecustomize.py")]
    done = subprocess.run([environment, "-m", "torch.distributed.run", launch.script(WHO)],
                          env={**launch.env, **path}, capture_output=True, text=True)
    assert "muster-launch 0" in done.stdout
    assert os.path.exists(launch.path("pods", "bin", "torchrun"))


@pytest.mark.parametrize("args, code, text", [
    ([], 2, "install or remove"), (["x"], 2, "install or remove"), (["install", "--python", "/no"], 1, "/no"),
    (["install", "/no"], 2, '"/no" is not expected: --python names the interpreter')])
def test_bad_input(launch, args, code, text):
    done = shim(launch, *args)
    assert done.returncode == code and len(done.stderr.splitlines()) == 1 and text in done.stderr
    assert shim(launch, "--help").stdout.startswith("usage: muster python-shim")
