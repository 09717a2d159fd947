# SPDX-License-Identifier: Apache-2.0
"""Suspended tasks and transparent huge pages: with the kernel's policy `always`, the first touch of a stack would
commit 2 MiB, and 100,000 suspended tasks 200 GB. Needs root, and changes the policy of the machine while it runs: CTest
runs it alone."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Result, run

ROOT = Path(__file__).resolve().parents[3]
POLICY = Path("/sys/kernel/mm/transparent_hugepage/enabled")
MANY = "../../programs/suspend/many.c"  # checks its own resident memory: 16 KiB per task, and 100 MiB


def policy() -> str:
    chosen = re.search(r"\[(\w+)\]", POLICY.read_text())
    assert chosen is not None
    return chosen[1]


@pytest.fixture(scope="module", autouse=True)
def always() -> Iterator[None]:
    """The policy is `always` meanwhile. A process of its own puts the old one back when its input ends, so it comes
    back even if this one is killed."""
    try:
        old = policy()
        POLICY.write_text(old)
    except OSError as error:
        pytest.skip(f"the policy cannot be changed: {error}")
    restore = ["sh", "-c", 'cat >/dev/null; echo "$0" >"$1"', old, str(POLICY)]
    guardian = subprocess.Popen(restore, stdin=subprocess.PIPE, start_new_session=True)
    try:
        POLICY.write_text("always")
        yield
    finally:
        guardian.communicate()
        assert policy() == old


@pytest.fixture(scope="module")
def many(build: Path, compiled: Callable[..., Path]) -> Callable[..., Result]:
    flags = ["-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline", f"-Wl,-rpath,{build}/lib"]
    program = compiled("gcc-12", MANY, *flags)
    path = f"{build}/lib/marline/compat:{build}/lib"
    return lambda tasks, **changes: run([program, str(tasks)], LD_LIBRARY_PATH=path, OMP_NUM_THREADS="2", **changes)


def test_stacks_stay_small(many: Callable[..., Result]) -> None:
    assert policy() == "always"
    result = many(100_000)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("100000 suspended tasks") == 2


def bytes_each(result: Result) -> int:
    """Resident bytes per suspended task, of the program's first pass, on fresh stacks."""
    said = re.search(r"suspended tasks: (\d+) bytes each", result.stdout)
    assert said is not None, result.stderr
    return int(said[1])


def test_the_advice_is_what_keeps_them_small(many: Callable[..., Result], compiled: Callable[..., Path]) -> None:
    """Few tasks: without the advice a stack takes 2 MiB wherever the kernel has a huge page left. It may have few: two
    are asked. The program's own bound cannot tell them apart: it leaves 100 MiB for all else."""
    tasks = 200
    shim = compiled("gcc-12", "huge_stacks.c", "-shared", "-fPIC")
    small, large = many(tasks), many(tasks, LD_PRELOAD=str(shim))
    assert small.returncode == 0, small.stderr
    assert bytes_each(large) - min(bytes_each(small), 16384) > 2 * (2 << 20) / tasks
