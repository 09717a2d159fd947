# SPDX-License-Identifier: Apache-2.0
"""The passes `known_graph` and `ready_queue`: what the scheduler can see, and can choose from, over time.

The known graph at a time: the tasks that have been created and have not completed, and the dependences between them.
At the end of each window of time:

    level(t) = 1 + the greatest level of the known tasks that t depends on; 1 if there are none
    depth    = the greatest level: so many tasks must run one after the other
    width    = the most tasks of one level: so many could run at a time, if all tasks were equally long

A graph that is discovered too slowly, or held back by throttling, is flat or narrow here although the whole program's
is not (R. Pereira, thesis, 2023, chapter 6, on discovery). Undeferred tasks are never part of it.

The ready queue: the tasks that are ready and have not started. For each window, the mean over time and the most:

    mean = sum over tasks of the time that they were ready and not started, within the window / length of the window

`empty_ns` is how long no task was ready in the common total, all ranks together. If the queue is rarely empty, threads
lack nothing; if it is long, the order of tasks matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph import Edges
from ...native import Arrows, path_lengths
from ...read.columns import cut, sums
from ...registry import Analysis, analysis_pass
from ..thread_time.states import NEVER
from .levels import Levels


@dataclass
class KnownGraph:
    """All ranks together: at the end of each window, how many tasks are known, and their depth and width."""

    edges: np.ndarray
    known: np.ndarray
    depth: np.ndarray
    width: np.ndarray

    def document(self) -> dict[str, Any]:
        return {
            "max_known": int(self.known.max(initial=0)), "max_depth": int(self.depth.max(initial=0)),
            "max_width": int(self.width.max(initial=0)), "edges_ns": self.edges.tolist(), "known": self.known.tolist(),
            "depth": self.depth.tolist(), "width": self.width.tolist(),
        }  # fmt: skip


@analysis_pass("known_graph", needs=("tasks", "edges", "levels", "breakdown"))
def known_graph(of: Analysis) -> KnownGraph:
    """Depth and width of the known graph of tasks over time."""
    tasks, dependences, edges = of["tasks"], of["edges"], of["breakdown"].edges
    ended = np.where(tasks.end < 0, NEVER, tasks.end)
    found = [_shape(np.flatnonzero(tasks.deferred & (tasks.created <= time) & (ended > time)), dependences,
                    of["levels"], len(tasks.id)) for time in edges[1:].tolist()]  # fmt: skip
    known, depth, width = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return KnownGraph(edges, known, depth, width)


def _shape(known: np.ndarray, dependences: Edges, levels: Levels, tasks: int) -> tuple[int, int, int]:
    """Of these tasks: number, depth, width."""
    if not len(known):
        return 0, 0, 0
    place = np.full(tasks, -1, dtype=np.int64)
    place[known] = np.arange(len(known))
    sink, edge = levels.into(known)
    source = place[dependences.source[edge]]
    inside = np.flatnonzero(source >= 0)
    level = path_lengths(Arrows(len(known), source[inside], sink[inside],
                                np.ones(len(inside), dtype=np.int64)))  # fmt: skip
    return len(known), int(level.max()) + 1, int(np.bincount(level).max())


@dataclass
class ReadyQueue:
    """All ranks together, by window. `empty`: ns in which no task was ready."""

    edges: np.ndarray
    mean: np.ndarray
    most: np.ndarray
    empty: int

    def document(self) -> dict[str, Any]:
        whole = int(self.edges[-1] - self.edges[0])
        spans = np.diff(self.edges)
        return {
            "mean": float((self.mean * spans).sum() / whole) if whole else 0.0, "max": int(self.most.max(initial=0)),
            "empty_ns": self.empty, "empty_share": self.empty / whole if whole else 0.0,
            "edges_ns": self.edges.tolist(), "means": self.mean.tolist(), "maxima": self.most.tolist(),
        }  # fmt: skip


@analysis_pass("ready_queue", needs=("tasks", "readiness", "breakdown"))
def ready_queue(of: Analysis) -> ReadyQueue:
    """How many tasks were ready and not started, over time."""
    tasks, ready, edges = of["tasks"], of["readiness"].time, of["breakdown"].edges
    begin, end = int(edges[0]), int(edges[-1])
    rows = np.flatnonzero(tasks.deferred & (ready < end))
    started = np.where(tasks.start < 0, end, tasks.start)
    start, until = np.clip(ready[rows], begin, end), np.clip(started[rows], begin, end)
    pieces = cut(start, until, edges)
    windows = len(edges) - 1
    spans = np.diff(edges)
    mean = sums(pieces.b, pieces.end - pieces.start, windows) / np.maximum(spans, 1)
    some = until > start
    time = np.r_[start[some], until[some], edges]
    step = np.repeat([1, -1, 0], [int(some.sum()), int(some.sum()), len(edges)])
    order = np.lexsort((step, time))  # of equal times, starts of tasks count first
    time, depth = time[order], np.cumsum(step[order])
    lasts = np.diff(np.r_[time, end])
    window = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, windows - 1)
    most = np.zeros(windows, dtype=np.int64)
    seen = lasts > 0
    np.maximum.at(most, window[seen], depth[seen])
    return ReadyQueue(edges, mean, most, int(lasts[depth == 0].sum()))
