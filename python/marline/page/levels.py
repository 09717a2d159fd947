# SPDX-License-Identifier: Apache-2.0
"""Bars from afar, like the tiles of a map: time in equal parts, and of each lane and part how much each style has of
it. Each level has four times the parts of the one before. The page draws a level whose parts are about as wide as a few
pixels, whatever the number of bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marline.trace.read.columns import cut, group_starts

from .bars import Bars

COARSEST, FINEST = 256, 1 << 14  # parts; of very many lanes the coarsest has fewer
MOST_CELLS = 150_000  # lanes times parts of the finest level
STEP = 4
FEWEST = 16
WHOLE = 255  # what a style has of a part, if all


@dataclass
class Level:
    """By lane and part: `cell` is lane * parts + part."""

    parts: int
    cell: np.ndarray
    style: np.ndarray
    share: np.ndarray


def make_levels(bars: Bars, lanes: int, styles: int, begin: int, end: int) -> list[Level]:
    """The finest first."""
    parts = COARSEST
    while parts * lanes > 4 * MOST_CELLS and parts > FEWEST:
        parts //= STEP
    coarsest = parts
    while parts * STEP <= FINEST and parts * STEP * max(lanes, 1) <= MOST_CELLS:
        parts *= STEP
    edges = begin + ((end - begin) * np.arange(parts + 1)) // parts
    pieces = cut(bars.start, bars.end, edges)
    key = (bars.lane[pieces.a] * parts + pieces.b) * styles + bars.style[pieces.a]
    key, time = _summed(key, (pieces.end - pieces.start).astype(np.float64))
    levels = []
    while True:
        width = (end - begin) / parts
        share = np.rint(np.minimum(time / width, 1) * WHOLE).astype(np.int64)
        seen = np.flatnonzero(share)
        levels.append(Level(parts, (key // styles)[seen], (key % styles)[seen], share[seen]))
        if parts <= coarsest:
            return levels
        parts //= STEP
        # Parts of one lane stand together: a lane's number times its parts shrinks with them.
        key, time = _summed(key // styles // STEP * styles + key % styles, time)


def _summed(key: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(key, kind="stable")
    key, value = key[order], value[order]
    first = np.flatnonzero(group_starts(key))
    return key[first], np.add.reduceat(value, first) if len(first) else value
