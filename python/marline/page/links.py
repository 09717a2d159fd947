# SPDX-License-Identifier: Apache-2.0
"""What joins the bars of a page: what bounded the run, drawn over them; dependences of the tasks that the page holds;
and messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.global_graph.build import THREAD_SHIFT
from marline.trace.global_graph.edges import WORK
from marline.trace.read.columns import Columns, TimeLines, distinct, find, group_starts
from marline.trace.read.records import TASK_BITS

from .bars import Lanes

# For each bar that the page may hold: arrows of dependences, steps of the chain, messages.
EDGES_PER_BAR, STEPS_PER_BAR, MESSAGES_PER_BAR = 4 / 3, 1 / 6, 1 / 8
ON_PATH, ON_CHAIN = 1, 2


def marks(of: Analysis) -> np.ndarray:
    """By row of tasks: whether it is on the critical path, and whether it is in the chain that bounded the run."""
    found, points, tasks = of["critical_path"], of["global_graph"].points, of["tasks"]
    mark = np.zeros(len(tasks.id), dtype=np.int64)
    for edges, bit in ((found.path, ON_PATH), (found.chain, ON_CHAIN)):
        work = edges.sink[edges.kind == WORK]
        row = tasks.index(points.task[work])
        mark[row[row >= 0]] |= bit
    return mark


@dataclass
class Chain(Columns):
    """One step after the other, from `lane` at `start` to `to_lane` at `end`; -1: on no thread. `kind`: of edge."""

    lane: np.ndarray
    to_lane: np.ndarray
    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray


def find_chain(of: Analysis, lanes: Lanes, bars: int) -> tuple[Chain, int]:
    """What bounded the run, and how many short steps are left out. Work of one task that goes on is one step. `bars`:
    how many the page may hold."""
    graph, edges = of["global_graph"], of["critical_path"].chain
    task, time, inside = graph.points.task, graph.points.time, graph.time
    first = group_starts(task[edges.sink], np.where(edges.kind == WORK, -1, np.arange(len(edges.kind))))
    begins = np.flatnonzero(first)
    ends = np.r_[begins[1:], len(first)][: len(begins)] - 1
    source, sink = edges.source[begins], edges.sink[ends]
    of_lane = lanes_at(of, lanes, np.r_[task[source], task[sink]], np.r_[time[source], time[sink]])
    from_lane, to_lane = of_lane[: len(source)], of_lane[len(source) :]
    kind = edges.kind[begins].astype(np.int64)
    # Of work, the thread is where it ends: its source may be where the task was suspended.
    from_lane = np.where((kind == WORK) & (to_lane >= 0), to_lane, from_lane)
    joined = Chain(from_lane, to_lane, inside[source], inside[sink], kind)
    joined = joined.take(np.flatnonzero((joined.end > joined.start) | (joined.lane != joined.to_lane)))
    kept = np.sort(np.argsort(joined.start - joined.end, kind="stable")[: int(bars * STEPS_PER_BAR)])
    return joined.take(kept), len(joined.lane) - len(kept)


def lanes_at(of: Analysis, lanes: Lanes, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Where a task was at a time; at the end of a segment it is still there."""
    runs = of["segments"]
    # What OpenMP does not know is numbered by its thread.
    rank, thread = (task >> np.uint64(TASK_BITS)).astype(np.int64), (task >> np.uint64(THREAD_SHIFT)).astype(np.int64)
    is_thread = (task != 0) & (task & np.uint64((1 << THREAD_SHIFT) - 1) == 0)
    found = np.where(is_thread, lanes.of_threads(rank, thread & 0xFFFF), -1)
    rows = np.flatnonzero(find(distinct(task), runs.task) >= 0)
    if not len(rows):
        return found
    at = TimeLines(runs.task[rows], runs.start[rows]).latest(task, time)
    row = rows[np.maximum(at, 0)]
    return np.where(at >= 0, lanes.of_threads(runs.rank[row], runs.thread[row]), found)


@dataclass
class Dependences:
    """Between rows of the page's tasks, by sink."""

    source: np.ndarray
    sink: np.ndarray
    left_out: int


def find_dependences(of: Analysis, kept: np.ndarray, mark: np.ndarray, bars: int) -> Dependences:
    """`kept`: rows of tasks, sorted. Where there are too many, those of marked tasks come first."""
    most = int(bars * EDGES_PER_BAR)
    edges = of["edges"]
    row = np.full(len(of["tasks"].id), -1)
    row[kept] = np.arange(len(kept))
    chosen = np.flatnonzero((row[edges.source] >= 0) & (row[edges.sink] >= 0))
    total = len(edges.source)
    if len(chosen) > most:
        dull = (mark[edges.source[chosen]] | mark[edges.sink[chosen]]) == 0
        chosen = np.sort(chosen[np.argsort(dull, kind="stable")[:most]])
    source, sink = row[edges.source[chosen]], row[edges.sink[chosen]]
    order = np.lexsort((source, sink))
    return Dependences(source[order], sink[order], total - len(chosen))


@dataclass
class Messages:
    """From the start of the send to the end of the receive. Tasks: rows of the page's, or -1."""

    lane: np.ndarray
    to_lane: np.ndarray
    start: np.ndarray
    end: np.ndarray
    task: np.ndarray
    to_task: np.ndarray
    bytes: np.ndarray
    left_out: int


def find_messages(of: Analysis, lanes: Lanes, kept: np.ndarray, bars: int) -> Messages:
    calls, messages, tasks = of["calls"], of["messages"], of["tasks"]
    time = calls.end[messages.receive] - calls.start[messages.send]
    total = len(time)
    some = np.argsort(-time, kind="stable")[: int(bars * MESSAGES_PER_BAR)]
    send, receive = messages.send[some], messages.receive[some]
    order = np.argsort(calls.start[send], kind="stable")
    send, receive = send[order], receive[order]
    row = np.full(len(tasks.id) + 1, -1)
    row[kept] = np.arange(len(kept))  # the last one stands for no task
    return Messages(
        lanes.of_threads(calls.rank[send], calls.start_thread[send]),
        lanes.of_threads(calls.rank[receive], calls.end_thread[receive]), calls.start[send], calls.end[receive],
        row[tasks.index(calls.task[send])], row[tasks.index(calls.task[receive])],
        calls.bytes[send].astype(np.int64), total - len(some),
    )  # fmt: skip
