# SPDX-License-Identifier: Apache-2.0
"""Reads a trace folder into columns.

`read_trace(folder)` gives a Trace: the records of all threads of all ranks in one set of arrays, sorted by rank,
thread and time, times in nanoseconds on rank 0's clock from the first record on. What cannot be read raises
TraceError with one line that says which file, what is wrong and what to do.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .causality import repair
from .clock import ClockError, ClockMap, clock_maps
from .events import EVENTS
from .progress import Progress, no_progress
from .records import TASK_BITS, Trace, TraceError
from .tables import SAME_VERSION, Tables

MAGIC = b"MARLTRC2"
HEADER = struct.Struct("<8sQIIIIQQQ8x")
RECORD = np.dtype([("time", "<u8"), ("head", "<u8"), ("payload", "<u8", (2,))])
FORMAT = "marline-trace 2"


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
    "files": lambda value: isinstance(value, str) and value != "" and "/" not in value,
    "clock_begin": _is_clock,
    "clock_end": _is_clock,
    "clock_samples": _are_samples,
    "boot_id": lambda value: isinstance(value, str),
}
# Threads' counters may differ a little; a run of 2^56 cycles lasts half a year or more.
_EARLY, _LATE = 1 << 32, 1 << 56


@dataclass
class _File:
    rank: int
    path: Path
    bytes: int
    begin: int  # cycles at the start of its process


@dataclass
class _Stream:
    rank: int
    thread: int
    records: np.ndarray


def read_trace(folder: str | Path, progress: Progress = no_progress) -> Trace:
    """Reads every rank and thread found in `folder`. `progress` counts bytes."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise TraceError(f"{folder} is a file: give the folder of a trace, as `marline trace` leaves it")
    if not folder.is_dir():
        raise TraceError(f"{folder}: no such folder: give the one that `marline trace` has made")
    ranks: dict[int, dict[str, Any]] = {}
    files: list[_File] = []
    for path in sorted(folder.glob("*.json")):
        metadata = _read_metadata(path)
        rank = metadata["rank"]
        if rank in ranks:
            raise TraceError(f"{path}: a second process says that it is rank {rank}: give each run its own folder")
        ranks[rank] = metadata
        begin = metadata["clock_begin"]["cycles"]
        files += [_File(rank, file, file.stat().st_size, begin) for file in sorted(folder.glob(metadata["files"]))]
    if not ranks:
        raise TraceError(f"{folder}: holds no trace (no *.json): give the folder that `marline trace` has made")
    cut: list[str] = []
    tables = Tables(folder)
    streams = _read_streams(files, tables, cut, progress)
    if not streams:
        raise TraceError(f"{folder}: holds no records: the program ended before it did anything that is recorded")
    trace = _join(streams, ranks, cut)
    trace.skipped = dict(tables.skipped)
    return repair(trace)


def _read_streams(files: list[_File], tables: Tables, cut: list[str], progress: Progress) -> list[_Stream]:
    streams: dict[tuple[int, int], _Stream] = {}
    done, total = 0, sum(file.bytes for file in files)
    for file in files:
        progress("read", done, total)
        stream = _read_stream(file.path, file.rank, tables, cut)
        if stream is not None:
            _check_times(file, stream)
            if (stream.rank, stream.thread) in streams:
                raise TraceError(f"{file.path}: a second file of thread {stream.thread}: remove one of them")
            streams[stream.rank, stream.thread] = stream
        done += file.bytes
    progress("read", total, total)
    return list(streams.values())


def _read_metadata(path: Path) -> dict[str, Any]:
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
    strange = [key for key, good in _KEYS.items() if not good(metadata[key])]
    if strange:
        raise TraceError(f"{path}: {strange[0]} is {metadata[strange[0]]!r}: the file is damaged")
    return metadata


