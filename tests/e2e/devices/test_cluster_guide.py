# SPDX-License-Identifier: Apache-2.0
"""The program of docs/guide/cluster.md does what the page says of it, on a cluster of two workers: as it stands, and
without the clause that the page takes out."""

import re
from pathlib import Path

import pytest
from conftest import Result
from nodes_support import COMPILERS, jobs  # noqa: F401  (a fixture)

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "guide" / "cluster.md").read_text()
CLAUSE = " depend(out : sums[b], processes[b])"


@pytest.fixture
def tiles(compiled, jobs, tmp_path):  # noqa: F811
    """tiles("gcc", "diff") runs the page's program with MARLINE_CLUSTER_WRITES; `left_out`: without that text."""
    program = re.search(r"^```c\n(#include <stdio.h>.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]

    def start(compiler: str, writes: str, left_out: str = "") -> Result:
        assert left_out in program
        source = tmp_path / "tiles.c"
        source.write_text(program.replace(left_out, "") if left_out else program)
        return jobs.run("-n", 3, "-t", 2, "--devices=cluster", "--", compiled(COMPILERS[compiler][0], str(source),
                        *COMPILERS[compiler][1:]), MARLINE_CLUSTER_WRITES=writes)  # fmt: skip

    return start


def printed(result: Result) -> list[str]:
    """Without the numbers of processes."""
    return re.findall(r"^(block \d: [\w.+]+), process [1-9]\d*$", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(("compiler", "writes"), [("gcc", "diff"), ("gcc", "depend"), ("clang", "check")])
def test_the_program(tiles, compiler, writes):
    result = tiles(compiler, writes)
    assert (result.returncode, "marline: check" in result.stderr) == (0, False), result.stderr
    expected = re.findall(r"^(block \d: \S+), process", PAGE, re.MULTILINE)
    assert len(expected) == 8 and printed(result) == expected


def test_what_check_finds_without_a_clause(tiles):
    assert CLAUSE in PAGE
    result = tiles("gcc", "check", CLAUSE)
    assert result.returncode == 123
    assert "marline: check: 15 writes that no depend clause names\n" in result.stderr
    assert len(printed(result)) == 8
