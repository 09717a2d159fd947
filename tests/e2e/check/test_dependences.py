# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences`: accesses of tasks that nothing orders are found on any number of threads, with the
variable and the clause that is missing; right programs are silent."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from instrumented import COMPILING, FOUND, linking  # noqa: E402

SOURCE = "dependences.c"
RIGHT = re.findall(r"\bCASE\((\w+_right)\)", (PROGRAMS / SOURCE).read_text()) + ["regions_right"]


def line_of(mark: str) -> int:
    lines = (PROGRAMS / SOURCE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f" here: {mark} " in line)


@pytest.fixture(params=["gcc-12", "clang-19"])
def program(request, build, compiled) -> Path:
    built = compiled(request.param, SOURCE, *COMPILING, "-fno-builtin-memcpy", "-fno-builtin-memset")
    linked = built.with_suffix(".linked")
    words = [request.param, str(built), "-o", str(linked), *linking(request.param, build)]
    subprocess.run(words, check=True, timeout=SECONDS)
    return linked


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("case", RIGHT)
def test_no_false_alarm(marline, program, case, threads):
    result = marline("check", "--dependences", "-t", threads, program, case)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("done\n")
    assert re.search(r"check: no accesses that are not ordered, of \d+ tasks? in 1 process\n$", result.stderr)


# What is missing, with {mark} for the line of a mark in the source.
WRONG = {
    "missing_in": ("bytes 0..63 of x", r"add depend\(in: byte 0 of x\) to the task \(missing_in"),
    "reader_writes": ("flag", r"in is not enough, it must be depend\(inout: flag\) to the task \(reader_writes"),
    "halo": ("bytes 56..63 of x", r"add depend\(in: byte 0 of x\) to the task \(halo"),
    "copy_missing": ("bytes 0..", r"add depend\(in: byte 0 of x\) to the task \(copy_missing"),
    "missing_after_fork": ("bytes 0..63 of x", r"add depend\(in: byte 0 of x\) to the task \(missing_in"),
    # A taskwait depend(in: flag) would not wait for a task without a clause (OpenMP 5.2, section 15.5).
    "no_wait": ("flag", r"a taskwait before no_wait dependences.c:{too soon}"),
    "wait_for_grandchild": ("flag", r"a taskwait before wait_for_grandchild"),
    "freed": ("bytes 0..63 of a block of 64 bytes", r"a taskwait .*before freed dependences.c:{freed}"),
    "reduction_by_luck": ("counter", r"add depend\(inout: counter\) to the task \(reduction_by_luck [^;]*$"),
    "wait_on_other": ("counter", r"taskwait depend\(in: counter\)\) before wait_on_other dependences.c:{other}"),
}


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("case", list(WRONG))
def test_finds(marline, program, case, threads):
    result = marline("check", "--dependences", "-t", threads, program, case)
    assert result.returncode == FOUND, result.stderr
    assert "1 pair of accesses that is not ordered" in result.stderr
    thing, clause = WRONG[case]
    clause = re.sub(r"{(.+?)}", lambda mark: f"{line_of(mark[1])}", clause)
    assert re.search(rf"^  object: {re.escape(thing)}", result.stderr, re.M), result.stderr
    assert re.search(rf"^  missing: .*{clause}", result.stderr, re.M), result.stderr


def test_a_child_leaves_the_record_alone(marline, program):
    def tasks(case: str) -> int:
        result = marline("check", "--dependences", "-t", "2", program, case)
        return int(re.search(r", of (\d+) tasks? in 1 process$", result.stderr, re.M)[1])

    assert tasks("missing_after_fork") == tasks("atomic_right") + tasks("missing_in")


def test_both_lines_are_named(marline, program):
    result = marline("check", "--dependences", "-t", "1", program, "missing_in")
    assert re.search(rf"writes at (fill )?dependences\.c:{line_of('fill')}\n", result.stderr), result.stderr
    assert re.search(rf"reads at (sum )?dependences\.c:{line_of('sum')}\n", result.stderr), result.stderr


def test_says_how_to_compile(marline, compiled):
    program = compiled("gcc-12", SOURCE, "-fopenmp")
    result = marline("check", "--dependences", "-t", "2", program, "missing_in")
    assert result.returncode == 0, result.stderr
    assert "has no instrumented code; compile with -fsanitize=thread" in result.stderr


def test_runs_also_without_the_check(marline, program, build):
    result = marline("run", "-t", "2", program, "tiles_right", LD_LIBRARY_PATH=str(build / "lib" / "marline"))
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
