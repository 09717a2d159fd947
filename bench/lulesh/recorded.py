# SPDX-License-Identifier: Apache-2.0
"""LULESH's ranks as recorded runs show them: the tasks of a cycle, how long each takes, which it waits for and which
messages it sends or receives. In a cube of 27 ranks each lies at the low end, in the middle or at the high end of each
axis; larger cubes have the same 27 kinds of rank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.model import Tasks
from marline.trace.read.calls import Calls, call_mask
from marline.trace.symbols import locate
from marline.trace.views.export import load

from simulation import Cycle, Direction, Task

STEP, RECEIVE = "step", "receive"  # task_KIND of apps/lulesh/tasks.c
BLOCKS = ("forces", "gather", "accelerate", "move", "kinematics", "material")
GRADIENTS = 3  # ExchangeKind of its exchange.h
_EXCHANGES = 4
COPIED = 1e4  # bytes per us


class Unusable(Exception):
    """A trace that is none of LULESH's tasks; the text says why."""


@dataclass(frozen=True)
class MessageCosts:
    """us of the thread that calls MPI, as the form `for` does: packing and MPI_Isend by exchange and bytes; and
    MPI_Irecv, without the copy of what comes."""

    send: dict[tuple[int, int], float]
    receive: float

    def packing(self, exchange: int, size: int) -> float:
        """What a message takes longer to send than the shortest one of its exchange."""
        return self.send[exchange, size] - min(us for (other, _), us in self.send.items() if other == exchange)


@dataclass(frozen=True)
class Run:
    ranks: dict[int, Cycle]
    creation: float  # us from one creation of a task to the next, in the median
    elapsed: float  # us of a cycle, in the median, on the slowest rank
    overhead: float  # us per task of rank 0's thread, outside of tasks, without creation


def read_run(folder: Path, edge: int) -> Run:
    """A run of the form `tasks` on edge^3 ranks of one thread each, of at least three cycles. A task's cost is the
    median of its cycles; where ranks share cores, which interrupts tasks, the least."""
    trace = load(folder)
    of = Analysis(trace)
    tasks, edges, calls = of["tasks"], of["edges"], of["calls"]
    if len(trace.ranks) != edge**3:
        raise Unusable(f"{folder}: {len(trace.ranks)} ranks instead of {edge**3}")
    codes = {rank: tasks.code[tasks.rank == rank] for rank in trace.ranks}
    places = locate(trace.ranks, codes).places
    of_tasks = tasks.deferred[edges.source]  # but not of a taskwait
    between = edges.source[of_tasks], edges.sink[of_tasks]
    ranks, gaps, spans, overheads = {}, [], [], []
    for rank in trace.ranks:
        rows = _rows(tasks, rank)
        kinds = [places[rank, code].function.removeprefix("task_") for code in tasks.code[rows].tolist()]
        steps = [i for i, kind in enumerate(kinds) if kind == STEP]
        length = len(rows) // len(steps) if steps else 0
        if len(steps) < 3 or steps != list(range(0, len(rows), length)) or kinds != kinds[:length] * len(steps):
            raise Unusable(f"{folder}: rank {rank}: {len(rows)} tasks with {len(steps)} of them '{STEP}' are no three "
                           "equal cycles or more of LULESH's form `tasks`")  # fmt: skip
        rows = rows.reshape(len(steps), length)
        took = 1e-3 * tasks.running[rows[1:]]
        ranks[rank] = _cycle(kinds[:length], np.median(took, axis=0) if edge == 1 else took.min(axis=0), rows, between)
        gap = np.median(np.diff(tasks.created[rows], axis=1))
        span = np.diff(tasks.end[rows[1:, 0]])
        gaps.append(gap), spans.append(np.median(span))
        overheads.append((span - tasks.running[rows[1:-1]].sum(axis=1)).mean() / length - gap)
    _add_messages(ranks, calls, tasks, edge)
    _set_priorities(ranks)
    return Run(ranks, 1e-3 * float(np.median(gaps)), 1e-3 * float(max(spans)), 1e-3 * max(0.0, float(overheads[0])))


