# SPDX-License-Identifier: Apache-2.0
"""How much of the time in MPI calls was waiting for another rank, and for which one.

The patterns are those of Scalasca ("Performance properties", apps.fz-juelich.de/scalasca, scalasca_patterns), each from
the call's begin, and no longer than the call:

- Late sender: to the begin of the call that sends the message. Of a wait for several messages, the latest one counts.
- Late receiver: to the begin of the call that asks for the message, if the sender's call was still under way then.
- Late member: in a barrier, or a collective where each rank needs all (Wait at Barrier, Wait at N x N), to the begin of
  the last rank's call. In a broadcast or a scatter, to the begin of the root's call (Late Broadcast). In the root of a
  reduction or a gather, to the begin of the first other rank's call (Early Reduce).

A call that waits for a sender and for a receiver has waited for the one that came later. The call of a task that was
suspended meanwhile cost its thread nothing: `held` is the part of the time in which it did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...global_graph.communication import ALL, FROM_ROOT, TO_ROOT, find_collectives
from ...read.calls import Calls
from ...read.events import CALL_KINDS, MPI_CALLS
from ...read.records import Trace
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows
from .call_sites import places, sites_of

PATTERNS = ("late sender", "late receiver", "late member")
_SENDER, _RECEIVER, _MEMBER = range(3)


@dataclass
class MpiWaits:
    """By row of `calls`: `waited` ns for rank `partner` (-1: none), by `pattern` (row of PATTERNS)."""

    calls: Calls
    held: np.ndarray
    waited: np.ndarray
    partner: np.ndarray
    pattern: np.ndarray
    trace: Trace

    def document(self) -> dict[str, Any]:
        return {"functions": self._by_function(), "partners": self._by_partner()}

    def _by_function(self) -> list[dict[str, Any]]:
        """Without MPI_Init and what talks to nobody; the most time first."""
        number = self.calls.call
        talks = np.flatnonzero(~np.isin(number, [n for n, kind in CALL_KINDS.items() if kind == "local"]))
        groups = group_by(number[talks])
        places_of = self._places(talks)
        waits = {f"{name.replace(' ', '_')}_ns": groups.sum(np.where(self.pattern == at, self.waited, 0)[talks])
                 for at, name in enumerate(PATTERNS)}  # fmt: skip
        table = rows(
            name=[MPI_CALLS.get(one, f"MPI call {one}") for one in groups.key(number[talks]).tolist()],
            calls=groups.count, total_ns=groups.sum((self.calls.end - self.calls.start)[talks]),
            held_ns=groups.sum(self.held[talks]), bytes=groups.sum(self.calls.bytes[talks].astype(np.int64)), **waits,
            places=[places_of(one) for one in groups.key(number[talks]).tolist()],
        )  # fmt: skip
        return sorted(table, key=lambda row: -row["total_ns"])

    def _places(self, talks: np.ndarray) -> Callable[[int], list[dict[str, Any]]]:
        calls = self.calls
        code = sites_of(self.trace, calls.enter_row[talks], calls.call[talks], False)
        return places(self.trace, calls.rank[talks], code, calls.call[talks], (calls.end - calls.start)[talks])

    def _by_partner(self) -> list[dict[str, Any]]:
        """Which rank waited for which one in which function; the most time first."""
        some = np.flatnonzero((self.waited > 0) & (self.partner >= 0))
        rank = self.calls.rank[some].astype(np.int64)
        keys = (self.calls.call[some], self.pattern[some], rank, self.partner[some])
        groups = group_by(*keys)
        call, pattern, rank, partner = (groups.key(key) for key in keys)
        table = rows(name=[MPI_CALLS.get(one, f"MPI call {one}") for one in call.tolist()],
                     pattern=[PATTERNS[one] for one in pattern.tolist()], rank=rank, waits_for=partner,
                     calls=groups.count, total_ns=groups.sum(self.waited[some]))  # fmt: skip
        return sorted(table, key=lambda row: -row["total_ns"])


@analysis_pass("mpi_waits", needs=("calls", "requests", "messages", "communication"))
def mpi_waits(of: Analysis) -> MpiWaits:
    calls = of["calls"]
    count = len(calls.call)
    found = MpiWaits(calls, of["communication"].held, np.zeros(count, dtype=np.int64), np.full(count, -1),
                     np.zeros(count, dtype=np.int64), of.trace)  # fmt: skip
    _add_messages(found, of["messages"])
    _add_collectives(found, of)
    return found


def _note(found: MpiWaits, call: np.ndarray, until: np.ndarray, partner: np.ndarray, pattern: int) -> None:
    """The calls waited to these times for these ranks, as far as no longer wait of them is known."""
    start, end = found.calls.start[call], found.calls.end[call]
    waited = np.minimum(until, end) - start
    order = np.argsort(waited, kind="stable")  # of several rows of one call the last one stays
    longer = order[(waited > found.waited[call])[order]]
    found.waited[call[longer]] = waited[longer]
    found.partner[call[longer]] = partner[longer]
    found.pattern[call[longer]] = pattern


def _add_messages(found: MpiWaits, messages: Any) -> None:
    calls = found.calls
    rank = calls.rank.astype(np.int64)
    _note(found, messages.receive, calls.start[messages.send], rank[messages.send], _SENDER)
    some = np.flatnonzero(messages.sent >= 0)
    sent, asked = messages.sent[some], messages.asked[some]
    late = calls.end[sent] > calls.start[asked]
    sent, asked = sent[late], asked[late]
    _note(found, sent, calls.start[asked], rank[asked], _RECEIVER)


def _add_collectives(found: MpiWaits, of: Analysis) -> None:
    calls = found.calls
    parts = find_collectives(of.trace, calls, of["requests"])
    rank = calls.rank[parts.enter].astype(np.int64)
    start = calls.start[parts.enter]
    gives = ((parts.role == ALL) | ((parts.role == FROM_ROOT) & parts.root)
             | ((parts.role == TO_ROOT) & ~parts.root))  # fmt: skip
    takes = (parts.role == ALL) | ((parts.role == FROM_ROOT) & ~parts.root) | ((parts.role == TO_ROOT) & parts.root)
    # Of those that a group waits for, the last one counts; for a root that collects, the first one.
    given = np.flatnonzero(gives)
    urgency = np.where(parts.role[given] == TO_ROOT, -start[given], start[given])
    order = np.lexsort((urgency, parts.group[given]))
    awaited = np.full(int(parts.group.max(initial=-1)) + 1, -1)
    awaited[parts.group[given][order]] = given[order]  # the last one stays
    taken = np.flatnonzero(takes)
    giver = awaited[parts.group[taken]]
    taken, giver = taken[giver >= 0], giver[giver >= 0]
    _note(found, parts.leave[taken], start[giver], rank[giver], _MEMBER)
