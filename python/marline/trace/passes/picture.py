# SPDX-License-Identifier: Apache-2.0
"""What all drawings share, as passes: `kinds` (names and colours of tasks), `lanes` (where tasks suspended in MPI are
drawn), and `picture`, which holds these together with the tables of the model.

A lane holds what is in flight and on no thread. Bars of one lane never overlap: each takes the lowest lane that is
free.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, field, replace

import numpy as np

from .. import graph, model, symbols
from ..read.messages import Messages
from ..read.reader import TASK_BITS, Trace
from ..registry import Analysis, AnalysisError, analysis_pass
from .devices import Devices
from .packing import lowest_lanes

# Ten colours that stay apart, also for most colour-blind readers' eyes (Tableau's palette); more kinds get even hues.
_PALETTE = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac",
)
_UNNAMED = "task"
_NEEDS = ("tasks", "segments", "calls", "suspensions", "edges", "messages")


@dataclass
class Kinds:
    """Kinds of tasks: by label if there is one, by code otherwise."""

    names: list[str]
    colors: list[str]  # "#rrggbb"
    of_task: np.ndarray  # row of tasks -> row of names
    notes: list[str]  # why code has no name


@dataclass
class Lanes:
    """MPI calls during which the task was suspended, each in a lane, numbered per rank."""

    calls: np.ndarray  # rows of calls
    lane: np.ndarray


@dataclass
class Picture:
    """A trace, interpreted."""

    trace: Trace
    tasks: model.Tasks
    runs: model.Segments
    calls: model.Calls
    suspensions: model.Suspensions
    edges: graph.Edges
    messages: Messages
    kind_names: list[str]
    kind_colors: list[str]  # "#rrggbb"
    kind_of_task: np.ndarray  # row of tasks -> row of kind_names
    suspended_calls: np.ndarray  # rows of calls during which the task was suspended
    lane_of_call: np.ndarray  # lane of each of suspended_calls, numbered per rank
    devices: Devices
    kinds_have_order: bool = False  # legends keep it; else kinds with most time come first
    notes: list[str] = field(default_factory=list)  # why code has no name


def interpret(trace: Trace) -> Picture:
    """Everything that a drawing needs."""
    return Analysis(trace)["picture"]


@analysis_pass("picture", needs=(*_NEEDS, "kinds", "lanes", "devices"))
def picture(of: Analysis) -> Picture:
    """What the exports draw."""
    tasks, segments, calls, suspensions, edges, messages = (of[name] for name in _NEEDS)
    kinds, lanes = of["kinds"], of["lanes"]
    return Picture(of.trace, tasks, segments, calls, suspensions, edges, messages, kinds.names, kinds.colors,
                   kinds.of_task, lanes.calls, lanes.lane, of["devices"], kinds.notes)  # fmt: skip


ITERATION = "graph-iteration"  # colours by the iteration of a persistent graph, unless a region has this name


def by_region(of: Analysis, region: str) -> Picture:
    """The picture with a colour for each time that the task's creator had begun the region `region`, as a cycle of a
    simulation, in place of a colour for each kind of task."""
    regions, tasks = of["regions"], of["tasks"]
    if region not in regions.names:
        if region == ITERATION:
            return _by_time(of, of["iterations"].iteration, region, f"no {region}")
        known = ", ".join(regions.names) or "none"
        raise AnalysisError(f"--color-by {region}: the trace has no region of that name; it has: {known}")
    rows = np.flatnonzero(regions.name == regions.names.index(region))
    times = np.zeros(len(tasks.id), dtype=np.int64)
    for creator in np.unique(regions.task[rows]).tolist():
        begins = np.sort(regions.start[rows[regions.task[rows] == creator]])
        mine = tasks.parent == creator
        times[mine] = np.searchsorted(begins, tasks.created[mine], side="right")
    return _by_time(of, times, region, f"before {region} 1")


def _by_time(of: Analysis, times: np.ndarray, title: str, none: str) -> Picture:
    """A colour for each number in `times`; `none` is what 0 is called."""
    most = int(times.max(initial=0))
    names = [none, *(f"{title} {time}" for time in range(1, most + 1))]
    colors = ["#bbbbbb", *(_PALETTE[time % len(_PALETTE)] for time in range(most))]
    return replace(of["picture"], kind_names=names, kind_colors=colors, kind_of_task=times, kinds_have_order=True)


@analysis_pass("lanes", needs=("calls", "suspensions"))
def lanes(of: Analysis) -> Lanes:
    """Suspended calls and their lanes."""
    calls, suspensions = of["calls"], of["suspensions"]
    suspended = np.unique(suspensions.call[suspensions.call >= 0])
    return Lanes(suspended, lowest_lanes(calls.rank[suspended], calls.start[suspended], calls.end[suspended]))


@analysis_pass("kinds", needs=("tasks",))
def kinds(of: Analysis) -> Kinds:
    """Names and colours of tasks."""
    tasks = of["tasks"]
    rank = (tasks.id >> np.uint64(TASK_BITS)).astype(np.int64)
    labelled = tasks.label != 0
    numbers: dict[str, int] = {}
    kind = np.zeros(len(tasks.id), dtype=np.int64)
    for label in np.unique(tasks.label[labelled]).tolist():
        name = tasks.texts.get(label, _UNNAMED)
        kind[tasks.label == label] = numbers.setdefault(name, len(numbers))
    coded = {one: np.flatnonzero(~labelled & (rank == one)) for one in np.unique(rank).tolist()}
    found = symbols.locate(of.trace.ranks, {one: tasks.code[rows] for one, rows in coded.items()})
    for one, rows in coded.items():
        codes, inverse = np.unique(tasks.code[rows], return_inverse=True)
        names = [found.places[one, code].short() if code else _UNNAMED for code in codes.tolist()]
        of_code = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
        kind[rows] = of_code[inverse]
    order = sorted(numbers)
    position = {name: place for place, name in enumerate(order)}
    moved = np.array([position[name] for name in numbers], dtype=np.int64)
    of_task = moved[kind] if len(kind) else kind
    return Kinds(order, _colors(tasks, of_task, len(order)), of_task, found.notes)


def _colors(tasks: model.Tasks, kind_of_task: np.ndarray, count: int) -> list[str]:
    """The program's colour for the kind if it gave one, else one of ours."""
    given = np.zeros(count, dtype=np.int64)
    coloured = np.flatnonzero(tasks.color)[::-1]  # of several the first counts
    given[kind_of_task[coloured]] = tasks.color[coloured]
    return [f"#{color & 0xFFFFFF:06x}" if color else _own_color(kind, count)
            for kind, color in enumerate(given.tolist())]  # fmt: skip


def _own_color(kind: int, count: int) -> str:
    if count <= len(_PALETTE):
        return _PALETTE[kind]
    red, green, blue = colorsys.hls_to_rgb(kind / count, 0.5, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
