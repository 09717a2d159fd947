# SPDX-License-Identifier: Apache-2.0
"""apps/cholesky end to end: every kind of input, on 1, 2 and 4 ranks, as built by each compiler for each MPI.

One rank runs on whatever runtime the program finds, or under the command prefix in MARLINE_RUN. Several ranks run under
`marline run`: on a runtime that cannot suspend a task the program may hang (apps/cholesky/README.md). The build is the
one in MARLINE_BUILD. A run that does not end within its time limit is a failure, so "no hang" is part of every test.
"""
from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from application import EXIT_INPUT, EXIT_WRONG, FUNNELED, ApplicationOutcome, build_library
from conftest import SECONDS, clean_environment

BUILD = Path(os.environ.get("MARLINE_BUILD", Path(__file__).parents[3] / "build" / "release")).resolve()
MARLINE = BUILD / "bin" / "marline"
PROGRAMS = [f"cholesky-{compiler}-{mpi}" for compiler in ("gcc12", "clang19") for mpi in ("openmpi", "mpich")]
RANKS = (1, 2, 4)
# Every case on every number of ranks takes minutes: by default the cases of a table take turns.
EXHAUSTIVE = os.environ.get("MARLINE_EXHAUSTIVE", "") not in ("", "0")


class Outcome(ApplicationOutcome):
    program = "cholesky"

    @property
    def report(self) -> dict[str, Any]:
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)


def run(
    program: str, ranks: int, *arguments: object, threads: int = 2, extra: dict[str, str] | None = None
) -> Outcome:
    executable = BUILD / "apps" / program
    if not executable.exists():
        pytest.skip(f"{executable} is not built")
    env = dict(os.environ) | (extra or {})
    if ranks == 1:
        prefix = shlex.split(os.environ.get("MARLINE_RUN", ""))
        env["OMP_NUM_THREADS"] = str(threads)
    else:
        if not MARLINE.exists():
            pytest.skip(f"{MARLINE} is not there: several ranks need a runtime that can suspend tasks")
        prefix = [str(MARLINE), "run", "-n", str(ranks), "-t", str(threads), "--"]
    command = [*prefix, str(executable), *map(str, arguments)]
    return Outcome.of(command, env)


