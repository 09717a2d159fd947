# SPDX-License-Identifier: Apache-2.0
"""Draws a Picture as a Gantt chart with Matplotlib, as pixels (PNG) or as vectors (SVG).

One lane per thread, filled where a task runs, in the colour of its kind. Below each rank's threads, thinner lanes for
MPI calls whose task is suspended: they lie under what the threads run meanwhile. A chart has no more bars than it has
columns: where a trace has more, bars shorter than a column are gathered, and a line of text under the chart says so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .events import CALL_NUMBER, MPI_CALLS
from .picture import Picture

_MOST_LANES = 24  # of suspended calls drawn per rank; a line of text counts the rest
_MOST_KINDS = 14  # in the legend
_PNG_COLUMNS, _SVG_COLUMNS = 4000, 1000
_THREAD_HEIGHT, _LANE_HEIGHT, _RANK_GAP = 1.0, 0.45, 0.8
_SENDS = {number for name, number in CALL_NUMBER.items() if "end" in name and name != "MPI_Sendrecv"}
_SEND_COLOR, _RECEIVE_COLOR, _OTHER_COLOR = "#e08214", "#5e3c99", "#80cdc1"
_WAIT_COLOR, _IMPLICIT_COLOR, _BUSY_CALL_COLOR = "#eeeeee", "#c8c8c8", "#222222"


class _Rows:
    """Where each thread and lane stands: y grows downwards."""

    def __init__(self, picture: Picture) -> None:
        self.thread: dict[tuple[int, int], float] = {}
        self.lane: dict[tuple[int, int], float] = {}
        self.ticks: list[tuple[float, str]] = []
        self.hidden: dict[int, tuple[float, int]] = {}
        y = 0.0
        for rank in picture.trace.ranks:
            for number, thread in enumerate(_threads_with_work(picture, rank)):
                self.thread[rank, thread] = y
                self.ticks.append((y + _THREAD_HEIGHT / 2, f"rank {rank} thread {number}"))
                y += _THREAD_HEIGHT
            lanes = picture.lane_of_call[picture.calls.rank[picture.suspended_calls] == rank]
            count = int(lanes.max()) + 1 if lanes.size else 0
            shown = min(count, _MOST_LANES)
            for lane in range(shown):
                self.lane[rank, lane] = y + lane * _LANE_HEIGHT
            if shown:
                self.ticks.append((y + shown * _LANE_HEIGHT / 2, f"rank {rank} suspended\nin MPI"))
            y += shown * _LANE_HEIGHT
            if count > shown:
                self.hidden[rank] = (y + _RANK_GAP / 2, count - shown)
            y += _RANK_GAP
        self.height = y


def _threads_with_work(picture: Picture, rank: int) -> list[int]:
    mine = np.concatenate(
        [picture.runs.thread[picture.runs.rank == rank], picture.calls.start_thread[picture.calls.rank == rank]]
    )
    return np.unique(mine).tolist()


class _Canvas:
    """Axes, and what was gathered to draw on them in bounded time."""

    def __init__(self, axes: Axes, span: tuple[float, float], columns: int) -> None:
        self.axes = axes
        self._first, self._width = span[0], (span[1] - span[0]) / columns
        self._columns = columns
        self.gathered = 0

    def bars(self, start: np.ndarray, end: np.ndarray, y: np.ndarray, height: float, color: str) -> None:
        """Bars of one colour. Many short ones of one row and column become one bar of their summed length, so that
        every row keeps its share of every colour."""
        if len(start) > self._columns:
            start, end, y = self._gather(start.astype(float), end.astype(float), y)
        if not len(start):
            return
        left, right, top, bottom = start / 1e6, end / 1e6, y + 0.06 * height, y + 0.94 * height
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        self.axes.add_collection(PolyCollection(list(corners), facecolors=color, edgecolors="none"))

    def _gather(self, start: np.ndarray, end: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        short = end - start < self._width
        rows, row = np.unique(y[short], return_inverse=True)
        column = np.floor((start[short] - self._first) / self._width).astype(np.int64)
        cells, cell = np.unique(row * (2 * self._columns) + column, return_inverse=True)
        members = np.bincount(cell)
        length = np.bincount(cell, weights=(end - start)[short])
        # Drawn from the place of the first, so that colours which alternate in a column lie beside each other.
        begin = np.full(len(cells), np.inf)
        np.minimum.at(begin, cell, start[short])
        self.gathered += int(members[members > 1].sum())
        place = rows[cells // (2 * self._columns)] if len(rows) else rows
        return (np.concatenate([start[~short], begin]), np.concatenate([end[~short], begin + length]),
                np.concatenate([y[~short], place]))  # fmt: skip

    @property
    def column_us(self) -> float:
        return self._width / 1e3


def _draw_threads(canvas: _Canvas, picture: Picture, rows: _Rows) -> list[Patch]:
    runs = picture.runs
    y = np.array([rows.thread[key] for key in zip(runs.rank.tolist(), runs.thread.tolist())], dtype=float)
    row = picture.tasks.index(runs.task)
    implicit = row < 0
    for chosen, color in ((implicit & ~runs.waits, _IMPLICIT_COLOR), (runs.waits, _WAIT_COLOR)):
        canvas.bars(runs.start[chosen], runs.end[chosen], y[chosen], _THREAD_HEIGHT, color)
    kind = np.full(len(row), -1)
    kind[~implicit] = picture.kind_of_task[row[~implicit]]
    weight = np.zeros(len(picture.kind_names))
    active = (kind >= 0) & ~runs.waits
    np.add.at(weight, kind[active], (runs.end - runs.start)[active])
    legend: list[Patch] = []
    for one in np.argsort(-weight).tolist():
        chosen = active & (kind == one)
        canvas.bars(runs.start[chosen], runs.end[chosen], y[chosen], _THREAD_HEIGHT, picture.kind_colors[one])
        if len(legend) < _MOST_KINDS and chosen.any():
            legend.append(Patch(color=picture.kind_colors[one], label=picture.kind_names[one]))
    return legend


def _draw_calls(canvas: _Canvas, picture: Picture, rows: _Rows) -> list[Patch]:
    calls = picture.calls
    held = np.setdiff1d(np.arange(len(calls.call)), picture.suspended_calls)
    threads = zip(calls.rank[held].tolist(), calls.start_thread[held].tolist())
    y = np.array([rows.thread[key] for key in threads], dtype=float)
    # A call that holds its thread: a dark stripe in the middle of the task's bar.
    canvas.bars(calls.start[held], calls.end[held], y + 0.35, 0.3, _BUSY_CALL_COLOR)
    legend = [Patch(color=_BUSY_CALL_COLOR, label="MPI call that holds its thread")] if len(held) else []
    shown = picture.lane_of_call < _MOST_LANES
    suspended, lane = picture.suspended_calls[shown], picture.lane_of_call[shown]
    y = np.array([rows.lane[key] for key in zip(calls.rank[suspended].tolist(), lane.tolist())], dtype=float)
    colors = np.array([_call_color(number) for number in calls.call[suspended].tolist()], dtype=object)
    for color, label in ((_SEND_COLOR, "suspended in a send"), (_RECEIVE_COLOR, "suspended in a receive"),
                         (_OTHER_COLOR, "suspended in another MPI call")):
        chosen = colors == color
        if chosen.any():
            canvas.bars(calls.start[suspended][chosen], calls.end[suspended][chosen], y[chosen], _LANE_HEIGHT, color)
            legend.append(Patch(color=color, label=label))
    return legend


def _call_color(number: int) -> str:
    if number in _SENDS:
        return _SEND_COLOR
    return _RECEIVE_COLOR if MPI_CALLS.get(number, "") in ("MPI_Recv", "MPI_Probe", "MPI_Sendrecv") else _OTHER_COLOR


def write_png(picture: Picture, path: str | Path, title: str = "") -> list[str]:
    """Draws the whole picture into the PNG file `path`; returns in words what it shows together or not at all."""
    return _write(picture, path, title, "png", _PNG_COLUMNS)


def write_svg(picture: Picture, path: str | Path, title: str = "") -> list[str]:
    """The same as vectors. Coarser where there is much to draw: browsers bear some 10^5 shapes."""
    return _write(picture, path, title, "svg", _SVG_COLUMNS)


def _write(picture: Picture, path: str | Path, title: str, kind: str, columns: int) -> list[str]:
    rows, span = _Rows(picture), _span(picture)
    figure = Figure(figsize=(14, min(1.5 + 0.45 * rows.height, 40)))  # no pyplot: no window system, no global state
    axes = figure.subplots()
    canvas = _Canvas(axes, span, columns)
    legend = _draw_threads(canvas, picture, rows) + _draw_calls(canvas, picture, rows)
    notes = _notes(canvas, rows)
    axes.set_xlim(span[0] / 1e6, span[1] / 1e6)
    axes.set_ylim(max(rows.height, 1.0), 0)
    axes.set_yticks([y for y, _ in rows.ticks], [text for _, text in rows.ticks], fontsize=8)
    for y, count in rows.hidden.values():
        axes.text(span[0] / 1e6, y, f" and {count} more suspended at the same time", fontsize=7, va="center")
    axes.set_xlabel("\n".join(["time [ms]", *notes]))
    axes.set_title(title or _title(picture), fontsize=10)
    axes.legend(handles=legend, fontsize=7, loc="upper left", bbox_to_anchor=(1.005, 1.0), frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, format=kind, dpi=130, bbox_inches="tight")
    return notes


def _notes(canvas: _Canvas, rows: _Rows) -> list[str]:
    notes = []
    if canvas.gathered:
        notes.append(f"{canvas.gathered} bars shorter than {canvas.column_us:.3g} us are drawn together")
    hidden = sum(count for _, count in rows.hidden.values())
    if hidden:
        notes.append(f"{hidden} lanes of suspended calls are not drawn")
    return notes


def _span(picture: Picture) -> tuple[float, float]:
    """The time to show: where there are explicit tasks, as MPI's start and end would squeeze them; else everything."""
    tasks = picture.tasks
    ran = tasks.start >= 0
    if not ran.any():
        return 0.0, max(float(picture.trace.time.max()), 1.0)
    first = float(tasks.start[ran].min())
    unfinished = bool((tasks.end < 0).any())
    last = float(picture.trace.time.max() if unfinished else tasks.end.max())
    margin = 0.02 * max(last - first, 1.0)
    return first - margin, last + margin


def _title(picture: Picture) -> str:
    base = next(iter(picture.trace.ranks.values()))
    program = Path(base.get("exe", "")).name
    ranks, tasks, calls = len(picture.trace.ranks), len(picture.tasks.id), len(picture.calls.call)
    return f"{program}: {ranks} rank(s), {tasks} tasks, {calls} MPI calls"
