# SPDX-License-Identifier: Apache-2.0
"""Writes trace files by hand, for the tests of what reads them. One cycle is one nanosecond, and counters start at
1000, so times in a test are small round numbers."""
from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from marline.trace.read import events, reader  # noqa: E402
from marline.trace.read.events import EVENTS  # noqa: E402

COMPLETE, DETACH, EARLY_FULFILL, LATE_FULFILL, SWITCH = 1, 4, 5, 6, 7  # ompt_task_status_t
EXPLICIT, TASKWAIT, UNDEFERRED, UNTIED = 0x04, 0x10, 0x08 << 8, 0x10 << 8  # ompt_task_flag_t, as packed
IMPLICIT, A, B, C = 101, 102, 103, 104  # task ids


@dataclass
class Stream:
    """Records of one thread, written as the recorder would."""

    thread: int = 1
    flushed: int = 0  # how many full windows the records begin with
    window: int = 2048
    records: list[tuple[int, int, tuple[int, int]]] = field(default_factory=list)

    def add(self, time: int, name: str, task: int, **values: int) -> "Stream":
        words = [0, 0]
        fields = EVENTS[name].fields
        assert set(values) <= set(fields)
        for key, value in values.items():
            where = fields[key]
            words[where.word] |= (value & (1 << where.bits) - 1) << where.shift
        self.records.append((time, task << 16 | EVENTS[name].number, (words[0], words[1])))
        return self

    def data(self) -> bytes:
        header = reader.HEADER.pack(reader.MAGIC, events.FINGERPRINT, reader.RECORD.itemsize, self.thread, 1, 1,
                                    self.window, self.flushed, 0)
        records = np.array(self.records, dtype=reader.RECORD)
        copied = self.flushed * self.window
        if not copied:
            return header + records.tobytes()
        live = records[copied - self.window : copied].copy()  # stale, but for what was written since
        live[: len(records) - copied] = records[copied:]
        return header + live.tobytes() + records[:copied].tobytes()


def description(rank: int = 0, **changes: Any) -> dict[str, Any]:
    return {"format": reader.FORMAT, "rank": rank, "size": 0, "files": f"rank{rank:04}.thread*.mtr", "boot_id": "here",
            "clock_begin": {"cycles": 1000, "monotonic_ns": 5000}, "clock_end": {"cycles": 2000, "monotonic_ns": 6000},
            "clock_samples": [], "maps": []} | changes


def save(folder: Path, streams: list[Stream], rank: int = 0, **changes: Any) -> Path:
    (folder / f"rank{rank:04}.json").write_text(json.dumps(description(rank, **changes)))
    for stream in streams:
        (folder / f"rank{rank:04}.thread{stream.thread:04}.mtr").write_bytes(stream.data())
    return folder
