# SPDX-License-Identifier: Apache-2.0
"""Measures: builds what is missing, then executes run after run and appends each to the results file at once.

One program runs at a time. A hang costs the whole limit and will not go away, so its point is not tried again, and
after hangs at HANGS points the variant is given up for that program."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from marline.errors import say
from marline.layout import Layout
from marline.study.declare.document import Study
from marline.study.declare.plan import TRACED, Point, Run, schedule
from marline.study.measure import breakdown, launch, machine
from marline.study.measure.handover import HandOver, repetitions
from marline.study.measure.noise import Calibration
from marline.study.measure.process import execute
from marline.study.measure.progress import progress
from marline.study.measure.store import Store
from marline.study.measure.verdict import FAILED, HANG, OK, Outcome, judge

HANGS = 3


def build_missing(points: list[Point], say: Callable[[str], None]) -> dict[str, str]:
    """Builds programs that are not there, each once; what went wrong, by the program's first word."""
    faults: dict[str, str] = {}
    for point in points:
        if point.build and point.command[0] not in faults and launch.program_file(point) is None:
            say(f"building {Path(point.command[0]).name}")
            faults[point.command[0]] = launch.build(point.build, lambda: launch.program_file(point))
    return {word: fault for word, fault in faults.items() if fault}


def skips(points: list[Point], study: Study, layout: Layout, faults: dict[str, str]) -> dict[str, str]:
    """Why points cannot run, by their key."""
    found = {}
    for point in points:
        reason = launch.why_not(point, layout, point.variant.trace)
        fault = faults.get(point.command[0])
        if reason:
            found[point.key] = without_folders(f"{reason} ({fault})" if fault else reason, study, layout)
    return found


def without_folders(text: str, study: Study, layout: Layout) -> str:
    """Results are published: where Marline and the study lie on this machine stays private."""
    here = str(study.file.resolve().parent)
    return text.replace(str(layout.prefix), "{prefix}").replace(here, "{here}")


class GivenUp:
    """Which points are not tried again because of hangs; it can be filled from the file of an earlier session."""

    def __init__(self) -> None:
        self._hung: set[str] = set()
        self._count: Counter[tuple[str, str]] = Counter()

    def note(self, program: str, variant: str, key: str) -> None:
        if key not in self._hung:
            self._hung.add(key)
            self._count[program, variant] += 1

    def covers(self, point: Point) -> bool:
        return point.key in self._hung or self._count[point.program.name, point.variant.name] >= HANGS


class Beside:
    """What is measured beside the runs: the calibration and, if the study asks for it, the hand-over time."""

    def __init__(self, study: Study, layout: Layout) -> None:
        self._handover = HandOver(study, layout.prefix) if study.handover else None
        self._calibration = Calibration()

    def measure(self) -> dict[str, float]:
        """By the name under which a run holds it."""
        values = {"noise": round(self._calibration.measure(), 4)}
        if self._handover:
            values["handover"] = round(self._handover.measure(), 3)
        return values

    def close(self) -> None:
        self._calibration.close()


class Runner:
    def __init__(self, study: Study, layout: Layout, store: Store) -> None:
        self._study, self._layout, self._store = study, layout, store
        self._given_up = GivenUp()
        for run in store.records.runs:
            if run["status"] == HANG:
                self._given_up.note(run["program"], run["variant"], run["point"])

    def measure(self, points: list[Point], files: dict[str, str]) -> None:
        """All runs of these points that the file does not hold yet. `files`: what serves them, by fingerprint."""
        runs = [run for run in schedule(self._study, points) if self._can(run)]
        left = self._left(runs)
        done = len(runs) - len(left)
        left = left or self._again(points)
        if not left:
            return
        beside = Beside(self._study, self._layout)
        described = machine.describe(points, self._layout, self._study.file.resolve().parent, self._store.folder)
        if str(described["commit"]).endswith("-dirty"):
            say(f"the report will name {described['commit']}, since files differ from that commit; before you measure "
                "what is to be published, commit them")  # fmt: skip
        shown = progress(self._study.name, done + len(left), done)
        try:
            before = beside.measure()
            self._store.append("session", machine=described, files=files)
            while left:
                for run in left:
                    shown.start(run)
                    before = self._one(run, beside, before)
                    shown.advance()
                left = self._again(points)
                shown.more(len(left))
        finally:
            shown.close()
            beside.close()

    def _left(self, runs: list[Run]) -> list[Run]:
        done = self._store.records.done()
        return [run for run in runs if run.identity not in done and not self._given_up.covers(run.point)]

    def _again(self, points: list[Point]) -> list[Run]:
        """A round of what has to be repeated. None of it is in the file: its runs go on from the file's last round."""
        runs = repetitions(self._study, points, self._store.records.runs)
        return [run for run in self._left(runs) if self._can(run)]

    def _can(self, run: Run) -> bool:
        return run.kind != TRACED or not launch.why_not(run.point, self._layout, traced=True)

    def _one(self, run: Run, beside: Beside, before: dict[str, float]) -> dict[str, float]:
        """Executes and records; what was measured beside it afterwards, which is the next run's before."""
        if self._given_up.covers(run.point):
            return before
        start = time.time()
        outcome, seconds = self._execute(run)
        after = beside.measure()
        if outcome.status == HANG:
            self._given_up.note(run.point.program.name, run.point.variant.name, run.point.key)
        self._store.append("run", kind=run.kind, round=run.round, point=run.point.key,
                           program=run.point.program.name, parameters=run.point.parameters,
                           variant=run.point.variant.name, status=outcome.status,
                           reason=without_folders(outcome.reason, self._study, self._layout),
                           figures=outcome.figures, remarks=outcome.remarks, start=round(start, 3),
                           seconds=round(seconds, 6),
                           **{name: [before[name], after[name]] for name in after})  # fmt: skip
        return after

    def _execute(self, run: Run) -> tuple[Outcome, float]:
        point = run.point
        recorded = run.kind == TRACED or point.variant.trace
        folder = Path(tempfile.mkdtemp(prefix="marline-study-")) if recorded else None
        try:
            environment = launch.own_environment()
            added = launch.additions(point, self._layout, folder / "trace" if folder else None)
            if folder:
                (folder / "trace").mkdir()
            words = launch.words(point, self._layout, environment, added, run.kind == TRACED)
            ending = execute(words, environment, self._study.limit, self._study.file.resolve().parent)
            outcome = judge(ending, point, self._study.limit, self._layout, measured=run.kind != TRACED)
            if run.kind == TRACED and folder and outcome.status == OK:
                outcome = self._analysed(folder / "trace", outcome)
            return outcome, ending.seconds
        finally:
            if folder:
                shutil.rmtree(folder)

    def _analysed(self, folder: Path, outcome: Outcome) -> Outcome:
        try:
            return Outcome(OK, "", breakdown.figures(folder, self._layout), outcome.remarks)
        except breakdown.NoReport as error:
            return Outcome(FAILED, str(error))
