# SPDX-License-Identifier: Apache-2.0
"""The bars of a timeline as calls that nest, track by track: what profilers draw as flame charts. A bar that would end
after the one around it is cut there: profilers refuse it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..views.timeline import FIRST_LANE, Timeline


@dataclass
class Track:
    """Begins and ends of bars in order, an end before a begin of the same time: `time` in ns, `row` of the timeline's
    slices, `opens` for a begin. Each end is that of the last bar that is still open."""

    rank: int
    number: int
    name: str
    time: list[int]
    row: list[int]
    opens: list[bool]

    @property
    def is_thread(self) -> bool:
        """Else a lane of suspended calls, or of a device."""
        return self.number < FIRST_LANE


def nested_tracks(drawn: Timeline) -> Iterator[Track]:
    slices = drawn.slices
    order = np.lexsort((-slices.end, slices.depth, slices.start, slices.track, slices.rank))
    key = slices.rank[order].astype(np.int64) << 32 | slices.track[order]
    for rank, number, name in drawn.tracks:
        mine = order[slice(*np.searchsorted(key, [rank << 32 | number, (rank << 32 | number) + 1]))]
        track = Track(rank, number, name, [], [], [])
        _nest(track, mine.tolist(), slices.start[mine].tolist(), slices.end[mine].tolist())
        yield track


def _nest(track: Track, rows: list[int], starts: list[int], ends: list[int]) -> None:
    add_time, add_row, add_opens = track.time.append, track.row.append, track.opens.append
    open_rows: list[tuple[int, int]] = []  # the end of each open bar, and its row

    def close(until: int) -> None:
        while open_rows and open_rows[-1][0] <= until:
            end, row = open_rows.pop()
            add_time(end)
            add_row(row)
            add_opens(False)

    for row, start, end in zip(rows, starts, ends, strict=True):
        close(start)
        add_time(start)
        add_row(row)
        add_opens(True)
        open_rows.append((min(end, open_rows[-1][0]) if open_rows else end, row))
    close(np.iinfo(np.int64).max)
