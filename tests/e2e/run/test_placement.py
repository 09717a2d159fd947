# SPDX-License-Identifier: Apache-2.0
"""Placement of ranks and workers: the decision on described machines, and real ranks on this one."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from conftest import CROWDED, build_tree, run

sys.path.insert(0, str(build_tree() / "lib" / "marline" / "python"))
from marline.launch import node  # noqa: E402
from marline.launch.placement import Core, Placement, Situation, decide, pack, usable  # noqa: E402

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}

# Two packages of 64 cores with two hardware threads each, numbered as Linux does on most such machines.
BIG = [Core((core, core + 128), (core // 64, core // 64)) for core in range(128)]
SMALL = [Core((0,)), Core((1,))]


def every_cpu(cores: list[Core]) -> frozenset[int]:
    return frozenset(chain.from_iterable(core.cpus for core in cores))


def ranks_of(cores: list[Core], ranks: int, threads: int | None, **more: object) -> Iterator[Placement]:
    """What each of the ranks of an unbound job decides."""
    cpus = every_cpu(cores)
    for rank in range(ranks):
        yield decide(replace(Situation(cores, cpus, cpus, rank, ranks, threads), **more))


def assert_apart(placements: list[Placement], cores: list[Core], threads: int) -> None:
    """Each rank has whole cores of its own, as many as threads."""
    masks = [placement.cpus for placement in placements]
    for mask in masks:
        mine = usable(cores, mask)
        assert len(mine) == threads
        assert every_cpu(mine) == mask and all(core in cores for core in mine)
    assert len(frozenset().union(*masks)) == sum(len(mask) for mask in masks)


@pytest.mark.parametrize(("ranks", "threads"), [(1, 128), (2, 64), (4, 32), (16, 8), (128, 1), (3, 20), (10, 12)])
def test_nobody_shares_a_core(ranks, threads):
    placements = list(ranks_of(BIG, ranks, threads))
    assert_apart(placements, BIG, threads)
    assert all(placement.note is None for placement in placements)
    for placement in placements:
        places = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"} if threads > 1 else {}
        assert placement.variables == places


@pytest.mark.parametrize(("ranks", "threads"), [(2, 64), (3, 20), (10, 12), (4, 30)])
def test_no_rank_lies_across_packages_if_all_fit(ranks, threads):
    for mine in pack(BIG, ranks, threads):
        assert len({core.domain for core in mine}) == 1


def test_a_rank_lies_across_packages_if_it_must():
    placements = list(ranks_of(BIG, 3, 42))
    assert_apart(placements, BIG, 42)
    assert len({core.domain for core in usable(BIG, placements[1].cpus)}) == 2


def test_cores_are_divided_where_nobody_says_how_many_threads():
    placements = list(ranks_of(BIG, 5, None))
    assert_apart(placements, BIG, 25)
    assert all(placement.variables["OMP_NUM_THREADS"] == "25" for placement in placements)


def test_hardware_threads_when_cores_do_not_suffice():
    placements = list(ranks_of(BIG, 4, 64))
    assert placements[0].note == "256 workers share 128 cores, each on a hardware thread of its own"
    assert all(placement.note is None for placement in placements[1:])
    assert all(len(placement.cpus) == 64 and placement.variables["OMP_PLACES"] == "threads" for placement in placements)
    assert frozenset().union(*(placement.cpus for placement in placements)) == every_cpu(BIG)
    assert len(usable(BIG, placements[0].cpus)) == 32  # siblings belong to one rank


def test_too_many_workers_share_the_cores_of_their_rank():
    first, second = ranks_of(SMALL, 2, 2)
    assert (first.note, second.note) == ("4 workers share 2 cores", None)
    assert len(usable(SMALL, first.cpus)) == len(usable(SMALL, second.cpus)) == 1
    assert not first.cpus & second.cpus
    assert first.variables == second.variables == {}


def test_no_core_is_left_over_where_workers_share_them():
    placements = list(ranks_of(BIG, 3, 128))
    assert frozenset().union(*(placement.cpus for placement in placements)) == every_cpu(BIG)
    assert sum(len(placement.cpus) for placement in placements) == len(every_cpu(BIG))


def test_more_ranks_than_cores_are_left_to_the_system():
    placements = list(ranks_of(SMALL, 3, 1))
    assert placements == [Placement(note="3 workers share 2 cores"), Placement(), Placement()]


def test_holes_of_a_control_group():
    """Some cores are missing, of others one hardware thread."""
    cpus = frozenset(cpu for cpu in every_cpu(BIG) if cpu % 3 != 0)
    there = usable(BIG, cpus)
    for rank in range(4):
        placement = decide(Situation(BIG, cpus, cpus, rank, 4, 16))
        assert placement.cpus <= cpus
        assert len(usable(BIG, placement.cpus)) == 16
    assert {len(core.cpus) for core in there} == {1, 2}


def test_launchers_masks_stay_if_they_suffice():
    own = every_cpu(BIG[8:16])
    placement = decide(Situation(BIG, own, every_cpu(BIG), 1, 16, 8))
    assert placement == Placement(variables={"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"})


def test_one_core_for_many_threads_is_widened():
    """As Open MPI does with one or two ranks."""
    everywhere = every_cpu(BIG)
    placements = [decide(Situation(BIG, frozenset(BIG[rank].cpus), everywhere, rank, 2, 16)) for rank in range(2)]
    assert_apart(placements, BIG, 16)
    assert "the launcher binds each rank to 1 core, too few for 16 threads" in placements[0].note
    assert placements[1].note is None


def test_a_batch_system_is_not_overruled():
    own, everywhere = every_cpu(BIG[:2]), every_cpu(BIG)
    placement = decide(Situation(BIG, own, everywhere, 0, 2, 16, batch=True))
    assert placement.cpus is None and not placement.variables
    assert placement.note.startswith("on each rank 16 workers share 2 cores, to which the launcher binds it")
    unbound = decide(Situation(BIG, everywhere, everywhere, 0, 2, 16, batch=True))
    assert unbound == Placement()


def test_launchers_masks_that_cannot_be_widened():
    placement = decide(Situation(SMALL, frozenset([0]), frozenset([0, 1]), 0, 2, 2))
    assert placement.note == ("on each rank 2 workers share 1 core, to which the launcher binds it; ask it for 2 cores "
                              "for each rank")  # fmt: skip


@pytest.mark.parametrize("variable", ["OMP_PLACES={0},{1}", "GOMP_CPU_AFFINITY=0-3", "KMP_AFFINITY=compact"])
def test_lists_of_the_user_decide_alone(variable):
    name, _, value = variable.partition("=")
    assert list(ranks_of(BIG, 2, 2, environment={name: value})) == [Placement(), Placement()]


@pytest.mark.parametrize("variable", ["OMP_PLACES=threads", "OMP_PROC_BIND=false", "OMP_PROC_BIND=close"])
def test_policies_of_the_user_stay(variable):
    name, _, value = variable.partition("=")
    placements = list(ranks_of(BIG, 2, 2, environment={name: value}))
    assert_apart(placements, BIG, 2)
    assert all(not placement.variables for placement in placements)


def test_without_a_launcher():
    assert decide(Situation(SMALL, frozenset([0, 1]), threads=2)) == Placement()
    assert decide(Situation(SMALL, frozenset([0, 1]), threads=3)) == Placement(note="3 workers share 2 cores")


@pytest.mark.parametrize(("text", "of_node", "tasks"), [("4", "0", "4"), ("4(x2),3", "1", "4"), ("4(x2),3", "2", "3"),
                                                        ("4(x2),3", "3", ""), ("", "0", ""),
                                                        ("x", "0", "")])  # fmt: skip
def test_tasks_of_a_slurm_node(text, of_node, tasks):
    assert node.tasks_of_node(text, of_node) == tasks


def test_local_rank():
    assert node.local_rank({}) == ("", 0, 0)
    assert node.local_rank({"MPI_LOCALRANKID": "3", "MPI_LOCALNRANKS": "8"}) == ("MPI_LOCALRANKID", 3, 8)
    slurm = {"SLURM_LOCALID": "1", "SLURM_STEP_TASKS_PER_NODE": "4,2", "SLURM_NODEID": "1"}
    assert node.local_rank(slurm) == ("SLURM_LOCALID", 1, 2)
    assert node.local_rank({"SLURM_LOCALID": "1"}) == ("", 0, 0)


def test_reads_a_machines_cores(tmp_path):
    """Two packages of two cores, two hardware threads each, of which one is off line."""
    for cpu in [0, 1, 2, 3, 4, 5, 6]:
        folder = tmp_path / "cpu" / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{cpu % 4 // 2}\n")
        (folder / "core_id").write_text(f"{cpu % 2}\n")
    for number, cpus in enumerate(["0-1,4-5", "2-3,6"]):
        (tmp_path / "node" / f"node{number}").mkdir(parents=True)
        (tmp_path / "node" / f"node{number}" / "cpulist").write_text(cpus + "\n")
    assert node.read_cores(tmp_path) == [Core((0, 4), (0, 0)), Core((1, 5), (0, 0)), Core((2, 6), (1, 1)),
                                         Core((3,), (1, 1))]  # fmt: skip


def test_reads_this_machines_cores():
    assert os.sched_getaffinity(0) <= every_cpu(node.read_cores(node.SYSTEM))


# Real ranks. ----------------------------------------------------------------------------------------------------------

CPUS = sorted(os.sched_getaffinity(0))
CORES = usable(node.read_cores(node.SYSTEM), frozenset(CPUS))
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this process may use one core only")


@pytest.fixture(params=list(LAUNCHERS))
def mpi(request, build) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param


@pytest.fixture
def program(mpi, compiled) -> Path:
    return compiled(WRAPPERS[mpi], "affinity.c", "-fopenmp", "-DMPI_PROGRAM")


def masks(output: str) -> dict[tuple[int, int], frozenset[int]]:
    """By rank and thread."""
    found = re.findall(r"rank (\d+) thread (\d+) cpus ([\d,]+)", output)  # lines of ranks may run into each other
    return {(int(rank), int(thread)): frozenset(map(int, cpus.split(","))) for rank, thread, cpus in found}


def assert_on_cores_of_their_own(output: str, workers: int) -> None:
    found = masks(output)
    assert len(found) == workers, output
    used = [usable(CORES, mask) for mask in found.values()]
    assert all(len(mine) == 1 for mine in used), output
    assert len({mine[0].cpus for mine in used}) == workers, output


@two_cores
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_marline_starts_the_ranks(marline, program, ranks, threads):
    result = marline("run", "-n", str(ranks), "-t", str(threads), program)
    assert result.returncode == 0, result.stderr
    assert_on_cores_of_their_own(result.stdout, 2)
    assert "share" not in result.stderr


@two_cores
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_another_launcher_starts_the_ranks(mpi, build, program, ranks, threads):
    """Open MPI binds these ranks to one core each, and MPICH none."""
    words = [LAUNCHERS[mpi], "-n", str(ranks), build / "bin" / "marline", "run", "-t", str(threads), program]
    result = run(words, **CROWDED)
    assert result.returncode == 0, result.stderr
    assert_on_cores_of_their_own(result.stdout, 2)
    assert ("the launcher binds each rank to 1 core" in result.stderr) == (mpi == "openmpi" and threads == 2)


def test_says_that_cores_are_shared(marline, program):
    threads = len(CORES)
    result = marline("run", "-n", "2", "-t", str(threads), program)
    assert result.returncode == 0, result.stderr
    assert len(masks(result.stdout)) == 2 * threads
    assert result.stderr.count(f"{2 * threads} workers share {len(CORES)} core") == 1


def test_stays_in_the_callers_mask(build, program):
    words = ["taskset", "-c", str(CPUS[-1]), build / "bin" / "marline", "run", "-n", "2", "-t", "1", program]
    result = run(words)
    assert result.returncode == 0, result.stderr
    assert set(masks(result.stdout).values()) == {frozenset(CPUS[-1:])}
    assert result.stderr.count("2 workers share 1 core") == 1


@two_cores
def test_respects_the_users_places(marline, program):
    places = f"{{{CPUS[1]}}},{{{CPUS[0]}}}"
    result = marline("run", "-n", "1", "-t", "2", program, OMP_PLACES=places, OMP_PROC_BIND="close")
    assert masks(result.stdout) == {(0, 0): frozenset([CPUS[1]]), (0, 1): frozenset([CPUS[0]])}, result.stderr


@two_cores
def test_respects_threads_that_are_not_to_be_bound(marline, program):
    result = marline("run", "-n", "1", "-t", "2", program, OMP_PROC_BIND="false")
    assert {len(usable(CORES, mask)) for mask in masks(result.stdout).values()} == {2}, result.stderr


def test_no_bind(marline, program):
    result = marline("run", "-n", "2", "-t", "1", "--no-bind", program)
    assert set(masks(result.stdout).values()) == {frozenset(CPUS)}, result.stderr


def test_one_process_is_not_bound(marline, compiled):
    threads = len(CORES) + 1
    result = marline("run", "-t", str(threads), compiled("gcc-12", "affinity.c", "-fopenmp"))
    assert set(masks(result.stdout).values()) == {frozenset(CPUS)}, result.stderr
    assert result.stderr.count(f"{threads} workers share {len(CORES)} core") == 1
