# SPDX-License-Identifier: Apache-2.0
"""Fortran programs call MPI through three bindings, which each MPI implements in its own way: every call of the program
is recorded, once, as in C."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from trace_mpi_support import MPIS, PROGRAMS, build, calls, record, rows, seen

NONE = -1


@pytest.mark.parametrize("binding", ["mpifh", "use_mpi", "use_mpi_f08"])
@pytest.mark.parametrize("mpi", MPIS)
def test_each_call_is_recorded_once(tmp_path: Path, mpi: str, binding: str) -> None:
    if shutil.which(f"mpif90.{mpi}") is None:
        pytest.skip(f"mpif90.{mpi} is not installed")
    program = build(tmp_path, mpi, PROGRAMS / f"trace_mpi_{binding}.f90", f"-I{PROGRAMS}", wrapper="mpif90")
    trace = record(tmp_path, mpi, 2, program)
    for rank in (0, 1):
        found = [(call.name, call.peer, call.tag, call.bytes) for call in seen(trace, rank)]
        first = ("Send", 1, 5, 4) if rank == 0 else ("Recv", NONE, 5, 4)
        assert found == [
            ("Init", NONE, NONE, 0), ("Comm_rank", NONE, NONE, 0), first, ("Irecv", 1 - rank, 6, 4),
            ("Isend", 1 - rank, 6, 4), ("Waitall", NONE, NONE, 0), ("Allreduce", NONE, NONE, 4),
            ("Comm_dup", NONE, NONE, 0), ("Barrier", NONE, NONE, 0), ("Comm_free", NONE, NONE, 0),
            ("Finalize", NONE, NONE, 0)]  # fmt: skip
        assert rows(trace, rank, "mpi_done", "peer", "tag", "bytes")[0] == (1 - rank, 6, 4)
    assert [call.came for call in seen(trace, 1) if call.name == "Recv"] == [(0, 5)]
    requests = calls.requests(trace, calls.mpi_calls(trace))
    assert len(requests.call) == 4 and (requests.done >= 0).all()
