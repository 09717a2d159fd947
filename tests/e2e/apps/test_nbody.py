# SPDX-License-Identifier: Apache-2.0
"""apps/nbody end to end: as built by each compiler for each MPI, on 1 to 4 ranks of 1 to 3 threads under Marline, on
one rank under the runtime that the compiler links, and without OpenMP.

The build is the one in MARLINE_BUILD. A run that does not end within its time limit is a failure, so "no hang" is part
of every test.
"""

import itertools
import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from application import EXIT_INPUT, EXIT_WRONG, FUNNELED, ApplicationOutcome, build_library
from conftest import clean_environment
from nbody_reference import expected_checksum, share

SOURCES = Path(__file__).resolve().parents[3] / "apps" / "nbody"
COMMON = SOURCES.parent / "common"
PROGRAMS = [f"nbody-{compiler}-{mpi}" for compiler in ("gcc12", "clang19") for mpi in ("openmpi", "mpich")]
SERIAL = [f"nbody-serial-{mpi}" for mpi in ("openmpi", "mpich")]
# Every program on every number of ranks and threads takes a minute: by default they take turns.
EXHAUSTIVE = os.environ.get("MARLINE_EXHAUSTIVE", "") not in ("", "0")
FIGURES = {"elapsed_s": "s", "interactions_per_s": "1/s", "gflops": "Gflop/s"}
FLOPS = 21


class Outcome(ApplicationOutcome):
    program = "nbody"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        words = [line.split() for line in self.stdout.splitlines() if not line.startswith("#")]
        assert {name: unit for name, _, unit in words} == FIGURES
        return {name: float(value) for name, value, _ in words}

    def per_rank(self, what: str) -> list[int]:
        return [int(word) for word in self.remarks[f"{what}_per_rank"].split()]


