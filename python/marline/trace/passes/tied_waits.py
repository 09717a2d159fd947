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
    """Suspensions (rows) of tied tasks that could have gone on earlier, and how much earlier."""

    suspension: np.ndarray
    late: np.ndarray  # ns

    @property
    def total(self) -> int:
        return int(self.late.sum())

    def document(self) -> dict[str, Any]:
        return {"resumptions": len(self.late), "late_ns": self.total}


@analysis_pass("tied_waits", needs=("tasks", "calls", "suspensions", "messages"))
def tied_waits(of: Analysis) -> TiedWaits:
    """From when the task could go on to when it did. Where the runtime does not tell this, only of receives: from the
    start of the matching send, or of the suspension if that is later. Of a message that is large or crosses a network,
    part of this is its transfer: an upper bound."""
    tasks, calls, suspensions, messages = of["tasks"], of["calls"], of["suspensions"], of["messages"]
    sent = np.full(len(calls.call), -1, dtype=np.int64)
    np.maximum.at(sent, messages.receive, calls.start[messages.send])
    row = tasks.index(suspensions.task)
    tied = (row >= 0) & ((tasks.flags[row] & model.UNTIED) == 0)
    sent_at = np.where(suspensions.call >= 0, sent[suspensions.call] if len(sent) else -1, -1)
    begin = np.where(suspensions.told, suspensions.ready, np.maximum(sent_at, suspensions.start))
    rows = np.flatnonzero(tied & (suspensions.told | (sent_at >= 0)))
    return TiedWaits(rows, np.maximum(suspensions.end - begin, 0)[rows])
