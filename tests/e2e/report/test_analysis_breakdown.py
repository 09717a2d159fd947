# SPDX-License-Identifier: Apache-2.0
"""The time breakdown of traces made by hand; every answer is worked out beside its trace.

Times in comments count from the first record. A thread that is not in its own code waits in a barrier.
"""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handmade import (COMPLETE, DETACH, LATE_FULFILL, SWITCH, UNDEFERRED, UNTIED, A, B, C, Stream,
                      save)  # first: it finds marline  # fmt: skip
from marline.trace.analysis import Analysis
from marline.trace.passes.thread_time.breakdown import Breakdown
from marline.trace.passes.thread_time.causes import CAUSES
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

ONE, TWO = 201, 202  # implicit tasks
X = 0x1000
IN, OUT = 1, 2
BARRIER, TASKWAIT_REGION = 2, 5  # ompt_sync_region_t


def thread(number: int, implicit: int, waits_from: int | None = None, end: int = 400) -> Stream:
    """In an implicit task from 0 to `end`, in its barrier from `waits_from` on."""
    stream = Stream(number).add(1000, "implicit_begin", implicit, index=number - 1, size=2)
    if waits_from is not None:
        stream.add(1000 + waits_from, "wait_begin", implicit, kind=BARRIER)
    stream.add(1000 + end, "implicit_end", implicit)
    return stream


def create(stream: Stream, time: int, task: int, *dependences: int, flags: int = 4, parent: int = ONE) -> None:
    stream.add(1000 + time, "task_create", task, parent=parent, flags=flags, code=1)
    for kind in dependences:
        stream.add(1000 + time, "dependence", task, type=kind, address=X)


def run(stream: Stream, start: int, end: int, task: int, outer: int) -> None:
    stream.add(1000 + end, "task_run", task, start=1000 + start, outer=outer)


def mpi(stream: Stream, start: int, end: int, task: int, name: str = "MPI_Recv") -> None:
    call = {"peer": 0, "tag": 1, "bytes": 8, "comm": 1, "call": CALL_NUMBER[name]}
    stream.add(1000 + start, "mpi_enter", task, **call).add(1000 + end, "mpi_exit", task, **call)


def breakdown(folder: Path, *streams: Stream, windows: int = 1, rank: int = 0) -> Breakdown:
    for stream in streams:
        stream.records.sort(key=lambda record: record[0])
    found: Breakdown = Analysis(read_trace(save(folder, list(streams), rank)), windows=windows)["breakdown"]
    # The identity, for each thread and window.
    assert (found.time.sum(axis=2) == np.diff(found.edges)).all() and (found.time >= 0).all()
    return found


def causes(found: Breakdown, rank: int = 0) -> dict[str, int]:
    sums = found.of_rank(rank).sum(axis=0)
    return {cause.name: int(sums[number]) for number, cause in enumerate(CAUSES) if sums[number]}


def parts(found: Breakdown, rank: int = 0) -> tuple[int, int, int]:
    row = next(row for row in found.document()["ranks"] if row["rank"] == rank)
    return row["work_ns"], row["overhead_ns"], row["idle_ns"]


def test_ready_tasks_make_overhead_and_the_last_ones_a_tail(tmp_path: Path) -> None:
    """A is ready from 100 and runs 150-250 on thread 1; B is ready from 120 and runs 130-180 on thread 2.
    Total: 130 to 250, twice. A is ready, 130-150: thread 1 is in its code until 140 (10), then waits (10).
    Work 100 + 50. From 180 thread 2 waits for A, which is the last: 70."""
    first, second = thread(1, ONE, 140), thread(2, TWO, 10)
    create(first, 100, A)
    create(first, 120, B)
    run(first, 150, 250, A, ONE)
    run(second, 130, 180, B, TWO)
    found = breakdown(tmp_path, first, second)
    assert found.makespan == 120 and parts(found) == (150, 20, 70)
    assert causes(found) == {"work_body": 150, "overhead_code": 10, "overhead_scheduler": 10, "idle_tail": 70}
    assert found.time.sum(axis=1).sum(axis=1).tolist() == [120, 120]


