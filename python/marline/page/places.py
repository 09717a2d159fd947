# SPDX-License-Identifier: Apache-2.0
"""Where in the timeline to look: of each advice, outlier and row of a table the place that shows it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marline.report.causes import RULES
from marline.trace.analysis import Analysis
from marline.trace.passes.regions import Spans
from marline.trace.passes.thread_time.causes import NUMBER
from marline.trace.statistics import group_by

from .bars import Lanes, worksharing_codes

_OF_CONSTRUCTS = {"unequal threads": "waited_ns", "locks": "locked_ns"}  # rules about loops and the like
_AMONG_RANKS = ("idle_ranks", "idle_communication", "idle_held")
_PARTS = {rule.name: tuple(part for one in rule.parts for part in (_AMONG_RANKS if one == "imbalance" else (one,)))
          for rule in RULES}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """[start, end) ns and a lane, or -1 for all."""

    start: int
    end: int
    lane: int = -1


def of_cause(of: Analysis, name: str, constructs: Sequence[Mapping[str, Any]], lanes: Lanes) -> Place:
    """The window of time that lost most by it; of a loop or the like the longest time that a thread was in it; of what
    is nowhere in particular the whole run. `constructs`: the report's."""
    found = of["breakdown"]
    if name in _OF_CONSTRUCTS and constructs:
        worst = max(constructs, key=lambda one: one[_OF_CONSTRUCTS[name]])
        place = longest_constructs(of, lanes).get((worst["file"], worst["line"]))
        if place:
            return place
    numbers = [NUMBER[part] for part in _PARTS.get(name, ()) if part in NUMBER]
    lost = found.time[:, :, numbers].sum(axis=2)
    if not lost.any():
        return Place(int(found.edges[0]), int(found.edges[-1]))
    window = int(lost.sum(axis=0).argmax())
    return Place(int(found.edges[window]), int(found.edges[window + 1]))


def longest_tasks(of: Analysis, lanes: Lanes) -> list[Place]:
    """Of each kind the task that ran longest."""
    tasks, kinds = of["tasks"], of["kinds"]
    order = np.lexsort((tasks.running, kinds.of_task))
    last = np.full(len(kinds.names), -1)
    last[kinds.of_task[order]] = order  # of each kind the last in order stays
    return [of_task(of, lanes, row) if row >= 0 else Place(0, 0) for row in last.tolist()]


def of_task(of: Analysis, lanes: Lanes, row: int) -> Place:
    tasks, runs = of["tasks"], of["segments"]
    start = int(tasks.start[row] if tasks.start[row] >= 0 else tasks.created[row])
    end = int(tasks.end[row]) if tasks.end[row] >= 0 else int(of.trace.time.max())
    mine = np.flatnonzero(runs.task == tasks.id[row])[:1]
    lane = int(lanes.of_threads(runs.rank[mine], runs.thread[mine])[0]) if len(mine) else -1
    return Place(start, end, lane)


def longest_constructs(of: Analysis, lanes: Lanes) -> dict[tuple[str, int], Place]:
    """Of each source line with a worksharing construct."""
    spans: Spans = of["worksharing"]
    codes, found = worksharing_codes(of)
    lane = lanes.of_threads(spans.rank, spans.thread)
    longest: dict[tuple[str, int], Place] = {}
    order = np.argsort(spans.start - spans.end, kind="stable")
    _, first = np.unique(codes[order], return_index=True)
    for row in order[np.sort(first)].tolist():
        place = found.places.get((int(spans.rank[row]), int(codes[row])))
        if place:
            longest.setdefault((place.file, place.line), Place(int(spans.start[row]), int(spans.end[row]),
                                                               int(lane[row])))  # fmt: skip
    return longest


def longest_calls(of: Analysis, lanes: Lanes) -> dict[int, Place]:
    """Of each MPI function."""
    calls = of["calls"]
    order = np.argsort(calls.end - calls.start, kind="stable")
    last = dict(zip(calls.call[order].tolist(), order.tolist()))
    lane = lanes.of_threads(calls.rank, calls.start_thread)
    return {call: Place(int(calls.start[row]), int(calls.end[row]), int(lane[row])) for call, row in last.items()}


@dataclass
class Pair:
    """Messages from one rank to another."""

    source: int
    sink: int
    count: int
    bytes: int
    mean_ns: float
    place: Place  # of the one that took longest


def message_pairs(of: Analysis, lanes: Lanes) -> list[Pair]:
    calls, messages = of["calls"], of["messages"]
    source, sink = (calls.rank[side].astype(np.int64) for side in (messages.send, messages.receive))
    time = calls.end[messages.receive] - calls.start[messages.send]
    size = calls.bytes[messages.send].astype(np.int64)
    groups = group_by(source, sink)
    slowest = np.lexsort((time, sink, source))[np.cumsum(groups.count) - 1] if len(groups.count) else []
    lane = lanes.of_threads(calls.rank, calls.start_thread)
    rows = zip(groups.key(source).tolist(), groups.key(sink).tolist(), groups.count.tolist(), groups.sum(size).tolist(),
               (groups.sum(time) / groups.count).tolist(), (int(one) for one in slowest))  # fmt: skip
    return [Pair(*row[:5], Place(int(calls.start[messages.send[row[5]]]), int(calls.end[messages.receive[row[5]]]),
                                 int(lane[messages.send[row[5]]]))) for row in rows]  # fmt: skip
