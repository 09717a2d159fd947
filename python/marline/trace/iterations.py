# SPDX-License-Identifier: Apache-2.0
"""Iterations of persistent graphs: which task belongs to which, and which ones the producer has waited for.

A task belongs to the iteration that its creator had begun last; a task of another creator belongs to what that creator
belongs to. The producer of `MARLINE_GRAPH_NOWAIT` waits, before an iteration begins, for the last but one before it;
otherwise for the one before (docs/design/persistent-graphs.md). Each record says how far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .model import Tasks
from .read.columns import Columns, TimeLines
from .read.records import Trace

LEFT, RECORDED, REPLAYED, REPLAYED_WITHOUT_CODE = range(4)  # `how` of graph_iteration
HOW = ("left", "recorded", "replayed", "replayed without code")


@dataclass
class Begins(Columns):
    """Iterations as they begin, and graphs as they are left (`how`), by graph and time. `done`: all iterations up to
    this number have ended by then. `graph` has the rank in it."""

    row: np.ndarray
    task: np.ndarray
    time: np.ndarray
    graph: np.ndarray
    iteration: np.ndarray
    how: np.ndarray
    done: np.ndarray
    overlaps: np.ndarray  # whether iterations of this graph overlap


@dataclass
class Iterations:
    """`graph`, `iteration`: by row of Tasks; 0 for a task of no graph."""

    begins: Begins
    graph: np.ndarray
    iteration: np.ndarray

    def document(self) -> dict[str, Any]:
        begins = self.begins
        return {
            "graphs": len(np.unique(begins.graph)),
            "iterations": {name: int(np.count_nonzero(begins.how == how)) for how, name in enumerate(HOW) if how},
            "tasks": int(np.count_nonzero(self.graph)),
        }


def iterations(trace: Trace, tasks: Tasks) -> Iterations:
    """All of them."""
    begins = _begins(trace)
    number = np.zeros((2, len(tasks.id)), dtype=np.int64)
    if len(begins.row):
        at = TimeLines(begins.task, begins.time).latest(tasks.parent, tasks.created)
        inside = np.flatnonzero((at >= 0) & (begins.how[at] != LEFT))
        number[:, inside] = begins.graph[at[inside]], begins.iteration[at[inside]]
        number = number[:, _heirs(tasks, number[0] != 0)]
    return Iterations(begins, number[0], number[1])


def _begins(trace: Trace) -> Begins:
    rows = trace.select("graph_iteration")

    def field(name: str) -> np.ndarray:
        return trace.field("graph_iteration", name, rows).astype(np.int64)

    graph = trace.rank[rows].astype(np.int64) << 32 | field("graph")
    unfinished, how, iteration = field("unfinished"), field("how"), field("iteration")
    found = Begins(rows, trace.task[rows], trace.time[rows], graph, iteration, how,
                   iteration - unfinished - (how != LEFT), np.isin(graph, graph[unfinished > 0]))  # fmt: skip
    return found.take(np.lexsort((found.time, found.graph)))


def _heirs(tasks: Tasks, own: np.ndarray) -> np.ndarray:
    """By row of Tasks: the next one in its line of parents, itself included, that has an iteration of its own."""
    parent = tasks.index(tasks.parent)
    up = np.where(own | (parent < 0), np.arange(len(own)), parent)
    while not np.array_equal(further := up[up], up):
        up = further
    return up
