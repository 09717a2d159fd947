# SPDX-License-Identifier: Apache-2.0
"""For generate.py: the functions that pass a call to the owner (owner.h), the functions that say that a thread is in
MPI (inside.h), and the entry points of all calls of MPI that libmarline-mpi only passes on to next_mpi, which may lead
to the owner."""

from __future__ import annotations

import re

from pieces import Pieces
from prototypes import Parameter

# MPI lets any thread call these at any level (MPI 3.1, 12.4.3); and a thread that aborts must not wait for the owner.
# (MPI_Query_thread and MPI_Is_thread_main are answered in init.c.)
FROM_ANY_THREAD = {"MPI_Abort", "MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version"}

OWNER = Pieces("owner.c.in")

Prototypes = dict[str, "tuple[Parameter, ...] | None"]


def short(name: str) -> str:
    return name.removeprefix("MPI_").lower()


def member(parameter: Parameter) -> str:
    """A parameter as a member of a struct: an array becomes a pointer."""
    match = re.fullmatch(r"(.*?)(\w+)\s*\[\w*\]((?:\[\w+\])*)", parameter.text)
    if match is None:
        return f"{parameter.text};"
    return f"{match[1]}(*{match[2]}){match[3]};" if match[3] else f"{match[1]}*{match[2]};"


def declared(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(parameter.text for parameter in parameters) or "void"


def passed(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(parameter.name for parameter in parameters)


def handed_over(name: str, parameters: tuple[Parameter, ...]) -> str:
    return OWNER.fill("handed_over", short=short(name), declared=declared(parameters),
                      members="".join(f"  {member(parameter)}\n" for parameter in parameters),
                      values="".join(f"{parameter.name}, " for parameter in parameters),
                      passed=", ".join(f"a->{parameter.name}" for parameter in parameters))  # fmt: skip


def at_once(name: str, parameters: tuple[Parameter, ...]) -> str:
    return OWNER.fill("at_once", short=short(name), declared=declared(parameters), passed=passed(parameters))


def passed_on(name: str, parameters: tuple[Parameter, ...]) -> str:
    return OWNER.fill("passed_on", name=name, short=short(name), declared=declared(parameters),
                      passed=passed(parameters))


def inside_source(names: list[str], prototypes: Prototypes) -> str:
    """All calls of MPI itself (inside.h). MPI_Abort does not return, so it needs no leave."""
    pieces = [("inside_at_once" if name in FROM_ANY_THREAD else "inside", name) for name in names]
    functions = [OWNER.fill(piece, short=short(name), declared=declared(prototypes[name]),
                            passed=passed(prototypes[name])) for piece, name in pieces]  # fmt: skip
    return OWNER.fill("inside_file", functions="\n".join(functions),
                      members="".join(OWNER.fill("inside_member", short=short(name)) for name in names))  # fmt: skip


def owner_source(names: list[str], served: set[str], prototypes: Prototypes) -> str:
    """`names`: the members of NextMpi; `served`: the calls that have an entry point elsewhere."""
    functions = [(at_once if name in FROM_ANY_THREAD else handed_over)(name, prototypes[name]) for name in names]
    entries = [passed_on(name, prototypes[name]) for name in names if name not in served]
    return OWNER.fill("file", functions="\n".join(functions), entries="\n".join(entries),
                      members="".join(OWNER.fill("member", short=short(name)) for name in names))  # fmt: skip
