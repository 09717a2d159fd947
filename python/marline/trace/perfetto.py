# SPDX-License-Identifier: Apache-2.0
"""Writes a Picture as a Perfetto trace (https://ui.perfetto.dev opens it).

The few messages of perfetto/trace/*.proto that this needs are encoded here: the `perfetto` package would add a
dependency and a protobuf object per packet, for what are a dozen fields. The tests read the result back with that
package's schema.

Per rank: a track per thread with task slices and, inside them, MPI calls that did not suspend; and lanes with the calls
whose task is suspended. Arrows go from the send to the end of the receive, and from the end of a task to the start of
its successors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .picture import Picture

# Field numbers of TracePacket, TrackEvent, TrackDescriptor, ProcessDescriptor, ThreadDescriptor, DebugAnnotation
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _DESCRIPTOR = 1, 8, 10, 11, 60
_TYPE, _TRACK, _CATEGORY, _NAME, _FLOW, _FLOW_END, _NOTE = 9, 11, 22, 23, 47, 48, 4
_UUID, _TITLE, _PROCESS, _THREAD, _PARENT = 1, 2, 3, 4, 5
_PID, _PROCESS_NAME, _TID, _THREAD_NAME = 1, 6, 2, 5
_NOTE_NAME, _NOTE_INT, _NOTE_TEXT = 10, 4, 6
_BEGIN, _END = 1, 2

_MOST_ARROWS = 200_000  # beyond this the viewer becomes unusable


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


class _Writer:
    """Packets, as bytes, with the time and order by which they are written."""

    def __init__(self) -> None:
        self._head: list[bytes] = []
        self._events: list[tuple[int, int, bytes]] = []

    def track(self, uuid: int, body: bytes) -> None:
        self._head.append(_bytes(_PACKET, _number(_SEQUENCE, 1) + _bytes(_DESCRIPTOR, _number(_UUID, uuid) + body)))

    def slice(self, track: int, depth: int, start: int, end: int, begin: bytes, finish: bytes) -> None:
        """At equal times inner slices end first and begin last, so that slices nest."""
        where = _number(_TRACK, track)
        self._event(start, depth, _number(_TYPE, _BEGIN) + where + begin)
        self._event(end, -1 - depth, _number(_TYPE, _END) + where + finish)

    def _event(self, time: int, order: int, body: bytes) -> None:
        packet = _number(_TIMESTAMP, time) + _number(_SEQUENCE, 1) + _bytes(_EVENT, body)
        self._events.append((time, order, _bytes(_PACKET, packet)))

    def write(self, path: Path) -> None:
        self._events.sort(key=lambda event: event[:2])
        with path.open("wb") as file:
            file.writelines(self._head)
            file.writelines(event[2] for event in self._events)


def _process_track(rank: int) -> int:
    return (rank + 1) << 32


def _thread_track(rank: int, thread: int) -> int:
    return _process_track(rank) | thread


def _lane_track(rank: int, lane: int) -> int:
    return _process_track(rank) | 1 << 24 | lane


def write_perfetto(picture: Picture, path: str | Path) -> None:
    """Writes the whole picture to `path`."""
    writer = _Writer()
    _write_tracks(writer, picture)
    outgoing, incoming = _dependence_arrows(picture)
    _write_tasks(writer, picture, outgoing, incoming)
    _write_calls(writer, picture)
    writer.write(Path(path))


def _write_tracks(writer: _Writer, picture: Picture) -> None:
    trace = picture.trace
    for rank, metadata in trace.ranks.items():
        name = f"rank {rank} ({metadata.get('host', '')}, pid {metadata.get('pid', '')})"
        process = _number(_PID, rank + 1) + _text(_PROCESS_NAME, name)
        writer.track(_process_track(rank), _bytes(_PROCESS, process))
        for thread in np.unique(trace.thread[trace.rank == rank]).tolist():
            body = _number(_PID, rank + 1) + _number(_TID, thread) + _text(_THREAD_NAME, f"thread {thread}")
            writer.track(_thread_track(rank, thread), _bytes(_THREAD, body))
        lanes = picture.lane_of_call[picture.calls.rank[picture.suspended_calls] == rank]
        for lane in range(int(lanes.max()) + 1 if lanes.size else 0):
            body = _text(_TITLE, f"suspended in MPI {lane}") + _number(_PARENT, _process_track(rank))
            writer.track(_lane_track(rank, lane), body)


def _dependence_arrows(picture: Picture) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Row of a segment -> the arrows that leave its end, and those that reach its begin."""
    runs, tasks, edges = picture.runs, picture.tasks, picture.edges
    outgoing: dict[int, bytes] = {}
    incoming: dict[int, bytes] = {}
    if len(edges.source) > _MOST_ARROWS:
        return outgoing, incoming
    order = np.argsort(runs.start, kind="stable")
    row = tasks.index(runs.task[order])
    last, first = np.full(len(tasks.id), -1), np.full(len(tasks.id), -1)
    last[row[row >= 0]] = order[row >= 0]
    first[row[row >= 0][::-1]] = order[row >= 0][::-1]
    for number, (source, sink) in enumerate(zip(last[edges.source].tolist(), first[edges.sink].tolist())):
        if source >= 0 and sink >= 0:
            flow = 1 << 62 | number
            outgoing[source] = outgoing.get(source, b"") + _fixed64(_FLOW, flow)
            incoming[sink] = incoming.get(sink, b"") + _fixed64(_FLOW_END, flow)
    return outgoing, incoming


