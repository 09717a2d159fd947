# SPDX-License-Identifier: Apache-2.0
"""Small summaries that several passes give: of a column, and of a column by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .read.columns import group_starts


def summary(values: np.ndarray) -> dict[str, float]:
    """Least, mean, median and greatest; zeros of nothing."""
    if not len(values):
        return {"min": 0, "mean": 0.0, "median": 0.0, "max": 0}
    return {"min": int(values.min()), "mean": float(values.mean()), "median": float(np.median(values)),
            "max": int(values.max())}  # fmt: skip


def mean_of(values: np.ndarray) -> float:
    """0 of nothing."""
    return float(values.mean()) if len(values) else 0.0


@dataclass
class Groups:
    """Rows with equal keys, brought together: `order` sorts rows by group, and `first` is where each group begins."""

    order: np.ndarray
    first: np.ndarray
    count: np.ndarray

    def key(self, column: np.ndarray) -> np.ndarray:
        """Of a key column, the value of each group."""
        return column[self.order[self.first]]

    def sum(self, column: np.ndarray) -> np.ndarray:
        """Sum of the group's values."""
        return np.add.reduceat(column[self.order], self.first) if len(self.first) else np.zeros(0, dtype=np.int64)

    def max(self, column: np.ndarray) -> np.ndarray:
        """Greatest of the group's values."""
        return np.maximum.reduceat(column[self.order], self.first) if len(self.first) else np.zeros(0, dtype=np.int64)

    def min(self, column: np.ndarray) -> np.ndarray:
        """Least of the group's values."""
        return np.minimum.reduceat(column[self.order], self.first) if len(self.first) else np.zeros(0, dtype=np.int64)


def group_by(*keys: np.ndarray) -> Groups:
    """Groups of equal keys, sorted by the first key, then the second, and so on."""
    order = np.lexsort(keys[::-1])
    first = np.flatnonzero(group_starts(*(key[order] for key in keys)))
    return Groups(order, first, np.diff(np.r_[first, len(order)]))


def rows(**columns: np.ndarray | list[Any]) -> list[dict[str, Any]]:
    """A table as JSON takes it: a dictionary per row."""
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, values)) for values in zip(*lists)]
