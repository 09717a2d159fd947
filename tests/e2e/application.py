# SPDX-License-Identifier: Apache-2.0
"""What the tests of the applications share: how one is run, and what it says."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import pytest

from conftest import CROWDED, SECONDS, run_without_hang

EXIT_WRONG = 1
EXIT_INPUT = 2

# An MPI library that grants less than MPI_THREAD_MULTIPLE.
FUNNELED = """
extern int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int code = PMPI_Init_thread(argc, argv, required, provided);
  *provided = 1; /* MPI_THREAD_FUNNELED in Open MPI and MPICH */
  return code;
}
"""


def build_library(folder: Path, source: str, name: str = "library") -> Path:
    """A shared object for LD_PRELOAD."""
    compiler = shutil.which("gcc-12")
    if not compiler:
        pytest.skip("gcc-12 is not there to build a library with")
    code, library = folder / f"{name}.c", folder / f"{name}.so"
    code.write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", code, "-o", library], check=True)
    return library


@dataclass
class ApplicationOutcome:
    program: ClassVar[str]  # its name, in front of its complaints
    code: int
    stdout: str
    stderr: str

    @classmethod
    def of(cls, words: Sequence[str], environment: dict[str, str]) -> Self:
        result = run_without_hang(words, environment | CROWDED, SECONDS)
        return cls(result.returncode, result.stdout, result.stderr)

    @property
    def complaints(self) -> list[str]:
        """The program's own lines on stderr, without the MPI launcher's."""
        return [line for line in self.stderr.splitlines() if line.startswith(f"{self.program}: ")]

    @property
    def remarks(self) -> dict[str, str]:
        assert self.code == 0, self.stderr
        return dict(line[2:].split(" ", 1) for line in self.stdout.splitlines() if line.startswith("# "))
