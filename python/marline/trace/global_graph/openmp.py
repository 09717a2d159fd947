# SPDX-License-Identifier: Apache-2.0
"""Points and edges of OpenMP: tasks, their creation and ends, taskwait, taskgroup, barriers and parallel regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graph import Edges
from ..iterations import Iterations
from ..model import INITIAL, LATE_FULFILL, TASKWAIT, UNDEFERRED, Segments, Tasks
from ..read.calls import nested_pairs
from ..read.columns import Columns, TimeLines, distinct, find, occurrences
from ..read.records import Trace
from . import edges as kinds
from . import points as what
from .edges import EdgeList
from .points import FIRST, LAST, PointList

# ompt_sync_region_t (OpenMP 5.2, 19.4.4.14); 7, reduction, holds up nobody.
TASKWAIT_REGION, TASKGROUP_REGION, BARRIER_AT_END = 5, 6, 9
BARRIERS = (1, 2, 3, 4, 8, BARRIER_AT_END, 10)


@dataclass
class TaskPoints:
    """Numbers of points by row of Tasks, -1 where the record is missing."""

    creation: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def add_openmp(trace: Trace, tasks: Tasks, runs: Segments, dependences: Edges, iterations: Iterations,
               points: PointList, edges: EdgeList) -> np.ndarray:  # fmt: skip
    """Returns the number of the point where each task is created."""
    of_task = _add_tasks(tasks, points, edges)
    edges.add(kinds.DEPENDENCE, of_task.end[dependences.source], of_task.begin[dependences.sink])
    _add_fulfilments(trace, tasks, runs, of_task, points, edges)
    syncs = _syncs(trace)
    waited = _add_taskwaits(tasks, of_task, syncs, points, edges)
    waited |= _add_taskgroups(tasks, of_task, syncs, points, edges)
    waited |= _add_iterations(iterations, of_task, points, edges)
    # What a successor waits for, the successor's own barrier waits for, too.
    last_of_its_line = np.bincount(dependences.source, minlength=len(tasks.id)) == 0
    _add_regions(trace, tasks, of_task, last_of_its_line & ~waited, syncs, points, edges)
    return of_task.creation


def _add_tasks(tasks: Tasks, points: PointList, edges: EdgeList) -> TaskPoints:
    """A taskwait with dependences is a task that runs nothing: it begins as it ends."""
    start = np.where((tasks.flags & TASKWAIT) != 0, tasks.end, tasks.start)
    begun, ended = np.flatnonzero(start >= 0), np.flatnonzero(tasks.end >= 0)
    creation = points.add(what.CREATE, tasks.parent, tasks.created, tasks.record)
    found = TaskPoints(creation, np.full(len(tasks.id), -1), np.full(len(tasks.id), -1))
    found.begin[begun] = points.add(what.BEGIN, tasks.id[begun], start[begun], FIRST)
    found.end[ended] = points.add(what.END, tasks.id[ended], tasks.end[ended], LAST)
    edges.add(kinds.CREATE, creation, found.begin)
    # An undeferred task's creator goes on when it has ended.
    inline = np.flatnonzero(((tasks.flags & (UNDEFERRED | TASKWAIT)) != 0) & (tasks.end >= 0))
    back = points.add(what.RESUME, tasks.parent[inline], tasks.end[inline], tasks.record[inline] + 0.5)
    edges.add(kinds.INLINE, found.end[inline], back)
    return found


def _add_fulfilments(trace: Trace, tasks: Tasks, runs: Segments, of_task: TaskPoints, points: PointList,
                     edges: EdgeList) -> None:  # fmt: skip
    """A detached task ends when its event is fulfilled: by the task that ran on that thread."""
    schedule = trace.select("task_schedule")
    late = schedule[trace.field("task_schedule", "status", schedule) == LATE_FULFILL]
    lane = trace.rank[late].astype(np.int64) << 16 | trace.thread[late]
    segment = TimeLines(runs.lane, runs.start).latest(lane, trace.time[late])
    task = tasks.index(trace.task[late])
    known = np.flatnonzero((segment >= 0) & (task >= 0))
    by, late, task = runs.task[segment[known]], late[known], task[known]
    other = by != trace.task[late]
    number = points.add(what.FULFIL, by[other], trace.time[late[other]], late[other])
    edges.add(kinds.EVENT, number, of_task.end[task[other]])


@dataclass
class _Syncs(Columns):
    """Constructs that wait, from begin to end. Only those that have ended; in order of time within a task."""

    task: np.ndarray
    kind: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    begin_row: np.ndarray
    end_row: np.ndarray

    def of(self, *chosen: int) -> "_Syncs":
        return self.take(np.flatnonzero(np.isin(self.kind, chosen)))


def _syncs(trace: Trace) -> _Syncs:
    begins, ends = trace.select("sync_begin"), trace.select("sync_end")
    # In the order of the records: one barrier may end, and the next begin, in one nanosecond.
    rows = np.sort(np.concatenate([begins, ends]))
    opens = np.isin(rows, begins, assume_unique=True)
    partner = nested_pairs(trace.task[rows], trace.time[rows], opens)
    begin_row, end_row = rows[partner >= 0], rows[partner[partner >= 0]]
    order = np.lexsort((begin_row, trace.time[begin_row], trace.task[begin_row]))
    begin_row, end_row = begin_row[order], end_row[order]
    kind = trace.field("sync_begin", "kind", begin_row).astype(np.int64)
    return _Syncs(trace.task[begin_row], kind, trace.time[begin_row], trace.time[end_row], begin_row, end_row)


def _add_taskwaits(tasks: Tasks, of_task: TaskPoints, syncs: _Syncs, points: PointList,
                   edges: EdgeList) -> np.ndarray:  # fmt: skip
    """Returns which tasks a taskwait has waited for: the next one of their parent's after their creation."""
    waits = syncs.of(TASKWAIT_REGION)
    number = points.add(what.SYNC_END, waits.task, waits.end, waits.end_row)
    following = TimeLines(waits.task, -waits.end).latest(tasks.parent, -tasks.created)
    waited = following >= 0
    edges.add(kinds.TASKWAIT, of_task.end[waited], number[following[waited]])
    return waited


