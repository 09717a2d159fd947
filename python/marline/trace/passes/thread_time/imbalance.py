# SPDX-License-Identifier: Apache-2.0
"""A pass that only the report asks for: how much of the ranks' waiting for each other comes from unequal work."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...registry import Analysis, analysis_pass
from .causes import NUMBER, OF_PART, WORK


@dataclass
class Imbalance:
    """Per rank, in ns of thread time: its waiting for other ranks (idle before its first task and after its last, and
    idle while its tasks are in MPI, suspended or holding their threads), as far as others have more work per thread.
    The rest of that idle time has other reasons. Waiting is charged to the rank's ends first. `proven`: the part of it
    that is there also if all that threads waited for a core lies in the work of the others."""

    ranks: np.ndarray
    at_ends: np.ndarray
    in_communication: np.ndarray
    in_held: np.ndarray
    proven: np.ndarray

    def document(self) -> dict[str, Any]:
        return {"ranks": self.ranks.tolist(), "at_ends_ns": self.at_ends.tolist(),
                "in_communication_ns": self.in_communication.tolist(), "in_held_ns": self.in_held.tolist(),
                "proven_ns": self.proven.tolist()}  # fmt: skip


def core_waits(of: Analysis) -> dict[int, int]:
    """ns that each rank's threads were ready to run and had no core. 0 of a rank without records, where the node has
    fewer CPUs than the job has threads there, which then wait for each other, and where the trace does not say."""
    described, lanes = of.trace.ranks, of["breakdown"].lane_rank.tolist()
    threads, recorded = Counter(described[rank]["boot_id"] for rank in lanes), set(lanes)
    return {rank: one.get("waited_for_core_ns", 0)
            if rank in recorded and threads[one["boot_id"]] <= one.get("cpus", 0) else 0
            for rank, one in described.items()}  # fmt: skip


@analysis_pass("imbalance", needs=("breakdown",))
def imbalance(of: Analysis) -> Imbalance:
    """A rank can wait for unequal work no longer than the rank with most work per thread works more."""
    breakdown, waits = of["breakdown"], core_waits(of)
    sums = np.array([breakdown.of_rank(rank).sum(axis=0) for rank in breakdown.ranks.tolist()])
    threads = np.array([np.count_nonzero(breakdown.lane_rank == rank) for rank in breakdown.ranks.tolist()])
    waited = np.array([waits[rank] for rank in breakdown.ranks.tolist()])
    work = sums[:, OF_PART[WORK]].sum(axis=1)
    excess = _excess(work / threads, work, threads)
    at_ends = np.minimum(sums[:, NUMBER["idle_ranks"]], excess)
    in_communication = np.minimum(sums[:, NUMBER["idle_communication"]], excess - at_ends)
    in_held = np.minimum(sums[:, NUMBER["idle_held"]], excess - at_ends - in_communication)
    least = _excess(np.maximum(work - waited, 0) / threads, work, threads)
    proven = np.minimum(at_ends + in_communication + in_held, least)
    return Imbalance(breakdown.ranks, at_ends, in_communication, in_held, proven)


def _excess(of_others: np.ndarray, work: np.ndarray, threads: np.ndarray) -> np.ndarray:
    """How much more each rank would have worked with as much work per thread as the others have at most."""
    return np.rint(np.maximum(of_others.max() - work / threads, 0) * threads).astype(np.int64)
