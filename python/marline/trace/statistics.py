# SPDX-License-Identifier: Apache-2.0
"""Small summaries that several passes give: of a column, and of a column by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .read.columns import group_starts

FEW = 1000


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


def _order_of_few(keys: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """The order of keys that lie in small ranges, so that all together are one 16-bit number, which NumPy sorts much
    faster; None: they do not, or are too few to care."""
    if len(keys[0]) < FEW:
        return None
    place, span = np.zeros(len(keys[0]), dtype=np.uint16), 1
    for key in keys:
        if key.dtype.kind not in "iu":
            return None
        least = key.min()
        width = int(key.max()) - int(least) + 1
        span *= width
        if span > 1 << 16:
            return None
        place = place * np.uint16(width if width < 1 << 16 else 1) + (key - least).astype(np.uint16)
    return np.argsort(place, kind="stable")


def group_by(*keys: np.ndarray) -> Groups:
    """Groups of equal keys, sorted by the first key, then the second, and so on. In a group the order stays."""
    order = _order_of_few(keys)
    if order is None:
        order = np.lexsort(keys[::-1])
    first = np.flatnonzero(group_starts(*(key[order] for key in keys)))
    return Groups(order, first, np.diff(np.r_[first, len(order)]))


def rows(**columns: np.ndarray | list[Any]) -> list[dict[str, Any]]:
    """A table as JSON takes it: a dictionary per row."""
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, values)) for values in zip(*lists)]
