# SPDX-License-Identifier: Apache-2.0
"""Programs under `ulimit -v`, as batch systems set it: what libgomp runs in 1 GB runs here, too; where threads cannot
be had there are fewer of them, with one warning; and where nothing is left, one line names the limit."""

import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SECONDS, Result, clean_environment

MIB = 1 << 20
PART = {"region": 0, "tasks": 1, "malloc": 2, "suspended": 3, "late": 4}


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def limited(request: pytest.FixtureRequest, build: Path, compiled: Callable[..., Path]) -> Callable[..., Result]:
    """limited(part, threads, mib) runs that part of the program with so much address space."""
    flags = ["-fopenmp"] + (["-L/usr/lib/llvm-19/lib"] if request.param.startswith("clang") else [])
    program = compiled(request.param, "address_space.c", *flags)

    def run(part: str, threads: int, mib: int, **changes: str) -> Result:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        path = f"{build}/lib/marline/compat:{build}/lib"
        return subprocess.run([program, str(PART[part]), str(threads)], stdin=subprocess.DEVNULL, capture_output=True,
                              env=clean_environment(LD_LIBRARY_PATH=path, **changes), text=True, preexec_fn=limit,
                              timeout=SECONDS, check=False)  # fmt: skip

    return run


def threads_of(result: Result) -> int:
    """That the region had. The program has checked its own result."""
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


# The smallest is what libgomp needs for 16 threads.
CASES = [("region", 1000), ("region", 500), ("region", 150), ("tasks", 1000), ("tasks", 500), ("tasks", 300)]


@pytest.mark.parametrize(("part", "mib"), CASES)
def test_sixteen_threads(limited: Callable[..., Result], part: str, mib: int) -> None:
    result = limited(part, 16, mib)
    assert threads_of(result) == 16
    assert result.stderr == ""


def test_the_program_has_arenas(limited: Callable[..., Result]) -> None:
    """Each of its threads takes from malloc, which reserves all there is; the runtime goes on with what is in there."""
    assert threads_of(limited("malloc", 16, 1000)) == 16


@pytest.mark.parametrize("mib", [1000, 500])
def test_others_have_the_arenas(limited: Callable[..., Result], mib: int) -> None:
    """The thread that creates tasks has no arena, and malloc finds nothing for it in the others'."""
    assert threads_of(limited("late", 16, mib)) == 16


def test_suspended_tasks_have_smaller_stacks(limited: Callable[..., Result]) -> None:
    """200 stacks of 4 MiB do not fit into it."""
    result = limited("suspended", 4, 700)
    assert threads_of(result) == 4
    assert re.fullmatch(r"marline: warning: too little address space is left for tasks' stacks of 4096 KiB \(address "
                        r"space is limited to 716800 KiB: `ulimit -v`\): .*OMP_STACKSIZE.*\n",
                        result.stderr)  # fmt: skip


@pytest.mark.parametrize("part", ["region", "tasks"])
def test_fewer_threads(limited: Callable[..., Result], part: str) -> None:
    result = limited(part, 64, 220)
    assert 1 < threads_of(result) < 64
    warnings = [line for line in result.stderr.splitlines() if "cannot start a thread" in line]
    assert len(warnings) == 1
    assert re.fullmatch(r"marline: warning: cannot start a thread with a stack of 4096 KiB \(.*\) \(address space is "
                        r"limited to 225280 KiB: `ulimit -v`\): .*OMP_NUM_THREADS.*", warnings[0])  # fmt: skip


def test_nothing_is_left(limited: Callable[..., Result]) -> None:
    """Two million tasks with 1 KiB each, and none may run: no runtime has the memory."""
    result = limited("tasks", 1, 300, LEAVE_NOTHING="1", MARLINE_MAX_TASKS="0")
    assert result.returncode < 0
    assert re.fullmatch(r"marline: fatal: no memory for \d+ more bytes of task descriptors \(address space is limited "
                        r"to 307200 KiB: `ulimit -v`\): .*OMP_NUM_THREADS.*\n", result.stderr)  # fmt: skip
