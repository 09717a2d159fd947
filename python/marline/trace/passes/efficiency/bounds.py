# SPDX-License-Identifier: Apache-2.0
"""The pass `bounds`: how fast the same work could be with more threads, with a better network, or with both.

With work T1 (all of the program's code), P threads, span T (the longest path if MPI takes no time), and the critical
path C (the longest path with MPI as it was; passes `critical_path` and `ideal_network` say how they are found):

    infinite threads                       C                  no schedule on this network is faster
    infinite network                       max(T1 / P, T)     no schedule on these threads is faster
    infinite network, same order of tasks  replay of the run  what this run would have taken
    infinite threads and network           T                  nothing is faster

(Work and span laws: Blumofe and Leiserson 1999, section 2; Brent 1974.)

All of these take the program as it is divided: a thread's share of a loop, and code outside of tasks, is one piece of
the path. Where that is the fault, they show no gain. So there are bounds for other divisions, with makespan M, and over
the ranks r without tasks, the time t(r, cause) of the breakdown and the P(r) threads of the rank:

    no waits at barriers, serial code, locks   M - max over r of t(r, cause) / P(r)
    all threads busy                           T1 / P          whatever waits for what

A loop that is divided evenly has no waits at its end; serial code s that P threads share takes s / P, and t(r, serial
code) is the time of the other P - 1 threads. Each of the three is what at most is gained by this change alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...registry import Analysis, analysis_pass
from ..thread_time.breakdown import Breakdown
from ..thread_time.causes import NUMBER

_CAUSES = ("idle_barrier", "idle_outside", "idle_lock")


@dataclass
class Bounds:
    """All in ns."""

    makespan: int
    infinite_threads: int
    infinite_network: int
    infinite_network_same_order: int
    infinite_threads_and_network: int
    no_barrier_waits: int
    no_serial_code: int
    no_lock_waits: int
    all_busy: int

    def document(self) -> dict[str, Any]:
        return {f"{name}_ns": value for name, value in vars(self).items()}


@analysis_pass("bounds", needs=("critical_path", "ideal_network", "breakdown"))
def bounds(of: Analysis) -> Bounds:
    """How fast the same work could be with infinite threads, an infinite network, or without waits."""
    path = of["critical_path"]
    same_order = max(of["ideal_network"].ideal, path.least)  # where records lack, the replay lacks what they order
    return Bounds(path.makespan, path.path_length, path.least, same_order, path.span,
                  *(path.makespan - _gain(of["breakdown"], cause) for cause in _CAUSES),
                  path.work // max(path.threads, 1))  # fmt: skip


def _gain(found: Breakdown, cause: str) -> int:
    """What a rank without tasks has lost by this cause, per thread: of the rank that has lost most."""
    lost = [int(found.of_rank(rank)[:, NUMBER[cause]].sum()) // int((found.lane_rank == rank).sum())
            for rank, model in zip(found.ranks.tolist(), found.models) if model == "code"]  # fmt: skip
    return max(lost, default=0)
