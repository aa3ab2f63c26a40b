import shutil

import pytest

import opctl_user
from oci_user import oci_key, user  # noqa: F401  (fixtures)


@pytest.fixture
def opctl():
    made = opctl_user.Opctl()
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)
