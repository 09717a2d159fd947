# SPDX-License-Identifier: Apache-2.0
"""POP's efficiencies on traces made by hand, with answers worked out by hand, and the replay on an ideal network. One
cycle is one nanosecond, and records begin at 1000."""
from __future__ import annotations

from pathlib import Path

import pytest

from handmade import COMPLETE, IMPLICIT, SWITCH, UNDEFERRED, A, B, C, Stream, save  # first: it finds marline
from marline.report.efficiency_text import efficiency_tree
from marline.trace.analysis import Analysis
from marline.trace.passes.efficiency.ideal_network import replay
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

OTHER, D = 201, 105
BARRIER = 3


def calls(stream: Stream, task: int, call: str, enter: int, leave: int, peer: int = 0) -> None:
    values = {"peer": peer, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER[call]}
    stream.add(1000 + enter, "mpi_enter", task, **values).add(1000 + leave, "mpi_exit", task, **values)


def thread(number: int, task: int, end: int, implicit: int, call: tuple[str, int, int] | None = None,
           peer: int = 0) -> Stream:  # fmt: skip
    """A thread that runs one task from 0 to `end`, with a call in it, and waits."""
    stream = Stream(number).add(1000, "implicit_begin", implicit, parallel=300, index=number - 1, size=2)
    stream.add(1000, "task_create", task, parent=implicit, flags=4)
    stream.add(1000, "task_schedule", implicit, next=task, status=SWITCH)
    if call:
        calls(stream, task, *call, peer)
    stream.add(1000 + end, "task_schedule", task, next=implicit, status=COMPLETE)
    return stream.add(1000 + end, "wait_begin", implicit, kind=BARRIER)


def analysed(folder: Path, *ranks: list[Stream]) -> Analysis:
    for number, streams in enumerate(ranks):
        save(folder, streams, number, size=len(ranks))
    return Analysis(read_trace(folder))


def test_one_message_that_is_sent_late_and_takes_long(tmp_path: Path) -> None:
    """Rank 0 works to 100, sends to 105, works to 110. Rank 1 works to 10, receives to 130, works to 150. On an ideal
    network it would have the message at 100 and be done at 120."""
    of = analysed(tmp_path, [thread(1, A, 110, IMPLICIT, ("MPI_Send", 100, 105), 1)],
                  [thread(1, B, 150, IMPLICIT, ("MPI_Recv", 10, 130))])  # fmt: skip
    assert of.document("efficiency") == {
        "makespan_ns": 150, "threads": 2, "useful_ns": 105 + 30, "outside_tasks_ns": 0,
        "parallel": 67.5 / 150, "load_balance": 67.5 / 105, "communication": 105 / 150,
        "mpi": {"parallel": 67.5 / 150, "load_balance": 67.5 / 105, "communication": 105 / 150,
                "serialisation": 105 / 120, "transfer": 120 / 150, "ideal_ns": 120, "outside_ns": [105, 30]},
        "openmp": {"parallel": 1.0, "load_balance": 1.0, "scheduling": 1.0},
    }  # fmt: skip
    assert replay(of["global_graph"], ideal=False) == 150


def test_ranks_with_two_threads(tmp_path: Path) -> None:
    """Work of 100, 60, 40 and 20 ns; the longer tasks meet in MPI_Barrier, at 100 and 40, and leave it at 110. A rank
    that waits in MPI has both threads there: it is outside for 100, the other one for 40."""
    of = analysed(tmp_path, [thread(1, A, 110, IMPLICIT, ("MPI_Barrier", 100, 110)), thread(2, B, 60, OTHER)],
                  [thread(1, C, 110, IMPLICIT, ("MPI_Barrier", 40, 110)), thread(2, D, 20, OTHER)])  # fmt: skip
    found = of.document("efficiency")
    assert (found["parallel"], found["load_balance"]) == (55 / 110, 55 / 100)
    assert found["mpi"] == {
        "parallel": pytest.approx(70 / 110), "load_balance": 70 / 100, "communication": 100 / 110,
        "serialisation": 1.0, "transfer": 100 / 110, "ideal_ns": 100, "outside_ns": [100, 40]}  # fmt: skip
    assert found["openmp"] == {"parallel": 55 / 70, "load_balance": pytest.approx(0.55 / 0.7), "scheduling": 1.0}
    assert efficiency_tree(found) == [
        ("efficiency", "parallel 50.0 % = MPI 63.6 % x OpenMP 78.6 %"),
        ("  MPI", "load balance 70.0 % x serialisation 100.0 % x transfer 90.9 %"),
        ("  OpenMP", "load balance 78.6 % x scheduling 100.0 %")]  # fmt: skip


