# SPDX-License-Identifier: Apache-2.0
"""The page of several runs: what the second took more than the first, or how far a program scales; from the documents
that `marline report A B --json` and `--scaling --json` print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from marline.report.several.compare import SAME, TOTALS, several_runs
from marline.report.several.runs import ENOUGH_RUNS, chance_text, is_sure
from marline.report.several.scaling import FACTORS, FAIR, GOOD
from marline.units import duration

from ..html import Cell, Row, number, table, time, words
from ..plots import POINTS, Line, Plot, documents, figures
from ..template import fill, scripts

Document = dict[str, Any]
SCRIPTS = ("format.js", "tables.js", "plots.js", "several.js")
LINE_COLORS = ("work", "c-receive", "overhead", "c-region", "c-send", "c-collective")
MOST_INFLATED = 12  # kinds of tasks, as bars


def write_several(document: Document, names: Sequence[str], path: str | Path) -> None:
    """`document`: of a comparison or of a scaling table; `names`: what the runs are called."""
    is_scaling = document["format"].startswith("marline-scaling")
    program = Path(document["runs"][0]["program"]["exe"]).name or "trace"
    plots = scaling_plots(document, names) if is_scaling else []
    parts = {
        "title": escape(f"{program}: {document['scaling']} scaling" if is_scaling else f"{program}: A and B"),
        "about": escape(", ".join(names)),
        "verdict": _scaling_verdict(document, names) if is_scaling else _difference(document, names),
        "tables": (scaling(document, names) if is_scaling else comparison(document)) + figures(plots),
        "meta": json.dumps({"plots": documents(plots)}, separators=(",", ":")).replace("<", "\\u003c"),
        "script": scripts(*SCRIPTS),
    }
    Path(path).write_text(fill("several.html", parts), encoding="utf-8")


# Two runs ---------------------------------------------------------------------------------------------------------


def _difference(document: Document, names: Sequence[str]) -> str:
    """In one sentence how much, and what changed most."""
    first, second = (run["makespan_ns"] for run in document["runs"])
    change = second / first if first else 1.0
    p = document["p"]["makespan"]
    if abs(change - 1) <= SAME:
        how = f"B takes as long as A: {duration(second)}, of {duration(first)}"
    elif change > 1:
        how = f"B takes {change:.2f} times as long as A: {duration(second)}, of {duration(first)}"
    else:
        how = f"B is {1 / change:.2f} times as fast as A: {duration(second)}, of {duration(first)}"
    how += "" if p is None else f". That this is chance is {'unlikely' if is_sure(p) else 'possible'} (p = {p:.2g})"
    lines = [f'<p class="loss"><span class="label">Together</span>{escape(how)}.</p>']
    causes = [row for row in document["causes"] if row["first_ns"] != row["second_ns"] and is_sure(row["p"])][:3]
    for row in causes:
        more = row["second_ns"] - row["first_ns"]
        text = f"{duration(abs(more))} {'more' if more > 0 else 'less'} thread time: {_cause(row['name'])}"
        lines.append(f'<p><span class="label">{"Most" if row is causes[0] else "Also"}</span>{escape(text)}.</p>')
    for letter, name, run in zip("AB", names, document["runs"]):
        shape = ", ".join(f"{run[what]} {what if run[what] > 1 else what[:-1]}" for what in ("ranks", "threads"))
        shape += f", median of {run['count']} runs" if run["count"] > 1 else ""
        said = "; ".join(filter(None, (f"{name}: {shape}", " ".join(run["program"]["argv"][1:]))))
        lines.append(f'<p><span class="label">{letter}</span>{escape(said)}</p>')
    return "\n".join(lines)


def _cause(name: str) -> str:
    return name.replace("_body", "").replace("_", ", ", 1).replace("_", " ")


def comparison(document: Document) -> str:
    several = several_runs(document)
    first, second = document["runs"]
    totals = [Row((words(text), time(first[f"{key}_ns"]), time(second[f"{key}_ns"]),
                   *_judged(document["ratios"][key], document["p"][key], several)))
              for key, text in TOTALS if first[f"{key}_ns"] or second[f"{key}_ns"]]  # fmt: skip
    causes = [Row((words(_cause(row["name"])), time(row["first_ns"]), time(row["second_ns"]),
                   _more(row["second_ns"] - row["first_ns"]), *_chance(row["p"], several)))
              for row in document["causes"]]  # fmt: skip
    kinds = [Row((words(row["name"]), *map(number, row["tasks"]), *map(time, row["work_ns"]),
                  _more(row["work_ns"][1] - row["work_ns"][0]), ratio(row["work_per_task_ratio"], row["p"]),
                  *_judged(row["work_ratio"], row["p"], several))) for row in document["kinds"]]  # fmt: skip
    sent = [Row((words(row["name"]), *map(number, row["messages"]), *map(time, row["communication_ns"]),
                 ratio(row["communication_ratio"]))) for row in document["kinds"] if any(row["messages"])]  # fmt: skip
    last = ("is it chance?",) if several else ()
    note = (f"Medians. Chance: the exact test of Mann and Whitney on both sides' runs; with fewer than {ENOUGH_RUNS} "
            "of each, no difference is sure. Only what is hardly chance has a mark.") if several else ""  # fmt: skip
    return "".join((
        table("totals", "In all", ("", "A", "B", "B / A", *last), totals, note), inflation(document),
        table("causes", "What threads did", ("", "A", "B", "change", *last), causes),
        table("kinds", "Work by kind of task", ("kind", "tasks A", "tasks B", "work A", "work B", "change",
                                                "each, B / A", "B / A", *last), kinds),
        table("messages", "Messages by kind of task", ("sent by", "messages A", "messages B", "under way A",
                                                       "under way B", "B / A"), sent),
        _times(document, "regions", "Regions that the program named", several),
        _times(document, "loops", "Loops and regions by source line", several),
        _times(document, "calls", "MPI calls", several),
    ))  # fmt: skip


def _times(document: Document, name: str, title: str, several: bool) -> str:
    rows = [Row((words(row["name"]), *map(number, row["times"]), *map(time, row["total_ns"]),
                 _more(row["total_ns"][1] - row["total_ns"][0]), *_judged(row["ratio"], row["p"], several)))
            for row in document[name]]  # fmt: skip
    heads = ("name", "times A", "times B", "sum A", "sum B", "change", "B / A",
             *(("is it chance?",) if several else ()))  # fmt: skip
    return table(name, title, heads, rows)


def inflation(document: Document) -> str:
    """How much longer the same work took, of the kinds with most change."""
    some = [row for row in document["kinds"] if row["work_ratio"]][:MOST_INFLATED]
    if not some:
        return ""
    most = max(1.25, *(row["work_ratio"] for row in some))
    rows = "".join(_inflated(row, most) for row in some)
    return ('<section class="card" id="inflation"><h3>Inflation of work, B / A</h3><table class="bars" '
            f'aria-label="inflation of work" style="--one:{100 / most:.1f}%"><tbody>{rows}</tbody></table>'
            '<p class="note">The line is at 1: as much work as in A. Longer: the same tasks took more time, or there '
            "are more of them. Blue: within 5 %, or it may be chance.</p></section>")  # fmt: skip


def _inflated(row: Document, most: float) -> str:
    value = row["work_ratio"]
    level = "plain" if abs(value - 1) <= SAME or not is_sure(row["p"]) else "poor" if value > 1 else "good"
    return (f'<tr><th scope="row">{escape(row["name"])}</th><td class="n">{value:.2f}</td><td class="track one">'
            f'<span class="{level}" style="width:{100 * value / most:.1f}%"></span></td></tr>')  # fmt: skip


def _judged(value: float | None, p: float | None, several: bool) -> tuple[Cell, ...]:
    return (ratio(value, p), *_chance(p, several))


def _chance(p: float | None, several: bool) -> tuple[Cell, ...]:
    return (Cell(chance_text(p), 2.0 if p is None else p),) if several else ()


def ratio(value: float | None, p: float | None = None) -> Cell:
    """Marked where it is more than a little from 1, and not chance."""
    if value is None:
        return Cell("", 0.0)
    mark = "" if not is_sure(p) else " \u25b2" if value > 1 + SAME else " \u25bc" if value < 1 - SAME else ""
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
    same = last["threads"] == first["threads"]
    which = [Path(name).name for name in (names[-1], names[0])]
    who = (f"{which[0]} is {last['speedup']:.2f} times as fast as {which[1]}" if same else
           f"{last['threads']} threads are {last['speedup']:.2f} times as fast as {first['threads']}")  # fmt: skip
    text = f"{who}; what is least there is {least[1]}: {100 * least[0]:.1f} %"
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
            + "</tbody></table></div><p class=note>Good: 90 % and more; fair: 80 % and more; poor: less.</p></section>")


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


def scaling_plots(document: Document, names: Sequence[str]) -> list[Plot]:
    """Over threads or, if several runs have equally many (as of a sweep of the grain), over the runs."""
    runs, common = list(document["runs"]), {"form": POINTS, "whole": "the last"}
    threads = [run["threads"] for run in runs]
    if len(set(threads)) == len(threads):
        runs.sort(key=lambda run: run["threads"])
        threads.sort()
        common |= {"x": threads, "axis": "threads"}
    else:
        common |= {"x": list(range(len(runs))), "axis": "run", "labels": [Path(name).name for name in names]}
    speedup = [run["speedup"] for run in runs]
    lines = [Line(title, [_percent(_value(run["efficiency"], path)) for run in runs], color,
                  _percent(_value(runs[-1]["efficiency"], path)))
             for color, (_, title, path) in zip(LINE_COLORS, [one for one in FACTORS if one[0] < 2])]  # fmt: skip
    ideal = [one / threads[0] for one in threads]
    return [
        Plot("speedup", "Speedup", "Broken: as many times as fast as there are more threads.", lines=[
            Line("speedup", speedup, "work", speedup[-1]), Line("ideal", ideal, "c-receive", ideal[-1], dashed=True),
        ], unit="x", **common),
        Plot("efficiency", "Efficiency", "Relative to the first run.", lines=lines, unit="%", **common),
        *_inflation_plot(runs, common),
    ]  # fmt: skip


def _inflation_plot(runs: Sequence[Document], common: Document) -> list[Plot]:
    """Of the kinds with most work in the first run."""
    first = sorted((row for row in runs[0]["kinds"] if row["work_ns"]), key=lambda row: -row["work_ns"])
    lines = []
    for color, row in zip(LINE_COLORS, first):
        of_run = [{one["name"]: one["work_ns"] for one in run["kinds"]}.get(row["name"]) for run in runs]
        values = [None if one is None else one / row["work_ns"] for one in of_run]
        lines.append(Line(row["name"], values, color, values[-1]))
    return [Plot("inflation", "Inflation of work by kind of task", "The time of all tasks of a kind, of that in the "
                 "first run. Above 1 the same work takes longer, as caches and memory are shared.", lines=lines,
                 unit="x", **common)] if lines else []  # fmt: skip


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
