# SPDX-License-Identifier: Apache-2.0
"""Parallel regions and worksharing constructs, by their place in the source: how long threads worked in them, how
unevenly, and what the waiting at their end has cost. Of each team:

- A thread's time in a construct is what it worked there: without barriers, and without waits for locks, which are
  `locked`. Of a region it is the code that lies in none of its constructs. GCC generates inline code for loops with a
  static schedule and calls nothing: of such a loop the region is the unit, or, if the region has several barriers, the
  code before a barrier.
- Imbalance: the longest time of a thread over the mean of the team's threads, each summed over all calls. It is the
  inverse of the load balance of the POP project (pop-coe.eu, "metrics for hybrid parallel codes").
- The wait at a barrier is charged to the unit since the barrier before in which the excess is greatest: the sum over
  the threads of (longest time - own time). Of two that explain about the same, it is the construct. No unit is charged
  with more than its excess, which is what it can explain: the wait for a thread that came late for another reason is
  its `late`.

Regions that create tasks are left out of the units: their threads run tasks while they wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import outlined, symbols
from ...registry import Analysis, analysis_pass
from .constructs import Construct, find_constructs, find_entries, team_phases
from .regions import serial_code, whole_regions
from .teams import Teams, find_phases, find_runs


@dataclass
class Loops:
    """`constructs`: the most expensive first, with what was waited for them. `regions`: whole regions, those with tasks
    too. `serial`: code between regions. `waited`, `locked`: all waits at barriers and for locks, in ns."""

    constructs: list[Construct]
    regions: list[dict[str, Any]]
    serial: list[dict[str, Any]]
    waited: int
    locked: int
    arrivals: int  # of threads at barriers
    notes: list[str]  # why code has no name

    def document(self) -> dict[str, Any]:
        return {"constructs": [one.document() for one in self.constructs], "regions": self.regions,
                "serial": self.serial, "waited_ns": self.waited, "locked_ns": self.locked,
                "arrivals": self.arrivals, "notes": self.notes}  # fmt: skip


@analysis_pass("loops", needs=("segments", "tasks", "worksharing", "breakdown", "in_mpi", "teams"))
def loops(of: Analysis) -> Loops:
    members, teams = of["teams"]
    edges = of["breakdown"].edges
    runs = find_runs(of["segments"], of["in_mpi"], members, int(edges[0]), int(edges[-1]))
    phases = find_phases(of.trace, members, *runs)
    entries = find_entries(of, members, teams, phases, runs)
    rank, code = _codes_of_regions(of, teams)
    codes = symbols.codes_by_rank(np.r_[rank, members.rank[entries.member]], np.r_[code, entries.code])
    places = outlined.locate(of.trace.ranks, codes, symbols.codes_by_rank(rank, code))
    counts = ~teams.creates[members.team[phases.member]]
    waited = phases.waited * counts
    return Loops(find_constructs(entries, members, teams, (team_phases(phases, members), waited), places),
                 whole_regions(members, teams, phases, places), serial_code(of, members, places), int(waited.sum()),
                 int((phases.locked * counts).sum()), int(np.count_nonzero(counts & (phases.kind != 0))),
                 places.notes)  # fmt: skip


def _codes_of_regions(of: Analysis, teams: Teams) -> tuple[np.ndarray, np.ndarray]:
    """(ranks, codes); a region may be known by its fork only."""
    forks = of.trace.select("parallel_begin")
    return (np.r_[teams.rank, of.trace.rank[forks].astype(np.int64)],
            np.r_[teams.code, of.trace.field("parallel_begin", "code", forks)])  # fmt: skip
