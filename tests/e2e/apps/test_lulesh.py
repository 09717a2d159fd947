# SPDX-License-Identifier: Apache-2.0
"""apps/lulesh end to end: published answers, and the same bits from every form, grain, schedule, number of threads,
runtime and compiler.

`--form for` on stock runtimes is the reference of what threads do; published cycles and energies are of the physics.
A run that does not end within its time limit is a failure, so "no hang" is part of every test.
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
    (12, 9999): (297, 3.78273380067512e04),
    (15, 9999): (400, 5.70289379332839e04),
    (45, 30): (30, 1.07020029863e07),
}
# Every form of tasks, as words; the first of each pair is its name in the tests.
TASK_FORMS = {
    "tasks": ("--form", "tasks"),
    "clauses": ("--form", "tasks", "--pass", "clauses", "--dependences", "tiles"),
    "nowait": ("--form", "persistent"),
    "barrier": ("--form", "persistent", "--mode", "barrier"),
    "replay": ("--form", "persistent", "--mode", "replay"),
    "bsp": ("--form", "bsp"),
    "speculative": ("--form", "speculative"),
}
STANDARD = ("tasks", "bsp")  # need nothing of Marline's
GRAINS = {"auto": ("-tel", "auto"), "one": ("-tel", 1, "-tnl", 1), "uneven": ("-tel", 37, "-tnl", 5),
          "finest": ("-tel", 100000, "-tnl", 100000)}  # fmt: skip


class Outcome(ApplicationOutcome):
    program = "lulesh"

    @property
    def answer(self) -> tuple[int, float]:
        return int(self.remarks["cycles"]), float(self.remarks["origin_energy_exactly"])

    @property
    def fields(self) -> str:
        return self.remarks["fields"]


@pytest.fixture
def run(build, program) -> Callable[..., Outcome]:
    """run("lulesh-gcc12-mpich", ranks, threads, "-s", 8) is the outcome under `marline run`; `behind`: a library that
    is preloaded after Marline's."""

    def on_marline(name: str, ranks: int, threads: int, *words: object, behind: str = "", **changes: str) -> Outcome:
        prefix = [str(build / "bin" / "marline"), "run", "-n", str(ranks), "-t", str(threads), "--mpi",
                  name.rsplit("-", 1)[1], "--"]  # fmt: skip
        if behind:
            prefix += ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{behind}" exec "$@"', "sh"]
        return Outcome.of([*prefix, program(name), *map(str, words)], clean_environment(**changes))

    return on_marline


@pytest.fixture
def alone(program) -> Callable[..., Outcome]:
    """One process of two threads on the runtime that its compiler links."""

    def on_stock(name: str, *words: object) -> Outcome:
        return Outcome.of([program(name), *map(str, words)], clean_environment(OMP_NUM_THREADS="2"))

    return on_stock


@pytest.fixture(scope="module")
def serial(build, program) -> Callable[..., str]:
    """serial(ranks, "-s", 8) is the hash of the form `serial`; equal calls share it."""
    known: dict[tuple[object, ...], str] = {}

    def fields(ranks: int, *words: object) -> str:
        if (ranks, *words) not in known:
            command = [str(build / "bin" / "marline"), "run", "-n", str(ranks), "-t", "1", "--mpi", "openmpi", "--",
                       program("lulesh-gcc12-openmpi"), *map(str, words), "--form", "serial"]  # fmt: skip
            known[ranks, *words] = Outcome.of(command, clean_environment()).fields
        return known[ranks, *words]

    return fields


@pytest.mark.parametrize(("size", "cycles"), PUBLISHED)
def test_published_answers(run, size, cycles):
    outcome = run(PROGRAMS[size % len(PROGRAMS)], 1, 2, "-s", size, "-i", cycles)
    wanted, energy = PUBLISHED[size, cycles]
    assert outcome.answer == (wanted, pytest.approx(energy, rel=1e-10))
    assert float(outcome.remarks["symmetry_relative"]) < 1e-8


@pytest.mark.parametrize("form", TASK_FORMS)
def test_published_answers_of_tasks(run, serial, form):
    """To the stop time: the cycle that is created after the last one changes nothing."""
    outcome = run(PROGRAMS[len(form) % 4], 1, 2, "-s", 5, *TASK_FORMS[form], MARLINE_SCHEDULE=f"random:{len(form)}")
    assert outcome.answer == (72, pytest.approx(7.85366510214584e03, rel=1e-10))
    assert outcome.fields == serial(1, "-s", 5)


def test_a_cube_of_ranks_solves_the_problem_of_one(run):
    one = run("lulesh-gcc12-openmpi", 1, 1, "-s", 10, "-i", 25)
    cubes = run("lulesh-clang19-mpich", 8, 1, "-s", 5, "-i", 25)
    assert cubes.answer == (one.answer[0], pytest.approx(one.answer[1], rel=1e-12))


