# SPDX-License-Identifier: Apache-2.0
"""Divides time that implicit tasks worked by what they worked on: a worksharing construct, the rest of a parallel
region, or code outside of regions. Each is named by its place in the source, as in loops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import outlined, symbols
from ...read.columns import overlaps
from ...registry import Analysis
from ...statistics import group_by
from .constructs import REGION, WORK_NAMES, place_of

SERIAL = "code outside of parallel regions"
_SERIAL = REGION - 1


def time_by_place(of: Analysis, task: np.ndarray, start: np.ndarray, end: np.ndarray,
                  time: np.ndarray) -> list[dict[str, Any]]:  # fmt: skip
    """`time`: how much of [start, end) the task worked. What of it lies in no construct belongs to the region. A row
    for each place, the most first. Empty if there are no parallel regions."""
    members, teams = of["teams"]
    if members.initial.all():
        return []
    spans = of["worksharing"]
    begins = of.trace.select("work_begin")
    kind = of.trace.field("work_begin", "kind", begins).astype(np.int64)
    chosen = np.flatnonzero(np.isin(kind, list(WORK_NAMES)))
    order = chosen[np.lexsort((spans.start[chosen], spans.task[chosen]))]
    # GCC does not report the end of a single: it ends where the next construct begins.
    stop = spans.end[order]
    same = spans.task[order][1:] == spans.task[order][:-1]
    stop[:-1] = np.where(same, np.minimum(stop[:-1], spans.start[order][1:]), stop[:-1])
    runs = of["segments"]
    works = np.flatnonzero(~runs.waits)
    ran = overlaps(task, start, end, runs.task[works], runs.start[works], runs.end[works])
    found = overlaps(task[ran.a], ran.start, ran.end, spans.task[order], spans.start[order], stop)
    part = found.end - found.start
    inside = np.bincount(ran.a[found.a], weights=part, minlength=len(time)).astype(np.int64)
    rest = np.maximum(time - inside, 0)
    member = members.find(task)
    in_region = (member >= 0) & ~members.initial[np.maximum(member, 0)]
    code = np.where(in_region, teams.code[members.team[np.maximum(member, 0)]], np.uint64(0))
    rank = members.rank[np.maximum(member, 0)]
    construct = order[found.b]
    codes = of.trace.field("work_begin", "code", begins)
    return _named(of, np.r_[kind[construct], np.where(in_region, REGION, _SERIAL)], np.r_[codes[construct], code],
                  np.r_[spans.rank[construct], rank], np.r_[part, rest])  # fmt: skip


def _named(of: Analysis, kind: np.ndarray, code: np.ndarray, rank: np.ndarray,
           time: np.ndarray) -> list[dict[str, Any]]:  # fmt: skip
    """The same code has another address in each rank."""
    groups = group_by(kind, rank, code)
    kinds, ranks, codes = (groups.key(column) for column in (kind, rank, code))
    region = kinds == REGION
    places = outlined.locate(of.trace.ranks, symbols.codes_by_rank(ranks, codes),
                             symbols.codes_by_rank(ranks[region], codes[region]))  # fmt: skip
    rows: dict[str, dict[str, Any]] = {}
    for one, where, address, count, total in zip(*(column.tolist() for column in (
            kinds, ranks, codes, groups.count, groups.sum(time)))):  # fmt: skip
        place = place_of(places, where, address).short()
        name = SERIAL if one == _SERIAL else f"{WORK_NAMES.get(one, 'region')} {place}"
        row = rows.setdefault(name, {"name": name, "kind": "work", "edges": 0, "total_ns": 0})
        row["edges"] += count
        row["total_ns"] += total
    return sorted((row for row in rows.values() if row["total_ns"]), key=lambda row: -row["total_ns"])
