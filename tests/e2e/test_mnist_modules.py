"""The parts of examples/mnist-pytorchjob, without processes of their own: files that are wrong, ranks
that do not come, checkpoints that are cut."""
import gzip
import importlib.util
import io
import os
import sys
import threading
import time
import types

import pytest

from places import ROOT
from idx_files import idx, write_data

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")
EXAMPLE = os.path.join(ROOT, "examples", "mnist-pytorchjob")
MODULES = ("checkpoints", "images", "join", "mnist_ddp_mp", "models", "utils", "words")


@pytest.fixture(scope="module", autouse=True)
def example():
    global torch
    import torch  # not by each worker that collects
    sys.path.insert(0, EXAMPLE)
    was, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    found = types.SimpleNamespace(**{name: __import__(name) for name in MODULES})
    yield found
    sys.dont_write_bytecode = was
    sys.path.remove(EXAMPLE)
    for name in list(sys.modules):
        if name.split(".")[0] in MODULES:
            del sys.modules[name]


GOOD_IMAGES = idx(range(8), 2, 2, 2)
GOOD_LABELS = idx((0, 9), 2)
BAD_FILES = [  # images, labels, words of the error
    (b"\0\0\x0d\x03" + GOOD_IMAGES[4:], GOOD_LABELS, ["images", "00000d03", "00000803"]),
    (b"", GOOD_LABELS, ["images", "begins with nothing"]),
    (GOOD_IMAGES[:9], GOOD_LABELS, ["images", "cut short in its head"]),
    (GOOD_IMAGES[:-1], GOOD_LABELS, ["images", "holds 7 bytes", "2 x 2 x 2 = 8"]),
    (GOOD_IMAGES + b"\0", GOOD_LABELS, ["images", "holds 9 bytes"]),
    (GOOD_IMAGES, idx((1, 2, 3), 3), ["2 images", "3 labels", "do not belong together"]),
    (GOOD_IMAGES, idx((1, 10), 2), ["labels", "label 10", "0 to 9"]),
    (GOOD_IMAGES, GOOD_IMAGES, ["labels", "00000803", "00000801"]),
    (idx((), 0, 28, 28), idx((), 0), ["images", "holds no images"]),
]


@pytest.mark.parametrize("images,labels,words", BAD_FILES, ids=lambda _: None)
def test_a_corrupt_idx_file_is_named_with_what_is_wrong(example, tmp_path, images, labels, words):
    paths = [str(tmp_path / name) for name in ("images", "labels")]
    for path, content in zip(paths, (images, labels)):
        with open(path, "wb") as file:
            file.write(content)
    with pytest.raises(example.words.Failure) as failure:
        example.images.read_pair(*paths)
    for word in words:
        assert word in str(failure.value)


