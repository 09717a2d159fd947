# SPDX-License-Identifier: Apache-2.0
"""Writes the file of a node as the recorder does (trace/file/record.hpp): windows, and groups of compressed blocks."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator

import numpy as np

from marline.trace.read import container
from marline.trace.read.container import BLOCK, COLUMNS, FILE, RECORD, STORED, UNIT, UNIT_BYTES, WINDOW_RECORDS
from marline.trace.read.zstd import LIBRARY


def head(units: int, processes: int = 1) -> bytes:
    return FILE.pack(container.FILE_MAGIC, UNIT_BYTES, units, processes).ljust(UNIT_BYTES, b"\0")


def window(process: int, thread: int, sequence: int, records: np.ndarray) -> bytes:
    header = UNIT.pack(container.WINDOW_MAGIC, process, thread, 1, 1, sequence)
    return (header + records.tobytes()).ljust(UNIT_BYTES, b"\0")


def compressed(records: np.ndarray) -> bytes:
    """Column by column, as differences."""
    words = np.ascontiguousarray(records).view(np.uint64).reshape(len(records), -1)
    columns = np.ascontiguousarray(np.diff(words, axis=0, prepend=np.zeros((1, words.shape[1]), dtype=np.uint64)).T)
    room = ctypes.create_string_buffer(columns.nbytes + 1024)
    size = ctypes.CDLL(LIBRARY).ZSTD_compress(room, len(room), columns.tobytes(), columns.nbytes, 1)
    return room.raw[:size]


def block(thread: int, sequence: int, records: np.ndarray, form: int = COLUMNS) -> bytes:
    body = records.tobytes() if form == STORED else compressed(records)
    filled = np.frombuffer(body.ljust((len(body) + 7) // 8 * 8, b"\0"), dtype=np.uint64)
    checksum = int(np.dot(filled, np.arange(1, 2 * len(filled), 2, dtype=np.uint64)))
    return BLOCK.pack(len(body), thread, len(records), form, sequence, checksum) + filled.tobytes()


def group(process: int, blocks: bytes) -> bytes:
    units = -(-(UNIT.size + len(blocks)) // UNIT_BYTES)
    header = UNIT.pack(container.PACK_MAGIC, process, 0, 0, units, 0)
    return (header + blocks).ljust(units * UNIT_BYTES, b"\0")


def in_windows(records: np.ndarray, size: int = WINDOW_RECORDS) -> Iterator[tuple[int, np.ndarray]]:
    """Number and records of each window that a thread fills with these records."""
    for sequence, begin in enumerate(range(0, max(len(records), 1), size)):
        yield sequence, records[begin : begin + size]


def windows(process: int, thread: int, records: np.ndarray, size: int = WINDOW_RECORDS) -> bytes:
    return b"".join(window(process, thread, number, part) for number, part in in_windows(records, size))


def groups(process: int, thread: int, records: np.ndarray) -> Iterator[bytes]:
    """A group of blocks for each 64 windows."""
    parts = list(in_windows(records))
    for begin in range(0, len(parts), 64):
        yield group(process, b"".join(block(thread, number, part) for number, part in parts[begin : begin + 64]))


def whole(units: Iterable[bytes]) -> bytes:
    """The file that has these units."""
    body = b"".join(units)
    return head(len(body) // UNIT_BYTES) + body


def array(records: list[tuple[int, int, tuple[int, int]]]) -> np.ndarray:
    return np.array(records, dtype=RECORD)
