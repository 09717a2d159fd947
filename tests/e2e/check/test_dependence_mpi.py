# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences`: MPI's buffers are accesses: of the task that calls, or of an operation that goes on
until its request is known to be complete."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CROWDED, PROGRAMS, SECONDS

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from instrumented import COMPILING, FOUND, linking  # noqa: E402

SOURCE = PROGRAMS / "mpi_buffers.c"
RIGHT = re.findall(r"\bCASE\((\w+_right)\)", SOURCE.read_text())
COMPILERS = {"openmpi": ("OMPI_CC", "clang-19"), "mpich": ("MPICH_CC", "gcc-12")}


@pytest.fixture(scope="module", params=list(COMPILERS))
def program(request, build, tmp_path_factory) -> Path:
    wrapper = f"mpicc.{request.param}"
    if shutil.which(wrapper) is None:
        pytest.skip(f"no {wrapper}")
    variable, compiler = COMPILERS[request.param]
    made = tmp_path_factory.mktemp(request.param)
    compiling = [*COMPILING, SOURCE, "-o", made / "program.o"]
    for words in (compiling, [made / "program.o", "-o", made / "program", *linking(compiler, build)]):
        subprocess.run([wrapper, *map(str, words)], check=True, timeout=SECONDS, capture_output=True,
                       env={**os.environ, variable: compiler})  # fmt: skip
    return made / "program"


@pytest.mark.parametrize("case", RIGHT)
def test_no_false_alarm(marline, program, case):
    result = marline("check", "--dependences", "-n", "2", "-t", "2", program, case, **CROWDED)
    assert result.returncode == 0, result.stderr
    assert re.search(r"check: no accesses that are not ordered, of \d+ tasks? in 2 processes\n$", result.stderr)


# The object, who accesses it, and what is missing. Clang and GCC give a construct different lines.
WRONG = {
    "receive_unnamed": ("b", r"the task \(receive_unnamed .*writes at receive mpi_",
                        r"add depend\(inout: b\) to the task \(receive_unnamed mpi_\S+\)$"),
    "send_reused": ("bytes 24..31 of a", r"MPI_Isend reads at send_reused mpi_",
                    r"a wait for the request of MPI_Isend .*before send_reused mpi_buffers.c:{reused}$"),
    "receive_read": ("b", r"MPI_Irecv writes at .*mpi_",
                     r"a wait for the request of MPI_Irecv .*before the end of the task \(receive_read [^;]*$"),
    "persistent_early": ("b", r"MPI_Recv_init writes at persistent mpi_",
                         r"a wait for the request of MPI_Recv_init .*before sum mpi_"),
    "columns_overlap": ("bytes 48..55 of matrix", r"the task \(exchange_columns \S+ writes at",
                        r"add depend\(inout: byte 48 of matrix\) to the task \(exchange_columns"),
    "reduction_read": ("bytes 0..7 of a", r"MPI_Iallreduce writes at reduction_read mpi_",
                       r"a wait for the request of MPI_Iallreduce .*before the task \(reduction_read \S+ is created$"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WRONG))
def test_finds(marline, program, case):
    result = marline("check", "--dependences", "-n", "2", "-t", "2", program, case, **CROWDED)
    assert result.returncode == FOUND, result.stderr
    assert "1 pair of accesses that is not ordered" in result.stderr
    reused = next(at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if "here: reused" in line)
    thing, access, clause = WRONG[case]
    clause = clause.replace("{reused}", str(reused))
    for pattern in (rf"  object: {re.escape(thing)}$", access, rf"  missing: {clause}"):
        assert re.search(pattern, result.stderr, re.M), result.stderr
