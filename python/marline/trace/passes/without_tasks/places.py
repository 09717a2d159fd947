# SPDX-License-Identifier: Apache-2.0
"""Divides time that implicit tasks worked by what they worked on: a worksharing construct, the rest of a parallel
region, or code outside of regions. Each is named by its place in the source, as in loops.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import outlined, symbols
from ...read.columns import Columns, overlaps
from ...registry import Analysis
from ...statistics import group_by
from .constructs import REGION, WORK_NAMES, place_of

SERIAL = "code outside of parallel regions"
_SERIAL = REGION - 1


@dataclass
class Pieces(Columns):
    """Of the interval with this number, what lies in [start, end): `time` of it is code of the place `name`."""

    interval: np.ndarray
    name: np.ndarray
    start: np.ndarray
    end: np.ndarray
    time: np.ndarray


def pieces_by_place(of: Analysis, task: np.ndarray, start: np.ndarray, end: np.ndarray,
                    time: np.ndarray) -> tuple[Pieces, list[str]]:  # fmt: skip
    """`time`: how much of [start, end) the task worked. What of it lies in no construct belongs to the region. With the
    names of places; no names if there are no parallel regions."""
    members, teams = of["teams"]
    nothing = np.zeros(0, dtype=np.int64)
    if members.initial.all():
        return Pieces(nothing, nothing, nothing, nothing, nothing), []
    spans = of["worksharing"]
    begins = of.trace.select("work_begin")
    kind = of.trace.field("work_begin", "kind", begins).astype(np.int64)
    chosen = np.flatnonzero(np.isin(kind, list(WORK_NAMES)))
    runs = of["segments"]
    works = np.flatnonzero(~runs.waits)
    ran = overlaps(task, start, end, runs.task[works], runs.start[works], runs.end[works])
    found = overlaps(task[ran.a], ran.start, ran.end, spans.task[chosen], spans.start[chosen], spans.end[chosen])
    part = found.end - found.start
    inside = np.bincount(ran.a[found.a], weights=part, minlength=len(time)).astype(np.int64)
    rest = np.maximum(time - inside, 0)
    member = members.find(task)
    in_region = (member >= 0) & ~members.initial[np.maximum(member, 0)]
    code = np.where(in_region, teams.code[members.team[np.maximum(member, 0)]], np.uint64(0))
    rank = members.rank[np.maximum(member, 0)]
    construct = chosen[found.b]
    codes = of.trace.field("work_begin", "code", begins)
    name, names = _named(of, np.r_[kind[construct], np.where(in_region, REGION, _SERIAL)],
                         np.r_[codes[construct], code], np.r_[spans.rank[construct], rank])  # fmt: skip
    return Pieces(np.r_[ran.a[found.a], np.arange(len(task))], name, np.r_[found.start, start], np.r_[found.end, end],
                  np.r_[part, rest]), names  # fmt: skip


def _named(of: Analysis, kind: np.ndarray, code: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Names, and of each element its row of them. The same code has another address in each rank."""
    groups = group_by(kind, rank, code)
    kinds, ranks, codes = (groups.key(column) for column in (kind, rank, code))
    region = kinds == REGION
    places = outlined.locate(of.trace.ranks, symbols.codes_by_rank(ranks, codes),
                             symbols.codes_by_rank(ranks[region], codes[region]))  # fmt: skip
    names: dict[str, int] = {}
    row = np.empty(len(kinds), dtype=np.int64)
    for number, (one, where, address) in enumerate(zip(kinds.tolist(), ranks.tolist(), codes.tolist())):
        text = f"{WORK_NAMES.get(one, 'region')} {place_of(places, where, address).short()}"
        row[number] = names.setdefault(SERIAL if one == _SERIAL else text, len(names))
    found = np.empty(len(kind), dtype=np.int64)
    found[groups.order] = np.repeat(row, groups.count)
    return found, list(names)
