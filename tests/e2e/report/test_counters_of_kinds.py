# SPDX-License-Identifier: Apache-2.0
"""What kinds of tasks have counted, on a trace made by hand with answers worked out by hand: the pass, the report's
text, its JSON, the page and the database."""
from __future__ import annotations

import random
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, C, Stream, save  # first: it finds marline
from in_process import document_of, report

from marline.report import machine
from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

US = 1000
GEMM, TRSM = 71, 72
NAMES = ("PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L3_TCM")
OUTSIDE, WAITS = "code outside of tasks", "waiting threads"
LEAVES, BEGINS = 2, 1


def text(stream: Stream, time: int, key: int, words: str) -> None:
    data = words.encode()
    for first in range(0, len(data) + 1, 16):
        piece = data[first : first + 16].ljust(16, b"\0")
        low, high = (int.from_bytes(half, "little") for half in (piece[:8], piece[8:]))
        stream.add(time, "text", key, low=low, high=high)


def names(stream: Stream, order: tuple[str, ...] = NAMES) -> None:
    for number, name in enumerate(order):
        text(stream, 1000, 80 + number, name)
        stream.add(1000, "counter_name", 0, text=80 + number, counter=number)


def values(stream: Stream, at: int, task: int, *counted: int, point: int = LEAVES) -> None:
    for number, value in enumerate(counted):
        stream.add(1000 + at * US, "counter", task, value=value, counter=number, point=point)


def of_counters(folder: Path) -> Path:
    """Thread 1 creates A and B (gemm) and C (trsm), waits from 5 us on, and runs A from 10 to 20 and C from 20 to 60
    us; there C waits from 30 to 50, in which B runs from 32 to 42. Recording is off from 70 to 80. In thousands,
    between the values that are written, the thread counts

        code 1   wait 2   A 100   C 10   wait 3   B 60   wait 4   C 30   wait 5   off 900   code 7

    instructions, half as many cycles, and a hundredth as many misses (of A 20 more)."""
    folder.mkdir(exist_ok=True)
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    text(stream, 1000, GEMM, "gemm")
    text(stream, 1000, TRSM, "trsm")
    names(stream)
    values(stream, 0, IMPLICIT, 500, 500, 500, point=BEGINS)
    for task, label in ((A, GEMM), (B, GEMM), (C, TRSM)):
        stream.add(1001, "task_create", task, parent=IMPLICIT, flags=4).add(1001, "task_label", task, text=label)
    count = [500, 500, 500]

    def counted(at: int, task: int, thousands: int, more: int = 0, point: int = LEAVES) -> None:
        for number, part in enumerate((1000, 500, 10)):
            count[number] += thousands * part + more * (number == 2)
        values(stream, at, task, *count, point=point)

    def event(at: int, name: str, task: int, **fields: int) -> None:
        stream.add(1000 + at * US, name, task, **fields)

    event(5, "wait_begin", IMPLICIT, kind=5)
    counted(6, IMPLICIT, 1)
    counted(9, IMPLICIT, 2)
    stream.add(1000 + 20 * US, "task_run", A, start=1000 + 10 * US, outer=IMPLICIT)
    counted(20, A, 100, more=20)
    event(20, "task_schedule", IMPLICIT, next=C, status=SWITCH)
    event(30, "wait_begin", C, kind=5)
    counted(31, C, 10)
    counted(32, C, 3)
    event(32, "task_schedule", C, next=B, status=SWITCH)
    event(42, "task_schedule", B, next=C, status=COMPLETE)
    counted(43, B, 60)
    event(50, "wait_end", C, kind=5)
    counted(51, C, 4)
    event(60, "task_schedule", C, next=IMPLICIT, status=COMPLETE)
    counted(61, C, 30)
    event(65, "wait_end", IMPLICIT, kind=5)
    counted(66, IMPLICIT, 5)
    event(70, "recording_off", IMPLICIT)
    event(80, "recording_on", IMPLICIT)
    counted(81, IMPLICIT, 900, point=BEGINS)
    counted(99, IMPLICIT, 7)
    event(100, "implicit_end", IMPLICIT)
    return save(folder, [stream])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_counters(tmp_path_factory.mktemp("counters") / "trace")


