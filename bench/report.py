# SPDX-License-Identifier: Apache-2.0
"""Turns outcomes into medians, ratios, a table and a JSON document.

Pure functions over what run.py gathered. The invariant: a median is made of successful runs only, and where any run of
a program failed or hung, the table shows that instead of a number (the JSON keeps both).
"""
from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from catalog import BENCHMARKS, GOAL_THREADS, Benchmark, Goal
from process import FAILED, HANG, OK, Outcome, Variant

FORMAT = 1


@dataclass
class Series:
    """All runs of one program under one variant; `skipped` says why there are none."""

    outcomes: list[Outcome] = field(default_factory=list)
    skipped: str = ""

    def samples(self, figure: str) -> list[float]:
        return [o.figures[figure][0] for o in self.outcomes if o.status == OK and figure in o.figures]

    def bad(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.status != OK]

    def status(self) -> str:
        if self.skipped:
            return "skipped"
        worst = [o.status for o in self.outcomes]
        return HANG if HANG in worst else FAILED if FAILED in worst else OK

    def median(self, figure: str) -> float | None:
        """None unless every run of the program was good: a figure next to a wrong answer is worth nothing."""
        samples = self.samples(figure)
        return statistics.median(samples) if samples and self.status() == OK else None

    def deviation(self, figure: str) -> float:
        """Median absolute deviation."""
        samples = self.samples(figure)
        middle = statistics.median(samples)
        return statistics.median(abs(x - middle) for x in samples)


@dataclass
class Results:
    """series[benchmark name][variant name]; `handover` are h's samples in nanoseconds, one per turn."""

    variants: list[Variant]
    benchmarks: list[Benchmark]
    threads: int
    series: dict[str, dict[str, Series]]
    handover: list[float] = field(default_factory=list)
    handover_problem: str = ""

    def h(self) -> float | None:
        """The least of the turns: h is the machine's, and whatever else runs can only add to it."""
        return min(self.handover) if self.handover and not self.handover_problem else None

    def goal(self, benchmark: Benchmark, figure: str) -> Goal | None:
        applies = benchmark.mpi_ranks or self.threads == GOAL_THREADS
        return benchmark.figures[figure] if applies else None

    def best_peer(self, benchmark: Benchmark, figure: str) -> tuple[str, float] | None:
        peers = [(v.name, self.series[benchmark.name][v.name].median(figure))
                 for v in self.variants if v.runtime != "marline"]
        known = [(name, value) for name, value in peers if value is not None]
        return min(known, key=lambda pair: pair[1]) if known else None

    def problems(self) -> list[str]:
        """One line for each program and variant that failed or hung, and for h."""
        lines = [self.handover_problem] if self.handover_problem else []
        for name, by_variant in self.series.items():
            for variant, series in by_variant.items():
                bad = series.bad()
                if bad:
                    lines.append(f"{name} {variant}: {series.status()} in {len(bad)} of {len(series.outcomes)} runs: "
                                 f"{bad[0].reason}")
        return lines


def ratio(results: Results, benchmark: Benchmark, figure: str, variant: Variant) -> float | None:
    """This variant's median over the best peer's: below 1 is faster."""
    best = results.best_peer(benchmark, figure)
    own = results.series[benchmark.name][variant.name].median(figure)
    return own / best[1] if best and own is not None and best[1] > 0 else None


def cell(series: Series, figure: str) -> str:
    if series.skipped:
        return "-"
    if series.status() == HANG:
        return "HANG"
    if series.status() == FAILED:
        return f"FAILED {len(series.bad())}/{len(series.outcomes)}"
    median = series.median(figure)
    if median is None:
        return "no figure"
    share = 100 * series.deviation(figure) / abs(median) if median else 0
    return f"{median:,.{0 if abs(median) >= 100 else 1}f} ±{share:.0f}%"


