# SPDX-License-Identifier: Apache-2.0
"""The global graph and what bounds a run, on traces made by hand with answers worked out by hand: each kind of edge on
the longest path once, messages and collectives between ranks, and the chain of what was waited for. One cycle is one
nanosecond, and records begin at 1000."""
from __future__ import annotations

from pathlib import Path

import pytest

from handmade import (COMPLETE, DETACH, IMPLICIT, LATE_FULFILL, SWITCH, TASKWAIT, UNDEFERRED, A, B, C, Stream,
                      save)  # fmt: skip  first: it finds marline
from test_without_tasks import AT_REGION_END, Team
from marline.report.text import bounds
from marline.trace.analysis import Analysis
from marline.trace.global_graph.edges import BARRIER as BARRIER_EDGE, EDGE_KINDS, TASKWAIT as TASKWAIT_EDGE
from marline.trace.passes.critical_path.path import UNKNOWN, CriticalPath
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

OTHER = 201  # the second thread's implicit task
REGION = 300
TASKWAIT_REGION, TASKGROUP_REGION, BARRIER, END_BARRIER = 5, 6, 3, 9
CRITICAL, ADDRESS = 5, 0x50  # ompt_mutex_critical; any lock's
WORLD = 1


def team() -> tuple[Stream, Stream]:
    """Two threads of one team; the second waits from the beginning."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=REGION, index=0, size=2)
    second = Stream(2).add(1000, "implicit_begin", OTHER, parallel=REGION, index=1, size=2)
    second.add(1000, "wait_begin", OTHER, kind=BARRIER)
    return first, second


def run(stream: Stream, task: int, start: int, end: int, outer: int) -> None:
    stream.add(1000 + end, "task_run", task, start=1000 + start, outer=outer)


def analysed(folder: Path, *streams: Stream) -> CriticalPath:
    return Analysis(read_trace(save(folder, list(streams))))["critical_path"]


def parts(found: CriticalPath, which: str) -> dict[str, int]:
    """Time by kind of edge."""
    sums: dict[str, int] = {}
    for row in found.document()[which]:
        sums[row["kind"]] = sums.get(row["kind"], 0) + row["total_ns"]
    return sums


def test_dependences_on_two_threads(tmp_path: Path) -> None:
    """A (100 ns) before C (50); B (200) beside them, on the other thread. C could start at 110, and did at 210."""
    first, second = team()
    for task, time, address in ((A, 1000, 1), (B, 1002, 2), (C, 1004, 1)):
        first.add(time, "task_create", task, parent=IMPLICIT, flags=4)
        first.add(time + 1, "dependence", task, type=3, address=address)
    first.add(1006, "wait_begin", IMPLICIT, kind=BARRIER)
    run(first, B, 10, 210, IMPLICIT)
    run(second, A, 10, 110, OTHER)
    run(first, C, 210, 260, IMPLICIT)
    found = analysed(tmp_path, first, second)
    assert (found.makespan, found.threads, found.work) == (250, 2, 350)
    assert (found.span, found.path_length, found.least, found.greedy) == (200, 200, 200, 200 + 150 // 2)
    assert found.parallelism == 350 / 200
    assert found.soonest.tolist() == [100, 200, 150] and found.slack.tolist() == [50, 0, 50]
    # C waited for its thread: B's 200 ns and its own 50.
    assert parts(found, "chain") == {"work": 250}


def test_taskwait_waits_for_children(tmp_path: Path) -> None:
    """A creates B after 10 ns, waits for it, and then works 30 ns. B works 100 ns on the other thread, from 40 on."""
    first, second = team()
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
    first.add(1000, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    first.add(1010, "task_create", B, parent=A, flags=4)
    first.add(1020, "sync_begin", A, kind=TASKWAIT_REGION).add(1020, "wait_begin", A, kind=TASKWAIT_REGION)
    run(second, B, 40, 140, OTHER)
    first.add(1150, "wait_end", A, kind=TASKWAIT_REGION).add(1150, "sync_end", A, kind=TASKWAIT_REGION)
    first.add(1180, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    found = analysed(tmp_path, first, second)
    assert (found.makespan, found.work, found.span) == (180, 20 + 100 + 30, 10 + 100 + 30)
    assert parts(found, "chain") == {"work": 10 + 100 + 30, "create": 30, "taskwait": 10}


@pytest.mark.parametrize("inside", [True, False])
def test_taskgroup_waits_for_grandchildren(tmp_path: Path, inside: bool) -> None:
    """B is a child of A, which the group's task has created; without the group, the creator does not wait."""
    first, second = team()
    if inside:
        first.add(1000, "sync_begin", IMPLICIT, kind=TASKGROUP_REGION)
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
    second.add(1010, "task_schedule", OTHER, next=A, status=SWITCH).add(1030, "task_create", B, parent=A, flags=4)
    second.add(1040, "task_schedule", A, next=OTHER, status=COMPLETE)
    run(second, B, 40, 240, OTHER)
    if inside:
        first.add(1010, "wait_begin", IMPLICIT, kind=TASKGROUP_REGION)
        first.add(1250, "wait_end", IMPLICIT, kind=TASKGROUP_REGION)
        first.add(1250, "sync_end", IMPLICIT, kind=TASKGROUP_REGION)
    else:
        first.add(1010, "mutex_acquire", IMPLICIT, kind=1).add(1250, "mutex_acquired", IMPLICIT, kind=1)
    first.add(1250, "task_create", C, parent=IMPLICIT, flags=4)
    run(first, C, 250, 260, IMPLICIT)
    found = analysed(tmp_path, first, second)
    assert found.soonest.tolist() == [30, 20 + 200, 20 + 200 + 10 if inside else 10]


