# SPDX-License-Identifier: Apache-2.0
"""`marline report A B C --scaling`: POP's table of several runs of one program, efficiencies relative to the first.

For run i with P_i threads, makespan T_i, and U_i the useful time of all its threads (pop-coe.eu, "Metrics"):

    speedup              = T_1 / T_i; of weak scaling: (T_1 / T_i) x (P_i / P_1)
    computation scaling  = U_1 / U_i; of weak scaling: (U_1 / P_1) / (U_i / P_i)
    global efficiency    = parallel efficiency x computation scaling

With the parallel efficiency and its factors as the pass `efficiency` says them."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from marline.units import duration

FORMAT = "marline-scaling 1"
GOOD, FAIR = 0.9, 0.8  # POP: 0.8 and more is acceptable
# Of an efficiency: how far in, its name in tables, and where it stands in the document.
FACTORS = (
    (0, "global efficiency", ("global",)), (1, "computation scaling", ("computation_scaling",)),
    (1, "parallel efficiency", ("parallel",)), (2, "load balance of threads", ("load_balance",)),
    (2, "MPI", ("mpi", "parallel")), (3, "load balance", ("mpi", "load_balance")),
    (3, "serialisation", ("mpi", "serialisation")), (3, "transfer", ("mpi", "transfer")),
    (2, "OpenMP", ("openmp", "parallel")), (3, "load balance", ("openmp", "load_balance")),
    (3, "scheduling", ("openmp", "scheduling")),
)  # fmt: skip


def scaling(summaries: Sequence[dict[str, Any]], weak: bool = False) -> dict[str, Any]:
    """The document of the runs' summaries (compare.py)."""
    first = summaries[0]
    return {"format": FORMAT, "scaling": "weak" if weak else "strong",
            "runs": [_run(first, one, weak) for one in summaries]}  # fmt: skip


def _run(first: dict[str, Any], one: dict[str, Any], weak: bool) -> dict[str, Any]:
    more = one["threads"] / first["threads"] if weak else 1.0
    useful, reference = one["efficiency"]["useful_ns"], first["efficiency"]["useful_ns"]
    computation = reference * more / useful if useful else 0.0
    return {
        "program": one["program"], "ranks": one["ranks"], "threads": one["threads"], "makespan_ns": one["makespan_ns"],
        "useful_ns": useful, "speedup": first["makespan_ns"] * more / max(one["makespan_ns"], 1),
        "efficiency": {"global": one["efficiency"]["parallel"] * computation, "computation_scaling": computation,
                       **one["efficiency"]},
        "kinds": [{key: row[key] for key in ("name", "tasks", "work_ns")} for row in one["kinds"]],
    }  # fmt: skip


def print_scaling(document: dict[str, Any], names: Sequence[str], console: Console) -> None:
    table = Table(box=None, padding=(0, 1, 0, 1), pad_edge=False)
    table.add_column(f"{document['scaling']} scaling", no_wrap=True)
    runs = document["runs"]
    for name in names:
        table.add_column(name.rstrip("/").rpartition("/")[2], justify="right", overflow="ellipsis", no_wrap=True)
    table.add_row("ranks, threads", *(f"{run['ranks']}, {run['threads']}" for run in runs))
    table.add_row("makespan", *(duration(run["makespan_ns"]) for run in runs))
    table.add_row("speedup", *(f"{run['speedup']:.2f}" for run in runs))
    for depth, title, path in FACTORS:
        values = [_value(run["efficiency"], path) for run in runs]
        if any(value is not None for value in values):
            table.add_row("  " * depth + title, *map(_cell, values))
    console.print(table)


def _value(efficiency: dict[str, Any], path: Sequence[str]) -> float | None:
    found: Any = efficiency
    for name in path:
        found = found.get(name) if found else None
    return found


def _cell(value: float | None) -> Text:
    if value is None:
        return Text("-")
    style = "black on green" if value >= GOOD else "black on yellow" if value >= FAIR else "black on red"
    return Text(f" {100 * value:.1f} %", style=style)