def _add_taskgroups(tasks: Tasks, of_task: TaskPoints, syncs: _Syncs, points: PointList,
                    edges: EdgeList) -> np.ndarray:  # fmt: skip
    """Returns which tasks belong to a taskgroup: the innermost one that was open where they were created, in their
    parent or, if none was, in the parent's own creator, and so on."""
    groups = syncs.of(TASKGROUP_REGION)
    if not len(groups.task):
        return np.zeros(len(tasks.id), dtype=bool)
    number = points.add(what.SYNC_END, groups.task, groups.end, groups.end_row)
    own = _innermost(groups, tasks.parent, tasks.created)
    parent = tasks.index(tasks.parent)
    up = np.where((own >= 0) | (parent < 0), np.arange(len(tasks.id)), parent)
    group = own[_last_of(up)]
    inside = group >= 0
    edges.add(kinds.TASKWAIT, of_task.end[inside], number[group[inside]])
    return inside


def _add_iterations(found: Iterations, of_task: TaskPoints, points: PointList, edges: EdgeList) -> np.ndarray:
    """Persistent graphs whose iterations overlap; of all others each iteration is a taskgroup. Returns which tasks the
    producer has waited for: at the first record that says so."""
    begins = found.begins.take(np.flatnonzero(found.begins.overlaps))
    number = points.add(what.SYNC_END, begins.task, begins.time, begins.row)
    graphs = distinct(begins.graph)
    key = np.searchsorted(graphs, begins.graph) << 32 | begins.done  # numbers of iterations have 32 bits
    place = np.searchsorted(key, np.searchsorted(graphs, found.graph) << 32 | found.iteration)
    safe = np.minimum(place, max(len(key) - 1, 0))
    waited = np.zeros(len(found.graph), dtype=bool)
    if len(key):
        waited = (found.graph != 0) & (place < len(key)) & (begins.graph[safe] == found.graph)
        edges.add(kinds.TASKWAIT, of_task.end[waited], number[place[waited]])
    return waited


