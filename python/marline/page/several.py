# SPDX-License-Identifier: Apache-2.0
"""The page of several runs: what the second took more than the first, or how far a program scales; from the documents
that `marline report A B --json` and `--scaling --json` print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from marline.report.several.compare import SAME, TOTALS
from marline.report.several.scaling import FACTORS, FAIR, GOOD
from marline.units import duration

from .html import Cell, Row, number, table, time, words
from .template import fill, scripts

Document = dict[str, Any]


def write_several(document: Document, names: Sequence[str], path: str | Path) -> None:
    """`document`: of a comparison or of a scaling table; `names`: what the runs are called."""
    is_scaling = document["format"].startswith("marline-scaling")
    program = Path(document["runs"][0]["program"]["exe"]).name or "trace"
    parts = {
        "title": escape(f"{program}: {document['scaling']} scaling" if is_scaling else f"{program}: A and B"),
        "about": escape(", ".join(names)),
        "verdict": _scaling_verdict(document, names) if is_scaling else _difference(document, names),
        "tables": scaling(document, names) if is_scaling else comparison(document),
        "meta": json.dumps(_plotted(document) if is_scaling else {}, separators=(",", ":")).replace("<", "\\u003c"),
        "script": scripts("format.js", "tables.js", "several.js"),
    }
    Path(path).write_text(fill("several.html", parts), encoding="utf-8")


# Two runs ---------------------------------------------------------------------------------------------------------


def _difference(document: Document, names: Sequence[str]) -> str:
    """In one sentence how much, and what changed most."""
    first, second = (run["makespan_ns"] for run in document["runs"])
    change = second / first if first else 1.0
    if abs(change - 1) <= SAME:
        how = f"B takes as long as A: {duration(second)}, of {duration(first)}"
    elif change > 1:
        how = f"B takes {change:.2f} times as long as A: {duration(second)}, of {duration(first)}"
    else:
        how = f"B is {1 / change:.2f} times as fast as A: {duration(second)}, of {duration(first)}"
    lines = [f'<p class="loss"><span class="label">Together</span>{escape(how)}.</p>']
    causes = [row for row in document["causes"] if row["first_ns"] != row["second_ns"]][:3]
    for row in causes:
        more = row["second_ns"] - row["first_ns"]
        text = f"{duration(abs(more))} {'more' if more > 0 else 'less'} thread time: {_cause(row['name'])}"
        lines.append(f'<p><span class="label">{"Most" if row is causes[0] else "Also"}</span>{escape(text)}.</p>')
    for letter, name, run in zip("AB", names, document["runs"]):
        shape = f"{run['ranks']} rank{'s' if run['ranks'] > 1 else ''}, {run['threads']} threads"
        said = "; ".join(filter(None, (f"{name}: {shape}", " ".join(run["program"]["argv"][1:]))))
        lines.append(f'<p><span class="label">{letter}</span>{escape(said)}</p>')
    return "\n".join(lines)


def _cause(name: str) -> str:
    return name.replace("_body", "").replace("_", ", ", 1).replace("_", " ")


def comparison(document: Document) -> str:
    first, second = document["runs"]
    totals = [Row((words(text), time(first[f"{key}_ns"]), time(second[f"{key}_ns"]), ratio(document["ratios"][key])))
              for key, text in TOTALS if first[f"{key}_ns"] or second[f"{key}_ns"]]  # fmt: skip
    causes = [Row((words(_cause(row["name"])), time(row["first_ns"]), time(row["second_ns"]),
                   _more(row["second_ns"] - row["first_ns"]))) for row in document["causes"]]  # fmt: skip
    kinds = [Row((words(row["name"]), *map(number, row["tasks"]), *map(time, row["work_ns"]),
                  _more(row["work_ns"][1] - row["work_ns"][0]), ratio(row["work_ratio"]),
                  ratio(row["work_per_task_ratio"]))) for row in document["kinds"]]  # fmt: skip
    sent = [Row((words(row["name"]), *map(number, row["messages"]), *map(time, row["communication_ns"]),
                 ratio(row["communication_ratio"]))) for row in document["kinds"] if any(row["messages"])]  # fmt: skip
    return "".join((
        table("totals", "In all", ("", "A", "B", "B / A"), totals),
        table("causes", "What threads did", ("", "A", "B", "change"), causes),
        table("kinds", "Work by kind of task", ("kind", "tasks A", "tasks B", "work A", "work B", "change", "B / A",
                                                "each, B / A"), kinds),
        table("calls", "Messages by kind of task", ("sent by", "messages A", "messages B", "under way A", "under way B",
                                                    "B / A"), sent),
    ))  # fmt: skip


def ratio(value: float | None) -> Cell:
    """Marked where it is more than a little from 1."""
    if value is None:
        return Cell("-", 0.0)
    mark = " \u25b2" if value > 1 + SAME else " \u25bc" if value < 1 - SAME else ""
    return Cell(f"{value:.2f}{mark}", value)


def _more(change: int) -> Cell:
    return Cell(("+" if change > 0 else "") + duration(change), change)


# More runs --------------------------------------------------------------------------------------------------------


def _scaling_verdict(document: Document, names: Sequence[str]) -> str:
    """The factor that is least in the last run."""
    first, last = document["runs"][0], document["runs"][-1]
    leaves = [(value, title) for depth, title, path in FACTORS if depth
              and (value := _value(last["efficiency"], path)) is not None]  # fmt: skip
    least = min(leaves, default=(1.0, "nothing"))
    text = (f"{last['threads']} threads are {last['speedup']:.2f} times as fast as {first['threads']}; what is least "
            f"there is {least[1]}: {100 * least[0]:.1f} %")  # fmt: skip
    return f'<p class="loss"><span class="label">Scaling</span>{escape(text)}.</p>'


def scaling(document: Document, names: Sequence[str]) -> str:
    """POP's table, with the colour of each efficiency."""
    runs = document["runs"]
    head = "".join(f'<th scope="col" class="n">{escape(Path(name).name)}</th>' for name in names)
    rows = [_line("ranks, threads", [f"{run['ranks']}, {run['threads']}" for run in runs]),
            _line("makespan", [duration(run["makespan_ns"]) for run in runs]),
            _line("speedup", [f"{run['speedup']:.2f}" for run in runs])]  # fmt: skip
    for depth, title, path in FACTORS:
        values = [_value(run["efficiency"], path) for run in runs]
        if any(value is not None for value in values):
            rows.append(_line(title, ["-" if value is None else f"{100 * value:.1f} %" for value in values], depth,
                              [_level(value) for value in values]))  # fmt: skip
    return ('<section class="card" id="kinds"><h3>Efficiencies, relative to the first run</h3><div class="scroll">'
            f'<table aria-label="efficiencies"><thead><tr><th></th>{head}</tr></thead><tbody>' + "".join(rows)
            + "</tbody></table></div><p class=note>Good: 90 % and more; fair: 80 % and more; poor: less.</p></section>"
            + '<figure class="card"><h3>Speedup</h3><div id="plot-speedup" class="plot"></div></figure>'
            + '<figure class="card"><h3>Efficiency</h3><div id="plot-efficiency" class="plot"></div></figure>')


