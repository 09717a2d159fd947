# SPDX-License-Identifier: Apache-2.0
"""Columns of whole numbers as few bytes: what a page holds, and assets/data.js reads.

A number takes seven bits of each byte, the lowest first; the eighth bit says that more follow (LEB128). Signed numbers
are folded first (0, -1, 1, -2, ...), and a column that grows is stored as differences. All columns lie one after the
other, compressed together by gzip, as base64."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np

PLAIN, SIGNED, DIFFERENCES = "plain", "signed", "differences"
_MOST_BYTES = 10


class ColumnFile:
    """Columns by name, and where each lies."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self.directory: dict[str, dict[str, Any]] = {}

    def add(self, name: str, values: np.ndarray, coding: str = PLAIN) -> None:
        """`values` of `PLAIN` are not negative."""
        packed = _pack(values.astype(np.int64), coding)
        self.directory[name] = {"at": self._length, "count": len(values), "coding": coding}
        self._parts.append(packed)
        self._length += len(packed)

    def text(self) -> str:
        # Level 6 is nearly as small as 9, in a third of the time; without a time, equal reports are equal files.
        return base64.b64encode(gzip.compress(b"".join(self._parts), 6, mtime=0)).decode()


def _pack(values: np.ndarray, coding: str) -> bytes:
    if coding == DIFFERENCES:
        values = np.diff(values, prepend=0)
    if coding != PLAIN:
        values = (values << 1) ^ (values >> 63)
    assert not np.any(values < 0), "a plain column has negative numbers"
    return _leb128(values.view(np.uint64)).tobytes()


def _leb128(values: np.ndarray) -> np.ndarray:
    length = np.ones(len(values), dtype=np.int64)
    for more in range(1, _MOST_BYTES):
        length += values >= np.uint64(1) << np.uint64(7 * more)
    first = np.cumsum(length) - length
    packed = np.zeros(int(length.sum()), dtype=np.uint8)
    for number in range(int(length.max(initial=0))):
        rows = np.flatnonzero(length > number)
        bits = ((values[rows] >> np.uint64(7 * number)) & np.uint64(0x7F)).astype(np.uint8)
        packed[first[rows] + number] = bits | np.where(length[rows] > number + 1, np.uint8(0x80), np.uint8(0))
    return packed
