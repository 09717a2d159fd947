# SPDX-License-Identifier: Apache-2.0
"""METG, the minimum effective task granularity (Slaughter et al., Task Bench, SC'20): the smallest granularity at which
a system still reaches a given share of the best rate. Pure.

Along a sweep of the grain, each point gives a granularity (elapsed time x workers / tasks) and a rate (work per
second), both of the point's fastest run: what disturbs a run only slows it, and a few per cent of disturbance hide
METG(95 %) altogether. Efficiency is the rate over the best of all variants with as many workers. METG(p) lies where the
efficiency first reaches p, coming from the smallest grain; between two points it is interpolated over the logarithm of
the granularity. If the smallest grain already reaches p, METG is at most that; if none does, there is none. Where the
hand-over time was measured, a point without a run on near processors is left out: it would lower the curve at this
grain and not at the next, and make a crossing of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from marline.study.declare.plan import Point
from marline.study.evaluate.statistics import RESAMPLES, draws, generator, interval
from marline.study.evaluate.summary import FAR_ONLY, MOVED_ONLY, NOT_RUN, Summary
from marline.study.measure.verdict import FAILED, HANG, OK, SKIPPED

Array = np.ndarray


@dataclass
class Curve:
    """One variant on one input, in ascending order of the sweep. Rows of `rates` and `granularities` are bootstrap
    draws, and row 0 is the measurement itself; columns are the grains."""

    input: str  # without the sweep
    variant: str
    workers: int
    status: str
    grains: list[float]
    granularities: Array  # not a number for a program that has no tasks, which only others are compared with
    rates: Array
    efficiencies: Array | None = None

    @property
    def has_tasks(self) -> bool:
        return not np.isnan(self.granularities).any()


@dataclass(frozen=True)
class Metg:
    """`kind`: "value"; "most" (the smallest grain reaches it: METG is at most value); "none"."""

    kind: str
    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")


def crossing(granularities: Array, efficiencies: Array, share: float) -> tuple[str, float]:
    """Where the curve first reaches `share`, from its small end."""
    reached = np.flatnonzero(efficiencies >= share)
    if not len(reached):
        return "none", float("nan")
    at = int(reached[0])
    if at == 0:
        return "most", float(granularities[0])
    below, above = efficiencies[at - 1], efficiencies[at]
    logs = np.log(granularities[at - 1 : at + 1])
    return "value", float(np.exp(logs[0] + (share - below) / (above - below) * (logs[1] - logs[0])))


def metg(curve: Curve, percent: float) -> Metg:
    """With the interval that the draws span. Draws without a crossing count at that end of the curve at which their
    crossing lies: `most` as the smallest granularity, `none` as infinity."""
    if curve.efficiencies is None or not curve.has_tasks:
        return Metg("none")
    falls = curve.granularities[0, 0] > curve.granularities[0, -1]  # a sweep over the number of tasks
    smallest_first = slice(None, None, -1 if falls else 1)
    granularities, efficiencies = curve.granularities[:, smallest_first], curve.efficiencies[:, smallest_first]
    kind, value = crossing(granularities[0], efficiencies[0], percent / 100)
    if kind == "none":
        return Metg("none")
    found = [crossing(g, e, percent / 100) for g, e in zip(granularities[1:], efficiencies[1:])]
    values = np.array([np.inf if each == "none" else at for each, at in found])
    low, high = np.percentile(values, (2.5, 97.5), method="nearest")
    return Metg(kind, value, float(low), float(high))


def curves(summary: Summary) -> list[Curve]:
    """All curves of the study, with their efficiencies."""
    groups: dict[tuple[str, str], list[Point]] = defaultdict(list)
    sweep = summary.study.sweep
    for point in summary.points:
        # Programs may be how variants are made (a driver each), so a comparison reaches over them.
        if sweep in point.parameters and summary.study.metg.rate in point.program.figures:
            input_ = " ".join(point.settings(without=sweep)) or point.program.name
            groups[input_, point.variant.name].append(point)
    made = [_curve(input_, variant, points, summary) for (input_, variant), points in groups.items()]
    _relate(made)
    return made


def _curve(input_: str, variant: str, points: list[Point], summary: Summary) -> Curve:
    sweep, wanted = summary.study.sweep, summary.study.metg
    points = sorted(points, key=lambda point: float(point.parameters[sweep]))
    rows = {(row.input, row.figure.name): row for row in summary.rows}
    grains, columns, statuses = [], [], []
    for point in points:
        cells = [rows[point.input, name].cells[variant] for name in (wanted.granularity, wanted.rate)]
        statuses.append(cells[1].status)
        if cells[1].status == OK and cells[0].status in (OK, NOT_RUN):
            grains.append(float(point.parameters[sweep]))
            columns.append(_draws(cells[0].samples or [np.nan] * len(cells[1].samples), cells[1].samples, point.key))
    shape = (RESAMPLES + 1, 0)
    granularities = np.stack([c[0] for c in columns], axis=1) if columns else np.zeros(shape)
    rates = np.stack([c[1] for c in columns], axis=1) if columns else np.zeros(shape)
    order = (HANG, FAILED, OK, FAR_ONLY, MOVED_ONLY, SKIPPED, NOT_RUN)
    status = next((s for s in order if s in statuses), OK)
    return Curve(input_, variant, points[0].ranks * points[0].threads, status, grains, granularities, rates)


def _draws(granularities: list[float], rates: list[float], name: str) -> tuple[Array, Array]:
    """Of the fastest run, then of the fastest of each draw."""
    rows = np.concatenate([[np.arange(len(rates))], draws(len(rates), generator(name))])
    fastest = rows[np.arange(len(rows)), np.argmax(np.asarray(rates)[rows], axis=1)]
    return np.asarray(granularities)[fastest], np.asarray(rates)[fastest]


def _relate(made: list[Curve]) -> None:
    for workers in {curve.workers for curve in made}:
        same = [curve for curve in made if curve.workers == workers and curve.grains]
        if not same:
            continue
        best = np.max(np.concatenate([curve.rates for curve in same], axis=1), axis=1, keepdims=True)
        for curve in same:
            curve.efficiencies = curve.rates / best


def band(values: Array) -> tuple[Array, Array]:
    """Per column, what the draws span."""
    pairs = [interval(column) for column in values[1:].T]
    return np.array([low for low, _ in pairs]), np.array([high for _, high in pairs])
