# SPDX-License-Identifier: Apache-2.0
"""The passes about the graph of tasks over time, on traces made by hand, with answers worked out by hand. One cycle is
one nanosecond, and records begin at 1000."""
from __future__ import annotations

from pathlib import Path

from handmade import IMPLICIT, A, B, C, Stream, save  # first: it finds marline
from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

OTHER, D = 201, 105


def test_known_graph_and_ready_queue(tmp_path: Path) -> None:
    """A, B, C are created at 0, D at 60. B and C depend on A, D on B. A runs 10-50, B 50-90, C 90-110, D 90-110 on the
    other thread. In four windows from 10 to 110:
    ends      35: A, then B and C: 3 known, 2 deep, 2 wide;  60: B and C and D, of which D depends on B;
              85: the same;  110: all have ended
    ready     C from 50 to 90: 10 of 25 ns, 25 of 25, 5 of 25."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, size=2)
    for time, task, *uses in ((0, A, (3, 1), (3, 2)), (0, B, (3, 1)), (0, C, (3, 2)), (60, D, (3, 1))):
        first.add(1000 + time, "task_create", task, parent=IMPLICIT, flags=4)
        for kind, address in uses:
            first.add(1000 + time, "dependence", task, type=kind, address=address)
    for task, start, end in ((A, 10, 50), (B, 50, 90), (C, 90, 110)):
        first.add(1000 + end, "task_run", task, start=1000 + start, outer=IMPLICIT)
    other = Stream(2).add(1000, "implicit_begin", OTHER, size=2).add(1110, "task_run", D, start=1090, outer=OTHER)
    first.records.sort(key=lambda record: record[0])
    of = Analysis(read_trace(save(tmp_path, [first, other])), windows=4)
    assert of.document("known_graph") == {
        "max_known": 3, "max_depth": 2, "max_width": 2, "edges_ns": [10, 35, 60, 85, 110], "known": [3, 3, 3, 0],
        "depth": [2, 2, 2, 0], "width": [2, 2, 2, 0]}  # fmt: skip
    assert of.document("ready_queue") == {
        "mean": 0.4, "max": 1, "empty_ns": 60, "empty_share": 0.6, "edges_ns": [10, 35, 60, 85, 110],
        "means": [0.0, 0.4, 1.0, 0.2], "maxima": [0, 1, 1, 1]}  # fmt: skip
