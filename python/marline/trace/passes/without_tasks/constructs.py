# SPDX-License-Identifier: Apache-2.0
"""What the threads of teams did of each unit of the source: a worksharing construct, or the code between two barriers
that lies in none. See loops.py for what is charged to whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import symbols
from ...read.columns import Columns, distinct, find, group_starts, sums
from ...registry import Analysis
from ...statistics import Groups, group_by
from .teams import Members, Phases, Runs, Teams, phase_at

# ompt_work_t (OpenMP 5.2, 19.4.4.16) of constructs that share out work. A single's other threads belong to it.
_SINGLE, _SINGLE_OTHERS = 3, 4
WORK_NAMES = {1: "loop", 2: "sections", _SINGLE: "single", 5: "workshare", 6: "distribute", 10: "loop", 11: "loop",
              12: "loop", 13: "loop"}  # fmt: skip
SCHEDULES = {10: "static", 11: "dynamic", 12: "guided", 13: "other"}
REGION, _BEFORE_BARRIER, _BEFORE_SOME_BARRIER = range(100, 103)
_NAMES = WORK_NAMES | {REGION: "region", _BEFORE_BARRIER: "code before the barrier",
                       _BEFORE_SOME_BARRIER: "code before a barrier"}  # fmt: skip
_WHERE = {"code before the barrier": " at", "code before a barrier": " of region"}  # between kind and place
_RUNTIMES = re.compile(r"lib(marline|gomp|omp|iomp5)\b")
NOWHERE = "(no code address)"


@dataclass
class Construct:
    """A unit. Times in ns. `calls`: how often a team came to it; `time`: all threads', `mpi` of it in MPI calls;
    `waited`: charged for the waits at its end; `late`: what was waited there for other reasons; `slowest`, `fastest`:
    threads of the rank where it cost most, and their time in all calls."""

    kind: str
    schedule: str
    place: symbols.Location
    calls: int
    threads: int
    iterations: int
    time: int
    locked: int
    mpi: int
    waited: int
    late: int
    imbalance: float
    rank: int
    slowest: tuple[int, int]
    fastest: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.kind}{_WHERE.get(self.kind, '')} {self.place.short()}"

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "schedule": self.schedule, "name": self.name, "function": self.place.function,
            "file": self.place.file, "line": self.place.line, "calls": self.calls, "threads": self.threads,
            "iterations": self.iterations, "time_ns": self.time, "locked_ns": self.locked, "mpi_ns": self.mpi,
            "waited_ns": self.waited, "late_ns": self.late, "imbalance": self.imbalance, "rank": self.rank,
            "slowest": {"thread": self.slowest[0], "time_ns": self.slowest[1]},
            "fastest": {"thread": self.fastest[0], "time_ns": self.fastest[1]},
        }  # fmt: skip


@dataclass
class Entries(Columns):
    """What members did of units. `phase`: the same number for all members of the team."""

    phase: np.ndarray
    kind: np.ndarray
    code: np.ndarray
    member: np.ndarray
    work: np.ndarray
    locked: np.ndarray
    mpi: np.ndarray
    iterations: np.ndarray
    times: np.ndarray


def find_entries(of: Analysis, members: Members, teams: Teams, phases: Phases,
                 runs: tuple[Runs, Runs, Runs]) -> Entries:  # fmt: skip
    """Of teams that create no tasks."""
    some, at = _in_constructs(of, members, teams, phases, runs)
    count = len(phases.member)
    rest = [np.maximum(whole - sums(at, part, count), 0) for whole, part in (
        (phases.work, some.work), (phases.locked, some.locked), (phases.mpi, some.mpi))]  # fmt: skip
    last = phases.at_region_end
    nameless = ~last & _in_runtime(of, members.rank[phases.member], phases.code)
    code = np.where(last | nameless, teams.code[members.team[phases.member]], phases.code)
    kind = np.select([last, nameless], [REGION, _BEFORE_SOME_BARRIER], _BEFORE_BARRIER)
    outside = Entries(team_phases(phases, members), kind, code, phases.member, *rest,
                      np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64))  # fmt: skip
    # What an initial task runs outside of constructs is serial code (regions.py).
    return some.joined(outside.take(~teams.creates[members.team[phases.member]] & ~members.initial[phases.member]))


def _in_runtime(of: Analysis, rank: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Whether an address lies in the OpenMP runtime itself: compilers turn the call of a barrier that ends a function
    into a jump, and then the runtime returns into its own code."""
    found = np.zeros(len(code), dtype=bool)
    order = np.argsort(rank, kind="stable")
    for one, process in of.trace.ranks.items():
        mine = order[slice(*np.searchsorted(rank, (one, one + 1), sorter=order))]
        for part in process.get("maps", []):
            if _RUNTIMES.match(Path(part["path"]).name):
                found[mine] |= (code[mine] >= part["begin"]) & (code[mine] < part["end"])
    return found


def team_phases(phases: Phases, members: Members) -> np.ndarray:
    """By row of phases: a number for all phases of the team that belong together."""
    return members.team[phases.member] << 32 | phases.number


def _in_constructs(of: Analysis, members: Members, teams: Teams, phases: Phases,
                   runs: tuple[Runs, Runs, Runs]) -> tuple[Entries, np.ndarray]:  # fmt: skip
    """(entries; the phase of each)"""
    begins, spans = of.trace.select("work_begin"), of["worksharing"]
    kind = of.trace.field("work_begin", "kind", begins).astype(np.int64)
    kind[kind == _SINGLE_OTHERS] = _SINGLE
    member = members.find(spans.task)
    rows = np.flatnonzero((member >= 0) & np.isin(kind, list(WORK_NAMES)))
    rows = rows[~teams.creates[members.team[member[rows]]]]
    member, start = member[rows], spans.start[rows]
    at = phase_at(phases, member, start)
    end = np.minimum(spans.end[rows], phases.end[at])
    found = Entries(team_phases(phases, members)[at], kind[rows], of.trace.field("work_begin", "code", begins)[rows],
                    member, *(one.inside(member, start, end) for one in runs),
                    of.trace.field("work_begin", "count", begins)[rows].astype(np.int64),
                    np.ones(len(rows), dtype=np.int64))  # fmt: skip
    return found, at


