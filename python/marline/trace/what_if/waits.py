# SPDX-License-Identifier: Apache-2.0
"""The form of the model: what its tasks wait for, and the calls of MPI in which they do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..global_graph import points as what
from ..global_graph.build import GlobalGraph, threads_of_initial_tasks
from .native_replay import Program
from ..read.columns import Columns, find
from ..registry import Analysis

FREE, BARRIER, NETWORK, CALL = range(4)  # what a delay is: `overhead xF` and `network xF` change one of them each


@dataclass
class Waits(Columns):
    """Edges of the model. `group`: what the delay is; `kind`: of global_graph.edges."""

    source: np.ndarray
    sink: np.ndarray
    delay: np.ndarray
    group: np.ndarray
    kind: np.ndarray


@dataclass
class Model:
    """`program`: the run as it was. Beside it, by task of the model: its id, its row in the table of explicit tasks or
    -1; by point: its time, from the begin of the total. `ranks`: their numbers; the program's ranks after these are
    devices (on_devices.py)."""

    program: Program
    waits: Waits
    id: np.ndarray
    row: np.ndarray
    time: np.ndarray
    what: np.ndarray
    task_of: np.ndarray  # by point: the model's task, -1 for joins
    own: np.ndarray  # by point: of the work after it, what is not MPI's
    counts: np.ndarray  # by point: whether it lies within the total
    ranks: np.ndarray
    begin: int  # of the total, by the clock of the trace
    makespan: int


def last_call(points: what.Points) -> np.ndarray:
    """By point: the last call that was entered up to there; within a call it is the task's own."""
    return np.maximum.accumulate(np.where(points.what == what.CALL, np.arange(len(points.what)), 0))


def call_of_point(of: Analysis, graph: GlobalGraph) -> np.ndarray:
    """By point where a call is entered: its row; -1 elsewhere. Points are sorted by task, time and record."""
    calls = of["calls"]
    thread, initial = threads_of_initial_tasks(of.trace)
    task = calls.task.copy()
    named = find(thread, task)
    task[named >= 0] = initial[named[named >= 0]]
    found = np.full(len(graph.points.what), -1)
    found[graph.points.what == what.CALL] = np.lexsort((calls.enter_row, calls.start, task))
    return found
