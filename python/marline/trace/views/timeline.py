# SPDX-License-Identifier: Apache-2.0
"""A trace as tracks, slices, arrows and counters: what the Perfetto and the Chrome export both write.

Columns only, so that a trace of 10^7 records fits; names are indices. Slices of one track nest by `depth`: a task, in
it regions, in them MPI calls that hold the thread. A call of a suspended task lies in a lane of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..passes.devices import FROM_DEVICE, KERNEL, SORTS
from ..passes.picture import Picture
from ..passes.packing import lowest_lanes
from ..passes.regions import Marks, Spans, thread_names
from ..read.columns import occurrences, overlaps
from ..read.events import CALL_KINDS, MPI_CALLS
from ..read.reader import TASK_BITS
from ..thread_numbers import thread_numbers
from .host_side import HostSide

TASK, IMPLICIT, WAIT, REGION, CALL, TRANSFER, KERNEL_RUN, HOST_SIDE, NODE = range(9)
CATEGORIES = ("task", "implicit", "wait", "region", "mpi", "transfer", "kernel", "host side", "node")
# What `note` of a slice says, by category.
NOTES = ("task", "task", "task", "task", "bytes", "bytes", "construct", "bytes", "construct")
FIRST_LANE = 1 << 24  # tracks from here on are lanes; threads are numbered with 16 bits
FIRST_OF_DEVICES = 1 << 25  # and from here on they are of devices: 64 for each sort of what each device does
FIRST_OF_HOST = FIRST_OF_DEVICES - 128  # and the last ones before are the host's side of copies
FIRST_OF_RANGES = FIRST_OF_HOST - 128  # before these, lanes of regions that do not nest, and of marks
MOST_ARROWS = 200_000  # of dependences, messages and copies each; with more the viewers become unusable
WINDOWS = 1000  # of time: if there are more arrows, each window has the same number at most
MOST_NESTED = 100  # regions in regions: what is deeper is drawn at this depth

_SENDING = ("send", "start_send", "sendreceive")
_RECEIVING = ("receive", "start_receive", "probe")
_TASK_MASK = np.uint64((1 << TASK_BITS) - 1)
_CHUNK = 1 << 16


@dataclass
class Slices:
    """One bar each, [start, end) ns."""

    rank: np.ndarray
    track: np.ndarray  # thread, or FIRST_LANE + lane
    start: np.ndarray
    end: np.ndarray
    depth: np.ndarray
    name: np.ndarray  # row of Timeline.names
    category: np.ndarray
    note: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: np.ndarray) -> Slices:
        """These rows only."""
        return Slices(*(getattr(self, one.name)[rows] for one in fields(self)))


@dataclass
class Arrows:
    """From a slice to a later one. A dependence leaves the end of a task and reaches the begin of the next, or connects
    their kernels on devices in the same way; a message leaves the begin of the send and reaches the end of the receive.
    A copy, of a host or device to another, is drawn like a message: its two sides are slices of the same time."""

    source: np.ndarray  # rows of Slices
    sink: np.ndarray
    is_message: np.ndarray
    is_copy: np.ndarray  # copies are messages, too


@dataclass
class Counter:
    """A value that changes in time, of one rank."""

    rank: int
    name: str
    time: np.ndarray
    value: np.ndarray


@dataclass
class Timeline:
    """All of it. `left_out` says in words what a viewer would not bear."""

    processes: dict[int, str]
    tracks: list[tuple[int, int, str]]  # rank, track, name
    names: list[str]
    slices: Slices
    arrows: Arrows
    counters: list[Counter]
    first_call: int = 0  # row of the slice of the first MPI call; they stand in the order of calls
    left_out: list[str] = field(default_factory=list)

    def events(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Begins and ends of slices in the order of time, in chunks: times, rows, whether it is an end. At equal times
        inner slices end first and begin last, so that slices nest."""
        slices = self.slices
        count = len(slices)
        time = np.concatenate([slices.start, slices.end])
        order = np.lexsort((np.concatenate([slices.depth, -1 - slices.depth]), time))
        for first in range(0, len(order), _CHUNK):
            chosen = order[first : first + _CHUNK]
            yield time[chosen], np.where(chosen < count, chosen, chosen - count), chosen >= count


