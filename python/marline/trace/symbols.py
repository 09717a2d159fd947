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

from .read.columns import group_starts
from .statistics import group_by

_CACHE = "symbols.cache"  # not *.json: such files describe the processes
_CACHE_FORMAT = "marline-symbols 2"
_PT_LOAD, _PT_NOTE, _NT_GNU_BUILD_ID = 1, 4, 3


@dataclass
class Symbols:
    """Locations by rank and address, and remarks on what has none."""

    places: dict[tuple[int, int], Location] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return {"resolved": sum(place.line > 0 for place in self.places.values()), "notes": self.notes}


@dataclass
class InlinedSymbols:
    """By rank and address: from the innermost inlined function to the one that there is code of."""

    places: dict[tuple[int, int], list[Location]]
    notes: list[str]


def codes_by_rank(rank: np.ndarray, code: np.ndarray) -> dict[int, np.ndarray]:
    """The code addresses of each rank, each once; 0 is none."""
    some = code != 0
    groups = group_by(rank[some], code[some])
    ranks, codes = groups.key(rank[some]), groups.key(code[some])
    first = np.flatnonzero(group_starts(ranks))
    return dict(zip(ranks[first].tolist(), np.split(codes, first[1:])))


def locate(ranks: Mapping[int, dict[str, Any]], addresses: Mapping[int, np.ndarray]) -> Symbols:
    """Locations of the given code addresses of each rank's process. Equal places of equal files are looked up once."""
    chains, notes = _locate(ranks, addresses, inlined=False)
    return Symbols({key: chain[0] for key, chain in chains.items()}, notes)


def locate_inlined(ranks: Mapping[int, dict[str, Any]], addresses: Mapping[int, np.ndarray]) -> InlinedSymbols:
    """The same with what compilers have inlined there."""
    return InlinedSymbols(*_locate(ranks, addresses, inlined=True))


_Chains = dict[tuple[int, int], list[Location]]


def _locate(ranks: Mapping[int, dict[str, Any]], addresses: Mapping[int, np.ndarray],
            inlined: bool) -> tuple[_Chains, list[str]]:  # fmt: skip
    places: _Chains = {}
    notes: list[str] = []
    wanted: dict[_File, set[int]] = {}
    where: dict[tuple[int, int], tuple[_File, int]] = {}
    for rank, some in addresses.items():
        for address in np.unique(some[some != 0]).tolist():
            entry = next((e for e in ranks[rank].get("maps", []) if e["begin"] <= address < e["end"]), None)
            if entry is None:
                places[rank, address] = [Location(f"{address:#x}", "", 0)]
                continue
            file = _File(entry["path"], entry.get("build_id", ""))
            # A return address is the one after the call: one byte back is inside the call.
            where[rank, address] = file, address - 1 - entry["begin"] + entry["offset"]
            wanted.setdefault(file, set()).add(where[rank, address][1])
    if places:
        notes.append(f"{len(places)} code address(es) lie in no file that the trace's description names")
    folder = next((Path(one["folder"]) for one in ranks.values() if "folder" in one), None)
    resolved = {file: _through_cache(file, sorted(offsets), folder, notes, inlined) for file, offsets in wanted.items()}
    return places | {key: resolved[file][offset] for key, (file, offset) in where.items()}, notes


@dataclass(frozen=True)
class _File:
    path: str
    build_id: str  # hexadecimal; "" where the recorder did not say

    def key(self, inlined: bool) -> str:
        """In the cache."""
        return f"{self.path} {self.build_id}{' inlined' if inlined else ''}"


def _through_cache(file: _File, offsets: list[int], folder: Path | None, notes: list[str],
                   inlined: bool) -> dict[int, list[Location]]:  # fmt: skip
    cache, key = _read_cache(folder), file.key(inlined)
    known = {int(offset): [Location(*place) for place in chain] for offset, chain in cache.get(key, {}).items()}
    missing = [offset for offset in offsets if offset not in known]
    if missing:
        known |= _resolve_file(file, missing, notes, inlined)
        lasting = {str(offset): [[place.function, place.file, place.line] for place in chain]
                   for offset, chain in known.items() if chain != [_fallback(file, offset)]}  # fmt: skip
        _write_cache(folder, cache | {key: lasting})
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


def _resolve_file(file: _File, offsets: list[int], notes: list[str], inlined: bool) -> dict[int, list[Location]]:
    found = {offset: [_fallback(file, offset)] for offset in offsets}
    elf = Elf.read(file.path)
    if elf is None:
        notes.append(f"{file.path} cannot be read any more: its functions have no names")
        return found
    if file.build_id and elf.build_id and file.build_id != elf.build_id:
        notes.append(f"{file.path} was built again since the run: its functions have no names")
        return found
    try:
        addresses = [elf.virtual_address(offset) for offset in offsets]
        chains = (symbolizer.ask_inlined(file.path, addresses) if inlined else
                  [[place] if place else [] for place in symbolizer.ask(file.path, addresses)])  # fmt: skip
    except symbolizer.Failure as failure:
        notes.append(f"functions of {Path(file.path).name} have no names: {failure}")
        return found
    found |= {offset: chain for offset, chain in zip(offsets, chains, strict=True) if chain}
    if not any(place.line for chain in found.values() for place in chain):
        notes.append(f"no line numbers in {Path(file.path).name}: build it with -g, or install its package's debug "
                     "symbols")  # fmt: skip
    return found


@dataclass
class Elf:
    """What of an ELF-64 file is needed to look an address of it up."""

    loads: list[tuple[int, int, int]]  # file offset, virtual address, length
    build_id: str

    @staticmethod
    def read(path: str) -> "Elf | None":
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
        return Elf(loads, next(filter(None, map(_build_id, notes)), ""))

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
