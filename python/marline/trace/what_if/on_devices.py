# SPDX-License-Identifier: Apache-2.0
"""Devices in the model: as ranks of their own, after those of the program. A device's kernels are one rank, its copies
another one. Such a rank has as many threads as operations of this sort ran at once in the recording. An operation is a
task of the rank: it waits there while all threads are busy, and the one that waits longest comes next.

- From the end of an operation to the begin of the next one on a device that was full: the mean of what it took.
- Waiting for a full device is no work: the code of a task counts up to where its construct began.
- A task that no thread ran is its operations, with the time between them as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..global_graph import edges as kinds
from ..global_graph import points as what
from ..global_graph.build import GlobalGraph
from .native_replay import Program
from ..read.columns import Columns, TimeLines
from ..registry import Analysis
from .waits import CALL, Model, Waits


@dataclass
class _Operations(Columns):
    """Kernels and copies. `edge`: row of the waits; `begin`, `finish`: points of the task that waits; `asked`: from
    when on it could have begun; `freed`: when the device, which was full, had room again, or -1."""

    edge: np.ndarray
    begin: np.ndarray
    finish: np.ndarray
    task: np.ndarray
    sort: np.ndarray  # a number for device and kernel or copy
    start: np.ndarray
    end: np.ndarray
    asked: np.ndarray
    freed: np.ndarray
    alone: np.ndarray  # whether no thread ran its task
    before: np.ndarray  # of these: the operation of the task before it, or -1


def with_devices(of: Analysis, graph: GlobalGraph, run: Model) -> Model:
    """The model with its operations on devices; without devices, as it is."""
    found = _operations(of, graph, run)
    count, points, tasks = len(found.edge), len(run.time), len(run.id)
    if not count:
        return run
    most = _most_at_once(found)
    waited = found.freed > found.asked
    waits = _waits(run, found, waited)
    program, sorts = run.program, len(most)
    took = np.bincount(found.sort[waited], weights=(found.start - found.freed)[waited], minlength=sorts)
    dispatch = np.rint(took / np.maximum(np.bincount(found.sort[waited], minlength=sorts), 1)).astype(np.int64)
    none, both = np.zeros(count, dtype=np.int64), np.zeros(2 * count, dtype=np.int64)
    lasts = np.stack([found.end - found.start, none], axis=1).ravel()
    return replace(
        run, waits=waits,
        program=Program(
            np.r_[program.first, points + 2 * np.arange(1, count + 1)], np.r_[_work(run, found, waited), lasts],
            np.r_[program.waits, both.astype(np.uint8)], waits.source, waits.sink, waits.delay,
            np.r_[program.rank, len(run.ranks) + found.sort], np.r_[program.thread, none - 1],
            np.r_[program.priority, none], np.r_[program.begins, none],
            np.r_[program.traits, none.astype(np.uint8)], np.r_[program.threads, most],
            np.r_[program.dispatch, dispatch], np.r_[program.wake_up, np.zeros(sorts, dtype=np.int64)],
            program.most_queued),
        id=np.r_[run.id, none.astype(np.uint64)], row=np.r_[run.row, none - 1],
        time=np.r_[run.time, np.stack([found.start, found.end], axis=1).ravel()],
        what=np.r_[run.what, np.tile(np.array([what.ON_DEVICE, what.OFF_DEVICE], dtype=np.int8), count)],
        task_of=np.r_[run.task_of, np.repeat(tasks + np.arange(count), 2)], own=np.r_[run.own, both],
        counts=np.r_[run.counts, both.astype(bool)],
    )  # fmt: skip


def _operations(of: Analysis, graph: GlobalGraph, run: Model) -> _Operations:
    table, waits = of["device_waits"], run.waits
    row_of = np.full(len(run.time), -1)
    row_of[graph.on_device] = np.arange(len(table.task))
    edge = np.flatnonzero((waits.kind == kinds.DEVICE) & (row_of[waits.source] >= 0))
    begin, row = waits.source[edge], row_of[waits.source[edge]]
    task, start, end = run.task_of[begin], run.time[begin], run.time[waits.sink[edge]]
    alone = np.isin(task, run.task_of[waits.source[_off_thread(waits)]])
    first, mine = run.program.first[task], np.flatnonzero(alone)
    at = TimeLines(task[mine], end[mine]).latest(task[mine], start[mine])
    before = np.full(len(edge), -1)
    before[mine] = np.where(at >= 0, mine[np.maximum(at, 0)], -1) if len(mine) else at
    construct = of.trace.time[table.row[row]] - run.begin
    asked = np.where(begin > first, np.maximum(run.time[np.maximum(begin - 1, 0)], construct), start)
    asked[mine] = np.where(before >= 0, end[np.maximum(before, 0)], run.time[first])[mine] if len(mine) else 0
    _, sort = np.unique(table.device[row] << 1 | table.is_kernel[row], return_inverse=True)
    return _Operations(edge, begin, waits.sink[edge], task, sort.ravel(), start, end, np.minimum(asked, start),
                       np.full(len(edge), -1), alone, before)  # fmt: skip


def _off_thread(waits: Waits) -> np.ndarray:
    """Rows that say how long a task took that no thread ran."""
    return np.flatnonzero((waits.kind == kinds.WORK) & (waits.group == CALL))


def _most_at_once(found: _Operations) -> np.ndarray:
    """By sort, in the recording. Fills `freed`."""
    most = np.ones(int(found.sort.max()) + 1, dtype=np.int64)
    for sort in range(len(most)):
        mine = np.flatnonzero(found.sort == sort)
        start = found.start[mine]
        starts, ends = np.sort(start), np.sort(found.end[mine])
        ended = np.searchsorted(ends, start, side="right")
        most[sort] = max(1, int((np.searchsorted(starts, start, side="right") - ended).max()))
        last = ends[np.maximum(ended - 1, 0)]
        busy = np.searchsorted(starts, last) - np.searchsorted(ends, last)
        found.freed[mine] = np.where((ended > 0) & (busy >= most[sort]), last, -1)
    return most


def _work(run: Model, found: _Operations, waited: np.ndarray) -> np.ndarray:
    """By point of the program, without the time in which a task waited for a full device."""
    work = run.program.work.copy()
    some = waited & ~found.alone
    piece = found.begin[some] - 1
    work[piece] = np.minimum(work[piece], found.asked[some] - run.time[piece])
    return work


def _waits(run: Model, found: _Operations, waited: np.ndarray) -> Waits:
    """A task waits for its operations, which wait for the task to come to them; a task that no thread ran waits at its
    end for all of them."""
    at = len(run.time) + 2 * np.arange(len(found.edge))
    first, last = run.program.first[found.task], run.program.first[found.task + 1] - 1
    source = np.where(found.alone, np.where(found.before >= 0, at[found.before] + 1, first), found.begin)
    delay = np.where(found.alone & ~waited, found.start - found.asked, 0)
    rest = np.where(found.alone, run.time[last] - found.end, 0)
    final = np.full(len(run.id), np.iinfo(np.int64).max)
    np.minimum.at(final, found.task, rest)
    kept = np.ones(len(run.waits.source), dtype=bool)
    kept[found.edge] = False
    off = _off_thread(run.waits)
    kept[off[np.isin(run.task_of[run.waits.source[off]], found.task)]] = False
    ends = Waits(at + 1, np.where(found.alone, last, found.finish), np.where(rest == final[found.task], rest, 0),
                 np.full(len(at), CALL), np.full(len(at), kinds.DEVICE, dtype=np.int8))  # fmt: skip
    begins = Waits(source, at, delay, ends.group, ends.kind)
    return run.waits.take(kept).joined(begins, ends)
