# SPDX-License-Identifier: Apache-2.0
"""The teams of parallel regions, and what their threads did from one barrier to the next.

A thread of a team is a *member*: one implicit task. A *phase* of a member lasts from the end of one barrier (or from
its begin) to the next one. All members of a team meet the same barriers, so the k-th phases of a team belong together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...global_graph.openmp import BARRIER_AT_END, BARRIERS
from ...model import INITIAL, Segments
from ...read.calls import InMpi, nested_pairs
from ...read.columns import Columns, TimeLines, distinct, find, group_starts
from ...read.records import Trace
from ...registry import Analysis, analysis_pass


@dataclass
class Members(Columns):
    """Implicit tasks, by id. `team`: row of Teams; `index`: the number that the thread has in its team."""

    task: np.ndarray
    team: np.ndarray
    index: np.ndarray
    rank: np.ndarray
    initial: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    def find(self, task: np.ndarray) -> np.ndarray:
        """Row of each task, or -1."""
        return find(self.task, task)


@dataclass
class Teams:
    """By the id of the region. `size`: how many members are recorded; `creates`: a member created explicit tasks."""

    code: np.ndarray  # of the construct, 0: not known
    rank: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    size: np.ndarray
    creates: np.ndarray


@dataclass
class Phases(Columns):
    """By member and time. `number`: 0 for a member's first one. Its barrier begins at `end` and ends at `left`; the
    last phase may have none (`kind` 0)."""

    member: np.ndarray
    number: np.ndarray
    start: np.ndarray
    end: np.ndarray
    left: np.ndarray
    code: np.ndarray  # of the barrier
    kind: np.ndarray  # ompt_sync_region_t
    work: np.ndarray  # ns: in its code, without waits
    locked: np.ndarray  # ns: waited in its code, for locks and critical regions
    mpi: np.ndarray  # ns: of the phase, in MPI calls
    waited: np.ndarray  # ns: at the barrier

    @property
    def at_region_end(self) -> np.ndarray:
        """True where the region ends with the phase."""
        return (self.kind == 0) | (self.kind == BARRIER_AT_END)


class Runs:
    """Disjoint intervals of members, and how much of them there is up to any time."""

    def __init__(self, member: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        order = np.lexsort((start, member))
        self._member, self._start, self._length = member[order], start[order], (end - start)[order]
        self._lines = TimeLines(self._member, self._start)
        self._before = np.r_[0, np.cumsum(self._length)]

    def inside(self, member: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How much of them lies in each of these intervals of members."""
        return self._until(member, np.maximum(end, start)) - self._until(member, start)

    def _until(self, member: np.ndarray, time: np.ndarray) -> np.ndarray:
        """In sum, with all members before this one."""
        row = self._lines.latest(member, time)
        done = np.empty(len(member), dtype=np.int64)
        some, none = np.flatnonzero(row >= 0), np.flatnonzero(row < 0)
        of = row[some]
        done[some] = self._before[of] + np.minimum(time[some] - self._start[of], self._length[of])
        done[none] = self._before[np.searchsorted(self._member, member[none])]
        return done


@analysis_pass("teams", needs=("tasks",))
def find_teams(of: Analysis) -> tuple[Members, Teams]:
    """The members of all teams, and the teams."""
    trace, tasks = of.trace, of["tasks"]
    begins = trace.select("implicit_begin")
    begins = begins[np.argsort(trace.task[begins], kind="stable")]
    begins = begins[group_starts(trace.task[begins])]
    task = trace.task[begins]
    region = trace.global_task(begins, trace.field("implicit_begin", "parallel", begins))
    initial = (trace.field("implicit_begin", "flags", begins) & np.uint64(INITIAL)) != 0
    # Without a region that is known, each is a team of its own.
    regions, team = np.unique(np.where(initial | (region == 0), task, region), return_inverse=True)
    last = int(trace.time.max(initial=0))
    ends = trace.select("implicit_end")
    end = np.full(len(task), last)
    row = find(task, trace.task[ends])
    end[row[row >= 0]] = trace.time[ends[row >= 0]]
    teams = _describe(trace, regions, len(regions), last)
    index = trace.field("implicit_begin", "index", begins).astype(np.int64)
    members = Members(task, team, index, trace.rank[begins].astype(np.int64), initial, trace.time[begins],
                      np.minimum(end, teams.end[team]))  # fmt: skip
    teams.size = np.bincount(team, minlength=len(regions))
    teams.rank[team] = members.rank
    creators = members.find(distinct(tasks.parent))
    teams.creates[team[creators[creators >= 0]]] = True
    return members, teams


