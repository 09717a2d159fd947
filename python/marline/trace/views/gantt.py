# SPDX-License-Identifier: Apache-2.0
"""Draws a Picture as a Gantt chart with Matplotlib, as pixels (PNG) or as vectors (SVG).

One lane per thread, filled where a task runs, in the colour of its kind. Below each rank's threads, thinner lanes for
MPI calls of suspended tasks, and for the transfers and kernels of each device: they lie under what the threads run
meanwhile. Arrows are transfers from one device to another, as between the nodes of a cluster. A chart has no more
bars than it has columns: where a trace has more, bars shorter than a column are gathered, and a line of text under the
chart says so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...units import duration, size
from ..passes.devices import FROM_DEVICE, KERNEL, SORTS, TO_DEVICE, UPKEEP, WAIT
from ..passes.picture import Picture
from ..read.calls import kind_mask
from ..read.events import CALL_KINDS
from ..thread_numbers import thread_numbers

_MOST_LANES = 24  # of suspended calls drawn per rank; a line of text counts the rest
_MOST_KINDS = 14  # in the legend
_PNG_COLUMNS, _SVG_COLUMNS = 4000, 1000
_THREAD_HEIGHT, _LANE_HEIGHT, _RANK_GAP = 1.0, 0.45, 0.8
_DEVICE_HEIGHT, _DEVICE_GAP = 0.7, 0.3
_MOST_DEVICE_LANES = np.array([4, 8, 2])  # side by side of one device, by sort; what is more lies in the last one
_SEND_COLOR, _RECEIVE_COLOR, _OTHER_COLOR = "#e08214", "#5e3c99", "#80cdc1"
_TO_DEVICE_COLOR, _FROM_DEVICE_COLOR = "#d6604d", "#4393c3"
_UPKEEP_COLOR, _STARVED_COLOR = "#f4a582", "#d9d9d9"
_MOST_ARROWS = 400  # between devices; where there are more, none is drawn, and a line of text counts them
_MOST_LABELS = 12  # arrows that say their bytes
_KERNEL_COLORS = ("#1b7837", "#762a83", "#b8860b", "#2166ac", "#8c510a", "#01665e")
_WAIT_COLOR, _IMPLICIT_COLOR, _BUSY_CALL_COLOR = "#eeeeee", "#c8c8c8", "#222222"


class _Rows:
    """Where each thread and lane stands: y grows downwards."""

    def __init__(self, picture: Picture) -> None:
        self.thread: dict[tuple[int, int], float] = {}
        self.lane: dict[tuple[int, int], float] = {}
        self.device: dict[tuple[int, int, int, int], float] = {}  # rank, device, sort, lane
        self.ticks: list[tuple[float, str]] = []
        self.hidden: dict[int, tuple[float, int]] = {}
        y, numbers = 0.0, thread_numbers(picture.trace)
        for rank in picture.trace.ranks:
            for thread in numbers.in_order(rank, _threads_with_work(picture, rank)):
                self.thread[rank, thread] = y
                self.ticks.append((y + _THREAD_HEIGHT / 2, f"rank {rank} thread {numbers.one(rank, thread)}"))
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
            y = self._add_devices(picture, rank, y) + _RANK_GAP
        self.height = y

    def _add_devices(self, picture: Picture, rank: int, y: float) -> float:
        devices = picture.devices
        for number in np.unique(devices.device[devices.rank == rank]).tolist():
            mine = (devices.rank == rank) & (devices.device == number)
            y += _DEVICE_GAP
            for sort, title in enumerate(SORTS):
                lanes = devices.lane[mine & (devices.sort == sort)]
                count = min(int(lanes.max()) + 1, int(_MOST_DEVICE_LANES[sort])) if lanes.size else 0
                for lane in range(count):
                    self.device[rank, number, sort, lane] = y + lane * _DEVICE_HEIGHT
                if count:
                    self.ticks.append((y + count * _DEVICE_HEIGHT / 2, f"{devices.title(rank, number)} {title}"))
                y += count * _DEVICE_HEIGHT
        return y


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
        self.arrows_left_out = 0

    def bars(self, start: np.ndarray, end: np.ndarray, y: np.ndarray, height: float, color: np.ndarray,
             colors: list[str], edge: str = "none") -> None:  # fmt: skip
        """Bars of rows of `colors`. Many short ones of one row and column become one bar per colour, side by side, of
        their summed length: every row keeps its share of every colour."""
        if len(start) > self._columns:
            start, end, y, color = self._gather(start.astype(float), end.astype(float), y, color)
        left, right, top, bottom = start / 1e6, end / 1e6, y + 0.06 * height, y + 0.94 * height
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        for one in np.unique(color).tolist():
            self.axes.add_collection(
                PolyCollection(list(corners[color == one]), facecolors=colors[one], edgecolors=edge, linewidths=0.3)
            )

    def _gather(self, start: np.ndarray, end: np.ndarray, y: np.ndarray, color: np.ndarray) -> tuple[np.ndarray, ...]:
        short = end - start < self._width
        rows, row = np.unique(y[short], return_inverse=True)
        # Columns -1 and `_columns` are what lies left and right of the chart.
        column = np.clip(np.floor((start[short] - self._first) / self._width), -1, self._columns).astype(np.int64)
        shades = int(color.max()) + 1
        cell = row * (self._columns + 2) + column + 1
        groups, group = np.unique(cell * shades + color[short], return_inverse=True)
        length = np.bincount(group, weights=(end - start)[short])
        members = np.bincount(group)
        self.gathered += int(members[members > 1].sum())
        place, shade = groups // shades, groups % shades
        # Colours of one column lie side by side, from its left edge on.
        is_first = np.r_[True, place[1:] != place[:-1]][: len(place)]
        before = np.cumsum(length) - length
        offset = before - np.repeat(before[is_first], np.diff(np.r_[np.flatnonzero(is_first), len(place)]))
        begin = self._first + (place % (self._columns + 2) - 1) * self._width + offset
        return (np.concatenate([start[~short], begin]), np.concatenate([end[~short], begin + length]),
                np.concatenate([y[~short], rows[place // (self._columns + 2)]]),
                np.concatenate([color[~short], shade]))  # fmt: skip

    @property
    def column_ns(self) -> float:
        return self._width


def _draw_threads(canvas: _Canvas, picture: Picture, rows: _Rows) -> list[Patch]:
    runs, kinds = picture.runs, len(picture.kind_names)
    y = np.array([rows.thread[key] for key in zip(runs.rank.tolist(), runs.thread.tolist())], dtype=float)
    row = picture.tasks.index(runs.task)
    color = np.full(len(row), kinds)  # an implicit task
    color[row >= 0] = picture.kind_of_task[row[row >= 0]]
    color[runs.waits] = kinds + 1
    colors = [*picture.kind_colors, _IMPLICIT_COLOR, _WAIT_COLOR]
    canvas.bars(runs.start, runs.end, y, _THREAD_HEIGHT, color, colors)
    weight = np.bincount(color, weights=runs.end - runs.start, minlength=kinds)[:kinds]
    order = np.arange(kinds) if picture.kinds_have_order else np.argsort(-weight)
    return [Patch(color=picture.kind_colors[one], label=picture.kind_names[one])
            for one in order[weight[order] > 0][:_MOST_KINDS].tolist()]  # fmt: skip


def _draw_calls(canvas: _Canvas, picture: Picture, rows: _Rows) -> list[Patch]:
    calls = picture.calls
    held = np.setdiff1d(np.arange(len(calls.call)), picture.suspended_calls)
    threads = zip(calls.rank[held].tolist(), calls.start_thread[held].tolist())
    y = np.array([rows.thread[key] for key in threads], dtype=float)
    # A call that holds its thread: a dark stripe in the middle of the task's bar.
    canvas.bars(calls.start[held], calls.end[held], y + 0.35, 0.3, np.zeros(len(held), dtype=int), [_BUSY_CALL_COLOR])
    legend = [Patch(color=_BUSY_CALL_COLOR, label="MPI call that holds its thread")] if len(held) else []
    shown = picture.lane_of_call < _MOST_LANES
    suspended, lane = picture.suspended_calls[shown], picture.lane_of_call[shown]
    y = np.array([rows.lane[key] for key in zip(calls.rank[suspended].tolist(), lane.tolist())], dtype=float)
    names = {_SEND_COLOR: "suspended in a send", _RECEIVE_COLOR: "suspended in a receive",
             _OTHER_COLOR: "suspended in another MPI call"}  # fmt: skip
    colors = list(names)
    color = np.array([colors.index(_call_color(number)) for number in calls.call[suspended].tolist()], dtype=int)
    canvas.bars(calls.start[suspended], calls.end[suspended], y, _LANE_HEIGHT, color, colors)
    return legend + [Patch(color=colors[one], label=names[colors[one]]) for one in np.unique(color).tolist()]


def _draw_devices(canvas: _Canvas, picture: Picture, rows: _Rows) -> list[Patch]:
    devices, y = picture.devices, _heights(picture, rows)
    is_kernel = devices.what == KERNEL
    kernels = np.unique(devices.name[is_kernel])
    titles = {TO_DEVICE: "transfer to device", FROM_DEVICE: "transfer from device", UPKEEP: "compare, merge or pack",
              WAIT: "waits for inputs"}  # fmt: skip
    colors = [_TO_DEVICE_COLOR, _FROM_DEVICE_COLOR, _UPKEEP_COLOR, _STARVED_COLOR]
    colors += [_KERNEL_COLORS[one % len(_KERNEL_COLORS)] for one in range(len(kernels))]
    color = devices.what - TO_DEVICE
    color[is_kernel] = len(titles) + np.searchsorted(kernels, devices.name[is_kernel])
    for some, edge in ((~is_kernel, "none"), (is_kernel, "white")):
        canvas.bars(devices.start[some], devices.end[some], y[some], _DEVICE_HEIGHT, color[some], colors, edge)
    legend = [Patch(color=colors[len(titles) + one], label=f"kernel {devices.names[kernels[one]]}")
              for one in range(min(len(kernels), _MOST_KINDS))]  # fmt: skip
    return legend + [Patch(color=colors[what - TO_DEVICE], label=label) for what, label in titles.items()
                     if np.any(devices.what == what)]  # fmt: skip


def _heights(picture: Picture, rows: _Rows) -> np.ndarray:
    """Where the lane of each row of the devices is."""
    devices = picture.devices
    lane = np.minimum(devices.lane, _MOST_DEVICE_LANES[devices.sort] - 1)
    keys = zip(devices.rank.tolist(), devices.device.tolist(), devices.sort.tolist(), lane.tolist(), strict=True)
    return np.array([rows.device[key] for key in keys], dtype=float)


def _draw_arrows(canvas: _Canvas, picture: Picture, rows: _Rows) -> None:
    """From the begin of a transfer where it leaves to its end where it arrives, the thicker the more bytes it has."""
    devices, y = picture.devices, _heights(picture, rows) + _DEVICE_HEIGHT / 2
    source = np.flatnonzero((devices.what == FROM_DEVICE) & (devices.twin >= 0))
    if len(source) > _MOST_ARROWS:
        canvas.arrows_left_out = len(source)
        return
    most = devices.bytes[source].max(initial=1)
    labelled = set(source[np.argsort(-devices.bytes[source], kind="stable")[:_MOST_LABELS]].tolist())
    for row in source.tolist():
        sink, share = devices.twin[row], np.sqrt(devices.bytes[row] / most)
        begin, end = (devices.start[row] / 1e6, y[row]), (devices.end[sink] / 1e6, y[sink])
        canvas.axes.annotate("", xy=end, xytext=begin, arrowprops={
            "arrowstyle": "-|>", "linewidth": 0.4 + 1.1 * share, "mutation_scale": 5 + 5 * share, "color": "#333333",
            "shrinkA": 0, "shrinkB": 0, "alpha": 0.75})  # fmt: skip
        if row in labelled:
            canvas.axes.text((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2, f" {size(int(devices.bytes[row]))}",
                             fontsize=5, color="#333333", va="center")  # fmt: skip


def _call_color(number: int) -> str:
    kind = CALL_KINDS.get(number, "local")
    if kind == "send":
        return _SEND_COLOR
    return _RECEIVE_COLOR if kind in ("receive", "sendreceive", "probe") else _OTHER_COLOR


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
    legend += _draw_devices(canvas, picture, rows)
    _draw_arrows(canvas, picture, rows)
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
        notes.append(f"{canvas.gathered} bars shorter than {duration(canvas.column_ns)} are drawn together")
    if canvas.arrows_left_out:
        notes.append(f"without arrows for {canvas.arrows_left_out} transfers between devices: at most {_MOST_ARROWS} "
                     "are drawn")
    hidden = sum(count for _, count in rows.hidden.values())
    if hidden:
        notes.append(f"{hidden} lanes of suspended calls are not drawn")
    return notes


def _span(picture: Picture) -> tuple[float, float]:
    """The time to show: where there are explicit tasks, as MPI's start and end would squeeze them; else everything."""
    tasks, devices = picture.tasks, picture.devices
    ran = tasks.start >= 0
    if not ran.any():
        return 0.0, max(float(picture.trace.time.max()), 1.0)
    first = float(min(tasks.start[ran].min(), devices.start.min(initial=tasks.start[ran].min())))
    unfinished = bool((tasks.end < 0).any())
    last = float(picture.trace.time.max() if unfinished else max(tasks.end.max(), devices.end.max(initial=0)))
    margin = 0.02 * max(last - first, 1.0)
    return first - margin, last + margin


def _title(picture: Picture) -> str:
    base = next(iter(picture.trace.ranks.values()))
    program = Path(base.get("exe", "")).name
    ranks, tasks = len(picture.trace.ranks), len(picture.tasks.id)
    calls = int(np.count_nonzero(~kind_mask(picture.calls, "local")))  # as in the report
    return f"{program}: {ranks} rank(s), {tasks} tasks, {calls} MPI calls"
