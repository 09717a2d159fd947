# SPDX-License-Identifier: Apache-2.0
"""The breakdown of ranks without explicit tasks: MPI-only programs, and programs that use loops for parallelism.

The program's code is what implicit tasks run; in a process without an OpenMP runtime, all that a thread does.
"""

from __future__ import annotations

import numpy as np

from ...model import lane_number, recording_gaps, waits_for_lock
from ...read.calls import Calls, call_mask
from ...read.columns import group_starts, overlaps
from ...read.records import Trace
from ...registry import Analysis
from .causes import CAUSES, NUMBER
from ..lanes import Lanes, Pieces


def code_spans(trace: Trace, calls: Calls, of_tasks: np.ndarray) -> dict[int, tuple[int, int]]:
    """Begin and end of each rank that is not among `of_tasks`: from the end of MPI_Init to the start of MPI_Finalize,
    or from its first record to its last."""
    init = call_mask(calls, "MPI_Init", "MPI_Init_thread") & calls.returned
    finalize = call_mask(calls, "MPI_Finalize")
    spans: dict[int, tuple[int, int]] = {}
    for rank in np.setdiff1d(trace.rank[group_starts(trace.rank)].astype(np.int64), of_tasks).tolist():
        mine = slice(*np.searchsorted(trace.rank, [rank, rank + 1]))
        begins = calls.end[init & (calls.rank == rank)]
        ends = calls.start[finalize & (calls.rank == rank)]
        begin = int(begins.max()) if begins.size else int(trace.time[mine].min())
        end = int(ends.min()) if ends.size else int(trace.time[mine].max())
        spans[rank] = (begin, max(begin, end))
    return spans


def code_times(of: Analysis, lanes: Lanes, edges: np.ndarray, spans: dict[int, tuple[int, int]]) -> np.ndarray:
    """Lane by window by cause."""
    runs, mpi = of["segments"], of["in_mpi"]
    own_begin = np.array([spans[rank][0] for rank in lanes.rank.tolist()])
    own_end = np.array([spans[rank][1] for rank in lanes.rank.tolist()])

    def total(lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        known = lane >= 0
        lane, start, end = lane[known], start[known], end[known]
        return Pieces(lanes, edges, lane, np.maximum(start, own_begin[lane]), np.minimum(end, own_end[lane])).total()

    gaps = recording_gaps(of.trace)
    off = (lanes.index(gaps.rank, gaps.thread), gaps.start, gaps.end)

    def recorded(lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Without the time in which recording was off."""
        unseen = overlaps(lane, start, end, *off)
        return total(lane, start, end) - total(lane[unseen.a], unseen.start, unseen.end)

    lane = lanes.index(runs.rank, runs.thread)
    runs_code = (lane >= 0) & ~runs.waits
    # A thread that OpenMP never saw runs the program's code all the time.
    alone = np.setdiff1d(np.arange(len(lanes.rank)), lane)
    code = (np.r_[lane[runs_code], alone], np.r_[runs.start[runs_code], own_begin[alone]],
            np.r_[runs.end[runs_code], own_end[alone]])  # fmt: skip
    inside = overlaps(lane_number(lanes.rank, lanes.thread)[code[0]], code[1], code[2],
                      lane_number(mpi.rank, mpi.thread), mpi.start, mpi.end)  # fmt: skip
    every = np.arange(len(lanes.rank))
    waits = np.flatnonzero((lane >= 0) & runs.waits)
    for_lock = waits_for_lock(of.trace, runs.task[waits], runs.start[waits])
    locked, waits = waits[for_lock], waits[~for_lock]
    times = {
        "idle_communication": recorded(code[0][inside.a], inside.start, inside.end),
        "idle_barrier": recorded(lane[waits], runs.start[waits], runs.end[waits]),
        "idle_lock": recorded(lane[locked], runs.start[locked], runs.end[locked]),
        "idle_unrecorded": total(*off),
    }
    times["work_body"] = recorded(*code) - times["idle_communication"]
    times["idle_ranks"] = np.diff(edges) - total(every, own_begin, own_end)
    times["idle_outside"] = np.diff(edges) - sum(times.values())
    result = np.zeros((len(lanes.rank), len(edges) - 1, len(CAUSES)), dtype=np.int64)
    for name, value in times.items():
        result[:, :, NUMBER[name]] = value
    return result
