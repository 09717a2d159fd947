#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much longer the same work, and the same messages, of LULESH take with another grain of its tasks: work inflation
and communication inflation (R. Pereira, thesis, 2023, 4.1.2), for each kind of task.

    bench/lulesh/inflation.py --prefix build/release --markdown docs/results/lulesh-inflation.md
    bench/lulesh/inflation.py --grains 8 32 --runs 1 --size 12 --cycles 4        # a quick look

LULESH's form `tasks` is recorded with so many tasks per loop (-tel, -tnl): on one rank of two threads for work, and on
eight ranks of one thread, with smaller cubes, for messages. All runs of a round take turns, in an order that is drawn.
A point is the median of its runs. The inflation of a kind is its time over that of the reference, and the reference is,
as in the thesis, the grain at which all kinds together take least. The figures are those that `marline report A B`
compares for two traces (the pass `work_by_kind`).

Work is the time of tasks on their threads by the clock: where other programs take the cores, it holds their time, too.
The page says how long threads had no core.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marline.trace.read.records import Trace

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600  # seconds of a run


@dataclass(frozen=True)
class Way:
    """What is swept: the figure, and how LULESH is started for it."""

    title: str
    figure: str  # of work_by_kind
    ranks: int
    threads: int
    size: int


@dataclass
class Point:
    """Of one grain: per run, ns by kind, the makespan, and the part of thread time without a core."""

    kinds: list[dict[str, int]] = field(default_factory=list)
    tasks: dict[str, int] = field(default_factory=dict)
    makespan: list[int] = field(default_factory=list)
    no_core: list[float] = field(default_factory=list)

    def time(self, kind: str) -> float:
        return float(median(run.get(kind, 0) for run in self.kinds))

    def all(self) -> float:
        return float(median(sum(run.values()) for run in self.kinds))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, default=ROOT / "build" / "release", help="Marline, and apps/ beside it")
    parser.add_argument("--grains", type=int, nargs="+", default=[4, 8, 16, 32, 64], help="tasks per loop (4 to 64)")
    parser.add_argument("--runs", type=int, default=5, help="of each point (5)")
    parser.add_argument("--size", type=int, default=30, help="elements along an edge of the cube of one rank (30)")
    parser.add_argument("--cycles", type=int, default=20, help="(20)")
    parser.add_argument("--markdown", type=Path, help="write the page there instead of printing it")
    return parser.parse_args()


def command(options: argparse.Namespace, way: Way, grain: int, trace: Path) -> list[str]:
    program = options.prefix / "apps" / "lulesh-clang19-openmpi"
    return [str(options.prefix / "bin" / "marline"), "run", "--no-bind", "-n", str(way.ranks), "-t", str(way.threads),
            "--trace", str(trace), "--", str(program), "-s", str(way.size), "-i", str(options.cycles), "-q", "--form",
            "tasks", "-tel", str(grain), "-tnl", str(grain)]  # fmt: skip


