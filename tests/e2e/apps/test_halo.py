# SPDX-License-Identifier: Apache-2.0
"""apps/halo end to end: every form, as built by each compiler for each MPI, on several ranks under Marline, and on what
its compiler links where that runtime can serve it.

The program checks its numbers itself, against the exact solution of its iteration; that it notices a wrong one is a
test of its own. The build is the one in MARLINE_BUILD."""

from collections.abc import Callable
from pathlib import Path

import pytest

from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome
from conftest import clean_environment

PROGRAMS = [f"halo-{compiler}-{mpi}" for compiler in ("gcc12", "clang19") for mpi in ("openmpi", "mpich")]
FORMS = ("for", "tasks", "detach")
SMALL = ("--rows", 30, "--columns", 50, "--blocks", 5, "--iterations", 40)


class Outcome(ApplicationOutcome):
    program = "halo"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        lines = self.stdout.splitlines()
        assert "check passed" in lines
        words = [line.split() for line in lines if not line.startswith(("#", "check"))]
        return {name: float(value) for name, value, _ in words}


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_marline("halo-gcc12-mpich", ranks, threads, "--rows", 8) is the outcome under `marline run`; `behind`: a
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
    """alone("halo-gcc12-mpich", "--rows", 8) is the outcome of one process on what its compiler linked."""

    def run(name: str, *arguments: object) -> Outcome:
        return Outcome.of([program(name), *map(str, arguments)], clean_environment(OMP_NUM_THREADS="2"))

    return run


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", FORMS)
def test_ranks_on_marline(on_marline, name, form):
    outcome = on_marline(name, 3, 2, "--form", form, *SMALL)
    assert outcome.figures["seconds"] > 0
    assert (outcome.remarks["form"], outcome.remarks["ranks"]) == (form, "3")


@pytest.mark.parametrize("form", ("tasks", "detach"))
def test_one_thread_is_enough(on_marline, form):
    assert on_marline(PROGRAMS[0], 2, 1, "--form", form, *SMALL).figures


def test_messages_too_large_to_be_buffered(on_marline):
    assert on_marline(PROGRAMS[1], 2, 1, "--rows", 4, "--columns", 60000, "--blocks", 2, "--iterations", 20).figures


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", ("for", "tasks"))
def test_on_the_compiler_s_own_runtime(alone, name, form):
    assert alone(name, "--form", form, *SMALL).figures["points_per_s"] > 0


@pytest.fixture
def shim(build: Path) -> Callable[[str], str]:
    """shim("mpich") is the library that delays messages."""
    return lambda mpi: str(build / "bench" / "delay" / mpi / "libmpi-delay.so")


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
def test_under_the_delay_shim(on_marline, shim, mpi):
    outcome = on_marline(f"halo-gcc12-{mpi}", 2, 1, *SMALL, MPI_DELAY_US="500", behind=shim(mpi))
    assert outcome.figures["iteration_us"] >= 500, "each row that a neighbour sends needs the one before"


def test_turns_compare_with_and_without_the_delay(on_marline, shim):
    words = ("--form", "for", *SMALL, "--turns", 3)
    figures = on_marline(PROGRAMS[0], 2, 1, *words, MPI_DELAY_US="2000", behind=shim("openmpi")).figures
    assert figures["iteration_us"] >= 2000
    assert figures["without_us"] > 0 and figures["growth"] > 1, "each exchange takes the delay"


def test_the_shim_says_where_it_belongs(on_marline, shim):
    outcome = on_marline(PROGRAMS[0], 2, 1, *SMALL, LD_PRELOAD=shim("openmpi"))
    assert outcome.code != 0
    assert "preload libmpi-delay.so behind libmarline-mpi.so" in outcome.stderr


def test_netem_delays_or_says_why_not(program):
    """A job over TCP in a network namespace of its own; a machine may not allow that, or its kernel not delay
    packets."""
    script = Path(__file__).resolve().parents[3] / "bench" / "delay" / "netem.sh"
    launched = ["mpirun.openmpi", "-n", "2", program(PROGRAMS[0]), "--form", "for", *map(str, SMALL)]
    outcome = Outcome.of([str(script), "2000", *launched], clean_environment(OMP_NUM_THREADS="1"))
    if outcome.code == 125:
        assert "netem.sh: " in outcome.stderr
    else:
        assert outcome.figures["iteration_us"] >= 2000


def test_a_wrong_number_is_noticed(on_marline, compiled):
    library = compiled("gcc-12", "halo_wrong.c", "-shared", "-fPIC")
    outcome = on_marline(PROGRAMS[0], 2, 1, *SMALL, LD_PRELOAD=str(library))
    assert outcome.code == EXIT_WRONG
    assert "a number is wrong by" in outcome.complaints[0]
    assert "seconds" not in outcome.stdout


@pytest.mark.parametrize(("words", "says"), [
    (("--form", "loops"), "--form takes for, tasks or detach, not 'loops'"),
    (("--blocks", "1"), "--blocks takes a whole number from 2"),
    (("--rows", "4", "--blocks", "5"), "4 rows cannot be cut into 5 blocks"),
    (("--speed", "9"), "unknown option '--speed'"),
    (("more",), "unexpected argument 'more'"),
])  # fmt: skip
def test_mistakes_are_refused(alone, words, says):
    outcome = alone(PROGRAMS[0], *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1 and says in outcome.complaints[0]


def test_help(alone):
    outcome = alone(PROGRAMS[0], "--help")
    assert outcome.code == 0
    assert outcome.stdout.startswith("usage: halo")
