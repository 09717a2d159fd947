# SPDX-License-Identifier: Apache-2.0
"""What state a rank is in at each time: are tasks ready, and if none is, why not?

All ranks lie one after the other on one axis, so that one sorted array of changes serves them all. A change is one
integer, its place on the axis and its kind, so that sorting needs no index; counts are sums over the sorted kinds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import model
from ...read.calls import Calls
from ...read.columns import TimeLines, distinct, find, group_starts, is_among
from ...read.records import Trace
from ...native_base import count_up_to
from ...registry import Analysis, AnalysisError, analysis_pass
from .obstacles import Exclusions

# Exclusive states of a rank, the first that holds (see causes.py for their meaning).
(AWAY, READY, DISCOVERY, COMMUNICATION, DEVICE, THROTTLED, CONSTRAINT, DEPENDENCES, TAIL, OUTSIDE) = range(10)
STATES = 10

_COUNTERS = ("alive", "ready", "producing", "communicating", "blocked", "started", "device", "throttled", "excluded")
# Kind of change -> what it does to each counter.
_CHANGES = np.array([
    [+1, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0, 0, 0, 0],  # the rank's first task starts, its last one ends
    [0, 0, 0, 0, +1, 0, 0, 0, 0], [0, +1, 0, 0, -1, 0, 0, 0, 0],  # created with open dependences; they are all met
    [0, +1, 0, 0, 0, 0, 0, 0, 0],  # created ready, or suspended and could go on
    [0, -1, 0, 0, 0, +1, 0, 0, 0], [0, 0, 0, 0, 0, +1, 0, 0, 0],  # starts; starts undeferred
    [0, 0, 0, 0, 0, -1, 0, 0, 0],  # has ended
    [0, 0, +1, 0, 0, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0, 0, 0, 0],  # a producer runs
    [0, 0, 0, +1, 0, 0, 0, 0, 0], [0, 0, 0, -1, 0, 0, 0, 0, 0],  # a task is in MPI, or its body over, but not its event
    [0, 0, -1, +1, 0, 0, 0, 0, 0], [0, 0, +1, -1, 0, 0, 0, 0, 0],  # MPI holds a producer
    [0, -1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, -1, 0, 0, 0, 0],  # goes on, or never started: out at the end
    [0, 0, 0, 0, 0, 0, +1, 0, 0], [0, 0, 0, 0, 0, 0, -1, 0, 0],  # a device works
    [0, 0, 0, 0, 0, 0, 0, +1, 0], [0, 0, 0, 0, 0, 0, 0, -1, 0],  # a producer's thread runs another task
    [0, 0, 0, 0, 0, 0, 0, 0, +1], [0, 0, 0, 0, 0, 0, 0, 0, -1],  # tasks wait for each other's locks
], dtype=np.int8)  # fmt: skip
(_BEGIN, _END, _BLOCK, _UNBLOCK, _GET_READY, _START, _START_AT_ONCE, _FINISH, _PRODUCE, _PRODUCED, _CALL, _RETURN,
 _HOLD, _RELEASE, _LEAVE_READY, _NEVER_READY, _DEVICE, _DEVICE_DONE, _THROTTLE, _THROTTLED_NO_MORE, _EXCLUDE,
 _ADMIT) = range(22)  # fmt: skip
_KIND_BITS = 5

NEVER = np.iinfo(np.int64).max


@dataclass
class Readiness:
    """When each task could have started: created, its dependences declared, and all predecessors complete. NEVER if a
    predecessor did not complete. Of an undeferred task, which is never queued: when it started."""

    time: np.ndarray
    declared: np.ndarray  # creation and declaration of the dependences done


@analysis_pass("readiness", needs=("tasks", "edges"))
def readiness(of: Analysis) -> Readiness:
    """Ready times."""
    trace, tasks, edges = of.trace, of["tasks"], of["edges"]
    declared = tasks.created.copy()
    rows = trace.select("dependence")
    where = tasks.index(trace.task[rows])
    np.maximum.at(declared, where[where >= 0], trace.time[rows][where >= 0])
    time = declared.copy()
    np.maximum.at(time, edges.sink, np.where(tasks.end < 0, NEVER, tasks.end)[edges.source])
    started = tasks.start >= 0
    # What started was ready, whatever a lost record or members of a mutexinoutset suggest.
    time[started] = np.minimum(time, tasks.start)[started]
    declared[started] = np.minimum(declared, tasks.start)[started]
    time[~tasks.deferred & started] = tasks.start[~tasks.deferred & started]
    return Readiness(time, declared)


@dataclass
class Producers:
    """Segments (rows) in which a task that still creates others runs its own code; `until` ends each."""

    segment: np.ndarray
    until: np.ndarray
    task: np.ndarray  # all tasks that create others, sorted
    last: np.ndarray  # when each created its last


@analysis_pass("producers", needs=("tasks", "segments"))
def producers(of: Analysis) -> Producers:
    """Who creates tasks."""
    tasks, runs = of["tasks"], of["segments"]
    mine = tasks.deferred & (tasks.parent != 0)
    task, number = np.unique(tasks.parent[mine], return_inverse=True)
    last = np.full(len(task), -1, dtype=np.int64)
    np.maximum.at(last, number, tasks.created[mine])
    producer = find(task, runs.task)
    rows = np.flatnonzero((producer >= 0) & ~runs.waits)
    until = np.minimum(runs.end[rows], last[producer[rows]])
    kept = until > runs.start[rows]
    return Producers(rows[kept], until[kept], task, last)


@dataclass
class States:
    """The states of the ranks `ranks`, as intervals on the axis: `place` ascending, each up to the next."""

    ranks: np.ndarray
    begin: int
    end: int
    own_begin: np.ndarray  # per rank: first task starts
    own_end: np.ndarray  # last task ends
    place: np.ndarray
    state: np.ndarray

    def locate(self, rank_index: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Places on the axis of times within [begin, end]."""
        return rank_index * (self.end - self.begin + 1) + np.clip(time, self.begin, self.end) - self.begin

    def integrals(self) -> "Integrals":
        """For questions how long a state lasted."""
        return Integrals(self)


