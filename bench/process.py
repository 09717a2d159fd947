# SPDX-License-Identifier: Apache-2.0
"""Runs one benchmark program once, under one OpenMP runtime, and says what came of it.

A Variant is a compiler and a runtime; its environment is all that differs between runs of one binary. The invariant:
`Outcome.figures` is filled only if the program ended with status 0 within its time, printed nothing that is not
understood, and was served by the runtime that was meant; any other ending has a status and a reason, and no figures.
"""
from __future__ import annotations

import math
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OK, FAILED, HANG = "ok", "failed", "hang"
GRACE_SECONDS = 3  # between the request to end and the kill: mpirun takes its ranks along


@dataclass(frozen=True)
class Variant:
    compiler: str  # gcc12, clang19
    runtime: str  # libgomp, libomp, marline

    @property
    def name(self) -> str:
        return f"{self.compiler}+{self.runtime}"


@dataclass
class Outcome:
    status: str
    reason: str = ""
    figures: dict[str, tuple[float, str]] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)


def variants() -> list[Variant]:
    """In the order in which they take turns."""
    return [Variant("gcc12", "libgomp"), Variant("clang19", "libomp"),
            Variant("gcc12", "marline"), Variant("clang19", "marline")]


def marline_library(build: Path) -> Path:
    return build / "lib" / "libmarline.so"


def environment(variant: Variant | None, build: Path, threads: int, mpi: bool = False) -> dict[str, str]:
    """The caller's environment without any OpenMP setting or preloaded library, plus what the variant needs."""
    settings = ("OMP_", "KMP_", "GOMP_", "MARLINE_")
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(settings) and key not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    kept["OMP_NUM_THREADS"] = str(threads)
    if variant is not None and variant.runtime == "marline":
        preload = [marline_library(build)]
        if mpi:
            preload.append(build / "lib" / "marline" / "openmpi" / "libmarline-mpi.so")
        kept["LD_LIBRARY_PATH"] = str(build / "lib" / "marline" / "compat")
        kept["LD_PRELOAD"] = ":".join(str(path) for path in preload)
    return kept


def mpi_command(ranks: int, env: dict[str, str], program: list[str]) -> list[str]:
    """Only the ranks see the variant's libraries: mpirun itself runs in `env` without them (taken out here)."""
    swap = [f"{key}={env.pop(key)}" for key in ("LD_LIBRARY_PATH", "LD_PRELOAD") if key in env]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    crowded = ["--oversubscribe"] if len(os.sched_getaffinity(0)) < ranks else []
    return ["mpirun.openmpi", *root, *crowded, "-n", str(ranks), "/usr/bin/env", *swap, *program]


def send(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # all of it has ended


def end_group(child: subprocess.Popen[str]) -> None:
    send(child.pid, signal.SIGTERM)
    try:
        child.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass  # the kill is for those who did not listen
    send(child.pid, signal.SIGKILL)
    child.wait()


def execute(command: list[str], env: Mapping[str, str], seconds: float) -> tuple[int | None, str, str]:
    """Exit status (None: cut after `seconds`), standard output and error. Leaves no process of the group behind."""
    child = subprocess.Popen(command, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        end_group(child)
        return None, "", ""
    except KeyboardInterrupt:  # which reaches this process only: the child leads a session of its own
        end_group(child)
        raise


def parse(text: str) -> tuple[dict[str, tuple[float, str]], dict[str, str], str]:
    """Figures, remarks, and the first line that is neither (empty: none)."""
    figures: dict[str, tuple[float, str]] = {}
    remarks: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if len(words) >= 3 and words[0] == "#":
            remarks[words[1]] = " ".join(words[2:])
            continue
        try:
            name, value, unit = words
            number = float(value)
        except ValueError:
            return figures, remarks, line
        if not math.isfinite(number):
            return figures, remarks, line
        figures[name] = (number, unit)
    return figures, remarks, ""


def served_by(library: str, variant: Variant, build: Path) -> str:
    """Empty if `library` is the runtime that the variant names, else what is wrong."""
    ours = Path(library).resolve().is_relative_to((build / "lib").resolve())
    if variant.runtime == "marline":
        return "" if ours else f"meant for Marline, but {library} served it"
    name_fits = Path(library).name.startswith(variant.runtime + ".so")
    return "" if name_fits and not ours else f"meant for {variant.runtime}, but {library} served it"


def judge(status: int | None, out: str, err: str, seconds: float, variant: Variant | None, build: Path) -> Outcome:
    """Turns an ending into an outcome; `variant` None is a program without OpenMP."""
    if status is None:
        return Outcome(HANG, f"cut after {seconds:g} s")
    if status != 0:
        first = (err.strip().splitlines() or ["no message"])[0]
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return Outcome(FAILED, f"{how}: {first}")
    figures, remarks, strange = parse(out)
    if strange:
        return Outcome(FAILED, f"cannot read its output: {strange!r}")
    if variant is not None:
        wrong = served_by(remarks.get("runtime", "an unnamed library"), variant, build)
        if wrong:
            return Outcome(FAILED, wrong)
    if not figures:
        return Outcome(FAILED, "printed no figure")
    return Outcome(OK, "", figures, remarks)
