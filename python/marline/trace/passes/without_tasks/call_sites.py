# SPDX-License-Identifier: Apache-2.0
"""Where the program calls MPI and requests locks: the recorder says it by an event of its own (call_site), which holds
for the thread until the next one of the same function or lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import symbols
from ...model import lane_number
from ...read.columns import TimeLines, distinct, find
from ...read.records import Trace
from ...statistics import group_by

MOST_PLACES = 5


def sites_of(trace: Trace, rows: np.ndarray, key: np.ndarray, is_mutex: bool) -> np.ndarray:
    """The code address of each call or request, or 0. `rows`: their records; `key`: number of the function, or wait
    id."""
    sites = trace.select("call_site")
    sites = sites[trace.field("call_site", "mutex", sites) == is_mutex]
    if not len(sites) or not len(rows):
        return np.zeros(len(rows), dtype=np.uint64)
    of_site = trace.field("call_site", "key", sites)
    keys = distinct(of_site)

    def line(some: np.ndarray, of: np.ndarray) -> np.ndarray:
        number = find(keys, of.astype(np.uint64))
        return np.where(number >= 0, lane_number(trace.rank[some], trace.thread[some]) * len(keys) + number, -1)

    found = TimeLines(line(sites, of_site), trace.time[sites]).latest(line(rows, key), trace.time[rows])
    return np.where(found >= 0, trace.field("call_site", "code", sites)[found], np.uint64(0))


def places(trace: Trace, rank: np.ndarray, code: np.ndarray, group: np.ndarray,
           time: np.ndarray) -> Callable[[int], list[dict[str, Any]]]:  # fmt: skip
    """By group: the places in the source whose calls took most time, the first one most. Code without a line has
    none."""
    some = np.flatnonzero(code)
    keys = group[some].astype(np.int64), rank[some].astype(np.int64), code[some]
    groups = group_by(*keys)
    located = symbols.locate(trace.ranks, symbols.codes_by_rank(keys[1], keys[2])).places
    found: dict[int, dict[symbols.Location, dict[str, Any]]] = {}
    for of, where, address, calls, total in zip(*(groups.key(key).tolist() for key in keys), groups.count.tolist(),
                                                groups.sum(time[some]).tolist()):  # fmt: skip
        place = located[where, address]
        if place.line:
            row = found.setdefault(of, {}).setdefault(place, {
                "name": place.short(), "function": place.function, "file": place.file, "line": place.line, "calls": 0,
                "total_ns": 0})  # fmt: skip
            row["calls"] += calls
            row["total_ns"] += total
    return lambda of: sorted(found.get(of, {}).values(), key=lambda row: -row["total_ns"])[:MOST_PLACES]
