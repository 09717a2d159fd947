# SPDX-License-Identifier: Apache-2.0
"""The pass `bounds`: how fast the same work could be with more threads, with a better network, or with both.

With work T1 (all of the program's code), P threads, span T (the longest path if MPI takes no time), and the critical
path C (the longest path with MPI as it was; passes `critical_path` and `ideal_network` say how they are found):

    infinite threads                       C                  no schedule on this network is faster
    infinite network                       max(T1 / P, T)     no schedule on these threads is faster
    infinite network, same order of tasks  replay of the run  what this run would have taken
    infinite threads and network           T                  nothing is faster

(Work and span laws: Blumofe and Leiserson 1999, section 2; Brent 1974.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...registry import Analysis, analysis_pass


@dataclass
class Bounds:
    """All in ns."""

    makespan: int
    infinite_threads: int
    infinite_network: int
    infinite_network_same_order: int
    infinite_threads_and_network: int

    def document(self) -> dict[str, Any]:
        return {f"{name}_ns": value for name, value in vars(self).items()}


@analysis_pass("bounds", needs=("critical_path", "ideal_network"))
def bounds(of: Analysis) -> Bounds:
    """How fast the same work could be with infinite threads, an infinite network, or both."""
    path = of["critical_path"]
    same_order = max(of["ideal_network"].ideal, path.least)  # where records lack, the replay lacks what they order
    return Bounds(path.makespan, path.path_length, path.least, same_order, path.span)
