# SPDX-License-Identifier: Apache-2.0
"""Array operations that several passes need: look-ups in many time lines at once, and integrals over intervals.

All are exact on int64 nanoseconds and take a handful of sorts; none loops over elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..native_base import count_less, count_up_to, find

_Table = TypeVar("_Table", bound="Columns")


class Columns:
    """A table: a dataclass whose fields are equally long arrays."""

    def take(self: _Table, rows: np.ndarray | slice) -> _Table:
        return type(self)(*(column[rows] for column in vars(self).values()))

    def joined(self: _Table, *more: _Table) -> _Table:
        """The rows of this one, then those of the others."""
        return type(self)(*map(np.concatenate, zip(*(vars(one).values() for one in (self, *more)))))


def group_starts(*keys: np.ndarray) -> np.ndarray:
    """True where an element differs from the one before in any key: the first of each run of equal ones."""
    first = np.zeros(len(keys[0]), dtype=bool)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return first


def distinct(values: np.ndarray) -> np.ndarray:
    """Sorted, without duplicates. (np.unique hashes, which is many times slower on millions of distinct numbers.)"""
    if np.all(values[1:] >= values[:-1]):
        return values[group_starts(values)]
    # A thread runs a task and its own code by turns: what stood one or two places before need not be sorted again.
    fresh = group_starts(values)
    fresh[2:] &= values[2:] != values[:-2]
    ordered = np.sort(values[fresh])
    return ordered[group_starts(ordered)]


def is_among(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Whether each key is one of the values. (np.isin sorts both.)"""
    known = distinct(keys)
    seen = np.zeros(len(known) + 1, dtype=bool)  # the last one: what is no key
    seen[find(known, values)] = True
    return seen[find(known, keys)]


def order_of_small(numbers: np.ndarray, count: int) -> np.ndarray:
    """Stable order of numbers below `count`; NumPy sorts 16-bit numbers by radix, much faster than wider ones."""
    return np.argsort(numbers.astype(np.uint16) if count <= 1 << 16 else numbers, kind="stable")


class TimeLines:
    """Events of many keys (tasks, threads) in time: which was the latest event of a key at a time?

    Keys are replaced by their ranks, and times by what has passed since the first event, so that both fit one integer,
    and one sorted array serves all keys. Where they do not fit (keys x nanoseconds of 2^63 and more: a million tasks in
    two hours and a half), times are replaced by their ranks, too, which takes twice as long.
    """

    def __init__(self, key: np.ndarray, time: np.ndarray) -> None:
        self._keys = distinct(key)
        self._first, last = (int(time.min()), int(time.max())) if len(time) else (0, 0)
        self._last = last
        self._span = last - self._first + 2
        self._times: np.ndarray | None = None
        if len(self._keys) * self._span >= 1 << 63:
            self._times = distinct(time)
            self._span = len(self._times) + 1
        place = count_less(self._keys, key) * self._span + self._number(time)
        self.order = np.argsort(place, kind="stable")  # of equal times the later element is the later event
        self._places = place[self.order]

    def _number(self, time: np.ndarray) -> np.ndarray:
        """0 before the first event; of the time of an event a number, which is that of all times up to the next."""
        if self._times is None:
            return np.clip(time, self._first - 1, self._last) - (self._first - 1)
        return count_up_to(self._times, time)

    def latest(self, key: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Index of the last event of each key at or before the time, or -1."""
        found = np.full(len(key), -1, dtype=np.int64)
        rank = find(self._keys, key)
        known = np.flatnonzero(rank >= 0)
        if not known.size:
            return found
        low = rank[known] * self._span
        at = count_up_to(self._places, low + self._number(time[known])) - 1
        safe = np.maximum(at, 0)
        found[known] = np.where((at >= 0) & (self._places[safe] > low), self.order[safe], -1)
        return found


def occurrences(group: np.ndarray) -> np.ndarray:
    """How many equal elements stood before each element."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(group_starts(group[order]))
    result = np.empty(len(group), dtype=np.int64)
    result[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))
    return result


def sums(group: np.ndarray, value: np.ndarray, groups: int) -> np.ndarray:
    """Sum of `value` per group number. Doubles in between are exact below 2^53 ns, 104 days."""
    return np.rint(np.bincount(group, weights=value, minlength=groups)).astype(np.int64)


@dataclass
class Overlaps:
    """Pairs of intervals a, b of one key that have time in common, and that time."""

    a: np.ndarray
    b: np.ndarray
    start: np.ndarray
    end: np.ndarray


def overlaps(a_key: np.ndarray, a_start: np.ndarray, a_end: np.ndarray, b_key: np.ndarray, b_start: np.ndarray,
             b_end: np.ndarray) -> Overlaps:  # fmt: skip
    """All pairs that overlap; the intervals b of one key are disjoint."""
    lines = TimeLines(b_key, b_start)
    place = np.empty(len(b_key), dtype=np.int64)  # position of each b when sorted by key and time
    place[lines.order] = np.arange(len(b_key))
    last = lines.latest(a_key, a_end - 1)
    first = lines.latest(a_key, a_start)
    some = np.flatnonzero((last >= 0) & (a_end > a_start))
    last_place = place[last[some]]
    # Nothing begins before a: then from the key's first b on.
    group_first = np.flatnonzero(group_starts(b_key[lines.order]))
    first_place = np.where(first[some] >= 0, place[first[some]],
                           group_first[count_up_to(group_first, last_place) - 1])  # fmt: skip
    count = last_place - first_place + 1
    a = np.repeat(some, count)
    b = lines.order[np.repeat(first_place, count) + np.arange(len(a)) - np.repeat(np.cumsum(count) - count, count)]
    start, end = np.maximum(a_start[a], b_start[b]), np.minimum(a_end[a], b_end[b])
    kept = end > start
    return Overlaps(a[kept], b[kept], start[kept], end[kept])


def cut(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> Overlaps:
    """Intervals clipped to [edges[0], edges[-1]) and cut at the edges: `a` is the interval, `b` the number of the
    window between two edges."""
    start, end = np.maximum(start, edges[0]), np.minimum(end, edges[-1])
    some = np.flatnonzero(end > start)
    first = count_up_to(edges, start[some]) - 1
    count = count_less(edges, end[some]) - first
    a = np.repeat(some, count)
    window = np.repeat(first, count) + np.arange(len(a)) - np.repeat(np.cumsum(count) - count, count)
    return Overlaps(a, window, np.maximum(start[a], edges[window]), np.minimum(end[a], edges[window + 1]))
