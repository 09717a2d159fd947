# SPDX-License-Identifier: Apache-2.0
"""apps/jacobi end to end: that speculation gives the result of a test after each iteration, bit by bit, as built by
each compiler for each MPI, on 1, 2 and 4 ranks, in random schedules.

The program computes the residual of its result anew, and looks for messages that cancelled iterations have left; that
it notices a wrong one is a test of its own. The build is the one in MARLINE_BUILD."""

from collections.abc import Callable
from pathlib import Path

import pytest

from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome, build_library
from conftest import clean_environment

PROGRAMS = [f"jacobi-{compiler}-{mpi}" for compiler in ("gcc12", "clang19") for mpi in ("openmpi", "mpich")]
SMALL = ("--rows", 61, "--columns", 50, "--blocks", 5, "--tolerance", 1e-3, "--solves", 3)

# A reduction that says of one iteration that its residual is 0.
TOO_SMALL = """
#define _GNU_SOURCE
#include <dlfcn.h>
int MPI_Allreduce(const void *mine, void *all, int count, void *type, void *op, void *comm) {
  static _Atomic int calls;
  int (*next)(const void *, void *, int, void *, void *, void *) = dlsym(RTLD_NEXT, "MPI_Allreduce");
  int code = next(mine, all, count, type, op, comm);
  if (++calls == 20) *(double *)all = 0;
  return code;
}
"""


class Outcome(ApplicationOutcome):
    program = "jacobi"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        lines = self.stdout.splitlines()
        assert "check passed" in lines
        words = [line.split() for line in lines if not line.startswith(("#", "check"))]
        return {name: float(value) for name, value, _ in words}

    @property
    def solves(self) -> list[str]:
        """Of each solve: the number of iterations, the residual, a hash of all numbers."""
        assert self.figures["seconds"] > 0
        return [text for name, text in self.remarks.items() if name.startswith("solve_")]


def iterations(solve: str) -> int:
    return int(solve.split()[1])


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_marline("jacobi-gcc12-mpich", ranks, threads, "--rows", 8) is the outcome under `marline run`; `behind`: a
    library that is preloaded after Marline's."""

    def run(name: str, ranks: int, threads: int, *arguments: object, behind: str = "", **changes: str) -> Outcome:
        mpi = name.rsplit("-", 1)[1]
        prefix = [str(build / "bin" / "marline"), "run", "-n", str(ranks), "-t", str(threads), "--mpi", mpi, "--"]
        if behind:
            prefix += ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{behind}" exec "$@"', "sh"]
        return Outcome.of([*prefix, program(name), *map(str, arguments)], clean_environment(**changes))

    return run


@pytest.fixture
def alone(program: Callable[[str], str]) -> Callable[..., Outcome]:
    """alone("jacobi-gcc12-mpich", "--rows", 8) is the outcome of one process on what its compiler linked."""

    def run(name: str, *arguments: object) -> Outcome:
        return Outcome.of([program(name), *map(str, arguments)], clean_environment(OMP_NUM_THREADS="2"))

    return run


@pytest.fixture(scope="session")
def tested_each(program: Callable[[str], str]) -> list[str]:
    """What one process on another runtime finds, with a test after each iteration."""
    return Outcome.of([program(PROGRAMS[0]), *map(str, SMALL)], clean_environment(OMP_NUM_THREADS="1")).solves


@pytest.fixture
def shim(build: Path) -> Callable[[str], str]:
    """shim("mpich") is the library that delays messages."""
    return lambda mpi: str(build / "bench" / "delay" / mpi / "libmpi-delay.so")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ranks", (1, 2, 4))
