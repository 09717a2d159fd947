# SPDX-License-Identifier: Apache-2.0
"""Programs without tasks, on traces made by hand with answers worked out by hand: loops and regions with their place,
imbalance and waits; serial code; MPI calls that wait for another rank, and what is said where most waiting is for one
call. One cycle is one nanosecond, and records begin at 1000."""
from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import in_process  # first: it finds marline
from handmade import IMPLICIT, A, Stream, save
from marline.report import without_tasks
from marline.report.sections.names import fitted
from marline.report.text import console_for
from marline.symbolizer import Location
from marline.trace.analysis import Analysis
from marline.trace.passes.thread_time.one_call import longest_wait
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

INITIAL_TASK, OTHER, REGION = 100, 201, 300  # IMPLICIT and OTHER are the two threads of a team
EXPLICIT_BARRIER, AT_WORKSHARE, AT_REGION_END = 3, 8, 9
INITIAL_FLAG, IMPLICIT_FLAG = 1, 2
STATIC, DYNAMIC, SECTIONS, SINGLE, OTHERS, TASKLOOP = 10, 11, 2, 3, 4, 7
LOOP, NEXT_LOOP, FORK, BARRIER = 0x51, 0x52, 0x61, 0x71  # code addresses


class Team:
    """Two threads in one region, from 1000 + `begin` on. Times are counted from 1000."""

    def __init__(self, begin: int = 0, number: int = 0, streams: tuple[Stream, Stream] | None = None) -> None:
        self.streams = streams or (Stream(1), Stream(2))
        self.region, self.tasks = REGION + number, (IMPLICIT + 10 * number, OTHER + 10 * number)
        if streams is None:
            self.streams[0].add(1000, "implicit_begin", INITIAL_TASK, size=1, flags=INITIAL_FLAG)
        self.streams[0].add(1000 + begin, "parallel_begin", INITIAL_TASK, parallel=self.region, size=2, code=FORK)
        for index in range(2):
            self.add(index, begin, "implicit_begin", parallel=self.region, index=index, size=2, flags=IMPLICIT_FLAG)

    def add(self, thread: int, time: int, name: str, **values: int) -> None:
        self.streams[thread].add(1000 + time, name, self.tasks[thread], **values)

    def work(self, index: int, start: int, end: int, kind: int = STATIC, code: int = LOOP, count: int = 8) -> None:
        self.add(index, start, "work_begin", kind=kind, code=code, count=count)
        self.add(index, end, "work_end", kind=kind, code=code, count=count)

    def wait(self, index: int, start: int, end: int, kind: int, code: int = BARRIER) -> None:
        for name, time in (("sync_begin", start), ("wait_begin", start), ("wait_end", end), ("sync_end", end)):
            self.add(index, time, name, kind=kind, code=code)

    def end(self, time: int) -> "Team":
        for index in range(2):
            self.add(index, time, "implicit_end", flags=IMPLICIT_FLAG)
        self.streams[0].add(1000 + time, "parallel_end", INITIAL_TASK, parallel=self.region)
        return self

    def finish(self, time: int) -> tuple[Stream, Stream]:
        self.streams[0].add(1000 + time, "implicit_end", INITIAL_TASK, flags=INITIAL_FLAG)
        return self.streams


def loops_of(folder: Path, *streams: Stream) -> dict[str, Any]:
    return Analysis(read_trace(save(folder, list(streams)))).document("loops")


def test_unequal_static_loop(tmp_path: Path) -> None:
    """`parallel for` with 100 and 400 ns: one of two threads waits 300 ns."""
    team = Team()
    for index, length in ((0, 100), (1, 400)):
        team.work(index, 0, length)
        team.wait(index, length, 400, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(400).finish(400))
    (loop,) = found["constructs"]
    assert (loop["kind"], loop["schedule"], loop["name"], loop["calls"], loop["iterations"], loop["threads"]) == (
        "loop", "static", "loop 0x51", 1, 8, 2)  # fmt: skip
    assert (loop["time_ns"], loop["waited_ns"], loop["locked_ns"], loop["imbalance"]) == (500, 300, 0, 400 / 250)
    assert loop["slowest"] == {"thread": 1, "time_ns": 400} and loop["fastest"] == {"thread": 0, "time_ns": 100}
    (region,) = found["regions"]
    assert (region["name"], region["calls"], region["elapsed_ns"], region["time_ns"], region["waited_ns"]) == (
        "region 0x61", 1, 400, 500, 300)  # fmt: skip
    assert region["imbalance"] == 400 / 250 and not region["with_tasks"]
    assert (found["waited_ns"], found["locked_ns"], found["serial"]) == (300, 0, [])


