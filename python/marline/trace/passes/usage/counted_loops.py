# SPDX-License-Identifier: Apache-2.0
"""The pass `counters_of_loops`: what code outside of explicit tasks has counted, by its place in the source.

The recorder reads a thread's counters at the begin and the end of each worksharing construct, too. So of the values v
of a counter that follow one another on a thread (see the pass `counters`)

    sum(unit) = sum of v(i) - v(i-1) over the values between which the thread was in the unit

where the unit is the construct that the thread's implicit task was in, else its parallel region, else serial code. As
in the pass `loops`, GCC's inline loops with a static schedule belong to their region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import outlined, symbols
from ...read.columns import TimeLines, find, sums
from ...read.records import TASK_BITS, Trace
from ...registry import Analysis, analysis_pass
from ...statistics import group_by
from ..without_tasks.constructs import WORK_NAMES, place_of
from ..without_tasks.teams import Members, Teams
from .counters import derived, described

_REGION, _SERIAL = 100, 102
_KIND_NAMES = WORK_NAMES | {4: "single", _REGION: "region", _SERIAL: "serial code"}


@dataclass
class CountersOfLoops:
    """`count[unit, counter]`; `time`: ns between the values."""

    names: list[str]
    units: list[str]
    time: np.ndarray
    count: np.ndarray

    def document(self) -> list[dict[str, Any]]:
        rows = [{"name": name, "tasks": 0, "time_ns": time, "counters": described(self.names, count, 0, time),
                 "derived": derived(dict(zip(self.names, count)))}
                for name, time, count in zip(self.units, self.time.tolist(), self.count.tolist())]  # fmt: skip
        return sorted(rows, key=lambda row: -row["time_ns"])


@analysis_pass("counters_of_loops", needs=("counters", "teams"))
def counters_of_loops(of: Analysis) -> CountersOfLoops:
    """What loops, regions and serial code have counted."""
    trace, counted = of.trace, of["counters"]
    some = np.flatnonzero(counted.outside)
    members, teams = of["teams"]
    rank = (counted.by[some] >> np.uint64(TASK_BITS)).astype(np.int64)
    kind, code = _units(trace, members, teams, counted.by[some], counted.since[some])
    groups = group_by(rank, kind, code)
    names, unit = _named(trace, *(groups.key(column) for column in (rank, kind, code)))
    of_value = np.zeros(len(some), dtype=np.int64)
    of_value[groups.order] = np.repeat(unit, groups.count)
    counter = counted.counter[some]
    count = np.zeros((len(names), len(counted.names)), dtype=np.int64)
    np.add.at(count, (of_value, counter), counted.value[some])
    first = np.flatnonzero(counter == 0)  # all counters of a moment have its time
    return CountersOfLoops(counted.names, names, sums(of_value[first], counted.lasts[some][first], len(names)), count)


def _units(trace: Trace, members: Members, teams: Teams, task: np.ndarray,
           time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(kind, code) of what each implicit task was in from `time` on."""
    member = members.find(task)
    serial = (member < 0) | (members.initial[np.maximum(member, 0)] if len(members.task) else True)
    kind = np.where(serial, _SERIAL, _REGION)
    code = np.zeros(len(task), dtype=np.uint64)
    code[~serial] = teams.code[members.team[member[~serial]]]
    begins = trace.select("work_begin")
    # GCC does not report the end of a single; a barrier comes after it.
    events = np.sort(np.concatenate([begins, *(trace.select(name) for name in ("work_end", "wait_begin", "wait_end"))]))
    if len(events):
        at = TimeLines(trace.task[events], trace.time[events]).latest(task, time)
        begin = find(begins, events[np.maximum(at, 0)])
        inside = np.flatnonzero((at >= 0) & (begin >= 0))
        rows = begins[begin[inside]]
        kind[inside] = trace.field("work_begin", "kind", rows)
        code[inside] = trace.field("work_begin", "code", rows)
    return kind, code


def _named(trace: Trace, rank: np.ndarray, kind: np.ndarray, code: np.ndarray) -> tuple[list[str], np.ndarray]:
    """(names; the place of each unit's): a unit has another address in each rank."""
    region = kind == _REGION
    places = outlined.locate(trace.ranks, symbols.codes_by_rank(rank, code),
                             symbols.codes_by_rank(rank[region], code[region]))  # fmt: skip
    names: dict[str, int] = {}
    units = [names.setdefault(_name(places, *one), len(names))
             for one in zip(rank.tolist(), kind.tolist(), code.tolist())]  # fmt: skip
    return list(names), np.array(units, dtype=np.int64)


def _name(places: symbols.Symbols, rank: int, kind: int, code: int) -> str:
    title = _KIND_NAMES.get(kind, f"work of kind {kind}")
    return title if kind == _SERIAL else f"{title} {place_of(places, rank, code).short()}"
