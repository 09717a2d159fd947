# SPDX-License-Identifier: Apache-2.0
"""No message is received before it was sent.

The straight lines of clock.py leave an error of a fraction of a message's round trip, and more where a clock's drift
changes during the run. So ranks of several machines are compared over their messages: where a receive ends before the
send began, the receiver's whole time line is moved forward by the least that mends it, and with it what depends on it
(Lamport's rule, 1978, but one step per rank, so that durations within a rank stay what was measured). Where no such
steps exist, as the error changed its sign during the run, nothing is moved and the largest violation is told.
"""

from __future__ import annotations

import numpy as np

from .calls import mpi_calls
from .events import EVENTS
from .messages import messages
from .records import Trace


def repair(trace: Trace) -> Trace:
    """Moves ranks where their messages demand it, and notes that in the trace. Ranks of one machine share a clock."""
    if len({metadata["boot_id"] for metadata in trace.ranks.values()}) < 2:
        return trace
    calls = mpi_calls(trace)
    found = messages(trace, calls)
    sender, receiver = calls.rank[found.send].astype(np.int64), calls.rank[found.receive].astype(np.int64)
    slack = calls.end[found.receive] - calls.start[found.send]
    if not np.any(slack < 0):
        return trace
    steps = _steps(sender, receiver, slack)
    if np.all(slack + steps[receiver] - steps[sender] >= 0):
        _move(trace, steps)
    else:
        trace.notes.append(
            f"clocks: {int(np.count_nonzero(slack < 0))} of {len(slack)} messages seem received before they were sent, "
            f"by up to {-int(slack.min())} ns, as a clock's drift changed: times across ranks are that uncertain"
        )
    return trace


def _steps(sender: np.ndarray, receiver: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """By rank: the least steps forward that leave no slack negative, or something else if there are none."""
    pairs, pair = np.unique(np.stack([sender, receiver]), axis=1, return_inverse=True)
    least = np.full(pairs.shape[1], np.iinfo(np.int64).max)
    np.minimum.at(least, pair.ravel(), slack)
    steps = np.zeros(int(pairs.max()) + 1, dtype=np.int64)
    # Longest paths (Bellman and Ford): without a cycle that demands more and more, one round per rank suffices.
    for _ in range(len(steps)):
        for source, target, spare in zip(pairs[0].tolist(), pairs[1].tolist(), least.tolist()):
            steps[target] = max(steps[target], steps[source] - spare)
    return steps


def _move(trace: Trace, steps: np.ndarray) -> None:
    for rank in np.flatnonzero(steps).tolist():
        mine = slice(*np.searchsorted(trace.rank, [rank, rank + 1]))
        trace.time[mine] += steps[rank]
        runs = mine.start + np.flatnonzero(trace.kind[mine] == EVENTS["task_run"].number)
        trace.payload[runs, 0] += np.uint64(steps[rank])
        trace.notes.append(
            f"clocks: rank {rank} moved by {int(steps[rank])} ns, as it received messages before they were sent"
        )