def record(words: list[str]) -> None:
    environment = os.environ | {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    if result.returncode != 0:
        sys.exit(f"inflation: {' '.join(words)}: status {result.returncode}: {result.stderr.strip()}")


def add(point: Point, trace: Path, way: Way) -> None:
    from marline.report.several.compare import summary
    from marline.trace.analysis import Analysis
    from marline.trace.read.reader import read_trace

    of = Analysis(read_trace(trace), windows=1)
    found = summary(of)
    rows = [row for row in found["kinds"] if row[way.figure] and row["tasks"]]
    point.kinds.append({name(row): row[way.figure] for row in rows})
    point.tasks |= {name(row): row["messages" if way.figure == "communication_ns" else "tasks"] for row in rows}
    point.makespan.append(found["makespan_ns"])
    point.no_core.append(without_core(of.trace))


def without_core(trace: Trace) -> float:
    """The part of the time of all recorded threads, from MPI_Init to MPI_Finalize, in which they were ready to run and
    had no core."""
    threads = Counter(rank for rank, _ in set(zip(trace.rank.tolist(), trace.thread.tolist())))
    whole = sum(threads[rank] * (one["machine_end"]["monotonic_ns"] - one["machine_begin"]["monotonic_ns"])
                for rank, one in trace.ranks.items())  # fmt: skip
    return float(sum(one["waited_for_core_ns"] for one in trace.ranks.values()) / max(whole, 1))


def name(row: dict[str, Any]) -> str:
    """`task_forces tasks.c:129` is the kind `forces`."""
    return str(row["name"]).split()[0].removeprefix("task_")


def measure(options: argparse.Namespace, way: Way, folder: Path) -> dict[int, Point]:
    points: dict[int, Point] = {grain: Point() for grain in options.grains}
    order = random.Random(1)
    for number in range(options.runs):
        for grain in order.sample(options.grains, len(options.grains)):
            trace = folder / f"{way.figure}-{grain}-{number}"
            record(command(options, way, grain, trace))
            add(points[grain], trace, way)
            said = f"\r{way.title}: round {number + 1}/{options.runs}, {grain} tasks per loop   "
            print(said, end="", file=sys.stderr)
    print(file=sys.stderr)
    return points


def table(way: Way, points: dict[int, Point]) -> list[str]:
    reference = min(points, key=lambda grain: points[grain].all())
    best = points[reference]
    kinds = sorted({kind for point in points.values() for kind in point.tasks}, key=lambda kind: -best.time(kind))
    what = "messages" if way.figure == "communication_ns" else "tasks"
    heads = " | ".join(map(str, points))
    lines = [f"| kind | {what} at {reference} | ms at {reference} | {heads} |",
             "|---|---:|---:|" + "---:|" * len(points)]  # fmt: skip
    for kind in kinds:
        ratios = " | ".join(f"{point.time(kind) / best.time(kind):.2f}" if best.time(kind) else "-"
                            for point in points.values())  # fmt: skip
        lines.append(f"| `{kind}` | {best.tasks.get(kind, 0):,} | {best.time(kind) / 1e6:.2f} | {ratios} |")
    ratios = " | ".join(f"**{point.all() / best.all():.2f}**" for point in points.values())
    lines.append(f"| **all** | | {best.all() / 1e6:.2f} | {ratios} |")
    runs = [[total(run) / best.all() for run in point.kinds] for point in points.values()]
    spread = " | ".join(f"{min(some):.2f} to {max(some):.2f}" for some in runs)
    lines.append(f"| all, least to most of the runs | | | {spread} |")
    makespans = " | ".join(f"{median(point.makespan) / 1e6:.1f}" for point in points.values())
    lines.append(f"| makespan, ms | | | {makespans} |")
    lines.append("| thread time without a core | | | "
                 + " | ".join(f"{100 * median(point.no_core):.1f} %" for point in points.values()) + " |")  # fmt: skip
    return lines


def total(run: dict[str, int]) -> int:
    return sum(run.values())


def page(options: argparse.Namespace, found: list[tuple[Way, dict[int, Point]]], load: float) -> str:
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout.strip() or "unknown"  # fmt: skip
    lines = ["# Inflation of LULESH's work and messages over the grain", "",
             "Made by `bench/lulesh/inflation.py`; not edited. [What inflation is](../design/passes.md).", "",
             f"{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs, load {load:.1f} when it began; commit "
             f"{commit}; {options.cycles} cycles, median of {options.runs} runs. Columns are tasks per loop; 1.00 is "
             "the grain at which all kinds together take least. Two recorded runs can be compared in this way by "
             "`marline report A B`.", ""]  # fmt: skip
    for way, points in found:
        lines += [f"## {way.title}", "", f"{way.ranks} rank{'s' * (way.ranks > 1)} of {way.threads} "
                  f"thread{'s' * (way.threads > 1)}, `-s {way.size}`.", "", *table(way, points), ""]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    options = parse()
    options.prefix = options.prefix.resolve()
    if options.runs < 1 or min(options.grains) < 1:
        sys.exit("inflation: --runs and --grains need numbers from 1 on")
    sys.path.insert(0, str(options.prefix / "lib" / "marline" / "python"))  # beside the library that it loads
    ways = [Way("Work", "work_ns", 1, 2, options.size), Way("Messages", "communication_ns", 8, 1, options.size // 2)]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        text = page(options, [(way, measure(options, way, Path(folder))) for way in ways], load)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
