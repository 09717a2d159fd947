# SPDX-License-Identifier: Apache-2.0
"""Devices as a pass: what each did and when, copies and kernels, in lanes.

The times are the device's own. Bars of one lane never overlap: where a device does several things at once, each takes
the lowest lane of its sort that is free. A copy between two devices is a row of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import model, symbols
from ..read.clock import frequency
from ..read.columns import find
from ..read.records import TASK_BITS, Trace
from ..registry import Analysis, analysis_pass
from .packing import lowest_lanes

# What an operation is: a kernel, or a copy by its direction.
KERNEL, TO_DEVICE, FROM_DEVICE = range(3)
_OPTYPE_TO_DEVICE = 2  # ompt_target_data_op_t
_KERNEL_NAME = "kernel"


@dataclass
class Devices:
    """Operations, one row each, by rank and start. `types`: what kind of device each is, by rank and number."""

    rank: np.ndarray
    device: np.ndarray
    start: np.ndarray
    end: np.ndarray
    what: np.ndarray  # KERNEL, TO_DEVICE, FROM_DEVICE
    bytes: np.ndarray  # of copies
    other: np.ndarray  # device at the other end of a copy; -1: the host
    twin: np.ndarray  # the row of the same copy at that device, or -1
    construct: np.ndarray  # id; 0 in its lower bits: a routine
    name: np.ndarray  # row of names
    lane: np.ndarray  # among the kernels, or the copies, of its device
    names: list[str]
    types: dict[tuple[int, int], str]
    notes: list[str]  # why code has no name

    def title(self, rank: int, device: int) -> str:
        """`device 0 (process)`."""
        kind = self.types.get((rank, device), "")
        return f"device {device}" + (f" ({kind})" if kind else "")

    def keys(self) -> list[tuple[int, int]]:
        """The devices of which it is known what they did: not those of runtimes without records."""
        return sorted(set(zip(self.rank.tolist(), self.device.tolist(), strict=True)))

    def document(self) -> list[dict[str, Any]]:
        """Per device: number, bytes and time of the copies in each direction, and of the kernels."""
        return [self._row(rank, device) for rank, device in self.keys()]

    def _row(self, rank: int, device: int) -> dict[str, Any]:
        mine = (self.rank == rank) & (self.device == device)
        row: dict[str, Any] = {"rank": rank, "device": device, "type": self.types.get((rank, device), "")}
        for key, what in (("kernels", KERNEL), ("to_device", TO_DEVICE), ("from_device", FROM_DEVICE)):
            some = mine & (self.what == what)
            row[key] = {"count": int(some.sum()), "total_ns": int((self.end - self.start)[some].sum())}
            if what != KERNEL:
                row[key]["bytes"] = int(self.bytes[some].sum())
        return row


@analysis_pass("devices")
def devices(of: Analysis) -> Devices:
    """What devices did."""
    trace = of.trace
    copies, kernels = trace.select("device_copy"), trace.select("device_kernel")
    rows = np.concatenate([copies, kernels])
    kind = trace.field("device_copy", "kind", copies)
    what = np.concatenate([np.where(kind == _OPTYPE_TO_DEVICE, TO_DEVICE, FROM_DEVICE), np.full(len(kernels), KERNEL)])
    number = np.concatenate([trace.field("device_copy", "device", copies), trace.field("device_kernel", "device", kernels)])
    moved = np.concatenate([trace.field("device_copy", "bytes", copies), np.zeros(len(kernels), dtype=np.uint64)])
    elapsed = np.concatenate([_elapsed(trace, "device_copy", copies), _elapsed(trace, "device_kernel", kernels)])
    other = np.full(len(rows), -1, dtype=np.int64)
    other[: len(copies)] += trace.field("device_copy", "other", copies).astype(np.int64)
    number = number.astype(np.int64)
    between = np.flatnonzero((other >= 0) & (other != number))
    rows, moved, elapsed = (np.r_[one, one[between]] for one in (rows, moved, elapsed))
    what = np.r_[what, np.where(what[between] == TO_DEVICE, FROM_DEVICE, TO_DEVICE)]
    number, other = np.r_[number, other[between]], np.r_[other, number[between]]
    twin = np.full(len(rows), -1)
    second = np.arange(len(rows) - len(between), len(rows))
    twin[between], twin[second] = second, between
    order = np.lexsort((trace.time[rows], trace.rank[rows]))
    place = np.argsort(order)
    twin = np.where(twin >= 0, place[twin], -1)[order]
    rows, what, number, moved, elapsed, other = (one[order] for one in (rows, what, number, moved, elapsed, other))
    rank = trace.rank[rows].astype(np.int64)
    start = trace.time[rows]
    name, names, notes = _names(trace, rows, what, other)
    group = (rank << 9) | (number << 1) | (what == KERNEL)
    lane = lowest_lanes(group, start, start + elapsed)
    return Devices(rank, number, start, start + elapsed, what, moved.astype(np.int64), other, twin, trace.task[rows],
                   name, lane, names, _types(trace), notes)  # fmt: skip


def _elapsed(trace: Trace, event: str, rows: np.ndarray) -> np.ndarray:
    rate = np.ones(max(trace.ranks) + 1)
    for rank, metadata in trace.ranks.items():
        rate[rank] = frequency(metadata)
    return np.rint(trace.field(event, "elapsed", rows) / rate[trace.rank[rows]]).astype(np.int64)


def _types(trace: Trace) -> dict[tuple[int, int], str]:
    rows = trace.select("device_begin")
    texts = model.texts(trace)
    keys = trace.global_task(rows, trace.field("device_begin", "text", rows))
    numbers = trace.field("device_begin", "device", rows)
    return {(rank, number): texts.get(key, "")
            for rank, number, key in zip(trace.rank[rows].tolist(), numbers.tolist(), keys.tolist(), strict=True)}  # fmt: skip


def _names(trace: Trace, rows: np.ndarray, what: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, list[str], list[str]]:
    """Kernels by the place of their construct, copies by their direction as the host sees it."""
    begins = trace.select("target_begin")
    ids = trace.global_task(begins, trace.field("target_begin", "construct", begins))
    order = np.argsort(ids, kind="stable")
    begins, ids = begins[order], ids[order]
    of_row = find(ids, trace.task[rows])
    code = np.zeros(len(rows), dtype=np.uint64)
    code[of_row >= 0] = trace.field("target_begin", "code", begins[of_row[of_row >= 0]])
    rank = (trace.task[rows] >> np.uint64(TASK_BITS)).astype(np.int64)
    is_kernel = what == KERNEL
    found = symbols.locate(trace.ranks, {one: code[is_kernel & (rank == one)] for one in np.unique(rank).tolist()})
    numbers: dict[str, int] = {}
    name = np.zeros(len(rows), dtype=np.int64)
    for row, (one, at) in enumerate(zip(rank.tolist(), code.tolist(), strict=True)):
        if is_kernel[row]:
            text = found.places[one, at].short() if at else _KERNEL_NAME
        else:
            # Of a copy between two devices, the other one: it stands in this one's lane.
            to_other = (what[row] == FROM_DEVICE) == (other[row] >= 0)
            text = ("to device" if to_other else "from device") + (f" {other[row]}" if other[row] >= 0 else "")
        name[row] = numbers.setdefault(text, len(numbers))
    return name, list(numbers), found.notes
