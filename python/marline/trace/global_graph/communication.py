# SPDX-License-Identifier: Apache-2.0
"""Points and edges of MPI: messages, collectives, other calls.

A message takes from when both sides have called to when the receiver has it, so a message that came early takes no
time of its own. A send ends after its receive was asked for, if that is how it was: MPI may send a small message away
before, and wait for the receiver of a large one. One-sided communication and collectives on neighbours are calls like
others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..model import Suspensions, Tasks
from ..read.calls import Calls, Requests, call_at, kind_mask
from ..read.columns import occurrences
from ..read.events import EVENTS, MPI_CALLS
from ..read.messages import Messages, communicators, world_ranks
from ..read.records import Trace
from . import edges as kinds
from . import points as what
from .edges import EdgeList
from .points import PointList

# Whom a collective makes wait for whom (MPI 4.1, chapter 6); of prefix sums no rank waits for the later ones.
ALL, FROM_ROOT, TO_ROOT = range(3)
_ROLES = {
    "Barrier": ALL, "Allgather": ALL, "Allgatherv": ALL, "Alltoall": ALL, "Alltoallv": ALL, "Alltoallw": ALL,
    "Allreduce": ALL, "Reduce_scatter": ALL, "Reduce_scatter_block": ALL, "Bcast": FROM_ROOT, "Scatter": FROM_ROOT,
    "Scatterv": FROM_ROOT, "Gather": TO_ROOT, "Gatherv": TO_ROOT, "Reduce": TO_ROOT,
}  # fmt: skip
_NAME = re.compile(r"MPI_(?:I(?=[a-z]))?(\w+?)(?:_init)?$")


def _role(name: str) -> int:
    """-1: no collective that makes anybody wait."""
    match = _NAME.match(name)
    return _ROLES.get(match[1][0].upper() + match[1][1:], -1) if match else -1


_ROLE_OF = np.full(1 << EVENTS["mpi_enter"].fields["call"].bits, -1)
for _number, _call in MPI_CALLS.items():
    _ROLE_OF[_number] = _role(_call)


@dataclass
class _CallPoints:
    """By row of Calls. `got`: where what the call waited for let its task go on. `ready`: of suspensions, by row."""

    enter: np.ndarray
    got: np.ndarray
    leave: np.ndarray
    time: np.ndarray  # of `got`
    ready: np.ndarray


def add_communication(trace: Trace, tasks: Tasks, calls: Calls, requests: Requests, messages: Messages,
                      suspensions: Suspensions, points: PointList, edges: EdgeList) -> np.ndarray:  # fmt: skip
    """Returns the number of the point where each suspended task could go on."""
    at = _add_calls(trace, tasks, calls, suspensions, points)
    explained = np.zeros(len(calls.call), dtype=bool)
    _add_messages(calls, messages.send, messages.receive, at, explained, edges)
    waited = np.flatnonzero(messages.sent >= 0)
    asked, sent = messages.asked[waited], messages.sent[waited]
    first = calls.start[asked] <= at.time[sent]
    _add_messages(calls, asked[first], sent[first], at, explained, edges)
    _add_collectives(trace, calls, find_collectives(trace, calls, requests), at, explained, points, edges)
    rest = np.flatnonzero(~explained)
    edges.add(kinds.MPI, at.enter[rest], at.leave[rest], calls.end[rest] - calls.start[rest])
    return at.ready


def _add_messages(calls: Calls, one: np.ndarray, other: np.ndarray, at: _CallPoints, explained: np.ndarray,
                  edges: EdgeList) -> None:  # fmt: skip
    """From call `one` of one side to what ended call `other` of the other side."""
    both = np.maximum(calls.start[one], calls.start[other])
    edges.add(kinds.MESSAGE, at.enter[one], at.got[other], np.maximum(at.time[other] - both, 0))
    explained[other] = True


def _add_calls(trace: Trace, tasks: Tasks, calls: Calls, suspensions: Suspensions,
               points: PointList) -> _CallPoints:  # fmt: skip
    enter = points.add(what.CALL, calls.task, calls.start, calls.enter_row)
    leave = points.add(what.RETURN, calls.task, calls.end, calls.enter_row + 0.5)
    row = np.arange(len(suspensions.task))
    points.add(what.SUSPEND, suspensions.task, suspensions.start, row)
    ready = points.add(what.READY, suspensions.task, suspensions.ready, row + 0.25)
    points.add(what.RESUME, suspensions.task, suspensions.end, row + 0.5)
    found = _CallPoints(enter, leave.copy(), leave, calls.end.copy(), ready)
    inside = suspensions.call >= 0  # the last one counts: they stand in order of time
    found.got[suspensions.call[inside]] = ready[inside]
    found.time[suspensions.call[inside]] = suspensions.ready[inside]
    _add_threads_tasks(trace, tasks, calls, found, points)
    return found


def _add_threads_tasks(trace: Trace, tasks: Tasks, calls: Calls, found: _CallPoints, points: PointList) -> None:
    """The calls of implicit tasks, which stand for their threads while they are suspended."""
    rows = trace.select("task_ready")
    rows = rows[tasks.index(trace.task[rows]) < 0]
    call = call_at(calls, trace.task[rows], trace.time[rows])
    rows, call = rows[call >= 0], call[call >= 0]
    found.got[call] = points.add(what.READY, trace.task[rows], trace.time[rows], rows)
    found.time[call] = trace.time[rows]


@dataclass
class Collectives:
    """Each rank's part in a collective. `enter`, `leave`: rows of Calls; `group`: the same for all its ranks."""

    enter: np.ndarray
    leave: np.ndarray
    group: np.ndarray
    role: np.ndarray
    root: np.ndarray  # whether this rank is the root


