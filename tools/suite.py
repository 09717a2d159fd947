# SPDX-License-Identifier: Apache-2.0
"""What the tools share that run a public suite of tests on a compiler's own runtime and on Marline (run_vv.py,
run_ompt.py): options, how a test runs and how often, and the tables of a page. An outcome is `passes`, `skipped` or
`fails: ...`."""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from marline.study.measure.machine import commit_of, cpu_model  # noqa: E402  (the path above is what finds it)

RUNTIMES = ("stock", "marline")
REPEATS = 4
TOO_LONG = "takes longer than"


def options(description: str, path: str, results: str) -> argparse.ArgumentParser:
    """PATH, and what is common; `results` is the folder of docs/results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, metavar="PATH", nargs="?", help=path)
    parser.add_argument("--page", action="store_true", help="run nothing: only write the page anew")
    parser.add_argument("--marline", type=Path, default=HERE.parent / "build" / "release" / "bin" / "marline")
    parser.add_argument("-o", "--output", type=Path, default=HERE.parent / "docs" / "results" / results)
    parser.add_argument("--only", default="", metavar="REGEX", help="tests whose name has a match")
    parser.add_argument("--repeats", type=int, metavar="N", default=REPEATS,
                        help="a test whose two runtimes differ runs N more times on each (4)")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=60, help="a run may take so long (60)")
    return parser


def check_marline(name: str, marline: Path) -> None:
    if not os.access(marline, os.X_OK):
        sys.exit(f"{name}: {marline}: not there; build Marline, or name its command by --marline")


def machine(output: Path) -> dict[str, object]:
    return {"cpu": cpu_model(), "cpus": len(os.sched_getaffinity(0)), "commit": commit_of(HERE, output)}


def run_words(words: list[str], folder: Path, environment: dict[str, str], seconds: float) -> tuple[int | None, str]:
    """Exit status, or None if it took too long; what it printed."""
    with subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with what it has started
            output, _ = process.communicate()
            return None, output
    return process.returncode, output


def status(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit {code}"


def compare(runs: dict[str, Callable[[], str]], repeats: int) -> tuple[dict[str, str], dict[str, str]]:
    """Runs a test on both runtimes; `repeats` more times in turn if they differ. An outcome a runtime, the first
    failure if there is one; and how many runs passed, such as `2 of 5`, where the two were unequal."""
    outcomes = {name: [run()] for name, run in runs.items()}
    passed: dict[str, str] = {}
    if len({state(several[0]) for several in outcomes.values()}) > 1:
        for _ in range(repeats):
            for name, run in runs.items():
                if TOO_LONG not in outcomes[name][-1]:
                    outcomes[name].append(run())
        passed = {name: f"{several.count('passes')} of {len(several)}" for name, several in outcomes.items()}
    failures = {name: [outcome for outcome in several if outcome.startswith("fails")]
                for name, several in outcomes.items()}  # fmt: skip
    return {name: (failures[name] or several)[0] for name, several in outcomes.items()}, passed


def state(outcome: str) -> str:
    return outcome.split(":")[0]


def with_runs(result: dict, runtime: str) -> str:
    """The outcome, with the number of runs that passed if others failed."""
    passed, _, runs = result["runs"].get(runtime, "").partition(" of ")
    return f"{result[runtime]} (passes {passed} of {runs})" if passed not in ("0", runs) else result[runtime]


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def row(*cells: object) -> str:
    return "| " + " | ".join(cell(str(each)) for each in cells) + " |\n"


def header(*titles: str) -> str:
    return "| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|\n"


def paragraph(text: str) -> str:
    return "\n" + textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"
