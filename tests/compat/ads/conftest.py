import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import opctl_user  # noqa: E402  (found by the line above)


@pytest.fixture
def opctl():
    made = opctl_user.Opctl()
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)
