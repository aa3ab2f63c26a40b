"""Warm start of scripts that set variables before they import what reads them."""
import re

import pytest

from test_warm import both, cold, modules, warm  # noqa: F401: fixtures

DEBUG = """
import os
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
import torch.distributed as dist
print(dist.get_debug_level())
"""
JIT = """
import os
if True: os.environ[%s] = "0"
import torch
print(torch.jit._state._enabled.enabled)
"""
EXTRA = "import os\nflavour = os.environ.get('FLAVOUR')"


def test_what_torch_can_be_told_again_is_told(launch, both):  # noqa: F811
    assert "DETAIL" in both(launch.script(DEBUG))[1]
    assert "OFF" in both(launch.script(DEBUG.replace('"DETAIL"', '"OFF"')))[1]


def test_logs_of_torch_are_told_again(launch, modules):  # noqa: F811
    launch.script("state = []\nimport os\ndef _init_logs(): state[:] = [os.environ.get('TORCH_LOGS')]\n_init_logs()",
                  "modules/torch_logging.py")
    launch.script("import os, sys\nclass cuda: is_initialized = staticmethod(lambda: False)\n"
                  "import torch_logging as _logging\nsys.modules['torch._logging'] = _logging\n", "modules/torch.py")
    script = launch.script("import os\nos.environ['TORCH_LOGS'] = 'dynamo'\nimport torch\nprint(torch._logging.state)")
    done = launch.run("--warm", script, env=modules.env)
    assert done.out == "['dynamo']\n" and "warm start" not in done.err


def test_a_script_that_sets_what_torch_cannot_be_told_is_executed(launch, warm, torch_version):  # noqa: F811
    script = launch.script(JIT % "'PYTORCH_JIT'")
    expected = launch.run(script, env=warm.env).out
    done = launch.run("--warm", "--preload", "numpy", script, env=warm.env)
    assert done.out == expected == "False\n"
    assert re.search(r"warm start: \S*main.py:3 sets PYTORCH_JIT before the import that reads it; the workers are exec",
                     done.err), done.err


@pytest.mark.parametrize("text, setting", [
    (JIT % "'PYTORCH' + '_JIT'", {}),
    ("import os\nif True:\n    os.environ.pop('PYTORCH_JIT')\nimport torch\n", {"PYTORCH_JIT": "1"}),
])
def test_of_what_nobody_could_see_one_line_tells(launch, warm, torch_version, text, setting):  # noqa: F811
    script = launch.script(text)
    done = launch.run("--warm", "--preload", "numpy", script, env={**warm.env, **setting})
    said = [line for line in done.err.splitlines() if "warm start" in line]
    assert len(said) == 1 and "main.py:3 sets PYTORCH_JIT, which the imports have read already" in said[0], done.err


@pytest.mark.parametrize("text", [
    "import os\nos.environ['FLAVOUR'] = 'b'\nimport extra",
    "import os\nos.environ.setdefault('FLAVOUR', 'b')\nfrom extra import flavour\nimport extra",
    "import os\nos.environ.update(OTHER='1', FLAVOUR='b')\nimport extra",
    "import os\nos.environ.update({'FLAVOUR': 'b'})\nimport extra",
    "import os\ndef set_up(): os.environ['FLAVOUR'] = 'b'\nset_up()\nimport extra",
])
def test_every_way_to_set_one(launch, modules, text):  # noqa: F811
    launch.script(EXTRA, "modules/extra.py")
    out = cold(launch, modules, text + "; print(extra.flavour)", "main.py:2 sets FLAVOUR before", "--preload", "extra")
    assert out == "b\nb\n"


@pytest.mark.parametrize("text", [
    "import os, extra\nos.environ['FLAVOUR'] = 'b'",
    "import os\nfrom extra import flavour as f, taste\nos.environ.update(FLAVOUR='b')\nimport extra",
    "import os\nos.environ['OTHER'] = 'b'\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nimport extra",
    "import os\nos.environ['FLAVOUR'] = 'a'\nos.environ.setdefault('FLAVOUR', 'b')\nimport extra",
    "import os, extra\ndel os.environ['FLAVOUR']\nassert os.environb.get(b'FLAVOUR') is None\n",
    "import os\nkept = dict(os.environ)\nos.environ.clear()\nfor k in kept: os.environ[k] = kept[k]\nimport extra",
    "import os, set_it\nimport extra",
    "import os\nassert type(os.environ.copy()) is dict and os.environ._data is os.environb._data\nimport extra",
])
def test_what_changes_nothing_is_forked_without_a_word(launch, modules, text):  # noqa: F811
    launch.script(EXTRA + "\ndef taste(): pass", "modules/extra.py")
    launch.script("import os, extra\nos.environ['FLAVOUR'] = 'b'", "modules/set_it.py")
    done = launch.run("--warm", "--preload", "extra", launch.script(text + "\nprint(extra.flavour)"),
                      env={**modules.env, "FLAVOUR": "a"})
    assert (done.out, done.err) == ("a\n", "")


def test_a_module_is_looked_at_too(launch, modules):  # noqa: F811
    launch.script(EXTRA, "modules/extra.py")
    launch.script("import os\nos.environ['FLAVOUR'] = 'b'\nimport extra; print(extra.flavour)", "mine.py")
    done = launch.run("--warm", "--preload", "extra", "-m", "mine", env=modules.env)
    assert done.out == "b\n" and "mine.py:2 sets FLAVOUR before" in done.err
