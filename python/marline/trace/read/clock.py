# SPDX-License-Identifier: Apache-2.0
"""Cycle counters of all ranks to nanoseconds on one clock.

Every rank's counter is mapped to rank 0's by a straight line through the samples of trace/mpi/clock.cpp (one at
MPI_Init, one at MPI_Finalize: offset and drift), and rank 0's counter to nanoseconds by its own frequency. Two ranks of
one machine (same boot id) read the same counter, where a measured offset would only add the error of the measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .records import TraceError, is_recorded

ClockMap = Callable[[np.ndarray], np.ndarray]


class ClockError(TraceError):
    """Clock data of a trace that cannot be used; the text is meant for the user."""


def frequency(metadata: dict[str, Any]) -> float:
    """Cycles per nanosecond of one rank's counter."""
    begin, end = metadata["clock_begin"], metadata["clock_end"]
    cycles = end["cycles"] - begin["cycles"]
    nanoseconds = end["monotonic_ns"] - begin["monotonic_ns"]
    if cycles <= 0 or nanoseconds <= 0:
        rank = metadata["rank"]
        raise ClockError(f"rank {rank}: its clock stands still or runs backwards: the description is damaged")
    return cycles / nanoseconds


def clock_maps(ranks: dict[int, dict[str, Any]]) -> dict[int, ClockMap]:
    """For each rank with records the function from its counter values to nanoseconds since rank 0's clock_begin."""
    base_rank = min(ranks)
    base = ranks[base_rank]
    rate = frequency(base)
    origin = base["clock_begin"]["cycles"]
    maps: dict[int, ClockMap] = {}
    for rank, metadata in ranks.items():
        if not is_recorded(metadata):
            continue
        slope, anchor, image = _line_to_base(metadata, base)
        maps[rank] = _make_map(slope / rate, anchor, (image - origin) / rate)
    return maps


def _make_map(slope: float, anchor: int, image: float) -> ClockMap:
    def to_nanoseconds(cycles: np.ndarray) -> np.ndarray:
        # Subtract as integers first: counters exceed the 53 bits of a double.
        return np.rint((cycles - np.uint64(anchor)).view(np.int64) * slope + image).astype(np.int64)

    return to_nanoseconds


def _line_to_base(metadata: dict[str, Any], base: dict[str, Any]) -> tuple[float, int, int]:
    """(slope, anchor, image): base counter = (own counter - anchor) * slope + image."""
    if metadata is base or metadata["boot_id"] == base["boot_id"]:
        begin = metadata["clock_begin"]["cycles"]
        return 1.0, begin, begin
    samples = [(sample["local"], (sample["sent"] + sample["received"]) // 2) for sample in metadata["clock_samples"]]
    if not samples:
        raise ClockError(
            f"rank {metadata['rank']} ran on another machine than rank 0 and its clock offset was not measured: "
            "it was killed inside MPI_Init, or some ranks did not record"
        )
    first, last = samples[0], samples[-1]
    if last[0] > first[0]:
        slope = (last[1] - first[1]) / (last[0] - first[0])
    else:  # one sample, the program was killed: offset only
        slope = frequency(base) / frequency(metadata)
    return slope, first[0], first[1]
