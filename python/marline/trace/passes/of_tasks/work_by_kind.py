# SPDX-License-Identifier: Apache-2.0
"""The pass `work_by_kind`: for each kind of task, its time of work, its time in MPI, and the time of its messages.

For the tasks u of a kind, and the messages e that they send:

    work(kind)          = sum of d(u), the time that u was on a thread, without MPI and without waits
    in MPI(kind)        = sum of the time that calls held a thread that ran u
    communication(kind) = sum of d(e), from the call that sends to the end of the call in which the receiver has it

Work and time in MPI count only within the breakdown's common total. So MPI_Init, which comes before the first task, is
not compared.

Two runs of one program are compared by these sums: work and communication inflation (R. Pereira, thesis, 2023, 4.1.2)
are their ratios.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import TASKWAIT
from ...read.columns import sums
from ...registry import Analysis, analysis_pass
from ...statistics import rows

OUTSIDE = "code outside of tasks"


@dataclass
class WorkByKind:
    """A row per kind, and a last one for code outside of explicit tasks. Times in ns."""

    names: list[str]
    tasks: np.ndarray
    work: np.ndarray
    in_mpi: np.ndarray
    messages: np.ndarray
    communication: np.ndarray

    def document(self) -> list[dict[str, Any]]:
        table = rows(name=self.names, tasks=self.tasks, work_ns=self.work, in_mpi_ns=self.in_mpi,
                     messages=self.messages, communication_ns=self.communication)  # fmt: skip
        return sorted((row for row in table if any(list(row.values())[1:])), key=lambda row: -row["work_ns"])


@analysis_pass("work_by_kind", needs=("tasks", "kinds", "segments", "owners", "code_pieces", "calls", "messages",
                                      "breakdown"))  # fmt: skip
def work_by_kind(of: Analysis) -> WorkByKind:
    """Time of work, in MPI and of messages for each kind of task."""
    tasks, kinds, runs, pieces, calls = (of[name] for name in ("tasks", "kinds", "segments", "code_pieces", "calls"))
    messages, owners = of["messages"], of["owners"]
    number = len(kinds.names) + 1
    kind = _kind(kinds.of_task, owners[pieces.segment], number - 1)
    total = of["breakdown"].edges[[0, -1]]
    on_threads = (np.clip(runs.end, *total) - np.clip(runs.start, *total))[pieces.segment]
    in_mpi = sums(kind[pieces.inside], np.clip(pieces.end, *total) - np.clip(pieces.start, *total), number)
    real = (tasks.flags & TASKWAIT) == 0
    sender = _kind(kinds.of_task, tasks.index(calls.task[messages.send]), number - 1)
    under_way = np.maximum(calls.end[messages.receive] - calls.start[messages.send], 0)
    return WorkByKind(
        [*kinds.names, OUTSIDE], np.bincount(kinds.of_task[real], minlength=number),
        sums(kind, on_threads, number) - in_mpi, in_mpi, np.bincount(sender, minlength=number),
        sums(sender, under_way, number),
    )  # fmt: skip


def _kind(of_task: np.ndarray, row: np.ndarray, outside: int) -> np.ndarray:
    """The kind of each row of tasks; -1 is outside of all."""
    found = np.full(len(row), outside, dtype=np.int64)
    found[row >= 0] = of_task[row[row >= 0]]
    return found
