# SPDX-License-Identifier: Apache-2.0
"""Reads a trace folder into columns.

`read_trace(folder)` gives a Trace: the records of all threads of all ranks in one set of arrays, sorted by rank,
thread and time, times in nanoseconds on rank 0's clock from the first record on. What cannot be read raises
TraceError with one line that says which file, what is wrong and what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .causality import repair
from .clock import ClockMap, clock_maps
from .container import Container, file_of_this_node
from .events import EVENTS
from .progress import Progress, no_progress
from .records import TASK_BITS, Trace, TraceError, is_recorded
from .ring import (
    Ring, RingRecords, beginning, created_before, cut_at, newer_clock, read_ring, without_the_whole_run,
)  # fmt: skip
from .tables import SAME_VERSION, Tables

FORMAT = "marline-trace 3"


def _is_clock(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), int) for key in ("cycles", "monotonic_ns"))


def _are_samples(value: Any) -> bool:
    keys = ("local", "sent", "received")
    return isinstance(value, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(key), int) for key in keys) for one in value)  # fmt: skip


# What a description must have, and what makes a value of it good.
_KEYS: dict[str, Callable[[Any], bool]] = {
    "rank": lambda value: isinstance(value, int) and 0 <= value < 1 << (64 - TASK_BITS),
    "size": lambda value: isinstance(value, int) and value >= 0,
    "file": lambda value: isinstance(value, str) and value != "" and "/" not in value,
    "process": lambda value: isinstance(value, int) and value > 0,
    "fingerprint": lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None,
    "clock_begin": _is_clock,
    "clock_end": _is_clock,
    "clock_samples": _are_samples,
    "boot_id": lambda value: isinstance(value, str),
}
# Threads' counters may differ a little; a run of 2^56 cycles lasts half a year or more.
_EARLY, _LATE = 1 << 32, 1 << 56


@dataclass
class _Process:
    description: Path
    metadata: dict[str, Any]
    container: Container | RingRecords
    ring: Ring | None = None


@dataclass
class _Stream:
    rank: int
    thread: int
    records: np.ndarray


def read_trace(folder: str | Path, progress: Progress = no_progress, here: bool = False) -> Trace:
    """Reads every rank and thread found in `folder`. `progress` counts bytes. `here`: of the ranks of other nodes only
    the descriptions."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise TraceError(f"{folder} is a file: give the folder of a trace, as `marline trace` leaves it")
    if not folder.is_dir():
        raise TraceError(f"{folder}: no such folder: give the one that `marline trace` has made")
    only = file_of_this_node() if here else None
    ranks, processes = _read_processes(folder, only)
    if not ranks:
        raise TraceError(f"{folder}: holds no trace (no *.json): give the folder that `marline trace` has made")
    if not processes:
        raise TraceError(f"{folder}: holds no records of this node ({only}): --here is for the nodes of the run")
    cut = _what_was_cut(processes)
    tables = Tables(folder)
    streams = _read_streams(processes, tables, cut, progress)
    if not streams and not any(is_recorded(metadata) for metadata in ranks.values()):
        raise TraceError(f"{folder}: MARLINE_TRACE_RANKS names no rank of this run (0 to {max(ranks)})")
    if not streams:
        raise TraceError(f"{folder}: holds no records: the program ended before it did anything that is recorded")
    rings = {process.metadata["rank"]: process.ring for process in processes if process.ring is not None}
    cut += [line for ring in rings.values() for line in ring.remarks()]
    trace = _join(streams, ranks, cut, rings)
    trace.folder, trace.skipped = str(folder), dict(tables.skipped)
    return repair(trace)


