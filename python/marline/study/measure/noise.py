# SPDX-License-Identifier: Apache-2.0
"""The machine's noise: a fixed amount of work on every usable core, timed before each run and after the last.

On a quiet machine it takes the same time again and again; another process, a throttled clock or a stolen virtual CPU
makes it longer. A run between two calibrations of which one is far out is *marked*; it is never dropped."""

from __future__ import annotations

import hashlib
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

BLOCK = bytes(1 << 20)
BLOCKS = 4  # some milliseconds: longer than a scheduler's time slice
CORES = 16  # at most so many are asked; a study on a larger machine should not spend its time here
FAR_OUT = 1.15


def _work(core: int) -> float:
    """Seconds of the fixed work on one core. SHA-256 of a large block runs without Python's lock."""
    os.sched_setaffinity(0, {core})  # of this thread: 0 is the caller's own thread id
    start = time.perf_counter()
    for _ in range(BLOCKS):
        hashlib.sha256(BLOCK).digest()
    return time.perf_counter() - start


class Calibration:
    """Owns one thread per core asked, which only calibrate; they sleep while a program runs."""

    def __init__(self) -> None:
        self._cores = sorted(os.sched_getaffinity(0))[:CORES]
        self._pool = ThreadPoolExecutor(max_workers=len(self._cores))

    def measure(self) -> float:
        """Milliseconds on the slowest core."""
        return 1e3 * max(self._pool.map(_work, self._cores))

    def close(self) -> None:
        self._pool.shutdown()


def threshold(calibrations: list[float]) -> float:
    """Above it a calibration is far out: by 15 % and by five median deviations."""
    middle = statistics.median(calibrations)
    deviation = statistics.median(abs(x - middle) for x in calibrations)
    return max(FAR_OUT * middle, middle + 5 * deviation)
