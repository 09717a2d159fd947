# SPDX-License-Identifier: Apache-2.0
"""A trace with samples of call stacks, made by hand. Its program is not there: what a symbolizer would have said of it
lies in the trace's folder, as after a first report."""
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from handmade import COMPLETE, IMPLICIT, SWITCH, A, Stream, save

MS = 1_000_000
INITIAL = 1  # ompt_task_initial
BARRIER = 3
# Where code is: of each file its first address, and its functions in steps of 0x100.
FILES = {"/there/app": 0x10000, "/there/libmarline.so.1": 0x20000, "/lib/libc.so.6": 0x30000}
# By name: address, file, and the functions there, from the innermost inlined one on, each with its line.
CODE = {
    "body": (0x10100, "/there/app", [("body", 10)]),
    "middle": (0x10200, "/there/app", [("inner", 21), ("middle", 20)]),
    "other": (0x10300, "/there/app", [("other", 30)]),
    "main": (0x10400, "/there/app", [("main", 40)]),
    "outlined": (0x10500, "/there/app", [("main._omp_fn.0", 50)]),
    "_start": (0x10600, "/there/app", [("_start", 0)]),
    "worker": (0x20100, "/there/libmarline.so.1", [("marline_worker", 0)]),
    "copy": (0x30100, "/lib/libc.so.6", [("memcpy", 0)]),
    "entry": (0x30200, "/lib/libc.so.6", [("__libc_start_main", 0)]),
}
SIZE = 0x1000


def sample(stream: Stream, time: int, task: int, *stack: str, weight: int = MS) -> Stream:
    """`stack`: names of CODE, the innermost first."""
    for place, name in enumerate(stack):
        address = CODE[name][0] if name in CODE else 0x7000 + place  # code that no file has
        stream.add(1000 + time, "sample", task, code=address + (place > 0), outward=len(stack) - 1 - place,
                   weight=weight if place == 0 else 0)
    return stream


def write_symbols(folder: Path) -> None:
    files: dict[str, dict[str, list[list[object]]]] = {}
    for address, path, chain in CODE.values():
        source = "/src/app.c" if path == "/there/app" else ""
        places = [[name, source if line else "", line] for name, line in chain]
        files.setdefault(f"{path}  inlined", {})[str(address - FILES[path])] = places
        files.setdefault(f"{path} ", {})[str(address - FILES[path])] = places[-1:]
    (folder / "symbols.cache").write_text(json.dumps({"format": "marline-symbols 2", "files": files}))


def save_sampled(folder: Path, streams: Sequence[Stream], rank: int = 0, size: int = 0) -> Path:
    write_symbols(folder)
    maps = [{"begin": begin, "end": begin + SIZE, "offset": 0, "build_id": "", "path": path}
            for path, begin in FILES.items()]
    return save(folder, list(streams), rank, size=size, maps=maps, sample_hz=1000, argv=["./app"], exe="/there/app",
                host="node", runtime="Marline 9")  # fmt: skip


def write_sampled(folder: Path) -> Path:
    """Serial code: 2 ms in other. Task A, from 10 to 20 ms: 3 ms in memcpy, which inner calls, which is inlined into
    middle, which body calls; 1 ms in body itself; both on a stack that the runtime began. Then 1 ms in a barrier."""
    serial = ("main", "entry", "_start")
    one = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=1, size=1, flags=INITIAL)
    sample(one, MS, IMPLICIT, "other", *serial, weight=2 * MS)
    one.add(1000 + 9 * MS, "task_create", A, parent=IMPLICIT, flags=4)
    one.add(1000 + 10 * MS, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    for time, weight in ((11, 1), (12, 2)):
        sample(one, time * MS, A, "copy", "middle", "body", "worker", *serial, weight=weight * MS)
    sample(one, 13 * MS, A, "body", "worker")
    one.add(1000 + 20 * MS, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    one.add(1000 + 21 * MS, "wait_begin", IMPLICIT, kind=BARRIER)
    sample(one, 22 * MS, IMPLICIT, "worker", *serial)
    one.add(1000 + 23 * MS, "wait_end", IMPLICIT, kind=BARRIER)
    return save_sampled(folder, [one.add(1000 + 24 * MS, "implicit_end", IMPLICIT)])


def write_sampled_ranks(folder: Path) -> Path:
    """Two ranks. Serial code of rank 0: 2 ms in other. Of rank 1: 4 ms in other, and
    1 ms in body."""
    for rank, pieces in enumerate(([("other", 2)], [("other", 4), ("body", 1)])):
        stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=1, size=1, flags=INITIAL)
        for number, (name, weight) in enumerate(pieces):
            sample(stream, (1 + number) * MS, IMPLICIT, name, "main", "entry", "_start", weight=weight * MS)
        save_sampled(folder, [stream.add(1000 + 24 * MS, "implicit_end", IMPLICIT)], rank, size=2)
    return folder