def _read_processes(folder: Path, only: str | None) -> tuple[dict[int, dict[str, Any]], list[_Process]]:
    """What the descriptions in the folder say, by rank; and the processes whose records are read, each with the file
    that has them."""
    ranks: dict[int, dict[str, Any]] = {}
    containers: dict[str, Container] = {}
    found: dict[tuple[str, int], _Process] = {}
    for path, metadata in read_descriptions(folder).items():
        if metadata.get("aggregate"):
            raise TraceError(f"{folder} holds sums (MARLINE_TRACE_AGGREGATE), and no records: only `marline report "
                             f"{folder}` reads it, as text or --json")  # fmt: skip
        rank, name, process = metadata["rank"], metadata["file"], metadata["process"]
        if (name, process) in found:
            raise TraceError(f"{path}: names the same records as {found[name, process].description.name}: damaged")
        ranks[rank] = metadata
        if only is not None and name != only:
            metadata["elsewhere"] = True
            continue
        ring = _read_ring(folder, metadata)
        if name not in containers and (ring is None or (folder / name).exists()):
            containers[name] = Container(folder / name)
        container = containers.get(name)
        found[name, process] = _Process(path, metadata, container if ring is None else RingRecords(ring, container),
                                        ring)  # fmt: skip
    return ranks, list(found.values())


def _read_ring(folder: Path, metadata: dict[str, Any]) -> Ring | None:
    if not metadata.get("ring") or not is_recorded(metadata):
        return None
    ring = read_ring(folder / metadata["ring"])
    newer_clock(metadata, ring)
    return ring


def _what_was_cut(processes: list[_Process]) -> list[str]:
    """Files that are shorter than they were. Where a disk was full, they never were as long as they should be."""
    full = {process.container.path for process in processes if process.metadata.get("stopped")}
    missing = {process.container.path: process.container.missing for process in processes}
    return [f"{path.name}: {count} bytes missing at its end" for path, count in missing.items()
            if count > 0 and path not in full]  # fmt: skip


def _read_streams(processes: list[_Process], tables: Tables, cut: list[str], progress: Progress) -> list[_Stream]:
    parts = [(process, thread, process.container.bytes(process.metadata["process"], thread)) for process in processes
             if is_recorded(process.metadata)
             for thread in process.container.threads(process.metadata["process"])]  # fmt: skip
    streams: list[_Stream] = []
    done, total = 0, sum(size for _, _, size in parts)
    for process, thread, size in parts:
        progress("read", done, total)
        stream = _read_stream(process, thread, tables, cut)
        if stream is not None:
            _check_times(process, stream)
            streams.append(stream)
        done += size
    progress("read", total, total)
    return streams


def read_descriptions(folder: Path) -> dict[Path, dict[str, Any]]:
    """All descriptions of the folder, one for each rank."""
    found: dict[Path, dict[str, Any]] = {}
    ranks: set[int] = set()
    for path in sorted(folder.glob("*.json")):
        found[path] = read_description(path)
        rank = found[path]["rank"]
        if rank in ranks:
            raise TraceError(f"{path}: a second process says that it is rank {rank}: give each run its own folder")
        ranks.add(rank)
    return found


def read_description(path: Path) -> dict[str, Any]:
    try:
        metadata = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, json.JSONDecodeError) as error:
        raise TraceError(f"{path}: not a trace's description: {error}") from error
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        found = metadata.get("format") if isinstance(metadata, dict) else None
        raise TraceError(f"{path}: format {found!r}, expected {FORMAT!r}: {SAME_VERSION}")
    missing = [key for key in _KEYS if key not in metadata]
    if missing:
        raise TraceError(f"{path}: {', '.join(missing)} missing: the file is damaged")
    # Processes that write records into one file are numbered; one that keeps sums writes none, and has no number.
    strange = [key for key, good in _KEYS.items()
               if not good(metadata[key]) and not (key == "process" and metadata.get("aggregate"))]  # fmt: skip
    if strange:
        raise TraceError(f"{path}: {strange[0]} is {metadata[strange[0]]!r}: the file is damaged")
    return metadata


def _read_stream(process: _Process, thread: int, tables: Tables, cut: list[str]) -> _Stream | None:
    metadata = process.metadata
    rank = metadata["rank"]
    records = process.container.records(metadata["process"], thread, f"rank {rank}, stream {thread}", cut)
    records = tables.keep_known(process.container.path, int(metadata["fingerprint"], 16), records)
    return _by_time(_Stream(rank, thread, records))


