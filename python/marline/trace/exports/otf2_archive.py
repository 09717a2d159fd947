# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline as an OTF2 archive, for Vampir, Scalasca and all that reads OTF2. Needs the package `otf2`, which
brings the library.

A rank is a location group, each of its threads a location, as are the lanes of suspended calls and of devices. Bars are
regions that are entered and left. A message is sent as its call begins, on the location of that call, and received as
the call ends in which the receiver got it. OTF2 knows ranks of MPI_COMM_WORLD only by a location each: their first
threads."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..registry import Analysis, AnalysisError
from ..views.timeline import CALL, FIRST_OF_DEVICES, HOST_SIDE, IMPLICIT, NODE, REGION, TASK, WAIT, Timeline
from ..views.timeline import KERNEL_RUN, TRANSFER
from .nested import Track, nested_tracks

_NANO = 1_000_000_000


def write_otf2(of: Analysis, drawn: Timeline, folder: str | Path) -> None:
    otf2 = _package()
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AnalysisError(f"--otf2 {folder}: is there already: name a new folder, or an empty one")
    if folder.exists():
        folder.rmdir()  # the library makes it
    with otf2.writer.open(str(folder), timer_resolution=_NANO) as writer:
        _Archive(otf2, writer, of, drawn).write()


def _package() -> Any:
    try:
        return importlib.import_module("otf2")
    except ImportError as error:
        raise AnalysisError(f"--otf2 needs the Python package otf2 ({error}): python3 -m pip install otf2") from error


class _Archive:
    def __init__(self, otf2: Any, writer: Any, of: Analysis, drawn: Timeline) -> None:
        self._otf2, self._writer, self._drawn = otf2, writer, drawn
        self._define = writer.definitions
        self._roles = {
            TASK: (otf2.RegionRole.TASK, otf2.Paradigm.OPENMP),
            IMPLICIT: (otf2.RegionRole.PARALLEL, otf2.Paradigm.OPENMP),
            WAIT: (otf2.RegionRole.IMPLICIT_BARRIER, otf2.Paradigm.OPENMP),
            REGION: (otf2.RegionRole.CODE, otf2.Paradigm.USER), CALL: (otf2.RegionRole.FUNCTION, otf2.Paradigm.MPI),
            TRANSFER: (otf2.RegionRole.DATA_TRANSFER, otf2.Paradigm.OPENMP_TARGET),
            KERNEL_RUN: (otf2.RegionRole.KERNEL, otf2.Paradigm.OPENMP_TARGET),
            HOST_SIDE: (otf2.RegionRole.DATA_TRANSFER, otf2.Paradigm.OPENMP_TARGET),
            NODE: (otf2.RegionRole.ARTIFICIAL, otf2.Paradigm.OPENMP_TARGET),
        }  # fmt: skip
        self._regions: dict[tuple[str, int], Any] = {}
        self._names, self._categories = drawn.slices.name.tolist(), drawn.slices.category.tolist()
        self._groups = self._define_ranks(of)
        self._messages = _Messages(of, drawn)
        self._world: Any = None

    def _define_ranks(self, of: Analysis) -> dict[int, Any]:
        root = self._define.system_tree_node("job", class_name="job")
        hosts: dict[str, Any] = {}
        groups = {}
        for rank, one in of.trace.ranks.items():
            host = one.get("host", "") or "host"
            if host not in hosts:
                hosts[host] = self._define.system_tree_node(host, class_name="node", parent=root)
            groups[rank] = self._define.location_group(f"rank {rank}", system_tree_parent=hosts[host])
        return groups

    def write(self) -> None:
        locations = [(track, self._location(track)) for track in nested_tracks(self._drawn)]
        if self._messages.any:
            self._define_world(locations)
        for track, location in locations:
            self._write_track(track, self._writer.event_writer_from_location(location))

    def _location(self, track: Track) -> Any:
        kinds = self._otf2.LocationType
        kind = kinds.ACCELERATOR_STREAM if track.number >= FIRST_OF_DEVICES else kinds.CPU_THREAD
        return self._define.location(track.name, type=kind, group=self._groups[track.rank])

    def _define_world(self, locations: Iterable[tuple[Track, Any]]) -> None:
        otf2, first = self._otf2, {}
        for track, location in locations:
            first.setdefault(track.rank, location)
        members = tuple(first[rank] for rank in sorted(first))
        self._messages.ranks = {rank: number for number, rank in enumerate(sorted(first))}
        self._define.group("MPI", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=members)
        group = self._define.group("MPI_COMM_WORLD", group_type=otf2.GroupType.COMM_GROUP, paradigm=otf2.Paradigm.MPI,
                                   members=members)  # fmt: skip
        self._world = self._define.comm("MPI_COMM_WORLD", group=group)

    def _region(self, row: int) -> Any:
        """Of a call of MPI only the function's name: by that, tools know what it does."""
        category = self._categories[row]
        name = self._drawn.names[self._names[row]]
        key = name.partition(" ")[0] if category == CALL else name, category
        if key not in self._regions:
            role, paradigm = self._roles[category]
            self._regions[key] = self._define.region(key[0], region_role=role, paradigm=paradigm)
        return self._regions[key]

    def _write_track(self, track: Track, events: Any) -> None:
        for time, row, opens in zip(track.time, track.row, track.opens, strict=True):
            if opens:
                events.enter(time, self._region(row))
                self._messages.each(self._messages.sent, row, lambda *one: events.mpi_send(time, *one), self._world)
            else:
                self._messages.each(self._messages.received, row, lambda *one: events.mpi_recv(time, *one), self._world)
                events.leave(time, self._region(row))


class _Messages:
    """By the slice of a call: the rank at the other end, tag and bytes of what it sends, and of what it gets."""

    def __init__(self, of: Analysis, drawn: Timeline) -> None:
        calls, messages = of["calls"], of["messages"]
        send, receive = messages.send, messages.receive
        tag, size = np.maximum(calls.tag[send], 0).tolist(), calls.bytes[send].astype(np.int64).tolist()
        self.any = len(send) > 0
        self.ranks: dict[int, int] = {}  # rank -> place among those that are in the trace
        self.sent = self._by_row(drawn.first_call + send, calls.rank[receive].tolist(), tag, size)
        self.received = self._by_row(drawn.first_call + receive, calls.rank[send].tolist(), tag, size)

    @staticmethod
    def _by_row(rows: np.ndarray, rank: list[int], tag: list[int],
                size: list[int]) -> dict[int, list[tuple[int, int, int]]]:  # fmt: skip
        found: dict[int, list[tuple[int, int, int]]] = {}
        for row, *one in zip(rows.tolist(), rank, tag, size, strict=True):
            found.setdefault(row, []).append(tuple(one))
        return found

    def each(self, table: dict[int, list[tuple[int, int, int]]], row: int, write: Callable[..., None],
             world: Any) -> None:  # fmt: skip
        for rank, tag, size in table.get(row, ()):
            write(self.ranks[rank], world, tag, size)
