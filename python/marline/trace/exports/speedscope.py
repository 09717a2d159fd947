# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline for speedscope (https://www.speedscope.app; file-format-spec.ts in its sources): a profile of
nested calls for each thread, and for each lane of suspended calls or of a device; and of each rank its sampled call
stacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..passes.samples.functions import Samples
from ..views.timeline import Timeline
from .nested import Track, nested_tracks

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write_speedscope(drawn: Timeline, samples: Samples, path: str | Path, name: str) -> None:
    names = drawn.slices.name.tolist()
    last = int(drawn.slices.end.max(initial=0))
    with Path(path).open("w", encoding="utf-8") as file:
        stacks = samples.owners.names, samples.frames.names
        frames = json.dumps([{"name": one} for some in (drawn.names, *stacks) for one in some], ensure_ascii=False)
        file.write(f'{{"$schema":"{SCHEMA}","exporter":"marline","name":{json.dumps(name)},"activeProfileIndex":0,'
                   f'"shared":{{"frames":{frames}}},"profiles":[')  # fmt: skip
        separator = "\n"
        for track in nested_tracks(drawn):
            file.write(f"{separator}{_profile(track, names, last)}")
            separator = ",\n"
        for profile in _sampled(samples, len(drawn.names)):
            file.write(f"{separator}{profile}")
            separator = ",\n"
        file.write("\n]}\n")


def _sampled(samples: Samples, first: int) -> Iterator[str]:
    """The outermost frame of each stack is what it belongs to. `first`: number of the first such frame."""
    frames, owners, rank = samples.frames, samples.owners, samples.stacks.rank[samples.stacks.first]
    outward = np.lexsort((-frames.place, frames.sample))
    function = frames.function[outward] + first + len(owners.names)
    stacks = np.split(function, np.flatnonzero(np.diff(frames.sample)) + 1)
    for one in np.unique(rank).tolist():
        rows = np.flatnonzero(rank == one).tolist()
        weight = samples.stacks.weight[rows].tolist()
        owner = (owners.of_sample[rows] + first).tolist()
        yield json.dumps({
            "type": "sampled", "name": f"rank {one} samples of CPU time", "unit": "nanoseconds", "startValue": 0,
            "endValue": sum(weight), "weights": weight,
            "samples": [[root, *stacks[row].tolist()] for root, row in zip(owner, rows)],
        }, separators=(",", ":"))  # fmt: skip


def _profile(track: Track, names: list[int], last: int) -> str:
    title = json.dumps(f"rank {track.rank} {track.name}", ensure_ascii=False)
    events = ",".join(f'{{"type":"{"O" if opens else "C"}","frame":{names[row]},"at":{time}}}'
                      for time, row, opens in zip(track.time, track.row, track.opens, strict=True))  # fmt: skip
    return (f'{{"type":"evented","name":{title},"unit":"nanoseconds","startValue":0,"endValue":{last},'
            f'"events":[{events}]}}')  # fmt: skip
