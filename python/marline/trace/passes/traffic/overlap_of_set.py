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
from ..overlap import work_of


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
    sets = [(rank,) for rank in sorted(of.trace.ranks)] if chosen is None else [chosen]
    lanes = all_lanes(of.trace, of["segments"], calls)
    found = OverlapOfSet(window, chosen, 0, 0, 0, 0)
    for one in sets:
        leaves = np.flatnonzero(np.isin(sender, one) & ~np.isin(receiver, one) & (end > start))
        if not len(leaves):
            continue
        under_way = int((end - start)[leaves].sum())
        found.messages += len(leaves)
        found.under_way += under_way
        found.possible += under_way * int(np.isin(lanes.rank, one).sum())
        for rank in one:
            done = work_of(of, rank)
            found.work += int((done.until(end[leaves]) - done.until(start[leaves])).sum())
    return found