def timeline(of: Analysis) -> Timeline:
    """Everything that the trace holds and a viewer can show."""
    drawn: Picture = of["picture"]
    names = [*drawn.kind_names, "implicit task", "waiting"]
    title_of_call, titles = _titles(drawn)
    region_names, regions = _regions(of, len(names) + len(titles))
    ranges, left_out_ranges = _ranges(of, len(names) + len(titles))
    runs = _runs(drawn)
    calls = _calls(drawn, title_of_call + len(names))
    region_names = [*region_names, *of["marks"].names]
    first_of_devices = len(names) + len(titles) + len(region_names)
    of_devices = _of_devices(drawn, first_of_devices)
    host = HostSide.of(drawn)
    of_host = _of_host(drawn, host, first_of_devices + len(drawn.devices.names))
    slices = _joined([runs, calls, regions, ranges, of_devices, of_host])
    first_copy = len(runs) + len(calls) + len(regions) + len(ranges)
    first, last = _ends_of_tasks(drawn, of["kernel_tasks"], first_copy)
    arrows, left_out = _arrows(drawn, first, last, len(runs))
    source, sink = _copies(drawn, host, first_copy)
    begin = slices.start[source]
    kept, said = _thinned("copies", "that took longest", begin, begin - slices.end[source])
    arrows = _with_copies(arrows, (source[kept], sink[kept]))
    names += [*titles, *region_names, *drawn.devices.names, *host.titles]
    tracks = _tracks(drawn) + _range_tracks(ranges) + _host_tracks(drawn, host)
    return Timeline(_processes(drawn), tracks, names, slices, arrows, _counters(of), len(runs),
                    left_out + left_out_ranges + said)  # fmt: skip


def _processes(drawn: Picture) -> dict[int, str]:
    ranks: dict[int, dict[str, Any]] = drawn.trace.ranks
    return {rank: f"rank {rank}: {Path(one.get('exe', '')).name} ({one.get('host', '')}, pid {one.get('pid', '')})"
            for rank, one in ranks.items()}  # fmt: skip


def _tracks(drawn: Picture) -> list[tuple[int, int, str]]:
    tracks = []
    names, numbers = thread_names(drawn.trace), thread_numbers(drawn.trace)
    for rank in drawn.trace.ranks:
        threads = numbers.in_order(rank, np.unique(drawn.trace.thread[drawn.trace.rank == rank]).tolist())
        tracks += [(rank, thread, f"thread {numbers.one(rank, thread)} {names.get((rank, thread), '')}".rstrip())
                   for thread in threads]
        lanes = drawn.lane_of_call[drawn.calls.rank[drawn.suspended_calls] == rank]
        for lane in range(int(lanes.max()) + 1 if lanes.size else 0):
            tracks.append((rank, FIRST_LANE + lane, f"suspended in MPI {lane}"))
    devices, track = drawn.devices, _device_tracks(drawn)
    for one in np.unique(track).tolist():
        for rank in np.unique(devices.rank[track == one]).tolist():
            row = int(np.flatnonzero((track == one) & (devices.rank == rank))[0])
            sort = SORTS[devices.sort[row]]
            lane = f" {devices.lane[row]}" if devices.lane[row] else ""
            tracks.append((rank, one, f"{devices.title(rank, int(devices.device[row]))}: {sort}{lane}"))
    return tracks


def _host_tracks(drawn: Picture, host: HostSide) -> list[tuple[int, int, str]]:
    keys = np.stack([drawn.devices.rank[host.rows], np.minimum(host.lane, 127)], axis=1)
    return [(rank, FIRST_OF_HOST + lane, "host: transfers" + (f" {lane}" if lane else ""))
            for rank, lane in np.unique(keys, axis=0).tolist()]  # fmt: skip


