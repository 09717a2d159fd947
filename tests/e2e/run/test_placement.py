# SPDX-License-Identifier: Apache-2.0
"""Placement of ranks and workers on this machine. tests/unit/launch_placement_test.cpp has the decision on described
machines."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import CROWDED, run

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}

CPUS = sorted(os.sched_getaffinity(0))


def core_of(cpu: int) -> str:
    """The hardware threads of its core, as the kernel lists them; of a kernel that does not, the CPU itself."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return path.read_text().strip() if path.exists() else str(cpu)


def cores_of(cpus: Iterable[int]) -> set[str]:
    return {core_of(cpu) for cpu in cpus}


CORES = cores_of(CPUS)
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this process may use one core only")


@pytest.fixture(params=list(LAUNCHERS))
def mpi(request, build) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param


@pytest.fixture
def program(mpi, compiled) -> Path:
    return compiled(WRAPPERS[mpi], "affinity.c", "-fopenmp", "-DMPI_PROGRAM")


def masks(output: str) -> dict[tuple[int, int], frozenset[int]]:
    """By rank and thread."""
    found = re.findall(r"rank (\d+) thread (\d+) cpus ([\d,]+)", output)  # lines of ranks may run into each other
    return {(int(rank), int(thread)): frozenset(map(int, cpus.split(","))) for rank, thread, cpus in found}


def assert_on_cores_of_their_own(output: str, workers: int) -> None:
    found = masks(output)
    assert len(found) == workers, output
    used = [cores_of(mask) for mask in found.values()]
    assert all(len(mine) == 1 for mine in used), output
    assert len(set().union(*used)) == workers, output


@two_cores
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_marline_starts_the_ranks(marline, program, ranks, threads):
    result = marline("run", "-n", str(ranks), "-t", str(threads), program)
    assert result.returncode == 0, result.stderr
    assert_on_cores_of_their_own(result.stdout, 2)
    assert "share" not in result.stderr


@two_cores
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_another_launcher_starts_the_ranks(mpi, build, program, ranks, threads):
    """Open MPI binds these ranks to one core each, and MPICH none."""
    words = [LAUNCHERS[mpi], "-n", str(ranks), build / "bin" / "marline", "run", "-t", str(threads), program]
    result = run(words, **CROWDED)
    assert result.returncode == 0, result.stderr
    assert_on_cores_of_their_own(result.stdout, 2)
    assert ("the launcher binds each rank to 1 core" in result.stderr) == (mpi == "openmpi" and threads == 2)


def test_says_that_cores_are_shared(marline, program):
    threads = len(CORES)
    result = marline("run", "-n", "2", "-t", str(threads), program)
    assert result.returncode == 0, result.stderr
    assert len(masks(result.stdout)) == 2 * threads
    assert result.stderr.count(f"{2 * threads} workers share {len(CORES)} core") == 1


def test_stays_in_the_callers_mask(build, program):
    words = ["taskset", "-c", str(CPUS[-1]), build / "bin" / "marline", "run", "-n", "2", "-t", "1", program]
    result = run(words)
    assert result.returncode == 0, result.stderr
    assert set(masks(result.stdout).values()) == {frozenset(CPUS[-1:])}
    assert result.stderr.count("2 workers share 1 core") == 1


@two_cores
def test_respects_the_users_places(marline, program):
    places = f"{{{CPUS[1]}}},{{{CPUS[0]}}}"
    result = marline("run", "-n", "1", "-t", "2", program, OMP_PLACES=places, OMP_PROC_BIND="close")
    assert masks(result.stdout) == {(0, 0): frozenset([CPUS[1]]), (0, 1): frozenset([CPUS[0]])}, result.stderr


@two_cores
def test_respects_threads_that_are_not_to_be_bound(marline, program):
    result = marline("run", "-n", "1", "-t", "2", program, OMP_PROC_BIND="false")
    assert {len(cores_of(mask)) for mask in masks(result.stdout).values()} == {2}, result.stderr


def test_no_bind(marline, program):
    result = marline("run", "-n", "2", "-t", "1", "--no-bind", program)
    assert set(masks(result.stdout).values()) == {frozenset(CPUS)}, result.stderr


def test_one_process_is_not_bound(marline, compiled):
    threads = len(CORES) + 1
    result = marline("run", "-t", str(threads), compiled("gcc-12", "affinity.c", "-fopenmp"))
    assert set(masks(result.stdout).values()) == {frozenset(CPUS)}, result.stderr
    assert result.stderr.count(f"{threads} workers share {len(CORES)} core") == 1