def test_barrier_joins_the_team_and_its_tasks(tmp_path: Path) -> None:
    """The team's threads work 50 and 20 ns to the barrier, and a task 80 ns; then one works 40 ns, the other 10."""
    first, second = team()
    second.add(1000, "wait_end", OTHER, kind=BARRIER)
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
    for stream, task, work in ((first, IMPLICIT, 50), (second, OTHER, 20)):
        stream.add(1000 + work, "sync_begin", task, kind=BARRIER).add(1000 + work, "wait_begin", task, kind=BARRIER)
    run(second, A, 20, 100, OTHER)
    for stream, task, left, work in ((first, IMPLICIT, 105, 40), (second, OTHER, 110, 10)):
        stream.add(1000 + left, "wait_end", task, kind=BARRIER).add(1000 + left, "sync_end", task, kind=BARRIER)
        stream.add(1000 + left + work, "task_create", B if task == IMPLICIT else C, parent=task, flags=4)
    run(first, B, 145, 150, IMPLICIT)
    run(second, C, 145, 150, OTHER)
    found = analysed(tmp_path, first, second)
    # The total begins with the first task, at 20: of the first thread's 50 ns, 30 are left.
    assert found.makespan == 130 and found.soonest.tolist() == [80, 80 + 40 + 5, 80 + 10 + 5]
    assert parts(found, "chain") == {"work": 80 + 40 + 5, "barrier": 5}


def test_region_begins_after_its_fork_and_ends_before_its_join(tmp_path: Path) -> None:
    """Serial code creates a task and forks; one thread works 60 ns; then serial code creates another task."""
    first = Stream(1).add(1000, "implicit_begin", 77, parallel=0, index=1, size=1, flags=1)
    first.add(1000, "task_create", A, parent=77, flags=4 | UNDEFERRED)
    first.add(1000, "task_schedule", 77, next=A, status=SWITCH).add(1005, "task_schedule", A, next=77, status=COMPLETE)
    first.add(1010, "parallel_begin", 77, parallel=REGION, size=2)
    first.add(1011, "implicit_begin", IMPLICIT, parallel=REGION, index=0, size=2, flags=2)
    first.add(1021, "sync_begin", IMPLICIT, kind=END_BARRIER).add(1021, "wait_begin", IMPLICIT, kind=END_BARRIER)
    second = Stream(2).add(1015, "implicit_begin", OTHER, parallel=REGION, index=1, size=2, flags=2)
    second.add(1075, "sync_begin", OTHER, kind=END_BARRIER).add(1075, "wait_begin", OTHER, kind=END_BARRIER)
    second.add(1080, "wait_end", OTHER, kind=END_BARRIER).add(1080, "sync_end", OTHER, kind=END_BARRIER)
    first.add(1081, "wait_end", IMPLICIT, kind=END_BARRIER).add(1081, "sync_end", IMPLICIT, kind=END_BARRIER)
    first.add(1082, "implicit_end", IMPLICIT, flags=2).add(1082, "parallel_end", 77, parallel=REGION)
    first.add(1092, "task_create", B, parent=77, flags=4)
    run(first, B, 92, 100, 77)
    found = analysed(tmp_path, first, second)
    assert found.makespan == 100 and found.soonest.tolist() == [5, 5 + 5 + 60 + 10 + 8]


