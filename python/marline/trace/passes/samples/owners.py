# SPDX-License-Identifier: Apache-2.0
"""To what the time of a sample belongs: a kind of task, a parallel region, serial code, a wait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import outlined, symbols
from ...model import TASKWAIT, Segments, Tasks, lane_number
from ...read.columns import TimeLines
from ...registry import Analysis
from ...statistics import group_by
from ..picture import Kinds
from ..without_tasks.constructs import place_of
from .stacks import Stacks

SERIAL, WAITS, OUTSIDE = "serial code", "waits", "outside of tasks"


@dataclass
class Owners:
    """`of_sample`: row of `names`. `what`: task, region, serial, waits or outside."""

    of_sample: np.ndarray
    names: list[str]
    what: list[str]


def find_owners(of: Analysis, stacks: Stacks, of_program: np.ndarray) -> Owners:
    """Code of the program that is in no task of OpenMP is serial code, too: before the first region, and in programs
    with MPI only."""
    trace, tasks, runs = of.trace, of["tasks"], of["segments"]
    task, rank = trace.task[stacks.record], trace.rank[stacks.record].astype(np.int64)
    names, what = [SERIAL, WAITS, OUTSIDE], ["serial", "waits", "outside"]
    owner = np.where(of_program, 0, 2)
    members, teams = of["teams"]
    member = members.find(task)
    implicit = np.flatnonzero(member >= 0)
    initial = members.initial[member[implicit]]
    owner[implicit[initial]] = 0
    _add_regions(of, implicit[~initial], members.team[member[implicit[~initial]]], teams.code, rank, owner, names, what)
    _add_kinds(tasks, of["kinds"], task, owner, names, what)
    owner[_waits(runs, stacks, trace.time[stacks.record], lane_number(rank, trace.thread[stacks.record]))] = 1
    return Owners(owner, names, what)


def _add_regions(of: Analysis, rows: np.ndarray, team: np.ndarray, codes: np.ndarray, rank: np.ndarray,
                 owner: np.ndarray, names: list[str], what: list[str]) -> None:  # fmt: skip
    """A name per place in the source, though its address differs from rank to rank."""
    of_row, code = rank[rows], codes[team]
    wanted = symbols.codes_by_rank(of_row, code)
    places = outlined.locate(of.trace.ranks, wanted, wanted)
    groups = group_by(of_row, code)
    numbers: dict[str, int] = {}
    number = [numbers.setdefault(f"region {place_of(places, *one).short()}", len(names) + len(numbers))
              for one in zip(groups.key(of_row).tolist(), groups.key(code).tolist())]  # fmt: skip
    owner[rows[groups.order]] = np.repeat(np.array(number, dtype=np.int64), groups.count)
    names += list(numbers)
    what += ["region"] * len(numbers)


def _add_kinds(tasks: Tasks, kinds: Kinds, task: np.ndarray, owner: np.ndarray, names: list[str],
               what: list[str]) -> None:  # fmt: skip
    row = tasks.index(task)
    known = np.flatnonzero(row >= 0)
    known = known[(tasks.flags[row[known]] & np.uint64(TASKWAIT)) == 0]
    owner[known] = len(names) + kinds.of_task[row[known]]
    names += kinds.names
    what += ["task"] * len(kinds.names)


def _waits(runs: Segments, stacks: Stacks, time: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """True where the thread only waited then."""
    if not len(runs.start) or not len(stacks.first):
        return np.zeros(len(time), dtype=bool)
    at = TimeLines(runs.lane, runs.start).latest(lane, time)
    return (at >= 0) & (time <= runs.end[np.maximum(at, 0)]) & runs.waits[np.maximum(at, 0)]
