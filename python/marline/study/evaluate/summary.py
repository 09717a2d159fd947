# SPDX-License-Identifier: Apache-2.0
"""From the runs of the results file to rows: one per input and figure, with a cell per variant. Pure.

The invariant: a cell has a median only if *every* run of its point was good; a figure next to a wrong answer is worth
nothing. Runs between noisy calibrations are counted, and stay in. Where the hand-over time was measured (handover.py),
a row's cells are of the runs with near processors alone, and its far cells of the runs with far ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from marline.study.declare.document import BASELINE, BREAKDOWN_UNITS, INFLATION, Figure, Study
from marline.study.declare.node import Scalar
from marline.study.declare.plan import TIMED, TRACED, Point
from marline.study.evaluate.statistics import Ratio, Spread, ratio, spread
from marline.study.measure.handover import FAR, NEAR, Modes
from marline.study.measure.noise import threshold
from marline.study.measure.store import Records
from marline.study.measure.verdict import FAILED, HANG, OK, SKIPPED

NOT_RUN = "not run"
FAR_ONLY, MOVED_ONLY = "far only", "moved only"  # good runs, but none with near processors
NO_OMPT = "libgomp has no OMPT: nothing can be recorded"
Runs = list[dict[str, Any]]


@dataclass
class Cell:
    """One figure of one point."""

    status: str = NOT_RUN
    reason: str = ""
    samples: list[float] = field(default_factory=list)
    by_round: dict[int, float] = field(default_factory=dict)  # the timed ones of them
    runs: int = 0
    bad: int = 0
    noisy: int = 0
    spread: Spread | None = None
    ratio: Ratio | None = None


@dataclass
class Row:
    input: str
    group: str  # the input without the sweep
    program: str
    parameters: dict[str, Scalar]
    figure: Figure
    cells: dict[str, Cell]
    far: dict[str, Cell] = field(default_factory=dict)  # empty if no run of the study was far
    limit: float | None = None  # the goal in the figure's unit
    met: dict[str, bool] = field(default_factory=dict)  # by variant


@dataclass
class Summary:
    study: Study
    records: Records
    points: list[Point]
    rows: list[Row]
    runs: dict[str, Runs]  # by the point's key
    noise: float | None  # milliseconds above which a calibration is far out
    modes: Modes | None  # None: the study does not measure the hand-over time, or has no runs yet

    def mode(self, run: dict[str, Any]) -> str:
        """Without hand-over times all runs are of one mode."""
        return self.modes.of(run) if self.modes else NEAR

    def variants(self) -> list[str]:
        """The ones that anything was planned for, in the file's order."""
        present = {point.variant.name for point in self.points}
        return [name for name in self.study.variants if name in present]

    def problems(self) -> list[str]:
        """One line for each point that failed or hung."""
        lines = []
        for key, runs in self.runs.items():
            for kind in ("", TRACED):
                bad = [run for run in runs if run["status"] != OK and (run["kind"] == TRACED) == bool(kind)]
                if bad:
                    of = sum((run["kind"] == TRACED) == bool(kind) for run in runs)
                    lines.append(f"{key}: {bad[0]['status']} in {len(bad)} of {of} {kind + ' ' if kind else ''}runs: "
                                 f"{bad[0]['reason']}")
        return lines

    def skipped(self) -> dict[str, list[str]]:
        """Reasons, and the points that they keep from running."""
        reasons: dict[str, list[str]] = defaultdict(list)
        for key, reason in self.records.skips.items():
            reasons[reason].append(key)
        return dict(reasons)


def noisy(run: dict[str, Any], limit: float | None) -> bool:
    return limit is not None and max(run["noise"]) > limit


def summarise(study: Study, records: Records, points: list[Point]) -> Summary:
    runs: dict[str, Runs] = {point.key: [] for point in points}
    for run in records.runs:
        if run["point"] in runs:
            runs[run["point"]].append(run)
    calibrations = [value for run in records.runs for value in run["noise"]]
    limit = threshold(calibrations) if calibrations else None
    modes = Modes(records.runs) if study.handover and records.runs else None
    summary = Summary(study, records, points, [], runs, limit, modes)
    rows = _rows(summary)
    _inflate(rows)
    for row in rows:
        _compare(row, row.cells, summary)
        _compare(row, row.far, summary)
        summary.rows.append(row)
    for row in summary.rows:
        _judge_goal(row, summary)
    return summary


def _rows(summary: Summary) -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    for point in summary.points:
        names = [*point.program.figures, *(BREAKDOWN_UNITS if point.program.breakdown else ())]
        for name in names:
            figure = summary.study.figure(point.program.name, name)
            group = " ".join([point.program.name, *point.settings(without=summary.study.sweep)])
            new = Row(point.input, group, point.program.name, point.parameters, figure, {})
            row = rows.setdefault((point.input, name), new)
            row.cells[point.variant.name] = _cell(point, name, summary, NEAR)
            if summary.modes and summary.modes.runs[FAR]:
                row.far[point.variant.name] = _cell(point, name, summary, FAR)
    return list(rows.values())