def test_undeferred_task_and_taskwait_with_dependences_hold_their_creator(tmp_path: Path) -> None:
    """A runs 40 ns inline. B, 50 ns on the other thread, writes what a taskwait (C) waits for; then D is created."""
    first, second = team()
    d = 105
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4 | UNDEFERRED)
    first.add(1000, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    first.add(1040, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    first.add(1045, "task_create", B, parent=IMPLICIT, flags=4).add(1046, "dependence", B, type=3, address=8)
    first.add(1047, "task_create", C, parent=IMPLICIT, flags=TASKWAIT | UNDEFERRED)
    first.add(1048, "dependence", C, type=1, address=8)
    first.add(1049, "wait_begin", IMPLICIT, kind=TASKWAIT_REGION)
    run(second, B, 50, 100, OTHER)
    first.add(1110, "task_schedule", C, next=0, status=8).add(1110, "wait_end", IMPLICIT, kind=TASKWAIT_REGION)
    first.add(1115, "task_create", d, parent=IMPLICIT, flags=4)
    run(first, d, 120, 130, IMPLICIT)
    found = analysed(tmp_path, first, second)
    assert found.soonest.tolist() == [40, 45 + 50, 45 + 50, 45 + 50 + 5 + 10]


def test_detached_task_ends_with_its_event(tmp_path: Path) -> None:
    """A detaches after 10 ns; B, which runs 70 ns, fulfils its event at 60; C depends on A."""
    first, second = team()
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4).add(1001, "dependence", A, type=3, address=8)
    first.add(1002, "task_create", B, parent=IMPLICIT, flags=4)
    first.add(1003, "task_create", C, parent=IMPLICIT, flags=4).add(1004, "dependence", C, type=3, address=8)
    first.add(1005, "wait_begin", IMPLICIT, kind=BARRIER)
    first.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    first.add(1020, "task_schedule", A, next=IMPLICIT, status=DETACH)
    second.add(1010, "task_schedule", OTHER, next=B, status=SWITCH)
    second.add(1060, "task_schedule", A, next=0, status=LATE_FULFILL)
    second.add(1080, "task_schedule", B, next=OTHER, status=COMPLETE)
    run(first, C, 65, 75, IMPLICIT)
    found = analysed(tmp_path, first, second)
    assert found.soonest.tolist() == [50, 70, 60]


def rank(number: int, task: int, sends: bool, call: str = "MPI_Recv", enter: int = 10, leave: int = 130,
         tail: int = 20) -> Stream:  # fmt: skip
    """A task that works to `enter`, calls MPI, and works `tail` more."""
    peer = 1 - number if call in ("MPI_Recv", "MPI_Send") else 0
    values = {"peer": peer, "tag": 7, "bytes": 8, "comm": WORLD, "call": CALL_NUMBER[call]}
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    stream.add(1000, "task_schedule", IMPLICIT, next=task, status=SWITCH)
    stream.add(1000 + enter, "mpi_enter", task, **values).add(1000 + leave, "mpi_exit", task, **values)
    return stream.add(1000 + leave + tail, "task_schedule", task, next=IMPLICIT, status=COMPLETE)


def two_ranks(folder: Path, first: Stream, second: Stream) -> CriticalPath:
    for number, stream in enumerate((first, second)):
        save(folder, [stream], number, size=2)
    return Analysis(read_trace(folder))["critical_path"]


def test_late_sender(tmp_path: Path) -> None:
    """Rank 1 asks at 10 and gets at 130 what rank 0 sends at 100: 30 ns of message, after the sender's 100."""
    found = two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 100, 105, 5), rank(1, A, False, "MPI_Recv", 10, 130, 20))
    assert (found.makespan, found.span, found.path_length) == (150, 100 + 20, 100 + 30 + 20)
    assert parts(found, "path") == {"work": 120, "message": 30} == parts(found, "chain")