def test_inline_loop_is_the_region_s(tmp_path: Path) -> None:
    """GCC's code of a static loop: no worksharing event. 10 ns serial code before, 20 after."""
    team = Team(10)
    for index, length in ((0, 50), (1, 200)):
        team.wait(index, 10 + length, 210, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(210).finish(230))
    (region,) = found["constructs"]
    assert (region["kind"], region["name"], region["time_ns"], region["waited_ns"]) == (
        "region", "region 0x61", 250, 150)  # fmt: skip
    assert [(row["after"], row["before"], row["times"], row["total_ns"]) for row in found["serial"]] == [
        ("0x61", "", 1, 20), ("", "0x61", 1, 10)]  # fmt: skip


def test_code_before_a_barrier(tmp_path: Path) -> None:
    """Two inline loops in one region: 100 and 40 ns to a barrier at 100; then 20 and 80 ns to the end."""
    team = Team()
    for index, first, second in ((0, 100, 20), (1, 40, 80)):
        team.wait(index, first, 100, EXPLICIT_BARRIER)
        team.wait(index, 100 + second, 180, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(180).finish(180))
    assert [(one["name"], one["time_ns"], one["waited_ns"]) for one in found["constructs"]] == [
        ("code before the barrier at 0x71", 140, 60), ("region 0x61", 100, 60)]  # fmt: skip


def test_code_before_a_barrier_that_a_function_ends_with(tmp_path: Path) -> None:
    """Compilers turn the call of such a barrier into a jump, so its code address lies in the runtime: the region is
    named instead."""
    team = Team()
    for index, first, second in ((0, 100, 20), (1, 40, 80)):
        team.wait(index, first, 100, EXPLICIT_BARRIER)
        team.wait(index, 100 + second, 180, AT_REGION_END)
    runtime = {"begin": 0x70, "end": 0x80, "offset": 0, "path": "/there/libgomp.so.1"}
    streams = list(team.end(180).finish(180))
    found = Analysis(read_trace(save(tmp_path, streams, maps=[runtime]))).document("loops")
    assert [(one["name"], one["time_ns"], one["waited_ns"]) for one in found["constructs"]] == [
        ("code before a barrier of region 0x61", 140, 60), ("region 0x61", 100, 60)]  # fmt: skip


def test_the_unit_with_the_greatest_excess_is_charged(tmp_path: Path) -> None:
    """Two loops and no barrier between: 100 and 90 ns, then 10 and 110; 90 ns are waited at the end, by thread 0. The
    second loop explains them all: its excess is 100 ns. 5 of these ns wait for a lock in it."""
    team = Team()
    for index, first, second in ((0, 100, 10), (1, 90, 110)):
        team.work(index, 0, first, STATIC, LOOP)
        team.add(index, first, "work_begin", kind=DYNAMIC, code=NEXT_LOOP, count=6)
        if index == 1:
            team.add(1, first + 10, "mutex_acquire", kind=5)
            team.add(1, first + 15, "mutex_acquired", kind=5)
        team.add(index, first + second, "work_end", kind=DYNAMIC, code=NEXT_LOOP, count=6)
        team.wait(index, first + second, 200, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(200).finish(200))
    rows = {one["name"]: one for one in found["constructs"]}
    assert list(rows) == ["loop 0x52", "loop 0x51"]
    first, second = rows["loop 0x51"], rows["loop 0x52"]
    assert (first["time_ns"], first["waited_ns"], first["imbalance"]) == (190, 0, 100 / 95)
    assert (second["time_ns"], second["locked_ns"], second["waited_ns"]) == (115, 5, 90)
    assert (second["schedule"], second["iterations"], second["imbalance"]) == ("dynamic", 6, 105 / 57.5)
    assert (found["waited_ns"], found["locked_ns"]) == (90, 5)


