# SPDX-License-Identifier: Apache-2.0
"""`marline run --print`: the command lines by which a launcher, or a shell, starts the program as `marline run` would,
but without its proof. The variables are set by env(1), which every launcher can start. Standard library only."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence

from marline.errors import Refusal
from marline.launch import launcher

SLURM = "# Slurm, with --mpi=pmix for Open MPI or --mpi=pmi2 for MPICH where that is not the default"
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "standard": "MPICH"}


def joined(words: Sequence[str]) -> str:
    """As a shell takes them. (Python's shlex.join is as young as Python 3.8.)"""
    return " ".join(map(shlex.quote, words))


def setting(variables: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []


def lines(words: Sequence[str], ranks: int | None, threads: int | None, mpi: str | None,
          start: Callable[..., list[str]]) -> list[str]:  # fmt: skip
    """`ranks`: None if there is no launcher; `mpi`: None if the program uses none, so that each will do; `start`: of
    launcher.py."""
    if ranks is None:
        return [joined(words)]
    found = []
    for one in [mpi] if mpi else ("openmpi", "mpich"):
        try:
            found += [f"# {TITLES[one]}", joined([*start(one, ranks, environment=os.environ), *words])]
        except Refusal:  # its launcher is not here
            continue
    cores = ["-c", str(threads)] if threads else []
    return [*found, SLURM, joined(["srun", "-n", str(ranks), *cores, *words])]
