# SPDX-License-Identifier: Apache-2.0
"""The pass `overlap_of_set`: the overlap ratio of any window of time and any set of processes.

The definition is that of R. Pereira's thesis (2023, 4.1.2). For a set Q of ranks with T(Q) threads, a window [a, b],
and the messages e that leave Q in the window, each under way during I(e) = [sent, received] cut to [a, b]:

    overlap(Q, [a, b]) = sum over e of (work of Q's threads during I(e)) / (T(Q) x sum over e of the length of I(e))

A message between two ranks of Q is inside of it and does not count. Without a list of ranks, each rank is a set of its
own, and the sums go over all of them, as in the pass `overlap`, which also says what work is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...registry import Analysis, AnalysisError, analysis_pass
from ..lanes import all_lanes
from ..overlap import WorkOfRanks


@dataclass
class OverlapOfSet:
    """Times in ns; `possible`: threads x time under way. `ranks`: None: all, each for itself."""

    window: tuple[int, int]
    ranks: tuple[int, ...] | None
    messages: int
    under_way: int
    work: int
    possible: int

    def document(self) -> dict[str, Any]:
        return {"window_ns": list(self.window), "ranks": None if self.ranks is None else list(self.ranks),
                "messages": self.messages, "under_way_ns": self.under_way, "work_ns": self.work,
                "ratio": self.work / self.possible if self.possible else None}  # fmt: skip


@analysis_pass("overlap_of_set", needs=("calls", "messages", "segments", "owners", "in_mpi"))
def overlap_of_set(of: Analysis) -> OverlapOfSet:
    """The overlap ratio of a window of time and a set of ranks, as the Analysis was asked for them."""
    calls, messages, chosen = of["calls"], of["messages"], of.selection.ranks
    window = of.selection.window or (0, int(of.trace.time.max()))
    unknown = sorted(set(chosen or ()) - set(of.trace.ranks))
    if unknown:
        raise AnalysisError(f"--ranks: the trace has no rank {unknown[0]}; its ranks are {min(of.trace.ranks)} to "
                            f"{max(of.trace.ranks)}")  # fmt: skip
    sender, receiver = (calls.rank[row].astype(np.int64) for row in (messages.send, messages.receive))
    start = np.clip(calls.start[messages.send], *window)
    end = np.clip(np.maximum(calls.end[messages.receive], calls.start[messages.send]), *window)
    # A message within a set is inside of it. Without a list, each rank is a set of its own.
    if chosen is None:
        leaves = np.flatnonzero((sender != receiver) & (end > start))
    else:
        leaves = np.flatnonzero(np.isin(sender, chosen) & ~np.isin(receiver, chosen) & (end > start))
    sender, start, end = sender[leaves], start[leaves], end[leaves]
    lanes, work = all_lanes(of.trace, of["segments"], calls), WorkOfRanks(of)
    if chosen is None:
        threads = np.bincount(lanes.rank, minlength=max(of.trace.ranks) + 1)[sender]
        done = int(work.during(sender, start, end).sum())
    else:
        threads = np.full(len(sender), np.count_nonzero(np.isin(lanes.rank, chosen)))
        done = sum(int(work.during(np.full(len(start), rank), start, end).sum()) for rank in chosen)
    duration = end - start
    return OverlapOfSet(window, chosen, len(leaves), int(duration.sum()), done, int((threads * duration).sum()))
