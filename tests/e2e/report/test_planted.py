# SPDX-License-Identifier: Apache-2.0
"""Twelve programs with a planted fault (tests/e2e/programs/planted): the report names those that lose time in each run.
Their sleeps take seconds: MARLINE_EXHAUSTIVE=1 runs them."""
from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from advice import ATTEMPTS, Bench, Run, names
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment
from marline.report import metrics
from marline.trace.analysis import Analysis
from marline.trace.views.export import load

# planted.md says what the faults are. Of p03 the report names the late rank, but not that it is late only once.
NAMED = {"p01": "locks", "p02": "narrow graph", "p03": "imbalance", "p04": "few tasks", "p05": "serial code",
         "p06": "MPI", "p07": "last tasks", "p08": "unequal threads", "p09": "fine grain", "p10": "imbalance",
         "p11": "discovery"}  # fmt: skip
SOMETIMES = ["p12"]  # whether its creator is throttled just at a long task depends on the other thread
WITH_MPI = ("p03", "p06", "p10")

pytestmark = pytest.mark.skipif(os.environ.get("MARLINE_EXHAUSTIVE", "") in ("", "0"),
                                reason="takes a minute: MARLINE_EXHAUSTIVE=1 runs it")  # fmt: skip


def test_all_are_here() -> None:
    assert [*NAMED, *SOMETIMES] == sorted(path.stem for path in (PROGRAMS / "planted").glob("*.c"))


@pytest.mark.parametrize("name", NAMED)
def test_the_report_names_the_fault(build: Path, compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    if name in WITH_MPI and shutil.which("mpicc.openmpi") is None:
        pytest.skip("mpicc.openmpi is not installed")
    run = Run(name, threads=1, ranks=2) if name in WITH_MPI else Run(name)
    with_mpi = (f"-I{Bench.mpi_headers()}", "-lmpi") if run.ranks else ()
    program = compiled("clang-19", f"planted/{name}.c", "-fopenmp", "-g", "-O2", *with_mpi)
    said = []
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        words = Bench(build, compiled).on_marline(run, folder)
        subprocess.run([*words, str(program)], env=clean_environment(**CROWDED), capture_output=True, timeout=SECONDS,
                       check=True)  # fmt: skip
        said.append(names(metrics.make_document(Analysis(load(folder))), run))
        if said[-1][:1] == [NAMED[name]]:
            return
    raise AssertionError(said)
