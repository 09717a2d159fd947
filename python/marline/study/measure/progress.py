# SPDX-License-Identifier: Apache-2.0
"""How far a study is: a bar with the time left on a terminal, else one plain line now and then (for logs and CI)."""

from __future__ import annotations

import sys
import time

from marline.study.declare.plan import Run

PLAIN_SECONDS = 10.0


class Plain:
    """Lines on standard error, at most one in ten seconds, and the last."""

    def __init__(self, title: str, total: int, done: int) -> None:
        self._title, self._total, self._done = title, total, done
        self._begun, self._first, self._said = time.monotonic(), done, time.monotonic()

    def start(self, _: Run) -> None:
        """A line per start would be too many."""

    def more(self, runs: int) -> None:
        self._total += runs

    def advance(self) -> None:
        self._done += 1
        now = time.monotonic()
        if self._done < self._total and now - self._said < PLAIN_SECONDS:
            return
        self._said = now
        left = (now - self._begun) / (self._done - self._first) * (self._total - self._done)
        text = f"{self._title}: {self._done} of {self._total} runs, about {left:.0f} s left"
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        sys.stderr.flush()


class Bar:
    """A bar drawn by rich; its last column names the run in progress."""

    def __init__(self, title: str, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                                  TimeRemainingColumn(elapsed_when_finished=True), TextColumn("{task.fields[now]}"),
                                  console=Console(stderr=True), transient=True)  # fmt: skip
        self._total = total
        self._task = self._progress.add_task(title, total=total, completed=done, now="")
        self._progress.start()

    def start(self, run: Run) -> None:
        self._progress.update(self._task, now=f"{run.kind} {run.point.key}")

    def more(self, runs: int) -> None:
        self._total += runs
        self._progress.update(self._task, total=self._total)

    def advance(self) -> None:
        self._progress.advance(self._task)

    def close(self) -> None:
        self._progress.stop()


def progress(title: str, total: int, done: int) -> Plain | Bar:
    return Bar(title, total, done) if sys.stderr.isatty() else Plain(title, total, done)