def _of_host(drawn: Picture, host: HostSide, first_name: int) -> Slices:
    devices, rows = drawn.devices, host.rows
    end = np.maximum(devices.end[rows], devices.start[rows] + 1)
    return Slices(devices.rank[rows], FIRST_OF_HOST + np.minimum(host.lane, 127), devices.start[rows], end,
                  np.zeros(len(rows), dtype=np.int8), host.title + first_name, np.full(len(rows), HOST_SIDE),
                  devices.bytes[rows])  # fmt: skip


def _device_tracks(drawn: Picture) -> np.ndarray:
    devices = drawn.devices
    return FIRST_OF_DEVICES + (devices.device << 8) + (devices.sort << 6) + np.minimum(devices.lane, 63)


def _of_devices(drawn: Picture, first_name: int) -> Slices:
    devices = drawn.devices
    category = np.select([devices.what == KERNEL, devices.is_copy], [KERNEL_RUN, TRANSFER], NODE)
    end = np.maximum(devices.end, devices.start + 1)
    note = np.where(devices.is_copy, devices.bytes, (devices.construct & _TASK_MASK).astype(np.int64))
    return Slices(devices.rank, _device_tracks(drawn), devices.start, end, np.zeros(len(end), dtype=np.int8),
                  devices.name + first_name, category, note)  # fmt: skip


def _runs(drawn: Picture) -> Slices:
    runs = drawn.runs
    row = drawn.tasks.index(runs.task)
    explicit = (row >= 0) & ~runs.waits
    name = np.where(runs.waits, len(drawn.kind_names) + 1, len(drawn.kind_names))
    name[explicit] = drawn.kind_of_task[row[explicit]]
    category = np.where(runs.waits, WAIT, np.where(explicit, TASK, IMPLICIT))
    return Slices(runs.rank, runs.thread.astype(np.int64), runs.start, runs.end, np.zeros(len(row), dtype=np.int8),
                  name, category, (runs.task & _TASK_MASK).astype(np.int64))  # fmt: skip


def _calls(drawn: Picture, name: np.ndarray) -> Slices:
    calls = drawn.calls
    track = calls.start_thread.astype(np.int64)
    track[drawn.suspended_calls] = FIRST_LANE + drawn.lane_of_call
    end = np.maximum(calls.end, calls.start + 1)  # a bar of no length has no place among nested ones
    count = len(track)
    return Slices(calls.rank, track, calls.start, end, np.full(count, MOST_NESTED + 1, dtype=np.int8), name,
                  np.full(count, CALL), calls.bytes.astype(np.int64))  # fmt: skip


def _titles(drawn: Picture) -> tuple[np.ndarray, list[str]]:
    """`MPI_Recv from 1 tag 7`, as far as the call has a peer and a tag: the row of each call's title, and the
    titles."""
    calls = drawn.calls
    kinds = np.array([CALL_KINDS.get(number, "local") for number in range(1 << 12)])[calls.call.astype(np.int64)]
    receives, sends = np.isin(kinds, _RECEIVING), np.isin(kinds, _SENDING)
    peer = np.where(receives & calls.returned & (calls.source >= 0), calls.source, calls.peer)
    tag = np.where(receives | sends, calls.tag, -1)
    columns = np.stack([calls.call.astype(np.int64), peer, tag, sends + 2 * receives], axis=1)
    different, row = np.unique(columns, axis=0, return_inverse=True)
    titles = []
    for call, one_peer, one_tag, direction in different.tolist():
        title = MPI_CALLS.get(call, "MPI")
        title += f" {('root', 'to', 'from')[direction]} {one_peer}" if one_peer >= 0 else ""
        titles.append(title + (f" tag {one_tag}" if one_tag >= 0 else ""))
    return row.ravel(), titles


