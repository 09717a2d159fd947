# SPDX-License-Identifier: Apache-2.0
"""A cube of ranks that run cycles of tasks and send one another messages, as a simulation of events: ends of tasks,
messages that arrive, reductions that end, tasks that exist. Deterministic. Pure: no files, no clock.

A core takes, of its rank's ready tasks, one of the highest priority, and of these the newest. A message leaves its rank
after the earlier ones, at the bandwidth of the network, and arrives one latency later. A reduction ends two latencies
for each level of a binary tree after the last rank calls it. Cores share neither memory bandwidth nor caches here."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

Direction = tuple[int, int, int]
CREATION = 3  # a priority above all tasks'


@dataclass
class Task:
    """Of one rank, in each cycle. The first of a cycle is its reduction."""

    kind: str
    cost: float  # us of a core
    priority: int = 0
    waits: int = 0  # for tasks of the same cycle
    waits_before: int = 0  # for tasks of the cycle before
    successors: list[int] = field(default_factory=list)
    successors_after: list[int] = field(default_factory=list)  # in the next cycle
    sends: list[tuple[Direction, int, int]] = field(default_factory=list)  # to the rank there, tag, bytes
    receives: list[tuple[Direction, int]] = field(default_factory=list)  # from the rank there, tag
    bytes: int = 0  # of its message; 0: does not call MPI


Cycle = list[Task]
Kinds = Callable[[tuple[int, int, int]], Cycle]


@dataclass(frozen=True)
class Machine:
    cores: int  # of each rank
    latency: float  # us
    bandwidth: float  # bytes per us, out of each rank
    creation: float  # us per task, of the thread that creates them


@dataclass(frozen=True)
class Found:
    cycle: float  # us
    busy: float  # share of all cores' time in which they run tasks


def simulate(edge: int, kind_of: Kinds, machine: Machine, cycles: int) -> Found:
    """`edge`: ranks along an edge of the cube; `kind_of` a rank's place: its tasks. At least three cycles; the first
    does not count."""
    return _Simulation(edge, kind_of, machine, cycles).run()


class _Rank:
    def __init__(self, cycle: Cycle, cores: int) -> None:
        self.cycle = cycle
        self.idle = cores
        self.ready: list[tuple[int, int, int, int]] = []  # -priority, -when, cycle, task (or -1 - part: creation)
        self.waiting: dict[int, list[int]] = {}  # by cycle
        self.link = 0.0  # when the last message has left
        self.mpi = 0.0  # when the last task in MPI leaves it
        self.busy = 0.0
        self.steps: list[float] = []  # when each cycle's reduction had been read
        self.target: dict[tuple[Direction, int], tuple[int, int]] = {}  # of a message: rank, and task there
        self.parts = _parts(cycle)


def _parts(cycle: Cycle) -> list[tuple[int, int]]:
    """Tasks of one kind in a row."""
    bounds = [0] + [i for i in range(1, len(cycle)) if cycle[i].kind != cycle[i - 1].kind] + [len(cycle)]
    return list(itertools.pairwise(bounds))


class _Simulation:
    def __init__(self, edge: int, kind_of: Kinds, machine: Machine, cycles: int) -> None:
        self._machine, self._cycles = machine, cycles
        places = list(itertools.product(range(edge), repeat=3))
        self._ranks = [_Rank(kind_of(place), machine.cores) for place in places]
        number = {place: i for i, place in enumerate(places)}
        receivers = [{key: i for i, task in enumerate(rank.cycle) for key in task.receives} for rank in self._ranks]
        for place, rank in zip(places, self._ranks, strict=True):
            for task in rank.cycle:
                for direction, tag, _ in task.sends:
                    there = number[tuple(a + b for a, b in zip(place, direction, strict=True))]
                    back = tuple(-a for a in direction)
                    rank.target[direction, tag] = there, receivers[there][back, tag]
        self._reduction = 2 * (len(places) - 1).bit_length() * machine.latency
        self._arrived = [0] * cycles
        self._events: list[tuple[float, int, Callable[..., None], tuple]] = []
        self._order = itertools.count()

    def run(self) -> Found:
        for rank in self._ranks:
            self._create(rank, 0)
            self._dispatch(rank, 0.0)
        now = 0.0
        while self._events:
            now, _, happens, words = heapq.heappop(self._events)
            happens(now, *words)
        for rank in self._ranks:
            if len(rank.steps) != self._cycles or any(any(left) for left in rank.waiting.values()):
                raise ValueError("the simulated ranks stand still: their messages or dependences do not fit together")
        first, last = (max(rank.steps[i] for rank in self._ranks) for i in (1, -1))
        cores = len(self._ranks) * self._machine.cores
        return Found((last - first) / (self._cycles - 2), sum(rank.busy for rank in self._ranks) / (now * cores))

    def _at(self, time: float, happens: Callable[..., None], *words: object) -> None:
        heapq.heappush(self._events, (time, next(self._order), happens, words))

    def _queue(self, rank: _Rank, priority: int, cycle: int, task: int) -> None:
        heapq.heappush(rank.ready, (-priority, -next(self._order), cycle, task))

    def _create(self, rank: _Rank, cycle: int) -> None:
        if cycle < self._cycles:
            self._queue(rank, CREATION, cycle, -1)

    def _waits(self, rank: _Rank, cycle: int) -> list[int]:
        if cycle not in rank.waiting:
            rank.waiting[cycle] = [1 + task.waits + len(task.receives) + (task.waits_before if cycle else 0)
                                   for task in rank.cycle]  # fmt: skip
        return rank.waiting[cycle]

    def _release(self, now: float, rank: _Rank, cycle: int, task: int) -> None:
        if cycle >= self._cycles:
            return
        waits = self._waits(rank, cycle)
        waits[task] -= 1
        if waits[task] == 0:
            if task == 0:
                self._call(now, cycle)
            else:
                self._queue(rank, rank.cycle[task].priority, cycle, task)

    def _call(self, now: float, cycle: int) -> None:
        self._arrived[cycle] += 1
        if self._arrived[cycle] == len(self._ranks):
            self._at(now + self._reduction, self._reduced, cycle)

    def _reduced(self, now: float, cycle: int) -> None:
        for rank in self._ranks:
            self._queue(rank, rank.cycle[0].priority, cycle, 0)
            self._dispatch(rank, now)

    def _dispatch(self, rank: _Rank, now: float) -> None:
        while rank.idle and rank.ready:
            _, _, cycle, task = heapq.heappop(rank.ready)
            rank.idle -= 1
            if task < 0:
                begin, end = rank.parts[-1 - task]
                self._at(now + self._machine.creation * (end - begin), self._created, rank, cycle, -1 - task)
            else:
                cost = rank.cycle[task].cost
                rank.busy += cost
                begins = max(now, rank.mpi) if rank.cycle[task].bytes else now
                if rank.cycle[task].bytes:
                    rank.mpi = begins + cost
                self._at(begins + cost, self._ended, rank, cycle, task)

    def _created(self, now: float, rank: _Rank, cycle: int, part: int) -> None:
        rank.idle += 1
        for task in range(*rank.parts[part]):
            self._release(now, rank, cycle, task)
        if part + 1 < len(rank.parts):
            self._queue(rank, CREATION, cycle, -2 - part)
        self._dispatch(rank, now)

    def _ended(self, now: float, rank: _Rank, cycle: int, number: int) -> None:
        task = rank.cycle[number]
        rank.idle += 1
        for direction, tag, size in task.sends:
            rank.link = max(rank.link, now) + size / self._machine.bandwidth
            self._at(rank.link + self._machine.latency, self._came, *rank.target[direction, tag], cycle)
        for successor in task.successors:
            self._release(now, rank, cycle, successor)
        for successor in task.successors_after:
            self._release(now, rank, cycle + 1, successor)
        if number == 0:
            rank.steps.append(now)
            self._create(rank, cycle + 1)
        self._dispatch(rank, now)

    def _came(self, now: float, number: int, task: int, cycle: int) -> None:
        rank = self._ranks[number]
        self._release(now, rank, cycle, task)
        self._dispatch(rank, now)