def test_slow_producer_makes_idle_time_of_discovery(tmp_path: Path) -> None:
    """Thread 1 creates A at 10, B at 20 (after A) and C at 150, and waits from 160. Thread 2 runs A 30-80, B 80-100 and
    C 155-200. Total: 30 to 200.
    30-150 nothing is ready and thread 1 creates: idle on thread 1 (120), on thread 2 from 100 on (50).
    150-155 C is ready: overhead, of thread 1's code (no more creations come) and of thread 2 in its barrier.
    155-200 C is the last task: 45 on thread 1. Work: 50 + 20 + 45."""
    first, second = thread(1, ONE, 160), thread(2, TWO, 10)
    create(first, 10, A, OUT)
    create(first, 20, B, IN)
    create(first, 150, C)
    run(second, 30, 80, A, TWO)
    run(second, 80, 100, B, TWO)
    run(second, 155, 200, C, TWO)
    found = breakdown(tmp_path, first, second)
    assert found.makespan == 170 and parts(found) == (115, 10, 215)
    assert causes(found) == {"work_body": 115, "idle_discovery": 170, "overhead_code": 5, "overhead_scheduler": 5,
                             "idle_tail": 45}  # fmt: skip


def test_dependences_make_idle_time(tmp_path: Path) -> None:
    """A runs 40-100 on thread 1, B after it 110-150 on thread 2. Total: 40 to 150. 40-100 B waits for A: 60 idle on
    thread 2. 100-110 B is ready: both threads wait, 20. From 110 on thread 1 waits for the last task: 40."""
    first, second = thread(1, ONE, 30), thread(2, TWO, 0)
    create(first, 10, A, OUT)
    create(first, 20, B, IN)
    run(first, 40, 100, A, ONE)
    run(second, 110, 150, B, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 100, "idle_dependences": 60, "overhead_scheduler": 20, "idle_tail": 40}


def test_creation_is_overhead_while_tasks_are_ready(tmp_path: Path) -> None:
    """A runs 50-60 on thread 2, B is ready from 20, C from 90, both run later (100-110, 110-120). Total: 50 to 120.
    Thread 1 creates until 90 (of it 70-80 in MPI), then waits from 95: creation 50-70 and 80-90, MPI 10, other code 5,
    the rest until 110, when C starts, in the barrier: 15; 110-120 it waits for the last task.
    Thread 2: work 30, waiting 60-100 while B is ready: 40."""
    first, second = thread(1, ONE, 95), thread(2, TWO, 0)
    create(first, 10, A)
    create(first, 20, B)
    create(first, 90, C)
    mpi(first, 70, 80, ONE)
    run(second, 50, 60, A, TWO)
    run(second, 100, 110, B, TWO)
    run(second, 110, 120, C, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 30, "overhead_creation": 30, "overhead_mpi": 10, "overhead_code": 5,
                             "overhead_scheduler": 15 + 40, "idle_tail": 10}  # fmt: skip


