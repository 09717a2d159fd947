# SPDX-License-Identifier: Apache-2.0
"""docs/guide/passes.md is true: its example runs and answers right, its notebook's lines work, and the tables that it
promises have the columns that it names."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from handmade import ROOT
from handmade_ranks import two_ranks
from in_process import document_of, report

from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

PAGE = (ROOT / "docs" / "guide" / "passes.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TABLES = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (?:[^|]*\| )?([^|]*) \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_ranks(tmp_path_factory.mktemp("passes") / "app.trace")


@pytest.fixture(scope="module")
def example(trace: Path) -> Path:
    """One file for all tests: two files may not give a pass the same name."""
    file = trace.parent / "affinity.py"
    file.write_text(PROGRAMS[0])
    return file


def test_the_example_gives_what_happened(trace: Path, example: Path) -> None:
    """A and D begin on their creators' threads. Waits: 7 of A, 20 of B, 14 of C, 9 of D."""
    found = document_of(trace, "--pass", example)["passes"]["affinity"]
    assert found == {"same_thread": 0.5, "median_wait_ns": (9 + 14) / 2}
    assert re.search(r"^affinity same_thread +0.5$", report(trace, "--pass", example).stdout, re.MULTILINE)


def test_the_example_is_short() -> None:
    assert len([line for line in PROGRAMS[0].splitlines() if line.strip()]) <= 25


def test_a_condition_names_its_result(trace: Path, example: Path) -> None:
    words = re.findall(r'--fail-if "(.*?)"', PAGE)
    assert [report(trace, "--pass", example, "--fail-if", one).returncode for one in words] == [0]
    result = report(trace, "--pass", example, "--fail-if", words[0].replace("1s", "11ns"))
    assert result.returncode == 4 and "it is 11.5 ns" in result.stderr


def test_the_notebook_s_lines_work(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trace.parent)
    names: dict = {}
    exec(PROGRAMS[1], names)  # noqa: S102
    assert names["of"]["tasks"].running.sum() == 100 + 50 + 40 + 90


def test_the_tables_have_what_the_page_promises(trace: Path) -> None:
    of = Analysis(read_trace(trace))
    promised = {name: set(re.findall(r"`(\w+)`(?! \()", re.sub(r"\([^)]*\)", "", columns)))
                for names, columns in TABLES for name in re.findall(r"`(\w+)`", names)}  # fmt: skip
    assert len(promised) == 13
    for name, columns in promised.items():
        assert columns, name
        assert [column for column in columns if not hasattr(of[name], column)] == [], name
    for table, columns in (("points", ("task", "time", "what")), ("edges", ("source", "sink", "weight", "kind"))):
        assert all(hasattr(getattr(of["global_graph"], table), column) for column in columns)