def test_all_forms_threads_and_compilers_give_the_same_bits(run, program):
    words = ("-s", 8, "-i", 60)
    hashes = {run(name, 1, threads, *words, "--form", form).remarks["fields"]
              for name, form, threads in zip(PROGRAMS, ("serial", "for", "for", "for"), (1, 2, 3, 1),
                                             strict=True)}  # fmt: skip
    stock = Outcome.of([program("lulesh-gcc12-openmpi"), *map(str, words)], clean_environment(OMP_NUM_THREADS="2"))
    assert hashes == {stock.remarks["fields"]}


@pytest.mark.parametrize("form", ("for", "tasks", "persistent"))
def test_clang_22_gives_the_same_bits(run, serial, form):
    outcome = run("lulesh-clang22-mpich", 1, 2, "-s", 7, "-i", 12, "--form", form, "-tel", 9)
    assert outcome.fields == serial(1, "-s", 7, "-i", 12)


@pytest.mark.parametrize("words", [("--form", "tasks", "--addresses", "data", "-tel", 9), ("--allocate", "cycle"),
                                   ("--form", "tasks", "--creation-us", 1), ("--form", "serial", "--loop-times")],
                         ids=lambda words: words[-2])  # fmt: skip
def test_options_for_measurements_change_no_bit(run, serial, words):
    assert run("lulesh-gcc12-mpich", 1, 2, "-s", 7, "-i", 12, *words).fields == serial(1, "-s", 7, "-i", 12)


def test_ranks_with_threads_give_the_same_bits(run):
    one, two = (run("lulesh-clang19-mpich", 8, threads, "-s", 4, "-i", 10) for threads in (1, 2))
    assert one.fields == two.fields


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("form", TASK_FORMS)
def test_tasks_give_the_same_bits(run, serial, form, grain):
    seed = 10 * list(TASK_FORMS).index(form) + list(GRAINS).index(grain)
    outcome = run(PROGRAMS[seed % 4], 1, 1 + seed % 3, "-s", 7, "-i", 12, *TASK_FORMS[form], *GRAINS[grain],
                  MARLINE_SCHEDULE=f"random:{seed}")  # fmt: skip
    assert outcome.fields == serial(1, "-s", 7, "-i", 12)


@pytest.mark.parametrize("form", TASK_FORMS)
def test_tasks_of_ranks_give_the_same_bits(run, serial, form):
    """Half of the forms with several messages per neighbour."""
    seed = list(TASK_FORMS).index(form)
    requests = (3, 2) if form in ("tasks", "nowait", "bsp", "speculative") else (1, 1)
    cut = ("-tel", 6, "-tnl", 9, "-rpf", requests[0], "-rpe", requests[1])
    outcome = run(PROGRAMS[seed % 4], 8, 1 + seed % 2, "-s", 4, "-i", 8, *cut, *TASK_FORMS[form],
                  MARLINE_SCHEDULE=f"random:{seed}")  # fmt: skip
    assert outcome.fields == serial(8, "-s", 4, "-i", 8)


@pytest.mark.parametrize("form", ("tasks", "replay", "speculative"))
def test_ranks_end_together(run, serial, form):
    """At the stop time, which no rank knows before: no rank waits for messages of a cycle that does not take place. The
    program itself looks for what speculation leaves."""
    outcome = run(PROGRAMS[len(form) % 4], 8, 1, "-s", 1, "-tel", 2, *TASK_FORMS[form])
    assert outcome.fields == serial(8, "-s", 1)
    assert (outcome.remarks.get("receives_withdrawn") is None) == (form != "speculative")


def test_27_ranks_give_the_same_bits(run):
    """In loops and in tasks, and the answer of one rank."""
    loops = run("lulesh-clang19-openmpi", 27, 1, "-s", 3, "-i", 6)
    tasks = run("lulesh-gcc12-openmpi", 27, 1, "-s", 3, "-i", 6, "-tel", 4, "-tnl", 4, "-rpf", 2, "--form", "tasks")
    one = run("lulesh-gcc12-openmpi", 1, 1, "-s", 9, "-i", 6)
    assert loops.fields == tasks.fields
    assert loops.answer == (one.answer[0], pytest.approx(one.answer[1], rel=1e-12))


@pytest.mark.parametrize(("ranks", "size", "name", "one"), [
    (8, 5, "lulesh-clang19-openmpi", (10, 9999)), (27, 4, "lulesh-gcc12-mpich", (12, 9999)),
])  # fmt: skip
def test_cubes_of_ranks_give_the_published_answer(run, ranks, size, name, one):
    outcome = run(name, ranks, 1, "-s", size, "-tel", 2, "-tnl", 2, "--form", "tasks")
    assert outcome.answer == (PUBLISHED[one][0], pytest.approx(PUBLISHED[one][1], rel=1e-9))


