# SPDX-License-Identifier: Apache-2.0
"""A study's plots, as PNG and SVG: bars, curves over the sweep, the stacked breakdown, and efficiency over granularity.

A plot has one panel per input without the sweep (or per figure), and one colour per variant, the same in every plot of
a study. Points that failed, hung, were skipped or have no run with near processors are absent; the tables say why."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from marline.study.declare.document import Plot
from marline.study.evaluate.metg import Curve, band
from marline.study.evaluate.summary import Row, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

matplotlib.use("Agg")
# The same file from the same figures: no date, no random ids.
matplotlib.rcParams.update({"svg.hashsalt": "marline-study", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3})  # fmt: skip
COLUMNS = 3
PANEL = (4.6, 3.2)  # inches
SHARES = {"work": "#4c9f70", "overhead": "#d1495b", "idle": "#c9ccd1"}


def draw(summary: Summary, curves: list[Curve], folder: Path) -> list[tuple[Plot, str]]:
    """Writes every plot that has something to show; the plots and their PNG's names."""
    made = []
    for plot in summary.study.plots:
        panels = PANELS[plot.kind](plot, summary, curves)
        if panels:
            _write(plot, panels, folder)
            made.append((plot, f"{plot.file}.png"))
    return made


Panel = tuple[str, Callable[["Axes"], None]]


def _write(plot: Plot, panels: list[Panel], folder: Path) -> None:
    from matplotlib import pyplot

    columns = min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    wide = 1 if columns > 1 else 2 if plot.kind == "bars" else 1.5
    figure, axes = pyplot.subplots(lines, columns, squeeze=False, layout="constrained",
                                   figsize=(PANEL[0] * columns * wide, PANEL[1] * lines + 0.6))  # fmt: skip
    labels: dict[str, object] = {}
    for at, (title, paint) in zip(axes.flat, panels):
        paint(at)
        at.set_title(title, fontsize=9)
        for handle, label in zip(*at.get_legend_handles_labels()):
            labels.setdefault(label, handle)
    for at in axes.flat[len(panels) :]:
        at.remove()
    figure.suptitle(plot.title)
    if labels:
        figure.legend(labels.values(), labels.keys(), loc="outside lower center", fontsize=8,
                      ncols=max(2, int(1.6 * columns * wide)))  # fmt: skip
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout has been found; each of the two files would look for it again
    figure.savefig(folder / f"{plot.file}.png", dpi=130, metadata={"Software": None})
    figure.savefig(folder / f"{plot.file}.svg", metadata={"Date": None})
    pyplot.close(figure)


