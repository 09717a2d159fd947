# SPDX-License-Identifier: Apache-2.0
"""apps/hpccg end to end: every form, as built by each compiler for each MPI, on 1 and 2 ranks under Marline, and on one
rank under the runtime that the compiler links.

The build is the one in MARLINE_BUILD. A run that does not end within its time limit is a failure, so "no hang" is part
of every test.
"""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome
from conftest import clean_environment

COMPILERS = ("gcc12", "clang19")
PROGRAMS = [f"hpccg-{compiler}-{mpi}" for compiler in COMPILERS for mpi in ("openmpi", "mpich")]
# Another order of summation changes a norm of the residual by this part of the first norm, at most, within 50
# iterations (apps/hpccg/README.md).
SAME = 1e-12
SIZE = "12x10x8"  # of each of two ranks; of one rank: twice as high
HIGHER = "12x10x16"


class Outcome(ApplicationOutcome):
    program = "hpccg"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        lines = self.stdout.splitlines()
        assert "check passed" in lines
        words = [line.split() for line in lines if not line.startswith(("#", "check"))]
        return {name: float(value) for name, value, _ in words}


def execute(words: list[str], **changes: str) -> Outcome:
    return Outcome.of(words, clean_environment(**changes))


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_marline("hpccg-gcc12-mpich", ranks, "--size", 8) is the outcome under `marline run`."""

    def run(name: str, ranks: int, *arguments: object, **changes: str) -> Outcome:
        job = ["-n", str(ranks)] if ranks > 1 else []
        prefix = [str(build / "bin" / "marline"), "run", *job, "-t", "2", "--"]
        return execute([*prefix, program(name), *map(str, arguments)], **changes)

    return run


@pytest.fixture
def alone(program: Callable[[str], str]) -> Callable[..., Outcome]:
    """alone("hpccg-gcc12-mpich", "--size", 8) is the outcome of one process on what its compiler linked."""

    def run(name: str, *arguments: object, **changes: str) -> Outcome:
        return execute([program(name), *map(str, arguments)], OMP_NUM_THREADS="2", **changes)

    return run


def norms(path: Path) -> list[float]:
    lines = [line.split() for line in path.read_text().splitlines()]
    assert [int(number) for number, _ in lines] == list(range(len(lines)))
    return [float(norm) for _, norm in lines]


@pytest.fixture(scope="session")
def reference(program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """The residuals of the sequential form."""
    path = tmp_path_factory.mktemp("sequential") / "history"
    outcome = execute([program(PROGRAMS[0]), "--size", HIGHER, "--form", "sequential", "--history", str(path)])
    assert outcome.figures["seconds"] > 0
    return norms(path)


def agree(mine: list[float], theirs: list[float]) -> bool:
    largest = SAME * theirs[0]
    return len(mine) == len(theirs) and all(abs(a - b) <= largest for a, b in zip(mine, theirs, strict=True))


# The forms agree -----------------------------------------------------------------------------------------------------

STANDARD = {
    "for": ["--form", "for"],
    "for, separate": ["--form", "for", "--separate"],
    "tasks": ["--tiles", "7"],
    "tasks, one tile": ["--tiles", "1"],
    "tasks, a row each": ["--tiles", "100000"],
    "tasks, separate": ["--tiles", "7", "--separate"],
    "tasks, minimal": ["--tiles", "7", "--dependences", "minimal"],
    "tasks, minimal, separate": ["--tiles", "7", "--dependences", "minimal", "--separate"],
    "tasks, scalar": ["--tiles", "7", "--dependences", "scalar", "--parts", "3"],
    "tasks, redundant": ["--tiles", "7", "--dependences", "redundant"],
}
SLOW = ("tasks, a row each", "tasks, scalar", "tasks, redundant")  # 10^5 and more dependences per iteration
MARLINES = {
    "lists": ["--tiles", "7", "--parts", "3", "--pass", "lists"],
    "objects": ["--tiles", "7", "--parts", "3", "--pass", "objects"],
    "objects, minimal": ["--tiles", "7", "--parts", "3", "--pass", "objects", "--dependences", "minimal"],
    "objects, separate": ["--tiles", "7", "--parts", "3", "--pass", "objects", "--separate"],
}
ALL = STANDARD | MARLINES


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("form", ALL)
def test_forms_agree(on_marline: Callable[..., Outcome], reference: list[float], form: str, ranks: int,
                     tmp_path: Path) -> None:  # fmt: skip
    name = PROGRAMS[(list(ALL).index(form) + ranks) % len(PROGRAMS)]
    iterations = 5 if form in SLOW else 50
    path = tmp_path / "history"
    outcome = on_marline(name, ranks, "--size", HIGHER if ranks == 1 else SIZE, *ALL[form], "--iterations", iterations,
                         "--history", path)  # fmt: skip
    assert outcome.figures["gflops"] > 0
    assert agree(norms(path), reference[: iterations + 1])


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("form", [form for form in STANDARD if form != "tasks, a row each"])
def test_on_the_compilers_own_runtime(alone: Callable[..., Outcome], reference: list[float], form: str, compiler: str,
                                      tmp_path: Path) -> None:  # fmt: skip
    iterations = 5 if form in SLOW else 50
    path = tmp_path / "history"
    outcome = alone(f"hpccg-{compiler}-openmpi", "--size", HIGHER, *STANDARD[form], "--iterations", iterations,
                    "--history", path)  # fmt: skip
    assert outcome.code == 0, outcome.stderr
    assert agree(norms(path), reference[: iterations + 1])


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("mode", ("barrier", "nowait", "replay"))
@pytest.mark.parametrize("more", ([], ["--separate", "--parts", "2", "--pass", "lists", "--tolerance", "1e-6"]),
                         ids=("plain", "separate"))  # fmt: skip
def test_persistent(on_marline: Callable[..., Outcome], mode: str, more: list[str], ranks: int,
                    tmp_path: Path) -> None:  # fmt: skip
    """Bit by bit what the same tasks give when each iteration is discovered."""
    name = PROGRAMS[len(mode) % 2]
    common = ["--size", HIGHER if ranks == 1 else SIZE, "--tiles", "7", *more, "--history"]
    assert on_marline(name, ranks, *common, tmp_path / "tasks").code == 0
    persistent = on_marline(name, ranks, *common, tmp_path / "graph", "--form", "persistent", "--mode", mode,
                            MARLINE_SCHEDULE=f"random:{len(mode)}")  # fmt: skip
    assert persistent.code == 0, persistent.stderr
    assert norms(tmp_path / "graph") == norms(tmp_path / "tasks")


def test_parts_in_depend_clauses(alone: Callable[..., Outcome], reference: list[float], tmp_path: Path) -> None:
    """inoutset as Clang 19 knows it."""
    path = tmp_path / "history"
    outcome = alone("hpccg-clang19-mpich", "--size", HIGHER, "--tiles", 7, "--parts", 3, "--history", path)
    assert outcome.figures["tasks"] == 50 * (7 + 7 * 3 + 7 + 2)
    assert agree(norms(path), reference)


def test_task_forms_are_equal_bit_by_bit(on_marline: Callable[..., Outcome], alone: Callable[..., Outcome],
                                         tmp_path: Path) -> None:  # fmt: skip
    common = ["--size", HIGHER, "--tiles", "9", "--parts", "2", "--history"]
    found = []
    for seed, more in enumerate(([], ["--pass", "objects"], ["--pass", "lists", "--dependences", "minimal"])):
        outcome = on_marline("hpccg-clang19-openmpi", 1, *common, tmp_path / f"{seed}", *more,
                             MARLINE_SCHEDULE=f"random:{seed + 1}")  # fmt: skip
        assert outcome.code == 0, outcome.stderr
        found.append(norms(tmp_path / f"{seed}"))
    assert alone("hpccg-clang19-openmpi", *common, tmp_path / "peer").code == 0
    found.append(norms(tmp_path / "peer"))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("ranks", (1, 2))
def test_figures(on_marline: Callable[..., Outcome], ranks: int) -> None:
    outcome = on_marline(PROGRAMS[0], ranks, "--size", SIZE, "--tiles", 4, "--iterations", 10)
    rows = 12 * 10 * 8 * ranks
    assert int(outcome.remarks["rows"]) == rows
    assert int(outcome.remarks["nonzeros"]) == (3 * 12 - 2) * (3 * 10 - 2) * (3 * 8 * ranks - 2)
    assert set(outcome.figures) == {"seconds", "gflops", "discovery_s", "tasks", "dependences", "edges", "nodes"}
    assert outcome.figures["edges"] > 0
    messages = 2 if ranks == 2 else 0
    assert outcome.figures["tasks"] == 10 * (3 * 4 + 2 + messages)


def test_names_of_dependences_cost_what_they_say(alone: Callable[..., Outcome]) -> None:
    def count(naming: str) -> float:
        arguments = ["--size", 8, "--tiles", 4, "--iterations", 2, "--dependences", naming]
        return alone(PROGRAMS[0], *arguments).figures["dependences"]

    nonzeros = (3 * 8 - 2) ** 3
    assert count("redundant") == count("scalar") > 2 * nonzeros
    assert count("minimal") < count("tiles") < 200


# Stopping ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("arguments", (["--form", "for"], ["--lag", "0"], ["--lag", "4"], ["--separate", "--lag", "3"],
                                       ["--lag", "4", "--cancel"]), ids=" ".join)  # fmt: skip
def test_tolerance(on_marline: Callable[..., Outcome], reference: list[float], ranks: int, arguments: list[str],
                   tmp_path: Path) -> None:  # fmt: skip
    """All forms stop after the same iteration, and iterations that were created ahead of that change nothing."""
    path = tmp_path / "history"
    enough = 1e-6
    outcome = on_marline(PROGRAMS[1], ranks, "--size", HIGHER if ranks == 1 else SIZE, "--tiles", 5, *arguments,
                         "--tolerance", enough, "--history", path)  # fmt: skip
    last = next(k for k, norm in enumerate(reference) if norm <= enough * reference[0])
    assert int(outcome.remarks["iterations"]) == last
    assert agree(norms(path), reference[: last + 1])
    assert float(outcome.remarks["error"]) < 1e-4


# Matrix Market -------------------------------------------------------------------------------------------------------

HEADER = "%%MatrixMarket matrix coordinate real"


def spd(n: int) -> dict[tuple[int, int], float]:
    """An irregular pattern, strictly dominant."""
    places = {(i, (7 * i + 3 * k) % n) for i in range(n) for k in range(1, 4)}
    off = {(max(i, j), min(i, j)): -1.0 - (i + j) % 3 for i, j in places if i != j}
    diagonal = [1.5 + i % 5 for i in range(n)]
    for (i, j), value in off.items():
        diagonal[i] += abs(value)
        diagonal[j] += abs(value)
    return off | {(i, i): value for i, value in enumerate(diagonal)}


def write(path: Path, symmetry: str, n: int, entries: Iterable[tuple[int, int, float]]) -> Path:
    lines = [f"{i + 1} {j + 1} {value!r}\n" for i, j, value in entries]
    path.write_text(f"{HEADER} {symmetry}\n% a comment\n{n} {n} {len(lines)}\n" + "".join(lines))
    return path


def write_matrix(path: Path, symmetry: str, n: int) -> Path:
    lower = [(i, j, value) for (i, j), value in spd(n).items()]
    upper = [(j, i, value) for i, j, value in lower if i != j]
    return write(path, symmetry, n, lower + upper if symmetry == "general" else lower)


def euclid(r: list[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in r))


def largest(r: list[float]) -> float:
    return max(map(abs, r))


def solve(n: int, iterations: int, norm: Callable[[list[float]], float] = euclid) -> list[float]:
    """The textbook, in plain Python: the residual's norms."""
    full = {place: value for (i, j), value in spd(n).items() for place in ((i, j), (j, i))}
    rows = [[(j, value) for (i, j), value in full.items() if i == row] for row in range(n)]
    r = [math.fsum(value for _, value in row) for row in rows]
    p, rr = [0.0] * n, math.fsum(x * x for x in r)
    beta, found = 0.0, [norm(r)]
    for _ in range(iterations):
        p = [x + beta * y for x, y in zip(r, p, strict=True)]
        ap = [math.fsum(value * p[j] for j, value in row) for row in rows]
        alpha = rr / math.fsum(x * y for x, y in zip(p, ap, strict=True))
        r = [x - alpha * y for x, y in zip(r, ap, strict=True)]
        before, rr = rr, math.fsum(x * x for x in r)
        beta = rr / before
        found.append(norm(r))
    return found


