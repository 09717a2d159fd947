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
from ..read.columns import overlaps
from ..registry import Analysis, analysis_pass
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
        at = np.searchsorted(self._time, time, side="right") - 1
        safe = np.maximum(at, 0)
        return np.where(at >= 0, self._done[safe] + self._working[safe] * (time - self._time[safe]), 0)


def work_of(of: Analysis, rank: int) -> _Work:
    runs, mpi, explicit = of["segments"], of["in_mpi"], of["owners"] >= 0
    mine = runs.rank == rank
    if (explicit & mine).any():
        mine &= explicit
    rows = np.flatnonzero(mine & ~runs.waits)
    inside = overlaps(runs.task[rows], runs.start[rows], runs.end[rows], mpi.task, mpi.start, mpi.end)
    return _Work(runs.start[rows], runs.end[rows], inside.start, inside.end)


def _threads(lanes: Lanes, ranks: np.ndarray) -> np.ndarray:
    return np.array([np.count_nonzero(lanes.rank == rank) for rank in ranks], dtype=np.int64)


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
    work = np.zeros(len(ranks), dtype=np.int64)
    for number, rank in enumerate(ranks.tolist()):
        done = work_of(of, rank)
        mine = sender == rank
        work[number] = int((done.until(end[mine]) - done.until(start[mine])).sum())
    place = np.searchsorted(ranks, sender)
    return Overlap(ranks, _threads(all_lanes(of.trace, of["segments"], of["calls"]), ranks),
                   np.bincount(place, minlength=len(ranks)),
                   np.array([int((end - start)[sender == rank].sum()) for rank in ranks], dtype=np.int64),
                   work)  # fmt: skip