def execute(words: list[str], **changes: str) -> Outcome:
    return Outcome.of(words, clean_environment(**changes))


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_marline("nbody-gcc12-mpich", ranks, threads, "--bodies", 100) is the outcome under `marline run`."""

    def run(name: str, ranks: int, threads: int, *arguments: object, **changes: str) -> Outcome:
        prefix = [str(build / "bin" / "marline"), "run", "-n", str(ranks), "-t", str(threads), "--"]
        return execute([*prefix, program(name), *map(str, arguments)], **changes)

    return run


@pytest.fixture
def alone(program: Callable[[str], str]) -> Callable[..., Outcome]:
    """alone("nbody-gcc12-mpich", "--bodies", 100) is the outcome of one process on what its compiler linked."""

    def run(name: str, *arguments: object, threads: int = 2, **changes: str) -> Outcome:
        return execute([program(name), *map(str, arguments)], OMP_NUM_THREADS=str(threads), **changes)

    return run


@pytest.fixture
def launched(program: Callable[[str], str]) -> Callable[..., Outcome]:
    """launched("nbody-serial-mpich", ranks, "--bodies", 100) is the outcome of processes without OpenMP."""

    def run(name: str, ranks: int, *arguments: object, **changes: str) -> Outcome:
        launcher = shutil.which(f"mpirun.{name.rsplit('-', 1)[1]}")
        if launcher is None:
            pytest.skip("the launcher of this MPI is not installed")
        return execute([launcher, "-n", str(ranks), program(name), *map(str, arguments)], **changes)

    return run


def turns(*tables: tuple) -> Iterator[tuple]:
    """The product of the tables with the programs, which take turns unless all are asked for."""
    for index, case in enumerate(itertools.product(*tables)):
        for name in PROGRAMS if EXHAUSTIVE else [PROGRAMS[(index + index // len(PROGRAMS)) % len(PROGRAMS)]]:
            yield (name, *case)


def expect_refusal(outcome: Outcome, code: int, *words: str) -> None:
    assert outcome.code == code, outcome.stderr
    assert len(outcome.complaints) == 1, outcome.stderr
    for word in words:
        assert word in outcome.complaints[0]
    assert not [line for line in outcome.stdout.splitlines() if not line.startswith("#")], "a figure of a wrong result"


# What is right -------------------------------------------------------------------------------------------------------

SMALL = ("--bodies", 60, "--steps", 3, "--block", 8, "--seed", 5)


@pytest.mark.parametrize(("name", "ranks", "threads"), turns((1, 2, 3, 4), (1, 2, 3)))
def test_right_on_any_ranks_and_threads(
    on_marline: Callable[..., Outcome], name: str, ranks: int, threads: int
) -> None:
    outcome = on_marline(name, ranks, threads, *SMALL, "--imbalance", 0.5, "--verify")
    remarks = outcome.remarks
    assert (remarks["ranks"], remarks["threads"]) == (str(ranks), str(threads))
    assert float(remarks["difference"]) <= 1e-12
    assert float(remarks["checksum"]) == pytest.approx(expected_checksum(5, 60, 3), rel=1e-11)
    assert sum(outcome.per_rank("bodies")) == 60


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_on_the_stock_runtimes(alone: Callable[..., Outcome], name: str, threads: int) -> None:
    remarks = alone(name, *SMALL, "--verify", "--labels", threads=threads).remarks
    assert (remarks["ranks"], remarks["threads"]) == ("1", str(threads))
    assert float(remarks["checksum"]) == pytest.approx(expected_checksum(5, 60, 3), rel=1e-11)


@pytest.mark.parametrize("ranks", (1, 3, 4))
@pytest.mark.parametrize("name", SERIAL)
def test_right_without_openmp(launched: Callable[..., Outcome], name: str, ranks: int) -> None:
    """The order of creation is a valid sequential execution. These blocks of 40 KB and more go by rendezvous: a
    send waits for its receive."""
    remarks = launched(name, ranks, "--bodies", 8000, "--steps", 1, "--block", 4000, "--imbalance", 0.3).remarks
    assert (remarks["ranks"], remarks["threads"]) == (str(ranks), "1")
    assert launched(name, ranks, *SMALL, "--verify").remarks["difference"]


def test_large_blocks_go_by_rendezvous(on_marline: Callable[..., Outcome]) -> None:
    for name in (PROGRAMS[0], PROGRAMS[3]):
        assert on_marline(name, 3, 1, "--bodies", 7000, "--steps", 1, "--block", 2500).figures


def test_same_bits_for_any_threads_and_schedule(on_marline: Callable[..., Outcome]) -> None:
    arguments = (*SMALL, "--imbalance", 0.7, "--labels")
    runs = [on_marline(PROGRAMS[1], 2, threads, *arguments) for threads in (1, 3)]
    runs += [on_marline(PROGRAMS[1], 2, 2, *arguments, MARLINE_SCHEDULE="random:1")]
    assert len({run.remarks["checksum"] for run in runs}) == 1


SHAPES = {
    # name: (bodies, block, imbalance)
    "block divides": (64, 16, 0),
    "blocks of one": (13, 1, 0),
    "block larger than all": (20, 64, 0),
    "one body": (1, 256, 0),
    "more ranks than bodies": (3, 2, 0),
    "first rank and blocks empty": (50, 4, 1),
    "uneven blocks of a few": (47, 3, 0.9),
}


@pytest.mark.parametrize(("ranks", "shape"), [(2 + i % 3, shape) for i, shape in enumerate(SHAPES)])
def test_shapes(on_marline: Callable[..., Outcome], ranks: int, shape: str) -> None:
    bodies, block, imbalance = SHAPES[shape]
    name = PROGRAMS[ranks % len(PROGRAMS)]
    outcome = on_marline(
        name, ranks, 2, "--bodies", bodies, "--block", block, "--imbalance", imbalance, "--steps", 2, "--verify"
    )
    assert float(outcome.remarks["checksum"]) == pytest.approx(expected_checksum(1, bodies, 2), rel=1e-10)
    assert outcome.per_rank("bodies") == share(bodies, ranks, imbalance)
    assert outcome.per_rank("blocks") == [math.ceil(n / block) for n in share(bodies, ranks, imbalance)]


def test_figures(alone: Callable[..., Outcome]) -> None:
    figures = alone(PROGRAMS[1], "--bodies", 500, "--steps", 4).figures
    assert figures["interactions_per_s"] == pytest.approx(500**2 * 4 / figures["elapsed_s"], rel=0.01)
    assert figures["gflops"] == pytest.approx(FLOPS * figures["interactions_per_s"] / 1e9, rel=0.01, abs=1e-3)


def test_help_goes_to_stdout(alone: Callable[..., Outcome]) -> None:
    outcome = alone(PROGRAMS[1], "--help")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("usage: nbody")


# What is refused -----------------------------------------------------------------------------------------------------

BAD_OPTIONS = {
    "no bodies": (["--bodies", "0"], "--bodies takes"),
    "negative bodies": (["--bodies", "-5"], "'-5'"),
    "bodies a word": (["--bodies", "many"], "'many'"),
    "bodies with a tail": (["--bodies", "10k"], "'10k'"),
    "bodies beyond int": (["--bodies", "99999999999"], "to 10000000"),
    "bodies empty": (["--bodies", ""], "''"),
    "no steps": (["--steps", "0"], "--steps takes"),
    "block zero": (["--block", "0"], "--block takes"),
    "block too large": (["--block", "70000"], "to 65536"),
    "imbalance above 1": (["--imbalance", "1.1"], "--imbalance takes a number from 0 to 1"),
    "imbalance negative": (["--imbalance", "-0.1"], "'-0.1'"),
    "imbalance not a number": (["--imbalance", "nan"], "'nan'"),
    "imbalance with a tail": (["--imbalance", "0.5x"], "'0.5x'"),
    "dt zero": (["--dt", "0"], "--dt takes"),
    "dt too long": (["--dt", "0.2"], "to 0.1"),
    "seed": (["--seed", "x"], "--seed takes"),
    "verify too long": (["--verify", "--steps", "101"], "take fewer steps"),
    "unknown": (["--fast"], "'--fast'"),
    "no value": (["--bodies"], "needs a value"),
    "argument": (["cluster.dat"], "'cluster.dat'"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_option(alone: Callable[..., Outcome], case: str) -> None:
    arguments, words = BAD_OPTIONS[case]
    expect_refusal(alone(PROGRAMS[len(case) % len(PROGRAMS)], *arguments), EXIT_INPUT, words)


def test_one_line_from_many_ranks(on_marline: Callable[..., Outcome]) -> None:
    outcome = on_marline(PROGRAMS[0], 4, 1, "--bodies", "none")
    assert outcome.code != 0
    assert len(outcome.complaints) == 1 and "'none'" in outcome.complaints[0]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """library("name", source) is a shared object for LD_PRELOAD."""
    folder = tmp_path_factory.mktemp("libraries")

    def make(name: str, source: str) -> str:
        return str(build_library(folder, source, name))

    return make


FEW_TAGS = """
int MPI_Comm_get_attr(void *comm, int key, void *value, int *found) {
  static int bound = 5;
  *(int **)value = &bound;
  *found = 1;
  return 0;
}
"""
NO_MEMORY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
void *aligned_alloc(size_t alignment, size_t size) {
  void *(*right)(size_t, size_t) = dlsym(RTLD_NEXT, "aligned_alloc");
  return size > 100000 ? NULL : right(alignment, size);
}
"""


