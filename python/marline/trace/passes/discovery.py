# SPDX-License-Identifier: Apache-2.0
"""Discovery of the task graph: how fast tasks are created, and how much of the graph is known at a time.

Depth here is the number of tasks that have been created and have not completed: what the scheduler can look ahead.
From the first creation to the last there may be much else; `creating` is what threads spent in the code of tasks that
create others, up to the last one that each creates, outside of waits. `in_creation` is what of it the creations of
`measured` tasks took, where the runtime tells (passes/thread_time/creations.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Tasks
from ..read.columns import distinct, find, group_starts, sums
from ..registry import Analysis, analysis_pass
from .lanes import window_edges


@dataclass
class Discovery:
    """Columns per rank that created tasks; `series[r, w]`: depth at the end of window w. Times in ns."""

    ranks: np.ndarray
    tasks: np.ndarray
    first: np.ndarray
    last: np.ndarray
    creating: np.ndarray  # in code that creates tasks, up to its last creation, summed over threads
    measured: np.ndarray
    in_creation: np.ndarray
    span: np.ndarray  # from the first creation to the last completion
    max_depth: np.ndarray
    mean_depth: np.ndarray  # over that span
    edges: np.ndarray
    series: np.ndarray

    def document(self) -> dict[str, Any]:
        """Per rank, and over all: `seconds` of the slowest rank, the mean rate of a rank."""
        seconds = (self.last - self.first) / 1e9
        return {
            "tasks": int(self.tasks.sum()),
            "seconds": float(seconds.max(initial=0.0)),
            "tasks_per_second": _rate(int(self.tasks.sum()), float(seconds.sum())),
            "max_depth": int(self.max_depth.max(initial=0)),
            "share": _share(int((self.last - self.first).sum()), int(self.span.sum())),
            "measured_ns_per_task": _rate(int(self.in_creation.sum()), int(self.measured.sum())),
            "ranks": [
                {
                    "rank": int(self.ranks[row]), "tasks": int(self.tasks[row]), "seconds": float(seconds[row]),
                    "tasks_per_second": _rate(int(self.tasks[row]), float(seconds[row])),
                    "first_ns": int(self.first[row]), "last_ns": int(self.last[row]),
                    "creating_ns": int(self.creating[row]),
                    "creation_ns_per_task": int(self.creating[row]) / int(self.tasks[row]),
                    "measured_tasks": int(self.measured[row]), "measured_ns": int(self.in_creation[row]),
                    "measured_ns_per_task": _rate(int(self.in_creation[row]), int(self.measured[row])),
                    "share": _share(int(self.last[row] - self.first[row]), int(self.span[row])),
                    "max_depth": int(self.max_depth[row]), "mean_depth": float(self.mean_depth[row]),
                    "depth": self.series[row].tolist(),
                }
                for row in range(len(self.ranks))
            ],
            "edges_ns": self.edges.tolist(),
        }  # fmt: skip


def _rate(count: int, over: float) -> float | None:
    """None where all were created at once, or none was measured."""
    return count / over if over else None


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@analysis_pass("discovery", needs=("tasks", "segments", "producers", "creations"))
def discovery(of: Analysis) -> Discovery:
    """Discovery of deferred tasks; undeferred ones are discovered and run at once."""
    tasks: Tasks = of["tasks"]
    mine = np.flatnonzero(tasks.deferred)
    trace_end = int(of.trace.time.max())
    created, rank = tasks.created[mine], tasks.rank[mine]
    ended = np.where(tasks.end[mine] < 0, trace_end, tasks.end[mine])
    ranks = distinct(rank)
    number, count = find(ranks, rank), len(ranks)
    measured = of["creations"].measured[mine]
    first, last, done = np.full(count, trace_end), np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.minimum.at(first, number, created)
    np.maximum.at(last, number, created)
    np.maximum.at(done, number, ended)
    span = done - first
    known = sums(number, ended - created, count)
    edges = window_edges(int(first.min(initial=trace_end)), int(done.max(initial=trace_end)), of.windows)
    return Discovery(
        ranks, np.bincount(number, minlength=count), first, last, _creating(of, ranks),
        np.bincount(number[measured], minlength=count),
        sums(number[measured], of["creations"].time[mine][measured], count), span,
        _greatest(number, created, ended, count), known / np.maximum(span, 1), edges,
        _series(number, created, ended, edges, count),
    )  # fmt: skip


def _creating(of: Analysis, ranks: np.ndarray) -> np.ndarray:
    runs, who = of["segments"], of["producers"]
    rank = find(ranks, runs.rank[who.segment].astype(np.int64))
    return sums(rank[rank >= 0], (who.until - runs.start[who.segment])[rank >= 0], len(ranks))


def _greatest(number: np.ndarray, created: np.ndarray, ended: np.ndarray, count: int) -> np.ndarray:
    """Greatest depth per rank; of equal times, completions count first."""
    span = int(max(created.max(initial=0), ended.max(initial=0))) + 1
    codes = np.sort(np.r_[(number * span + created) << 1 | 1, (number * span + ended) << 1])
    depth = np.cumsum(np.where(codes & 1, 1, -1))
    result = np.zeros(count, dtype=np.int64)
    starts = np.flatnonzero(group_starts((codes >> 1) // span)) if len(codes) else np.zeros(0, dtype=np.int64)
    result[:] = np.maximum.reduceat(depth, starts) if len(starts) else 0
    return result


def _series(number: np.ndarray, created: np.ndarray, ended: np.ndarray, edges: np.ndarray, count: int) -> np.ndarray:
    """Depth at the end of each window: how many have been created by then, less how many have completed."""
    windows = len(edges) - 1
    change = np.zeros((count, windows), dtype=np.int64)
    for time, step in ((created, 1), (ended, -1)):
        window = np.clip(np.searchsorted(edges, time, side="left") - 1, 0, windows - 1)
        np.add.at(change, (number, window), step)
    return change.cumsum(axis=1)
