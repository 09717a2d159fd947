# SPDX-License-Identifier: Apache-2.0
"""What all passes are built from, judged by loops over plain lists: the latest event of a key, and groups of equal
keys, each in the form for small numbers and in the one for all; and where keys stand in a sorted array."""
from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import handmade  # noqa: F401  first: it finds marline
from marline.trace import statistics
from marline.trace.native_base import count_less, count_up_to, find
from marline.trace.read.columns import TimeLines, distinct, is_among
from marline.trace.statistics import group_by

MOST = 1 << 62
few = settings(max_examples=200, derandomize=True, deadline=None)
EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 30)), max_size=12)


@few
@given(EVENTS, EVENTS, st.sampled_from([1, 1 << 40, 1 << 57]))
def test_the_latest_event(events: list[tuple[int, int]], asked: list[tuple[int, int]], unit: int) -> None:
    """Times in units of a nanosecond, a quarter of an hour, and 4 years: keys x times of the last need more than 63
    bits."""
    key, time, asked_key, asked_time = (np.array([row[at] for row in rows], dtype=np.int64)
                                        for rows in (events, asked) for at in (0, 1))  # fmt: skip
    expected = []
    for one, now in asked:
        found = -1
        for row, (other, then) in enumerate(events):
            if other == one and then <= now and (found < 0 or then >= events[found][1]):
                found = row
        expected.append(found)
    lines = TimeLines(key, time * unit)
    assert lines.latest(asked_key, asked_time * unit).tolist() == expected
    assert lines.order.tolist() == sorted(range(len(events)), key=lambda row: events[row])


@pytest.mark.parametrize("offset", [0, MOST])
@few
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=12),
       spread=st.sampled_from([1, 20_000]))  # fmt: skip
def test_groups_of_equal_keys(rows: list[tuple[int, int]], spread: int, offset: int) -> None:
    first = np.array([row[0] for row in rows], dtype=np.int64) * spread + offset
    second = np.array([row[1] for row in rows], dtype=np.int64)
    for least in (1, 1000):  # so many rows make the fast form worth it
        statistics.FEW, before = least, statistics.FEW
        groups = group_by(first, second)
        statistics.FEW = before
        assert groups.order.tolist() == sorted(range(len(rows)), key=lambda row: rows[row])
        expected = sorted({(one * spread + offset, other) for one, other in rows})
        assert list(zip(groups.key(first).tolist(), groups.key(second).tolist())) == expected
        assert int(groups.count.sum()) == len(rows)


@few
@given(st.lists(st.integers(-5, 5), max_size=12))
def test_distinct(values: list[int]) -> None:
    for some in (values, sorted(values)):
        assert distinct(np.array(some, dtype=np.int64)).tolist() == sorted(set(values))


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.uint16])
@settings(max_examples=60, derandomize=True, deadline=None)
@given(values=st.sets(st.integers(0, 2000), max_size=600), keys=st.lists(st.integers(0, 2000), max_size=40),
       run=st.integers(1, 4))  # fmt: skip
def test_keys_in_a_sorted_array(kind: type, values: set[int], keys: list[int], run: int) -> None:
    """Keys far apart, and runs of near ones."""
    ordered = sorted(values)
    wanted = [one + step for one in keys for step in range(run)]
    place = {value: row for row, value in enumerate(ordered)}
    columns = np.array(ordered, dtype=kind), np.array(wanted, dtype=kind)
    assert count_less(*columns).tolist() == [bisect_left(ordered, one) for one in wanted]
    assert count_up_to(*columns).tolist() == [bisect_right(ordered, one) for one in wanted]
    assert find(*columns).tolist() == [place[one] if one in values else -1 for one in wanted]
    assert is_among(columns[1], columns[0]).tolist() == [one in values for one in wanted]


def test_keys_beyond_the_sign_of_an_integer() -> None:
    negative = np.array([np.iinfo(np.int64).min, -1, 0, np.iinfo(np.int64).max])
    assert find(negative, negative[::-1].copy()).tolist() == [3, 2, 1, 0]
    large = negative.view(np.uint64)[[2, 3, 0, 1]]  # the same bits, in the order of numbers without a sign
    assert find(large, large).tolist() == [0, 1, 2, 3]