def _line(title: str, values: Sequence[str], depth: int = 0, levels: Sequence[str] = ()) -> str:
    classes = [f"n level {level}" if level else "n" for level in levels or [""] * len(values)]
    cells = "".join(f'<td class="{one}">{escape(value)}</td>' for one, value in zip(classes, values))
    return f'<tr><th scope="row" style="padding-left:{10 + 16 * depth}px">{escape(title)}</th>{cells}</tr>'


def _level(value: float | None) -> str:
    return "" if value is None else "good" if value >= GOOD else "fair" if value >= FAIR else "poor"


def _value(efficiency: Document, path: Sequence[str]) -> float | None:
    found: Any = efficiency
    for name in path:
        found = found.get(name) if found else None
    return found


def _plotted(document: Document) -> Document:
    runs = document["runs"]
    order = sorted(range(len(runs)), key=lambda at: runs[at]["threads"])
    runs = [runs[at] for at in order]
    threads = [run["threads"] for run in runs]
    speedup = [{"name": "speedup", "values": [run["speedup"] for run in runs]},
               {"name": "ideal", "values": [one / threads[0] for one in threads], "dashed": True}]
    lines = [{"name": title, "values": [_percent(_value(run["efficiency"], path)) for run in runs]}
             for depth, title, path in FACTORS if depth < 2]  # fmt: skip
    return {"plots": [{"id": "plot-speedup", "x": threads, "on": "threads", "unit": "", "lines": speedup},
                      {"id": "plot-efficiency", "x": threads, "on": "threads", "unit": "%", "lines": lines}]}


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
