# SPDX-License-Identifier: Apache-2.0
"""The model of the scheduler by itself: programs of a few tasks whose times are worked out by hand, and bounds that
hold for any program. Times are ns; without a word about costs, nothing costs anything."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import handmade  # noqa: F401  first: it finds marline
from marline.trace.what_if.native_replay import (AT_ONCE, BEGAN, KEEPS_THREAD, THREAD, TIED, UNDEFERRED, WORKED,
                                                 Program, Replayed, chain_to, replay)  # fmt: skip


@dataclass
class Builder:
    """Tasks as lists of work between points; a point is (task, number)."""

    threads: list[int]
    work: list[list[int]] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    thread: list[int] = field(default_factory=list)
    traits: list[int] = field(default_factory=list)
    priority: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    edges: list[tuple[tuple[int, int], tuple[int, int], int]] = field(default_factory=list)
    keeps: list[tuple[int, int]] = field(default_factory=list)
    dispatch: int = 0
    wake_up: int = 0
    most_queued: int = 256

    def task(self, *work: int, rank: int = 0, thread: int = -1, traits: int = 0, priority: int = 0,
             begins: int = 0) -> int:  # fmt: skip
        self.work.append(list(work))
        for column, value in ((self.rank, rank), (self.thread, thread), (self.traits, traits),
                              (self.priority, priority), (self.begins, begins)):  # fmt: skip
            column.append(value)
        return len(self.work) - 1

    def edge(self, source: tuple[int, int], sink: tuple[int, int], delay: int = 0) -> None:
        self.edges.append((source, sink, delay))

    def after(self, *tasks: int) -> None:
        """Each task after the one before it."""
        for one, other in zip(tasks, tasks[1:]):
            self.edge((one, -1), (other, 0))

    def run(self) -> tuple[Replayed, np.ndarray]:
        """What the model says, and where each task's points begin."""
        first = np.r_[0, np.cumsum([len(one) + 1 for one in self.work])]
        work = np.concatenate([[*one, 0] for one in self.work])

        def place(point: tuple[int, int]) -> int:
            return int(first[point[0]] + point[1] if point[1] >= 0 else first[point[0] + 1] + point[1])

        waits = np.zeros(len(work), dtype=np.uint8)
        for point in self.keeps:
            waits[place(point)] = KEEPS_THREAD
        ends = np.array([(place(a), place(b), delay) for a, b, delay in self.edges], dtype=np.int64).reshape(-1, 3).T
        costs = (np.full(len(self.threads), cost) for cost in (self.dispatch, self.wake_up))
        columns = (np.array(column) for column in (self.rank, self.thread, self.priority, self.begins, self.traits,
                                                   self.threads))  # fmt: skip
        return replay(Program(first, work, waits, *ends, *columns, *costs, self.most_queued)), first

    def times(self, *points: tuple[int, int]) -> list[int]:
        found, first = self.run()
        assert found.unfinished == 0
        return [int(found.time[first[task] + number if number >= 0 else first[task + 1] + number])
                for task, number in points]  # fmt: skip

    def makespan(self) -> int:
        found, _ = self.run()
        assert found.unfinished == 0
        return found.makespan


def test_one_thread_takes_all_work_and_what_each_task_costs() -> None:
    built = Builder([1], dispatch=5, wake_up=3)
    for work in (10, 20, 30):
        built.task(work)
    assert built.makespan() == 3 + 10 + 5 + 20 + 5 + 30


def test_with_threads_enough_the_critical_path_is_left() -> None:
    built = Builder([100])
    a, b, c, d = (built.task(work) for work in (10, 40, 20, 5))
    built.after(a, b, d)
    built.after(a, c, d)
    for _ in range(20):
        built.task(7)
    assert built.makespan() == 10 + 40 + 5
    found, first = built.run()
    path = chain_to(found, int(np.argmax(found.time)))
    assert path.tolist() == [first[a], first[a] + 1, first[b], first[b] + 1, first[d], first[d] + 1]
    assert found.cause[path].tolist() == [BEGAN, WORKED, 0, WORKED, 1, WORKED]


def test_busy_thread_is_a_cause() -> None:
    built = Builder([1])
    a, b = built.task(10), built.task(20)
    found, first = built.run()
    assert found.time[first[b]] == 10 and found.cause[first[b]] == THREAD and found.before[first[b]] == first[a] + 1


def fork_join(threads: int) -> int:
    """One task creates 24 of 10 ns, 1 ns each, and waits for them."""
    built = Builder([threads])
    creator = built.task(*[1] * 24, 0)
    for number in range(24):
        child = built.task(10)
        built.edge((creator, number), (child, 0))
        built.edge((child, -1), (creator, 24))
    return built.makespan()


def test_more_threads_never_slow_down_a_fork_and_join() -> None:
    times = [fork_join(threads) for threads in (1, 2, 3, 4, 8, 16, 32)]
    assert times == sorted(times, reverse=True) and times[0] == 24 + 240 and times[-1] == 23 + 10


