# SPDX-License-Identifier: Apache-2.0
"""The task graph that the program declared, and the messages between ranks.

Edges follow from the dependence records alone (OpenMP 5.1, 2.19.11), whether or not the predecessor had already
ended: the graph does not depend on timing or runtime. Per parent and address, tasks in creation order fall into
generations: one writer, or a run of readers (or of inoutset, or of mutexinoutset members, which exclude each other
but are not ordered). Each member of a generation follows each member of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .events import CALL_NUMBER
from .model import Calls, Tasks, call_mask
from .reader import Trace

# ompt_dependence_type_t (OpenMP 5.1, 4.4.4.23); source and sink (5, 6) belong to ordered loops and make no edges here.
IN, OUT, INOUT, MUTEXINOUTSET, INOUTSET, OUT_ALL, INOUT_ALL = 1, 2, 3, 4, 7, 34, 35
_WRITERS = (OUT, INOUT)
_EVERYTHING = (OUT_ALL, INOUT_ALL)
_KINDS = (IN, OUT, INOUT, MUTEXINOUTSET, INOUTSET)
_BITS_OF_THREAD = 16


@dataclass
class Edges:
    """Task `sink` may start only after `source` has ended. Rows of Tasks; sorted, without duplicates."""

    source: np.ndarray
    sink: np.ndarray


@dataclass
class Messages:
    """Row of the sending call and of the call in which the receiver got the message."""

    send: np.ndarray
    receive: np.ndarray


@dataclass
class _Accesses:
    parent: np.ndarray
    address: np.ndarray
    order: np.ndarray
    task: np.ndarray
    kind: np.ndarray

    def take(self, rows: np.ndarray) -> "_Accesses":
        return _Accesses(*(getattr(self, name)[rows] for name in ("parent", "address", "order", "task", "kind")))


def dependence_edges(trace: Trace, table: Tasks) -> Edges:
    """All edges between sibling tasks."""
    rows = trace.select("dependence")
    task = table.index(trace.task[rows])
    kind = trace.field("dependence", "type", rows).astype(np.int64)
    kept = (task >= 0) & np.isin(kind, _KINDS + _EVERYTHING)
    rows, task, kind = rows[kept], task[kept], kind[kept]
    accesses = _Accesses(
        table.parent[task],
        trace.field("dependence", "address", rows),
        # By creation; a task's own accesses in the order of its clauses.
        _rank_by(table.created[task], trace.time[rows]),
        task,
        np.where(np.isin(kind, _WRITERS), OUT, kind),
    )
    return _edges(_spread_everything(accesses))


def _rank_by(*keys: np.ndarray) -> np.ndarray:
    order = np.lexsort(keys[::-1])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _spread_everything(accesses: _Accesses) -> _Accesses:
    """omp_all_memory: the task writes every address that a sibling names, and one of its own (0) so that two such tasks
    follow one another."""
    everything = np.isin(accesses.kind, _EVERYTHING)
    if not everything.any():
        return accesses
    plain = accesses.take(np.flatnonzero(~everything))
    parts = [plain]
    for row in np.flatnonzero(everything):
        siblings = plain.parent == accesses.parent[row]
        address = np.union1d(plain.address[siblings], np.zeros(1, dtype=np.uint64))
        fill = [np.full(len(address), getattr(accesses, name)[row]) for name in ("parent", "order", "task")]
        parts.append(_Accesses(fill[0], address, fill[1], fill[2], np.full(len(address), OUT)))
    columns = ("parent", "address", "order", "task", "kind")
    return _Accesses(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def _edges(accesses: _Accesses) -> Edges:
    if not len(accesses.task):
        return Edges(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    a = accesses.take(np.lexsort((accesses.order, accesses.address, accesses.parent)))
    new_group = np.r_[True, (a.parent[1:] != a.parent[:-1]) | (a.address[1:] != a.address[:-1])]
    new_generation = new_group | (a.kind == OUT) | np.r_[True, a.kind[1:] != a.kind[:-1]]
    first = np.flatnonzero(new_generation)
    size = np.diff(np.r_[first, len(a.task)])
    generation = np.cumsum(new_generation) - 1
    # Every access looks back at the whole generation before its own, if that is of the same address.
    before = np.where(new_group[first][generation], 0, size[generation - 1])
    sink = np.repeat(a.task, before)
    offset = np.arange(len(sink)) - np.repeat(np.cumsum(before) - before, before)
    source = a.task[np.repeat(first[generation - 1], before) + offset]
    pairs = np.unique(np.stack([source, sink], axis=1)[source != sink], axis=0)
    return Edges(pairs[:, 0], pairs[:, 1])


def _world_ranks(trace: Trace, rank: np.ndarray, comm: np.ndarray, peer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank in MPI_COMM_WORLD of `peer` of `comm`, and a key that is the same for a communicator on all its ranks.

    The key is a hash of the members, so that two communicators with the same members count as one: good enough to draw
    arrows, as order and tags still separate the messages."""
    members = trace.select("mpi_member")
    owner, number = trace.rank[members].astype(np.int64), trace.field("mpi_member", "comm", members).astype(np.int64)
    index = trace.field("mpi_member", "index", members).astype(np.int64)
    member = trace.field("mpi_member", "world", members).astype(np.int64)
    world, key = peer.astype(np.int64).copy(), np.zeros(len(peer), dtype=np.int64)
    for one_rank, one_comm in np.unique(np.stack([owner, number], axis=1), axis=0):
        mine = (owner == one_rank) & (number == one_comm)
        table = member[mine][np.argsort(index[mine])]
        calls = (rank == one_rank) & (comm == one_comm)
        valid = calls & (peer >= 0) & (peer < len(table))
        world[valid] = table[peer[valid]]
        key[calls] = hash(tuple(table.tolist()))
    return world, key