def read_message_costs(folder: Path) -> MessageCosts:
    """Of a run of the form `for`. Packing is what lies between the end of a call and MPI_Isend."""
    of = Analysis(load(folder))["calls"]
    order = np.lexsort((of.start, of.rank))
    sends, receives = call_mask(of, "MPI_Isend")[order], call_mask(of, "MPI_Irecv")[order]
    end, rank = of.end[order], of.rank[order]
    took = np.r_[0, np.diff(end)]
    sends[1:] &= rank[1:] == rank[:-1]
    cases: dict[tuple[int, int], list[float]] = {}
    for i in np.flatnonzero(sends).tolist():
        call = order[i]
        cases.setdefault((int(of.tag[call]) % _EXCHANGES, int(of.bytes[call])), []).append(1e-3 * float(took[i]))
    if not cases:
        raise Unusable(f"{folder}: no MPI_Isend in it: record LULESH's form `for` on several ranks")
    received = 1e-3 * (of.end - of.start)[order][receives]
    sent = {case: float(np.quantile(us, 0.1)) for case, us in cases.items()}
    return MessageCosts(sent, float(np.quantile(received, 0.1)))


def _rows(tasks: Tasks, rank: int) -> np.ndarray:
    """A rank's tasks in the order of their creation."""
    rows = np.flatnonzero(tasks.deferred & (tasks.rank == rank) & (tasks.end >= 0))
    return rows[np.argsort(tasks.created[rows], kind="stable")]


def _cycle(kinds: list[str], cost: np.ndarray, rows: np.ndarray, edges: tuple[np.ndarray, np.ndarray]) -> Cycle:
    """The third cycle stands for all: it has one before it that has one before it."""
    cycle = [Task(kind, us) for kind, us in zip(kinds, cost.tolist(), strict=True)]
    place = {row: i for i, row in enumerate(rows[2].tolist())}
    before = {row: i for i, row in enumerate(rows[1].tolist())}
    inside = np.isin(edges[1], rows[2])
    for source, sink in zip(*(column[inside].tolist() for column in edges), strict=True):
        if source in place:
            cycle[place[source]].successors.append(place[sink])
            cycle[place[sink]].waits += 1
        elif source in before:
            cycle[before[source]].successors_after.append(place[sink])
            cycle[place[sink]].waits_before += 1
        else:
            raise Unusable(f"a task {cycle[place[sink]].kind} depends on one that is more than a cycle older")
    return cycle


def place_of(rank: int, edge: int) -> tuple[int, int, int]:
    """Column, row, plane."""
    return rank % edge, rank // edge % edge, rank // edge**2


def _add_messages(ranks: dict[int, Cycle], calls: Calls, tasks: Tasks, edge: int) -> None:
    """From the second cycle's calls in tasks."""
    for rank, cycle in ranks.items():
        rows = _rows(tasks, rank)[len(cycle) : 2 * len(cycle)]
        place = {task: i for i, task in enumerate(tasks.id[rows].tolist())}
        here = np.array(place_of(rank, edge))
        for call in np.flatnonzero((calls.rank == rank) & call_mask(calls, "MPI_Send", "MPI_Recv")).tolist():
            task = cycle[place[calls.task[call]]] if calls.task[call] in place else None
            if task is None:
                continue
            way: Direction = tuple((np.array(place_of(int(calls.peer[call]), edge)) - here).tolist())
            task.bytes = int(calls.bytes[call])
            if task.kind == RECEIVE:
                task.receives.append((way, int(calls.tag[call])))
            else:
                task.sends.append((way, int(calls.tag[call]), task.bytes))


def _set_priorities(ranks: dict[int, Cycle]) -> None:
    """As apps/lulesh/plan.c: first what is about messages, and steps; then blocks that a message takes something of."""
    for cycle in ranks.values():
        of = _by_kind(cycle)
        for kinds, sends in ((("gather", "accelerate", "move"), "send_forces"),
                             (("forces", "kinematics", "material"), "send_gradients")):  # fmt: skip
            before = of.get("gather" if sends == "send_forces" else "kinematics", [])
            border = [any(cycle[after].kind == sends for after in task.successors) for task in before]
            for kind in kinds:
                for task, is_at_border in zip(of.get(kind, []), border):
                    task.priority = int(is_at_border)
        if any(task.sends for task in cycle):
            for task in cycle:
                if task.kind not in BLOCKS:
                    task.priority = 2


