# SPDX-License-Identifier: Apache-2.0
"""Devices as passes: `devices`, what each did and when, copies and kernels, in lanes; `links`, what went from where to
where.

The times are the device's own. Bars of one lane never overlap: where a device does several things at once, each takes
the lowest lane of its sort that is free. A copy between two devices is a row of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import model, symbols
from ..global_graph.device_order import DeviceWaits
from ..read.clock import frequency
from ..read.columns import Columns, find, sums
from ..read.records import TASK_BITS, Trace
from ..registry import Analysis, analysis_pass
from .packing import lowest_lanes, union, without

# What a row is: a kernel; a copy by its direction; what a node does for its copies of data; time in which it runs
# nothing while tasks there wait for inputs.
KERNEL, TO_DEVICE, FROM_DEVICE, UPKEEP, WAIT = range(5)
COPIES = (TO_DEVICE, FROM_DEVICE)
# Rows lie in lanes by their sort, in this order from above; and what these lanes are called.
SORTS = ("transfers", "kernels", "upkeep, waits")
_SORT = np.array([1, 0, 0, 2, 2])  # by what a row is
_OPTYPE_TO_DEVICE = 2  # ompt_target_data_op_t
_KERNEL_NAME = "kernel"


@dataclass
class Devices:
    """Operations, one row each, by rank and start. `types`: what kind of device each is, by rank and number."""

    rank: np.ndarray
    device: np.ndarray
    start: np.ndarray
    end: np.ndarray
    what: np.ndarray  # KERNEL, TO_DEVICE, FROM_DEVICE, UPKEEP, WAIT
    bytes: np.ndarray  # of copies
    other: np.ndarray  # device at the other end of a copy; -1: the host
    twin: np.ndarray  # the row of the same copy at that device, or -1
    construct: np.ndarray  # id; 0 in its lower bits: a routine
    name: np.ndarray  # row of names
    lane: np.ndarray  # among the rows of its device and sort
    names: list[str]
    types: dict[tuple[int, int], str]
    notes: list[str]  # why code has no name

    @property
    def sort(self) -> np.ndarray:
        """Rows of SORTS."""
        return _SORT[self.what]

    @property
    def is_copy(self) -> np.ndarray:
        return np.isin(self.what, COPIES)

    def title(self, rank: int, device: int) -> str:
        """`device 0 (process)`."""
        kind = self.types.get((rank, device), "")
        return f"device {device}" + (f" ({kind})" if kind else "")

    def keys(self) -> list[tuple[int, int]]:
        """The devices of which it is known what they did: runtimes without records have none."""
        return sorted(set(zip(self.rank.tolist(), self.device.tolist(), strict=True)))

    def document(self) -> list[dict[str, Any]]:
        """Per device: number, bytes and time of the copies in each direction, and of the kernels; of a node of a
        cluster also its upkeep. `time`: how the time from its rank's first operation to the last went by there."""
        return [self._row(rank, device) for rank, device in self.keys()]

    def _row(self, rank: int, device: int) -> dict[str, Any]:
        mine = (self.rank == rank) & (self.device == device)
        row: dict[str, Any] = {"rank": rank, "device": device, "type": self.types.get((rank, device), "")}
        for key, what in (("kernels", KERNEL), ("to_device", TO_DEVICE), ("from_device", FROM_DEVICE),
                          ("upkeep", UPKEEP)):
            some = mine & (self.what == what)
            row[key] = {"count": int(some.sum()), "total_ns": int((self.end - self.start)[some].sum())}
            if what in COPIES:
                row[key]["bytes"] = int(self.bytes[some].sum())
        return row | {"time": self._time(rank, mine)}

    def _time(self, rank: int, mine: np.ndarray) -> dict[str, int]:
        """Each moment counts once: as work, else as upkeep, else as a wait for inputs, else as idle."""
        of_rank = self.rank == rank
        span = int(self.end[of_rank].max() - self.start[of_rank].min())
        times, covered = {}, 0
        for key, most in (("work_ns", (KERNEL,)), ("upkeep_ns", (KERNEL, UPKEEP)), ("wait_ns", (KERNEL, UPKEEP, WAIT))):
            some = mine & np.isin(self.what, most)
            start, end = union(self.start[some], self.end[some])
            total = int((end - start).sum())
            times[key], covered = total - covered, total
        return {"span_ns": span, **times, "idle_ns": span - covered}


@dataclass
class Links:
    """Copies by where they come from and go to."""

    rows: list[dict[str, Any]]

    def document(self) -> list[dict[str, Any]]:
        """Per rank and pair of ends, -1 being the host: how many copies, bytes and time."""
        return self.rows