def test_counters_by_kind(folder: Path) -> None:
    """gemm: A and B, 20 us on the thread; trsm: C, 20 of its 40 us without the wait."""
    found = Analysis(read_trace(folder)).document("counters")
    assert found["names"] == list(NAMES)
    table = {row["name"]: row for row in found["kinds"]}
    sums = {name: [one["sum"] for one in row["counters"]] for name, row in table.items()}
    assert sums == {"gemm": [160_000, 80_000, 1620], "trsm": [40_000, 20_000, 400], OUTSIDE: [8000, 4000, 80],
                    WAITS: [14_000, 7000, 140]}  # fmt: skip
    gemm = table["gemm"]
    assert (gemm["tasks"], gemm["time_ns"]) == (2, 20 * US)
    assert (table[OUTSIDE]["tasks"], table["trsm"]["tasks"]) == (0, 1)
    assert gemm["counters"][0] == {"name": "PAPI_TOT_INS", "sum": 160_000, "per_task": 80_000.0, "per_us": 8000.0}
    assert gemm["derived"] == [{"name": "instructions per cycle", "value": 2.0},
                               {"name": "PAPI_L3_TCM per 1000 instructions", "value": 10.125}]  # fmt: skip
    assert table[OUTSIDE]["counters"][0]["per_task"] is None


def test_text_page_and_database(folder: Path, tmp_path: Path) -> None:
    result = report(folder, "--html", tmp_path / "page.html", "--sqlite", tmp_path / "out.db")
    lines = result.stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("counters by time"))
    table = [re.split(r"  +", line.strip()) for line in lines[first : first + 7]]
    assert table[0] == ["counters by time", "sum", "each task", "per us"]
    assert ["gemm", "PAPI_TOT_INS", "160 k", "80.0 k", "8,000"] in table
    assert ["PAPI_L3_TCM per 1000 ins.", "10.1"] in table and max(map(len, lines)) <= 80
    page = (tmp_path / "page.html").read_text()
    assert "Counters by kind of task, loop and region" in page and ">PAPI_TOT_INS<" in page
    query = "SELECT kinds.name, SUM(value) FROM counters JOIN tasks ON tasks.id = task JOIN kinds ON kinds.id = kind " \
            "WHERE counters.name = 'PAPI_TOT_INS' GROUP BY kind ORDER BY kinds.name"
    with sqlite3.connect(tmp_path / "out.db") as database:
        assert database.execute(query).fetchall() == [("gemm", 160_000), ("trsm", 40_000)]


