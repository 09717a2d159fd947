# SPDX-License-Identifier: Apache-2.0
"""Changes of the model, each a function from the program and a change to another program. Arrays are copied where they
change; the model of the run itself stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..global_graph import points as what
from ..model import INITIAL
from ..native import Arrows, covered, longest_paths
from .native_replay import TIED, Program
from ..read.columns import distinct, find, group_starts
from ..registry import Analysis, AnalysisError
from . import language
from .language import Change, matching
from .waits import BARRIER, NETWORK, Model

_ALONE = {"single (executes)"}
_LOOPS = {"loop", "loop, static", "loop, dynamic", "loop, guided", "loop, other schedule"}
_URGENT = 1 << 40  # above all longest paths of `priorities path` that are left after it

Function = Callable[[Analysis, Model, Program, Change], Program]


def apply(of: Analysis, run: Model, changes: Sequence[Change]) -> Program:
    """All changes, in their order, but for orders of tasks: these come last, as they follow from costs."""
    program = run.program
    for change in sorted(changes, key=lambda one: one.what == language.PRIORITIES):
        program = _FUNCTIONS[change.what](of, run, program, change)
    return program


def names_of(of: Analysis) -> list[str]:
    """What NAME may be: kinds of tasks, then regions of the program, then worksharing constructs."""
    return [*of["kinds"].names, *of["regions"].names, *of["worksharing"].names]


def _named(of: Analysis, run: Model, program: Program, change: Change) -> Program:
    """Work inside of several of the named things changes once."""
    names = names_of(of)
    chosen = np.array(matching(change, names))
    tasks, regions = len(of["kinds"].names), len(of["regions"].names)
    part = np.where(np.isin(_kind_of_point(of, run), chosen), np.minimum(run.own, program.work), 0)
    for spans, shift in ((of["regions"], tasks), (of["worksharing"], tasks + regions)):
        inside = np.isin(spans.name + shift, chosen)
        if np.any(inside):
            part = np.maximum(part, _inside(run, program, spans, np.flatnonzero(inside)))
    return replace(program, work=_times(part, change.factor) + program.work - part)


def _kind_of_point(of: Analysis, run: Model) -> np.ndarray:
    kind = np.where(run.row >= 0, of["kinds"].of_task[np.maximum(run.row, 0)] if len(of["tasks"].id) else -1, -1)
    return np.where(run.task_of >= 0, kind[run.task_of] if len(kind) else -1, -1)


def _inside(run: Model, program: Program, spans: object, rows: np.ndarray) -> np.ndarray:
    """By point: how much of the work after it lies inside of these spans. Of nested ones the outer one counts."""
    order = rows[np.lexsort((-spans.end[rows], spans.start[rows], spans.task[rows]))]
    task, start, end = spans.task[order], spans.start[order] - run.begin, spans.end[order] - run.begin
    first = group_starts(task)
    latest = np.maximum.accumulate(end + np.cumsum(first) * (int(end.max()) + 1))  # within a task: keys rise with tasks
    before = np.r_[np.iinfo(np.int64).min, latest[:-1]] - np.cumsum(first) * (int(end.max()) + 1)
    outer = first | (start >= before)
    id = np.where(run.task_of >= 0, run.id[run.task_of], 0).astype(np.uint64)
    done = covered(id, run.time, task[outer], start[outer], end[outer])
    part = np.zeros(len(id), dtype=np.int64)
    part[:-1] = np.where(id[1:] == id[:-1], done[1:] - done[:-1], 0)
    return np.minimum(part, program.work)


def _network(_of: Analysis, run: Model, program: Program, change: Change) -> Program:
    delay = np.where(run.waits.group == NETWORK, _times(program.delay, change.factor) + change.added, program.delay)
    return replace(program, delay=delay)


def _threads(of: Analysis, run: Model, program: Program, change: Change) -> Program:
    """More threads share the code of a team's threads evenly; fewer ones take turns at its parts. A thread alone waits
    in no barrier."""
    if change.count:
        threads = np.full_like(program.threads, change.count)
    else:
        threads = np.maximum(np.rint(program.threads * change.factor).astype(np.int64) + change.added, 1)
    threads[len(run.ranks) :] = program.threads[len(run.ranks) :]  # devices
    part = _of_teams(of, run, program)
    rank = program.rank[np.maximum(run.task_of, 0)]
    shared = part * program.threads[rank] // np.maximum(threads, program.threads)[rank]
    alone = (run.waits.group == BARRIER) & (threads[rank[run.waits.source]] == 1)
    return replace(program, threads=threads, work=program.work - part + shared,
                   delay=np.where(alone, 0, program.delay))  # fmt: skip


def _of_teams(of: Analysis, run: Model, program: Program) -> np.ndarray:
    """By point: the work that a team's threads share: of one that creates tasks its loops, of others all but what only
    one thread does."""
    spans, trace = of["worksharing"], of.trace
    begins = trace.select("implicit_begin")
    team = distinct(trace.task[begins[(trace.field("implicit_begin", "flags", begins) & np.uint64(INITIAL)) == 0]])
    is_team = find(team, run.id) >= 0
    creates = np.zeros(len(run.id), dtype=bool)
    creates[run.task_of[(run.what == what.CREATE) & (run.task_of >= 0)]] = True
    task = np.maximum(run.task_of, 0)
    part = np.where((run.task_of >= 0) & (is_team & ~creates)[task], program.work, 0)
    for names, sign in ((_ALONE, -1), (_LOOPS, 1)):
        rows = np.flatnonzero(np.isin(spans.name, [at for at, name in enumerate(spans.names) if name in names]))
        if len(rows):
            inside = np.where((run.task_of >= 0) & is_team[task], _inside(run, program, spans, rows), 0)
            part = np.maximum(part - inside, 0) if sign < 0 else np.maximum(part, inside)
    return part


def _devices(_of: Analysis, run: Model, program: Program, change: Change) -> Program:
    """Each device does so many times as much at once, as so many devices in its place would."""
    threads = program.threads.copy()
    on = slice(len(run.ranks), None)
    if not len(threads[on]):
        raise AnalysisError(f"{language.SHORT} '{change.text}': no device has worked for a task of this run")
    threads[on] = np.maximum(_times(threads[on], change.factor), 1)
    if change.factor < 1 and np.array_equal(threads, program.threads):
        raise AnalysisError(f"{language.SHORT} '{change.text}': each device did one kernel or copy at a time, and "
                            "cannot do less at once: give a factor above 1")  # fmt: skip
    return replace(program, threads=threads)


def _overhead(_of: Analysis, run: Model, program: Program, change: Change) -> Program:
    delay = np.where(run.waits.group == BARRIER, _times(program.delay, change.factor), program.delay)
    return replace(program, delay=delay, dispatch=_times(program.dispatch, change.factor),
                   wake_up=_times(program.wake_up, change.factor))  # fmt: skip


def _creation(_of: Analysis, run: Model, program: Program, change: Change) -> Program:
    creates = np.zeros(len(program.work), dtype=bool)
    creates[:-1] = run.what[1:] == what.CREATE
    creates &= (run.task_of >= 0) & (run.row[np.maximum(run.task_of, 0)] < 0)
    return replace(program, work=np.where(creates, _times(program.work, change.factor) + change.added, program.work))


def _priorities(_of: Analysis, run: Model, program: Program, _change: Change) -> Program:
    """The longest path from a task's begin to the end of the run, in the changed program."""
    points = len(program.work)
    pieces = np.setdiff1d(np.arange(program.first[0], points), program.first[1:] - 1, assume_unique=True)
    found = longest_paths(Arrows(points, np.r_[pieces, program.source], np.r_[pieces + 1, program.sink],
                                 np.r_[program.work[pieces], program.delay]))  # fmt: skip
    left = int(found.latest.max(initial=0)) - found.latest[program.first[:-1]]
    priority = np.where(program.priority > 0, program.priority, np.maximum(left, 1))
    own = program.rank < len(run.ranks)  # devices keep their order
    return replace(program, priority=np.where(own & (program.thread < 0), priority, 0))


