#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions per task, counted by callgrind: a regression gate that no noise can hide.

Each program runs twice on one thread under Marline, with N and with 2 N rounds; the difference over the difference of
operations is free of start-up and tear-down. The count includes the compiler's code of the benchmark itself, which does
not change. Figures are compared with the ones committed in instructions.json: `bench/instructions.py` ends with status
1 if one grew by more than the tolerance, and with 0 if none did; `--update` writes the file anew (commit it with the
change that explains it). `--runtime libgomp` or `libomp` shows the peers' figures and compares nothing.

The figures `added` are for programs of one rank of Open MPI: what a pair of calls takes more under Marline and
libmarline-mpi than under the compiler's runtime alone, so that they do not depend on the MPI library's own code.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from marline.layout import Layout  # noqa: E402  (the path above is what finds it)
from marline.study.measure.launch import own_environment  # noqa: E402
from marline.study.measure.process import execute  # noqa: E402
from marline.study.measure.verdict import remarks_of, wrong_runtime  # noqa: E402

# Program, figure, rounds of the shorter of the two runs. Long enough that pools and tables have grown to their final
# size before it ends.
COUNTED: tuple[tuple[str, str, int], ...] = (
    ("empty_tasks", "task_one_deferred", 2),
    ("empty_tasks", "task_one_flood", 1),
    ("empty_tasks", "task_undeferred", 1),
    ("chains", "chain", 2),
    ("wavefront", "wavefront", 2),
    ("fib", "fib", 1),
    ("forkjoin", "region", 8),
    ("taskloop", "taskloop", 2),
)
# The same, of MPI programs. What MPI does at its start differs from run to run: many rounds hide it.
COUNTED_OF_MPI: tuple[tuple[str, str, int], ...] = (("mpi_pair", "mpi_pair", 20000),)
COMMITTED = Path(__file__).resolve().parent / "instructions.json"
LIMIT_SECONDS = 120


class CountError(Exception):
    """A program could not be counted; the text says which and why."""


def environment(runtime: str, layout: Layout, mpi: str | None) -> dict[str, str]:
    preloaded = ([layout.mpi(mpi)] if mpi else []) + [layout.runtime]
    swap = {"LD_LIBRARY_PATH": str(layout.compat), "LD_PRELOAD": ":".join(map(str, preloaded))}
    swap = swap if runtime == "marline" else {}
    return own_environment() | {"OMP_NUM_THREADS": "1"} | swap


def count(command: list[str], runtime: str, layout: Layout, mpi: str | None) -> tuple[int, int]:
    """Instructions and operations of one run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    ending = execute(valgrind, environment(runtime, layout, mpi), LIMIT_SECONDS, ROOT)
    found = re.search(r"Collected\s*:\s*(\d+)", ending.errors)
    remarks = remarks_of(ending.output)
    if ending.status != 0 or not found or "operations" not in remarks:
        how = f"cut after {LIMIT_SECONDS} s" if ending.status is None else f"exit status {ending.status}"
        raise CountError(f"{' '.join(command)} under valgrind: {how}:\n{ending.errors.strip()[-2000:]}")
    wrong = wrong_runtime(runtime, remarks.get("runtime"), ending.libraries, layout)
    if wrong:
        raise CountError(f"{' '.join(command)}: {wrong}")
    return int(found.group(1)), int(remarks["operations"])


def per_operation(program: Path, figure: str, rounds: int, runtime: str, layout: Layout,
                  mpi: str | None = None) -> float:  # fmt: skip
    runs = [count([str(program), "--only", figure, "--rounds", str(n)], runtime, layout, mpi)
            for n in (rounds, 2 * rounds)]  # fmt: skip
    return (runs[1][0] - runs[0][0]) / (runs[1][1] - runs[0][1])


def measure(runtime: str, build: Path) -> dict[str, float]:
    """Figure per program and compiler, e.g. {"chain gcc12": 412.0}. Counts do not mind company: one run per core."""
    compilers = {"libgomp": ["gcc12"], "libomp": ["clang19"], "marline": ["gcc12", "clang19"]}[runtime]
    wanted = [(name, figure, rounds, compiler) for name, figure, rounds in COUNTED for compiler in compilers]

    def one(what: tuple[str, str, int, str]) -> float:
        name, figure, rounds, compiler = what
        program = build / "bench" / "micro" / f"micro-{name}-{compiler}"
        if not program.exists():
            raise CountError(f"{program} is not built: build the benchmarks first (make build)")
        return round(per_operation(program, figure, rounds, runtime, Layout(build)), 1)

    measured = measure_mpi(build) if runtime == "marline" else {}
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        for (_, figure, _, compiler), value in zip(wanted, pool.map(one, wanted)):
            measured[f"{figure} {compiler}"] = value
            print(f"{figure} {compiler}+{runtime}: {value:.1f} instructions", flush=True)
    return measured


def measure_mpi(build: Path) -> dict[str, float]:
    """What libmarline-mpi adds to MPI's calls; empty where there is no Open MPI."""
    measured: dict[str, float] = {}
    layout = Layout(build)
    for name, figure, rounds in COUNTED_OF_MPI:
        program = build / "bench" / "micro" / f"micro-{name}-gcc12"
        if not program.exists():
            continue
        ours, theirs = (per_operation(program, figure, rounds, runtime, layout, "openmpi")
                        for runtime in ("marline", "libgomp"))  # fmt: skip
        measured[f"{figure} added gcc12"] = round(ours - theirs, 1)
        print(f"{figure} added gcc12+marline: {ours - theirs:.1f} instructions", flush=True)
    return measured