def program_for(index: int, ranks: int) -> str:
    """Spreads a table of inputs over the programs, differently for each number of ranks."""
    return PROGRAMS[(index + ranks // 2) % len(PROGRAMS)]


def on_ranks(cases: Iterable[str], turns: tuple[int, ...] = RANKS) -> list[tuple[str, int]]:
    """The cases of a table with numbers of ranks, for parametrize."""
    if EXHAUSTIVE:
        return [(case, ranks) for case in cases for ranks in RANKS]
    return [(case, turns[index % len(turns)]) for index, case in enumerate(cases)]


def expect_refusal(outcome: Outcome, code: int, *words: str, ranks: int) -> None:
    assert len(outcome.complaints) == 1, outcome.stderr
    for word in words:
        assert word in outcome.complaints[0]
    assert outcome.stdout.strip() == ""
    assert outcome.code == code if ranks == 1 else outcome.code != 0


# Matrices ------------------------------------------------------------------------------------------------------------

Dense = list[list[float]]


def factor_product(n: int, pivots: Callable[[int], float] = lambda k: 1) -> Dense:
    """L D L^T for a unit lower L of small integers: exact, and its leading minors are the products of the pivots."""
    lower = [[1 if i == j else (3 * i + 5 * j) % 3 - 1 for j in range(i + 1)] for i in range(n)]
    entry = lambda i, j: sum(lower[i][k] * pivots(k) * lower[j][k] for k in range(min(i, j) + 1))  # noqa: E731
    return [[float(entry(i, j)) for j in range(n)] for i in range(n)]


def laplacian(n: int) -> Dense:
    """Tridiagonal, so that a sparse file has entries that are absent."""
    return [[2.0 if i == j else -1.0 if abs(i - j) == 1 else 0.0 for j in range(n)] for i in range(n)]


def write(path: Path, header: str, size: str, lines: Iterable[str]) -> Path:
    path.write_text(f"%%MatrixMarket matrix {header}\n% a comment\n\n{size}\n" + "".join(f"{line}\n" for line in lines))
    return path


def write_array(path: Path, a: Dense, symmetry: str, field: str = "real") -> Path:
    n = len(a)
    number = (lambda x: str(int(x))) if field == "integer" else repr
    lines = [number(a[i][j]) for j in range(n) for i in range(j if symmetry == "symmetric" else 0, n)]
    return write(path, f"array {field} {symmetry}", f"{n} {n}", lines)


def write_coordinate(path: Path, a: Dense, symmetry: str) -> Path:
    n = len(a)
    places = [(i, j) for i in range(n) for j in range(i + 1 if symmetry == "symmetric" else n) if a[i][j] != 0]
    lines = [f"{i + 1} {j + 1} {a[i][j]:.17e}" for i, j in places]
    return write(path, f"coordinate real {symmetry}", f"{n} {n} {len(places)}", lines)


def write_with_carriage_returns(path: Path, a: Dense) -> Path:
    write_coordinate(path, a, "general")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return path


def frobenius(a: Dense) -> float:
    return math.sqrt(sum(x * x for row in a for x in row))


def generated(seed: int, n: int) -> Dense:
    """The generator of apps/cholesky/generate.c, written a second time."""
    mask = (1 << 64) - 1

    def mix(x: int) -> int:
        x = (x + 0x9E3779B97F4A7C15) & mask
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    def entry(i: int, j: int) -> float:
        unit = (mix(mix(seed) ^ (max(i, j) << 32 | min(i, j))) >> 11) / (1 << 53)
        return n + unit if i == j else 2 * unit - 1

    return [[entry(i, j) for j in range(n)] for i in range(n)]


# What is accepted ----------------------------------------------------------------------------------------------------

SHAPES = {
    "tile divides n": (128, 32),
    "ragged last tile": (130, 32),
    "last tile of one": (97, 32),
    "tile larger than n": (40, 64),
    "more ranks than tiles": (40, 30),
    "one tile": (64, 64),
    "order one": (1, 1),
    "tiles of one": (24, 1),
    "many steps": (300, 16),
}


@pytest.mark.parametrize(("shape", "ranks"), on_ranks(SHAPES))
def test_generated(shape: str, ranks: int) -> None:
    n, tile = SHAPES[shape]
    program = program_for(list(SHAPES).index(shape), ranks)
    report = run(program, ranks, "-n", n, "-b", tile, "-s", 7, "--json").report
    assert report["check"] == "passed"
    assert 0 <= report["residual"] <= report["tolerance"]
    assert report["tolerance"] == pytest.approx(10 * n * 2.0**-52)
    assert report["norm"] == pytest.approx(frobenius(generated(7, n)), rel=1e-12)
    assert (report["n"], report["ranks"], report["threads"]) == (n, ranks, 2)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_large_tiles_go_by_rendezvous(program: str, ranks: int) -> None:
    report = run(program, ranks, "-n", 1000, "-b", 96, "--json").report
    assert report["check"] == "passed"
    assert report["gflops"] == pytest.approx(1000**3 / 3 / report["seconds"] * 1e-9, rel=0.05)


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("ranks", (2, 4))
def test_thread_counts(ranks: int, threads: int) -> None:
    report = run(program_for(threads, ranks), ranks, "-n", 200, "-b", 16, "--json", threads=threads).report
    assert (report["check"], report["threads"]) == ("passed", threads)


@pytest.mark.parametrize("grid", ("1x4", "4x1", "2x2"))
def test_process_grids(grid: str) -> None:
    report = run(PROGRAMS[0], 4, "-n", 150, "-b", 16, "-p", grid, "--json").report
    assert (report["check"], report["grid"]) == ("passed", grid)


FILES: dict[str, tuple[Dense, Callable[[Path, Dense], Path]]] = {
    "array symmetric": (factor_product(45), lambda path, a: write_array(path, a, "symmetric")),
    "array general": (factor_product(45), lambda path, a: write_array(path, a, "general")),
    "array integer": (factor_product(20), lambda path, a: write_array(path, a, "symmetric", "integer")),
    "coordinate symmetric": (laplacian(60), lambda path, a: write_coordinate(path, a, "symmetric")),
    "coordinate general": (laplacian(60), lambda path, a: write_coordinate(path, a, "general")),
    "carriage returns": (laplacian(20), write_with_carriage_returns),
    "huge numbers": ([[1e200, 1e199], [1e199, 1e200]], lambda path, a: write_array(path, a, "symmetric")),
}


@pytest.mark.parametrize(("kind", "ranks"), on_ranks(FILES))
def test_file(kind: str, ranks: int, tmp_path: Path) -> None:
    a, writer = FILES[kind]
    path = writer(tmp_path / "a name with \"quotes\".mtx", a)
    report = run(program_for(list(FILES).index(kind), ranks), ranks, "-f", path, "-b", 8, "--json").report
    assert (report["check"], report["n"], report["input"]) == ("passed", len(a), str(path))
    largest = max(abs(x) for row in a for x in row)
    scaled = [[x / largest for x in row] for row in a]
    assert report["norm"] == pytest.approx(largest * frobenius(scaled), rel=1e-12)


def test_lines_and_json_agree() -> None:
    arguments = ("-n", 50, "-b", 16)
    lines = dict(line.split(" ", 1) for line in run(PROGRAMS[0], 1, *arguments).stdout.splitlines())
    report = run(PROGRAMS[0], 1, *arguments, "--json").report
    assert lines.keys() == report.keys()
    same = lines.keys() - {"seconds", "gflops"}
    assert {key: float(lines[key]) for key in same - {"grid", "check"}} == pytest.approx(
        {key: report[key] for key in same - {"grid", "check"}}, rel=1e-5
    )


def test_no_check() -> None:
    report = run(PROGRAMS[0], 1, "-n", 50, "--no-check", "--json").report
    assert report["check"] == "skipped"
    assert "residual" not in report


def test_help_goes_to_stdout() -> None:
    outcome = run(PROGRAMS[0], 1, "--help")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("usage: cholesky")


# What is refused -----------------------------------------------------------------------------------------------------

INDEFINITE = {
    # name: (matrix, order of the first leading minor that is not positive)
    "first pivot": (factor_product(40, lambda k: -1 if k == 0 else 1), 1),
    "middle of a tile": (factor_product(40, lambda k: -1 if k >= 20 else 1), 21),
    "first of a tile": (factor_product(40, lambda k: -1 if k in (16, 30) else 1), 17),
    "last pivot": (factor_product(40, lambda k: -1 if k == 39 else 1), 40),
    "singular": (factor_product(40, lambda k: 0 if k == 10 else 1), 11),
    "zero": ([[0.0] * 9 for _ in range(9)], 1),
}


def test_starpu_computes_the_same(tmp_path: Path) -> None:
    """What studies/grain.yaml compares with: the same program with StarPU's tasks."""
    program = BUILD / "apps" / "cholesky-starpu"
    if not program.exists():
        pytest.skip("this build has no StarPU")
    a, minor = INDEFINITE["middle of a tile"]
    for words, code, says in ((["-n", "100", "-b", "16"], 0, "check passed"),
                              (["-f", str(write_array(tmp_path / "a.mtx", a, "symmetric")), "-b", "8"], EXIT_WRONG,
                               "")):  # fmt: skip
        result = subprocess.run([program, *words], env=clean_environment(OMP_NUM_THREADS="2"), stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
        assert result.returncode == code, result.stderr
        assert says in result.stdout
        assert code == 0 or f"order {minor} " in result.stderr


@pytest.mark.parametrize(("case", "ranks"), on_ranks(INDEFINITE, (1, 4, 2)))
def test_indefinite(case: str, ranks: int, tmp_path: Path) -> None:
    a, minor = INDEFINITE[case]
    path = write_array(tmp_path / "a.mtx", a, "symmetric")
    outcome = run(program_for(list(INDEFINITE).index(case), ranks), ranks, "-f", path, "-b", 8)
    expect_refusal(outcome, EXIT_WRONG, "not positive definite", f"order {minor} ", ranks=ranks)


HEADER = "%%MatrixMarket matrix"
BAD_FILES = {
    "empty": ("", "ends before the size"),
    "not a matrix": ("hello\n", "not a Matrix Market file"),
    "binary": ("\0\1\2\xff" * 50, "not a Matrix Market file"),
    "banner only": (f"{HEADER} array real symmetric\n% and then nothing\n", "ends before the size"),
    "complex": (f"{HEADER} array complex symmetric\n1 1\n1 0\n", "'real' or 'integer'"),
    "pattern": (f"{HEADER} coordinate pattern symmetric\n1 1 1\n1 1\n", "'real' or 'integer'"),
    "skew": (f"{HEADER} array real skew-symmetric\n2 2\n1\n", "'symmetric' or 'general'"),
    "format": (f"{HEADER} list real symmetric\n1 1\n1\n", "'array' or 'coordinate'"),
    "size": (f"{HEADER} array real symmetric\ntwo two\n1\n", "size line"),
    "size without count": (f"{HEADER} coordinate real symmetric\n2 2\n1 1 1\n", "size line"),
    "size with a count": (f"{HEADER} array real symmetric\n2 2 3\n1\n0\n1\n", "size line"),
    "no rows": (f"{HEADER} array real symmetric\n0 0\n", "size line"),
    "not square": (f"{HEADER} array real general\n2 3\n1\n2\n3\n4\n5\n6\n", "2 x 3"),
    "too large": (f"{HEADER} coordinate real symmetric\n9999999999 9999999999 0\n", "exceeds"),
    "truncated array": (f"{HEADER} array real symmetric\n3 3\n4\n0\n0\n4\n", "ends after 4 of 6 entries"),
    "truncated coordinate": (f"{HEADER} coordinate real symmetric\n2 2 2\n1 1 4\n2 2", "ends after 1 of 2 entries"),
    "too long": (f"{HEADER} array real symmetric\n1 1\n4\n5\n", "after the last"),
    "a word": (f"{HEADER} array real symmetric\n2 2\n4\nfour\n4\n", ":4: 'four' is not a finite number"),
    "not a number": (f"{HEADER} array real symmetric\n1 1\nnan\n", "not a finite number"),
    "infinite": (f"{HEADER} array real symmetric\n1 1\n1e999\n", "not a finite number"),
    "digits without end": (f"{HEADER} array real symmetric\n1 1\n1.{'0' * 300}\n", "not a finite number"),
    "fraction": (f"{HEADER} array integer symmetric\n1 1\n1.5\n", "not an integer"),
    "row out of range": (f"{HEADER} coordinate real symmetric\n2 2 2\n1 1 4\n3 1 1\n", ":4: '3' is not a row"),
    "column zero": (f"{HEADER} coordinate real symmetric\n2 2 1\n1 0 4\n", "'0' is not a row or column"),
    "above the diagonal": (f"{HEADER} coordinate real symmetric\n2 2 1\n1 2 4\n", "above the diagonal"),
    "twice": (f"{HEADER} coordinate real symmetric\n2 2 2\n1 1 4\n1 1 4\n", "entry (1, 1) is there twice"),
    "not symmetric": (f"{HEADER} array real general\n2 2\n4\n1\n2\n4\n", "not symmetric: entry (2, 1) is 1"),
    "half missing": (f"{HEADER} coordinate real general\n2 2 3\n1 1 4\n2 1 1\n2 2 4\n", "not symmetric"),
}


@pytest.mark.parametrize(("case", "ranks"), on_ranks(BAD_FILES, (1, 1, 2, 1, 4)))
def test_bad_file(case: str, ranks: int, tmp_path: Path) -> None:
    content, words = BAD_FILES[case]
    path = tmp_path / "bad.mtx"
    path.write_text(content, encoding="latin-1")
    outcome = run(program_for(list(BAD_FILES).index(case), ranks), ranks, "-f", path, "-b", 1)
    expect_refusal(outcome, EXIT_INPUT, str(path), words, ranks=ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_missing_file(ranks: int, tmp_path: Path) -> None:
    outcome = run(PROGRAMS[0], ranks, "-f", tmp_path / "none.mtx")
    expect_refusal(outcome, EXIT_INPUT, "none.mtx", "No such file", ranks=ranks)


def test_directory(tmp_path: Path) -> None:
    expect_refusal(run(PROGRAMS[0], 1, "-f", tmp_path), EXIT_INPUT, "cannot read", "directory", ranks=1)


BAD_OPTIONS = {
    "order zero": (["-n", "0"], "-n takes"),
    "order negative": (["-n", "-5"], "'-5'"),
    "order a word": (["-n", "many"], "'many'"),
    "order with a tail": (["-n", "10k"], "'10k'"),
    "order beyond int": (["-n", "99999999999"], "-n takes"),
    "order empty": (["-n", ""], "''"),
    "tile zero": (["-b", "0"], "-b takes"),
    "tile too large": (["-b", "40000"], "to 32768"),
    "seed": (["-s", "x"], "-s takes"),
    "grid": (["-p", "2"], "such as 2x3"),
    "grid with a tail": (["-p", "1x1x1"], "such as 2x3"),
    "grid of another size": (["-p", "3x5"], "3x5"),
    "unknown": (["--fast"], "'--fast'"),
    "no value": (["-n"], "needs a value"),
    "argument": (["matrix.mtx"], "'matrix.mtx'"),
    "two sources": (["-f", "a.mtx", "-n", "5"], "cannot be combined"),
    "too much memory": (["-n", "100000000", "-b", "32768"], "not enough memory"),
}


@pytest.mark.parametrize(("case", "ranks"), on_ranks(BAD_OPTIONS, (1, 1, 2, 1, 4)))
def test_bad_option(case: str, ranks: int) -> None:
    arguments, words = BAD_OPTIONS[case]
    outcome = run(program_for(list(BAD_OPTIONS).index(case), ranks), ranks, *arguments)
    expect_refusal(outcome, EXIT_INPUT, words, ranks=ranks)


def test_more_tiles_than_tags() -> None:
    outcome = run("cholesky-gcc12-mpich", 2, "-n", 1000000000, "-b", 32768)
    expect_refusal(outcome, EXIT_INPUT, "message tags", "use larger tiles", ranks=2)


# Every rank's own exit status ----------------------------------------------------------------------------------------

NOTE_EXIT = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void note(int status, void *unused) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", getenv("NOTE_EXIT"), (int)getpid());
  FILE *file = fopen(path, "w");
  fprintf(file, "%d", status);
  fclose(file);
  (void)unused;
}
__attribute__((constructor)) static void start(void) {
  if (strncmp(program_invocation_short_name, "cholesky-", 9) == 0) {
    on_exit(note, NULL);
  }
}
"""


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("code", (0, EXIT_WRONG, EXIT_INPUT))
def test_exit_status_of_every_rank(code: int, ranks: int, tmp_path: Path) -> None:
    library = build_library(tmp_path, NOTE_EXIT)
    notes = tmp_path / "notes"
    notes.mkdir()
    a = {0: laplacian(12), EXIT_WRONG: [[0.0] * 12] * 12, EXIT_INPUT: []}[code]
    path = write_array(tmp_path / "a.mtx", a, "symmetric")
    # MPICH's launcher lets the other ranks end by themselves when one has returned a status other than 0.
    extra = {"LD_PRELOAD": str(library), "NOTE_EXIT": str(notes)}
    run("cholesky-clang19-mpich", ranks, "-f", path, "-b", 4, extra=extra)
    assert [note.read_text() for note in notes.iterdir()] == [str(code)] * ranks


# An MPI library that grants less than MPI_THREAD_MULTIPLE -------------------------------------------------------------


def test_thread_support(tmp_path: Path) -> None:
    extra = {"LD_PRELOAD": str(build_library(tmp_path, FUNNELED))}
    outcome = run(PROGRAMS[0], 1, "-n", 32, threads=2, extra=extra)
    expect_refusal(outcome, EXIT_INPUT, "MPI_THREAD_MULTIPLE", "2 threads", ranks=1)
    assert run(PROGRAMS[0], 1, "-n", 32, "--json", threads=1, extra=extra).report["check"] == "passed"


# That the check itself checks ----------------------------------------------------------------------------------------

WRONG_TRSM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <cblas.h>
void cblas_dtrsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag,
                 blasint m, blasint n, double alpha, const double *a, blasint lda, double *b, blasint ldb) {
  void (*right)(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG, blasint, blasint, double,
                const double *, blasint, double *, blasint) = dlsym(RTLD_NEXT, "cblas_dtrsm");
  right(order, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
  b[0] *= 1 + 1e-6;
}
"""


def test_a_wrong_factor_is_found(tmp_path: Path) -> None:
    library = build_library(tmp_path, WRONG_TRSM)
    outcome = run(PROGRAMS[0], 1, "-n", 64, "-b", 16, extra={"LD_PRELOAD": str(library)})
    assert outcome.code == EXIT_WRONG
    assert "check failed" in outcome.stdout.splitlines()
    assert len(outcome.complaints) == 1 and "residual" in outcome.complaints[0]


# Target tasks --------------------------------------------------------------------------------------------------------


def on_device(program: str, devices: str, *arguments: object, ranks: int = 1) -> Outcome:
    executable = BUILD / "apps" / program
    if not executable.exists() or not (BUILD / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip(f"{executable} is not built, or libmarline-target")
    words = [MARLINE, "run", "-n", ranks, "-t", 2, "--devices", devices, "--", executable, "--target", *arguments]
    return Outcome.of(list(map(str, words)), dict(os.environ))


@pytest.mark.parametrize(("program", "devices"), [
    ("cholesky-gcc12-openmpi", "process"), ("cholesky-gcc12-mpich", "nodes:1"),
    ("cholesky-target-clang19-openmpi", "process"), ("cholesky-target-clang19-openmpi", "nodes:1"),
])  # fmt: skip
def test_target_tasks(program, devices):
    """Tiles that do not divide the matrix; the second round's tiles replace the first round's on the device."""
    report = on_device(program, devices, "-n", 200, "-b", 48, "-r", 2, "--json").report
    assert (report["check"], report["ranks"], report["tiles"]) == ("passed", 1, 5)
    assert 0 < report["residual"] <= report["tolerance"]


def test_target_tasks_find_that_a_matrix_is_not_positive_definite(tmp_path):
    file = write_array(tmp_path / "a.mtx", factor_product(20, lambda k: -1 if k == 12 else 1), "symmetric")
    outcome = on_device("cholesky-gcc12-openmpi", "process", "-f", file, "-b", 5)
    assert outcome.code == EXIT_WRONG
    assert "its leading minor of order 13 is not positive" in outcome.complaints[0]


@pytest.mark.parametrize(("devices", "ranks", "says"), [
    ("none", 1, "--target: there is no device"), ("process", 2, "--target: one rank drives the device, not 2"),
])  # fmt: skip
def test_target_tasks_need_a_device_and_one_rank(devices, ranks, says):
    outcome = on_device("cholesky-gcc12-mpich", devices, "-n", 50, ranks=ranks)
    assert outcome.code == EXIT_INPUT
    assert says in outcome.complaints[0]
