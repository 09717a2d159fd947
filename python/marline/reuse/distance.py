# SPDX-License-Identifier: Apache-2.0
"""Reuse distances: how many other lines are touched between two touches of a line. Pure.

A cache of N lines that drops the one touched longest ago holds a line exactly if its distance is below N (Mattson et
al., Evaluation techniques for storage hierarchies, 1970). With the position p(i) of the touch before i of the same
line, the lines touched in between are all j with p(i) < j < i that were not touched since p(i): p(j) < p(i). All j up
to p(i) have p(j) < p(i) as well, so

    distance(i) = #{j < i : p(j) < p(i)} - (p(i) + 1)

and the first term is counted for all i at once, bit by bit of p, as a radix sort from the highest bit goes."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
NEVER = np.iinfo(np.int64).max  # the distance of the first touch of a line


def previous(line: Array) -> Array:
    """The position of each touch's last touch of the same line; -1: none."""
    order = np.argsort(line, kind="stable")
    found = np.full(len(line), -1, dtype=np.int64)
    same = line[order][1:] == line[order][:-1]
    found[order[1:][same]] = order[:-1][same]
    return found


def distances(before: Array) -> Array:
    """Of the touches, with their previous ones in `before`."""
    found = _smaller_before(before + 1) - (before + 1)
    found[before < 0] = NEVER
    return found


def _smaller_before(values: Array) -> Array:
    """For each i, how many j < i have a smaller value; values are at least 0, and below the length."""
    values = values.astype(np.int32)  # there are fewer than 2^31: each takes 100 bytes on the way
    count = np.zeros(len(values), dtype=np.int64)
    at = np.arange(len(values), dtype=np.int32)  # in the order of the bits so far, otherwise of positions
    for bit in range(int(len(values)).bit_length() - 1, -1, -1):
        value = values[at]
        one = (value >> bit & 1).astype(bool)
        zeros = np.cumsum(~one, dtype=np.int32) - ~one  # before each
        start = _group_starts(value >> (bit + 1))
        before = zeros - zeros[start]
        count[at[one]] += before[one]
        # Within a group, entries with a zero come first; both kinds keep their order.
        total = _zeros_of_groups(start, one)
        place = np.where(one, np.arange(len(at)) + total - before, start + before)
        following = np.empty_like(at)
        following[place] = at
        at = following
    return count


def _group_starts(prefix: Array) -> Array:
    """Where each one's run of equal prefixes begins."""
    first = np.r_[True, prefix[1:] != prefix[:-1]] if len(prefix) else np.zeros(0, dtype=bool)
    return np.maximum.accumulate(np.where(first, np.arange(len(prefix), dtype=np.int32), 0))


def _zeros_of_groups(start: Array, one: Array) -> Array:
    return np.bincount(start, weights=~one, minlength=len(start)).astype(np.int32)[start]
