# SPDX-License-Identifier: Apache-2.0
"""The pass `early_sends`: how late a message leaves after its data was ready.

For a message that explicit task t sends by a call that begins at s(t):

    ready(t) = the greatest end of the tasks that t depends on; of a task that depends on none, its creation
    late     = s - ready = undiscovered + queued + inside

- undiscovered: the task was not there yet: from ready to its creation, its dependences declared.
- queued: it was there and ready, and no thread ran it: up to its start.
- inside: the task had begun, and did something else before it sent.

The first asks for faster discovery, the second for a priority of tasks that send, the third for a send that comes
first in its task. The question is that of R. Pereira's thesis (2023, 5.2: priorities that let tasks which send start
early); the sum is ours. Messages that are sent outside of explicit tasks are counted only, as nothing says when their
data was ready. Undeferred tasks are never queued.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import Tasks
from ...read.columns import Columns
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows
from ..picture import Kinds

MOST = 10  # of the latest messages


@dataclass
class _Sends(Columns):
    """A row per message. Times in ns."""

    task: np.ndarray  # row of tasks
    time: np.ndarray
    bytes: np.ndarray
    receiver: np.ndarray
    undiscovered: np.ndarray
    queued: np.ndarray
    inside: np.ndarray

    @property
    def late(self) -> np.ndarray:
        return self.undiscovered + self.queued + self.inside


@dataclass
class EarlySends:
    sends: _Sends
    outside: int  # messages that no explicit task sent
    tasks: Tasks
    kinds: Kinds

    def document(self) -> dict[str, Any]:
        sends, late = self.sends, self.sends.late
        return {
            "messages": len(late), "outside_of_tasks": self.outside, "late_ns": int(late.sum()),
            "mean_ns": float(late.mean()) if len(late) else 0.0, "max_ns": int(late.max(initial=0)),
            "undiscovered_ns": int(sends.undiscovered.sum()), "queued_ns": int(sends.queued.sum()),
            "inside_ns": int(sends.inside.sum()), "kinds": self._kinds(), "latest": self._latest(),
        }  # fmt: skip

    def _kinds(self) -> list[dict[str, Any]]:
        sends, late = self.sends, self.sends.late
        kind = self.kinds.of_task[sends.task]
        groups = group_by(kind)
        table = rows(name=[self.kinds.names[one] for one in groups.key(kind).tolist()], messages=groups.count,
                     late_ns=groups.sum(late), max_ns=groups.max(late), undiscovered_ns=groups.sum(sends.undiscovered),
                     queued_ns=groups.sum(sends.queued), inside_ns=groups.sum(sends.inside))  # fmt: skip
        return sorted(table, key=lambda row: -row["late_ns"])

    def _latest(self) -> list[dict[str, Any]]:
        worst = self.sends.take(np.argsort(-self.sends.late, kind="stable")[:MOST])
        return rows(name=[self.kinds.names[one] for one in self.kinds.of_task[worst.task].tolist()],
                    rank=self.tasks.rank[worst.task], to=worst.receiver, sent_ns=worst.time, late_ns=worst.late,
                    undiscovered_ns=worst.undiscovered, queued_ns=worst.queued, inside_ns=worst.inside,
                    bytes=worst.bytes)  # fmt: skip


@analysis_pass("early_sends", needs=("calls", "messages", "tasks", "edges", "readiness", "kinds"))
def early_sends(of: Analysis) -> EarlySends:
    """How late messages leave after their data was ready, and why."""
    calls, messages, tasks, edges = of["calls"], of["messages"], of["tasks"], of["edges"]
    row = tasks.index(calls.task[messages.send])
    mine = np.flatnonzero((row >= 0) & (tasks.start[row] >= 0)) if len(tasks.id) else np.zeros(0, dtype=np.int64)
    task, time = row[mine], calls.start[messages.send[mine]]
    begun, there = tasks.start[task], np.minimum(of["readiness"].declared[task], tasks.start[task])
    data = np.full(len(tasks.id), -1, dtype=np.int64)
    np.maximum.at(data, edges.sink, tasks.end[edges.source])
    ready = np.where(data[task] >= 0, np.minimum(data[task], begun), there)
    sends = _Sends(task, time, messages.bytes[mine], calls.rank[messages.receive[mine]].astype(np.int64),
                   np.maximum(there - ready, 0), begun - np.maximum(there, ready), time - begun)  # fmt: skip
    return EarlySends(sends, len(row) - len(mine), tasks, of["kinds"])