class Integrals:
    """How long the axis is in each state before a place."""

    def __init__(self, states: States) -> None:
        self._place, self._state = states.place, states.state
        length = np.diff(states.place)
        self._before = [np.r_[0, np.cumsum(np.where(states.state[:-1] == s, length, 0))] for s in range(STATES)]

    def never(self, state: int) -> bool:
        """True if no rank is ever in the state."""
        return int(self._before[state][-1]) == 0

    def find(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What `between` takes: the interval that holds each place, and the places."""
        return count_up_to(self._place, place) - 1, place

    def between(self, state: int, start: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray]
                ) -> np.ndarray:  # fmt: skip
        """Time in `state` from each start to its end."""
        return self._until(state, *end) - self._until(state, *start)

    def _until(self, state: int, at: np.ndarray, place: np.ndarray) -> np.ndarray:
        return self._before[state][at] + np.where(self._state[at] == state, place - self._place[at], 0)


@analysis_pass("states",
               needs=("tasks", "segments", "calls", "in_mpi", "suspensions", "owners", "readiness", "producers",
                      "device_spans", "throttled", "lock_waits", "exclusions"))  # fmt: skip
def states(of: Analysis) -> States | None:
    """States of the ranks that have explicit tasks that ran; None if there is no such rank."""
    tasks, runs, calls = of["tasks"], of["segments"], of["calls"]
    ran = tasks.start >= 0
    rank = tasks.rank
    ranks = distinct(rank[ran])
    if not len(ranks):
        return None
    if (int(of.trace.time.max()) + 1) * (len(ranks) + 1) >> (62 - _KIND_BITS):
        raise AnalysisError(f"{len(ranks)} ranks over {int(of.trace.time.max())} ns: more than one axis can hold")
    own_begin, own_end = _own_spans(ranks, rank, tasks, runs, of["owners"])
    found = States(ranks, int(own_begin.min()), int(own_end.max()), own_begin, own_end, np.zeros(0), np.zeros(0))
    changes = _Changes(found)
    number = np.arange(len(ranks))
    changes.add(_BEGIN, number, own_begin)
    changes.add(_END, number, own_end)
    excluded: Exclusions = of["exclusions"]
    _add_tasks(changes, tasks, of["readiness"], excluded.member, find(ranks, rank), found.end)
    _add_producers(changes, of["producers"], runs, find(ranks, runs.rank.astype(np.int64)))
    _add_suspended(changes, of["suspensions"], _could_run(of["suspensions"], tasks, runs), ranks)
    _add_communication(changes, of, calls, ranks)
    _add_detached(changes, of.trace, tasks, ranks, found.end)
    for begins, ends, spans in (
        (_DEVICE, _DEVICE_DONE, of["device_spans"]), (_THROTTLE, _THROTTLED_NO_MORE, of["throttled"]),
        (_EXCLUDE, _ADMIT, of["lock_waits"]), (_EXCLUDE, _ADMIT, excluded.closed),
        (_GET_READY, _LEAVE_READY, excluded.open),
    ):  # fmt: skip
        changes.add_spans(begins, ends, find(ranks, spans.rank.astype(np.int64)), spans.start, spans.end)
    found.place, found.state = changes.states()
    return found


def _own_spans(ranks: np.ndarray, rank: np.ndarray, tasks: model.Tasks, runs: model.Segments, owners: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    begin, end = np.full(len(ranks), NEVER), np.full(len(ranks), -1, dtype=np.int64)
    ran = tasks.start >= 0
    number = find(ranks, rank)[ran]
    np.minimum.at(begin, number, tasks.start[ran])
    np.maximum.at(end, number, np.maximum(tasks.end, tasks.start)[ran])
    explicit = owners >= 0  # also tasks that had not ended when the trace did
    np.maximum.at(end, find(ranks, runs.rank[explicit].astype(np.int64)), runs.end[explicit])
    return begin, end


class _Changes:
    """Collects changes, then counts."""

    def __init__(self, states: States) -> None:
        self._states = states
        self._codes: list[np.ndarray] = []

    def add(self, kind: int, rank_index: np.ndarray, time: np.ndarray) -> None:
        self._codes.append(self._states.locate(rank_index, time) << _KIND_BITS | kind)

    def add_spans(self, begins: int, ends: int, rank_index: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """From each start to its end; of other ranks none."""
        known = np.flatnonzero(rank_index >= 0)
        self.add(begins, rank_index[known], start[known])
        self.add(ends, rank_index[known], end[known])

    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """Places where the state changes, and the state from there on."""
        codes = np.concatenate(self._codes)
        self._codes.clear()
        codes.sort()
        place = codes >> _KIND_BITS
        kinds = (codes & ((1 << _KIND_BITS) - 1)).astype(np.uint8)
        last = np.flatnonzero(np.r_[place[1:] != place[:-1], True])
        place = place[last]
        holds = {name: np.cumsum(_CHANGES[:, column][kinds], dtype=np.int32)[last] > 0
                 for column, name in enumerate(_COUNTERS)}  # fmt: skip
        state = np.full(len(place), OUTSIDE, dtype=np.uint8)
        for name, value in (("started", TAIL), ("blocked", DEPENDENCES), ("excluded", CONSTRAINT),
                            ("throttled", THROTTLED), ("device", DEVICE), ("communicating", COMMUNICATION),
                            ("producing", DISCOVERY), ("ready", READY)):  # fmt: skip
            state[holds[name]] = value
        state[~holds["alive"]] = AWAY
        changed = group_starts(state)
        place, state = place[changed], state[changed]
        return (place, state) if place[0] == 0 else (np.r_[0, place], np.r_[np.uint8(AWAY), state])


def _add_tasks(changes: _Changes, tasks: model.Tasks, ready: Readiness, excluded: np.ndarray, rank: np.ndarray,
               end: int) -> None:  # fmt: skip
    """The life of each task; what never happened happens at the end. Whether a member of a mutexinoutset is ready is
    said elsewhere (`excluded`): here it is blocked until its dependences are met, and then starts at once."""
    known = rank >= 0
    apart = known & tasks.deferred & excluded
    queued = known & tasks.deferred & ~excluded
    blocked = queued & (ready.time > ready.declared)
    for kind, chosen, time in (
        (_BLOCK, blocked, ready.declared),
        (_UNBLOCK, blocked & (ready.time < NEVER), ready.time),
        (_NEVER_READY, blocked & (ready.time == NEVER), None),
        (_GET_READY, queued & ~blocked, ready.declared),
        (_START, queued & (tasks.start >= 0), tasks.start),
        (_LEAVE_READY, queued & (tasks.start < 0) & (ready.time < NEVER), None),
        (_BLOCK, apart & (ready.time > ready.declared), ready.declared),
        (_NEVER_READY, apart & (ready.time > ready.declared) & (ready.time < NEVER), ready.time),
        (_NEVER_READY, apart & (ready.time == NEVER), None),
        (_START_AT_ONCE, known & (~tasks.deferred | excluded) & (tasks.start >= 0), tasks.start),
        (_FINISH, known & (tasks.start >= 0) & (tasks.end >= 0), tasks.end),
        (_FINISH, known & (tasks.start >= 0) & (tasks.end < 0), None),
    ):
        rows = np.flatnonzero(chosen)
        changes.add(kind, rank[rows], np.full(len(rows), end) if time is None else time[rows])


def _could_run(suspensions: model.Suspensions, tasks: model.Tasks, runs: model.Segments) -> np.ndarray:
    """When a thread could have gone on with each suspended task. With a tied one only its own thread can, and not while
    it runs other code."""
    could = suspensions.ready.copy()
    row = tasks.index(suspensions.task)
    tied = np.flatnonzero((row >= 0) & ((tasks.flags[row] & model.UNTIED) == 0) & (could < suspensions.end))
    busy = np.flatnonzero(~runs.waits)
    end = suspensions.end[tied]
    its = np.flatnonzero(is_among(runs.task, suspensions.task[tied]))
    on = TimeLines(runs.task[its], runs.start[its]).latest(suspensions.task[tied], end)
    on = np.where(on >= 0, its[np.maximum(on, 0)] if len(its) else -1, -1)
    before = TimeLines(runs.lane[busy], runs.end[busy]).latest(runs.lane[on], end)
    known = (on >= 0) & (before >= 0)
    could[tied[known]] = np.maximum(could[tied[known]], runs.end[busy[before[known]]])
    return could


def _add_suspended(changes: _Changes, suspensions: model.Suspensions, could_run: np.ndarray,
                   ranks: np.ndarray) -> None:  # fmt: skip
    """A task that could go on is ready until it does."""
    rank = find(ranks, suspensions.rank.astype(np.int64))
    late = np.flatnonzero((rank >= 0) & (could_run < suspensions.end))
    changes.add(_GET_READY, rank[late], could_run[late])
    changes.add(_LEAVE_READY, rank[late], suspensions.end[late])


def _add_producers(changes: _Changes, who: Producers, runs: model.Segments, rank: np.ndarray) -> None:
    known = rank[who.segment] >= 0
    rows = who.segment[known]
    changes.add(_PRODUCE, rank[rows], runs.start[rows])
    changes.add(_PRODUCED, rank[rows], who.until[known])


def _add_communication(changes: _Changes, of: Analysis, calls: Calls, ranks: np.ndarray) -> None:
    """Calls and polls. Calls of producers that hold their thread also stop the producing."""
    who: Producers = of["producers"]
    rank = find(ranks, calls.rank.astype(np.int64))
    producer = find(who.task, calls.task)
    last = who.last[np.maximum(producer, 0)] if len(who.task) else np.zeros(len(calls.task), dtype=np.int64)
    suspended = np.zeros(len(calls.task), dtype=bool)
    cause = of["suspensions"].call
    suspended[cause[cause >= 0]] = True
    holds = (producer >= 0) & ~suspended & (calls.start < last)
    plain = np.flatnonzero((rank >= 0) & ~holds)
    held = np.flatnonzero((rank >= 0) & holds)
    changes.add(_CALL, rank[plain], calls.start[plain])
    changes.add(_RETURN, rank[plain], calls.end[plain])
    changes.add(_HOLD, rank[held], calls.start[held])
    changes.add(_RELEASE, rank[held], np.minimum(calls.end, last)[held])
    rest = held[calls.end[held] > last[held]]
    changes.add(_CALL, rank[rest], last[rest])
    changes.add(_RETURN, rank[rest], calls.end[rest])
    mpi = of["in_mpi"]
    polls = slice(len(mpi.task) - mpi.polls, None)
    poller = find(ranks, mpi.rank[polls].astype(np.int64))
    changes.add(_CALL, poller[poller >= 0], mpi.start[polls][poller >= 0])
    changes.add(_RETURN, poller[poller >= 0], mpi.end[polls][poller >= 0])


def _add_detached(changes: _Changes, trace: Trace, tasks: model.Tasks, ranks: np.ndarray, end: int) -> None:
    rows = trace.select("task_schedule")
    rows = rows[trace.field("task_schedule", "status", rows) == model.DETACH]
    task = tasks.index(trace.task[rows])
    rows, task = rows[task >= 0], task[task >= 0]
    rank = find(ranks, trace.rank[rows].astype(np.int64))
    rows, task, rank = rows[rank >= 0], task[rank >= 0], rank[rank >= 0]
    changes.add(_CALL, rank, trace.time[rows])
    changes.add(_RETURN, rank, np.where(tasks.end[task] < 0, end, tasks.end[task]))
