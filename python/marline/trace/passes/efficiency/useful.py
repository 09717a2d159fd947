# SPDX-License-Identifier: Apache-2.0
"""The pass `useful`: how long each thread ran the program's code within the common total.

Useful time is POP's (pop-coe.eu, glossary of the metrics): outside of MPI, of waits and of the runtime, in tasks and in
other code. The breakdown's work is in tasks alone: the code that creates tasks is useful, and is idle or overhead time
there (R. Pereira's definitions). `outside_tasks` is this difference.

For a thread t: useful(t) = sum of the pieces in which it ran code, without the MPI calls in them, and without what the
runtime took to create tasks there, as far as it tells this (pass `creations`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.columns import sums
from ...registry import Analysis, analysis_pass
from ..lanes import Lanes
from ..thread_time.causes import NUMBER


@dataclass
class Useful:
    """A row per thread that counts; ns. `outside_tasks`: of `time`, in code outside of explicit tasks; 0 of ranks that
    have none."""

    rank: np.ndarray
    thread: np.ndarray  # the number that is shown
    time: np.ndarray
    outside_tasks: np.ndarray

    def document(self) -> list[dict[str, Any]]:
        return [{"rank": int(rank), "thread": int(thread), "useful_ns": int(time)}
                for rank, thread, time in zip(self.rank, self.thread, self.time)]  # fmt: skip


@analysis_pass("useful", needs=("breakdown", "segments", "code_pieces", "tasks", "creations"))
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
    time = np.maximum(time - _creations(of, lanes, within), 0)
    modelled = dict(zip(table.ranks.tolist(), table.models))
    of_code = np.array([modelled[rank] == "code" for rank in lanes.rank.tolist()], dtype=bool)
    work = table.time[:, :, NUMBER["work_body"]].sum(axis=1)
    time[of_code] = work[of_code]
    return Useful(lanes.rank, of["breakdown"].number, time, np.maximum(time - work, 0))


def _creations(of: Analysis, lanes: Lanes, within: Callable[..., np.ndarray]) -> np.ndarray:
    """Per thread: what the runtime took to create tasks there. Of tasks that code outside of tasks creates, it is taken
    to pass in one piece."""
    tasks, runs, found = of["tasks"], of["segments"], of["creations"]
    piece = found.pieces
    inside = within(lanes.index(runs.rank[piece.segment], runs.thread[piece.segment]), piece.start, piece.end)
    rows = np.flatnonzero((tasks.index(tasks.parent) < 0) & (found.time > 0))
    record, start = tasks.record[rows], tasks.created[rows]
    lane = lanes.index(of.trace.rank[record], of.trace.thread[record])
    return inside + within(lane, start, start + found.time[rows])
