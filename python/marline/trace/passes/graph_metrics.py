# SPDX-License-Identifier: Apache-2.0
"""Metrics of the task graph: its size, degrees and depth, and the grain of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import TASKWAIT
from ..registry import Analysis, analysis_pass
from ..statistics import group_by, rows, summary

_BINS = 64


@dataclass
class GraphMetrics:
    """Degrees are per task. A taskwait with dependences is a node that runs nothing: its edges count, and its place on
    a path, but it is no task. `grain[k, b]`: tasks of kind k that ran for 2^b to 2^(b+1) ns (b = 0 also below 1 ns). To
    run is to be on a thread; what kernels of target tasks do on devices is apart from that."""

    tasks: int
    completed: int
    taskwaits: int
    edges: int
    duplicates: int
    roots: int
    leaves: int
    depth: int
    in_degree: np.ndarray
    out_degree: np.ndarray
    kind_names: list[str]
    kind_of_task: np.ndarray
    running: np.ndarray  # ns of each task that completed
    on_devices: np.ndarray  # the same, of its kernels
    grain: np.ndarray

    def document(self) -> dict[str, Any]:
        """Sums and histograms."""
        used = np.flatnonzero(self.grain.any(axis=0))
        low, high = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
        kinds = group_by(self.kind_of_task)
        number = kinds.key(self.kind_of_task)
        return {
            "tasks": self.tasks, "completed": self.completed, "taskwaits": self.taskwaits, "edges": self.edges,
            "duplicate_edges": self.duplicates, "roots": self.roots, "leaves": self.leaves, "depth": self.depth,
            "in_degree": summary(self.in_degree), "out_degree": summary(self.out_degree),
            "grain_ns": summary(self.running),
            "kinds": rows(name=[self.kind_names[kind] for kind in number.tolist()], tasks=kinds.count,
                          total_ns=kinds.sum(self.running), min_ns=kinds.min(self.running),
                          max_ns=kinds.max(self.running), device_ns=kinds.sum(self.on_devices)),
            "grain": {
                "edges_ns": [1 << bin for bin in range(low, high + 1)],
                "kinds": rows(name=self.kind_names, tasks=self.grain[:, low:high]),
            },
        }  # fmt: skip


@analysis_pass("graph", needs=("tasks", "edges", "levels", "kinds", "device_work"))
def graph(of: Analysis) -> GraphMetrics:
    """Graph metrics."""
    tasks, edges, kinds = of["tasks"], of["edges"], of["kinds"]
    count = len(tasks.id)
    in_degree = np.bincount(edges.sink, minlength=count)
    out_degree = np.bincount(edges.source, minlength=count)
    real = (tasks.flags & TASKWAIT) == 0
    completed = np.flatnonzero(real & (tasks.end >= 0))
    running, kind = tasks.running[completed], kinds.of_task[completed]
    bins = np.maximum(np.frexp(running.astype(np.float64))[1] - 1, 0)  # the exponent of 2: exact, unlike a logarithm
    grain = np.bincount(kind * _BINS + bins, minlength=len(kinds.names) * _BINS).reshape(-1, _BINS)
    return GraphMetrics(
        int(np.count_nonzero(real)), len(completed), int(np.count_nonzero(~real)), len(edges.source), edges.duplicates,
        int(np.count_nonzero(in_degree[real] == 0)), int(np.count_nonzero(out_degree[real] == 0)),
        int(of["levels"].level.max(initial=-1)) + 1, in_degree[real], out_degree[real], kinds.names, kind, running,
        of["device_work"][completed], grain,
    )  # fmt: skip
