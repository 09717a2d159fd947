# SPDX-License-Identifier: Apache-2.0
"""Collectives, communicators, windows and files in the records of real MPI programs, on both MPIs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_mpi_support import (MPIS, PROGRAMS, Seen, build, calls, identities, launch, record, recorder, rows,
                               seen)  # fmt: skip

from marline.trace.read import messages
from marline.trace.read.records import Trace

RANKS = 3
NONE = -1


@pytest.fixture(scope="module", params=MPIS)
def groups(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp(request.param)
    program = build(folder, request.param, PROGRAMS / "trace_mpi_groups.c")
    # Of the two implementations of MPI-IO in Open MPI, ROMIO is the one that calls MPI.
    return record(folder, request.param, RANKS, program, MPI_TEST_FILE=str(folder / "written"), OMPI_MCA_io="romio321")


def from_to(found: list[Seen], first: str, last: str) -> list[Seen]:
    names = [call.name for call in found]
    return found[names.index(first) : names.index(last)]


@pytest.mark.parametrize("rank", range(RANKS))
def test_roots_and_bytes_of_collectives(groups: Trace, rank: int) -> None:
    own = 4 * (rank + 1)  # of the uneven ones: 1, 2 and 3 int
    found = [(call.name, call.peer, call.bytes) for call in from_to(seen(groups, rank), "Barrier", "Comm_dup")]
    assert found == [
        ("Barrier", NONE, 0), ("Bcast", 1, 16), ("Reduce", 2, 12), ("Allreduce", NONE, 16), ("Gather", 0, 4),
        ("Gatherv", 0, own), ("Scatterv", 0, own), ("Allgatherv", NONE, own), ("Alltoall", NONE, 24),
        ("Reduce_scatter", NONE, 24), ("Reduce_scatter_block", NONE, 24), ("Scan", NONE, 20), ("Ibcast", 0, 24),
        ("Wait", NONE, 0), ("Ialltoall", NONE, 12), ("Wait", NONE, 0)]  # fmt: skip


def test_requests_of_collectives_are_finished(groups: Trace) -> None:
    table = calls.mpi_calls(groups)
    found = calls.requests(groups, table)
    assert len(found.call) == 2 * RANKS + 1 + 1  # Ibcast, Ialltoall; one Isend, one Rget
    assert (found.done >= 0).all()


def members(trace: Trace, rank: int) -> dict[int, list[int]]:
    """World ranks of each identity, as this rank wrote them."""
    names = identities(trace, rank)
    found: dict[int, list[int]] = {}
    for comm, index, world in sorted(rows(trace, rank, "mpi_member", "comm", "index", "world")):
        assert index == len(found.setdefault(names[comm], []))
        found[names[comm]].append(world)
    return found


def test_identities_are_equal_on_all_ranks_and_differ_between_communicators(groups: Trace) -> None:
    known = [members(groups, rank) for rank in range(RANKS)]
    def only(a: int, b: int) -> list[list[int]]:
        return sorted(known[a][identity] for identity in (set(known[a]) & set(known[b])) - everywhere)

    # A rank tells of a communicator when it uses it.
    everywhere = set(known[0]) & set(known[1]) & set(known[2])
    # The second duplicate and the one that came after it, the merged one, and the one between the halves: there, the
    # members are the other side's.
    assert sorted(known[0][identity] for identity in everywhere) == [[0, 1, 2]] * 2 + [[1, 2], [1, 2, 0]]
    between = next(identity for identity in everywhere if known[0][identity] == [1, 2])
    assert known[1][between] == known[2][between] == [0]
    # The first duplicate; half of all and the reversed one; the pair.
    assert (only(0, 1), only(1, 2), only(0, 2)) == ([[0, 1, 2]], [[1, 2], [2, 1, 0]], [[0, 2]])
    assert [len(one) for one in known] == [7, 7, 7]


def test_messages_find_their_communicator(groups: Trace) -> None:
    table = calls.mpi_calls(groups)
    pairs = messages.messages(groups, table)
    found = sorted((int(table.rank[a]), int(table.rank[b]), int(table.tag[a]))
                   for a, b in zip(pairs.send, pairs.receive))  # fmt: skip
    assert found == [(0, 1, 40), (0, 1, 40), (0, 2, 42), (2, 1, 41)]
    # Both on tag 40 cross: the one sent first is received last.
    twins = [row for row, tag in enumerate(table.tag[pairs.send]) if tag == 40]
    sent, received = table.start[pairs.send[twins]], table.start[pairs.receive[twins]]
    assert np.argsort(sent).tolist() == np.argsort(received)[::-1].tolist()
    assert (table.end[pairs.receive] >= table.start[pairs.send]).all()


def test_windows(groups: Trace) -> None:
    def of(rank: int) -> list[tuple[str, int, int, int]]:
        found = from_to(seen(groups, rank), "Win_create", "File_open")
        return [(call.name, call.peer, call.bytes, call.comm) for call in found]

    world = [(name, NONE, 0, 1) for name in ("Win_create", "Win_fence", "Win_fence", "Win_lock_all", "Win_unlock_all",
                                             "Win_free")]  # fmt: skip
    assert of(2) == world
    assert of(0) == [*world[:2], ("Put", 1, 16, 1), *world[2:]]
    assert of(1) == [*world[:4], ("Rget", 2, 24, 1), ("Wait", NONE, 0, 0), *world[4:]]


def test_what_mpi_calls_itself_is_not_the_programs(groups: Trace) -> None:
    """MPI-IO is written on top of MPI: between the file's calls there are dozens."""
    for rank in range(RANKS):
        found = [(call.name, call.bytes) for call in seen(groups, rank)]
        start = found.index(("File_open", 0))
        assert found[start:] == [("File_open", 0), ("File_write_at_all", 4), ("File_close", 0), ("Finalize", 0)]


@pytest.mark.parametrize("mpi", MPIS)
def test_a_recorded_program_may_make_communicators_for_ever(mpi: str, tmp_path: Path) -> None:
    """Duplicates of duplicates, freed: what the recorder knows of each goes with it."""
    program = build(tmp_path, mpi, PROGRAMS / "trace_mpi_dups.c")
    said = launch(mpi, 1, program, recorder(mpi), MARLINE_TRACE_DIR=str(tmp_path / "trace"))
    plain = launch(mpi, 1, program)
    recorded_kib, plain_kib = (int(text.split()[1]) for text in (said, plain))
    assert recorded_kib < plain_kib + 1024, "50,000 communicators of which none is left"
