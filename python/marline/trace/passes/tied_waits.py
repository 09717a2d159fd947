# SPDX-License-Identifier: Apache-2.0
"""A pass that only the report asks for: how late tied tasks go on, as their own thread is busy elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import model
from ..registry import Analysis, analysis_pass


@dataclass
class TiedWaits:
    """Suspensions (rows) of tied tasks in a receive, and how long each went on after its message had been sent."""

    suspension: np.ndarray
    late: np.ndarray  # ns

    @property
    def total(self) -> int:
        return int(self.late.sum())

    def document(self) -> dict[str, Any]:
        return {"resumptions": len(self.late), "late_ns": self.total}


@analysis_pass("tied_waits", needs=("tasks", "calls", "suspensions", "messages"))
def tied_waits(of: Analysis) -> TiedWaits:
    """From the start of the matching send, or of the suspension if that is later, to the resumption. Of a message that
    is large or crosses a network, part of this is its transfer: an upper bound."""
    tasks, calls, suspensions, messages = of["tasks"], of["calls"], of["suspensions"], of["messages"]
    sent = np.full(len(calls.call), -1, dtype=np.int64)
    np.maximum.at(sent, messages.receive, calls.start[messages.send])
    row = tasks.index(suspensions.task)
    rows = np.flatnonzero((suspensions.call >= 0) & (row >= 0))
    tied = (tasks.flags[row[rows]] & model.UNTIED) == 0
    rows = rows[tied]
    rows = rows[sent[suspensions.call[rows]] >= 0]
    begin = np.maximum(sent[suspensions.call[rows]], suspensions.start[rows])
    return TiedWaits(rows, np.maximum(suspensions.end[rows] - begin, 0))
