# SPDX-License-Identifier: Apache-2.0
"""The pass `matrix`: messages and bytes by pair of ranks, and collectives by communicator.

- messages(i, j), bytes(i, j): the messages from rank i to rank j of MPI_COMM_WORLD whose send and receive are both in
  the trace; the bytes are what the sender gave. One-sided communication is in no pair.
- For each communicator and kind of collective: times(c, k) = how often it was called together, which is how often the
  rank called it that called it most; bytes(c, k) = the sum over all ranks of what each put in.
- unevenness = most bytes that one rank sends / mean bytes that a rank sends: 1 if all send as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.calls import kind_mask
from ...read.columns import group_starts
from ...read.events import MPI_CALLS
from ...read.messages import communicators
from ...registry import Analysis, analysis_pass
from ...statistics import group_by, rows

_WORLD = 1


@dataclass
class Matrix:
    """Of pairs of ranks that exchanged messages, sorted. `size`: how many ranks there are."""

    size: int
    sender: np.ndarray
    receiver: np.ndarray
    messages: np.ndarray
    bytes: np.ndarray
    collectives: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        sent = np.bincount(self.sender, weights=self.bytes, minlength=self.size)
        return {
            "ranks": self.size, "messages": int(self.messages.sum()), "bytes": int(self.bytes.sum()),
            "unevenness": float(sent.max() / sent.mean()) if sent.any() else None,
            "pairs": rows(**{"from": self.sender, "to": self.receiver}, messages=self.messages, bytes=self.bytes),
            "collectives": self.collectives,
        }  # fmt: skip


@analysis_pass("matrix", needs=("calls", "messages"))
def matrix(of: Analysis) -> Matrix:
    """Messages and bytes by pair of ranks, and collectives by communicator."""
    calls, messages = of["calls"], of["messages"]
    sender, receiver = (calls.rank[row].astype(np.int64) for row in (messages.send, messages.receive))
    pairs = group_by(sender, receiver)
    return Matrix(max(of.trace.ranks) + 1, pairs.key(sender), pairs.key(receiver), pairs.count,
                  pairs.sum(messages.bytes), _collectives(of))  # fmt: skip


def _collectives(of: Analysis) -> list[dict[str, Any]]:
    calls = of["calls"]
    chosen = np.flatnonzero(kind_mask(calls, "collective", "start_collective"))
    call, rank = calls.call[chosen].astype(np.int64), calls.rank[chosen].astype(np.int64)
    comm = calls.comm[chosen].astype(np.int64)
    identity = communicators(of.trace, rank, comm)
    by_rank = group_by(identity, call, rank)
    # Groups of one communicator and call stand together: a row for each.
    one_comm, one_call = by_rank.key(identity), by_rank.key(call)
    first = np.flatnonzero(group_starts(one_comm, one_call))
    if not len(first):
        return []
    number = {one: str(place) for place, one in enumerate(dict.fromkeys(one_comm.tolist()))} | {_WORLD: "world"}
    return rows(
        communicator=[number[one] for one in one_comm[first].tolist()],
        name=[MPI_CALLS.get(one, f"MPI call {one}") for one in one_call[first].tolist()],
        ranks=np.diff(np.r_[first, len(one_comm)]), times=np.maximum.reduceat(by_rank.count, first),
        bytes=np.add.reduceat(by_rank.sum(calls.bytes[chosen].astype(np.int64)), first),
    )  # fmt: skip
