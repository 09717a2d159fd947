# SPDX-License-Identifier: Apache-2.0
"""The passes `matrix`, `early_sends`, `outliers` and `overlap_of_set` on traces made by hand, with answers
worked out by hand. One cycle is one nanosecond, and records begin at 1000."""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, C, Stream, save  # first: it finds marline
from marline.page import bars, tables
from marline.page.styles import find_styles
from marline.report.notable import notable
from marline.trace.analysis import Analysis, AnalysisError
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace
from marline.trace.selection import Selection
from marline.trace.selection import ranks as parse_ranks
from marline.trace.selection import window as parse_window


def call(stream: Stream, start: int, end: int, name: str, *inside: tuple[int, str, dict[str, int]], task: int = A,
         **values: int) -> None:  # fmt: skip
    values = {"peer": 0, "tag": 0, "bytes": 8, "comm": 1, "call": CALL_NUMBER[name]} | values
    stream.add(1000 + start, "mpi_enter", task, **values)
    for time, event, fields in inside:
        stream.add(1000 + time, event, task, **fields)
    stream.add(1000 + end, "mpi_exit", task, **values)


def of_ranks(folder: Path, *ranks: list[Stream]) -> Analysis:
    for number, streams in enumerate(ranks):
        save(folder, streams, number, size=len(ranks))
    return Analysis(read_trace(folder))


def test_matrix(tmp_path: Path) -> None:
    """Rank 0 sends 8 and 16 bytes to rank 1, the second by a persistent request; rank 1 answers with 100. Both reduce
    twice 8 bytes in the world, and in a communicator of their own once 4 and 6."""
    first, second = Stream(), Stream()
    call(first, 0, 5, "MPI_Send", peer=1)
    call(first, 10, 12, "MPI_Send_init", (11, "mpi_request", {"request": 9}), peer=1, tag=3, bytes=16)
    call(first, 20, 22, "MPI_Start", (21, "mpi_request", {"request": 9}), bytes=0)
    call(first, 30, 40, "MPI_Wait", (30, "mpi_wait", {"request": 9, "index": 0}), bytes=0)
    call(first, 41, 50, "MPI_Recv", peer=1, bytes=100)
    call(second, 0, 6, "MPI_Recv", peer=0)
    call(second, 10, 35, "MPI_Recv", peer=0, tag=3, bytes=16)
    call(second, 40, 45, "MPI_Send", peer=0, bytes=100)
    for rank, stream in enumerate((first, second)):
        stream.add(1050, "mpi_comm", A, identity=77, comm=5)
        for index in range(2):
            stream.add(1050, "mpi_member", A, comm=5, index=index, world=index, size=2)
        call(stream, 60, 70, "MPI_Allreduce")
        call(stream, 71, 80, "MPI_Allreduce")
        call(stream, 81, 90, "MPI_Allreduce", comm=5, bytes=4 + 2 * rank)
    assert of_ranks(tmp_path, [first], [second]).document("matrix") == {
        "ranks": 2, "messages": 3, "bytes": 124, "unevenness": 100 / 62,
        "pairs": [{"from": 0, "to": 1, "messages": 2, "bytes": 24}, {"from": 1, "to": 0, "messages": 1, "bytes": 100}],
        "collectives": [
            {"communicator": "world", "name": "MPI_Allreduce", "ranks": 2, "times": 2, "bytes": 32},
            {"communicator": "1", "name": "MPI_Allreduce", "ranks": 2, "times": 1, "bytes": 10}],
    }  # fmt: skip


