# SPDX-License-Identifier: Apache-2.0
"""The pass `counters`: what each kind of task has counted (MARLINE_TRACE_COUNTERS), by PAPI on each thread.

The recorder reads a thread's counters where the thread goes from one task to another, or begins or ends a wait (R.
Pereira, thesis, 2023, 4.2.1 and 4.2.2). For the values v of a counter, one after the other on a thread:

    count(task)  = sum of v(i) - v(i-1) over the values i at which the thread left the task
    sum(kind)    = sum of count(task) over the tasks of the kind
    each(kind)   = sum(kind) / tasks of the kind that ran
    per us(kind) = sum(kind) / time of these tasks on threads

What was counted while a task waited, or while a thread was in no task, is a row of its own, and so is code outside of
explicit tasks. From counters of PAPI's names (or perf's) follow, where they are there:

    instructions per cycle            = sum of instructions / sum of cycles
    misses per thousand instructions  = 1000 x sum of the counter / sum of instructions
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import THREAD_BASE, lane_number, texts
from ...read.columns import TimeLines, distinct, find, group_starts, order_of_small, sums
from ...read.records import Trace
from ...registry import Analysis, analysis_pass
from ..of_tasks.work_by_kind import OUTSIDE

WAITS = "waiting threads"
_END = 2  # `point` of a value at which the thread left a task
_INSTRUCTIONS = re.compile(r"PAPI_TOT_INS|(perf::)?(PERF_COUNT_HW_)?INSTRUCTIONS|INST(RUCTIONS)?_RETIRED\S*")
_CYCLES = re.compile(r"PAPI_TOT_CYC|(perf::)?(PERF_COUNT_HW_)?(CPU[-_])?CYCLES|CPU_CLK_\S*")
_MISSES = re.compile(r"PAPI_\w+_(DCM|ICM|TCM|LDM|STM|DM|IM|TLM|MSP)|\S*MISS\S*")


@dataclass
class Counters:
    """`count[row, counter]`: a row per kind of task, then code outside of tasks, then waits. Then columns on what was
    counted between two values on a thread: `task` is the row of tasks, -1 outside of explicit ones, `by` the task's
    id, `outside` whether it was in code outside of tasks, `since` and `lasts` the time."""

    names: list[str]
    rows: list[str]
    tasks: np.ndarray
    time: np.ndarray
    count: np.ndarray
    task: np.ndarray
    counter: np.ndarray
    value: np.ndarray
    by: np.ndarray
    outside: np.ndarray
    since: np.ndarray
    lasts: np.ndarray

    def document(self) -> dict[str, Any]:
        some = np.flatnonzero(self.count.any(axis=1) | (self.tasks > 0))
        order = sorted(some.tolist(), key=lambda row: (self.rows[row] in (OUTSIDE, WAITS), -int(self.time[row])))
        return {"names": self.names, "kinds": [self._row(row) for row in order]}

    def _row(self, row: int) -> dict[str, Any]:
        tasks, time, count = int(self.tasks[row]), int(self.time[row]), self.count[row].tolist()
        return {"name": self.rows[row], "tasks": tasks, "time_ns": time,
                "counters": described(self.names, count, tasks, time),
                "derived": derived(dict(zip(self.names, count)))}  # fmt: skip

    def by_task(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row of tasks, counter, sum), sorted by both."""
        some = np.flatnonzero(self.task >= 0)
        key = self.task[some] * len(self.names) + self.counter[some]
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(group_starts(key[order]))
        total = np.add.reduceat(self.value[some][order], first) if len(first) else np.zeros(0, dtype=np.int64)
        return key[order][first] // len(self.names), key[order][first] % len(self.names), total


def described(names: list[str], count: list[int], tasks: int, time: int) -> list[dict[str, Any]]:
    """Sums and rates of each counter."""
    return [{"name": name, "sum": value, "per_task": value / tasks if tasks else None,
             "per_us": 1000 * value / time if time else None} for name, value in zip(names, count)]  # fmt: skip