@pytest.mark.parametrize("ranks", (1, 2, 3))
@pytest.mark.parametrize("symmetry", ("symmetric", "general"))
def test_matrix_market(on_marline: Callable[..., Outcome], symmetry: str, ranks: int, tmp_path: Path) -> None:
    path = write_matrix(tmp_path / "a.mtx", symmetry, 61)
    history = tmp_path / "history"
    outcome = on_marline(PROGRAMS[ranks], ranks, "--file", path, "--tiles", 4, "--iterations", 12, "--history", history)
    assert outcome.remarks["rows"] == "61"
    assert agree(norms(history), solve(61, 12))


@pytest.mark.parametrize("seed", (1, 2))
@pytest.mark.parametrize("ahead", (1, 4))
@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_speculation(on_marline: Callable[..., Outcome], ranks: int, ahead: int, seed: int, tmp_path: Path) -> None:
    """The verdict comes while later iterations communicate. The program itself looks for what they leave, and its check
    exchanges messages with the solver's tag."""
    path = write_matrix(tmp_path / "a.mtx", "symmetric", 61)
    history = tmp_path / "history"
    outcome = on_marline(PROGRAMS[(ranks + seed) % 4], ranks, "--file", path, "--tiles", 4, "--tolerance", 1e-5,
                         "--speculate", ahead, "--history", history, MARLINE_SCHEDULE=f"random:{seed}")  # fmt: skip
    expected = solve(61, 30, largest)
    last = next(k for k, norm in enumerate(expected) if norm <= 1e-5 * expected[0])
    assert outcome.figures["seconds"] > 0
    assert int(outcome.remarks["iterations"]) == last
    assert agree(norms(history), solve(61, last))
    assert "calls_refused" in outcome.remarks


