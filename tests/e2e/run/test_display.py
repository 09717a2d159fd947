# SPDX-License-Identifier: Apache-2.0
"""OMP_DISPLAY_ENV=verbose shows the options of all of Marline's libraries that are loaded. The plain form shows
OpenMP's alone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import run

ROOT = Path(__file__).resolve().parents[3]
NAME = re.compile(r'^    \{\s*"((?:OMP|MARLINE)_\w+)"', re.MULTILINE)  # of an entry of a table
LINE = re.compile(r"  \[host\] (\w+) = '(.*)'")
# A library, its folder, options as they are given, and as they are shown.
LIBRARIES = [
    ("openmpi/libmarline-mpi.so", "mpi", {"MARLINE_MPI_WATCH": "7", "MARLINE_MPI_PROGRESS": "sometimes"},
     {"MARLINE_MPI_WATCH": "7", "MARLINE_MPI_PROGRESS": "opportunistic", "MARLINE_MPI_WINDOW": "64"}),
    ("libmarline-target.so", "offload", {"MARLINE_WIRE": "local", "OMP_AVAILABLE_DEVICES": " "},
     {"MARLINE_WIRE": "local", "OMP_AVAILABLE_DEVICES": "*"}),
    ("libmarline-trace.so", "trace", {"MARLINE_TRACE_EVENTS": "task", "MARLINE_TRACE_START": "later"},
     {"MARLINE_TRACE_EVENTS": "task", "MARLINE_TRACE_START": "on"}),
]  # fmt: skip


def shown(build: Path, program: Path, form: str, library: str, **given: str) -> dict[str, str]:
    preloaded = [build / "lib" / "marline" / library] if library else []
    for path in preloaded:
        if not path.exists():
            pytest.skip(f"this build has no {path.name}")
    preloaded.append(build / "lib" / "libmarline.so")
    result = run([program], LD_PRELOAD=":".join(map(str, preloaded)), OMP_DISPLAY_ENV=form, **given)
    assert result.returncode == 0, result.stderr
    after = result.stderr.partition("  MARLINE_VERSION = ")[2]  # libgomp, which the program links, prints a block, too
    return dict(LINE.findall(after.partition("OPENMP DISPLAY ENVIRONMENT END")[0]))


@pytest.mark.parametrize(("library", "folder", "given", "expected"), LIBRARIES)
def test_a_loaded_librarys_options_are_shown(build: Path, compiled: Callable[..., Path], library: str, folder: str,
                                             given: dict[str, str], expected: dict[str, str]) -> None:  # fmt: skip
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    own = shown(build, program, "verbose", "")
    with_library = shown(build, program, "verbose", library, **given)
    table = (ROOT / folder / "base" / "options.cpp").read_text(encoding="utf-8")
    assert with_library.keys() - own.keys() == set(NAME.findall(table))
    assert with_library.items() >= expected.items()
    assert not any(name.startswith("MARLINE_") for name in shown(build, program, "true", library, **given))
    assert shown(build, program, "true", library, **given).keys() < own.keys()
