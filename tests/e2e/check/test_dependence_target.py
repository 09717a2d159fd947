# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences`: target regions are tasks among others. On the host their code is seen, on a device the
copies of what they map."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS, device_flags

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from instrumented import COMPILING, FOUND, linking  # noqa: E402

SOURCE = PROGRAMS / "target_accesses.c"
RIGHT = re.findall(r"\bCASE\((\w+_right)\)", SOURCE.read_text())
PLACES = {"host": {"OMP_TARGET_OFFLOAD": "disabled"},
          "process": {"MARLINE_DEVICES": "process", "OMP_TARGET_OFFLOAD": "mandatory"}}  # fmt: skip


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def program(request, build, compiled) -> Path:
    targets = device_flags(build, request.param)
    built = compiled(request.param, SOURCE.name, *COMPILING, *targets)
    linked = built.with_suffix(".linked")
    words = [request.param, str(built), "-o", str(linked), *targets, *linking(request.param, build)]
    subprocess.run(words, check=True, timeout=SECONDS)
    return linked


def is_clangs(program: Path) -> bool:
    return b"__kmpc_omp_task_alloc" in program.read_bytes()


def check(marline, program: Path, case: str, place: str):
    return marline("check", "--dependences", "-t", "2", program, case, **PLACES[place])


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("case", RIGHT)
def test_no_false_alarm(marline, program, case, place):
    if (case, place) == ("barrier_right", "host") and is_clangs(program):
        pytest.skip("Clang's code of a region on the host has no barrier at its end")
    result = check(marline, program, case, place)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    assert re.search(r"check: no accesses that are not ordered, of \d+ tasks? in \d process(es)?\n$", result.stderr)
    # A kernel that ran on a device was not seen: the user must learn of it.
    assert ("ran on a device" in result.stderr) == (place == "process"), result.stderr


WRONG = {"clause_missing": r"add depend\(in: a\) to the task \(clause_missing target_accesses.c:\d+\)$",
         "wait_missing": r"a taskwait \(or taskwait depend\(in: a\)\) before sum target_accesses.c:\d+$"}  # fmt: skip


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("case", list(WRONG))
def test_finds(marline, program, case, place):
    result = check(marline, program, case, place)
    assert result.returncode == FOUND, result.stderr
    assert "1 pair of accesses that is not ordered" in result.stderr
    for pattern in (r"  the task \(fill\b.*\) writes at", "  object: a$", f"  missing: {WRONG[case]}"):
        assert re.search(pattern, result.stderr, re.M), result.stderr


def test_finds_a_copy_that_is_not_ordered(marline, program):
    result = check(marline, program, "update_missing", "process")
    assert result.returncode == FOUND, result.stderr
    assert re.search(r"  the task \(update_missing.*\) writes at .*target_accesses", result.stderr), result.stderr
    assert "in is not enough, it must be depend(inout: a) to the task (update_missing" in result.stderr
