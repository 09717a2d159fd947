#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good `marline report --what-if` is: predictions first, the runs that they are about afterwards.

    bench/what_if.py predict --prefix build/release     # records runs; writes predictions.jsonl, to be committed
    bench/what_if.py run     --prefix build/release     # runs what was predicted; writes measured.jsonl
    bench/what_if.py report  --markdown docs/results/what-if.md

A pair is a run and a changed one: more or fewer threads, a kernel that takes longer (bench/slower), messages that take
longer (bench/delay), creation of tasks that takes longer (an option of LULESH). The model predicts the changed run from
a trace of the first. The ratio of both is judged: in `run` both take turns, and the prediction is the ratio times the
median of the unchanged runs. So a machine that is faster today than when the predictions were made does not count.

What was chosen in the model was chosen on Cholesky, HPCCG and n-body (fitted). LULESH and halo are judged. Two guesses
are compared with the model: Amdahl's (the thread time that the change adds or saves is divided by the threads), and the
longest path alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(BUILD / "lib" / "marline" / "python"))  # beside the library that the package loads

from marline.study.measure.machine import cpu_model  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.model import TASKWAIT  # noqa: E402
from marline.trace.native import Arrows, path_lengths  # noqa: E402
from marline.trace.read.reader import read_trace  # noqa: E402
from marline.trace.what_if import change, language, model, waits  # noqa: E402, F401  model: its pass
from marline.trace.what_if.predict import WhatIf  # noqa: E402
from marline.units import duration  # noqa: E402

DATA = ROOT / "docs" / "results" / "what_if"
PREDICTIONS, MEASURED = "predictions.jsonl", "measured.jsonl"
FITTED, JUDGED = "fitted", "judged"
GOALS = (("median error", 0.10), ("error of nine in ten", 0.25))
# Tasks that become slower. Of LULESH all do.
LONGEST, ALL = "longest", "*"
MOST_CONSTRUCTS = 64  # of bench/slower
STILL = 0.02  # a change of less has no sign
LIMIT = 300  # seconds of a run


@dataclass(frozen=True)
class Way:
    """How a program is run. `slower`: a factor, and which tasks take so many times as long."""

    program: str
    words: tuple[str, ...]
    ranks: int = 1
    threads: int = 1
    delay_us: int = 0
    slower: tuple[float, str] = (1.0, "")


@dataclass(frozen=True)
class Pair:
    role: str
    before: Way
    after: Way
    what_if: str

    @property
    def name(self) -> str:
        one = self.before
        form = " ".join(one.words)
        return f"{one.program} {form}, {one.ranks} x {one.threads}" + (f", +{one.delay_us} us" if one.delay_us else "")


PROGRAMS = {
    FITTED: {
        "cholesky": [("-n", "2048", "-b", "128", "--no-check"), ("-n", "1536", "-b", "64", "--no-check")],
        "hpccg": [("--size", "48", "--tiles", "32", "--iterations", "30"),
                  ("--size", "32", "--tiles", "64", "--iterations", "50")],
        "nbody": [("--bodies", "4096", "--block", "256", "--steps", "5"),
                  ("--bodies", "2048", "--block", "64", "--steps", "10")],
    },
    JUDGED: {
        "lulesh": [("-s", "24", "-i", "20", "-q", "--form", "tasks", "-tel", "8", "-tnl", "8"),
                   ("-s", "24", "-i", "20", "-q", "--form", "tasks", "-tel", "32", "-tnl", "32"),
                   ("-s", "24", "-i", "20", "-q", "--form", "persistent", "-tel", "16", "-tnl", "16"),
                   ("-s", "24", "-i", "20", "-q", "--form", "for")],
        "halo": [("--rows", "512", "--columns", "2048", "--blocks", "16", "--iterations", "60"),
                 ("--rows", "256", "--columns", "1024", "--blocks", "8", "--iterations", "100"),
                 ("--form", "for", "--rows", "256", "--columns", "1024", "--iterations", "100")],
    },
}  # fmt: skip
EXCHANGE = {"cholesky", "hpccg", "nbody", "halo"}  # run on two ranks, too; LULESH needs eight, of two cores


