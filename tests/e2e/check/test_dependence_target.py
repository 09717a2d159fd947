# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences`: target regions are tasks among others. On the host their code is seen, on a device the
copies of what they map."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import LLVM, PROGRAMS, SECONDS

FOUND = 123
SOURCE = PROGRAMS / "target_accesses.c"
RIGHT = re.findall(r"\bCASE\((\w+_right)\)", SOURCE.read_text())
PLACES = {"host": {"OMP_TARGET_OFFLOAD": "disabled"},
          "process": {"MARLINE_DEVICES": "process", "OMP_TARGET_OFFLOAD": "mandatory"}}  # fmt: skip


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def program(request, build, compiled) -> Path:
    flags = ["-g", "-fopenmp", "-fsanitize=thread"]
    linking = ["-fopenmp", f"-L{build}/lib/marline", "-lmarline-accesses"]
    if request.param.startswith("clang"):
        stub = build / "tests" / "programs" / "offload" / "link" / "clang19"
        if not stub.exists():
            pytest.skip("this build has no programs for devices")
        flags.append("-fopenmp-targets=x86_64-pc-linux-gnu")
        linking += ["-fopenmp-targets=x86_64-pc-linux-gnu", f"-L{stub}", f"-L{LLVM}"]
    built = compiled(request.param, SOURCE.name, "-c", *flags)
    linked = built.with_suffix(".linked")
    subprocess.run([request.param, str(built), "-o", str(linked), *linking], check=True, timeout=SECONDS)
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
    # Without the option's word the user would not know that a kernel is not seen.
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
