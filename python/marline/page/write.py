# SPDX-License-Identifier: Apache-2.0
"""Puts the page together: text and tables as HTML, which need no script; the timeline's data, compressed; our scripts,
and the library that draws the plots. One file, which asks for nothing from outside."""

from __future__ import annotations

import json
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
from .choice import MOST_BARS, choose
from .encode import DIFFERENCES, SIGNED, ColumnFile
from .html import jump
from .levels import make_levels
from .sections import flame
from .styles import Styles, find_styles
from .template import fill, scripts

MOST_BYTES = 5_000_000
LEAST_FOR_LEVELS = 2000  # bars: fewer are drawn one by one, however far away
_SCRIPTS = ("format.js", "tables.js", "data.js", "scene.js", "gantt.js", "overlays.js", "frame.js", "details.js",
            "plots.js", "flame.js", "page.js")


def write_page(of: Analysis, document: dict[str, Any], path: str | Path, full: bool = False) -> list[str]:
    """Returns in words what was written, and what the page leaves out."""
    styles = find_styles(of)
    timeline = make_timeline(of, styles)
    most = len(timeline.layers["main"].lane) if full else MOST_BARS
    while True:
        data, meta, left_out = _data(of, timeline, styles, most, full)
        meta["known_graph"] = document["known_graph"]
        page = _page(of, document, timeline, data, meta, left_out)
        # The critical path and the longest bars are kept anyway: where they are most, a smaller choice changes little.
        if full or len(page) <= MOST_BYTES or meta["bars"] > 1.2 * most:
            break
        most //= 2
    Path(path).write_text(page, encoding="utf-8")
    return ["open it in a browser", *left_out]


def _data(of: Analysis, timeline: Timeline, styles: Styles, most: int,
          full: bool) -> tuple[str, dict[str, Any], list[str]]:  # fmt: skip
    """Columns, what the page must know to read them, and what they leave out."""
    columns, mark, left_out = ColumnFile(), links.marks(of), list(timeline.left_out)
    begin, end = _span(of, timeline)
    main = timeline.layers["main"]
    chosen = choose(main, mark > 0, most, begin, end)
    if len(chosen.rows) < len(main.lane):
        left_out.append(f"{len(main.lane) - len(chosen.rows):,} of {len(main.lane):,} bars are there only from afar, "
                        "added up: --full keeps all")  # fmt: skip
    has_bars = np.zeros(len(mark) + 1, dtype=bool)
    has_bars[main.task[chosen.rows]] = True  # the last one: no task
    kept = np.flatnonzero(has_bars[:-1])
    layers = {}
    most_beside = max(len(bars.lane) for bars in timeline.layers.values()) if full else most // 4
    for name, bars in timeline.layers.items():
        levels = []
        if name == "main" and len(bars.lane) > LEAST_FOR_LEVELS:
            levels = make_levels(bars, len(timeline.lanes.all), len(styles.document()), begin, end)
        rows = chosen.rows if name == "main" else choose(bars, mark > 0, most_beside, begin, end).rows
        if len(rows) < len(bars.lane) and name != "main":
            left_out.append(f"{len(bars.lane) - len(rows):,} of {len(bars.lane):,} MPI calls that hold their thread")
        _add_bars(columns, name, bars.take(rows), begin, kept)
        layers[name] = [{"parts": level.parts} for level in levels]
        for number, level in enumerate(levels):
            columns.add(f"{name}.{number}.cell", level.cell, DIFFERENCES)
            columns.add(f"{name}.{number}.style", level.style)
            columns.add(f"{name}.{number}.share", level.share)
    _add_tasks(of, columns, kept, mark)
    left_out += _add_links(of, columns, timeline, kept, mark, begin, full)
    flame_names = flame.add_flame(of, columns)
    edges = of["breakdown"].edges
    return columns.text(), {
        "begin": begin, "end": end, "home": [int(edges[0]), int(edges[-1])], "nested": MOST_NESTED,
        "lanes": [vars(lane) for lane in timeline.lanes.all], "names": timeline.names.texts,
        "styles": styles.document(), "layers": layers, "whole": chosen.windows, "bars": len(chosen.rows),
        "edges": [kind.text for kind in EDGE_KINDS], "columns": columns.directory,
        "breakdown": over_time.breakdown(of), "levels": over_time.levels(of), "grain": of.document("graph")["grain"],
        "flame": flame_names,
    }, left_out  # fmt: skip


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


def _add_tasks(of: Analysis, columns: ColumnFile, kept: np.ndarray, mark: np.ndarray) -> None:
    """Of a task that never started, all times are those of its creation."""
    tasks, ready, found = of["tasks"], of["readiness"], of["critical_path"]
    start = np.where(tasks.start >= 0, tasks.start, tasks.created)[kept]
    columns.add("task.number", kept, DIFFERENCES)
    columns.add("task.kind", of["kinds"].of_task[kept])
    columns.add("task.mark", mark[kept])
    columns.add("task.created", start - tasks.created[kept], SIGNED)  # before it started
    columns.add("task.ready", start - np.minimum(ready.time[kept], start), SIGNED)
    columns.add("task.running", tasks.running[kept])
    columns.add("task.slack", found.slack[kept], SIGNED)


