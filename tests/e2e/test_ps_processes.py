# SPDX-License-Identifier: Apache-2.0
"""Which processes answer `marline ps`, and which of their threads they name."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import SECONDS, Result, clean_environment


def started(build: Path, program: Path, lines: int, **changes: str) -> tuple[subprocess.Popen[str], dict[str, int]]:
    """The program, and the numbers of processes that it has told, by the word before."""
    words = [build / "bin" / "marline", "run", "--no-bind", "--", program]
    process = subprocess.Popen([str(word) for word in words], env=clean_environment(**changes), text=True,
                               stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    told = (process.stdout.readline().split() for _ in range(lines))
    return process, {who: int(number) for who, number in told}


def end(process: subprocess.Popen[str], told: dict[str, int]) -> None:
    for number in told.values():
        os.kill(number, signal.SIGKILL)
    process.wait(SECONDS)
    assert process.stdout is not None
    process.stdout.close()


def report_of(marline: Callable[..., Result], number: int) -> dict[str, Any]:
    """The process's own, from the list of all."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        for one in json.loads(marline("ps", "--json").stdout):
            if one["pid"] == number:
                return dict(one)
    raise AssertionError(f"process {number} does not answer")


def test_a_forked_child_names_its_own_threads(build: Path, compiled: Callable[..., Path],
                                              marline: Callable[..., Result]) -> None:  # fmt: skip
    process, told = started(build, compiled("gcc", "forks.c", "-fopenmp"), 2)
    try:
        for number, threads in ((told["parent"], 4), (told["child"], 2)):
            report = report_of(marline, number)
            numbers = {one["thread"] for one in report["threads"]}
            assert len(numbers) == threads
            assert number in numbers
            assert numbers <= {one["thread"] for one in report["kernel_threads"]}
    finally:
        end(process, told)
