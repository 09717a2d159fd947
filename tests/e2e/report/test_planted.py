# SPDX-License-Identifier: Apache-2.0
"""Twelve programs with a planted fault (tests/e2e/programs/planted): the report names those that lose time in each run.
Their sleeps take seconds: MARLINE_EXHAUSTIVE=1 runs them."""
from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advice import ATTEMPTS, Bench, Run, causes, names
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment
from marline.report import metrics
from marline.report.text import bounds
from marline.trace.analysis import Analysis
from marline.trace.views.export import load

# planted.md says what the faults are.
NAMED = {"p01": "locks", "p02": "narrow graph", "p03": "imbalance", "p04": "few tasks", "p05": "serial code",
         "p06": "MPI", "p07": "last tasks", "p08": "unequal threads", "p09": "fine grain", "p10": "imbalance",
         "p11": "discovery"}  # fmt: skip
# What else of the report leads to the fault: in the verdict, or in the line that it begins with.
SAYS = {"p01": ("bounded by", "holding a lock"), "p02": ("biggest loss", "come from state alone"),
        "p03": ("biggest loss", "in one call: rank 0 waits"),
        "p07": ("biggest loss", "the longest task is step p07.c:2"),
        "p08": ("critical path", "another schedule may be faster"),
        "p11": ("critical path", "is one piece")}  # fmt: skip
SOMETIMES = ["p12"]  # whether its creator is throttled just at a long task depends on the other thread
WITH_MPI = ("p03", "p06", "p10")

pytestmark = pytest.mark.skipif(os.environ.get("MARLINE_EXHAUSTIVE", "") in ("", "0"),
                                reason="takes a minute: MARLINE_EXHAUSTIVE=1 runs it")  # fmt: skip


def test_all_are_here() -> None:
    assert [*NAMED, *SOMETIMES] == sorted(path.stem for path in (PROGRAMS / "planted").glob("*.c"))


def lines(document: dict[str, Any], run: Run) -> list[tuple[str, str]]:
    """Titles and texts, on one line each, as on a machine of its own."""
    first = causes(document, run)[0]
    return [("", ""), ("biggest loss", first["text"]), *bounds(document["critical_path"], len(document["ranks"]))]


@pytest.mark.parametrize("name", NAMED)
def test_the_report_names_the_fault(build: Path, compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    if name in WITH_MPI and shutil.which("mpicc.openmpi") is None:
        pytest.skip("mpicc.openmpi is not installed")
    run = Run(name, threads=1, ranks=2) if name in WITH_MPI else Run(name)
    with_mpi = (f"-I{Bench.mpi_headers()}", "-lmpi") if run.ranks else ()
    program = compiled("clang-19", f"planted/{name}.c", "-fopenmp", "-g", "-O2", *with_mpi)
    title, wanted = SAYS.get(name, ("", ""))
    said = []
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        words = Bench(build, compiled).on_marline(run, folder)
        subprocess.run([*words, str(program)], env=clean_environment(**CROWDED), capture_output=True, timeout=SECONDS,
                       check=True)  # fmt: skip
        document = metrics.make_document(Analysis(load(folder)))
        said.append(names(document, run))
        if said[-1][:1] == [NAMED[name]]:
            assert wanted in dict(lines(document, run))[title], document["verdict"]
            return
    raise AssertionError(said)


def test_a_throttled_creator_is_bounded_by_the_task_that_it_runs(build: Path, compiled: Callable[..., Path],
                                                               tmp_path: Path) -> None:  # fmt: skip
    """Whichever thread runs the long tasks: nothing that bounds the run is unknown, or the creator's."""
    program = compiled("clang-19", "planted/p12.c", "-fopenmp", "-g", "-O2")
    words = Bench(build, compiled).on_marline(Run("p12"), tmp_path / "trace")
    subprocess.run([*words, str(program)], env=clean_environment(**CROWDED), capture_output=True, timeout=SECONDS,
                   check=True)  # fmt: skip
    path = metrics.make_document(Analysis(load(tmp_path / "trace")))["critical_path"]
    tasks = sum(row["total_ns"] for row in path["chain"] if "p12.c" in row["name"])
    assert tasks >= 0.9 * path["makespan_ns"], path["chain"]
