# SPDX-License-Identifier: Apache-2.0
"""Regions, ranges and marks that the program names, on a trace made by hand with answers worked out by hand: the pass,
the text, the page, the timelines. Times are ns from the first record.

    rank 0, thread 0 ("driver")   solve 0 to 100, in it group 7's `fill` 10 to 60 and group 8's `send` 40 to 80, which
                                  overlap; range `job` 5 to 95, which ends on thread 1; marks `saved` at 20 and 90
    rank 0, thread 1              solve 0 to 40
    rank 1, thread 0              solve 0 to 60; `fill` 10 to 30; `fill` from 50, without an end: the trace ends at 100
"""
from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handmade import IMPLICIT, Stream, save  # first: it finds marline
from in_process import document_of, report

from marline.trace.analysis import Analysis
from marline.trace.passes.regions import Spans
from marline.trace.read.reader import read_trace
from marline.trace.views.timeline import timeline

OTHER = 201
SOLVE, FILL, SEND, JOB, SAVED, DRIVER = range(71, 77)
NAMES = {SOLVE: "solve", FILL: "fill", SEND: "send", JOB: "job", SAVED: "saved", DRIVER: "driver"}


def beginning(thread: int, task: int, names: bool = True) -> Stream:
    stream = Stream(thread)
    for key, name in NAMES.items() if names else ():
        stream.add(1000, "text", key, low=int.from_bytes(name.encode(), "little"))
    stream.add(1000, "implicit_begin", task, index=thread - 1, size=2)
    return stream.add(1000, "region_begin", task, text=SOLVE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("trace")
    first = beginning(1, IMPLICIT).add(1001, "thread_name", IMPLICIT, text=DRIVER, thread=1)
    first.add(1005, "range_begin", IMPLICIT, text=JOB, range=3)
    first.add(1010, "group_begin", IMPLICIT, text=FILL, group=7, color=0x112233)
    first.add(1020, "mark", IMPLICIT, text=SAVED)
    first.add(1040, "group_begin", IMPLICIT, text=SEND, group=8)
    first.add(1060, "group_end", IMPLICIT, group=7)
    first.add(1080, "group_end", IMPLICIT, group=8)
    first.add(1090, "mark", IMPLICIT, text=SAVED)
    first.add(1100, "region_end", IMPLICIT).add(1100, "implicit_end", IMPLICIT)
    second = beginning(2, OTHER, names=False).add(1040, "region_end", OTHER)
    second.add(1095, "range_end", OTHER, range=3).add(1100, "implicit_end", OTHER)
    third = beginning(1, IMPLICIT)
    third.add(1010, "group_begin", IMPLICIT, text=FILL, group=7).add(1030, "group_end", IMPLICIT, group=7)
    third.add(1050, "group_begin", IMPLICIT, text=FILL, group=7)
    # The number of a range is one of its process: this is the end of none.
    third.add(1055, "range_end", IMPLICIT, range=3)
    third.add(1060, "region_end", IMPLICIT).add(1100, "implicit_end", IMPLICIT)
    save(made, [first, second], size=2, exe="/there/app")
    return save(made, [third], rank=1, size=2, exe="/there/app")


def rows_of(found: Spans) -> list[tuple[str, int, int, int, int, bool, bool]]:
    return sorted(zip([found.names[one] for one in found.name.tolist()], found.rank.tolist(), found.thread.tolist(),
                      found.start.tolist(), found.end.tolist(), found.closed.tolist(), found.nests.tolist()))


def test_pass(folder: Path) -> None:
    found = Analysis(read_trace(folder))["regions"]
    # `fill` and `send` overlap. On rank 1 the last `fill` has no end: as brackets, it would end where `solve` does.
    assert rows_of(found) == [
        ("fill", 0, 1, 10, 60, True, False), ("fill", 1, 1, 10, 30, True, True),
        ("fill", 1, 1, 50, 100, False, False), ("job", 0, 1, 5, 95, True, False),
        ("send", 0, 1, 40, 80, True, False), ("solve", 0, 1, 0, 100, True, True),
        ("solve", 0, 2, 0, 40, True, True), ("solve", 1, 1, 0, 60, True, False)]  # fmt: skip
    assert found.color[found.name == found.names.index("fill")].tolist() == [0x112233, 0, 0]


STEPS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(STEPS)
@example([(0, 0, True), (0, 1, False)])
def test_regions_end_in_their_group(steps: list[tuple[int, int, bool]]) -> None:
    """Random begins and ends of three groups in two tasks, one a nanosecond: as stacks, one for each task and group. In
    a timeline what shares a track nests."""
    streams = [Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2),
               Stream(2).add(1000, "implicit_begin", OTHER, index=1, size=2)]  # fmt: skip
    open_ones: dict[tuple[int, int], list[int]] = {}
    expected = []
    for now, (which, group, begins) in enumerate(steps, start=1):
        event = ("region" if group == 0 else "group") + ("_begin" if begins else "_end")
        fields = ({"text": FILL} if begins else {}) | ({"group": group} if group else {})
        streams[which].add(1000 + now, event, (IMPLICIT, OTHER)[which], **fields)
        stack = open_ones.setdefault((which, group), [])
        if begins:
            stack.append(now)
        elif stack:
            expected.append((which + 1, stack.pop(), now))
    last = len(steps) + 1
    expected += [(which + 1, start, last) for (which, _), stack in open_ones.items() for start in stack]
    for stream, task in zip(streams, (IMPLICIT, OTHER)):
        stream.add(1000 + last, "implicit_end", task)
    with tempfile.TemporaryDirectory() as made:
        of = Analysis(read_trace(save(Path(made), streams)))
        found = of["regions"]
        assert sorted(zip(found.thread.tolist(), found.start.tolist(), found.end.tolist())) == sorted(expected)
        slices = timeline(of).slices
    bars = sorted(zip(slices.track.tolist(), slices.start.tolist(), (-slices.end).tolist(), slices.depth.tolist()))
    inside: list[tuple[int, int]] = []
    for track, start, end, _ in bars:
        while inside and (inside[-1][0] != track or inside[-1][1] <= start):
            inside.pop()
        assert not inside or -end <= inside[-1][1]
        inside.append((track, -end))


