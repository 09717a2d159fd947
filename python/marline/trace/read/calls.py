# SPDX-License-Identifier: Apache-2.0
"""MPI calls and requests: enter joined with exit, the start of a request with the call that finished it.

Invariant: a call belongs to a task, not to a thread: a task that blocks in MPI may go on elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clock import frequency
from .columns import TimeLines, group_starts
from .events import CALL_KINDS, CALL_NUMBER, MPI_CALLS
from .records import Trace

# Of these only the requests that mpi_done names are finished; all other waits and tests finish all that they name.
_PARTIAL = [number for number, name in MPI_CALLS.items() if name.endswith(("any", "some"))]


@dataclass
class Calls:
    """MPI calls, by task and time. `peer` as given, `source`/`received_tag` as the call's end said; `comm` as
    numbered by the rank; `returned` is False for a call under way when the trace ended."""

    call: np.ndarray
    task: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_thread: np.ndarray
    end_thread: np.ndarray
    peer: np.ndarray
    tag: np.ndarray
    source: np.ndarray
    received_tag: np.ndarray
    comm: np.ndarray
    bytes: np.ndarray
    returned: np.ndarray
    enter_row: np.ndarray  # row of the enter record in the trace


@dataclass
class Requests:
    """Requests from their start to their completion. `call`: row of Calls that started it; `envelope`: the call that
    says what it is (another one for a persistent request); `done`: the call in which it was finished, or -1, and `end`
    is then the end of the trace."""

    call: np.ndarray
    envelope: np.ndarray
    done: np.ndarray
    rank: np.ndarray
    task: np.ndarray
    start: np.ndarray
    end: np.ndarray
    source: np.ndarray  # of a finished receive: who sent, -1 if unknown
    received_tag: np.ndarray
    bytes: np.ndarray
    freed: np.ndarray  # given up: it finishes unseen
    cancelled: np.ndarray


def call_mask(calls: Calls, *names: str) -> np.ndarray:
    """True for the calls with one of these names."""
    return np.isin(calls.call, [CALL_NUMBER[name] for name in names if name in CALL_NUMBER])


def kind_mask(calls: Calls, *kinds: str) -> np.ndarray:
    """True for the calls of one of these kinds (mpi_calls.def)."""
    return np.isin(calls.call, [number for number, kind in CALL_KINDS.items() if kind in kinds])


def mpi_calls(trace: Trace) -> Calls:
    """Enter and exit joined: per task they alternate, on whichever threads. A call whose exit is not in the trace ends
    where its task enters the next one, or with the trace."""
    enters, exits = trace.select("mpi_enter"), trace.select("mpi_exit")
    rows = np.concatenate([enters, exits])
    is_exit = np.arange(len(rows)) >= len(enters)
    order = np.lexsort((rows, trace.time[rows], trace.task[rows]))
    rows, is_exit = rows[order], is_exit[order]
    first = np.flatnonzero(~is_exit)
    following = np.minimum(first + 1, len(rows) - 1)
    enter = rows[first]
    goes_on = (following > first) & (trace.task[rows[following]] == trace.task[enter])
    returned = is_exit[following] & goes_on
    leave = np.where(returned, rows[following], enter)
    return Calls(
        call=trace.field("mpi_enter", "call", enter),
        task=trace.task[enter],
        rank=trace.rank[enter],
        start=trace.time[enter],
        end=np.where(goes_on, trace.time[rows[following]], int(trace.time.max())),
        start_thread=trace.thread[enter],
        end_thread=trace.thread[leave],
        peer=trace.field("mpi_enter", "peer", enter),
        tag=trace.field("mpi_enter", "tag", enter),
        source=trace.field("mpi_exit", "peer", leave),
        received_tag=trace.field("mpi_exit", "tag", leave),
        comm=trace.field("mpi_enter", "comm", enter),
        bytes=np.where(returned, trace.field("mpi_exit", "bytes", leave), trace.field("mpi_enter", "bytes", enter)),
        returned=returned,
        enter_row=enter,
    )


@dataclass
class InMpi:
    """When tasks were in MPI: their calls, and runs of polls that found nothing. Disjoint for each task."""

    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray
    start: np.ndarray
    end: np.ndarray
    polls: int  # so many of the rows, the last ones, are polls


def cycles_per_ns(trace: Trace) -> np.ndarray:
    """By rank."""
    rate = np.ones(max(trace.ranks) + 1)
    for rank, metadata in trace.ranks.items():
        rate[rank] = frequency(metadata)
    return rate


def in_mpi(trace: Trace, calls: Calls) -> InMpi:
    """Of a run of polls only the time in MPI is taken, as if it had been at its beginning."""
    polls = trace.select("mpi_poll")
    rank = trace.rank[polls]
    busy = np.rint(trace.field("mpi_poll", "busy", polls) / cycles_per_ns(trace)[rank]).astype(np.int64)
    return InMpi(
        np.concatenate([calls.task, trace.task[polls]]), np.concatenate([calls.rank, rank]),
        np.concatenate([calls.start_thread, trace.thread[polls]]), np.concatenate([calls.start, trace.time[polls]]),
        np.concatenate([calls.end, trace.time[polls] + busy]), len(polls),
    )  # fmt: skip


def call_at(calls: Calls, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Row of the call that each task was in at that time, or -1."""
    row = TimeLines(calls.task, calls.start).latest(task, time)
    if not len(calls.task):
        return row
    return np.where((row >= 0) & (calls.end[np.maximum(row, 0)] >= time), row, -1)


