# SPDX-License-Identifier: Apache-2.0
"""The pass `efficiency`: POP's efficiencies, as the centre of excellence POP publishes them (pop-coe.eu, "Metrics" and
"Hybrid metrics", multiplicative form; the same as in BSC's modelfactors).

With T the makespan, P threads, u(t) the useful time of thread t, T_i the makespan on an ideal network, and o(r) the
time that rank r is outside of MPI:

    parallel efficiency  = sum of u / (P T)                     = MPI x OpenMP
    load balance         = mean of u / max of u
    communication        = max of u / T
    MPI                  = mean of o / T                        = load balance x serialisation x transfer
        load balance     = mean of o / max of o
        serialisation    = max of o / T_i
        transfer         = T_i / T
    OpenMP               = parallel efficiency / MPI            = load balance x scheduling
        load balance     = load balance of threads / load balance of MPI
        scheduling       = communication of threads / (serialisation x transfer)

Means over ranks count each rank as often as it has threads. Factors below OpenMP are ratios of two levels: as POP
says, they can be above 1, where threads are more even than ranks.

What needs an own reading: a rank with tasks is in MPI as far as its threads are, which the breakdown says: time in
which they are held by calls, or idle because tasks wait in MPI or other ranks have not begun or are not done. A rank
without tasks is in MPI as long as the thread that is longest in it, because the other threads wait for that one. A
program without MPI has no level of MPI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.calls import kind_mask
from ...registry import Analysis, analysis_pass
from ...statistics import mean_of
from ..thread_time.causes import NUMBER

_OF_TASKS = [NUMBER[name] for name in ("overhead_held", "overhead_mpi", "idle_communication", "idle_held",
                                       "idle_ranks")]  # fmt: skip
_OF_CODE = [NUMBER[name] for name in ("idle_communication", "idle_ranks")]


@dataclass
class Efficiency:
    """Times in ns. `useful` by thread, `outside_tasks` of it in code outside of tasks; `outside` by rank, `threads` how
    many each has; None: the trace has no MPI. `has_openmp`: a rank has tasks, or several threads."""

    makespan: int
    ideal: int
    useful: np.ndarray
    outside_tasks: np.ndarray
    outside: np.ndarray | None
    threads: np.ndarray
    has_openmp: bool

    def document(self) -> dict[str, Any]:
        mean, most = mean_of(self.useful), float(self.useful.max(initial=0))
        found: dict[str, Any] = {
            "makespan_ns": self.makespan, "threads": len(self.useful), "useful_ns": int(self.useful.sum()),
            "outside_tasks_ns": int(self.outside_tasks.sum()),
            "parallel": _ratio(mean, self.makespan), "load_balance": _ratio(mean, most),
            "communication": _ratio(most, self.makespan), "mpi": None, "openmp": None,
        }  # fmt: skip
        if self.outside is None:
            return found
        mean_out = float((self.outside * self.threads).sum() / self.threads.sum())
        most_out = float(self.outside.max())
        found["mpi"] = {
            "parallel": _ratio(mean_out, self.makespan), "load_balance": _ratio(mean_out, most_out),
            "communication": _ratio(most_out, self.makespan), "serialisation": _ratio(most_out, self.ideal),
            "transfer": _ratio(self.ideal, self.makespan), "ideal_ns": self.ideal,
            "outside_ns": [round(one) for one in self.outside.tolist()],
        }  # fmt: skip
        if self.has_openmp:
            found["openmp"] = {
                "parallel": _ratio(mean, mean_out),
                "load_balance": _ratio(found["load_balance"], found["mpi"]["load_balance"]),
                "scheduling": _ratio(found["communication"], found["mpi"]["communication"]),
            }
        return found


def _ratio(part: float, whole: float) -> float:
    """0 of nothing: a run without any useful time is not efficient."""
    return part / whole if whole else 0.0


@analysis_pass("efficiency", needs=("breakdown", "useful", "ideal_network", "calls"))
def efficiency(of: Analysis) -> Efficiency:
    """POP's efficiencies: parallel, MPI, OpenMP, and their factors."""
    table, useful, ideal = of["breakdown"], of["useful"].time, of["ideal_network"].ideal
    threads = np.array([np.count_nonzero(table.lane_rank == rank) for rank in table.ranks.tolist()])
    outside = None
    if np.any(~kind_mask(of["calls"], "local")):
        outside = np.array([_outside(table, useful, rank, model)
                            for rank, model in zip(table.ranks.tolist(), table.models)])  # fmt: skip
        # No network makes a run shorter than what its busiest rank does outside of MPI.
        ideal = min(max(ideal, int(np.ceil(outside.max(initial=0)))), table.makespan)
    has_openmp = bool(threads.max() > 1) or "tasks" in table.models
    return Efficiency(table.makespan, ideal, useful, of["useful"].outside_tasks, outside, threads, has_openmp)


def _outside(table: Any, useful: np.ndarray, rank: int, model: str) -> float:
    lanes = np.flatnonzero(table.lane_rank == rank)
    time = table.time[lanes].sum(axis=1)
    if model == "code":
        in_mpi = float(time[:, _OF_CODE].sum(axis=1).max())
    else:
        in_mpi = float(time[:, _OF_TASKS].sum() / len(lanes))
    return max(table.makespan - in_mpi, float(useful[lanes].mean()))