def _by_time(stream: _Stream) -> _Stream | None:
    records = stream.records
    if not len(records):
        return None
    # Some records are written late and carry the time at which what they tell of began.
    time = np.ascontiguousarray(records["time"])
    if np.any(time[1:] < time[:-1]):
        stream.records = records[np.argsort(time, kind="stable")]
    return stream


def _check_times(process: _Process, stream: _Stream) -> None:
    """Refuses times that no run can have: they would stretch the trace, and overflow what is computed of it."""
    first, last = int(stream.records["time"][0]), int(stream.records["time"][-1])
    runs = stream.records["payload"][(stream.records["head"].astype(np.uint16)) == EVENTS["task_run"].number, 0]
    if len(runs):
        first, last = min(first, int(runs.min())), max(last, int(runs.max()))
    begin = process.metadata["clock_begin"]["cycles"]
    if first < begin - _EARLY or last > begin + _LATE:
        wrong = first if first < begin - _EARLY else last
        raise TraceError(f"{process.container.path}: rank {stream.rank}, stream {stream.thread} has the time {wrong}, "
                         f"but the program began at {begin}: damaged")  # fmt: skip


def _join(streams: list[_Stream], ranks: dict[int, dict[str, Any]], cut: list[str], rings: dict[int, Ring]) -> Trace:
    """One set of columns. Each stream is let go as soon as it is copied."""
    to_nanoseconds = clock_maps(ranks)
    began = beginning(rings, to_nanoseconds)
    if began is not None:
        streams = _cut_at(began, streams, rings, to_nanoseconds)
    streams.sort(key=lambda stream: (stream.rank, stream.thread))
    lengths = [len(stream.records) for stream in streams]
    count = sum(lengths)
    rank = np.repeat(np.array([stream.rank for stream in streams], dtype=np.uint16), lengths)
    thread = np.repeat(np.array([stream.thread for stream in streams], dtype=np.uint16), lengths)
    trace = Trace(
        np.empty(count, np.int64), np.empty(count, np.uint16), np.empty(count, np.uint64), rank, thread,
        np.empty((count, 2), np.uint64), dict(sorted(ranks.items())), cut,
    )  # fmt: skip
    begin = 0
    streams.reverse()
    while streams:
        stream = streams.pop()
        end = begin + len(stream.records)
        _fill(trace, slice(begin, end), stream, to_nanoseconds[stream.rank], began)
        begin = end
    runs = trace.select("task_run")
    starts = trace.payload[runs, 0].view(np.int64)
    origin = min(int(trace.time.min()), int(starts.min(initial=trace.time[0])))
    trace.time -= origin
    trace.payload[runs, 0] = (starts - origin).view(np.uint64)
    if began is not None:
        trace.began = origin
        for metadata in ranks.values():
            without_the_whole_run(metadata)
        trace.began_before = created_before(trace)
    return trace


def _cut_at(began: int, streams: list[_Stream], rings: dict[int, Ring],
            to_nanoseconds: dict[int, ClockMap]) -> list[_Stream]:  # fmt: skip
    found = []
    for rank in {stream.rank for stream in streams}:
        records = {stream.thread: stream.records for stream in streams if stream.rank == rank}
        found += [_Stream(rank, thread, kept) for thread, kept
                  in cut_at(began, records, rings.get(rank), to_nanoseconds[rank]).items()]  # fmt: skip
    return found


def _fill(trace: Trace, part: slice, stream: _Stream, to_nanoseconds: ClockMap, began: int | None) -> None:
    head = stream.records["head"]
    trace.time[part] = to_nanoseconds(stream.records["time"])
    if began is not None:
        np.maximum(trace.time[part], began, out=trace.time[part])
    trace.kind[part] = head  # its low 16 bits
    trace.task[part] = (head >> np.uint64(16)) | np.uint64(stream.rank) << np.uint64(TASK_BITS)
    trace.payload[part] = stream.records["payload"]
    runs = np.flatnonzero(trace.kind[part] == EVENTS["task_run"].number)
    starts = to_nanoseconds(stream.records["payload"][runs, 0])
    trace.payload[part][runs, 0] = (starts if began is None else np.maximum(starts, began)).view(np.uint64)
