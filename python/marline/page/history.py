# SPDX-License-Identifier: Apache-2.0
"""The page of `marline report --history DIR`: of each program a line and a table over the commits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from marline.report.history import SURE, Line
from marline.units import percent

from .html import Cell, Row, number, table, time, words
from .template import fill, scripts

_HEADS = ("commit", "date", "runs", "makespan", "change", "p", "efficiency", "idle", "overhead", "critical path",
          "tasks")  # fmt: skip


def write_history(lines: Sequence[Line], path: str | Path) -> None:
    """`lines`: by program, and in each by date."""
    programs = list(dict.fromkeys(line.program for line in lines))
    parts, plots = [], []
    for at, program in enumerate(programs):
        mine = [line for line in lines if line.program == program]
        parts.append(_card(at, program) + table(f"commits{at}", f"Commits of {program}", _HEADS, list(map(_row, mine)),
                                            f"* p < {SURE}: hardly chance"))
        plots += [_plot(f"plot-time{at}", mine, "makespan", [line.median("makespan_ns") for line in mine], "ns"),
                  _plot(f"plot-share{at}", mine, "efficiency", [100 * line.median("efficiency") for line in mine],
                        "%")]  # fmt: skip
    Path(path).write_text(fill("several.html", {
        "title": "History", "about": escape(f"{len(lines)} commits of {len(programs)} programs"),
        "verdict": "".join(_newest([line for line in lines if line.program == program]) for program in programs),
        "tables": "".join(parts), "meta": json.dumps({"plots": plots}).replace("<", "\\u003c"),
        "script": scripts("format.js", "tables.js", "several.js"),
    }), encoding="utf-8")  # fmt: skip


def _newest(lines: Sequence[Line]) -> str:
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


def _card(at: int, program: str) -> str:
    return "".join(f'<figure class="card"><h3>{escape(title)} of {escape(program)}</h3>'
                   f'<div id="{name}{at}" class="plot"></div></figure>'
                   for name, title in (("plot-time", "Makespan"), ("plot-share", "Efficiency")))  # fmt: skip


def _plot(name: str, lines: Sequence[Line], title: str, values: list[float], unit: str) -> dict[str, object]:
    return {"id": name, "x": list(range(len(lines))), "on": "commit", "labels": [line.commit[:8] for line in lines],
            "unit": unit, "lines": [{"name": title, "values": values}]}  # fmt: skip


def _row(line: Line) -> Row:
    change = Cell("", 0.0) if line.change is None else Cell(
        f"{100 * line.change:+.1f} %{' *' if line.is_sure else ''}", line.change)
    p = Cell("", 2.0) if line.p is None else Cell(f"{line.p:.2g}", line.p)
    shares = (Cell(percent(line.median(name), 1), line.median(name)) for name in ("efficiency", "idle_share",
                                                                                  "overhead_share"))  # fmt: skip
    return Row((words(line.commit[:12]), words(line.date[:10]), number(len(line.figures)),
                time(line.median("makespan_ns")), change, p, *shares, time(line.median("path_ns")),
                number(line.median("tasks"))))  # fmt: skip
