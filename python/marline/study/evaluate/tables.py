# SPDX-License-Identifier: Apache-2.0
"""A summary as text: tables for the terminal and for Markdown, and the lines beside them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from marline.study.declare.document import Table
from marline.study.evaluate.metg import Curve, metg
from marline.study.evaluate.statistics import Ratio
from marline.study.evaluate.summary import FAR_ONLY, MOVED_ONLY, NOT_RUN, Cell, Row, Summary
from marline.study.measure.handover import FAR, MODES, NEAR, Modes
from marline.study.measure.verdict import FAILED, HANG, OK, SKIPPED

NOISY = "~"


@dataclass
class Grid:
    """A table's cells as text; the first `names` columns are names, the others figures."""

    title: str
    head: list[str]
    rows: list[list[str]]
    names: int = 1

    def terminal(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.head))]
        shown = ["  ".join(text.ljust(w) if i < self.names else text.rjust(w)
                           for i, (text, w) in enumerate(zip(line, widths, strict=True))).rstrip()
                 for line in lines]  # fmt: skip
        return "\n".join([self.title, "-" * max(map(len, shown)), *shown])

    def markdown(self) -> str:
        rule = ["---" if i < self.names else "---:" for i in range(len(self.head))]
        lines = ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |"
                 for line in [self.head, rule, *self.rows]]
        return "\n".join([f"### {self.title}", "", *lines])


def number(value: float) -> str:
    """Three significant digits, without an exponent where that is readable; whole from 100 up."""
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e9):
        return f"{value:.2e}"
    digits = 0 if size >= 100 else 2 - math.floor(math.log10(size)) if size else 0
    return f"{value:,.{max(0, min(digits, 6))}f}"


def cell_text(cell: Cell | None) -> str:
    """`median ±deviation`; a ~ says that some of the runs lay between noisy calibrations."""
    if cell is None or cell.status == NOT_RUN:
        return ""
    if cell.status == SKIPPED:
        return "-"
    if cell.status in (FAR_ONLY, MOVED_ONLY):
        return cell.status
    if cell.status == HANG:
        return "HANG"
    if cell.status == FAILED:
        return f"FAILED {cell.bad}/{cell.runs}"
    share = 100 * cell.spread.deviation / abs(cell.spread.median) if cell.spread.median else 0
    deviation = f" ±{share:.0f}%" if len(cell.samples) > 1 else ""
    return f"{number(cell.spread.median)}{deviation}{NOISY if cell.noisy else ''}"


def ratio_text(ratio: Ratio | None) -> str:
    return "" if ratio is None else f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def goal_text(row: Row) -> list[str]:
    if row.figure.goal is None:
        return ["", ""]
    text = row.figure.goal.text()
    if row.figure.goal.of and row.limit is not None:
        text += f" = {number(row.limit)}"
    met = list(row.met.values())
    return [text, "" if not met else "yes" if all(met) else "no" if not any(met) else "in part"]


def figure_grids(table: Table, summary: Summary) -> list[Grid]:
    """One row per input and figure: medians by variant and goals in one grid, ratios in a second one."""
    rows = [row for row in summary.rows if row.figure.name in table.figures]
    rows = [row for row in rows if any(cell.status != NOT_RUN for cell in row.cells.values())]
    return _grids_of(table, rows, summary, goals=any(row.figure.goal for row in rows))


def far_grids(table: Table, summary: Summary) -> list[Grid]:
    """The same of the runs with far processors, without goals, which are stated for near ones."""
    rows = [replace(row, cells=row.far) for row in summary.rows if row.figure.name in table.figures
            and any(cell.spread for cell in row.far.values())]  # fmt: skip
    if not rows:
        return []
    title = f"{table.title}, processors far apart (hand-over about {summary.modes.typical(FAR):.0f} ns)"
    return _grids_of(Table(title, table.figures), rows, summary, goals=False)