@pytest.mark.parametrize(("form", "mpi"), [("tasks", "mpich"), ("nowait", "openmpi"), ("speculative", "mpich")])
def test_delayed_messages_change_no_bit(run, build, serial, form, mpi):
    shim = str(build / "bench" / "delay" / mpi / "libmpi-delay.so")
    outcome = run(f"lulesh-gcc12-{mpi}", 8, 1, "-s", 3, "-i", 6, "-tel", 4, "-tnl", 4, *TASK_FORMS[form], behind=shim,
                  MPI_DELAY_US="700")  # fmt: skip
    assert outcome.fields == serial(8, "-s", 3, "-i", 6)


@pytest.mark.parametrize("compiler", ("gcc12", "clang19"))
@pytest.mark.parametrize("form", STANDARD)
def test_tasks_on_the_compilers_own_runtime(alone, serial, form, compiler):
    outcome = alone(f"lulesh-{compiler}-openmpi", "-s", 7, "-i", 12, "-tel", 9, *TASK_FORMS[form])
    assert outcome.fields == serial(1, "-s", 7, "-i", 12)
    assert outcome.remarks["passed_as"] == "clauses"


@pytest.mark.parametrize(("words", "missing"), [
    (("--form", "persistent"), "marline_graph_begin"),
    (("--form", "speculative"), "marline_mpi_speculation_begin"),
])  # fmt: skip
def test_what_is_missing_is_said(alone, words, missing):
    outcome = alone("lulesh-clang19-openmpi", *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1
    assert f"needs {missing}, which this" in outcome.complaints[0]


@pytest.mark.parametrize("mode", ("barrier", "nowait", "replay"))
def test_a_mesh_that_is_cut_anew_invalidates_the_graph(run, serial, mode):
    """Replay does not run the code that creates tasks: it would go on with blocks that are no more."""
    words = ("-s", 7, "-i", 12)
    outcome = run("lulesh-clang19-openmpi", 1, 2, *words, "--form", "persistent", "--mode", mode, "--remesh", 5)
    assert outcome.fields == serial(1, *words)
    tasks = next(float(line.split()[1]) for line in outcome.stdout.splitlines() if line.startswith("tasks "))
    assert tasks < 12 * float(outcome.remarks["tasks_per_cycle"]), "cycles 5 to 9 have fewer"


def test_dependences_are_filtered(run):
    """Of what the tasks touch every tile is named once; and less, where others imply it."""

    def counts(naming: str) -> tuple[int, int]:
        words = ("-s", 10, "-i", 1, "--form", "tasks", "--dependences", naming)
        remarks = run("lulesh-gcc12-openmpi", 1, 1, *words).remarks
        return int(remarks["before_filtering"]), int(remarks["dependences_per_cycle"])

    (before, tiles), (_, minimal) = counts("tiles"), counts("minimal")
    assert before > 8 * 10**3 > tiles > minimal > 0


def test_grain_is_chosen_by_the_size(run):
    """At least 16 tasks per loop, of at most 8,192 nodes or elements: of 157,464 nodes there are 20."""
    for size, wanted in ((45, ("16", "16")), (53, ("19", "20"))):
        remarks = run("lulesh-gcc12-openmpi", 1, 2, "-s", size, "-i", 1, "--form", "tasks").remarks
        assert (remarks["tel"], remarks["tnl"]) == wanted


def test_memory_is_told_before_it_is_taken(run):
    small = run("lulesh-gcc12-openmpi", 1, 1, "-s", 10, "-i", 1)
    assert float(small.remarks["memory_mib"]) == pytest.approx(1.3, rel=0.3)


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
    (("--form", "tree"), 1, "--form takes one of serial, for, tasks, persistent, bsp, speculative, not 'tree'"),
    (("-tel", "0"), 1, "-tel takes a whole number from 1 to 100000, not '0'"),
    (("-rpf", "0"), 1, "-rpf takes a whole number from 1 to 1000, not '0'"),
    (("--form", "tasks", "--allocate", "cycle"), 1, "--allocate cycle goes with --form serial and for"),
    (("--loop-times",), 1, "--loop-times goes with --form serial"),
    (("--footprint", "/"), 1, "--footprint /: cannot be written: Is a directory"),
    (("--mode", "eager"), 1, "--mode takes one of barrier, nowait, replay, not 'eager'"),
    (("--remesh", "5"), 1, "it goes with --form persistent"),
    (("-z",), 1, "unknown option '-z'; see --help"),
    (("more",), 1, "unexpected argument 'more'; see --help"),
    (("-s", "3"), 2, "2 ranks do not make a cube of cubes; take 1, 8, 27, 64, ..."),
])  # fmt: skip
def test_mistakes_are_told(run, words, ranks, complaint):
    outcome = run("lulesh-gcc12-mpich", ranks, 1, *words)  # Open MPI's launcher takes 2 s to end a job that fails
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1
    assert complaint in outcome.complaints[0]
