# SPDX-License-Identifier: Apache-2.0
"""Regions that the program names, and OpenMP's worksharing constructs: when a task was inside of one.

Both nest within a task, so an end belongs to the latest beginning of its task that is still open. Annotations that are
written for another tool nest within a task and a group only, so two of them may overlap in part; and a range has a
number, by which it may end anywhere in its process. `marks` are moments that the program names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..global_graph.openmp import BARRIERS
from ..model import texts
from ..read.calls import nested_pairs
from ..read.records import Trace
from ..registry import Analysis, analysis_pass
from ..statistics import group_by, rows

# ompt_work_t (OpenMP 5.1, 4.4.4.15; schedules from 5.2)
_WORK_NAMES = {1: "loop", 2: "sections", 3: "single (executes)", 4: "single (others)", 5: "workshare", 6: "distribute",
               7: "taskloop", 8: "scope", 9: "workdistribute", 10: "loop, static", 11: "loop, dynamic",
               12: "loop, guided", 13: "loop, other schedule"}  # fmt: skip

_SINGLES, _TASKLOOP = (3, 4), 7


@dataclass
class Spans:
    """`task` was in a construct of `name` (a row of `names`) during [start, end); `closed`: its end is known from
    the records, else it is the trace's."""

    name: np.ndarray
    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray  # where it began
    start: np.ndarray
    end: np.ndarray
    closed: np.ndarray
    color: np.ndarray  # 0xRRGGBB, 0: none
    names: list[str]
    nests: np.ndarray  # no other one of its task begins inside and ends outside of it, or the other way round

    def document(self) -> list[dict[str, Any]]:
        """Per name and rank; `max_thread_ns`: the sum of the thread with the most."""
        duration = self.end - self.start
        groups = group_by(self.name, self.rank)
        by_thread = group_by(self.name, self.rank, self.thread)
        most = group_by(by_thread.key(self.name), by_thread.key(self.rank))
        total = groups.sum(duration)
        return rows(
            name=[self.names[one] for one in groups.key(self.name).tolist()], rank=groups.key(self.rank),
            count=groups.count, total_ns=total, mean_ns=total / groups.count, min_ns=groups.min(duration),
            max_ns=groups.max(duration), open=groups.sum((~self.closed).astype(np.int64)), threads=most.count,
            max_thread_ns=most.max(by_thread.sum(duration)),
        )  # fmt: skip


@dataclass
class Marks:
    """At `time` the program marked `name` (a row of `names`)."""

    name: np.ndarray
    task: np.ndarray
    rank: np.ndarray
    thread: np.ndarray
    time: np.ndarray
    names: list[str]

    def document(self) -> list[dict[str, Any]]:
        """Per name and rank."""
        groups = group_by(self.name, self.rank)
        return rows(name=[self.names[one] for one in groups.key(self.name).tolist()], rank=groups.key(self.rank),
                    count=groups.count, first_ns=groups.min(self.time), last_ns=groups.max(self.time))  # fmt: skip


@analysis_pass("regions")
def regions(of: Analysis) -> Spans:
    """marline_region_begin to marline_region_end, and the regions of NVTX, Caliper and Score-P."""
    trace = of.trace
    begins, ends = (np.r_[trace.select(f"region_{edge}"), trace.select(f"group_{edge}")] for edge in ("begin", "end"))
    nested = _pairs(trace, begins, ends, trace.task[np.r_[begins, ends]])
    partner, nests = nested, np.ones(len(begins), dtype=bool)
    if len(trace.select("group_begin")) or len(trace.select("group_end")):
        group = np.r_[_groups(trace, "region_begin", "group_begin"), _groups(trace, "region_end", "group_end")]
        partner = _pairs(trace, begins, ends, _one_key(trace.task[np.r_[begins, ends]], group))
        nests = partner == nested
    first, last = trace.select("range_begin"), trace.select("range_end")
    number = np.r_[trace.field("range_begin", "range", first), trace.field("range_end", "range", last)]
    ranges = _pairs(trace, first, last, _one_key(trace.rank[np.r_[first, last]], number))
    # The fields of group_begin stand where those of region_begin do.
    texts_of = np.r_[_texts(trace, "region_begin", begins), _texts(trace, "range_begin", first)]
    color = np.r_[trace.field("region_begin", "color", begins), trace.field("range_begin", "color", first)]
    names, name = _named(trace, np.r_[begins, first], texts_of)
    return _spans(trace, np.r_[begins, first], np.r_[partner, ranges], name, names, color,
                  np.r_[nests, np.zeros(len(first), dtype=bool)])  # fmt: skip


@analysis_pass("marks")
def marks(of: Analysis) -> Marks:
    """Moments that the program marks (NVTX)."""
    trace = of.trace
    found = trace.select("mark")
    names, name = _named(trace, found, _texts(trace, "mark", found))
    return Marks(name, trace.task[found], trace.rank[found].astype(np.int64), trace.thread[found], trace.time[found],
                 names)  # fmt: skip


