"""The scalars in the event files that TensorBoard reads, by the rules of src/runs/progress/event.h, without the checksums."""
import os
import struct

MAX_FILE = 64 << 20
MOST_FILES = 100
# Around each record: its length with a checksum, and the record's own checksum.
HEAD, TAIL = 12, 4
# tensorflow/core/util/event.proto and framework/{summary,tensor}.proto
EVENT_SUMMARY, SUMMARY_VALUE = 5, 1
VALUE_TAG, VALUE_SIMPLE, VALUE_TENSOR = 1, 2, 8
TENSOR_TYPE, TENSOR_CONTENT, TENSOR_FLOATS, TENSOR_DOUBLES = 1, 4, 5, 6
DOUBLE = 2  # DataType


def varint(message, at):
    value = shift = 0
    while shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at
    raise IndexError


def fields(message):
    """(number, value) of each field, to the end or to where the bytes are no message."""
    at = 0
    try:
        while at < len(message):
            key, at = varint(message, at)
            kind = key & 7
            if kind == 0:
                value, at = varint(message, at)
            elif kind in (1, 2, 5):
                length, at = varint(message, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
                value = message[at:at + length]
                if len(value) < length:
                    return
                at += length
            else:
                return
            yield key >> 3, value
    except IndexError:
        return


def fixed(layout, value):
    """The number at the beginning of the bytes; None where there is none."""
    size = struct.calcsize(layout)
    return struct.unpack(layout, value[:size])[0] if isinstance(value, bytes) and len(value) >= size else None


def tensor_of(message):
    value, content, layout = None, b"", "<f"
    for number, field in fields(message):
        if number == TENSOR_TYPE:
            layout = "<d" if field == DOUBLE else "<f"
        elif number == TENSOR_CONTENT:
            content = field
        elif number == TENSOR_FLOATS:
            value = fixed("<f", field)
        elif number == TENSOR_DOUBLES:
            value = fixed("<d", field)
    # Of a histogram or a text there are more bytes than one number has.
    return fixed(layout, content) if value is None and len(content) == struct.calcsize(layout) else value


def last_scalars(file):
    """The last value of each tag in the bytes of an event file."""
    scalars = {}
    at = 0
    while len(file) - at >= HEAD + TAIL:
        length, = struct.unpack_from("<Q", file, at)
        if length > len(file) - at - HEAD - TAIL:
            break
        event = file[at + HEAD:at + HEAD + length]
        at += HEAD + length + TAIL
        for number, summary in fields(event):
            for inner, entry in fields(summary) if number == EVENT_SUMMARY else ():
                found = dict(fields(entry)) if inner == SUMMARY_VALUE else {}
                tag, value = found.get(VALUE_TAG, b""), fixed("<f", found.get(VALUE_SIMPLE))
                if VALUE_TENSOR in found:
                    value = tensor_of(found[VALUE_TENSOR])
                if tag and value is not None:
                    scalars[tag.decode("utf-8", "replace")] = value
    return scalars


def scalars_below(folder):
    """The last value of each scalar in the event files of a folder; of several files that have it, the newest counts."""
    files = []
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if "tfevents" in name and os.path.isfile(path) and len(files) < MOST_FILES:
                files.append((os.stat(path).st_mtime_ns, path))
    scalars = {}
    for _, path in sorted(files):
        try:
            with open(path, "rb") as file:
                content = file.read(MAX_FILE + 1)
        except OSError:
            continue
        if len(content) <= MAX_FILE:
            scalars.update(last_scalars(content))
    return scalars
