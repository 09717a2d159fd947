# SPDX-License-Identifier: Apache-2.0
"""The pass `levels`: where each task stands in the graph of dependences, and its predecessors side by side.

    level(t) = 1 + the greatest level of the tasks that t depends on; 0 if there are none
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...native import Arrows, path_lengths
from ...registry import Analysis, analysis_pass


@dataclass
class Levels:
    """`level`: by row of tasks. Task t is the sink of the edges `by_sink[first[t]:first[t + 1]]`."""

    level: np.ndarray
    by_sink: np.ndarray
    first: np.ndarray

    def into(self, tasks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(for each edge that leads to one of these tasks: which of them it is; the edge)"""
        count = self.first[tasks + 1] - self.first[tasks]
        place = np.repeat(np.arange(len(tasks)), count)
        offset = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        return place, self.by_sink[self.first[tasks][place] + offset]


@analysis_pass("levels", needs=("tasks", "edges"))
def levels(of: Analysis) -> Levels:
    """How many tasks must run before each task, one after the other."""
    edges, tasks = of["edges"], len(of["tasks"].id)
    ones = np.ones(len(edges.source), dtype=np.int64)
    level = path_lengths(Arrows(tasks, edges.source, edges.sink, ones))
    by_sink = np.argsort(edges.sink, kind="stable")
    first = np.r_[0, np.cumsum(np.bincount(edges.sink, minlength=tasks))]
    return Levels(level, by_sink, first)