def test_creation_inside_a_task_is_no_work(tmp_path: Path) -> None:
    """A runs 0-100 and creates B at 20, which takes 30 ns, and C at 60, which takes 25, of which the thread runs B
    for 10: 70-80. Another thread runs C 90-95. Total: 0 to 100. A's own creation was not measured: the mean counts."""
    first, second = thread(1, ONE, 0), thread(2, TWO, 0)
    create(first, 0, A)
    first.add(1000, "task_schedule", ONE, next=A, status=SWITCH)
    first.add(1020, "task_create", B, parent=A, flags=4, mantissa=30)
    first.add(1060, "task_create", C, parent=A, flags=4, mantissa=25)
    first.add(1070, "task_schedule", A, next=B, status=SWITCH).add(1080, "task_schedule", B, next=A, status=COMPLETE)
    first.add(1100, "task_schedule", A, next=ONE, status=COMPLETE)
    run(second, 90, 95, C, TWO)
    of = Analysis(read_trace(save(tmp_path, [first, second])))
    assert of["creations"].time.tolist() == [22, 30, 15] and of["creations"].measured.tolist() == [False, True, True]
    found = causes(of["breakdown"])
    assert (found["work_body"], found["overhead_creation"]) == (100 - 30 - 15 + 5, 30 + 15)
    (rank,) = of.document("discovery")["ranks"]
    assert (rank["measured_tasks"], rank["measured_ns"], rank["measured_ns_per_task"]) == (2, 45, 22.5)
    # On the path it has a name of its own, up to where B interrupted it, and is no work of A.
    path = {row["name"]: row["total_ns"] for row in of.document("critical_path")["path"]}
    assert path["creation of tasks"] == 30 + 10 and sum(path.values()) == of["critical_path"].path_length


@pytest.mark.parametrize("ready", [None, 100])
def test_suspended_and_blocking_mpi(tmp_path: Path, ready: int | None) -> None:
    """A calls MPI 60-140 and is suspended 70-130, B runs 40-50 before it. Total: 40 to 150, one thread.
    Work: B 10, A 50-60 and 140-150: at 60-70 and 130-140 MPI holds A's thread, while no task is ready. A is ready
    until 50, so 40-50 has no gap. Idle: 70-130, while A is in MPI; if its message was there at 100, to that time."""
    stream = thread(1, ONE, 30)
    create(stream, 10, A)
    create(stream, 20, B)
    run(stream, 40, 50, B, ONE)
    stream.add(1050, "task_schedule", ONE, next=A, status=SWITCH)
    mpi(stream, 60, 140, A)
    stream.add(1070, "task_schedule", A, next=ONE, status=SWITCH)
    if ready is not None:
        stream.add(1000 + ready, "task_ready", A, by=ONE)
    stream.add(1130, "task_schedule", ONE, next=A, status=SWITCH)
    stream.add(1150, "task_schedule", A, next=ONE, status=COMPLETE)
    found = breakdown(tmp_path, stream)
    late = 0 if ready is None else 130 - ready
    expected = {"work_body": 10 + 10 + 10, "idle_held": 20, "idle_communication": 60 - late}
    assert causes(found) == expected | ({"overhead_scheduler": late} if late else {})


@pytest.mark.parametrize("untied", [False, True])
def test_a_tied_task_waits_for_its_thread(tmp_path: Path, untied: bool) -> None:
    """A runs 40-60 on thread 1, in MPI from 50 on, is suspended until 130, and could go on from 80 on; it ends at 140.
    B runs on thread 1 65-120. Total: 40 to 140, two threads. Work: A 40-50 and 130-140, B 55. B is ready until 65: MPI
    holds thread 1 50-60, both threads do nothing else. Then thread 2 is idle: while it could go on with A, if A is
    untied; else 120-130, when thread 1 could. At last it waits for A's end."""
    first, second = thread(1, ONE, 30), thread(2, TWO, 30)
    create(first, 10, A, flags=4 | UNTIED * untied)
    create(first, 20, B)
    first.add(1040, "task_schedule", ONE, next=A, status=SWITCH)
    mpi(first, 50, 130, A)
    first.add(1060, "task_schedule", A, next=ONE, status=SWITCH)
    run(first, 65, 120, B, ONE)
    first.add(1080, "task_ready", A, by=B)
    first.add(1130, "task_schedule", ONE, next=A, status=SWITCH)
    first.add(1140, "task_schedule", A, next=ONE, status=COMPLETE)
    found = causes(breakdown(tmp_path, first, second))
    late = 120 - 80 if untied else 0
    assert found == {"work_body": 75, "overhead_held": 10, "overhead_scheduler": 25 + 5 + 20 + late,
                     "idle_communication": 55 - late, "idle_tail": 10}  # fmt: skip