@pytest.mark.parametrize(("busy", "chain"), [
    (True, {"work": 20 + 113 + 10, "mpi": 5 + 2}),  # the thread ran B
    (False, {"work": 20 + 100, "mpi": 5, "thread": 15, "message": 10}),
])  # fmt: skip
def test_message_ends_when_its_task_could_go_on(tmp_path: Path, busy: bool, chain: dict[str, int]) -> None:
    """Rank 0 sends at 100. A, suspended in its receive from 12 on, could go on at 110, does so at 125, and leaves the
    call at 130; its thread runs B from 12 to 125, or sleeps."""
    second = rank(1, A, False, "MPI_Recv", 10, 130, 20)
    second.add(1000, "task_create", B, parent=IMPLICIT, flags=4)
    other = B if busy else IMPLICIT
    second.add(1012, "task_schedule", A, next=other, status=SWITCH).add(1110, "task_ready", A, by=other)
    second.add(1125, "task_schedule", other, next=A, status=COMPLETE if busy else SWITCH)
    second.records.sort(key=lambda record: record[0])
    found = two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 100, 105, 5), second)
    assert (found.makespan, found.path_length) == (150, 100 + 10 + 20)
    assert parts(found, "path") == {"work": 120, "message": 10} and parts(found, "chain") == chain


def test_late_receiver_of_a_large_message(tmp_path: Path) -> None:
    """Rank 0 sends at 10, and MPI holds it until 130, as rank 1 asks at 100 only."""
    found = two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 10, 130, 20), rank(1, A, False, "MPI_Recv", 100, 125, 5))
    assert (found.makespan, found.path_length) == (150, 100 + 30 + 20)
    assert parts(found, "chain") == {"work": 120, "message": 30}


def test_early_message_takes_no_time_of_its_own(tmp_path: Path) -> None:
    found = two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 10, 12, 5), rank(1, A, False, "MPI_Recv", 100, 103, 20))
    assert found.path_length == found.span == 120


@pytest.mark.parametrize(("call", "path"), [
    ("MPI_Allreduce", {"work": 100 + 30, "collective": 20}),  # both wait for rank 1, which enters at 100
    ("MPI_Reduce", {"work": 100 + 30, "collective": 20}),  # the root, 0, waits for rank 1
    ("MPI_Bcast", {"work": 10 + 30, "mpi": 110}),  # nobody waits for rank 1; the root's call is one like others
    ("MPI_Scan", {"work": 10 + 30, "mpi": 110}),
])  # fmt: skip
def test_collectives(tmp_path: Path, call: str, path: dict[str, int]) -> None:
    found = two_ranks(tmp_path, rank(0, A, False, call, 10, 120, 30), rank(1, A, False, call, 100, 115, 5))
    assert found.makespan == 150 and parts(found, "path") == path


def test_calls_before_openmp_and_after_it_belong_to_the_initial_task(tmp_path: Path) -> None:
    """A program with MPI alone at first: its thread has no task yet, and none any more at the end."""
    base, initial = 1 << 32, 1 << 32 | 1
    values = {"peer": -1, "comm": WORLD, "call": CALL_NUMBER["MPI_Barrier"]}
    stream = Stream(1).add(1000, "mpi_enter", base, **values).add(1010, "mpi_exit", base, **values)
    stream.add(1050, "implicit_begin", initial, index=1, size=1, flags=1)
    stream.add(1060, "task_create", A, parent=initial, flags=4 | UNDEFERRED)
    stream.add(1060, "task_schedule", initial, next=A, status=SWITCH)
    stream.add(1080, "task_schedule", A, next=initial, status=COMPLETE)
    stream.add(1090, "implicit_end", initial, flags=1)
    of = Analysis(read_trace(save(tmp_path, [stream])))
    points = of["global_graph"].points
    assert set(points.task.tolist()) == {initial, A, 0}  # 0: the barrier
    assert of["critical_path"].soonest.tolist() == [20]


