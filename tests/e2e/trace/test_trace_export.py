# SPDX-License-Identifier: Apache-2.0
"""Exports of traces made by hand, read back: Perfetto's file with Perfetto's own schema, Chrome's as JSON, the charts
by their shapes; names of code after the run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import SECONDS
from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, Stream, save, suspended_receive

from marline.trace import symbols
from marline.trace.analysis import Analysis
from marline.trace.read.events import CALL_NUMBER
from marline.trace.views import export, perfetto

SEND = {"peer": 0, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Send"]}


@pytest.fixture
def exchange(tmp_path: Path) -> Path:
    """Rank 0 receives in a suspended task what rank 1 sends; task B of rank 0 runs meanwhile."""
    folder = tmp_path / "trace"
    folder.mkdir()
    sender = Stream().add(1050, "mpi_enter", IMPLICIT, **SEND).add(1060, "mpi_exit", IMPLICIT, **SEND)
    save(folder, suspended_receive())
    return save(folder, [sender], rank=1)


def write(folder: Path, **views: Path) -> list[str]:
    return export.write_views(Analysis(export.load(folder)), export.Views(**views))


class Read:
    """A Perfetto file as its schema says: slices (track, name, begin, end, depth), arrows, counters."""

    def __init__(self, path: Path) -> None:
        schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
        self.trace = schema.Trace()
        self.trace.ParseFromString(path.read_bytes())
        self.tracks: dict[int, str] = {}
        self.slices: list[tuple[str, str, int, int, int]] = []
        self.arrows: dict[int, list[str]] = {}
        self.counters: dict[str, list[tuple[int, int]]] = {}
        self._stacks: dict[int, list[tuple[str, int]]] = {}
        for packet in self.trace.packet:
            if packet.HasField("track_descriptor"):
                one = packet.track_descriptor
                assert one.uuid not in self.tracks
                self.tracks[one.uuid] = one.name or one.thread.thread_name or one.process.process_name
            elif packet.HasField("track_event"):
                self._take(packet.timestamp, packet.track_event)
        assert all(not stack for stack in self._stacks.values())

    def _take(self, time: int, event: Any) -> None:
        track = self.tracks[event.track_uuid]
        if event.type == event.TYPE_COUNTER:
            self.counters.setdefault(track, []).append((time, event.counter_value))
            return
        stack = self._stacks.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((event.name, time))
            name = event.name
        else:
            assert event.type == event.TYPE_SLICE_END
            name, start = stack.pop()
            self.slices.append((track, name, start, time, len(stack)))
        for flow in [*event.flow_ids, *event.terminating_flow_ids]:
            self.arrows.setdefault(flow, []).append(name)


def test_perfetto_file_is_what_its_schema_says(exchange: Path, tmp_path: Path) -> None:
    assert write(exchange, perfetto=tmp_path / "out") == [f"{tmp_path / 'out'}: open it in https://ui.perfetto.dev"]
    read = Read(tmp_path / "out")
    assert ("suspended in MPI 0", "MPI_Recv from 1 tag 7", 110, 160, 0) in read.slices
    assert ("thread 0", "task", 100, 120, 0) in read.slices and ("thread 1", "task", 150, 170, 0) in read.slices
    assert ("thread 0", "MPI_Send to 0 tag 7", 50, 60, 0) in read.slices
    assert list(read.arrows.values()) == [["MPI_Send to 0 tag 7", "MPI_Recv from 1 tag 7"]]
    assert read.counters["suspended tasks"] == [(120, 1), (150, 0)]
    # A and B are created at 10 and 20, and start at 100 and 120.
    assert read.counters["ready tasks"] == [(10, 1), (20, 2), (100, 1), (120, 0)]
    assert sum(name.startswith("rank ") for name in read.tracks.values()) == 2


def text(stream: Stream, number: int, content: str) -> None:
    low, high = (int.from_bytes(content.encode()[at : at + 8], "little") for at in (0, 8))
    stream.add(1000, "text", number, low=low, high=high)


def test_regions_lie_where_their_task_runs(tmp_path: Path) -> None:
    """Region `outer` of A lasts from 105 to 165, with `inner` from 112 to 155 in it; A is suspended from 120 to 150."""
    first, second = suspended_receive()
    at = {"first": [(1105, "region_begin", 71), (1112, "region_begin", 72)],
          "second": [(1155, "region_end", 0), (1165, "region_end", 0)]}
    stream = Stream(1)
    text(stream, 71, "outer")
    text(stream, 72, "inner")
    for time, name, number in at["first"]:
        stream.add(time, name, A, text=number)
    first.records = sorted(stream.records + first.records, key=lambda record: record[0])
    more = Stream(2)
    for time, name, _ in at["second"]:
        more.add(time, name, A)
    second.records = sorted(second.records + more.records, key=lambda record: record[0])
    write(save(tmp_path, [first, second]), perfetto=tmp_path / "out")
    slices = Read(tmp_path / "out").slices
    assert [one for one in slices if one[1] in ("outer", "inner")] == [
        ("thread 0", "inner", 112, 120, 2), ("thread 0", "outer", 105, 120, 1),
        ("thread 1", "inner", 150, 155, 2), ("thread 1", "outer", 150, 165, 1)]


def test_perfetto_file_in_chunks_is_the_same(exchange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(exchange, perfetto=tmp_path / "whole")
    monkeypatch.setattr("marline.trace.views.timeline._CHUNK", 3)
    write(exchange, perfetto=tmp_path / "chunks")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "chunks").read_bytes()


def test_dependence_arrow_leads_from_end_to_begin(tmp_path: Path) -> None:
    stream = Stream().add(1000, "task_create", A, parent=IMPLICIT).add(1001, "dependence", A, type=2, address=64)
    stream.add(1002, "task_create", B, parent=IMPLICIT).add(1003, "dependence", B, type=1, address=64)
    stream.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1020, "task_schedule", A, next=B, status=COMPLETE)
    stream.add(1030, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    stream.add(1040, "implicit_end", IMPLICIT)
    write(save(tmp_path, [stream]), perfetto=tmp_path / "p", chrome=tmp_path / "c")
    assert list(Read(tmp_path / "p").arrows.values()) == [["task", "task"]]
    flows = [event for event in json.loads((tmp_path / "c").read_text())["traceEvents"] if event["ph"] in "sf"]
    # An arrow belongs to what is open at its time: 1 ns before the end of A, and the begin of B.
    assert [(event["ph"], event["ts"]) for event in flows] == [("s", 0.019), ("f", 0.020)]


def test_arrows_beyond_what_a_viewer_bears_are_left_out_and_said(
    exchange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marline.trace.views.timeline.MOST_ARROWS", 0)
    said = write(exchange, perfetto=tmp_path / "out")
    assert said[1:] == [f"{tmp_path / 'out'}: arrows for 0 of 1 messages: in each of 1000 windows of time the 0 that "
                        "took longest"]
    assert Read(tmp_path / "out").arrows == {}


def test_dense_arrows_are_thinned_in_each_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two windows, the first has a producer with three successors and the second one with two: each keeps the one
    arrow whose successor began soonest. With room for all, all are drawn."""
    stream, address = Stream(), 0
    for begin, waits in ((0, (30, 10, 20)), (1000, (15, 5))):
        address += 64
        tasks = range(1000 + begin, 1000 + begin + 1 + len(waits))
        for number, task in enumerate(tasks):
            stream.add(1000 + begin, "task_create", task, parent=IMPLICIT)
            stream.add(1000 + begin, "dependence", task, type=1 if number else 2, address=address)
        for wait, task in sorted(zip((0, *(100 + wait for wait in waits)), tasks)):
            stream.add(1000 + begin + wait + 5, "task_run", task, start=1000 + begin + wait, outer=IMPLICIT)
    (tmp_path / "trace").mkdir()
    folder = save(tmp_path / "trace", [stream.add(4000, "implicit_end", IMPLICIT)])
    write(folder, chrome=tmp_path / "all.json")
    assert sinks(tmp_path / "all.json") == [110, 120, 130, 1105, 1115]
    monkeypatch.setattr("marline.trace.views.timeline.MOST_ARROWS", 2)
    monkeypatch.setattr("marline.trace.views.timeline.WINDOWS", 2)
    said = write(folder, chrome=tmp_path / "few.json")
    assert said[1:] == [f"{tmp_path / 'few.json'}: arrows for 2 of 5 dependences: in each of 2 windows of time the 1 "
                        "that their tasks waited for last"]
    assert sinks(tmp_path / "few.json") == [110, 1105]


