# SPDX-License-Identifier: Apache-2.0
"""The pass `ideal_network`: how long the same run would have lasted if MPI took no time.

The run is replayed on its graph, with every thread doing the same in the same order:

- Each point p of the graph came some time after all that it waited for: delay(p) = time(p) - max over its edges e of
  (time(source(e)) + weight(e)). That is what the runtime, or a wait for something that is not recorded, took.
- The replay keeps the delays and the work. Calls, messages and collectives take 0, from when all sides have called:
  ideal(p) = delay(p) + max over its edges of (ideal(source(e)) + weight'(e)), with weight' = 0 for MPI.

The result is the greatest ideal(p). With the weights as they were, the replay gives the run again, to the nanosecond.
This is what POP asks of a simulation with Dimemas (pop-coe.eu, metrics: transfer efficiency): no latency, infinite
bandwidth, while receivers still wait for late senders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...global_graph.build import GlobalGraph
from ...global_graph.edges import COMMUNICATION
from ...native import Arrows, path_lengths
from ...registry import Analysis, analysis_pass


@dataclass
class IdealNetwork:
    """Both in ns."""

    makespan: int
    ideal: int

    def document(self) -> dict[str, Any]:
        return {"makespan_ns": self.makespan, "ideal_ns": self.ideal}


@analysis_pass("ideal_network", needs=("global_graph",))
def ideal_network(of: Analysis) -> IdealNetwork:
    """How long the same run would have lasted if MPI took no time."""
    graph: GlobalGraph = of["global_graph"]
    makespan = graph.end - graph.begin
    edges = graph.edges
    if not np.any(edges.weight[np.isin(edges.kind, COMMUNICATION)]):
        return IdealNetwork(makespan, makespan)
    return IdealNetwork(makespan, min(replay(graph, ideal=True), makespan))


def replay(graph: GlobalGraph, ideal: bool) -> int:
    """How long the run lasts with its delays; `ideal`: MPI takes no time."""
    edges, order, time = graph.edges, graph.order, graph.time - graph.begin
    counted = slice(None) if len(order) == len(edges.source) else order
    reached = np.full(len(time), -1, dtype=np.int64)
    np.maximum.at(reached, edges.sink[counted], time[edges.source[counted]] + edges.weight[counted])
    delay = np.maximum(time - reached, 0)
    weight = np.where(np.isin(edges.kind, COMMUNICATION), 0, edges.weight) if ideal else edges.weight
    # What waits for nothing comes when it came.
    start = np.where(reached < 0, time, 0)
    arrows = Arrows(len(time), edges.source, edges.sink, weight + delay[edges.sink])
    return int(path_lengths(arrows, order, start).max(initial=0))
