# SPDX-License-Identifier: Apache-2.0
"""Writes a ring's file by hand, as the recorder leaves it (trace/base/ring.hpp), for the tests of its reader. `folded`
says in plain Python what the recorder keeps of the windows that it overwrites (trace/file/kept.hpp)."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from handmade import COMPLETE, Stream, save
from marline.trace.read import events, ring
from marline.trace.read.events import EVENTS
from marline.trace.read.container import RECORD

Raw = tuple[int, int, tuple[int, int]]
IDS = (1 << 48) - 1
NAME = {event.number: name for name, event in EVENTS.items()}


def save_ring(folder: Path, streams: list[Stream], horizon: int, gone: dict[int, int] | None = None) -> Path:
    """All records in slots, but the first `gone` ones of each thread, which are folded into the table."""
    gone = gone or {}
    kept = folded({one.thread: one.records[: gone.get(one.thread, 0)] for one in streams})
    save(folder, [], ring="rank0000.ring")
    parts, index = [], []
    for stream in streams:
        left = np.array(stream.records[gone.get(stream.thread, 0) :], dtype=RECORD)
        for copy, at in enumerate(range(0, len(left), ring.WINDOW), 1):
            window = np.zeros(ring.WINDOW, dtype=RECORD)
            part = left[at : at + ring.WINDOW]
            window[: len(part)] = part
            parts.append(window)
            index.append((len(index) + 1, stream.thread, len(part), copy, 0))
    table = np.array(kept, dtype=RECORD)
    slots_at = ring.HEADER.size + len(index) * ring.SLOT.itemsize
    places = slots_at + sum(one.nbytes for one in parts)
    where = (len(index), slots_at, ring.HEADER.size, places, len(table), slots_at, 0)
    counts = (0, 0, len(index), horizon, 0, 0, 1, RECORD.itemsize, 0, 0, 0)
    header = ring.HEADER.pack(ring.MAGIC, events.FINGERPRINT, *where, *counts)
    content = [*(one.tobytes() for one in parts), table.tobytes()]
    (folder / "rank0000.ring").write_bytes(header + np.array(index, dtype=ring.SLOT).tobytes() + b"".join(content))
    return folder


def folded(records: dict[int, list[Raw]]) -> list[Raw]:
    """The table's entries after these records of each thread: lives, open scopes of implicit tasks, current tasks."""
    lives: dict[int, Raw] = {}
    scopes: list[Raw] = []
    current: dict[int, int] = {}
    for thread, ones in records.items():
        for time, head, payload in ones:
            task, name, following = head >> 16, NAME[head & 0xFFFF], payload[0] & IDS
            if name in ("task_create", "implicit_begin"):
                ended = task in lives  # its end was folded before it
                lives.pop(task, None) if ended else lives.update({task: (time, head, payload)})
                current[thread] = task if name == "implicit_begin" else current.get(thread, 0)
            elif name == "task_schedule":
                current[thread] = following
                if payload[0] >> 48 == COMPLETE:
                    end = (time, task << 16 | EVENTS["task_run"].number, (0, 0))
                    lives.pop(task, None) if task in lives else lives.update({task: end})
                if NAME.get(lives.get(following, (0, 0, (0, 0)))[1] & 0xFFFF) == "task_create":
                    when, begun, (first, second) = lives[following]
                    lives[following] = (when, begun, (first, second & IDS | 1 << 48))
            elif name == "wait_begin":
                scopes.append((time, head, payload))
            elif name == "implicit_end":
                lives.pop(task)
                scopes = [one for one in scopes if one[1] >> 16 != task]
                current[thread] = thread << 32
    on = EVENTS["recording_on"].number
    return [*lives.values(), *scopes, *((1, thread << 16 | on, (task, 0)) for thread, task in current.items())]
