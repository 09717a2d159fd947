# SPDX-License-Identifier: Apache-2.0
"""Messages and requests in the records of real MPI programs: which calls, with which peers, tags and bytes, and what
became of each request; on both MPIs."""

from __future__ import annotations


import numpy as np
import pytest
from trace_mpi_support import MPIS, PROGRAMS, Seen, build, calls, events, record, rows, seen

from marline.trace.read import messages
from marline.trace.read.records import Trace

NONE = -1
NOBODY = (NONE, NONE)
MANY = 300


@pytest.fixture(scope="module", params=MPIS)
def exchange(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp(request.param)
    return record(folder, request.param, 2, build(folder, request.param, PROGRAMS / "trace_mpi_messages.c"))


def between(trace: Trace, rank: int, first: str, last: str) -> list[Seen]:
    found = seen(trace, rank)
    names = [call.name for call in found]
    return found[names.index(first) : names.index(last)]


def test_the_sender_of_blocking_messages(exchange: Trace) -> None:
    sent = [(call.name, call.peer, call.tag, call.bytes) for call in between(exchange, 0, "Send", "Barrier")]
    assert sent == [
        ("Send", 1, 1, 8), ("Ssend", 1, 2, 16), ("Buffer_attach", NONE, NONE, 0), ("Bsend", 1, 3, 24),
        ("Buffer_detach", NONE, NONE, 0), ("Send", 1, 4, 16), ("Send", 1, 5, 20), ("Send", NONE, 6, 24),
        ("Sendrecv", 1, 7, 7), ("Sendrecv_replace", 1, 8, 8)]  # fmt: skip


def test_the_receiver_learns_what_came_though_it_ignores_the_status(exchange: Trace) -> None:
    received = [(call.name, call.peer, call.tag, call.came, call.bytes)
                for call in between(exchange, 1, "Recv", "Irecv")]  # fmt: skip
    assert received == [
        ("Recv", 0, 1, (0, 1), 8), ("Recv", NONE, NONE, (0, 2), 16), ("Recv", 0, 3, (0, 3), 24),
        ("Probe", NONE, 4, (0, 4), 16), ("Recv", 0, 4, (0, 4), 16), ("Mprobe", 0, 5, (0, 5), 20),
        ("Mrecv", NONE, NONE, (0, 5), 20), ("Recv", NONE, 6, NOBODY, 0), ("Sendrecv", 0, 7, (0, 7), 7),
        ("Sendrecv_replace", 0, 8, (0, 8), 8)]  # fmt: skip
    halves = rows(exchange, 1, "mpi_recv_side", "peer", "tag", "bytes")
    assert halves == [(0, 7, 64), (0, 8, 8)]


def test_a_matched_message_has_its_communicator(exchange: Trace) -> None:
    matched = [call.comm for call in seen(exchange, 1) if call.name in ("Mprobe", "Mrecv")]
    assert matched == [1, 1]


def finished(trace: Trace, rank: int, first_tag: int, last_tag: int) -> list[tuple[int, str, str, int, int, bool]]:
    """(tag, call that started, call that finished, source, bytes, cancelled) of the requests of these tags."""
    table = calls.mpi_calls(trace)
    found = calls.requests(trace, table)
    name = {number: text.removeprefix("MPI_") for number, text in events.MPI_CALLS.items()}
    result = []
    for row in np.flatnonzero(found.rank == rank)[np.argsort(found.start[found.rank == rank], kind="stable")]:
        tag = int(table.tag[found.envelope[row]])
        if first_tag <= tag <= last_tag:
            result.append((tag, name[int(table.call[found.call[row]])], name[int(table.call[found.done[row]])],
                           int(found.source[row]), int(found.bytes[row]), bool(found.cancelled[row])))  # fmt: skip
    return result


def test_requests_from_start_to_completion(exchange: Trace) -> None:
    assert finished(exchange, 1, 10, 14) == [
        (10, "Irecv", "Wait", 0, 10, False), (11, "Irecv", "Waitany", 0, 11, False),
        (12, "Irecv", "Waitsome", 0, 12, False), (13, "Irecv", "Waitall", 0, 13, False),
        (14, "Irecv", "Waitall", 0, 14, False)]  # fmt: skip
    sent = [(tag, start, done, size) for tag, start, done, _, size, _ in finished(exchange, 0, 10, 14)]
    assert sent == [(tag, "Isend", "Waitall", tag) for tag in range(10, 15)]


def test_polls_in_vain_are_counted_in_one_record_per_call(exchange: Trace) -> None:
    polls = rows(exchange, 1, "mpi_poll", "call", "count", "busy", "elapsed")
    counts = [(events.MPI_CALLS[call], count) for call, count, _, _ in polls]
    assert counts == [("MPI_Test", 5), ("MPI_Iprobe", 3), ("MPI_Testall", 3)]
    assert all(0 < busy <= elapsed for _, _, busy, elapsed in polls)
    assert rows(exchange, 0, "mpi_poll", "call") == []


def test_persistent_requests_are_started_again(exchange: Trace) -> None:
    both = [(20, "Startall", "Waitall", 20)] * 4
    found = finished(exchange, 0, 20, 20)
    assert [(tag, start, done, size) for tag, start, done, _, size, _ in found] == both
    assert len(rows(exchange, 0, "mpi_free", "request")) == 2
    done = rows(exchange, 0, "mpi_done", "peer", "tag", "bytes")
    assert done.count((1, 20, 20)) == 2


def test_cancelled_receive(exchange: Trace) -> None:
    assert finished(exchange, 0, 30, 30) == [(30, "Irecv", "Wait", NONE, 0, True)]


def test_one_wait_for_many_requests(exchange: Trace) -> None:
    received = [entry for entry in finished(exchange, 1, 100, 100 + MANY - 1) if entry[1] == "Irecv"]
    assert received == [(100 + i, "Irecv", "Waitall", 0, 1, False) for i in range(MANY)]


def test_every_message_is_matched_and_none_received_before_it_was_sent(exchange: Trace) -> None:
    table = calls.mpi_calls(exchange)
    pairs = messages.messages(exchange, table)
    found = sorted((int(table.rank[a]), int(table.tag[a])) for a in pairs.send if 0 <= table.tag[a] < 20)
    assert found == [(0, tag) for tag in (1, 2, 3, 4, 5, 7, 8, *range(10, 15))] + [(1, 7), (1, 8)]
    # Both ranks sent and received these: the persistent ones twice.
    assert len(pairs.send) == len(found) + 2 * (2 + MANY)
    assert (table.end[pairs.receive] >= table.start[pairs.send]).all()
