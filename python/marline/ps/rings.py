# SPDX-License-Identifier: Apache-2.0
"""Copies the rings of running processes (MARLINE_TRACE_RING, docs/guide/tracing.md) into a folder that `marline report`
reads. The processes notice nothing: a ring is a file, and so are the windows of the threads.

A process writes while its files are read. The order of reading makes a consistent copy of it (trace/base/ring.hpp): the
table, the threads' windows, the slots, and then index and table once more. The copy ends when the windows were read:
what a slot has of later times may lack what other threads did before. A slot that was overwritten meanwhile is left
out: the second table has what it held. A window counts only up to where two readings of it agree. A task that only the
first table has may have ended meanwhile, or been overlooked while its entry moved: the reader believes the first table
where a record names the task."""

from __future__ import annotations

import json
import os
import re
import struct
import time
from pathlib import Path
from typing import Dict, Tuple  # of older Pythons

from marline.errors import Refusal, what_failed
from marline.ps.client import Door

HEADER = struct.Struct("<8s14QII32x")  # as in python/marline/trace/read/ring.py
MAGIC = b"MARLRNG1"
# In the header's reserve: where the first table stands in the copy, and its places; the copy's end, in cycles.
RESERVE = struct.Struct("<QQQ")
RESERVE_AT = 128
CHANGED = struct.Struct("<QQQQQ")  # of the header: slots and slots_at, index_at, table_at, places
CHANGED_AT = 16
MARGIN = 50_000  # ns: more than the error of a clock's frequency since the last window
SLOT = struct.Struct("<QIIQQ")
RECORD_BYTES, WINDOW_BYTES = 32, 65536
UNIT = struct.Struct("<8sIIIIQ32x")  # as in python/marline/trace/read/container.py: a window in the node's file
WINDOW_MAGIC = b"MARLWIN3"
TRIES = 8  # to read a window that its thread does not exchange meanwhile
Rings = Dict[int, Path]  # by rank


def ring_of(pid: int) -> Path | None:
    """The ring that a process of this machine writes."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    found = re.search(r" (/.*\.ring)$", maps, re.MULTILINE)
    return Path(found[1]) if found else None


def rings_of(doors: dict[int, Door]) -> tuple[Rings, list[int]]:
    """By rank; and the ranks whose ring is not found. Processes of other machines write beside those of this one, if
    the folder of the trace is on a file system that both have."""
    found = {}
    for rank, door in doors.items():
        ring = None if door.host else ring_of(door.pid)
        if ring is not None:
            found[rank] = ring
    if not found:
        return {}, sorted(doors)
    folder = next(iter(found.values())).parent
    for rank, door in doors.items():
        ring = folder / f"rank{rank:04}.ring"
        if door.host and ring.exists() and _pid(ring) == door.pid:
            found[rank] = ring
    return found, sorted(set(doors) - set(found))


def _pid(ring: Path) -> int:
    try:
        return int(json.loads(ring.with_suffix(".json").read_text(encoding="utf-8", errors="replace"))["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def copy_rings(rings: Rings, folder: Path, shared: bool = False) -> None:
    """`shared`: other commands copy other ranks into the same folder."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        taken = [ring for ring in rings.values() if (folder / ring.name).exists()]
        if taken or (not shared and any(folder.iterdir())):
            raise Refusal(f"{folder} is not empty: name a folder that is, or one that does not exist")
        for ring in rings.values():
            _copy(ring, folder)
    except OSError as error:
        raise Refusal(f"cannot copy the ring: {what_failed(error)}: name a folder that you can write, with space for "
                      "the ring of each rank") from error  # fmt: skip


def _copy(ring: Path, to: Path) -> None:
    text = ring.with_suffix(".json").read_bytes()
    description = json.loads(text.decode("utf-8", "replace"))
    for table in ring.parent.glob("events.*.def"):
        _write(to / table.name, table.read_bytes())
    with ring.open("rb") as file:
        earlier = _table(file.fileno())
        until = _now(_fields(file.fileno()), description["clock_begin"])
        windows = _windows(ring.with_name(Path(description["file"]).name), description["process"])
        _write(to / ring.name, _content(file.fileno(), earlier, windows, until))
    _write(to / ring.with_suffix(".json").name, text)  # last: without it there is no trace