def _describe(trace: Trace, regions: np.ndarray, count: int, last: int) -> Teams:
    teams = Teams(np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64),
                  np.full(count, last), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))  # fmt: skip
    for name, column in (("parallel_begin", teams.begin), ("parallel_end", teams.end)):
        rows = trace.select(name)
        team = find(regions, trace.global_task(rows, trace.field(name, "parallel", rows)))
        rows, team = rows[team >= 0], team[team >= 0]
        column[team] = trace.time[rows]
        if name == "parallel_begin":
            teams.code[team] = trace.field(name, "code", rows)
    return teams


def find_runs(segments: Segments, mpi: InMpi, members: Members, begin: int, end: int) -> tuple[Runs, Runs, Runs]:
    """What members did from `begin` to `end`: where they worked, where they waited, and their MPI calls. After its
    region's end a thread waits for the next one."""
    row = members.find(segments.task)
    kept = np.flatnonzero(row >= 0)
    row = row[kept]
    start = np.maximum(segments.start[kept], begin)
    stop = np.minimum(segments.end[kept], np.minimum(members.end[row], end))
    some, waits = stop > start, segments.waits[kept]
    work, idle = np.flatnonzero(some & ~waits), np.flatnonzero(some & waits)
    caller = members.find(mpi.task)
    calls = np.flatnonzero(caller >= 0)
    return (Runs(row[work], start[work], stop[work]), Runs(row[idle], start[idle], stop[idle]),
            Runs(caller[calls], mpi.start[calls], mpi.end[calls]))  # fmt: skip


def find_phases(trace: Trace, members: Members, work: Runs, waits: Runs, mpi: Runs) -> Phases:
    barriers = _barriers(trace, members)
    member, begin, left, code, kind = barriers
    first = group_starts(member)
    number = np.arange(len(member)) - np.repeat(np.flatnonzero(first), np.diff(np.r_[np.flatnonzero(first),
                                                                                    len(member)]))  # fmt: skip
    before = np.r_[0, left[:-1]] if len(left) else left
    start = np.where(first, members.begin[member], before)
    # What follows the last barrier of a member, or is all of it; but the region's end is its last barrier.
    count = np.bincount(member, minlength=len(members.task))
    after, last_kind = members.begin.copy(), np.zeros(len(members.task), dtype=np.int64)
    after[member], last_kind[member] = left, kind  # of several the last one stays
    rest = np.flatnonzero(last_kind != BARRIER_AT_END)
    columns = zip((member, number, start, begin, left, code, kind),
                  (rest, count[rest], after[rest], members.end[rest], members.end[rest],
                   np.zeros(len(rest), dtype=np.uint64), np.zeros(len(rest), dtype=np.int64)))  # fmt: skip
    joined = [np.concatenate(pair) for pair in columns]
    order = np.lexsort((joined[1], joined[0]))
    member, number, start, end, left, code, kind = (column[order] for column in joined)
    return Phases(member, number, start, end, left, code, kind, work.inside(member, start, end),
                  waits.inside(member, start, end), mpi.inside(member, start, end),
                  waits.inside(member, end, left))  # fmt: skip


def _barriers(trace: Trace, members: Members) -> tuple[np.ndarray, ...]:
    """(member, begin, end, code, kind) by member and time."""
    begins, ends = (rows[np.isin(trace.field(name, "kind", rows), BARRIERS)]
                    for name, rows in ((name, trace.select(name)) for name in ("sync_begin", "sync_end")))  # fmt: skip
    events = np.concatenate([begins, ends])
    order = np.argsort(events, kind="stable")
    partner = nested_pairs(trace.task[events[order]], trace.time[events[order]],
                           (np.arange(len(events)) < len(begins))[order])  # fmt: skip
    opened = order < len(begins)
    row, partner = events[order][opened], partner[opened]
    member = members.find(trace.task[row])
    row, partner, member = row[member >= 0], partner[member >= 0], member[member >= 0]
    end = np.where(partner >= 0, trace.time[events[order]][partner] if len(events) else 0, members.end[member])
    begin = np.minimum(trace.time[row], members.end[member])
    by_member = np.lexsort((begin, member))
    code, kind = (trace.field("sync_begin", name, row) for name in ("code", "kind"))
    columns = (member, begin, np.minimum(np.maximum(end, begin), members.end[member]), code, kind.astype(np.int64))
    return tuple(column[by_member] for column in columns)


def phase_at(phases: Phases, member: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Row of the phase in which each member is then; a barrier belongs to the phase before it."""
    return TimeLines(phases.member, phases.start).latest(member, time)
