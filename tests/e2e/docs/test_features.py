# SPDX-License-Identifier: Apache-2.0
"""docs/features.md is what the test programs say, and they say what they cover (tools/gen_features.py); the check fails
where it should; `marline info --features` prints the list."""

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import run

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools" / "gen_features.py"
sys.path.insert(0, str(ROOT / "tools"))
import gen_features  # noqa: E402
import run_other_compilers  # noqa: E402

COMPILERS = {"gcc12", "clang14", "clang19", "gfortran12"}

FEATURES = """\
== Loops
for        11.5.1
  schedule:static    11.5.3
  nowait   15.6
cancel     16.1   not yet: a reason
omp_get_level      18.2
OMP_PLACES  21.1.6
"""
PROGRAM = """\
/* A program.
 *
 * Covers: for(schedule:static,
 *  nowait), omp_get_level
 * Covers (gcc): OMP_PLACES
 */
#pragma omp for \\
    schedule(static) nowait
int x = omp_get_level();
"""


def test_page(build):
    programs = json.loads((build / "tests" / "programs" / "programs.json").read_text())
    missing = COMPILERS - {compiler for program in programs for compiler in program["compilers"]}
    if missing:
        pytest.skip(f"configured without {', '.join(sorted(missing))}: the page has a column for each")
    result = run([sys.executable, TOOL, "--check", build])
    assert result.returncode == 0, result.stdout + result.stderr


def test_device_tables(build):
    """docs/device-tables.md counts the programs of each compiler that have been built."""
    programs = json.loads((build / "tests" / "programs" / "programs.json").read_text())
    wanted = COMPILERS | {"clang16", "clang22"}
    runs = {run for program in programs for run in program["runs"]}
    missing = wanted - {run.split(":")[0] for run in runs}
    if missing or "clang19:gpu" not in runs:
        pytest.skip(f"configured without {', '.join(sorted(missing)) or 'GPUs'}: the page has a column for each")
    result = run([sys.executable, ROOT / "tools" / "gen_device_tables.py", "--check", build])
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def check(tmp_path):
    """check(program=..., features=...) makes a tree of one program and its page, and returns what the check says."""

    def make(program: str = PROGRAM, features: str = FEATURES, suffix: str = ".c",
             write: bool = True) -> tuple[int, str]:
        source = tmp_path / "tests" / "programs" / f"program{suffix}"
        for path, text in ((source, program), (tmp_path / "python" / "marline" / "features.txt", features)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "docs").mkdir(exist_ok=True)
        entry = {"name": "program", "sources": [str(source)], "compilers": ["gcc12", "clang19"],
                 "environment": ["OMP_PLACES"]}  # fmt: skip
        (tmp_path / "tests" / "programs" / "programs.json").write_text(json.dumps([entry]))
        if write:
            run([sys.executable, TOOL, tmp_path, tmp_path])
        result = run([sys.executable, TOOL, "--check", tmp_path, tmp_path])
        return result.returncode, result.stdout + result.stderr

    make.page = tmp_path / "docs" / "features.md"
    return make


def test_the_check_accepts_what_is_in_order(check):
    assert check() == (0, "")
    page = check.page.read_text()
    assert "| | section | GCC 12 | Clang 14, 16, 19, 22 | gfortran 12 | programs |" in page
    assert "| **for** | 11.5.1 | C | C 19 | – | `program.c` |" in page
    assert "| **OMP_PLACES** | 21.1.6 | C | – | – | `program.c` |" in page
    assert "| **cancel** | 16.1 | – | – | – | not yet: a reason |" in page


@pytest.fixture
def others(tmp_path):
    """others(line...) writes what became of the programs with compilers that the tests do not have, and returns the
    path of the causes."""
    path = tmp_path / "tests" / "programs" / "other_compilers.txt"
    path.parent.mkdir(parents=True)

    def write(*lines: str) -> Path:
        path.write_text("# a comment\n" + "".join(f"{line}\n" for line in lines))
        return path.with_name("other_compilers_causes.txt")

    return write


def test_other_compilers_are_in_the_columns(check, others):
    """With the programs that passed."""
    others("gcc16 program passes", "clang22 program passes", "clang23 program passes", "flang23 other passes")
    assert check() == (0, "")
    page = check.page.read_text()
    assert "| | section | GCC 12, 16 | Clang 14, 16, 19, 22–23 | gfortran 12 | flang 23 | programs |" in page
    assert "| **for** | 11.5.1 | C | C since 19 | – | – | `program.c` |" in page
    assert "| **OMP_PLACES** | 21.1.6 | C | – | – | – | `program.c` |" in page
    assert "With the\nother versions (GCC 16; Clang 23; flang 23)" in page
    assert "Not tried: GCC 13–15; Clang 15, 17–18, 20–21." in page


