# SPDX-License-Identifier: Apache-2.0
"""Points and edges of devices: while a device runs a kernel of a construct, or copies for it, the construct's task
waits for that. Which kernel had the device before is an order of this run, and not of the program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..read.columns import Columns, TimeLines
from . import edges as kinds
from . import points as what
from .edges import EdgeList
from .points import PointList, Points


@dataclass
class DeviceWaits(Columns):
    """Kernels and copies of constructs, from begin to end, cut to the time of their construct. `row`: the record of the
    construct's begin. `device`: a number for rank and device. `until`: when the kernel really ended."""

    task: np.ndarray
    row: np.ndarray
    start: np.ndarray
    end: np.ndarray
    device: np.ndarray
    is_kernel: np.ndarray
    until: np.ndarray


def add_devices(waits: DeviceWaits, points: PointList, edges: EdgeList, of_run: EdgeList) -> np.ndarray:
    """Numbers of the points where a device begins something. Of two kernels of a device, the later one may have waited
    for the earlier one."""
    begin = points.add(what.ON_DEVICE, waits.task, waits.start, waits.row + 0.25)
    end = points.add(what.OFF_DEVICE, waits.task, waits.end, waits.row + 0.75)
    edges.add(kinds.DEVICE, begin, end, waits.end - waits.start)
    kernel = np.flatnonzero(waits.is_kernel & (waits.until == waits.end))
    before = TimeLines(waits.device[kernel], waits.end[kernel]).latest(waits.device, waits.start)
    later = np.flatnonzero(waits.is_kernel & (before >= 0))
    before = kernel[before[later]]
    other = waits.task[before] != waits.task[later]
    of_run.add(kinds.DEVICE, end[before[other]], begin[later[other]])
    return begin


def on_device(points: Points) -> np.ndarray:
    """By point: whether a device works for its task from there on."""
    step = np.where(points.what == what.ON_DEVICE, 1, np.where(points.what == what.OFF_DEVICE, -1, 0))
    return np.cumsum(step) > 0
