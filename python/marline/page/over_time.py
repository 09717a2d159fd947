# SPDX-License-Identifier: Apache-2.0
"""The plots of a run: where thread time went, how many tasks ran, were ready or suspended, the graph that the scheduler
knew, the overlap of messages with work, and how long tasks ran. What is 0 in this run has no line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.passes.lanes import all_lanes
from marline.trace.passes.overlap import WorkOfRanks
from marline.trace.passes.thread_time.causes import CAUSES, PARTS, Cause
from marline.trace.passes.thread_time.states import NEVER
from marline.trace.read.columns import cut, sums
from marline.units import duration

from .plots import AREA, BARS, STEPS, Line, Plot
from .styles import Styles

PARTS_OF_RUN = 300
FEWEST_WINDOWS = 3  # with messages, for a plot of their overlap
MOST_KINDS = 7  # in the plot of the grain
# For a line: per cent of all thread time, which is shown as 0.1 %, or of that of some window.
LEAST, LEAST_OF_WINDOW = 0.05, 5
_SHADES = {"work": (0.0,), "overhead": (0.0, 0.25, 0.45, -0.25, -0.4, 0.6),
           "idle": (0.0, 0.3, -0.22, 0.5, -0.38, 0.15, 0.62, -0.1)}  # fmt: skip

Document = dict[str, Any]


def all_plots(of: Analysis, document: Document, styles: Styles) -> tuple[list[Plot], list[str]]:
    """Plots, and in words those that there is too little for; of what a run has nothing of, a page says nothing."""
    overlapped, left_out = overlap(of)
    found = (breakdown(of), levels(of), known_graph(of, document), overlapped, grain(document, styles))
    return [plot for plot in found if plot is not None and len(plot.x) and plot.lines], left_out


def overview(of: Analysis) -> dict[str, Any]:
    """For the strip above the timeline: of each window the share of each part, in per cent."""
    found = of["breakdown"]
    share = _shares(of)
    parts = {part: np.round(sum((share[number] for number, cause in enumerate(CAUSES) if cause.part == part),
                                start=np.zeros(share.shape[1])), 2).tolist() for part in PARTS}  # fmt: skip
    return {"edges": found.edges.tolist(), "parts": parts}


def _shares(of: Analysis) -> np.ndarray:
    """By cause and window, in per cent of the window's thread time."""
    by_cause = of["breakdown"].time.sum(axis=0)
    return 100 * by_cause.T / np.maximum(by_cause.sum(axis=1), 1)


def breakdown(of: Analysis) -> Plot:
    found, share = of["breakdown"], _shares(of)
    by_cause = found.time.sum(axis=(0, 1))
    whole = 100 * by_cause / max(int(by_cause.sum()), 1)
    lines = []
    for part in PARTS:
        mine = [number for number, cause in enumerate(CAUSES) if cause.part == part
                and (whole[number] >= LEAST or share[number].max() >= LEAST_OF_WINDOW)]  # fmt: skip
        shades = _SHADES[part]
        for place, number in enumerate(mine):
            lines.append(Line(_name(CAUSES[number]), np.round(share[number], 3).tolist(), part, float(whole[number]),
                              CAUSES[number].text, shades[place % len(shades)]))  # fmt: skip
    return Plot("breakdown", "Where thread time goes", "Work, overhead and idle time of all threads, by cause. Point "
                "at a name to read what it counts.", AREA, _starts(of, found.edges), lines, "%")  # fmt: skip


def _name(cause: Cause) -> str:
    return cause.name.replace("_body", "").replace("_", ": ", 1).replace("_", " ")


def _starts(of: Analysis, edges: np.ndarray) -> list[int]:
    """Of windows, since the run began."""
    return (edges[:-1] - int(of["breakdown"].edges[0])).tolist()


