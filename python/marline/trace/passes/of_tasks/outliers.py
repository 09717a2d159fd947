# SPDX-License-Identifier: Apache-2.0
"""The pass `outliers`: tasks that ran much longer than others of their kind.

For the times x of the completed tasks of a kind, m their median and MAD the median of |x - m|:

    score(x) = 0.6745 (x - m) / MAD, and x is an outlier if score(x) > 3.5 and x >= 1.5 m

(B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers, 1993, chapter 3). If more than half of the times are
equal, MAD is 0: then the mean of |x - m|, times 1.2533 / 1.4826, takes its place, as there. Median and MAD do not move
when some tasks are very long, as a mean would. Of tasks that are nearly equal, MAD is so small that the second
condition is needed. The excess of an outlier is x - m. Times are on threads, with the time in MPI. Kinds with fewer
than 5 tasks have no outliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import TASKWAIT, Segments, Tasks
from ...registry import Analysis, analysis_pass
from ...statistics import Groups, group_by, rows
from ...thread_numbers import ThreadNumbers, thread_numbers
from ..picture import Kinds

LIMIT, FEWEST, MOST = 3.5, 5, 10
LEAST = 1.5  # times the median
_NORMAL, _OF_MEAN = 0.6745, 1.2533 / 1.4826


@dataclass
class Outliers:
    """`task`: rows of tasks, the greatest excess first. By row of `kinds` of completed tasks: `kind`, `median`, `mad`,
    `count`. Times in ns."""

    task: np.ndarray
    score: np.ndarray
    excess: np.ndarray
    kind: np.ndarray
    count: np.ndarray
    median: np.ndarray
    mad: np.ndarray
    tasks: Tasks
    kinds: Kinds
    runs: Segments
    threads: ThreadNumbers

    def document(self) -> dict[str, Any]:
        of_kind = self.kinds.of_task[self.task]
        number = np.bincount(of_kind, minlength=len(self.kinds.names))
        excess = np.bincount(of_kind, weights=self.excess, minlength=len(self.kinds.names))
        table = rows(name=[self.kinds.names[one] for one in self.kind.tolist()], tasks=self.count,
                     median_ns=self.median, mad_ns=self.mad, outliers=number[self.kind],
                     excess_ns=excess[self.kind].astype(np.int64))  # fmt: skip
        return {"outliers": len(self.task), "excess_ns": int(self.excess.sum()),
                "kinds": sorted(table, key=lambda row: -row["excess_ns"]), "worst": self._worst()}  # fmt: skip

    def _worst(self) -> list[dict[str, Any]]:
        chosen = self.task[:MOST]
        kind = self.kinds.of_task[chosen]
        median = self.median[np.searchsorted(self.kind, kind)]
        running = self.tasks.running[chosen]
        return rows(name=[self.kinds.names[one] for one in kind.tolist()], rank=self.tasks.rank[chosen],
                    thread=self._threads(chosen), start_ns=self.tasks.start[chosen], running_ns=running,
                    times_median=running / np.maximum(median, 1), score=self.score[:MOST],
                    task=[str(one) for one in self.tasks.id[chosen].tolist()])  # fmt: skip

    def _threads(self, chosen: np.ndarray) -> list[int]:
        """Where each began."""
        ids = self.tasks.id[chosen]
        some = np.flatnonzero(np.isin(self.runs.task, ids))
        number = dict(zip(some.tolist(), self.threads.of(self.runs.rank[some], self.runs.thread[some]).tolist()))
        found: dict[int, int] = {}
        for row in some[np.argsort(self.runs.start[some], kind="stable")].tolist():
            found.setdefault(int(self.runs.task[row]), number[row])
        return [found.get(int(one), -1) for one in ids]


@analysis_pass("outliers", needs=("tasks", "kinds", "segments"))
def outliers(of: Analysis) -> Outliers:
    """Tasks that ran much longer than others of their kind."""
    tasks, kinds = of["tasks"], of["kinds"]
    done = np.flatnonzero(((tasks.flags & TASKWAIT) == 0) & (tasks.end >= 0))
    time, kind = tasks.running[done], kinds.of_task[done]
    groups = group_by(kind, time)
    groups = _whole(groups, kind)
    number = np.repeat(np.arange(len(groups.count)), groups.count)
    order = groups.order
    median = _medians(time[order], groups)
    off = np.abs(time[order] - median[number])
    mad = _medians(off[np.lexsort((off, number))], groups)
    mean = np.add.reduceat(off, groups.first) / groups.count if len(groups.first) else mad
    scale = np.where(mad > 0, mad, _OF_MEAN * mean)
    score = np.zeros(len(order))
    known = (scale[number] > 0) & (groups.count[number] >= FEWEST)
    score[known] = _NORMAL * (time[order] - median[number])[known] / scale[number][known]
    out = np.flatnonzero((score > LIMIT) & (time[order] >= LEAST * median[number]))
    excess = (time[order] - median[number])[out].astype(np.int64)
    worst = np.argsort(-excess, kind="stable")
    return Outliers(done[order[out[worst]]], score[out[worst]], excess[worst], kind[order[groups.first]], groups.count,
                    median, mad, tasks, kinds, of["segments"], thread_numbers(of.trace))  # fmt: skip


def _whole(sorted_by_time: Groups, kind: np.ndarray) -> Groups:
    """Groups of equal kinds, with their times in order."""
    order = sorted_by_time.order
    first = group_by(kind[order])
    return Groups(order, first.first, first.count)


def _medians(ordered: np.ndarray, groups: Groups) -> np.ndarray:
    """Of each group, whose values stand in order."""
    low, high = groups.first + (groups.count - 1) // 2, groups.first + groups.count // 2
    return (ordered[low] + ordered[high]) / 2