def test_document_and_text(folder: Path) -> None:
    """Of `solve` rank 0 has 140 of 200 ns: 1.40 of the mean of both ranks; of `fill` rank 1 has 70 of 120."""
    document = document_of(folder)
    solve = [row for row in document["regions"] if row["name"] == "solve"]
    assert [(row["rank"], row["count"], row["total_ns"], row["threads"], row["max_thread_ns"]) for row in solve] == [
        (0, 2, 140, 2, 100), (1, 1, 60, 1, 60)]  # fmt: skip
    assert document["marks"] == [{"name": "saved", "rank": 0, "count": 2, "first_ns": 20, "last_ns": 90}]
    lines = report(folder).stdout.splitlines()
    table = [line.split() for line in lines[lines.index(next(one for one in lines if "your regions" in one)) :]]
    assert table[1:6] == [["solve", "3", "66.7", "ns", "200", "ns", "1.40"], ["fill", "3", "40.0", "ns", "120", "ns",
                          "1.17"], ["job", "1", "90.0", "ns", "90.0", "ns", "2.00"], ["send", "1", "40.0", "ns", "40.0",
                          "ns", "2.00"], ["saved", "(mark)", "2"]]  # fmt: skip


def test_timelines(folder: Path, tmp_path: Path) -> None:
    """What overlaps has lanes of its own there: bars of one track nest. The page has all of it."""
    assert report(folder, "--chrome", tmp_path / "t.json", "--html", tmp_path / "p.html").returncode == 0
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert {"thread 0 driver", "ranges", "ranges 1", "ranges 2"} <= set(tracks.values())
    drawn = {(tracks[one["pid"], one["tid"]].split()[0], one["name"]) for one in events if one["ph"] in "XB"}
    assert {("thread", "solve"), ("ranges", "job"), ("ranges", "fill"), ("ranges", "saved")} <= drawn
    page = (tmp_path / "p.html").read_text()
    assert re.search(r"solve</td>.*?>140 ns<.*?>1.43<", page.replace("\n", ""))  # 100 of 140 ns on one of two threads
    assert "saved (mark)" in page and "rank 0 thread 0 driver" in page
