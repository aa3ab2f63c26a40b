"""What tests of the launcher ask for: `launch`, and PyTorch."""
import subprocess
import sys

import pytest

from running_launcher import Launcher


@pytest.fixture
def launch():
    made = Launcher()
    yield made
    made.close()


@pytest.fixture(scope="session")
def torch_version():
    """Of the interpreter that runs the tests; the tests that need one fail without it."""
    done = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"],
                          capture_output=True, text=True)
    assert done.returncode == 0, "needs python3-torch: scripts/install-packages demo"
    return done.stdout.strip()