def _read_stream(path: Path, rank: int, tables: Tables, cut: list[str]) -> _Stream | None:
    size = path.stat().st_size
    if size == 0:
        cut.append(f"{path.name}: empty: the program was killed while a thread began to record")
        return None
    if size < HEADER.size:
        raise TraceError(f"{path}: {size} bytes, less than a header: truncated; remove it to read the others")
    with path.open("rb") as file:
        magic, hash_of_table, record_bytes, thread, _, _, window, flushed, copies_at = HEADER.unpack(
            file.read(HEADER.size)
        )
    if magic == bytes(len(MAGIC)):
        cut.append(f"{path.name}: never begun: the program was killed while a thread began to record")
        return None
    if magic != MAGIC:
        raise TraceError(f"{path}: starts with {magic!r} instead of {MAGIC!r}: not a trace, or damaged")
    if record_bytes != RECORD.itemsize:
        raise TraceError(f"{path}: records of {record_bytes} bytes instead of {RECORD.itemsize}: the header is damaged")
    if not 0 < thread < 1 << 16:
        raise TraceError(f"{path}: of thread {thread}: the header is damaged")
    body = size - HEADER.size
    if body % RECORD.itemsize:
        cut.append(f"{path.name}: ends inside a record: {body % RECORD.itemsize} bytes dropped")
    stored = np.fromfile(path, dtype=RECORD, count=body // RECORD.itemsize, offset=HEADER.size)
    records = tables.keep_known(path, hash_of_table, _in_order(path, stored, window, flushed, copies_at, cut))
    return _by_time(_Stream(rank, thread, records))


def _in_order(
    path: Path, stored: np.ndarray, window: int, flushed: int, copies_at: int, cut: list[str]
) -> np.ndarray:
    """The records in the order of their writing: the full windows that were appended, then the young part of the window
    itself (the layout and why it is safe: trace/base/record.hpp). `copies_at`: byte in the file, 0 for after the
    window."""
    if copies_at % RECORD.itemsize or 0 < copies_at < HEADER.size:
        raise TraceError(f"{path}: copies at byte {copies_at}: the header is damaged")
    first = (copies_at - HEADER.size) // RECORD.itemsize if copies_at else window
    live, copies = stored[:window], stored[first : first + window * flushed]
    if len(copies) < window * flushed:
        cut.append(f"{path.name}: {window * flushed - len(copies)} records missing at its end")
        return copies
    before = copies[-window:]["time"] if flushed else np.zeros(len(live), dtype=np.uint64)
    old = np.flatnonzero((live["time"] == 0) | (live["time"] == before))
    used = int(old[0]) if old.size else len(live)
    if np.any((live["time"] != 0) & (live["time"] != before) & (np.arange(len(live)) > used)):
        raise TraceError(f"{path}: record {used} is empty but others follow: damaged; remove it to read the others")
    return np.concatenate([copies, live[:used]])


def _by_time(stream: _Stream) -> _Stream | None:
    records = stream.records
    if not len(records):
        return None
    # Some records are written late and carry the time at which what they tell of began.
    time = np.ascontiguousarray(records["time"])
    if np.any(time[1:] < time[:-1]):
        stream.records = records[np.argsort(time, kind="stable")]
    return stream


def _check_times(file: _File, stream: _Stream) -> None:
    """Refuses times that no run can have: they would stretch the trace, and overflow what is computed of it."""
    first, last = int(stream.records["time"][0]), int(stream.records["time"][-1])
    runs = stream.records["payload"][(stream.records["head"].astype(np.uint16)) == EVENTS["task_run"].number, 0]
    if len(runs):
        first, last = min(first, int(runs.min())), max(last, int(runs.max()))
    if first < file.begin - _EARLY or last > file.begin + _LATE:
        wrong = first if first < file.begin - _EARLY else last
        raise TraceError(f"{file.path}: holds the time {wrong}, but the program began at {file.begin}: damaged")


def _join(streams: list[_Stream], ranks: dict[int, dict[str, Any]], cut: list[str]) -> Trace:
    """One set of columns. Each stream is let go as soon as it is copied."""
    try:
        to_nanoseconds = clock_maps(ranks)
    except ClockError as error:
        raise TraceError(str(error)) from error
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
        _fill(trace, slice(begin, end), stream, to_nanoseconds[stream.rank])
        begin = end
    runs = trace.select("task_run")
    starts = trace.payload[runs, 0].view(np.int64)
    origin = min(int(trace.time.min()), int(starts.min(initial=trace.time[0])))
    trace.time -= origin
    trace.payload[runs, 0] = (starts - origin).view(np.uint64)
    return trace


def _fill(trace: Trace, part: slice, stream: _Stream, to_nanoseconds: ClockMap) -> None:
    head = stream.records["head"]
    trace.time[part] = to_nanoseconds(stream.records["time"])
    trace.kind[part] = head  # its low 16 bits
    trace.task[part] = (head >> np.uint64(16)) | np.uint64(stream.rank) << np.uint64(TASK_BITS)
    trace.payload[part] = stream.records["payload"]
    runs = np.flatnonzero(trace.kind[part] == EVENTS["task_run"].number)
    trace.payload[part][runs, 0] = to_nanoseconds(stream.records["payload"][runs, 0]).view(np.uint64)
