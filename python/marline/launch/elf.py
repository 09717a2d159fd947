# SPDX-License-Identifier: Apache-2.0
"""Reads what `marline run` must know of an executable or library before it starts it: what it needs, where it searches,
and which OpenMP entry points it defines or uses. 64-bit little-endian ELF files (System V gABI, elf(5)). Nothing is
executed. A damaged file raises DamagedElf, never another exception."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29
SHT_SYMTAB, SHT_DYNSYM = 2, 11
MACHINES = {62: "x86_64", 183: "aarch64"}

# Compiled code calls its OpenMP runtime by these names: GCC's GOMP_*, LLVM's __kmpc_*, the API's omp_* (some are called
# ompc_* in LLVM's omp.h), and LLVM's further routines. The code of Clang's target regions calls __tgt_*.
ENTRY_POINTS = (b"GOMP_", b"__kmpc_", b"__tgt_", b"omp_", b"ompc_", b"kmp_set_", b"kmp_get_", b"kmpc_")


class NotElf(Exception):
    """The file is not a 64-bit ELF file. The text says what it is."""


class DamagedElf(NotElf):
    """The file is one, but its parts lie outside of it."""


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


@dataclass
class Elf:
    """One file's facts. `defined` and `undefined` hold the OpenMP entry points among its symbols; of a stripped file,
    the symbols of the dynamic symbol table alone."""

    path: Path
    machine: str
    interpreter: str | None = None
    soname: str | None = None
    needed: list[str] = field(default_factory=list)
    rpath: str | None = None
    runpath: str | None = None
    defined: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)


def read_elf(path: Path) -> Elf:
    with _mapped(path) as data:
        try:
            return _parse(path, data)
        except (struct.error, IndexError) as error:
            raise DamagedElf(f"{path} is a damaged ELF file: it ends before all that its header tells of; copy or "
                             "build it again") from error  # fmt: skip


def contains_all(path: Path, texts: tuple[bytes, ...]) -> bool:
    """Whether every one of `texts` occurs in the file."""
    with _mapped(path) as data:
        return all(data.find(text) >= 0 for text in texts)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # mmap refuses an empty file
            raise NotElf(f"{path} is empty") from error


def _parse(path: Path, data: mmap.mmap) -> Elf:
    if data[:4] != b"\x7fELF":
        raise NotElf(f"{path} is not an ELF file")
    if data[4:6] != b"\x02\x01":
        raise NotElf(f"{path} is not a 64-bit little-endian ELF file")
    (machine,) = struct.unpack_from("<H", data, 18)
    elf = Elf(path, MACHINES.get(machine, f"machine {machine}"))
    segments = list(_segments(data))
    for segment in segments:
        if segment.kind == PT_INTERP:
            elf.interpreter = _text(data, segment.offset)
        elif segment.kind == PT_DYNAMIC:
            _read_dynamic(elf, data, segment, segments)
    for table, strings, strings_end in _symbol_tables(data):
        # Most files hold no OpenMP name at all: one search spares the walk through 10^5 symbols.
        if any(data.find(mark, strings, strings_end) >= 0 for mark in ENTRY_POINTS):
            _read_symbols(elf, data, table, strings)
    return elf


def _segments(data: mmap.mmap) -> Iterator[Segment]:
    (table,) = struct.unpack_from("<Q", data, 32)
    entry_size, count = struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, table + index * entry_size)
        yield Segment(kind, offset, address, size)


def _read_dynamic(elf: Elf, data: mmap.mmap, dynamic: Segment, segments: list[Segment]) -> None:
    entries = list(struct.iter_unpack("<QQ", data[dynamic.offset : dynamic.offset + dynamic.size // 16 * 16]))
    addresses = [value for tag, value in entries if tag == DT_STRTAB]
    if not addresses:
        return
    strings = _file_offset(addresses[0], segments)
    for tag, value in entries:
        if tag == DT_NEEDED:
            elf.needed.append(_text(data, strings + value))
        elif tag == DT_SONAME:
            elf.soname = _text(data, strings + value)
        elif tag == DT_RPATH:
            elf.rpath = _text(data, strings + value)
        elif tag == DT_RUNPATH:
            elf.runpath = _text(data, strings + value)


def _symbol_tables(data: mmap.mmap) -> Iterator[tuple[bytes, int, int]]:
    """Each symbol table's bytes and where its strings begin and end."""
    (table,) = struct.unpack_from("<Q", data, 40)
    entry_size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQI", data, table + index * entry_size) for index in range(count)]
    for _, kind, _, _, offset, size, link in sections:
        if kind in (SHT_SYMTAB, SHT_DYNSYM):
            _, _, _, _, strings, strings_size, _ = sections[link]
            yield data[offset : offset + size // 24 * 24], strings, strings + strings_size


def _read_symbols(elf: Elf, data: mmap.mmap, table: bytes, strings: int) -> None:
    for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table):
        start = strings + name
        if data[start : start + 7].startswith(ENTRY_POINTS):
            (elf.defined if section else elf.undefined).add(_text(data, start).partition("@")[0])


def _file_offset(address: int, segments: list[Segment]) -> int:
    for segment in segments:
        if segment.kind == PT_LOAD and segment.address <= address < segment.address + segment.size:
            return address - segment.address + segment.offset
    raise IndexError(f"address {address:#x} lies in no segment")


def _text(data: mmap.mmap, offset: int) -> str:
    end = data.find(b"\0", offset)
    if offset > len(data) or end < 0:
        raise IndexError(f"no string at offset {offset:#x}")
    return data[offset:end].decode("utf-8", "surrogateescape")
