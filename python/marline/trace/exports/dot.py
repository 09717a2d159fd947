# SPDX-License-Identifier: Apache-2.0
"""Writes the graph of explicit tasks for Graphviz (`dot -Tsvg`). A small graph has a node for each task; a larger one,
which no picture can show, a node for each kind of task, with how many there are and how often one follows another.

Edges are the program's: dependences, creation by other explicit tasks, and messages between tasks of ranks. Tasks, or
kinds with tasks, on the critical path have a thick outline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from marline.units import count, duration

from ..global_graph.edges import CREATE, DEPENDENCE, EDGE_KINDS, MESSAGE
from ..passes.picture import Kinds
from ..read.records import TASK_BITS
from ..registry import Analysis
from ..statistics import group_by

MOST_TASKS = 500  # beyond that, Graphviz takes minutes, and nobody reads it
MOST_EDGES = 4000
MOST_KINDS = 200
_STYLES = {DEPENDENCE: "", CREATE: " style=dotted", MESSAGE: " style=dashed color=blue"}
_TASK_MASK = (1 << TASK_BITS) - 1


@dataclass
class TaskEdges:
    """Between rows of tasks, by row of EDGE_KINDS."""

    source: np.ndarray
    sink: np.ndarray
    kind: np.ndarray


def write_dot(of: Analysis, path: str | Path) -> list[str]:
    """What the file shows, in words."""
    edges, tasks = task_edges(of), len(of["tasks"].id)
    small = tasks <= MOST_TASKS and len(edges.source) <= MOST_EDGES
    if small:
        what, lines = f"graph of {tasks} tasks and {len(edges.source)} edges", _by_task(of, edges)
    else:
        shown = f"{count(tasks)} tasks and {count(len(edges.source))} edges, by kind of task"
        what, lines = f"graph of {shown}: task by task only up to {MOST_TASKS} tasks and {MOST_EDGES} edges", _by_kind(
            of, edges)  # fmt: skip
    with Path(path).open("w", encoding="utf-8") as file:
        file.write(f"// {what}\ndigraph tasks {{\n  node [shape=box style=filled fontname=sans]\n")
        file.writelines(f"  {line}\n" for line in lines)
        file.write("}\n")
    return [f"{what}; draw it by `dot -Tsvg`"]


def task_edges(of: Analysis) -> TaskEdges:
    """The program's: dependences, creation by other explicit tasks, and messages."""
    graph, tasks = of["global_graph"], of["tasks"]
    edges = graph.edges.take(slice(graph.declared))
    edges = edges.take(np.flatnonzero(np.isin(edges.kind, (DEPENDENCE, CREATE))))
    task_of_call = tasks.index(of["calls"].task)
    messages = of["messages"]
    source, sink = (
        np.r_[tasks.index(graph.points.task[column]), task_of_call[rows]]
        for column, rows in ((edges.source, messages.send), (edges.sink, messages.receive))
    )
    kind = np.r_[edges.kind, np.full(len(messages.send), MESSAGE)].astype(np.int64)
    between = np.flatnonzero((source >= 0) & (sink >= 0) & (source != sink))
    return TaskEdges(source[between], sink[between], kind[between])


def _by_task(of: Analysis, edges: TaskEdges) -> Iterable[str]:
    tasks, kinds, slack = of["tasks"], of["kinds"], of["critical_path"].slack
    many = len(of.trace.ranks) > 1
    for row, (number, rank, kind, running) in enumerate(zip(tasks.id.tolist(), tasks.rank.tolist(),
                                                            kinds.of_task.tolist(), tasks.running.tolist(),
                                                            strict=True)):
        where = f"rank {rank}, " if many else ""
        yield _node(row, f"{kinds.names[kind]}\n{where}task {number & _TASK_MASK}, {duration(running)}",
                    kinds.colors[kind], slack[row] == 0)  # fmt: skip
    for source, sink, kind in zip(edges.source.tolist(), edges.sink.tolist(), edges.kind.tolist(), strict=True):
        yield f"{source} -> {sink} [tooltip={_quoted(EDGE_KINDS[kind].name)}{_STYLES[kind]}]"


def _by_kind(of: Analysis, edges: TaskEdges) -> Iterable[str]:
    """The kinds with most time."""
    kinds: Kinds = of["kinds"]
    running, critical = of["tasks"].running, of["critical_path"].slack == 0
    number = len(kinds.names)
    time = np.bincount(kinds.of_task, weights=running, minlength=number)
    size = np.bincount(kinds.of_task, minlength=number)
    on_path = np.bincount(kinds.of_task[critical], minlength=number)
    shown = np.argsort(-time, kind="stable")[:MOST_KINDS].tolist()
    if number > MOST_KINDS:
        yield f"// without the {number - MOST_KINDS} kinds of tasks that took least time"
    for kind in shown:
        text = f"{kinds.names[kind]}\n{count(int(size[kind]))} tasks, {duration(float(time[kind]))}"
        text += f"\n{count(int(on_path[kind]))} on the critical path" if on_path[kind] else ""
        yield _node(kind, text, kinds.colors[kind], on_path[kind] > 0)
    source, sink = kinds.of_task[edges.source], kinds.of_task[edges.sink]
    groups = group_by(source, sink, edges.kind)
    columns = (groups.key(source), groups.key(sink), groups.key(edges.kind), groups.count)
    for one, other, kind, times in zip(*(column.tolist() for column in columns), strict=True):
        if one in shown and other in shown:
            yield (f"{one} -> {other} [label={_quoted(count(times))} tooltip={_quoted(EDGE_KINDS[kind].name)}"
                   f"{_STYLES[kind]}]")  # fmt: skip


def _node(number: int, text: str, color: str, critical: bool) -> str:
    return f"{number} [label={_quoted(text)} fillcolor={_quoted(color)}{' penwidth=4' if critical else ''}]"


def _quoted(text: str) -> str:
    """A string of DOT: only quotes and backslashes have a meaning in it, and a line ends by \\n."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'
