# SPDX-License-Identifier: Apache-2.0
"""Which processes answer `marline ps`, and which of their threads they name."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SECONDS, Result, clean_environment

ROOT = Path(__file__).resolve().parents[3]


def started(build: Path, program: list[Path | str], lines: int) -> tuple[subprocess.Popen[str], dict[str, int]]:
    """The program, and the numbers of processes that it has told, by the word before."""
    words = [build / "bin" / "marline", "run", "--no-bind", "--", *program]
    process = subprocess.Popen([str(word) for word in words], env=clean_environment(), text=True,
                               stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    told = (process.stdout.readline().split() for _ in range(lines))
    return process, {who: int(number) for who, number in told}


def end(process: subprocess.Popen[str], told: dict[str, int]) -> None:
    for number in told.values():
        with contextlib.suppress(ProcessLookupError):  # the others' end may be its end, too
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
    process, told = started(build, [compiled("gcc", "forks.c", "-fopenmp")], 2)
    try:
        for number, threads in ((told["parent"], 4), (told["child"], 2)):
            report = report_of(marline, number)
            numbers = {one["thread"] for one in report["threads"]}
            assert len(numbers) == threads
            assert number in numbers
            assert numbers <= {one["thread"] for one in report["kernel_threads"]}
    finally:
        end(process, told)


@pytest.fixture
def alone(build: Path, compiled: Callable[..., Path]) -> Path:
    return compiled("gcc", "alone.c", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                    f"-Wl,-rpath,{build}/lib")  # fmt: skip


def test_a_process_of_one_thread_is_left_with_one(build: Path, alone: Path) -> None:
    """libc is faster in such: it locks nothing."""
    process, told = started(build, [alone], 1)
    try:
        assert len(os.listdir(f"/proc/{told['alone']}/task")) == 1
    finally:
        end(process, told)


def test_a_process_of_one_thread_answers_once_it_waits(build: Path, alone: Path,
                                                       marline: Callable[..., Result]) -> None:
    process, told = started(build, [alone, "wait"], 1)
    try:
        report = report_of(marline, told["alone"])
        while not report["tasks"]:  # it has only begun to wait
            report = report_of(marline, told["alone"])
        assert [one["wait"]["kind"] for one in report["tasks"]] == ["event"]
    finally:
        end(process, told)


@pytest.mark.parametrize("words", [("--seconds", "-1"), ("--watch", "0"), ("--watch", "nan")])
def test_a_time_that_is_none_is_refused(marline: Callable[..., Result], words: tuple[str, str]) -> None:
    result = marline("ps", str(os.getpid()), *words)
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)
    assert words[0] in result.stderr