def test_a_late_thread_is_not_the_loop_s_fault(tmp_path: Path) -> None:
    """Both work 50 ns, but the second thread comes 40 ns late: 40 ns are waited, and charged to nothing."""
    team = Team()
    team.streams[1].records.clear()
    team.add(1, 40, "implicit_begin", parallel=REGION, index=1, size=2, flags=IMPLICIT_FLAG)
    for index, start in ((0, 0), (1, 40)):
        team.work(index, start, start + 50)
        team.wait(index, start + 50, 90, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(90).finish(90))
    (loop,) = found["constructs"]
    assert (loop["time_ns"], loop["waited_ns"], loop["late_ns"], loop["imbalance"]) == (100, 0, 40, 1.0)
    assert (found["waited_ns"], found["arrivals"]) == (40, 2)


def test_single_belongs_to_the_team(tmp_path: Path) -> None:
    """Thread 1 runs the single for 60 ns; thread 0 comes to it at once, and waits."""
    team = Team()
    team.work(0, 0, 0, OTHERS, LOOP, 1)
    team.work(1, 0, 60, SINGLE, LOOP, 1)
    for index, start in ((0, 0), (1, 60)):
        team.wait(index, start, 60, AT_WORKSHARE)
    found = loops_of(tmp_path, *team.end(60).finish(60))
    (single,) = found["constructs"]
    assert (single["kind"], single["calls"], single["time_ns"], single["waited_ns"], single["imbalance"]) == (
        "single", 1, 60, 60, 2.0)  # fmt: skip
    assert single["slowest"] == {"thread": 1, "time_ns": 60} and single["fastest"] == {"thread": 0, "time_ns": 0}


def test_a_lock_that_the_task_has_is_taken_again(tmp_path: Path) -> None:
    """Of a nestable lock, only the first request waits: the second one is followed by no record that it was served. Nor
    does a failed test wait."""
    team = Team()
    team.work(0, 0, 100)
    team.add(1, 0, "work_begin", kind=STATIC, code=LOOP, count=8)
    for time, name, kind in ((5, "mutex_acquire", 2), (10, "mutex_acquire", 3), (15, "mutex_acquired", 3),
                             (20, "mutex_acquire", 3), (80, "mutex_released", 3), (85, "mutex_acquire", 1),
                             (95, "mutex_acquired", 1), (98, "mutex_released", 1)):  # fmt: skip
        team.add(1, time, name, kind=kind)
    team.add(1, 100, "work_end", kind=STATIC, code=LOOP, count=8)
    for index in range(2):
        team.wait(index, 100, 100, AT_REGION_END)
    (loop,) = loops_of(tmp_path, *team.end(100).finish(100))["constructs"]
    assert (loop["time_ns"], loop["locked_ns"]) == (100 + 85, 15)


def test_a_single_without_an_end(tmp_path: Path) -> None:
    """GCC reports none. It ends at the next construct of its task, but not at a taskloop inside of it, or at a barrier;
    with the task, if there is no other."""
    team = Team()
    team.add(0, 0, "work_begin", kind=SINGLE, code=LOOP, count=1)
    team.work(0, 10, 20, TASKLOOP, NEXT_LOOP)
    team.work(0, 50, 60)
    team.wait(0, 100, 100, AT_REGION_END)
    team.add(1, 5, "work_begin", kind=OTHERS, code=LOOP, count=1)
    team.wait(1, 90, 100, AT_REGION_END)
    team.add(1, 100, "work_begin", kind=SINGLE, code=LOOP, count=1)
    spans = Analysis(read_trace(save(tmp_path, list(team.end(120).finish(120)))))["worksharing"]
    assert sorted(zip(spans.start.tolist(), spans.end.tolist())) == [(0, 50), (5, 90), (10, 20), (50, 60), (100, 120)]
    assert spans.closed.all()


