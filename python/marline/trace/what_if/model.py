# SPDX-License-Identifier: Apache-2.0
"""The pass `scheduler_model`: the run as the model of the scheduler takes it, from the global graph, with costs that
are measured in this run.

- A task is its points and the work between them. What it waits for (dependences, children, messages, barriers) are
  edges into its points.
- Dispatch: the mean time from the end of a task to the begin of the next one on its thread, where that one was ready
  before. Wake-up: the mean time from when a task was ready to its begin, where the thread had none before. Of both, per
  rank, what is above the 99th percentile counts as that.
- A barrier and a fork take as long as they took.
- A call of MPI that suspends its task has its thread before that and after, for as long as it had.
- Messages: messages.py. Devices: on_devices.py.
"""

from __future__ import annotations

import numpy as np

from ..global_graph import edges as kinds
from ..global_graph import points as what
from ..global_graph.build import GlobalGraph
from ..global_graph.edges import GraphEdges
from ..model import INITIAL, UNDEFERRED, UNTIED
from .native_replay import AT_ONCE, KEEPS_THREAD, NO_WAKE_UP, TIED, UNDEFERRED as RUNS_NEXT, Program
from ..read.columns import find, group_starts
from ..read.records import TASK_BITS
from ..registry import Analysis, analysis_pass
from .messages import add_messages
from .on_devices import with_devices
from .waits import BARRIER, CALL, FREE, NETWORK, Model, Waits, call_of_point, last_call

MOST_QUEUED = 256  # MARLINE_MAX_READY, as long as nobody sets it
_HIGH = 99  # percentile


_NEEDS = ("global_graph", "tasks", "segments", "calls", "messages", "suspensions", "breakdown",
          "device_waits")  # fmt: skip


@analysis_pass("scheduler_model", needs=_NEEDS)
def model(of: Analysis) -> Model:
    """The run as it was, for the model of the scheduler."""
    graph: GlobalGraph = of["global_graph"]
    points, time = graph.points, graph.time - graph.begin
    starts = np.flatnonzero(group_starts(points.task) & (points.task != 0))
    first = np.r_[starts, len(points.task)]
    id = points.task[starts]
    task_of = np.full(len(points.task), -1)
    task_of[first[0] :] = np.repeat(np.arange(len(id)), np.diff(first))
    own, ordered = _divided(graph)
    work = own + _on_thread_in_mpi(points, time)
    waits = add_messages(of, graph, time, _waits(ordered, points, time))
    waits = waits.joined(_off_thread(of, id, first, time))
    ranks = np.unique(of["breakdown"].lane_rank)
    rank = find(ranks, (id >> np.uint64(TASK_BITS)).astype(ranks.dtype))
    assert np.all(rank >= 0), "a task of a rank without threads"
    row = of["tasks"].index(id)
    dispatch, wake_up = _costs(graph, time, waits, ranks, rank[np.maximum(task_of, 0)])
    has_edge = np.zeros(len(points.task), dtype=bool)
    has_edge[waits.sink] = True
    program = Program(
        first, work, _where_they_wait(of, graph, waits), waits.source, waits.sink, waits.delay, rank,
        _home(of, id, row), np.zeros(len(id), dtype=np.int64), np.where(has_edge[starts], 0, time[starts]),
        _traits(of, id, row), np.bincount(find(ranks, of["breakdown"].lane_rank), minlength=len(ranks)),
        dispatch, wake_up, MOST_QUEUED,
    )  # fmt: skip
    without = Model(program, waits, id, row, time, points.what, task_of, own, points.time <= graph.end, ranks,
                    graph.begin, graph.end - graph.begin)  # fmt: skip
    return with_devices(of, graph, without)


def _divided(graph: GlobalGraph) -> tuple[np.ndarray, GraphEdges]:
    """(work by point; the edges that are no work)"""
    task = graph.points.task
    pieces = int(np.count_nonzero((task[1:] == task[:-1]) & (task[1:] != 0)))
    work = np.zeros(len(task), dtype=np.int64)
    work[graph.edges.source[:pieces]] = graph.edges.weight[:pieces]
    return work, graph.edges.take(slice(pieces, graph.declared))


def _on_thread_in_mpi(points: what.Points, time: np.ndarray) -> np.ndarray:
    """By point: what a call takes before it suspends its task, and after that has gone on."""
    after = np.r_[points.what[1:], what.JOIN]
    takes = (points.what == what.CALL) & (after == what.SUSPEND)
    takes |= (points.what == what.RESUME) & (after == what.RETURN)
    same = np.r_[points.task[1:] == points.task[:-1], False]
    return np.where(takes & same, np.r_[time[1:], 0] - time, 0)


def _waits(ordered: GraphEdges, points: what.Points, time: np.ndarray) -> Waits:
    """Barriers last as long as they did: into their join from the last arrival, and out of it to each thread."""
    delay, group = ordered.weight.copy(), np.full(len(ordered.source), FREE)
    barrier = ordered.kind == kinds.BARRIER
    into = np.flatnonzero(barrier & (points.task[ordered.sink] == 0))
    last = np.zeros(len(time), dtype=np.int64)
    np.maximum.at(last, ordered.sink[into], time[ordered.source[into]])
    delay[into] = time[ordered.sink[into]] - last[ordered.sink[into]]
    out = np.flatnonzero(barrier & (points.task[ordered.sink] != 0))
    delay[out] = time[ordered.sink[out]] - time[ordered.source[out]]
    group[barrier] = BARRIER
    on_its_way = (ordered.kind == kinds.MESSAGE) | (ordered.kind == kinds.COLLECTIVE)
    group[on_its_way & (points.task[ordered.sink] != 0)] = NETWORK
    group[(ordered.kind == kinds.MPI) | (ordered.kind == kinds.DEVICE)] = CALL
    return Waits(ordered.source, ordered.sink, np.maximum(delay, 0), group, ordered.kind)


