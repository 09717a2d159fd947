# SPDX-License-Identifier: Apache-2.0
"""The lines of parallel regions in code of GCC. GCC gives the call that starts a region no line of its own, so a
debugger shows the line of the code before it. But GCC also moves the region's body into a function NAME._omp_fn.N,
which begins at the line of the construct. The first such line from the call's line on, in the same function if there is
one, is the region's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import symbols
from .symbols import Location, Symbols

_MARK = b"._omp_fn."
_SHT_SYMTAB = 2
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
                     ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")])
SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
                    ("size", "<u8")])  # fmt: skip


def locate(ranks: Mapping[int, dict[str, Any]], codes: Mapping[int, np.ndarray],
           regions: Mapping[int, np.ndarray]) -> Symbols:  # fmt: skip
    """As symbols.locate; some of the codes are calls that start a region, which get the region's line."""
    found = symbols.locate(ranks, codes)
    _refine(ranks, regions, found)
    return found


def _refine(ranks: Mapping[int, dict[str, Any]], codes: Mapping[int, np.ndarray], found: Symbols) -> None:
    """Corrects the places of these code addresses of regions in `found`, where their file was built by GCC."""
    starts: dict[int, np.ndarray] = {}
    for rank, some in codes.items():
        files = [entry for entry in ranks[rank].get("maps", [])
                 if np.any((some >= entry["begin"]) & (some < entry["end"]))]  # fmt: skip
        bodies = [_runtime_addresses(entry) for entry in files]
        if any(map(len, bodies)):
            starts[rank] = np.concatenate(bodies)
    places = symbols.locate(ranks, starts).places if starts else {}
    bodies: dict[int, list[Location]] = defaultdict(list)
    for (rank, _), place in places.items():
        if place.line:
            bodies[rank].append(place)
    for rank, some in codes.items():
        for code in np.unique(some[some != 0]).tolist():
            place = found.places[rank, code]
            found.places[rank, code] = replace(place, line=_line_of(place, bodies[rank]))


def _line_of(call: Location, bodies: Iterable[Location]) -> int:
    after = [body for body in bodies if body.file == call.file and body.line >= call.line]
    mine = [body for body in after if body.function.startswith(f"{call.function}{_MARK.decode()}")]
    return min((body.line for body in mine or after), default=call.line) if call.line else 0


def _runtime_addresses(entry: dict[str, Any]) -> np.ndarray:
    """Where the bodies of regions begin, if they lie in this part of a file. One byte on: places are those of the byte
    before an address."""
    elf = _Elf.read(entry["path"])
    if elf is None:
        return np.zeros(0, dtype=np.uint64)
    offset = elf.file_offsets()
    inside = (offset >= entry["offset"]) & (offset < entry["offset"] + entry["end"] - entry["begin"])
    return (offset[inside] - entry["offset"] + entry["begin"] + 1).astype(np.uint64)


@dataclass
class _Elf:
    """The functions of an ELF-64 file that GCC has made of regions: address and, of their sections, address and offset
    in the file."""

    value: np.ndarray
    section_address: np.ndarray
    section_offset: np.ndarray

    def file_offsets(self) -> np.ndarray:
        return (self.value - self.section_address + self.section_offset).astype(np.int64)

    @staticmethod
    def read(path: str) -> "_Elf | None":
        found = symbol_table(path)
        if found is None:
            return None
        known, names, sections = found
        known = known[np.isin(known["name"], _names(names)) & (known["section"] < len(sections))]
        section = sections[known["section"]]
        return _Elf(known["value"], section["address"], section["offset"])


def symbol_table(path: str) -> tuple[np.ndarray, bytes, np.ndarray] | None:
    """(symbols, the table of their names, sections) of an ELF-64 file; None: it has none, or cannot be read, which
    symbols.locate says."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r") if Path(path).is_file() else None
    except (OSError, ValueError):
        data = None
    if data is None or bytes(data[:5]) != b"\x7fELF\x02":
        return None
    begin = int(data[40:48].view("<u8")[0])
    count = int(data[60:62].view("<u2")[0])
    sections = data[begin : begin + count * _SECTION.itemsize].view(_SECTION)
    table = sections[sections["type"] == _SHT_SYMTAB]
    if not len(table):
        return None
    names = _part(data, sections[table["link"][0]]).tobytes()
    return _part(data, table[0]).view(SYMBOL), names, sections


def _part(data: np.ndarray, section: np.void) -> np.ndarray:
    return data[int(section["offset"]) : int(section["offset"] + section["size"])]


def _names(table: bytes) -> list[int]:
    """Where in the string table the names of such functions begin."""
    found = []
    at = table.find(_MARK)
    while at >= 0:
        found.append(table.rfind(b"\0", 0, at) + 1)
        at = table.find(_MARK, at + 1)
    return found
