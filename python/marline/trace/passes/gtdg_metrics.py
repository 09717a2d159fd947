# SPDX-License-Identifier: Apache-2.0
"""The size and form of the global task dependency graph (R. Pereira's thesis, 2023, 4.1.3): nodes and edges by kind of
the graph of all ranks; degrees, depth and width of the graph of explicit tasks.

- Degree: how many dependences lead into a task, or out of it; the histograms count tasks by degree, taskwaits with
  dependences too.
- Level of a task: the number of tasks on the longest chain of dependences that ends with it. Depth: the greatest level.
  Width: the most tasks of one level, so at least as many can be independent of each other at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..global_graph.build import GlobalGraph
from ..global_graph.edges import EDGE_KINDS, THREAD
from ..registry import Analysis, analysis_pass
from ..statistics import rows


@dataclass
class GtdgMetrics:
    """`edges`: by row of EDGE_KINDS; those of the program's order and its work. Degrees and levels are by row of
    tasks."""

    points: int
    edges: np.ndarray
    in_degree: np.ndarray
    out_degree: np.ndarray
    level: np.ndarray

    def document(self) -> dict[str, Any]:
        of_level = np.bincount(self.level)
        return {
            "points": self.points,
            "edges": {kind.name: int(count) for kind, count in zip(EDGE_KINDS, self.edges) if count},
            "tasks": len(self.level), "dependences": int(self.in_degree.sum()),
            "in_degree": _histogram(self.in_degree), "out_degree": _histogram(self.out_degree),
            "depth": max(len(of_level) - 1, 0), "width": int(of_level.max(initial=0)),
        }  # fmt: skip


def _histogram(degree: np.ndarray) -> dict[str, Any]:
    found, count = np.unique(degree, return_counts=True)
    return {"mean": float(degree.mean()) if len(degree) else 0.0, "max": int(degree.max(initial=0)),
            "histogram": rows(degree=found, tasks=count)}  # fmt: skip


@analysis_pass("gtdg", needs=("global_graph", "tasks", "edges", "levels"))
def gtdg(of: Analysis) -> GtdgMetrics:
    """Size and form of the graph."""
    graph: GlobalGraph = of["global_graph"]
    edges, count = of["edges"], len(of["tasks"].id)
    return GtdgMetrics(
        len(graph.points.task), np.bincount(graph.edges.kind[: graph.declared], minlength=THREAD + 1),
        np.bincount(edges.sink, minlength=count), np.bincount(edges.source, minlength=count),
        of["levels"].level + 1,
    )  # fmt: skip
