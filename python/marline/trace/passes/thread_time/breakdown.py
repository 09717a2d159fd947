# SPDX-License-Identifier: Apache-2.0
"""Time breakdown: work, overhead and idle time of every thread, in every time window, by cause.

The definitions come from the thesis (R. Pereira, 2023, 4.1.2). Total: from the start of the first explicit task to
the end of the last, on every thread. Work: inside explicit task bodies. Overhead: outside of them while tasks of that
rank are ready. Idle: outside of them while none is. Marline's readings of them:

- All ranks share one total, from the first task of any rank to the last of any, on the corrected clock: then ranks add
  up, and a rank that waits for others shows it (cause idle_ranks). A rank's own span stands beside it.
- Ready: created, dependences declared, predecessors complete, not started; or suspended, and what it waited for has
  come (with runtimes that do not tell this, a suspended task is never ready). Undeferred tasks never are.
- Waiting inside a task body (taskwait, taskgroup, lock) is no work; the tasks that the thread runs meanwhile are.
- The creation of tasks inside a task body is overhead, ready tasks or not, where the runtime tells how long it took.
- Neither is time in MPI inside a task body, as long as the call holds its thread: it is overhead while tasks of the
  rank are ready, otherwise idle (causes overhead_held and idle_held).
- A member of a mutexinoutset is not ready while another one of it runs.

A rank without explicit tasks (MPI only, or loops) has another model, "code": work is the program's code outside of MPI
and of waits; MPI, waits and time without a region are idle. Its total is the common one, or if no rank has tasks, from
the end of MPI_Init to the start of MPI_Finalize.

Invariant: work + overhead + idle = threads x makespan, in integer nanoseconds, for each rank and window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...registry import Analysis, analysis_pass
from ...thread_numbers import thread_numbers
from .causes import CAUSES, OF_PART, PARTS
from .code_model import code_spans, code_times
from ..lanes import all_lanes, window_edges
from .task_model import task_times


@dataclass
class Breakdown:
    """`time[l, w, c]`: ns that thread l spent in window w for cause c (causes.CAUSES)."""

    lane_rank: np.ndarray
    lane_thread: np.ndarray  # as the recorder numbered it
    number: np.ndarray  # of each thread, as shown
    ranks: np.ndarray
    models: list[str]  # per rank: "tasks" or "code"
    own_begin: np.ndarray  # per rank
    own_end: np.ndarray
    edges: np.ndarray  # of the windows, one more than there are windows
    time: np.ndarray

    @property
    def makespan(self) -> int:
        """The common total of each thread."""
        return int(self.edges[-1] - self.edges[0])

    def of_rank(self, rank: int) -> np.ndarray:
        """Window by cause, summed over the threads of the rank."""
        return self.time[self.lane_rank == rank].sum(axis=0)

    def document(self) -> dict[str, Any]:
        """All sums; per window only the three parts."""
        total = self.time.sum(axis=(0, 1))
        whole = max(int(total.sum()), 1)
        return {
            "begin_ns": int(self.edges[0]),
            "makespan_ns": self.makespan,
            "ranks": [self._rank_document(number) for number in range(len(self.ranks))],
            "total": {"threads": len(self.lane_rank), "makespan_ns": self.makespan} | _parts(total) | _causes(total),
            "causes": [
                {"name": cause.name, "part": cause.part, "text": cause.text, "ns": int(total[number]),
                 "share": int(total[number]) / whole}
                for number, cause in enumerate(CAUSES)
            ],
            "windows": {
                "edges_ns": self.edges.tolist(),
                "ranks": [self._window_document(rank) for rank in self.ranks.tolist()],
            },
        }  # fmt: skip

    def _rank_document(self, number: int) -> dict[str, Any]:
        rank = int(self.ranks[number])
        lanes = np.flatnonzero(self.lane_rank == rank)
        sums = self.of_rank(rank).sum(axis=0)
        return {
            "rank": rank,
            "model": self.models[number],
            "threads": len(lanes),
            "makespan_ns": self.makespan,
            "own_makespan_ns": int(self.own_end[number] - self.own_begin[number]),
        } | _parts(sums) | _causes(sums) | {
            "by_thread": [
                {"thread": int(self.number[lane])} | _parts(self.time[lane].sum(axis=0))
                for lane in lanes[np.argsort(self.number[lanes], kind="stable")]
            ]
        }  # fmt: skip

    def _window_document(self, rank: int) -> dict[str, Any]:
        by_window = self.of_rank(rank)
        return {"rank": rank} | {
            f"{part}_ns": by_window[:, OF_PART[part]].sum(axis=1).tolist() for part in PARTS
        }  # fmt: skip


def _parts(sums: np.ndarray) -> dict[str, float]:
    """Their time, and their share of it all."""
    times = {part: int(sums[OF_PART[part]].sum()) for part in PARTS}
    whole = max(sum(times.values()), 1)
    return {f"{part}_ns": time for part, time in times.items()} | {
        f"{part}_share": time / whole for part, time in times.items()}  # fmt: skip


def _causes(sums: np.ndarray) -> dict[str, dict[str, int]]:
    return {"causes": {cause.name: int(value) for cause, value in zip(CAUSES, sums) if value}}


@analysis_pass("breakdown", needs=("segments", "owners", "calls", "in_mpi", "states", "producers", "creations"))
def breakdown(of: Analysis) -> Breakdown:
    """Ranks with tasks by their states, the others by their code."""
    states = of["states"]
    of_tasks = np.zeros(0, dtype=np.int64) if states is None else states.ranks
    lanes = all_lanes(of.trace, of["segments"], of["calls"])
    spans = code_spans(of.trace, of["calls"], of_tasks)
    if states is None:
        begin, end = min(first for first, _ in spans.values()), max(last for _, last in spans.values())
    else:
        begin, end = states.begin, states.end
    edges = window_edges(begin, end, of.windows)
    by_tasks = np.isin(lanes.rank, of_tasks)
    time = np.zeros((len(lanes.rank), of.windows, len(CAUSES)), dtype=np.int64)
    if states is not None:
        time[by_tasks] = task_times(of, lanes.take(by_tasks), edges)
    if spans:
        time[~by_tasks] = code_times(of, lanes.take(~by_tasks), edges, spans)
    ranks = np.unique(lanes.rank)
    own = {int(rank): span for rank, span in spans.items()}
    for number, rank in enumerate(of_tasks.tolist()):
        own[rank] = (int(states.own_begin[number]), int(states.own_end[number]))
    return Breakdown(
        lanes.rank, lanes.thread, thread_numbers(of.trace).of(lanes.rank, lanes.thread), ranks,
        ["code" if rank in spans else "tasks" for rank in ranks.tolist()],
        np.array([own[rank][0] for rank in ranks.tolist()]), np.array([own[rank][1] for rank in ranks.tolist()]),
        edges, time,
    )  # fmt: skip
