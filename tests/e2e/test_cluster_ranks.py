# SPDX-License-Identifier: Apache-2.0
"""Ranks of an MPI program, each of which has nodes of its own as one device: so many heads create a program's regions."""

import re
import shutil

import pytest
from conftest import CROWDED
from nodes_support import COMPILERS, MPIS, jobs  # noqa: F401  (a fixture)


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("kind", COMPILERS)
def test_ranks_are_heads_of_clusters_and_exchange_in_tasks(jobs, compiled, monkeypatch, kind, mpi):
    if shutil.which(f"mpicc.{mpi}") is None:
        pytest.skip(f"no {mpi}")
    compiler, *flags = COMPILERS[kind]
    monkeypatch.setenv("OMPI_CC", compiler)
    monkeypatch.setenv("MPICH_CC", compiler)
    program = compiled(f"mpicc.{mpi}", "cluster_ranks.c", *flags)
    result = jobs.run("-n", 2, "-t", 1, "--devices=cluster:2", program, OMP_TARGET_OFFLOAD="mandatory", **CROWDED)
    assert result.returncode == 0, result.stderr
    found = sorted(re.findall(r"^rank (\d) good 1 others [12]$", result.stdout, re.MULTILINE))
    assert found == ["0", "1"], result.stdout
