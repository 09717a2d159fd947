# SPDX-License-Identifier: Apache-2.0
"""Whether ranks waited for each other mostly once: a rank that is late a single time needs another remedy than one that
has more to do in each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...read.events import MPI_CALLS
from ...registry import Analysis
from ...statistics import group_by

MOST = 0.5  # of all waiting for other ranks, by those who wait for one call of one rank
FEWEST = 4  # calls that are waited for: of fewer, one is always most of it


@dataclass(frozen=True)
class Wait:
    """The longest wait for `partner`, by `rank` in a call of `function`, from `start` to `end`, the time at which the
    other one came. `total`: of all who waited for that; `share`: of all waiting for other ranks."""

    rank: int
    thread: int
    function: str
    partner: int
    start: int
    end: int
    total: int
    share: float


def longest_wait(of: Analysis) -> Wait | None:
    """None: no single call is waited for that long, or too few are waited for."""
    found = of["mpi_waits"]
    calls = found.calls
    some = np.flatnonzero((found.waited > 0) & (found.partner >= 0))
    until = calls.start[some] + found.waited[some]
    groups = group_by(found.partner[some], until)
    if len(groups.count) < FEWEST:
        return None
    total = groups.sum(found.waited[some])
    worst, whole = int(np.argmax(total)), int(total.sum())
    if total[worst] < MOST * whole:
        return None
    first = int(groups.first[worst])
    mine = some[groups.order[first : first + int(groups.count[worst])]]
    row = int(mine[np.argmax(found.waited[mine])])
    number = int(calls.call[row])
    return Wait(int(calls.rank[row]), int(calls.start_thread[row]), MPI_CALLS.get(number, f"MPI call {number}"),
                int(found.partner[row]), int(calls.start[row]), int(calls.start[row] + found.waited[row]),
                int(total[worst]), int(total[worst]) / whole)  # fmt: skip
