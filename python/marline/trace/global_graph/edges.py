# SPDX-License-Identifier: Apache-2.0
"""The edges of the global graph, by what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..read.columns import Columns


@dataclass(frozen=True)
class EdgeKind:
    """`text`: what the time of such an edge is, on the path that bounded the run. `of_code`: the same in a program
    without tasks, where the words differ."""

    name: str
    text: str
    of_code: str = ""


# An order of the program, or of the run alone (`thread`: from the task that the thread ran before, or from when a
# suspended task could go on; `lock`: from the task that had the lock before).
EDGE_KINDS = (
    EdgeKind("work", "work"),
    EdgeKind("create", "from creation to start"),
    EdgeKind("dependence", "from predecessor to successor"),
    EdgeKind("taskwait", "end of taskwait or taskgroup"),
    EdgeKind("barrier", "barriers, fork and join"),
    EdgeKind("message", "messages"),
    EdgeKind("collective", "collective MPI calls"),
    EdgeKind("mpi", "other MPI calls"),
    EdgeKind("event", "detached tasks' events"),
    EdgeKind("inline", "back from undeferred tasks"),
    EdgeKind("device", "kernels and copies of devices"),
    EdgeKind("thread", "ready tasks until a thread ran them", "threads on their way into regions"),
    EdgeKind("lock", "locks on their way to the next task", "locks on their way to the next thread"),
)
WORK, CREATE, DEPENDENCE, TASKWAIT, BARRIER, MESSAGE, COLLECTIVE, MPI, EVENT, INLINE, DEVICE, THREAD, LOCK = range(13)
COMMUNICATION = (MESSAGE, COLLECTIVE, MPI)


@dataclass
class GraphEdges(Columns):
    """From point `source` to point `sink`; `weight`: how long it takes at least, in ns."""

    source: np.ndarray
    sink: np.ndarray
    weight: np.ndarray
    kind: np.ndarray


class EdgeList:
    """Edges as they are found, between numbers of points."""

    def __init__(self) -> None:
        self._columns: tuple[list[np.ndarray], ...] = ([], [], [], [])

    def add(self, kind: int, source: np.ndarray, sink: np.ndarray, weight: np.ndarray | int = 0) -> None:
        """Where a number is negative, there is no such point, and so no edge."""
        known = np.flatnonzero((source >= 0) & (sink >= 0))
        values = (source[known], sink[known], np.broadcast_to(np.asarray(weight, dtype=np.int64), len(source))[known],
                  np.full(len(known), kind, dtype=np.int8))  # fmt: skip
        for column, value in zip(self._columns, values):
            column.append(value)

    def finish(self, place: np.ndarray) -> GraphEdges:
        """`place`: of each number, where its point stands."""
        source, sink, weight, kind = (
            np.concatenate([np.zeros(0, dtype=np.int64), *column]) for column in self._columns
        )
        self._columns = ()  # large, and not needed any more
        return GraphEdges(place[source], place[sink], weight, kind.astype(np.int8))
