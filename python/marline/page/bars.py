# SPDX-License-Identifier: Apache-2.0
"""The lanes of the timeline, and their bars in three layers: what a thread runs, or where it waits; MPI calls that hold
it; and, above it, loops and the regions that the program named. Below the threads of a rank come lanes of suspended
tasks and of devices. Bars of one lane and layer never overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from marline.trace import outlined, symbols
from marline.trace.analysis import Analysis
from marline.trace.model import lane_number, waits_for_lock
from marline.trace.passes.devices import FROM_DEVICE, KERNEL, SORTS, TO_DEVICE, UPKEEP, WAIT
from marline.trace.passes.packing import lowest_lanes
from marline.trace.passes.regions import Marks, Spans, thread_names
from marline.trace.read.columns import Columns, TimeLines, find, group_starts
from marline.trace.read.events import CALL_KINDS, MPI_CALLS
from marline.trace.statistics import group_by
from marline.trace.thread_numbers import thread_numbers

from .styles import Styles

MOST_SUSPENDED_LANES = 6  # per rank
MOST_PACKED = 100_000  # suspensions, and regions: each is put into a lane one after the other
MOST_NESTED = 3  # regions in regions
LEAST_SHARE = 0.01  # of the makespan, for a loop or region with a colour of its own
_BARRIER, _TASKWAITS = 1, (5, 6, 7)  # ompt_sync_region_t: all others are barriers, too
_SEND = ("send", "start_send", "sendreceive")
_RECEIVE = ("receive", "start_receive", "probe", "wait", "test", "start", "persistent")
_COLLECTIVE = ("collective", "start_collective")


@dataclass
class Bars(Columns):
    """By lane and start. `task`: row of tasks, or -1; `name`: row of Picture.names, or -1; `note`: bytes."""

    lane: np.ndarray
    start: np.ndarray
    end: np.ndarray
    style: np.ndarray
    task: np.ndarray
    name: np.ndarray
    note: np.ndarray


@dataclass
class Lane:
    rank: int
    kind: str  # thread, suspended or device
    text: str
    has_tasks: bool = True  # else MPI calls stand for most of what it does


class Names:
    """Texts, each once."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    def row(self, text: str) -> int:
        return self._rows.setdefault(text, len(self._rows))

    @property
    def texts(self) -> list[str]:
        return list(self._rows)


