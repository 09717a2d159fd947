# SPDX-License-Identifier: Apache-2.0
"""The numbers by which everything that is shown calls threads: OpenMP's own (omp_get_thread_num), from 0.

The recorder numbers the threads of a process from 1, in the order of their first records, which need not be OpenMP's.
A thread has the number of its first implicit task. Where two have the same one, as in teams of teams, the first thread
has it; the others, and threads that OpenMP does not know, follow after the greatest, in the recorder's order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .model import INITIAL, lane_number
from .read.columns import distinct, find, group_starts
from .read.records import Trace


class ThreadNumbers:
    """By rank and the recorder's number of the thread."""

    def __init__(self, number: dict[int, int]) -> None:
        self._lane = np.array(sorted(number), dtype=np.int64)
        self._number = np.array([number[lane] for lane in self._lane.tolist()], dtype=np.int64)

    def of(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """-1: a thread that the trace does not have."""
        at = find(self._lane, lane_number(rank, thread))
        return np.where(at >= 0, self._number[at] if len(self._number) else -1, -1)

    def one(self, rank: int, thread: int) -> int:
        return int(self.of(np.array([rank]), np.array([thread]))[0])

    def in_order(self, rank: int, threads: Iterable[int]) -> list[int]:
        """These threads of a rank by their numbers."""
        return sorted(threads, key=lambda thread: self.one(rank, thread))


def thread_numbers(trace: Trace) -> ThreadNumbers:
    if trace.thread_numbers is None:
        trace.thread_numbers = ThreadNumbers(_numbers(trace))
    found: ThreadNumbers = trace.thread_numbers
    return found


def _numbers(trace: Trace) -> dict[int, int]:
    begins = trace.select("implicit_begin")
    firsts = begins[group_starts(trace.rank[begins], trace.thread[begins])]
    index = trace.field("implicit_begin", "index", firsts).astype(np.int64)
    index[trace.field("implicit_begin", "flags", firsts) & INITIAL != 0] = 0
    wanted = dict(zip(lane_number(trace.rank[firsts], trace.thread[firsts]).tolist(), index.tolist()))
    lanes: dict[int, list[int]] = {}
    for lane in _all_lanes(trace):
        lanes.setdefault(lane >> 16, []).append(lane)
    found: dict[int, int] = {}
    for of_rank in lanes.values():
        taken: dict[int, int] = {}
        for lane in of_rank:
            if lane in wanted:
                taken.setdefault(wanted[lane], lane)
        mine = {lane: number for number, lane in taken.items()}
        others = (lane for lane in of_rank if lane not in mine)
        found |= mine | {lane: number for number, lane in enumerate(others, max(taken, default=-1) + 1)}
    return found


def _all_lanes(trace: Trace) -> list[int]:
    """With records, or, of threads whose records are lost, with page faults."""
    first = group_starts(trace.rank, trace.thread)
    described = [rank << 16 | int(one["thread"]) for rank, process in trace.ranks.items()
                 for one in process.get("threads", [])]  # fmt: skip
    lanes: list[int] = distinct(np.r_[lane_number(trace.rank[first], trace.thread[first]),
                                      np.array(described, dtype=np.int64)]).tolist()  # fmt: skip
    return lanes