def _regions(of: Analysis, first_name: int) -> tuple[list[str], Slices]:
    """A region lies where its task runs: in as many pieces as the task has segments meanwhile."""
    regions, runs = of["regions"], of["segments"]
    nest = np.flatnonzero(regions.nests)
    task, start, end = regions.task[nest], regions.start[nest], regions.end[nest]
    pieces = overlaps(task, start, end, runs.task, runs.start, runs.end)
    region, run = nest[pieces.a], pieces.b
    count = len(region)
    return regions.names, Slices(
        runs.rank[run], runs.thread[run].astype(np.int64), pieces.start, pieces.end,
        _nesting(task, start, end)[pieces.a],
        regions.name[region] + first_name, np.full(count, REGION), (regions.task[region] & _TASK_MASK).astype(np.int64),
    )  # fmt: skip


def _nesting(task: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How deep each region stands in its task: 1, 2, ... At equal times inner ones end first, then outer ones begin."""
    count = len(start)
    is_begin = np.arange(2 * count) < count
    order = np.lexsort((-np.concatenate([end, start]), is_begin, np.concatenate([start, end]),
                        np.concatenate([task, task])))  # fmt: skip
    depth = np.empty(2 * count, dtype=np.int64)
    depth[order] = np.cumsum(np.where(is_begin[order], 1, -1))
    return np.clip(depth[:count], 1, MOST_NESTED).astype(np.int8)


def _ranges(of: Analysis, first_name: int) -> tuple[Slices, list[str]]:
    """What may overlap others of its thread: regions that do not nest, and marks, 1 ns long. And in words
    what is left out."""
    regions: Spans = of["regions"]
    marks: Marks = of["marks"]
    rows = np.flatnonzero(~regions.nests)
    rank, task = np.r_[regions.rank[rows], marks.rank], np.r_[regions.task[rows], marks.task]
    start, end = np.r_[regions.start[rows], marks.time], np.r_[regions.end[rows], marks.time + 1]
    end = np.maximum(end, start + 1)
    name = np.r_[regions.name[rows], marks.name + len(regions.names)] + first_name
    lane = lowest_lanes(rank, start, end)
    most = FIRST_OF_HOST - FIRST_OF_RANGES
    kept = np.flatnonzero(lane < most)
    left_out = [f"{len(lane) - len(kept)} of {len(lane)} regions that overlap others: at most {most} lanes a rank"]
    return Slices(rank, FIRST_OF_RANGES + lane, start, end, np.zeros(len(lane), dtype=np.int8), name,
                  np.full(len(lane), REGION), (task & _TASK_MASK).astype(np.int64),
                  ).take(kept), left_out if len(kept) < len(lane) else []  # fmt: skip


def _range_tracks(ranges: Slices) -> list[tuple[int, int, str]]:
    keys = np.stack([ranges.rank, ranges.track - FIRST_OF_RANGES], axis=1)
    return [(rank, FIRST_OF_RANGES + lane, "ranges" + (f" {lane}" if lane else ""))
            for rank, lane in np.unique(keys, axis=0).tolist()]  # fmt: skip


def _joined(parts: list[Slices]) -> Slices:
    return Slices(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Slices)))


def _ends_of_tasks(drawn: Picture, kernel_tasks: np.ndarray, first_of_devices: int) -> tuple[np.ndarray, np.ndarray]:
    """The first slice of each task and its last: runs, but of a task with kernels these; -1: there is none."""
    first, last = np.full(len(drawn.tasks.id), -1), np.full(len(drawn.tasks.id), -1)
    for task, start, offset in ((drawn.tasks.index(drawn.runs.task), drawn.runs.start, 0),
                                (kernel_tasks, drawn.devices.start, first_of_devices)):  # fmt: skip
        order = np.argsort(start, kind="stable")
        row = task[order]
        last[row[row >= 0]] = order[row >= 0] + offset
        first[row[row >= 0][::-1]] = order[row >= 0][::-1] + offset
    return first, last


def _arrows(drawn: Picture, first: np.ndarray, last: np.ndarray, first_call: int) -> tuple[Arrows, list[str]]:
    """Dependences between the last slice of a task and the first of its successor, and messages."""
    edges, messages, tasks, calls = drawn.edges, drawn.messages, drawn.tasks, drawn.calls
    source, sink = last[edges.source], first[edges.sink]
    ran = np.flatnonzero((source >= 0) & (sink >= 0))
    end, begin = tasks.end[edges.source[ran]], tasks.start[edges.sink[ran]]
    kept, left_out = _thinned("dependences", "that their tasks waited for last", end, begin - end)
    source, sink = source[ran[kept]], sink[ran[kept]]
    start = calls.start[messages.send]
    kept, said = _thinned("messages", "that took longest", start, start - calls.end[messages.receive])
    send, receive = messages.send[kept], messages.receive[kept]
    left_out += said
    is_message = np.r_[np.zeros(len(source), dtype=bool), np.ones(len(send), dtype=bool)]
    return Arrows(np.r_[source, send + first_call], np.r_[sink, receive + first_call], is_message,
                  np.zeros(len(is_message), dtype=bool)), left_out  # fmt: skip


def _thinned(what: str, which: str, time: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Which arrows are drawn, those of low `rank` in each window of `time`; and in words what is left out."""
    if len(time) <= MOST_ARROWS:
        return np.arange(len(time)), []
    begin, length = int(time.min()), int(time.max()) + 1 - int(time.min())
    window = (time - begin) * WINDOWS // length
    order = np.lexsort((rank, window))
    most = MOST_ARROWS // WINDOWS
    kept = np.sort(order[occurrences(window[order]) < most])
    drawn = f"arrows for {len(kept)} of {len(time)} {what}"
    return kept, [f"{drawn}: in each of {WINDOWS} windows of time the {most} {which}"]


def _copies(drawn: Picture, host: HostSide, first_copy: int) -> tuple[np.ndarray, np.ndarray]:
    """From the side that a copy leaves to the one that it reaches: rows of slices. One arrow for each copy."""
    devices = drawn.devices
    host_row = first_copy + len(devices.start) + np.arange(len(host.rows))
    leaves = devices.what[host.rows] == FROM_DEVICE
    between = np.flatnonzero((devices.what == FROM_DEVICE) & (devices.twin >= 0))
    source = np.r_[np.where(leaves, first_copy + host.rows, host_row), first_copy + between]
    sink = np.r_[np.where(leaves, host_row, first_copy + host.rows), first_copy + devices.twin[between]]
    return source, sink


def _with_copies(arrows: Arrows, copies: tuple[np.ndarray, np.ndarray]) -> Arrows:
    source, sink = copies
    true = np.ones(len(source), dtype=bool)
    return Arrows(np.r_[arrows.source, source], np.r_[arrows.sink, sink], np.r_[arrows.is_message, true],
                  np.r_[arrows.is_copy, true])  # fmt: skip


def _counters(of: Analysis) -> list[Counter]:
    """Tasks that are ready and wait for a thread, and tasks that are suspended, in each rank."""
    tasks, suspensions, readiness = of["tasks"], of["suspensions"], of["readiness"]
    waited = np.flatnonzero(tasks.deferred & (tasks.start > readiness.time))
    ready = (tasks.rank[waited], readiness.time[waited], tasks.start[waited])
    suspended = (suspensions.rank, suspensions.start, suspensions.end)
    counters = []
    for name, (rank, start, end) in (("ready tasks", ready), ("suspended tasks", suspended)):
        for one in np.unique(rank).tolist():
            counters.append(_level(one, name, start[rank == one], end[rank == one]))
    return counters


def _level(rank: int, name: str, start: np.ndarray, end: np.ndarray) -> Counter:
    """How many intervals are open, wherever that changes."""
    time, where = np.unique(np.concatenate([start, end]), return_inverse=True)
    opened, closed = (np.bincount(one, minlength=len(time)) for one in (where[: len(start)], where[len(start):]))
    return Counter(rank, name, time, np.cumsum(opened - closed))
