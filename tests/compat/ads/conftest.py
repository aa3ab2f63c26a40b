import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import opctl_user  # noqa: E402  (found by the line above)
from oci_user import oci_key, user  # noqa: E402,F401  (fixtures)


@pytest.fixture
def opctl():
    made = opctl_user.Opctl()
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)
