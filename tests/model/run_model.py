#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a Promela model exhaustively with spin, and says whether the outcome is the expected one.

    run_model.py --spin SPIN --cc CC --expect pass|fail MODEL [-DNAME=VALUE ...]

`pass`: the search was complete and found no error. `fail`: an error was found (a mutant must not survive). Anything
else, an incomplete search among it, is an error of the test. Exit 0 only if the outcome is the expected one.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DEPTH = 2_000_000
MEMORY_MIB = 2048
LARGE_MIB = 12288
TRUNCATED = ("max search depth too small", "Search not completed", "out of memory", "hash table full")


def run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {result.returncode}\n{result.stdout}")
    return result.stdout


def explain(model: Path, defines: list[str], spin: str, folder: Path) -> str:
    """The last steps of the error trail, for the log."""
    trail = run([spin, "-t", "-p", "-g", *defines, str(model)], folder).splitlines()
    return "\n".join(trail[-60:])


def check(options: argparse.Namespace, defines: list[str], folder: Path) -> int:
    model = options.model.resolve()
    run([options.spin, "-a", *defines, str(model)], folder)
    # -O0: compiling spin's verifier with optimisation takes longer than most of these searches.
    flags = ["-O2", "-DCOLLAPSE", f"-DMEMLIM={LARGE_MIB}"] if options.large else ["-O0", f"-DMEMLIM={MEMORY_MIB}"]
    run([options.cc, *flags, "-w", "-DSAFETY", "-o", "pan", "pan.c"], folder)
    report = run([str(folder / "pan"), f"-m{DEPTH}"], folder)
    print(report)
    errors = re.search(r"errors: (\d+)", report)
    states = re.search(r"(\d+) states, stored", report)
    if not errors or not states:
        print("run_model: spin's report is not understood")
        return 1
    outcome = "fail" if int(errors[1]) > 0 else "pass"
    if outcome == "pass" and any(text in report for text in TRUNCATED):
        print("run_model: the search is incomplete: raise DEPTH or MEMORY_MIB, or make the model smaller")
        return 1
    if outcome != options.expect:
        print(f"run_model: expected {options.expect}, got {outcome}")
        if outcome == "fail":
            print(explain(model, defines, options.spin, folder))
        return 1
    print(f"run_model: {model.name} {' '.join(defines)}: {outcome} as expected, {states[1]} states")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spin", default="spin")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--large", action="store_true", help="a search of minutes, with more memory")
    parser.add_argument("--expect", choices=["pass", "fail"], required=True)
    parser.add_argument("model", type=Path)
    options, defines = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        return check(options, defines, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
