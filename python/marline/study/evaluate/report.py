# SPDX-License-Identifier: Apache-2.0
"""Writes a summary down: README.md, results.json, results.csv and the plots, beside the runs they are made from.

Generated text only: no figure is typed by hand. The same runs give the same files."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from marline.study.declare.document import Plot
from marline.study.evaluate.metg import Curve, metg
from marline.study.evaluate.summary import Row, Summary
from marline.study.evaluate.tables import grids, notes, skip_lines
from marline.study.measure import machine
from marline.study.measure.handover import MODES, Modes
from marline.study.measure.store import FILE

FORMAT = "marline-study-results 1"
COLUMNS = ("program", "parameters", "variant", "figure", "unit", "status", "runs", "bad", "noisy", "median",
           "deviation", "lower_quartile", "upper_quartile", "low", "high", "ratio", "ratio_low", "ratio_high",
           "baseline", "goal", "met", "far_median", "far_runs")  # fmt: skip


def write(summary: Summary, curves: list[Curve], folder: Path) -> None:
    drawn = _draw(summary, curves, folder) if summary.study.plots else []
    (folder / "README.md").write_text(readme(summary, curves, drawn), encoding="utf-8")
    text = json.dumps(document(summary, curves), indent=1, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "results.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(csv_row(row, name) for row in summary.rows for name in row.cells)


def _draw(summary: Summary, curves: list[Curve], folder: Path) -> list[tuple[Plot, str]]:
    from marline.study.evaluate import plots  # Matplotlib takes a second to load

    return plots.draw(summary, curves, folder)


def csv_row(row: Row, variant: str) -> dict[str, Any]:
    cell = row.cells[variant]
    values = {"program": row.program, "parameters": " ".join(f"{k}={v}" for k, v in row.parameters.items()),
              "variant": variant, "figure": row.figure.name, "unit": row.figure.unit, "status": cell.status,
              "runs": cell.runs, "bad": cell.bad, "noisy": cell.noisy, "goal": row.limit,
              "met": row.met.get(variant)}  # fmt: skip
    values |= asdict(cell.spread) if cell.spread else {}
    if cell.ratio:
        values |= {"ratio": cell.ratio.value, "ratio_low": cell.ratio.low, "ratio_high": cell.ratio.high,
                   "baseline": cell.ratio.baseline}  # fmt: skip
    far = row.far.get(variant)
    if far and far.spread:
        values |= {"far_median": far.spread.median, "far_runs": len(far.samples)}
    return values


def row_document(row: Row) -> dict[str, Any]:
    cells = {}
    for name, cell in row.cells.items():
        cells[name] = {key: value for key, value in asdict(cell).items() if value not in ("", [], None)}
        far = row.far.get(name)
        if far and far.spread:
            cells[name] |= {"far_median": far.spread.median, "far_runs": len(far.samples), "far_samples": far.samples}
        if name in row.met:
            cells[name]["goal_met"] = row.met[name]
    return {"program": row.program, "parameters": row.parameters, "figure": row.figure.name, "unit": row.figure.unit,
            "better": "lower" if row.figure.lower_is_better else "higher", "goal": row.limit, "variants": cells}


def curve_document(curve: Curve, summary: Summary) -> dict[str, Any]:
    found = {f"{percent:g}": metg(curve, percent) for percent in summary.study.metg.at}
    plain = {percent: {key: value if isinstance(value, str) or math.isfinite(value) else None
                       for key, value in asdict(each).items()} for percent, each in found.items()}  # fmt: skip
    return {"input": curve.input, "variant": curve.variant, "workers": curve.workers, "status": curve.status,
            "grains": curve.grains, "granularities": curve.granularities[0].tolist() if curve.has_tasks else [],
            "rates": curve.rates[0].tolist(),
            "efficiencies": curve.efficiencies[0].tolist() if curve.efficiencies is not None else [],
            "metg": plain}  # fmt: skip


def document(summary: Summary, curves: list[Curve]) -> dict[str, Any]:
    study = summary.study
    return {"format": FORMAT, "study": study.name, "title": study.title, "quick": study.quick,
            "settings": {"repeats": study.repeats, "warmup": study.warmup, "limit_s": study.limit, "seed": study.seed,
                         "parameters": study.parameters},
            "machines": [session["machine"] for session in summary.records.sessions], "noise_limit_ms": summary.noise,
            "handover": handover_document(summary.modes) if summary.modes else None,
            "results": [row_document(row) for row in summary.rows],
            "metg": [curve_document(curve, summary) for curve in curves],
            "skipped": summary.records.skips, "problems": summary.problems()}  # fmt: skip


def handover_document(modes: Modes) -> dict[str, Any]:
    """By mode: runs, and the median of their hand-over times."""
    return {mode: {"runs": len(modes.runs[mode]), "median_ns": modes.typical(mode)} for mode in MODES}


def readme(summary: Summary, curves: list[Curve], drawn: list[tuple[Plot, str]]) -> str:
    study = summary.study
    command = f"marline study {study.file.name}{' --quick' if study.quick else ''}"
    parts = [f"# {study.title}", f"Made by `{command}`; not edited.", study.text]
    parts += ["## Machine", _machine_lines(summary), "## Results"]
    parts += [grid.markdown() for grid in grids(summary, curves)]
    parts += notes(summary)
    lines = [f"- {line}" for line in skip_lines(summary) + [f"problem: {line}" for line in summary.problems()]]
    parts += ["## Not measured", "\n".join(lines)] if lines else []
    if drawn:
        parts.append("## Plots")
        parts += [f"![{plot.title}]({name})" for plot, name in drawn]
    parts += ["## Files", f"`results.json` and `results.csv` hold these figures, `{FILE}` every run, one per line."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _machine_lines(summary: Summary) -> str:
    """Of the first session; of later ones what differs."""
    if not summary.records.sessions:
        return "Nothing was measured yet."
    first = summary.records.sessions[0]["machine"]
    flat = {key: ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, dict)
            else " ".join(f"{x:.2f}" for x in value) if isinstance(value, list) else str(value)
            for key, value in first.items()}  # fmt: skip
    study = summary.study
    lines = [f"- {key.replace('_', ' ')}: {value}" for key, value in flat.items() if value]
    lines.append(f"- runs of a point: {study.repeats}, and {study.warmup} before to warm up; limit {study.limit:g} s")
    chosen = {name: " ".join(map(str, values)) for name, values in study.parameters.items()}
    chosen |= {name: " ".join(map(str, each.values.values())) for name, each in study.following.items()}
    lines += [f"- {name}: {values}" for name, values in chosen.items()]
    for later in summary.records.sessions[1:]:
        other = later["machine"]
        changed = [key for key in ("cpu", "kernel", "commit", "load") if other[key] != first[key]]
        lines.append(f"- resumed {other['date']}" + "".join(f", {key}: {other[key]}" for key in changed))
    return "\n".join(lines)


def terminal(summary: Summary, curves: list[Curve]) -> str:
    parts = []
    if summary.records.sessions:
        parts.append(machine.one_line(summary.records.sessions[0]["machine"]))
    parts += [grid.terminal() for grid in grids(summary, curves)]
    lines = notes(summary) + skip_lines(summary) + [f"PROBLEM: {line}" for line in summary.problems()]
    return "\n\n".join([*parts, "\n".join(lines)])