def test_threads_without_mpi(tmp_path: Path) -> None:
    """100 and 50 ns of work in 100."""
    found = analysed(tmp_path, [thread(1, A, 100, IMPLICIT), thread(2, B, 50, OTHER)]).document("efficiency")
    assert (found["parallel"], found["load_balance"], found["communication"]) == (0.75, 0.75, 1.0)
    assert found["mpi"] is None and found["openmp"] is None
    assert efficiency_tree(found) == [("efficiency", "parallel 75.0 % = load balance 75.0 % x scheduling 100.0 %")]
    assert efficiency_tree(found | {"parallel": 0.996}) == []


def test_code_outside_of_tasks_is_useful_and_creation_is_not(tmp_path: Path) -> None:
    """Thread 1 runs A from 0 to 20, other code to 100, and C to 110, both at once. At 30 it creates B, which takes
    15 ns, and thread 2 runs B from 50 to 90. POP: 20 + 80 - 15 + 10 and 40 of 220 ns are useful; work is 70 ns."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=300, index=0, size=2)
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4 | UNDEFERRED)
    first.add(1020, "task_run", A, start=1000, outer=IMPLICIT)
    first.add(1030, "task_create", B, parent=IMPLICIT, flags=4, mantissa=15)
    first.add(1095, "task_create", C, parent=IMPLICIT, flags=4 | UNDEFERRED)
    first.add(1110, "task_run", C, start=1100, outer=IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", OTHER, parallel=300, index=1, size=2)
    second.add(1000, "wait_begin", OTHER, kind=BARRIER).add(1090, "task_run", B, start=1050, outer=OTHER)
    of = analysed(tmp_path, [first, second])
    assert of["useful"].time.tolist() == [20 + 80 - 15 + 10, 40]
    found = of.document("efficiency")
    assert (found["useful_ns"], found["outside_tasks_ns"]) == (135, 65)
    assert of.document("breakdown")["total"]["work_ns"] == 70
    assert efficiency_tree(found)[-1] == (
        "  useful", "also code outside of tasks, 29.5 %: idle or overhead above")


def test_ranks_without_tasks(tmp_path: Path) -> None:
    """MPI only: from the end of MPI_Init at 0 to MPI_Finalize at 100. Both are in MPI_Barrier until 70,
    from 60 and from 10 on."""
    for rank, enter in ((0, 60), (1, 10)):
        stream = Stream(1)
        calls(stream, 1 << 32, "MPI_Init", -10, 0)
        calls(stream, 1 << 32, "MPI_Barrier", enter, 70)
        calls(stream, 1 << 32, "MPI_Finalize", 100, 110)
        save(tmp_path, [stream], rank, size=2)
    of = Analysis(read_trace(tmp_path))
    found = of.document("efficiency")
    assert found["useful_ns"] == 90 + 40 and found["makespan_ns"] == 100
    assert found["mpi"] | {"ideal_ns": 0, "outside_ns": 0} == {
        "parallel": 0.65, "load_balance": 65 / 90, "communication": 0.9, "serialisation": 1.0, "transfer": 0.9,
        "ideal_ns": 0, "outside_ns": 0}  # fmt: skip
    assert found["openmp"] is None
