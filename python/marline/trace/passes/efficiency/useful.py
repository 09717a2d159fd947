# SPDX-License-Identifier: Apache-2.0
"""The pass `useful`: how long each thread ran the program's code within the common total.

Useful time is POP's (pop-coe.eu, glossary of the metrics): outside of MPI and outside of waits, in tasks and in other
code. What the runtime spends on the creation of a task cannot be told from the code around it, so it is useful here.

For a thread t: useful(t) = sum of the pieces in which it ran code, without the MPI calls in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.columns import sums
from ...registry import Analysis, analysis_pass
from ..lanes import Lanes
from ..thread_time.causes import NUMBER


@dataclass
class Useful:
    """A row per thread that counts; ns."""

    rank: np.ndarray
    thread: np.ndarray
    time: np.ndarray

    def document(self) -> list[dict[str, Any]]:
        return [{"rank": int(rank), "thread": int(thread), "useful_ns": int(time)}
                for rank, thread, time in zip(self.rank, self.thread, self.time)]  # fmt: skip


@analysis_pass("useful", needs=("breakdown", "segments", "code_pieces"))
def useful(of: Analysis) -> Useful:
    """How long each thread ran the program's code; of a rank without tasks this is the breakdown's work."""
    table, runs, pieces = of["breakdown"], of["segments"], of["code_pieces"]
    total = int(table.edges[0]), int(table.edges[-1])
    lanes = Lanes(table.lane_rank, table.lane_thread)
    lane = lanes.index(runs.rank[pieces.segment], runs.thread[pieces.segment])

    def within(lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        known = lane >= 0
        lasted = np.clip(end, *total) - np.clip(start, *total)
        return sums(lane[known], lasted[known], len(lanes.rank))

    time = within(lane, runs.start[pieces.segment], runs.end[pieces.segment])
    time -= within(lane[pieces.inside], pieces.start, pieces.end)
    modelled = dict(zip(table.ranks.tolist(), table.models))
    of_code = np.array([modelled[rank] == "code" for rank in lanes.rank.tolist()], dtype=bool)
    time[of_code] = table.time[of_code][:, :, NUMBER["work_body"]].sum(axis=1)
    return Useful(lanes.rank, lanes.thread, time)
