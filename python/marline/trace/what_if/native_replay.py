# SPDX-License-Identifier: Apache-2.0
"""The model of the scheduler in libmarline-analysis.so; analysis/replay.h says what it does."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from ..native_base import function, place_for
from ..read.records import TraceError

KEEPS_THREAD, NO_WAKE_UP = 1, 2  # of a point that waits
TIED, UNDEFERRED, AT_ONCE = 1, 2, 4  # of a task
BEGAN, WORKED, THREAD = -1, -2, -3  # causes that are no edges


@dataclass
class Program:
    """What is replayed. Points, edges and tasks as replay.h says; all times are int64 ns."""

    first: np.ndarray  # by task, and one more
    work: np.ndarray  # by point
    waits: np.ndarray
    source: np.ndarray  # by edge
    sink: np.ndarray
    delay: np.ndarray
    rank: np.ndarray  # by task: 0, 1, ...
    thread: np.ndarray
    priority: np.ndarray
    begins: np.ndarray
    traits: np.ndarray
    threads: np.ndarray  # by rank
    dispatch: np.ndarray
    wake_up: np.ndarray
    most_queued: int


@dataclass
class Replayed:
    """By point: when it was reached (-1: never), the edge or other cause that made it so late, and the point before."""

    time: np.ndarray
    cause: np.ndarray
    before: np.ndarray
    unfinished: int  # tasks

    @property
    def makespan(self) -> int:
        return int(self.time.max(initial=0))


_SIZES = ("points", "edges", "tasks", "ranks")
_BYTES = ("waits", "traits")
_COLUMNS = ("first", "work", "waits", "source", "sink", "delay", "rank", "thread", "priority", "begins", "traits",
            "threads", "dispatch", "wake_up")  # fmt: skip


class _Replay(ctypes.Structure):
    """MarlineReplay."""

    _fields_ = [*((name, ctypes.c_int64) for name in _SIZES), *((name, ctypes.c_void_p) for name in _COLUMNS),
                ("most_queued", ctypes.c_int64)]  # fmt: skip


def replay(program: Program) -> Replayed:
    """Runs the program in the model."""
    columns = {name: np.ascontiguousarray(getattr(program, name), np.uint8 if name in _BYTES else np.int64)
               for name in _COLUMNS}  # fmt: skip
    points = len(columns["work"])
    sizes = (points, len(columns["source"]), len(columns["rank"]), len(columns["threads"]))
    run = _Replay(*sizes, *(column.ctypes.data for column in columns.values()), program.most_queued)
    found = [np.empty(points, dtype=kind) for kind in (np.int64, np.int32, np.int32)]
    left = function("marline_replay")(ctypes.byref(run), *map(place_for, found))
    if left == -1:
        raise TraceError("not enough memory to replay the task graph")
    assert left >= 0, "a number of the replay is out of range"
    return Replayed(*found, left)


def chain_to(found: Replayed, point: int) -> np.ndarray:
    """What made `point` so late, in order: its points, each by the cause of the next one."""
    path = np.empty(len(found.before), dtype=np.int64)
    before = np.ascontiguousarray(found.before, dtype=np.int32)
    length = function("marline_replay_chain")(place_for(before), ctypes.c_int64(len(before)), ctypes.c_int64(point),
                                              place_for(path))  # fmt: skip
    return path[:length][::-1].copy()