def _first(of: Analysis, run: Model, program: Program, change: Change) -> Program:
    chosen = matching(change, of["kinds"].names)
    kind = np.where(run.row >= 0, of["kinds"].of_task[np.maximum(run.row, 0)] if len(of["tasks"].id) else -1, -1)
    return replace(program, priority=np.where(np.isin(kind, chosen), _URGENT, program.priority))


def _untied(_of: Analysis, _run: Model, program: Program, _change: Change) -> Program:
    return replace(program, traits=program.traits & ~np.uint8(TIED))


def _balance(_of: Analysis, run: Model, program: Program, _change: Change) -> Program:
    """All work of a rank takes longer, or shorter, until each thread of each rank has the same."""
    rank = program.rank[np.maximum(run.task_of, 0)]
    its = (run.task_of >= 0) & (rank < len(run.ranks))
    sums = np.bincount(rank, weights=np.where(its, program.work, 0), minlength=len(program.threads))
    wanted = sums.sum() * program.threads / program.threads[: len(run.ranks)].sum()
    factor = np.where(sums > 0, wanted / np.maximum(sums, 1), 1.0)
    return replace(program, work=np.rint(program.work * factor[rank]).astype(np.int64))


def _times(values: np.ndarray, factor: float) -> np.ndarray:
    return np.rint(values * factor).astype(np.int64)


_FUNCTIONS: dict[str, Function] = {
    language.NAMED: _named, language.NETWORK: _network, language.THREADS: _threads, language.DEVICES: _devices,
    language.OVERHEAD: _overhead, language.CREATION: _creation, language.PRIORITIES: _priorities,
    language.FIRST: _first, language.UNTIED: _untied, language.BALANCE: _balance,
}  # fmt: skip
