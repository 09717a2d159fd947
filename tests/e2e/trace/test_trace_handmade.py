# SPDX-License-Identifier: Apache-2.0
"""The reader and the model on traces made by hand, with answers worked out by hand: suspensions and their lanes, whole
runs, pauses, dependences of every kind, clocks of two machines; and damaged files, each refused in one clear line.

One cycle is one nanosecond in these traces, so times are small round numbers.
"""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from handmade import (COMPLETE, IMPLICIT, SWITCH, A, B, C, Stream, description, save,  # first: it finds marline
                      suspended_receive)  # fmt: skip
from marline.trace import graph, model
from marline.trace.passes import packing, picture
from marline.trace.read import clock, reader
from marline.trace.read.events import EVENTS


def test_task_suspended_in_mpi(tmp_path: Path) -> None:
    drawn = picture.interpret(reader.read_trace(save(tmp_path, suspended_receive())))
    tasks, gaps, calls = drawn.tasks, drawn.suspensions, drawn.calls
    assert tasks.id.tolist() == [A, B] and tasks.start.tolist() == [100, 120] and tasks.end.tolist() == [170, 140]
    assert tasks.running.tolist() == [20 + 20, 20]
    assert (calls.start.tolist(), calls.end.tolist()) == ([110], [160])
    assert (calls.start_thread.tolist(), calls.end_thread.tolist()) == ([1], [2])
    assert (gaps.task.tolist(), gaps.start.tolist(), gaps.end.tolist(), gaps.call.tolist()) == ([A], [120], [150], [0])
    assert drawn.suspended_calls.tolist() == [0] and drawn.lane_of_call.tolist() == [0]
    runs = sorted(zip(drawn.runs.thread.tolist(), drawn.runs.start.tolist(), drawn.runs.end.tolist(),
                      drawn.runs.task.tolist()))
    assert runs == [(1, 0, 100, IMPLICIT), (1, 100, 120, A), (1, 120, 140, B), (1, 140, 200, IMPLICIT),
                    (2, 5, 150, 201), (2, 150, 170, A), (2, 170, 190, 201)]


def test_task_still_suspended_when_the_trace_ends(tmp_path: Path) -> None:
    first, second = suspended_receive()
    second.records = second.records[:1] + [(1190, 201 << 16 | EVENTS["implicit_end"].number, (0, 0))]
    drawn = picture.interpret(reader.read_trace(save(tmp_path, [first, second])))
    assert drawn.tasks.end.tolist() == [-1, 140]
    assert drawn.calls.returned.tolist() == [False] and drawn.calls.end.tolist() == [200]
    assert (drawn.suspensions.start.tolist(), drawn.suspensions.end.tolist()) == ([120], [200])
    assert drawn.suspended_calls.tolist() == [0]


