# SPDX-License-Identifier: Apache-2.0
"""What can keep a rank without ready tasks, beside messages, dependences and creation: intervals of time for `states`.

- `device_spans`: a device of the rank ran a kernel, copied, or did upkeep.
- `throttled`: the thread of a task that still has tasks to create ran a deferred task instead, though nothing made the
  creator wait. This is what throttling does (docs/design/throttling.md), and what taskyield does. A creator that waits
  inside of the runtime until there is room looks as if it created all the while.
- `lock_waits`: a task waited for a lock, a critical region or the like.
- `exclusions`: of a mutexinoutset generation, all members that are ready exclude each other, so none is ready while one
  runs: `closed` is when members that could start otherwise wait for one that runs, `open` when one of them can start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...graph import exclusive_sets
from ...model import Segments
from ...model import lock_waits as rows_of_locks
from ...read.calls import call_at
from ...read.columns import TimeLines, distinct, find, group_starts
from ...registry import Analysis, analysis_pass
from ..devices import WAIT

NEVER = np.iinfo(np.int64).max


@dataclass
class Spans:
    """Intervals of time on ranks."""

    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray


@dataclass
class Throttled(Spans):
    """`back`: rows of segments, where the creators go on."""

    back: np.ndarray


@analysis_pass("device_spans", needs=("devices",))
def device_spans(of: Analysis) -> Spans:
    """When devices of a rank worked."""
    devices = of["devices"]
    works = np.flatnonzero(devices.what != WAIT)
    return Spans(devices.rank[works], devices.start[works], devices.end[works])


@dataclass
class LockWaits(Spans):
    """`row`: the records of the requests."""

    row: np.ndarray


@analysis_pass("lock_waits")
def lock_waits(of: Analysis) -> LockWaits:
    """When tasks waited for locks: from the request to the next time that the same task has a lock."""
    trace = of.trace
    acquire, acquired = rows_of_locks(trace)
    following = TimeLines(trace.task[acquired], -trace.time[acquired]).latest(trace.task[acquire], -trace.time[acquire])
    acquire, following = acquire[following >= 0], following[following >= 0]
    return LockWaits(trace.rank[acquire], trace.time[acquire], trace.time[acquired[following]], acquire)


@analysis_pass("throttled", needs=("tasks", "segments", "calls", "owners", "producers"))
def throttled(of: Analysis) -> Throttled:
    """When a creator's thread ran another task: from the creator's piece of code to its next one. After its last
    creation it has its thread back, too, and is no producer any more."""
    runs, who = of["segments"], of["producers"]
    creates = np.flatnonzero((find(distinct(of["tasks"].parent), runs.task) >= 0) & ~runs.waits)
    row, on = _interrupted(of, creates)
    produces = np.zeros(len(runs.task), dtype=bool)
    produces[who.segment[runs.end[who.segment] == who.until]] = True
    counts = np.flatnonzero(produces[row])
    return Throttled(runs.rank[row[counts]], runs.end[row[counts]], runs.start[on[counts]], on)


def _interrupted(of: Analysis, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of these segments the ones after which their thread ran a deferred task, though theirs did not wait; and the
    segments in which theirs goes on."""
    tasks, runs, owners = of["tasks"], of["segments"], of["owners"]
    after = np.minimum(row + 1, max(len(runs.task) - 1, 0))
    runs_other = (runs.lane[after] == runs.lane[row]) & (runs.start[after] == runs.end[row]) & (owners[after] >= 0)
    deferred = np.zeros(len(row), dtype=bool)
    deferred[runs_other] = tasks.deferred[owners[after[runs_other]]]
    row = row[deferred]
    row = row[~_waits_at(of, runs, row) & (call_at(of["calls"], runs.task[row], runs.end[row]) < 0)]
    on = _next_piece(runs, row)
    return row[on >= 0], on[on >= 0]


def _next_piece(runs: Segments, row: np.ndarray) -> np.ndarray:
    """The next segment of each segment's task, or -1. They are few: not all tasks are sorted for them."""
    mine = np.flatnonzero(find(distinct(runs.task[row]), runs.task) >= 0)
    found = TimeLines(runs.task[mine], -runs.start[mine]).latest(runs.task[row], -runs.end[row])
    return np.where(found >= 0, mine[found] if len(mine) else -1, -1)


def _waits_at(of: Analysis, runs: Segments, row: np.ndarray) -> np.ndarray:
    """Whether a segment's task has begun to wait by the time that the segment ends."""
    trace = of.trace
    begins = np.r_[trace.select("wait_begin"), rows_of_locks(trace)[0]]
    ends = np.r_[trace.select("wait_end"), rows_of_locks(trace)[1]]
    events = np.r_[begins, ends]
    at = TimeLines(trace.task[events], trace.time[events]).latest(runs.task[row], runs.end[row])
    return (at >= 0) & (at < len(begins))


@dataclass
class Exclusions:
    """`member`: by row of tasks, whether the task is in a set that counts."""

    member: np.ndarray
    open: Spans
    closed: Spans


@analysis_pass("exclusions", needs=("tasks", "accesses", "readiness"))
def exclusions(of: Analysis) -> Exclusions:
    """When members of a mutexinoutset waited for each other."""
    tasks, ready = of["tasks"], of["readiness"].time
    group = exclusive_sets(of["accesses"], len(tasks.id))
    member = (group >= 0) & tasks.deferred
    rows = np.flatnonzero(member & (ready < NEVER))
    trace_end = int(of.trace.time.max())
    start = np.where(tasks.start < 0, trace_end, tasks.start)[rows]
    end = np.where(tasks.end < 0, trace_end, np.maximum(tasks.end, tasks.start))[rows]
    began = tasks.start[rows] >= 0
    columns = ((ready[rows], 1, 0, rows), (start, -1, 0, rows), (start[began], 0, 1, rows[began]),
               (end[began], 0, -1, rows[began]))  # fmt: skip
    time, row = (np.concatenate([column[place] for column in columns]) for place in (0, 3))
    waits, runs = (np.concatenate([np.full(len(column[0]), column[place]) for column in columns]) for place in (1, 2))
    order = np.lexsort((time, group[row]))
    time, row, waiting, running = time[order], row[order], np.cumsum(waits[order]), np.cumsum(runs[order])
    # Every member stops waiting and running, so each group begins with 0 of both.
    lasts = np.flatnonzero(np.r_[group_starts(group[row], time)[1:], np.ones(min(len(row), 1), dtype=bool)])
    until = np.r_[time[lasts][1:], time[lasts][-1:]]
    some = (waiting[lasts] > 0) & (until > time[lasts])
    rank = tasks.rank[row[lasts]]
    return Exclusions(member, *(Spans(rank[chosen], time[lasts][chosen], until[chosen])
                                for chosen in (some & (running[lasts] == 0), some & (running[lasts] > 0))))  # fmt: skip