def test_calls_of_one_loop_are_added_up(tmp_path: Path) -> None:
    """Two regions; in each another thread is slower: 30 and 10 ns. No thread is slower in all, but 40 ns are waited."""
    first = Team()
    for index, length in ((0, 30), (1, 10)):
        first.work(index, 0, length)
        first.wait(index, length, 30, AT_REGION_END)
    second = Team(50, 1, first.end(30).streams)
    for index, length in ((0, 10), (1, 30)):
        second.work(index, 50, 50 + length)
        second.wait(index, 50 + length, 80, AT_REGION_END)
    found = loops_of(tmp_path, *second.end(80).finish(80))
    (loop,) = found["constructs"]
    assert (loop["calls"], loop["iterations"], loop["time_ns"], loop["waited_ns"], loop["imbalance"]) == (
        2, 16, 80, 40, 1.5)  # fmt: skip
    assert loop["slowest"]["time_ns"] == loop["fastest"]["time_ns"] == 40
    assert found["regions"][0]["calls"] == 2
    assert found["serial"] == [{"after": "0x61", "before": "0x61", "times": 1, "total_ns": 20, "short_ns": 20}]


def test_mpi_in_a_region(tmp_path: Path) -> None:
    """Thread 0 is in MPI for 80 of its 100 ns, while thread 1 works 20 ns and waits."""
    team = Team()
    values = {"peer": 1, "tag": 0, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    team.add(0, 10, "mpi_enter", **values)
    team.add(0, 90, "mpi_exit", **values)
    for index, length in ((0, 100), (1, 20)):
        team.wait(index, length, 100, AT_REGION_END)
    found = loops_of(tmp_path, *team.end(100).finish(100))
    (region,) = found["constructs"]
    assert (region["time_ns"], region["mpi_ns"], region["waited_ns"]) == (120, 80, 80)
    assert without_tasks.difference(region) == "thread 0 works 5.0x as long as thread 1, most of this time in MPI"
    assert "call MPI in a task" in without_tasks.remedy(region)


def test_regions_with_tasks_have_no_units(tmp_path: Path) -> None:
    team = Team()
    team.streams[0].add(1005, "task_create", A, parent=IMPLICIT, flags=4)
    for index, end in ((0, 100), (1, 20)):
        team.wait(index, end, 100, AT_REGION_END)
    team.streams[1].add(1100, "task_run", A, start=1030, outer=OTHER)
    found = loops_of(tmp_path, *team.end(100).finish(100))
    assert found["constructs"] == [] and found["waited_ns"] == 0 and found["regions"][0]["with_tasks"]


# A phase: whether it is a loop, which of two places it is at, and how long each of the two threads works.
PHASE = st.tuples(st.booleans(), st.sampled_from((LOOP, NEXT_LOOP)), st.integers(0, 50), st.integers(0, 50))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(phases=st.lists(PHASE, min_size=1, max_size=12))
def test_random_phases(phases: list[tuple[bool, int, int, int]]) -> None:
    """Each unit has the time of its phases, and is charged with all that is waited at their ends."""
    team, now = Team(1), 1
    time: dict[tuple[str, int], int] = {}
    waited: dict[tuple[str, int], int] = {}
    longest: dict[tuple[str, int], int] = {}
    for is_loop, code, *lengths in phases:
        key = ("loop" if is_loop else "code before the barrier", code)
        for thread, length in enumerate(lengths):
            if is_loop:
                team.work(thread, now, now + length, code=code)
            team.wait(thread, now + length, now + max(lengths), EXPLICIT_BARRIER, code)
        for sums, value in ((time, sum(lengths)), (waited, 2 * max(lengths) - sum(lengths)), (longest, max(lengths))):
            sums[key] = sums.get(key, 0) + value
        now += max(lengths) + 1
    with tempfile.TemporaryDirectory() as folder:
        found = loops_of(Path(folder), *team.end(now).finish(now + 5))
    units = {(one["kind"], int(one["name"].rpartition(" ")[2], 16)): one for one in found["constructs"]}
    for key, value in time.items():
        if value:
            assert (units[key]["time_ns"] - value) in range(2 * len(phases) + 1)  # the step to the next phase
            assert units[key]["waited_ns"] == waited[key]
    assert sum(one["waited_ns"] + one["late_ns"] for one in found["constructs"]) == found["waited_ns"]
    assert found["waited_ns"] == sum(waited.values())
    assert all(one["imbalance"] >= 1 for one in found["constructs"])
    work = sum(one["time_ns"] for one in found["constructs"])
    assert work == sum(row["time_ns"] for row in found["regions"])


# MPI --------------------------------------------------------------------------------------------------------------

WORLD = 1


def call(stream: Stream, name: str, start: int, end: int, peer: int = -1, tag: int = 0, octets: int = 8) -> None:
    values = {"peer": peer, "tag": tag, "bytes": octets, "comm": WORLD, "call": CALL_NUMBER[name]}
    stream.add(1000 + start, "mpi_enter", INITIAL_TASK, **values).add(1000 + end, "mpi_exit", INITIAL_TASK, **values)


def waits_of(folder: Path, *streams: Stream) -> dict[str, Any]:
    for rank, stream in enumerate(streams):
        save(folder, [stream], rank=rank, size=len(streams))
    return Analysis(read_trace(folder)).document("mpi_waits")


def test_late_sender_and_late_receiver(tmp_path: Path) -> None:
    """Rank 0 receives from 10 to 120; rank 1 sends at 100: 90 of 110 ns wait for the sender. Then rank 1 sends from 130
    to 260, and rank 0 asks for it at 230: 100 of 130 ns wait for the receiver. A third send is over, at 310, before its
    receive begins at 320: nobody waits."""
    first, second = Stream(1), Stream(1)
    call(first, "MPI_Recv", 10, 120, 1)
    call(second, "MPI_Send", 100, 110, 0)
    call(second, "MPI_Ssend", 130, 260, 0)
    call(first, "MPI_Recv", 230, 265, 1)
    call(second, "MPI_Send", 300, 310, 0)
    call(first, "MPI_Recv", 320, 325, 1)
    found = waits_of(tmp_path, first, second)
    rows = {row["name"]: row for row in found["functions"]}
    receives, sends = rows["MPI_Recv"], rows["MPI_Ssend"]
    assert (receives["calls"], receives["total_ns"], receives["held_ns"], receives["bytes"]) == (3, 150, 150, 24)
    assert (receives["late_sender_ns"], receives["late_receiver_ns"], receives["late_member_ns"]) == (90, 0, 0)
    assert (sends["late_sender_ns"], sends["late_receiver_ns"], sends["late_member_ns"]) == (0, 100, 0)
    assert rows["MPI_Send"]["late_receiver_ns"] == 0
    assert [(row["name"], row["pattern"], row["rank"], row["waits_for"], row["calls"], row["total_ns"])
            for row in found["partners"]] == [("MPI_Ssend", "late receiver", 1, 0, 1, 100),
                                              ("MPI_Recv", "late sender", 0, 1, 1, 90)]  # fmt: skip


@pytest.mark.parametrize(("name", "root", "waits"), [
    ("MPI_Barrier", -1, {0: (2, 90), 1: (2, 40)}),
    ("MPI_Allreduce", -1, {0: (2, 90), 1: (2, 40)}),
    ("MPI_Bcast", 1, {0: (1, 50)}),
    ("MPI_Reduce", 0, {0: (1, 50)}),
    ("MPI_Reduce", 2, {}),
])
def test_late_members(tmp_path: Path, name: str, root: int, waits: dict[int, tuple[int, int]]) -> None:
    """Three ranks come at 10, 60 and 100, and leave at 110."""
    streams = [Stream(1) for _ in range(3)]
    for stream, start in zip(streams, (10, 60, 100)):
        call(stream, name, start, 110, root)
    found = waits_of(tmp_path, *streams)
    assert {row["rank"]: (row["waits_for"], row["total_ns"]) for row in found["partners"]} == waits
    (function,) = found["functions"]
    assert function["late_member_ns"] == sum(length for _, length in waits.values())


def test_of_a_wait_for_several_messages_the_last_one_counts(tmp_path: Path) -> None:
    """Rank 0 asks for two messages, and waits for both from 30 to 130; they are sent at 60 and at 110."""
    first = Stream(1)
    for number, start in enumerate((10, 20)):
        values = {"peer": 1 + number, "tag": 0, "bytes": 8, "comm": WORLD, "call": CALL_NUMBER["MPI_Irecv"]}
        first.add(1000 + start, "mpi_enter", INITIAL_TASK, **values)
        first.add(1002 + start, "mpi_request", INITIAL_TASK, request=7 + number)
        first.add(1005 + start, "mpi_exit", INITIAL_TASK, **values)
    values = {"peer": -1, "tag": -1, "bytes": 0, "comm": 0, "call": CALL_NUMBER["MPI_Waitall"]}
    first.add(1030, "mpi_enter", INITIAL_TASK, **values)
    for number in range(2):
        first.add(1030, "mpi_wait", INITIAL_TASK, request=7 + number, index=number)
    for number in range(2):
        first.add(1130, "mpi_done", INITIAL_TASK, peer=1 + number, tag=0, bytes=8, index=number)
    first.add(1130, "mpi_exit", INITIAL_TASK, **values)
    others = [Stream(1), Stream(1)]
    for stream, start in zip(others, (60, 110)):
        call(stream, "MPI_Send", start, start + 5, 0)
    found = waits_of(tmp_path, first, *others)
    assert [(row["name"], row["rank"], row["waits_for"], row["total_ns"]) for row in found["partners"]] == [
        ("MPI_Waitall", 0, 2, 80)]  # fmt: skip


@pytest.mark.parametrize(("name", "shown"), [
    ("loop f a.c:7, static", "loop f a.c:7, static"),
    ("loop relax_the_inner_cells relax.c:42, dynamic", "loop rela… relax.c:42, dynamic"),
    ("region Grid<double>::each(int, int) grid.cpp:7", "region Grid<double… grid.cpp:7"),
    ("region the::long::namespace::of::one_function", "region …pace::of::one_function"),
    ("code before the barrier at one::long_function", "code before …ne::long_function"),
    ("void call<std::vector<int>>(int) grid.cpp:7", "void call<std::vec… grid.cpp:7"),
    ("std::vector<double>::at(unsigned long) const", "std::vector<double>::at(unsig…"),
    ("loop f a_file_whose_name_leaves_no_room.c:7", "loop …_name_leaves_no_room.c:7"),
])
def test_names_keep_their_line(name: str, shown: str) -> None:
    assert fitted(name, 30) == shown and len(shown) <= 30


# Ranks that wait mostly for one call ------------------------------------------------------------------------------

US, STEPS = 1000, 6


def write_steps(folder: Path, late: dict[int, int]) -> Path:
    """Two ranks work 20 us in each step, then they meet in an MPI_Allreduce. Rank 1 works longer in some: `late`, in
    us, by step."""
    folder.mkdir(exist_ok=True)
    for rank in range(2):
        stream, now = Stream(1), 0
        stream.add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
        for step in range(STEPS):
            extra = late.get(step, 0)
            words = {"peer": -1, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Allreduce"]}
            stream.add(1000 + (now + 20 + extra * rank) * US, "mpi_enter", IMPLICIT, **words)
            now += 20 + extra + 1
            stream.add(1000 + now * US, "mpi_exit", IMPLICIT, **words)
        stream.add(1000 + now * US, "implicit_end", IMPLICIT)
        save(folder, [stream], rank=rank, size=2)
    return folder


def test_a_rank_that_is_late_once(tmp_path: Path) -> None:
    """160 us in the fourth step, and 5 in each other one: rank 0 waits 185 us, 160 of them in one call, which it begins
    3 x (25 + 1) + 20 us after the run began."""
    folder = write_steps(tmp_path / "app.trace", dict.fromkeys(range(STEPS), 5) | {3: 160})
    wait = longest_wait(Analysis(read_trace(folder)))
    assert wait and (wait.rank, wait.partner, wait.function, wait.total) == (0, 1, "MPI_Allreduce", 160 * US)
    cause = in_process.document_of(folder)["causes"][0]
    assert cause["name"] == "imbalance"
    assert ("in one call: rank 0 waits 160 us for rank 1 in the MPI_Allreduce that begins 98.0 us into the run"
            in cause["text"])  # fmt: skip
    assert cause["advice"].startswith("see what rank 1 does before that call")
    page = tmp_path / "page.html"
    assert in_process.report(folder, "--html", page).returncode == 0
    # The jump leads to that wait, on the thread that waits.
    start, end, lane = re.search(r'class="loss".*?data-go="(\d+),(\d+),(\d+)"', page.read_text()).groups()
    assert int(end) - int(start) == 160 * US and lane == "0"


@pytest.mark.parametrize("late", [dict.fromkeys(range(STEPS), 20), {1: 50, 4: 40}])
def test_a_rank_that_is_late_in_each_step(tmp_path: Path, late: dict[int, int]) -> None:
    """Equally in each step; in two of them, which are too few to call one the most."""
    folder = write_steps(tmp_path / "app.trace", late)
    assert longest_wait(Analysis(read_trace(folder))) is None
    cause = in_process.document_of(folder)["causes"][0]
    assert cause["name"] == "imbalance" and "one call" not in cause["text"]
    assert cause["advice"] == "move work from rank 1 (the most) to rank 0 (the least)"


@pytest.mark.parametrize(("work", "gap", "cause", "between"), [
    (400, 900, "short regions", 1800),
    (400, 12_000, "serial code", 0),
    (30_000, 9_000, "serial code", 0),
])  # fmt: skip
def test_a_start_of_a_region_is_no_serial_code(tmp_path: Path, work: int, gap: int, cause: str, between: int) -> None:
    """Three regions in which both threads work equally long, and wait 100 ns. Where the regions are short and follow
    each other at once, both kinds of waits have one remedy; the code between them is the runtime's."""
    team, time = Team(), 0
    for number in range(3):
        if number:
            team = Team(time + gap, number, team.streams)
            time += gap
        for index in range(2):
            team.work(index, time, time + work)
            team.wait(index, time + work, time + work + 100, AT_REGION_END)
        time += work + 100
        team.end(time)
    document = in_process.document_of(save(tmp_path, list(team.finish(time))))
    first, *others = document["causes"]
    waits = 600 + between if cause == "short regions" else 2 * gap
    assert (first["name"], first["lost_ns"]) == (cause, waits)
    assert between == 0 or not others
    assert [row["short_ns"] for row in document["loops"]["serial"]] == [2 * gap if gap < 10_000 else 0]


@pytest.mark.parametrize(("after", "before", "said"), [
    ("main a.c:7", "main a.c:7", ", most of it after the region at main a.c:7, before it runs again"),
    ("f a.c:4", "main a.c:7", ", most of it after the region at f a.c:4, before the one at main a.c:7"),
    ("", "f a.c:4", ", most of it before the region at f a.c:4"),
    ("f a.c:4", "", ", most of it after the region at f a.c:4"),
])  # fmt: skip
def test_where_serial_code_is(after: str, before: str, said: str) -> None:
    assert without_tasks._serial([{"after": after, "before": before}]) == said


@pytest.mark.parametrize(("function", "name"), [
    ("grid_t::run(Area, std::vector<float>, int (*)(int)) const", "grid_t::run"),
    ("void call<void (*)(int), int>(void (*)(int), int)", "call<void (*)(int), int>"),
    ("std::vector<int, Pool<int> > made<long_name>(int) [clone .part.0]", "made<long_name>"),
    ("(anonymous namespace)::f(int)::{lambda(int)#1}::operator()(int) const",
     "(anonymous namespace)::f(int)::{lambda(int)#1}::operator()"),
    ("A::operator int() const", "A::operator int"), ("a.out+0x77", "a.out+0x77"), ("plain", "plain"),
    ("__grid_task_MOD_collocate", "grid_task::collocate"),
])  # fmt: skip
def test_functions_are_called_as_a_programmer_does(function: str, name: str) -> None:
    assert Location(function, "", 0).short() == name
    assert Location(f"{function} [clone ._omp_fn.0]", "/there/a.cpp", 7).short() == f"{name} a.cpp:7"


def test_numbers_are_never_cut() -> None:
    """The words of the last column give way, or else the names."""
    lines = [["a function's name that is long", "14.8 k", "123 ms", "late sender 76.0 %, late receiver 30.4 %"]]
    for last in ("", "waits"):
        console = console_for(io.StringIO())
        shortened = [line if last else line[:-1] for line in lines]
        console.print(without_tasks.table("names", ["calls", "sum"], shortened * 9, 3, last))
        shown = console.file.getvalue().splitlines()
        assert all(len(line) <= 80 for line in shown) and "... 3 more (--json)" in shown[-1]
        assert all("14.8 k" in line and "123 ms" in line for line in shown[1:-1])
        assert not last or shown[1].endswith("late receiver…")
