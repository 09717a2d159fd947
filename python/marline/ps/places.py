# SPDX-License-Identifier: Apache-2.0
"""Where waiters are in the source: their stacks unwound, and the functions that are the program's own named, with one
call of a symbolizer for each file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Tuple  # of older Pythons

from marline.ps.answers import clean
from marline.ps.job import Kernel, Process, Thread, Waiter, Worker
from marline.ps.unwind import Code, Frame, Stack, scan, unwind
from marline.symbolizer import Failure, ask_inlined

# Of the runtimes below the program's own code, by the beginnings of their files' names.
RUNTIMES = ("libmarline", "libmpi", "libmpich", "libopen-", "libomp", "libiomp", "libgomp", "libc.so", "libc-", "ld-",
            "libpthread", "libucp", "libuct", "mca_")  # fmt: skip
PATIENCE = 120.0  # seconds for the symbolizers
Place = Tuple[str, int]  # a file and an address in it


class Places:
    """Collects addresses, then names them all."""

    def __init__(self) -> None:
        self.wanted: dict[str, set[int]] = {}
        self.names: dict[Place, list[str]] = {}  # with what was inlined there first
        self.notes: list[str] = []

    def place(self, code: Code, address: int) -> Place | None:
        mapping = code.find(address)
        if mapping is None:
            return None
        file = code.file(mapping)
        offset = address - mapping.begin + mapping.offset
        place = mapping.path, file.address(offset) if file else offset
        self.wanted.setdefault(place[0], set()).add(place[1])
        return place

    def resolve(self) -> None:
        until = time.monotonic() + PATIENCE
        for path, addresses in self.wanted.items():
            ordered = sorted(addresses)
            try:
                if time.monotonic() > until:
                    raise Failure(f"symbolizers have taken {PATIENCE:g} s for other files")
                found = ask_inlined(path, ordered)
            except Failure as failure:
                self.notes.append(f"functions of {Path(path).name} have no names: {failure}")
                found = [[] for _ in ordered]
            for address, locations in zip(ordered, found):
                names = [clean(location.short()) for location in locations]
                self.names[path, address] = names or [f"{Path(path).name}+{address:#x}"]


def locate(processes: Iterable[Process]) -> list[str]:
    """Fills `frames` of all waiters, `name` of the functions that threads run, and `where` of regions. Returns
    remarks."""
    places = Places()
    todo: list[tuple[Waiter, list[Place]]] = []
    running: list[tuple[Thread, Place]] = []
    regions: list[tuple[Kernel, Place]] = []
    for process in processes:
        code = Code(process.maps)
        todo += _stacks_of(places, process)
        for thread in process.threads:
            place = _function_of(code, places, thread) if thread.state == "runs" else None
            running += [(thread, place)] if place else []
        for worker in process.workers:
            regions += _regions_of(places, worker)
            if worker.process:
                todo += _stacks_of(places, worker.process)
    places.resolve()
    for kernel, place in regions:
        name = places.names[place][-1]
        kernel.where = f"the target region in {name}" if ":" in name else kernel.where
    for waiter, named in todo:
        waiter.frames = [name for place in named for name in places.names[place]]
    for thread, place in running:
        assert thread.task is not None
        thread.task["function"] = places.names[place][-1]
    return places.notes


def _stacks_of(places: Places, process: Process) -> list[tuple[Waiter, list[Place]]]:
    code, stacks = Code(process.maps), []
    for waiter in process.waiters:
        found = [places.place(code, frame.address - 1) for frame in _own_frames(code, waiter)]
        stacks.append((waiter, [place for place in found if place]))
    return stacks


def _regions_of(places: Places, worker: Worker) -> list[tuple[Kernel, Place]]:
    """The regions that are reported as a place in the program."""
    found = [(kernel, worker.place_of(kernel)) for kernel in worker.kernels]
    known = [(kernel, place) for kernel, place in found if place]
    for _, (path, address) in known:
        places.wanted.setdefault(path, set()).add(address)
    return known


def _is_runtime(code: Code, frame: Frame) -> bool:
    mapping = code.find(frame.address - 1)
    return mapping is None or os.path.basename(mapping.path).startswith(RUNTIMES)


def _own_frames(code: Code, waiter: Waiter) -> list[Frame]:
    """The program's frames between the runtime's frames that suspended the task and the frames that had called it."""
    stack = _stack(waiter)
    if stack is None:
        return []
    frames = scan(code, stack, stack.low) if waiter.stack.get("scan") else unwind(code, stack)
    while frames and _is_runtime(code, frames[0]):
        frames.pop(0)
    own: list[Frame] = []
    for frame in frames:
        if _is_runtime(code, frame):
            break
        own.append(frame)
    waiter.guessed = any(frame.guessed for frame in own)
    return own[:1] if waiter.stack.get("scan") else own


def _stack(waiter: Waiter) -> Stack | None:
    pieces = waiter.stack.get("stack")
    if not pieces or "sp" not in waiter.stack:
        return None
    return Stack(int(waiter.stack["sp"], 16), bytes.fromhex("".join(pieces)))


def _function_of(code: Code, places: Places, thread: Thread) -> Place | None:
    """Of the task that the thread runs: one of the first words of its block."""
    for word in (thread.task or {}).get("block", []):
        mapping = code.find(int(word, 16))
        if mapping and not os.path.basename(mapping.path).startswith(RUNTIMES):
            return places.place(code, int(word, 16))
    return None
