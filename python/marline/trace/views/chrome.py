# SPDX-License-Identifier: Apache-2.0
"""Writes a Timeline in Chrome's trace event format (JSON; chrome://tracing, Perfetto and Speedscope read it), chunk by
chunk in bounded memory. Ranks are its processes; lanes are threads with numbers above all real threads'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..read.progress import Progress, no_progress
from .timeline import CATEGORIES, NOTES, Counter, Timeline

_CHUNK = 1 << 16


class _Events:
    """The elements of `traceEvents`, one a line."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._separator = "\n"

    def add(self, events: list[dict[str, Any]]) -> None:
        self.add_text([json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in events])

    def add_text(self, events: list[str]) -> None:
        if events:
            self._file.write(self._separator + ",\n".join(events))
            self._separator = ",\n"


def write_chrome(drawn: Timeline, path: str | Path, progress: Progress = no_progress) -> None:
    """Writes the whole timeline to `path`."""
    with Path(path).open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[')
        events = _Events(file)
        events.add(_names(drawn))
        _add_slices(events, drawn, progress)
        _add_arrows(events, drawn)
        for counter in drawn.counters:
            _add_counter(events, counter)
        file.write("\n]}\n")


def _names(drawn: Timeline) -> list[dict[str, Any]]:
    processes = [{"ph": "M", "name": "process_name", "pid": rank, "args": {"name": name}}
                 for rank, name in drawn.processes.items()]  # fmt: skip
    threads = [{"ph": "M", "name": "thread_name", "pid": rank, "tid": track, "args": {"name": name}}
               for rank, track, name in drawn.tracks]  # fmt: skip
    order = [{"ph": "M", "name": "thread_sort_index", "pid": rank, "tid": track, "args": {"sort_index": place}}
             for place, (rank, track, _) in enumerate(drawn.tracks)]  # fmt: skip
    return [*processes, *threads, *order]


def _add_slices(events: _Events, drawn: Timeline, progress: Progress) -> None:
    """Complete events ("X"), an outer one before its inner ones. Written out by hand: there are millions."""
    slices = drawn.slices
    names = [json.dumps(name, ensure_ascii=False) for name in drawn.names]
    order = np.lexsort((slices.depth, slices.start))
    for first in range(0, len(order), _CHUNK):
        rows = order[first : first + _CHUNK]
        columns = (slices.rank, slices.track, slices.start, slices.end, slices.name, slices.category, slices.note)
        events.add_text([
            f'{{"ph":"X","pid":{rank},"tid":{track},"ts":{start / 1000},"dur":{(end - start) / 1000},'
            f'"name":{names[name]},"cat":"{CATEGORIES[category]}","args":{{"{NOTES[category]}":{note}}}}}'
            for rank, track, start, end, name, category, note in zip(*(one[rows].tolist() for one in columns),
                                                                     strict=True)
        ])  # fmt: skip
        progress("Chrome file", first + len(rows), len(order))


def _add_counter(events: _Events, counter: Counter) -> None:
    head = f'{{"ph":"C","pid":{counter.rank},"name":{json.dumps(counter.name)},"ts":'
    for first in range(0, len(counter.time), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        pairs = zip(counter.time[chunk].tolist(), counter.value[chunk].tolist(), strict=True)
        events.add_text([f'{head}{time / 1000},"args":{{"tasks":{value}}}}}' for time, value in pairs])


def _add_arrows(events: _Events, drawn: Timeline) -> None:
    """Flow events: they belong to the slice that is open at their time, so one at a slice's end stands 1 ns before."""
    slices, arrows = drawn.slices, drawn.arrows
    last_moment = np.maximum(slices.end - 1, slices.start)
    source_time = np.where(arrows.is_message, slices.start[arrows.source], last_moment[arrows.source])
    sink_time = np.where(arrows.is_message, last_moment[arrows.sink], slices.start[arrows.sink])
    for first in range(0, len(arrows.source), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        pair = []
        columns = (arrows.source, arrows.sink, arrows.is_message, arrows.is_copy, source_time, sink_time)
        for number, (source, sink, is_message, is_copy, left, reached) in enumerate(
            zip(*(column[chunk].tolist() for column in columns), strict=True), start=first
        ):
            name = "copy" if is_copy else "message" if is_message else "dependence"
            common = {"id": number, "cat": "flow", "name": name}
            pair.append({"ph": "s", "pid": int(slices.rank[source]), "tid": int(slices.track[source]),
                         "ts": left / 1000, **common})  # fmt: skip
            pair.append({"ph": "f", "bp": "e", "pid": int(slices.rank[sink]), "tid": int(slices.track[sink]),
                         "ts": reached / 1000, **common})  # fmt: skip
        events.add(pair)
