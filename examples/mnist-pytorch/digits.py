"""Images and labels: MNIST or FashionMNIST when their IDX files are at hand, else the small data
set of this folder (data/LICENSE.md)."""
import gzip
import os
import struct

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 28
# The small set has 1,437 training images; in one epoch each rank sees as many images as MNIST has,
# each time shifted anew.
EPOCH_IMAGES = 60000


def read_idx(path):
    """The tensor in an IDX file of unsigned bytes, gzipped or not."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        content = file.read()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is not an IDX file of unsigned bytes")
    dimensions = content[3]
    shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
    data = torch.frombuffer(bytearray(content[4 + 4 * dimensions :]), dtype=torch.uint8)
    expected = 1
    for extent in shape:
        expected *= extent
    if data.numel() != expected:
        raise ValueError(f"{path} is cut short: {data.numel()} bytes of {expected}")
    return data.reshape(shape)


def find_idx(directory, name):
    """Path of an IDX file under `directory` as torchvision or a hand would have put it."""
    places = ("", "raw", "MNIST/raw", "FashionMNIST/raw", "data", "data/MNIST/raw")
    for place in places:
        for ending in ("", ".gz"):
            path = os.path.join(directory, place, name + ending)
            if os.path.exists(path):
                return path
    return None


class Images(torch.utils.data.Dataset):
    """Normalised SIZE x SIZE images. With `count` larger than the images, they come round again,
    shifted by up to two pixels: which way depends on the index alone, so every rank agrees."""

    def __init__(self, images, labels, count=None):
        scaled = images.float().unsqueeze(1) / float(images.max())
        if scaled.shape[-1] != SIZE:
            scaled = F.interpolate(scaled, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
        self.images = (scaled - scaled.mean()) / scaled.std()
        self.labels = labels.long()
        self.count = count or len(labels)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        turn, at = divmod(index, len(self.labels))
        image = self.images[at]
        if turn:
            shift = turn * 7919 % 25
            image = torch.roll(image, (shift // 5 - 2, shift % 5 - 2), (1, 2))
        return image, self.labels[at]


def load(directory, world_size):
    """(training set, test set) from the IDX files under `directory`, else the small set."""
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte",
             "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    paths = [find_idx(directory, name) for name in names]
    if all(paths):
        train_images, train_labels, test_images, test_labels = map(read_idx, paths)
        return Images(train_images, train_labels), Images(test_images, test_labels)
    small = os.path.join(HERE, "data")
    images = read_idx(os.path.join(small, "digits-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(small, "digits-labels-idx1-ubyte.gz"))
    train = len(labels) * 4 // 5
    return (Images(images[:train], labels[:train], EPOCH_IMAGES * world_size),
            Images(images[train:], labels[train:]))
