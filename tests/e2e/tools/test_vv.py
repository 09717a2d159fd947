# SPDX-License-Identifier: Apache-2.0
"""tools/run_vv.py on a made-up suite in the form of OpenMP_VV: what it counts, what it says of a test, and its exit
status. The suite itself is not part of the project."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import clean_environment

TOOL = Path(__file__).resolve().parents[3] / "tools" / "run_vv.py"
HEADER = '#define OMPVV_ERROR(text) fprintf(stderr, "[OMPVV_ERROR: file.c:1]  %s\\n", text)\n'
PASSES = """
#include <omp.h>
int main(void) {
  int threads = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task
  threads = omp_get_num_threads();
  return threads == omp_get_max_threads() && threads <= omp_get_thread_limit() ? 0 : 1;
}
"""
FAILS = """
#include <stdio.h>
#include "ompvv.h"
int main(void) {
#pragma omp parallel
#pragma omp single
  OMPVV_ERROR("Condition 2 != 1 failed");
  printf("Test failed.\\n");
  return 1;
}
"""
REFUSED = "int main(void) { return no_such_name; }\n"
ONLY_STOCK = """
#include <omp.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "libmarline")) {
      printf("has Marline\\n");
      return omp_get_max_threads() > 0;
    }
  return 0;
}
"""
VARIABLE = """
#include <omp.h>
#include <string>
int main() { return omp_get_max_threads() == 3 ? 0 : 1; }
"""
SKIPPED = '#include <stdio.h>\nint main(void) { puts("Test skipped."); return 1; }\n'
HANGS = "int main(void) { for (volatile int i = 0;; ++i) {} }\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for folder in ("ompvv", "tests/4.5/task", "tests/5.0"):
        (tmp_path / "suite" / folder).mkdir(parents=True)
    (tmp_path / "suite" / "ompvv" / "ompvv.h").write_text(HEADER)
    add(tmp_path / "suite", "4.5/task/test_passes.c", PASSES)
    add(tmp_path / "suite", "4.5/task/test_fails.c", FAILS)
    add(tmp_path / "suite", "5.0/test_refused.c", REFUSED)
    return tmp_path / "suite"


def add(suite: Path, name: str, text: str) -> None:
    (suite / "tests" / name).write_text(text)


def run_vv(build: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TOOL, "--marline", build / "bin" / "marline", *words]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False, timeout=600)


def results(output: Path) -> dict[tuple[str, str], dict]:
    facts = json.loads((output / "results.json").read_text())
    return {(result["test"], result["compiler"]): result for result in facts["results"]}


def test_a_suite_of_three_tests(build: Path, suite: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    ran = run_vv(build, suite, "-o", output)
    assert ran.returncode == 0, ran.stderr  # no test passes on a compiler's runtime only
    found = results(output)
    assert len(found) == 6
    for compiler in ("clang-19", "gcc-12"):
        passes, fails = found["4.5/task/test_passes.c", compiler], found["4.5/task/test_fails.c", compiler]
        refused = found["5.0/test_refused.c", compiler]
        assert (passes["stock"], passes["marline"]) == ("passes", "passes")
        assert fails["stock"] == fails["marline"] == "fails: exit 1: Condition 2 != 1 failed"
        assert "no_such_name" in refused["built"] and not refused["stock"]
    page = (output / "README.md").read_text()
    assert "| 4.5/task | 2 | 2 | 1 | 1 | 2 | 2 | 1 | 1 |" in page
    assert "| **all** | **3** | **2** | **1** | **1** | **3** | **2** | **1** | **1** |" in page
    assert "## Tests whose result differs\n\nNone.\n" in page
    assert "| 4.5/task/test_fails.c | clang-19, gcc-12 | exit 1: Condition 2 != 1 failed |" in page
    assert "libgomp" in page and "libomp" in page


def test_a_test_that_only_marline_fails(build: Path, suite: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.mkdir()
    (output / "notes.txt").write_text("# by hand\n4.5/task/test_only_stock.c: looks for the library\n")
    add(suite, "4.5/task/test_only_stock.c", ONLY_STOCK)
    ran = run_vv(build, suite, "-o", output, "--compilers", "gcc-12", "--only", "stock")
    assert ran.returncode == 1, ran.stderr
    found = results(output)["4.5/task/test_only_stock.c", "gcc-12"]
    assert found["stock"] == "passes" and found["marline"] == "fails: exit 1: has Marline"
    assert found["runs"] == {"stock": "5 of 5", "marline": "0 of 5"}
    row = "| 4.5/task/test_only_stock.c | gcc-12 | passes | fails: exit 1: has Marline | looks for the library |"
    assert row in (output / "README.md").read_text()
    (output / "notes.txt").write_text("suite: three tests\n")
    again = run_vv(build, "--page", "-o", output)
    assert again.returncode == 0, again.stderr
    page = (output / "README.md").read_text()
    assert "\nthree tests\n" in page and row not in page and row.replace("looks for the library", "") in page


def test_the_rules_of_the_suites_own_runner(build: Path, suite: Path, tmp_path: Path) -> None:
    add(suite, "5.0/test_omp_num_threads_env_3.cpp", VARIABLE)
    add(suite, "5.0/test_skipped.c", SKIPPED)
    add(suite, "5.0/test_hangs.c", HANGS)
    words = ("--compilers", "gcc-12", "-o", tmp_path / "output", "--only")
    ran = run_vv(build, suite, *words, "env|skipped", "--threads", "8")
    assert ran.returncode == 0, ran.stderr
    for name, outcome in {"test_omp_num_threads_env_3.cpp": "passes", "test_skipped.c": "skipped"}.items():
        result = results(tmp_path / "output")[f"5.0/{name}", "gcc-12"]
        assert (result["stock"], result["marline"]) == (outcome, outcome)
    assert "Skipped by themselves on both: 5.0/test_skipped.c." in (tmp_path / "output" / "README.md").read_text()
    assert run_vv(build, suite, *words, "hangs", "--seconds", "1").returncode == 0
    result = results(tmp_path / "output")["5.0/test_hangs.c", "gcc-12"]
    assert result["stock"] == result["marline"] == "fails: takes longer than 1 s"


@pytest.mark.parametrize(("words", "message"), [
    (("{nowhere}",), "has no ompvv/ompvv.h and tests"),
    (("{suite}", "--compilers", "gcc-99"), "gcc-99: not found"),
    (("{suite}", "--compilers", "icc"), "icc: not gcc or clang"),
    (("{suite}", "--only", "no_such_test"), "none of its 3 tests matches no_such_test"),
    (("{suite}", "--marline", "{nowhere}/marline"), "not there; build Marline"),
])  # fmt: skip
def test_mistakes_are_one_line(build: Path, suite: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    names = [word.format(nowhere=tmp_path, suite=suite) for word in words]
    ran = run_vv(build, *names, "-o", str(tmp_path / "output"))
    assert ran.returncode == 1 and message in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr
    assert not (tmp_path / "output").exists()