def _inflate(rows: list[Row]) -> None:
    """How much more work a point has than the point of its curve that has the least, in per cent (as the thesis of
    R. Pereira defines it, 2023, 6.2.2): the same program works longer where data comes from farther away."""
    works = {(row.input, name): cell for row in rows if row.figure.name == "work" for name, cell in row.cells.items()}
    for row in rows:
        if row.figure.name != INFLATION:
            continue
        of_curve = {other.input for other in rows if other.group == row.group}
        for name, cell in row.cells.items():
            known = [works[input_, name].spread for input_ in of_curve if (input_, name) in works]
            least = min((each.median for each in known if each), default=0.0)
            work = works.get((row.input, name))
            if least > 0 and work and work.spread:
                cell.status, cell.runs = OK, work.runs
                cell.samples = [100 * (value / least - 1) for value in work.samples]
                cell.spread = spread(cell.samples, f"{row.input} {name} {INFLATION}")


def _cell(point: Point, figure: str, summary: Summary, mode: str) -> Cell:
    if point.key in summary.records.skips:
        return Cell(SKIPPED, summary.records.skips[point.key])
    traced = figure in BREAKDOWN_UNITS and point.program.breakdown
    if traced and point.variant.runtime == "libgomp":
        return Cell(SKIPPED, NO_OMPT)
    runs = [run for run in summary.runs[point.key] if (run["kind"] == TRACED) == traced]
    bad = [run for run in runs if run["status"] != OK]
    good = [run for run in runs if run["status"] == OK and run["kind"] in (TIMED, TRACED)]
    counted = [run for run in good if summary.mode(run) == mode]
    cell = Cell(runs=len(runs), bad=len(bad),
                samples=[run["figures"][figure] for run in counted if figure in run["figures"]],
                by_round={run["round"]: run["figures"][figure] for run in counted
                          if run["kind"] == TIMED and figure in run["figures"]},
                noisy=sum(noisy(run, summary.noise) for run in counted))  # fmt: skip
    if bad:
        cell.status = HANG if any(run["status"] == HANG for run in bad) else FAILED
        cell.reason = bad[0]["reason"]
    elif cell.samples:  # a run without messages has no overlap
        cell.status = OK
        cell.spread = spread(cell.samples, f"{point.key} {figure}")
    elif good and not counted and mode == NEAR:
        cell.status = FAR_ONLY if any(summary.mode(run) == FAR for run in good) else MOVED_ONLY
    return cell


def _compare(row: Row, cells: dict[str, Cell], summary: Summary) -> None:
    """Each variant's ratio to its baseline: of several, to that with the best median for this row."""
    for name, cell in cells.items():
        bases = summary.study.variants[name].baseline
        if name in bases:
            continue  # it is what others are compared with
        known = {other: cells[other] for other in bases if other in cells and cells[other].spread}
        if not known or not cell.spread:
            continue
        best = (min if row.figure.lower_is_better else max)(known, key=lambda other: known[other].spread.median)
        base = known[best]
        pairs = [(value, base.by_round[each]) for each, value in cell.by_round.items() if each in base.by_round]
        cell.ratio = ratio(cell.samples, base.samples, f"{row.input} {row.figure.name} {name}", best, pairs)


def _judge_goal(row: Row, summary: Summary) -> None:
    """Goals are for the variants that have a baseline and are not one: for what the study is about; for all where none
    has one. They are stated for near processors."""
    goal = row.figure.goal
    if goal is None:
        return
    variants = summary.study.variants
    bases = {base for variant in variants.values() for base in variant.baseline}
    judged = {name: cell for name, cell in row.cells.items()
              if name not in bases and (variants[name].baseline or not bases)}  # fmt: skip
    row.met = {name: False for name, cell in judged.items() if cell.status in (FAILED, HANG)}
    if goal.of == BASELINE:
        row.met |= {name: (cell.ratio.value <= goal.value) == row.figure.lower_is_better
                    for name, cell in judged.items() if cell.ratio}  # fmt: skip
        return
    factor = best(summary, goal.of) if goal.of else 1.0
    if factor is None:
        return
    row.limit = goal.value * factor
    row.met |= {name: (cell.spread.median <= row.limit) == row.figure.lower_is_better
                for name, cell in judged.items() if cell.spread}  # fmt: skip


def best(summary: Summary, figure: str) -> float | None:
    """The best sample of a figure: for what belongs to the machine, which anything else that runs only makes worse."""
    rows = [row for row in summary.rows if row.figure.name == figure]
    samples = [value for row in rows for cell in row.cells.values() if cell.status == OK for value in cell.samples]
    return (min if rows[0].figure.lower_is_better else max)(samples) if samples else None
