# SPDX-License-Identifier: Apache-2.0
"""Puts the global graph together: the points of all tasks, the edges between them, and the work in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..model import INITIAL, Segments, lane_number
from ..read.calls import InMpi
from ..native import Arrows, covered, has_cycle, points_at, sort_edges
from ..read.columns import TimeLines, find, is_among, overlaps
from ..read.records import TASK_BITS, Trace
from ..registry import Analysis, analysis_pass
from . import edges as kinds
from . import points as what
from .communication import add_communication
from .device_order import add_devices, on_device
from .edges import EdgeList, GraphEdges
from .openmp import add_openmp
from .points import PointList, Points
from .run_order import add_locks, add_returns, add_wake_ups

THREAD_SHIFT = 32  # of a task's id: above it stands the thread that made it, below 0 outside of any task


@dataclass
class GlobalGraph:
    """The first `declared` edges are the program's order and its work. The others are this run's: to points that begin
    or go on on a thread, from the last point of what ran there before; and those of run_order.py. Nothing takes time
    outside of the breakdown's total, from `begin` to `end`. `backwards`: how many edges were left out because clocks,
    or lost records, make them lead back in time."""

    points: Points
    edges: GraphEdges
    declared: int
    begin: int
    end: int
    backwards: int
    creating: np.ndarray  # by point: how long the creation takes that begins there
    on_device: np.ndarray  # by row of `device_waits`: the point where the device begins it

    @property
    def time(self) -> np.ndarray:
        """Of each point, or the nearer end of the total."""
        return np.clip(self.points.time, self.begin, self.end)

    @cached_property
    def order(self) -> np.ndarray:
        """Numbers of the edges, each after all that lead to its source: all declared ones, and of the run's those that
        do not lead back in time, nor in a circle within one nanosecond (in a damaged trace)."""
        edges, time, count = self.edges, self.points.time, len(self.points.task)
        gained = time[edges.sink[self.declared :]] - time[edges.source[self.declared :]]
        for kept in (gained >= 0, gained > 0):
            rows = None if np.all(kept) else np.r_[np.arange(self.declared), self.declared + np.flatnonzero(kept)]
            some = edges if rows is None else edges.take(rows)
            order = sort_edges(Arrows(count, some.source, some.sink, some.weight))
            if len(order) == len(some.source):
                return order if rows is None else rows[order].astype(np.int32)
        raise AssertionError("the program's order leads in a circle")


_NEEDS = ("tasks", "segments", "edges", "calls", "in_mpi", "requests", "messages", "suspensions", "creations",
          "iterations", "device_waits")  # fmt: skip


@analysis_pass("global_graph", needs=(*_NEEDS, "breakdown", "throttled"))
def global_graph(of: Analysis) -> GlobalGraph:
    """The graph of all ranks."""
    begin, end = (int(of["breakdown"].edges[at]) for at in (0, -1))
    (tasks, runs, dependences, calls, mpi, requests, messages, suspensions, creations,
     iterations, device_waits) = (of[name] for name in _NEEDS)  # fmt: skip
    points, edges, of_run = PointList(), EdgeList(), EdgeList()
    created = add_openmp(of.trace, tasks, runs, dependences, iterations, points, edges)
    ready = add_communication(of.trace, tasks, calls, requests, messages, suspensions, points, edges)
    on_device = add_devices(device_waits, points, edges, of_run)
    add_locks(of.trace, points, of_run)
    add_wake_ups(of.trace, runs, suspensions, ready, points, of_run)
    add_returns(tasks, runs, of["throttled"].back, points)
    initial = threads_of_initial_tasks(of.trace)
    all_points = points.finish(initial)
    inside = np.clip(all_points.time, begin, end)
    ordered = edges.finish(all_points.place)
    ordered.weight = np.minimum(ordered.weight, inside[ordered.sink] - inside[ordered.source])
    active, in_total = _Active(runs), replace(all_points, time=inside)
    work = _work(all_points, _done(in_total, runs, active, mpi, initial[1], (begin, end)))
    forward = _forward(all_points, work, ordered)
    backwards = len(ordered.source) - len(forward)
    if backwards:
        ordered = ordered.take(forward)
    seen = of_run.finish(all_points.place)
    seen = seen.take(all_points.time[seen.sink] >= all_points.time[seen.source])
    all_edges = work.joined(ordered, _busy(all_points, active), seen)
    creating = np.zeros(len(all_points.task), dtype=np.int64)
    creating[all_points.place[created]] = creations.time
    return GlobalGraph(all_points, all_edges, len(work.source) + len(ordered.source), begin, end,
                       backwards, creating, all_points.place[on_device])  # fmt: skip


def _forward(points: Points, work: GraphEdges, ordered: GraphEdges) -> np.ndarray:
    """Rows of `ordered` that do not lead back in time. In a damaged trace, edges between points of one nanosecond may
    lead in a circle: then only those count that follow the order of the points, as work does."""
    gained = points.time[ordered.sink] - points.time[ordered.source]
    at_once = np.flatnonzero(gained == 0)
    still = np.flatnonzero(points.time[work.sink] == points.time[work.source])
    source, sink = (np.r_[one[at_once], other[still]] for one, other in ((ordered.source, work.source),
                                                                        (ordered.sink, work.sink)))  # fmt: skip
    forward = gained >= 0
    if has_cycle(Arrows(len(points.task), source, sink, np.zeros(len(source), dtype=np.int64))):
        forward[at_once] = ordered.source[at_once] < ordered.sink[at_once]
    return np.flatnonzero(forward)


class _Active:
    """When tasks ran and did not wait: by task and start. `before`: the interval before on the same thread, or -1."""

    def __init__(self, runs: Segments) -> None:
        rows = np.flatnonzero(~runs.waits)
        lane = lane_number(runs.rank, runs.thread)[rows]
        follows = np.r_[False, lane[1:] == lane[:-1]][: len(rows)]
        order = TimeLines(runs.task[rows], runs.start[rows]).order
        place = np.empty(len(rows), dtype=np.int64)
        place[order] = np.arange(len(rows))
        self.before = np.where(follows, np.roll(place, 1), -1)[order]
        self.task, self.start, self.end = runs.task[rows][order], runs.start[rows][order], runs.end[rows][order]


def threads_of_initial_tasks(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Ids of threads outside of any task, and their initial tasks: what a thread does before OpenMP starts and after it
    has ended is the same code going on."""
    begins = trace.select("implicit_begin")
    initial = begins[(trace.field("implicit_begin", "flags", begins) & np.uint64(INITIAL)) != 0]
    thread = trace.rank[initial].astype(np.uint64) << np.uint64(TASK_BITS)
    thread |= trace.thread[initial].astype(np.uint64) << np.uint64(THREAD_SHIFT)
    ids, first = np.unique(thread, return_index=True)
    return ids, trace.task[initial[first]]


