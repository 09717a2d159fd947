# SPDX-License-Identifier: Apache-2.0
"""Messages between ranks: which send was received by which call.

Of a ring, which lacks the beginning of the run, the first receives got messages whose sends are not recorded: so many
are left out that no message is received before it was sent.

MPI keeps the order of messages of one sender, receiver, communicator and tag (MPI 4.0, 3.5), so the k-th send of each
such envelope belongs to the k-th receive. Concurrent calls of one process with equal envelopes have no order, and may
be matched crosswise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .calls import Calls, Requests, kind_mask, requests
from .columns import Columns, find, group_starts, occurrences
from .events import CALL_KINDS, MPI_CALLS
from .records import Trace

_WORLD = 1  # the number of MPI_COMM_WORLD in every rank
# A persistent request sends or receives as its maker's name says.
_PERSISTENT_SENDS = [n for n, kind in CALL_KINDS.items() if kind == "persistent" and "send" in MPI_CALLS[n].lower()]
_PERSISTENT_RECEIVES = [n for n, kind in CALL_KINDS.items() if kind == "persistent" and "recv" in MPI_CALLS[n].lower()]
# These start a receive too. Its envelope is not the call's: it is known once the receive has finished.
_ALSO_RECEIVES = [n for n, name in MPI_CALLS.items() if name.startswith("MPI_Isendrecv")]


@dataclass
class Messages:
    """Rows of calls: the sending one, the one in which the receiver got the message, the one that had asked for it, and
    the one in which the send was finished, -1 if none was recorded. `bytes`: what the sender gave."""

    send: np.ndarray
    receive: np.ndarray
    asked: np.ndarray
    sent: np.ndarray
    bytes: np.ndarray


@dataclass
class _Side(Columns):
    """Sends or receives: the call to name, the one at its other end (a request's start or its completion), when it took
    its place in the order, and the other side's envelope."""

    call: np.ndarray
    other: np.ndarray
    time: np.ndarray
    rank: np.ndarray
    peer: np.ndarray
    comm: np.ndarray
    tag: np.ndarray
    bytes: np.ndarray


def messages(trace: Trace, calls: Calls, started: Requests | None = None) -> Messages:
    """Sends matched with receives, in any order."""
    started = requests(trace, calls) if started is None else started
    sends, receives = _sends(trace, calls, started), _receives(calls, started)
    worlds = _Worlds(trace)
    to_world, send_comm = worlds.of(sends.rank, sends.comm, sends.peer)
    from_world, receive_comm = worlds.of(receives.rank, receives.comm, receives.peer)
    envelope = [
        np.concatenate(pair).astype(np.int64)
        for pair in ((sends.rank, from_world), (to_world, receives.rank), (send_comm, receive_comm),
                     (sends.tag, receives.tag))
    ]  # fmt: skip
    left, right = _match_in_order(envelope, sends.time, receives.time,
                                  calls.end[receives.call] if trace.began else None)  # fmt: skip
    return Messages(sends.call[left], receives.call[right], receives.other[right], sends.other[left],
                    sends.bytes[left])  # fmt: skip


def _sends(trace: Trace, calls: Calls, started: Requests) -> _Side:
    """`bytes` as the call began: at its end, one that also receives says what came."""
    direct = np.flatnonzero(kind_mask(calls, "send", "sendreceive", "start_send"))
    indirect = np.flatnonzero(np.isin(calls.call[started.envelope], _PERSISTENT_SENDS))
    made = started.envelope[indirect]
    done = np.where(kind_mask(calls, "start_send"), -1, np.arange(len(calls.call)))
    done[started.call] = started.done  # of a call that starts several, none of which is `direct`, any
    side = _Side(
        call=np.r_[direct, started.call[indirect]],
        other=np.r_[done[direct], started.done[indirect]],
        time=np.r_[calls.start[direct], started.start[indirect]],
        rank=np.r_[calls.rank[direct], started.rank[indirect]].astype(np.int64),
        peer=np.r_[calls.peer[direct], calls.peer[made]],
        comm=np.r_[calls.comm[direct], calls.comm[made]].astype(np.int64),
        tag=np.r_[calls.tag[direct], calls.tag[made]],
        bytes=trace.field("mpi_enter", "bytes", calls.enter_row[np.r_[direct, made]]).astype(np.int64),
    )
    return side.take(np.flatnonzero(side.peer >= 0))


def _receives(calls: Calls, started: Requests) -> _Side:
    """Only messages with a known end. A sender that no status names is taken from the receive's own arguments."""
    direct = np.flatnonzero(kind_mask(calls, "receive", "sendreceive") & calls.returned)
    kinds = kind_mask(calls, "start_receive") | np.isin(calls.call, _PERSISTENT_RECEIVES + _ALSO_RECEIVES)
    indirect = np.flatnonzero(kinds[started.envelope] & (started.done >= 0) & ~started.cancelled)
    made = started.envelope[indirect]
    source, tag = started.source[indirect], started.received_tag[indirect]
    told = np.isin(calls.call[made], _ALSO_RECEIVES)
    side = _Side(
        call=np.r_[direct, started.done[indirect]],
        other=np.r_[direct, started.call[indirect]],
        time=np.r_[calls.start[direct], started.start[indirect]],
        rank=np.r_[calls.rank[direct], started.rank[indirect]].astype(np.int64),
        peer=np.r_[calls.source[direct], np.where((source >= 0) | told, source, calls.peer[made])],
        comm=np.r_[calls.comm[direct], calls.comm[made]].astype(np.int64),
        tag=np.r_[calls.received_tag[direct], np.where((tag >= 0) | told, tag, calls.tag[made])],
        bytes=np.r_[calls.bytes[direct].astype(np.int64), started.bytes[indirect]],
    )
    return side.take(np.flatnonzero((side.peer >= 0) & (side.tag >= 0)))


def world_ranks(trace: Trace, rank: np.ndarray, comm: np.ndarray, peer: np.ndarray) -> np.ndarray:
    """Rank in MPI_COMM_WORLD of `peer` of `comm` as `rank` numbers it; -1 if there is none or it is not known."""
    return _Worlds(trace).of(rank.astype(np.int64), comm.astype(np.int64), peer)[0]


def communicators(trace: Trace, rank: np.ndarray, comm: np.ndarray) -> np.ndarray:
    """A number for each communicator that is the same on all its ranks. `comm` is as `rank` numbers it."""
    return _Worlds(trace).of(rank, comm, np.zeros(len(comm), dtype=np.int64))[1]


class _Worlds:
    """Ranks of communicators to ranks of MPI_COMM_WORLD, and communicators to what all their ranks call them."""

    def __init__(self, trace: Trace) -> None:
        members, comms = trace.select("mpi_member"), trace.select("mpi_comm")
        key = _place(trace.rank[members], trace.field("mpi_member", "comm", members),
                     trace.field("mpi_member", "index", members))  # fmt: skip
        self._member, first = np.unique(key, return_index=True)
        self._world = trace.field("mpi_member", "world", members).astype(np.uint32).view(np.int32)[first]
        key = _place(trace.rank[comms], trace.field("mpi_comm", "comm", comms), np.zeros(len(comms), dtype=np.int64))
        self._comm, first = np.unique(key, return_index=True)
        self._identity = trace.field("mpi_comm", "identity", comms).view(np.int64)[first]

    def of(self, rank: np.ndarray, comm: np.ndarray, peer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rank in the world, -1 if unknown; a number for the communicator)"""
        member = find(self._member, _place(rank, comm, peer))
        world = np.where(comm == _WORLD, peer, -1)
        world[member >= 0] = self._world[member[member >= 0]]
        known = find(self._comm, _place(rank, comm, np.zeros(len(comm), dtype=np.int64)))
        identity = comm.copy()
        identity[known >= 0] = self._identity[known[known >= 0]]
        return world, identity


def _place(rank: np.ndarray, comm: np.ndarray, index: np.ndarray) -> np.ndarray:
    return (rank.astype(np.int64) << 16 | comm.astype(np.int64)) << 31 | index.astype(np.int64)


def _match_in_order(
    envelope: list[np.ndarray], left_time: np.ndarray, right_time: np.ndarray, right_end: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs the k-th occurrence of each envelope on the left with the k-th on the right. `right_end`: when each on the
    right had ended, where the first partners of the right ones may be missing."""
    time = np.r_[left_time, right_time]
    is_right = np.arange(len(time)) >= len(left_time)
    order = np.lexsort((time, is_right, *envelope))
    group = np.cumsum(group_starts(*(column[order] for column in envelope)))
    # Within a group the left ones come first, in order of time, then the right ones.
    number = occurrences(group * 2 + is_right[order])
    if right_end is not None:
        ends = np.r_[left_time, right_end][order]
        number = number - np.where(is_right[order], _without_partner(group, ends, is_right[order], number), 0)
        order, group, number = order[number >= 0], group[number >= 0], number[number >= 0]
    again = np.lexsort((is_right[order], number, group))
    order, group, number = order[again], group[again], number[again]
    pair = np.flatnonzero(~group_starts(group, number)[1:]) if len(order) else np.zeros(0, dtype=np.int64)
    return order[pair], order[pair + 1] - len(left_time)


def _without_partner(group: np.ndarray, time: np.ndarray, is_right: np.ndarray, number: np.ndarray) -> np.ndarray:
    """For each, how many on the right of its group came too early: c of them had ended when the k-th on the left began,
    counted from 0, so c - k or more have their partners before the first one on the left."""
    order = np.lexsort((is_right, time, group))
    ended = np.cumsum(is_right[order])
    first = np.flatnonzero(group_starts(group[order]))
    ended -= np.repeat((ended - is_right[order])[first], np.diff(np.r_[first, len(order)]))
    early = np.zeros(int(group.max(initial=0)) + 1, dtype=np.int64)
    left = ~is_right[order]
    np.maximum.at(early, group[order][left], (ended - number[order])[left])
    return early[group]
