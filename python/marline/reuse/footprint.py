# SPDX-License-Identifier: Apache-2.0
"""Reads a program's footprint: which lines of memory each task of an iteration touches, in which order.

    marline-footprint 1
    granule BYTES             memory is told in pieces of so many bytes, aligned: lines
    task NAME PHASE COUNT     in the order of creation; COUNT numbers of it follow below
    numbers
    ...                       8 bytes each, of this machine's byte order: address / BYTES; bit 63: written
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from marline.errors import Refusal

MAGIC = b"marline-footprint 1"
WRITTEN = np.uint64(1 << 63)
NEAR = 128  # touches
LONGEST_HEAD = 64 << 20  # bytes; a line takes some thirty, so this is two million tasks


@dataclass
class Footprint:
    """Of one iteration. Task t touches `line[first[t] : first[t + 1]]`; lines are numbered from 0."""

    granule: int
    name: list[str]
    phase: np.ndarray
    first: np.ndarray
    line: np.ndarray
    written: np.ndarray

    def __len__(self) -> int:
        return len(self.name)


def read_footprint(path: Path) -> Footprint:
    try:
        with path.open("rb") as file:
            head = _head(file, path)
            numbers = np.fromfile(file, dtype=np.uint64)
    except OSError as error:
        raise Refusal(f"{path}: cannot be read: {error.strerror}") from error
    tasks = [line.split() for line in head[2:]]
    try:
        granule = int(head[1].split()[1])
        phase = np.array([int(words[2]) for words in tasks], dtype=np.int64)
        count = np.array([int(words[3]) for words in tasks], dtype=np.int64)
    except (IndexError, ValueError) as error:
        raise Refusal(f"{path}: not a footprint: {error}") from error
    if count.sum() != len(numbers):
        raise Refusal(f"{path}: incomplete: {len(numbers)} numbers, where its tasks have {count.sum()}")
    _, line = np.unique(numbers & ~WRITTEN, return_inverse=True)
    line, written, count = thinned(line.astype(np.int32), (numbers & WRITTEN) != 0, count)
    return Footprint(granule, [words[1].decode() for words in tasks], phase, np.r_[0, np.cumsum(count)], line, written)


def thinned(line: np.ndarray, written: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a task's touches of a line within a window of NEAR touches, the first counts, as a write if one of them is:
    distances change by NEAR lines at most, which is less than any cache holds that is asked about."""
    task = np.repeat(np.arange(len(count)), count)
    windows = (count + NEAR - 1) // NEAR
    within = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    window = np.repeat(np.cumsum(windows) - windows, count) + within // NEAR
    key = window.astype(np.int64) * (int(line.max(initial=0)) + 1) + line
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    wrote = np.bincount(group, weights=written) > 0
    order = np.argsort(first)
    kept = first[order]
    return line[kept], wrote[order], np.bincount(task[kept], minlength=len(count))


def _head(file, path: Path) -> list[bytes]:  # noqa: ANN001  a binary file
    lines, size = [], 0
    while size < LONGEST_HEAD:
        line = file.readline(1 << 12)
        size += len(line)
        if not lines and line.rstrip() != MAGIC:
            raise Refusal(f"{path}: not a footprint: it does not begin with '{MAGIC.decode()}'")
        if not line:
            raise Refusal(f"{path}: incomplete: no line 'numbers'")
        if line == b"numbers\n":
            return lines
        lines.append(line.rstrip())
    raise Refusal(f"{path}: its description has more than {LONGEST_HEAD >> 20} MiB: take fewer tasks")
