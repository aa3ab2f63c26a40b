import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import oci_user  # noqa: E402  (found by the line above)
import opctl_user  # noqa: E402


@pytest.fixture
def opctl():
    made = opctl_user.Opctl()
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def oci_key(tmp_path_factory):
    return oci_user.oci_mock.Key(str(tmp_path_factory.mktemp("key") / "key.pem"))


@pytest.fixture
def user(oci_key):
    made = oci_user.User(oci_key)
    yield made
    made.close()
