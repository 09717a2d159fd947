# SPDX-License-Identifier: Apache-2.0
"""POP's efficiencies as a tree of a few lines: each factor is the product of those on its line."""

from typing import Any

from marline.units import percent


WHOLE = 0.995  # what rounds to 100 % needs no tree
WORTH_SAYING = 0.01  # of thread time


def efficiency_tree(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Title and text of each line; none where all of the threads' time was useful."""
    if found["parallel"] >= WHOLE:
        return []
    whole = f"parallel {percent(found['parallel'], 1)} = "
    mpi, openmp = found["mpi"], found["openmp"]
    if mpi is None:
        product = _product(found, ("load_balance", "load balance"), ("communication", "scheduling"))
        return [("efficiency", whole + product), *_outside_tasks(found)]
    if openmp is None:
        return [("efficiency", whole + _mpi(mpi)), *_outside_tasks(found)]
    return [
        ("efficiency", f"{whole}MPI {percent(mpi['parallel'], 1)} x OpenMP {percent(openmp['parallel'], 1)}"),
        ("  MPI", _mpi(mpi)),
        ("  OpenMP", _product(openmp, ("load_balance", "load balance"), ("scheduling", "scheduling"))),
        *_outside_tasks(found),
    ]


def _outside_tasks(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Why the parallel efficiency is not the breakdown's share of work: what POP counts, too."""
    whole = found["threads"] * found["makespan_ns"]
    if found["outside_tasks_ns"] < WORTH_SAYING * whole:
        return []
    share = percent(found["outside_tasks_ns"], whole)
    return [("  useful", f"also code outside of tasks, {share}: idle or overhead above")]


def _mpi(mpi: dict[str, Any]) -> str:
    return _product(mpi, ("load_balance", "load balance"), ("serialisation", "serialisation"),
                    ("transfer", "transfer"))  # fmt: skip


def _product(values: dict[str, Any], *factors: tuple[str, str]) -> str:
    return " x ".join(f"{text} {percent(values[name], 1)}" for name, text in factors)
