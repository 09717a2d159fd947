# SPDX-License-Identifier: Apache-2.0
"""What ordered a run and not the program, on traces made by hand with answers worked out by hand: locks, creators whose
thread ran a task, and tasks that were let go on. One cycle is one nanosecond, and records begin at 1000."""
from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, Stream, save  # first: it finds marline
from marline.trace.analysis import Analysis
from marline.trace.global_graph.edges import LOCK
from marline.trace.passes.critical_path import CriticalPath
from marline.trace.read.reader import read_trace
from test_critical_path import BARRIER, OTHER, analysed, parts, run, team

CRITICAL, ADDRESS = 5, 0x50  # ompt_mutex_critical; any lock's


def named(found: CriticalPath, which: str) -> dict[str, int]:
    return {row["name"]: row["total_ns"] for row in found.document()[which]}


def section(stream: Stream, task: int, asks: int, has: int, lets_go: int, address: int = ADDRESS) -> None:
    for time, name in ((asks, "mutex_acquire"), (has, "mutex_acquired"), (lets_go, "mutex_released")):
        stream.add(1000 + time, name, task, wait_id=address, kind=CRITICAL)


def start(stream: Stream, task: int, outer: int, time: int = 0) -> None:
    stream.add(1000 + time, "task_schedule", outer, next=task, status=SWITCH)


def end(stream: Stream, task: int, outer: int, time: int) -> None:
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
    start(first, A, IMPLICIT)
    section(first, A, 10, 10, 52)
    end(first, A, IMPLICIT, 60)
    start(second, B, OTHER)
    section(second, B, asks, max(asks, 50), 90)
    end(second, B, OTHER, 100)
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


@pytest.mark.parametrize(("by", "chain"), [(B, {"work": 40 + 25, "thread": 5}),
                                           (OTHER, {"work": 10 + 25, "thread": 5, "wait": 30})])  # fmt: skip
def test_an_event_leads_to_the_task_that_fulfilled_it(tmp_path: Path, by: int, chain: dict[str, int]) -> None:
    """A is suspended from 10 to 45 and could go on from 40: B let it, or a thread that ran nothing noticed it."""
    first, second = team()
    for task in (A, B):
        first.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    first.add(1000, "wait_begin", IMPLICIT, kind=BARRIER)
    start(first, A, IMPLICIT)
    first.add(1010, "task_schedule", A, next=IMPLICIT, status=SWITCH)
    start(first, A, IMPLICIT, 45)
    end(first, A, IMPLICIT, 70)
    start(second, B, OTHER)
    if by == OTHER:
        end(second, B, OTHER, 30)
    second.add(1040, "task_ready", A, by=by)
    if by == B:
        end(second, B, OTHER, 60)
    found = analysed(tmp_path, first, second)
    assert found.makespan == 70 and parts(found, "chain") == chain
    assert found.span == (60 if by == B else 35)


SECTIONS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5)  # (pause, how long)


@settings(max_examples=15, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(SECTIONS, min_size=2, max_size=3))
def test_each_wait_for_a_lock_has_an_edge(threads: list[list[tuple[int, int]]]) -> None:
    """Tasks that have one lock in turn, first come, first served: as many edges as waits for another task, and the
    chain's parts add up to the makespan."""
    streams, waits, free, holder = [], 0, 0, -1
    clock, left = [0] * len(threads), [list(sections) for sections in threads]
    for number in range(len(threads)):
        streams.append(Stream(number + 1).add(1000, "implicit_begin", 200 + number, index=number, size=len(threads)))
        streams[-1].add(1000, "task_create", 100 + number, parent=200 + number, flags=4)
        start(streams[-1], 100 + number, 200 + number)
    while any(left):
        one = min((n for n in range(len(threads)) if left[n]), key=lambda n: (clock[n] + left[n][0][0], n))
        pause, held = left[one].pop(0)
        asks = clock[one] + pause
        waits += free > asks and holder != one
        has = max(asks, free)
        section(streams[one], 100 + one, asks, has, has + held)
        clock[one] = free = has + held
        holder = one
    for number, stream in enumerate(streams):
        end(stream, 100 + number, 200 + number, clock[number] + 1)
    with tempfile.TemporaryDirectory() as folder:
        of = Analysis(read_trace(save(Path(folder), streams)))
    edges, found = of["global_graph"].edges, of["critical_path"]
    assert int((edges.kind == LOCK).sum()) == waits
    assert sum(row["total_ns"] for row in found.document()["chain"]) == found.makespan