def sinks(path: Path) -> list[int]:
    """When the slices begin to which arrows lead."""
    events = json.loads(path.read_text())["traceEvents"]
    return sorted(round(1000 * event["ts"]) for event in events if event["ph"] == "f")


def test_chrome_file(exchange: Path, tmp_path: Path) -> None:
    write(exchange, chrome=tmp_path / "out.json")
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    threads = {(event["pid"], event["tid"]): event["args"]["name"]
               for event in events if event["name"] == "thread_name"}
    slices = [(threads[event["pid"], event["tid"]], event["name"], event["ts"], event["dur"])
              for event in events if event["ph"] == "X"]
    assert ("suspended in MPI 0", "MPI_Recv from 1 tag 7", 0.11, 0.05) in slices
    assert ("thread 0", "task", 0.12, 0.02) in slices
    flows = {event["ph"]: event for event in events if event["ph"] in "sf"}
    assert (flows["s"]["pid"], flows["f"]["pid"], flows["s"]["id"]) == (1, 0, flows["f"]["id"])
    assert flows["s"]["ts"] < flows["f"]["ts"]
    counted = [(event["name"], event["ts"], event["args"]["tasks"]) for event in events if event["ph"] == "C"]
    assert counted[-2:] == [("suspended tasks", 0.12, 1), ("suspended tasks", 0.15, 0)]