def _owning_call(trace: Trace, calls: Calls, lines: TimeLines, rows: np.ndarray) -> np.ndarray:
    """The call that has the record `row` of the same task between its enter and exit, or -1."""
    call = lines.latest(trace.task[rows], trace.time[rows])
    if not len(calls.call):
        return call
    enter = calls.enter_row[call]
    # A call that begins in the same nanosecond, on the same thread, but after the record: it belongs to the one before.
    early = (call >= 0) & (enter > rows) & (trace.thread[enter] == trace.thread[rows])
    early &= calls.start[call] == trace.time[rows]
    before = np.where((call > 0) & (calls.task[call - 1] == trace.task[rows]), call - 1, -1)
    return np.where(early, before, call)


def nested_pairs(key: np.ndarray, time: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """For events that open and close like brackets within a key: the index of each beginning's end, -1 for none (and
    for ends). Of equal times the order of the arrays counts."""
    partner = np.full(len(key), -1, dtype=np.int64)
    order = np.lexsort((np.arange(len(key)), time, key))
    step = np.where(begins[order], 1, -1)
    depth = np.cumsum(step) - np.minimum(step, 0)  # an end stands as deep as its beginning
    order, depth = (column[np.lexsort((np.arange(len(key)), depth, key[order]))] for column in (order, depth))
    opens = begins[order]
    matched = opens[:-1] & ~opens[1:] & ~group_starts(key[order], depth)[1:] if len(key) else np.zeros(0, dtype=bool)
    at = np.flatnonzero(matched)
    partner[order[at]] = order[at + 1]
    return partner


def requests(trace: Trace, calls: Calls) -> Requests:
    """All requests that became active."""
    made, freed = trace.select("mpi_request"), trace.select("mpi_free")
    lines = TimeLines(calls.task, calls.start)
    maker = _owning_call(trace, calls, lines, made)
    made, maker = made[maker >= 0], maker[maker >= 0]
    handle = trace.field("mpi_request", "request", made)
    # A persistent request is made inactive; MPI_Start makes it active, and it is the same handle again.
    inactive = kind_mask(calls, "persistent")[maker]
    rank = trace.rank[made]
    envelope = _envelopes(calls, maker, rank, handle, trace.time[made], inactive)
    started = np.flatnonzero(~inactive)
    finished, finisher, finish_end, done_row = _finished(trace, calls, lines)
    events = np.concatenate([made[started], finished, freed])
    handles = np.concatenate([
        handle[started], trace.field("mpi_wait", "request", finished), trace.field("mpi_free", "request", freed)])
    key = _pair_numbers(trace.rank[events], handles)
    opens = np.arange(len(events)) < len(started)
    # A handle is free for the next request once this one is finished: so order by when the finishing call began.
    partner = nested_pairs(key, trace.time[events], opens)[: len(started)] - len(started)
    is_freed = partner >= len(finished)
    found = np.flatnonzero((partner >= 0) & ~is_freed)
    done = np.full(len(started), -1)
    end = np.full(len(started), int(trace.time.max()))
    last = np.full(len(started), -1)
    done[found], end[found] = finisher[partner[found]], finish_end[partner[found]]
    last[found] = done_row[partner[found]]
    return _request_table(trace, calls, maker[started], envelope[started], done, end, last, is_freed)


def _pair_numbers(rank: np.ndarray, handle: np.ndarray) -> np.ndarray:
    """One number per pair of rank and handle."""
    _, handle_number = np.unique(handle, return_inverse=True)
    return rank.astype(np.int64) << 40 | handle_number


def _envelopes(calls: Calls, maker: np.ndarray, rank: np.ndarray, handle: np.ndarray, time: np.ndarray,
               inactive: np.ndarray) -> np.ndarray:  # fmt: skip
    """The call that says peer, tag and bytes: of a persistent request the one that made it."""
    key = _pair_numbers(rank, handle)
    prepared = np.flatnonzero(inactive)
    by_start = np.flatnonzero(kind_mask(calls, "start")[maker])
    at = TimeLines(key[prepared], time[prepared]).latest(key[by_start], time[by_start])
    envelope = maker.copy()
    envelope[by_start[at >= 0]] = maker[prepared[at[at >= 0]]]
    return envelope


def _finished(trace: Trace, calls: Calls, lines: TimeLines) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of mpi_wait with the request that a call finished; the call; when; and the row of its mpi_done, or -1."""
    waits, dones = trace.select("mpi_wait"), trace.select("mpi_done")
    wait_call, done_call = (_owning_call(trace, calls, lines, rows) for rows in (waits, dones))
    # Call and index in one number; an index has at most 24 bits (mpi_done).
    wait_key = wait_call << 24 | trace.field("mpi_wait", "index", waits).astype(np.int64)
    done_key = done_call << 24 | trace.field("mpi_done", "index", dones).astype(np.int64)
    order = np.argsort(done_key, kind="stable")
    at = np.searchsorted(done_key[order], wait_key)
    candidate = order[np.minimum(at, max(len(order) - 1, 0))] if len(order) else np.full(len(waits), -1)
    known = (candidate >= 0) & (wait_call >= 0)
    known &= done_key[candidate] == wait_key if len(order) else False
    safe = np.maximum(wait_call, 0)
    whole = np.zeros(len(waits), dtype=bool)
    if len(calls.call):
        whole = (wait_call >= 0) & calls.returned[safe] & ~np.isin(calls.call[safe], _PARTIAL)
    kept = known | whole
    done_row = np.where(known, dones[candidate] if len(dones) else -1, -1)[kept]
    call = wait_call[kept]
    end = np.where(done_row >= 0, trace.time[np.maximum(done_row, 0)], calls.end[call])
    return waits[kept], call, end, done_row


def _request_table(trace: Trace, calls: Calls, maker: np.ndarray, envelope: np.ndarray, done: np.ndarray,
                   end: np.ndarray, last: np.ndarray, freed: np.ndarray) -> Requests:  # fmt: skip
    with_done = np.flatnonzero(last >= 0)
    source, tag = np.full(len(maker), -1), np.full(len(maker), -1)
    size = calls.bytes[envelope].astype(np.int64)
    cancelled = np.zeros(len(maker), dtype=bool)
    rows = last[with_done]
    source[with_done] = trace.field("mpi_done", "peer", rows)
    tag[with_done] = trace.field("mpi_done", "tag", rows)
    came = trace.field("mpi_done", "bytes", rows).astype(np.int64)
    receives = kind_mask(calls, "start_receive")[envelope[with_done]] | (source[with_done] >= 0)
    size[with_done] = np.where(receives, came, size[with_done])
    cancelled[with_done] = trace.field("mpi_done", "cancelled", rows) != 0
    return Requests(maker, envelope, done, calls.rank[maker], calls.task[maker], calls.start[maker], end, source, tag,
                    size, freed, cancelled)  # fmt: skip
