#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine that others use, too: packaged programs of GCC's runtime, alone and beside processes that compute all the
time, under libgomp that spins while it waits (active), libgomp that sleeps (passive), and Marline as it is.

    bench/beside_load.py --prefix build/release                 # IQ-TREE 2 and Clustal Omega, on all usable CPUs
    bench/beside_load.py --prefix build/release --busy 2 --rounds 25 --markdown docs/results/beside-load.md

Which of libgomp's two ways is better depends on the load, which a user does not know beforehand. So Marline is compared
with the better of both: the ratio of the medians, with its 95 % bootstrap interval. In each round every program runs
once under each runtime, in an order that is drawn; the runs beside the load follow the runs without it.

The programs come from the distribution (Debian: `apt-get install iqtree clustalo`); one that is missing is left out,
and a line says so. Their input is made here, from a fixed seed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from marline.layout import Layout  # noqa: E402  (the path above is what finds it)
from marline.study.evaluate.statistics import Ratio, ratio  # noqa: E402
from marline.study.measure.launch import own_environment  # noqa: E402

ACTIVE, PASSIVE, MARLINE = "libgomp, active", "libgomp, passive", "Marline"
GOAL = 1.15
LIMIT = 300  # seconds of a run


@dataclass(frozen=True)
class Program:
    command: str  # as installed
    letters: str  # of the sequences
    sequences: int
    length: int
    words: Callable[[Path, Path, int], list[str]]  # input, folder for output, threads


PROGRAMS = {
    "IQ-TREE": Program("iqtree2", "ACGT", 16, 1500, lambda given, made, threads: [
        "-s", str(given), "-m", "GTR+G", "-T", str(threads), "-seed", "1", "--prefix", str(made / "tree"), "--redo",
        "--quiet"]),
    "Clustal Omega": Program("clustalo", "ACDEFGHIKLMNPQRSTVWY", 130, 200, lambda given, made, threads: [
        "-i", str(given), "-o", str(made / "aligned"), "--force", "--iterations", "1", "--threads", str(threads)]),
}  # fmt: skip


def write_sequences(program: Program, path: Path) -> None:
    """Descendants of one sequence: each is one before it, of which every twelfth letter has changed."""
    draw = np.random.default_rng(1)
    alphabet = np.array(list(program.letters))
    family = [draw.integers(0, len(alphabet), program.length)]
    while len(family) < program.sequences:
        child = family[draw.integers(len(family))].copy()
        changed = draw.random(program.length) < 1 / 12
        child[changed] = draw.integers(0, len(alphabet), int(changed.sum()))
        family.append(child)
    path.write_text("".join(f">s{i}\n{''.join(alphabet[one])}\n" for i, one in enumerate(family)), encoding="ascii")


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that compute and do nothing else."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def environment(runtime: str, threads: int, layout: Layout, proof: Path) -> dict[str, str]:
    own = own_environment() | {"OMP_NUM_THREADS": str(threads)}
    if runtime == MARLINE:
        return own | {"LD_LIBRARY_PATH": str(layout.compat), "LD_PRELOAD": str(layout.runtime),
                      "MARLINE_PROOF": str(proof)}  # fmt: skip
    return own | {"OMP_WAIT_POLICY": "active" if runtime == ACTIVE else "passive"}


def seconds(words: list[str], added: dict[str, str], proof: Path) -> float:
    """Ends this program if the run fails, or if Marline was to be its runtime and was not."""
    begin = time.perf_counter()
    result = subprocess.run(words, env=added, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                            check=False)  # fmt: skip
    elapsed = time.perf_counter() - begin
    if result.returncode != 0:
        lines = (result.stderr + result.stdout).strip().splitlines() or ["no message"]
        sys.exit(f"beside_load: {' '.join(words)}: status {result.returncode}: {lines[-1]}")
    if "MARLINE_PROOF" in added:
        if not proof.is_file() or "refused" in proof.read_text() or "loaded" not in proof.read_text():
            sys.exit(f"beside_load: {words[0]} did not run on Marline")
        proof.unlink()
    return elapsed


# Seconds of the runs, by program, processes beside it, and runtime.
Found = dict[tuple[str, int, str], list[float]]


def measure(options: argparse.Namespace, programs: dict[str, Program], folder: Path) -> Found:
    layout, proof = Layout(options.prefix.resolve()), folder / "proof"
    found: Found = {}
    order = random.Random(1)
    for name, program in programs.items():
        write_sequences(program, folder / program.command)
    for number in range(options.rounds + 1):  # the first warms up
        for busy in (0, options.busy):
            with load(busy):
                for name, program in programs.items():
                    words = [program.command, *program.words(folder / program.command, folder, options.threads)]
                    for runtime in order.sample((ACTIVE, PASSIVE, MARLINE), 3):
                        taken = seconds(words, environment(runtime, options.threads, layout, proof), proof)
                        if number > 0:
                            found.setdefault((name, busy, runtime), []).append(taken)
        print(f"\r{number}/{options.rounds} rounds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def against_better(found: Found, name: str, busy: int) -> Ratio:
    better = min((ACTIVE, PASSIVE), key=lambda runtime: float(np.median(found[name, busy, runtime])))
    result = ratio(found[name, busy, MARLINE], found[name, busy, better], f"{name} {busy}", better)
    assert result is not None  # at least two rounds, and times are positive
    return result


def table(found: Found, options: argparse.Namespace) -> list[str]:
    lines = ["| program | busy processes beside it | libgomp, active: s | libgomp, passive: s | Marline: s | Marline "
             f"over the better | at most {GOAL} |", "|---|---:|---:|---:|---:|---|---|"]  # fmt: skip
    for name, busy in dict.fromkeys(key[:2] for key in found):
        medians = " | ".join(f"{np.median(found[name, busy, one]):.2f}" for one in (ACTIVE, PASSIVE, MARLINE))
        over = against_better(found, name, busy)
        verdict = "yes" if over.high <= GOAL else "in part" if over.low <= GOAL else "no"
        lines.append(f"| {name} | {busy} | {medians} | {over.value:.2f} "
                     f"[{over.low:.2f}, {over.high:.2f}] | {verdict} |")
    return [f"{options.threads} threads, {len(os.sched_getaffinity(0))} CPUs, {options.rounds} rounds", "", *lines]


def main() -> int:
    parser = argparse.ArgumentParser(description="Packaged programs on a machine that others use, too.")
    parser.add_argument("--prefix", type=Path, required=True, help="an installation or a build folder of Marline")
    parser.add_argument("--rounds", type=int, default=15, help="at least 2 (15)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(the usable CPUs)")
    parser.add_argument("--busy", type=int, default=1, help="processes that compute beside the program (1)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    options = parser.parse_args()
    if options.rounds < 2 or options.threads < 1 or options.busy < 1:
        parser.error("--rounds must be at least 2, --threads and --busy at least 1")
    programs = {name: program for name, program in PROGRAMS.items() if shutil.which(program.command)}
    for name in PROGRAMS.keys() - programs.keys():
        print(f"beside_load: {PROGRAMS[name].command} is not installed: {name} is left out", file=sys.stderr)
    if not programs:
        return 1
    with tempfile.TemporaryDirectory() as temporary:
        lines = table(measure(options, programs, Path(temporary)), options)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
