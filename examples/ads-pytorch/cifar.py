"""CIFAR-10 as it is published, in its Python and its binary form, or a small set that is drawn here.

The drawn set has CIFAR's shape (32x32 colour images of ten classes) and wants no network: each class
is a pattern of its own, shifted and in noise, so that a training can be seen to learn.
"""
import os
import pickle
import tarfile

import torch

CLASSES = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
PIXELS = 3 * SIDE * SIDE
ARCHIVES = ("cifar-10-python.tar.gz", "cifar-10-binary.tar.gz")
FOLDERS = ("cifar-10-batches-py", "cifar-10-batches-bin")
DRAWN_TRAIN, DRAWN_TEST = 2000, 500


class _Batch(pickle.Unpickler):
    """Reads a batch of the Python form: lists, texts and NumPy arrays, and nothing that could run."""

    def find_class(self, module, name):
        allowed = {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"),
                   ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct")}
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"a batch of CIFAR-10 holds no {module}.{name}")
        return super().find_class(module, name)


def _read_python(path):
    with open(path, "rb") as file:
        batch = _Batch(file, encoding="bytes").load()
    images = torch.from_numpy(batch[b"data"]).reshape(-1, 3, SIDE, SIDE)
    return images, torch.tensor(batch[b"labels"])


def _read_binary(path):
    """Records of one byte of label and 3072 of pixels."""
    size = os.path.getsize(path)
    if size == 0 or size % (1 + PIXELS) != 0:
        raise ValueError(f"{path} is not a whole number of records: {size} bytes")
    records = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)
    records = records.reshape(-1, 1 + PIXELS)
    return records[:, 1:].reshape(-1, 3, SIDE, SIDE), records[:, 0].long()


def _unpack(folder):
    """Unpacks an archive that lies in `folder`, unless that was done before."""
    for archive, inside in zip(ARCHIVES, FOLDERS):
        path = os.path.join(folder, archive)
        if os.path.exists(path) and not os.path.isdir(os.path.join(folder, inside)):
            with tarfile.open(path) as tar:
                members = [m for m in tar.getmembers()
                           if m.isfile() and m.name.startswith(inside + "/") and ".." not in m.name]
                tar.extractall(folder, members=members)


def _find(folder):
    """(reader, names of the training batches, name of the test batch), or nothing."""
    for place in (folder, *(os.path.join(folder, inside) for inside in FOLDERS)):
        train = [os.path.join(place, f"data_batch_{i}") for i in range(1, 6)]
        if all(map(os.path.exists, train)):
            return _read_python, train, os.path.join(place, "test_batch")
        train = [name + ".bin" for name in train]
        if all(map(os.path.exists, train)):
            return _read_binary, train, os.path.join(place, "test_batch.bin")
    return None


def _draw(count, seed):
    patterns = torch.rand(len(CLASSES), 3, SIDE, SIDE, generator=torch.Generator().manual_seed(7))
    patterns = torch.nn.functional.avg_pool2d(patterns, 5, stride=1, padding=2)
    patterns = (patterns - patterns.mean()) / patterns.std() * 0.25 + 0.5
    random = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % len(CLASSES)
    shifts = torch.randint(-2, 3, (count, 2), generator=random)
    noise = torch.randn(count, 3, SIDE, SIDE, generator=random) * 0.1
    images = torch.stack([torch.roll(patterns[label], tuple(shift.tolist()), (1, 2))
                          for label, shift in zip(labels, shifts)])
    return ((images + noise).clamp(0, 1) * 255).to(torch.uint8), labels


class Cifar(torch.utils.data.Dataset):
    """Images from -1 to 1 and their labels."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index].float() / 127.5 - 1, self.labels[index]


def load(folder):
    """The training and the test set, and where they are from."""
    if folder and os.path.isdir(folder):
        _unpack(folder)
        found = _find(folder)
        if found:
            read, train, test = found
            parts = [read(name) for name in train]
            images = torch.cat([part[0] for part in parts])
            labels = torch.cat([part[1] for part in parts])
            return Cifar(images, labels), Cifar(*read(test)), folder
    return Cifar(*_draw(DRAWN_TRAIN, 1)), Cifar(*_draw(DRAWN_TEST, 2)), "drawn here"
