"""Warm start with the libraries that people train with: each program runs executed and forked, and says the same."""
import os
import subprocess

import pytest

from places import ROOT
from waiting import PATIENCE

from warm_interpreters import Warm, clean

LIBRARIES = os.path.join(ROOT, "tests", "support", "warm_libraries.txt")
# Three gigabytes: not made for the tests alone.
NEWEST = os.environ.get("MUSTER_NEWEST_TORCH", "/var/cache/muster/torch-2.15/bin/python")
REDUCE = """
import os, torch, torch.distributed as dist
def total(value):
    dist.init_process_group("gloo")
    tensor = torch.tensor([float(value)])
    dist.all_reduce(tensor)
    dist.destroy_process_group()
    return tensor.item()
rank = int(os.environ["RANK"])
"""
PROGRAMS = {
    "tqdm": """
import tqdm
print(rank, total(sum(tqdm.tqdm(range(10), disable=True))), tqdm.tqdm(range(3)).format_dict["total"])
""",
    "numpy": """
import numpy
numpy.random.seed(rank)
print(rank, total(numpy.random.rand(8, 8).sum()), numpy.linalg.norm(numpy.ones((40, 40)) @ numpy.ones((40, 40))))
""",
    "transformers": """
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
set_seed(7)
model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=32, n_positions=16))
loss = model(input_ids=torch.arange(16)[None] + rank, labels=torch.arange(16)[None]).loss
loss.backward()
print(rank, round(total(loss.item()), 6), model.config.model_type)
""",
    "lightning": """
import lightning, torchmetrics
from lightning.fabric.utilities.rank_zero import rank_zero_info, rank_zero_only
from torchmetrics.utilities.prints import rank_zero_only as of_metrics
print(rank, "is", rank_zero_only.rank, of_metrics.rank)
lightning.seed_everything(3)
fabric = lightning.Fabric(accelerator="cpu", devices=2, strategy="ddp")
fabric.launch()
model = torch.nn.Linear(4, 1)
model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
for _ in range(3):
    fabric.backward(model(torch.ones(2, 4)).sum())
    optimizer.step()
print(rank, fabric.global_rank, fabric.world_size, round(model.weight.sum().item(), 5))
""",
    "accelerate": """
import accelerate
accelerator = accelerate.Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(2, 1))
print(rank, accelerator.process_index, accelerator.num_processes, type(model).__name__,
      accelerator.gather(torch.tensor([rank])).tolist())
""",
    "datasets": """
import datasets
datasets.disable_progress_bars()
rows = datasets.Dataset.from_dict({"x": list(range(100))}).shard(2, rank).map(lambda row: {"y": row["x"] * 2})
print(rank, total(sum(rows["y"])), rows.features)
""",
    "pandas": """
import pandas, pyarrow
print(rank, total(pandas.DataFrame({"a": [1, 2, rank]}).a.sum()), pyarrow.array(range(1 << 20)).nbytes)
""",
}


@pytest.fixture(scope="module")
def python(torch_version):
    """An interpreter with Debian's PyTorch and the libraries of LIBRARIES."""
    done = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "warm-libraries-2", "datasets",
                           "--no-deps", "-r", LIBRARIES], stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(done.stdout.splitlines()[-1], "bin", "python")


@pytest.fixture(scope="module")
def newest(python, tmp_path_factory):
    """The interpreter with the newest PyTorch, and a folder of those libraries that it has not."""
    if not os.path.exists(NEWEST):
        pytest.skip("no torch 2.15: scripts/python-environment torch-2.15 torch torch==2.15.0 numpy (3 GB)")
    find = [NEWEST, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    theirs, others = (subprocess.run([one, *find[1:]], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
                      for one in (NEWEST, python))
    folder = tmp_path_factory.mktemp("libraries")
    has = {name.split("-")[0].lower() for name in os.listdir(theirs)}
    for name in os.listdir(others):
        if name.split("-")[0].lower() not in has:
            os.symlink(os.path.join(others, name), folder / name)
    return NEWEST, {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def warm():
    made = Warm()
    # Nothing is fetched, and transformers has not to make its cache, of which the second of two ranks complains.
    made.env.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    cache = os.path.join(made.folder, ".cache", "huggingface", "hub")
    os.makedirs(cache)
    with open(os.path.join(cache, "version.txt"), "w") as file:
        file.write("1")
    yield made
    made.close()


def run(launch, warm, python, *flags, env=None):
    process = launch.start(*flags, "--explain=off", "--python", python, "--nproc-per-node=2", "main.py",
                           env={**warm.env, **(env or {})})
    out, err = process.communicate(timeout=PATIENCE)
    assert "warm start" not in err, err
    # Two ranks, each with its own times.
    return process.returncode, sorted(out.splitlines()), sorted(clean(err).splitlines()), err


# Transformers goes through NumPy and tqdm, and datasets through pandas. test_all_of_them_at_once has the others too.
@pytest.mark.parametrize("library", [name if name == "transformers" else pytest.param(name, marks=pytest.mark.soak) for name in PROGRAMS])
def test_a_program_is_forked_and_says_the_same(launch, warm, python, library):
    launch.script("import sys\nassert sys.argv[0] == 'main.py'\nwas_there = 'torch' in sys.modules and %r in sys.modules\n" % library +
                  REDUCE + PROGRAMS[library] + "\nprint('was there:', was_there)")
    cold = run(launch, warm, python)
    forked = run(launch, warm, python, "--warm", "--preload", library)
    for (code, out, _, err), is_forked in ((cold, False), (forked, True)):
        assert code == 0 and out[-2:] == [f"was there: {is_forked}"] * 2, err
    assert cold[1][:-2] and (cold[1][:-2], cold[2]) == (forked[1][:-2], forked[2])


# Lightning goes through most of the newest PyTorch; the others are the same programs as above.
@pytest.mark.parametrize("library", ["lightning", *(pytest.param(name, marks=pytest.mark.soak) for name in (
    "tqdm", "numpy", "accelerate", "datasets", "pandas"))])
def test_with_the_newest_pytorch_too(launch, warm, newest, library):
    python, env = newest
    launch.script("import sys\nis_warm = 'torch' in sys.modules\n" + REDUCE + PROGRAMS[library] +
                  "print('warm' if is_warm else 'cold', torch.__version__.split('.')[0])")
    results = [run(launch, warm, python, *flags, env=env) for flags in ([], ["--warm", "--preload", library])]
    for (code, out, _, err), how in zip(results, ("cold", "warm")):
        assert code == 0 and [line for line in out if line.endswith(" 2") and line.startswith(how)] == [how + " 2"] * 2, err
    assert [line for line in results[0][1] if line != "cold 2"] == [line for line in results[1][1] if line != "warm 2"]


def test_all_of_them_at_once(launch, warm, python):
    launch.script("import sys\nprint(sorted(set(%r) - set(sys.modules)))" % (tuple(PROGRAMS),))
    assert run(launch, warm, python, "--warm", "--preload", ",".join(PROGRAMS))[1] == ["[]"] * 2
