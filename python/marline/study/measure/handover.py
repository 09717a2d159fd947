# SPDX-License-Identifier: Apache-2.0
"""Where the processors lie: the time that a cache line takes from one of them to the other, measured before each run
and after the last, and what it says of the run.

A hypervisor moves virtual processors between parts of the chip. Whatever passes between two threads then takes several
times as long for some minutes, and a median over both modes is of neither. The least time of a file, but for single
ones below it, is what near processors need; a run is near if both of its times are at most twice that, far if both are
above, else moved.

The invariant: in a study with `handover: true` every run has both times. Where they cannot be measured (one usable
processor, no build tree) the study is therefore refused, not measured without: the results file would hold runs of an
unknown mode, and mix what the key keeps apart."""

from __future__ import annotations

import random
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any, NoReturn

from marline.errors import Refusal, say
from marline.study.declare.document import Figure, Study
from marline.study.declare.plan import TIMED, TRACED, WARMUP, Point, Run, rounds, shuffled
from marline.study.measure import launch
from marline.study.measure.verdict import OK, first_line, read_figure

NEAR, FAR, MOVED = "near", "far", "moved"
MODES = (NEAR, FAR, MOVED)
TWENTIETH = 20  # so large a part of the times may lie below the one that is taken for the least
NEAR_TIMES = 2.0  # the least time; the modes of machines that have two lie a factor of four or more apart
FIGURE = Figure("handover", "ns")
PROGRAM = "micro-handover"
SAMPLE_MS = "1"  # a sample is then as short as it can be; the program takes 10 to 50 ms for its eight
LIMIT_SECONDS = 60
REPETITIONS = 2  # of each run that was not near


class HandOver:
    """Asks the program of the build tree, which is built first if it is missing."""

    def __init__(self, study: Study, prefix: Path) -> None:
        self._study = study
        self._program = prefix / "bench" / "micro" / PROGRAM
        if not self._program.is_file():
            say(f"building {PROGRAM}")
            fault = launch.build(["cmake", "--build", str(prefix), "--target", PROGRAM], self._program.is_file)
            if fault:
                self._refuse(f"{PROGRAM} is not built ({fault})")

    def measure(self) -> float:
        """Nanoseconds. A failure is tried again once: a run that took an hour waits to be written down with this."""
        try:
            return self._measure()
        except Refusal:
            return self._measure()

    def _measure(self) -> float:
        try:
            result = subprocess.run([self._program, "--ms", SAMPLE_MS], env=launch.own_environment(), text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=False)
        except OSError as error:
            self._refuse(f"{self._program}: {error.strerror}")
        except subprocess.TimeoutExpired:
            self._refuse(f"{PROGRAM} did not end in {LIMIT_SECONDS} s")
        if result.returncode != 0:
            self._refuse(f"{PROGRAM} ended with status {result.returncode}: {first_line(result.stderr)}")
        value = read_figure(FIGURE, result.stdout)
        if isinstance(value, str):
            self._refuse(f"{PROGRAM} {value}")
        return value

    def _refuse(self, why: str) -> NoReturn:
        raise Refusal(f"{self._study.file}: 'handover: true', but that time cannot be measured: {why}; "
                      "take the key out to measure (all anew, with --fresh) without it")


class Modes:
    """Of the runs of one file; there is at least one. Pure."""

    def __init__(self, runs: list[dict[str, Any]]) -> None:
        times = sorted(value for run in runs for value in run["handover"])
        self._limit = NEAR_TIMES * times[max(1, len(times) // TWENTIETH)]  # one low value alone decides nothing
        self.runs: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}  # without the runs to warm up
        for run in runs:
            if run["kind"] != WARMUP:
                self.runs[self.of(run)].append(run)

    def of(self, run: dict[str, Any]) -> str:
        near = [value <= self._limit for value in run["handover"]]
        return NEAR if all(near) else MOVED if any(near) else FAR

    def mixed(self) -> bool:
        return bool(self.runs[FAR] or self.runs[MOVED])

    def times(self, mode: str) -> list[float]:
        return [value for run in self.runs[mode] for value in run["handover"]]

    def typical(self, mode: str) -> float | None:
        """The median of the mode's times."""
        return statistics.median(self.times(mode)) if self.runs[mode] else None


def repetitions(study: Study, points: list[Point], runs: list[dict[str, Any]]) -> list[Run]:
    """One more round, after the last, of the points with near runs in fewer than half of their rounds: so long as
    each run that was not near has been repeated twice at most. Their numbers go on where the rounds end, so that a
    study that is resumed knows them. A point with a bad run has no median anyway, and is left alone. Pure."""
    if not study.handover or not runs:
        return []
    modes = Modes(runs)
    made: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        made[run["kind"], run["point"]].append(run)
    found = []
    for kind in (TIMED, TRACED):
        count = rounds(study)[kind]
        lacking = {point.key: point for point in points
                   if _lacks(made[WARMUP, point.key], made[kind, point.key], count, modes)}  # fmt: skip
        numbers = {key: max(run["round"] for run in made[kind, key]) + 1 for key in lacking}
        order = random.Random(f"{study.seed} {kind} {max(numbers.values(), default=0)}")
        found += [Run(kind, numbers[point.key], point) for point in shuffled(list(lacking.values()), order)]
    return found


def _lacks(warmups: list[dict[str, Any]], runs: list[dict[str, Any]], count: int, modes: Modes) -> bool:
    if any(run["status"] != OK for run in warmups + runs):
        return False
    planned = [run for run in runs if run["round"] < count]
    away = sum(modes.of(run) != NEAR for run in planned)
    near = sum(modes.of(run) == NEAR for run in runs)
    return 2 * near < count and len(runs) - len(planned) < REPETITIONS * away
