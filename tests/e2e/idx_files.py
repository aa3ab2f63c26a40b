"""Small data sets in MNIST's IDX files."""
import gzip
import os
import struct

from places import ROOT


def idx(values, *shape):
    return bytes((0, 0, 8, len(shape))) + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


def write_data(folder, count=64, test_count=16):
    """Images of a bright square whose place is the label."""
    os.makedirs(folder, exist_ok=True)
    for prefix, images in (("train", count), ("t10k", test_count)):
        pixels = bytearray()
        for number in range(images):
            image = bytearray(28 * 28)
            for row in range(6):
                start = (4 + row + 12 * (number % 10 // 5)) * 28 + number % 5 * 5
                image[start:start + 5] = bytes([200 + number % 50]) * 5
            pixels += image
        with open(os.path.join(folder, f"{prefix}-images-idx3-ubyte"), "wb") as file:
            file.write(idx(pixels, images, 28, 28))
        with open(os.path.join(folder, f"{prefix}-labels-idx1-ubyte"), "wb") as file:
            file.write(idx((number % 10 for number in range(images)), images))
    return str(folder)


def write_small_mnist(folder):
    """The 1,437 digits of examples/mnist-pytorch in the files that MNIST comes in: without them an epoch has 60,000."""
    data = os.path.join(ROOT, "examples", "mnist-pytorch", "data")

    def read(name):
        with gzip.open(os.path.join(data, f"digits-{name}-ubyte.gz")) as file:
            return file.read()
    images, labels = read("images-idx3"), read("labels-idx1")
    count, height, width = struct.unpack(">3I", images[4:16])
    pixels, marks, train = images[16:], labels[8:], count * 4 // 5
    for name, first, last in (("train", 0, train), ("t10k", train, count)):
        with open(os.path.join(folder, f"{name}-images-idx3-ubyte"), "wb") as file:
            file.write(images[:4] + struct.pack(">3I", last - first, height, width))
            file.write(pixels[first * height * width:last * height * width])
        with open(os.path.join(folder, f"{name}-labels-idx1-ubyte"), "wb") as file:
            file.write(labels[:4] + struct.pack(">I", last - first) + marks[first:last])
