# SPDX-License-Identifier: Apache-2.0
"""`marline run` on MPI programs, with both implementations: by its own -n, and under the user's launcher."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment, run

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
# What Open MPI asks of root, and of a machine with fewer cores than ranks, by environment.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@pytest.fixture(params=list(LAUNCHERS))
def mpi(request, build) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param


@pytest.fixture
def ranks(mpi, compiled) -> Path:
    return compiled(WRAPPERS[mpi], "ranks.c", "-fopenmp")


def rank_lines(output: str) -> list[str]:
    return sorted(line for line in output.splitlines() if line.startswith("rank="))


def expected(size: int, threads: int) -> list[str]:
    return [f"rank={rank} size={size} threads={threads}" for rank in range(size)]


def test_starts_the_ranks(marline, ranks):
    result = marline("run", "-n", "2", "-t", "2", "--", ranks)
    assert (result.returncode, rank_lines(result.stdout)) == (0, expected(2, 2)), result.stderr


def test_more_ranks_than_cores(marline, ranks):
    size = len(os.sched_getaffinity(0)) + 1
    result = marline("run", "-n", str(size), "-t", "1", "--", ranks)
    assert (result.returncode, rank_lines(result.stdout)) == (0, expected(size, 1)), result.stderr


def test_one_rank_without_a_launcher(marline, ranks):
    result = marline("run", "-t", "1", "--", ranks)
    assert (result.returncode, rank_lines(result.stdout)) == (0, expected(1, 1)), result.stderr


def test_under_the_users_launcher(mpi, build, ranks):
    result = run([LAUNCHERS[mpi], "-n", "3", build / "bin" / "marline", "run", "-t", "1", "--", ranks], **ROOT)
    assert (result.returncode, rank_lines(result.stdout)) == (0, expected(3, 1)), result.stderr


def test_passes_the_exit_status(marline, ranks):
    assert marline("run", "-n", "2", "-t", "1", "--", ranks, "exit", "7").returncode == 7


def last_rank(result: subprocess.CompletedProcess) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("marline: rank ")]


def test_says_which_rank_failed(marline, ranks):
    result = marline("run", "-n", "2", "-t", "1", "--", ranks, "exit", "7")
    assert last_rank(result) == [f"marline: rank 1 on {os.uname().nodename}: {ranks} ended with exit status 7"]


def test_says_by_what_a_rank_died(mpi, marline, ranks):
    """MPICH's launcher now and then loses the last words of a rank that dies."""
    said = f"marline: rank 1 on {os.uname().nodename}: {ranks} ended with signal 9 (Killed)"
    results = [marline("run", "-n", "2", "-t", "1", "--", ranks, "kill", "9")
               for _ in range(3 if mpi == "mpich" else 1)]
    assert all(result.returncode != 0 for result in results)
    assert said in [line for result in results for line in last_rank(result)], results[0].stderr


def test_passes_the_status_of_an_abort_in_a_task(marline, ranks):
    assert marline("run", "-n", "2", "-t", "1", "--", ranks, "abort", "5").returncode == 5


def test_refuses_the_other_launcher(mpi, build, ranks):
    other = next(name for name in LAUNCHERS if name != mpi)
    result = run([LAUNCHERS[other], "-n", "2", build / "bin" / "marline", "run", ranks], **ROOT)
    assert result.returncode != 0
    named = re.search(r"every rank would be alone; start it by (\S+)$", result.stderr, re.MULTILINE)[1]
    by_it = run([named, "-n", "2", build / "bin" / "marline", "run", "-t", "1", "--", ranks], **ROOT)
    assert rank_lines(by_it.stdout) == expected(2, 1), by_it.stderr


def test_refuses_the_other_library(mpi, marline, ranks):
    other = next(name for name in LAUNCHERS if name != mpi)
    result = marline("run", "--mpi", other, ranks)
    assert result.returncode == 125
    assert f"--mpi {other}: {ranks} is linked with" in result.stderr


def test_refuses_ranks_without_mpi(marline, compiled):
    result = marline("run", "-n", "2", compiled("gcc-12", "probe.c", "-fopenmp"))
    assert result.returncode == 125
    assert "linked neither with Open MPI nor with MPICH" in result.stderr


def test_a_refusal_comes_once_and_from_the_start(mpi, marline, compiled):
    program = compiled(WRAPPERS[mpi], "ranks.c", "-fopenmp", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", "-ldl")
    result = marline("run", "-n", "2", program)
    assert result.returncode == 125
    assert result.stderr.count("statically linked OpenMP runtime") == 1


def test_each_rank_gets_a_signal_once(build, ranks):
    words = [build / "bin" / "marline", "run", "-n", "2", "-t", "1", "--", ranks, "sleep"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=clean_environment()) as process:  # fmt: skip
        assert sorted(process.stdout.readline() for _ in range(2)) == [line + "\n" for line in expected(2, 1)]
        process.send_signal(signal.SIGUSR1)
        output, errors = process.communicate(timeout=SECONDS)
    assert rank_lines(output) == ["rank=0 signals=1", "rank=1 signals=1"], errors
    assert process.returncode == 0
