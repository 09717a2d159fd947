# SPDX-License-Identifier: Apache-2.0
"""Whether MPI calls come to libmarline-mpi: one variable does it without the command, under every launcher, and where
they do not, the first rank says so when the program opens a region, before it can hang."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CROWDED, Result, clean_environment, run_without_hang

SECONDS = 120  # until a run has hung
BLOCKED = "block their threads"
one_mpi = pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # nothing in it depends on which


@pytest.fixture(params=["openmpi", "mpich"])
def mpi(request, build) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param


@pytest.fixture
def program(mpi, compiled) -> Path:
    return compiled(f"mpicc.{mpi}", "mpi_plugin.c", "-fopenmp", "-DPROGRAM")


@pytest.fixture
def library(mpi, compiled) -> Path:
    return compiled(f"mpicc.{mpi}", "mpi_plugin.c", "-fopenmp", "-shared", "-fPIC")


def start(*words: object, **changes: str) -> Result:
    result = run_without_hang([str(word) for word in words], clean_environment(**CROWDED, **changes), SECONDS)
    assert result.returncode == 0, result.stderr
    return result


def complaints(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if BLOCKED in line]


def lines(size: int) -> list[str]:
    return [f"rank={rank} size={size} got=7" for rank in range(size)]


def test_one_variable_suffices(mpi, build, program):
    """It hangs if the wait for the message blocks its thread."""
    library = build / "lib" / "libmarline.so"
    preload = f"LD_PRELOAD={build / 'lib' / 'marline' / mpi / 'libmarline-mpi.so'}:{library}"
    result = start(f"mpirun.{mpi}", "-n", "2", "env", preload, program)
    assert (sorted(result.stdout.splitlines()), result.stderr) == (lines(2), "")


def test_the_runtime_alone_says_that_mpi_blocks(mpi, build, program):
    compat = f"LD_LIBRARY_PATH={build / 'lib' / 'marline' / 'compat'}"
    result = start(f"mpirun.{mpi}", "-n", "2", "env", compat, "SEND_FIRST=1", program)
    assert sorted(result.stdout.splitlines()) == lines(2)
    assert len(complaints(result)) == 1  # of two ranks
    assert "`marline run`" in complaints(result)[0]


def test_ranks_of_a_shell_that_run_starts(mpi, build, program):
    words = f"mpirun.{mpi} -n 2 {program}"
    result = start(build / "bin" / "marline", "run", "sh", "-c", words, SEND_FIRST="1")
    assert (sorted(result.stdout.splitlines()), len(complaints(result))) == (lines(2), 1)


@one_mpi
@pytest.mark.parametrize("is_named", [False, True], ids=["unnamed", "named"])
def test_a_program_that_loads_mpi(mpi, build, library, is_named):
    """Without a launcher, only --mpi tells which one is to be served."""
    loads = f"import ctypes; ctypes.CDLL('{library}').count_threads()"
    words = ["--mpi", mpi] if is_named else []
    result = start(build / "bin" / "marline", "run", *words, sys.executable, "-c", loads, SEND_FIRST="1")
    assert (result.stdout.splitlines(), len(complaints(result))) == (lines(1), 0 if is_named else 1)


@one_mpi
def test_a_library_that_takes_its_own_mpi(mpi, build, compiled, library):
    host = compiled("gcc-12", "plugin_host.c")
    result = start(build / "bin" / "marline", "run", "--mpi", mpi, host, library, "deepbind", SEND_FIRST="1")
    assert "without RTLD_DEEPBIND" in complaints(result)[0]


@pytest.fixture
def openmp(compiled) -> Path:
    return compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC")


@one_mpi
def test_mpi_after_openmp_is_said_before_it_hangs(mpi, build, openmp, library):
    """The rank waits for a message that only a task can send, which it keeps from running."""
    loads = f"import ctypes; [ctypes.CDLL(path).count_threads() for path in ('{openmp}', '{library}')]"
    words = ["timeout", str(SECONDS), build / "bin" / "marline", "run", sys.executable, "-c", loads]
    with subprocess.Popen(words, env=clean_environment(**CROWDED), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert any(BLOCKED in line for line in process.stderr)  # ends when there is one
            assert process.poll() is None
        finally:
            process.terminate()


@one_mpi
def test_mpi_without_a_later_region_is_said_at_the_exit(mpi, build, openmp):
    loads = (f"import ctypes; ctypes.CDLL('{openmp}').count_threads(); mpi = ctypes.CDLL('libmpi.so.40'); "
             "mpi.MPI_Init(None, None); mpi.MPI_Finalize()")  # fmt: skip
    result = start(build / "bin" / "marline", "run", sys.executable, "-c", loads)
    assert len(complaints(result)) == 1
