# SPDX-License-Identifier: Apache-2.0
"""Whole parallel regions, and the serial code between them, by their place in the source."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import symbols
from ...read.columns import distinct, find, overlaps, sums
from ...registry import Analysis
from ...statistics import group_by
from .constructs import place_of
from .teams import Members, Phases, Teams

SHORT_NS = 10_000  # to start a region and to end it costs some microseconds: a shorter piece of code is lost in that
_SUMS = ("times", "total_ns", "short_ns")  # of a row of serial code

def whole_regions(members: Members, teams: Teams, phases: Phases, places: symbols.Symbols) -> list[dict[str, Any]]:
    """A row per region: the time of its threads, that in its loops included. Imbalance as in loops.py."""
    count = len(teams.code)
    team = members.team[phases.member]
    of_member = sums(phases.member, phases.work, len(members.task))
    longest = np.zeros(count, dtype=np.int64)
    np.maximum.at(longest, members.team, of_member)
    columns = {"elapsed_ns": teams.end - teams.begin, "longest_ns": longest} | {
        f"{name}_ns": sums(team, column, count)
        for name, column in (("time", phases.work), ("locked", phases.locked), ("waited", phases.waited))
    }
    chosen = np.ones(count, dtype=bool)
    chosen[members.team[members.initial]] = False
    teams_of_regions = np.flatnonzero(chosen)
    groups = group_by(teams.rank[teams_of_regions], teams.code[teams_of_regions])
    rows: dict[symbols.Location, dict[str, Any]] = {}
    for first, size in zip(groups.first.tolist(), groups.count.tolist()):
        mine = teams_of_regions[groups.order[first : first + size]]
        place = place_of(places, int(teams.rank[mine[0]]), int(teams.code[mine[0]]))
        row = rows.setdefault(place, _empty(place, columns))
        row["calls"] += size
        row["threads"] = max(row["threads"], int(teams.size[mine].max()))
        row["with_tasks"] |= bool(teams.creates[mine].any())
        row["mean_ns"] += float((columns["time_ns"][mine] / np.maximum(teams.size[mine], 1)).sum())
        for name, column in columns.items():
            row[name] += int(column[mine].sum())
    for row in rows.values():
        longest_ns, mean_ns = row.pop("longest_ns"), row.pop("mean_ns")
        row["imbalance"] = longest_ns / mean_ns if mean_ns else 1.0
    return sorted(rows.values(), key=lambda row: -row["time_ns"])


def _empty(place: symbols.Location, columns: dict[str, np.ndarray]) -> dict[str, Any]:
    return {"name": f"region {place.short()}", "function": place.function, "file": place.file, "line": place.line,
            "calls": 0, "threads": 0, "with_tasks": False, "mean_ns": 0.0} | dict.fromkeys(columns, 0)  # fmt: skip


def serial_code(of: Analysis, members: Members, places: symbols.Symbols) -> list[dict[str, Any]]:
    """What one thread of a rank runs between two regions, without its MPI calls, by these regions; most first. A region
    inside of another one is no end of serial code. `short_ns`: of the total, what lies in pieces shorter than SHORT_NS,
    which are the runtime's work between two regions rather than code of the program."""
    trace = of.trace
    forks = trace.select("parallel_begin")
    row = members.find(trace.task[forks])
    forks = forks[(row < 0) | members.initial[np.maximum(row, 0)]] if len(members.task) else forks
    ends = trace.select("parallel_end")
    region, ended = (trace.global_task(rows, trace.field(name, "parallel", rows))
                     for name, rows in (("parallel_begin", forks), ("parallel_end", ends)))  # fmt: skip
    known = distinct(region)
    end = np.full(len(known), int(trace.time.max(initial=0)))
    at = find(known, ended)
    end[at[at >= 0]] = trace.time[ends[at >= 0]]
    end = end[find(known, region)]
    breakdown, mpi = of["breakdown"], of["in_mpi"]
    calls = np.flatnonzero(np.isin(mpi.task, trace.task[forks]))
    calls = calls[np.argsort(mpi.rank[calls], kind="stable")]
    ranks = [column.astype(np.int64) for column in (trace.rank[forks], mpi.rank[calls])]  # ascending
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number, rank in enumerate(breakdown.ranks.tolist()):
        mine, its = (slice(*np.searchsorted(column, (rank, rank + 1))) for column in ranks)
        if len(forks[mine]):
            span = int(breakdown.own_begin[number]), int(breakdown.own_end[number])
            _add_gaps(of, rank, forks[mine], end[mine], calls[its], span, places, found)
    return sorted((row for row in found.values() if row["total_ns"] > 0), key=lambda row: -row["total_ns"])


def _add_gaps(of: Analysis, rank: int, forks: np.ndarray, end: np.ndarray, calls: np.ndarray, span: tuple[int, int],
              places: symbols.Symbols, found: dict[tuple[str, str], dict[str, Any]]) -> None:  # fmt: skip
    """Forks of a rank, the ends of their regions, and its calls of MPI in tasks that fork."""
    order = np.argsort(of.trace.time[forks], kind="stable")
    forks, end = forks[order], np.maximum.accumulate(end[order])
    left = np.clip(np.r_[span[0], end], *span)
    right = np.clip(np.r_[of.trace.time[forks], span[1]], *span)
    mpi = of["in_mpi"]
    inside = overlaps(np.zeros(len(left), dtype=np.int64), left, right, np.zeros(len(calls), dtype=np.int64),
                      mpi.start[calls], mpi.end[calls])  # fmt: skip
    alone = np.maximum(right - left, 0) - sums(inside.a, inside.end - inside.start, len(left))
    code = of.trace.field("parallel_begin", "code", forks)
    after, before = np.r_[np.uint64(0), code], np.r_[code, np.uint64(0)]
    between = np.r_[False, np.ones(len(code) - 1, dtype=bool), False]
    short = np.where(between & (alone < SHORT_NS), alone, 0)
    pairs = group_by(after, before)
    for codes, *values in zip(zip(pairs.key(after).tolist(), pairs.key(before).tolist()), pairs.count.tolist(),
                              pairs.sum(alone).tolist(), pairs.sum(short).tolist()):  # fmt: skip
        names = tuple(place_of(places, rank, one).short() if one else "" for one in codes)
        row = found.setdefault(names, {"after": names[0], "before": names[1]} | dict.fromkeys(_SUMS, 0))
        for name, value in zip(_SUMS, values):
            row[name] += value