@analysis_pass("links", needs=("devices",))
def links(of: Analysis) -> Links:
    """What went from where to where."""
    devices: Devices = of["devices"]
    once = np.flatnonzero(devices.is_copy & ((devices.twin < 0) | (devices.what == TO_DEVICE)))
    arrives = devices.what[once] == TO_DEVICE
    own, other = devices.device[once], devices.other[once]
    ends = np.stack([devices.rank[once], np.where(arrives, other, own), np.where(arrives, own, other)], axis=1)
    different, group = np.unique(ends, axis=0, return_inverse=True)
    time = devices.end[once] - devices.start[once]
    rows = []
    for one, (rank, source, sink) in enumerate(different.tolist()):
        some = group.ravel() == one
        rows.append({"rank": rank, "from": source, "to": sink, "count": int(some.sum()),
                     "bytes": int(devices.bytes[once[some]].sum()), "total_ns": int(time[some].sum())})  # fmt: skip
    return Links(rows)


@dataclass
class _Rows(Columns):
    """Columns of Devices as the trace has them, before they are in order."""

    rank: np.ndarray
    device: np.ndarray
    start: np.ndarray
    end: np.ndarray
    what: np.ndarray
    bytes: np.ndarray
    other: np.ndarray
    construct: np.ndarray
    text: np.ndarray  # key of what it is called; 0: by its construct or its direction


@analysis_pass("devices")
def devices(of: Analysis) -> Devices:
    """What devices did."""
    trace = of.trace
    texts = model.texts(trace)
    copies, kernels, activities = (_rows(trace, f"device_{event}") for event in ("copy", "kernel", "activity"))
    is_wait = np.array([texts.get(key, "").startswith("wait") for key in activities.text.tolist()], dtype=bool)
    activities.what[:] = np.where(is_wait, WAIT, UPKEEP)
    rows = copies.joined(kernels).joined(activities.take(~is_wait))
    rows = rows.joined(_starved(rows, activities.take(is_wait)))
    between = np.flatnonzero((rows.other >= 0) & (rows.other != rows.device))
    far = rows.take(between)
    far.what[:] = np.where(far.what == TO_DEVICE, FROM_DEVICE, TO_DEVICE)
    far.device, far.other = far.other, far.device
    twin = np.full(len(rows.start) + len(between), -1)
    twin[between] = np.arange(len(rows.start), len(twin))
    twin[len(rows.start):] = between
    rows = rows.joined(far)
    order = np.lexsort((rows.start, rows.rank))
    rows, place = rows.take(order), np.argsort(order)
    twin = np.where(twin >= 0, place[twin], -1)[order]
    name, names, notes = _names(trace, rows, texts)
    lane = lowest_lanes((rows.rank << 12) | (rows.device << 2) | _SORT[rows.what], rows.start, rows.end)
    return Devices(rows.rank, rows.device, rows.start, rows.end, rows.what, rows.bytes, rows.other, twin,
                   rows.construct, name, lane, names, _types(trace, texts), notes)  # fmt: skip


@analysis_pass("kernel_tasks", needs=("devices", "tasks"))
def kernel_tasks(of: Analysis) -> np.ndarray:
    """For each row of `devices`, the row of the task of the kernel's construct; -1: there is none."""
    found, tasks, trace = of["devices"], of["tasks"], of.trace
    begins, ids = _constructs(trace)
    at = find(ids, np.where(found.what == KERNEL, found.construct, np.uint64(0)))
    task = np.full(len(at), -1)
    task[at >= 0] = tasks.index(trace.task[begins[at[at >= 0]]])
    return task


@analysis_pass("device_work", needs=("devices", "tasks", "kernel_tasks"))
def device_work(of: Analysis) -> np.ndarray:
    """Of each task the time, in ns, that its kernels ran on devices."""
    found, task = of["devices"], of["kernel_tasks"]
    known = task >= 0
    return sums(task[known], (found.end - found.start)[known], len(of["tasks"].id))


@analysis_pass("device_waits", needs=("devices", "tasks"))
def device_waits(of: Analysis) -> DeviceWaits:
    """When devices worked for tasks: kernels and copies whose construct is known, within the construct and its task."""
    found, tasks, trace = of["devices"], of["tasks"], of.trace
    begins, ids = _constructs(trace)
    ends = trace.select("target_end")
    at = find(ids, np.where(np.isin(found.what, (KERNEL, *COPIES)), found.construct, np.uint64(0)))
    once = (found.twin < 0) | (found.what == TO_DEVICE)  # a copy between two devices stands there for both
    some = np.flatnonzero((at >= 0) & once)
    row = begins[at[some]]
    task, begin = trace.task[row], trace.time[row]
    end = np.full(len(row), np.iinfo(np.int64).max)
    ended = trace.global_task(ends, trace.field("target_end", "construct", ends))
    order = np.argsort(ended, kind="stable")
    last = find(ended[order], ids[at[some]])
    end[last >= 0] = trace.time[ends[order[last[last >= 0]]]]
    known = tasks.index(task)
    explicit = np.flatnonzero(known >= 0)
    begin[explicit] = np.maximum(begin[explicit], tasks.start[known[explicit]])
    closed = explicit[tasks.end[known[explicit]] >= 0]
    end[closed] = np.minimum(end[closed], tasks.end[known[closed]])
    until = found.end[some]
    waits = DeviceWaits(task, row, np.maximum(found.start[some], begin), np.minimum(until, end),
                        (found.rank[some] << 16) | found.device[some], found.what[some] == KERNEL, until)  # fmt: skip
    return waits.take(np.flatnonzero(waits.start < waits.end))


