# SPDX-License-Identifier: Apache-2.0
"""Several runs of one program as one: the median of each figure, and how likely it is that a difference between two
such sets of runs is chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from marline.report.history import SURE, mann_whitney

Summary = Mapping[str, Any]  # of one run (compare.py)
ENOUGH_RUNS = 4  # of each side: with fewer, no difference can be sure
MOST_RUNS = 6  # of each side, the last ones: C(12, 6) = 924 ways to divide them, for each row of each table


def folders_of(word: Path) -> list[Path]:
    """`A1,A2,A3` names three runs; a folder that is called so is one."""
    return [word] if word.exists() or "," not in str(word) else [Path(one) for one in str(word).split(",") if one]


def median_of(runs: Sequence[Any]) -> Any:
    """Of summaries, or of their parts. Rows of tables belong together by name; a run without a row has 0 there. What is
    no number is that of the first run."""
    first = runs[0]
    if len(runs) == 1 or any(one is None for one in runs):
        return first if len(runs) == 1 else None
    if isinstance(first, Mapping):
        keys = list(dict.fromkeys(key for one in runs for key in one))
        return {key: median_of([one.get(key, 0) for one in runs]) for key in keys}
    if isinstance(first, list) and all(isinstance(row, Mapping) and "name" in row for one in runs for row in one):
        return [_row(name, runs) for name in dict.fromkeys(row["name"] for one in runs for row in one)]
    if not isinstance(first, (int, float)):
        return first
    middle = median(runs)
    return int(middle) if middle == int(middle) else middle


def _row(name: str, tables: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    found = [row for table in tables for row in table if row["name"] == name]
    absent = [dict.fromkeys(found[0], 0)] * (len(tables) - len(found))
    keys = [key for key in found[0] if key != "name"]
    return {"name": name} | {key: median_of([row[key] for row in (*found, *absent)]) for key in keys}


def values(runs: Iterable[Summary], table: str, name: str, key: str) -> list[float]:
    """A figure of a row, run by run."""
    return [next((row[key] for row in run[table] if row["name"] == name), 0) for run in runs]


def chance(first: Sequence[float], second: Sequence[float]) -> float | None:
    """How likely a difference like this, or a larger one, is if both sides are equal. None: one side has a single run,
    of which nothing is known. (With two or three of each it is 0.1 at the least.)"""
    if min(len(first), len(second)) < 2:
        return None
    return mann_whitney(first[-MOST_RUNS:], second[-MOST_RUNS:])


def is_sure(p: float | None) -> bool:
    """Of single runs nothing is known of their noise: their differences count."""
    return p is None or p < SURE


def chance_text(p: float | None) -> str:
    if p is None:
        return "not known"
    return f"{'hardly' if p < SURE else 'may be'} (p = {p:.2g})"
