# SPDX-License-Identifier: Apache-2.0
"""Programs without tasks are told where their time goes: the loop or region with its line, how unequal its threads are,
what the waiting costs and what to change; and of MPI alone, which function waits for which rank. Real programs, whose
work is sleep; no time is judged but by bounds that a busy machine keeps, too."""
from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import CROWDED, PROGRAMS, Result
from handmade import ROOT  # noqa: F401  it finds marline

from marline.report import metrics
from marline.report import text as report_text
from marline.trace.analysis import Analysis
from marline.trace.views.export import load

MS = 1_000_000
ATTEMPTS = 4  # other programs on the machine may be the biggest loss of a run
COMPILERS = [("clang-19", "loops.c"), ("gcc-12", "loops.c"), ("gfortran-12", "loops.f90")]


def is_at(compiler: str, source: str, line: int, word: str) -> bool:
    """Whether the line is that of the construct. GCC gives calls inside of a region the line beside it."""
    lines = (PROGRAMS / source).read_text().splitlines()
    wanted = next(number for number, text in enumerate(lines, 1) if re.search(rf"(//|!) {word}$", text))
    return abs(line - wanted) <= (0 if compiler.startswith("clang") or word in ("UNEQUAL", "SEVERAL") else 1)


def traced(marline: Callable[..., Result], folder: Path, *words: str | Path) -> tuple[dict[str, Any], str]:
    """The document, and the text of the full report."""
    result = marline(*words[:1], *(["--trace"] if words[0] == "run" else ["-o"]), folder, *words[1:], **CROWDED)
    assert result.returncode == 0, result.stderr
    assert "has used OpenMP" not in result.stderr
    document = metrics.make_document(Analysis(load(folder)))
    text = io.StringIO()
    report_text.print_report(document, report_text.console_for(text))
    return document, text.getvalue()


def traced_with(cause: str, marline: Callable[..., Result], folder: Path,
                *words: str | Path) -> tuple[dict[str, Any], str]:  # fmt: skip
    """Of the first of a few runs in which this is the biggest loss."""
    for attempt in range(ATTEMPTS):
        document, text = traced(marline, folder / f"trace{attempt}", *words)
        if document["causes"][0]["name"] == cause:
            return document, text
    raise AssertionError(document["causes"])


