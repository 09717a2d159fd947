#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `marline run` adds to the start of a program: CPU time of all processes, and file system calls. A program with
one parallel region runs plainly and by the command, in turns; so do two ranks of each MPI, by mpirun and by `-n 2`.
A plain program runs on GCC's libgomp, whose threads compute while they wait, so it can take more CPU time than one on
Marline. One row has plain runs on Marline, by the library path: its difference is the command's alone.

    bench/start.py --prefix build/release [--rounds 25] [--markdown docs/results/start.md]

CPU time is that of the children of this process (getrusage(2)). File system calls are the system calls with a path that
strace counts (`-e trace=%file`, all processes). The difference of a pair is the one between neighbouring runs; its
median has a 95 % bootstrap interval. On a busy machine the medians move, the differences less.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from marline.study.measure.launch import own_environment  # noqa: E402  (the path above is what finds it)
from marline.study.measure.machine import cpu_model  # noqa: E402

REGION = """
#include <stdio.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  printf("%d\\n", threads);
}
"""
RANKS = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char** words) {
  int threads = 0;
  MPI_Init(&count, &words);
#pragma omp parallel reduction(+ : threads)
  threads++;
  printf("%d\\n", threads);
  MPI_Finalize();
}
"""
# What Open MPI asks of root, and of a machine with fewer cores than ranks, by environment.
CROWDED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
BY_PATH = "one process, plainly on Marline"
CASES = {"one process": ("gcc-12", REGION, None), BY_PATH: ("gcc-12", REGION, None),
         "two ranks, Open MPI": ("mpicc.openmpi", RANKS, "mpirun.openmpi"),
         "two ranks, MPICH": ("mpicc.mpich", RANKS, "mpirun.mpich")}  # fmt: skip


NONE: dict[str, str] = {}
PAGE = """\
What `marline run` adds to the start of a small program ([how a program is started](../design/start.md)). Two things
are measured: the CPU time of all processes, and the number of system calls with a path. "More" is the median of the
differences between neighbouring runs; the brackets hold its 95 % bootstrap interval. A plain program runs on GCC's
libgomp, whose threads compute while they wait, so it can take more CPU time than on Marline. In the second row the
plain program runs on Marline, too, by `LD_LIBRARY_PATH`: the difference is what the command alone adds."""


@dataclass
class Pair:
    name: str
    plain: list[str]
    served: list[str]
    changes: dict[str, str]  # of the environment of the plain run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--prefix", type=Path, required=True, help="a build tree, or an installation")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="marline-start-") as folder:
        pairs = [pair_of(name, options.prefix.resolve(), Path(folder)) for name in CASES]
        rows = [row_of(pair, options.rounds) for pair in pairs if pair]
    lines = ["# The start of a program", "", PAGE, "",
             f"{cpu_model()}, {os.cpu_count()} CPUs, {options.rounds} pairs of runs, 2 threads a process", "",
             "| | CPU time, plain: ms | `marline run`: ms | more: ms | file calls, plain | `marline run` | more |",
             "|---|---:|---:|---|---:|---:|---:|", *rows]  # fmt: skip
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    return 0


def pair_of(name: str, prefix: Path, folder: Path) -> Pair | None:
    compiler, source, launcher = CASES[name]
    if shutil.which(compiler) is None:
        return None
    program = folder / f"{compiler}.out"
    program.with_suffix(".c").write_text(source)
    subprocess.run([compiler, "-O1", "-fopenmp", program.with_suffix(".c"), "-o", program], check=True)
    command = [str(prefix / "bin" / "marline"), "run"]
    if launcher is None:
        compat = str(prefix / "lib" / "marline" / "compat")
        changes = {"LD_LIBRARY_PATH": compat} if name == BY_PATH else {}
        return Pair(name, [str(program)], [*command, str(program)], changes)
    return Pair(name, [launcher, "-n", "2", str(program)], [*command, "-n", "2", str(program)], {})


def row_of(pair: Pair, rounds: int) -> str:
    times = np.array([[cpu_ms(pair.plain, pair.changes), cpu_ms(pair.served)] for _ in range(rounds)])
    plain, served = np.median(times, axis=0)
    low, more, high = interval(times[:, 1] - times[:, 0])
    before, after = file_calls(pair.plain, pair.changes), file_calls(pair.served)
    return (f"| {pair.name} | {plain:.1f} | {served:.1f} | {more:.1f} [{low:.1f}, {high:.1f}] | {before} | {after} | "
            f"{after - before} |")  # fmt: skip


def run(words: list[str], changes: dict[str, str]) -> None:
    environment = own_environment() | CROWDED | {"OMP_NUM_THREADS": "2"} | changes
    subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)  # fmt: skip


def cpu_ms(words: list[str], changes: dict[str, str] = NONE) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(words, changes)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def file_calls(words: list[str], changes: dict[str, str] = NONE) -> int:
    with tempfile.NamedTemporaryFile("r") as log:
        run(["strace", "-f", "-qq", "-e", "trace=%file", "-e", "signal=none", "-o", log.name, *words], changes)
        return sum("resumed>" not in line for line in log)


def interval(differences: np.ndarray) -> tuple[float, float, float]:
    generator = np.random.default_rng(0)
    drawn = generator.choice(differences, (2000, len(differences)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return low, float(np.median(differences)), high


if __name__ == "__main__":
    sys.exit(main())
