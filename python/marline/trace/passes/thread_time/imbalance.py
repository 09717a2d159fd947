# SPDX-License-Identifier: Apache-2.0
"""A pass that only the report asks for: how much of the ranks' waiting for each other comes from unequal work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...registry import Analysis, analysis_pass
from .causes import NUMBER, OF_PART, WORK


@dataclass
class Imbalance:
    """Per rank, in ns of thread time: its waiting for other ranks (idle before its first task and after its last, and
    idle while its tasks are in MPI, suspended or holding their threads), as far as others have more work per thread.
    The rest of that idle time has other reasons. Waiting is charged to the rank's ends first."""

    ranks: np.ndarray
    at_ends: np.ndarray
    in_communication: np.ndarray
    in_held: np.ndarray

    def document(self) -> dict[str, Any]:
        return {"ranks": self.ranks.tolist(), "at_ends_ns": self.at_ends.tolist(),
                "in_communication_ns": self.in_communication.tolist(), "in_held_ns": self.in_held.tolist()}  # fmt: skip


@analysis_pass("imbalance", needs=("breakdown",))
def imbalance(of: Analysis) -> Imbalance:
    """A rank can wait for unequal work no longer than the rank with most work per thread works more."""
    breakdown = of["breakdown"]
    sums = np.array([breakdown.of_rank(rank).sum(axis=0) for rank in breakdown.ranks.tolist()])
    threads = np.array([np.count_nonzero(breakdown.lane_rank == rank) for rank in breakdown.ranks.tolist()])
    work = sums[:, OF_PART[WORK]].sum(axis=1) / threads
    excess = np.rint((work.max() - work) * threads).astype(np.int64)
    at_ends = np.minimum(sums[:, NUMBER["idle_ranks"]], excess)
    in_communication = np.minimum(sums[:, NUMBER["idle_communication"]], excess - at_ends)
    in_held = np.minimum(sums[:, NUMBER["idle_held"]], excess - at_ends - in_communication)
    return Imbalance(breakdown.ranks, at_ends, in_communication, in_held)
