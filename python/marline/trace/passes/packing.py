# SPDX-License-Identifier: Apache-2.0
"""Lanes: rows of a drawing in which bars never overlap."""

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