def _write_tasks(writer: _Writer, picture: Picture, outgoing: dict[int, bytes], incoming: dict[int, bytes]) -> None:
    runs = picture.runs
    row = picture.tasks.index(runs.task)
    names = [_text(_CATEGORY, "task") + _text(_NAME, name) for name in picture.kind_names]
    implicit = _text(_CATEGORY, "implicit") + _text(_NAME, "implicit task")
    waiting = _text(_CATEGORY, "wait") + _text(_NAME, "waiting")
    kind = np.where(row >= 0, picture.kind_of_task[row] if len(picture.kind_of_task) else -1, -1).tolist()
    columns = (runs.rank, runs.thread, runs.start, runs.end, runs.waits, runs.task)
    for number, (rank, thread, start, end, waits, task) in enumerate(zip(*(column.tolist() for column in columns))):
        begin = waiting if waits else names[kind[number]] if kind[number] >= 0 else implicit
        begin += _note("task", task & (1 << 48) - 1) + incoming.get(number, b"")
        writer.slice(_thread_track(rank, thread), 0, start, end, begin, outgoing.get(number, b""))


def _note(name: str, value: int) -> bytes:
    return _bytes(_NOTE, _text(_NOTE_NAME, name) + _number(_NOTE_INT, value))


def _write_calls(writer: _Writer, picture: Picture) -> None:
    calls, messages = picture.calls, picture.messages
    sent = dict(zip(messages.send.tolist(), range(len(messages.send))))
    received: dict[int, bytes] = {}
    for number, call in enumerate(messages.receive.tolist()):  # a Waitall may end several
        received[call] = received.get(call, b"") + _fixed64(_FLOW_END, 1 << 63 | number)
    lane = dict(zip(picture.suspended_calls.tolist(), picture.lane_of_call.tolist()))
    owner = picture.tasks.index(calls.task)
    for call in range(len(calls.call)):
        begin = _text(_CATEGORY, "mpi") + _text(_NAME, picture.call_title(call))
        begin += _note("bytes", int(calls.bytes[call]))
        if call in sent:
            begin += _fixed64(_FLOW, 1 << 63 | sent[call])
        start, end, rank = int(calls.start[call]), int(calls.end[call]), int(calls.rank[call])
        track = _thread_track(rank, int(calls.start_thread[call]))
        if call in lane:
            track = _lane_track(rank, lane[call])
            if owner[call] >= 0:
                kind = picture.kind_names[picture.kind_of_task[owner[call]]]
                begin += _bytes(_NOTE, _text(_NOTE_NAME, "in") + _text(_NOTE_TEXT, kind))
        writer.slice(track, 1, start, end, begin, received.get(call, b""))