def compare(measured: dict[str, float], committed: dict[str, float], tolerance: float) -> list[str]:
    """What is wrong, one line each."""
    problems = []
    for name, value in measured.items():
        if name not in committed:
            problems.append(f"{name}: no committed figure (measured {value:.1f})")
        elif value > committed[name] * (1 + tolerance):
            problems.append(f"{name}: {value:.1f} instructions, committed {committed[name]:.1f} "
                            f"({100 * (value / committed[name] - 1):+.1f} %, allowed {100 * tolerance:+.0f} %)")
    problems += [f"{name}: committed, but no longer measured" for name in committed if name not in measured
                 and not name.split()[1] == "added"]
    return problems


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Instructions per task under callgrind, against the committed ones.")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build tree (build/release)")
    parser.add_argument("--runtime", choices=["marline", "libgomp", "libomp"], default="marline",
                        help="whose instructions; peers are shown, not compared (marline)")
    parser.add_argument("--committed", type=Path, default=COMMITTED, help="figures to compare with")
    parser.add_argument("--update", action="store_true", help="write the measured figures to that file")
    parsed = parser.parse_args(arguments)
    parsed.build = parsed.build.resolve()
    if parsed.update and parsed.runtime != "marline":
        parser.error("--update is for Marline's figures: the file holds no others")
    return parsed


def check(measured: dict[str, float], path: Path) -> int:
    document = json.loads(path.read_text(encoding="utf-8"))
    problems = compare(measured, document["instructions"], document["tolerance"])
    for problem in problems:
        print(f"instructions: {problem}", file=sys.stderr)
    if problems:
        print(f"instructions: if the change is meant, run bench/instructions.py --update and commit {path.name}",
              file=sys.stderr)
    return 1 if problems else 0


def update(measured: dict[str, float], path: Path) -> int:
    tolerance = json.loads(path.read_text(encoding="utf-8"))["tolerance"] if path.exists() else 0.05
    document = {"tolerance": tolerance, "instructions": measured}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


def main(arguments: list[str]) -> int:
    chosen = options(arguments)
    if shutil.which("valgrind") is None:
        print("instructions: valgrind is not installed: apt-get install valgrind", file=sys.stderr)
        return 2
    library = Layout(chosen.build).runtime
    if chosen.runtime == "marline" and not library.exists():
        print(f"instructions: {library} is not there: build it first", file=sys.stderr)
        return 2
    if chosen.runtime == "marline" and not chosen.update and not chosen.committed.exists():
        print(f"instructions: {chosen.committed} is not there: make it with --update", file=sys.stderr)
        return 2
    try:
        measured = measure(chosen.runtime, chosen.build)
    except CountError as error:
        print(f"instructions: {error}", file=sys.stderr)
        return 2
    if chosen.runtime != "marline":
        return 0
    return update(measured, chosen.committed) if chosen.update else check(measured, chosen.committed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
