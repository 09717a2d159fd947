# SPDX-License-Identifier: Apache-2.0
"""What is measured: the programs, the figures that each prints, and the first goals.

The only place that knows names and goals; run.py and instructions.py take them from here. Goals hold for two threads
(a receive: two ranks of one thread) and are absolute or multiples of h, the machine's cache-line hand-over time,
which every run measures anew because it differs between machines and between days on a shared one.
"""
from __future__ import annotations

from dataclasses import dataclass

HANDOVER = "handover"
GOAL_THREADS = 2


@dataclass(frozen=True)
class Goal:
    """At most `value`, in nanoseconds or, if `in_h`, in hand-overs."""

    value: float
    in_h: bool = False

    def nanoseconds(self, h: float | None) -> float | None:
        if not self.in_h:
            return self.value
        return None if h is None else self.value * h

    def text(self) -> str:
        return f"{self.value:g} h" if self.in_h else f"{self.value:,.0f}"


@dataclass(frozen=True)
class Benchmark:
    """A program bench/micro/NAME.c, its figures in the order of the table, and their goals (None: no goal)."""

    name: str
    figures: dict[str, Goal | None]
    mpi_ranks: int = 0  # > 0: started by mpirun, one thread per rank


BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark("empty_tasks", {
        "task_undeferred": None,
        "task_inline": Goal(20),
        "task_one_deferred": Goal(100),
        "task_all_deferred": Goal(100),
        "task_one_flood": None,
        "task_all_flood": None,
    }),
    Benchmark("chains", {"chain": Goal(250)}),
    Benchmark("wavefront", {"wavefront": Goal(350)}),
    Benchmark("inoutset", {"inoutset": Goal(6000)}),
    Benchmark("fib", {"fib": None}),
    Benchmark("nqueens", {"nqueens": None}),
    Benchmark("sort", {"sort": None}),
    Benchmark("taskloop", {"taskloop": None}),
    Benchmark("forkjoin", {"region": Goal(8, in_h=True)}),
    Benchmark("barrier", {"barrier": Goal(4, in_h=True)}),
    Benchmark("dynamic_for", {"dynamic_for": None}),
    Benchmark("recv_in_task", {"recv_plain": None, "recv_in_task": None, "recv_task_extra": Goal(600)}, mpi_ranks=2),
)

# Regression gate: program, figure, rounds of the shorter of the two runs. Long enough that pools and tables have grown
# to their final size before it ends.
COUNTED: tuple[tuple[str, str, int], ...] = (
    ("empty_tasks", "task_one_deferred", 2),
    ("empty_tasks", "task_one_flood", 1),
    ("chains", "chain", 2),
    ("wavefront", "wavefront", 2),
    ("fib", "fib", 1),
    ("forkjoin", "region", 8),
)
