# SPDX-License-Identifier: Apache-2.0
"""Which bars a page holds one by one, where a trace has more than a page should: those of the critical path and of what
bounded the run (the longest of them, if even these are too many), the longest of all, and all of the windows of time in
which most happens. The rest is there as levels. More bars than asked for are kept only where they reach into such a
window: at most one a lane and window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bars import Bars

MOST_BARS = 300_000  # about 4 MB
LONGEST = 10_000
WINDOWS = 512


@dataclass
class Choice:
    """Rows of the bars. Within `windows`, [start, end) each, no bar is missing. `left_out`: bars of marked tasks that
    are not among them."""

    rows: np.ndarray
    windows: list[tuple[int, int]]
    left_out: int


def choose(bars: Bars, on_path: np.ndarray, most: int, begin: int, end: int) -> Choice:
    """`on_path`: by row of tasks. `most`: bars."""
    count = len(bars.lane)
    if count <= most:
        return Choice(np.arange(count), [(begin, end)], 0)
    marked = np.zeros(count, dtype=bool)
    is_task = bars.task >= 0
    marked[is_task] = on_path[bars.task[is_task]]
    length = bars.end - bars.start
    kept = _longest(np.where(marked, length, -1), most)
    left_out = int(marked.sum()) - int(kept.sum())
    longest = min(LONGEST, most - int(kept.sum()))
    kept |= _longest(np.where(kept, -1, length), longest)
    edges = begin + ((end - begin) * np.arange(WINDOWS + 1)) // WINDOWS
    first = np.clip(np.searchsorted(edges, bars.start, side="right") - 1, 0, WINDOWS - 1)
    last = np.clip(np.searchsorted(edges, bars.end, side="left") - 1, 0, WINDOWS - 1)
    new = np.bincount(first[~kept], minlength=WINDOWS)
    left, whole = most - int(kept.sum()), []
    for window in np.argsort(-new, kind="stable").tolist():
        if new[window] <= left:
            left -= int(new[window])
            whole.append(window)
    chosen = np.zeros(WINDOWS + 1, dtype=np.int64)
    chosen[whole] = 1
    before = np.cumsum(chosen) - chosen
    kept |= before[last + 1] > before[first]  # reaches into a window of them
    return Choice(np.flatnonzero(kept), _joined([(int(edges[one]), int(edges[one + 1])) for one in sorted(whole)]),
                  left_out)  # fmt: skip


def _longest(length: np.ndarray, most: int) -> np.ndarray:
    """Of these the longest `most`; none with a length below 0. There are more than `most`."""
    kept = np.zeros(len(length), dtype=bool)
    if most > 0:
        kept[np.argpartition(-length, most - 1)[:most]] = True
    return kept & (length >= 0)


def _joined(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in windows:
        if joined and joined[-1][1] == start:
            start = joined.pop()[0]
        joined.append((start, end))
    return joined
