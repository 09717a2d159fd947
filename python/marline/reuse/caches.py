# SPDX-License-Identifier: Apache-2.0
"""What caches make of a schedule: a private one for each core, and one that all share. Pure.

A schedule says which core runs which task when. A task's touches are spread evenly over its time, so that touches of
tasks that run at one time alternate in the shared cache. Caches drop the line touched longest ago, of all lines; sets,
prefetching and the order inside a core are left out. A line that another core has written since a core touched it last
is gone from that core's cache, and comes from the other one's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .distance import NEVER, distances, previous
from .footprint import Footprint

Array = np.ndarray


@dataclass
class Schedule:
    """Row by row: core `core` runs task `task` of the footprint from `start` to `end`, in iteration `iteration`."""

    core: Array
    task: Array
    iteration: Array
    start: Array
    end: Array

    @property
    def makespan(self) -> float:
        return float(self.end.max() - self.start.min()) if len(self.end) else 0.0


@dataclass
class Touches:
    """In the order of time."""

    core: Array
    line: Array
    written: Array
    iteration: Array


@dataclass
class Traffic:
    """Lines per iteration, of the iterations after the first: fetched into private caches, and of these from another
    core's cache and from memory (the rest: from the shared cache)."""

    private: float
    from_cores: float
    from_memory: float
    touched: float  # different lines in an iteration


def touches_of(schedule: Schedule, footprint: Footprint) -> Touches:
    count = np.diff(footprint.first)[schedule.task]
    row = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    at = footprint.first[schedule.task][row] + within
    span = (schedule.end - schedule.start).astype(float)
    time = schedule.start[row] + span[row] * (within + 0.5) / count[row]
    order = np.argsort(time, kind="stable")
    row, at = row[order], at[order]
    return Touches(schedule.core[row], footprint.line[at], footprint.written[at], schedule.iteration[row])


def private_distances(of: Touches) -> tuple[Array, Array]:
    """Of each touch on its core; and the position of the touch before, of the same core and line, or -1."""
    found, before = np.empty(len(of.core), dtype=np.int64), np.empty(len(of.core), dtype=np.int64)
    for core in np.unique(of.core):
        mine = np.flatnonzero(of.core == core)
        last = previous(of.line[mine])
        found[mine] = distances(last)
        before[mine] = np.where(last >= 0, mine[np.maximum(last, 0)], -1)
    return found, before


def traffic(of: Touches, private: tuple[Array, Array], private_lines: int, shared_lines: int) -> Traffic:
    """Of caches of so many lines; `private` is what private_distances found."""
    distance, before = private
    last_write = _last_write(of)
    fetched = (distance >= private_lines) | ((before >= 0) & (last_write > before))
    shared = distances(previous(of.line))
    # What another core has written and still has in its cache.
    from_cores = (fetched & (last_write >= 0) & (of.core[np.maximum(last_write, 0)] != of.core)
                  & (shared < private_lines))  # fmt: skip
    from_memory = fetched & ~from_cores & (shared >= shared_lines)
    counted = of.iteration > 0
    iterations = max(int(of.iteration.max(initial=0)), 1)
    per = [float(np.count_nonzero(mask & counted)) / iterations for mask in (fetched, from_cores, from_memory)]
    return Traffic(*per, touched=float(len(np.unique(of.line[of.iteration == of.iteration.max(initial=0)]))))


def _last_write(of: Touches) -> Array:
    """The position of the last write of the same line before each touch; -1: none."""
    order = np.argsort(of.line, kind="stable")
    line = of.line[order]
    position = np.where(of.written[order], order, -1)
    first = np.r_[True, line[1:] != line[:-1]] if len(line) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(line)), 0))
    latest = np.maximum.accumulate(np.where(of.written[order], np.arange(len(line)), -1))
    latest = np.r_[-1, latest[:-1]] if len(latest) else latest
    found = np.full(len(line), -1, dtype=np.int64)
    found[order] = np.where(latest >= start, position[np.maximum(latest, 0)], -1)
    return found


def histogram(of: Touches, distance: Array) -> list[tuple[int, int]]:
    """By powers of two of the distance, in lines, on the core itself: how many touches after the first iteration."""
    found = distance[(of.iteration > 0) & (distance != NEVER)]
    power = np.frexp(np.maximum(found, 1).astype(float))[1] - 1
    return [(1 << int(each), int(count)) for each, count in zip(*np.unique(power, return_counts=True), strict=True)]