def thread_names(trace: Trace) -> dict[tuple[int, int], str]:
    """By rank and thread: what the program calls some of its threads; the last name counts."""
    found = trace.select("thread_name")
    names, name = _named(trace, found, _texts(trace, "thread_name", found))
    thread = trace.field("thread_name", "thread", found).tolist()
    return {(rank, one): names[row] for rank, one, row in zip(trace.rank[found].tolist(), thread, name.tolist())}


@analysis_pass("worksharing")
def worksharing(of: Analysis) -> Spans:
    """Loops, sections, single and the like, by kind; the time of a thread in it, waits at its end not counted. GCC
    reports no end of a `single`: it is over where its task meets the next construct or barrier, or ends. So is any
    construct whose end was not recorded, at the latest."""
    begins, ends = of.trace.select("work_begin"), of.trace.select("work_end")
    kind = of.trace.field("work_begin", "kind", begins)
    names, name = _rows_of({one: _WORK_NAMES.get(one, f"work of kind {one}") for one in kind.tolist()}, kind)
    partner = _pairs(of.trace, begins, ends, of.trace.task[np.r_[begins, ends]])
    end = np.where(partner >= 0, partner, _next_of_task(of.trace, begins, kind))
    nothing = np.zeros(len(begins), dtype=np.int64)
    spans = _spans(of.trace, begins, end, name, names, nothing, nothing == 0)
    spans.closed &= (partner >= 0) | np.isin(kind, _SINGLES)
    return spans


def _next_of_task(trace: Trace, begins: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Of each construct the next record at which its task is in no construct or in another one, or -1. A taskloop may
    lie inside of another construct. Records of a thread stand in order, and a task in a construct stays on its."""
    constructs, syncs = np.flatnonzero(kind != _TASKLOOP), trace.select("sync_begin")
    barriers = syncs[np.isin(trace.field("sync_begin", "kind", syncs), BARRIERS)]
    events = np.r_[begins[constructs], barriers, trace.select("implicit_end")]
    order = np.lexsort((events, trace.task[events]))
    in_order = events[order]
    same = trace.task[in_order[1:]] == trace.task[in_order[:-1]]
    following = np.full(len(events), -1)
    following[order[:-1]] = np.where(same, in_order[1:], -1)
    found = np.full(len(begins), -1)
    found[constructs] = following[: len(constructs)]
    return found


def _groups(trace: Trace, own: str, others: str) -> np.ndarray:
    """0 for regions of marline/trace.h."""
    rows_of_others = trace.select(others)
    return np.r_[np.zeros(len(trace.select(own)), np.uint64), trace.field(others, "group", rows_of_others)]


def _one_key(*columns: np.ndarray) -> np.ndarray:
    """One number for each combination of values."""
    groups = group_by(*columns)
    key = np.empty(len(groups.order), dtype=np.int64)
    key[groups.order] = np.repeat(np.arange(len(groups.count)), groups.count)
    return key


def _texts(trace: Trace, event: str, found: np.ndarray) -> np.ndarray:
    """Keys of `texts`. All events with a name have it in the same field."""
    return trace.global_task(found, trace.field(event, "text", found))


def _named(trace: Trace, events: np.ndarray, key: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names in order, and of each event the row of its name."""
    known = texts(trace) if len(events) else {}
    return _rows_of({one: known.get(one, "region") for one in key.tolist()}, key)


def _rows_of(names: dict[int, str], key: np.ndarray) -> tuple[list[str], np.ndarray]:
    in_order = sorted(set(names.values()))
    place = {name: number for number, name in enumerate(in_order)}
    return in_order, np.array([place[names[one]] for one in key.tolist()], dtype=np.int64)


def _pairs(trace: Trace, begins: np.ndarray, ends: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Of each beginning the record of its end, or -1. `key`: of the beginnings, then of the ends."""
    events = np.r_[begins, ends]
    # Records of one thread stand in order, whatever their times say.
    order = np.argsort(events, kind="stable")
    opens = (np.arange(len(events)) < len(begins))[order]
    partner = np.full(len(events), -1, dtype=np.int64)
    pairs = nested_pairs(key[order], trace.time[events[order]], opens)
    partner[order] = np.where(pairs >= 0, events[order[pairs]], -1) if len(order) else pairs
    return partner[: len(begins)]


def _spans(trace: Trace, begins: np.ndarray, ends: np.ndarray, name: np.ndarray, names: list[str], color: np.ndarray,
           nests: np.ndarray) -> Spans:  # fmt: skip
    """`ends`: of each beginning the record of its end, or -1."""
    end = np.where(ends >= 0, trace.time[ends], trace.time.max())
    return Spans(name, trace.task[begins], trace.rank[begins].astype(np.int64), trace.thread[begins],
                 trace.time[begins], end, ends >= 0, color, names, nests)  # fmt: skip
