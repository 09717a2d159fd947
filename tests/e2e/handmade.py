# SPDX-License-Identifier: Apache-2.0
"""Writes trace files by hand, for the tests of what reads them. One cycle is one nanosecond, and counters start at
1000, so times in a test are small round numbers."""
from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
# A link to the sources, beside the library that the package loads.
PACKAGE = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release")).resolve() / "lib" / "marline" / "python"
sys.path.insert(0, str(PACKAGE))

from handmade_file import array, whole, windows  # noqa: E402
from marline.trace.read import events, reader  # noqa: E402
from marline.trace.read.container import WINDOW_RECORDS  # noqa: E402
from marline.trace.read.events import CALL_NUMBER, EVENTS  # noqa: E402

COMPLETE, DETACH, EARLY_FULFILL, LATE_FULFILL, SWITCH = 1, 4, 5, 6, 7  # ompt_task_status_t
EXPLICIT, TASKWAIT, UNDEFERRED, UNTIED = 0x04, 0x10, 0x08 << 8, 0x10 << 8  # ompt_task_flag_t, as packed
IMPLICIT, A, B, C = 101, 102, 103, 104  # task ids


@dataclass
class Stream:
    """Records of one thread, written as the recorder would."""

    thread: int = 1
    window: int = WINDOW_RECORDS  # how many a window has, at most
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

    def data(self, process: int = 1) -> bytes:
        """Its windows in a node's file."""
        return windows(process, self.thread, array(self.records), self.window)


def description(rank: int = 0, **changes: Any) -> dict[str, Any]:
    return {"format": reader.FORMAT, "rank": rank, "size": 0, "file": f"rank{rank:04}.mtr", "process": 1,
            "boot_id": "here", "fingerprint": f"{events.FINGERPRINT:016x}",
            "clock_begin": {"cycles": 1000, "monotonic_ns": 5000}, "clock_end": {"cycles": 2000, "monotonic_ns": 6000},
            "clock_samples": [], "maps": []} | changes


def save(folder: Path, streams: list[Stream], rank: int = 0, **changes: Any) -> Path:
    """A rank has a file of its own here, rank0000.mtr: as if each had run on another node."""
    (folder / f"rank{rank:04}.json").write_text(json.dumps(description(rank, **changes)))
    (folder / f"rank{rank:04}.mtr").write_bytes(whole(stream.data() for stream in streams))
    return folder


def suspended_receive() -> list[Stream]:
    """Task A receives (110 to 160) and is suspended (120 to 150) while B runs on its thread; it resumes on another."""
    call = {"peer": 1, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    first.add(1010, "task_create", A, parent=IMPLICIT).add(1020, "task_create", B, parent=IMPLICIT)
    first.add(1100, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    first.add(1110, "mpi_enter", A, **call)
    first.add(1120, "task_schedule", A, next=B, status=SWITCH)
    first.add(1140, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    first.add(1200, "implicit_end", IMPLICIT)
    second = Stream(2).add(1005, "implicit_begin", 201, index=1, size=2)
    second.add(1150, "task_schedule", 201, next=A, status=SWITCH)
    second.add(1160, "mpi_exit", A, **call)
    second.add(1170, "task_schedule", A, next=201, status=COMPLETE)
    second.add(1190, "implicit_end", 201)
    return [first, second]
