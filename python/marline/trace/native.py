# SPDX-License-Identifier: Apache-2.0
"""libmarline-analysis.so, for what goes step by step, which NumPy cannot: paths through a graph, and points on the time
lines of tasks. Its headers, analysis/graph_paths.h and analysis/time_lines.h, say what the functions do."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from .native_base import function, library, place_for
from .read.records import TraceError


@dataclass
class Arrows:
    """Edges of a graph with `nodes` nodes; all columns are int64, weights are ns."""

    nodes: int
    source: np.ndarray
    sink: np.ndarray
    weight: np.ndarray


@dataclass
class LongestPaths:
    """Per node: the length of the longest path to it; that path's last edge, or -1; and how late it may be without
    making the graph's longest path longer."""

    earliest: np.ndarray
    via: np.ndarray
    latest: np.ndarray


class _Graph(ctypes.Structure):
    """MarlineGraph."""

    _fields_ = [("nodes", ctypes.c_int64), ("edges", ctypes.c_int64), ("source", ctypes.c_void_p),
                ("sink", ctypes.c_void_p), ("weight", ctypes.c_void_p)]  # fmt: skip


class _Paths(ctypes.Structure):
    """MarlinePaths."""

    _fields_ = [("earliest", ctypes.c_void_p), ("via", ctypes.c_void_p), ("latest", ctypes.c_void_p)]


class _Points(ctypes.Structure):
    """MarlinePoints."""

    _fields_ = [("count", ctypes.c_int64), ("task", ctypes.c_void_p), ("time", ctypes.c_void_p)]


class _Intervals(ctypes.Structure):
    """MarlineIntervals."""

    _fields_ = [("count", ctypes.c_int64), ("task", ctypes.c_void_p), ("start", ctypes.c_void_p),
                ("end", ctypes.c_void_p)]  # fmt: skip


class _Call:
    """Arrays on their way into the library: they live as long as this."""

    def __init__(self) -> None:
        self._kept: list[np.ndarray] = []

    def pass_(self, column: np.ndarray, kind: type = np.int64) -> ctypes.c_void_p:
        self._kept.append(np.ascontiguousarray(column, dtype=kind))
        return ctypes.c_void_p(self._kept[-1].ctypes.data)

    def graph(self, arrows: Arrows) -> ctypes.Array:
        columns = (self.pass_(column).value for column in (arrows.source, arrows.sink, arrows.weight))
        return ctypes.byref(_Graph(arrows.nodes, len(arrows.source), *columns))

    def points(self, task: np.ndarray, time: np.ndarray) -> ctypes.Array:
        return ctypes.byref(_Points(len(task), self.pass_(task, np.uint64).value, self.pass_(time).value))

    def intervals(self, task: np.ndarray, start: np.ndarray, end: np.ndarray) -> ctypes.Array:
        return ctypes.byref(_Intervals(len(task), self.pass_(task, np.uint64).value, self.pass_(start).value,
                                       self.pass_(end).value))  # fmt: skip


def sort_edges(arrows: Arrows) -> np.ndarray:
    """The numbers of the edges (int32), each after all that lead to its source; those of cycles, and after them, are
    left out."""
    order = np.empty(len(arrows.source), dtype=np.int32)
    call = _Call()
    count = function("marline_sort_edges")(call.graph(arrows), place_for(order))
    _refuse(count)
    return order[:count] if count == len(order) else order[:count].copy()


def has_cycle(arrows: Arrows) -> bool:
    return len(sort_edges(arrows)) < len(arrows.source)


def longest_paths(arrows: Arrows, order: np.ndarray | None = None) -> LongestPaths:
    """Of a graph without cycles. `order`: by sort_edges, of this graph or of one with more edges after these. Edges
    that are not in it do not count."""
    found = LongestPaths(np.zeros(arrows.nodes, dtype=np.int64), *(np.empty(arrows.nodes, dtype=np.int64)
                                                                   for _ in range(2)))  # fmt: skip
    _find_paths(arrows, order, _Paths(*(column.ctypes.data for column in vars(found).values())))
    return found


def path_lengths(arrows: Arrows, order: np.ndarray | None = None, start: np.ndarray | None = None) -> np.ndarray:
    """Of the longest paths, only the length of that to each node. `start`: how late each node is by itself."""
    found = np.zeros(arrows.nodes, dtype=np.int64) if start is None else start.astype(np.int64)
    _find_paths(arrows, order, _Paths(found.ctypes.data, None, None))
    return found


def _find_paths(arrows: Arrows, order: np.ndarray | None, paths: _Paths) -> None:
    if order is None:
        order = sort_edges(arrows)
        assert len(order) == len(arrows.source), "nodes come after themselves"
    call = _Call()
    library().marline_longest_paths(call.graph(arrows), call.pass_(order, np.int32), ctypes.c_int64(len(order)),
                                    ctypes.byref(paths))  # fmt: skip


def path_to(arrows: Arrows, found: LongestPaths, end: int) -> np.ndarray:
    """The edges of the longest path to node `end`, in order."""
    path = np.empty(len(arrows.source), dtype=np.int64)
    call = _Call()
    length = function("marline_path_to")(call.graph(arrows), call.pass_(found.via), ctypes.c_int64(end),
                                        place_for(path))  # fmt: skip
    return path[:length][::-1].copy()


def last_arrivals(arrows: Arrows, time: np.ndarray, end: int) -> np.ndarray:
    """The edges from the node `end` backwards, each the one whose source is latest in `time`; in the order of time."""
    path = np.empty(len(arrows.source), dtype=np.int64)
    call = _Call()
    length = function("marline_last_arrivals")(call.graph(arrows), call.pass_(time), ctypes.c_int64(end),
                                              place_for(path))  # fmt: skip
    _refuse(length)
    return path[:length][::-1].copy()


def _refuse(status: int) -> None:
    if status == -1:
        raise TraceError("not enough memory for the paths of the task graph")
    assert status >= 0, "an edge names no node, or there are 2^31 nodes or edges"


def sort_points(task: np.ndarray, time: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The points in order of task, time and `order`."""
    places = np.zeros(len(task), dtype=np.int64)
    call = _Call()
    library().marline_sort_points(call.points(task, time), call.pass_(order, np.float64), place_for(places))
    return places


def covered(task: np.ndarray, time: np.ndarray, of_task: np.ndarray, start: np.ndarray,
            end: np.ndarray) -> np.ndarray:  # fmt: skip
    """By point: how much of its task's intervals lies before it. Both are sorted by task and time."""
    result = np.zeros(len(task), dtype=np.int64)
    call = _Call()
    library().marline_covered(call.points(task, time), call.intervals(of_task, start, end), place_for(result))
    return result


def points_at(task: np.ndarray, time: np.ndarray, of_task: np.ndarray, start: np.ndarray,
              end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """By interval: the last point of its task at its start or before, and at its end or before; -1 if there is none."""
    at_start, at_end = np.zeros(len(of_task), dtype=np.int64), np.zeros(len(of_task), dtype=np.int64)
    call = _Call()
    library().marline_points_at(call.points(task, time), call.intervals(of_task, start, end), place_for(at_start),
                                 place_for(at_end))  # fmt: skip
    return at_start, at_end