def test_mpi_without_threads(alone: Callable[..., Outcome], library: Callable[[str, str], str]) -> None:
    preload = {"LD_PRELOAD": library("funneled", FUNNELED)}
    expect_refusal(alone(PROGRAMS[0], *SMALL, threads=2, **preload), EXIT_INPUT, "MPI_THREAD_MULTIPLE", "2 threads")
    assert alone(PROGRAMS[0], *SMALL, threads=1, **preload).figures


def test_more_messages_than_tags(launched: Callable[..., Outcome], library: Callable[[str, str], str]) -> None:
    preload = {"LD_PRELOAD": library("few_tags", FEW_TAGS.replace("void *comm", "int comm"))}
    outcome = launched("nbody-serial-mpich", 2, "--bodies", 10, "--block", 1, **preload)
    expect_refusal(outcome, EXIT_INPUT, "message tags up to 9", "has 5", "use larger blocks")
    assert launched("nbody-serial-mpich", 2, "--bodies", 6, "--block", 1, **preload).figures


def test_too_little_memory(alone: Callable[..., Outcome], library: Callable[[str, str], str]) -> None:
    preload = {"LD_PRELOAD": library("no_memory", NO_MEMORY)}
    expect_refusal(alone(PROGRAMS[1], "--bodies", 9000, **preload), EXIT_INPUT, "not enough memory for 9000 bodies")


# That the checks check -----------------------------------------------------------------------------------------------

# The program once more, with kernels that err. Each fault: what to do instead of calling the right kernel.
FAULTY = """
#include "block.h"
#define kernel_forces right_forces
#define kernel_kick right_kick
#include "kernels.c"
#undef kernel_forces
#undef kernel_kick
void kernel_forces(Block targets, Block sources, Block force, double softening) {
  right_forces(targets, sources, force, softening);
  FORCES
}
void kernel_kick(Block velocity, Block force, double dt) { right_kick(velocity, force, dt * FACTOR); }
"""
FAULTS = {
    # name: (code after the forces, factor of a kick, arguments, complaint)
    "one force lost": ("force.data[0] *= targets.data == sources.data;", 1, (), "the momentum changed by"),
    "not a number": ("force.data[0] /= 0.0; force.data[0] *= 0;", 1, (), "the momentum changed by"),
    "twice the force": ("", 2, ("--steps", "50"), "the energy changed by"),
    "a bit too much force": ("", 1.000001, ("--verify",), "differs by"),
}


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[Path]]:
    """The command line that builds the program, and its objects without the kernels."""
    compiler = shutil.which("mpicc.mpich")
    if compiler is None or shutil.which("gcc-12") is None:
        pytest.skip("gcc-12 and MPICH are not there to build a faulty program with")
    folder = tmp_path_factory.mktemp("faulty")
    headers = SOURCES.parents[1] / "include"
    words = [compiler, "-cc=gcc-12", "-fopenmp", "-D_GNU_SOURCE", f"-I{SOURCES}", f"-I{COMMON}", f"-I{headers}", "-w"]
    files = [*SOURCES.glob("*.c"), *COMMON.glob("*.c")]
    sources = [str(source) for source in files if source.name != "kernels.c"]
    subprocess.run([*words, "-c", *sources], check=True, cwd=folder)
    return words, sorted(folder.glob("*.o"))


