# SPDX-License-Identifier: Apache-2.0
"""How much work was done while messages were under way.

The ratio is that of the thesis (R. Pereira, 2023, 4.1.2): for the messages that leave a rank, the work of its threads
during each of them, over the time that they could have worked meanwhile, which is the message's time on each thread.
1: every thread worked all the while; 0: nothing overlapped. Marline's readings of it:

- A message lasts from the start of the call that sends it to the end of the call in which its receiver, another rank,
  got it. One-sided communication is no message. Collectives have a ratio of their own: a rank's part lasts as long as
  its call, blocking ones only.
- Work is the code of explicit tasks, without waits and without MPI calls; in a rank without explicit tasks, the
  program's code without these.

Messages that are under way at a time count for each: a ratio of sums, not a share of the makespan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..read.calls import kind_mask
from ..read.columns import order_of_small, overlaps, sums
from ..native_base import count_up_to
from ..registry import Analysis, analysis_pass
from ..selection import MOST_RANKS
from .lanes import Lanes, all_lanes


@dataclass
class Overlap:
    """Per rank that sends: how many messages (of collectives: calls), how long they were under way in sum, how many
    threads could have worked, and their work meanwhile, in ns."""

    rank: np.ndarray
    threads: np.ndarray
    messages: np.ndarray
    duration: np.ndarray
    work: np.ndarray

    def document(self) -> dict[str, Any]:
        possible = self.threads * self.duration
        return {
            "ratio": _ratio(int(self.work.sum()), int(possible.sum())),
            "ranks": [
                {"rank": int(self.rank[i]), "threads": int(self.threads[i]), "messages": int(self.messages[i]),
                 "under_way_ns": int(self.duration[i]), "work_ns": int(self.work[i]),
                 "ratio": _ratio(int(self.work[i]), int(possible[i]))}
                for i in range(len(self.rank))
            ],
        }  # fmt: skip


def _ratio(work: int, possible: int) -> float | None:
    return work / possible if possible else None


class _Work:
    """The work of a rank's threads up to a time: the integral of how many of them work."""

    def __init__(self, start: np.ndarray, end: np.ndarray, off_start: np.ndarray, off_end: np.ndarray) -> None:
        """Works in [start, end), but not in [off_start, off_end), which lie inside."""
        time = np.r_[start, end, off_start, off_end]
        step = np.repeat([1, -1, -1, 1], [len(start), len(end), len(off_start), len(off_end)])
        order = np.argsort(time, kind="stable")
        self._time = time[order]
        self._working = np.cumsum(step[order])
        self._done = np.r_[0, np.cumsum(self._working[:-1] * np.diff(self._time))]

    def until(self, time: np.ndarray) -> np.ndarray:
        if not len(self._time):  # a runtime without OMPT tells no tasks
            return np.zeros(len(time), dtype=np.int64)
        at = count_up_to(self._time, time) - 1
        safe = np.maximum(at, 0)
        return np.where(at >= 0, self._done[safe] + self._working[safe] * (time - self._time[safe]), 0)


class WorkOfRanks:
    """The work of each rank. What is known of all ranks is sorted by rank once: a run may have thousands."""

    def __init__(self, of: Analysis) -> None:
        runs, mpi, explicit = of["segments"], of["in_mpi"], of["owners"] >= 0
        has_tasks = np.bincount(runs.rank[explicit], minlength=max(of.trace.ranks) + 1) > 0
        rows = np.flatnonzero(~runs.waits & (explicit | ~has_tasks[runs.rank]))
        rows = rows[order_of_small(runs.rank[rows], MOST_RANKS)]
        inside = overlaps(runs.task[rows], runs.start[rows], runs.end[rows], mpi.task, mpi.start, mpi.end)
        rank = runs.rank[rows]
        order = order_of_small(rank[inside.a], MOST_RANKS)
        self._work = (rank, runs.start[rows], runs.end[rows])
        self._mpi = (rank[inside.a][order], inside.start[order], inside.end[order])

    def of(self, rank: int) -> _Work:
        return _Work(*_of_rank(rank, *self._work), *_of_rank(rank, *self._mpi))

    def during(self, group: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Of each rank in `group`, in order: the sum of its work from each of its starts to the end."""
        order = order_of_small(group, MOST_RANKS)
        group, start, end = group[order], start[order], end[order]
        work = []
        for rank in np.unique(group).tolist():
            done = self.of(rank)
            begins, ends = _of_rank(rank, group, start, end)
            work.append(int((done.until(ends) - done.until(begins)).sum()))
        return np.array(work, dtype=np.int64)


def _of_rank(rank: int, ranks: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """The rows of this rank of columns that are sorted by rank."""
    first, last = np.searchsorted(ranks, [rank, rank + 1])
    return [column[first:last] for column in columns]


def _threads(lanes: Lanes, ranks: np.ndarray) -> np.ndarray:
    return np.bincount(lanes.rank, minlength=int(ranks.max(initial=0)) + 1)[ranks]


@analysis_pass("overlap", needs=("calls", "messages", "segments", "owners", "in_mpi"))
def overlap(of: Analysis) -> Overlap:
    calls, messages = of["calls"], of["messages"]
    away = calls.rank[messages.send] != calls.rank[messages.receive]
    send, receive = messages.send[away], messages.receive[away]
    start = calls.start[send]
    end = np.maximum(calls.end[receive], start)  # the clocks of two nodes agree up to a remainder
    return _overlap(of, calls.rank[send].astype(np.int64), start, end)


@analysis_pass("collectives", needs=("calls", "segments", "owners", "in_mpi"))
def collectives(of: Analysis) -> Overlap:
    calls = of["calls"]
    chosen = kind_mask(calls, "collective")
    return _overlap(of, calls.rank[chosen].astype(np.int64), calls.start[chosen], calls.end[chosen])


def _overlap(of: Analysis, sender: np.ndarray, start: np.ndarray, end: np.ndarray) -> Overlap:
    """Of what was under way from `start` to `end` for the rank `sender`."""
    ranks = np.unique(sender)
    place = np.searchsorted(ranks, sender)
    return Overlap(ranks, _threads(all_lanes(of.trace, of["segments"], of["calls"]), ranks),
                   np.bincount(place, minlength=len(ranks)), sums(place, end - start, len(ranks)),
                   WorkOfRanks(of).during(sender, start, end))  # fmt: skip
