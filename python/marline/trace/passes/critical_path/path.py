# SPDX-License-Identifier: Apache-2.0
"""What bounds the run: the longest path through the global graph, what it is made of, and the chain of what was waited
for in this run.

- `work` (Cilk's T1): all edges of work. `span` (T-infinity): the longest path if MPI takes no time. Average
  parallelism: work / span, where what devices do for tasks counts as work, too. On P threads no schedule takes less
  than max(work / P, span), and none that is never idle while a task is ready takes more than span + (work - span) / P
  (Brent, 1974; Blumofe and Leiserson, 1999).
- `path`: the longest path with MPI, where a message takes the time in which both sides were there. No number of threads
  makes the same work faster on this network.
- The chain: from the run's last point back, each time to what came last of all that it waited for: also the thread, and
  who had a lock, or let the task go on. Its parts add up to the makespan. Work is named apart where its task has a lock
  that another one waits for. Of a program without tasks, work is told by loop and parallel region.
- `outside`: how much of the path is code outside of explicit tasks. It counts as it ran: the share of a loop that a
  thread had is one piece of work, though another schedule may divide it.
- Slack of a task: how much later it could end without making the longest path longer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...global_graph import edges as kinds
from ...global_graph import points as what
from ...global_graph.build import GlobalGraph
from ...global_graph.edges import COMMUNICATION, GraphEdges
from ...native import Arrows, last_arrivals, longest_paths, path_lengths, path_to
from ...read.records import TASK_BITS
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows
from .parts import Steps, parts, steps
from ..picture import Kinds

UNKNOWN, BEFORE = "waiting for what is not recorded", "before the first record of its thread"


@dataclass
class CriticalPath:
    """Times in ns. `path`, `chain`: their edges, in the order of time."""

    makespan: int
    threads: int
    work: int
    on_devices: int  # kernels and copies for tasks
    span: int
    path_length: int
    outside: int
    path: GraphEdges
    chain: GraphEdges
    path_parts: list[dict[str, Any]]
    chain_parts: list[dict[str, Any]]
    chain_ranks: list[dict[str, Any]]  # where the chain was: most first
    soonest: np.ndarray  # by row of tasks: the longest path to its end, if MPI takes no time; -1: it has not ended
    slack: np.ndarray  # the same way; with MPI
    kinds: Kinds
    backwards: int

    @property
    def parallelism(self) -> float:
        """How many threads, and operations of devices, could be under way at a time, on average."""
        return (self.work + self.on_devices) / self.span if self.span else 0.0

    @property
    def least(self) -> int:
        """The least time on as many threads, whatever the schedule."""
        return max(self.work // max(self.threads, 1), self.span)

    @property
    def greedy(self) -> int:
        """The greatest time of a schedule that leaves no thread idle while a task is ready."""
        return self.span + max(self.work - self.span, 0) // max(self.threads, 1)

    def document(self) -> dict[str, Any]:
        known = np.flatnonzero(self.slack >= 0)
        groups = group_by(self.kinds.of_task[known])
        slack = self.slack[known]
        return {
            "makespan_ns": self.makespan, "threads": self.threads, "work_ns": self.work,
            "on_devices_ns": self.on_devices, "span_ns": self.span,
            "path_ns": self.path_length, "outside_ns": self.outside, "parallelism": self.parallelism,
            "least_ns": self.least, "greedy_ns": self.greedy, "path": self.path_parts, "chain": self.chain_parts,
            "chain_ranks": self.chain_ranks,
            "slack": rows(name=[self.kinds.names[kind] for kind in groups.key(self.kinds.of_task[known]).tolist()],
                          tasks=groups.count, min_ns=groups.min(slack), mean_ns=groups.sum(slack) / groups.count,
                          critical=groups.sum((slack == 0).astype(np.int64))),
            "backwards": self.backwards,
        }  # fmt: skip


@analysis_pass("critical_path", needs=("global_graph", "breakdown", "tasks", "kinds", "segments", "worksharing",
                                       "teams"))  # fmt: skip
def critical_path(of: Analysis) -> CriticalPath:
    """Over the common total of the breakdown: before it and after it, nothing takes time."""
    graph: GlobalGraph = of["global_graph"]
    time, end = graph.points.time, graph.end
    declared = graph.edges.take(slice(graph.declared))
    arrows = _arrows(graph, declared)
    found = longest_paths(arrows, graph.order)
    quiet = np.where(np.isin(declared.kind, COMMUNICATION), 0, declared.weight)
    without = path_lengths(replace(arrows, weight=quiet), graph.order)
    path = declared.take(path_to(arrows, found, int(np.argmax(found.earliest)))) if len(time) else declared
    before = np.flatnonzero(time <= end)
    last = int(before[np.argmax(time[before])]) if len(before) else -1
    chain = graph.edges.take(last_arrivals(_arrows(graph, graph.edges), time, last)) if len(before) else path
    return CriticalPath(
        end - graph.begin, len(of["breakdown"].lane_rank), _sum(declared, kinds.WORK), _sum(declared, kinds.DEVICE),
        int(without.max(initial=0)), int(found.earliest.max(initial=0)), _outside(of, graph, path), path,
        chain, parts(of, graph, path, path.weight), _chain_parts(of, graph, chain), _chain_ranks(graph, chain),
        _at_ends(of, graph, without), _at_ends(of, graph, found.latest - found.earliest), of["kinds"],
        graph.backwards,
    )  # fmt: skip


def _arrows(graph: GlobalGraph, edges: GraphEdges) -> Arrows:
    return Arrows(len(graph.points.task), edges.source, edges.sink, edges.weight)


def _sum(edges: GraphEdges, kind: int) -> int:
    return int(edges.weight[edges.kind == kind].sum())


def _outside(of: Analysis, graph: GlobalGraph, path: GraphEdges) -> int:
    outside = (path.kind == kinds.WORK) & (of["tasks"].index(graph.points.task[path.sink]) < 0)
    return int(path.weight[outside].sum())


def _worked(graph: GlobalGraph, chain: GraphEdges) -> np.ndarray:
    """How much of each edge's time is what the edge stands for."""
    return np.where(chain.kind == kinds.WORK, chain.weight, graph.time[chain.sink] - graph.time[chain.source])


