"""A user with an account of the mock: a home of their own, and the binary under the name `ads`."""
import os
import shutil
import subprocess
import tempfile

import pytest

import oci_mock
from oci_mock import make_token  # noqa: F401  (for the tests)
from places import BINARY
from train_yaml import TRAIN_OF_ACCOUNT as TRAIN


class User:
    def __init__(self, key):
        self.mock = oci_mock.OciMock()
        self.home = tempfile.mkdtemp(prefix="muster-oci-")
        self.key = key
        self.mock.trust(key)
        self.config = oci_mock.write_profile(self.home, key)
        os.mkdir(self.path("bin"))
        shutil.copy2(BINARY, self.path("bin", "ads"))
        self.env = {"HOME": self.home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                    "XDG_STATE_HOME": self.path("state"), "XDG_RUNTIME_DIR": self.path("run"),
                    "MUSTER_OCI_ENDPOINT": self.mock.url}
        self.write("train.yaml", TRAIN)

    def path(self, *parts):
        return os.path.join(self.home, *parts)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def start(self, *args, env=None, stdout=subprocess.PIPE):
        return subprocess.Popen([self.path("bin", "ads"), "opctl", *args], cwd=self.home, text=True,
                                env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL,
                                stdout=stdout, stderr=subprocess.PIPE)

    def run(self, *args, code=0, env=None, answer=None):
        done = subprocess.run([self.path("bin", "ads"), "opctl", *args], cwd=self.home, text=True,
                              env={**self.env, **(env or {})}, input=answer or "",
                              capture_output=True, timeout=120)
        if code is not None:
            assert done.returncode == code, (
                f"ads opctl {' '.join(args)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def fails(self, *args, code=1, **options):
        """The one line on stderr with which it fails."""
        done = self.run(*args, code=code, **options)
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        assert lines, done.stdout
        return lines[-1].rstrip()

    def submit(self, *args, **options):
        return self.run("run", "-f", "train.yaml", "--nobuild", *args, **options)

    def sent(self, path):
        """The bodies that were posted there."""
        import json
        return [json.loads(one["body"]) for one in self.mock.seen("POST", path + "$")]

    def close(self):
        self.mock.close()
        shutil.rmtree(self.home)


@pytest.fixture(scope="session")
def oci_key(tmp_path_factory):
    return oci_mock.Key(str(tmp_path_factory.mktemp("key") / "key.pem"))


@pytest.fixture
def user(oci_key):
    made = User(oci_key)
    yield made
    made.close()