def _grids_of(table: Table, rows: list[Row], summary: Summary, goals: bool) -> list[Grid]:
    if not rows:
        return []
    variants = [name for name in summary.variants() if any(name in row.cells for row in rows)]
    head, names = _names(rows)
    medians = Grid(table.title, [*head, *variants] + (["goal", "met"] if goals else []), [], len(head))
    for row, name in zip(rows, names, strict=True):
        cells = [cell_text(row.cells.get(variant)) for variant in variants]
        medians.rows.append([*name, *cells] + (goal_text(row) if goals else []))
    return [medians, *_ratio_grid(table, variants, rows, summary)]


def _ratio_grid(table: Table, variants: list[str], rows: list[Row], summary: Summary) -> list[Grid]:
    rows = [row for row in rows if any(cell.ratio for cell in row.cells.values())]
    if not rows:
        return []
    compared = [name for name in variants if any(name in row.cells and row.cells[name].ratio for row in rows)]
    bases = {summary.study.variants[name].baseline for name in compared}
    over = f"{'the best of ' if len(min(bases)) > 1 else ''}{', '.join(min(bases))}" if len(bases) == 1 \
        else "the baseline of each"  # fmt: skip
    head, names = _names(rows)
    grid = Grid(f"{table.title}, over {over}", [*head, *compared], [], len(head))
    for row, name in zip(rows, names, strict=True):
        grid.rows.append([*name, *(ratio_text(row.cells[v].ratio if v in row.cells else None) for v in compared)])
    return [grid]


