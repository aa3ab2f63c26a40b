import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "compat", "ads"))

import oci_user  # noqa: E402  (found by the line above)


@pytest.fixture(scope="session")
def oci_key(tmp_path_factory):
    return oci_user.oci_mock.Key(str(tmp_path_factory.mktemp("key") / "key.pem"))


@pytest.fixture
def user(oci_key):
    made = oci_user.User(oci_key)
    yield made
    made.close()
