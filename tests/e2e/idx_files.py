"""Small data sets in MNIST's IDX files."""
import os
import struct


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
