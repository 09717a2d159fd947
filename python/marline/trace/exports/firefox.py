# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline for the Firefox Profiler (https://profiler.firefox.com), in version 48 of its processed profile
format (docs-developer/processed-profile-format.md and src/types/profile.js of its sources; newer versions of it upgrade
what they read).

Each thread, and each lane of suspended calls or of a device, is a thread of the profile. Each bar is a marker, for the
marker chart. Between any two events of a thread, what is open is a sample whose weight is its time (`tracing-ms`): so
the call tree and the flame graph show times, not counts. The sampled call stacks of a thread are one more thread of the
profile, whose samples weigh the CPU time that each stands for. Times are milliseconds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..model import lane_number
from ..passes.samples.functions import Samples
from ..registry import Analysis
from ..views.timeline import CATEGORIES, NOTES, Timeline
from .nested import Track, nested_tracks

VERSION, GECKO_VERSION = 48, 30
_MILLI = 1e-6  # from ns
_SAMPLES = CATEGORIES.index("task")  # the colour of what samples show
_INTERVAL = 1  # phase of a marker that has a start and an end (MarkerPhase)
# Of the format's colours; the first grey one is the default.
_COLORS = {"implicit": "grey", "task": "blue", "wait": "transparent", "region": "yellow", "mpi": "purple",
           "transfer": "orange", "kernel": "green", "host side": "brown", "node": "lightblue"}  # fmt: skip


def write_firefox(of: Analysis, drawn: Timeline, path: str | Path, program: str) -> None:
    with Path(path).open("w", encoding="utf-8") as file:
        file.write(f'{{"meta":{json.dumps(_meta(program))},"libs":[],"pages":[],"threads":[')
        separator = "\n"
        columns = _Columns(drawn)
        for track in nested_tracks(drawn):
            file.write(f"{separator}{json.dumps(_thread(drawn, columns, track), separators=(',', ':'))}")
            separator = ",\n"
        for thread in _sampled(of, drawn):
            file.write(f"{separator}{json.dumps(thread, separators=(',', ':'))}")
            separator = ",\n"
        file.write("\n]}\n")


def _meta(program: str) -> dict[str, Any]:
    return {
        "version": GECKO_VERSION, "preprocessedProfileVersion": VERSION, "product": program, "importedFrom": "Marline",
        "interval": 1, "startTime": 0, "processType": 0, "stackwalk": 0, "debug": False, "symbolicated": True,
        "extensions": {"baseURL": [], "id": [], "name": [], "length": 0},
        "categories": [{"name": name, "color": _COLORS[name], "subcategories": ["Other"]} for name in CATEGORIES],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "usesOnlyOneStackType": True, "doesNotUseFrameImplementation": True, "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "markerSchema": [
            {"name": name, "display": ["marker-chart", "marker-table", "timeline-overview"],
             "data": [{"key": note, "label": note, "format": "bytes" if note == "bytes" else "integer"}]}
            for name, note in zip(CATEGORIES, NOTES, strict=True)],
    }  # fmt: skip


class _Columns:
    """Of all slices, as Python's numbers."""

    def __init__(self, drawn: Timeline) -> None:
        self.name, self.category, self.note, self.start, self.end = (
            column.tolist() for column in (drawn.slices.name, drawn.slices.category, drawn.slices.note,
                                           drawn.slices.start, drawn.slices.end)
        )  # fmt: skip


@dataclass
class _Stacks:
    """The tree of what was open inside of what, made as it is met. A function, and its only frame, is a name with its
    category."""

    functions: dict[tuple[int, int], int] = field(default_factory=dict)
    nodes: dict[tuple[int | None, int], int] = field(default_factory=dict)

    def inside(self, prefix: int | None, name: int, category: int) -> int:
        function = self.functions.setdefault((name, category), len(self.functions))
        return self.nodes.setdefault((prefix, function), len(self.nodes))


def _thread(drawn: Timeline, columns: _Columns, track: Track) -> dict[str, Any]:
    stacks = _Stacks()
    samples = _samples(columns, track, stacks)
    rows = [row for row, opens in zip(track.row, track.opens, strict=True) if opens]
    strings: dict[str, int] = {}
    return {
        "name": track.name, "isMainThread": track.is_thread and track.number == 1,
        **_process(drawn, track.rank, str(track.number), max(track.time, default=0)), "samples": samples,
        "markers": _markers(columns, rows, [drawn.names[columns.name[row]] for row in rows], strings),
        **_tables(stacks, drawn.names, strings),
    }  # fmt: skip


def _process(drawn: Timeline, rank: int, thread: str, last: int) -> dict[str, Any]:
    return {"processType": "default", "processName": drawn.processes[rank], "pid": str(rank), "tid": f"{rank}.{thread}",
            "processStartupTime": 0, "processShutdownTime": None, "registerTime": 0, "unregisterTime": last * _MILLI,
            "pausedRanges": [], "showMarkersInTimeline": True}  # fmt: skip