def colour(variant: str, summary: Summary) -> str:
    """Of more than ten variants the next ten have the lighter shades."""
    index = list(summary.study.variants).index(variant)
    return to_hex(matplotlib.colormaps["tab20"](2 * (index % 10) + index // 10 % 2))


def _log_scale(at: Axes) -> None:
    """A logarithmic y axis with plain numbers at 1, 2 and 5."""
    at.set_yscale("log")
    at.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    at.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    at.yaxis.set_minor_formatter(NullFormatter())


def _rows(plot: Plot, summary: Summary, figures: tuple[str, ...]) -> list[Row]:
    return [row for row in summary.rows if row.figure.name in figures
            and any(cell.spread for cell in row.cells.values())
            and all(row.parameters.get(name, values[0]) in values for name, values in plot.panels.items())]  # fmt: skip


def _bars(plot: Plot, summary: Summary, _: list[Curve]) -> list[Panel]:
    """Ratios stand side by side in one panel; medians get a panel per unit."""
    rows = _rows(plot, summary, plot.figures)
    if plot.ratio:
        rows = [row for row in rows if any(cell.ratio for cell in row.cells.values())]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault("ratio to the baseline" if plot.ratio else row.figure.unit, []).append(row)
    return [(unit, _bar_panel(group, plot, summary)) for unit, group in groups.items()]


def _bar_panel(rows: list[Row], plot: Plot, summary: Summary) -> Callable[[Axes], None]:
    def values(name: str) -> tuple[list[int], list[float], list[list[float]]]:
        found = [(i, row.cells[name].ratio if plot.ratio else row.cells[name].spread)
                 for i, row in enumerate(rows) if name in row.cells]
        kept = [(i, each, each.value if plot.ratio else each.median) for i, each in found if each]
        errors = [[max(0.0, middle - each.low) for _, each, middle in kept],
                  [max(0.0, each.high - middle) for _, each, middle in kept]]
        return [i for i, _, _ in kept], [middle for _, _, middle in kept], errors

    def paint(at: Axes) -> None:
        names = [name for name in summary.variants() if values(name)[0]]
        width = 0.8 / len(names)
        for place, name in enumerate(names):
            where, heights, errors = values(name)
            shift = (place - (len(names) - 1) / 2) * width
            foot = 1.0 if plot.ratio else 0.0
            at.bar([i + shift for i in where], [height - foot for height in heights], width, bottom=foot, yerr=errors,
                   label=name, color=colour(name, summary), error_kw={"elinewidth": 0.8})  # fmt: skip
        inputs = len({row.input for row in rows}) > 1 and len({row.figure.name for row in rows}) < len(rows)
        ticks = [f"{row.figure.name}\n{row.input}" if inputs else row.figure.name for row in rows]
        at.set_xticks(range(len(rows)), ticks, rotation=40, ha="right", fontsize=8)
        if plot.ratio:
            at.axhline(1, color="black", linewidth=0.8)
            low, high = at.get_ylim()
            if low < 0.4 or high > 2.5:
                _log_scale(at)
        at.grid(axis="x", visible=False)

    return paint


def _curve(plot: Plot, summary: Summary, _: list[Curve]) -> list[Panel]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in _rows(plot, summary, plot.figures):
        if summary.study.sweep in row.parameters:
            groups.setdefault((row.group, row.figure.name), []).append(row)
    several = len({title for title, _ in groups}) > 1
    return [(f"{name}, {title}" if several else name, _curve_panel(rows, plot, summary))
            for (title, name), rows in groups.items()]  # fmt: skip


def _curve_panel(rows: list[Row], plot: Plot, summary: Summary) -> Callable[[Axes], None]:
    sweep = summary.study.sweep

    def paint(at: Axes) -> None:
        for name in summary.variants():
            known = [(row.parameters[sweep], row.cells[name].ratio if plot.ratio else row.cells[name].spread)
                     for row in rows if name in row.cells]  # fmt: skip
            known = [(float(x), each) for x, each in known if each]
            if not known:
                continue
            xs = [x for x, _ in known]
            ys = [each.value if plot.ratio else each.median for _, each in known]
            at.plot(xs, ys, marker="o", markersize=3, label=name, color=colour(name, summary))
            at.fill_between(xs, [each.low for _, each in known], [each.high for _, each in known], alpha=0.2,
                            color=colour(name, summary), linewidth=0)  # fmt: skip
        at.set_xscale("log", base=2)
        values = sorted({float(row.parameters[sweep]) for row in rows})
        at.set_xticks(values, [f"{value:g}" for value in values], fontsize=8)
        at.xaxis.minorticks_off()
        if not plot.ratio:
            _log_scale(at)
        at.set_xlabel(sweep)
        at.set_ylabel("ratio to the baseline" if plot.ratio else rows[0].figure.unit)

    return paint


def _breakdown(plot: Plot, summary: Summary, _: list[Curve]) -> list[Panel]:
    """A panel per input and variant, a bar per value of the sweep."""
    groups: dict[tuple[str, str], dict[float, dict[str, float]]] = {}
    for row in _rows(plot, summary, tuple(SHARES)):
        for name, cell in row.cells.items():
            if cell.spread and summary.study.sweep in row.parameters:
                at = groups.setdefault((row.group, name), {})
                at.setdefault(row.parameters[summary.study.sweep], {})[row.figure.name] = cell.spread.median
    several = len({title for title, _ in groups}) > 1
    highest = max((sum(parts.values()) for bars in groups.values() for parts in bars.values()), default=1.0)
    return [(f"{name}, {title}" if several else name, _breakdown_panel(bars, highest, summary.study.sweep))
            for (title, name), bars in groups.items()]  # fmt: skip


def _breakdown_panel(bars: dict[float, dict[str, float]], highest: float, sweep: str) -> Callable[[Axes], None]:
    def paint(at: Axes) -> None:
        bottom = np.zeros(len(bars))
        for share, shade in SHARES.items():
            heights = np.array([parts[share] for parts in bars.values()])
            at.bar(range(len(bars)), heights, bottom=bottom, color=shade, label=share)
            bottom += heights
        at.set_xticks(range(len(bars)), [str(value) for value in bars])
        at.set_ylim(0, 1.05 * highest)
        at.set_xlabel(sweep)
        at.set_ylabel("s, summed over threads")
        at.grid(axis="x", visible=False)

    return paint


def _efficiency(plot: Plot, summary: Summary, curves: list[Curve]) -> list[Panel]:
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        if curve.grains and curve.efficiencies is not None and curve.has_tasks:
            groups.setdefault(curve.input, []).append(curve)
    return [(title, _efficiency_panel(group, summary)) for title, group in groups.items()]


def _efficiency_panel(group: list[Curve], summary: Summary) -> Callable[[Axes], None]:
    wanted = summary.study.metg
    unit = next(p.figures[wanted.granularity].unit for p in summary.study.programs.values()
                if wanted.granularity in p.figures)  # fmt: skip

    def paint(at: Axes) -> None:
        for curve in group:
            low, high = band(curve.efficiencies)
            shade = colour(curve.variant, summary)
            at.plot(curve.granularities[0], curve.efficiencies[0], marker="o", markersize=3, color=shade,
                    label=curve.variant)  # fmt: skip
            at.fill_between(curve.granularities[0], low, high, alpha=0.2, color=shade, linewidth=0)
        for percent in wanted.at:
            at.axhline(percent / 100, color="black", linewidth=0.7, linestyle=":")
        at.set_xscale("log")
        at.set_ylim(0, 1.05)
        at.set_xlabel(f"granularity ({unit})")
        at.set_ylabel("efficiency")

    return paint


PANELS: dict[str, Callable[[Plot, Summary, list[Curve]], list[Panel]]] = {
    "bars": _bars, "curve": _curve, "breakdown": _breakdown, "efficiency": _efficiency}  # fmt: skip
