# SPDX-License-Identifier: Apache-2.0
"""The graph of a run by kind of task, as a drawing and as a table: how often tasks of one kind follow those of another.
Kinds stand from left to right so that most arrows lead on; what leads back is drawn below, broken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.exports.dot import TaskEdges, task_edges
from marline.trace.global_graph.edges import CREATE, DEPENDENCE, MESSAGE
from marline.trace.statistics import group_by
from marline.units import count, duration

from ..html import Row, number, table, words
from ..styles import Styles
from .layout import Layout, arrange, order

MOST_NODES, MOST_EDGES = 24, 80
WIDE, TALL, BETWEEN, BESIDE, POINT = 200, 44, 66, 14, 12  # pixels: of a node; between layers; nodes; of an edge's point
LETTERS = 29
_HOW = {DEPENDENCE: "dependence", CREATE: "creation", MESSAGE: "message"}


@dataclass
class _Arrow:
    """Between rows of `KindGraph.kinds`."""

    source: int
    sink: int
    how: int
    times: int


@dataclass
class _KindGraph:
    kinds: list[int]  # rows of the pass `kinds`, as they stand
    arrows: list[_Arrow]  # the most frequent first
    left_out: str


def kind_graph(of: Analysis, styles: Styles) -> str:
    """Nothing where no task follows another."""
    found = _find(of)
    if not found.arrows:
        return ""
    names = of["kinds"].names
    rows = [Row((words(names[found.kinds[one.source]]), words(names[found.kinds[one.sink]]), words(_HOW[one.how]),
                 number(one.times))) for one in found.arrows]  # fmt: skip
    note = ("A kind of task, with how many there are and their time. An arrow leads to what follows: whole for "
            "dependences, dotted for creation, blue for messages, broken where it leads back; the number says how "
            "often. A thick frame: some of these tasks are critical. " + found.left_out)  # fmt: skip
    return (f'<section class="card" id="kind-graph"><h3>The graph, by kind of task</h3><div class="scroll">'
            f'{_Drawing(of, styles, found).svg()}</div><p class="note">{escape(note.rstrip())}</p></section>\n'
            + table("kind-edges", "Which kinds follow which", ("from", "to", "by", "times"), rows))  # fmt: skip


def _find(of: Analysis) -> _KindGraph:
    tasks, of_kind, edges = of["tasks"], of["kinds"].of_task, task_edges(of)
    time = np.bincount(of_kind, weights=tasks.running, minlength=len(of["kinds"].names))
    shown = np.argsort(-time, kind="stable")[:MOST_NODES]
    start = np.where(tasks.start >= 0, tasks.start, tasks.created)
    tasks_of = np.maximum(np.bincount(of_kind, minlength=len(time)), 1)
    mean = np.bincount(of_kind, weights=start, minlength=len(time)) / tasks_of
    shown = shown[np.argsort(mean[shown], kind="stable")]  # among equals of the layout, as in time
    place = np.full(len(time), -1)
    place[shown] = np.arange(len(shown))
    arrows = _arrows(edges, place[of_kind] if len(of_kind) else of_kind)
    hidden = [f"{len(time) - len(shown):,} kinds with least time"] if len(shown) < len(time) else []
    hidden += [f"{len(arrows) - MOST_EDGES:,} rare arrows"] if len(arrows) > MOST_EDGES else []
    return _in_order(shown, arrows[:MOST_EDGES], f"Without {' and '.join(hidden)}." if hidden else "")


def _in_order(shown: np.ndarray, arrows: list[_Arrow], left_out: str) -> _KindGraph:
    """Without kinds that no arrow leads to or from."""
    weights: dict[tuple[int, int], float] = {}
    for one in arrows:
        weights[one.source, one.sink] = weights.get((one.source, one.sink), 0) + one.times
    joined = {end for edge in weights for end in edge}
    stand = [node for node in order(len(shown), weights) if node in joined]
    place = {node: number for number, node in enumerate(stand)}
    return _KindGraph(shown[stand].tolist(), [_Arrow(place[one.source], place[one.sink], one.how, one.times)
                                              for one in arrows], left_out)  # fmt: skip


def _arrows(edges: TaskEdges, place: np.ndarray) -> list[_Arrow]:
    source, sink = place[edges.source], place[edges.sink]
    known = (source >= 0) & (sink >= 0)
    columns = (source[known], sink[known], edges.kind[known])
    groups = group_by(*columns)
    rows = zip(*(groups.key(column).tolist() for column in columns), groups.count.tolist())
    return sorted((_Arrow(*row) for row in rows), key=lambda arrow: -arrow.times)


class _Drawing:
    """As SVG, whose colours are those of the page."""

    def __init__(self, of: Analysis, styles: Styles, found: _KindGraph) -> None:
        self.of, self.found = of, found
        self.color = [styles.kinds[styles.of_kind[kind]]["color"] for kind in found.kinds]
        self.layout = arrange(len(found.kinds), [(one.source, one.sink) for one in found.arrows])
        self.at, self.height = _positions(self.layout, len(found.kinds))
        self.most = math.log(max(one.times for one in found.arrows) + 1)

    def svg(self) -> str:
        wide = (max(self.layout.layer) + 1) * (WIDE + BETWEEN) - BETWEEN + 8
        tall = self.height + (34 + 6 * len(self.layout.back) if self.layout.back else 0) + 8
        return (f'<svg class="graph" role="img" aria-label="graph of kinds of tasks; the same as a table below" '
                f'width="{wide}" height="{tall}" viewBox="-4 -4 {wide} {tall}"><defs><marker id="head" '
                'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" '
                'orient="auto">'
                '<path d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
                + "".join(map(self._arrow, self.found.arrows)) + "".join(map(self._node, range(len(self.found.kinds))))
                + "</svg>")  # fmt: skip

    def _node(self, node: int) -> str:
        kind, (x, y) = self.found.kinds[node], self.at[node]
        tasks, of_kind = self.of["tasks"], self.of["kinds"].of_task
        mine = of_kind == kind
        critical = bool(np.any(self.of["critical_path"].slack[mine] == 0))
        name = self.of["kinds"].names[kind]
        text = f"{count(int(mine.sum()))} tasks, {duration(float(tasks.running[mine].sum()))}"
        own = sum(one.times for one in self.found.arrows if one.source == one.sink == node)
        text += f", {count(own)} in a row" if own else ""
        shown = name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}\u2026"
        return (f'<g class="node{" critical" if critical else ""}"><title>{escape(name)}: {escape(text)}</title>'
                f'<rect x="{x}" y="{y}" width="{WIDE}" height="{TALL}" rx="5"/><rect class="mark" x="{x}" y="{y}" '
                f'width="6" height="{TALL}" rx="2" style="fill:{self.color[node]}"/><text x="{x + 13}" y="{y + 18}">'
                f'{escape(shown)}</text><text class="quiet" x="{x + 13}" y="{y + 34}">{escape(text)}</text></g>')

    def _arrow(self, one: _Arrow) -> str:
        if one.source == one.sink:
            return ""
        names = self.of["kinds"].names
        title = (f"{names[self.found.kinds[one.source]]} to {names[self.found.kinds[one.sink]]}: {one.times:,} times, "
                 f"by {_HOW[one.how]}")  # fmt: skip
        path, (x, y) = self._path(one)
        width, back = 1 + 2.5 * math.log(one.times + 1) / self.most, " back" if one.source > one.sink else ""
        return (f'<g class="edge {_HOW[one.how]}{back}"><title>{escape(title)}</title>'
                f'<path d="{path}" style="stroke-width:{width:.1f}" marker-end="url(#head)"/>'
                f'<text x="{x:.0f}" y="{y:.0f}">{count(one.times)}</text></g>')  # fmt: skip

    def _path(self, one: _Arrow) -> tuple[str, tuple[float, float]]:
        """The path, and where its number stands."""
        if one.source > one.sink:
            return self._path_back(one)
        points = self.layout.route[one.source, one.sink]
        x, y = label = self._middle(points[0], WIDE)
        pieces = [f"M{x} {y}"]
        for step, node in enumerate(points[1:]):
            to_x, to_y = self._middle(node, 0)
            pieces.append(f"C{x + BETWEEN / 2} {y} {to_x - BETWEEN / 2} {to_y} {to_x} {to_y}")
            if step == 0:
                label = ((x + to_x) / 2, (y + to_y) / 2 - 4)
            x, y = to_x, to_y
            if node >= len(self.found.kinds):  # straight through the layer
                x += WIDE
                pieces.append(f"L{x} {y}")
        return "".join(pieces), label

    def _path_back(self, one: _Arrow) -> tuple[str, tuple[float, float]]:
        lane = self.layout.back.index((one.source, one.sink))
        (x, y), (to_x, to_y) = self.at[one.source], self.at[one.sink]
        x, to_x, y, to_y = x + WIDE * 0.6, to_x + WIDE * 0.4, y + TALL, to_y + TALL
        low = self.height + 26 + 6 * lane
        return f"M{x} {y}C{x} {low} {to_x} {low} {to_x} {to_y}", ((x + to_x) / 2, 0.25 * (y + to_y) / 2 + 0.75 * low)

    def _middle(self, node: int, right: int) -> tuple[float, float]:
        x, y = self.at[node]
        tall = TALL if node < len(self.found.kinds) else POINT
        return x + (right if node < len(self.found.kinds) else 0), y + tall / 2


def _positions(layout: Layout, nodes: int) -> tuple[list[tuple[int, int]], int]:
    """(upper left corner of each node and point; height): each layer in the middle of the drawing's height."""
    layers = [sorted((one for one, layer in enumerate(layout.layer) if layer == number), key=layout.place.__getitem__)
              for number in range(max(layout.layer) + 1)]  # fmt: skip
    tall = [sum((TALL if node < nodes else POINT) + BESIDE for node in layer) - BESIDE for layer in layers]
    at = [(0, 0)] * len(layout.layer)
    for number, layer in enumerate(layers):
        y = (max(tall) - tall[number]) // 2
        for node in layer:
            at[node] = (number * (WIDE + BETWEEN), y)
            y += (TALL if node < nodes else POINT) + BESIDE
    return at, max(tall)
