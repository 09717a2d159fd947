# SPDX-License-Identifier: Apache-2.0
"""Writes the table of MPI's functions for pmpi/library.h, with a function for each that the MPI library may lack."""

from __future__ import annotations


def source(names: list[str]) -> str:
    """C source. The table is in the order of `names`, as the members of the struct that pmpi_resolve() fills."""
    missing = "".join(f"static void missing_{name}(void) {{ pmpi_missing(\"{name}\"); }}\n" for name in names)
    rows = "".join(f'    {{"P{name}", missing_{name}}},\n' for name in names)
    return ('/* Generated from mpi.h by pmpi/missing.py. */\n#include "../pmpi/library.h"\n\n'
            f"{missing}\nconst PmpiFunction pmpi_table[] = {{\n{rows}}};\n"
            "const size_t pmpi_table_size = sizeof pmpi_table / sizeof pmpi_table[0];\n")  # fmt: skip
