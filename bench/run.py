#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the OpenMP runtimes on the microbenchmarks: `bench/run.py [--quick] [--only NAME ...]`.

Runs the programs that the build made (it builds nothing) under libgomp, libomp and Marline in turns, so that slow
drifts of the machine meet all alike, and prints medians and ratios as a table; all samples go to a JSON file. One
program runs at a time. Ends with status 1 if any program failed or hung, and never counts such a run as a measurement.
"""
from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import machine
import report
from catalog import GOAL_THREADS, HANDOVER, Benchmark
from process import (HANG, OK, Outcome, Variant, environment, execute, judge, marline_library, mpi_command,
                     variants)
from report import Results, Series

ROOT = Path(__file__).resolve().parent.parent
BUSY_LOAD = 0.5  # more than this in /proc/loadavg is worth a note next to the figures


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares libgomp, libomp and Marline on the microbenchmarks.")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build tree (build/release)")
    parser.add_argument("--threads", type=int, default=GOAL_THREADS, help="threads of the OpenMP team (2)")
    parser.add_argument("--repeats", type=int, help="turns of all variants (7; quick: 3)")
    parser.add_argument("--quick", action="store_true", help="shorter samples and fewer turns: under a minute")
    parser.add_argument("--limit", type=float, default=30, help="seconds after which a run counts as a hang (30)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these programs or figures only")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", help="where all samples go")
    parsed = parser.parse_args(arguments)
    parsed.repeats = parsed.repeats or (3 if parsed.quick else 7)
    parsed.sample_ms = 3 if parsed.quick else 20
    parsed.build = parsed.build.resolve()
    if parsed.threads < 1 or parsed.repeats < 1 or parsed.limit <= 0:
        parser.error("--threads, --repeats and --limit must be positive")
    try:
        parsed.benchmarks = report.known_benchmarks(parsed.only)
    except ValueError as error:
        parser.error(str(error))
    return parsed


def program(build: Path, benchmark: Benchmark, variant: Variant) -> Path:
    return build / "bench" / "micro" / f"micro-{benchmark.name}-{variant.compiler}"


def why_not(build: Path, benchmark: Benchmark, variant: Variant) -> str:
    """Empty if the program can run under the variant, else what is missing."""
    if variant.runtime == "marline" and not marline_library(build).exists():
        return f"{marline_library(build)} is not there"
    path = program(build, benchmark, variant)
    if not path.exists():
        return f"{path.name} is not built"
    if benchmark.mpi_ranks:
        if shutil.which("mpirun.openmpi") is None:
            return "mpirun.openmpi is not installed"
        library = build / "lib" / "marline" / "openmpi" / "libmarline-mpi.so"
        if variant.runtime == "marline" and not library.exists():
            return f"{library} is not there"
    return ""


def run_once(chosen: argparse.Namespace, benchmark: Benchmark, variant: Variant) -> Outcome:
    threads = 1 if benchmark.mpi_ranks else chosen.threads
    env = environment(variant, chosen.build, threads, mpi=benchmark.mpi_ranks > 0)
    command = [str(program(chosen.build, benchmark, variant)), "--ms", str(chosen.sample_ms)]
    if benchmark.mpi_ranks:
        command = mpi_command(benchmark.mpi_ranks, env, command)
    outcome = judge(*execute(command, env, chosen.limit), chosen.limit, variant, chosen.build)
    missing = [figure for figure in benchmark.figures if figure not in outcome.figures]
    if outcome.status == OK and missing:
        return Outcome("failed", f"did not print {', '.join(missing)}")
    return outcome


def measure_handover(chosen: argparse.Namespace, results: Results) -> None:
    path = chosen.build / "bench" / "micro" / f"micro-{HANDOVER}"
    if not path.exists():
        results.handover_problem = f"{path} is not there: build the target micro-{HANDOVER}"
        return
    env = environment(None, chosen.build, chosen.threads)
    outcome = judge(*execute([str(path), "--ms", str(chosen.sample_ms)], env, chosen.limit), chosen.limit, None,
                    chosen.build)
    if outcome.status == OK and HANDOVER in outcome.figures:
        results.handover.append(outcome.figures[HANDOVER][0])
    else:
        results.handover_problem = f"{HANDOVER}: {outcome.status}: {outcome.reason or 'printed no such figure'}"


def take_turns(chosen: argparse.Namespace, results: Results) -> None:
    for turn in range(chosen.repeats):
        measure_handover(chosen, results)
        for benchmark in results.benchmarks:
            for variant in results.variants:
                series = results.series[benchmark.name][variant.name]
                # A hang costs the whole limit and will not go away: one is enough to report it.
                if series.skipped or any(o.status == HANG for o in series.outcomes):
                    continue
                series.outcomes.append(run_once(chosen, benchmark, variant))
        print(f"turn {turn + 1} of {chosen.repeats} done", file=sys.stderr, flush=True)


def print_skipped(results: Results) -> None:
    for variant in results.variants:
        reasons: dict[str, list[str]] = {}
        for benchmark in results.benchmarks:
            reason = results.series[benchmark.name][variant.name].skipped
            if reason:
                reasons.setdefault(reason, []).append(benchmark.name)
        for reason, names in reasons.items():
            which = "all" if len(names) == len(results.benchmarks) else ", ".join(names)
            print(f"skipped: {variant.name} ({which}): {reason}")


def print_report(results: Results, description: dict[str, object], seconds: float) -> None:
    h = results.h()
    print(machine.one_line(description))
    print(f"h (cache-line hand-over): {'unknown' if h is None else f'{h:.0f} ns'}; {results.threads} threads; "
          f"medians ± median deviation; {seconds:.0f} s")
    if machine.load(description) > BUSY_LOAD:
        print("NOTE: the machine was busy before the run: other processes take part in these figures")
    print(report.table(results))
    for line in report.inlined_lines(results):
        print(line)
    print_skipped(results)
    for problem in results.problems():
        print(f"PROBLEM: {problem}")


def write_json(chosen: argparse.Namespace, results: Results, description: dict[str, object]) -> None:
    settings = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "quick": chosen.quick,
                "threads": chosen.threads, "repeats": chosen.repeats, "sample_ms": chosen.sample_ms,
                "limit_s": chosen.limit}
    document = report.document(results, description, settings)
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"samples: {chosen.json}")


def main(arguments: list[str]) -> int:
    chosen = options(arguments)
    order = variants()
    series = {b.name: {v.name: Series(skipped=why_not(chosen.build, b, v)) for v in order} for b in chosen.benchmarks}
    if all(s.skipped for by_variant in series.values() for s in by_variant.values()):
        print(f"bench: nothing to run in {chosen.build}: build the benchmarks first (make build)", file=sys.stderr)
        return 2
    results = Results(order, chosen.benchmarks, chosen.threads, series)
    description = machine.describe(ROOT)
    start = time.monotonic()
    take_turns(chosen, results)
    seconds = time.monotonic() - start
    print_report(results, description, seconds)
    write_json(chosen, results, description)
    return 1 if results.problems() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
