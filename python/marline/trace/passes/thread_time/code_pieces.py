# SPDX-License-Identifier: Apache-2.0
"""The pass `code_pieces`: when code of the program ran on threads, and which parts of that were in MPI. A table that
others sum up, each in its own way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...read.columns import overlaps
from ...registry import Analysis, analysis_pass


@dataclass
class CodePieces:
    """`segment`: rows of segments that do not wait. `inside`: of each part in MPI, its row of `segment`."""

    segment: np.ndarray
    inside: np.ndarray
    start: np.ndarray
    end: np.ndarray


@analysis_pass("code_pieces", needs=("segments", "in_mpi"))
def code_pieces(of: Analysis) -> CodePieces:
    """When code of the program ran on threads, and which parts of that were in MPI."""
    runs, mpi = of["segments"], of["in_mpi"]
    rows = np.flatnonzero(~runs.waits)
    found = overlaps(runs.task[rows], runs.start[rows], runs.end[rows], mpi.task, mpi.start, mpi.end)
    return CodePieces(rows, found.a, found.start, found.end)
