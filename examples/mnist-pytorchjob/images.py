"""Where the images come from: FashionMNIST's or MNIST's IDX files, downloaded where they are missing
and there is a network, else the small data set of this repository."""
import contextlib
import fcntl
import gzip
import os
import socket
import struct
import zlib

import torch
import torch.nn.functional as F

from words import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL_SET = os.path.join(HERE, os.pardir, "mnist-pytorch", "data")
SIZE = 28
NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte",
         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
UNSIGNED_BYTES = 8
# The small set is 1,437 images for training: an epoch shows each of them five times, shifted.
SHIFTS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
DOWNLOAD_TIMEOUT = 20  # seconds without a byte


def read_idx(path, dimensions):
    """The unsigned bytes of an IDX file, gzipped or not, as a tensor of that many dimensions."""
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            content = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise Failure(f"{path}: cannot be read ({error}); remove it, so that it is fetched anew")
    magic = bytes((0, 0, UNSIGNED_BYTES, dimensions))
    if content[:4] != magic:
        raise Failure(f"{path}: begins with {content[:4].hex() or 'nothing'}, an IDX file of bytes in "
                      f"{dimensions} dimension(s) with {magic.hex()}")
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise Failure(f"{path}: is cut short in its head; remove it, so that it is fetched anew")
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    expected = 1
    for extent in shape:
        expected *= extent
    if len(content) - start != expected:
        says = " x ".join(map(str, shape))
        raise Failure(f"{path}: holds {len(content) - start} bytes, and its head says {says} = "
                      f"{expected}; remove it, so that it is fetched anew")
    if expected == 0:
        raise Failure(f"{path}: holds no images")
    return torch.frombuffer(bytearray(content[start:]), dtype=torch.uint8).reshape(shape)


def read_pair(images_path, labels_path):
    """(images: count x 1 x SIZE x SIZE, labels), all unsigned bytes."""
    images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
    if len(images) != len(labels):
        raise Failure(f"{images_path} holds {len(images)} images, {labels_path} {len(labels)} labels: "
                      "they do not belong together")
    if labels.max() > 9:
        raise Failure(f"{labels_path}: label {int(labels.max())}, and the classes are 0 to 9")
    return resize(images), labels


def resize(images):
    images = images.unsqueeze(1)
    if images.shape[-2:] == (SIZE, SIZE):
        return images
    brightest = max(1, int(images.max()))
    scaled = F.interpolate(images.float() * (255.0 / brightest), size=(SIZE, SIZE), mode="bilinear",
                           align_corners=False)
    return scaled.round().to(torch.uint8)


def find_idx(directory, dataset):
    """Paths of the four files, None where one is not there: in `directory` itself, or where
    torchvision puts them."""
    def find(name):
        for place in (os.path.join(dataset, "raw"), dataset, "raw", ""):
            for ending in ("", ".gz"):
                path = os.path.join(directory, place, name + ending)
                if os.path.exists(path):
                    return path
        return None
    return [find(name) for name in NAMES]


@contextlib.contextmanager
def one_at_a_time(directory):
    """Of the processes that share the directory."""
    with open(os.path.join(directory, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def download(directory, dataset):
    """Has torchvision fetch the data set. Returns why it is not there, None when it is."""
    try:
        import torchvision.datasets
    except ImportError:
        return "there is no torchvision to download it with"
    usual = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_TIMEOUT)
    try:
        with one_at_a_time(directory):
            if not all(find_idx(directory, dataset)):
                getattr(torchvision.datasets, dataset)(root=directory, download=True)
    except (OSError, RuntimeError) as error:  # urllib's errors, and torchvision's of its mirrors
        return f"it cannot be downloaded ({error})"
    finally:
        socket.setdefaulttimeout(usual)
    return None


def small_set():
    """(training pair, test pair)"""
    paths = [os.path.join(SMALL_SET, f"digits-{name}-ubyte.gz") for name in ("images-idx3", "labels-idx1")]
    for path in paths:
        if not os.path.exists(path):
            raise Failure(f"{os.path.normpath(path)} is not there: copy examples/mnist-pytorch beside "
                          "this directory, or name a directory of IDX files with --data")
    images, labels = read_pair(*paths)
    train = len(labels) * 4 // 5
    shown = torch.cat([torch.roll(images[:train], shift, (2, 3)) for shift in SHIFTS])
    return (shown, labels[:train].repeat(len(SHIFTS))), (images[train:], labels[train:])


def load(directory, dataset):
    """(training pair, test pair, where they come from: a line for people)."""
    if not os.path.isdir(directory):
        raise Failure(f"--data {directory}: there is no such directory")
    paths = find_idx(directory, dataset)
    missing = None
    if not any(paths):
        missing = download(directory, dataset)
        paths = find_idx(directory, dataset)
    if all(paths):
        return (read_pair(*paths[:2]), read_pair(*paths[2:]),
                f"{dataset} from {os.path.dirname(paths[0])}")
    if any(paths):
        absent = ", ".join(name for name, path in zip(NAMES, paths) if path is None)
        raise Failure(f"--data {directory}: {absent} is missing beside the other files of {dataset}")
    return (*small_set(), f"the small data set of this repository: no {dataset} in {directory}, and "
                          f"{missing}")


def fingerprint(train, test):
    """Differs where the data differ."""
    crc = 0
    for images, labels in (train, test):
        crc = zlib.crc32(images.numpy().tobytes(), zlib.crc32(labels.numpy().tobytes(), crc))
    return f"{len(train[1])}+{len(test[1])} images, checksum {crc:08x}"