def _sampled(of: Analysis, drawn: Timeline) -> Iterator[dict[str, Any]]:
    """Of each thread with samples. The outermost frame of each stack is what it belongs to."""
    found: Samples = of["samples"]
    trace, record, frames = of.trace, found.stacks.record, found.frames
    names = [*found.owners.names, *frames.names]
    outward = np.lexsort((-frames.place, frames.sample))
    functions = np.split(frames.function[outward] + len(found.owners.names),
                         np.flatnonzero(np.diff(frames.sample)) + 1)  # fmt: skip
    lane = lane_number(trace.rank[record], trace.thread[record])
    titles = {rank << 16 | number: name for rank, number, name in drawn.tracks}
    for one in np.unique(lane).tolist():
        rows = np.flatnonzero((lane == one) & (found.stacks.weight > 0))
        rows = rows[np.argsort(trace.time[record[rows]], kind="stable")].tolist()
        stacks, of_sample = _Stacks(), []
        for row in rows:
            stack = stacks.inside(None, int(found.owners.of_sample[row]), _SAMPLES)
            for function in functions[row].tolist():
                stack = stacks.inside(stack, function, _SAMPLES)
            of_sample.append(stack)
        time, weight = trace.time[record[rows]], found.stacks.weight[rows]
        samples = _table(len(rows), stack=of_sample, time=(time * _MILLI).tolist(), weight=(weight * _MILLI).tolist())
        number = one & 0xFFFF
        strings: dict[str, int] = {}
        yield {
            "name": f"{titles[one]} samples of CPU time", "isMainThread": False,
            **_process(drawn, one >> 16, f"{number}.samples", int(time.max())),
            "samples": samples | {"weightType": "tracing-ms"}, "markers": _markers(_Columns(drawn), [], [], strings),
            **_tables(stacks, names, strings),
        }  # fmt: skip


def _tables(stacks: _Stacks, names: Sequence[str], strings: dict[str, int]) -> dict[str, Any]:
    """What samples and markers refer to. The last one has all strings of the thread, so it is made last."""
    return {
        "stackTable": _stack_table(stacks), "frameTable": _frame_table(stacks),
        "funcTable": _func_table(stacks, names, strings), "resourceTable": _table(0, "lib", "name", "host", "type"),
        "nativeSymbols": _table(0, "libIndex", "address", "name", "functionSize"), "stringArray": list(strings),
    }  # fmt: skip


def _table(length: int, *empty: str, **columns: list[Any]) -> dict[str, Any]:
    return {"length": length} | {name: [] for name in empty} | columns


def _samples(columns: _Columns, track: Track, stacks: _Stacks) -> dict[str, Any]:
    """From each event to the next: what is open."""
    stack: list[int] = []
    found: tuple[list[int | None], list[float], list[float]] = ([], [], [])
    following = [*track.time[1:], *track.time[-1:]]
    for time, until, row, opens in zip(track.time, following, track.row, track.opens, strict=True):
        if opens:
            stack.append(stacks.inside(stack[-1] if stack else None, columns.name[row], columns.category[row]))
        else:
            stack.pop()
        if until > time and stack:
            for column, value in zip(found, (stack[-1], time * _MILLI, (until - time) * _MILLI), strict=True):
                column.append(value)
    return _table(len(found[0]), stack=found[0], time=found[1], weight=found[2]) | {"weightType": "tracing-ms"}


def _markers(columns: _Columns, rows: list[int], names: Sequence[str], strings: dict[str, int]) -> dict[str, Any]:
    category = [columns.category[row] for row in rows]
    return _table(
        len(rows), name=[strings.setdefault(name, len(strings)) for name in names], category=category,
        startTime=[columns.start[row] * _MILLI for row in rows], endTime=[columns.end[row] * _MILLI for row in rows],
        phase=[_INTERVAL] * len(rows),
        data=[{"type": CATEGORIES[kind], NOTES[kind]: columns.note[row]} for kind, row in zip(category, rows,
                                                                                              strict=True)],
    )  # fmt: skip


def _stack_table(stacks: _Stacks) -> dict[str, Any]:
    of_function = [category for _, category in stacks.functions]
    frame = [frame for _, frame in stacks.nodes]
    return _table(len(frame), frame=frame, prefix=[prefix for prefix, _ in stacks.nodes],
                  category=[of_function[one] for one in frame], subcategory=[0] * len(frame))  # fmt: skip


def _frame_table(stacks: _Stacks) -> dict[str, Any]:
    count = len(stacks.functions)
    nothing: dict[str, list[Any]] = {name: [None] * count for name in ("nativeSymbol", "innerWindowID",
                                                                       "implementation", "line", "column")}
    return _table(count, address=[-1] * count, inlineDepth=[0] * count, func=list(range(count)),
                  category=[category for _, category in stacks.functions], subcategory=[0] * count,
                  **nothing)  # fmt: skip


def _func_table(stacks: _Stacks, names: Sequence[str], strings: dict[str, int]) -> dict[str, Any]:
    count = len(stacks.functions)
    nothing: dict[str, list[Any]] = {name: [None] * count for name in ("fileName", "lineNumber", "columnNumber")}
    return _table(count, name=[strings.setdefault(names[name], len(strings)) for name, _ in stacks.functions],
                  isJS=[False] * count, relevantForJS=[False] * count, resource=[-1] * count, **nothing)  # fmt: skip
