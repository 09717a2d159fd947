# SPDX-License-Identifier: Apache-2.0
"""How programs are built for `marline check --dependences` (docs/guide/dependences.md). Used by tools and tests."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

COMPILING = ["-g", "-O1", "-fopenmp", "-fsanitize=thread", "-c"]
SECONDS = 600  # ends a compiler that hangs
FOUND = 123  # the exit status of `marline check` if there are findings
LLVM = "/usr/lib/llvm-19/lib"


def linking(compiler: str, prefix: Path) -> list[str]:
    """What follows the objects. `prefix`: of Marline, or its build tree."""
    runtime = [f"-L{LLVM}"] if compiler.startswith("clang") else []
    return ["-fopenmp", f"-L{prefix / 'lib' / 'marline'}", "-lmarline-accesses", *runtime]


def build(source: Path, compiler: str, folder: Path, prefix: Path) -> Path:
    """A program of one source."""
    program, made = folder / f"{source.stem}-{compiler}", folder / f"{source.stem}-{compiler}.o"
    compiling = [compiler, *COMPILING, str(source), "-o", str(made)]
    for words in (compiling, [compiler, str(made), "-o", str(program), *linking(compiler, prefix)]):
        subprocess.run(words, check=True, timeout=SECONDS)
    return program


def lacks(source: Path, compiler: str) -> str:
    """The clause in the program that the compiler does not know, or nothing."""
    return "inoutset" if compiler == "gcc-12" and re.search(r"\binoutset\b", source.read_text()) else ""
