# SPDX-License-Identifier: Apache-2.0
"""What the edges of a path are, by name: work by kind of task, or by loop and parallel region in a program without
tasks; the creation of tasks; all else by kind of edge. Work is named apart where its task has a lock that another one
waits for, or where a device does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...global_graph import edges as kinds
from ...global_graph import points as what
from ...global_graph.build import GlobalGraph
from ...global_graph.edges import EDGE_KINDS, GraphEdges
from ...global_graph.run_order import holds_lock
from ...read.columns import Columns
from ...registry import Analysis
from ...statistics import group_by, rows
from ..without_tasks.places import pieces_by_place

CREATION, OUTSIDE = "creation of tasks", "code outside of tasks"
WITHOUT_TASKS = "the program's code"
HOLDING = ", holding a lock"
ON_DEVICES = ", on devices"


@dataclass
class Steps(Columns):
    """`edge`: a row of the edges that were given; `name`: a row of the names; `kind`: of EDGE_KINDS. Of the edge's time
    this step is `time`, in [start, end)."""

    edge: np.ndarray
    name: np.ndarray
    kind: np.ndarray
    start: np.ndarray
    end: np.ndarray
    time: np.ndarray


def steps(of: Analysis, graph: GlobalGraph, edges: GraphEdges, time: np.ndarray) -> tuple[Steps, list[str]]:
    """What takes the `time` of each of these edges, and the names of it."""
    found, names = _by_kind(of, graph, edges, time)
    if len(of["tasks"].id):
        return found, names
    # A step per place takes the place of a step of code. The creation of tasks is never one: there are none.
    code, start, names = np.flatnonzero(found.kind == kinds.WORK), len(names), [*names]
    held = holds_lock(graph.points)[edges.source[found.edge[code]]]
    task = graph.points.task[edges.sink[found.edge[code]]]
    pieces, places = pieces_by_place(of, task, found.start[code], found.end[code], found.time[code])
    if not places:
        return found, names
    row = code[pieces.interval]
    name = start + pieces.name + np.where(held[pieces.interval], len(places), 0)
    names += places + [place + HOLDING for place in places]
    of_places = Steps(found.edge[row], name, found.kind[row], pieces.start, pieces.end, pieces.time)
    return found.take(np.flatnonzero(found.kind != kinds.WORK)).joined(of_places), names


def _by_kind(of: Analysis, graph: GlobalGraph, edges: GraphEdges, time: np.ndarray) -> tuple[Steps, list[str]]:
    points, tasks, of_kind = graph.points, of["tasks"], of["kinds"]
    task = tasks.index(points.task[edges.sink])
    is_work = edges.kind == kinds.WORK
    # Where no creation was measured, all that passes up to one counts as it.
    creates = is_work & (points.what[edges.sink] == what.CREATE) & (not np.any(graph.creating))
    # Of work: a number per kind of task, then two for other code; of all else a number per kind of edge.
    of_task = np.where(task >= 0, of_kind.of_task[np.maximum(task, 0)] if len(tasks.id) else 0, len(of_kind.names) + 1)
    of_task[creates & (task < 0)] = len(of_kind.names)
    outside = OUTSIDE if len(tasks.id) else WITHOUT_TASKS
    texts = (kind.text if len(tasks.id) else kind.of_code or kind.text for kind in EDGE_KINDS)
    names = [*of_kind.names, CREATION, outside, *texts]
    number = np.where(is_work, of_task, len(of_kind.names) + 2 + edges.kind.astype(np.int64))
    number = np.where(is_work & holds_lock(points)[edges.source], len(names) + number, number)
    number = np.where(edges.kind == kinds.DEVICE, 2 * len(names) + of_task, number)
    names += [name + words for words in (HOLDING, ON_DEVICES) for name in names]
    # What of work is the creation of a task is no work of its creator.
    part = np.where(is_work, np.minimum(time, graph.creating[edges.source]), 0)
    every = Steps(np.arange(len(time)), number, edges.kind, graph.time[edges.source], graph.time[edges.sink],
                  time - part)  # fmt: skip
    made = every.take(np.flatnonzero(part))
    made.name, made.time = np.full(len(made.edge), len(of_kind.names)), part[made.edge]
    return every.joined(made), names


def parts(of: Analysis, graph: GlobalGraph, edges: GraphEdges, time: np.ndarray) -> list[dict[str, Any]]:
    """The time of these edges, a row for each name. Most first."""
    found, names = steps(of, graph, edges, time)
    groups = group_by(found.name)
    table = rows(name=[names[one] for one in groups.key(found.name).tolist()],
                 kind=[EDGE_KINDS[one].name for one in groups.key(found.kind).tolist()], edges=groups.count,
                 total_ns=groups.sum(found.time))  # fmt: skip
    return sorted((row for row in table if row["total_ns"]), key=lambda row: -row["total_ns"])
