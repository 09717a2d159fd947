# SPDX-License-Identifier: Apache-2.0
"""Requests that are bound to tasks: libmarline-mpi completes them without the recorder, and notifies it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from trace_mpi_support import BUILD, MPIS, PROGRAMS, ROOT, SECONDS, build, calls, reader

SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip


@pytest.mark.parametrize("mpi", MPIS)
def test_bound_requests_are_complete_in_the_trace(tmp_path: Path, mpi: str) -> None:
    archive = BUILD / "lib" / "marline" / mpi / "libmarline-mpi-link.a"
    program = build(tmp_path, mpi, PROGRAMS / "trace_mpi_bound.c", "-fopenmp", f"-I{ROOT}/include", str(archive))
    words = [str(BUILD / "bin" / "marline"), "trace", "-n", "2", "-t", "1", "-o", str(tmp_path / "trace"), str(program)]
    result = subprocess.run(words, env=os.environ | SETTINGS, capture_output=True, text=True, timeout=SECONDS,
                            check=False)  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    trace = reader.read_trace(tmp_path / "trace")
    table = calls.mpi_calls(trace)
    requests = calls.requests(trace, table)
    assert (requests.done >= 0).all()
    found = {rank: sorted((int(table.tag[requests.envelope[row]]), int(requests.source[row]), int(requests.bytes[row]))
                          for row in np.flatnonzero(requests.rank == rank)) for rank in (0, 1)}  # fmt: skip
    assert found[1] == [(tag, 0, tag) for tag in (10, 12, 13)]
    assert [tag for tag, _, _ in found[0]] == [10, 12, 13]
