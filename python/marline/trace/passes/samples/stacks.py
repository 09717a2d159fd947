# SPDX-License-Identifier: Apache-2.0
"""Sampled call stacks as columns of frames, with the functions that compilers have inlined, and without what is no part
of the program: the runtime's frames around a task, the C library's around main."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import symbols
from ...model import lane_number
from ...read.columns import distinct, group_starts
from ...read.records import TASK_BITS, Trace
from ...symbols import Location

# Where a stack ends that belongs to a task or a region: OpenMP runtimes, by the beginnings of their files' names.
_OPENMP = ("libmarline", "libomp", "libiomp", "libgomp")
# Code that is no program's: a frame of it is shown where the program called it, and not where it called the program.
_SYSTEM = (*_OPENMP, "libmpi", "libmpich", "libopen-", "libc.so", "libc-", "ld-", "libpthread", "linux-vdso", "[vdso]")
_ENTRY = "_start"
_NO_NAME = re.compile(r"^(?P<file>.*)\+0x[0-9a-f]+$|^0x[0-9a-f]+$")


@dataclass
class Frames:
    """All samples' frames, sample by sample, innermost first. `function` and `line` by frame; `names` and `files` by
    function; `sample`: row of the sample, `place`: 0 for its innermost frame. `of_program`: by sample, whether the
    program's own code is in it."""

    sample: np.ndarray
    place: np.ndarray
    function: np.ndarray
    line: np.ndarray
    names: list[str]
    files: list[str]
    of_program: np.ndarray
    notes: list[str]  # why code has no name


@dataclass
class Stacks:
    """A row per sample, by rank, thread and time. `record`: its first record; `weight`: ns of CPU time."""

    record: np.ndarray
    weight: np.ndarray
    first: np.ndarray  # of `code`, innermost first
    depth: np.ndarray
    code: np.ndarray  # addresses after a call, also of the innermost frames
    rank: np.ndarray  # of each frame


def find_stacks(trace: Trace) -> Stacks:
    rows = trace.select("sample")
    outward, weight = (trace.field("sample", name, rows).astype(np.int64) for name in ("outward", "weight"))
    starts = group_starts(lane_number(trace.rank[rows], trace.thread[rows])) | (weight > 0)
    starts[1:] |= outward[1:] != outward[:-1] - 1
    first = np.flatnonzero(starts)
    code = trace.field("sample", "code", rows).copy()
    code[first] += np.uint64(1)
    return Stacks(rows[first], weight[first], first, np.diff(np.r_[first, len(rows)]), code,
                  trace.rank[rows].astype(np.int64))  # fmt: skip


def name_frames(trace: Trace, stacks: Stacks, in_task: np.ndarray) -> Frames:
    """Each address is named once. Of an address, the innermost inlined function comes first. `in_task`: which samples
    belong to explicit tasks."""
    bits = np.uint64(TASK_BITS)  # of addresses, too
    key = stacks.rank.astype(np.uint64) << bits | stacks.code & np.uint64((1 << TASK_BITS) - 1)
    known_keys = distinct(key)
    unit = np.searchsorted(known_keys, key)
    rank, code = (known_keys >> bits).astype(np.int64), known_keys & np.uint64((1 << TASK_BITS) - 1)
    known = symbols.locate_inlined(trace.ranks, {one: code[rank == one] for one in np.unique(rank).tolist()})
    files = [_file_of(trace.ranks[one].get("maps", []), address) for one, address in zip(rank.tolist(), code.tolist())]
    chains = [known.places[key] for key in zip(rank.tolist(), code.tolist())]
    kept, of_program = _own_frames(stacks, unit, files, chains, in_task)
    table = _Functions()
    numbers = [[table.number(place, file) for place in chain] for chain, file in zip(chains, files)]
    return table.frames(np.repeat(np.arange(len(stacks.first)), stacks.depth)[kept], unit[kept], numbers,
                        [[place.line for place in chain] for chain in chains], of_program,
                        [note for note in known.notes if _is_about_program(trace, note)])  # fmt: skip


def _file_of(maps: list[dict[str, Any]], address: int) -> str:
    """The name of the file in which this address lies."""
    return next((Path(one["path"]).name for one in maps if one["begin"] < address <= one["end"]), "")


def _is_about_program(trace: Trace, note: str) -> bool:
    """A library without debug information is no fault of the program's author."""
    programs = {Path(one.get("exe", "")).name for one in trace.ranks.values()}
    return any(Path(word).name in programs for word in note.split())


def _own_frames(stacks: Stacks, unit: np.ndarray, files: list[str], chains: list[list[Location]],
                in_task: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(which frames are shown; which samples have a frame of the program).

    Outward from the innermost frame of the program, the first frame of an OpenMP runtime ends the stack; and what is
    outside of the program's outermost frame is not shown. A stack without a frame of the program is shown as it is; of
    a task, whose body has jumped into the last function that it calls, up to the runtime."""
    if not len(stacks.first):
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    system = np.array([not file or file.startswith(_SYSTEM) or chain[-1].function == _ENTRY
                       for file, chain in zip(files, chains)])[unit]  # fmt: skip
    openmp = np.array([file.startswith(_OPENMP) for file in files])[unit]
    sample = np.repeat(np.arange(len(stacks.first)), stacks.depth)
    place = np.arange(len(unit)) - stacks.first[sample]
    own = np.minimum.reduceat(np.where(system, stacks.depth[sample], place), stacks.first)
    of_program = own < stacks.depth
    jumped = in_task & ~of_program
    own[jumped] = 0
    end = np.minimum.reduceat(np.where(openmp & (place > own[sample]), place, stacks.depth[sample]), stacks.first)
    outermost = np.maximum.reduceat(np.where(~system & (place < end[sample]), place, -1), stacks.first)
    outermost[jumped] = end[jumped] - 1
    return (place <= outermost[sample]) | (outermost < 0)[sample], of_program


class _Functions:
    """Numbers the functions, by name and file."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, place: Location, file: str) -> int:
        name = place.written()
        # Addresses without a name are one function per file: else each would be a function of its own.
        if not place.line and (found := _NO_NAME.match(name)):
            name = f"[{file or found['file'] or 'unknown code'}]"
        return self._numbers.setdefault((name, place.file or file), len(self._numbers))

    def frames(self, sample: np.ndarray, unit: np.ndarray, numbers: list[list[int]], lines: list[list[int]],
               of_program: np.ndarray, notes: list[str]) -> Frames:  # fmt: skip
        """Each frame becomes as many as there are functions at its address."""
        each = np.array([len(one) for one in numbers], dtype=np.int64)
        first = np.cumsum(each) - each
        flat, flat_lines = (np.array([one for some in table for one in some], dtype=np.int64)
                            for table in (numbers, lines))  # fmt: skip
        count = each[unit]
        frame = np.repeat(np.arange(len(unit)), count)
        inside = np.arange(len(frame)) - np.repeat(np.cumsum(count) - count, count)
        at = first[unit[frame]] + inside if len(frame) else frame
        of_sample = sample[frame]
        starts = np.flatnonzero(group_starts(of_sample))
        place = np.arange(len(frame)) - np.repeat(starts, np.diff(np.r_[starts, len(frame)]))
        return Frames(of_sample, place, flat[at], flat_lines[at], [name for name, _ in self._numbers],
                      [file for _, file in self._numbers], of_program, notes)  # fmt: skip
