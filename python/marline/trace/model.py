# SPDX-License-Identifier: Apache-2.0
"""What the records mean: tasks, who ran where and when, suspensions.

Each function turns the records of a Trace into one table (a dataclass of equally long arrays) with array operations
only. The virtual scheduler is `segments`: a thread runs a task from the record that brings the task to it up to the
next record that takes the thread elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .read.calls import Calls, call_at, cycles_per_ns
from .read.columns import TimeLines, find
from .read.records import TASK_BITS, Trace
from .native_base import count_less

# ompt_task_status_t (OpenMP 5.1, 4.4.4.19); 8, taskwait_complete, came with 5.1 too but runs no body
COMPLETE, YIELD, CANCEL, DETACH, EARLY_FULFILL, LATE_FULFILL, SWITCH = range(1, 8)
# ompt_task_flag_t (4.4.4.18) as the recorder packs it: kind in bits 0-7, properties from bit 8
INITIAL, IMPLICIT, EXPLICIT, TASKWAIT = 0x01, 0x02, 0x04, 0x10
UNDEFERRED, UNTIED = 0x08 << 8, 0x10 << 8
# ompt_mutex_t (4.4.4.17): calls that try for a lock and never wait
_TRY_LOCKS = (2, 4)

THREAD_BASE = np.uint64((1 << 32) - 1)  # of an id: 0 there is a thread outside of any task


@dataclass
class Tasks:
    """Explicit tasks, sorted by id. `end` is -1 for a task that had not completed, `start` for one that never ran."""

    id: np.ndarray
    parent: np.ndarray
    code: np.ndarray
    flags: np.ndarray
    record: np.ndarray  # row of the record of its creation
    created: np.ndarray  # when
    start: np.ndarray
    end: np.ndarray
    running: np.ndarray  # ns in segments
    label: np.ndarray  # key of `texts`, 0: none
    color: np.ndarray  # 0xRRGGBB, 0: none
    creation: np.ndarray  # ns that the creation took, from `created` on, with what ran meanwhile; 0: not known
    texts: dict[int, str]

    def index(self, ids: np.ndarray) -> np.ndarray:
        """Row of each id, or -1."""
        return find(self.id, ids)

    @property
    def rank(self) -> np.ndarray:
        """The rank of each task."""
        return (self.id >> np.uint64(TASK_BITS)).astype(np.int64)

    @property
    def deferred(self) -> np.ndarray:
        """True for tasks that wait in a queue: neither undeferred nor the empty task of a taskwait's dependences."""
        return (self.flags & (UNDEFERRED | TASKWAIT)) == 0


@dataclass
class Segments:
    """Task `task` was on (rank, thread) during [start, end); `waits` where it only waited there (barrier, taskwait,
    lock). By rank, thread and time; entries of one thread never overlap."""

    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray
    start: np.ndarray
    end: np.ndarray
    waits: np.ndarray

    @property
    def lane(self) -> np.ndarray:
        """One number for rank and thread."""
        return lane_number(self.rank, self.thread)


@dataclass
class Suspensions:
    """Explicit task `task`, once begun, was on no thread during [start, end). `call`: row of the MPI call it was in, or
    -1. `ready`: when it could go on; `end` where the runtime did not tell (`told`)."""

    task: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    call: np.ndarray
    ready: np.ndarray
    told: np.ndarray


