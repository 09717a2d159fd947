# SPDX-License-Identifier: Apache-2.0
"""What the records mean: tasks, who ran where and when, suspensions, MPI calls, messages, dependences.

Each function turns the records of a Trace into one table (a dataclass of equally long arrays) with array operations
only. The virtual scheduler is `segments`: a thread runs a task from the record that brings the task to it up to the
next record that takes the thread elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .events import CALL_NUMBER
from .reader import TASK_BITS, Trace

# ompt_task_status_t (OpenMP 5.1, 4.4.4.19)
COMPLETE, YIELD, CANCEL, DETACH, EARLY_FULFILL, LATE_FULFILL, SWITCH = range(1, 8)
# ompt_task_flag_t as the recorder packs it: kind in bits 0-7, properties from bit 8
EXPLICIT, TASKWAIT = 0x04, 0x10
UNDEFERRED, UNTIED = 0x08 << 8, 0x10 << 8

_THREAD_BASE = np.uint64((1 << 32) - 1)


@dataclass
class Tasks:
    """Explicit tasks, sorted by id. `end` is -1 for a task that had not completed, `start` for one that never ran."""

    id: np.ndarray
    parent: np.ndarray
    code: np.ndarray
    flags: np.ndarray
    created: np.ndarray
    start: np.ndarray
    end: np.ndarray
    running: np.ndarray  # ns in segments
    label: np.ndarray  # key of `texts`, 0: none
    color: np.ndarray  # 0xRRGGBB, 0: none
    texts: dict[int, str]

    def index(self, ids: np.ndarray) -> np.ndarray:
        """Row of each id, or -1."""
        if not len(self.id):
            return np.full(len(ids), -1)
        rows = np.minimum(np.searchsorted(self.id, ids), len(self.id) - 1)
        return np.where(self.id[rows] == ids, rows, -1)


@dataclass
class Segments:
    """Task `task` was on (rank, thread) during [start, end); `waits` where it only waited there (barrier, taskwait)."""

    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray
    start: np.ndarray
    end: np.ndarray
    waits: np.ndarray


@dataclass
class Suspensions:
    """Explicit task `task`, once begun, was on no thread during [start, end). `call`: row of the MPI call it was in, or
    -1."""

    task: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    call: np.ndarray


@dataclass
class Calls:
    """MPI calls, by task and time. `peer` as given, `source`/`received_tag` as the call's end said; `comm` as
    numbered by the rank; `returned` is False for a call under way when the trace ended."""

    call: np.ndarray
    task: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_thread: np.ndarray
    end_thread: np.ndarray
    peer: np.ndarray
    tag: np.ndarray
    source: np.ndarray
    received_tag: np.ndarray
    comm: np.ndarray
    bytes: np.ndarray
    returned: np.ndarray
    enter_row: np.ndarray  # row of the enter record in the trace


def _lanes(trace: Trace) -> np.ndarray:
    return trace.rank.astype(np.uint32) << np.uint32(16) | trace.thread


def segments(trace: Trace) -> Segments:
    """The virtual scheduler."""
    task_after = np.zeros(len(trace.time), dtype=np.uint64)
    is_switch = np.zeros(len(trace.time), dtype=bool)
    schedule = trace.select("task_schedule")
    following = trace.global_task(schedule, trace.field("task_schedule", "next", schedule))
    # No next task: an event that moves no thread (a detached task's fulfilment, a taskwait's own end).
    task_after[schedule], is_switch[schedule] = following, following != 0
    # The ends of a wait lead nowhere else, but what follows is another state of the same task.
    for name in ("implicit_begin", "parallel_end", "wait_begin", "wait_end"):
        rows = trace.select(name)
        task_after[rows], is_switch[rows] = trace.task[rows], True
    for name in ("implicit_end", "thread_end"):
        is_switch[trace.select(name)] = True
    rows = np.flatnonzero(is_switch)
    lane = _lanes(trace)
    last_of_lane = np.searchsorted(lane[rows], lane[rows], side="right") - 1
    lane_end = trace.time[np.searchsorted(lane, lane[rows], side="right") - 1]
    index = np.arange(len(rows))
    end = np.where(index == last_of_lane, lane_end, trace.time[np.roll(rows, -1)])
    task = task_after[rows]
    # A thread's own id (outside of any task) and "none" are no segments.
    inside = (task & _THREAD_BASE != 0) & (end > trace.time[rows])
    rows, end, task = rows[inside], end[inside], task[inside]
    start = trace.time[rows]
    return Segments(task, trace.rank[rows], trace.thread[rows], start, end, _waiting(trace, task, start))


def _waiting(trace: Trace, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """True where `task` was between wait_begin and wait_end at `time`."""
    begins, ends = trace.select("wait_begin"), trace.select("wait_end")
    events = np.concatenate([begins, ends])
    depth = np.concatenate([np.ones(len(begins)), -np.ones(len(ends)), np.zeros(len(task))])
    keys = np.concatenate([trace.task[events], task])
    times = np.concatenate([trace.time[events], time])
    order = np.lexsort((np.arange(len(keys)), times, keys))
    level = np.cumsum(depth[order])
    # Depth is counted per task: take off what the tasks before left over.
    starts = np.flatnonzero(np.r_[True, keys[order][1:] != keys[order][:-1]]) if len(keys) else np.zeros(0, dtype=int)
    before = np.r_[0, level[starts[1:] - 1]] if len(starts) else np.zeros(0)
    level -= np.repeat(before, np.diff(np.r_[starts, len(keys)]))
    result = np.empty(len(keys))
    result[order] = level
    return result[len(events):] > 0


def texts(trace: Trace) -> dict[int, str]:
    """Label texts by id: a text's pieces follow one another in its thread's stream, up to the one with the NUL."""
    rows = trace.select("text")
    pieces = np.ascontiguousarray(trace.payload[rows]).view("S16").ravel()
    found: dict[int, str] = {}
    text = b""
    for task, piece in zip((trace.task[rows] & np.uint64((1 << TASK_BITS) - 1)).tolist(), pieces.tolist()):
        text += piece
        if len(piece) < 16:
            found[task] = text.decode(errors="replace")
            text = b""
    return found


def tasks(trace: Trace, runs: Segments) -> Tasks:
    """All explicit tasks with what is known of them."""
    created = trace.select("task_create")
    flags = trace.field("task_create", "flags", created)
    order = np.argsort(trace.task[created], kind="stable")
    created, flags = created[order], flags[order]
    table = Tasks(
        id=trace.task[created],
        parent=trace.global_task(created, trace.field("task_create", "parent", created)),
        code=trace.field("task_create", "code", created),
        flags=flags,
        created=trace.time[created],
        start=np.full(len(created), -1, dtype=np.int64),
        end=np.full(len(created), -1, dtype=np.int64),
        running=np.zeros(len(created), dtype=np.int64),
        label=np.zeros(len(created), dtype=np.uint64),
        color=np.zeros(len(created), dtype=np.uint32),
        texts=texts(trace),
    )
    _fill_times(table, trace, runs)
    labels = trace.select("task_label")
    where = table.index(trace.task[labels])
    table.label[where[where >= 0]] = trace.field("task_label", "text", labels)[where >= 0]
    table.color[where[where >= 0]] = trace.field("task_label", "color", labels)[where >= 0]
    return table


def _fill_times(table: Tasks, trace: Trace, runs: Segments) -> None:
    where = table.index(runs.task)
    mine = where >= 0
    first = np.full(len(table.id), np.iinfo(np.int64).max)
    np.minimum.at(first, where[mine], runs.start[mine])
    table.start[:] = np.where(first == np.iinfo(np.int64).max, -1, first)
    active = mine & ~runs.waits
    np.add.at(table.running, where[active], (runs.end - runs.start)[active])
    schedule = trace.select("task_schedule")
    status = trace.field("task_schedule", "status", schedule)
    # A detached task ends with its event's fulfilment if that comes late, with its body otherwise. A status above
    # `switch` is the completion of a taskwait with dependences, which runs no body.
    ends = schedule[np.isin(status, (COMPLETE, CANCEL, LATE_FULFILL)) | (status > SWITCH)]
    where = table.index(trace.task[ends])
    np.maximum.at(table.end, where[where >= 0], trace.time[ends][where >= 0])


def mpi_calls(trace: Trace) -> Calls:
    """Enter and exit joined: per task they alternate, on whichever threads."""
    enters, exits = trace.select("mpi_enter"), trace.select("mpi_exit")
    rows = np.concatenate([enters, exits])
    is_exit = np.arange(len(rows)) >= len(enters)
    order = np.lexsort((is_exit, trace.time[rows], trace.task[rows]))
    rows, is_exit = rows[order], is_exit[order]
    first = np.flatnonzero(~is_exit)
    following = np.minimum(first + 1, len(rows) - 1)
    enter = rows[first]
    returned = is_exit[following] & (trace.task[rows[following]] == trace.task[enter])
    leave = np.where(returned, rows[following], enter)
    last_time = int(trace.time.max())
    return Calls(
        call=trace.field("mpi_enter", "call", enter),
        task=trace.task[enter],
        rank=trace.rank[enter],
        start=trace.time[enter],
        end=np.where(returned, trace.time[leave], last_time),
        start_thread=trace.thread[enter],
        end_thread=trace.thread[leave],
        peer=trace.field("mpi_enter", "peer", enter),
        tag=trace.field("mpi_enter", "tag", enter),
        source=trace.field("mpi_exit", "peer", leave),
        received_tag=trace.field("mpi_exit", "tag", leave),
        comm=trace.field("mpi_enter", "comm", enter),
        bytes=np.where(returned, trace.field("mpi_exit", "bytes", leave), trace.field("mpi_enter", "bytes", enter)),
        returned=returned,
        enter_row=enter,
    )


def suspensions(table: Tasks, runs: Segments, calls: Calls) -> Suspensions:
    """Gaps between the segments of explicit tasks, each with the MPI call that caused it, if one did."""
    explicit = table.index(runs.task) >= 0
    task, start, end, rank = runs.task[explicit], runs.start[explicit], runs.end[explicit], runs.rank[explicit]
    order = np.lexsort((start, task))
    task, start, end, rank = task[order], start[order], end[order], rank[order]
    gap = np.flatnonzero((task[1:] == task[:-1]) & (start[1:] > end[:-1])) if len(task) else np.zeros(0, dtype=int)
    found = Suspensions(task[gap], rank[gap], end[gap], start[gap + 1], np.full(len(gap), -1))
    found = _add_unfinished(found, table, runs, task, end, rank)
    found.call = _call_at(calls, found.task, found.start)
    return found


def _add_unfinished(
    found: Suspensions, table: Tasks, runs: Segments, task: np.ndarray, end: np.ndarray, rank: np.ndarray
) -> Suspensions:
    """Tasks that were still suspended when the trace ended: suspended from their last segment on."""
    if not len(task):
        return found
    last = np.flatnonzero(np.r_[task[1:] != task[:-1], True])
    trace_end = int(runs.end.max())
    open_end = last[(table.end[table.index(task[last])] < 0) & (end[last] < trace_end)]
    return Suspensions(
        np.concatenate([found.task, task[open_end]]),
        np.concatenate([found.rank, rank[open_end]]),
        np.concatenate([found.start, end[open_end]]),
        np.concatenate([found.end, np.full(len(open_end), trace_end)]),
        np.full(len(found.task) + len(open_end), -1),
    )


def _call_at(calls: Calls, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Row of the call that each task was in at that time, or -1. `calls` is sorted by task and start."""
    keys = np.concatenate([calls.task, task])
    times = np.concatenate([calls.start, time])
    is_query = np.arange(len(keys)) >= len(calls.task)
    order = np.lexsort((is_query, times, keys))
    latest = np.maximum.accumulate(np.where(is_query[order], -1, order)) if len(keys) else np.zeros(0, dtype=int)
    row = np.empty(len(keys), dtype=np.int64)
    row[order] = latest
    row = row[len(calls.task):]
    safe = np.maximum(row, 0)
    inside = (row >= 0) & (calls.task[safe] == task) & (calls.end[safe] >= time) if len(calls.task) else row >= 0
    return np.where(inside, row, -1)


def call_mask(calls: Calls, *names: str) -> np.ndarray:
    """True for the calls with one of these names."""
    return np.isin(calls.call, [CALL_NUMBER[name] for name in names])