def test_versions_without_a_feature_are_seen(check, others):
    """One in between, and the last one."""
    others("gcc13 program refused: error: no such clause", "gcc14 program passes", "clang23 program refused: error: x")
    assert check() == (0, "")
    assert "| **for** | 11.5.1 | C 12, 14 | C 19 | – | `program.c` |" in check.page.read_text()


def test_what_did_not_pass_is_listed(check, others):
    """One row for the versions with which it fails alike."""
    others("clang21 program refused: error: a|b", "clang23 program refused: error: a|b", "gcc16 program passes",
           "clang15 program refused: no")  # fmt: skip
    assert check() == (0, "")
    page = check.page.read_text()
    assert "| GCC 16 | 1 | 0 |" in page
    assert "| Clang 23 | 0 | 1 |" in page
    assert "| `program` | Clang 15 | refused: no |\n| `program` | Clang 21, 23 | refused: error: a\\|b |" in page


def test_each_failure_has_a_cause(check, others):
    """Written by hand, here for all versions of a kind of compiler."""
    causes = others("gcc13 program fails: exit 1: no", "gcc14 program fails: exit 1: no")
    assert check()[0] == 1
    assert "gcc13: `program` fails, and other_compilers_causes.txt does not say why" in check()[1]
    causes.write_text("gcc program [a reason](page.md)\n")
    assert check() == (0, "")
    assert "| `program` | GCC 13–14 | fails: exit 1: no ([a reason](page.md)) |" in check.page.read_text()


def test_a_cause_may_be_of_some_versions(check, others):
    """The others need one of their own; versions with one cause share a row."""
    causes = others(*[f"clang{version} program fails: exit 1: no" for version in (15, 17, 18, 21)])
    causes.write_text("clang15-17,21 program a bug of theirs\n")
    assert check()[1] == "clang18: `program` fails, and other_compilers_causes.txt does not say why\n"
    causes.write_text("clang15-17,21 program a bug of theirs\nclang18 program another one\n")
    assert check() == (0, "")
    rows = [line for line in check.page.read_text().splitlines() if "fails: exit" in line]
    assert rows == ["| `program` | Clang 15, 17, 21 | fails: exit 1: no (a bug of theirs) |",
                    "| `program` | Clang 18 | fails: exit 1: no (another one) |"]  # fmt: skip


def test_a_cause_of_what_does_not_fail_is_found(check, others):
    causes = others("clang15 program fails: exit 1: no", "clang17 program passes")
    causes.write_text("clang15 program a bug\nclang17 program mended since\ngcc program never seen\n")
    assert check()[1] == ("other_compilers_causes.txt: `program` does not fail with clang17\n"
                          "other_compilers_causes.txt: `program` does not fail with gcc\n")  # fmt: skip


def test_what_is_refused_may_have_a_cause(check, others):
    causes = others("clang23 program refused: error: x")
    causes.write_text("clang23 program no such function\n")
    assert check() == (0, "")
    assert "| `program` | Clang 23 | refused: error: x (no such function) |" in check.page.read_text()


def test_versions_of_languages_stand_together():
    tried = [12, 13, 14, 16]
    assert gen_features.cell({"C": {12, 13, 14, 16}, "C++": {12, 13, 14, 16}}, tried) == "C, C++"
    assert gen_features.cell({"C": {12, 13, 14, 16}, "C++": {14, 16}}, tried) == "C; C++ since 14"
    assert gen_features.cell({"C": {12, 13, 14}, "C++": {12, 13, 14}}, tried) == "C, C++ 12–14"
    assert gen_features.cell({}, tried) == "–"


@pytest.mark.parametrize(
    ("compiler", "expected"),
    [
        ("gcc13", ["gcc12"]),
        ("clang15", ["clang14", "clang16"]),
        ("clang21", ["clang19", "clang22"]),
        ("clang23", ["clang22"]),
        ("flang19", ["gfortran12"]),
    ],
)
def test_a_version_builds_what_its_neighbours_build(compiler, expected):
    assert run_other_compilers.neighbours(compiler) == expected