def _add_links(of: Analysis, columns: ColumnFile, timeline: Timeline, kept: np.ndarray, mark: np.ndarray, begin: int,
               full: bool) -> list[str]:  # fmt: skip
    chain, short = links.find_chain(of, timeline.lanes)
    columns.add("chain.start", chain.start - begin, DIFFERENCES)
    columns.add("chain.time", chain.end - chain.start, SIGNED)
    for name in ("lane", "to_lane", "kind"):
        columns.add(f"chain.{name}", getattr(chain, name), SIGNED)
    edges = links.find_dependences(of, kept, mark, full)
    columns.add("edge.sink", edges.sink, DIFFERENCES)
    columns.add("edge.back", edges.sink - edges.source, SIGNED)
    messages = links.find_messages(of, timeline.lanes, kept, full)
    columns.add("message.start", messages.start - begin, DIFFERENCES)
    columns.add("message.time", messages.end - messages.start, SIGNED)
    for name in ("lane", "to_lane", "task", "to_task", "bytes"):
        columns.add(f"message.{name}", getattr(messages, name), SIGNED)
    counts = ((short, "short steps of what bounded the run"), (edges.left_out, "arrows of dependences"),
              (messages.left_out, "messages"))  # fmt: skip
    return [f"without {count:,} {what}" for count, what in counts if count]


def _page(of: Analysis, document: dict[str, Any], timeline: Timeline, data: str, meta: dict[str, Any],
          left_out: list[str]) -> str:  # fmt: skip
    title = " ".join([Path(document["program"]["exe"]).name, *document["program"]["argv"][1:]])
    parts = {
        "title": escape(title or "trace"),
        "about": escape(report_text.header(document).plain.partition("\n")[2]),
        "verdict": _verdict(of, document, timeline.lanes),
        "figures": _figures(document) + further.cards(document),
        "flame": flame.section(document),
        "tables": tables.all_tables(of, document, timeline.lanes),
        "left_out": "".join(f"<li>{escape(text)}</li>" for text in left_out) or "<li>nothing</li>",
        "meta": json.dumps(meta, separators=(",", ":")).replace("<", "\\u003c"),
        "data": data,
        "script": scripts(*_SCRIPTS),
    }
    return fill("page.html", parts)


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
            expected = what_if.expected_text(first["expected"])
            lines.append(f'<p><span class="label">Expected</span>{escape(expected)}.</p>')
        if others:
            items = "".join(f'<li>{_sentence(cause["text"])} {show(cause)}<br><span class="advice">'
                            f'{_sentence(cause["advice"])}</span></li>' for cause in others)  # fmt: skip
            lines.append(f"<details><summary>{len(others)} smaller loss{'es' if len(others) > 1 else ''}</summary>"
                         f"<ol>{items}</ol></details>")  # fmt: skip
    else:
        lines.append('<p class="loss"><span class="label">Biggest loss</span>None of 1 % of thread time or more.</p>')
    for title, text in report_text.bounds(document["critical_path"], len(document["ranks"])):
        lines.append(f'<p><span class="label">{title.capitalize()}</span>{escape(text)}.</p>')
    for title, key in (("Incomplete", "incomplete"), ("Remark", "remarks")):
        lines += [f'<p><span class="label">{title}</span>{_sentence(text)}</p>' for text in document[key]]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return escape(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))


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
               ("overhead", percent(total["overhead_ns"], whole), "outside of tasks, while some were ready")]
    per_thread = [row["work_ns"] / row["threads"] for row in document["ranks"]]
    if len(per_thread) > 1 and max(per_thread):
        balance = sum(row["work_ns"] for row in document["ranks"]) / total["threads"] / max(per_thread)
        figures.append(("balance of ranks", percent(balance, 1), "mean work per thread, of the most of any rank"))
    if path["least_ns"]:
        figures.append(("least time", duration(path["least_ns"]), "for the same work, divided as it is, on as many "
                        "threads"))  # fmt: skip
        limit = "" if path["span_ns"] == path["path_ns"] else ", if MPI took no time"
        figures.append(("parallelism", f"{path['parallelism']:.1f}", f"threads can work at a time, on average{limit}"))
    boxes = "".join(f'<div class="figure {name.replace(" ", "-")}"><dt>{name}</dt><dd>{value}</dd>'
                    f"<dd class=what>{escape(what)}</dd></div>" for name, value, what in figures)
    return f"<dl class=figures>{boxes}</dl>{_bar(total, whole)}"


def _bar(total: dict[str, Any], whole: int) -> str:
    parts = "".join(f'<span class="{name}" style="width:{100 * total[f"{name}_ns"] / max(whole, 1):.2f}%"></span>'
                    for name in ("work", "idle", "overhead"))  # fmt: skip
    return f'<div class="whole" role="img" aria-label="work, idle and overhead as one bar">{parts}</div>'
