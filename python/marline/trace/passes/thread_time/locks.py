# SPDX-License-Identifier: Apache-2.0
"""The pass `locks`: where the program requests locks, critical regions and the like, and how long it waited there. For
requests q at a place p of the source:

    waited(p) = sum over q of (time when the task has the lock - time of the request)

in any task, with tests that do not wait left out. It counts what tasks waited, not what threads lost: meanwhile the
thread may have run another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...registry import Analysis, analysis_pass
from ..without_tasks.call_sites import places, sites_of
from .obstacles import LockWaits


@dataclass
class Locks:
    """`waited`: ns, of all requests, those whose place is not known included."""

    requests: int
    waited: int
    places: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        return {"requests": self.requests, "waited_ns": self.waited, "places": self.places}


@analysis_pass("locks", needs=("lock_waits",))
def locks(of: Analysis) -> Locks:
    """Where in the source locks are requested, and how long tasks wait for them."""
    found: LockWaits = of["lock_waits"]
    code = sites_of(of.trace, found.row, of.trace.field("mutex_acquire", "wait_id", found.row), True)
    waited, all_of_them = found.end - found.start, np.zeros(len(code), dtype=np.int64)
    return Locks(len(code), int(waited.sum()), places(of.trace, found.rank, code, all_of_them, waited)(0))
