# SPDX-License-Identifier: Apache-2.0
"""The pass `samples`: which functions own the CPU time, from call stacks that the recorder took every so often
(`marline trace --sample`). For samples s of weight w(s), the ns of CPU time that s stands for:

    own(f)   = sum of w(s) where f is the innermost function of s
    total(f) = sum of w(s) where f is anywhere in s, counted once

The own times of all functions add up to the CPU time that was sampled. Both are estimates: of n samples in a function,
about sqrt(n) are chance (S. Graham, P. Kessler and M. McKusick, gprof: a call graph execution profiler, SIGPLAN
Notices 17(6), 1982, section 3.2). A function that was inlined is one of its own. A sample belongs to the kind of the
task that ran, to the parallel region, to serial code, or to a wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.columns import distinct, sums
from ...registry import Analysis, analysis_pass
from ...statistics import group_by
from .owners import Owners, find_owners
from .stacks import Frames, Stacks, find_stacks, name_frames

MOST_OF_OWNER = 10  # functions that each owner names


@dataclass
class Samples:
    """`own`, `total`, `count`, `line` by function: `count` of samples where it was innermost, `line` the one of them
    with most time."""

    hz: int
    stacks: Stacks
    frames: Frames
    owners: Owners
    own: np.ndarray
    total: np.ndarray
    count: np.ndarray
    line: np.ndarray

    def document(self) -> dict[str, Any]:
        order = [row for row in np.lexsort((-self.total, -self.own)).tolist() if self.total[row]]
        owner = self._main_owners()
        functions = [self._function(row) | {"own_ns": int(self.own[row]), "total_ns": int(self.total[row]),
                                            "samples": int(self.count[row]), "owner": owner.get(row, "")}
                     for row in order]  # fmt: skip
        return {"hz": self.hz, "samples": len(self.stacks.first), "time_ns": int(self.stacks.weight.sum()),
                "functions": functions, "owners": self._owners(), "notes": self.frames.notes}  # fmt: skip

    def _function(self, row: int) -> dict[str, Any]:
        return {"name": self.frames.names[row], "file": self.frames.files[row], "line": int(self.line[row])}

    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(owner, function, own time) of each pair that occurs."""
        owner, innermost = self.owners.of_sample, self.frames.function[self.frames.place == 0]
        pairs = group_by(owner, innermost)
        return pairs.key(owner), pairs.key(innermost), pairs.sum(self.stacks.weight)

    def _lines_of_pairs(self) -> dict[tuple[int, int], int]:
        """By owner and function: the line that owns most there."""
        innermost = self.frames.place == 0
        keys = self.owners.of_sample, self.frames.function[innermost], self.frames.line[innermost]
        lines = group_by(*keys)
        owner, function, line = (lines.key(key).tolist() for key in keys)
        order = np.argsort(lines.sum(self.stacks.weight), kind="stable").tolist()  # the greatest comes last
        return {(owner[row], function[row]): line[row] for row in order}

    def _main_owners(self) -> dict[int, str]:
        """By function, of those that own time: in which kind of task, region and so on it owns most."""
        owner, function, time = self._pairs()
        order = np.argsort(time, kind="stable")  # the greatest of a function comes last
        return {one: self.owners.names[of] for one, of in zip(function[order].tolist(), owner[order].tolist())}

    def _owners(self) -> list[dict[str, Any]]:
        """The tasks, regions and so on with samples, most time first, and the functions that own most of each."""
        owner = self.owners.of_sample
        of_pair, function, time = self._pairs()
        line = self._lines_of_pairs()
        found = []
        for number in np.unique(owner).tolist():
            mine = np.flatnonzero(of_pair == number)
            most = mine[np.argsort(-time[mine], kind="stable")[:MOST_OF_OWNER]]
            found.append({
                "name": self.owners.names[number], "what": self.owners.what[number],
                "samples": int(np.count_nonzero(owner == number)), "time_ns": int(time[mine].sum()),
                "functions": [{"name": self.frames.names[function[row]], "file": self.frames.files[function[row]],
                               "line": line[number, int(function[row])], "own_ns": int(time[row])}
                              for row in most.tolist()],
            })  # fmt: skip
        return sorted(found, key=lambda one: -one["time_ns"])


@analysis_pass("samples", needs=("tasks", "segments", "kinds", "teams"))
def samples(of: Analysis) -> Samples:
    """Which functions own the CPU time, from sampled call stacks (`marline trace --sample`)."""
    stacks = find_stacks(of.trace)
    frames = name_frames(of.trace, stacks, of["tasks"].index(of.trace.task[stacks.record]) >= 0)
    functions = len(frames.names)
    innermost = frames.place == 0
    inside, weight = frames.function[innermost], stacks.weight
    once = distinct(frames.sample * max(functions, 1) + frames.function)
    return Samples(
        max((one.get("sample_hz", 0) for one in of.trace.ranks.values()), default=0), stacks, frames,
        find_owners(of, stacks, frames.of_program), sums(inside, weight, functions),
        sums(once % max(functions, 1), weight[once // max(functions, 1)], functions),
        np.bincount(inside, minlength=functions), _hottest_lines(frames, weight, functions),
    )  # fmt: skip


def _hottest_lines(frames: Frames, weight: np.ndarray, functions: int) -> np.ndarray:
    """Of functions that are never innermost: where they call most."""
    found = np.zeros(functions, dtype=np.int64)
    for some in (frames.place > 0, frames.place == 0):
        lines = 1 + int(frames.line[some].max(initial=0))
        key = frames.function[some] * lines + frames.line[some]
        known = distinct(key)
        time = sums(np.searchsorted(known, key), weight[frames.sample[some]], len(known))
        most = known[np.argsort(time, kind="stable")]  # of equal functions the last one stays
        found[most // lines] = most % lines
    return found