def messages(trace: Trace, calls: Calls) -> Messages:
    """Sends matched with receives: the k-th of one sender, receiver, communicator and tag with the k-th, in the order
    of the calls' starts, as MPI orders messages (MPI 4.0, 3.5). Concurrent calls of one process with equal envelopes
    have no order, and may be drawn crosswise."""
    sends = np.flatnonzero(
        call_mask(calls, "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Isend", "MPI_Issend", "MPI_Sendrecv")
        & (calls.peer >= 0)
    )
    blocking = np.flatnonzero(call_mask(calls, "MPI_Recv", "MPI_Sendrecv") & calls.returned & (calls.source >= 0))
    started = np.flatnonzero(calls.call == CALL_NUMBER["MPI_Irecv"])
    posted = np.r_[blocking, started]
    source = np.r_[calls.source[blocking], calls.peer[started]]
    tag = np.r_[calls.received_tag[blocking], calls.tag[started]]
    completion = np.r_[blocking, _completions(trace, calls, started)]
    known = (completion >= 0) & (source >= 0) & (tag >= 0)
    posted, source, tag, completion = posted[known], source[known], tag[known], completion[known]

    to_world, send_comm = _world_ranks(trace, calls.rank[sends], calls.comm[sends], calls.peer[sends])
    from_world, receive_comm = _world_ranks(trace, calls.rank[posted], calls.comm[posted], source)
    send_key = np.stack([calls.rank[sends], to_world, send_comm, calls.tag[sends]], axis=1).astype(np.int64)
    receive_key = np.stack([from_world, calls.rank[posted], receive_comm, tag], axis=1).astype(np.int64)
    left, right = _match_in_order(send_key, calls.start[sends], receive_key, calls.start[posted])
    return Messages(sends[left], completion[right])


def _match_in_order(
    left_key: np.ndarray, left_time: np.ndarray, right_key: np.ndarray, right_time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs the k-th occurrence of each key on the left with the k-th on the right."""
    if not len(left_key) or not len(right_key):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    _, group = np.unique(np.concatenate([left_key, right_key]), axis=0, return_inverse=True)
    group = group.ravel()
    left_id = _occurrences(group[: len(left_key)], left_time)
    right_id = _occurrences(group[len(left_key):], right_time)
    _, left, right = np.intersect1d(left_id, right_id, return_indices=True)
    return left, right


def _occurrences(group: np.ndarray, time: np.ndarray) -> np.ndarray:
    """A number for (group, how many of the group came before)."""
    order = np.lexsort((time, group))
    ordered = group[order]
    first = np.searchsorted(ordered, ordered, side="left")
    result = np.empty(len(group), dtype=np.int64)
    result[order] = ordered.astype(np.int64) << 32 | (np.arange(len(group)) - first)
    return result


def _completions(trace: Trace, calls: Calls, started: np.ndarray) -> np.ndarray:
    """For each call that started a request, the row of the returned call that waited for it first, or -1."""
    made, waited = trace.select("mpi_request"), trace.select("mpi_wait")
    if not len(made) or not len(waited):
        return np.full(len(started), -1)
    rows = np.concatenate([made, waited])
    request = np.concatenate([trace.field("mpi_request", "request", made), trace.field("mpi_wait", "request", waited)])
    order = np.lexsort((trace.time[rows], request, trace.rank[rows]))
    rows, request = rows[order], request[order]
    is_wait = np.isin(rows, waited)
    next_is_its_wait = np.r_[~is_wait[:-1] & is_wait[1:] & (request[1:] == request[:-1]), False]
    wait_row = np.where(next_is_its_wait, np.roll(rows, -1), -1)[~is_wait]
    made_in_order = rows[~is_wait]
    owner = _owning_call(trace, calls, made_in_order)
    waiter = np.where(wait_row >= 0, _owning_call(trace, calls, np.maximum(wait_row, 0)), -1)
    found = np.full(len(calls.call), -1)
    found[owner[owner >= 0]] = waiter[owner >= 0]
    result = found[started]
    return np.where((result >= 0) & calls.returned[np.maximum(result, 0)], result, -1)


def _owning_call(trace: Trace, calls: Calls, rows: np.ndarray) -> np.ndarray:
    """The call between whose enter and exit the record `row` of the same task stands."""
    keys = np.concatenate([calls.task, trace.task[rows]])
    times = np.concatenate([calls.start, trace.time[rows]])
    is_query = np.arange(len(keys)) >= len(calls.task)
    order = np.lexsort((is_query, times, keys))
    latest = np.maximum.accumulate(np.where(is_query[order], -1, order))
    result = np.empty(len(keys), dtype=np.int64)
    result[order] = latest
    return result[len(calls.task):]
