# SPDX-License-Identifier: Apache-2.0
"""What the creation of tasks costs their creators: the time in the runtime between the announcement of a task and the
return to the creator's code (dependences looked up, edges made, the task queued). What else ran on the creator's thread
meanwhile, and waits, do not count; nor does the compiler's preparation of the task, which comes before.

The recorder measures one deferred task in eight. Of the others of a rank, those with dependences are taken to cost the
mean of the measured ones with dependences, those without the mean of these. This is the discovery of R. Pereira's
thesis (2023, 3.3), task by task.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Tasks
from ...read.calls import InMpi
from ...read.columns import Columns, distinct, find, overlaps, sums
from ...read.records import Trace
from ...registry import Analysis, analysis_pass


@dataclass
class CreationPieces(Columns):
    """The creation of task `task` (a row of Tasks) held its creator's segment `segment` during [start, end)."""

    task: np.ndarray
    segment: np.ndarray
    start: np.ndarray
    end: np.ndarray


@dataclass
class Creations:
    """`pieces`: of tasks that explicit tasks create. By row of Tasks: whether the creation was `measured`; `time`: ns
    of the creator's own time, the mean of measured ones where it was not."""

    pieces: CreationPieces
    measured: np.ndarray
    time: np.ndarray


@analysis_pass("creations", needs=("tasks", "segments", "in_mpi"))
def creations(of: Analysis) -> Creations:
    """What the creation of each task cost its creator."""
    tasks: Tasks = of["tasks"]
    measured = tasks.creation > 0
    none = np.zeros(0, dtype=np.int64)
    if not measured.any():
        return Creations(CreationPieces(none, none, none, none), measured, np.zeros(len(tasks.id), dtype=np.int64))
    found = _pieces(of, np.flatnonzero(measured), tasks.creation)
    alone = sums(found.task, found.end - found.start, len(tasks.id))
    length = np.where(measured, tasks.creation, _means(of.trace, tasks, measured, alone))
    time = np.where(measured, alone, length)
    nested = (tasks.index(tasks.parent) >= 0) & (length > 0)
    pieces = _pieces(of, np.flatnonzero(nested), length)
    time[nested] = sums(pieces.task, pieces.end - pieces.start, len(tasks.id))[nested]
    return Creations(pieces, measured, time)


def _means(trace: Trace, tasks: Tasks, measured: np.ndarray, time: np.ndarray) -> np.ndarray:
    """By task: the mean of the measured ones of its rank that have dependences, or have none, as it. 0 for undeferred
    tasks, and where there is no such task."""
    depends = np.zeros(len(tasks.id), dtype=np.int64)
    rows = tasks.index(trace.task[trace.select("dependence")])
    depends[rows[rows >= 0]] = 1
    group = tasks.rank * 2 + depends
    count = np.bincount(group[measured], minlength=int(group.max()) + 1)
    sum_of = sums(group[measured], time[measured], len(count))
    return np.where(tasks.deferred, (sum_of // np.maximum(count, 1))[group], 0)


def _pieces(of: Analysis, rows: np.ndarray, length: np.ndarray) -> CreationPieces:
    """Of the tasks `rows`, whose creation took `length`."""
    tasks, runs = of["tasks"], of["segments"]
    parent, start = tasks.parent[rows], tasks.created[rows]
    order = np.lexsort((start, parent))
    rows, parent, start = rows[order], parent[order], start[order]
    end = start + length[rows]
    # A task creates one after the other: a mean may be too long, and a record damaged.
    same = parent[1:] == parent[:-1]
    end[:-1][same] = np.minimum(end[:-1], start[1:])[same]
    code = np.flatnonzero(~runs.waits & (find(distinct(parent), runs.task) >= 0))
    own = overlaps(parent, start, end, runs.task[code], runs.start[code], runs.end[code])
    found = CreationPieces(rows[own.a], code[own.b], own.start, own.end)
    return _without_mpi(found, runs.task[found.segment], of["in_mpi"])


def _without_mpi(found: CreationPieces, creator: np.ndarray, mpi: InMpi) -> CreationPieces:
    """MPI that the runtime polls inside of a creation is MPI's time: a piece ends where a call begins."""
    inside = overlaps(creator, found.start, found.end, mpi.task, mpi.start, mpi.end)
    np.minimum.at(found.end, inside.a, inside.start)
    return found
