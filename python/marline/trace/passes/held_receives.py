# SPDX-License-Identifier: Apache-2.0
"""A pass that only the report asks for: how long receives have held their threads before their message was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..registry import Analysis, analysis_pass


@dataclass
class HeldReceives:
    """Receives whose task was never suspended, and for how long they waited for a message that was not sent yet."""

    receives: int
    early: int  # ns, in sum

    def document(self) -> dict[str, Any]:
        return {"receives": self.receives, "early_ns": self.early}


@analysis_pass("held_receives", needs=("calls", "suspensions", "messages"))
def held_receives(of: Analysis) -> HeldReceives:
    """Only of messages whose send was recorded, too."""
    calls, messages, suspended = of["calls"], of["messages"], of["suspensions"].call
    held = ~np.isin(messages.receive, suspended[suspended >= 0])
    receive, send = messages.receive[held], messages.send[held]
    waited = np.minimum(calls.start[send], calls.end[receive]) - calls.start[receive]
    return HeldReceives(len(receive), int(np.maximum(waited, 0).sum()))