def goal_cells(results: Results, benchmark: Benchmark, figure: str) -> list[str]:
    goal = results.goal(benchmark, figure)
    if goal is None:
        return ["", ""]
    limit = goal.nanoseconds(results.h())
    text = goal.text() + (f" = {limit:,.0f}" if goal.in_h and limit is not None else "")
    ours = [results.series[benchmark.name][v.name].median(figure) for v in results.variants if v.runtime == "marline"]
    measured = [value for value in ours if value is not None]
    if limit is None or not measured:
        return [text, ""]
    met = sum(value <= limit for value in measured)
    return [text, "yes" if met == len(measured) else "no" if met == 0 else "in part"]


def table(results: Results) -> str:
    """Times in ns. One row per figure, one column per variant, then Marline's ratios to the best peer and the goal."""
    ours = [v for v in results.variants if v.runtime == "marline"]
    head = ["figure (ns)", *(v.name for v in results.variants), *(f"{v.compiler}/best" for v in ours), "goal", "met"]
    rows = [head]
    for benchmark in results.benchmarks:
        by_variant = results.series[benchmark.name]
        for figure in benchmark.figures:
            ratios = [ratio(results, benchmark, figure, v) for v in ours]
            rows.append([figure, *(cell(by_variant[v.name], figure) for v in results.variants),
                         *("" if r is None else f"{r:.2f}" for r in ratios), *goal_cells(results, benchmark, figure)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths)))
             for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(line.rstrip() for line in lines)


def inlined_lines(results: Results) -> list[str]:
    """How many per cent of the empty tasks ran at their creation: what an empty-task figure is a measure of."""
    lines = []
    for variant, series in results.series.get("empty_tasks", {}).items():
        good = [o for o in series.outcomes if o.status == OK]
        if good:
            shares = [f"{key.removeprefix('inlined_task_')} {value}" for key, value in good[-1].remarks.items()
                      if key.startswith("inlined_")]
            lines.append(f"  {variant}: " + ", ".join(shares))
    return ["tasks that ran at their creation, in %:", *lines] if lines else []


def variant_document(results: Results, benchmark: Benchmark, figure: str, variant: Variant) -> dict[str, object]:
    series = results.series[benchmark.name][variant.name]
    document: dict[str, object] = {"status": series.status(), "runs": len(series.outcomes)}
    if series.skipped:
        document["reason"] = series.skipped
    if series.bad():
        document["problems"] = [f"{o.status}: {o.reason}" for o in series.bad()]
    samples = series.samples(figure)
    if samples:
        document |= {"samples": samples, "deviation": series.deviation(figure)}
    document["median"] = series.median(figure)
    document["ratio_to_best_peer"] = ratio(results, benchmark, figure, variant)
    good = [o for o in series.outcomes if o.status == OK]
    if good:
        document["remarks"] = good[-1].remarks
    return document


def document(results: Results, machine: dict[str, object], settings: dict[str, object]) -> dict[str, object]:
    h = results.h()
    rows = []
    for benchmark in results.benchmarks:
        for figure in benchmark.figures:
            goal = results.goal(benchmark, figure)
            best = results.best_peer(benchmark, figure)
            rows.append({
                "benchmark": benchmark.name, "figure": figure, "unit": "ns",
                "goal": goal.text() if goal else None, "goal_ns": goal.nanoseconds(h) if goal else None,
                "best_peer": best[0] if best else None,
                "variants": {v.name: variant_document(results, benchmark, figure, v) for v in results.variants},
            })
    return {"format": FORMAT, "machine": machine, "settings": settings,
            "handover_ns": {"least": h, "samples": results.handover}, "results": rows, "problems": results.problems()}


def known_benchmarks(names: list[str]) -> list[Benchmark]:
    """Those named, by program or by figure; all if none is named. Raises ValueError for a name that is neither."""
    if not names:
        return list(BENCHMARKS)
    for name in names:
        if not any(name == b.name or name in b.figures for b in BENCHMARKS):
            raise ValueError(f"no benchmark or figure is called {name}; there are "
                             + ", ".join(b.name for b in BENCHMARKS))
    return [b for b in BENCHMARKS if b.name in names or any(f in names for f in b.figures)]
