# SPDX-License-Identifier: Apache-2.0
"""Puts the page together: text and tables as HTML, which need no script; the timeline's data, compressed; our scripts,
and the library that draws the plots. One file, which asks for nothing from outside."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from marline.report import text as report_text
from marline.report import what_if
from marline.trace.analysis import Analysis
from marline.trace.global_graph.edges import EDGE_KINDS
from marline.units import duration, percent

from . import further, links, over_time, places, tables
from .bars import MOST_NESTED, Bars, Lanes, Timeline, make_timeline
from .choice import MOST_BARS, Choice, choose
from .encode import DIFFERENCES, SIGNED, ColumnFile
from .html import jump
from .iterations import find_iterations
from .levels import Level, make_levels
from .plots import documents, figures
from .sections import flame
from .styles import find_styles
from .template import fill, scripts

MOST_BYTES = 5_000_000
FEWEST_BARS = 1000  # a page of fewer would not be smaller: what is left is text
LEAST_FOR_LEVELS = 2000  # bars: fewer are drawn one by one, however far away
_SCRIPTS = ("format.js", "tables.js", "data.js", "scene.js", "gantt.js", "overlays.js", "frame.js", "details.js",
            "plots.js", "flame.js", "page.js")


def write_page(of: Analysis, document: dict[str, Any], path: str | Path, full: bool = False,
               color_by: str | None = None) -> list[str]:  # fmt: skip
    """Returns in words what was written, and what the page leaves out."""
    run = _Run(of, color_by)
    plots, without = over_time.all_plots(of, document, run.styles)
    parts = _parts(of, document, run) | {"plots": figures(plots)}
    most = MOST_BARS
    while True:
        data, meta, left_out = _data(run, None if full else most)
        left_out += without
        page = _page(parts, data, meta | {"plots": documents(plots)}, left_out)
        size = len(page.encode())
        if full or size <= MOST_BYTES or most <= FEWEST_BARS:
            break
        most = max(int(0.9 * most * MOST_BYTES / size), FEWEST_BARS)
    Path(path).write_text(page, encoding="utf-8")
    return ["open it in a browser", *left_out]


class _Run:
    """What a page is made from, however much of it the page holds. `iteration`, `mark`: by row of tasks."""

    def __init__(self, of: Analysis, color_by: str | None) -> None:
        self.of, self.styles = of, find_styles(of)
        self.iteration = find_iterations(of, color_by)
        self.timeline = make_timeline(of, self.styles)
        self.styles.add_iterations(self.iteration)
        self.mark = links.marks(of)
        self.begin, self.end = _span(of, self.timeline)
        self.levels = self._levels()

    def _levels(self) -> dict[str, list[Level]]:
        """From afar, by kind of task and, where there are iterations, by these."""
        main, lanes = self.timeline.layers["main"], len(self.timeline.lanes.all)
        found: dict[str, list[Level]] = {name: [] for name in (*self.timeline.layers, "iterations")}
        if len(main.lane) > LEAST_FOR_LEVELS:
            number = len(self.styles.document())
            found["main"] = make_levels(main, lanes, number, self.begin, self.end)
            if self.styles.iterations:
                colored = replace(main, style=self.styles.by_iteration(main.style, main.task, self.iteration))
                found["iterations"] = make_levels(colored, lanes, number, self.begin, self.end)
        return found

    def choose(self, most: int | None) -> dict[str, Choice]:
        """The bars of each layer. `most`: None: all."""
        layers = self.timeline.layers
        most_of = {name: len(bars.lane) if most is None else most if name == "main" else most // 4
                   for name, bars in layers.items()}  # fmt: skip
        return {name: choose(bars, self.mark > 0, most_of[name], self.begin, self.end) for name, bars in layers.items()}


def _data(run: _Run, most: int | None) -> tuple[str, dict[str, Any], list[str]]:
    """Columns, what the page must know to read them, and what they leave out. `most`: bars, None: all."""
    of, timeline, chosen = run.of, run.timeline, run.choose(most)
    columns, left_out = ColumnFile(), [*timeline.left_out, *_said(timeline, chosen)]
    shown = replace(timeline, layers={name: bars.take(chosen[name].rows) for name, bars in timeline.layers.items()})
    names = shown.name_texts()
    has_bars = np.zeros(len(run.mark) + 1, dtype=bool)
    has_bars[shown.layers["main"].task] = True  # the last one: no task
    kept = np.flatnonzero(has_bars[:-1])
    for name, bars in shown.layers.items():
        _add_bars(columns, name, bars, run.begin, kept)
    for name, levels in run.levels.items():
        _add_levels(columns, name, levels)
    _add_tasks(run, columns, kept)
    # Without a limit there are links enough for all that a trace can have.
    left_out += _add_links(run, columns, kept, 1 << 40 if most is None else most)
    flame_names = flame.add_flame(of, columns)
    edges = of["breakdown"].edges
    return columns.text(), {
        "begin": run.begin, "end": run.end, "home": [int(edges[0]), int(edges[-1])], "nested": MOST_NESTED,
        "lanes": [vars(lane) for lane in timeline.lanes.all], "names": names, "styles": run.styles.document(),
        "levels": {name: [level.parts for level in levels] for name, levels in run.levels.items()},
        "whole": chosen["main"].windows, "edges": [kind.text for kind in EDGE_KINDS], "columns": columns.directory,
        "iterations": len(run.styles.iterations), "overview": over_time.overview(of),
        "flame": flame_names,
    }, left_out  # fmt: skip


def _said(timeline: Timeline, chosen: dict[str, Choice]) -> list[str]:
    """What a choice of bars leaves out, in words."""
    lines = []
    for name, what in (("main", "bars are there only from afar, added up: --full keeps all"),
                       ("calls", "MPI calls that hold their thread"), ("regions", "loops and regions")):  # fmt: skip
        total, rows = len(timeline.layers[name].lane), len(chosen[name].rows)
        if rows < total:
            lines.append(f"{total - rows:,} of {total:,} {what}")
    if chosen["main"].left_out:
        lines.append(f"among these {chosen['main'].left_out:,} bars of the critical path, or of what bounded the run")
    return lines


def _add_levels(columns: ColumnFile, name: str, levels: list[Level]) -> None:
    for number, level in enumerate(levels):
        columns.add(f"{name}.{number}.cell", level.cell, DIFFERENCES)
        columns.add(f"{name}.{number}.style", level.style)
        columns.add(f"{name}.{number}.share", level.share)


def _span(of: Analysis, timeline: Timeline) -> tuple[int, int]:
    """Everything that is drawn."""
    edges, bars = of["breakdown"].edges, timeline.layers.values()
    begin = min([int(edges[0]), *(int(one.start.min()) for one in bars if len(one.start))])
    return begin, max([int(edges[-1]), begin + 1, *(int(one.end.max()) for one in bars if len(one.end))])


def _add_bars(columns: ColumnFile, name: str, bars: Bars, begin: int, kept: np.ndarray) -> None:
    columns.add(f"{name}.lane", bars.lane, DIFFERENCES)
    columns.add(f"{name}.start", bars.start - begin, DIFFERENCES)
    columns.add(f"{name}.time", bars.end - bars.start)
    columns.add(f"{name}.style", bars.style)
    at = np.searchsorted(kept, bars.task)
    known = (at < len(kept)) & (bars.task >= 0)
    known[known] = kept[at[known]] == bars.task[known]
    columns.add(f"{name}.task", np.where(known, at, -1), DIFFERENCES)
    columns.add(f"{name}.name", bars.name, SIGNED)
    columns.add(f"{name}.bytes", bars.note)


def _add_tasks(run: _Run, columns: ColumnFile, kept: np.ndarray) -> None:
    """Of a task that never started, all times are those of its creation."""
    of, styles = run.of, run.styles
    tasks, ready, found = of["tasks"], of["readiness"], of["critical_path"]
    start = np.where(tasks.start >= 0, tasks.start, tasks.created)[kept]
    columns.add("task.number", kept, DIFFERENCES)
    columns.add("task.kind", styles.of_kind[of["kinds"].of_task[kept]])
    columns.add("task.mark", run.mark[kept])
    columns.add("task.created", start - tasks.created[kept], SIGNED)  # before it started
    columns.add("task.ready", start - np.minimum(ready.time[kept], start), SIGNED)
    columns.add("task.running", tasks.running[kept])
    columns.add("task.slack", found.slack[kept], SIGNED)
    columns.add("task.iteration", run.iteration[kept] if styles.iterations else np.zeros(0, dtype=np.int64))


def _add_links(run: _Run, columns: ColumnFile, kept: np.ndarray, bars: int) -> list[str]:
    """`bars`: how many the page may hold."""
    of, timeline, mark, begin = run.of, run.timeline, run.mark, run.begin
    chain, short = links.find_chain(of, timeline.lanes, bars)
    columns.add("chain.start", chain.start - begin, DIFFERENCES)
    columns.add("chain.time", chain.end - chain.start, SIGNED)
    for name in ("lane", "to_lane", "kind"):
        columns.add(f"chain.{name}", getattr(chain, name), SIGNED)
    edges = links.find_dependences(of, kept, mark, bars)
    columns.add("edge.sink", edges.sink, DIFFERENCES)
    columns.add("edge.back", edges.sink - edges.source, SIGNED)
    messages = links.find_messages(of, timeline.lanes, kept, bars)
    columns.add("message.start", messages.start - begin, DIFFERENCES)
    columns.add("message.time", messages.end - messages.start, SIGNED)
    for name in ("lane", "to_lane", "task", "to_task", "bytes"):
        columns.add(f"message.{name}", getattr(messages, name), SIGNED)
    counts = ((short, "short steps of what bounded the run"), (edges.left_out, "arrows of dependences"),
              (messages.left_out, "messages"))  # fmt: skip
    return [f"without {count:,} {what}" for count, what in counts if count]


def _parts(of: Analysis, document: dict[str, Any], run: _Run) -> dict[str, str]:
    """What needs no script."""
    title = " ".join([Path(document["program"]["exe"]).name, *document["program"]["argv"][1:]])
    return {
        "title": escape(title or "trace"),
        "about": escape(report_text.header(document).plain.partition("\n")[2]),
        "verdict": _verdict(of, document, run.timeline.lanes),
        "figures": _figures(document) + further.cards(document),
        "flame": flame.section(document),
        "tables": tables.all_tables(of, document, run.timeline, run.styles),
    }


def _page(parts: dict[str, str], data: str, meta: dict[str, Any], left_out: list[str]) -> str:
    return fill("page.html", parts | {
        "left_out": "".join(f"<li>{escape(text)}</li>" for text in left_out) or "<li>nothing</li>",
        "meta": json.dumps(meta, separators=(",", ":")).replace("<", "\\u003c"),
        "data": data,
        "script": scripts(*_SCRIPTS),
    })  # fmt: skip


def _verdict(of: Analysis, document: dict[str, Any], lanes: Lanes) -> str:
    """What the text says: the biggest loss, what to try, what makes the numbers doubtful; further losses are folded."""

    def show(cause: dict[str, Any]) -> str:
        place = places.of_cause(of, cause["name"], document["loops"]["constructs"], lanes)
        return jump(place, "show where", "where most of it is lost")

    causes = document["causes"]
    lines = []
    if causes:
        first, *others = causes
        lines.append(f'<p class="loss"><span class="label">Biggest loss</span>{_sentence(first["text"])} '
                     f"{show(first)}</p>")  # fmt: skip
        lines.append(f'<p class="try"><span class="label">Try next</span>{_sentence(first["advice"])}</p>')
        if "expected" in first:
            expected = first["expected"]
            lines.append(f'<p><span class="label">Expected</span>{escape(what_if.expected_text(expected))} '
                         f"<code>{escape(expected['command'])}</code></p>")  # fmt: skip
        if others:
            items = "".join(f'<li>{_sentence(cause["text"])} {show(cause)}<br><span class="advice">'
                            f'{_sentence(cause["advice"])}</span></li>' for cause in others)  # fmt: skip
            lines.append(f"<details><summary>{len(others)} smaller loss{'es' if len(others) > 1 else ''}</summary>"
                         f"<ol>{items}</ol></details>")  # fmt: skip
    else:
        lines.append('<p class="loss"><span class="label">Biggest loss</span>None of 1 % of thread time or more.</p>')
    all_ranks = not document["program"]["ranks_left_out"]
    if not all_ranks:
        lines += [f'<p><span class="label">{title.capitalize()}</span>{_sentence(text)}</p>'
                  for title, text in report_text.of_all_ranks(document)]  # fmt: skip
    steps = places.longest_steps(of, lanes) if all_ranks else {}
    path = document["critical_path"]
    for title, text in report_text.bounds(path, len(document["ranks"])) if all_ranks else ():
        place = steps.get(path["chain"][0]["name"]) if title == "bounded by" else None
        where = " " + jump(place, "show where", "the longest step of its largest part") if place else ""
        lines.append(f'<p><span class="label">{title.capitalize()}</span>{escape(text)}.{where}</p>')
    for title, key in (("Incomplete", "incomplete"), ("Remark", "remarks")):
        lines += [f'<p><span class="label">{title}</span>{_sentence(text)}</p>' for text in document[key]]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return escape(text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else "."))


def _figures(document: dict[str, Any]) -> str:
    """How thread time divides, and how far the run is from what its graph allows."""
    total, path = document["total"], document["critical_path"]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    tasks = document["graph"]["tasks"]
    threads = f"on {total['threads']} thread{'s' * (total['threads'] > 1)}"
    figures = [("makespan", duration(total["makespan_ns"]), threads),
               ("work", percent(total["work_ns"], whole), "of thread time, in task bodies" if tasks else
                "of thread time, in its code"),
               ("idle", percent(total["idle_ns"], whole), "no task was ready" if tasks else
                "in MPI, in waits, or without work"),
               *([("overhead", percent(total["overhead_ns"], whole), "outside of tasks, while some were ready")]
                 if tasks else [])]  # fmt: skip
    per_thread = [row["work_ns"] / row["threads"] for row in document["ranks"]]
    if len(per_thread) > 1 and max(per_thread):
        balance = sum(row["work_ns"] for row in document["ranks"]) / total["threads"] / max(per_thread)
        figures.append(("balance of ranks", percent(balance, 1), "mean work per thread, of the most of any rank"))
    if path["least_ns"] and not document["program"]["ranks_left_out"]:
        figures.append(("least time", duration(path["least_ns"]), "for these tasks, on as many threads") if tasks else
                       ("least time", duration(document["bounds"]["all_busy_ns"]), "for the same work on as many "
                        "threads, if none ever waited"))  # fmt: skip
        limit = "" if tasks else ", divided as it is"
        limit += "" if path["span_ns"] == path["path_ns"] else ", if MPI took no time"
        devices = " and devices" if path["on_devices_ns"] else ""
        figures.append(("parallelism", f"{path['parallelism']:.1f}",
                        f"threads{devices} can work at a time, on average{limit}"))
    boxes = "".join(f'<div class="figure {name.replace(" ", "-")}"><dt>{name}</dt><dd>{value}</dd>'
                    f"<dd class=what>{escape(what)}</dd></div>" for name, value, what in figures)
    return f"<dl class=figures>{boxes}</dl>{_bar(total, whole)}"


def _bar(total: dict[str, Any], whole: int) -> str:
    parts = "".join(f'<span class="{name}" style="width:{100 * total[f"{name}_ns"] / max(whole, 1):.2f}%"></span>'
                    for name in ("work", "idle", "overhead"))  # fmt: skip
    return f'<div class="whole" role="img" aria-label="work, idle and overhead as one bar">{parts}</div>'
