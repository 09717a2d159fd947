# SPDX-License-Identifier: Apache-2.0
"""Lanes: rows of a drawing in which bars never overlap; and times that are covered by intervals."""

from __future__ import annotations

import heapq

import numpy as np


def lowest_lanes(group: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Lowest free lane of its group (a rank, say) for each interval, in order of start."""
    lane = np.zeros(len(start), dtype=np.int64)
    for one in np.unique(group):
        mine = np.flatnonzero(group == one)
        free: list[int] = []
        busy: list[tuple[int, int]] = []  # (end, lane)
        lanes = 0
        for row in mine[np.argsort(start[mine], kind="stable")].tolist():
            while busy and busy[0][0] <= start[row]:
                heapq.heappush(free, heapq.heappop(busy)[1])
            if not free:
                heapq.heappush(free, lanes)
                lanes += 1
            lane[row] = heapq.heappop(free)
            heapq.heappush(busy, (int(end[row]), int(lane[row])))
    return lane


def union(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same times as intervals that neither overlap nor touch, in order."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order]) if len(order) else end
    first = np.r_[True, start[1:] > end[:-1]][: len(start)]
    last = np.r_[first[1:], True][: len(start)]
    return start[first], end[last]


def without(start: np.ndarray, end: np.ndarray, off_start: np.ndarray,
            off_end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is left of some times without others; both as union() gives them."""
    edges = np.concatenate([start, end, off_start, off_end])
    change = np.repeat([1, -1, -2, 2], [len(start), len(end), len(off_start), len(off_end)])
    edges, where = np.unique(edges, return_inverse=True)
    level = np.cumsum(np.bincount(where, weights=change, minlength=len(edges)))
    kept = np.flatnonzero(level[:-1] == 1) if len(edges) else np.zeros(0, dtype=np.int64)
    return union(edges[kept], edges[kept + 1])
