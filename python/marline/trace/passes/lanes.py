# SPDX-License-Identifier: Apache-2.0
"""Threads as rows and time windows as columns of the breakdown: the grid that intervals are added up in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Segments, lane_number
from ..read.calls import Calls
from ..read.columns import Columns, cut, distinct, find, group_starts, sums
from ..read.records import Trace


@dataclass
class Lanes(Columns):
    """The threads that count, sorted by rank and thread."""

    rank: np.ndarray
    thread: np.ndarray

    def index(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Row of each thread, or -1."""
        return find(lane_number(self.rank, self.thread), lane_number(rank, thread))


def all_lanes(trace: Trace, runs: Segments, calls: Calls) -> Lanes:
    """Of each rank the threads that ever ran a task, explicit or implicit; in a rank where none did, the threads that
    called MPI; if none did that either, all."""
    chosen, taken = [], np.zeros(0, dtype=np.int64)
    every, ran = _first_of_each(trace.rank, trace.thread), _first_of_each(runs.rank, runs.thread)
    for lanes in (ran, distinct(lane_number(calls.rank, calls.start_thread)), every):
        fresh = lanes[~np.isin(lanes >> 16, taken)]
        chosen.append(fresh)
        taken = np.union1d(taken, fresh >> 16)
    lanes = np.sort(np.concatenate(chosen))
    return Lanes(lanes >> 16, lanes & 0xFFFF)


def _first_of_each(rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """The lanes of columns that are sorted by lane."""
    first = group_starts(rank, thread)
    return lane_number(rank[first], thread[first])


def window_edges(begin: int, end: int, windows: int) -> np.ndarray:
    """Integer edges of equally long windows, up to a nanosecond."""
    return begin + np.array([(end - begin) * number // windows for number in range(windows + 1)], dtype=np.int64)


class Pieces:
    """Intervals on lanes, cut at the edges of the windows. `cell` is lane and window in one number."""

    def __init__(self, lanes: Lanes, edges: np.ndarray, lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        known = np.flatnonzero(lane >= 0)
        pieces = cut(start[known], end[known], edges)
        self.lane = lane[known[pieces.a]]
        self.start, self.end = pieces.start, pieces.end
        self._shape = (len(lanes.rank), len(edges) - 1)
        self.cell = self.lane * self._shape[1] + pieces.b

    def total(self) -> np.ndarray:
        """Time per lane and window."""
        return self.sum(self.end - self.start)

    def sum(self, value: np.ndarray) -> np.ndarray:
        """Any value of the pieces, summed per lane and window."""
        return sums(self.cell, value, self._shape[0] * self._shape[1]).reshape(self._shape)