def test_early_sends(tmp_path: Path) -> None:
    """A ends at 100 on another thread. B, which depends on it, is created at 120, starts at 150 and sends at 180: 20 ns
    for its creation, 30 in a queue, 30 in the task. The program itself sends at 300: when its data was ready is not
    known."""
    first = Stream().add(1000, "implicit_begin", IMPLICIT, size=2)
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4).add(1000, "dependence", A, type=3, address=8)
    first.add(1120, "task_create", B, parent=IMPLICIT, flags=4).add(1120, "dependence", B, type=3, address=8)
    first.add(1150, "task_schedule", IMPLICIT, next=B, status=SWITCH)
    call(first, 180, 190, "MPI_Send", task=B, peer=1, bytes=64)
    first.add(1200, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    call(first, 300, 310, "MPI_Send", task=IMPLICIT, peer=1)
    other = Stream(2).add(1000, "implicit_begin", 201, size=2).add(1100, "task_run", A, start=1010, outer=201)
    second = Stream()
    call(second, 0, 195, "MPI_Recv", peer=0, bytes=64)
    call(second, 196, 320, "MPI_Recv", peer=0)
    found = of_ranks(tmp_path, [first, other], [second]).document("early_sends")
    name = found["kinds"][0]["name"]
    parts = {"undiscovered_ns": 20, "queued_ns": 30, "inside_ns": 30}
    assert found == {
        "messages": 1, "outside_of_tasks": 1, "late_ns": 80, "mean_ns": 80.0, "max_ns": 80, **parts,
        "kinds": [{"name": name, "messages": 1, "late_ns": 80, "max_ns": 80, **parts}],
        "latest": [{"name": name, "rank": 0, "to": 1, "sent_ns": 180, "late_ns": 80, **parts, "bytes": 64}],
    }  # fmt: skip
    assert _line(found, "early_sends", makespan_ns=190) == [
        ("late sends", "messages left 80.0 ns after their data was ready, in the mean: 30.0 ns in the task before it "
         "sent, 30.0 ns in a queue, 20.0 ns until their task was created; "
         f"latest: {name} of rank 0, 80.0 ns")]  # fmt: skip
    assert _line(found, "early_sends", makespan_ns=8001) == []


def _line(found: dict[str, Any], name: str, begin_ns: int = 0, **total: int) -> list[tuple[str, str]]:
    patterns = {pattern: {"time_ns": None} for pattern in ("duplicate", "transitive", "product")}
    nothing = {"early_sends": {"mean_ns": 0}, "outliers": {"outliers": 0}, "slow_patterns": patterns}
    return notable(nothing | {name: found, "total": {"makespan_ns": 1, "work_ns": 1} | total,
                              "windows": {"edges_ns": [begin_ns]}})  # fmt: skip


def with_tasks(folder: Path, times: list[int]) -> Analysis:
    """One after the other, from 0 on."""
    stream, now = Stream().add(1000, "implicit_begin", IMPLICIT, size=1), 1000
    for number, time in enumerate(times):
        stream.add(now, "task_create", A + number, parent=IMPLICIT, flags=4)
        stream.add(now + time, "task_run", A + number, start=now, outer=IMPLICIT)
        now += time
    return Analysis(read_trace(save(folder, [stream])))


def test_outliers(tmp_path: Path) -> None:
    """Median 12, deviations 0, 0, 1, 2, 2, 88: MAD 1.5. 100 ns have the score 0.6745 x 88 / 1.5; 14 has 0.9."""
    found = with_tasks(tmp_path, [10, 11, 100, 12, 12, 14]).document("outliers")
    (kind,) = found["kinds"]
    assert (found["outliers"], found["excess_ns"]) == (1, 88)
    assert kind == {"name": kind["name"], "tasks": 6, "median_ns": 12.0, "mad_ns": 1.5, "outliers": 1,
                    "excess_ns": 88}  # fmt: skip


def test_the_page_has_the_same_outliers(tmp_path: Path) -> None:
    """Median 10.5, MAD 0.5: 30 ns are 2.9 x median. The page has one row, with a jump to the task."""
    of = with_tasks(tmp_path, [10, 10, 10, 11, 11, 30])
    (worst,) = of.document("outliers")["worst"]
    page = tables.outliers(of, {"outliers": of.document("outliers")}, bars.make_timeline(of, find_styles(of)).lanes)
    assert (worst["running_ns"], round(worst["times_median"], 1)) == (30, 2.9)
    assert page.count("2.9 x") == 1 and page.count("show it in the timeline") == 1


def test_no_outlier_is_nearly_as_short_as_others(tmp_path: Path) -> None:
    """Median 10.5, MAD 0.5: 14 ns have the score 0.6745 x 3.5 / 0.5 = 4.7, but are 1.3 x median only."""
    assert with_tasks(tmp_path, [10, 10, 10, 11, 11, 14]).document("outliers")["outliers"] == 0


def test_outliers_where_most_are_equal(tmp_path: Path) -> None:
    """MAD is 0; the mean deviation is 90 / 10. Score: 0.6745 x 90 / (9 x 1.2533 / 1.4826) = 7.98."""
    found = with_tasks(tmp_path, [10] * 9 + [100]).document("outliers")
    (worst,) = found["worst"]
    assert abs(worst.pop("score") - 7.979) < 0.001
    assert worst == {"name": worst["name"], "rank": 0, "thread": 0, "start_ns": 90, "running_ns": 100,
                     "times_median": 10.0, "task": str(A + 9)}  # fmt: skip
    assert _line(found, "outliers", work_ns=190, begin_ns=30) == [
        ("outliers", f"1 task took 90.0 ns more than others of their kind; worst: {worst['name']}, rank 0, thread 0, "
         "100 ns from 60.0 ns of the run on (10 x median)")]  # fmt: skip


def test_no_outliers_among_equals_or_few(tmp_path: Path) -> None:
    assert with_tasks(tmp_path, [10] * 20).document("outliers")["outliers"] == 0
    assert with_tasks(tmp_path, [10, 10, 10, 500]).document("outliers")["outliers"] == 0


def overlapping(folder: Path) -> Path:
    """Three ranks with a thread each. Rank 0 sends at 10 what rank 1 gets at 50, and at 60 what rank 2 gets at 100. In
    tasks, rank 0 works 10-100 but for its sends of 1 ns, and rank 1 20-40."""
    first, second, third = Stream(), Stream(), Stream()
    for stream, start, end in ((first, 0, 100), (second, 20, 40)):
        stream.add(1000, "implicit_begin", IMPLICIT, size=1).add(1000, "wait_begin", IMPLICIT, kind=2)
        stream.add(1000, "task_create", B, parent=IMPLICIT, flags=4)
        stream.add(1000 + start, "task_schedule", IMPLICIT, next=B, status=SWITCH)
        stream.add(1000 + end, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    call(first, 10, 11, "MPI_Send", task=B, peer=1)
    call(first, 60, 61, "MPI_Send", task=B, peer=2)
    call(second, 0, 50, "MPI_Recv", task=C, peer=0)
    call(third, 0, 100, "MPI_Recv", task=C, peer=0)
    for stream in (first, second):
        stream.records.sort(key=lambda record: record[0])
    for number, stream in enumerate((first, second, third)):
        save(folder, [stream], number, size=3)
    return folder


@pytest.mark.parametrize(("selection", "messages", "under_way", "work", "ratio"), [
    (Selection(), 2, 80, 39 + 39, 78 / 80),
    (Selection(window=(30, 70)), 2, 20 + 10, 20 + 9, 29 / 30),
    (Selection(ranks=(0, 1)), 1, 40, 39, 39 / 80),  # to rank 2 only; two threads could have worked
    (Selection((0, 30), (0, 2)), 1, 20, 19, 19 / 40),  # to rank 1
    (Selection(ranks=(1,)), 0, 0, 0, None),
])  # fmt: skip
def test_overlap_of_a_window_and_a_set(tmp_path: Path, selection: Selection, messages: int, under_way: int, work: int,
                                       ratio: float | None) -> None:  # fmt: skip
    of = Analysis(read_trace(overlapping(tmp_path)), selection=selection)
    found = of.document("overlap_of_set")
    assert (found["messages"], found["under_way_ns"], found["work_ns"]) == (messages, under_way, work)
    assert found["ratio"] == ratio
    if not selection:
        assert of.document("overlap")["ratio"] == ratio


def test_rank_that_is_not_there(tmp_path: Path) -> None:
    of = Analysis(read_trace(overlapping(tmp_path)), selection=Selection(ranks=(1, 7)))
    with pytest.raises(AnalysisError, match=r"^--ranks: the trace has no rank 7; its ranks are 0 to 2$"):
        of.document("overlap_of_set")


@pytest.mark.parametrize(("text", "expected"), [("0:1.5ms", (0, 1_500_000)), ("20us:1s", (20_000, 10**9))])
def test_windows_of_time(text: str, expected: tuple[int, int]) -> None:
    assert parse_window(text) == expected


@pytest.mark.parametrize(("parse", "text"), [
    (parse_window, "5ms"), (parse_window, "2ms:1ms"), (parse_window, "1:2"), (parse_window, "a:b"),
    (parse_ranks, ""), (parse_ranks, "3-1"), (parse_ranks, "1,,2"), (parse_ranks, "70000"),
])  # fmt: skip
def test_selections_that_say_nothing(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="^" + re.escape(repr(text)) + " is not a .*: write "):
        parse(text)


def test_lists_of_ranks() -> None:
    assert parse_ranks("0-3,8,2") == (0, 1, 2, 3, 8)
