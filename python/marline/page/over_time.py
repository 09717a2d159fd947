# SPDX-License-Identifier: Apache-2.0
"""What the page plots over time: where thread time went, and how many tasks ran, were ready or suspended."""

from __future__ import annotations

from typing import Any

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.passes.thread_time.causes import CAUSES
from marline.trace.passes.thread_time.states import NEVER
from marline.trace.read.columns import cut, sums

PARTS = 300


def breakdown(of: Analysis) -> dict[str, Any]:
    """Of each window, by cause that occurs at all: its share of thread time in per cent."""
    found = of["breakdown"]
    by_cause = found.time.sum(axis=0)
    whole = np.maximum(by_cause.sum(axis=1), 1)
    rows = [{"name": cause.name, "part": cause.part, "text": cause.text,
             "share": np.round(100 * by_cause[:, number] / whole, 3).tolist()}
            for number, cause in enumerate(CAUSES) if by_cause[:, number].any()]  # fmt: skip
    return {"edges": found.edges.tolist(), "causes": rows}


def levels(of: Analysis) -> dict[str, Any]:
    """Means of short windows of the breakdown's total."""
    tasks, runs, suspensions, ready = of["tasks"], of["segments"], of["suspensions"], of["readiness"]
    found = of["breakdown"]
    begin, end = int(found.edges[0]), int(found.edges[-1])
    edges = np.unique(begin + ((end - begin) * np.arange(PARTS + 1)) // PARTS)
    works = ~runs.waits & (of["owners"] >= 0)
    waited = tasks.deferred & (ready.time < NEVER)
    started = np.where(tasks.start < 0, end, tasks.start)
    counts = {
        "tasks that run": (runs.start[works], runs.end[works]),
        "tasks that are ready": (ready.time[waited], started[waited]),
        "tasks that are suspended": (suspensions.start, suspensions.end),
    }
    lines = [{"name": name, "mean": _means(edges, *times)} for name, times in counts.items()]
    return {"edges": edges.tolist(), "threads": len(found.lane_rank), "lines": lines}


def _means(edges: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[float]:
    width = np.maximum(np.diff(edges), 1)
    if not len(width):
        return []
    pieces = cut(start, end, edges)
    return np.round(sums(pieces.b, (pieces.end - pieces.start).astype(float), len(width)) / width, 3).tolist()