def derived(count: dict[str, int]) -> list[dict[str, Any]]:
    """Ratios that the names allow."""
    instructions, cycles = (next((value for name, value in count.items() if pattern.fullmatch(name)), 0)
                            for pattern in (_INSTRUCTIONS, _CYCLES))  # fmt: skip
    if not instructions:
        return []
    found = [{"name": "instructions per cycle", "value": instructions / cycles}] if cycles else []
    return found + [{"name": f"{name} per 1000 instructions", "value": 1000 * value / instructions}
                    for name, value in count.items() if _MISSES.fullmatch(name)]  # fmt: skip


@analysis_pass("counters", needs=("tasks", "kinds", "segments", "owners"))
def counters(of: Analysis) -> Counters:
    """What each kind of task has counted, by PAPI."""
    trace, tasks, kinds, runs, owners = of.trace, of["tasks"], of["kinds"], of["segments"], of["owners"]
    rows = trace.select("counter")
    names, counter = _names(trace, rows)
    last, before = _pairs(trace, rows, counter)
    values = trace.field("counter", "value", rows).view(np.int64)
    value = values[last] - values[before]
    task = trace.task[rows[last]]
    since = trace.time[rows[before]]
    idle = _waits(trace, task, since) | ((task & THREAD_BASE) == 0)
    row = np.where(idle, -1, tasks.index(task))
    outside = len(kinds.names)
    kind = np.where(idle, outside + 1, np.where(row < 0, outside, _at(kinds.of_task, row)))
    number = outside + 2
    count = np.zeros((number, len(names)), dtype=np.int64)
    np.add.at(count, (kind, counter[last]), value)
    ran = np.zeros(len(tasks.id), dtype=bool)
    ran[row[row >= 0]] = True
    of_run = np.where(runs.waits, outside + 1, np.where(owners < 0, outside, _at(kinds.of_task, owners)))
    time = sums(of_run, runs.end - runs.start, number)
    return Counters(names, [*kinds.names, OUTSIDE, WAITS], np.bincount(kinds.of_task[ran], minlength=number), time,
                    count, row, counter[last], value, task, kind == outside, since,
                    trace.time[rows[last]] - since)  # fmt: skip


def _at(column: np.ndarray, row: np.ndarray) -> np.ndarray:
    """0 where there is no row."""
    return column[np.maximum(row, 0)] if len(column) else np.zeros(len(row), dtype=np.int64)


def _names(trace: Trace, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """(names of counters; of each value, the place of its name): ranks number them on their own."""
    named = trace.select("counter_name")
    text = trace.global_task(named, trace.field("counter_name", "text", named))
    known = texts(trace) if len(named) else {}
    of_rank = {(rank, number): known.get(key, f"counter {number}") for rank, number, key in zip(
        trace.rank[named].tolist(), trace.field("counter_name", "counter", named).tolist(), text.tolist())}  # fmt: skip
    key = trace.rank[rows].astype(np.int64) << 16 | trace.field("counter", "counter", rows).astype(np.int64)
    present = distinct(key)
    names: dict[str, int] = {}
    place = np.array([names.setdefault(of_rank.get((one >> 16, one & 0xFFFF), f"counter {one & 0xFFFF}"), len(names))
                      for one in present.tolist()], dtype=np.int64)  # fmt: skip
    return list(names), place[find(present, key)]


def _pairs(trace: Trace, rows: np.ndarray, counter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values at which a thread left a task, the values of the same counter of the thread before them)."""
    order = order_of_small(counter, 1 << 16)
    lane = lane_number(trace.rank[rows], trace.thread[rows])[order]
    same = (lane[1:] == lane[:-1]) & (counter[order][1:] == counter[order][:-1])
    left = trace.field("counter", "point", rows)[order][1:] == _END
    pair = np.flatnonzero(same & left)
    return order[pair + 1], order[pair]


def _waits(trace: Trace, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Whether each task was in a wait (barrier, taskwait) from `time` on. At both ends of a wait there is a value."""
    begins = trace.select("wait_begin")
    events = np.sort(np.concatenate((begins, trace.select("wait_end"))))
    if not len(events):
        return np.zeros(len(task), dtype=bool)
    at = TimeLines(trace.task[events], trace.time[events]).latest(task, time)
    return (at >= 0) & (find(begins, events[np.maximum(at, 0)]) >= 0)
