# SPDX-License-Identifier: Apache-2.0
"""The records of all threads of all processes of a node: one file, made of units of 64 KiB (trace/file/record.hpp says
what is in them and why the file of a killed program can be read).

A thread's records are numbered pieces. A piece is a window, a copy of a window, or a compressed block; the same one may
be there twice, and then the better one counts.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np

from .records import TraceError
from .zstd import decompress

FILE_MAGIC, WINDOW_MAGIC, PACK_MAGIC = b"MARLTRC3", b"MARLWIN3", b"MARLPAK3"
FILE = struct.Struct("<8sQQI4x")
UNIT = struct.Struct("<8sIIIIQ32x")
BLOCK = struct.Struct("<IIIIQQ")
UNIT_BYTES = 64 << 10
RECORD = np.dtype([("time", "<u8"), ("head", "<u8"), ("payload", "<u8", (2,))])
WINDOW_RECORDS = (UNIT_BYTES - UNIT.size) // RECORD.itemsize
MOST_THREADS = (1 << 16) - 1
STORED, COLUMNS = 0, 1  # forms of a block


@dataclass(frozen=True)
class Piece:
    """Where records are: `bytes` from `at` on. Of a window, only those before its first empty record."""

    at: int
    bytes: int
    records: int  # at most
    form: int | None  # of a block; None: a window
    checksum: int = 0


def file_of_this_node() -> str:
    """The name that recorders on this node give their file (container_name in trace/file/container.cpp)."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", socket.gethostname()[:47])
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    except OSError:
        boot = ""
    return f"node.{host}.{boot}.mtr"


