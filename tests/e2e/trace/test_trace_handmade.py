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
import handmade_file
from marline.trace import graph, model
from marline.trace.passes import packing, picture
from marline.trace.read import clock, reader
from marline.trace.read.container import COLUMNS, RECORD, STORED, UNIT, UNIT_BYTES
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
    edges = graph.dependence_edges(graph.accesses(trace, tasks))
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
    edges = graph.dependence_edges(graph.accesses(trace, model.tasks(trace, model.segments(trace))))
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


def creations(count: int, window: int = 4) -> Stream:
    stream = Stream(window=window)
    for number in range(count):
        stream.add(1000 + number, "task_create", A + number)
    return stream


@pytest.mark.parametrize("count", [3, 4, 6, 8, 11])
@pytest.mark.parametrize("backwards", [False, True])
def test_windows_are_put_in_order(tmp_path: Path, count: int, backwards: bool) -> None:
    parts = [handmade_file.window(1, 1, number, part)
             for number, part in handmade_file.in_windows(handmade_file.array(creations(count).records), 4)]
    folder = save(tmp_path, [])
    (folder / "rank0000.mtr").write_bytes(handmade_file.whole(parts[::-1] if backwards else parts))
    trace = reader.read_trace(folder)
    assert trace.task.tolist() == list(range(A, A + count)) and trace.time.tolist() == list(range(count))


def test_compressed_blocks_windows_and_other_processes_in_one_file(tmp_path: Path) -> None:
    """Of thread 1 of process 2: windows 0 and 2 in blocks, 1 as a copy, 3 live. Process 1 has records, too, but no
    description, as if another trace had been given up. A reserved unit was never used."""
    records = handmade_file.array(creations(14).records)
    parts = [records[at : at + 4] for at in range(0, 14, 4)]
    blocks = handmade_file.block(1, 0, parts[0], STORED) + handmade_file.block(1, 2, parts[2])
    units = [handmade_file.window(2, 1, 3, parts[3]), handmade_file.window(1, 1, 0, records), bytes(UNIT_BYTES),
             handmade_file.group(2, blocks), handmade_file.window(2, 1, 1, parts[1])]
    folder = save(tmp_path, [], process=2)
    (folder / "rank0000.mtr").write_bytes(handmade_file.whole(units))
    trace = reader.read_trace(folder)
    assert trace.task.tolist() == list(range(A, A + 14)) and trace.cut == []


@pytest.mark.parametrize("form", [STORED, COLUMNS])
def test_killed_while_a_window_was_stored(tmp_path: Path, form: int) -> None:
    """A window that is full, and the same one in a block or in half a copy: read once. Of a damaged block without its
    window, its records are missing, and told of."""
    records = handmade_file.array(creations(8).records)
    window, young = (handmade_file.window(1, 1, number, records[4 * number : 4 * number + 4]) for number in (0, 1))
    copy = bytearray(window)
    copy[UNIT.size + 2 * RECORD.itemsize :] = bytes(len(copy) - UNIT.size - 2 * RECORD.itemsize)
    group = handmade_file.group(1, handmade_file.block(1, 0, records[:4], form))
    torn = bytearray(group)
    torn[UNIT.size + 32] ^= 1
    folder = save(tmp_path, [])
    for units in ([window, young, group], [window, young, torn], [bytes(copy), window, young], [group, young]):
        (folder / "rank0000.mtr").write_bytes(handmade_file.whole(map(bytes, units)))
        trace = reader.read_trace(folder)
        assert trace.task.tolist() == list(range(A, A + 8)) and trace.cut == []
    (folder / "rank0000.mtr").write_bytes(handmade_file.whole([bytes(torn), young]))
    trace = reader.read_trace(folder)
    assert trace.task.tolist() == list(range(A + 4, A + 8))
    assert trace.cut == ["rank0000.mtr: rank 0, stream 1: 4 records damaged"]


def test_missing_windows_are_reported(tmp_path: Path) -> None:
    file = save(tmp_path, [creations(9)]) / "rank0000.mtr"
    content = file.read_bytes()
    file.write_bytes(content[: 2 * UNIT_BYTES] + bytes(UNIT_BYTES) + content[3 * UNIT_BYTES :])
    trace = reader.read_trace(tmp_path)
    assert trace.task.tolist() == [*range(A, A + 4), A + 8]
    assert trace.cut == ["rank0000.mtr: rank 0, stream 1: 1 of 3 windows missing"]