def find_collectives(trace: Trace, calls: Calls, requests: Requests) -> Collectives:
    """Ranks call the collectives of a communicator in one order (MPI 4.1, 6.14)."""
    direct = np.flatnonzero((_ROLE_OF[calls.call] >= 0) & kind_mask(calls, "collective") & calls.returned)
    started = np.flatnonzero((_ROLE_OF[calls.call[requests.envelope]] >= 0) & (requests.done >= 0))
    enter = np.r_[direct, requests.call[started]]
    envelope = np.r_[direct, requests.envelope[started]]
    leave = np.r_[direct, requests.done[started]]
    rank, comm = calls.rank[envelope].astype(np.int64), calls.comm[envelope].astype(np.int64)
    if trace.began:
        kept = _complete(calls.start[enter], calls.end[leave], rank, communicators(trace, rank, comm))
        enter, envelope, leave, rank, comm = (column[kept] for column in (enter, envelope, leave, rank, comm))
    order = np.lexsort((calls.start[enter], comm, rank))
    enter, envelope, leave, rank, comm = (column[order] for column in (enter, envelope, leave, rank, comm))
    identity = communicators(trace, rank, comm)
    role = _ROLE_OF[calls.call[envelope]]
    turn = occurrences(rank << 16 | comm)
    _, group = np.unique(np.stack([identity, turn, role]), axis=1, return_inverse=True)
    root = world_ranks(trace, rank, comm, calls.peer[envelope]) == rank
    return Collectives(enter, leave, group.ravel(), role, root)


def _complete(start: np.ndarray, end: np.ndarray, rank: np.ndarray, identity: np.ndarray) -> np.ndarray:
    """Of a ring, which lacks the beginning of the run: the calls from the first one on that all ranks still have. Some
    rank begins it later than the others begin what is their first one; what has ended by then is an earlier one."""
    _, lane = np.unique(np.stack([identity, rank]), axis=1, return_inverse=True)
    _, comm = np.unique(identity, return_inverse=True)
    first = np.full(int(lane.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, lane.ravel(), start)
    latest = np.zeros(int(comm.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(latest, comm, first[lane.ravel()])
    return np.flatnonzero(end >= latest[comm])


def _add_collectives(trace: Trace, calls: Calls, found: Collectives, at: _CallPoints, explained: np.ndarray,
                     points: PointList, edges: EdgeList) -> None:  # fmt: skip
    groups = int(found.group.max(initial=-1)) + 1
    giving = (found.role == ALL) | (found.root == (found.role == FROM_ROOT))
    taking = (found.role == ALL) | (found.root == (found.role == TO_ROOT))
    ready = np.full(groups, -1)
    np.maximum.at(ready, found.group[giving], calls.start[found.enter[giving]])
    known = np.flatnonzero(ready >= 0)  # some rank that the others wait for is in the trace
    join = np.full(groups, -1)
    join[known] = points.add(what.JOIN, np.zeros(len(known), dtype=np.uint64), ready[known], known)
    edges.add(kinds.COLLECTIVE, at.enter[found.enter[giving]], join[found.group[giving]])
    leave, group = found.leave[taking], found.group[taking]
    both = np.maximum(ready[group], calls.start[leave])
    edges.add(kinds.COLLECTIVE, join[group], at.got[leave], np.maximum(at.time[leave] - both, 0))
    explained[leave[ready[group] >= 0]] = True
