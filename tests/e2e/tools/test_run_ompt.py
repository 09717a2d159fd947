# SPDX-License-Identifier: Apache-2.0
"""tools/run_ompt.py on a made-up suite in the form of LLVM's: what it counts, when a failure is explained, and its exit
status. The suite itself is not part of the project, nor is FileCheck: a few lines stand in for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import clean_environment

TOOL = Path(__file__).resolve().parents[3] / "tools" / "run_ompt.py"
FILECHECK = """#!/usr/bin/env python3
import sys
output = sys.stdin.read()
for number, line in enumerate(open(sys.argv[1]), 1):
    text = line.partition("// CHECK: ")[2].strip()
    if text and text not in output:
        sys.exit(f"{sys.argv[1]}:{number}:1: error: CHECK: not found in input\\n{line}{output}")
"""
RUN = "// RUN: %libomp-compile-and-run | %sort-threads \\\n// RUN:   | FileCheck %s\n"
RUNTIME = """
#include "callback.h"
int main(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  const char* name = "other";
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  while (threads > 0 && fgets(line, sizeof line, maps))
    if (strstr(line, "libmarline")) name = "Marline";
  printf("runtime=%s\\n", name);
  // CHECK: runtime=EXPECTED
  return 0;
}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "llvm" / "openmp" / "runtime" / "test" / "ompt"
    (folder / "tasks").mkdir(parents=True)
    (folder / "callback.h").write_text("#include <stdio.h>\n#include <string.h>\n")
    for name, expected in {"passes": "", "fails": "neither", "only_stock": "other"}.items():
        (folder / "tasks" / f"{name}.c").write_text(RUN + RUNTIME.replace("EXPECTED", expected))
    (folder / "left_out.c").write_text("// UNSUPPORTED: gcc, clang-19\n" + RUN + RUNTIME)
    (tmp_path / "FileCheck").write_text(FILECHECK)
    (tmp_path / "FileCheck").chmod(0o755)
    return tmp_path / "llvm"


def run_ompt(build: Path, suite: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TOOL, suite, "--marline", build / "bin" / "marline", "--filecheck",
               suite.parent / "FileCheck", "-o", suite.parent / "output", *words]  # fmt: skip
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False, timeout=600)


def list_difference(suite: Path, new: str, old: str = "CHECK: runtime=.*", more: str = "") -> None:
    (suite.parent / "output").mkdir(exist_ok=True)
    (suite.parent / "output" / "differences.toml").write_text(
        '[[difference]]\nkind = "name"\nwhy = "it has another one"\ntests = ["tasks/only_stock.c"]\n'
        f'edits = [["{old}", "{new}"]]\n{more}')


def test_the_suite_with_a_difference_that_is_listed(build: Path, suite: Path) -> None:
    list_difference(suite, "CHECK: runtime=Marline")
    ran = run_ompt(build, suite)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    facts = json.loads((suite.parent / "output" / "results.json").read_text())
    found = {result["test"]: result for result in facts["results"]}
    assert {name: result["stock"].split(":")[0] for name, result in found.items()} == {
        "left_out.c": "skipped", "tasks/passes.c": "passes", "tasks/fails.c": "fails", "tasks/only_stock.c": "passes"}
    assert found["tasks/passes.c"]["marline"] == "passes"
    fails = found["tasks/only_stock.c"]
    assert fails["marline"] == "fails: exit 1: line 15: CHECK: not found in input: CHECK: runtime=other"
    assert fails["edited"] == "passes" and fails["runs"] == {"stock": "5 of 5", "marline": "0 of 5"}
    page = (suite.parent / "output" / "README.md").read_text()
    assert "| **all** | **4** | **2** | **1** | **2** |" in page
    assert "| name | it has another one | tasks/only_stock.c |" in page and "Not explained" not in page
    assert "| tasks/fails.c | fails: exit 1: line 15:" in page and "compiler: left_out.c." in page


def test_a_failure_that_is_not_listed_or_listed_wrongly(build: Path, suite: Path) -> None:
    words = ("--only", "only_stock")
    ran = run_ompt(build, suite, *words)
    assert ran.returncode == 1, ran.stderr + ran.stdout
    page = (suite.parent / "output" / "README.md").read_text()
    assert "## Not explained" in page and "| not listed |" in page
    list_difference(suite, "CHECK: runtime=another")
    assert run_ompt(build, suite, *words).returncode == 1
    page = (suite.parent / "output" / "README.md").read_text()
    assert "| listed as name, but then fails: exit 1: line 15: CHECK: not found in input: CHECK: runtime=an" in page


def test_what_a_difference_may_change(build: Path, suite: Path) -> None:
    words = ("--only", "only_stock")
    list_difference(suite, "Marline=", "runtime=")
    ran = run_ompt(build, suite, *words)
    assert ran.returncode == 1 and 'the edits of "name" change the program of' in ran.stderr, ran.stderr
    list_difference(suite, "CHECK: Marline", more="""program = [['"Marline"', '"other"']]\n""")
    assert run_ompt(build, suite, *words).returncode == 1  # prints runtime=other, and Marline is expected
    list_difference(suite, "CHECK: runtime=", more="""program = [['"libmarline"', '"no such library"']]\n""")
    ran = run_ompt(build, suite, *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("words", "message"), [
    (("{nowhere}",), "has no openmp/runtime/test/ompt"),
    (("{suite}", "--compiler", "gcc-12"), "gcc-12: no Clang"),
    (("{suite}", "--filecheck", "{nowhere}/FileCheck"), "install it, or name another one"),
    (("{suite}", "--only", "no_such_test"), "none of its 4 tests matches no_such_test"),
    (("{suite}", "--marline", "{nowhere}/marline"), "not there; build Marline"),
])  # fmt: skip
def test_mistakes_are_one_line(build: Path, suite: Path, words: tuple[str, ...], message: str) -> None:
    given, *others = (word.format(nowhere=suite / "nowhere", suite=suite) for word in words)
    ran = run_ompt(build, Path(given), *others) if given == str(suite) else subprocess.run(
        [sys.executable, TOOL, given], env=clean_environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and message in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr
    assert not (suite.parent / "output").exists()
