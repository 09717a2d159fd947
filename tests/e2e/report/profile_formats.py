# SPDX-License-Identifier: Apache-2.0
"""Readers of profiles that refuse what the formats' documentation rules out. They return bars: (thread, name, start,
end, depth), times in ns.

- speedscope: file-format-spec.ts of its sources.
- Firefox Profiler: src/types/profile.js and docs-developer/processed-profile-format.md, at version 48."""
from __future__ import annotations

from typing import Any

Bar = tuple[str, str, int, int, int]
_COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown", "magenta", "red",
           "lightred", "darkgrey", "grey"}  # fmt: skip
_COLUMNS = {
    "stackTable": {"frame", "category", "subcategory", "prefix"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID",
                   "implementation", "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
    "samples": {"stack", "time", "weight"},
    "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
}  # fmt: skip
_OF_THREAD = {"processType", "processStartupTime", "processShutdownTime", "registerTime", "unregisterTime",
              "pausedRanges", "name", "isMainThread", "pid", "tid", "stringArray", *_COLUMNS}  # fmt: skip


def read_speedscope(document: dict[str, Any]) -> list[Bar]:
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    return [bar for profile in document["profiles"] if profile["type"] != "sampled"
            for bar in _evented(profile, frames)]


def read_sampled(document: dict[str, Any]) -> dict[tuple[str, ...], int]:
    """Of the sampled profiles: time of each stack, its profile in front."""
    names = [frame["name"] for frame in document["shared"]["frames"]]
    time: dict[tuple[str, ...], int] = {}
    for profile in document["profiles"]:
        if profile["type"] != "sampled":
            continue
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            path = (profile["name"], *(names[frame] for frame in stack))
            time[path] = time.get(path, 0) + weight
    return time


def _evented(profile: dict[str, Any], frames: list[dict[str, Any]]) -> list[Bar]:
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "events"}
    assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
    bars: list[Bar] = []
    stack: list[tuple[int, int]] = []
    now = profile["startValue"]
    for event in profile["events"]:
        assert set(event) == {"type", "frame", "at"} and event["at"] >= now, event
        now = event["at"]
        assert 0 <= event["frame"] < len(frames)
        if event["type"] == "O":
            stack.append((event["frame"], now))
        else:
            assert event["type"] == "C"
            frame, start = stack.pop()
            assert frame == event["frame"], "a close that is not that of the last open"
            bars.append((profile["name"], frames[frame]["name"], start, now, len(stack)))
    assert not stack and now <= profile["endValue"]
    return bars


def read_firefox(document: dict[str, Any]) -> tuple[list[Bar], dict[tuple[str, ...], float]]:
    """The markers, without a depth; and the time of each stack, in ms, its thread in front."""
    meta = document["meta"]
    assert meta["preprocessedProfileVersion"] == 48 and set(document) == {"meta", "libs", "pages", "threads"}
    for key in ("interval", "startTime", "product", "processType", "stackwalk", "version", "markerSchema"):
        assert key in meta
    categories = meta["categories"]
    assert any(one["color"] == "grey" for one in categories)
    assert all(one["color"] in _COLORS and one["subcategories"][0] == "Other" for one in categories)
    schemas = {one["name"]: {field["key"] for field in one["data"]} for one in meta["markerSchema"]}
    bars: list[Bar] = []
    time: dict[tuple[str, ...], float] = {}
    assert len({thread["tid"] for thread in document["threads"]}) == len(document["threads"])
    for thread in document["threads"]:
        _check_tables(thread, len(categories))
        name = f"rank {thread['pid']} {thread['name']}"
        bars += [(name, *bar) for bar in _markers(thread, schemas)]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"], strict=True):
            path = (name, *_path(thread, stack))
            time[path] = time.get(path, 0.0) + weight
    return bars, time


def _check_tables(thread: dict[str, Any], categories: int) -> None:
    assert set(thread) >= _OF_THREAD and isinstance(thread["pid"], str)
    for name, columns in _COLUMNS.items():
        table = thread[name]
        assert set(table) - {"length", "weightType"} == columns, name
        assert all(len(table[column]) == table["length"] for column in columns), name
    samples, stacks, frames, functions = (thread[name] for name in ("samples", "stackTable", "frameTable", "funcTable"))
    assert samples["weightType"] == "tracing-ms" and samples["time"] == sorted(samples["time"])
    assert all(weight > 0 for weight in samples["weight"])
    assert all(0 <= one < stacks["length"] for one in samples["stack"])
    assert all(one is None or 0 <= one < row for row, one in enumerate(stacks["prefix"])), "parents stand before"
    assert all(0 <= one < frames["length"] for one in stacks["frame"])
    assert all(0 <= one < categories for one in (*stacks["category"], *frames["category"]))
    assert all(0 <= one < functions["length"] for one in frames["func"])
    assert all(0 <= one < len(thread["stringArray"]) for one in (*functions["name"], *thread["markers"]["name"]))
    assert len(set(thread["stringArray"])) == len(thread["stringArray"])


def _markers(thread: dict[str, Any], schemas: dict[str, set[str]]) -> list[tuple[str, int, int, int]]:
    markers, found = thread["markers"], []
    rows = zip(*(markers[column] for column in ("name", "startTime", "endTime", "phase", "data")), strict=True)
    for name, start, end, phase, data in rows:
        assert phase == 1 and 0 <= start <= end
        assert set(data) - {"type"} == schemas[data["type"]]
        found.append((thread["stringArray"][name], round(start * 1e6), round(end * 1e6), 0))
    return found


def _path(thread: dict[str, Any], stack: int | None) -> tuple[str, ...]:
    stacks, functions = thread["stackTable"], thread["funcTable"]
    names: list[str] = []
    while stack is not None:
        function = thread["frameTable"]["func"][stacks["frame"][stack]]
        names.insert(0, thread["stringArray"][functions["name"][function]])
        stack = stacks["prefix"][stack]
    return tuple(names)