@pytest.mark.parametrize(("compiler", "source"), COMPILERS)
def test_unequal_loop_is_named_with_its_line(compiler: str, source: str, marline: Callable[..., Result],
                                             compiled: Callable[..., Path], tmp_path: Path) -> None:  # fmt: skip
    """GCC's code of a static loop calls nothing: then the region has the line."""
    program = compiled(compiler, source, "-fopenmp", "-g")
    document, text = traced_with("unequal threads", marline, tmp_path, "run", "-t", "2", "--", program)
    kind = "loop" if compiler.startswith("clang") else "region"
    (unequal,) = [one for one in document["loops"]["constructs"]
                  if one["kind"] == kind and is_at(compiler, source, one["line"], "UNEQUAL")]  # fmt: skip
    line = unequal["line"]
    assert (unequal["calls"], unequal["threads"]) == (3, 2) and Path(unequal["file"]).name == source
    if compiler.startswith("clang"):
        assert (unequal["schedule"], unequal["iterations"]) == ("static", 3 * 4)
    # Of 50 ms each time the second thread has 40; beside busy processes a sleep lasts longer.
    assert 1.2 <= unequal["imbalance"] <= 1.7 and unequal["slowest"]["thread"] == 1
    assert 3 * 50 * MS <= unequal["time_ns"] and unequal["waited_ns"] >= 3 * 10 * MS
    sentence = rf"{unequal['kind']} \w+ {source}:{line}: thread 1 works \d\.\dx as long as thread 0; waits at its end"
    assert re.search(sentence, document["verdict"])
    assert "schedule(dynamic) or schedule(guided)" in document["causes"][0]["advice"]
    # The text says so first, and has a row for it.
    assert text.index(f"\nbiggest loss  {kind} ") < text.index("\nrank  threads")
    assert re.search(rf"^{kind} \S+ {source}:{line}.* 3 .* ms +\d+\.\d % +1\.\d\d +\d+\.\d %", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_each_construct_has_its_row(compiler: str, marline: Callable[..., Result], compiled: Callable[..., Path],
                                    tmp_path: Path) -> None:  # fmt: skip
    program = compiled(compiler, "loops.c", "-fopenmp", "-g")
    document, _ = traced(marline, tmp_path / "trace", "run", "-t", "2", "--", program)
    constructs = [one for one in document["loops"]["constructs"] if one["time_ns"] + one["locked_ns"] > MS]
    (dynamic,) = [one for one in constructs if one["schedule"] == "dynamic"]
    assert is_at(compiler, "loops.c", dynamic["line"], "DYNAMIC")
    assert (dynamic["kind"], dynamic["iterations"]) == ("loop", 8)
    assert dynamic["time_ns"] >= 40 * MS
    (single,) = [one for one in constructs if one["kind"] == "single"]
    assert single["calls"] == 1 and is_at(compiler, "loops.c", single["line"], "SINGLE")
    assert single["time_ns"] >= 10 * MS and single["waited_ns"] >= 5 * MS
    # Clang's loop has its own line. GCC's static loop calls nothing, and is the last one of its region.
    locked = max(constructs, key=lambda one: one["locked_ns"])
    assert locked["locked_ns"] >= 10 * MS
    assert is_at(compiler, "loops.c", locked["line"], "CRITICAL" if compiler == "clang-19" else "SEVERAL"), locked
    unequal, several = document["loops"]["regions"]
    assert (unequal["calls"], several["calls"]) == (3, 1)
    for row, word in ((unequal, "UNEQUAL"), (several, "SEVERAL")):
        assert is_at(compiler, "loops.c", row["line"], word), row
    # 25 ms between the two functions, in which one thread runs alone.
    (gap,) = [row for row in document["loops"]["serial"] if "relax" in row["after"] and "several" in row["before"]]
    assert gap["times"] == 1 and gap["total_ns"] >= 25 * MS


def test_mpi_alone(marline: Callable[..., Result], compiled: Callable[..., Path], tmp_path: Path) -> None:
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("no openmpi")
    found = subprocess.run(["mpicc.openmpi", "--showme:incdirs"], capture_output=True, text=True, check=True)
    program = compiled("gcc-12", "late_ranks.c", f"-I{found.stdout.split()[0]}", "-lmpi")
    document, text = traced(marline, tmp_path / "trace", "trace", "-n", "2", "--", program)
    rows = {row["name"]: row for row in document["mpi"]["functions"]}
    receive, reduction = rows["MPI_Recv"], rows["MPI_Allreduce"]
    assert (receive["calls"], reduction["calls"], rows["MPI_Barrier"]["calls"]) == (4, 8, 2)
    assert receive["bytes"] == 16 and receive["late_sender_ns"] >= 4 * 15 * MS
    assert reduction["late_member_ns"] >= 4 * 5 * MS
    partners = {(row["name"], row["rank"], row["waits_for"]): row for row in document["mpi"]["partners"]}
    assert partners["MPI_Recv", 0, 1]["pattern"] == "late sender" and partners["MPI_Recv", 0, 1]["calls"] == 4
    assert partners["MPI_Allreduce", 1, 0]["total_ns"] >= 4 * 5 * MS
    assert re.search(r"^MPI_Recv +4 .* 16 B late sender [5-9]\d\.\d %$", text, re.MULTILINE)
    # One count of calls: those that MPI_Init and MPI_Comm_rank are not among.
    calls = sum(row["calls"] for row in rows.values())
    assert f"{calls} MPI calls" in text and calls == document["communication"]["total"]["calls"]
    assert text.index("\nbiggest loss  ") < text.index("\nrank  threads")
    # Not always the first: while MPI waits, it takes a core of its own.
    (cause,) = [cause for cause in document["causes"] if cause["name"] == "MPI"]
    assert re.search(r"in MPI_Recv: it waits [\d.]+ % of that for a late sender \(rank 0 mostly for rank 1\)",
                     cause["text"])  # fmt: skip
