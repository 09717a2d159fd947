# SPDX-License-Identifier: Apache-2.0
"""The host's side of copies to and from devices, for the exports: lanes of its own, from and to which arrows lead. A
device does the copy, or the thread that asks for it; these lanes say when the host's memory, and its link to the
device, are in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..passes.devices import FROM_DEVICE
from ..passes.packing import lowest_lanes
from ..passes.picture import Picture


@dataclass
class HostSide:
    """One bar for each row of `rows`, a copy between the host and a device, at the same time as the device's."""

    rows: np.ndarray  # of Devices
    lane: np.ndarray  # among the lanes of its rank
    title: np.ndarray  # row of titles
    titles: list[str]  # `to device 1 (node)`

    @staticmethod
    def of(drawn: Picture) -> HostSide:
        """Of the whole trace."""
        devices = drawn.devices
        rows = np.flatnonzero(devices.is_copy & (devices.other < 0))
        lane = lowest_lanes(devices.rank[rows], devices.start[rows], devices.end[rows])
        keys = np.stack([devices.rank[rows], devices.device[rows], devices.what[rows]], axis=1)
        different, title = np.unique(keys, axis=0, return_inverse=True)
        titles = [f"{'from' if what == FROM_DEVICE else 'to'} {devices.title(rank, device)}"
                  for rank, device, what in different.tolist()]  # fmt: skip
        return HostSide(rows, lane, title.ravel(), titles)