def test_more_ranks_than_rows(on_marline: Callable[..., Outcome], tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", "symmetric", 2, [(0, 0, 2), (1, 0, -1), (1, 1, 2)])
    outcome = on_marline(PROGRAMS[1], 3, "--file", path, "--iterations", 4)
    assert float(outcome.remarks["residual"]) == 0  # exact after two iterations; no division by it after that


BAD_FILES = {
    "empty": ("", "before the size"),
    "no banner": ("2 2 1\n1 1 1\n", ":1: not a Matrix Market file"),
    "complex": ("%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1 0\n", ":1: the field must be"),
    "not square": (f"{HEADER} general\n2 3 1\n1 1 1\n", ":2: the matrix is 2 x 3"),
    "short": (f"{HEADER} symmetric\n2 2 2\n1 1 4\n", "ends after 1 of 2 entries"),
    "long": (f"{HEADER} symmetric\n1 1 1\n1 1 4\n1 1 4\n", ":4: '1' after the last of 1 entries"),
    "a word": (f"{HEADER} symmetric\n1 1 1\n1 1 four\n", ":3: 'four' is not a finite number"),
    "row out of range": (f"{HEADER} symmetric\n2 2 1\n3 1 1\n", ":3: '3' is not a row"),
    "above the diagonal": (f"{HEADER} symmetric\n2 2 1\n1 2 4\n", ":3: an entry above the diagonal"),
    "twice": (f"{HEADER} symmetric\n2 2 3\n1 1 4\n2 1 1\n2 1 1\n", ":5: entry (2, 1) is there twice"),
    "not symmetric": (f"{HEADER} general\n2 2 4\n1 1 4\n2 1 1\n1 2 2\n2 2 4\n", "not symmetric: entry (1, 2) is 2"),
    "half missing": (f"{HEADER} general\n2 2 3\n1 1 4\n2 1 1\n2 2 4\n", "not symmetric"),
}


def expect_refusal(outcome: Outcome, code: int, *words: str, ranks: int = 1) -> None:
    assert len(outcome.complaints) == 1, outcome.stderr
    for word in words:
        assert word in outcome.complaints[0]
    assert not re.search("^seconds", outcome.stdout, re.MULTILINE)
    assert outcome.code == code if ranks == 1 else outcome.code != 0


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file(on_marline: Callable[..., Outcome], case: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[case]
    path = tmp_path / "bad.mtx"
    path.write_text(content)
    ranks = 1 + list(BAD_FILES).index(case) % 2
    expect_refusal(on_marline(PROGRAMS[1], ranks, "--file", path), EXIT_INPUT, str(path), words, ranks=ranks)


@pytest.mark.parametrize("form", ("sequential", "tasks"))
def test_not_positive_definite(alone: Callable[..., Outcome], form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", "symmetric", 2, [(0, 0, 1), (1, 0, 0), (1, 1, -4)])
    expect_refusal(alone(PROGRAMS[0], "--file", path, "--form", form), EXIT_WRONG, "not positive definite")


# Mistakes ------------------------------------------------------------------------------------------------------------

BAD_OPTIONS = {
    "size": (["--size", "0"], "edges from 1 to 1290"),
    "two edges": (["--size", "4x4"], "64x32x16"),
    "form": (["--form", "fast"], "--form takes one of sequential, for, tasks, persistent, not 'fast'"),
    "dependences": (["--dependences", "all"], "--dependences takes one of"),
    "tiles": (["--tiles", "none"], "--tiles takes a whole number"),
    "tolerance": (["--tolerance", "nan"], "--tolerance takes a number from 0 to 1"),
    "unknown": (["--fast"], "'--fast'"),
    "argument": (["matrix.mtx"], "'matrix.mtx'"),
    "no value": (["--tiles"], "needs a value"),
    "two sources": (["--size", "4", "--file", "a.mtx"], "cannot be combined"),
    "missing file": (["--file", "none.mtx"], "No such file"),
    "history": (["--size", "2", "--history", "/nowhere/at/all"], "cannot open '/nowhere/at/all'"),
    "cancel": (["--cancel"], "--cancel"),
    "speculate, no tolerance": (["--speculate", "2"], "it goes with --form tasks and --tolerance"),
    "speculate, lag": (["--speculate", "2", "--lag", "2", "--tolerance", "1e-3"], "without --lag"),
    "too many rows": (["--size", "1290x1290x1290"], "too many rows"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_option(alone: Callable[..., Outcome], case: str) -> None:
    arguments, words = BAD_OPTIONS[case]
    expect_refusal(alone(PROGRAMS[0], *arguments), EXIT_INPUT, words)


@pytest.mark.parametrize(
    ("compiler", "arguments", "words"),
    [
        ("gcc12", ["--pass", "objects"], "this runtime does not have"),
        ("gcc12", ["--form", "persistent"], "marline_graph_begin, which this runtime does not have"),
        ("gcc12", ["--parts", "2"], "this compiler does not know"),
        ("clang19", ["--speculate", "2", "--tolerance", "1e-3"], "marline_mpi_speculation_begin"),
        ("clang19", ["--pass", "lists"], "this runtime does not have"),
    ],
    ids=str,
)
def test_what_is_missing_is_said(alone: Callable[..., Outcome], compiler: str, arguments: list[str],
                                 words: str) -> None:  # fmt: skip
    expect_refusal(alone(f"hpccg-{compiler}-openmpi", *arguments), EXIT_INPUT, words)


def test_help(alone: Callable[..., Outcome]) -> None:
    outcome = alone(PROGRAMS[0], "--help")
    assert outcome.code == 0 and outcome.stdout.startswith("usage: hpccg")