def _off_thread(of: Analysis, id: np.ndarray, first: np.ndarray, time: np.ndarray) -> Waits:
    """What no thread ran (a device did) lasts from its begin to its end."""
    tasks = of["tasks"]
    known = find(id, tasks.id[(tasks.running == 0) & (tasks.end > tasks.start) & (tasks.start >= 0)])
    known = known[known >= 0]
    source, sink = first[known], first[known + 1] - 1
    fixed = np.full(len(known), CALL)
    return Waits(source, sink, time[sink] - time[source], fixed, np.full(len(known), kinds.WORK))


def _costs(graph: GlobalGraph, time: np.ndarray, waits: Waits, ranks: np.ndarray,
           rank_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(dispatch, wake-up) by rank; without a sample, the mean of all ranks."""
    ready = np.zeros(len(time), dtype=np.int64)
    np.maximum.at(ready, waits.sink, time[waits.source] + waits.delay)
    found, points = graph.edges.take(slice(graph.declared, None)), graph.points
    known = (points.what[found.sink] == what.BEGIN) & np.isin(points.what[found.source], (what.END, what.SUSPEND))
    known &= points.time[found.source] >= graph.begin
    source, sink = found.source[known], found.sink[known]
    busy = ready[sink] <= time[source]
    gap = np.maximum(time[sink] - np.maximum(ready[sink], time[source]), 0)
    return tuple(_means(gap[chosen], rank_of[sink[chosen]], len(ranks)) for chosen in (busy, ~busy))


def _means(gap: np.ndarray, rank: np.ndarray, ranks: int) -> np.ndarray:
    if not len(gap):
        return np.zeros(ranks, dtype=np.int64)
    cut = np.minimum(gap, np.percentile(gap, _HIGH))
    count = np.bincount(rank, minlength=ranks)
    mean = np.bincount(rank, weights=cut, minlength=ranks) / np.maximum(count, 1)
    return np.rint(np.where(count > 0, mean, cut.mean())).astype(np.int64)


def _where_they_wait(of: Analysis, graph: GlobalGraph, waits: Waits) -> np.ndarray:
    """A call keeps its thread unless calls of its function have suspended tasks in this run."""
    calls, points = of["calls"], graph.points
    inside = of["suspensions"].call
    suspending = np.unique(calls.call[inside[inside >= 0]])
    flags = np.zeros(len(points.task), dtype=np.uint8)
    leaves = np.flatnonzero(points.what == what.RETURN)
    row = call_of_point(of, graph)[last_call(points)[leaves]]
    flags[leaves[~np.isin(calls.call[row], suspending)]] = KEEPS_THREAD
    # Code outside of tasks holds its thread while a device works.
    device = waits.sink[waits.kind == kinds.DEVICE]
    flags[device[of["tasks"].index(points.task[device]) < 0]] = KEEPS_THREAD
    flags[waits.sink[(waits.group == BARRIER) & (points.task[waits.sink] != 0)]] |= NO_WAKE_UP
    return flags


def _home(of: Analysis, id: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Of tasks that are not explicit: the number within the rank of the thread on which they began."""
    runs, lanes = of["segments"], of["breakdown"]
    home = np.full(len(id), -1)
    mine = np.flatnonzero(row < 0)
    task, at = np.unique(runs.task, return_index=True)
    seen = find(task, id[mine])
    by_id = (id[mine] >> np.uint64(32)).astype(np.int64) & 0xFFFF  # the thread that has made the id
    thread = np.where(seen >= 0, runs.thread[at[np.maximum(seen, 0)]].astype(np.int64), by_id) if len(task) else by_id
    rank = (id[mine] >> np.uint64(TASK_BITS)).astype(np.int64)
    key = lanes.lane_rank.astype(np.int64) << 16 | lanes.lane_thread.astype(np.int64)
    order = np.argsort(key)
    place = find(key[order], rank << 16 | thread)
    begins = np.searchsorted(key[order], rank << 16)
    home[mine] = np.where(place >= 0, place - begins, 0)
    return home


def _traits(of: Analysis, id: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Tasks that an initial task creates have no team: they run at once."""
    tasks, trace = of["tasks"], of.trace
    flags = np.where(row >= 0, tasks.flags[np.maximum(row, 0)] if len(tasks.id) else 0, 0)
    traits = np.where((row >= 0) & ((flags & UNTIED) == 0), TIED, 0)
    traits |= np.where((row >= 0) & ((flags & UNDEFERRED) != 0), RUNS_NEXT, 0)
    begins = trace.select("implicit_begin")
    initial = np.unique(trace.task[begins[(trace.field("implicit_begin", "flags", begins) & np.uint64(INITIAL)) != 0]])
    if len(tasks.id):
        alone = find(initial, tasks.parent[np.maximum(row, 0)]) >= 0
        traits |= np.where((row >= 0) & alone, AT_ONCE, 0)
    return traits.astype(np.uint8)
