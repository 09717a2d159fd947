# SPDX-License-Identifier: Apache-2.0
"""docs/guide/first-report.md explains each line that a report can have. docs/guide/three-steps.md shows what its four
programs' reports say: the programs are the files beside it, compute the same, and lose time for the reasons that the
page names. Times, shares and line breaks may differ from the page's."""
from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CROWDED, EXHAUSTIVE, SECONDS, clean_environment

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "report"))
from advice import ATTEMPTS, Run, causes  # noqa: E402  (finds marline)
from handmade_kinds import TRACES  # noqa: E402

from marline.page.bars import Names, construct_names  # noqa: E402
from marline.report import metrics  # noqa: E402
from marline.report import text as report_text  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.views.export import load  # noqa: E402

GUIDE = ROOT / "docs" / "guide"
FIRST, STEPS = GUIDE / "first-report.md", GUIDE / "three-steps.md"
# The programs; what the page says is the biggest loss, and words of the verdict.
STEPS_OF = {"rows": ("unequal threads", "main rows.c:35: thread 1 works"), "rows_dynamic": ("serial code", "between"),
            "rows_tasks": ("narrow graph", "come from scale alone"), "rows_fast": ("", "")}  # fmt: skip
BUSY = "busy cores"
RESULT = "scale 0.981646199\n"


def blocks(page: Path, kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [text for of, text in found if of == kind]


def printed(document: dict[str, Any]) -> str:
    text = io.StringIO()
    report_text.print_report(document, report_text.console_for(text))
    return text.getvalue()


# All titles of lines and tables (report/text.py, notable.py, without_tasks.py, efficiency_text.py).
TITLES = ["discovery", "graph", "dependences", "efficiency", "useful", "bounded by", "critical path", "at best",
          "communication", "waits", "late sends", "outliers", "extra edges", "overlap", "memory", "first touch",
          "tasks by time", "MPI by time", "loops and regions by time", "functions by time", "counters by time",
          "devices", "your regions by time", "biggest loss", "try next", "expected", "not known", "remark",
          "incomplete"]  # fmt: skip


def titles(text: str) -> set[str]:
    """What a report's lines begin with, before two blanks, or before the heads of a table's columns."""
    begins = [re.split(r"  +", line.strip())[0] for line in text.splitlines()]
    return {title for begin in begins for title in TITLES if re.fullmatch(rf"{title}( (calls|tasks|times))?", begin)}


def test_each_line_of_a_report_is_explained() -> None:
    """By a row of the page's table."""
    firsts = "\n".join(re.findall(r"^\| ([^|]+) \|", FIRST.read_text(), re.MULTILINE))
    assert sorted(set(TITLES) - set(re.findall(r"`([^`]+)`", firsts))) == []


@pytest.mark.parametrize("name", TRACES)
def test_each_line_is_known(name: str, tmp_path: Path) -> None:
    """Of the reports of small traces of all kinds of programs: a new line needs a row on the page."""
    document = metrics.make_document(Analysis(load(TRACES[name](tmp_path))))
    rows = {row["name"] for key in ("kinds", "regions") for row in document[key]}
    rows |= {row["name"] for row in document["mpi"]["functions"]} | {"MPI", "OpenMP", "rank", "all", "between devices"}
    begins = re.findall(r"^ {0,2}([a-zA-Z][a-zA-Z ]*?)(?:  +\S.*| (?:calls|tasks|times) .*)$", printed(document), re.M)
    assert len(begins) > 4 and sorted(set(begins) - set(TITLES) - rows) == []


def test_the_pages_show_reports() -> None:
    """With the lines of today's."""
    shown = [text for page in (FIRST, STEPS) for text in blocks(page, "") if "rank  threads" in text]
    assert len(shown) == 1 + len(STEPS_OF)
    for text in shown:
        assert {"bounded by", "critical path", "memory"} <= titles(text)
        assert max(map(len, text.splitlines())) <= 80


def test_the_pages_show_the_programs() -> None:
    pieces = blocks(STEPS, "c")
    assert len(pieces) == len(STEPS_OF)
    for name, piece in zip(STEPS_OF, pieces):
        assert piece in (GUIDE / "programs" / f"{name}.c").read_text(), name


def traced(build: Path, program: Path, folder: Path) -> tuple[dict[str, Any], str]:
    words = [str(build / "bin" / "marline"), "run", "-t", "2", "--trace", str(folder), str(program)]
    result = subprocess.run(words, env=clean_environment(**CROWDED), capture_output=True, text=True, timeout=SECONDS,
                            check=True)  # fmt: skip
    return metrics.make_document(Analysis(load(folder)), more=()), result.stdout


@pytest.mark.parametrize("name", STEPS_OF if EXHAUSTIVE else ["rows_tasks", "rows_fast"])
def test_each_step_loses_time_as_the_page_says(build: Path, tmp_path: Path, name: str) -> None:
    """The programs compute, so other programs' use of the cores changes who waits for whom: then the verdict is not
    judged, but what the graph says. All forms compute the same."""
    loss, words = STEPS_OF[name]
    program = tmp_path / name
    subprocess.run(["gcc-12", "-O2", "-g", "-fopenmp", GUIDE / "programs" / f"{name}.c", "-o", program], check=True,
                   timeout=SECONDS)  # fmt: skip
    for attempt in range(ATTEMPTS):
        document, output = traced(build, program, tmp_path / str(attempt))
        assert output == RESULT
        check_graph(name, document)
        if name == "rows_dynamic":  # the page has the line of the construct, too
            names = Names()
            construct_names(Analysis(load(tmp_path / str(attempt))), names)
            assert names.texts == ["loop, dynamic main rows_dynamic.c:35"]
        losses = causes(document, Run(name, beside=1))
        found = [one for one in losses if one["name"] != BUSY]
        if found and found[0]["name"] == loss:
            assert words in found[0]["text"]
            return
        if not loss or len(found) < len(losses):
            return
    raise AssertionError((name, found))


def check_graph(name: str, document: dict[str, Any]) -> None:
    """What no other program changes."""
    loops = document["loops"]["constructs"]
    if name == "rows_dynamic":
        assert any(one["schedule"] == "dynamic" and one["iterations"] == 6 * 48 for one in loops)
        assert any("rows_dynamic.c:35" in row["after"] for row in document["loops"]["serial"])
    elif name == "rows":
        assert any((one["kind"], one["line"], one["calls"]) == ("region", 35, 6) for one in loops)
    else:
        parallelism = document["critical_path"]["parallelism"]
        assert parallelism < 1.5 if name == "rows_tasks" else parallelism > 2
