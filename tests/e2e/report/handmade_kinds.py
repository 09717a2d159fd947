# SPDX-License-Identifier: Apache-2.0
"""Small traces of all kinds of programs, made by hand: TRACES, by name, functions that fill a folder."""
from __future__ import annotations

from pathlib import Path

from handmade import IMPLICIT, Stream, save, suspended_receive
from handmade_ranks import two_ranks


def of_loops(folder: Path) -> Path:
    """A program without tasks: two threads with a loop and a region each."""
    streams = []
    for thread, task in ((1, IMPLICIT), (2, 201)):
        stream = Stream(thread).add(1000, "implicit_begin", task, parallel=300, index=thread - 1, size=2)
        stream.add(1000, "text", 70 + thread, low=int.from_bytes(b"step", "little"))
        stream.add(1010, "region_begin", task, text=70 + thread).add(1010, "work_begin", task, kind=10)
        stream.add(1000 + 30 * thread, "work_end", task, kind=10).add(1090, "region_end", task)
        streams.append(stream.add(1100, "implicit_end", task))
    return save(folder, streams)


def of_device(folder: Path) -> Path:
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1001, "text", 71, low=int.from_bytes(b"process", "little"))
    stream.add(1001, "device_begin", 0, text=71, device=0)
    stream.add(1010, "device_copy", 500, elapsed=20, device=0, bytes=64, kind=2, other=0)
    stream.add(1030, "device_kernel", 500, elapsed=50, device=0)
    return save(folder, [stream.add(1100, "implicit_end", IMPLICIT)])


TRACES = {"ranks": two_ranks, "suspended": lambda folder: save(folder, suspended_receive()), "loops": of_loops,
          "device": of_device}  # fmt: skip
