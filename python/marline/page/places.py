# SPDX-License-Identifier: Apache-2.0
"""Where in the timeline to look: of each advice, outlier and row of a table the place that shows it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marline.report.causes import RULES
from marline.trace import outlined, symbols
from marline.trace.analysis import Analysis
from marline.trace.passes.critical_path.path import chain_steps
from marline.trace.passes.devices import KERNEL
from marline.trace.passes.regions import Spans
from marline.trace.passes.thread_time.causes import NUMBER
from marline.trace.passes.thread_time.one_call import longest_wait
from marline.trace.read.columns import distinct, find
from marline.trace.statistics import group_by

from .bars import Lanes, worksharing_codes
from .links import lanes_at

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
        key = worst["file"], worst["line"]
        place = longest_constructs(of, lanes).get(key) or longest_regions(of, lanes).get(key)
        if place:
            return place
    wait = longest_wait(of) if name == "imbalance" else None
    if wait:
        return Place(wait.start, wait.end, int(lanes.of_threads(np.array([wait.rank]), np.array([wait.thread]))[0]))
    numbers = [NUMBER[part] for part in _PARTS.get(name, ()) if part in NUMBER]
    lost = found.time[:, :, numbers].sum(axis=2)
    if not lost.any():
        return Place(int(found.edges[0]), int(found.edges[-1]))
    window = int(lost.sum(axis=0).argmax())
    return Place(int(found.edges[window]), int(found.edges[window + 1]))


def longest_tasks(of: Analysis, lanes: Lanes, names: Sequence[str]) -> dict[str, Place]:
    """Of each of these kinds the task that ran longest."""
    tasks, kinds = of["tasks"], of["kinds"]
    order = np.lexsort((tasks.running, kinds.of_task))
    last = np.full(len(kinds.names), -1)
    last[kinds.of_task[order]] = order  # of each kind the last in order stays
    number = {name: row for row, name in enumerate(kinds.names)}
    rows = {name: last[number[name]] for name in names if last[number[name]] >= 0}
    return dict(zip(rows, of_tasks(of, lanes, np.array(list(rows.values()), dtype=np.int64))))


def of_tasks(of: Analysis, lanes: Lanes, rows: np.ndarray) -> list[Place]:
    """Of each of these rows of tasks, on the thread where it began."""
    tasks, runs = of["tasks"], of["segments"]
    ids = tasks.id[rows]
    some = np.flatnonzero(np.isin(runs.task, ids))
    some = some[np.argsort(runs.start[some], kind="stable")[::-1]]
    first = dict(zip(runs.task[some].tolist(), some.tolist()))  # of several runs the first stays
    lane = np.array([-1, *lanes.of_threads(runs.rank[list(first.values())], runs.thread[list(first.values())])])
    number = {task: at for at, task in enumerate(first, 1)}
    start = np.where(tasks.start[rows] >= 0, tasks.start[rows], tasks.created[rows])
    end = np.where(tasks.end[rows] >= 0, tasks.end[rows], int(of.trace.time.max(initial=0)))
    return [Place(*span, int(lane[number.get(task, 0)]))
            for task, *span in zip(ids.tolist(), start.tolist(), end.tolist())]  # fmt: skip


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


def longest_regions(of: Analysis, lanes: Lanes) -> dict[tuple[str, int], Place]:
    """Of each source line with a parallel region, on the thread that began it."""
    trace = of.trace
    begins, ends = trace.select("parallel_begin"), trace.select("parallel_end")
    region, ended = (trace.global_task(rows, trace.field(name, "parallel", rows))
                     for name, rows in (("parallel_begin", begins), ("parallel_end", ends)))  # fmt: skip
    at = find(distinct(region), region)
    end = np.full(len(distinct(region)), int(trace.time.max(initial=0)))
    known = find(distinct(region), ended)
    end[known[known >= 0]] = trace.time[ends[known >= 0]]
    start, end, code = trace.time[begins], end[at], trace.field("parallel_begin", "code", begins)
    rank = trace.rank[begins].astype(np.int64)
    codes = symbols.codes_by_rank(rank, code)
    found = outlined.locate(trace.ranks, codes, codes)  # as the pass `loops`
    lane = lanes.of_threads(rank, trace.thread[begins])
    longest: dict[tuple[str, int], Place] = {}
    order = np.argsort(start - end, kind="stable")
    _, first = np.unique(code[order], return_index=True)
    for row in order[np.sort(first)].tolist():
        place = found.places.get((int(rank[row]), int(code[row])))
        if place and end[row] > start[row]:
            longest.setdefault((place.file, place.line), Place(int(start[row]), int(end[row]), int(lane[row])))
    return longest


def longest_calls(of: Analysis, lanes: Lanes) -> dict[int, Place]:
    """Of each MPI function."""
    calls = of["calls"]
    return _longest_of(of, lanes, calls.call, calls.end - calls.start)


def longest_waits(of: Analysis, lanes: Lanes) -> dict[int, Place]:
    """Of each MPI function the call that waited longest for another rank."""
    return _longest_of(of, lanes, of["calls"].call, of["mpi_waits"].waited)


def _longest_of(of: Analysis, lanes: Lanes, key: np.ndarray, length: np.ndarray) -> dict[int, Place]:
    calls = of["calls"]
    order = np.argsort(length, kind="stable")
    last = dict(zip(key[order].tolist(), order.tolist()))
    lane = lanes.of_threads(calls.rank, calls.start_thread)
    return {one: Place(int(calls.start[row]), int(calls.end[row]), int(lane[row])) for one, row in last.items()}


def longest_steps(of: Analysis, lanes: Lanes) -> dict[str, Place]:
    """Of each part of what bounded the run, by its name there, the longest step."""
    found, names = chain_steps(of)
    points, sink = of["global_graph"].points, of["critical_path"].chain.sink[found.edge]
    order = np.argsort(found.time, kind="stable")
    row = np.array(list(dict(zip(found.name[order].tolist(), order.tolist())).values()), dtype=np.int64)
    lane = lanes_at(of, lanes, points.task[sink[row]], points.time[sink[row]])
    spans = zip(found.name[row].tolist(), found.start[row].tolist(), found.end[row].tolist(), lane.tolist())
    return {names[one]: Place(start, end, where) for one, start, end, where in spans if end > start}


def of_ranks(of: Analysis, lanes: Lanes) -> dict[int, Place]:
    """From the beginning of each rank to its end; the lane is that of its first thread."""
    found = of["breakdown"]
    first: dict[int, int] = {}
    for number, lane in enumerate(lanes.all):
        first.setdefault(lane.rank, number)
    spans = zip(found.ranks.tolist(), found.own_begin.tolist(), found.own_end.tolist())
    return {rank: Place(int(begin), max(int(end), int(begin) + 1), first.get(rank, -1)) for rank, begin, end in spans}


def longest_kernels(of: Analysis, lanes: Lanes) -> dict[tuple[int, int], Place]:
    """Of each device, by rank and number."""
    found = of["devices"]
    some = np.flatnonzero(found.what == KERNEL)
    some = some[np.argsort((found.end - found.start)[some], kind="stable")]
    return {(int(found.rank[row]), int(found.device[row])): Place(
        int(found.start[row]), int(found.end[row]),
        lanes.of["device", int(found.rank[row]), int(found.device[row]), int(found.sort[row]), int(found.lane[row])])
        for row in some.tolist()}  # fmt: skip


def latest_sends(of: Analysis, lanes: Lanes) -> dict[str, Place]:
    """Of each kind of task the task that sent longest after its data was ready."""
    sends, kinds = of["early_sends"].sends, of["kinds"]
    order = np.argsort(sends.late, kind="stable")
    last = dict(zip(kinds.of_task[sends.task[order]].tolist(), sends.task[order].tolist()))
    found = of_tasks(of, lanes, np.array(list(last.values()), dtype=np.int64))
    return {kinds.names[kind]: place for kind, place in zip(last, found)}


def of_edges(of: Analysis, lanes: Lanes, chosen: np.ndarray) -> dict[tuple[str, str], Place]:
    """By kinds of both tasks: the task that the first of these edges leads to. `chosen`: by row of edges."""
    edges, kinds = of["edges"], of["kinds"]
    some = np.flatnonzero(chosen)
    groups = group_by(kinds.of_task[edges.source[some]], kinds.of_task[edges.sink[some]])
    first = some[groups.order[groups.first]]
    names = ([kinds.names[kind] for kind in kinds.of_task[end[first]].tolist()] for end in (edges.source, edges.sink))
    return dict(zip(zip(*names), of_tasks(of, lanes, edges.sink[first])))


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