def test_mpi_that_holds_the_producer_is_communication(tmp_path: Path) -> None:
    """A runs 20-40 on thread 2; thread 1 is in MPI 30-80 and creates B at 90, which runs 90-100. Total: 20 to 100.
    Idle: thread 1 20-30 and 80-90, thread 2 80-90 for want of B: discovery 30; thread 1 30-80, thread 2 40-80:
    communication 90. 90-100 thread 1 waits for the last task."""
    first, second = thread(1, ONE, 90), thread(2, TWO, 0)
    create(first, 10, A)
    mpi(first, 30, 80, ONE)
    create(first, 90, B)
    run(second, 20, 40, A, TWO)
    run(second, 90, 100, B, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 30, "idle_discovery": 30, "idle_communication": 90, "idle_tail": 10}


def test_detached_task(tmp_path: Path) -> None:
    """A's body runs 20-40; its event is fulfilled at 90, and B, which depends on A, runs 95-120. Total: 20 to 120.
    40-90 an event is awaited: 50 idle. 90-95 B is ready."""
    stream = thread(1, ONE, 15)
    create(stream, 5, A, OUT)
    create(stream, 6, B, IN)
    stream.add(1020, "task_schedule", ONE, next=A, status=SWITCH)
    stream.add(1040, "task_schedule", A, next=ONE, status=DETACH)
    stream.add(1090, "task_schedule", A, next=0, status=LATE_FULFILL)
    run(stream, 95, 120, B, ONE)
    found = breakdown(tmp_path, stream)
    assert causes(found) == {"work_body": 20 + 25, "idle_communication": 50, "overhead_scheduler": 5}


def test_undeferred_tasks_are_never_ready(tmp_path: Path) -> None:
    """A is created at 10 and run at once, 20-60. Total: 20 to 60; thread 2 idles, as nothing can be ready."""
    first, second = thread(1, ONE), thread(2, TWO, 0)
    create(first, 10, A, flags=4 | UNDEFERRED)
    run(first, 20, 60, A, ONE)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 40, "idle_tail": 40}


def test_waiting_inside_a_task_is_no_work(tmp_path: Path) -> None:
    """A runs 20-90: it creates B at 30, waits 40-80 for it; B runs 50-70 on the same thread. Total: 20 to 90.
    Work: A 20-40 and 80-90, B 20. 40-50 B is ready: overhead 10. 70-80 A is the last task: 10."""
    stream = thread(1, ONE, 15)
    create(stream, 10, A)
    stream.add(1020, "task_schedule", ONE, next=A, status=SWITCH)
    create(stream, 30, B, parent=A)
    stream.add(1040, "wait_begin", A, kind=TASKWAIT_REGION)
    run(stream, 50, 70, B, A)
    stream.add(1080, "wait_end", A, kind=TASKWAIT_REGION)
    stream.add(1090, "task_schedule", A, next=ONE, status=COMPLETE)
    found = breakdown(tmp_path, stream)
    assert causes(found) == {"work_body": 30 + 20, "overhead_scheduler": 10, "idle_tail": 10}


@pytest.mark.parametrize(("kind", "work"), [(1, 40), (5, 40), (2, 70), (4, 70)])  # ompt_mutex_t; 2 and 4 only try
def test_waiting_for_a_lock_is_no_work(tmp_path: Path, kind: int, work: int) -> None:
    """A runs 10-80 and asks for a lock at 20, which it has at 50."""
    stream = thread(1, ONE, 5)
    create(stream, 1, A)
    stream.add(1020, "mutex_acquire", A, wait_id=9, kind=kind).add(1050, "mutex_acquired", A, wait_id=9, kind=kind)
    run(stream, 10, 80, A, ONE)
    found = breakdown(tmp_path, stream)
    assert parts(found) == (work, 0, 70 - work)