def test_waiting_is_not_running(tmp_path: Path) -> None:
    """A waits from 20 to 60 and runs its child B from 30 to 50 meanwhile."""
    stream = Stream().add(1000, "task_create", A).add(1010, "task_create", B, parent=A)
    stream.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH).add(1020, "wait_begin", A, kind=5)
    stream.add(1030, "task_schedule", A, next=B, status=SWITCH).add(1050, "task_schedule", B, next=A, status=COMPLETE)
    stream.add(1060, "wait_end", A, kind=5).add(1090, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    trace = reader.read_trace(save(tmp_path, [stream]))
    runs = model.segments(trace)
    assert list(zip(runs.task.tolist(), runs.start.tolist(), runs.end.tolist(), runs.waits.tolist())) == [
        (A, 10, 20, False), (A, 20, 30, True), (B, 30, 50, False), (A, 50, 60, True), (A, 60, 90, False)]
    assert model.tasks(trace, runs).running.tolist() == [10 + 30, 20]


def edges_of(tmp_path: Path, clauses: list[list[tuple[int, int]]]) -> set[tuple[int, int]]:
    """Edges between sibling tasks 0, 1, ... that have these (type, address) dependences."""
    stream = Stream()
    for number, dependences in enumerate(clauses):
        # Ids fall while time rises: the order of creation counts.
        stream.add(1000 + 10 * number, "task_create", 1000 - number, parent=IMPLICIT)
        for kind, address in dependences:
            stream.add(1001 + 10 * number, "dependence", 1000 - number, type=kind, address=address)
    trace = reader.read_trace(save(tmp_path, [stream]))
    tasks = model.tasks(trace, model.segments(trace))
    edges = graph.dependence_edges(trace, tasks)
    number_of = [1000 - int(task) for task in tasks.id]
    return {(number_of[a], number_of[b]) for a, b in zip(edges.source.tolist(), edges.sink.tolist())}


IN, OUT, INOUT, MUTEX, SET, ALL = (graph.IN, graph.OUT, graph.INOUT, graph.MUTEXINOUTSET, graph.INOUTSET, graph.OUT_ALL)
X, Y = 0x1000, 0x7FFFFFFFF000


@pytest.mark.parametrize(("clauses", "edges"), [
    ([[(OUT, X)], [(IN, X)], [(IN, X)], [(INOUT, X)]], {(0, 1), (0, 2), (1, 3), (2, 3)}),
    ([[(OUT, X)], [(OUT, X)], [(OUT, Y)], [(IN, X), (IN, Y)]], {(0, 1), (1, 3), (2, 3)}),
    ([[(IN, X)], [(SET, X)], [(SET, X)], [(IN, X)]], {(0, 1), (0, 2), (1, 3), (2, 3)}),
    ([[(OUT, X)], [(MUTEX, X)], [(MUTEX, X)], [(SET, X)]], {(0, 1), (0, 2), (1, 3), (2, 3)}),
    ([[(IN, X), (OUT, X)], [(OUT, X), (IN, X)], [(IN, X)]], {(0, 1), (1, 2)}),
    ([[(OUT, X), (OUT, Y)], [(IN, X), (IN, Y)]], {(0, 1)}),
    ([[(OUT, X)], [(OUT, Y)], [(ALL, 0)], [(IN, X)], [(ALL, 0)]], {(0, 2), (1, 2), (2, 3), (2, 4), (3, 4)}),
    ([[(5, X)], [(6, X)]], set()),  # ordered loops' source and sink are no task dependences
])
def test_dependences(tmp_path: Path, clauses: list[list[tuple[int, int]]], edges: set[tuple[int, int]]) -> None:
    assert edges_of(tmp_path, clauses) == edges


def test_tasks_of_different_parents_are_unordered(tmp_path: Path) -> None:
    stream = Stream()
    for time, task, parent in ((1000, A, 1), (1001, B, 2), (1002, C, 1)):
        stream.add(time, "task_create", task, parent=parent).add(time, "dependence", task, type=OUT, address=X)
    trace = reader.read_trace(save(tmp_path, [stream]))
    edges = graph.dependence_edges(trace, model.tasks(trace, model.segments(trace)))
    assert (edges.source.tolist(), edges.sink.tolist()) == ([0], [2])


def test_label_and_color(tmp_path: Path) -> None:
    low, high, rest = (int.from_bytes(part, "little") for part in (b"panel fa", b"ctorisat", b"ion"))
    stream = Stream().add(1000, "text", 77, low=low, high=high).add(1000, "text", 77, low=rest)
    stream.add(1001, "task_create", A).add(1001, "task_label", A, text=77, color=0x123456)
    drawn = picture.interpret(reader.read_trace(save(tmp_path, [stream])))
    assert drawn.kind_names == ["panel factorisation"] and drawn.kind_colors == ["#123456"]


def test_clocks_of_two_machines(tmp_path: Path) -> None:
    """Rank 1's counter runs at half speed and was 10^15 ahead; rank 0's time is the trace's."""
    save(tmp_path, [Stream().add(1000, "thread_begin", 1).add(2000, "thread_end", 1)])
    ahead = 10**15
    samples = [{"local": ahead + 100, "sent": 1190, "received": 1210},
               {"local": ahead + 400, "sent": 1790, "received": 1810}]
    stream = Stream().add(ahead + 200, "thread_begin", 1).add(ahead + 500, "thread_end", 1)
    save(tmp_path, [stream], rank=1, boot_id="elsewhere", clock_samples=samples)
    trace = reader.read_trace(tmp_path)
    assert trace.time.tolist() == [0, 1000, 400, 1000]
    save(tmp_path, [stream], rank=1, boot_id="elsewhere")
    with pytest.raises(reader.TraceError, match="clock offset was not measured"):
        reader.read_trace(tmp_path)


def test_frequency_of_a_damaged_description() -> None:
    with pytest.raises(clock.ClockError, match="stands still"):
        clock.frequency(description(clock_end={"cycles": 1000, "monotonic_ns": 6000}))


def test_chart_shows_the_suspended_call_below_its_rank_s_threads(tmp_path: Path) -> None:
    """Colours in the picture itself: the lane's lies below the task bars, and beside it the other task runs."""
    gantt = pytest.importorskip("marline.trace.views.gantt")
    from matplotlib.image import imread

    drawn = picture.interpret(reader.read_trace(save(tmp_path, suspended_receive())))
    drawn.kind_names, drawn.kind_colors = ["receiver", "other"], ["#00ff00", "#ff0000"]
    drawn.kind_of_task = np.array([0, 1])
    gantt.write_png(drawn, tmp_path / "out.png", "title")
    pixels = np.rint(imread(tmp_path / "out.png")[:, :, :3] * 255).astype(int)

    def box(color: str, right: int) -> tuple[int, int, int, int]:
        wanted = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
        same = (pixels[:, :right] == wanted).all(axis=2)
        same[:, same.sum(axis=0) < 15] = False  # what text's smooth edges happen to hit
        rows, columns = np.nonzero(same)
        assert rows.size, color
        return int(rows.min()), int(rows.max()), int(columns.min()), int(columns.max())

    edge = box(gantt._IMPLICIT_COLOR, pixels.shape[1])[3]  # of the axes: the legend beyond has no such patch
    receiver, other, lane = box("#00ff00", edge), box("#ff0000", edge), box(gantt._RECEIVE_COLOR, edge)
    assert lane[0] > max(receiver[1], other[1])
    # In time: receiver from 100, lane 110 to 160, other 120 to 140, receiver's end 170.
    assert receiver[2] < lane[2] < other[2] < other[3] < lane[3] < receiver[3]


def test_lanes_are_reused_and_never_overlap() -> None:
    start = np.array([0, 10, 20, 50, 5])
    end = np.array([30, 20, 40, 60, 6])
    rank = np.array([0, 0, 0, 0, 1])
    assert packing.lowest_lanes(rank, start, end).tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize(("flushed", "count"), [(0, 3), (1, 4), (1, 6), (2, 8), (2, 11)])
def test_windows_are_put_in_order(tmp_path: Path, flushed: int, count: int) -> None:
    stream = Stream(flushed=flushed, window=4)
    for number in range(count):
        stream.add(1000 + number, "task_create", A + number)
    trace = reader.read_trace(save(tmp_path, [stream]))
    assert trace.task.tolist() == list(range(A, A + count)) and trace.time.tolist() == list(range(count))


def test_killed_while_a_window_was_copied(tmp_path: Path) -> None:
    """The copy under way is not counted: the full window itself is read, and only once."""
    stream = Stream(flushed=1, window=4)
    for number in range(8):
        stream.add(1000 + number, "task_create", A + number)
    file = save(tmp_path, [stream]) / "rank0000.thread0001.mtr"
    file.write_bytes(file.read_bytes() + stream.data()[reader.HEADER.size : reader.HEADER.size + 70])
    trace = reader.read_trace(tmp_path)
    assert trace.task.tolist() == list(range(A, A + 8))


def test_missing_copies_are_reported(tmp_path: Path) -> None:
    stream = Stream(flushed=2, window=4)
    for number in range(9):
        stream.add(1000 + number, "task_create", A + number)
    file = save(tmp_path, [stream]) / "rank0000.thread0001.mtr"
    file.write_bytes(file.read_bytes()[: -3 * reader.RECORD.itemsize])
    trace = reader.read_trace(tmp_path)
    assert trace.task.tolist() == list(range(A, A + 5)) and "3 records missing" in trace.cut[0]


def test_unused_tail_is_dropped(tmp_path: Path) -> None:
    folder = save(tmp_path, suspended_receive())
    file = folder / "rank0000.thread0001.mtr"
    file.write_bytes(file.read_bytes() + bytes(4096))
    assert len(reader.read_trace(folder).time) == 8 + 5


def damage(folder: Path, kind: str) -> None:
    file, text = folder / "rank0000.thread0001.mtr", folder / "rank0000.json"
    data = bytearray(file.read_bytes())
    if kind == "short":
        data = data[:30]
    elif kind == "magic":
        data[0] ^= 0xFF
    elif kind == "table":
        data[8] ^= 0xFF
    elif kind == "kind":
        data[64 + 8] = 0xEE
    elif kind == "hole":
        data[64 + 32 : 64 + 40] = bytes(8)
    elif kind == "json":
        text.write_text(text.read_text()[:50])
    elif kind == "keys":
        text.write_text(json.dumps({key: value for key, value in description().items() if key != "clock_end"}))
    elif kind == "format":
        text.write_text(json.dumps(description(format="marline-trace 99")))
    elif kind == "value":
        text.write_text(json.dumps(description(rank="zero")))
    elif kind == "early":
        data[64 : 64 + 8] = (1).to_bytes(8, "little")
        text.write_text(json.dumps(description(clock_begin={"cycles": 1 << 40, "monotonic_ns": 1})))
    elif kind == "late":
        data[64 + 7 * 32 : 64 + 7 * 32 + 8] = (1 << 62).to_bytes(8, "little")
    elif kind == "copies":
        data[48 : 48 + 8] = (7).to_bytes(8, "little")
    elif kind == "thread":
        (folder / "rank0000.thread0007.mtr").write_bytes(data)
    elif kind == "twice":
        (folder / "pid99.json").write_text(text.read_text())
    elif kind == "nothing":
        data = data[:64]
        (folder / "rank0000.thread0002.mtr").unlink()
    file.write_bytes(data)


@pytest.mark.parametrize(("kind", "message"), [
    ("short", "thread0001.mtr: 30 bytes, less than a header"),
    ("magic", "not a trace, or damaged"),
    ("table", "written with another event table"),
    ("kind", "unknown event number 238"),
    ("hole", "record 1 is empty but others follow"),
    ("json", "not a trace's description"),
    ("keys", "clock_end missing"),
    ("format", "format 'marline-trace 99', expected"),
    ("value", "rank is 'zero': the file is damaged"),
    ("early", "holds the time 1, but the program began at 1099511627776"),
    ("late", "holds the time 4611686018427387904"),
    ("copies", "copies at byte 7: the header is damaged"),
    ("thread", "a second file of thread 1"),
    ("twice", "second process says that it is rank 0"),
    ("nothing", "holds no records"),
])
def test_damage_is_refused_in_one_line(tmp_path: Path, kind: str, message: str) -> None:
    damage(save(tmp_path, suspended_receive()), kind)
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(tmp_path)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(("data", "message"), [(b"", "empty"), (bytes(65600), "never begun")])
def test_killed_while_a_thread_began(tmp_path: Path, data: bytes, message: str) -> None:
    folder = save(tmp_path, suspended_receive())
    (folder / "rank0000.thread0003.mtr").write_bytes(data)
    trace = reader.read_trace(folder)
    assert len(trace.time) == 8 + 5 and len(trace.cut) == 1 and message in trace.cut[0]


def test_file_cut_inside_a_record_is_reported_and_read(tmp_path: Path) -> None:
    folder = save(tmp_path, suspended_receive())
    file = folder / "rank0000.thread0001.mtr"
    file.write_bytes(file.read_bytes()[:-20])
    trace = reader.read_trace(folder)
    assert len(trace.time) == 8 - 1 + 5
    assert trace.cut == ["rank0000.thread0001.mtr: ends inside a record: 12 bytes dropped"]


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(reader.TraceError, match="no such folder"):
        reader.read_trace(tmp_path / "no")
