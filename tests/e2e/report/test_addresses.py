# SPDX-License-Identifier: Apache-2.0
"""The pass `addresses` on traces made by hand, with answers worked out by hand, and on random runs; names of variables
in a program."""
from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given

from conftest import SECONDS, clean_environment
from handmade import IMPLICIT, Stream, save  # first: it finds marline
from marline.report.notable import one_address
from marline.trace.analysis import Analysis
from marline.trace.passes.of_tasks.addresses import MOST_ROWS
from marline.trace.read.reader import read_trace
from test_analysis_properties import Runtime, analysed
from test_pass_properties import RANKS, few

IN, INOUT = 1, 3


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
    """Four tasks name 9 as inout, and an address of their own; the last one the third one's, too. So 9 makes three
    edges, two of them alone: the second and the third task, of 11 and 12 ns, wait for nothing else."""
    of = made(tmp_path, [[(INOUT, 1), (INOUT, 9)], [(INOUT, 2), (INOUT, 9)], [(INOUT, 3), (INOUT, 9)],
                         [(INOUT, 3), (INOUT, 9)]])  # fmt: skip
    found = of.document("addresses")
    assert (found["addresses"], found["edges"]) == (2, 3)
    assert found["most"] == [
        {"name": "0x9", "rank": 0, "tasks": 4, "writers": 4, "edges": 3, "alone": 2, "held_ns": 11 + 12, "kind": "task"},
        {"name": "0x3", "rank": 0, "tasks": 2, "writers": 2, "edges": 1, "alone": 0, "held_ns": 0, "kind": "task"}]
    assert one_address(of["addresses"]) == ("; 2 of 3 dependences come from 0x9 alone, which 4 tasks name, 4 of them to "
                                            "write: would `in` do?")  # fmt: skip


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


@few
@given(RANKS)
def test_of_any_run(ranks: list[Runtime]) -> None:
    """All declared edges come from some address; those that one address makes alone are no more than all."""
    of = analysed(ranks)
    found, edges = of["addresses"], of["edges"]
    assert found.edges.sum() == edges.times.sum() and found.alone.sum() == (edges.times == 1).sum()
    assert (found.alone <= found.edges).all() and (found.writers <= found.tasks).all()
    assert (found.held <= of["tasks"].running.sum()).all() and len(found.names) == min(len(found.address), MOST_ROWS)


def test_variables_have_their_names(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """p02.c of the planted programs: all tasks declare `inout` of a static variable that they only read."""
    program = compiled("clang-19", "planted/p02.c", "-fopenmp", "-O2")
    words = [str(build / "bin" / "marline"), "run", "--no-bind", "-t", "2", "--trace", str(tmp_path / "trace"), "--"]
    subprocess.run([*words, str(program)], env=clean_environment(), capture_output=True, timeout=SECONDS, check=True)
    found: dict[str, Any] = Analysis(read_trace(tmp_path / "trace")).document("addresses")
    row = found["most"][0]
    assert (row["name"], row["tasks"], row["writers"], row["alone"]) == ("state", 20, 20, 19)
