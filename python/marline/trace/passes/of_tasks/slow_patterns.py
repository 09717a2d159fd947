# SPDX-License-Identifier: Apache-2.0
"""The pass `slow_patterns`: dependences that make discovery slow and order nothing (R. Pereira, thesis, 2023,
chapter 6, where their removal makes a program faster), and about what each kind of them costs.

- duplicate: a pair of tasks is ordered by k addresses: k - 1 of these edges say nothing new.
- transitive: an edge from u to v where another task w has edges from u and to v. (Longer ways round are not looked for:
  the count is a lower bound.) For the many edges of a large graph, a sample of `SAMPLE` candidates is scaled up.
- product: each of n tasks depends on the same m tasks, by m addresses or more each: m n edges. If the m tasks name one
  more address with `inoutset`, and the n tasks read that one only, m + n edges do (a node in between joins them), and
  each of the n tasks has one dependence. Counted where m and n are 3 or more: m n - (m + n).

What an edge costs is the slope of a line through what creations took, against the edges that the tasks had: through the
median time for each number of edges, weighted by tasks (weighted least squares). What a creation took is what the
runtime has measured (pass `creations`). Where it has measured none, as other runtimes, it is the time from a task's
last dependence to the next creation on the thread. The cost is that of the run itself, and not known (`edge_ns` null)
if all tasks have as many edges, or if the times do not grow with them. time = count x cost is what the creators would
save at most: the runtime may leave an edge out at less than the cost of one (`pruned`, `duplicate` and `transitive` in
the report's line on dependences).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph import Edges
from ...model import Tasks
from ...read.columns import distinct, find, group_starts
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows
from ..picture import Kinds
from .levels import Levels

SAMPLE = 2_000_000
FEWEST = 3  # tasks on each side of a product
_LEAST_TASKS = 8  # with one number of edges, for its median to count
_SEED = 1


@dataclass
class SlowPatterns:
    """`duplicate`, `transitive`, `product`: by row of edges, how many edges could go for each (a share of them, where
    it is an estimate or a set is rebuilt). `edge`: ns that an edge costs, None: not known."""

    edges: Edges
    duplicate: np.ndarray
    transitive: np.ndarray
    product: np.ndarray
    edge: float | None
    kinds: Kinds

    def document(self) -> dict[str, Any]:
        return {
            "edges": len(self.edges.source), "declared": int(self.edges.times.sum()), "edge_ns": self.edge,
            **{name: {"edges": float(column.sum()), "time_ns": self._time(float(column.sum())),
                      "kinds": self._kinds(column)} for name, column in self._columns()},
        }  # fmt: skip

    def _columns(self) -> list[tuple[str, np.ndarray]]:
        return [("duplicate", self.duplicate), ("transitive", self.transitive), ("product", self.product)]

    def _time(self, edges: float) -> float | None:
        return None if self.edge is None else edges * self.edge

    def _kinds(self, column: np.ndarray) -> list[dict[str, Any]]:
        """From which kind of task to which, the most first."""
        some = np.flatnonzero(column)
        source, sink = (self.kinds.of_task[end[some]] for end in (self.edges.source, self.edges.sink))
        groups = group_by(source, sink)
        names = self.kinds.names
        ends = [[names[one] for one in groups.key(end).tolist()] for end in (source, sink)]
        table = rows(**dict(zip(("from", "to"), ends)), edges=groups.sum(column[some]))
        return sorted(table, key=lambda row: -row["edges"])


@analysis_pass("slow_patterns", needs=("tasks", "edges", "kinds", "levels", "creations"))
def slow_patterns(of: Analysis) -> SlowPatterns:
    """Dependences that make discovery slow and order nothing, and what they cost."""
    tasks, edges = of["tasks"], of["edges"]
    return SlowPatterns(edges, (edges.times - 1).astype(np.float64), _transitive(edges, len(tasks.id), of["levels"]),
                        _products(of, tasks, edges), _cost_of_an_edge(of, tasks, edges), of["kinds"])  # fmt: skip


def _transitive(edges: Edges, tasks: int, levels: Levels) -> np.ndarray:
    """1 for an edge beside a path of two others. Such an edge leads over two levels or more."""
    found = np.zeros(len(edges.source))
    far = np.flatnonzero(levels.level[edges.sink] - levels.level[edges.source] > 1)
    tries = np.diff(levels.first)[edges.sink[far]]  # w is any predecessor of v
    share = 1.0
    if tries.sum() > SAMPLE:
        kept = np.random.default_rng(_SEED).random(len(far)) < SAMPLE / tries.sum()
        share, far = len(far) / max(int(kept.sum()), 1), far[kept]
    place, other = levels.into(edges.sink[far])
    edge, between = far[place], edges.source[other]
    known = edges.source * tasks + edges.sink  # sorted, as edges are
    beside = find(known, edges.source[edge] * tasks + between) >= 0
    found[edge[beside]] = share
    return found


def _products(of: Analysis, tasks: Tasks, edges: Edges) -> np.ndarray:
    """Tasks with the same predecessors have the same sum of random numbers, one for each predecessor."""
    count = len(tasks.id)
    mark = np.random.default_rng(_SEED).integers(1, 1 << 62, count, dtype=np.int64)
    name = np.zeros(count, dtype=np.int64)
    np.add.at(name, edges.sink, mark[edges.source])
    before = np.bincount(edges.sink, minlength=count)
    row = tasks.index(of.trace.task[of.trace.select("dependence")])
    clauses = np.bincount(row[row >= 0], minlength=count)
    sinks = np.flatnonzero((before >= FEWEST) & (clauses >= before))
    found = np.zeros(len(edges.source))
    groups = group_by(name[sinks])
    wide = groups.count >= FEWEST
    size = np.repeat(np.where(wide, groups.count, 0), groups.count)
    n = np.zeros(count, dtype=np.int64)
    n[sinks[groups.order]] = size
    mine = np.flatnonzero(n[edges.sink] > 0)
    m = before[edges.sink[mine]]
    found[mine] = 1 - (m + n[edges.sink[mine]]) / (m * n[edges.sink[mine]])
    return found


def _cost_of_an_edge(of: Analysis, tasks: Tasks, edges: Edges) -> float | None:
    number = np.zeros(len(tasks.id), dtype=np.int64)
    np.add.at(number, edges.sink, edges.times)
    measured = np.flatnonzero(of["creations"].measured)
    took, task = (of["creations"].time[measured], measured) if len(measured) else _gaps(of, tasks)
    if not len(took):
        return None
    x = number[task]
    order = np.lexsort((took, x))
    x, took = x[order], took[order]
    first = np.flatnonzero(group_starts(x))
    count = np.diff(np.r_[first, len(x)])
    middle = (took[first + (count - 1) // 2] + took[first + count // 2]) / 2
    enough = count >= _LEAST_TASKS
    edges_of, weight, median = x[first][enough], count[enough], middle[enough]
    if len(edges_of) < 2:
        return None
    center = np.average(edges_of, weights=weight)
    spread = (weight * (edges_of - center) ** 2).sum()
    slope = float((weight * (edges_of - center) * (median - np.average(median, weights=weight))).sum() / spread)
    return slope if slope > 0 else None


def _gaps(of: Analysis, tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
    """(time from a task's last record of its creation to the next creation on the same thread; row of the task): only
    where nothing else was recorded in between."""
    trace = of.trace
    create, dependence = trace.select("task_create"), trace.select("dependence")
    last = np.zeros(len(tasks.id), dtype=np.int64)
    for records in (create, dependence):
        row = tasks.index(trace.task[records])
        np.maximum.at(last, row[row >= 0], records[row >= 0])
    task = np.flatnonzero(last > 0)
    following = last[task] + 1
    inside = following < len(trace.time)
    task, following = task[inside], following[inside]
    is_create = find(distinct(create), following) >= 0
    same = (trace.thread[following] == trace.thread[last[task]]) & (trace.rank[following] == trace.rank[last[task]])
    parent = tasks.index(trace.task[following])
    siblings = is_create & same & (parent >= 0)
    siblings[siblings] = tasks.parent[parent[siblings]] == tasks.parent[task[siblings]]
    return (trace.time[following] - trace.time[last[task]])[siblings], task[siblings]