def _innermost(groups: _Syncs, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Row of the last group of each task that was open at a time, or -1."""
    lines = TimeLines(groups.task, groups.begin)
    found = lines.latest(task, time)
    # A group that has ended by then: what encloses it may still be open.
    outer = lines.latest(groups.task, groups.begin - 1)
    while True:
        closed = np.flatnonzero((found >= 0) & (groups.end[np.maximum(found, 0)] < time))
        if not len(closed):
            return found
        found[closed] = outer[found[closed]]


def _last_of(up: np.ndarray) -> np.ndarray:
    """Where each chain of `up` ends: at an element that leads to itself."""
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return up
        up = further


def _add_regions(trace: Trace, tasks: Tasks, of_task: TaskPoints, bound: np.ndarray, syncs: _Syncs,
                 points: PointList, edges: EdgeList) -> None:  # fmt: skip
    """The k-th barriers of a team's implicit tasks are one. All of the team, and the explicit tasks that are `bound` to
    no other wait, come before all that goes on."""
    begins = trace.select("implicit_begin")
    parallel = trace.global_task(begins, trace.field("implicit_begin", "parallel", begins))
    initial = (trace.field("implicit_begin", "flags", begins) & np.uint64(INITIAL)) != 0
    member = points.add(what.BEGIN, trace.task[begins], trace.time[begins], FIRST)
    ends = trace.select("implicit_end")
    points.add(what.END, trace.task[ends], trace.time[ends], LAST)
    forks, joined = trace.select("parallel_begin"), trace.select("parallel_end")
    fork = points.add(what.FORK, trace.task[forks], trace.time[forks], forks)
    fork_of = _Numbered(trace.global_task(forks, trace.field("parallel_begin", "parallel", forks)), fork)
    edges.add(kinds.BARRIER, fork_of.number(parallel), np.where(initial, -1, member))
    after = points.add(what.SYNC_END, trace.task[joined], trace.time[joined], joined)
    after_of = _Numbered(trace.global_task(joined, trace.field("parallel_end", "parallel", joined)), after)

    order = np.argsort(trace.task[begins], kind="stable")
    members, of_member = trace.task[begins][order], parallel[order]
    barriers = syncs.of(*BARRIERS)
    row = find(members, barriers.task)
    barriers, team = barriers.take(np.flatnonzero(row >= 0)), of_member[row[row >= 0]]
    number, joins, release = _join(barriers, team, points, edges)
    last = barriers.kind == BARRIER_AT_END
    edges.add(kinds.BARRIER, joins[number[last]], after_of.number(team[last]))
    _add_bound_tasks(tasks, of_task, bound, (members, of_member), (team, number, joins, release), edges)


def _join(barriers: _Syncs, team: np.ndarray, points: PointList,
          edges: EdgeList) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """(number of each row's barrier; by barrier: its point, and when it released its first thread)"""
    occurrence = occurrences(barriers.task)  # they stand in order of time
    key = np.stack([team.astype(np.int64), occurrence])
    _, first, number = np.unique(key, axis=1, return_index=True, return_inverse=True)
    number = number.ravel()
    release = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(release, number, barriers.end)
    joins = points.add(what.JOIN, np.zeros(len(first), dtype=np.uint64), release, np.arange(len(first)))
    arrive = points.add(what.SYNC_BEGIN, barriers.task, barriers.begin, barriers.begin_row)
    leave = points.add(what.SYNC_END, barriers.task, barriers.end, barriers.end_row)
    edges.add(kinds.BARRIER, arrive, joins[number])
    edges.add(kinds.BARRIER, joins[number], leave)
    return number, joins, release


def _add_bound_tasks(tasks: Tasks, of_task: TaskPoints, bound: np.ndarray, members: tuple[np.ndarray, np.ndarray],
                     barriers: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
                     edges: EdgeList) -> None:  # fmt: skip
    """A task's team is that of the implicit task at the beginning of its line of parents."""
    team, number, joins, release = barriers
    rows = np.flatnonzero(bound & (tasks.end >= 0))
    parent = tasks.index(tasks.parent)
    top = _last_of(np.where(parent < 0, np.arange(len(tasks.id)), parent))[rows]
    place = find(members[0], tasks.parent[top])
    rows, team_of = rows[place >= 0], members[1][place[place >= 0]]
    # The first barrier of the team that lets go after the task's end.
    team_of_join = np.zeros(len(joins), dtype=team.dtype)
    team_of_join[number] = team
    following = TimeLines(team_of_join, -release).latest(team_of, -tasks.end[rows])
    edges.add(kinds.BARRIER, of_task.end[rows[following >= 0]], joins[following[following >= 0]])


class _Numbered:
    """Numbers of points by the id of a region."""

    def __init__(self, region: np.ndarray, number: np.ndarray) -> None:
        self._regions = distinct(region)
        self._number = np.full(len(self._regions), -1)
        self._number[find(self._regions, region)] = number

    def number(self, region: np.ndarray) -> np.ndarray:
        """-1 for a region that is not known."""
        at = find(self._regions, region)
        return np.where(at >= 0, self._number[np.maximum(at, 0)] if len(self._number) else -1, -1)
