# SPDX-License-Identifier: Apache-2.0
"""Reads the functions that an mpi.h declares, for the programs that write wrappers of them.

What a parameter means follows from its name in the MPI standard, which the headers in pmpi/abi keep, and most headers
of MPI libraries; where one does not, SYNONYMS says so. Used by mpi/generator/generate.py (libmarline-mpi),
trace/mpi/generate.py (the recorder), and tests.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

# Parameters to which a header gives another name than the standard does.
SYNONYMS = {("MPI_Datatype", "type"): "datatype", ("int", "target_cout"): "target_count"}  # Open MPI 4.1


# Wrappers of these would be seen by programs that look for an MPI library by name, before they have loaded one. mpi4py
# takes the library that has MPI_Get_version for MPI.
NOT_DEFINED = {"MPI_Get_version", "MPI_Get_library_version"}
# Functions of some ABIs, and macros of others.
CONVERSIONS = {"MPI_Request_c2f", "MPI_Request_f2c"}


class GeneratorError(Exception):
    """The text is meant for the person who builds Marline."""


@dataclass(frozen=True)
class Parameter:
    text: str  # as declared, with its name
    name: str
    type: str  # "MPI_Comm", "MPI_Comm *", "const int []"


def without_attributes(text: str) -> str:
    """Drops `__attribute__((...))`, in which parentheses nest."""
    parts = []
    position = 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < position:
            continue
        parts.append(text[position : match.start()])
        depth, position = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    return "".join(parts) + text[position:]


def parse_parameter(text: str) -> Parameter:
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\])*)", " ".join(text.split()))
    if match is None or not match[1].strip():
        raise GeneratorError(f"mpi.h: cannot read the parameter '{text}'")
    kind = re.sub(r"\s*\*", " *", match[1].strip()) + (f" {match[3]}" if match[3] else "")
    # Any name can be chosen, because the wrapper declares the parameter anew.
    name = SYNONYMS.get((kind, match[2]), match[2])
    return Parameter(f"{match[1]}{name}{match[3]}", name, kind)


def parse_prototypes(text: str) -> dict[str, tuple[Parameter, ...] | None]:
    """Returns parameters by name; None for a function with `...`."""
    found: dict[str, tuple[Parameter, ...] | None] = {}
    for statement in without_attributes(text).split(";"):
        match = re.search(r"\b(MPI_\w+)\s*\(([^()]*)\)\s*$", statement)
        if match is None or "typedef" in statement or not re.search(r"\w[\s*]+$", statement[: match.start()]):
            continue
        inside = match[2].strip()
        parts = [] if inside == "void" else inside.split(",")
        found[match[1]] = None if "..." in inside else tuple(parse_parameter(part) for part in parts)
    if "MPI_Send" not in found:
        raise GeneratorError("mpi.h: no prototype of MPI_Send found")
    return found


def preprocess(compiler: list[str]) -> str:
    """The header as the compiler (a command line) sees it."""
    command = [*compiler, "-E", "-P", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-x", "c", "-"]
    result = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False)
    if result.returncode:
        raise GeneratorError(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout
