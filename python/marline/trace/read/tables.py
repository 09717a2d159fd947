# SPDX-License-Identifier: Apache-2.0
"""Traces that were written with another event table than this reader's.

The recorder leaves its own table in the trace's folder, as events.HASH.def, and HASH in each file. So the reader knows
what each record holds, and compares number by number: an event that both tables describe alike is read; one that the
reader lacks is skipped and counted; one whose name or fields differ would be misread, and is refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .events import FINGERPRINT, LAYOUTS, Layouts, fingerprint
from .records import TASK_BITS, TraceError

SAME_VERSION = "read it with the version of Marline that wrote it"


@dataclass
class Table:
    """The events of a file, as this reader sees them, by number."""

    known: np.ndarray  # bool: read as they are
    skipped: dict[int, str]  # the reader lacks them: their names
    changed: dict[int, str]  # what the file's table says of them


class Tables:
    """The tables of the files in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[int, Table] = {}
        self.skipped: Counter[str] = Counter()  # records left out so far, by name of the event

    def keep_known(self, path: Path, hash_of_table: int, records: np.ndarray) -> np.ndarray:
        """The records of the file `path` that this reader knows."""
        if hash_of_table not in self._tables:
            self._tables[hash_of_table] = _compare(self._layouts(path, hash_of_table), path)
        table = self._tables[hash_of_table]
        numbers = records["head"].astype(np.uint16)
        strange = np.flatnonzero(~table.known[numbers])
        if not strange.size:
            return records
        counts = np.bincount(numbers[strange])
        for number in np.flatnonzero(counts).tolist():
            if number in table.changed:
                raise TraceError(f"{path}: event {number} is {table.changed[number]!r} in this trace and "
                                 f"{LAYOUTS.events[number]!r} in this version of Marline: {SAME_VERSION}")  # fmt: skip
            if number not in table.skipped:
                first = strange[numbers[strange] == number][0]
                raise TraceError(f"{path}: record {first} has the unknown event number {number}: the file is damaged")
            self.skipped[table.skipped[number]] += int(counts[number])
        return records[table.known[numbers]]

    def _layouts(self, path: Path, hash_of_table: int) -> Layouts:
        if hash_of_table == FINGERPRINT:
            return LAYOUTS
        table = self._folder / f"events.{hash_of_table:016x}.def"
        try:
            stored = table.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise TraceError(f"{path}: written with another event table, and {table.name} cannot be read ({error}): "
                             f"copy it from where the trace was recorded, or {SAME_VERSION}") from error  # fmt: skip
        if fingerprint(stored) != hash_of_table:
            raise TraceError(f"{table}: damaged: copy it from where the trace was recorded, or {SAME_VERSION}")
        return Layouts.of(stored)


def _compare(theirs: Layouts, path: Path) -> Table:
    for number, call in theirs.calls.items():
        if LAYOUTS.calls.get(number, call) != call:
            raise TraceError(f"{path}: MPI call {number} is {call!r} in this trace and {LAYOUTS.calls[number]!r} in "
                             f"this version of Marline: {SAME_VERSION}")  # fmt: skip
    found = Table(np.zeros(1 << (64 - TASK_BITS), dtype=bool), {}, {})
    for number, layout in theirs.events.items():
        mine = LAYOUTS.events.get(number)
        found.known[number] = mine == layout
        if mine is None:
            found.skipped[number] = layout.split(" ", 1)[0]
        elif mine != layout:
            found.changed[number] = layout
    return found