def _write(path: Path, data: bytes) -> None:
    """For the owner only, as the recorder does."""
    with os.fdopen(os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(data)


def _fields(file: int) -> dict[str, int]:
    head = os.pread(file, HEADER.size, 0)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise Refusal("the ring has not begun yet, or is another version's: try again, with the version that writes it")
    names = ("", "fingerprint", "slots", "slots_at", "index_at", "table_at", "places", "definitions_at", "room",
             "defined", "lost", "appended", "horizon", "cycles", "nanoseconds")  # fmt: skip
    return dict(zip(names, HEADER.unpack(head)))


def _now(fields: dict[str, int], begin: dict[str, int]) -> int:
    """A moment before this one, in cycles: the processes' clock is known by two moments, both of them earlier."""
    elapsed = int(time.clock_gettime(time.CLOCK_MONOTONIC) * 1e9) - fields["nanoseconds"] - MARGIN
    rate = (fields["cycles"] - begin["cycles"]) / max(fields["nanoseconds"] - begin["monotonic_ns"], 1)
    return fields["cycles"] + int(elapsed * rate)


def _table(file: int) -> bytes:
    fields = _fields(file)
    return _read(file, fields["places"] * RECORD_BYTES, fields["table_at"])


def _read(file: int, count: int, offset: int) -> bytes:
    parts = []
    while count:
        part = os.pread(file, count, offset)
        if not part:
            raise Refusal("the ring is shorter than it says: its file is damaged")
        parts.append(part)
        count, offset = count - len(part), offset + len(part)
    return b"".join(parts)


Window = Tuple[int, int, bytes]  # thread, number in its sequence, records


def _content(file: int, earlier: bytes, windows: list[Window], until: int) -> bytes:
    """The whole file. The windows are further slots. Behind them are the second table, the first one, and the index."""
    fields = _fields(file)
    index_bytes = fields["slots"] * SLOT.size
    before = _read(file, index_bytes, fields["index_at"])
    slots = _read(file, fields["slots"] * WINDOW_BYTES, fields["slots_at"])
    after = _read(file, index_bytes, fields["index_at"])
    head = bytearray(_read(file, fields["slots_at"], 0))  # header, index and definitions
    table = _table(file)
    index = bytearray(before)
    for at in range(0, index_bytes, SLOT.size):
        if before[at : at + SLOT.size] != after[at : at + SLOT.size]:
            index[at : at + SLOT.size] = bytes(SLOT.size)
    copies = {(entry[1], entry[3]) for entry in SLOT.iter_unpack(bytes(index)) if entry[0]}
    last = max([entry[0] for entry in SLOT.iter_unpack(bytes(index))], default=0)
    # Without windows that a slot has a copy of: the copy is complete.
    new = [one for one in windows if (one[0], one[1] + 1) not in copies]
    for number, (thread, sequence, records) in enumerate(new, 1):
        index += SLOT.pack(last + number, thread, len(records) // RECORD_BYTES, sequence + 1, 0)
    content = slots + b"".join(records.ljust(WINDOW_BYTES, bytes(1)) for _, _, records in new)
    table_at = len(head) + len(content)
    earlier_at = table_at + len(table)
    CHANGED.pack_into(head, CHANGED_AT, fields["slots"] + len(new), fields["slots_at"], earlier_at + len(earlier),
                      table_at, len(table) // RECORD_BYTES)  # fmt: skip
    RESERVE.pack_into(head, RESERVE_AT, earlier_at, len(earlier) // RECORD_BYTES, until)
    return b"".join([head, content, table, earlier, index])


def _windows(path: Path, process: int) -> list[Window]:
    """Of the process, all that its threads have in the node's file."""
    found = []
    with path.open("rb") as file:
        at, end = WINDOW_BYTES, os.fstat(file.fileno()).st_size
        while at + UNIT.size <= end:
            magic, owner, _, _, units, _ = UNIT.unpack(os.pread(file.fileno(), UNIT.size, at))
            if magic == WINDOW_MAGIC and owner == process:
                found += _window(file.fileno(), at)
            at += max(1, units if magic != bytes(len(magic)) else 1) * WINDOW_BYTES
    return found


def _window(file: int, at: int) -> list[Window]:
    """Its records, but for those that were written while it was read. None if its thread exchanges it faster than it is
    read: the ring has it then."""
    for _ in range(TRIES):
        first, second = (os.pread(file, WINDOW_BYTES, at) for _ in range(2))
        magic, _, thread, _, _, sequence = UNIT.unpack(second[: UNIT.size])
        if first[: UNIT.size] != second[: UNIT.size] or magic != WINDOW_MAGIC:
            continue
        end = UNIT.size
        while end < len(first) and first[end : end + RECORD_BYTES] == second[end : end + RECORD_BYTES] and any(
                first[end : end + 8]):  # fmt: skip
            end += RECORD_BYTES
        return [(thread, sequence, first[UNIT.size : end])]
    return []


def no_ring(pid: int) -> Refusal:
    """What to do about a job that writes no ring."""
    return Refusal(f"process {pid} keeps no ring of its last records: start the job with MARLINE_TRACE_RING=64M and "
                   "`marline run --trace DIR`")  # fmt: skip
