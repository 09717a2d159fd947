# SPDX-License-Identifier: Apache-2.0
"""The nodes of the global graph: points of time in tasks. Whoever knows of a point adds it, and gets a number; `finish`
sorts all points by task and time, and says which place each number has got."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..native import sort_points
from ..read.columns import find

# What a point is. Joins belong to no task: there, all that a barrier or a collective waits for comes together.
BEGIN, END, CREATE, SYNC_BEGIN, SYNC_END, SUSPEND, READY, RESUME, FORK, CALL, RETURN, FULFIL, JOIN = range(13)
LOCKED, UNLOCKED, BACK = range(13, 16)  # has a lock that others wait for; lets go; has its thread back (run_order.py)
ON_DEVICE, OFF_DEVICE = range(16, 18)  # a device begins something for the task, and has ended it (device_order.py)
FIRST = -1.0  # order of a task's first point among those of the same time
LAST = float(1 << 62)


@dataclass
class Points:
    """By task and time; within one nanosecond in the order in which they came. `task` is 0 for joins."""

    task: np.ndarray
    time: np.ndarray
    what: np.ndarray
    place: np.ndarray  # of the number that a point got when it was added


class PointList:
    """Points as they are found."""

    def __init__(self) -> None:
        self._columns: tuple[list[np.ndarray], ...] = ([], [], [], [])
        self._count = 0

    def add(self, what: int, task: np.ndarray, time: np.ndarray, order: np.ndarray | float) -> np.ndarray:
        """Their numbers. `order` sorts points of one task and nanosecond: the row of the record, as a rule."""
        count = len(task)
        values = (task.astype(np.uint64), time.astype(np.int64), np.full(count, what, dtype=np.int8),
                  np.broadcast_to(np.asarray(order, dtype=np.float64), count))  # fmt: skip
        for column, value in zip(self._columns, values):
            column.append(value)
        numbers = np.arange(self._count, self._count + count)
        self._count += count
        return numbers

    def finish(self, other_names: tuple[np.ndarray, np.ndarray]) -> Points:
        """`other_names`: ids, sorted, and the tasks that they stand for, too."""
        task, time, what, order = (np.concatenate(column) for column in self._columns)
        self._columns = ()  # large, and not needed any more
        row = find(other_names[0], task)
        task[row >= 0] = other_names[1][row[row >= 0]]
        sorted_by = sort_points(task, time, order)
        place = np.empty(len(task), dtype=np.int64)
        place[sorted_by] = np.arange(len(task))
        return Points(task[sorted_by], time[sorted_by], what[sorted_by], place)
