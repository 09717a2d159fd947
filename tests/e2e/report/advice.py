# SPDX-License-Identifier: Apache-2.0
"""Each advice of `marline report`, a run that deserves it, and a run that is nearly the same and does not: the table of
test_advice.py, from which docs/guide/advice.md is made:

    advice.py [BUILD]     runs all, and writes the page"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment  # noqa: E402
from handmade import ROOT  # noqa: E402  (finds marline)
from marline.report import metrics  # noqa: E402
from marline.report.causes import RULES  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.views.export import load  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "advice.md"
CPUS = os.cpu_count() or 1


@dataclass(frozen=True)
class Run:
    """tests/e2e/programs/advice.c with this word."""

    word: str
    threads: int = 2
    ranks: int = 0  # 0: without MPI
    native: bool = False  # on libomp
    more: dict[str, str] = field(default_factory=dict)  # variables

    def command(self) -> str:
        ranks = f"-n {self.ranks} " if self.ranks else ""
        runtime = "--runtime native " if self.native else ""
        variables = "".join(f"{name}={value} " for name, value in self.more.items())
        return f"{variables}marline trace {ranks}-t {self.threads} {runtime}./advice {self.word}"


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
    "oversubscribed": Case(Run("tiny", threads=4 * CPUS), Run("tiny", threads=1),
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
    "imbalance": Case(Run("unequal", 1, 2), Run("equal", 1, 2), "30 tasks on rank 0 and 6 on rank 1; 12 on each"),
    "ranks out of step": Case(Run("late", 1, 2), Run("equal", 1, 2),
                              "rank 1 begins 60 ms later; both begin at once"),
    "few tasks": Case(Run("few"), EVEN, "three tasks for two threads; 40"),
    "narrow graph": Case(Run("chain"), EVEN, "each task depends on the one before; none does"),
    "code outside of tasks": Case(Run("phases"), Run("no_pause"), "30 ms of other code between parallel regions; none"),
    "barriers": Case(Run("uneven_loop"), Run("even_loop"), "one iteration takes three times as long; all equal"),
}  # fmt: skip


class Bench:
    """Builds the program where it is needed, runs it and reads the trace."""

    def __init__(self, build: Path, compiled: Callable[..., Path]) -> None:
        self._build, self._compiled = build, compiled

    def document(self, run: Run, folder: Path) -> dict[str, Any]:
        with_mpi = ("-DWITH_MPI", f"-I{self._mpi()}", "-lmpi") if run.ranks else ()
        if run.more.get("MARLINE_DEVICES"):
            program = self._compiled("gcc-12", "advice.c", "-fopenmp", *with_mpi)
        else:
            program = self._compiled("clang-19", "advice.c", "-fopenmp", *with_mpi)
        folder.parent.mkdir(exist_ok=True)
        words, variables = self._native(run, folder) if run.native else self._on_marline(run, folder)
        result = subprocess.run([*words, str(program), run.word], env=clean_environment(**variables, **run.more, **CROWDED),
                                capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
        assert result.returncode == 0, f"{run.command()}: {result.stderr}"
        return metrics.make_document(Analysis(load(folder)))

    @staticmethod
    def _mpi() -> str:
        return subprocess.run(["mpicc.openmpi", "--showme:incdirs"], capture_output=True, text=True, check=True
                              ).stdout.split()[0]  # fmt: skip

    def _on_marline(self, run: Run, folder: Path) -> tuple[list[str], dict[str, str]]:
        words = [str(self._build / "bin" / "marline"), "run", "--no-bind", "-t", str(run.threads), "--trace", str(folder)]
        return [*words, *(("-n", str(run.ranks)) if run.ranks else ()), "--"], {}

    def _native(self, run: Run, folder: Path) -> tuple[list[str], dict[str, str]]:
        recorder = self._build / "lib" / "marline" / "openmpi" / "libmarline-trace.so"
        variables = {"MARLINE_TRACE_DIR": str(folder), "LD_PRELOAD": str(recorder),
                     "OMP_NUM_THREADS": str(run.threads), "LD_LIBRARY_PATH": "/usr/lib/llvm-19/lib"}  # fmt: skip
        exported = [f"{name}={value}" for name, value in variables.items()]
        return ["mpirun.openmpi", "-n", str(run.ranks), "env", *exported], {}


def names(document: dict[str, Any], least: float = 0.0) -> list[str]:
    return [cause["name"] for cause in document["causes"] if cause["share"] >= least]


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


def said(document: dict[str, Any]) -> str:
    causes = document["causes"]
    return cell(f"{causes[0]['name']}: {causes[0]['text']}") if causes else "none of 1 % of thread time or more"


def page(document_of: Callable[[Run], dict[str, Any]]) -> str:
    lines = [HEAD]
    for rule in RULES:
        case = CASES[rule.name]
        lines += [f"## {rule.name}", ""]
        deserved = document_of(case.deserves)["causes"][0]
        if deserved["name"] != rule.name:
            sys.exit(f"{case.deserves.command()}: the biggest loss is {deserved['name']}: try again on an idle machine")
        lines += [f"Difference between the runs: {case.difference}.", "",
                  "| run | biggest loss | try next |", "|---|---|---|",
                  f"| `{case.deserves.command()}` | {cell(deserved['text'])} | {cell(deserved['advice'])} |",
                  f"| `{case.spared.command()}` | {said(document_of(case.spared))} | not this |", ""]  # fmt: skip
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

        bench = Bench(build, compiled)
        done: dict[str, dict[str, Any]] = {}

        def document_of(run: Run) -> dict[str, Any]:
            command = run.command()
            if command not in done:
                done[command] = bench.document(run, Path(tempfile.mkdtemp(dir=name)))
            return done[command]

        PAGE.write_text(page(document_of))


if __name__ == "__main__":
    main()