def chain_steps(of: Analysis) -> tuple[Steps, list[str]]:
    """The pieces of the chain's parts, and the names of these."""
    graph, chain = of["global_graph"], of["critical_path"].chain
    return steps(of, graph, chain, _worked(graph, chain))


def _chain_parts(of: Analysis, graph: GlobalGraph, chain: GraphEdges) -> list[dict[str, Any]]:
    inside = graph.time
    lasted, worked = inside[chain.sink] - inside[chain.source], _worked(graph, chain)
    # The records of another rank, or thread, begin earlier than those of the chain's first point.
    before = int(inside[chain.source[0]]) - graph.begin if len(chain.source) else 0
    rest = ((UNKNOWN, "wait", int(np.count_nonzero(lasted > worked)), int((lasted - worked).sum())),
            (BEFORE, "start", 1, before))  # fmt: skip
    table = parts(of, graph, chain, worked)
    table += [dict(zip(("name", "kind", "edges", "total_ns"), row)) for row in rest if row[-1]]
    return sorted(table, key=lambda row: -row["total_ns"])


def _chain_ranks(graph: GlobalGraph, chain: GraphEdges) -> list[dict[str, Any]]:
    task = graph.points.task[chain.sink]
    task = np.where(task != 0, task, graph.points.task[chain.source])  # a join is nowhere
    rank = (task >> np.uint64(TASK_BITS)).astype(np.int64)
    groups = group_by(rank)
    table = rows(rank=groups.key(rank), total_ns=groups.sum(graph.time[chain.sink] - graph.time[chain.source]))
    return sorted(table, key=lambda row: -row["total_ns"])


def _at_ends(of: Analysis, graph: GlobalGraph, values: np.ndarray) -> np.ndarray:
    """By row of tasks: the value of the point where the task ends, or -1."""
    tasks, points = of["tasks"], graph.points
    ends = np.flatnonzero(points.what == what.END)
    row = tasks.index(points.task[ends])
    found = np.full(len(tasks.id), -1)
    found[row[row >= 0]] = values[ends[row >= 0]]
    return found