def _constructs(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the begins of constructs, and the ids, which are sorted."""
    begins = trace.select("target_begin")
    ids = trace.global_task(begins, trace.field("target_begin", "construct", begins))
    order = np.argsort(ids, kind="stable")
    return begins[order], ids[order]


def _rows(trace: Trace, event: str) -> _Rows:
    rows = trace.select(event)
    none = np.zeros(len(rows), dtype=np.int64)
    found = _Rows(trace.rank[rows].astype(np.int64), trace.field(event, "device", rows).astype(np.int64),
                  trace.time[rows], trace.time[rows] + _elapsed(trace, event, rows), none + KERNEL, none, none - 1,
                  trace.task[rows], none.astype(np.uint64))  # fmt: skip
    if event == "device_copy":
        found.what = np.where(trace.field(event, "kind", rows) == _OPTYPE_TO_DEVICE, TO_DEVICE, FROM_DEVICE)
        found.bytes = trace.field(event, "bytes", rows).astype(np.int64)
        found.other = trace.field(event, "other", rows).astype(np.int64) - 1
    if event == "device_activity":
        found.text = trace.global_task(rows, trace.field(event, "text", rows))
    return found


def _starved(busy: _Rows, waits: _Rows) -> _Rows:
    """Many tasks of a node may wait at a time, while others run. What counts is when nothing is done there
    meanwhile."""
    parts = [waits.take(np.zeros(0, dtype=np.int64))]
    busy = busy.take(np.isin(busy.what, (KERNEL, UPKEEP)))
    for rank, device in sorted(set(zip(waits.rank.tolist(), waits.device.tolist(), strict=True))):
        mine = np.flatnonzero((waits.rank == rank) & (waits.device == device))
        runs = (busy.rank == rank) & (busy.device == device)
        start, end = without(*union(waits.start[mine], waits.end[mine]), *union(busy.start[runs], busy.end[runs]))
        part = waits.take(np.repeat(mine[:1], len(start)))
        part.start, part.end = start, end
        parts.append(part)
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.joined(part)
    return joined


def _elapsed(trace: Trace, event: str, rows: np.ndarray) -> np.ndarray:
    rate = np.ones(max(trace.ranks) + 1)
    for rank, metadata in trace.ranks.items():
        rate[rank] = frequency(metadata)
    return np.rint(trace.field(event, "elapsed", rows) / rate[trace.rank[rows]]).astype(np.int64)


def _types(trace: Trace, texts: dict[int, str]) -> dict[tuple[int, int], str]:
    rows = trace.select("device_begin")
    keys = trace.global_task(rows, trace.field("device_begin", "text", rows))
    numbers = trace.field("device_begin", "device", rows)
    return {(rank, number): texts.get(key, "")
            for rank, number, key in zip(trace.rank[rows].tolist(), numbers.tolist(), keys.tolist(),
                                         strict=True)}  # fmt: skip


def _names(trace: Trace, rows: _Rows, texts: dict[int, str]) -> tuple[np.ndarray, list[str], list[str]]:
    """Kernels by the place of their construct, copies by their direction as the host sees it, all else as told."""
    begins, ids = _constructs(trace)
    of_row = find(ids, rows.construct)
    code = np.zeros(len(of_row), dtype=np.uint64)
    code[of_row >= 0] = trace.field("target_begin", "code", begins[of_row[of_row >= 0]])
    rank = (rows.construct >> np.uint64(TASK_BITS)).astype(np.int64)
    is_kernel = rows.what == KERNEL
    found = symbols.locate(trace.ranks, {one: code[is_kernel & (rank == one)] for one in np.unique(rank).tolist()})
    numbers: dict[str, int] = {}
    name = np.zeros(len(of_row), dtype=np.int64)
    for row, (one, at) in enumerate(zip(rank.tolist(), code.tolist(), strict=True)):
        if is_kernel[row]:
            text = found.places[one, at].short() if at else _KERNEL_NAME
        elif rows.what[row] in COPIES:
            # Of a copy between two devices, the other one: it stands in this one's lane.
            other = rows.other[row]
            to_other = (rows.what[row] == FROM_DEVICE) == (other >= 0)
            text = ("to device" if to_other else "from device") + (f" {other}" if other >= 0 else "")
        else:
            text = texts.get(int(rows.text[row]), "")
        name[row] = numbers.setdefault(text, len(numbers))
    return name, list(numbers), found.notes