def test_file_without_its_end_is_read_and_told_of(tmp_path: Path) -> None:
    file = save(tmp_path, suspended_receive()) / "rank0000.mtr"
    file.write_bytes(file.read_bytes()[: 2 * UNIT_BYTES + UNIT.size + 3 * RECORD.itemsize + 12])
    trace = reader.read_trace(tmp_path)
    assert len(trace.time) == 8 + 3
    assert trace.cut == [f"rank0000.mtr: {UNIT_BYTES - UNIT.size - 3 * RECORD.itemsize - 12} bytes missing at its end"]
    reader.read_trace(save(tmp_path, suspended_receive(), stopped="no disk"))
    file.write_bytes(file.read_bytes()[:-1])  # where a disk was full, the file never was as long
    assert reader.read_trace(tmp_path).cut == []


FIRST = UNIT_BYTES + UNIT.size  # byte of the first record in the file


def damage(folder: Path, kind: str) -> None:
    file, text = folder / "rank0000.mtr", folder / "rank0000.json"
    data = bytearray(file.read_bytes())
    changes = {"table": {"fingerprint": "0123456789abcdef"}, "hash": {"fingerprint": "xyz"}, "value": {"rank": "zero"},
               "format": {"format": "marline-trace 99"}, "file": {"file": "other.mtr"},
               "early": {"clock_begin": {"cycles": 1 << 40, "monotonic_ns": 1}}}  # fmt: skip
    if kind in changes:
        text.write_text(json.dumps(description(**changes[kind])))
    if kind == "short":
        data = data[:30]
    elif kind == "empty":
        data = data[:0]
    elif kind == "magic":
        data[0] ^= 0xFF
    elif kind == "unit":
        data[UNIT_BYTES] ^= 0xFF
    elif kind == "owner":
        data[UNIT_BYTES + 12 : UNIT_BYTES + 16] = bytes(4)
    elif kind == "kind":
        data[FIRST + 8] = 0xEE
    elif kind == "hole":
        data[FIRST + 32 : FIRST + 40] = bytes(8)
    elif kind == "json":
        text.write_text(text.read_text()[:50])
    elif kind == "keys":
        text.write_text(json.dumps({key: value for key, value in description().items() if key != "clock_end"}))
    elif kind == "early":
        data[FIRST : FIRST + 8] = (1).to_bytes(8, "little")
    elif kind == "late":
        data[FIRST + 7 * 32 : FIRST + 7 * 32 + 8] = (1 << 62).to_bytes(8, "little")
    elif kind == "twice":
        (folder / "pid99.json").write_text(text.read_text())
    elif kind == "same":
        (folder / "rank0001.json").write_text(json.dumps(description(1, file="rank0000.mtr")))
    elif kind == "nothing":
        data = data[:UNIT_BYTES]
    file.write_bytes(data)


@pytest.mark.parametrize(("kind", "message"), [
    ("short", "rank0000.mtr: 30 bytes, less than its head"),
    ("empty", "rank0000.mtr: 0 bytes, less than its head"),
    ("magic", "not a trace, or damaged"),
    ("unit", "at byte 65536: damaged"),
    ("owner", "a window of thread 0 at byte 65536: damaged"),
    ("file", "other.mtr has the records of a process, and is not there"),
    ("table", "written with another event table"),
    ("hash", "fingerprint is 'xyz': the file is damaged"),
    ("kind", "unknown event number 238"),
    ("hole", "record 1 is empty but others follow"),
    ("json", "not a trace's description"),
    ("keys", "clock_end missing"),
    ("format", "format 'marline-trace 99', expected"),
    ("value", "rank is 'zero': the file is damaged"),
    ("early", "rank 0, stream 1 has the time 1, but the program began at 1099511627776"),
    ("late", "has the time 4611686018427387904"),
    ("same", "rank0001.json: names the same records as rank0000.json"),
    ("twice", "second process says that it is rank 0"),
    ("nothing", "holds no records"),
])
def test_damage_is_refused_in_one_line(tmp_path: Path, kind: str, message: str) -> None:
    damage(save(tmp_path, suspended_receive()), kind)
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(tmp_path)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


def broken_blocks() -> list[tuple[str, bytes]]:
    records = handmade_file.array(creations(4).records)
    good = handmade_file.block(1, 0, records)
    changed = {"a block of thread 0": (4, 0), "a block of 0 records": (8, 0), "a block of the unknown form 7": (12, 7),
               "a block of 65537 bytes": (0, 65537)}  # fmt: skip
    return [(message, good[:at] + value.to_bytes(4, "little") + good[at + 4 :])
            for message, (at, value) in changed.items()]  # fmt: skip


@pytest.mark.parametrize(("message", "block"), broken_blocks())
def test_broken_block_is_refused_in_one_line(tmp_path: Path, message: str, block: bytes) -> None:
    folder = save(tmp_path, [])
    (folder / "rank0000.mtr").write_bytes(handmade_file.whole([handmade_file.group(1, block)]))
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(folder)
    assert f"{message} at byte {FIRST}: damaged" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(reader.TraceError, match="no such folder"):
        reader.read_trace(tmp_path / "no")