@pytest.mark.parametrize("case", FAULTS)
def test_a_wrong_result_is_found(objects: tuple[list[str], list[Path]], case: str, tmp_path: Path) -> None:
    words, parts = objects
    forces, factor, arguments, complaint = FAULTS[case]
    source = tmp_path / "faulty.c"
    source.write_text(FAULTY.replace("FORCES", forces).replace("FACTOR", str(factor)))
    executable = tmp_path / "faulty"
    subprocess.run([*words, source, *parts, "-o", executable, "-lm"], check=True)
    outcome = execute([str(executable), "--bodies", "100", "--block", "30", *arguments], OMP_NUM_THREADS="2")
    expect_refusal(outcome, EXIT_WRONG, complaint)


# The load imbalance, as the report shows it --------------------------------------------------------------------------


@pytest.fixture
def traced(build: Path, program: Callable[[str], str], tmp_path: Path) -> Callable[..., dict]:
    """traced(["-n", "2"], "nbody-gcc12-mpich", "--bodies", 100) is the report on a recorded run."""

    def run(job: list[str], name: str, *arguments: object) -> dict:
        for package in ("numpy", "rich"):
            pytest.importorskip(package)
        marline = [str(build / "bin" / "marline")]
        folder = str(tmp_path / f"trace{len(list(tmp_path.iterdir()))}")
        assert execute([*marline, "trace", *job, "-o", folder, "--", program(name), *map(str, arguments)]).figures
        report = execute([*marline, "report", folder, "--json"])
        assert report.code == 0, report.stderr
        return json.loads(report.stdout)

    return run


def share_of(rank: dict, part: str) -> float:
    """Of the time of all threads of a rank."""
    assert rank["work_ns"] + rank["idle_ns"] + rank["overhead_ns"] == rank["threads"] * rank["makespan_ns"]
    return rank[part] / (rank["threads"] * rank["makespan_ns"])


@pytest.mark.parametrize("name", (PROGRAMS[1], PROGRAMS[2]))
def test_report_shows_the_imbalance(traced: Callable[..., dict], name: str) -> None:
    """Rank 0 has a ninth of the bodies of rank 1, hence of the work: by far most of its time nothing is ready."""

    def is_shown() -> bool:
        small, big = traced(["-n", "2", "-t", "1"], name, "--imbalance", 0.8, "--bodies", 4000, "--steps", 6)["ranks"]
        idle = share_of(small, "idle_ns")
        less_work = small["work_ns"] < big["work_ns"] / 2 and share_of(big, "work_ns") > 0.5
        return less_work and idle > 0.5 and idle > share_of(big, "idle_ns") + 0.3

    assert any(is_shown() for _ in range(4)), "in none of four runs, though others on the machine may blur one"


def test_labels_name_the_hops(traced: Callable[..., dict]) -> None:
    report = traced(["-n", "3", "-t", "1"], PROGRAMS[0], "--labels", "--bodies", 200, "--block", 40, "--steps", 2)
    kinds = {kind["name"]: kind["tasks"] for kind in report["kinds"]}
    # 66 or 67 bodies per rank make 2 blocks; the forces of the start are computed as well.
    for hop in (0, 1, 2):
        assert kinds[f"forces, hop {hop}"] == 3 * 3 * 2 * 2
    for hop in (1, 2):
        assert kinds[f"send, hop {hop}"] == kinds[f"receive, hop {hop}"] == 3 * 3 * 2


def test_four_ranks_add_up(traced: Callable[..., dict]) -> None:
    """All ranks share one total, and each divides it without a rest (share_of)."""
    ranks = traced(["-n", "4", "-t", "1"], PROGRAMS[1], "--imbalance", 0.8, "--bodies", 2000, "--steps", 3)["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    shares = [share_of(rank, "work_ns") for rank in ranks]
    assert all(0 < share <= 1 for share in shares)
    assert len({rank["makespan_ns"] for rank in ranks}) == 1


def test_one_rank_on_libomp_can_be_traced(traced: Callable[..., dict]) -> None:
    report = traced(["--runtime", "native", "-t", "2"], "nbody-clang19-mpich", "--bodies", 3000)
    (rank,) = report["ranks"]
    assert rank["threads"] == 2
    assert share_of(rank, "work_ns") > 0
    tasks = sum(kind["tasks"] for kind in report["kinds"] if kind["name"].startswith("task_"))
    assert tasks == 12 + 12 * 12 * 11 + 10 * (12 + 12)  # blocks filled; forces; drifts and kicks