class Container:
    """Reads the file instead of mapping it: a hole in a file on a full disk cannot be mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb", buffering=0) as file:
                self._size = os.fstat(file.fileno()).st_size
                self._pieces: dict[tuple[int, int], dict[int, list[Piece]]] = defaultdict(lambda: defaultdict(list))
                self.missing = self._read_head(file)  # bytes that were there when it was recorded
                self._find_pieces(file)
        except FileNotFoundError as error:
            raise TraceError(f"{path} has the records of a process, and is not there: copy it, too") from error

    def _read_head(self, file: FileIO) -> int:
        head = os.pread(file.fileno(), FILE.size, 0)
        if len(head) < FILE.size:
            raise TraceError(f"{self.path}: {len(head)} bytes, less than its head: truncated")
        magic, unit_bytes, units, _ = FILE.unpack(head)
        if magic != FILE_MAGIC or unit_bytes != UNIT_BYTES:
            raise TraceError(f"{self.path}: starts with {magic!r} instead of {FILE_MAGIC!r}: not a trace, or damaged")
        return (units + 1) * UNIT_BYTES - self._size if units else 0

    def threads(self, process: int) -> list[int]:
        return sorted(thread for owner, thread in self._pieces if owner == process)

    def pieces(self) -> Iterator[Piece]:
        """All of them, of any process and thread."""
        return (piece for pieces in self._pieces.values() for same in pieces.values() for piece in same)

    def bytes(self, process: int, thread: int) -> int:
        return sum(piece.bytes for pieces in self._pieces[process, thread].values() for piece in pieces)

    def records(self, process: int, thread: int, who: str, cut: list[str]) -> np.ndarray:
        """All records of a thread in the order of their writing. `who` names it; `cut`: what is lost is added there."""
        pieces = self._pieces[process, thread]
        found = np.empty(sum(max(piece.records for piece in same) for same in pieces.values()), dtype=RECORD)
        count = 0
        with self.path.open("rb", buffering=0) as file:
            for sequence in sorted(pieces):
                part = self._best(file, pieces[sequence], who, cut)
                found[count : count + len(part)] = part
                count += len(part)
        lost = max(pieces) + 1 - len(pieces)
        if lost:
            cut.append(f"{self.path.name}: {who}: {lost} of {max(pieces) + 1} windows missing")
        return found[:count]

    def last_window(self, process: int, thread: int) -> tuple[int, np.ndarray]:
        """The number of a thread's newest window, and the records in it."""
        pieces = self._pieces[process, thread]
        with self.path.open("rb", buffering=0) as file:
            return max(pieces), self._best(file, pieces[max(pieces)], f"thread {thread}", [])

    def _find_pieces(self, file: FileIO) -> None:
        at = UNIT_BYTES
        while at + UNIT.size <= self._size:
            magic, process, thread, _, units, sequence = UNIT.unpack(os.pread(file.fileno(), UNIT.size, at))
            if magic == bytes(len(magic)):
                units = 1  # reserved, and never begun
            elif magic == WINDOW_MAGIC:
                units = 1
                self._require(0 < thread <= MOST_THREADS, at, f"a window of thread {thread}")
                size = min(UNIT_BYTES, self._size - at) - UNIT.size
                piece = Piece(at + UNIT.size, size, size // RECORD.itemsize, None)
                self._pieces[process, thread][sequence].append(piece)
            else:
                self._require(magic == PACK_MAGIC, at, f"{magic!r}")
                self._require(units > 0, at, "a group of no units")
                for thread, sequence, piece in self._blocks(file, at + UNIT.size, at + units * UNIT_BYTES):
                    self._pieces[process, thread][sequence].append(piece)
            at += units * UNIT_BYTES

    def _blocks(self, file: FileIO, at: int, end: int) -> Iterator[tuple[int, int, Piece]]:
        end = min(end, self._size)
        while at + BLOCK.size <= end:
            size, thread, records, form, sequence, checksum = BLOCK.unpack(os.pread(file.fileno(), BLOCK.size, at))
            if size == 0:
                return
            self._require(0 < thread <= MOST_THREADS, at, f"a block of thread {thread}")
            self._require(0 < records <= WINDOW_RECORDS, at, f"a block of {records} records")
            self._require(size <= UNIT_BYTES, at, f"a block of {size} bytes")
            self._require(form == COLUMNS or form == STORED and size == records * RECORD.itemsize, at,
                          f"a block of the unknown form {form}")  # fmt: skip
            at += BLOCK.size
            yield thread, sequence, Piece(at, size, records, form, checksum)
            at += (size + 7) // 8 * 8

    def _require(self, good: bool, at: int, what: str) -> None:
        if not good:
            raise TraceError(f"{self.path}: {what} at byte {at}: damaged")

    def _best(self, file: FileIO, same: list[Piece], who: str, cut: list[str]) -> np.ndarray:
        """The records of one piece, from the first place that has them all."""
        best, used, whole = np.zeros(0, dtype=RECORD), -1, 0
        for piece in sorted(same, key=lambda one: one.form is None):  # blocks first: each is complete or useless
            if piece.form is not None:
                unpacked = _unpack(file, piece)
                if unpacked is not None:
                    return unpacked
                whole = piece.records
                continue
            window = _read(file, piece.at, piece.records * RECORD.itemsize).view(RECORD)
            empty = np.flatnonzero(window["time"] == 0)
            complete = int(empty[0]) if empty.size else len(window)
            if complete > used:
                best, used = window, complete
        if used < 0:
            cut.append(f"{self.path.name}: {who}: {whole} records damaged")
            return best
        if np.any(best["time"][used:]):
            raise TraceError(f"{self.path}: {who}: record {used} is empty but others follow: damaged")
        return best[:used]


def _read(file: FileIO, at: int, size: int) -> np.ndarray:
    return np.frombuffer(os.pread(file.fileno(), size, at), dtype=np.uint8)


def _unpack(file: FileIO, piece: Piece) -> np.ndarray | None:
    """The records of a block; None if it is damaged."""
    filled = (piece.bytes + 7) // 8 * 8
    data = _read(file, piece.at, filled)
    if len(data) < filled:
        return None
    words = data.view(np.uint64)
    if int(np.dot(words, np.arange(1, 2 * len(words), 2, dtype=np.uint64))) != piece.checksum:
        return None
    if piece.form == STORED:
        return words.view(RECORD)
    columns = np.empty((RECORD.itemsize // 8, piece.records), dtype=np.uint64)
    if not decompress(data[: piece.bytes], columns):
        return None
    return np.ascontiguousarray(np.cumsum(columns, axis=1, dtype=np.uint64).T).view(RECORD)[:, 0]