@pytest.mark.parametrize(("priority", "end"), [(0, 10 + 30), (1, 30)])
def test_the_most_urgent_task_comes_first(priority: int, end: int) -> None:
    """On two threads 10, 10, 10 and 30, the oldest first: the long one begins at once only if it is urgent."""
    built = Builder([2])
    for work in (10, 10, 10, 30):
        built.task(work, priority=priority if work == 30 else 0)
    assert built.makespan() == end


def test_own_tasks_newest_first_and_others_oldest_first() -> None:
    """Thread 0 creates A, B, C at 0, 1, 2 and ends at 3; thread 1 is bound until 2."""
    built = Builder([2])
    creator = built.task(1, 1, 1, thread=0)
    built.task(2, thread=1)
    tasks = [built.task(10) for _ in range(3)]
    for number, task in enumerate(tasks):
        built.edge((creator, number), (task, 0))
    assert built.times(*((task, 0) for task in tasks)) == [2, 12, 3]


def test_suspended_task_gives_its_thread_away_and_a_held_one_does_not() -> None:
    """A waits from 10 to 110 for what takes 100; B works 50 beside it."""
    for held, end in ((False, 110 + 5), (True, 110 + 5 + 50)):
        built = Builder([1])
        a = built.task(10, 0, 5)
        built.task(50)
        built.edge((a, 1), (a, 2), 100)
        built.keeps = [(a, 2)] if held else []
        assert built.makespan() == end


@pytest.mark.parametrize(("traits", "goes_on"), [(TIED, 210), (0, 110)])
def test_tied_task_goes_on_where_it_began(traits: int, goes_on: int) -> None:
    """A waits from 10 to 110; its thread, 1, is busy from 10 to 210, the other one is free."""
    built = Builder([2])
    a = built.task(10, 0, 5, traits=traits)
    built.edge((a, 1), (a, 2), 100)
    built.task(200, thread=1, begins=5)
    assert built.times((a, 2)) == [goes_on]


def test_full_queue_runs_a_new_task_at_once() -> None:
    """One thread, room for one: the second child runs before its creator goes on."""
    built = Builder([1], most_queued=1)
    creator = built.task(10, 10, 10)
    first, second = built.task(100), built.task(50)
    built.edge((creator, 0), (first, 0))
    built.edge((creator, 1), (second, 0))
    assert built.times((second, 0), (creator, 2), (first, 0)) == [10, 10 + 50 + 10, 80]


@pytest.mark.parametrize("traits", [UNDEFERRED, AT_ONCE])
def test_undeferred_task_runs_before_its_creator_goes_on(traits: int) -> None:
    built = Builder([1])
    creator = built.task(10, 0, 10)
    child = built.task(100, traits=traits)
    built.task(1000, begins=5)
    built.edge((creator, 1), (child, 0))
    built.edge((child, 1), (creator, 2))
    assert built.times((child, 0), (creator, 2)) == [10, 110]


def test_message_between_ranks() -> None:
    """Rank 0 sends after 100, on its way for 30; rank 1 waits from 10 on."""
    built = Builder([1, 1])
    sender = built.task(100, 5, rank=0)
    receiver = built.task(10, 0, 20, rank=1)
    built.edge((sender, 1), (receiver, 2), 30)
    assert built.makespan() == 100 + 30 + 20


def test_what_cannot_end_is_counted() -> None:
    """One thread, held in a call that waits for a task behind it."""
    built = Builder([1])
    a, b = built.task(10, 0), built.task(10)
    built.edge((b, -1), (a, 1))
    built.keeps = [(a, 1)]
    assert built.run()[0].unfinished == 2


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Builder, int, int]:
    """A program without costs, its work and its longest path."""
    built = Builder([draw(st.integers(1, 5))])
    works = draw(st.lists(st.integers(0, 50), min_size=1, max_size=40))
    ends: list[int] = []
    for number, work in enumerate(works):
        built.task(work, priority=draw(st.integers(0, 3)), traits=draw(st.sampled_from((0, TIED, AT_ONCE))))
        needs = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        for need in needs:
            built.after(need, number)
        ends.append(work + max((ends[need] for need in needs), default=0))
    return built, sum(works), max(ends)


bounded = settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded
@given(graphs())
def test_bounds_of_any_greedy_schedule(graph: tuple[Builder, int, int]) -> None:
    """max(work / P, span) <= time <= (work - span) / P + span (Brent 1974; Blumofe and Leiserson 1999)."""
    built, work, span = graph
    threads, time = built.threads[0], built.makespan()
    assert max(-(-work // threads), span) <= time <= (work - span) // threads + span


@bounded
@given(graphs())
def test_chain_is_as_long_as_the_run(graph: tuple[Builder, int, int]) -> None:
    """And the same program runs the same way twice."""
    built, _, _ = graph
    found, _ = built.run()
    path = chain_to(found, int(np.argmax(found.time)))
    assert found.time[path[0]] == 0 and np.all(np.diff(found.time[path]) >= 0)
    again, _ = built.run()
    assert all(np.array_equal(getattr(found, name), getattr(again, name)) for name in ("time", "cause", "before"))
