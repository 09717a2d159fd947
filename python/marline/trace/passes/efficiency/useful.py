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

from ...read.columns import overlaps, sums
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


@analysis_pass("useful", needs=("breakdown", "segments", "in_mpi"))
def useful(of: Analysis) -> Useful:
    """Of a rank without tasks it is the breakdown's work."""
    table, runs, mpi = of["breakdown"], of["segments"], of["in_mpi"]
    begin, end = int(table.edges[0]), int(table.edges[-1])
    lanes = Lanes(table.lane_rank, table.lane_thread)
    start, stop = np.clip(runs.start, begin, end), np.clip(runs.end, begin, end)
    lane = lanes.index(runs.rank, runs.thread)
    rows = np.flatnonzero(~runs.waits & (lane >= 0) & (stop > start))
    inside = overlaps(runs.task[rows], start[rows], stop[rows], mpi.task, mpi.start, mpi.end)
    time = sums(lane[rows], stop[rows] - start[rows], len(lanes.rank))
    time -= sums(lane[rows[inside.a]], inside.end - inside.start, len(lanes.rank))
    modelled = dict(zip(table.ranks.tolist(), table.models))
    of_code = np.array([modelled[rank] == "code" for rank in lanes.rank.tolist()], dtype=bool)
    time[of_code] = table.time[of_code][:, :, NUMBER["work_body"]].sum(axis=1)
    return Useful(lanes.rank, lanes.thread, time)