def _names(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """The first columns: the input only where a figure has several, the unit where there is more than one."""
    several = len({row.figure.name for row in rows}) < len(rows)
    units = {row.figure.unit for row in rows}
    head = (["input"] if several else []) + ["figure" if len(units) > 1 else f"figure ({min(units)})"]
    figures = [row.figure.name + (f" ({row.figure.unit})" if len(units) > 1 else "") for row in rows]
    return head, [([row.input] if several else []) + [figure] for row, figure in zip(rows, figures, strict=True)]


def metg_grid(of: list[Curve], summary: Summary) -> Grid:
    """One row per input, one column per share and variant."""
    wanted = summary.study.metg
    unit = next(p.figures[wanted.granularity].unit for p in summary.study.programs.values()
                if wanted.granularity in p.figures)  # fmt: skip
    inputs = list(dict.fromkeys(curve.input for curve in of))
    by_place = {(curve.input, curve.variant): curve for curve in of}
    variants = [name for name in summary.variants() if any(curve.variant == name for curve in of)]
    head = ["input", f"METG ({unit})", *variants]
    rows = [[input_, f"{percent:g} %", *(metg_text(by_place.get((input_, name)), percent) for name in variants)]
            for input_ in inputs for percent in wanted.at]  # fmt: skip
    return Grid("Minimum effective task granularity", head, rows, 2)


def metg_text(curve: Curve | None, percent: float) -> str:
    if curve is None or curve.status == NOT_RUN:
        return ""
    if curve.status == SKIPPED:
        return "-"
    if curve.status in (FAR_ONLY, MOVED_ONLY):
        return curve.status
    if curve.status in (FAILED, HANG):
        return curve.status.upper()
    if not curve.has_tasks:
        return "no tasks"
    found = metg(curve, percent)
    if found.kind == "none":
        return "not reached"
    if found.kind == "most":
        return f"<= {number(found.value)}"
    high = "inf" if math.isinf(found.high) else number(found.high)
    return f"{number(found.value)} [{number(found.low)}, {high}]"


def grids(summary: Summary, curves: list[Curve]) -> list[Grid]:
    made = [metg_grid(curves, summary)] if curves else []
    for table in summary.study.tables:
        made += [finishes_grid(table, summary)] if table.kind == "finishes" else figure_grids(table, summary)
    return made + [grid for table in summary.study.tables for grid in far_grids(table, summary)]


def finishes_grid(table: Table, summary: Summary) -> Grid:
    """A row per program, a column per variant: of its points, how many hang, fail, end with a right answer, or were
    given up after others that hang."""
    variants = summary.variants()
    programs = list(dict.fromkeys(point.program.name for point in summary.points))
    rows = [[program, *(finishes_text(program, variant, summary) for variant in variants)] for program in programs]
    return Grid(table.title, ["program", *variants], rows)


def finishes_text(program: str, variant: str, summary: Summary) -> str:
    """A point ends if all of its runs do."""
    points = [point for point in summary.points if (point.program.name, point.variant.name) == (program, variant)]
    skipped = [point for point in points if point.key in summary.records.skips]
    runs = {point.key: {run["status"] for run in summary.runs[point.key]} for point in points}
    hang = sum(HANG in found for found in runs.values())
    fail = sum(HANG not in found and FAILED in found for found in runs.values())
    end = sum(found == {OK} for found in runs.values())
    unknown = len(points) - len(skipped) - hang - fail - end
    if not points or not hang + fail + end:
        return "-" if skipped else ""
    counts = ((hang, "hang"), (fail, "fail"), (end, "end"), (unknown, "not run"))
    parts = [f"{count} {word}" for count, word in counts if count]
    return "all end" if len(parts) == 1 and end == len(points) - len(skipped) else ", ".join(parts)


def notes(summary: Summary) -> list[str]:
    """What a reader must know beside the tables."""
    lines = ["A figure is the median of the timed runs ± the median absolute deviation; a ratio is the median of "
             "those of neighbouring runs, or of fewer than five the quotient of two medians, with its 95 % bootstrap "
             "interval in brackets."]  # fmt: skip
    marked = sum(max(run["noise"]) > summary.noise for run in summary.records.runs) if summary.noise else 0
    if marked:
        lines.append(f"{marked} of {len(summary.records.runs)} runs lay beside a calibration above "
                     f"{summary.noise:.1f} ms, far from the others: something else used the machine. "
                     f"Figures with such runs carry a {NOISY}.")
    if summary.modes:
        lines += handover_lines(summary.modes)
    lines += remark_lines(summary)
    return lines


def handover_lines(modes: Modes) -> Iterator[str]:
    """How the processors lay to each other, for a reader who has never heard of it."""
    what = "The hand-over time, which a cache line takes from one processor to the other, was"
    if not modes.mixed():
        if times := modes.times(NEAR):
            yield f"{what} {min(times):.0f} to {max(times):.0f} ns before and after each run."
        return
    near, far, moved = (len(modes.runs[mode]) for mode in MODES)
    about = {mode: f" (about {modes.typical(mode):.0f} ns)" if modes.runs[mode] else "" for mode in MODES}
    yield (f"{what} measured before and after each run: a hypervisor may move virtual processors between parts of the "
           f"chip. Of {near + far + moved} runs {near} had near processors{about[NEAR]}, {far} far ones{about[FAR]}; "
           f"in {moved} they were moved meanwhile. Near: both times are at most twice the least; far: both are above.")
    yield ("Tables, ratios, goals, METG and plots count the runs with near processors; those with far ones have "
           "tables of their own, and those in which processors were moved count nowhere. 'far only', 'moved only': no "
           "run of that point had near processors; METG leaves such points out.")


def remark_lines(summary: Summary) -> list[str]:
    """The remarks that the study asks for, as the last good run of each point printed them."""
    lines = []
    for key, runs in summary.runs.items():
        good = [run for run in runs if run["status"] == OK]
        shown = [f"{name} {value}" for name, value in (good[-1]["remarks"] if good else {}).items()
                 if any(fnmatchcase(name, pattern) for pattern in summary.study.remarks)]  # fmt: skip
        if shown:
            lines.append(f"{key}: {', '.join(shown)}")
    return lines


def skip_lines(summary: Summary) -> list[str]:
    lines = []
    for reason, keys in summary.skipped().items():
        which = ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
        lines.append(f"skipped: {which}: {reason}")
    return lines
