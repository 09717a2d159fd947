# SPDX-License-Identifier: Apache-2.0
"""The records of a trace as columns: what the reader makes and everything else starts from.

Invariant: all columns are equally long and sorted by rank, thread and time; records of equal time stand in the order in
which the thread wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .events import EVENTS

TASK_BITS = 48


class TraceError(Exception):
    """A trace that cannot be read; the text is meant for the user."""


def is_recorded(metadata: dict[str, Any]) -> bool:
    """Whether records of this process are here: MARLINE_TRACE_RANKS may have left it out, or it ran elsewhere."""
    return metadata.get("recorded", True) is not False and not metadata.get("elsewhere")


@dataclass
class Trace:
    """All records. A task id carries its rank in its upper 16 bits, so ids are unique in the trace."""

    time: np.ndarray  # int64, ns
    kind: np.ndarray  # uint16, event number
    task: np.ndarray  # uint64, rank << 48 | id within the rank
    rank: np.ndarray  # uint16
    thread: np.ndarray  # uint16, as the recorder numbered it: from 1
    payload: np.ndarray  # uint64, n by 2; as written, but `start` of task_run is in ns like `time`
    ranks: dict[int, dict[str, Any]]  # the JSON file of each rank
    cut: list[str] = field(default_factory=list)  # files that lost their last bytes, and why
    notes: list[str] = field(default_factory=list)  # what was done to the clocks
    began: int = 0  # ns from the program's start to the first record, where a ring has lost what was before; else 0
    began_before: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))  # tasks that were created then
    folder: str = ""  # as the caller named it
    skipped: dict[str, int] = field(default_factory=dict)  # records of events that this version does not know, by name
    thread_numbers: Any = None  # once thread_numbers.thread_numbers has been called
    lock_waits: tuple[np.ndarray, np.ndarray] | None = None  # once model.lock_waits has been called

    def left_out(self) -> list[int]:
        """Ranks that are known, and whose records are not here."""
        return [rank for rank, metadata in self.ranks.items() if not is_recorded(metadata)]

    def select(self, name: str) -> np.ndarray:
        """Indices of the records of one kind, in order."""
        return np.flatnonzero(self.kind == EVENTS[name].number)

    def field(self, name: str, column: str, rows: np.ndarray) -> np.ndarray:
        """One field of the records `rows`, all of kind `name`."""
        where = EVENTS[name].fields[column]
        return where.extract(self.payload[rows, where.word])

    def global_task(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Task ids from payloads, made unique like the column `task`; 0 (no task) stays 0."""
        prefix = self.rank[rows].astype(np.uint64) << np.uint64(TASK_BITS)
        return np.where(ids == 0, np.uint64(0), prefix | ids)
