# SPDX-License-Identifier: Apache-2.0
"""Small programs whose first lines say what `marline check --dependences` must find in them: tests/dependences/right
and wrong. `Expect: clean`, or `Expect: race NAME; missing KIND...` with the variable and the clause."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import instrumented  # noqa: E402
from instrumented import FOUND  # noqa: E402

PAGE = ROOT / "docs" / "results" / "dependences.md"
CORPUS = ROOT / "tests" / "dependences"
PROGRAMS = sorted(CORPUS.glob("*/*.c"))
# The finding is right, and the advice would mend it, but there is a shorter way that the program's text names.
OTHER_ADVICE = {"column_for_row", "taskloop_unordered"}
SAYS = {"in": "depend(in:", "out": "depend(inout:", "inout": "depend(inout:", "taskwait": "a taskwait",
        "barrier": "a barrier"}  # fmt: skip


def expectation(source: Path) -> tuple[str, str] | None:
    """The variable and the clause; None: no finding."""
    line = re.search(r"^// Expect: (.*)$", source.read_text(), re.M)[1]
    found = re.match(r"race (\w+)\S*; missing (\w+)", line)
    assert found or line == "clean", f"{source.name}: {line}"
    return (found[1], found[2]) if found else None


@pytest.mark.parametrize("compiler", ["gcc-12", "clang-19"])
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_program(marline, build, tmp_path, source, compiler):
    if clause := instrumented.lacks(source, compiler):
        pytest.skip(f"{compiler} does not know {clause}")
    program = instrumented.build(source, compiler, tmp_path, build)
    result = marline("check", "--dependences", "-t", "2", program)
    expected = expectation(source)
    if expected is None:
        assert result.returncode == 0, result.stderr
        return
    variable, clause = expected
    assert result.returncode == FOUND, result.stderr
    is_block = variable in ("p", "q")  # a pointer's, which has no name
    assert re.search(rf"^  object: .*{'block' if is_block else variable}\b", result.stderr, re.M), result.stderr
    if source.stem not in OTHER_ADVICE:
        assert SAYS[clause] in re.search(r"^  missing: (.*)$", result.stderr, re.M)[1], result.stderr


def test_the_page_has_a_row_for_each_program():
    """tools/gen_dependence_table.py has run all of them."""
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.M)
    wrong, right = (sorted(path.stem for path in PROGRAMS if path.parent.name == kind) for kind in ("wrong", "right"))
    assert rows == [*wrong, *right]
    assert min(len(wrong), len(right)) >= 30
