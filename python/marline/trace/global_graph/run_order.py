# SPDX-License-Identifier: Apache-2.0
"""Points and edges of what ordered this run, and not the program: who held a lock that a task waited for, who let a
suspended task go on, and what ran on the thread of a task that creates others (throttling).

Such edges say what came last of all that was waited for. No path counts on them: in another run another task may have
the lock first, and a task that was let go on by a thread that looked for it owes that thread's task nothing."""

from __future__ import annotations

import numpy as np

from ..model import THREAD_BASE, Segments, Suspensions, Tasks
from ..model import lock_waits as rows_of_locks
from ..read.columns import TimeLines, distinct, find, group_starts
from ..read.records import Trace
from . import edges as kinds
from . import points as what
from .edges import EdgeList
from .points import PointList



def add_locks(trace: Trace, points: PointList, edges: EdgeList) -> None:
    """Locks, critical regions and `ordered`: from where a task lets go to where the next one has it, if that one had
    asked for it before. The record of letting go is written afterwards, so it may be later than the next one's."""
    rows, released = trace.select("mutex_acquired"), trace.select("mutex_released")
    if not len(rows) or not len(released):
        return
    lock, lock_released = _locks(trace, rows, released)
    order = np.lexsort((trace.time[rows], lock))
    rows, lock = rows[order], lock[order]
    time, task = trace.time[rows], trace.task[rows]
    end = _let_go(trace, rows, lock, released, lock_released)
    first = group_starts(lock)
    before = np.where(first, -1, np.arange(len(rows)) - 1)  # who had it before
    asked = rows_of_locks(trace)[0]
    request = TimeLines(trace.task[asked], trace.time[asked]).latest(task, time)
    waited = (before >= 0) & (request >= 0) & (task != task[before]) & (end[before] >= 0)
    waited[waited] = trace.time[released[end[before[waited]]]] > trace.time[asked[request[waited]]]
    until = np.where(end >= 0, trace.time[released[end]], -1)
    until[before[waited]] = np.minimum(until[before[waited]], time[waited])
    has, lets_go = np.full(len(rows), -1), np.full(len(rows), -1)
    counts = waited.copy()
    counts[before[waited]] = True
    whole, open_end = np.flatnonzero(counts & (end >= 0)), np.flatnonzero(counts & (end < 0))
    has[whole] = points.add(what.LOCKED, task[whole], time[whole], rows[whole])
    lets_go[whole] = points.add(what.UNLOCKED, task[whole], until[whole], released[end[whole]])
    has[open_end] = points.add(what.SYNC_END, task[open_end], time[open_end], rows[open_end])
    edges.add(kinds.LOCK, lets_go[before[waited]], has[waited])


def _locks(trace: Trace, rows: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the locks of rank and address."""
    names = trace.field("mutex_acquired", "wait_id", rows), trace.field("mutex_released", "wait_id", released)
    known = distinct(np.concatenate(names))
    return tuple(trace.rank[some].astype(np.int64) * len(known) + np.searchsorted(known, name)
                 for some, name in zip((rows, released), names))  # fmt: skip


def _let_go(trace: Trace, rows: np.ndarray, lock: np.ndarray, released: np.ndarray,
            lock_released: np.ndarray) -> np.ndarray:  # fmt: skip
    """For each row, which of `released` follows it in the same task and lock, or -1."""
    tasks = distinct(trace.task[rows])
    count = max(int(lock.max()), int(lock_released.max())) + 1
    key = np.searchsorted(tasks, trace.task[rows]) * count + lock
    # A task may have got its lock before the trace began.
    task = find(tasks, trace.task[released])
    known = np.flatnonzero(task >= 0)
    if not len(known):
        return np.full(len(rows), -1, dtype=np.int64)
    end = TimeLines(task[known] * count + lock_released[known], -trace.time[released[known]])
    at = end.latest(key, -trace.time[rows])
    return np.where(at >= 0, known[np.maximum(at, 0)], -1)


def add_wake_ups(trace: Trace, runs: Segments, suspensions: Suspensions, ready: np.ndarray, points: PointList,
                 edges: EdgeList) -> None:  # fmt: skip
    """Of tasks that were suspended for an event or a lock: from the task that let them go on, if that task ran then.
    Messages, children and barriers have edges of their own. `ready`: points where suspended tasks could go on."""
    rows = trace.select("task_ready")
    some = np.flatnonzero((suspensions.call < 0) & suspensions.told & ~_in_construct(trace, suspensions))
    if not len(rows) or not len(some):
        return
    task, start = suspensions.task[some], suspensions.start[some]
    row = rows[TimeLines(trace.task[rows], -trace.time[rows]).latest(task, -start)]
    by, time = trace.global_task(row, trace.field("task_ready", "by", row)), suspensions.ready[some]
    active = np.flatnonzero(~runs.waits)
    at = TimeLines(runs.task[active], runs.start[active]).latest(by, time)
    ran = (at >= 0) & (by != task) & (by & THREAD_BASE != 0)
    ran[ran] = runs.end[active[at[ran]]] >= time[ran]
    let = points.add(what.FULFIL, by[ran], time[ran], row[ran])
    for_lock = _latest_is_first(trace, rows_of_locks(trace), task[ran], start[ran])
    for kind, chosen in ((kinds.LOCK, for_lock), (kinds.EVENT, ~for_lock)):
        edges.add(kind, let[chosen], ready[some[ran]][chosen])


def _in_construct(trace: Trace, suspensions: Suspensions) -> np.ndarray:
    """Whether each suspended task waited in a taskwait, taskgroup or barrier."""
    pair = trace.select("wait_begin"), trace.select("wait_end")
    return _latest_is_first(trace, pair, suspensions.task, suspensions.start)


def _latest_is_first(trace: Trace, pair: tuple[np.ndarray, np.ndarray], task: np.ndarray,
                     time: np.ndarray) -> np.ndarray:  # fmt: skip
    """Whether the last event of each task up to a time, of both kinds, is of the first kind."""
    events = np.concatenate(pair)
    at = TimeLines(trace.task[events], trace.time[events]).latest(task, time)
    return (at >= 0) & (at < len(pair[0]))


def add_returns(tasks: Tasks, runs: Segments, back: np.ndarray, points: PointList) -> None:
    """Where a task that creates others has its thread back, after that ran one of them: rows `back` of segments. An
    explicit task was suspended meanwhile, and has its points already."""
    back = back[tasks.index(runs.task[back]) < 0]
    points.add(what.BACK, runs.task[back], runs.start[back], what.FIRST)


def holds_lock(points: what.Points) -> np.ndarray:
    """By point: whether its task has, from there on, a lock that another one waited for."""
    step = np.where(points.what == what.LOCKED, 1, np.where(points.what == what.UNLOCKED, -1, 0))
    return np.cumsum(step) > 0
