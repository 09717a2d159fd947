#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why LULESH's tasks are fast: how much memory its loops and its tasks move, as recorded on two threads, and as 16 and
24 cores of one domain would run the recorded graph (docs/guide/reuse.md says how it is counted).

    reuse.py [--prefix build/release] [--size N] [--tasks N] [--private SIZE] [--shared SIZE] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

CORES = (2, 16, 24)
ITERATIONS = 2  # the first, in which nothing is cached, does not count
SIMULATED = {
    "depth first, known graph": ("--creation-ns", 10),
    "breadth first, known graph": ("--creation-ns", 10, "--order", "breadth"),
    "depth first, 18 us per creation": ("--creation-ns", 18000),  # MPC's price
}
MIB = 1 << 20


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, default=Path("build/release"), help="Marline, and apps/ beside it")
    parser.add_argument("--size", default="24", help="elements along an edge (24)")
    parser.add_argument("--tasks", default="384", help="tasks per loop (384)")
    parser.add_argument("--private", default="128K", help="each core's cache (128K)")
    parser.add_argument("--shared", default="4M", help="the cache of all (4M)")
    parser.add_argument("--markdown", type=Path, help="write the page there instead of printing it")
    return parser.parse_args()


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options, self._folder = options, folder
        self._marline = [str(options.prefix / "bin" / "marline")]
        self._program = str(options.prefix / "apps" / "lulesh-gcc12-mpich")
        self._words = ["-s", options.size, "-i", str(ITERATIONS), "-tel", options.tasks, "-tnl", options.tasks]

    def record(self, form: str) -> Path:
        trace = self._folder / form
        run([*self._marline, "run", "-t", "2", "--trace", str(trace), "--", self._program, *self._words,
             "--form", form])  # fmt: skip
        return trace

    def footprint(self, form: str, threads: int) -> Path:
        path = self._folder / f"footprint-{form}-{threads}"
        run([self._program, *self._words, "--form", form, "--footprint", str(path)], OMP_NUM_THREADS=str(threads))
        return path

    def reuse(self, *words: object) -> dict:
        caches = ["--private", self._options.private, "--shared", self._options.shared]
        return json.loads(run([*self._marline, "reuse", "--json", *caches, *map(str, words)]))


def run(words: list[str], **changes: str) -> str:
    result = subprocess.run(words, env=os.environ | changes, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"reuse: {' '.join(words)}: status {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def rows(bench: Bench) -> list[tuple[str, dict]]:
    table, tasks, persistent = bench.footprint("tasks", 2), bench.record("tasks"), bench.record("persistent")
    found = [(f"`for`, {n} cores", bench.reuse(bench.footprint("for", n), "--loops")) for n in CORES]
    found += [("`tasks`, 2 cores, as recorded", bench.reuse(table, tasks)),
              ("`persistent`, 2 cores, as recorded", bench.reuse(table, persistent))]  # fmt: skip
    for cores in CORES[1:]:
        for name, words in SIMULATED.items():
            found.append((f"tasks, {cores} cores, {name}", bench.reuse(table, persistent, "--cores", cores, *words)))
    return found


def page(options: argparse.Namespace, found: list[tuple[str, dict]]) -> str:
    lines = ["# How much memory LULESH's loops and tasks move", "",
             "Made by `bench/lulesh/reuse.py`; not edited. [How it is counted](../guide/reuse.md).", "",
             f"`-s {options.size}`, {options.tasks} tasks per loop, caches of {options.private} for each core and "
             f"{options.shared} for all, MiB per iteration. Rows as recorded are of one run on two threads of this "
             f"machine ({platform.machine()}, load {os.getloadavg()[0]:.1f}); rows of 16 and 24 cores are simulated "
             "from that run's graph and its tasks' lengths. `from memory` depends little on either.", "",
             "| schedule | into private caches | from other cores | from the shared cache | from memory |",
             "|---|---:|---:|---:|---:|"]  # fmt: skip
    for label, document in found:
        of = document["lines"]
        shared = of["private"] - of["from_cores"] - of["from_memory"]
        mib = [count * document["line_bytes"] / MIB for count in (of["private"], of["from_cores"], shared,
                                                                of["from_memory"])]  # fmt: skip
        lines.append(f"| {label} | " + " | ".join(f"{value:.1f}" for value in mib) + " |")
    touched = found[0][1]["lines"]["touched"] * found[0][1]["line_bytes"] / MIB
    return "\n".join([*lines, "", f"An iteration touches {touched:.1f} MiB."]) + "\n"


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        text = page(options, rows(Bench(options, Path(folder))))
    if options.markdown:
        options.markdown.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
