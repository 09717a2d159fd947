# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline for speedscope (https://www.speedscope.app; file-format-spec.ts in its sources): a profile of
nested calls for each thread, and for each lane of suspended calls or of a device."""

from __future__ import annotations

import json
from pathlib import Path

from ..views.timeline import Timeline
from .nested import Track, nested_tracks

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write_speedscope(drawn: Timeline, path: str | Path, name: str) -> None:
    names = drawn.slices.name.tolist()
    last = int(drawn.slices.end.max(initial=0))
    with Path(path).open("w", encoding="utf-8") as file:
        frames = json.dumps([{"name": one} for one in drawn.names], ensure_ascii=False)
        file.write(f'{{"$schema":"{SCHEMA}","exporter":"marline","name":{json.dumps(name)},"activeProfileIndex":0,'
                   f'"shared":{{"frames":{frames}}},"profiles":[')  # fmt: skip
        separator = "\n"
        for track in nested_tracks(drawn):
            file.write(f"{separator}{_profile(track, names, last)}")
            separator = ",\n"
        file.write("\n]}\n")


def _profile(track: Track, names: list[int], last: int) -> str:
    title = json.dumps(f"rank {track.rank} {track.name}", ensure_ascii=False)
    events = ",".join(f'{{"type":"{"O" if opens else "C"}","frame":{names[row]},"at":{time}}}'
                      for time, row, opens in zip(track.time, track.row, track.opens, strict=True))  # fmt: skip
    return (f'{{"type":"evented","name":{title},"unit":"nanoseconds","startValue":0,"endValue":{last},'
            f'"events":[{events}]}}')  # fmt: skip
