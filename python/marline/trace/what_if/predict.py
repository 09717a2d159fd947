# SPDX-License-Identifier: Apache-2.0
"""A prediction: the run as it was and the changed one, both in the model. What is predicted is the measured makespan
times the model's ratio, so that what the model gets wrong in both cancels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..global_graph import edges as kinds
from ..global_graph import points as what
from ..global_graph.edges import EDGE_KINDS
from .native_replay import THREAD, WORKED, Program, Replayed, chain_to, replay
from ..registry import Analysis, AnalysisError
from ..statistics import group_by, rows
from . import language
from .change import apply
from .language import Change
from .waits import CALL, Model

WAITING, QUEUED, CREATION, OUTSIDE = ("waiting for a thread", "from task to task on a thread", "creation of tasks",
                                      "code outside of tasks")  # fmt: skip
DEVICE = "devices"
JUDGED_THREADS = 2  # the study had no more cores


@dataclass
class Prediction:
    """Times in ns. `bounds`: what the changed run waits for last, one after the other, most first."""

    changes: list[Change]
    measured: int
    as_is: int
    changed: int
    bounds: list[dict[str, Any]]
    not_judged: list[str]

    @property
    def predicted(self) -> int:
        return round(self.measured * self.changed / self.as_is) if self.as_is else self.changed

    @property
    def gain(self) -> float:
        """-0.12: 12 % less time."""
        return self.changed / self.as_is - 1 if self.as_is else 0.0

    def document(self) -> dict[str, Any]:
        return {
            "changes": [one.text for one in self.changes], "measured_ns": self.measured, "model_ns": self.as_is,
            "model_error": self.as_is / self.measured - 1 if self.measured else 0.0,
            "predicted_ns": self.predicted, "change": self.gain, "bounds": self.bounds,
            "not_judged": self.not_judged,
        }  # fmt: skip


class WhatIf:
    """Predictions of one run; the run as it was is replayed once."""

    def __init__(self, of: Analysis) -> None:
        self._of = of
        self._run: Model = of["scheduler_model"]
        self._as_is = length(self._run, self._run.program, replay(self._run.program))

    def predict(self, changes: Sequence[Change]) -> Prediction:
        program = apply(self._of, self._run, changes)
        found = replay(program)
        if found.unfinished:
            raise AnalysisError(f"{language.SHORT}: the changed run would stand still: {found.unfinished} tasks wait"
                                " for threads that are held in MPI; give each rank more threads")  # fmt: skip
        not_judged = [one.text for one in changes if not _is_judged(one, program, len(self._run.ranks))]
        return Prediction(list(changes), self._run.makespan, self._as_is, length(self._run, program, found),
                          self._bounds(program, found), not_judged)  # fmt: skip

    def _bounds(self, program: Program, found: Replayed) -> list[dict[str, Any]]:
        """Time on the chain back from the last point, by what took it."""
        if not len(found.time):
            return []
        counted = np.where(self._run.counts, found.time, -1)
        path = chain_to(found, int(np.argmax(counted)))
        before, sink = path[:-1], path[1:]
        took = found.time[sink] - found.time[before]
        cause = found.cause[sink]
        of, run = self._of, self._run
        names = [*of["kinds"].names, CREATION, OUTSIDE, *(kind.text for kind in EDGE_KINDS), QUEUED, WAITING, DEVICE]
        others = len(of["kinds"].names)
        row = run.row[run.task_of[sink]]
        name = np.where(row >= 0, of["kinds"].of_task[np.maximum(row, 0)] if others else 0, others + 1)
        name[(row < 0) & (run.what[sink] == what.CREATE)] = others
        edges = cause >= 0
        kind = run.waits.kind[cause[edges]].astype(np.int64)
        name[edges] = others + 2 + kind
        name[edges] = np.where((kind == 0) & (run.waits.group[cause[edges]] == CALL), len(names) - 1, name[edges])
        name[cause == THREAD] = others + 2 + len(EDGE_KINDS)
        # Of a piece of work, what is more than its work is its thread's, which ran something else.
        worked = np.where(cause == WORKED, np.minimum(program.work[before], took), took)
        on_device = (run.task_of[sink] >= 0) & (program.rank[run.task_of[sink]] >= len(run.ranks))
        name[on_device] = others + 2 + kinds.DEVICE
        groups = group_by(name)
        table = rows(name=[names[one] for one in groups.key(name).tolist()], total_ns=groups.sum(worked))
        table.append({"name": WAITING, "total_ns": int((took - worked).sum())})
        return sorted((one for one in table if one["total_ns"]), key=lambda one: -one["total_ns"])


def length(run: Model, program: Program, found: Replayed) -> int:
    """To the end of the total: the last point in it, and the work after it that is still in it."""
    return int((found.time + program.work)[run.counts & (found.time >= 0)].max(initial=0))


def _is_judged(change: Change, program: Program, ranks: int) -> bool:
    """Whether bench/what_if.py compares such predictions with runs."""
    if change.what == language.THREADS:
        return int(program.threads[:ranks].max()) <= JUDGED_THREADS
    return change.what in (language.NAMED, language.NETWORK, language.CREATION)