def test_forms_agree(on_marline, tested_each, name, ranks):
    assert len(tested_each) == 3 and len(set(tested_each)) == 3
    assert on_marline(name, ranks, 2, *SMALL).solves == tested_each
    assert on_marline(name, ranks, 2, "--form", "speculative", *SMALL).solves == tested_each
    seldom = on_marline(name, ranks, 2, "--form", "check-every", "--every", 7, *SMALL).solves
    assert [iterations(solve) for solve in seldom] == [-(-iterations(solve) // 7) * 7 for solve in tested_each]


@pytest.mark.parametrize("seed", (1, 2, 3))
@pytest.mark.parametrize("ahead", (1, 2, 5))
@pytest.mark.parametrize("ranks", (1, 2, 4))
def test_cancelled_iterations_leave_no_trace(on_marline, tested_each, ranks, ahead, seed):
    name = PROGRAMS[(ranks + ahead + seed) % 4]
    outcome = on_marline(name, ranks, 2, "--form", "speculative", "--ahead", ahead, *SMALL,
                         MARLINE_SCHEDULE=f"random:{seed}")  # fmt: skip
    assert outcome.solves == tested_each
    assert 0 <= outcome.figures["wasted"] <= ahead


def test_the_seed_makes_the_problem(on_marline):
    solves = on_marline(PROGRAMS[2], 2, 1, *SMALL, "--seed", 2, "--form", "speculative").solves
    assert solves[:2] == on_marline(PROGRAMS[1], 1, 2, *SMALL, "--blocks", 9, "--seed", 1).solves[1:]


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
def test_iterations_run_while_the_test_travels(on_marline, shim, tested_each, mpi):
    """With a delay of 10 ms a test after each iteration costs two delays, one for it and one for the row that is sent
    after it: no run is faster. Speculation pays one, and some at the end of a solve."""
    count = sum(map(iterations, tested_each))
    delayed = {"MPI_DELAY_US": "10000", "behind": shim(mpi)}
    ahead = on_marline(f"jacobi-clang19-{mpi}", 2, 1, "--form", "speculative", *SMALL, **delayed)
    assert ahead.solves == tested_each
    assert ahead.figures["seconds"] < 0.02 * (count - 3)
    assert ahead.figures["wasted"] > 0.5, "while the last test travels, the next iteration runs"
    each = on_marline(f"jacobi-clang19-{mpi}", 2, 1, *SMALL, **delayed)
    assert each.figures["seconds"] >= 0.02 * (count - 3)
    assert each.figures["wasted"] == 0


@pytest.mark.parametrize("form", ("check-each", "check-every", "speculative"))
def test_too_few_iterations(on_marline, form):
    outcome = on_marline(PROGRAMS[3], 2, 2, "--form", form, *SMALL, "--iterations", 5)
    assert outcome.code == EXIT_WRONG
    assert "the residual is still above" in outcome.complaints[0] and "after 5 iterations" in outcome.complaints[0]
    assert "seconds" not in outcome.stdout


@pytest.mark.parametrize("form", ("check-each", "speculative"))
def test_a_test_that_holds_too_early_is_noticed(on_marline, tmp_path, form):
    library = build_library(tmp_path, TOO_SMALL)
    outcome = on_marline("jacobi-gcc12-openmpi", 2, 1, "--form", form, *SMALL, LD_PRELOAD=str(library))
    assert outcome.code == EXIT_WRONG
    assert "was to be reached" in outcome.complaints[0]
    assert "check passed" not in outcome.stdout


@pytest.mark.parametrize(("words", "says"), [
    (("--form", "ahead"), "--form takes check-each, check-every or speculative, not 'ahead'"),
    (("--every", "5"), "--every goes with --form check-every, not with check-each"),
    (("--form", "check-every", "--ahead", "2"), "--ahead goes with --form speculative, not with check-every"),
    (("--form", "check-every", "--every", "1"), "--every takes a whole number from 2 to 1000, not '1'"),
    (("--form", "speculative"), "--form speculative needs marline_mpi_speculation_begin"),
    (("--rows", "4", "--blocks", "5"), "4 rows on 1 ranks cannot be cut into 5 blocks each"),
    (("--tolerance", "0"), "--tolerance takes a number from 1e-12 to 1, not '0'"),
    (("more",), "unexpected argument 'more'"),
])  # fmt: skip
def test_mistakes_are_refused(alone, words, says):
    outcome = alone(PROGRAMS[0], *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1 and says in outcome.complaints[0]


def test_help(alone):
    outcome = alone(PROGRAMS[0], "--help")
    assert outcome.code == 0
    assert outcome.stdout.startswith("usage: jacobi")
