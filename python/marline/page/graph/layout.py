# SPDX-License-Identifier: Apache-2.0
"""A layered drawing of a small graph (K. Sugiyama et al., Methods for Visual Understanding of Hierarchical System
Structures, 1981): the nodes get an order that few edges lead against, and these are set aside; a node's layer is the
longest path to it; edges over several layers get a point in each; and a few sweeps put each node at the middle of its
neighbours.

Ours and no library: the graph has at most some tens of nodes, Python draws it when the page is made, and the picture
needs no script in the reader's browser."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SWEEPS = 8

Edge = tuple[int, int]


@dataclass
class Layout:
    """`layer`, `place`: of each node and, from len(nodes) on, each point of a long edge; places count from 0 in
    each layer. `route`: of each edge that leads on, the nodes and points that it goes through. `back`: the others."""

    layer: list[int]
    place: list[int]
    route: dict[Edge, list[int]] = field(default_factory=dict)
    back: list[Edge] = field(default_factory=list)


def order(nodes: int, weights: Mapping[Edge, float]) -> list[int]:
    """All nodes, so that edges that lead back weigh little: what nothing leads to comes first, what leads nowhere comes
    last, and of the rest the node whose edges out outweigh those in most (P. Eades, X. Lin, W. Smyth, A fast and
    effective heuristic for the feedback arc set problem, 1993). Among equals the least number comes first."""
    left, first, last = set(range(nodes)), [], []
    while left:
        out, into = dict.fromkeys(left, 0.0), dict.fromkeys(left, 0.0)
        for (source, sink), weight in weights.items():
            if source != sink and source in left and sink in left:
                out[source] += weight
                into[sink] += weight
        sinks = [node for node in left if not out[node] and into[node]]
        if sinks:
            chosen = max(sinks)
            last.append(chosen)
        else:
            chosen = min(left, key=lambda node: (into[node] > 0, into[node] - out[node], node))
            first.append(chosen)
        left.remove(chosen)
    return first + last[::-1]


def arrange(nodes: int, edges: Sequence[Edge]) -> Layout:
    """Nodes are numbered in the order in which they should stand. Edges from a node to itself are left out."""
    forward = sorted({edge for edge in edges if edge[0] < edge[1]})
    layer = [0] * nodes
    for source, sink in forward:  # by source: all that leads to it is done
        layer[sink] = max(layer[sink], layer[source] + 1)
    found = Layout(layer, [], back=sorted({edge for edge in edges if edge[0] > edge[1]}))
    for source, sink in forward:
        route = [source]
        for between in range(layer[source] + 1, layer[sink]):
            route.append(len(layer))
            layer.append(between)
        found.route[source, sink] = [*route, sink]
    found.place = _places(layer, list(found.route.values()))
    return found


def _places(layer: list[int], routes: list[list[int]]) -> list[int]:
    """Sweeps to and fro: the nodes of each layer in the order of the middles of their neighbours before, or after."""
    before, after = defaultdict(list), defaultdict(list)
    for route in routes:
        for source, sink in zip(route, route[1:]):
            before[sink].append(source)
            after[source].append(sink)
    layers = [[node for node, one in enumerate(layer) if one == number] for number in range(max(layer, default=-1) + 1)]
    place = [0] * len(layer)

    def settle(nodes: list[int]) -> None:
        for number, node in enumerate(nodes):
            place[node] = number

    for nodes in layers:
        settle(nodes)
    for sweep in range(SWEEPS):
        near = before if sweep % 2 == 0 else after
        for nodes in layers if sweep % 2 == 0 else reversed(layers):
            nodes.sort(key=lambda node: _middle([place[one] for one in near[node]], place[node]))
            settle(nodes)
    return place


def _middle(places: list[int], own: int) -> float:
    return sum(places) / len(places) if places else own
