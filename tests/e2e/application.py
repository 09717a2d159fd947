# SPDX-License-Identifier: Apache-2.0
"""What the tests of the applications share: how one is run, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from conftest import CROWDED, SECONDS, run_without_hang

EXIT_WRONG = 1
EXIT_INPUT = 2


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
