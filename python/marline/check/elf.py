# SPDX-License-Identifier: Apache-2.0
"""The variables of an ELF file of 64 bits: names of addresses, from its symbol tables. Standard library only."""

import bisect
import struct
from dataclasses import dataclass
from pathlib import Path

_OBJECT = 1  # STT_OBJECT
_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM


@dataclass(frozen=True)
class Variable:
    address: int  # as linked
    size: int
    name: str


class Variables:
    def __init__(self, path: str) -> None:
        try:
            self._all = sorted(_read(Path(path).read_bytes()), key=lambda one: (one.address, one.size, one.name))
        except (OSError, struct.error, IndexError, UnicodeDecodeError):
            self._all = []  # without names, addresses are shown
        self._addresses = [one.address for one in self._all]

    def find(self, address: int) -> Variable | None:
        at = bisect.bisect_right(self._addresses, address) - 1
        if at < 0 or address >= self._all[at].address + self._all[at].size:
            return None
        return self._all[at]


def _read(data: bytes) -> set[Variable]:
    found: set[Variable] = set()
    if data[:5] != b"\x7fELF\x02":
        return found
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
    for head in heads:
        if head[1] not in _TABLES:
            continue
        names = heads[head[6]][4]
        for at in range(head[4], head[4] + head[5], 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 == _OBJECT and section and length:
                end = data.index(b"\0", names + name)
                found.add(Variable(value, length, data[names + name : end].decode()))
    return found
