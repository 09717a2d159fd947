# SPDX-License-Identifier: Apache-2.0
"""The pass `addresses`: which address, or variable, orders how many tasks.

For an address a of a process, and the pairs of tasks P(a) that it orders (the second may start only after the first):

    edges(a) = number of pairs in P(a)
    alone(a) = number of pairs in P(a) that no other address orders
    held(a)  = sum of the times on threads of the tasks that wait for another one by a alone

An address with a large part of all edges, and many that it alone brings about, may be a false dependence: tasks that
only read it but declare `inout`, or one variable that stands for the data of all. Where they must follow one another,
it is what makes the graph narrow. A variable has its name if it is global or static in a file with symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph import INOUT, OUT, edges_by_address
from ...read.columns import group_starts
from ...native_base import count_less
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows
from ...variables import name_of

MOST_ROWS = 10  # of addresses: names are looked up for these alone


@dataclass
class Addresses:
    """A row per address and rank that orders tasks, by `alone`, most first. `tasks`, `writers`: how many tasks name it,
    and declare that they write it; `kind`: a task that waits by it. `pairs`: of tasks, each once."""

    rank: np.ndarray
    address: np.ndarray
    tasks: np.ndarray
    writers: np.ndarray
    edges: np.ndarray
    alone: np.ndarray
    held: np.ndarray
    kind: np.ndarray
    pairs: int
    kind_names: list[str]
    names: list[str]  # of the first rows; empty: not known

    def document(self) -> dict[str, Any]:
        some = slice(MOST_ROWS)
        table = rows(name=[name or f"{address:#x}" for name, address in zip(self.names, self.address[some].tolist())],
                     rank=self.rank[some], tasks=self.tasks[some], writers=self.writers[some], edges=self.edges[some],
                     alone=self.alone[some], held_ns=self.held[some],
                     kind=[self.kind_names[one] for one in self.kind[some].tolist()])  # fmt: skip
        return {"addresses": len(self.address), "edges": self.pairs, "most": table}


@analysis_pass("addresses", needs=("tasks", "kinds", "accesses", "edges"))
def addresses(of: Analysis) -> Addresses:
    """Which address, or variable, orders how many tasks."""
    tasks, kinds, found = of["tasks"], of["kinds"], edges_by_address(of["accesses"])
    rank = tasks.rank[found.sink]
    alone = _alone(of, found.source, found.sink)
    groups = group_by(rank, found.address)
    # A task that waits by an address for several others is held once. Its rows stand together (edges_by_address).
    order = groups.order
    number = np.repeat(np.arange(len(groups.count)), groups.count)
    sink = found.sink[order]
    first = np.flatnonzero(group_starts(number, sink))
    waits = np.logical_or.reduceat(alone[order], first) if len(first) else alone
    held = np.bincount(number[first], weights=tasks.running[sink[first]] * waits,
                       minlength=len(groups.count)).astype(np.int64)  # fmt: skip
    ranks, keys = groups.key(rank), groups.key(found.address)
    named, writers = _named(of, ranks, keys)
    lonely = groups.sum(alone.astype(np.int64))
    most = np.lexsort((-groups.count, -lonely))
    names = [name_of(of.trace.ranks[int(ranks[row])], int(keys[row])) for row in most[:MOST_ROWS].tolist()]
    return Addresses(ranks[most], keys[most], named[most], writers[most], groups.count[most], lonely[most], held[most],
                     groups.key(kinds.of_task[found.sink])[most], len(of["edges"].source), kinds.names,
                     names)  # fmt: skip


def _alone(of: Analysis, source: np.ndarray, sink: np.ndarray) -> np.ndarray:
    """Whether no other address orders the same pair. `edges` has each pair once, sorted, with how many do."""
    edges, count = of["edges"], len(of["tasks"].id)
    at = count_less(edges.source * count + edges.sink, source * count + sink)
    return edges.times[at] == 1 if len(at) else np.zeros(0, dtype=bool)


def _named(of: Analysis, rank: np.ndarray, address: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tasks that name each address, dependences on it that write)"""
    trace, tasks = of.trace, of["tasks"]
    some = trace.select("dependence")
    some = some[tasks.index(trace.task[some]) >= 0]
    names = trace.field("dependence", "address", some)
    kind = trace.field("dependence", "type", some)
    groups = group_by(trace.rank[some].astype(np.int64), names)
    of_rank, of_address = groups.key(trace.rank[some].astype(np.int64)), groups.key(names)
    writes = groups.sum(np.isin(kind, (OUT, INOUT)).astype(np.int64))
    known = np.unique(of_address)
    here = of_rank * len(known) + np.searchsorted(known, of_address)
    at = np.searchsorted(here, rank * len(known) + np.searchsorted(known, address))
    return groups.count[at], writes[at]