def test_counters_of_loops(tmp_path: Path) -> None:
    """One thread: serial code counts 3; in the region at 0x500 the code before the loop at 0x600 counts 20, the loop
    100, the code after it 7, the wait at the barrier 1000; serial code 4 more; then a single at 0x700, whose end is not
    reported, 50, up to the barrier, which takes 2000. There is no task, so the report's table has these rows."""
    serial, member, again = IMPLICIT, 201, 202
    stream = Stream(1).add(1000, "implicit_begin", serial, index=0, size=1, flags=1)
    names(stream, NAMES[:1])
    values(stream, 0, serial, 0, point=BEGINS)
    at, total = 0, 0

    def step(growth: int, task: int, *events: tuple[str, int, dict[str, int]], first: bool = False) -> None:
        """A microsecond later: values that follow the events, or come before them."""
        nonlocal at, total
        at, total = at + 1, total + growth
        if first:
            values(stream, at, task, total)
        for name, of, fields in events:
            stream.add(1000 + at * US, name, of, **fields)
        if not first:
            values(stream, at, task, total)

    for number, (task, region) in enumerate(((member, 300), (again, 301))):
        begin = ("parallel_begin", serial, {"code": 0x500 + number, "parallel": region, "size": 1})
        step((3, 4)[number], serial, begin, ("implicit_begin", task, {"parallel": region, "size": 1, "flags": 2}),
             first=True)  # fmt: skip
        if task == member:
            step(20, task, ("work_begin", task, {"kind": 11, "code": 0x600, "count": 8}))
            step(100, task, ("work_end", task, {"kind": 11, "code": 0x600, "count": 8}))
        else:
            step(0, task, ("work_begin", task, {"kind": 3, "code": 0x700, "count": 1}))
        step((7, 50)[number], task, ("wait_begin", task, {"kind": 1}))
        step((1000, 2000)[number], task, ("wait_end", task, {"kind": 1}), ("implicit_end", task, {"flags": 2}))
        stream.add(1000 + at * US, "parallel_end", serial, parallel=region)
    folder = save(tmp_path, [stream.add(1000 + 99 * US, "implicit_end", serial, flags=1)])
    of = Analysis(read_trace(folder))
    found = {row["name"]: row["counters"][0]["sum"] for row in of.document("counters_of_loops") if row["time_ns"]}
    assert found == {"loop 0x600": 100, "region 0x500": 27, "serial code": 7, "single 0x700": 50, "region 0x501": 0}
    (waits,) = [row for row in of.document("counters")["kinds"] if row["name"] == WAITS]
    assert waits["counters"][0]["sum"] == 3000
    lines = [line.split() for line in report(folder).stdout.splitlines()]
    assert ["loop", "0x600", "PAPI_TOT_INS", "100", "100"] in lines  # no task: the table has loops


def test_ranks_that_number_their_counters_differently(tmp_path: Path) -> None:
    for rank, order in enumerate((NAMES[:2], NAMES[1::-1])):
        stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
        names(stream, order)
        values(stream, 0, IMPLICIT, 0, 0, point=BEGINS)
        values(stream, 1, IMPLICIT, *((3, 70) if rank == 0 else (70, 3)))
        save(tmp_path, [stream.add(1000 + 2 * US, "implicit_end", IMPLICIT)], rank, size=2)
    found = Analysis(read_trace(tmp_path)).document("counters")
    assert [(one["name"], one["sum"]) for one in found["kinds"][0]["counters"]] == [(NAMES[0], 6), (NAMES[1], 140)]


def test_a_report_without_counters_does_not_mention_them(tmp_path: Path) -> None:
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1).add(1100, "implicit_end", IMPLICIT)
    document = document_of(save(tmp_path, [stream]))
    assert not machine.counted(document) and document["counters_by_kind"] == {"names": [], "kinds": [], "loops": []}


@pytest.mark.parametrize("seed", range(5))
def test_all_that_belongs_to_something_is_in_one_row(tmp_path: Path, seed: int) -> None:
    """On two threads, each value as much more than the one before: the rows add up to all growth but that before a
    value at which counting began."""
    dice = random.Random(seed)
    streams = [Stream(number + 1).add(1000, "implicit_begin", IMPLICIT + 100 * number, index=number, size=2)
               for number in range(2)]  # fmt: skip
    streams[0].add(1001, "task_create", A, parent=IMPLICIT, flags=4)
    total, expected, at = [0, 0], 0, [False, False]
    for number in range(dice.randrange(60)):
        thread, task, growth = dice.randrange(2), dice.choice([IMPLICIT, A]), dice.randrange(1 << 40)
        point = dice.choice([LEAVES, LEAVES, BEGINS])
        total[thread] += growth
        expected += growth * (at[thread] and point == LEAVES)
        at[thread] = True
        values(streams[thread], 1 + number, task, total[thread], point=point)
    found = Analysis(read_trace(save(tmp_path, streams)))["counters"]
    assert int(found.count.sum()) == expected == int(np.sum(found.value))