def test_whole_run_is_two_switches(tmp_path: Path) -> None:
    """One record or two for a task: the same segments, tasks and breakdown."""
    results = []
    for whole in (True, False):
        first, second = thread(1, ONE, 140), thread(2, TWO, 10)
        create(first, 100, A)
        if whole:
            run(second, 150, 250, A, TWO)
        else:
            second.add(1150, "task_schedule", TWO, next=A, status=SWITCH)
            second.add(1250, "task_schedule", A, next=TWO, status=COMPLETE)
        folder = tmp_path / str(whole)
        folder.mkdir()
        breakdown(folder, first, second)
        of = Analysis(read_trace(folder), windows=1)
        runs, tasks = of["segments"], of["tasks"]
        results.append([column.tolist() for column in (runs.task, runs.thread, runs.start, runs.end, runs.waits,
                                                       tasks.start, tasks.end, tasks.running)]
                       + [of["breakdown"].time.tolist()])  # fmt: skip
    assert results[0] == results[1]


def test_ranks_share_one_total(tmp_path: Path) -> None:
    """Rank 0 runs 100-200, rank 1 150-300, a thread each. Total: 100 to 300 for both; rank 0 has done after 100, rank 1
    begins 50 late."""
    for rank, start, end in ((0, 100, 200), (1, 150, 300)):
        stream = thread(1, ONE, 95)
        create(stream, 90, A)
        run(stream, start, end, A, ONE)
        save(tmp_path, [stream], rank)
    found: Breakdown = Analysis(read_trace(tmp_path))["breakdown"]
    assert found.makespan == 200
    # Rank 1's task is ready while the rank has not begun: that is no overhead, as its total has not either.
    assert causes(found, 0) == {"work_body": 100, "idle_ranks": 100}
    assert causes(found, 1) == {"work_body": 150, "idle_ranks": 50}
    document = found.document()
    assert document["total"]["threads"] == 2 and document["total"]["work_ns"] == 250
    assert [row["own_makespan_ns"] for row in document["ranks"]] == [100, 150]
    assert document["total"]["idle_ns"] == sum(row["idle_ns"] for row in document["ranks"]) == 150
    assert sum(cause["ns"] for cause in document["causes"]) == 2 * 200


def test_windows(tmp_path: Path) -> None:
    """A runs 100-160, B 170-200, one thread. Four windows of 25. Work per window: 25, 25, 10 + 5, 25; the gap of 10,
    160-170, lies in the third; B is ready then."""
    stream = thread(1, ONE, 95)
    create(stream, 90, A)
    create(stream, 91, B)
    run(stream, 100, 160, A, ONE)
    run(stream, 170, 200, B, ONE)
    found = breakdown(tmp_path, stream, windows=4)
    rank = found.document()["windows"]["ranks"][0]
    assert found.edges.tolist() == [100, 125, 150, 175, 200]
    assert rank == {"rank": 0, "work_ns": [25, 25, 15, 25], "overhead_ns": [0, 0, 10, 0], "idle_ns": [0, 0, 0, 0]}


def test_recording_off_is_told_apart(tmp_path: Path) -> None:
    """A runs 20-50, recording is off 60-90, B runs 100-120; one thread. B is ready all the time. Total: 20 to 120."""
    stream = thread(1, ONE, 15)
    create(stream, 10, A)
    create(stream, 11, B)
    run(stream, 20, 50, A, ONE)
    stream.add(1060, "recording_off", ONE).add(1090, "recording_on", ONE)
    run(stream, 100, 120, B, ONE)
    found = breakdown(tmp_path, stream)
    assert causes(found) == {"work_body": 50, "overhead_scheduler": 20, "idle_unrecorded": 30}


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """A began at 50 and the last record of its thread is at 80; B never started. Total: 50 to 80."""
    stream = Stream().add(1000, "implicit_begin", ONE, index=0, size=1)
    create(stream, 10, A)
    create(stream, 20, B)
    stream.add(1050, "task_schedule", ONE, next=A, status=SWITCH)
    create(stream, 80, C, parent=A)
    of = Analysis(read_trace(save(tmp_path, [stream])), windows=1)
    assert causes(of["breakdown"]) == {"work_body": 30}
    assert of.document("integrity")["incomplete"] == ["3 tasks of 3 had not completed when the trace ended"]


