# SPDX-License-Identifier: Apache-2.0
"""Writes a Timeline as a Perfetto trace (https://ui.perfetto.dev opens it), chunk by chunk in bounded memory.

The few messages of perfetto/trace/*.proto that this needs are encoded here: the `perfetto` package would add a
dependency and a protobuf object per packet, for what are a dozen fields. The tests read the result back with that
package's schema.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..read.progress import Progress, no_progress
from .timeline import CATEGORIES, NOTES, Counter, Timeline

# Field numbers of TracePacket, TrackEvent, TrackDescriptor, ProcessDescriptor, ThreadDescriptor, DebugAnnotation
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _DESCRIPTOR = 1, 8, 10, 11, 60
_TYPE, _TRACK, _CATEGORY, _NAME, _VALUE, _FLOW, _FLOW_END, _NOTE = 9, 11, 22, 23, 30, 47, 48, 4
_UUID, _TITLE, _PROCESS, _THREAD, _PARENT, _COUNTER = 1, 2, 3, 4, 5, 8
_PID, _PROCESS_NAME, _TID, _THREAD_NAME = 1, 6, 2, 5
_NOTE_NAME, _NOTE_INT = 10, 4
_BEGIN, _END, _COUNT = 1, 2, 4

_CHUNK = 1 << 16
_FIRST_COUNTER = 1 << 28  # track numbers from here on are counters


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value & (1 << 64) - 1)


def _fixed64(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


_ON_SEQUENCE = _number(_SEQUENCE, 1)
# Times, task ids and values are varints padded to a fixed width, as Perfetto's own writers pad lengths: so a packet is
# a template with holes, and a column of numbers is encoded at once.
_TIME_BYTES, _NOTE_BYTES, _VALUE_BYTES = 8, 7, 5


def _padded(column: np.ndarray, width: int) -> bytes:
    """Each number as a varint of `width` bytes: seven bits a byte, all but the last with the continuation bit."""
    groups = column.astype(np.uint64)[:, None] >> np.arange(0, 7 * width, 7, dtype=np.uint64)
    text = (groups & np.uint64(0x7F)).astype(np.uint8)
    text[:, :-1] |= 0x80
    return text.tobytes()


def _template(body: bytes, hole: int, rest: int = 0) -> tuple[bytes, bytes]:
    """A packet with an event: what stands before its time, and what between that and the number of `hole` bytes that
    ends the body, but for `rest` bytes more."""
    event = _varint(_EVENT << 3 | 2) + _varint(len(body) + hole + rest) + body
    length = 1 + _TIME_BYTES + len(_ON_SEQUENCE) + len(event) + hole + rest
    before = _varint(_PACKET << 3 | 2) + _varint(length) + _varint(_TIMESTAMP << 3)
    return before, _ON_SEQUENCE + event


def write_perfetto(drawn: Timeline, path: str | Path, progress: Progress = no_progress) -> None:
    """Writes the whole timeline to `path`."""
    with Path(path).open("wb") as file:
        _write_tracks(file, drawn)
        for number, counter in enumerate(drawn.counters):
            _write_counter(file, counter, _uuid(counter.rank, _FIRST_COUNTER + number))
        _write_slices(file, drawn, progress)


def _uuid(rank: int, track: int) -> int:
    return (rank + 1) << 32 | track


def _write_tracks(file: BinaryIO, drawn: Timeline) -> None:
    def track(uuid: int, body: bytes) -> None:
        file.write(_bytes(_PACKET, _ON_SEQUENCE + _bytes(_DESCRIPTOR, _number(_UUID, uuid) + body)))

    for rank, name in drawn.processes.items():
        track(_uuid(rank, 0), _bytes(_PROCESS, _number(_PID, rank + 1) + _text(_PROCESS_NAME, name)))
    for rank, number, name in drawn.tracks:
        if name.startswith("thread"):
            body = _bytes(_THREAD, _number(_PID, rank + 1) + _number(_TID, number) + _text(_THREAD_NAME, name))
        else:
            body = _text(_TITLE, name) + _number(_PARENT, _uuid(rank, 0))
        track(_uuid(rank, number), body)
    for number, counter in enumerate(drawn.counters):
        body = _text(_TITLE, counter.name) + _number(_PARENT, _uuid(counter.rank, 0)) + _bytes(_COUNTER, b"")
        track(_uuid(counter.rank, _FIRST_COUNTER + number), body)


def _write_counter(file: BinaryIO, counter: Counter, uuid: int) -> None:
    body = _number(_TYPE, _COUNT) + _number(_TRACK, uuid) + _varint(_VALUE << 3)
    before, after = _template(body, _VALUE_BYTES)
    for first in range(0, len(counter.time), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        columns = [before, _padded(counter.time[chunk], _TIME_BYTES), after,
                   _padded(counter.value[chunk], _VALUE_BYTES)]
        widths = [len(before), _TIME_BYTES, len(after), _VALUE_BYTES]
        count = len(counter.time[chunk])
        table = np.empty((count, sum(widths)), dtype=np.uint8)
        at = 0
        for column, width in zip(columns, widths, strict=True):
            table[:, at : at + width] = np.frombuffer(column, dtype=np.uint8).reshape(-1, width)
            at += width
        file.write(table.tobytes())


class _Flows:
    """The arrows that a begin or end of a slice carries, looked up for a chunk of events at a time."""

    def __init__(self, drawn: Timeline) -> None:
        arrows, count = drawn.arrows, len(drawn.slices)
        # An event is a slice's row, or count + row for its end: dependences go from end to begin, messages from begin
        # to end.
        leaving = np.where(arrows.is_message, arrows.source, arrows.source + count)
        reaching = np.where(arrows.is_message, arrows.sink + count, arrows.sink)
        events = np.concatenate([leaving, reaching])
        self._order = np.argsort(events, kind="stable")
        self._events = events[self._order]
        self._arrows = len(leaving)

    def of(self, events: np.ndarray) -> dict[int, bytes]:
        """The encoding of the `events` that have arrows."""
        first = np.searchsorted(self._events, events, side="left")
        last = np.searchsorted(self._events, events, side="right")
        found = {}
        for place in np.flatnonzero(last > first).tolist():
            text = b""
            for number in self._order[first[place] : last[place]].tolist():
                field = _FLOW if number < self._arrows else _FLOW_END
                text += _fixed64(field, 1 + number % self._arrows)
            found[place] = text
        return found


class _Packets:
    """Templates of the packets that begin and end slices, made when they are first needed."""

    def __init__(self, drawn: Timeline) -> None:
        self._names = [_text(_NAME, name) for name in drawn.names]
        self._categories = [_text(_CATEGORY, name) for name in CATEGORIES]
        self._notes = [_text(_NOTE_NAME, name) + _varint(_NOTE_INT << 3) for name in NOTES]
        self._begins: dict[tuple[int, int, int, int, int], tuple[bytes, bytes]] = {}
        self._ends: dict[tuple[int, int, int], tuple[bytes, bytes]] = {}

    def begin(self, rank: int, track: int, name: int, category: int, rest: int) -> tuple[bytes, bytes]:
        key = rank, track, name, category, rest
        if key not in self._begins:
            note = self._notes[category]
            body = _number(_TYPE, _BEGIN) + _number(_TRACK, _uuid(rank, track)) + self._categories[category]
            body += self._names[name] + _varint(_NOTE << 3 | 2) + _varint(len(note) + _NOTE_BYTES) + note
            self._begins[key] = _template(body, _NOTE_BYTES, rest)
        return self._begins[key]

    def end(self, rank: int, track: int, rest: int) -> tuple[bytes, bytes]:
        key = rank, track, rest
        if key not in self._ends:
            self._ends[key] = _template(_number(_TYPE, _END) + _number(_TRACK, _uuid(rank, track)), 0, rest)
        return self._ends[key]


def _write_slices(file: BinaryIO, drawn: Timeline, progress: Progress) -> None:
    slices, flows, packets = drawn.slices, _Flows(drawn), _Packets(drawn)
    written, total = 0, 2 * len(slices)
    for times, rows, is_end in drawn.events():
        arrows = flows.of(np.where(is_end, rows + len(slices), rows))
        time, note = _padded(times, _TIME_BYTES), _padded(slices.note[rows], _NOTE_BYTES)
        columns = (is_end, *(column[rows] for column in (slices.rank, slices.track, slices.name, slices.category)))
        parts: list[bytes] = []
        for place, (ends, rank, track, name, category) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            flow = arrows.get(place, b"")
            at = time[place * _TIME_BYTES : (place + 1) * _TIME_BYTES]
            if ends:
                before, after = packets.end(rank, track, len(flow))
                parts += (before, at, after, flow)
            else:
                before, after = packets.begin(rank, track, name, category, len(flow))
                parts += (before, at, after, note[place * _NOTE_BYTES : (place + 1) * _NOTE_BYTES], flow)
        file.write(b"".join(parts))
        written += len(times)
        progress("Perfetto file", written, total)
