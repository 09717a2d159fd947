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

from .progress import Progress, no_progress
from .timeline import CATEGORIES, NOTES, Counter, Timeline

# Field numbers of TracePacket, TrackEvent, TrackDescriptor, ProcessDescriptor, ThreadDescriptor, DebugAnnotation
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _DESCRIPTOR = 1, 8, 10, 11, 60
_TYPE, _TRACK, _CATEGORY, _NAME, _VALUE, _FLOW, _FLOW_END, _NOTE = 9, 11, 22, 23, 30, 47, 48, 4
_UUID, _TITLE, _PROCESS, _THREAD, _PARENT, _COUNTER = 1, 2, 3, 4, 5, 8
_PID, _PROCESS_NAME, _TID, _THREAD_NAME = 1, 6, 2, 5
_NOTE_NAME, _NOTE_INT = 10, 4
_BEGIN, _END, _COUNT = 1, 2, 4

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


def write_perfetto(drawn: Timeline, path: str | Path, progress: Progress = no_progress) -> None:
    """Writes the whole timeline to `path`."""
    with Path(path).open("wb") as file:
        _write_tracks(file, drawn)
        for number, counter in enumerate(drawn.counters):
            _write_counter(file, counter, _uuid(counter.rank, _FIRST_COUNTER + number))
        _write_slices(file, drawn, progress)


def _uuid(rank: int, track: int) -> int:
    return (rank + 1) << 32 | track


def _packet(time: int, event: bytes) -> bytes:
    return _bytes(_PACKET, _number(_TIMESTAMP, time) + _ON_SEQUENCE + _bytes(_EVENT, event))


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
    head = _number(_TYPE, _COUNT) + _number(_TRACK, uuid)
    for time, value in zip(counter.time.tolist(), counter.value.tolist(), strict=True):
        file.write(_packet(time, head + _number(_VALUE, value)))


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
        """For those of `events` that have arrows: their encoding."""
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


def _write_slices(file: BinaryIO, drawn: Timeline, progress: Progress) -> None:
    slices, flows = drawn.slices, _Flows(drawn)
    names = [_text(_NAME, name) for name in drawn.names]
    categories = [_text(_CATEGORY, name) for name in CATEGORIES]
    notes = [_text(_NOTE_NAME, name) for name in NOTES]
    heads: dict[tuple[int, int, bool], bytes] = {}
    written, total = 0, 2 * len(slices)
    for times, rows, is_end in drawn.events():
        arrows = flows.of(np.where(is_end, rows + len(slices), rows))
        columns = (times, is_end, *(column[rows] for column in (slices.rank, slices.track, slices.name,
                                                                slices.category, slices.note)))  # fmt: skip
        packets = []
        for place, (time, ends, rank, track, name, category, note) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            body = heads.get((rank, track, ends))
            if body is None:
                body = _number(_TYPE, _END if ends else _BEGIN) + _number(_TRACK, _uuid(rank, track))
                heads[rank, track, ends] = body
            if not ends:
                body += categories[category] + names[name] + _bytes(_NOTE, notes[category] + _number(_NOTE_INT, note))
            packets.append(_packet(time, body + arrows[place] if place in arrows else body))
        file.write(b"".join(packets))
        written += len(times)
        progress("Perfetto file", written, total)
