# SPDX-License-Identifier: Apache-2.0
"""Ranks of an MPI program, each of which has nodes of its own as one device: so many heads create a program's
regions."""

import re

import pytest
from conftest import CROWDED, Result
from nodes_support import COMPILERS, MPIS, built_with_mpi, jobs  # noqa: F401  (a fixture)


def check(result: Result) -> None:
    """Each of two ranks has had its regions run by nodes of its own, two at most."""
    assert result.returncode == 0, result.stderr
    found = re.findall(r"^rank ([01]) \((\d+)\) good 1 by((?: \d+){1,2})$", result.stdout, re.MULTILINE)
    assert sorted(rank for rank, _, _ in found) == ["0", "1"], result.stdout
    processes = [process for _, own, nodes in found for process in [own, *nodes.split()]]
    assert len(processes) == len(set(processes)), result.stdout


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("kind", COMPILERS)
def test_ranks_are_heads_of_clusters_and_exchange_in_tasks(jobs, compiled, monkeypatch, kind, mpi):
    program = built_with_mpi(compiled, monkeypatch, kind, mpi, "cluster_ranks.c")
    check(jobs.run("-n", 2, "-t", 1, "--devices=cluster:2", program, OMP_TARGET_OFFLOAD="mandatory", **CROWDED))


@pytest.mark.parametrize("mpi", MPIS)
def test_so_are_ranks_that_mpirun_starts(jobs, compiled, mpi, monkeypatch):
    program = built_with_mpi(compiled, monkeypatch, "gcc", mpi, "cluster_ranks.c")
    for name, value in {"OMP_TARGET_OFFLOAD": "mandatory", **CROWDED}.items():
        monkeypatch.setenv(name, value)
    check(jobs.mpirun(mpi, 2, jobs.command, "run", "-t", 1, "--devices=cluster:2", program))
