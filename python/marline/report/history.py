# SPDX-License-Identifier: Apache-2.0
"""Key figures of runs, kept for each commit, for continuous integration: `--summary DIR` stores those of a trace as a
small file, `--history DIR` prints a line for each commit.

A change is that of the median makespan from the commit before. `p` is how likely a difference in rank of that size, or
a larger one, is if both commits are equally fast: the exact two-sided test of Mann and Whitney (1947) on the newest
runs of both, which supposes nothing about how times are distributed. With three runs of each it cannot be below 0.1,
with four not below 0.029."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from marline.errors import Refusal
from marline.units import duration, percent

FORMAT = "marline-summary 1"
FIGURES = ("makespan_ns", "efficiency", "idle_share", "overhead_share", "span_ns", "path_ns", "tasks", "grain_ns")
COLUMNS = ("program", "commit", "date", "runs", "change", "p", *FIGURES)
LEAST_RUNS, MOST_RUNS = 3, 8  # of a commit, for the test: C(16, 8) = 12,870 ways to divide them
SURE = 0.05


def summary(document: dict[str, Any], commit: str | None) -> dict[str, Any]:
    """What is kept of a report. Without `commit`: that of the repository around this folder."""
    total, graph, path = document["total"], document["graph"], document["critical_path"]
    values = (total["makespan_ns"], total["work_share"], total["idle_share"], total["overhead_share"], path["span_ns"],
              path["path_ns"], graph["tasks"], graph["grain_ns"]["median"])  # fmt: skip
    name, date = (commit, _now()) if commit else _commit_here()
    return {"format": FORMAT, "commit": name, "date": date, "program": _program(document),
            "figures": dict(zip(FIGURES, values, strict=True))}  # fmt: skip


def _program(document: dict[str, Any]) -> str:
    """Runs are compared with runs of the same."""
    program, ranks = document["program"], document["ranks"]
    words = [Path(program["exe"]).name, *program["argv"][1:]]
    return f"{' '.join(words)} ({len(ranks)} x {max(rank['threads'] for rank in ranks)})"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _commit_here() -> tuple[str, str]:
    try:
        result = subprocess.run(["git", "log", "-1", "--format=%H %ct"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "") or str(error)
        reason = why.strip().partition("\n")[0]
        raise Refusal(f"--summary: git does not say which commit this is ({reason}): give --commit NAME") from error
    name, seconds = result.stdout.split()
    return name, datetime.fromtimestamp(int(seconds), timezone.utc).isoformat(timespec="seconds")


def store(found: dict[str, Any], folder: Path) -> Path:
    """A file of its own for each run: jobs may store theirs at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    word = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in found["commit"])[:40]
    text = json.dumps(found, indent=1) + "\n"
    number = 1
    while True:
        path = folder / f"{word}-{number}.json"
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8") as file:
                file.write(text)
            return path
        except FileExistsError:
            number += 1


@dataclass
class Line:
    """A commit's runs of a program. `change`, `p`: against the commit before; None: there is none."""

    program: str
    commit: str
    date: str
    figures: list[dict[str, float]] = field(default_factory=list)
    change: float | None = None
    p: float | None = None

    def median(self, name: str) -> float:
        return median(run[name] for run in self.figures)

    @property
    def is_sure(self) -> bool:
        return self.p is not None and self.p < SURE

    def document(self) -> dict[str, Any]:
        return {"program": self.program, "commit": self.commit, "date": self.date, "runs": len(self.figures),
                "change": self.change, "p": self.p} | {name: self.median(name) for name in FIGURES}  # fmt: skip


def read(folder: Path) -> list[Line]:
    """By program, and in each by the date of the commit."""
    if not folder.is_dir():
        raise Refusal(f"--history {folder}: no such folder: store runs there by `marline report TRACE --summary DIR`")
    files = sorted(folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    if not files:
        raise Refusal(f"--history {folder}: holds no summaries (*.json): store some by --summary {folder}")
    lines: dict[tuple[str, str], Line] = {}
    for path in files:
        one = _read_summary(path)
        line = lines.setdefault((one["program"], one["commit"]), Line(one["program"], one["commit"], one["date"]))
        line.date = min(line.date, one["date"])
        line.figures.append(one["figures"])
    ordered = sorted(lines.values(), key=lambda line: (line.program, line.date))
    for before, line in zip(ordered, ordered[1:]):
        if before.program == line.program:
            _compare(before, line)
    return ordered


def _read_summary(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise Refusal(f"{path}: format {found['format']!r}, expected {FORMAT!r}: store the run again")
        found["figures"] = {name: float(found["figures"][name]) for name in FIGURES}
        return {key: found[key] for key in ("program", "commit", "date", "figures")}
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{path}: not a summary of `marline report --summary` ({error!r}): remove it") from error


def _compare(before: Line, line: Line) -> None:
    one, other = (which.median("makespan_ns") for which in (before, line))
    line.change = other / one - 1 if one else None
    newest = [[run["makespan_ns"] for run in which.figures[-MOST_RUNS:]] for which in (before, line)]
    line.p = mann_whitney(*newest) if min(map(len, newest)) >= LEAST_RUNS else None


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float:
    """Exact, two-sided; equal values share their ranks. Of all ways to divide the values in two: how many have rank
    sums at least as far from the mean."""
    values = sorted([*one, *other])
    rank = {value: values.index(value) + (values.count(value) + 1) / 2 for value in values}
    ranks = [rank[value] for value in (*one, *other)]
    mean = len(one) * (len(ranks) + 1) / 2
    distance = abs(sum(ranks[: len(one)]) - mean)
    ways = [abs(sum(chosen) - mean) >= distance - 1e-9 for chosen in combinations(ranks, len(one))]
    return sum(ways) / len(ways)


def write_csv(lines: Iterable[Line], file: TextIO) -> None:
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(line.document() for line in lines)


def print_history(lines: Sequence[Line], console: Console) -> None:
    """A table for each program. An asterisk stands at a change that is hardly chance."""
    for program in dict.fromkeys(line.program for line in lines):
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("commit", no_wrap=True)
        for title in ("date", "runs", "makespan", "change", "p", "efficiency", "critical path"):
            table.add_column(title, justify="right", no_wrap=True)
        for line in lines:
            if line.program == program:
                p = "" if line.p is None else f"{line.p:.2g}"
                table.add_row(line.commit[:12], line.date[:10], str(len(line.figures)),
                              duration(line.median("makespan_ns")), _change(line), p,
                              percent(line.median("efficiency"), 1), duration(line.median("path_ns")))  # fmt: skip
        console.print(program, style="bold")
        console.print(table)
    if any(line.is_sure for line in lines):
        console.print(f"* p < {SURE}: hardly chance")


def _change(line: Line) -> str:
    return "" if line.change is None else f"{100 * line.change:+.1f} %{' *' if line.is_sure else '  '}"
