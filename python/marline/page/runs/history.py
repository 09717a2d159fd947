# SPDX-License-Identifier: Apache-2.0
"""The page of `marline report --history DIR`: of each program a line and a table over the commits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from marline.report import history
from marline.report.history import SURE
from marline.units import percent

from ..html import Cell, Row, number, table, time, words
from ..plots import POINTS, Line, Plot, documents, figures
from ..template import fill, scripts
from .several import SCRIPTS

_HEADS = ("commit", "date", "runs", "makespan", "change", "p", "efficiency", "idle", "overhead", "critical path",
          "tasks")  # fmt: skip


def write_history(lines: Sequence[history.Line], path: str | Path) -> None:
    """`lines`: by program, and in each by date."""
    programs = list(dict.fromkeys(line.program for line in lines))
    parts: list[str] = []
    plots: list[Plot] = []
    for at, program in enumerate(programs):
        mine = [line for line in lines if line.program == program]
        both = [_plot(f"time{at}", f"Makespan of {program}", mine, [line.median("makespan_ns") for line in mine], "ns"),
                _plot(f"share{at}", f"Efficiency of {program}", mine,
                      [100 * line.median("efficiency") for line in mine], "%")]  # fmt: skip
        plots += both
        parts.append(figures(both) + table(f"commits{at}", f"Commits of {program}", _HEADS, list(map(_row, mine)),
                                           f"* p < {SURE}: hardly chance"))  # fmt: skip
    Path(path).write_text(fill("several.html", {
        "title": "History", "about": escape(f"{len(lines)} commits of {len(programs)} programs"),
        "verdict": "".join(_newest([line for line in lines if line.program == program]) for program in programs),
        "tables": "".join(parts), "meta": json.dumps({"plots": documents(plots)}).replace("<", "\\u003c"),
        "script": scripts(*SCRIPTS),
    }), encoding="utf-8")  # fmt: skip


def _newest(lines: Sequence[history.Line]) -> str:
    """How the newest commit compares with the one before."""
    line = lines[-1]
    if line.change is None:
        text = f"{line.program}: one commit is stored, {line.commit[:12]}"
    else:
        how = "slower" if line.change > 0 else "faster"
        sure = ", hardly by chance" if line.is_sure else ", which may be chance" if line.p is not None else ""
        change = f"{abs(100 * line.change):.1f} % {how}"
        text = f"{line.program}: {line.commit[:12]} is {change} than the commit before{sure}"
    return f'<p><span class="label">Newest</span>{escape(text)}.</p>'


def _plot(name: str, title: str, lines: Sequence[history.Line], values: list[float], unit: str) -> Plot:
    return Plot(name, title, "The median of each commit's runs.", POINTS, list(range(len(lines))),
                [Line(title, values, "work", values[-1])], unit, "commit", "the newest",
                [line.commit[:8] for line in lines])  # fmt: skip


def _row(line: history.Line) -> Row:
    change = Cell("", 0.0) if line.change is None else Cell(
        f"{100 * line.change:+.1f} %{' *' if line.is_sure else ''}", line.change)
    p = Cell("", 2.0) if line.p is None else Cell(f"{line.p:.2g}", line.p)
    shares = (Cell(percent(line.median(name), 1), line.median(name)) for name in ("efficiency", "idle_share",
                                                                                  "overhead_share"))  # fmt: skip
    return Row((words(line.commit[:12]), words(line.date[:10]), number(len(line.figures)),
                time(line.median("makespan_ns")), change, p, *shares, time(line.median("path_ns")),
                number(line.median("tasks"))))  # fmt: skip
