"""The suites have conftests of the same names: pytest is told so in one line, not by a hundred errors."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.mark.parametrize("asked, named", [
    (["tests"], "tests/compat/ads, tests/compat/launch, tests/e2e, tests/integration"),
    (["tests/integration/test_apply.py", "tests/e2e"], "tests/e2e, tests/integration"),
    (["tests/compat"], "tests/compat/ads, tests/compat/launch"),
], ids=["all", "two", "below"])
def test_suites_are_asked_for_one_at_a_time(asked, named):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only",
                           *asked], cwd=ROOT, env=environment, text=True, capture_output=True)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    [line] = done.stderr.strip().splitlines()
    assert line.startswith(f"ERROR: one suite at a time: {named}")
