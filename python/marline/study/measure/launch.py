# SPDX-License-Identifier: Apache-2.0
"""From a point to the words and the environment of its process, and to the reason why it cannot run here.

The invariant: two variants of one input differ in nothing but what their declaration says. The caller's OpenMP
settings and preloaded libraries are taken out; the variant's own reach the program alone, never the MPI launcher."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from marline.errors import Refusal
from marline.launch import compiled
from marline.layout import Layout
from marline.study.declare.plan import Point

DROPPED = ("OMP_", "KMP_", "GOMP_", "MARLINE_", "OPENBLAS_", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_DEBUG")
BUILD_SECONDS = 1800
COMPILER = re.compile(r"(gcc|clang|icx|nvc)-?(\d*)")
SONAMES = {"libgomp": ("libgomp.so.1",), "libomp": ("libomp.so.5", "libomp.so", "libiomp5.so")}


def own_environment() -> dict[str, str]:
    """The caller's, without what would make runs unlike."""
    return {key: value for key, value in os.environ.items() if not key.startswith(DROPPED)}


def additions(point: Point, layout: Layout, trace: Path | None) -> dict[str, str]:
    """What the program sees on top of own_environment(). Libraries that the study preloads, and folders in which it
    wants libraries to be found, come after Marline's."""
    preload = []
    added = {"OMP_NUM_THREADS": str(point.threads), **point.environment}
    mpi = None if point.mpi == "none" else point.mpi
    if trace is not None:
        added["MARLINE_TRACE_DIR"] = str(trace)
        preload.append(layout.trace(mpi))
    if point.variant.runtime == "marline":
        folders = [str(layout.compat), point.environment.get("LD_LIBRARY_PATH")]
        added["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
        preload += [layout.mpi(mpi)] if mpi else []
        preload.append(layout.runtime)
    preload += [point.environment["LD_PRELOAD"]] if "LD_PRELOAD" in point.environment else []
    if preload:
        added["LD_PRELOAD"] = ":".join(str(library) for library in preload)
    return added


def words(point: Point, layout: Layout, environment: dict[str, str], added: dict[str, str],
          traced: bool) -> list[str]:  # fmt: skip
    """Through the same launcher as `marline run -n`, so that Marline's ranks and the peers' are placed alike."""
    more = point.program.when_recorded if traced else ()
    own = ["/usr/bin/env", *(f"{key}={value}" for key, value in added.items()), *point.command, *more]
    if point.mpi == "none":
        return own
    return [*compiled.words_before_ranks(layout, point.mpi, point.ranks, point.threads, environment), *own]


def program_file(point: Point) -> Path | None:
    """The file that would be executed; None: there is none."""
    found = shutil.which(point.command[0])
    return Path(found) if found else None


def compiler_command(name: str) -> str:
    """gcc12 -> gcc-12, as Debian calls it; other names stand for themselves."""
    fits = COMPILER.fullmatch(name)
    return f"{fits[1]}-{fits[2]}" if fits and fits[2] else name


def build(command: Sequence[str], is_there: Callable[[], object]) -> str:
    """Runs the build command of a program; empty if the program is there then, else what went wrong."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=BUILD_SECONDS, check=False)  # fmt: skip
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"its build did not end in {BUILD_SECONDS} s"
    if is_there():
        return ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return f"its build ended with status {result.returncode}: {lines[-1].strip() if lines else 'no message'}"


def why_not(point: Point, layout: Layout, traced: bool) -> str:
    """Empty if the point can run here, else what is missing. Builds nothing."""
    runtime, mpi = point.variant.runtime, point.mpi
    needed = []
    if runtime == "marline":
        needed += [layout.runtime] + ([layout.mpi(mpi)] if mpi != "none" else [])
    if traced:
        needed.append(layout.trace(None if mpi == "none" else mpi))
        if runtime == "libgomp":
            return "libgomp has no OMPT: nothing can be recorded"
    for library in needed:
        if not library.is_file():
            return f"{library.relative_to(layout.prefix)} is not in Marline's installation"
    if mpi != "none":
        try:
            compiled.find_launcher(layout, mpi)
        except Refusal as refusal:
            return str(refusal)
    return _why_no_program(point, layout)


def _why_no_program(point: Point, layout: Layout) -> str:
    path = program_file(point)
    if path is None:
        compiler = compiler_command(point.variant.compiler)
        if point.variant.compiler and shutil.which(compiler) is None:
            return f"{Path(point.command[0]).name} is not built, and {compiler} is not installed"
        return f"{Path(point.command[0]).name} is not {'built' if '/' in point.command[0] else 'installed'}"
    wanted = SONAMES.get(point.variant.runtime)
    missing = _unresolved(path, point.environment, layout) if wanted else set()
    return f"{', '.join(sorted(missing))} is not installed" if missing & set(wanted or ()) else ""


def _unresolved(path: Path, environment: dict[str, str], layout: Layout) -> set[str]:
    """The libraries that the program needs and its loader does not find in the folders that the study names or in its
    own. A script needs none, nor does a static program."""
    folders = {key: value for key, value in environment.items() if key == "LD_LIBRARY_PATH"}
    try:
        lines = compiled.ask(layout, "libraries", str(path), environment=own_environment() | folders)
    except Refusal:
        return set()
    return {line.partition("\t")[2] for line in lines if line.startswith("missing\t")}