def _parts(of: Analysis) -> np.ndarray:
    """Edges of short windows of the breakdown's total."""
    edges = of["breakdown"].edges
    begin, end = int(edges[0]), int(edges[-1])
    return np.unique(begin + ((end - begin) * np.arange(PARTS_OF_RUN + 1)) // PARTS_OF_RUN)


def levels(of: Analysis) -> Plot | None:
    """Means of short windows."""
    tasks, runs, suspensions, ready = of["tasks"], of["segments"], of["suspensions"], of["readiness"]
    edges, threads = _parts(of), len(of["breakdown"].lane_rank)
    works = ~runs.waits & (of["owners"] >= 0)
    waited = tasks.deferred & (ready.time < NEVER)
    started = np.where(tasks.start < 0, int(edges[-1]), tasks.start)
    counts = (
        ("tasks that run", "work", "on a thread, and not waiting", runs.start[works], runs.end[works]),
        ("tasks that are ready", "c-receive", "created, with nothing left to wait for, and no thread has begun them",
         ready.time[waited], started[waited]),
        ("tasks that are suspended", "overhead", "begun, and on no thread until a message or an event comes",
         suspensions.start, suspensions.end),
    )  # fmt: skip
    lines = []
    for name, color, text, start, end in counts:
        mean = _means(edges, start, end)
        if mean.any():
            whole = float((mean * np.diff(edges)).sum() / max(int(edges[-1] - edges[0]), 1))
            lines.append(Line(name, np.round(mean, 3).tolist(), color, whole, text))
    if not lines:
        return None
    level = (float(threads), f"{threads} thread{'s' * (threads > 1)}")
    return Plot("levels", "Tasks over time", "How many run, are ready for a thread, or are suspended. Fewer run than "
                "there are threads: where none is ready, threads lack work; where some are, they do something else.",
                STEPS, _starts(of, edges), lines, level=level)  # fmt: skip


def _means(edges: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    width = np.diff(edges)
    pieces = cut(start, end, edges) if len(width) else None
    if pieces is None:
        return np.zeros(0)
    return sums(pieces.b, (pieces.end - pieces.start).astype(float), len(width)) / np.maximum(width, 1)


def known_graph(of: Analysis, document: Document) -> Plot | None:
    found = document["known_graph"]
    if not found["max_known"]:
        return None
    names = (("tasks known", "known", "idle", "created and not yet ended"),
             ("depth", "depth", "overhead", "so many of them must run one after the other"),
             ("width", "width", "work", "the most of them that could run at a time"))  # fmt: skip
    lines = [Line(name, found[key], color, float(np.mean(found[key])), text) for name, key, color, text in names]
    return Plot("known", "The graph that the scheduler knows", "At the end of each window: the tasks that are created "
                "and have not ended, and the dependences between them. The width says how many threads they can keep "
                "busy: fewer than there are, where tasks are created too late or depend on each other too much.",
                STEPS, _starts(of, of["breakdown"].edges), lines)  # fmt: skip


def overlap(of: Analysis) -> tuple[Plot | None, list[str]]:
    """By window, as the pass `overlap` has it of the whole run. A line of one or two windows cannot be seen."""
    edges = of["breakdown"].edges
    done, possible = overlap_by_window(of, edges)
    known = np.count_nonzero(possible)
    if known < FEWEST_WINDOWS:
        return None, [f"the plot of the overlap of messages with work: messages are under way in {known} of "
                      f"{len(possible)} windows of time only"][: int(known)]  # fmt: skip
    share = [round(100 * one / all_, 3) if all_ else None for one, all_ in zip(done.tolist(), possible.tolist())]
    line = Line("overlap", share, "work", 100 * float(done.sum()) / float(possible.sum()),
                "work of the sender's threads while its messages are under way, of the most that they could do")
    return Plot("overlap", "Overlap of messages with work", "While messages are under way: how much of the time the "
                "threads of the ranks that sent them work. No line: no message is under way.",
                STEPS, _starts(of, edges), [line], "%"), []  # fmt: skip


def overlap_by_window(of: Analysis, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(work while messages were under way, what the threads could have done meanwhile), in ns: for each message."""
    calls, messages, lanes = of["calls"], of["messages"], all_lanes(of.trace, of["segments"], of["calls"])
    windows, work = len(edges) - 1, WorkOfRanks(of)
    sender = calls.rank[messages.send].astype(np.int64)
    start = calls.start[messages.send]
    away = np.flatnonzero(sender != calls.rank[messages.receive])
    away = away[np.argsort(sender[away], kind="stable")]
    pieces = cut(start[away], np.maximum(calls.end[messages.receive], start)[away], edges)
    rank = sender[away][pieces.a]  # in order
    threads = np.bincount(lanes.rank, minlength=int(rank.max(initial=0)) + 1)[rank]
    done = np.zeros(len(rank), dtype=np.int64)
    for one in np.unique(rank).tolist():
        mine = slice(*np.searchsorted(rank, [one, one + 1]))
        of_rank = work.of(one)
        done[mine] = of_rank.until(pieces.end[mine]) - of_rank.until(pieces.start[mine])
    return sums(pieces.b, done, windows), sums(pieces.b, threads * (pieces.end - pieces.start), windows)


def grain(document: Document, styles: Styles) -> Plot | None:
    found = document["graph"]["grain"]
    edges, bins = found["edges_ns"], max(len(found["edges_ns"]) - 1, 0)
    lines = list(_grain_lines(found["kinds"], bins, styles))
    return Plot("grain", "How long tasks run", "Number of tasks by their time on threads. Each bar has tasks of up to "
                "twice the time of the one before.", BARS, list(range(bins)), lines, axis="lasting", whole="sum",
                labels=[duration(edge) for edge in edges])  # fmt: skip


def _grain_lines(kinds: list[Document], bins: int, styles: Styles) -> Iterator[Line]:
    """Of the kinds with most tasks, and of the others together."""
    color = {kind["name"]: kind["color"] for kind in styles.kinds}
    ordered = sorted((kind for kind in kinds if any(kind["tasks"])), key=lambda kind: -sum(kind["tasks"]))
    for kind in ordered[:MOST_KINDS]:
        yield Line(kind["name"], kind["tasks"], color.get(kind["name"], "idle"), sum(kind["tasks"]))
    others = ordered[MOST_KINDS:]
    if others:
        tasks = np.sum([kind["tasks"] for kind in others], axis=0).tolist()
        yield Line(f"{len(others)} other kinds", tasks, "idle", sum(tasks))
