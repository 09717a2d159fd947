# SPDX-License-Identifier: Apache-2.0
"""The archive that programs link, and libmarline-mpi, define what the headers of the MPI interfaces declare."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ("marline_mpi.h", "compat/TAMPI.h", "compat/mpi-detach.h")
MODULES = ("marline_mpi.f90", "marline_mpi_f08.f90")


def declared() -> set[str]:
    text = "\n".join((ROOT / "include" / "marline" / header).read_text() for header in HEADERS)
    prototypes = re.findall(r"^(?!static|typedef)\w[\w ]*?[ *](\w+)\([^;{]*\);", text, re.MULTILINE)
    return {name for name in prototypes if name.startswith(("marline_mpi_", "TAMPI_", "MPIX_"))}


def defined(library: Path, *options: str) -> set[str]:
    listed = subprocess.run(["nm", "--defined-only", *options, library], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listed.stdout.splitlines() if " T " in line}


@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "standard"])
def test_all_functions_are_there(build: Path, mpi: str) -> None:
    folder = build / "lib" / "marline" / mpi
    if not folder.exists():
        pytest.skip(f"this build has no library for {mpi}")
    assert {"marline_mpi_iwait", "TAMPI_Iwait", "MPIX_Detach_each_status"} <= declared()
    assert declared() <= defined(folder / "libmarline-mpi-link.a")
    assert declared() <= defined(folder / "libmarline-mpi.so", "-D")


@pytest.mark.parametrize("module", MODULES)
def test_the_fortran_modules_name_what_is_there(build: Path, module: str) -> None:
    text = (ROOT / "include" / "marline" / module).read_text()
    named = set(re.findall(r"name='(\w+)'", text))
    assert len(named) == 4
    for mpi in ("openmpi", "mpich"):
        archive = build / "lib" / "marline" / mpi / "libmarline-mpi-link.a"
        assert named <= defined(archive)