def test_circle_of_one_nanosecond_is_broken(tmp_path: Path) -> None:
    """Two tasks of a damaged trace each created the other, at the same time."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1010, "task_create", A, parent=B, flags=4).add(1010, "task_create", B, parent=A, flags=4)
    stream.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1010, "task_schedule", A, next=B, status=COMPLETE)
    stream.add(1020, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    found = analysed(tmp_path, stream)
    assert found.backwards == 1 and found.span == found.makespan == 10


@pytest.mark.parametrize("overlap", [True, False])
def test_iterations_of_a_graph(tmp_path: Path, overlap: bool) -> None:
    """The producer begins iteration 1 at 0, 2 at 10, 3 at 130 and leaves the graph at 140. A (iteration 1) runs 20-120
    on another thread, B (2) and its child C 10-20. If iterations overlap, the third waits for the first one's tasks,
    and only the end for the others; else no edge is made, as each iteration is a taskgroup."""
    first, second = team()
    d = 105
    for time, number, unfinished in ((0, 1, 0), (10, 2, 1), (130, 3, 1)):
        first.add(1000 + time, "graph_iteration", IMPLICIT, graph=7, iteration=number, how=2,
                  unfinished=unfinished * overlap)
    for time, task, parent in ((0, A, IMPLICIT), (10, B, IMPLICIT), (15, C, B), (130, d, IMPLICIT)):
        first.add(1000 + time, "task_create", task, parent=parent, flags=4)
    run(second, A, 20, 120, OTHER)
    run(first, B, 10, 16, IMPLICIT)
    run(first, C, 16, 20, IMPLICIT)
    run(first, d, 132, 135, IMPLICIT)
    first.add(1140, "graph_iteration", IMPLICIT, graph=7, iteration=3, how=0)
    first.add(1140, "task_create", 106, parent=IMPLICIT, flags=4)
    run(first, 106, 141, 142, IMPLICIT)
    first.records.sort(key=lambda record: record[0])
    of = Analysis(read_trace(save(tmp_path, [first, second])))
    found = of["iterations"]
    assert found.iteration.tolist() == [1, 2, 2, 3, 0] and found.graph.tolist() == [7, 7, 7, 7, 0]
    assert found.document() == {"graphs": 1, "iterations": {"recorded": 0, "replayed": 3, "replayed without code": 0},
                                "tasks": 4}
    graph = of["global_graph"]
    waits = graph.edges.take(slice(graph.declared))
    waits = waits.take(waits.kind == TASKWAIT_EDGE)
    pairs = sorted(zip(graph.points.time[waits.source].tolist(), graph.points.time[waits.sink].tolist()))
    assert pairs == ([(16, 140), (20, 140), (120, 130), (135, 140)] if overlap else [])


def test_a_barrier_begins_in_the_nanosecond_in_which_another_ends(tmp_path: Path) -> None:
    """Two threads meet at 210, and again at 310. The first one comes at 100, then at 210 at once; the second at 200 and
    at 300. Each barrier joins its own two threads and lets both go."""
    first, second = team()
    first.add(1100, "sync_begin", IMPLICIT, kind=BARRIER).add(1210, "sync_end", IMPLICIT, kind=BARRIER)
    first.add(1210, "sync_begin", IMPLICIT, kind=BARRIER).add(1310, "sync_end", IMPLICIT, kind=BARRIER)
    second.records[-1:] = []
    second.add(1200, "sync_begin", OTHER, kind=BARRIER).add(1210, "sync_end", OTHER, kind=BARRIER)
    second.add(1300, "sync_begin", OTHER, kind=BARRIER).add(1310, "sync_end", OTHER, kind=BARRIER)
    first.add(1350, "implicit_end", IMPLICIT)
    second.add(1350, "implicit_end", OTHER)
    graph = Analysis(read_trace(save(tmp_path, [first, second])))["global_graph"]
    assert graph.backwards == 0
    barriers = graph.edges.take(graph.edges.kind == BARRIER_EDGE)
    times = zip(graph.points.time[barriers.source].tolist(), graph.points.time[barriers.sink].tolist())
    assert sorted(times) == [(100, 210), (200, 210), (210, 210), (210, 210), (210, 310), (300, 310), (310, 310),
                             (310, 310)]  # fmt: skip


def test_without_tasks_the_chain_names_loops_and_regions(tmp_path: Path) -> None:
    """10 ns of serial code. Then thread 1 works 100 ns in a loop and 70 in the rest of the region, where it also waits
    30 ns for a lock; thread 0 works 40 ns in the loop and waits. Then 20 ns of serial code again. No row is about
    tasks."""
    team = Team(10)
    team.work(0, 10, 50)
    team.wait(0, 50, 210, AT_REGION_END)
    team.work(1, 10, 110)
    team.add(1, 120, "mutex_acquire", kind=5)
    team.add(1, 150, "mutex_acquired", kind=5)
    team.add(1, 160, "mutex_released", kind=5)
    team.wait(1, 210, 210, AT_REGION_END)
    found = analysed(tmp_path, *team.end(210).finish(230))
    assert {row["name"]: row["total_ns"] for row in found.document()["chain"]} == {
        "loop 0x51": 100, "region 0x61": 70, UNKNOWN: 30,
        "code outside of parallel regions": 30}  # fmt: skip
    assert not any("task" in kind.of_code for kind in EDGE_KINDS) and "task" not in UNKNOWN
    assert {row["name"]: row["total_ns"] for row in found.document()["path"]} == {
        "loop 0x51": 100, "region 0x61": 70, "code outside of parallel regions": 30}  # fmt: skip


def test_the_line_says_which_path_and_keeps_the_place_of_a_long_name() -> None:
    """Work by the path without MPI, which is 50 of the 100 ns: 3.0 threads on a path of 100 ns would be no result."""
    path = {"makespan_ns": 100, "threads": 2, "span_ns": 50, "path_ns": 100, "least_ns": 75, "parallelism": 3.0,
            "on_devices_ns": 0, "outside_ns": 0, "slack": [],
            "chain": [{"name": f"void make<{'long_' * 30}>(int) work.cc:9", "total_ns": 100}],
            "chain_ranks": [{"rank": 0, "total_ns": 100}]}  # fmt: skip
    (_, chain), (_, line) = bounds(path, 1)
    assert chain == "void make<long_long_long_long_lon… work.cc:9 100.0 %"
    assert line == "100 ns; if MPI took no time, 3.0 threads could work at a time, on average"
    (_, line) = bounds(path | {"span_ns": 100, "slack": [{}]}, 1)[1]
    assert line == "100 ns; at least 75.0 ns on 2 threads; 3.0 threads can work at a time, on average"
    (_, line) = bounds(path | {"outside_ns": 60}, 1)[1]
    assert line.endswith("; a thread's share of a loop counts as one piece: another schedule may be faster")
    assert bounds(path | {"outside_ns": 60}, 2) == bounds(path, 2)  # of MPI alone
    (_, line) = bounds(path | {"outside_ns": 60, "slack": [{"name": "task"}]}, 1)[1]
    assert line.endswith("; code outside of tasks (60.0 %) is one piece")


# What ordered the run and not the program -------------------------------------------------------------------------


def named(found: CriticalPath, which: str) -> dict[str, int]:
    return {row["name"]: row["total_ns"] for row in found.document()[which]}


def section(stream: Stream, task: int, asks: int, has: int, lets_go: int, address: int = ADDRESS) -> None:
    for time, name in ((asks, "mutex_acquire"), (has, "mutex_acquired"), (lets_go, "mutex_released")):
        stream.add(1000 + time, name, task, wait_id=address, kind=CRITICAL)


def begins(stream: Stream, task: int, outer: int, time: int = 0) -> None:
    stream.add(1000 + time, "task_schedule", outer, next=task, status=SWITCH)


def ends(stream: Stream, task: int, outer: int, time: int) -> None:
    stream.add(1000 + time, "task_schedule", task, next=outer, status=COMPLETE)


@pytest.mark.parametrize(("asks", "chain"), [
    (20, {"task, holding a lock": 40 + 40, "task": 10 + 10}),
    (60, {"task": 100}),
])  # fmt: skip
def test_a_lock_leads_to_the_task_that_had_it(tmp_path: Path, asks: int, chain: dict[str, int]) -> None:
    """A has the lock from 10 to 50, as B's record of having it says: A's own of letting go is from 52. B asks for it at
    20 and has it at 50, or asks when it is free. No path counts on the order: each task is one by itself."""
    first, second = team()
    for task in (A, B):
        first.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    begins(first, A, IMPLICIT)
    section(first, A, 10, 10, 52)
    ends(first, A, IMPLICIT, 60)
    begins(second, B, OTHER)
    section(second, B, asks, max(asks, 50), 90)
    ends(second, B, OTHER, 100)
    found = analysed(tmp_path, first, second)
    assert (found.makespan, found.span) == (100, 100 - max(50 - asks, 0))
    assert named(found, "chain") == chain


def test_a_creator_whose_thread_runs_a_task_waits_for_it(tmp_path: Path) -> None:
    """Thread 1 creates A and runs it from 5 to 85, as throttling does, and creates B at 90, which runs from 95 to 105.
    The run was bounded by A, though B does not depend on it."""
    first, second = team()
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
    run(first, A, 5, 85, IMPLICIT)
    first.add(1090, "task_create", B, parent=IMPLICIT, flags=4)
    first.add(1092, "wait_begin", IMPLICIT, kind=BARRIER)
    run(second, B, 95, 105, OTHER)
    found = analysed(tmp_path, first, second)
    assert found.makespan == 100 and found.path_length == 80
    assert named(found, "chain") == {"task": 80 + 10, "creation of tasks": 5, "from creation to start": 5}


def test_a_creator_runs_a_task_after_its_last_creation(tmp_path: Path) -> None:
    """As above, but it creates nothing more: it goes on at 85, waits from 92 on, and runs B meanwhile."""
    first, second = team()
    first.add(1000, "task_create", B, parent=IMPLICIT, flags=4)
    first.add(1001, "task_create", A, parent=IMPLICIT, flags=4)
    run(first, A, 5, 85, IMPLICIT)
    first.add(1092, "wait_begin", IMPLICIT, kind=BARRIER)
    run(first, B, 95, 105, IMPLICIT)
    found = named(analysed(tmp_path, first, second), "chain")
    assert found["task"] == 80 + 10 and UNKNOWN not in found


@pytest.mark.parametrize(("by", "chain"), [(B, {"work": 40 + 25, "thread": 5}),
                                           (OTHER, {"work": 10 + 25, "thread": 5, "wait": 30})])  # fmt: skip
def test_an_event_leads_to_the_task_that_fulfilled_it(tmp_path: Path, by: int, chain: dict[str, int]) -> None:
    """A is suspended from 10 to 45 and could go on from 40: B let it, or a thread that ran nothing noticed it."""
    first, second = team()
    for task in (A, B):
        first.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    first.add(1000, "wait_begin", IMPLICIT, kind=BARRIER)
    begins(first, A, IMPLICIT)
    first.add(1010, "task_schedule", A, next=IMPLICIT, status=SWITCH)
    begins(first, A, IMPLICIT, 45)
    ends(first, A, IMPLICIT, 70)
    begins(second, B, OTHER)
    if by == OTHER:
        ends(second, B, OTHER, 30)
    second.add(1040, "task_ready", A, by=by)
    if by == B:
        ends(second, B, OTHER, 60)
    found = analysed(tmp_path, first, second)
    assert found.makespan == 70 and parts(found, "chain") == chain
    assert found.span == (60 if by == B else 35)


def test_kernels_of_one_device(tmp_path: Path) -> None:
    """A and B wait for a kernel each, of 100 and 60 ns, which one device runs one after the other from 20 on. One
    thread runs A 10-20 and 125-130, B 20-30 and 185-195."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=REGION, index=0, size=1)
    for task, time in ((A, 1000), (B, 1002)):
        stream.add(time, "task_create", task, parent=IMPLICIT, flags=4)
    stream.add(1006, "wait_begin", IMPLICIT, kind=BARRIER)
    stream.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1010, "target_begin", A, construct=500, device=0, kind=1)
    stream.add(1020, "task_schedule", A, next=B, status=SWITCH)
    stream.add(1020, "target_begin", B, construct=501, device=0, kind=1)
    stream.add(1030, "task_schedule", B, next=IMPLICIT, status=SWITCH)
    stream.add(1020, "device_kernel", 500, elapsed=100, device=0)
    stream.add(1120, "device_kernel", 501, elapsed=60, device=0)
    for task, start, end, construct in ((A, 1125, 1130, 500), (B, 1185, 1195, 501)):
        stream.add(start, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(start, "target_end", task, construct=construct)
        stream.add(end, "task_schedule", task, next=IMPLICIT, status=COMPLETE)
    found = analysed(tmp_path, stream)
    assert (found.makespan, found.work, found.on_devices) == (185, 35, 160)
    # The longest path is A: 10 ns, its kernel, 5 ns.
    assert (found.span, found.path_length, found.least) == (115, 115, 115)
    assert found.parallelism == (35 + 160) / 115
    # B's last 10 ns, 5 ns before them, B's kernel; that waited for the device, which had A's kernel; A's first 10 ns.
    assert parts(found, "chain") == {"device": 160, "work": 20, "wait": 5}
    assert [row["name"] for row in found.document()["chain"]][0] == "task, on devices"
    assert "1.7 threads and devices can work at a time" in bounds(found.document(), 1)[1][1]
