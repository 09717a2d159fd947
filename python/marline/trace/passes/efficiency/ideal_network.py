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
from ...native import Arrows, has_cycle, longest_paths
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
    edges, time = graph.edges.take(_in_order(graph)), graph.time - graph.begin
    nodes = len(time)
    reached = np.full(nodes, -1, dtype=np.int64)
    np.maximum.at(reached, edges.sink, time[edges.source] + edges.weight)
    first = np.flatnonzero(reached < 0)
    delay = np.maximum(time - reached, 0)
    weight = np.where(np.isin(edges.kind, COMMUNICATION), 0, edges.weight) if ideal else edges.weight
    # One more node stands before all points that wait for nothing: the beginning of the total.
    source = np.r_[edges.source, np.full(len(first), nodes)]
    sink = np.r_[edges.sink, first]
    length = np.r_[weight + delay[edges.sink], time[first]]
    return int(longest_paths(Arrows(nodes + 1, source, sink, length)).earliest.max(initial=0))


def _in_order(graph: GlobalGraph) -> np.ndarray:
    """The edges without those from task to task on a thread that lead back in time, or in a circle within one
    nanosecond (in a damaged trace)."""
    edges, time = graph.edges, graph.points.time
    gained = time[edges.sink] - time[edges.source]
    declared = np.arange(len(gained)) < graph.declared
    at_once = np.flatnonzero(gained == 0)
    circle = has_cycle(Arrows(len(time), edges.source[at_once], edges.sink[at_once],
                              np.zeros(len(at_once), dtype=np.int64)))  # fmt: skip
    return np.flatnonzero(declared | (gained > 0 if circle else gained >= 0))
