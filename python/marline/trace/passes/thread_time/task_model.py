# SPDX-License-Identifier: Apache-2.0
"""The breakdown of ranks that have explicit tasks: what a thread did, against the state that its rank was in.

Only work is followed interval by interval. What is no work is all the rest, so its time in a state is that state's
whole time in the window less the work that fell into it: gaps never become intervals, and nothing is lost.
"""

from __future__ import annotations

import numpy as np

from ...model import recording_gaps
from ...read.columns import find, overlaps
from ...registry import Analysis
from .causes import CAUSES, NUMBER
from ..lanes import Lanes, Pieces
from .states import (AWAY, COMMUNICATION, CONSTRAINT, DEPENDENCES, DEVICE, DISCOVERY, OUTSIDE, READY, STATES, TAIL,
                     THROTTLED, Integrals, States)  # fmt: skip

_IDLE_OF_STATE = {
    AWAY: "idle_ranks", DISCOVERY: "idle_discovery", COMMUNICATION: "idle_communication",
    DEVICE: "idle_device", THROTTLED: "idle_throttled", CONSTRAINT: "idle_constraint", DEPENDENCES: "idle_dependences",
    TAIL: "idle_tail", OUTSIDE: "idle_outside",
}  # fmt: skip


class _Measure:
    """Adds up intervals of lanes per window, in all or in one state of the lane's rank."""

    def __init__(self, states: States, lanes: Lanes, edges: np.ndarray) -> None:
        self._states, self._lanes, self._edges = states, lanes, edges
        self._integrals: Integrals = states.integrals()
        self._rank = find(states.ranks, lanes.rank)

    def pieces(self, lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> "_Measured":
        return _Measured(self, Pieces(self._lanes, self._edges, lane, start, end))

    def find(self, lane: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._integrals.find(self._states.locate(self._rank[lane], time))

    def never(self, state: int) -> bool:
        return self._integrals.never(state)

    def between(self, state: int, start: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray]
                ) -> np.ndarray:  # fmt: skip
        return self._integrals.between(state, start, end)

    def whole(self, state: int) -> np.ndarray:
        """How long each lane's rank is in the state, per window."""
        number, count = np.arange(len(self._states.ranks)), len(self._edges)
        places = self._states.locate(np.repeat(number, count), np.tile(self._edges, len(number)))
        at = tuple(column.reshape(len(number), count) for column in self._integrals.find(places))
        per_rank = self.between(state, tuple(column[:, :-1] for column in at), tuple(column[:, 1:] for column in at))
        return per_rank[self._rank]


class _Measured:
    def __init__(self, measure: _Measure, pieces: Pieces) -> None:
        self._measure, self._pieces = measure, pieces
        self._start = measure.find(pieces.lane, pieces.start)
        self._end = measure.find(pieces.lane, pieces.end)

    def total(self) -> np.ndarray:
        return self._pieces.total()

    def within(self, state: int) -> np.ndarray:
        if self._measure.never(state):
            return np.zeros_like(self.total())
        return self._pieces.sum(self._measure.between(state, self._start, self._end))


def task_times(of: Analysis, lanes: Lanes, edges: np.ndarray) -> np.ndarray:
    """Lane by window by cause."""
    measure = _Measure(of["states"], lanes, edges)
    runs, mpi, who = of["segments"], of["in_mpi"], of["producers"]
    lane = lanes.index(runs.rank, runs.thread)
    explicit, runs_code = of["owners"] >= 0, ~runs.waits

    def part(rows: np.ndarray, until: np.ndarray) -> tuple[_Measured, _Measured]:
        """Segments up to `until`, and what of them lies inside MPI calls."""
        start = runs.start[rows]
        inside = overlaps(runs.task[rows], start, until, mpi.task, mpi.start, mpi.end)
        return (measure.pieces(lane[rows], start, until),
                measure.pieces(lane[rows[inside.a]], inside.start, inside.end))  # fmt: skip

    time = np.zeros((len(lanes.rank), len(edges) - 1, len(CAUSES)), dtype=np.int64)
    rows = np.flatnonzero(explicit & runs_code)
    work, work_mpi = part(rows, runs.end[rows])
    held = work_mpi.within(READY)
    time[:, :, NUMBER["overhead_held"]] = held
    time[:, :, NUMBER["idle_held"]] = work_mpi.total() - held
    inside = _creations_in_bodies(of, measure, lane)
    time[:, :, NUMBER["work_body"]] = work.total() - work_mpi.total() - inside
    off = measure.pieces(*_gaps(of, lanes))
    time[:, :, NUMBER["idle_unrecorded"]] = off.total()
    left = [measure.whole(state) - work.within(state) - off.within(state) for state in range(STATES)]
    for state, name in _IDLE_OF_STATE.items():
        time[:, :, NUMBER[name]] = left[state]
    rows = np.flatnonzero(~explicit & runs.waits)
    waits = measure.pieces(lane[rows], runs.start[rows], runs.end[rows]).within(OUTSIDE)
    time[:, :, NUMBER["idle_barrier"]] = waits
    time[:, :, NUMBER["idle_outside"]] -= waits
    rows = np.flatnonzero(~explicit & runs_code)
    code, code_mpi = (measured.within(READY) for measured in part(rows, runs.end[rows]))
    chosen = ~explicit[who.segment]
    creation, creation_mpi = (
        measured.within(READY) for measured in part(who.segment[chosen], who.until[chosen])
    )  # fmt: skip
    time[:, :, NUMBER["overhead_creation"]] = creation - creation_mpi + inside
    time[:, :, NUMBER["overhead_mpi"]] = code_mpi
    time[:, :, NUMBER["overhead_code"]] = code - code_mpi - (creation - creation_mpi)
    time[:, :, NUMBER["overhead_scheduler"]] = left[READY] - code
    return time


def _creations_in_bodies(of: Analysis, measure: _Measure, lane: np.ndarray) -> np.ndarray:
    pieces = of["creations"].pieces
    return measure.pieces(lane[pieces.segment], pieces.start, pieces.end).total()


def _gaps(of: Analysis, lanes: Lanes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gaps = recording_gaps(of.trace)
    return lanes.index(gaps.rank, gaps.thread), gaps.start, gaps.end
