# SPDX-License-Identifier: Apache-2.0
"""Addresses of data to the variables of the program, for dependences: by the symbol tables of the loaded files. Only
variables that are there from the start to the end have names there, not those on stacks and heaps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .outlined import SYMBOL, symbol_table
from .symbols import Elf

_OBJECT = 1  # STT_OBJECT


def name_of(described: Mapping[str, Any], address: int) -> str:
    """`name`, or `name + bytes` inside of a larger one; empty: it lies in no variable of a file that `described`, the
    description of a process, names."""
    for entry in described.get("maps", []):
        found = _variables(entry["path"])
        elf = Elf.read(entry["path"]) if len(found.value) else None
        if elf is None or (entry.get("build_id") and elf.build_id and entry["build_id"] != elf.build_id):
            continue
        linked = address - entry["begin"] + elf.virtual_address(entry["offset"])
        row = int(np.searchsorted(found.value, linked, side="right")) - 1
        if row >= 0 and linked < int(found.value[row]) + int(found.size[row]):
            inside = linked - int(found.value[row])
            return found.name(row) + (f" + {inside} bytes" if inside else "")
    return ""


class _Variables:
    """Of a file, by address."""

    def __init__(self, table: np.ndarray, names: bytes) -> None:
        mine = table[(table["info"] & 0xF == _OBJECT) & (table["size"] > 0)]
        mine = mine[np.argsort(mine["value"], kind="stable")]
        self.value, self.size = mine["value"].astype(np.int64), mine["size"]
        self._at, self._names = mine["name"], names

    def name(self, row: int) -> str:
        start = int(self._at[row])
        return self._names[start : self._names.index(b"\0", start)].decode(errors="replace")


@lru_cache(maxsize=64)
def _variables(path: str) -> _Variables:
    found = symbol_table(path)
    return _Variables(*found[:2]) if found else _Variables(np.zeros(0, dtype=SYMBOL), b"")