def lane_number(rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """Rank and thread in one number that sorts as they do."""
    return rank.astype(np.int64) << 16 | thread


@dataclass
class _Points:
    """At `time` the thread of `row` goes over to `task` (0: to none)."""

    row: np.ndarray
    time: np.ndarray
    task: np.ndarray


def segments(trace: Trace) -> Segments:
    """The virtual scheduler."""
    points = _switch_points(trace)
    lane = lane_number(trace.rank[points.row], trace.thread[points.row])
    points, lane = _in_time_order(points, lane)
    last = np.r_[lane[1:] != lane[:-1], np.ones(min(len(lane), 1), dtype=bool)]
    end = np.r_[points.time[1:], points.time[:1]]
    end[last] = trace.time[np.searchsorted(lane_number(trace.rank, trace.thread), lane[last], side="right") - 1]
    # A thread's own id (outside of any task) and "none" are no segments.
    kept = (points.task & THREAD_BASE != 0) & (end > points.time)
    row, task, start = points.row[kept], points.task[kept], points.time[kept]
    return Segments(task, trace.rank[row], trace.thread[row], start, end[kept], _waiting(trace, row, task, start))


def _switch_points(trace: Trace) -> _Points:
    """In the order of the records; a task_run stands for two, its start first."""
    task_after = np.zeros(len(trace.time), dtype=np.uint64)
    points = np.zeros(len(trace.time), dtype=np.uint8)  # how many each record stands for
    schedule = trace.select("task_schedule")
    following = trace.global_task(schedule, trace.field("task_schedule", "next", schedule))
    # No next task: an event that moves no thread (a detached task's fulfilment, a taskwait's own end).
    task_after[schedule], points[schedule] = following, following != 0
    # The ends of a wait lead nowhere else, but what follows is another state of the same task.
    for name in ("implicit_begin", "parallel_end", "wait_begin", "wait_end", "recording_on"):
        rows = trace.select(name)
        task_after[rows], points[rows] = trace.task[rows], 1
    for rows in lock_waits(trace):
        task_after[rows], points[rows] = trace.task[rows], 1
    for name in ("implicit_end", "thread_end", "recording_off"):
        points[trace.select(name)] = 1
    runs = trace.select("task_run")
    task_after[runs] = trace.global_task(runs, trace.field("task_run", "outer", runs))
    points[runs] = 2
    row = np.repeat(np.arange(len(points)), points)
    time, task = trace.time[row], task_after[row]
    begun = count_less(row, runs)
    time[begun], task[begun] = trace.field("task_run", "start", runs).view(np.int64), trace.task[runs]
    return _Points(row, time, task)


def _in_time_order(points: _Points, lane: np.ndarray) -> tuple[_Points, np.ndarray]:
    """Records are in order already; only what a whole run encloses (its locks) stands before the run's start."""
    if not np.any((points.time[1:] < points.time[:-1]) & (lane[1:] == lane[:-1])):
        return points, lane
    order = np.lexsort((points.time, lane))
    return _Points(points.row[order], points.time[order], points.task[order]), lane[order]


def lock_waits(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Rows of mutex_acquire and mutex_acquired where a task waits for a lock, critical region or the like. A task that
    takes a nestable lock again has no second record of having it, and has not waited."""
    if trace.lock_waits is None:
        trace.lock_waits = _find_lock_waits(trace)
    return trace.lock_waits


def _find_lock_waits(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    acquire, acquired = (
        rows[~np.isin(trace.field(name, "kind", rows), _TRY_LOCKS)]
        for name, rows in ((name, trace.select(name)) for name in ("mutex_acquire", "mutex_acquired"))
    )
    rows = np.r_[acquire, acquired, trace.select("mutex_released")]
    order = np.lexsort((rows, trace.time[rows], trace.task[rows]))
    is_end = (order >= len(acquire)) & (order < len(acquire) + len(acquired))
    task = trace.task[rows[order]]
    # Else the next record of the task is another one; the last record of the trace may lack because it was cut.
    served = np.r_[is_end[1:] | (task[1:] != task[:-1]), np.ones(min(len(rows), 1), dtype=bool)]
    kept = np.zeros(len(rows), dtype=bool)
    kept[order] = served
    return acquire[kept[: len(acquire)]], acquired


def waits_for_lock(trace: Trace, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Of tasks that wait from these times on: whether it is for a lock, as the last record before says."""
    waits, locks = trace.select("wait_begin"), lock_waits(trace)[0]
    events = np.r_[waits, locks]
    at = TimeLines(trace.task[events], trace.time[events]).latest(task, time) if len(events) else np.full(len(task), -1)
    return at >= len(waits)


def _waiting(trace: Trace, row: np.ndarray, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """True where `task` waits from `time` on, when record `row` brought it there: as that record says if it is about
    waiting, else as the last one of the task that was."""
    acquire, acquired = lock_waits(trace)
    begins, ends = (np.concatenate(pair) for pair in ((trace.select("wait_begin"), acquire),
                                                      (trace.select("wait_end"), acquired)))  # fmt: skip
    says = np.zeros(len(trace.time), dtype=np.int8)
    says[begins], says[ends] = 1, -1
    waits = says[row] > 0
    asked = np.flatnonzero(says[row] == 0)
    events = np.flatnonzero(says)
    if len(events):
        at = TimeLines(trace.task[events], trace.time[events]).latest(task[asked], time[asked])
        waits[asked] = (at >= 0) & (says[events[np.maximum(at, 0)]] > 0)
    return waits


def texts(trace: Trace) -> dict[int, str]:
    """Label texts by id, which has the rank in it as tasks' ids do: a text's pieces follow one another in its thread's
    stream, up to the one with the NUL."""
    rows = trace.select("text")
    pieces = np.ascontiguousarray(trace.payload[rows]).view("S16").ravel()
    found: dict[int, str] = {}
    text = b""
    for task, piece in zip(trace.task[rows].tolist(), pieces.tolist()):
        text += piece
        if len(piece) < 16:
            found[task] = text.decode(errors="replace")
            text = b""
    return found


def tasks(trace: Trace, runs: Segments) -> Tasks:
    """All explicit tasks with what is known of them."""
    created = trace.select("task_create")
    flags = trace.field("task_create", "flags", created)
    # libomp also announces the tasks that are no explicit ones.
    created, flags = (column[(flags & (INITIAL | IMPLICIT)) == 0] for column in (created, flags))
    order = np.argsort(trace.task[created], kind="stable")
    created, flags = created[order], flags[order]
    table = Tasks(
        id=trace.task[created],
        parent=trace.global_task(created, trace.field("task_create", "parent", created)),
        code=trace.field("task_create", "code", created),
        flags=flags,
        record=created,
        created=trace.time[created],
        start=np.full(len(created), -1, dtype=np.int64),
        end=np.full(len(created), -1, dtype=np.int64),
        running=np.zeros(len(created), dtype=np.int64),
        label=np.zeros(len(created), dtype=np.uint64),
        color=np.zeros(len(created), dtype=np.uint32),
        creation=_creation_times(trace, created),
        texts=texts(trace),
    )
    _fill_times(table, trace, runs)
    labels = trace.select("task_label")
    where = table.index(trace.task[labels])
    labels, where = labels[where >= 0], where[where >= 0]
    table.label[where] = trace.global_task(labels, trace.field("task_label", "text", labels))
    table.color[where] = trace.field("task_label", "color", labels)
    return table


def _creation_times(trace: Trace, rows: np.ndarray) -> np.ndarray:
    mantissa, exponent = (trace.field("task_create", name, rows).astype(np.int64) for name in ("mantissa", "exponent"))
    return np.rint((mantissa << exponent) / cycles_per_ns(trace)[trace.rank[rows]]).astype(np.int64)


def _fill_times(table: Tasks, trace: Trace, runs: Segments) -> None:
    schedule, whole = trace.select("task_schedule"), trace.select("task_run")
    following = trace.global_task(schedule, trace.field("task_schedule", "next", schedule))
    never = np.iinfo(np.int64).max
    first = np.full(len(table.id), never)
    _update(np.minimum, first, table.index(following), trace.time[schedule])
    runs_of = table.index(trace.task[whole])
    _update(np.minimum, first, runs_of, trace.field("task_run", "start", whole).view(np.int64))
    table.start[:] = np.where(first == never, -1, first)
    active = ~runs.waits
    _update(np.add, table.running, table.index(runs.task[active]), (runs.end - runs.start)[active])
    status = trace.field("task_schedule", "status", schedule)
    # A detached task ends with its event's fulfilment if that comes late, with its body otherwise. A status above
    # `switch` is the completion of a taskwait with dependences, which runs no body.
    ends = schedule[np.isin(status, (COMPLETE, CANCEL, LATE_FULFILL)) | (status > SWITCH)]
    _update(np.maximum, table.end, table.index(trace.task[ends]), trace.time[ends])
    _update(np.maximum, table.end, runs_of, trace.time[whole])
    # No thread was in view that could have turned to it: a target task that was sent to its device ahead of time.
    unseen = (table.start < 0) & (table.end >= 0) & ((table.flags & TASKWAIT) == 0)
    table.start[unseen] = table.end[unseen]


def _update(operation: np.ufunc, target: np.ndarray, where: np.ndarray, values: np.ndarray) -> None:
    known = where >= 0
    operation.at(target, where[known], values[known])


def suspensions(trace: Trace, table: Tasks, runs: Segments, calls: Calls,
                owners: np.ndarray | None = None) -> Suspensions:  # fmt: skip
    """Gaps between the segments of explicit tasks, each with the MPI call that caused it, if one did. `owners`: the
    row of each segment's task, if known already."""
    where = table.index(runs.task) if owners is None else owners
    explicit = np.flatnonzero(where >= 0)
    pieces = np.bincount(where[explicit], minlength=len(table.id))
    # Most tasks run in one piece to their end: leave them out before anything is sorted.
    kept = explicit[((pieces > 1) | (table.end < 0))[where[explicit]]]
    task, start, end, rank = runs.task[kept], runs.start[kept], runs.end[kept], runs.rank[kept]
    order = np.lexsort((start, task))
    task, start, end, rank = task[order], start[order], end[order], rank[order]
    gap = np.flatnonzero((task[1:] == task[:-1]) & (start[1:] > end[:-1]))
    task, start, end, rank = _add_unfinished((task[gap], end[gap], start[gap + 1], rank[gap]), table, runs, task, end,
                                             rank)  # fmt: skip
    ready, told = _ready_times(trace, task, start, end)
    return Suspensions(task, rank, start, end, call_at(calls, task, start), ready, told)


def _ready_times(trace: Trace, task: np.ndarray, start: np.ndarray,
                 end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(when each could go on, whether the runtime told it): its task's first task_ready from `start` to `end`."""
    rows = trace.select("task_ready")
    first = TimeLines(trace.task[rows], -trace.time[rows]).latest(task, -start)
    time = trace.time[rows][first] if len(rows) else end
    told = (first >= 0) & (time <= end)
    return np.where(told, time, end), told


def _add_unfinished(
    gaps: tuple[np.ndarray, ...], table: Tasks, runs: Segments, task: np.ndarray, end: np.ndarray, rank: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Tasks that were still suspended when the trace ended: suspended from their last segment on."""
    if not len(task):
        return gaps
    last = np.flatnonzero(np.r_[task[1:] != task[:-1], True])
    trace_end = int(runs.end.max())
    open_end = last[(table.end[table.index(task[last])] < 0) & (end[last] < trace_end)]
    more = (task[open_end], end[open_end], np.full(len(open_end), trace_end), rank[open_end])
    return tuple(map(np.concatenate, zip(gaps, more)))


@dataclass
class Gaps:
    """Recording was off on (rank, thread) during [start, end)."""

    rank: np.ndarray
    thread: np.ndarray
    start: np.ndarray
    end: np.ndarray


def recording_gaps(trace: Trace) -> Gaps:
    """From each recording_off to the thread's next record, or to its last one if none follows."""
    off = trace.select("recording_off")
    following = np.minimum(off + 1, len(trace.time) - 1)
    lane = lane_number(trace.rank, trace.thread)
    same = lane[following] == lane[off]
    end = np.where(same, trace.time[following], trace.time[off])
    return Gaps(trace.rank[off], trace.thread[off], trace.time[off], end)
