# SPDX-License-Identifier: Apache-2.0
"""What bars stand for and how they are coloured: kinds of tasks first, then what is always the same.

Colours of kinds are those of Okabe and Ito ("Color universal design", 2008), which colour-blind readers tell apart; the
kinds with most time get them, the others greys. A colour that the program gave to its tasks is kept. All else has a
name that assets/page.css gives a colour, in light and dark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marline.trace import symbols
from marline.trace.analysis import Analysis

_KIND_COLORS = ("#4c8bc4", "#e69f00", "#2a9d7c", "#d98cb3", "#d55e00", "#8fcbea", "#cfc32f")
_CONSTRUCT_COLORS = ("#5f7f4f", "#a1765a", "#5b7fa6", "#b0823c", "#7d6b9a", "#4f8f8b", "#a65f78", "#8a8f3f")
_MORE_COLORS = ("#8a93a3", "#a9926f", "#6f8f8a", "#a38a9b", "#b0b0a0")
_ITERATION_COLORS = ("#4c8bc4", "#e69f00", "#2a9d7c", "#d98cb3", "#8fcbea", "#d55e00")
MOST_KINDS = 400  # with a style of their own: a program can give each task a name of its own


@dataclass(frozen=True)
class Fixed:
    """`key` names the colour."""

    key: str
    text: str


FIXED = (
    Fixed("implicit", "code outside of tasks"),
    Fixed("code", "the program's code"),
    Fixed("barrier", "waits in a barrier"),
    Fixed("taskwait", "waits in taskwait or taskgroup"),
    Fixed("lock", "waits for a lock"),
    Fixed("send", "MPI: sends"),
    Fixed("receive", "MPI: receives, waits"),
    Fixed("collective", "MPI: collective"),
    Fixed("mpi", "MPI: other calls"),
    Fixed("suspended", "suspended, not in MPI"),
    Fixed("loop", "loop or other worksharing"),
    Fixed("region", "region that the program named"),
    Fixed("to-device", "transfer to device"),
    Fixed("from-device", "transfer from device"),
    Fixed("kernel", "kernel on a device"),
    Fixed("upkeep", "upkeep of copies"),
    Fixed("starved", "device waits for inputs"),
)


@dataclass
class Styles:
    """Kinds of tasks come first, then the fixed ones. `of_kind`: by row of the pass `kinds`. `iterations`: colours
    of tasks by iteration, if there are any."""

    kinds: list[dict[str, Any]] = field(default_factory=list)
    of_kind: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    constructs: list[dict[str, Any]] = field(default_factory=list)  # loops and regions with a colour of their own
    iterations: list[dict[str, Any]] = field(default_factory=list)

    def number(self, key: str) -> int:
        return len(self.kinds) + next(at for at, one in enumerate(FIXED) if one.key == key)

    def document(self) -> list[dict[str, Any]]:
        fixed = ({"key": one.key, "name": one.text} for one in FIXED)
        return [*self.kinds, *fixed, *self.constructs, *self.iterations]

    def add_iterations(self, iteration: np.ndarray) -> None:
        """After all others. `iteration`: by row of tasks, 0 of none. Neighbours differ in colour."""
        most = int(iteration.max(initial=0))
        for first, color in enumerate(_ITERATION_COLORS[:most], 1):
            some = ", ".join(map(str, range(first, most + 1, len(_ITERATION_COLORS))[:3]))
            more = ", ..." if first + 3 * len(_ITERATION_COLORS) <= most else ""
            self.iterations.append({"key": "iteration", "name": f"iteration {some}{more}", "color": color})

    def by_iteration(self, style: np.ndarray, task: np.ndarray, iteration: np.ndarray) -> np.ndarray:
        """The styles of bars, where tasks of an iteration run that of the iteration."""
        number = np.where(task >= 0, iteration[task], 0)
        runs = (number > 0) & (style < len(self.kinds))
        first = len(self.kinds) + len(FIXED) + len(self.constructs)
        return np.where(runs, first + (number - 1) % len(_ITERATION_COLORS), style)

    def of_constructs(self, name: np.ndarray, time: np.ndarray, texts: list[str], other: np.ndarray,
                      least: float) -> np.ndarray:  # fmt: skip
        """A style for each name that takes more time than `least`; `other`: of the rest. `name`: rows of `texts`."""
        total = np.bincount(name, weights=time, minlength=len(texts))
        most = np.argsort(-total, kind="stable")[: len(_CONSTRUCT_COLORS)]
        style = other.copy()
        for color, one in zip(_CONSTRUCT_COLORS, most[total[most] > least].tolist()):
            style[name == one] = len(self.kinds) + len(FIXED) + len(self.constructs)
            self.constructs.append({"key": "construct", "name": texts[one], "color": color})
        return style


def _add_places(of: Analysis, styles: list[dict[str, Any]], kind: np.ndarray) -> None:
    """To kinds that the program named, where the code of one of their tasks stands. `kind`: rows of `kinds`."""
    tasks, kinds = of["tasks"], of["kinds"]
    known, first = np.unique(kinds.of_task, return_index=True)
    row = dict(zip(known.tolist(), first.tolist()))
    some = [(style, row[one]) for style, one in zip(styles, kind.tolist()) if one in row and tasks.label[row[one]]]
    rank = {task: int(tasks.rank[task]) for _, task in some}
    found = symbols.locate(of.trace.ranks, {one: np.array([tasks.code[task] for task in rank if rank[task] == one])
                                            for one in set(rank.values())})  # fmt: skip
    for style, task in some:
        place = found.places.get((rank[task], int(tasks.code[task])))
        if place and place.line:
            style["place"] = place.short()


def find_styles(of: Analysis) -> Styles:
    kinds, tasks = of["kinds"], of["tasks"]
    time = np.bincount(kinds.of_task, weights=tasks.running, minlength=len(kinds.names))
    given = np.zeros(len(kinds.names), dtype=bool)
    given[kinds.of_task[tasks.color != 0]] = True
    colors, place = list(kinds.colors), 0
    for kind in np.argsort(-time, kind="stable").tolist():
        if not given[kind]:
            more = place - len(_KIND_COLORS)
            colors[kind] = _KIND_COLORS[place] if more < 0 else _MORE_COLORS[more % len(_MORE_COLORS)]
            place += 1
    styles = [{"key": "task", "name": name, "color": color} for name, color in zip(kinds.names, colors)]
    most = np.sort(np.argsort(-time, kind="stable")[:MOST_KINDS])
    _add_places(of, [styles[kind] for kind in most.tolist()], most)
    if len(styles) <= MOST_KINDS:
        return Styles(styles, most)
    of_kind = np.full(len(styles), MOST_KINDS)
    of_kind[most] = np.arange(MOST_KINDS)
    others = {"key": "task", "name": f"{len(styles) - MOST_KINDS:,} other kinds of tasks", "color": _MORE_COLORS[0]}
    return Styles([*(styles[kind] for kind in most.tolist()), others], of_kind)