def find_constructs(entries: Entries, members: Members, teams: Teams, waits: tuple[np.ndarray, np.ndarray],
                    places: symbols.Symbols) -> list[Construct]:  # fmt: skip
    """`waits`: numbers of phases, and how long a member waited at their barrier. The most expensive unit first."""
    by_member = group_by(entries.phase, entries.kind, entries.code, entries.member)
    parts = Entries(*map(by_member.key, (entries.phase, entries.kind, entries.code, entries.member)),
                    *map(by_member.sum, (entries.work, entries.locked, entries.mpi, entries.iterations,
                                             entries.times)))  # fmt: skip
    calls = group_by(parts.phase, parts.kind, parts.code)
    table = _Calls(calls, parts, members, teams, waits)
    place_of = _places_of_units(table, places)
    found = [table.construct(kind, place, np.flatnonzero(table.unit == number))
             for number, (kind, place) in enumerate(place_of)]  # fmt: skip
    return sorted((one for one in found if one.time or one.locked or one.late),
                  key=lambda one: -one.time - one.waited - one.late)  # fmt: skip


def _places_of_units(table: _Calls, places: symbols.Symbols) -> list[tuple[int, symbols.Location]]:
    """Numbers the units of the table, and gives what each is: the same code has another address in each rank."""
    keys = group_by(table.kind, table.rank, table.code)
    units: dict[tuple[int, symbols.Location], int] = {}
    number = [units.setdefault((kind, place_of(places, rank, code)), len(units)) for kind, rank, code in
              zip(*(keys.key(column).tolist() for column in (table.kind, table.rank, table.code)))]  # fmt: skip
    table.unit[keys.order] = np.repeat(np.array(number, dtype=np.int64), keys.count)
    return list(units)


def place_of(places: symbols.Symbols, rank: int, code: int) -> symbols.Location:
    return places.places[rank, code] if code else symbols.Location(NOWHERE, "", 0)


class _Calls:
    """A row per unit and phase of a team: what its members did together."""

    def __init__(self, calls: Groups, parts: Entries, members: Members, teams: Teams,
                 waits: tuple[np.ndarray, np.ndarray]) -> None:  # fmt: skip
        self.kind, self.code = calls.key(parts.kind), calls.key(parts.code)
        team = members.team[calls.key(parts.member)]
        self.rank, self.threads = teams.rank[team], teams.size[team]
        self.unit = np.zeros(len(team), dtype=np.int64)
        self.longest, self.time = calls.max(parts.work), calls.sum(parts.work)
        self.locked, self.mpi, self.times = calls.sum(parts.locked), calls.sum(parts.mpi), calls.max(parts.times)
        self.iterations = calls.max(parts.iterations)
        self.charged, self.late = _charge(calls.key(parts.phase), self.kind, self.threads * self.longest - self.time,
                                          waits)  # fmt: skip
        # The members' parts, call by call.
        self._first, self._count = calls.first, calls.count
        self._index, self._work = members.index[parts.member][calls.order], parts.work[calls.order]

    def construct(self, kind: int, place: symbols.Location, rows: np.ndarray) -> Construct:
        """All calls of one unit."""
        mean = float((self.time[rows] / self.threads[rows]).sum())
        cost = np.bincount(self.rank[rows], weights=self.charged[rows] + self.time[rows] * 1e-9)
        worst = int(np.argmax(cost))
        threads = int(self.threads[rows].max())
        slowest, fastest = self._extremes(rows[self.rank[rows] == worst], threads)
        times, *sums_of = (int(column[rows].sum()) for column in (
            self.times, self.iterations, self.time, self.locked, self.mpi, self.charged, self.late))  # fmt: skip
        return Construct(_NAMES[kind], SCHEDULES.get(kind, ""), place, times, threads, *sums_of,
                         float(self.longest[rows].sum()) / mean if mean else 1.0, worst, slowest, fastest)  # fmt: skip

    def _extremes(self, rows: np.ndarray, threads: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(thread, ns) of the slowest and of the fastest. A thread that was never there has worked 0 ns."""
        count = self._count[rows]
        part = np.repeat(self._first[rows] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
        of_thread = np.bincount(self._index[part], weights=self._work[part], minlength=threads)
        slowest, fastest = int(np.argmax(of_thread)), int(np.argmin(of_thread))
        return (slowest, int(of_thread[slowest])), (fastest, int(of_thread[fastest]))


def _charge(phase: np.ndarray, kind: np.ndarray, excess: np.ndarray,
            waits: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """What each call is charged with for waits, and what of them it does not explain. Of a phase it is one call: that
    with the greatest excess. Code outside of constructs has to explain a tenth of the wait more than a construct."""
    charged = np.zeros(len(phase), dtype=np.int64)
    if not len(phase):
        return charged, charged
    phases = distinct(phase)
    known = find(phases, waits[0])
    waited = sums(known[known >= 0], waits[1][known >= 0], len(phases))[find(phases, phase)]
    explained = np.minimum(excess, waited) + np.where(kind < REGION, waited // 10, 0)
    order = np.lexsort((-excess, -explained, phase))
    chosen = order[group_starts(phase[order])]
    charged[chosen] = waited[chosen]
    return np.minimum(charged, excess), np.maximum(charged - excess, 0)
