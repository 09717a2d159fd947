#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far LULESH's forms on more ranks than cores are from what their kernels alone take. The bound: one rank without
runtime and messages on each core, at the same time, times the ranks per core. Beside it, in the same rounds, the
`parallel for` on the runtime that the program was linked with, and Marline's forms.

    ranks_bound.py [--prefix build/release] [--compiler clang19] [--ranks N] [--size N] [--cycles N] [--tasks N]
                   [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ELAPSED = re.compile(r"^elapsed_s (\S+) s$", re.MULTILINE)
MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, default=Path("build/release"), help="Marline, and apps/ beside it")
    parser.add_argument("--compiler", default="clang19", help="whose program (clang19)")
    parser.add_argument("--ranks", type=int, default=8, help="a cube, at least as many as cores (8)")
    parser.add_argument("--size", type=int, default=20, help="elements along an edge of each rank's cube (20)")
    parser.add_argument("--cycles", type=int, default=50, help="(50)")
    parser.add_argument("--tasks", type=int, default=2, help="per loop (2)")
    parser.add_argument("--rounds", type=int, default=15, help="(15)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1")
    if options.ranks < len(os.sched_getaffinity(0)):
        parser.error(f"--ranks {options.ranks}: fewer than the {len(os.sched_getaffinity(0))} cores, which it is about")
    return options


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._program = str(options.prefix / "apps" / f"lulesh-{options.compiler}-openmpi")
        self._words = ["-s", str(options.size), "-i", str(options.cycles)]
        # Open MPI does not start for root without being told so twice.
        self._environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                                 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # fmt: skip

    def round(self) -> dict[str, float]:
        ranks = str(self._options.ranks)
        grain = ["-tel", str(self._options.tasks), "-tnl", str(self._options.tasks), "--mode", "barrier"]
        marline = [str(self._options.prefix / "bin" / "marline"), "run", "-n", ranks, "-t", "1", "--"]
        found = {
            "kernels alone": self._bound(),
            "for, its own runtime": self._timed(*MPIRUN, "-n", ranks, self._program, *self._words, "--form", "for"),
        }
        for form in ("for", "tasks", "persistent"):
            found[f"{form}, Marline"] = self._timed(*marline, self._program, *self._words, *grain, "--form", form)
        return found

    def _bound(self) -> float:
        cores = sorted(os.sched_getaffinity(0))
        alone = [self._start("taskset", "-c", str(core), self._program, *self._words, "--form", "serial")
                 for core in cores]  # fmt: skip
        times = [elapsed(process) for process in alone]
        return statistics.mean(times) * self._options.ranks / len(cores)

    def _timed(self, *words: str) -> float:
        return elapsed(self._start(*words))

    def _start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(words, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def elapsed(process: subprocess.Popen[str]) -> float:
    out, errors = process.communicate()
    found = ELAPSED.search(out)
    if process.returncode != 0 or found is None:
        sys.exit(f"ranks_bound: {' '.join(process.args)}: status {process.returncode}, no time\n{errors}")
    return float(found[1])


def main() -> None:
    options = parse()
    bench = Bench(options)
    rounds = [bench.round() for _ in range(options.rounds)]
    print(f"{options.ranks} ranks of {options.size}^3 elements on {len(os.sched_getaffinity(0))} cores, "
          f"{options.cycles} cycles, {options.tasks} tasks per loop, medians of {options.rounds} rounds")  # fmt: skip
    for name in rounds[0]:
        times = [each[name] for each in rounds]
        ratio = statistics.median(each[name] / each["kernels alone"] for each in rounds)
        print(f"{name:22} {statistics.median(times):7.3f} s  {ratio:5.2f}")


if __name__ == "__main__":
    main()
