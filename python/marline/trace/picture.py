# SPDX-License-Identifier: Apache-2.0
"""What both exports draw, computed once: bars on threads, bars in lanes for tasks suspended in MPI, names and colours.

A lane holds what is in flight and on no thread. Bars of one lane never overlap: each takes the lowest lane that is
free.
"""

from __future__ import annotations

import colorsys
import heapq
from dataclasses import dataclass

import numpy as np

from . import graph, model, symbols
from .events import MPI_CALLS
from .reader import TASK_BITS, Trace

# Ten colours that stay apart, also for most colour-blind readers' eyes (Tableau's palette); more kinds get even hues.
_PALETTE = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac",
)


@dataclass
class Picture:
    """A trace, interpreted. Names and colours are per kind of task: by label if there is one, by code otherwise."""

    trace: Trace
    tasks: model.Tasks
    runs: model.Segments
    calls: model.Calls
    suspensions: model.Suspensions
    edges: graph.Edges
    messages: graph.Messages
    kind_names: list[str]
    kind_colors: list[str]  # "#rrggbb"
    kind_of_task: np.ndarray  # row of tasks -> row of kind_names
    suspended_calls: np.ndarray  # rows of calls during which the task was suspended
    lane_of_call: np.ndarray  # lane of each of suspended_calls, numbered per rank

    def call_title(self, call: int) -> str:
        """`MPI_Recv from 1 tag 7`, as far as the call has those."""
        calls = self.calls
        title = MPI_CALLS.get(int(calls.call[call]), "MPI")
        sends = title.endswith("send") or title in ("MPI_Send", "MPI_Sendrecv")
        receives = title in ("MPI_Recv", "MPI_Irecv", "MPI_Probe", "MPI_Iprobe")
        peer = int(calls.source[call]) if receives and calls.returned[call] else int(calls.peer[call])
        if peer >= 0:
            title += f" {'to' if sends else 'from' if receives else 'root'} {peer}"
        if (sends or receives) and calls.tag[call] >= 0:
            title += f" tag {int(calls.tag[call])}"
        return title


def interpret(trace: Trace) -> Picture:
    """Runs every pass that a drawing needs."""
    runs = model.segments(trace)
    tasks = model.tasks(trace, runs)
    calls = model.mpi_calls(trace)
    suspensions = model.suspensions(tasks, runs, calls)
    names, kind_of_task = _kinds(trace, tasks)
    suspended = np.unique(suspensions.call[suspensions.call >= 0])
    return Picture(
        trace=trace,
        tasks=tasks,
        runs=runs,
        calls=calls,
        suspensions=suspensions,
        edges=graph.dependence_edges(trace, tasks),
        messages=graph.messages(trace, calls),
        kind_names=names,
        kind_colors=_colors(tasks, kind_of_task, len(names)),
        kind_of_task=kind_of_task,
        suspended_calls=suspended,
        lane_of_call=_lanes(calls.rank[suspended], calls.start[suspended], calls.end[suspended]),
    )


def _kinds(trace: Trace, tasks: model.Tasks) -> tuple[list[str], np.ndarray]:
    rank = (tasks.id >> np.uint64(TASK_BITS)).astype(np.int64)
    names = np.empty(len(tasks.id), dtype=object)
    for one in np.unique(rank):
        mine = np.flatnonzero(rank == one)
        places = symbols.resolve(trace.ranks[int(one)], tasks.code[mine])
        code, inverse = np.unique(tasks.code[mine], return_inverse=True)
        titles = [places[int(c)].short() if c else "task" for c in code]
        names[mine] = np.array(titles, dtype=object)[inverse]
    labelled = np.flatnonzero(tasks.label)
    names[labelled] = [tasks.texts.get(int(label), "task") for label in tasks.label[labelled]]
    kinds, kind_of_task = np.unique(names.astype(str), return_inverse=True)
    return kinds.tolist(), kind_of_task


def _colors(tasks: model.Tasks, kind_of_task: np.ndarray, count: int) -> list[str]:
    """The program's colour for the kind if it gave one, else one of ours."""
    colors = []
    for kind in range(count):
        given = tasks.color[kind_of_task == kind]
        given = given[given != 0]
        if given.size:
            colors.append(f"#{int(given[0]) & 0xFFFFFF:06x}")
        elif count <= len(_PALETTE):
            colors.append(_PALETTE[kind])
        else:
            red, green, blue = colorsys.hls_to_rgb(kind / max(count, 1), 0.5, 0.65)
            colors.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colors


def _lanes(rank: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Lowest free lane of its rank for each interval, in order of start."""
    lane = np.zeros(len(start), dtype=np.int64)
    for one in np.unique(rank):
        mine = np.flatnonzero(rank == one)
        free: list[int] = []
        busy: list[tuple[int, int]] = []  # (end, lane)
        lanes = 0
        for row in mine[np.argsort(start[mine], kind="stable")].tolist():
            while busy and busy[0][0] <= start[row]:
                heapq.heappush(free, heapq.heappop(busy)[1])
            if not free:
                heapq.heappush(free, lanes)
                lanes += 1
            lane[row] = heapq.heappop(free)
            heapq.heappush(busy, (int(end[row]), int(lane[row])))
    return lane
