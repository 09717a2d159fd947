# SPDX-License-Identifier: Apache-2.0
"""Code addresses of a trace to function, file and line, after the run: one call of a symbolizer per loaded file.

What was found is kept in the trace's folder, so that the names of the run stay valid when the program is built again.
What cannot be found is shown as `file+0xoffset` and said in `notes`, once per reason: never an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from marline import symbolizer
from marline.symbolizer import Location

_CACHE = "symbols.cache"  # not *.json: such files describe the processes
_CACHE_FORMAT = "marline-symbols 1"
_PT_LOAD, _PT_NOTE, _NT_GNU_BUILD_ID = 1, 4, 3


@dataclass
class Symbols:
    """Locations by rank and address, and remarks on what has none."""

    places: dict[tuple[int, int], Location] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return {"resolved": sum(place.line > 0 for place in self.places.values()), "notes": self.notes}


def locate(ranks: Mapping[int, dict[str, Any]], addresses: Mapping[int, np.ndarray]) -> Symbols:
    """Locations of the given code addresses of each rank's process. Equal places of equal files are looked up once."""
    found = Symbols()
    wanted: dict[_File, set[int]] = {}
    where: dict[tuple[int, int], tuple[_File, int]] = {}
    for rank, some in addresses.items():
        for address in np.unique(some[some != 0]).tolist():
            entry = next((e for e in ranks[rank].get("maps", []) if e["begin"] <= address < e["end"]), None)
            if entry is None:
                found.places[rank, address] = Location(f"{address:#x}", "", 0)
                continue
            file = _File(entry["path"], entry.get("build_id", ""))
            # A return address is the one after the call: one byte back is inside the call.
            where[rank, address] = file, address - 1 - entry["begin"] + entry["offset"]
            wanted.setdefault(file, set()).add(where[rank, address][1])
    if found.places:
        found.notes.append(f"{len(found.places)} code address(es) lie in no file that the trace's description names")
    folder = next((Path(one["folder"]) for one in ranks.values() if "folder" in one), None)
    resolved = {file: _through_cache(file, sorted(offsets), folder, found.notes) for file, offsets in wanted.items()}
    found.places |= {key: resolved[file][offset] for key, (file, offset) in where.items()}
    return found


@dataclass(frozen=True)
class _File:
    path: str
    build_id: str  # hexadecimal; "" where the recorder did not say

    @property
    def key(self) -> str:
        return f"{self.path} {self.build_id}"


def _through_cache(file: _File, offsets: list[int], folder: Path | None, notes: list[str]) -> dict[int, Location]:
    cache = _read_cache(folder)
    known = {int(offset): Location(*place) for offset, place in cache.get(file.key, {}).items()}
    missing = [offset for offset in offsets if offset not in known]
    if missing:
        fresh = _resolve_file(file, missing, notes)
        known |= fresh
        lasting = {str(offset): [place.function, place.file, place.line] for offset, place in known.items()
                   if place.function != _fallback(file, offset).function}  # fmt: skip
        _write_cache(folder, cache | {file.key: lasting})
    return known


def _read_cache(folder: Path | None) -> dict[str, dict[str, list[Any]]]:
    """What is there, or nothing: a cache that is damaged or of another version is made again."""
    try:
        stored = json.loads((folder / _CACHE).read_text(encoding="utf-8")) if folder else {}
    except (OSError, ValueError):
        return {}
    return stored["files"] if isinstance(stored, dict) and stored.get("format") == _CACHE_FORMAT else {}


def _write_cache(folder: Path | None, files: dict[str, dict[str, list[Any]]]) -> None:
    if folder is None:
        return
    fresh = folder / f"{_CACHE}.tmp"
    try:
        fresh.write_text(json.dumps({"format": _CACHE_FORMAT, "files": files}), encoding="utf-8")
        fresh.replace(folder / _CACHE)
    except OSError:  # a folder that cannot be written is read without a cache, at the price of some seconds
        fresh.unlink(missing_ok=True)


def _fallback(file: _File, offset: int) -> Location:
    return Location(f"{Path(file.path).name}+{offset:#x}", "", 0)


def _resolve_file(file: _File, offsets: list[int], notes: list[str]) -> dict[int, Location]:
    found = {offset: _fallback(file, offset) for offset in offsets}
    elf = _Elf.read(file.path)
    if elf is None:
        notes.append(f"{file.path} cannot be read any more: its functions have no names")
        return found
    if file.build_id and elf.build_id and file.build_id != elf.build_id:
        notes.append(f"{file.path} was built again since the run: its functions have no names")
        return found
    try:
        places = symbolizer.ask(file.path, [elf.virtual_address(offset) for offset in offsets])
    except symbolizer.Failure as failure:
        notes.append(f"functions of {Path(file.path).name} have no names: {failure}")
        return found
    found |= {offset: place for offset, place in zip(offsets, places, strict=True) if place}
    if not any(place.line for place in found.values()):
        notes.append(f"{Path(file.path).name} has no line numbers: build it with -g")
    return found


@dataclass
class _Elf:
    """What of an ELF-64 file is needed to look an address of it up."""

    loads: list[tuple[int, int, int]]  # file offset, virtual address, length
    build_id: str

    @staticmethod
    def read(path: str) -> "_Elf | None":
        try:
            with open(path, "rb") as file:
                header = file.read(64)
                if header[:5] != b"\x7fELF\x02":
                    return None
                file.seek(int.from_bytes(header[32:40], "little"))
                size, count = int.from_bytes(header[54:56], "little"), int.from_bytes(header[56:58], "little")
                table = file.read(size * count)
                entries = [_program_header(table[index * size : (index + 1) * size]) for index in range(count)]
                loads = [entry[1:] for entry in entries if entry[0] == _PT_LOAD]
                notes = []
                for kind, offset, _, length in entries:
                    if kind == _PT_NOTE:
                        file.seek(offset)
                        notes.append(file.read(length))
        except OSError:
            return None
        return _Elf(loads, next(filter(None, map(_build_id, notes)), ""))

    def virtual_address(self, offset: int) -> int:
        """Symbolizers think in the addresses of the file's program headers."""
        loads = (offset - at + address for at, address, length in self.loads if at <= offset < at + length)
        return next(loads, offset)


def _program_header(entry: bytes) -> tuple[int, int, int, int]:
    kind = int.from_bytes(entry[:4], "little")
    offset, address, length = (int.from_bytes(entry[at : at + 8], "little") for at in (8, 16, 32))
    return kind, offset, address, length


def _build_id(notes: bytes) -> str:
    """The GNU build id among the notes of one segment (ELF's note layout: sizes, kind, name, contents, each padded to
    four bytes)."""
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = (int.from_bytes(notes[at + word : at + word + 4], "little") for word in (0, 4, 8))
        name = at + 12
        contents = name + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and notes[name : name + name_size] == b"GNU\0":
            return notes[contents : contents + size].hex()
        at = contents + (size + 3) // 4 * 4
    return ""
