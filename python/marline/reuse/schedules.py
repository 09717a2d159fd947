# SPDX-License-Identifier: Apache-2.0
"""Schedules of a footprint's tasks: as recorded, as loops run, one after another, and as N cores would run the recorded
graph. Pure but for the reading of a trace."""

from __future__ import annotations

import heapq
from collections import deque
from pathlib import Path

import numpy as np

from marline.errors import Refusal

from .caches import Schedule
from .footprint import Footprint

Array = np.ndarray
ORDERS = ("depth", "breadth")


def in_sequence(footprint: Footprint, iterations: int) -> Schedule:
    """On one core, in the order of creation."""
    count = len(footprint) * iterations
    at = np.arange(count)
    return Schedule(np.zeros(count, dtype=np.int64), at % len(footprint), at // len(footprint), at, at + 1)


def of_loops(footprint: Footprint, iterations: int) -> Schedule:
    """Phase after phase; the tasks of a phase at one time, the i-th on core i."""
    begins = np.r_[True, footprint.phase[1:] != footprint.phase[:-1]]
    phase = np.cumsum(begins) - 1
    core = np.arange(len(footprint)) - np.flatnonzero(begins)[phase]
    phases = int(phase[-1]) + 1
    iteration = np.repeat(np.arange(iterations), len(footprint))
    start = np.tile(phase, iterations) + phases * iteration
    return Schedule(np.tile(core, iterations), np.tile(np.arange(len(footprint)), iterations), iteration, start,
                    start + 1)


class Recorded:
    """The tasks of a recorded run in the order of their creation, which repeats the footprint's."""

    def __init__(self, folder: Path, footprint: Footprint) -> None:
        from marline.trace.analysis import Analysis, AnalysisError
        from marline.trace.graph import accesses, dependence_edges
        from marline.trace.read.reader import TraceError
        from marline.trace.views.export import load

        try:
            of = Analysis(load(folder))
            self._tasks, self._runs = of["tasks"], of["segments"]
            edges = dependence_edges(accesses(of.trace, self._tasks))
        except (TraceError, AnalysisError) as error:
            raise Refusal(str(error)) from error
        rows = np.flatnonzero(self._tasks.deferred & (self._tasks.end >= 0))
        rows = rows[np.argsort(self._tasks.created[rows], kind="stable")]
        if not len(rows) or len(rows) % len(footprint):
            raise Refusal(f"{folder}: {len(rows)} tasks have run, which are no whole number of iterations of the "
                          f"footprint's {len(footprint)}: record the run whose footprint was written, on one rank")
        self.rows, self._length = rows, len(footprint)
        place = np.full(len(self._tasks.id), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        source, sink = place[edges.source], place[edges.sink]
        kept = (source >= 0) & (sink >= 0)
        self.source, self.sink = source[kept], sink[kept]
        self.duration = np.maximum(self._tasks.running[rows], 1)

    def as_recorded(self) -> Schedule:
        tasks = self._tasks
        owner = tasks.index(self._runs.task)
        lane = np.zeros(len(tasks.id), dtype=np.int64)
        lane[owner[owner >= 0]] = self._runs.lane[owner >= 0]
        _, core = np.unique(lane[self.rows], return_inverse=True)
        return self._schedule(core, tasks.start[self.rows], tasks.end[self.rows])

    def _schedule(self, core: Array, start: Array, end: Array) -> Schedule:
        at = np.arange(len(self.rows))
        return Schedule(core, at % self._length, at // self._length, start, np.maximum(end, start + 1))

    def creation(self) -> float:
        """Nanoseconds from one creation of an iteration to the next, in the median."""
        gaps = np.diff(self._tasks.created[self.rows])
        inside = np.arange(1, len(self.rows)) % self._length != 0
        return float(np.median(gaps[inside])) if inside.any() else 0.0

    def simulated(self, cores: int, order: str, creation: float) -> Schedule:
        """As `cores` cores would run it if tasks take as long as recorded. Tasks are created one after another,
        `creation` ns apart; an iteration's when the first task of that iteration, which decides whether there is
        another, has ended. A core runs first what its last task made ready (depth), or what is ready longest
        (breadth)."""
        return self._schedule(*_Simulation(self, self._length, cores, order, creation).run())


class _Simulation:
    """Events are ends of tasks and creations, in a heap by time; a core without a task takes the newest of its own,
    then the oldest of the one that has the most."""

    def __init__(self, of: Recorded, length: int, cores: int, order: str, creation: float) -> None:
        self._of, self._length, self._cores, self._creation = of, length, cores, creation
        self._depth = order == "depth"
        count = len(of.rows)
        order_of = np.argsort(of.source, kind="stable")
        self._first = np.searchsorted(of.source[order_of], np.arange(count + 1))
        self._successor = of.sink[order_of]
        self._waiting = np.bincount(of.sink, minlength=count) + 1  # and its creation
        self._ready: list[deque[int]] = [deque() for _ in range(cores if self._depth else 1)]
        self._idle = list(range(cores))[::-1]
        self._events: list[tuple[float, int, int]] = []  # time, core or -1: creation, task
        self.core, self.start, self.end = (np.zeros(count, dtype=np.int64) for _ in range(3))

    def run(self) -> tuple[Array, Array, Array]:
        self._create(0, 0.0)
        while self._events:
            now, core, task = heapq.heappop(self._events)
            if core < 0:
                self._release(task, 0)
            else:
                self._idle.append(core)
                for successor in self._successor[self._first[task] : self._first[task + 1]].tolist():
                    self._release(successor, core)
                if task % self._length == 0:
                    self._create(task // self._length + 1, now)
            self._dispatch(now, core)
        return self.core, self.start, self.end

    def _create(self, iteration: int, now: float) -> None:
        first = iteration * self._length
        for task in range(first, min(first + self._length, len(self.core))):
            heapq.heappush(self._events, (now + self._creation * (task - first + 1), -1, task))

    def _release(self, task: int, core: int) -> None:
        self._waiting[task] -= 1
        if self._waiting[task] == 0:
            self._ready[core if self._depth else 0].append(task)

    def _take(self, core: int) -> int | None:
        if self._depth and self._ready[core]:
            return self._ready[core].pop()
        longest = max(self._ready, key=len)
        return longest.popleft() if longest else None

    def _dispatch(self, now: float, ended: int) -> None:
        """The core that has ended its task chooses first."""
        waiting = sorted(self._idle, key=lambda core: core != ended)
        for core in waiting:
            task = self._take(core)
            if task is None:
                return
            self._idle.remove(core)
            self.core[task], self.start[task] = core, round(now)
            self.end[task] = round(now) + int(self._of.duration[task])
            heapq.heappush(self._events, (now + float(self._of.duration[task]), core, task))
