# SPDX-License-Identifier: Apache-2.0
"""Names of compilers, such as gcc16, and the files of facts about them: three words a line, WHAT PROGRAM RESULT, where
the last one goes on to the end of the line. Several processes may keep facts in one file."""
from __future__ import annotations

import fcntl
from dataclasses import dataclass, field
from pathlib import Path

FAMILIES = {"gcc": "GCC", "clang": "Clang", "gfortran": "gfortran", "flang": "flang"}  # in the order of the columns


def split_version(compiler: str) -> tuple[str, int]:
    """`clang19` gives clang and 19, `clang` gives clang and 0."""
    name = compiler.rstrip("0123456789")
    return name, int(compiler[len(name) :] or 0)


def read_facts(path: Path) -> list[tuple[str, str, str]]:
    lines = path.read_text().splitlines() if path.is_file() else []
    facts = [line.split(" ", 2) for line in lines if line and not line.startswith("#")]
    return [(what, program, result) for what, program, result in facts]


def keep_fact(what: str, program: str, result: str, path: Path, head: str) -> None:
    """One at a time: others may have written in between."""
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = {(of, name): value for of, name, value in read_facts(path)}
        known[what, program] = result
        path.write_text(head + "".join(f"{of} {name} {value}\n" for (of, name), value in sorted(known.items())))


@dataclass
class Cause:
    """Why a program fails with a kind of compiler: `clang`, all versions; `clang15-18,21`, these versions."""

    family: str
    versions: set[int]  # empty: all
    program: str
    text: str
    name: str  # of the compilers, as written

    def is_of(self, compiler: str, program: str) -> bool:
        family, version = split_version(compiler)
        return (family, program) == (self.family, self.program) and (not self.versions or version in self.versions)


@dataclass
class Causes:
    of_compilers: list[Cause] = field(default_factory=list)

    def of(self, compiler: str, program: str) -> str:
        """Empty if none is known."""
        return next((cause.text for cause in self.of_compilers if cause.is_of(compiler, program)), "")

    def without_failure(self, failed: list[tuple[str, str]]) -> list[str]:
        """Those of programs that do not fail: `failed` has compiler and program."""
        return [f"other_compilers_causes.txt: `{cause.program}` does not fail with {cause.name}"
                for cause in self.of_compilers if not any(cause.is_of(*one) for one in failed)]  # fmt: skip


def read_causes(path: Path) -> Causes:
    causes = Causes()
    for name, program, text in read_facts(path):
        family = name.rstrip("0123456789,-")
        versions = versions_of(name[len(family) :])
        causes.of_compilers.append(Cause(family, versions, program, text, name))
    return causes


def versions_of(text: str) -> set[int]:
    """`15-18,21` are five versions."""
    ends = [part.partition("-") for part in text.split(",") if part]
    return {version for first, _, last in ends for version in range(int(first), int(last or first) + 1)}
