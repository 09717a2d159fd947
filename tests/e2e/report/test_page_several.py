# SPDX-License-Identifier: Apache-2.0
"""The pages of several runs, in Chromium: two runs compared, a scaling table, and the history of a program by commit.
What they show comes from documents made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from in_process import report
from test_page import CONTRAST, write_two_ranks

from marline.page.runs.several import write_several

MS = 1_000_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as one:
        yield one


def run_of(makespan: int, threads: int = 2, **further: Any) -> dict[str, Any]:
    return {"program": {"exe": "/there/app", "argv": ["./app", "<7>"]}, "ranks": 1, "threads": threads,
            "makespan_ns": makespan} | further  # fmt: skip


def efficiency(parallel: float) -> dict[str, Any]:
    return {"global": parallel, "computation_scaling": 1.0, "parallel": parallel, "load_balance": 0.95, "mpi": None,
            "openmp": {"parallel": parallel, "load_balance": 0.95, "scheduling": 0.7}}  # fmt: skip


def comparison(count: int = 1, p: float | None = None) -> dict[str, Any]:
    """B takes 1.5 times as long: its gemm does twice the work, and so does the loop in it."""
    names = ("makespan", "work", "idle", "overhead", "discovery", "creation", "in_mpi", "communication")
    first, second = (dict.fromkeys((f"{name}_ns" for name in names), value) for value in (100 * MS, 150 * MS))
    first, second = ({**one, "count": count} for one in (first, second))
    return {
        "format": "marline-compare 1", "ratios": dict.fromkeys(names, 1.5),
        "runs": [run_of(100 * MS, **first), run_of(150 * MS, **second)],
        "causes": [{"name": "idle_discovery", "first_ns": 5 * MS, "second_ns": 45 * MS, "p": p}],
        "p": dict.fromkeys(names, p), "regions": [], "calls": [],
        "loops": [{"name": "loop f a.c:7", "times": [1, 1], "total_ns": [30 * MS, 60 * MS], "ratio": 2.0, "p": p}],
        "kinds": [{"name": "gemm", "tasks": [10, 10], "work_ns": [30 * MS, 60 * MS], "in_mpi_ns": [0, 0],
                   "messages": [0, 0], "communication_ns": [0, 0], "work_ratio": 2.0, "work_per_task_ratio": 2.0,
                   "communication_ratio": None, "p": p}],
    }  # fmt: skip


def test_two_runs(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_several(comparison(), ["a.trace", "b.trace"], page)
    text = page.read_text()
    assert "B takes 1.50 times as long as A: 150 ms, of 100 ms." in text
    assert "40.0 ms more thread time: idle, discovery." in text and "&lt;7&gt;" in text
    for scheme in ("light", "dark"):
        browser.open(page, scheme)
        assert browser.run(CONTRAST) == []
    for table in ("kinds", "loops"):
        assert "2.00 \u25b2" in browser.run(f"document.querySelector('#{table}').textContent")
    assert browser.run("document.querySelectorAll('#inflation .poor').length") == 1
    assert browser.said == []


@pytest.mark.parametrize(("p", "said", "marks"), [(0.03, "unlikely", 1), (0.4, "possible", 0)])
def test_a_change_within_noise_is_shown_as_that(tmp_path: Path, p: float, said: str, marks: int) -> None:
    """Of several runs of each side: what may be chance has no mark and no colour."""
    page = tmp_path / "page.html"
    write_several(comparison(4, p), ["a", "b"], page)
    text = page.read_text()
    assert f"That this is chance is {said} (p = {p})." in text and "median of 4 runs" in text
    assert text.count("2.00 \u25b2") == 3 * marks and text.count('<span class="poor"') == marks
    assert ("40.0 ms more thread time" in text) == bool(marks)


def test_scaling(browser: Browser, tmp_path: Path) -> None:
    kinds = [{"name": "gemm", "tasks": 1, "work_ns": 90 * MS}]
    more = [{"name": "gemm", "tasks": 1, "work_ns": 99 * MS}]
    runs = [run_of(100 * MS, 1, speedup=1.0, useful_ns=1, efficiency=efficiency(1.0), kinds=kinds),
            run_of(40 * MS, 4, speedup=2.5, useful_ns=1, efficiency=efficiency(0.625), kinds=more)]  # fmt: skip
    page = tmp_path / "page.html"
    write_several({"format": "marline-scaling 1", "scaling": "strong", "runs": runs}, ["one", "four"], page)
    browser.open(page)
    said = browser.run("document.querySelector('#verdict').textContent")
    assert "4 threads are 2.50 times as fast as 1" in said and "62.5 %" in said
    assert browser.run("document.querySelectorAll('#tables canvas').length") == 3
    assert "1.10" in browser.run("document.querySelector('#plot-inflation .u-legend').textContent")
    assert browser.run("document.querySelectorAll('td.poor').length") > 0 and browser.said == []


def test_history(browser: Browser, tmp_path: Path) -> None:
    """Two commits of one program, stored by --summary."""
    trace, stored, page = tmp_path / "trace", tmp_path / "stored", tmp_path / "page.html"
    trace.mkdir()
    write_two_ranks(trace)
    for commit in ("first", "second"):
        result = report(trace, "--summary", stored, "--commit", commit)
        assert result.returncode == 0, result.stderr
    result = report(Path("--history"), stored, "--html", page)
    assert result.returncode == 0, result.stderr
    browser.open(page)
    rows = "[...document.querySelectorAll('#commits0 tbody tr')]"
    assert browser.run(f"{rows}.map((row) => row.cells[0].textContent)") == ["first", "second"]
    assert "second is 0.0 %" in browser.run("document.querySelector('#verdict').textContent")
    assert browser.run("document.querySelectorAll('#tables canvas').length") == 2 and browser.said == []


def test_by_the_command(browser: Browser, tmp_path: Path) -> None:
    """A trace compared with itself, and beside itself in a scaling table."""
    trace = tmp_path / "trace"
    trace.mkdir()
    write_two_ranks(trace)
    for words, said in (((), "B takes as long as A"), (("--scaling",), "is 1.00 times as fast as")):
        page = tmp_path / "page.html"
        result = report(trace, trace, *words, "--html", page)
        assert result.returncode == 0 and f"{page}: open it in a browser" in result.stderr, result.stderr
        browser.open(page)
        assert said in browser.run("document.querySelector('#verdict').textContent") and browser.said == []
    result = report(trace, trace, "--html", page, "--full")
    assert result.returncode == 125 and "--full describes one trace" in result.stderr