def at_speed_of(alone: Run, run: Run) -> None:
    """Gives the ranks of `run`, which shared cores and caches, the costs of rank 0 alone, if it has such tasks. It has
    more of the dearest region than others, which wait for it in each cycle. Without neighbours, `gather` accelerates as
    well. Tasks that send or receive also wait in MPI for other ranks, which share the cores: what they cost by
    themselves, but for their bytes, is taken to be what the cheapest of their kind has cost."""
    by_kind = _by_kind(alone.ranks[0])
    messages = [task for cycle in run.ranks.values() for task in cycle if task.bytes]
    least = {kind: min(task.cost for task in messages if task.kind == kind)
             for kind in {task.kind for task in messages}}
    for task in messages:
        task.cost = least[task.kind]
    for cycle in run.ranks.values():
        of = _by_kind(cycle)
        for kind, tasks in of.items():
            for task, same in zip(tasks, by_kind.get(kind, [])):
                task.cost = same.cost
        for gather, accelerate in zip(of["gather"], of.get("accelerate", []) if "accelerate" not in by_kind else []):
            gather.cost = max(0.0, gather.cost - accelerate.cost)


def _by_kind(cycle: Cycle) -> dict[str, list[Task]]:
    found: dict[str, list[Task]] = {}
    for task in cycle:
        found.setdefault(task.kind, []).append(task)
    return found


def _total(tasks: list[Task]) -> float:
    return sum(task.cost for task in tasks)


def as_tasks(cycle: Cycle, costs: MessageCosts | None, overhead: float, dearer: float) -> Cycle:
    """With what their messages' bytes cost. `overhead`: us for each task; `dearer`: for each with a message besides."""
    tasks = []
    for task in cycle:
        cost = task.cost + overhead
        if task.sends:
            cost += costs.packing(task.sends[0][1] % _EXCHANGES, task.bytes)
        elif task.receives:
            cost += task.bytes / COPIED
        tasks.append(Task(**{**vars(task), "cost": cost + (dearer if task.bytes else 0.0)}))
    return tasks


def as_loops(cycle: Cycle, costs: MessageCosts | None, cores: int, join: float) -> Cycle:
    """The same work as the form `for` does it: each phase is shared out among the cores in equal ranges, and ends with
    its slowest core; the main thread packs and sends messages, waits for all of them, and applies them, between phases.
    A chain for one core, which takes as long as all of them. `join`: us of a phase's start and end."""
    of = _by_kind(cycle)
    received = {exchange: [task for task in of.get(RECEIVE, []) if task.receives[0][1] % _EXCHANGES == exchange]
                for exchange in range(_EXCHANGES)}  # fmt: skip
    chain = [Task(STEP, of[STEP][0].cost)]
    for phases, sends, applies, exchange in (
        (("forces",), "", "", 0), (("gather",), "send_forces", "add_forces", 1),
        (("accelerate", "move"), "send_motion", "set_motion", 2), (("kinematics",), "send_gradients", "", GRADIENTS),
        (("material",), "", "", 0),
    ):  # fmt: skip
        chain.append(Task(phases[-1], join + sum(_slowest(of.get(phase, []), cores) for phase in phases)))
        chain += [Task(task.kind, costs.send[exchange, task.bytes], sends=task.sends) for task in of.get(sends, [])]
        if exchange and received[exchange]:
            cost = _total(of.get(applies, [])) + sum(costs.receive + task.bytes / COPIED for task in received[exchange])
            chain.append(Task(RECEIVE, cost, receives=[key for task in received[exchange] for key in task.receives]))
    for i in range(1, len(chain)):
        chain[i - 1].successors, chain[i].waits = [i], 1
    chain[-1].successors_after, chain[0].waits_before = [0], 1
    return chain


def _slowest(tasks: list[Task], cores: int) -> float:
    """Of equal shares of blocks in a row; a share's part of a block costs as much of it."""
    upto = np.r_[0.0, np.cumsum([task.cost for task in tasks])]
    shares = np.interp(np.linspace(0, len(tasks), cores + 1), np.arange(len(tasks) + 1), upto)
    return float(np.diff(shares).max()) if tasks else 0.0


def stands_for(place: tuple[int, int, int], edge: int) -> int:
    """Which of the 27 recorded ranks has the neighbours of that place in a cube of `edge` ranks, at least two."""
    column, row, layer = (0 if at == 0 else 2 if at == edge - 1 else 1 for at in place)
    return column + 3 * row + 9 * layer