def test_a_gzip_file_that_is_cut_is_named(example, tmp_path):
    whole = gzip.compress(GOOD_IMAGES * 100)
    path = tmp_path / "images.gz"
    path.write_bytes(whole[:len(whole) // 2])
    with pytest.raises(example.words.Failure, match="images.gz: cannot be read"):
        example.images.read_idx(str(path), 3)


def test_data_directories(example, tmp_path, monkeypatch):
    load, Failure = example.images.load, example.words.Failure
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.setitem(sys.modules, "torchvision.datasets", None)
    with pytest.raises(Failure, match="--data /absent: there is no such directory"):
        load("/absent", "MNIST")
    train, test, origin = load(str(tmp_path), "MNIST")
    assert train[0].shape == (1437 * 5, 1, 28, 28) and len(test[1]) == 360
    assert origin.startswith("the small data set") and "no torchvision" in origin
    folder = write_data(tmp_path / "MNIST" / "raw")
    train, test, origin = load(str(tmp_path), "MNIST")
    assert (len(train[1]), len(test[1])) == (64, 16) and folder in origin
    assert load(str(tmp_path), "FashionMNIST")[2].startswith("the small data set")
    os.unlink(os.path.join(folder, "t10k-labels-idx1-ubyte"))
    with pytest.raises(Failure, match="t10k-labels-idx1-ubyte is missing"):
        load(str(tmp_path), "MNIST")


def test_torchvision_downloads_where_there_is_a_network(example, tmp_path, monkeypatch):
    asked = []

    def fetch(root, download):
        asked.append(download)
        write_data(os.path.join(root, "FashionMNIST", "raw"))
    datasets = types.SimpleNamespace(FashionMNIST=fetch)
    monkeypatch.setitem(sys.modules, "torchvision", types.SimpleNamespace(datasets=datasets))
    monkeypatch.setitem(sys.modules, "torchvision.datasets", datasets)
    for _ in range(2):
        train, _, origin = example.images.load(str(tmp_path), "FashionMNIST")
        assert len(train[1]) == 64 and origin.startswith("FashionMNIST from")
    assert asked == [True]  # once

    def fail(root, download):
        raise OSError("Network is unreachable")
    datasets.MNIST = fail
    origin = example.images.load(str(tmp_path), "MNIST")[2]
    assert "small data set" in origin and "Network is unreachable" in origin


@pytest.mark.parametrize("url,place", [
    ("tcp://10.252.192.48:22222", ("tcp", "10.252.192.48", 22222)),
    ("tcp://[::1]:1", ("tcp", "::1", 1)), ("env://", ("tcp", "master-0", 23456)),
    ("file:///shared/meet", ("file", "/shared/meet")),
    ("10.252.192.48:22222", None), ("tcp://host", None), ("tcp://host:0", None),
    ("tcp://host:65536", None), ("tcp://:22222", None), ("file://relative", None), ("file:///", None),
    ("http://host:22222", None), ("tcp://host:port", None), ("", None)])
def test_dist_urls(example, url, place):
    environment = {"MASTER_ADDR": "master-0", "MASTER_PORT": "23456"}
    if place:
        assert example.join.parse_url(url, environment) == place
        return
    with pytest.raises(example.words.Usage) as failure:
        example.join.parse_url(url, environment)
    assert url in str(failure.value) and "tcp://HOST:PORT" in str(failure.value)


def test_env_needs_its_variables(example):
    with pytest.raises(example.words.Usage, match="MASTER_ADDR and MASTER_PORT"):
        example.join.parse_url("env://", {"MASTER_ADDR": "here"})


def meet(example, tmp_path, ranks, timeout):
    """Has (rank, world size) come, then wait for each other in threads; what each of them says."""
    url = f"file://{tmp_path}/meet"  # a wait in a file may expire without harm
    said = [None] * len(ranks)
    stores = [example.join.open_store(url, rank, timeout, {}) for rank, _ in ranks]

    def note(index, step, *args):
        try:
            step(stores[index], *args)
        except example.words.Failure as failure:
            said[index] = str(failure)
    for index, (rank, _) in enumerate(ranks):
        note(index, example.join.come, rank, url)
    threads = [threading.Thread(target=note, args=(index, example.join.come_together, *rank, timeout, stores[index]))
               for index, rank in enumerate(ranks) if said[index] is None]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def test_ranks_that_never_come_are_named_to_all(example, tmp_path):
    said = meet(example, tmp_path, [(0, 4), (2, 4)], timeout=2)
    for words in said:
        assert words.startswith("ranks 1,3 of 4 did not come within 2 s"), said


def test_a_rank_0_that_never_comes_is_named(example, tmp_path, monkeypatch):
    monkeypatch.setattr(example.join, "GRACE", 0)
    assert meet(example, tmp_path, [(1, 2)], timeout=1) == ["rank 1 has waited 1 s: rank 0 has not come"]
    with pytest.raises(example.words.Failure, match="found no rank 0 at 127.0.0.1:1 within 1 s"):
        example.join.open_store("tcp://127.0.0.1:1", 1, 1, {})


def test_world_sizes_that_differ_are_named(example, tmp_path, monkeypatch):
    monkeypatch.setattr(example.join, "GRACE", 3)
    said = meet(example, tmp_path, [(0, 2), (1, 4)], timeout=2)
    assert "rank 1 was told of 4 processes in all, rank 0 of 2" in said[1]
    assert said[0] is None  # rank 1 did come


def test_a_rank_that_comes_twice_is_refused(example, tmp_path):
    said = meet(example, tmp_path, [(0, 2), (1, 2), (1, 2)], timeout=20)
    assert said.count(None) == 2
    words = next(words for words in said if words)
    assert "rank 1 has come twice" in words and "remove it" in words


def test_data_that_differ_are_named(example):
    store = torch.distributed.HashStore()
    for rank in (0, 1):
        example.join.agree(store, rank, "data set", "7+2 images")
    with pytest.raises(example.words.Failure, match="rank 2 has another data set than rank 0: 9"):
        example.join.agree(store, 2, "data set", "9+2 images")


def test_a_file_that_a_killed_training_left_is_removed_once_it_is_old(example, tmp_path, capsys):
    path = tmp_path / "meet"
    path.write_bytes(b"stale")
    example.join.remove_if_stale(str(path), 60)
    assert path.exists()
    old = time.time() - 61
    os.utime(path, (old, old))
    example.join.remove_if_stale(str(path), 60)
    assert not path.exists() and "earlier training" in capsys.readouterr().out
    example.join.remove_if_stale(str(path), 60)  # none there


def test_more_processes_than_gpus_are_refused(example, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    chosen = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    Place = example.utils.Place
    args = types.SimpleNamespace(no_cuda=False)
    for place in (Place(0, 4, 0, 4), Place(2, 4, 2, 1)):
        with pytest.raises(example.words.Usage) as failure:
            example.utils.choose_device(args, place)
        assert "more than the 2 GPU(s)" in str(failure.value) and "--no-cuda" in str(failure.value)
    device, backend = example.utils.choose_device(args, Place(3, 4, 1, 2))
    assert (str(device), backend, chosen) == ("cuda:1", "nccl", [1])
    args.no_cuda = True
    assert example.utils.choose_device(args, Place(0, 4, 0, 4))[1] == "gloo"


@pytest.mark.parametrize("flags,words", [
    (["--dist-url=10.252.192.48:22222", "--nproc_per_node=2"], '--dist-url "10.252.192.48:22222"'),
    (["--dist-url=file://meet", "--nproc_per_node=2"], '--dist-url "file://meet"'),
    (["--node_rank=2", "--nnodes=2"], "--node_rank=2 is none of the 2 nodes 0 to 1"),
    (["--node_rank=-1"], "--node_rank=-1 is none of the 1 nodes"),
    (["--nproc_per_node=0"], "--nproc_per_node: 0 is not positive"),
    (["--epochs=two"], "--epochs: invalid"), (["--epoch=2"], "--epoch")])
def test_flags_that_are_wrong(example, monkeypatch, capsys, flags, words):
    monkeypatch.setattr(sys, "argv", ["mnist_ddp_mp.py", *flags])
    try:
        code = example.words.exit_code_of(example.mnist_ddp_mp.main)
    except SystemExit as exit:  # argparse's own
        code = exit.code
    said = capsys.readouterr().err
    assert code == 2 and words in said and "Traceback" not in said


@pytest.mark.parametrize("environment,words", [
    ({"RANK": "one", "WORLD_SIZE": "2"}, 'RANK="one" is not a number'),
    ({"RANK": "0", "WORLD_SIZE": "-2"}, 'WORLD_SIZE="-2" is not a number'),
    ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2 is none of the ranks of WORLD_SIZE=2")])
def test_an_environment_that_is_wrong(example, environment, words):
    with pytest.raises(example.words.Failure, match=words):
        example.utils.place_from_environment(environment)


def test_places_by_environment(example):
    Place = example.utils.Place
    assert example.utils.place_from_environment({}) == Place(0, 1, 0, 1)
    told = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
    assert example.utils.place_from_environment(told) == Place(5, 8, 1, 4)
    assert example.utils.place_from_environment({"RANK": "5", "WORLD_SIZE": "8"}, 3).local_rank == 3


class Trained:
    """Trains the small network on a data set of the test's own, in this process."""

    def __init__(self, example, tmp_path):
        self.example, self.ckpts = example, str(tmp_path / "ckpts")
        self.data = write_data(tmp_path / "data")

    def __call__(self, *flags, ckpts=None):
        args = self.example.utils.make_parser("").parse_args([
            "--model=net", "--batch-size=16", "--lr=0.05", "--data", self.data, "--no-cuda",
            "--ckpt-dir", ckpts or self.ckpts, *flags])
        place = self.example.utils.Place()
        return self.example.utils.Training(args, place, torch.device("cpu")).run()


@pytest.fixture
def trained(example, tmp_path):
    return Trained(example, tmp_path)


def test_resumed_training_ends_where_one_in_one_piece_does(trained, tmp_path, capsys):
    whole = trained("--epochs=4", ckpts=str(tmp_path / "other"))
    first = trained("--epochs=2")
    assert sorted(os.listdir(trained.ckpts)) == ["epoch-0001.pt", "epoch-0002.pt"]
    assert trained("--epochs=4", "--resume") == pytest.approx(whole, abs=1e-6)
    assert first != pytest.approx(whole, abs=1e-3)
    assert sorted(os.listdir(trained.ckpts)) == ["epoch-0003.pt", "epoch-0004.pt"]
    capsys.readouterr()
    assert trained("--epochs=4", "--resume") == pytest.approx(whole, abs=1e-6)
    assert "all of --epochs 4 are done already" in capsys.readouterr().out


@pytest.mark.parametrize("left", [0.5, 0.999, 0])
def test_a_checkpoint_cut_short_is_said_and_the_one_before_it_used(trained, capsys, left):
    whole = trained("--epochs=3")
    newest = os.path.join(trained.ckpts, "epoch-0003.pt")
    os.truncate(newest, int(os.path.getsize(newest) * left))
    capsys.readouterr()
    assert trained("--epochs=3", "--resume") == pytest.approx(whole, abs=1e-6)
    said = capsys.readouterr().out
    assert f"{newest} is not whole, the one before it is looked for" in said
    assert "resuming after epoch 2" in said


def test_without_a_whole_checkpoint_it_starts_anew_and_says_so(trained, capsys):
    whole = trained()
    os.truncate(os.path.join(trained.ckpts, "epoch-0001.pt"), 100)
    assert trained("--resume") == pytest.approx(whole, abs=1e-6)
    assert "starting anew" in capsys.readouterr().out


def test_a_checkpoint_of_another_network_is_refused(trained, example):
    trained()
    with pytest.raises(example.words.Failure, match="is a checkpoint of net"):
        trained("--resume", "--model=resnet18")


def test_a_checkpoint_is_never_half_there(trained, example, monkeypatch):
    trained()

    def write_half(state, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(torch, "save", write_half)
    with pytest.raises(example.words.Failure, match="--ckpt-dir .*No space left"):
        trained("--epochs=2", "--resume")
    assert [name for name in os.listdir(trained.ckpts) if name.endswith(".pt")] == ["epoch-0001.pt"]


@pytest.mark.parametrize("flags,words", [
    (["--batch-size=65"], "--batch-size 65 is more than the 64 images"),
    (["--limit=8"], "--batch-size 16 is more than the 8 images")])
def test_batches_larger_than_the_data(trained, example, flags, words):
    with pytest.raises(example.words.Usage, match=words):
        trained(*flags)


def test_batches_that_cannot_be_shared_out(trained, example, monkeypatch):
    args = example.utils.make_parser("").parse_args(["--batch-size=16", "--data", trained.data])
    with pytest.raises(example.words.Usage, match="16 cannot be shared out evenly among 3 processes"):
        example.utils.Training(args, example.utils.Place(1, 3), torch.device("cpu"))


def test_resnet18_has_the_papers_size_less_two_colours(example):
    network = example.models.MODELS["resnet18"]()
    # torchvision's has 11,689,512 for three colours and a thousand classes.
    less = 2 * 64 * 7 * 7 + 990 * (512 + 1)
    assert sum(each.numel() for each in network.parameters()) == 11_689_512 - less
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 10)


def test_failures_are_one_line_and_an_exit_code(example, monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)

    def fail(failure):
        raise failure
    assert example.words.exit_code_of(lambda: fail(example.words.Failure("the disk is full"))) == 1
    assert example.words.exit_code_of(lambda: fail(example.words.Usage("--epochs"))) == 2
    assert example.words.exit_code_of(lambda: None) == 0
    assert said.getvalue() == "error: the disk is full\nerror: --epochs\n"
