# SPDX-License-Identifier: Apache-2.0
"""Communication: how long MPI calls and requests took, by kind and by peer, and whether a call held its thread.

A call of a suspended task holds no thread: `held` is the part of its duration in which its task was on a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..read.calls import Calls, Requests, kind_mask
from ..read.columns import distinct, find, is_among, overlaps, sums
from ..read.events import CALL_KINDS, MPI_CALLS
from ..read.messages import Messages, world_ranks
from ..registry import Analysis, analysis_pass
from ..statistics import group_by, mean_of, rows

_PEER_KINDS = ("send", "receive", "sendreceive", "start_send", "start_receive")


@dataclass
class Communication:
    """`duration`, `held`: per row of `calls`; `request_duration`: per row of `requests`; `latency`: per row of
    `messages`, from the start of the send to the end of the receive. All in ns. `peer`: per call the other rank in
    MPI_COMM_WORLD, -1 if none or unknown."""

    calls: Calls
    duration: np.ndarray
    held: np.ndarray
    peer: np.ndarray
    requests: Requests
    request_duration: np.ndarray
    messages: Messages
    latency: np.ndarray
    polls: int  # calls that asked and found nothing
    polling: int  # time in them

    @property
    def suspended(self) -> np.ndarray:
        """The part of each call in which its task was on no thread."""
        return self.duration - self.held

    def document(self) -> dict[str, Any]:
        """Aggregated."""
        return {
            "calls": self._by_call(),
            "requests": self._by_request(),
            "peers": self._by_peer(),
            "messages": {"count": len(self.latency), "mean_ns": mean_of(self.latency),
                         "max_ns": int(self.latency.max(initial=0)), "sizes": self._by_size()},
            "polls": {"count": self.polls, "total_ns": self.polling},
            "total": self._total(),
        }  # fmt: skip

    def _total(self) -> dict[str, int]:
        """Without local calls: MPI_Init and MPI_Finalize would outweigh all others in a short run."""
        talks = ~kind_mask(self.calls, "local")
        return {"calls": int(np.count_nonzero(talks)), "total_ns": int(self.duration[talks].sum()),
                "held_ns": int(self.held[talks].sum()), "suspended_ns": int(self.suspended[talks].sum())}  # fmt: skip

    def _by_call(self) -> list[dict[str, Any]]:
        calls, groups = self.calls, group_by(self.calls.call)
        total = groups.sum(self.duration)
        table = rows(
            **_names(groups.key(calls.call)), count=groups.count, total_ns=total, mean_ns=total / groups.count,
            max_ns=groups.max(self.duration), held_ns=groups.sum(self.held), suspended_ns=groups.sum(self.suspended),
            bytes=groups.sum(calls.bytes.astype(np.int64)), unreturned=groups.sum((~calls.returned).astype(np.int64)),
        )  # fmt: skip
        return sorted(table, key=lambda row: -row["total_ns"])

    def _by_request(self) -> list[dict[str, Any]]:
        call = self.calls.call[self.requests.envelope]
        groups = group_by(call)
        total = groups.sum(self.request_duration)
        unfinished = (self.requests.done < 0) & ~self.requests.freed
        return rows(
            **_names(groups.key(call)), count=groups.count, total_ns=total, mean_ns=total / groups.count,
            max_ns=groups.max(self.request_duration), bytes=groups.sum(self.requests.bytes),
            unfinished=groups.sum(unfinished.astype(np.int64)), freed=groups.sum(self.requests.freed.astype(np.int64)),
        )  # fmt: skip

    def _by_peer(self) -> list[dict[str, Any]]:
        chosen = np.flatnonzero((self.peer >= 0) & kind_mask(self.calls, *_PEER_KINDS))
        rank, peer = self.calls.rank[chosen].astype(np.int64), self.peer[chosen]
        sends = kind_mask(self.calls, "send", "sendreceive", "start_send")[chosen]
        groups = group_by(rank, peer, sends)
        return rows(
            rank=groups.key(rank), peer=groups.key(peer),
            direction=["send" if one else "receive" for one in groups.key(sends).tolist()], count=groups.count,
            bytes=groups.sum(self.calls.bytes[chosen].astype(np.int64)), total_ns=groups.sum(self.duration[chosen]),
        )  # fmt: skip

    def _by_size(self) -> list[dict[str, Any]]:
        """Messages by powers of two of their bytes: `bytes` and more, less than twice as many (0: empty ones)."""
        size = self.calls.bytes[self.messages.send].astype(np.int64)
        power = np.where(size > 0, 1 << np.maximum(np.frexp(size.astype(np.float64))[1] - 1, 0), 0)
        groups = group_by(power)
        total = groups.sum(self.latency)
        return rows(bytes=groups.key(power), count=groups.count, total_bytes=groups.sum(size),
                    mean_ns=total / groups.count, max_ns=groups.max(self.latency))  # fmt: skip


def _names(numbers: np.ndarray) -> dict[str, list[str]]:
    known = numbers.tolist()
    return {"name": [MPI_CALLS.get(one, f"MPI call {one}") for one in known],
            "kind": [CALL_KINDS.get(one, "local") for one in known]}  # fmt: skip


@analysis_pass("communication", needs=("calls", "in_mpi", "requests", "messages", "segments"))
def communication(of: Analysis) -> Communication:
    """Durations of calls, requests and messages."""
    calls, requests, messages, runs = of["calls"], of["requests"], of["messages"], of["segments"]
    duration = calls.end - calls.start
    covered = overlaps(calls.task, calls.start, calls.end, *_segments_of(runs, distinct(calls.task)))
    held = sums(covered.a, covered.end - covered.start, len(duration))
    alone = ~is_among(calls.task, runs.task)  # OpenMP does not know this thread: it was held all the time
    polls = of.trace.select("mpi_poll")
    mpi = of["in_mpi"]
    polling = int((mpi.end - mpi.start)[len(mpi.task) - mpi.polls :].sum())
    peer = np.where(calls.source >= 0, calls.source, calls.peer)
    return Communication(
        calls, duration, np.where(alone, duration, held), world_ranks(of.trace, calls.rank, calls.comm, peer),
        requests, requests.end - requests.start, messages, calls.end[messages.receive] - calls.start[messages.send],
        int(of.trace.field("mpi_poll", "count", polls).sum()), polling,
    )  # fmt: skip


def _segments_of(runs: Any, tasks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Only the segments of tasks that call MPI: most others need not be sorted."""
    rows_of = np.flatnonzero(find(tasks, runs.task) >= 0)
    return runs.task[rows_of], runs.start[rows_of], runs.end[rows_of]