def test_command_lines_for_other_compilers():
    make = run_other_compilers.build_line
    line = "cd /b && /usr/bin/{} -O2 -MMD -MT /b/p -MF /b/p.d /s/p.c -o /b/p && /usr/bin/cmake -E transform"
    assert make(line.format("g++-12"), "gcc12", "gcc14") == "cd /b && /usr/bin/g++-14 -O2 /s/p.c -o /b/p"
    omp_h = "-idirafter /usr/lib/llvm-19/lib/clang/19/include"  # of the libomp that the program is linked with
    assert make(line.format("clang++-19 -fopenmp=libomp"), "clang19", "clang17") == (
        f"cd /b && /usr/bin/clang++-17 -fopenmp=libomp {omp_h} -O2 /s/p.c -o /b/p"
    )
    assert make(line.format("gfortran-12"), "gfortran12", "flang21") == "cd /b && /usr/bin/flang-21 -O2 /s/p.c -o /b/p"


def test_the_compilers_own_libomptarget_is_taken_where_it_is(tmp_path):
    line = "/usr/bin/clang-23 -L/usr/lib/llvm-19/lib p.c -o p -Wl,-rpath,/usr/lib/llvm-19/lib -lm"
    make = run_other_compilers.with_own_libomptarget
    assert make(line, "clang23", tmp_path) == line
    library = tmp_path / "usr" / "lib" / "llvm-23" / "lib" / "libomptarget.so"
    library.parent.mkdir(parents=True)
    library.touch()
    assert make(line, "clang23", tmp_path) == line.replace("llvm-19", "llvm-23")
    assert make(line, "clang21", tmp_path) == line


def test_fortran_is_read(check):
    program = "! Covers: for(schedule:static, nowait), omp_get_level, OMP_PLACES\n!$OMP DO &\n!$OMP schedule(static)\n"
    program += "i = omp_get_level()\n!$omp end do nowait\n"
    assert check(program, suffix=".f90")[0] == 0
    assert "| **for** | 11.5.1 | Fortran | Fortran 19 |" in check.page.read_text()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Covers", "Shows", "program: no Covers line in program.c"),
        ("omp_get_level\n *", "omp_get_levels\n *", "`omp_get_levels` is not in features.txt"),
        ("nowait), omp", "reduction), omp", "`for(reduction)` is not in features.txt"),
        ("nowait), omp", "), omp", "for(nowait): supported, says features.txt, but no program covers it"),
        (") nowait\n", ")\n", "says that it covers for(nowait), which it does not contain"),
        ("(static)", "(dynamic)", "says that it covers for(schedule:static), which it does not contain"),
        ("omp for", "omp parallel", "says that it covers for, which it does not contain"),
        ("= omp_get_level", "= omp_get_team", "says that it covers omp_get_level, which it does not contain"),
    ],
)
def test_the_check_finds_in_a_program(check, old, new, expected):
    assert old in PROGRAM
    status, output = check(PROGRAM.replace(old, new))
    assert status == 1
    assert expected in output


def test_a_version_means_later_ones_too():
    claim = gen_features.Claim(Path("program.c"), ["gcc", "clang19"], [])
    compilers = ["gcc12", "clang14", "clang16", "clang19", "clang22", "gfortran12"]
    assert [name for name in compilers if claim.holds_for(name)] == ["gcc12", "clang19", "clang22"]


def test_what_is_covered_is_not_called_unsupported(check):
    status, output = check(PROGRAM.replace("OMP_PLACES", "OMP_PLACES, cancel") + "#pragma omp cancel for\n")
    assert status == 1
    assert "cancel: `not yet` in features.txt, but program.c covers it" in output


@pytest.mark.parametrize("line", ["barrier", "barrier  15.3  broken", "barrier  15.3  not yet:", "for  11.5"])
def test_lines_that_cannot_be_read(check, line):
    status, output = check(features=FEATURES + line + "\n")
    assert status == 1
    assert "features.txt:8: " in output


def test_a_stale_page_is_found(check):
    check()
    status, output = check(features=FEATURES.replace("a reason", "another reason"), write=False)
    assert status == 1
    assert "is not what the tests say" in output


def test_info_prints_the_list(marline):
    result = marline("info", "--features")
    assert (result.returncode, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 120
    words = (ROOT / "python" / "marline" / "features.txt").read_text()
    directives = re.findall(r"^(?!==|#)(\S.*?) {2,}", words, re.MULTILINE)
    assert len(directives) > 150
    assert [name for name in directives if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", result.stdout)] == []
