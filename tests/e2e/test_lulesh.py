# SPDX-License-Identifier: Apache-2.0
"""apps/lulesh end to end: published answers, and the same bits from every form, number of threads, runtime and compiler.

`--form for` on stock runtimes is the reference of what threads do; the published cycles and energies are of the physics.
"""

from collections.abc import Callable

import pytest

from application import EXIT_INPUT, ApplicationOutcome
from conftest import clean_environment

PROGRAMS = [f"lulesh-{compiler}-{mpi}" for compiler in ("gcc12", "clang19") for mpi in ("openmpi", "mpich")]
# Size and most cycles: cycles, energy at the origin. As of 8 ranks of half the size, or 27 of a third.
PUBLISHED = {
    (5, 9999): (72, 7.85366510214584e03),
    (10, 9999): (231, 2.72053116847e04),
    (15, 9999): (400, 5.70289379332839e04),
    (45, 30): (30, 1.07020029863e07),
}


class Outcome(ApplicationOutcome):
    program = "lulesh"

    @property
    def answer(self) -> tuple[int, float]:
        return int(self.remarks["cycles"]), float(self.remarks["origin_energy_exactly"])


@pytest.fixture
def run(build, program) -> Callable[..., Outcome]:
    def on_marline(name: str, ranks: int, threads: int, *words: object, **changes: str) -> Outcome:
        prefix = [str(build / "bin" / "marline"), "run", "-n", str(ranks), "-t", str(threads), "--", program(name)]
        return Outcome.of([*prefix, *map(str, words)], clean_environment(**changes))

    return on_marline


@pytest.mark.parametrize(("size", "cycles"), PUBLISHED)
def test_published_answers(run, size, cycles):
    outcome = run(PROGRAMS[size % len(PROGRAMS)], 1, 2, "-s", size, "-i", cycles)
    wanted, energy = PUBLISHED[size, cycles]
    assert outcome.answer == (wanted, pytest.approx(energy, rel=1e-10))
    assert float(outcome.remarks["symmetry_relative"]) < 1e-8


@pytest.mark.parametrize(("ranks", "size", "edge"), [(8, 5, 10), (27, 3, 9)])
def test_a_cube_of_ranks_solves_the_problem_of_one(run, ranks, size, edge):
    one = run("lulesh-gcc12-openmpi", 1, 1, "-s", edge, "-i", 25)
    cubes = run(f"lulesh-clang19-{'mpich' if ranks == 8 else 'openmpi'}", ranks, 1, "-s", size, "-i", 25)
    assert cubes.answer == (one.answer[0], pytest.approx(one.answer[1], rel=1e-12))


def test_all_forms_threads_and_compilers_give_the_same_bits(run, program):
    words = ("-s", 8, "-i", 60)
    hashes = {run(name, 1, threads, *words, "--form", form).remarks["fields"]
              for name, form, threads in zip(PROGRAMS, ("serial", "for", "for", "for"), (1, 2, 3, 1), strict=True)}  # fmt: skip
    stock = Outcome.of([program("lulesh-gcc12-openmpi"), *map(str, words)], clean_environment(OMP_NUM_THREADS="2"))
    assert hashes == {stock.remarks["fields"]}


def test_ranks_with_threads_give_the_same_bits(run):
    one, two = (run("lulesh-clang19-mpich", 8, threads, "-s", 4, "-i", 10) for threads in (1, 2))
    assert one.remarks["fields"] == two.remarks["fields"]


def test_regions_change_no_answer(run):
    usual = run("lulesh-gcc12-mpich", 1, 2, "-s", 6)
    for words in (("-r", 1), ("-r", 20, "-b", 0, "-c", 0), ("-b", 2, "-c", 3)):
        assert run("lulesh-gcc12-mpich", 1, 2, "-s", 6, *words).remarks["fields"] == usual.remarks["fields"]


def test_cycles_are_printed(run):
    """The steps of the first cycles, and the growth of the second one, are known."""
    lines = [line.split() for line in run("lulesh-clang19-openmpi", 1, 1, "-s", 5, "-i", 5, "-p").stdout.splitlines()]
    steps = [float(words[-1]) for words in lines if words[:2] == ["#", "cycle"]]
    known = [3.41799709509e-4, 4.10159651410e-4, 1.40587086744e-4, 1.17401130526e-4, 1.04658586983e-4]
    assert steps == pytest.approx(known, rel=1e-9)


def test_quiet(run):
    outcome = run("lulesh-gcc12-openmpi", 1, 1, "-s", 4, "-i", 3, "-q", "-f", 4, "-v")
    assert (outcome.code, outcome.stdout) == (0, "")


@pytest.mark.parametrize(("words", "ranks", "complaint"), [
    (("-s", "0"), 1, "-s takes a whole number from 1 to 645, not '0'"),
    (("-s", "ten"), 1, "-s takes a whole number from 1 to 645, not 'ten'"),
    (("-b", "-1"), 1, "-b takes a whole number from 0 to 10, not '-1'"),
    (("-r", "100", "-b", "9"), 1, "the weights of 100 regions with -b 9 have the sum 1.05e+19"),
    (("--form", "tree"), 1, "--form takes serial or for, not 'tree'"),
    (("-z",), 1, "unknown option '-z'; see --help"),
    (("more",), 1, "unexpected argument 'more'; see --help"),
    (("-s", "3"), 2, "2 ranks do not make a cube of cubes; take 1, 8, 27, 64, ..."),
])  # fmt: skip
def test_mistakes_are_told(run, words, ranks, complaint):
    outcome = run("lulesh-gcc12-openmpi", ranks, 1, *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1
    assert complaint in outcome.complaints[0]
