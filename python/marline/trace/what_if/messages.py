# SPDX-License-Identifier: Apache-2.0
"""How long the model lets messages and calls of MPI take, apart from who was late.

- A message takes from when it was sent to when its receiver had it, if the receiver waited when it was sent, and a free
  thread waited, too, when it came. Others take the mean of these, at most from their sending to their arrival. Of the
  mean, what is above the 99th percentile counts as that.
- A collective does so from when all ranks that are waited for have called it, in the same way.
- A sender waits for its receiver where it did so: the receive was asked for while the call that ended the send waited.
  How long from then on is MPI's affair, and no other network changes it.
- What a call has taken that waited for nobody is its own cost, and no network's.
"""

from __future__ import annotations

import numpy as np

from ..global_graph import edges as kinds
from ..global_graph import points as what
from ..global_graph.build import GlobalGraph
from ..registry import Analysis
from .waits import CALL, Waits, call_of_point, last_call

_SWITCH = 5_000  # ns: a thread that had no task for longer was free


def add_messages(of: Analysis, graph: GlobalGraph, time: np.ndarray, waits: Waits) -> Waits:
    """`waits` with the delays of messages; needs calls and messages."""
    points = graph.points
    _shorten_suspended(points, time, waits)
    collective = (waits.kind == kinds.COLLECTIVE) & (points.task[waits.source] == 0)
    rows = np.flatnonzero((waits.kind == kinds.MESSAGE) | collective)
    source, sink = waits.source[rows], waits.sink[rows]
    entered = last_call(points)[sink]
    asked, sent, got = time[entered], time[source], time[sink]
    is_send = np.zeros(len(of["calls"].call), dtype=bool)
    is_send[of["messages"].send] = True
    sends = collective[rows] | is_send[call_of_point(of, graph)[source]]
    # A runtime that does not say when a task could go on has it ready where it went on.
    unknown = (points.what[sink] == what.READY) & (time[np.minimum(sink + 1, len(time) - 1)] == got)
    busy = _busy_before(graph, time)[np.where(unknown, sink + 1, sink)]
    delay = waits.delay[rows]
    for some in (collective[rows], ~collective[rows]):
        delay[some] = _latencies(sends[some], asked[some], sent[some], got[some], busy[some], delay[some])
    late = sends & (sent + delay <= asked)
    unneeded = ~sends & (sent <= asked)
    waits.delay[rows] = np.where(sends, delay, got - sent)
    waits.group[rows[~sends]] = CALL
    kept = np.ones(len(waits.source), dtype=bool)
    kept[rows[unneeded]] = False
    return waits.take(kept).joined(_own_costs(points, time, sink, entered, ~late & ~unneeded))


def _shorten_suspended(points: what.Points, time: np.ndarray, waits: Waits) -> None:
    """A call that suspended its task, for what is not known, was there when the task could go on."""
    rows = np.flatnonzero((waits.kind == kinds.MPI) & (points.what[waits.sink - 2] == what.READY)
                          & (points.what[waits.sink - 1] == what.RESUME) & (waits.sink - 2 > waits.source))  # fmt: skip
    waits.sink[rows] -= 2
    waits.delay[rows] = time[waits.sink[rows]] - time[waits.source[rows]]


def _busy_before(graph: GlobalGraph, time: np.ndarray) -> np.ndarray:
    """By point: until when its thread ran another task before; 0 where that is not known."""
    before = graph.edges.take(slice(graph.declared, None))
    found = np.zeros(len(time), dtype=np.int64)
    found[before.sink] = time[before.source]
    return found


def _latencies(sends: np.ndarray, asked: np.ndarray, sent: np.ndarray, got: np.ndarray, busy: np.ndarray,
               least: np.ndarray) -> np.ndarray:  # fmt: skip
    whole = np.maximum(got - sent, 0)
    known = sends & (asked <= sent) & (got > sent) & ((busy <= sent) | (got - busy > _SWITCH))
    if not np.any(known):
        return least
    typical = np.minimum(whole[known], np.percentile(whole[known], 99)).mean()
    return np.where(known, whole, np.minimum(whole, round(typical)))


def _own_costs(points: what.Points, time: np.ndarray, sink: np.ndarray, entered: np.ndarray,
               waited: np.ndarray) -> Waits:  # fmt: skip
    """Of calls that got or sent messages and waited for none of them."""
    has_waited = np.zeros(len(time), dtype=bool)
    has_waited[sink[waited]] = True
    sink, first = np.unique(sink, return_index=True)
    free = ~has_waited[sink] & (points.what[sink] == what.RETURN)
    source, sink = entered[first[free]], sink[free]
    return Waits(source, sink, time[sink] - time[source], np.full(len(sink), CALL),
                 np.full(len(sink), kinds.MPI, dtype=np.int8))  # fmt: skip