def pairs() -> Iterator[Pair]:
    for role, programs in PROGRAMS.items():
        for program, forms in programs.items():
            for words in forms:
                yield from _pairs_of(role, Way(program, words))


def _pairs_of(role: str, one: Way) -> Iterator[Pair]:
    two = replace(one, threads=2)
    yield Pair(role, one, two, "threads 2")
    yield Pair(role, two, one, "threads 1")
    if one.program in EXCHANGE:
        ranks = replace(one, ranks=2)
        for delay in (300, 1000):
            yield Pair(role, ranks, replace(ranks, delay_us=delay), f"network +{delay}us")
        yield Pair(role, replace(ranks, delay_us=500), replace(ranks, delay_us=1500), "network +1000us")
    if one.program == "lulesh" and "for" not in one.words:
        for spent in (20, 100):
            slow = replace(two, words=(*two.words, "--creation-us", str(spent)))
            yield Pair(role, two, slow, f"creation +{spent}us")
    if "for" not in one.words:
        which = ALL if one.program == "lulesh" else LONGEST
        for factor in (2.0, 3.0):
            yield Pair(role, two, replace(two, slower=(factor, which)), f"{which} x{factor:g}")


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._prefix, self._folder = options.prefix.resolve(), folder
        self._repeats, self._number = options.repeats, 0

    def record(self, way: Way, numbers: list[int]) -> Analysis:
        """A recorded run. `numbers`: of the constructs that take longer."""
        self._number += 1
        trace = self._folder / f"run{self._number}"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        words = [str(self._prefix / "apps" / f"{way.program}-clang19-openmpi"), *way.words]
        front, behind = "", ""
        if numbers:
            environment["SLOWER_TASKS"] = f"{way.slower[0]:g}:{','.join(map(str, numbers))}"
            front = f"{self._prefix / 'bench' / 'slower' / 'libslower-tasks.so'}:"
        if way.ranks > 1:  # also without a delay: what the library itself costs does not count
            environment["MPI_DELAY_US"] = str(way.delay_us)
            behind = f":{self._prefix / 'bench' / 'delay' / 'openmpi' / 'libmpi-delay.so'}"
        if front or behind:
            words = ["sh", "-c", f'LD_PRELOAD="{front}$LD_PRELOAD{behind}" exec "$@"', "sh", *words]
        command = [str(self._prefix / "bin" / "marline"), "run", "-n", str(way.ranks), "-t", str(way.threads), "--mpi",
                   "openmpi", "--trace", str(trace), "--", *words]  # fmt: skip
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        if ended.returncode:
            sys.exit(f"what_if.py: {' '.join(command)}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
        of = Analysis(read_trace(trace))
        shutil.rmtree(trace)
        return of

    def several(self, way: Way, numbers: list[int]) -> list[Analysis]:
        """By makespan, the shortest first."""
        return sorted((self.record(way, numbers) for _ in range(self._repeats)), key=makespan)


def makespan(of: Analysis) -> int:
    return of["breakdown"].makespan


def longest_kind(of: Analysis) -> tuple[str, int]:
    """The kind of task with most work among those whose tasks seldom call MPI, and the place of its construct in the
    order of first creations in the lowest rank."""
    tasks, kinds, calls = of["tasks"], of["kinds"], of["calls"]
    work = np.bincount(kinds.of_task, weights=tasks.running, minlength=len(kinds.names))
    call = np.unique(tasks.index(calls.task))
    calling = np.bincount(kinds.of_task[call[call >= 0]], minlength=len(kinds.names))
    work[2 * calling > np.bincount(kinds.of_task, minlength=len(kinds.names))] = 0
    kind = int(np.argmax(work))
    # A taskwait with dependences is a task in the trace, but no block that a compiler asks for.
    mine = np.flatnonzero((tasks.rank == tasks.rank.min()) & ((tasks.flags & TASKWAIT) == 0))
    created = np.full(len(kinds.names), np.iinfo(np.int64).max)
    np.minimum.at(created, kinds.of_task[mine], tasks.created[mine])
    return kinds.names[kind], int(np.count_nonzero(created < created[kind])) + 1


def guesses(of: Analysis, changes: list[language.Change]) -> dict[str, float]:
    """The changed run's time over the unchanged one's: by Amdahl's law, and by the longest paths of both."""
    run = of["scheduler_model"]
    before, after = run.program, change.apply(of, run, changes)
    thread_time = makespan(of) * before.threads.sum()
    own = np.where(run.row >= 0, 1, 0)[np.maximum(run.task_of, 0)] * (run.task_of >= 0)
    tasks = float((before.work * own).sum())
    kept = before.threads.sum() / after.threads.sum()
    late = (after.delay - before.delay)[run.waits.group == waits.NETWORK]
    more = float((after.work - before.work).sum() + late.sum())
    path = [longest(one) for one in (before, after)]
    return {"amdahl": 1 - tasks / thread_time * (1 - kept) + more / thread_time, "path": path[1] / max(path[0], 1)}


def longest(program: Any) -> int:
    points = len(program.work)
    pieces = np.setdiff1d(np.arange(program.first[0], points), program.first[1:] - 1, assume_unique=True)
    found = path_lengths(Arrows(points, np.r_[pieces, program.source], np.r_[pieces + 1, program.sink],
                                np.r_[program.work[pieces], program.delay]))  # fmt: skip
    return int(found.max(initial=0))


def predict(options: argparse.Namespace, bench: Bench) -> None:
    known: dict[Way, Analysis] = {}
    options.data.mkdir(parents=True, exist_ok=True)
    with (options.data / PREDICTIONS).open("w", encoding="utf-8") as file:
        for pair in chosen(options):
            if pair.before not in known:
                runs = bench.several(pair.before, [])
                known[pair.before] = runs[len(runs) // 2]
            of = known[pair.before]
            kind, number = longest_kind(of) if pair.after.slower[1] == LONGEST else ("", 0)
            text = pair.what_if.replace(LONGEST, kind.translate({ord(letter): "?" for letter in "[],"}))
            numbers = {LONGEST: [number], ALL: list(range(1, MOST_CONSTRUCTS + 1))}.get(pair.after.slower[1], [])
            changes = language.parse(text)
            found = WhatIf(of).predict(changes)
            line = {"role": pair.role, "name": pair.name, "before": asdict(pair.before), "after": asdict(pair.after),
                    "what_if": text, "slower": numbers, "recorded_ns": found.measured, "model_ns": found.as_is,
                    "ratio": found.changed / found.as_is, **guesses(of, changes)}  # fmt: skip
            file.write(json.dumps(line) + "\n")
            file.flush()
            miss = found.as_is / found.measured - 1
            print(f"{pair.name}: {text}: {line['ratio']:.3f} (model of the run {miss:+.1%})", flush=True)


def chosen(options: argparse.Namespace) -> list[Pair]:
    all_pairs = list(pairs())
    return [pair for pair in all_pairs if options.only in pair.name]


def way_of(words: dict[str, Any]) -> Way:
    return Way(**{**words, "words": tuple(words["words"]), "slower": tuple(words["slower"])})


def run(options: argparse.Namespace, bench: Bench) -> None:
    lines = read(options.data / PREDICTIONS)
    with (options.data / MEASURED).open("w", encoding="utf-8") as file:
        for line in lines:
            if options.only not in line["name"]:
                continue
            before, after = way_of(line["before"]), way_of(line["after"])
            times: tuple[list[int], list[int]] = ([], [])
            for _ in range(options.repeats):
                times[0].append(makespan(bench.record(before, [])))
                times[1].append(makespan(bench.record(after, line["slower"])))
            file.write(json.dumps({"name": line["name"], "what_if": line["what_if"], "before_ns": times[0],
                                   "after_ns": times[1]}) + "\n")  # fmt: skip
            file.flush()
            print(f"{line['name']}: {line['what_if']}: {np.median(times[1]) / np.median(times[0]):.3f}, predicted "
                  f"{line['ratio']:.3f}", flush=True)  # fmt: skip


def read(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        step = "run" if path.name == MEASURED else "predict"
        sys.exit(f"what_if.py: {path}: {error.strerror}: run `what_if.py {step}` first")


@dataclass
class Row:
    """Times in ns; guesses by name, as errors."""

    line: dict[str, Any]
    before: float
    after: float
    errors: dict[str, float] = field(default_factory=dict)

    @property
    def has_sign(self) -> bool:
        return abs(self.after / self.before - 1) >= STILL

    def is_right(self, guess: str) -> bool:
        return (self.line[guess] - 1) * (self.after / self.before - 1) > 0


GUESSES = {"ratio": "the model", "amdahl": "Amdahl", "path": "the longest path"}


def rows(options: argparse.Namespace) -> list[Row]:
    predictions = {(line["name"], line["what_if"]): line for line in read(options.data / PREDICTIONS)}
    found = []
    for line in read(options.data / MEASURED):
        row = Row(predictions[line["name"], line["what_if"]], *(float(np.median(line[key])) for key in
                                                               ("before_ns", "after_ns")))  # fmt: skip
        row.errors = {guess: abs(row.line[guess] * row.before / row.after - 1) for guess in GUESSES}
        found.append(row)
    return found


def page(all_rows: list[Row], repeats: int) -> Iterator[str]:
    yield "# What-if, beside the runs"
    yield ""
    yield f"""How far predictions of `marline report --what-if` were from the runs that they are about.
`bench/what_if.py predict` made them from recorded runs and wrote [predictions.jsonl](what_if/predictions.jsonl), which
was committed before `run` measured. Each figure is the median of {repeats} runs; runs without and with the change took
turns. An error is the distance from the measured time, as a part of it. A sign is right if the run became longer, or
shorter, as predicted; changes below {STILL:.0%} have none. Creation takes longer by LULESH's option `--creation-us`,
tasks by `bench/slower`, messages by `bench/delay`."""
    yield ""
    yield f"Machine: {cpu_model()}, {os.cpu_count()} CPUs, Linux {platform.release()}."
    for role in (JUDGED, FITTED):
        mine = [row for row in all_rows if row.line["role"] == role]
        if mine:
            yield from _of_role(role, mine)


def _of_role(role: str, mine: list[Row]) -> Iterator[str]:
    yield ""
    yield f"## {role.capitalize()}: {len(mine)} pairs"
    yield ""
    yield "| | median error | error of nine in ten | signs right |"
    yield "|---|---:|---:|---:|"
    signed = [row for row in mine if row.has_sign]
    for guess, title in GUESSES.items():
        errors = [row.errors[guess] for row in mine]
        right = sum(row.is_right(guess) for row in signed)
        yield (f"| {title} | {np.median(errors):.1%} | {np.percentile(errors, 90):.1%} | {right} of {len(signed)} |")
    yield "| goal | " + " | ".join(f"{goal:.0%}" for _, goal in GOALS) + " | all |"
    yield ""
    yield "| run, ranks x threads | change | before | after | predicted | error | Amdahl | path | model of the run |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in mine:
        line = row.line
        yield (f"| {line['name']} | {line['what_if']} | {duration(row.before)} | {duration(row.after)} | "
               f"{duration(line['ratio'] * row.before)} | {row.errors['ratio']:.1%} | {row.errors['amdahl']:.1%} | "
               f"{row.errors['path']:.1%} | {line['model_ns'] / line['recorded_ns'] - 1:+.1%} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("predict", "run", "report"))
    parser.add_argument("--prefix", type=Path, default=BUILD, help="the build tree, with apps/ and bench/")
    parser.add_argument("--data", type=Path, default=DATA, help="where predictions and measurements lie")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the median counts (5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="pairs with this text in their names")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="of report: write the page there")
    options = parser.parse_args()
    if options.step == "report":
        text = "\n".join(page(rows(options), options.repeats)) + "\n"
        print(text) if options.markdown is None else options.markdown.write_text(text, encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        (predict if options.step == "predict" else run)(options, Bench(options, Path(folder)))


if __name__ == "__main__":
    main()