class Lanes:
    """Threads by number of rank and thread; further lanes by a key of their own."""

    def __init__(self) -> None:
        self.all: list[Lane] = []
        self.of: dict[Any, int] = {}
        self._threads = np.zeros(0, dtype=np.int64)
        self._rows = np.zeros(0, dtype=np.int64)

    def add(self, key: Any, lane: Lane) -> None:
        self.of[key] = len(self.all)
        self.all.append(lane)

    def finish(self) -> None:
        threads = sorted(key for key in self.of if isinstance(key, int))
        self._threads = np.array(threads, dtype=np.int64)
        self._rows = np.array([self.of[key] for key in threads], dtype=np.int64)

    def of_threads(self, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """-1: a thread without a lane."""
        at = find(self._threads, lane_number(rank, thread))
        return np.where(at >= 0, self._rows[np.maximum(at, 0)] if len(self._rows) else -1, -1)


@dataclass
class Timeline:
    lanes: Lanes
    layers: dict[str, Bars]
    names: Names
    left_out: list[str]

    def name_texts(self) -> list[str]:
        """Of the names that bars have, which are numbered anew: the bars that a page leaves out need none."""
        used = np.unique(np.concatenate([bars.name for bars in self.layers.values()]))
        used, texts = used[used >= 0], self.names.texts
        for bars in self.layers.values():
            bars.name = np.where(bars.name >= 0, np.searchsorted(used, bars.name), -1)
        return [texts[row] for row in used.tolist()]


def make_timeline(of: Analysis, styles: Styles) -> Timeline:
    names, left_out = Names(), []
    suspended = _Suspended(of, styles, names, left_out)
    lanes = _find_lanes(of, suspended)
    bars = [_thread_bars(of, styles, lanes), suspended.bars(lanes), _device_bars(of, styles, names, lanes)]
    layers = {"main": _in_order(bars[0].joined(*bars[1:])), "calls": _in_order(_held_calls(of, styles, names, lanes)),
              "regions": _in_order(_region_bars(of, styles, names, lanes, left_out))}  # fmt: skip
    return Timeline(lanes, layers, names, left_out)


def _find_lanes(of: Analysis, suspended: _Suspended) -> Lanes:
    runs, calls, devices, regions = of["segments"], of["calls"], of["devices"], of["regions"]
    ran = group_starts(runs.rank, runs.thread)
    threads = np.unique(np.r_[lane_number(runs.rank[ran], runs.thread[ran]),
                              lane_number(calls.rank, calls.start_thread),
                              lane_number(regions.rank, regions.thread)])  # fmt: skip
    names, numbers = thread_names(of.trace), thread_numbers(of.trace)
    many, without = len(of.trace.ranks) > 1, _ranks_without_tasks(of)
    lanes = Lanes()
    for rank in sorted(of.trace.ranks):
        where = f"rank {rank} " if many else ""
        for thread in numbers.in_order(rank, (threads[threads >> 16 == rank] & 0xFFFF).tolist()):
            name = names.get((rank, thread))
            text = f"{where}thread {numbers.one(rank, thread)}" + (f" {name}" if name else "")
            lanes.add(rank << 16 | thread, Lane(rank, "thread", text, rank not in without))
        for lane in range(suspended.lanes_of(rank)):
            lanes.add(("suspended", rank, lane), Lane(rank, "suspended", f"{where}suspended"))
        mine = devices.rank == rank
        keys = zip(devices.device[mine].tolist(), devices.sort[mine].tolist(), devices.lane[mine].tolist())
        for device, sort, lane in sorted(set(keys)):
            lanes.add(("device", rank, device, sort, lane),
                      Lane(rank, "device", f"{where}device {device} {SORTS[sort]}"))
    lanes.finish()
    return lanes


def _in_order(bars: Bars) -> Bars:
    """Where clocks make two bars of a lane overlap, the first one ends earlier."""
    bars = _where(bars, (bars.lane >= 0) & (bars.end > bars.start))
    same = bars.lane[1:] == bars.lane[:-1]
    if np.any(bars.lane[1:] < bars.lane[:-1]) or np.any(same & (bars.start[1:] < bars.start[:-1])):
        bars = bars.take(np.lexsort((bars.start, bars.lane)))
        same = bars.lane[1:] == bars.lane[:-1]
    bars.end[:-1] = np.where(same, np.minimum(bars.end[:-1], bars.start[1:]), bars.end[:-1])
    return _where(bars, bars.end > bars.start)


def _where(bars: Bars, mask: np.ndarray) -> Bars:
    return bars if mask.all() else bars.take(np.flatnonzero(mask))


def _bars(lane: np.ndarray, start: np.ndarray, end: np.ndarray, style: np.ndarray | int, task: np.ndarray | int = -1,
          name: np.ndarray | int = -1, note: np.ndarray | int = 0) -> Bars:  # fmt: skip
    columns = (np.broadcast_to(np.asarray(one, dtype=np.int64), len(lane)) for one in (style, task, name, note))
    return Bars(lane.astype(np.int64), start.astype(np.int64), end.astype(np.int64), *(one.copy() for one in columns))


def _thread_bars(of: Analysis, styles: Styles, lanes: Lanes) -> Bars:
    runs, owners, kinds = of["segments"], of["owners"], of["kinds"]
    without = _ranks_without_tasks(of)
    style = np.where(np.isin(runs.rank, without), styles.number("code"), styles.number("implicit"))
    known = owners >= 0
    style[known] = styles.of_kind[kinds.of_task[owners[known]]]
    waits = np.flatnonzero(runs.waits)
    style[waits] = _wait_styles(of, styles, runs.task[waits], runs.start[waits])
    bars = _bars(lanes.of_threads(runs.rank, runs.thread), runs.start, runs.end, style, owners)
    return bars.joined(_code_bars(of, styles, lanes))


def _ranks_without_tasks(of: Analysis) -> list[int]:
    found = of["breakdown"]
    return [rank for rank, model in zip(found.ranks.tolist(), found.models) if model == "code"]


def _code_bars(of: Analysis, styles: Styles, lanes: Lanes) -> Bars:
    """Threads that OpenMP does not know ran the program's code from the first MPI call to the last."""
    calls = of["calls"]
    lane = lanes.of_threads(calls.rank, calls.start_thread)
    runs = of["segments"]
    ran = group_starts(runs.rank, runs.thread)
    known = np.isin(lane, lanes.of_threads(runs.rank[ran], runs.thread[ran]))
    groups = group_by(lane[~known])
    return _bars(groups.key(lane[~known]), groups.min(calls.start[~known]), groups.max(calls.end[~known]),
                 styles.number("code"))  # fmt: skip


def _wait_styles(of: Analysis, styles: Styles, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """By the last record before that says what the task waits for."""
    trace = of.trace
    waits = trace.select("wait_begin")
    at = TimeLines(trace.task[waits], trace.time[waits]).latest(task, time) if len(waits) else np.full(len(task), -1)
    kind = np.r_[trace.field("wait_begin", "kind", waits).astype(np.int64), _BARRIER][at]
    style = np.where(np.isin(kind, _TASKWAITS), styles.number("taskwait"), styles.number("barrier"))
    return np.where(waits_for_lock(trace, task, time), styles.number("lock"), style)


def call_styles(styles: Styles, calls: np.ndarray) -> np.ndarray:
    """By number of MPI function."""
    number = np.full(max(MPI_CALLS, default=0) + 2, styles.number("mpi"))
    for call, kind in CALL_KINDS.items():
        for key, some in (("send", _SEND), ("receive", _RECEIVE), ("collective", _COLLECTIVE)):
            if kind in some:
                number[call] = styles.number(key)
    return number[np.minimum(calls, len(number) - 1)]


def _call_names(names: Names, calls: np.ndarray) -> np.ndarray:
    different, inverse = np.unique(calls, return_inverse=True)
    rows = np.array([names.row(MPI_CALLS.get(one, f"MPI call {one}")) for one in different.tolist()], dtype=np.int64)
    return rows[inverse] if len(rows) else np.zeros(0, dtype=np.int64)


class _Suspended:
    """Tasks that had begun and are on no thread, in lanes of their rank."""

    def __init__(self, of: Analysis, styles: Styles, names: Names, left_out: list[str]) -> None:
        found, calls = of["suspensions"], of["calls"]
        rows = np.argsort(found.start - found.end, kind="stable")[:MOST_PACKED]
        lane = lowest_lanes(found.rank[rows], found.start[rows], found.end[rows])
        rows, self._lane = rows[lane < MOST_SUSPENDED_LANES], lane[lane < MOST_SUSPENDED_LANES]
        if len(rows) < len(found.start):
            left_out.append(f"{len(found.start) - len(rows):,} of {len(found.start):,} suspensions of tasks: at most "
                            f"{MOST_SUSPENDED_LANES} lanes a rank are shown")  # fmt: skip
        call = found.call[rows]
        number = calls.call[np.maximum(call, 0)] if len(calls.call) else np.zeros(len(rows), dtype=np.int64)
        style = np.where(call >= 0, call_styles(styles, number), styles.number("suspended"))
        name = np.where(call >= 0, _call_names(names, number), -1)
        task = of["tasks"].index(found.task[rows])
        self._rank = found.rank[rows].astype(np.int64)
        self._bars = _bars(self._lane, found.start[rows], found.end[rows], style, task, name)

    def lanes_of(self, rank: int) -> int:
        return int(self._lane[self._rank == rank].max(initial=-1)) + 1

    def bars(self, lanes: Lanes) -> Bars:
        for number, (rank, lane) in enumerate(zip(self._rank.tolist(), self._lane.tolist())):
            self._bars.lane[number] = lanes.of["suspended", rank, lane]
        return self._bars


def _held_calls(of: Analysis, styles: Styles, names: Names, lanes: Lanes) -> Bars:
    """Calls that keep their thread: no suspension names them."""
    calls, suspensions, owner = of["calls"], of["suspensions"], of["tasks"].index(of["calls"].task)
    held = np.ones(len(calls.call), dtype=bool)
    held[suspensions.call[suspensions.call >= 0]] = False
    rows = np.flatnonzero(held)
    return _bars(lanes.of_threads(calls.rank[rows], calls.start_thread[rows]), calls.start[rows], calls.end[rows],
                 call_styles(styles, calls.call[rows]), owner[rows], _call_names(names, calls.call[rows]),
                 calls.bytes[rows])  # fmt: skip


def worksharing_codes(of: Analysis) -> tuple[np.ndarray, symbols.Symbols]:
    """Of each row of `worksharing` the code address, and where these lie in the source."""
    begins = of.trace.select("work_begin")
    codes, ranks = of.trace.field("work_begin", "code", begins), of.trace.rank[begins]
    # GCC starts a region and its loop by one call, which has the region's line.
    regions = of.trace.select("parallel_begin")
    starts = symbols.codes_by_rank(of.trace.rank[regions].astype(np.int64),
                                   of.trace.field("parallel_begin", "code", regions))  # fmt: skip
    by_rank = symbols.codes_by_rank(ranks.astype(np.int64), codes)
    both = {rank: np.intersect1d(starts[rank], by_rank[rank]) for rank in starts if rank in by_rank}
    return codes, outlined.locate(of.trace.ranks, by_rank, both)


def construct_names(of: Analysis, names: Names) -> np.ndarray:
    """By row of `worksharing`: what it is, and its place in the source."""
    spans: Spans = of["worksharing"]
    codes, found = worksharing_codes(of)
    groups = group_by(spans.name, spans.rank, codes)
    row = np.zeros(len(codes), dtype=np.int64)
    for number, one in enumerate(groups.order[groups.first].tolist()):
        place = found.places.get((int(spans.rank[one]), int(codes[one])))
        text = f"{spans.names[spans.name[one]]} {place.short() if place else ''}".rstrip()
        mine = slice(int(groups.first[number]), int(groups.first[number] + groups.count[number]))
        row[groups.order[mine]] = names.row(text)
    return row


def _region_bars(of: Analysis, styles: Styles, names: Names, lanes: Lanes, left_out: list[str]) -> Bars:
    """Nested ones lie above one another: the lane counts MOST_NESTED for each lane of the timeline."""
    parts = [_bars(*(np.zeros(0, dtype=np.int64),) * 3, 0)]
    for key, style in (("worksharing", "loop"), ("regions", "region")):
        spans: Spans = of[key]
        row = construct_names(of, names) if key == "worksharing" else np.array(
            [names.row(text) for text in spans.names], dtype=np.int64)[spans.name]  # fmt: skip
        parts.append(_bars(lanes.of_threads(spans.rank, spans.thread), spans.start, spans.end, styles.number(style), -1,
                           row))  # fmt: skip
    marks: Marks = of["marks"]
    row = np.array([names.row(text) for text in marks.names], dtype=np.int64)[marks.name]
    parts.append(_bars(lanes.of_threads(marks.rank, marks.thread), marks.time, marks.time + 1, styles.number("region"),
                       -1, row))  # fmt: skip
    bars = parts[0].joined(*parts[1:])
    bars = bars.take(np.flatnonzero(bars.lane >= 0))
    kept = bars.take(np.sort(np.argsort(bars.start - bars.end, kind="stable")[:MOST_PACKED]))
    depth = lowest_lanes(kept.lane, kept.start, kept.end)
    shown = kept.take(np.flatnonzero(depth < MOST_NESTED))
    if len(shown.lane) < len(bars.lane):
        left_out.append(f"{len(bars.lane) - len(shown.lane):,} of {len(bars.lane):,} loops and regions: the shortest, "
                        f"and those nested deeper than {MOST_NESTED}")  # fmt: skip
    least = LEAST_SHARE * of["breakdown"].makespan
    shown.style = styles.of_constructs(shown.name, shown.end - shown.start, names.texts, shown.style, least)
    shown.lane = shown.lane * MOST_NESTED + depth[depth < MOST_NESTED]
    return shown


_DEVICE_STYLES = {KERNEL: "kernel", TO_DEVICE: "to-device", FROM_DEVICE: "from-device", UPKEEP: "upkeep",
                  WAIT: "starved"}  # fmt: skip


def _device_bars(of: Analysis, styles: Styles, names: Names, lanes: Lanes) -> Bars:
    devices, task = of["devices"], of["kernel_tasks"]
    lane = np.array([lanes.of["device", *key] for key in _device_keys(devices)], dtype=np.int64)
    style = np.array([styles.number(_DEVICE_STYLES[what]) for what in devices.what.tolist()], dtype=np.int64)
    row = np.array([names.row(text) for text in devices.names], dtype=np.int64)
    return _bars(lane, devices.start, devices.end, style, task, row[devices.name] if len(row) else -1, devices.bytes)


def _device_keys(devices: Any) -> Iterator[tuple[int, ...]]:
    return zip(devices.rank.tolist(), devices.device.tolist(), devices.sort.tolist(), devices.lane.tolist())
