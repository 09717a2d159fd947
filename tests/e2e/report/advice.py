# SPDX-License-Identifier: Apache-2.0
"""Each advice of `marline report`, a run that deserves it, and a run that is nearly the same and does not: the table of
test_advice.py, from which docs/guide/advice.md is made:

    advice.py [BUILD]     runs all, and writes the page"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment  # noqa: E402
from handmade import ROOT  # noqa: E402  (finds marline)
from marline.report import metrics  # noqa: E402
from marline.report.causes import MACHINE_RULES, RULES  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.views.export import load  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "advice.md"
CPUS = os.cpu_count() or 1
SLIGHT = 0.1  # of thread time: other programs on the machine can cost so much at any place
ATTEMPTS = 8  # for the same reason


@dataclass(frozen=True)
class Run:
    """tests/e2e/programs/advice.c with this word."""

    word: str
    threads: int = 2
    ranks: int = 0  # 0: without MPI
    native: bool = False  # on libomp
    more: dict[str, str] = field(default_factory=dict)  # variables
    beside: int = 0  # processes that keep each CPU busy meanwhile
    crowded: bool = False  # `threads` for each CPU

    def command(self) -> str:
        ranks = f"-n {self.ranks} " if self.ranks else ""
        runtime = "--runtime native " if self.native else ""
        variables = "".join(f"{name}={value} " for name, value in self.more.items())
        beside = f" (beside {self.beside} busy processes a CPU)" if self.beside else ""
        threads = f"$(({self.threads} * $(nproc)))" if self.crowded else self.threads
        return f"{variables}marline trace {ranks}-t {threads} {runtime}./advice {self.word}{beside}"

    def threads_here(self) -> str:
        return str(self.threads * CPUS if self.crowded else self.threads)


@dataclass(frozen=True)
class Case:
    """Of the rule with this name."""

    deserves: Run
    spared: Run
    difference: str  # between the two, in words


EVEN = Run("even")
UNSERVED = {"MARLINE_MPI_NEVER_SUSPEND": "advice"}
PRIORITIES = {"OMP_MAX_TASK_PRIORITY": "1"}
DEVICES = {"MARLINE_DEVICES": "process:2"}
CASES = {
    "busy cores": Case(Run("computes", beside=3), Run("tiny", 4, crowded=True),
                       "other programs keep all cores busy; only the program's own threads take turns"),
    "oversubscribed": Case(Run("tiny", 4, crowded=True), Run("tiny", 1),
                           "four threads a core; one thread"),
    "fine grain": Case(Run("tiny"), EVEN, "empty tasks; tasks of 2 ms"),
    "overhead": Case(Run("creator_busy"), EVEN, "the creator goes on with other code; it waits for the tasks"),
    "discovery": Case(Run("slow_producer"), EVEN, "4 ms between two creations of tasks; none"),
    "devices": Case(Run("awaits_devices", more=DEVICES), Run("awaits_devices_beside", more=DEVICES),
                    "detached tasks that wait for target regions; beside 40 other tasks"),
    "devices at work": Case(Run("devices", more=DEVICES), Run("devices_beside", more=DEVICES),
                            "deferred target regions alone; beside 40 other tasks"),
    "communication": Case(Run("in_turn", 1, 2), Run("in_turn_beside", 1, 2, more=PRIORITIES),
                          "ranks work in turn; beside 80 tasks that need no message"),
    "tied tasks": Case(Run("tied", 2, 2), Run("untied", 2, 2), "the task that receives is tied; untied"),
    "MPI": Case(Run("without_tasks", 1, 2), Run("without_tasks_overlapped", 1, 2),
                "ranks without tasks work in turn; at the same time"),
    "held by MPI": Case(Run("blocks", 2, 2, native=True), Run("blocks", 2, 2),
                        "a task receives beside ready ones on libomp; on Marline"),
    "no suspension": Case(Run("blocks", 2, 2, more=UNSERVED), Run("blocks", 2, 2),
                          "the same on Marline, where the program's calls never suspend; where they do"),
    "MPI at work": Case(Run("copies", 1, 2), Run("small_copies", 1, 2), "messages of 32 MiB; of 512 bytes"),
    "imbalance": Case(Run("unequal", 1, 2), Run("equal", 1, 2), "60 tasks on rank 0 and 6 on rank 1; 12 on each"),
    "ranks out of step": Case(Run("late", 1, 2), Run("equal", 1, 2),
                              "rank 1 begins 60 ms later; both begin at once"),
    "throttled producer": Case(Run("ahead", more={"MARLINE_MAX_READY": "1"}), Run("ahead"),
                               "the creator runs a long task as soon as one is ready; it creates all tasks first"),
    "mutual exclusion": Case(Run("exclusive"), Run("concurrent"), "tasks of one mutexinoutset; tasks that read the "
                             "same"),
    "few tasks": Case(Run("few"), EVEN, "three tasks for two threads; 40"),
    "narrow graph": Case(Run("chain"), EVEN, "each task depends on the one before; none does"),
    "last tasks": Case(Run("long_one"), EVEN, "one task, of the middle, takes 100 ms, and all others 5 ms; all equal"),
    "code outside of tasks": Case(Run("phases"), Run("no_pause"), "30 ms of other code between parallel regions; none"),
    "serial code": Case(Run("serial"), Run("even_loop"), "60 ms of other code between parallel loops; none"),
    "unequal threads": Case(Run("uneven_loop"), Run("even_loop"),
                            "one iteration takes three times as long; all equal"),
    "locks": Case(Run("loop_with_lock"), Run("even_loop"), "all of the loop's work is in a critical region; none is"),
    "short regions": Case(Run("short_loops"), Run("even_loop"), "loops of less than a microsecond; of 20 ms"),
    "barriers": Case(Run("uneven_loops"), Run("even_loop"), "four loops, each uneven; one, and even"),
}  # fmt: skip


class Disturbed(Exception):
    """No run was quiet enough to judge the report."""


class Bench:
    """Builds the program where it is needed, runs it and reads the trace."""

    def __init__(self, build: Path, compiled: Callable[..., Path]) -> None:
        self._build, self._compiled = build, compiled

    def document(self, run: Run, folder: Path) -> dict[str, Any]:
        with_mpi = ("-DWITH_MPI", f"-I{self.mpi_headers()}", "-lmpi") if run.ranks else ()
        if run.more.get("MARLINE_DEVICES"):
            program = self._compiled("gcc-12", "advice.c", "-fopenmp", *with_mpi)
        else:
            program = self._compiled("clang-19", "advice.c", "-fopenmp", *with_mpi)
        folder.parent.mkdir(parents=True, exist_ok=True)
        words = self._native(run, folder) if run.native else self.on_marline(run, folder)
        with busy(run.beside * CPUS):
            result = subprocess.run([*words, str(program), run.word], env=clean_environment(**run.more, **CROWDED),
                                    capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
        assert result.returncode == 0, f"{run.command()}: {result.stderr}"
        return metrics.make_document(Analysis(load(folder)))

    def document_with(self, run: Run, folder: Path, is_right: Callable[[list[str]], bool]) -> dict[str, Any]:
        """Of the first of a few runs whose losses, the biggest first, are right. None judges the report if other
        programs have taken cores in each of them."""
        wrong = []
        for attempt in range(ATTEMPTS):
            document = self.document(run, folder / str(attempt))
            if is_right(names(document, run)):
                return document
            wrong.append(document["causes"])
        if not run.beside and all(is_disturbed(found) for found in wrong):
            raise Disturbed(f"{run.command()}: other programs had taken cores in each of {ATTEMPTS} runs")
        raise AssertionError(f"{run.command()}: {wrong}")

    @staticmethod
    def mpi_headers() -> str:
        return subprocess.run(["mpicc.openmpi", "--showme:incdirs"], capture_output=True, text=True, check=True
                              ).stdout.split()[0]  # fmt: skip

    def on_marline(self, run: Run, folder: Path) -> list[str]:
        ranks = ["-n", str(run.ranks)] if run.ranks else []
        marline = str(self._build / "bin" / "marline")
        return [marline, "run", "--no-bind", *ranks, "-t", run.threads_here(), "--trace", str(folder), "--"]

    def _native(self, run: Run, folder: Path) -> list[str]:
        recorder = self._build / "lib" / "marline" / "openmpi" / "libmarline-trace.so"
        variables = {"MARLINE_TRACE_DIR": str(folder), "LD_PRELOAD": str(recorder),
                     "OMP_NUM_THREADS": str(run.threads), "LD_LIBRARY_PATH": "/usr/lib/llvm-19/lib"}  # fmt: skip
        exported = [f"{name}={value}" for name, value in variables.items()]
        return ["mpirun.openmpi", "-n", str(run.ranks), "env", *exported]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Beside so many processes that only compute."""
    processes = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def is_disturbed(found: Sequence[dict[str, Any]]) -> bool:
    """Whether threads had no core for a time that hides what is judged, as programs outside of this run had it."""
    return any(cause["name"] == "busy cores" and cause["share"] >= SLIGHT for cause in found)