def test_svg_holds_the_bars_as_shapes(exchange: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write(exchange, svg=tmp_path / "out.svg")
    root = ElementTree.parse(tmp_path / "out.svg").getroot()
    fills = {element.get("style", "") for element in root.iter("{http://www.w3.org/2000/svg}path")}
    assert root.tag.endswith("svg") and any("#5e3c99" in style for style in fills)  # suspended in a receive
    assert not list(root.iter("{http://www.w3.org/2000/svg}image"))


def test_many_short_bars_are_gathered_and_said(tmp_path: Path) -> None:
    gantt = pytest.importorskip("marline.trace.views.gantt")
    from matplotlib.figure import Figure

    canvas = gantt._Canvas(Figure().subplots(), (0.0, 1000.0), 10)  # columns of 100 ns
    start = np.arange(0, 1000, 20)
    start = np.r_[start, 0]  # 50 short ones, and one long one in another row
    end = np.r_[start[:-1] + 5, 1000]
    row = np.r_[np.zeros(50), 1.0]
    color = np.arange(51) % 5 // 3  # of five in a column three have the first colour, two the second
    canvas.bars(start, end, row, 1.0, color, ["#000000", "#ff0000"])
    spans = [sorted((round(box.x0 * 1e6), round(box.x1 * 1e6)) for path in drawn.get_paths()
                    for box in [path.get_extents()]) for drawn in canvas.axes.collections]  # fmt: skip
    # Every row keeps its share of each: 15 ns of one, 10 ns of the other, side by side.
    assert spans[0] == sorted([(column, column + 15) for column in range(0, 1000, 100)] + [(0, 1000)])
    assert spans[1] == [(column + 15, column + 25) for column in range(0, 1000, 100)]
    assert canvas.gathered == 50


def test_a_missing_file_is_said_once_and_is_no_error() -> None:
    entry = {"begin": 1000, "end": 9000, "offset": 0, "path": "/nowhere/program", "build_id": ""}
    found = symbols.locate({0: {"maps": [entry]}}, {0: np.array([2001, 3001, 0], dtype=np.uint64)})
    assert found.places[0, 2001].short() == "program+0x3e8" and found.places[0, 3001].short() == "program+0x7d0"
    assert found.notes == ["/nowhere/program cannot be read any more: its functions have no names"]


@pytest.fixture
def library(tmp_path: Path) -> Callable[[str], Path]:
    """Builds a library with one function, `named`, on its third line."""
    if shutil.which("gcc-12") is None:
        pytest.skip("gcc-12 is not installed")

    def build(name: str) -> Path:
        (tmp_path / "code.c").write_text(f"\n\nint {name}(int x) {{ return x * 3; }}\n")
        words = ["gcc-12", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", "lib.so", "code.c"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=SECONDS)
        return tmp_path / "lib.so"

    return build


def code_of(path: Path, name: str) -> int:
    listing = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True).stdout
    line = next(line.split() for line in listing.splitlines() if line.endswith(f" {name}"))
    return int(line[1], 16)


def description_of(path: Path, folder: Path) -> dict[str, Any]:
    elf = symbols.Elf.read(str(path))
    assert elf is not None and len(elf.build_id) == 40
    # Mapped as a whole at 2^30, its text where file offsets and addresses agree.
    entry = {"begin": 1 << 30, "end": 1 << 31, "offset": 0, "path": str(path), "build_id": elf.build_id}
    return {"maps": [entry], "folder": str(folder)}


def test_names_stay_those_of_the_run_when_the_file_is_built_again(
    library: Callable[[str], Path], tmp_path: Path
) -> None:
    """The first reading keeps what it has found; another trace of the old file gets no wrong names from the new one."""
    path = library("first")
    address = np.array([(1 << 30) + code_of(path, "first") + 1], dtype=np.uint64)
    cached, fresh = tmp_path / "cached", tmp_path / "fresh"
    cached.mkdir()
    fresh.mkdir()
    description = description_of(path, cached)
    assert [place.short() for place in symbols.locate({0: description}, {0: address}).places.values()] == [
        "first code.c:3"]
    library("second")
    assert [place.short() for place in symbols.locate({0: description}, {0: address}).places.values()] == [
        "first code.c:3"]
    found = symbols.locate({0: description | {"folder": str(fresh)}}, {0: address})
    assert [place.line for place in found.places.values()] == [0]
    assert found.notes == [f"{path} was built again since the run: its functions have no names"]


def test_a_symbolizer_that_fails_is_said_once(
    library: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library("named")
    code = code_of(path, "named")
    tool = tmp_path / "llvm-symbolizer"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    address = np.array([(1 << 30) + code + 1], dtype=np.uint64)
    found = symbols.locate({0: description_of(path, tmp_path)}, {0: address})
    assert [place.short() for place in found.places.values()] == [f"lib.so+{code:#x}"]
    assert len(found.notes) == 1 and "llvm-symbolizer failed" in found.notes[0]


def test_varint_of_large_and_negative_numbers() -> None:
    assert perfetto._number(1, 300) == b"\x08\xac\x02"
    assert perfetto._number(1, -1) == b"\x08" + b"\xff" * 9 + b"\x01"


def test_python_of_the_exports_needs_no_matplotlib_unless_it_draws() -> None:
    code = "import sys; import marline.trace.views.export; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=SECONDS,
                   env={"PYTHONPATH": str(Path(__file__).resolve().parents[3] / "python"), "PATH": "/usr/bin:/bin"})