def test_mpi_only_rank(tmp_path: Path) -> None:
    """No OpenMP at all: the thread's own code from the end of MPI_Init (20) to the start of MPI_Finalize (100), of it
    30-70 in MPI."""
    base = 1 << 32
    stream = Stream()
    mpi(stream, 0, 20, base, "MPI_Init")
    mpi(stream, 30, 70, base)
    mpi(stream, 100, 110, base, "MPI_Finalize")
    found = breakdown(tmp_path, stream)
    row = found.document()["ranks"][0]
    assert row["model"] == "code" and row["threads"] == 1 and found.makespan == 80
    assert causes(found) == {"work_body": 40, "idle_communication": 40}


def test_loops_without_tasks(tmp_path: Path) -> None:
    """Thread 1 works 0-60 and waits for thread 2 until 100; thread 2 works 10-100 and has no region before 10 and after
    100. Thread 1 calls MPI 100-120 and ends at 130. Total: 0 to 130."""
    first, second = Stream(1), Stream(2)
    first.add(1000, "implicit_begin", ONE, index=0, size=2)
    first.add(1060, "wait_begin", ONE, kind=BARRIER).add(1100, "wait_end", ONE, kind=BARRIER)
    mpi(first, 100, 120, ONE)
    first.add(1130, "implicit_end", ONE)
    second.add(1010, "implicit_begin", TWO, index=1, size=2).add(1100, "implicit_end", TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 60 + 10 + 90, "idle_barrier": 40, "idle_communication": 20,
                             "idle_outside": 10 + 30}  # fmt: skip
    assert found.document()["ranks"][0]["model"] == "code"


def test_a_call_whose_end_is_lost_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    """The task enters MPI at 10 on thread 2 and leaves it on thread 1, whose file is empty, and so at 50. Of 0 to 100,
    10 to 30, 30 to 40 and 50 to 100 count as MPI: calls never overlap."""
    base = 2 << 32
    stream = Stream(2).add(1000, "thread_begin", base)
    call = {"peer": 0, "tag": 1, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    stream.add(1010, "mpi_enter", base, **call)
    mpi(stream, 30, 40, base)
    stream.add(1050, "mpi_enter", base, **call).add(1100, "thread_end", base)
    folder = save(tmp_path, [stream])
    found = Analysis(read_trace(folder), windows=1)["breakdown"]
    assert causes(found) == {"work_body": 10 + 10, "idle_communication": 20 + 10 + 50}


def test_code_while_recording_is_off_is_no_work(tmp_path: Path) -> None:
    """A thread that OpenMP never saw, from 0 to 100: in MPI from 10 to 15; recording is off from 20 to 60."""
    base = 1 << 32
    stream = Stream(1).add(1000, "thread_begin", base)
    mpi(stream, 10, 15, base)
    stream.add(1020, "recording_off", base).add(1060, "recording_on", base).add(1100, "thread_end", base)
    found = breakdown(tmp_path, stream)
    assert causes(found) == {"work_body": 10 + 5 + 40, "idle_communication": 5, "idle_unrecorded": 40}


def test_one_record_divides_nothing_by_zero(tmp_path: Path) -> None:
    found = breakdown(tmp_path, Stream().add(1000, "thread_begin", 1 << 32))
    assert found.makespan == 0 and causes(found) == {}
    assert all(cause["share"] == 0 for cause in found.document()["causes"])
