# SPDX-License-Identifier: Apache-2.0
"""The passes `slow_patterns`, `addresses` and `bounds` on traces made by hand, with answers worked out by hand."""
from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SECONDS, clean_environment
from handmade import IMPLICIT, Stream, save  # first: it finds marline
from marline.report.notable import bounds_by_machine, notable, one_address
from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace
from test_critical_path import A, B, rank

INOUT, IN, INOUTSET = 3, 1, 7


def created(folder: Path, tasks: list[list[tuple[int, int]]], cost: int = 7, pause: int = 100,
            measured: int = 0) -> dict[str, Any]:  # fmt: skip
    """Tasks with dependences (kind, address). Creation takes `pause` ns and `cost` for each edge, which the test counts
    as one for each address that an earlier task has named with INOUT. If the runtime has measured creations, they took
    it 40 ns and `measured` for each edge."""
    stream, now, known = Stream().add(1000, "implicit_begin", IMPLICIT, size=1), 1000, set()
    for number, dependences in enumerate(tasks):
        edges = sum(address in known for _, address in dependences)
        took = {"mantissa": 40 + measured * edges} if measured else {}
        stream.add(now, "task_create", 500 + number, parent=IMPLICIT, flags=4, **took)
        for kind, address in dependences:
            stream.add(now, "dependence", 500 + number, type=kind, address=address)
        now += pause + cost * edges
        known |= {address for _, address in dependences}
    for number in range(len(tasks)):
        stream.add(now + 10, "task_run", 500 + number, start=now, outer=IMPLICIT)
        now += 10
    return Analysis(read_trace(save(folder, [stream]))).document("slow_patterns")


def counts(found: dict[str, Any]) -> dict[str, float]:
    return {name: round(found[name]["edges"], 9) for name in ("duplicate", "transitive", "product")}


def test_duplicates_and_what_an_edge_costs(tmp_path: Path) -> None:
    """20 tasks follow one another by one address, then 20 more by three: these have 2 edges too many. The first of them
    names two addresses that nobody has named. An edge costs 7 ns."""
    found = created(tmp_path, [[(INOUT, 1)]] * 20 + [[(INOUT, 1), (INOUT, 2), (INOUT, 3)]] * 20)
    assert found["edges"] == 39 and found["declared"] == 39 + 2 * 19
    assert counts(found) == {"duplicate": 38, "transitive": 0, "product": 0}
    assert found["edge_ns"] == pytest.approx(7) and found["duplicate"]["time_ns"] == pytest.approx(38 * 7)
    (kind,) = found["duplicate"]["kinds"]
    assert kind["edges"] == 38 and kind["from"] == kind["to"]
    nothing = {"early_sends": {"mean_ns": 0}, "outliers": {"outliers": 0}, "slow_patterns": found}
    assert notable(nothing | {"total": {"makespan_ns": 400, "work_ns": 400}}) == [
        ("extra edges", "of 77 declared: 38 repeat others (up to 266 ns of creation), at 7.00 ns each")]
    assert notable(nothing | {"total": {"makespan_ns": 30_000, "work_ns": 400}}) == []


def test_an_edge_costs_what_the_runtime_has_measured(tmp_path: Path) -> None:
    """The creator's own code takes longer where a task has more edges. That is no cost of edges."""
    found = created(tmp_path, [[(INOUT, 1)]] * 20 + [[(INOUT, 1), (INOUT, 2), (INOUT, 3)]] * 20, cost=30, measured=5)
    assert found["edge_ns"] == pytest.approx(5)


def test_cost_that_the_run_does_not_show(tmp_path: Path) -> None:
    """All tasks but the first have one edge."""
    found = created(tmp_path, [[(INOUT, 1)]] * 20)
    assert found["edge_ns"] is None and found["duplicate"]["time_ns"] is None


def test_edge_beside_a_path(tmp_path: Path) -> None:
    """The first writes 1 and 2, the second 1, and the third both: its edge from the first follows from the others."""
    assert counts(created(tmp_path, [[(INOUT, 1), (INOUT, 2)], [(INOUT, 1)], [(INOUT, 1), (INOUT, 2)]])) == {
        "duplicate": 0, "transitive": 1, "product": 0}  # fmt: skip


@pytest.mark.parametrize(("m", "n", "saved"), [(3, 4, 12 - 7), (5, 3, 15 - 8), (2, 9, 0), (9, 2, 0)])
def test_all_depend_on_all(tmp_path: Path, m: int, n: int, saved: float) -> None:
    """m tasks write an address each, and n tasks read them all."""
    writers = [[(INOUT, address)] for address in range(1, m + 1)]
    readers = [[(IN, address) for address in range(1, m + 1)]] * n
    assert counts(created(tmp_path, writers + readers)) == {"duplicate": 0, "transitive": 0, "product": saved}


def test_all_depend_on_all_by_inoutset(tmp_path: Path) -> None:
    """As it should be: one address for all."""
    found = created(tmp_path, [[(INOUTSET, 1)]] * 4 + [[(IN, 1)]] * 4)
    assert found["edges"] == 16 and counts(found)["product"] == 0