def _work(points: Points, done: np.ndarray) -> GraphEdges:
    """Between neighbouring points of a task: how long it ran its own code. What MPI takes is the edges' of the call,
    what a device takes those of its kernels and copies. A task that could go on waits for its thread."""
    source = np.flatnonzero((points.task[1:] == points.task[:-1]) & (points.task[1:] != 0))
    weight = done[source + 1] - done[source]
    inside, device = _in_mpi(points)[source], on_device(points)[source]
    weight[inside | device] = 0
    kind = np.where(device, kinds.DEVICE, np.where(inside, kinds.MPI, kinds.WORK)).astype(np.int8)
    kind[points.what[source] == what.READY] = kinds.THREAD
    return GraphEdges(source, source + 1, weight, kind)


def _in_mpi(points: Points) -> np.ndarray:
    """Whether a task is in a call after each of its points."""
    step = np.where(points.what == what.CALL, 1, np.where(points.what == what.RETURN, -1, 0))
    return np.cumsum(step) > 0


def _done(points: Points, runs: Segments, active: _Active, mpi: InMpi, initial: np.ndarray,
          total: tuple[int, int]) -> np.ndarray:  # fmt: skip
    """By point: how long its task had run by then. Where OpenMP does not know the thread, all of its time counts; of
    initial tasks, so does the time before OpenMP has started, and after it has ended."""
    task, start, end = active.task, active.start, active.end
    inside = overlaps(task, start, end, mpi.task, mpi.start, mpi.end)
    order = np.lexsort((inside.start, inside.a))
    done = covered(points.task, points.time, task, start, end)
    done -= covered(points.task, points.time, task[inside.a[order]], inside.start[order], inside.end[order])
    unknown = ~is_among(points.task, runs.task)
    done[unknown] = points.time[unknown]
    for task in initial.tolist():
        mine, runs_of = np.flatnonzero(points.task == task), np.flatnonzero(runs.task == task)
        if len(runs_of):
            done[mine] += np.minimum(points.time[mine] - np.clip(runs.start[runs_of[0]], *total), 0)
            done[mine] += np.maximum(points.time[mine] - np.clip(runs.end[runs_of].max(), *total), 0)
    return done


def _busy(points: Points, active: _Active) -> GraphEdges:
    """From what ran on the thread before, to the points where tasks begin or go on."""
    at_start, at_end = points_at(points.task, points.time, active.task, active.start, active.end)
    row = np.flatnonzero((at_start >= 0) & (active.before >= 0))
    sink, source = at_start[row], at_end[active.before[row]]
    # `at_start` is the last of several points of one nanosecond: only one that begins or goes on is meant.
    begins = np.isin(points.what[sink], (what.BEGIN, what.RESUME, what.BACK)) & (points.time[sink] == active.start[row])
    begins &= (source >= 0) & (points.task[source] != points.task[sink])
    source, sink = source[begins], sink[begins]
    return GraphEdges(source, sink, np.zeros(len(source), dtype=np.int64),
                      np.full(len(source), kinds.THREAD, dtype=np.int8))  # fmt: skip
