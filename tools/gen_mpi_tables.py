#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/mpi-tables.md: what is tested on which MPI, from a run of tests/e2e/run/test_mpi_matrix.py.

    tools/fetch_mpis.sh
    gen_mpi_tables.py BUILD      runs all cases (two minutes), writes the page; exit 1 if a case fails
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEST = ROOT / "tests" / "e2e" / "run" / "test_mpi_matrix.py"
PAGE = ROOT / "docs" / "mpi-tables.md"
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from mpi_matrix import MPIS, UNTESTED  # noqa: E402

COLUMNS = {"test_the_example": "example", "test_blocking_calls": "blocking calls",
           "test_blocking_calls_of_mpi_4_1": "of MPI 4.1", "test_a_trace": "trace", "test_ps": "`marline ps`",
           "test_mpi4py": "mpi4py"}  # fmt: skip
INTRODUCTION = """\
<!-- Made by tools/gen_mpi_tables.py from the results of tests. Do not edit this page. -->
# MPI: what is tested on which library

Two ranks, started by the MPI's own launcher. *Example*: the program of the README, with one thread per rank. *Blocking
calls*: programs that make the blocking calls of MPI in tasks of a rank with one thread, which a call that holds its
thread hangs; the number of programs. *Of MPI 4.1*: the same for the calls that it has added. *Trace*: the example is
recorded, and the trace has all of its messages. *`marline ps`*: says which task of a job that hangs waits for what.
*mpi4py*: version 4.1 of PyPI exchanges objects, and its calls reach Marline. The ABIs are described
[here](design/mpi-interposition.md).

"""


def results(build: str) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """By test and MPI: the outcome of each case, and why it was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "results.xml"
        environment = os.environ | {"MARLINE_BUILD": str(Path(build).resolve()), "MARLINE_EXHAUSTIVE": "1"}
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", TEST],
                       env=environment, check=False)  # fmt: skip
        cases = xml.etree.ElementTree.parse(report).iter("testcase")
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    names = sorted((mpi.name for mpi in MPIS), key=len, reverse=True)
    for case in cases:
        test, _, parameters = case.attrib["name"].partition("[")
        mpi = next(name for name in names if name in parameters)
        skipped = case.find("skipped")
        failed = case.find("failure") is not None or case.find("error") is not None
        outcome = "failed" if failed else "passed" if skipped is None else "skipped"
        found[test, mpi].append((outcome, skipped.attrib["message"] if skipped is not None else ""))
    return found


def cell(outcomes: list[tuple[str, str]], notes: list[str]) -> str:
    passed = sum(outcome == "passed" for outcome, _ in outcomes)
    marks = ""
    for text in (text for outcome, text in outcomes if outcome == "skipped"):
        if text not in notes:
            notes.append(text)
        marks += f" [{notes.index(text) + 1}]"
    if any(outcome == "failed" for outcome, _ in outcomes):
        return "**fails**"
    return (str(passed) if passed > 1 else "yes" if passed else "–") + marks


def page(found: dict[tuple[str, str], list[tuple[str, str]]]) -> str:
    notes: list[str] = []
    lines = [f"| | ABI | {' | '.join(COLUMNS.values())} |", "|---|---|" + "---|" * len(COLUMNS)]
    for mpi in MPIS:
        cells = [cell(found[test, mpi.name], notes) for test in COLUMNS]
        lines.append(f"| {mpi.title} | `{mpi.abi}` | {' | '.join(cells)} |")
    lines += [f"| {name} | | {' | '.join(['untested'] * len(COLUMNS))} |" for name in UNTESTED]
    return INTRODUCTION + "\n".join([*lines, "", *(f"[{at}] {text}.  " for at, text in enumerate(notes, 1)), ""])


def main(build: str) -> int:
    found = results(build)
    PAGE.write_text(page(found), encoding="utf-8")
    return int(any(outcome == "failed" for outcomes in found.values() for outcome, _ in outcomes))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: gen_mpi_tables.py BUILD")
    sys.exit(main(sys.argv[1]))