def causes(document: dict[str, Any], run: Run) -> list[dict[str, Any]]:
    """What the run has brought about: other programs on the machine are none of it, unless it starts them."""
    of_machine = {"busy cores", *(rule.name for rule in MACHINE_RULES)}
    return [cause for cause in document["causes"]
            if cause["share"] >= SLIGHT and (cause["name"] not in of_machine or run.beside)]  # fmt: skip


def names(document: dict[str, Any], run: Run) -> list[str]:
    return [cause["name"] for cause in causes(document, run)]


# The page ---------------------------------------------------------------------------------------------------------

HEAD = """\
<!-- Made by tests/e2e/report/advice.py from its table and from runs on a build. Edit the table, not this page. -->
# What the report advises

`marline trace` and `marline report` name the biggest loss of thread time and a remedy. This page has each advice with
a run that deserves it, and a run that is nearly the same and does not: the words are those of `advice.c` in
`tests/e2e/programs`, in which work is sleep, so that losses are known. `tests/e2e/report/test_advice.py` repeats the
runs.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def said(document: dict[str, Any], run: Run) -> str:
    found = causes(document, run)
    if not found:
        return f"none of {100 * SLIGHT:.0f} % of thread time or more"
    return cell(f"{found[0]['name']}: {found[0]['text']}")


def page(bench: Bench, folder: Path) -> str:
    lines = [HEAD]
    for rule in RULES:
        case, name = CASES[rule.name], rule.name
        deserves = bench.document_with(case.deserves, folder / name / "deserves", lambda found: found[:1] == [name])
        spared = bench.document_with(case.spared, folder / name / "spared", lambda found: name not in found)
        deserved = causes(deserves, case.deserves)[0]
        lines += [f"## {name}", "", f"Difference between the runs: {case.difference}.", "",
                  "| run | biggest loss | try next |", "|---|---|---|",
                  f"| `{case.deserves.command()}` | {cell(deserved['text'])} | {cell(deserved['advice'])} |",
                  f"| `{case.spared.command()}` | {said(spared, case.spared)} | not this |", ""]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()
    with tempfile.TemporaryDirectory() as name:
        made: dict[tuple[str, ...], Path] = {}

        def compiled(compiler: str, source: str, *flags: str) -> Path:
            key = (compiler, source, *flags)
            if key not in made:
                made[key] = Path(name) / f"advice-{len(made)}"
                words = [compiler, "-g", "-O1", str(PROGRAMS / source), "-o", str(made[key]), *flags]
                subprocess.run(words, check=True, timeout=SECONDS)
            return made[key]

        PAGE.write_text(page(Bench(build, compiled), Path(name)))


if __name__ == "__main__":
    main()
