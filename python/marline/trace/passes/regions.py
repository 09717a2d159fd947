# SPDX-License-Identifier: Apache-2.0
"""Regions that the program names, and OpenMP's worksharing constructs: when a task was inside of one.

Both nest within a task, so an end belongs to the latest beginning of its task that is still open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import texts
from ..read.calls import nested_pairs
from ..read.records import Trace
from ..registry import Analysis, analysis_pass
from ..statistics import group_by, rows

# ompt_work_t (OpenMP 5.1, 4.4.4.15; schedules from 5.2)
_WORK_NAMES = {1: "loop", 2: "sections", 3: "single (executes)", 4: "single (others)", 5: "workshare", 6: "distribute",
               7: "taskloop", 8: "scope", 9: "workdistribute", 10: "loop, static", 11: "loop, dynamic",
               12: "loop, guided", 13: "loop, other schedule"}  # fmt: skip


@dataclass
class Spans:
    """`task` was in a construct of `name` (a row of `names`) during [start, end); `closed`: its end was recorded, else
    it is the trace's."""

    name: np.ndarray
    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray  # where it began
    start: np.ndarray
    end: np.ndarray
    closed: np.ndarray
    color: np.ndarray  # 0xRRGGBB, 0: none
    names: list[str]

    def document(self) -> list[dict[str, Any]]:
        """Per name and rank."""
        duration = self.end - self.start
        groups = group_by(self.name, self.rank)
        total = groups.sum(duration)
        return rows(
            name=[self.names[one] for one in groups.key(self.name).tolist()], rank=groups.key(self.rank),
            count=groups.count, total_ns=total, mean_ns=total / groups.count, min_ns=groups.min(duration),
            max_ns=groups.max(duration), open=groups.sum((~self.closed).astype(np.int64)),
        )  # fmt: skip


@analysis_pass("regions")
def regions(of: Analysis) -> Spans:
    """marline_region_begin to marline_region_end."""
    begins = of.trace.select("region_begin")
    key = of.trace.global_task(begins, of.trace.field("region_begin", "text", begins))
    known = texts(of.trace)
    names = {one: known.get(one, "region") for one in key.tolist()}
    color = of.trace.field("region_begin", "color", begins)
    return _spans(of.trace, begins, of.trace.select("region_end"), names, key, color)


@analysis_pass("worksharing")
def worksharing(of: Analysis) -> Spans:
    """Loops, sections, single and the like, by kind; the time of a thread in it, waits at its end not counted."""
    begins = of.trace.select("work_begin")
    kind = of.trace.field("work_begin", "kind", begins)
    names = {one: _WORK_NAMES.get(one, f"work of kind {one}") for one in kind.tolist()}
    return _spans(of.trace, begins, of.trace.select("work_end"), names, kind, np.zeros(len(begins), dtype=np.int64))


def _spans(trace: Trace, begins: np.ndarray, ends: np.ndarray, names: dict[int, str], key: np.ndarray,
           color: np.ndarray) -> Spans:  # fmt: skip
    events = np.concatenate([begins, ends])
    # Records of one thread stand in order, whatever their times say.
    order = np.argsort(events, kind="stable")
    opens = (np.arange(len(events)) < len(begins))[order]
    partner = np.full(len(events), -1, dtype=np.int64)
    pairs = nested_pairs(trace.task[events[order]], trace.time[events[order]], opens)
    partner[order] = np.where(pairs >= 0, order[pairs], -1) if len(order) else pairs
    partner = partner[: len(begins)]
    closed = partner >= 0
    end = np.where(closed, trace.time[events[partner]] if len(events) else 0, trace.time.max())
    sorted_names = sorted(set(names.values()))
    place = {name: number for number, name in enumerate(sorted_names)}
    name = np.array([place[names[one]] for one in key.tolist()], dtype=np.int64)
    return Spans(name, trace.task[begins], trace.rank[begins].astype(np.int64), trace.thread[begins],
                 trace.time[begins], end, closed, color, sorted_names)  # fmt: skip
