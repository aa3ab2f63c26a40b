"""Writes scalars as TensorBoard event files, with nothing but the standard library.

An event file is a sequence of records: length (u64), masked CRC-32C of the length (u32), the
bytes of one Event message, masked CRC-32C of those bytes (u32).
"""
import os
import socket
import struct
import time


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def _masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes_field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


class EventWriter:
    """Appends to a new file in `directory`; every event is flushed."""

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
        self._file = open(os.path.join(directory, name), "wb")
        self._write(_bytes_field(3, b"brain.Event:2"))

    def _write(self, body):
        event = struct.pack("<Bd", 1 << 3 | 1, time.time()) + body
        length = struct.pack("<Q", len(event))
        self._file.write(length + struct.pack("<I", _masked_crc(length)))
        self._file.write(event + struct.pack("<I", _masked_crc(event)))
        self._file.flush()

    def scalar(self, tag, value, step):
        point = _bytes_field(1, tag.encode()) + struct.pack("<Bf", 2 << 3 | 5, value)
        self._write(_varint(2 << 3) + _varint(step) + _bytes_field(5, _bytes_field(1, point)))

    def close(self):
        self._file.close()