def test_bounds_by_machine(tmp_path: Path) -> None:
    """Rank 0 sends at 100 what rank 1 has at 130; rank 1 works 20 more. Work: 105 and 30 ns on two threads."""
    save(tmp_path, [rank(0, A, True, "MPI_Send", 100, 105, 5)], 0, size=2)
    save(tmp_path, [rank(1, B, False, "MPI_Recv", 10, 130, 20)], 1, size=2)
    found = Analysis(read_trace(tmp_path)).document("bounds")
    assert found == {"makespan_ns": 150, "infinite_threads_ns": 150, "infinite_network_ns": 120,
                     "infinite_network_same_order_ns": 120, "infinite_threads_and_network_ns": 120,
                     "no_barrier_waits_ns": 150, "no_serial_code_ns": 150, "no_lock_waits_ns": 150,
                     "all_busy_ns": 135 // 2}  # fmt: skip
    assert bounds_by_machine(found, 2) == [
        ("at best", "150 ns with infinite threads, 120 ns with an infinite network (120 ns if tasks keep their order), "
         "120 ns with both, 67.0 ns if all threads worked all the time, whatever waits for what")]  # fmt: skip
    assert bounds_by_machine(found | {"infinite_threads_ns": 120, "all_busy_ns": 119}, 2) == []
    assert bounds_by_machine(found | {"all_busy_ns": 149}, 0) == [("at best", "120 ns with an infinite network")]


def test_mending_them_in_a_program(program: Callable[[str], str], build: Path, tmp_path: Path) -> None:
    """HPCCG can leave out the dependences that others imply: then nothing is found, and what is left are the edges that
    were neither duplicate nor transitive."""
    found = []
    for dependences in ("tiles", "minimal"):
        words = [str(build / "bin" / "marline"), "run", "-t", "2", "--trace", str(tmp_path / dependences), "--",
                 program("hpccg-clang19-openmpi"), "--size", "8", "--tiles", "8", "--iterations", "4", "--dependences",
                 dependences]  # fmt: skip
        subprocess.run(words, env=clean_environment(), check=True, capture_output=True, timeout=SECONDS)
        found.append(Analysis(read_trace(tmp_path / dependences)).document("slow_patterns"))
    before, after = found
    assert counts(after) == {"duplicate": 0, "transitive": 0, "product": 0}
    assert before["duplicate"]["edges"] > 0 and before["transitive"]["edges"] > 0
    assert after["edges"] >= before["edges"] - before["transitive"]["edges"]


def made(folder: Path, tasks: list[list[tuple[int, int]]]) -> Analysis:
    """Tasks with dependences (kind, address); the n-th one, from 0, runs for 10 + n ns."""
    stream, now = Stream().add(1000, "implicit_begin", IMPLICIT, size=1), 1100
    for number, dependences in enumerate(tasks):
        stream.add(1001 + number, "task_create", 500 + number, parent=IMPLICIT, flags=4)
        for kind, address in dependences:
            stream.add(1001 + number, "dependence", 500 + number, type=kind, address=address)
    for number in range(len(tasks)):
        stream.add(now + 10 + number, "task_run", 500 + number, start=now, outer=IMPLICIT)
        now += 20 + number
    return Analysis(read_trace(save(folder, [stream])))


def test_one_address_chains_tasks_of_others(tmp_path: Path) -> None:
    """Four tasks name 9 as inout, and an address of their own; the last one that of the third. So 9 makes three
    edges, two of them alone: the second and the third task, of 11 and 12 ns, wait for nothing else."""
    of = made(tmp_path, [[(INOUT, 1), (INOUT, 9)], [(INOUT, 2), (INOUT, 9)], [(INOUT, 3), (INOUT, 9)],
                         [(INOUT, 3), (INOUT, 9)]])  # fmt: skip
    found = of.document("addresses")
    assert (found["addresses"], found["edges"]) == (2, 3)
    both = {"rank": 0, "kind": "task"}
    assert found["most"] == [
        both | {"name": "0x9", "tasks": 4, "writers": 4, "edges": 3, "alone": 2, "held_ns": 11 + 12},
        both | {"name": "0x3", "tasks": 2, "writers": 2, "edges": 1, "alone": 0, "held_ns": 0}]
    said = "; 2 of 3 dependences come from 0x9 alone, which 4 tasks name, 4 of them to write: would `in` do?"
    assert one_address(of["addresses"]) == said


def test_readers_wait_for_a_writer_once_each(tmp_path: Path) -> None:
    """Three tasks read 7 after its writer, and the last one writes it after all three: 6 edges by one address. The
    readers wait for 11 + 12 + 13 ns, the last task for three others, but its 14 ns count once."""
    of = made(tmp_path, [[(INOUT, 7)], *[[(IN, 7)]] * 3, [(INOUT, 7)]])
    (row,) = of.document("addresses")["most"]
    assert (row["tasks"], row["writers"], row["edges"], row["alone"]) == (5, 2, 6, 6)
    assert row["held_ns"] == 11 + 12 + 13 + 14
    assert one_address(of["addresses"]).endswith("2 of them to write: are they all needed?")


def test_no_dependences(tmp_path: Path) -> None:
    of = made(tmp_path, [[], []])
    assert of.document("addresses") == {"addresses": 0, "edges": 0, "most": []} and one_address(of["addresses"]) == ""


def test_variables_have_their_names(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """p02.c of the planted programs: all tasks declare `inout` of a static variable that they only read."""
    program = compiled("clang-19", "planted/p02.c", "-fopenmp", "-O2")
    words = [str(build / "bin" / "marline"), "run", "--no-bind", "-t", "2", "--trace", str(tmp_path / "trace"), "--"]
    subprocess.run([*words, str(program)], env=clean_environment(), capture_output=True, timeout=SECONDS, check=True)
    found: dict[str, Any] = Analysis(read_trace(tmp_path / "trace")).document("addresses")
    row = found["most"][0]
    assert (row["name"], row["tasks"], row["writers"], row["alone"]) == ("state", 20, 20, 19)
