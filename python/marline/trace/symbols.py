# SPDX-License-Identifier: Apache-2.0
"""Code addresses to function, file and line, after the run: one call of llvm-symbolizer (or addr2line) per loaded file.

Without either tool, or for a file without debug information, an address is shown as `file+0xoffset`: never an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_SYMBOLIZERS = ("llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-14")
_SECONDS = 60


@dataclass(frozen=True)
class Location:
    """Where an address lies in the source; line 0 where unknown."""

    function: str
    file: str
    line: int

    def short(self) -> str:
        """`function file:line`, without what compilers add to the function that they outline from a construct."""
        if not self.line:
            return self.function
        function = re.split(r"\.?[._]omp_", self.function)[0]
        return f"{function} {Path(self.file).name}:{self.line}".lstrip()


def resolve(metadata: dict[str, Any], addresses: np.ndarray) -> dict[int, Location]:
    """Location of every distinct address of one rank's process."""
    found: dict[int, Location] = {}
    left = np.unique(addresses)
    left = left[left != 0]
    for entry in metadata.get("maps", []):
        inside = (left >= entry["begin"]) & (left < entry["end"])
        if not inside.any():
            continue
        # A return address stands behind the call: one byte back is inside it.
        offsets = [int(address) - 1 - entry["begin"] + entry["offset"] for address in left[inside]]
        locations = _resolve_file(entry["path"], offsets)
        found.update(zip((int(address) for address in left[inside]), locations))
        left = left[~inside]
    for address in left:
        found[int(address)] = Location(f"{int(address):#x}", "", 0)
    return found


def _resolve_file(path: str, offsets: list[int]) -> list[Location]:
    fallback = [Location(f"{Path(path).name}+{offset:#x}", "", 0) for offset in offsets]
    virtual = _virtual_addresses(path, offsets)
    tool = next((tool for tool in map(shutil.which, _SYMBOLIZERS) if tool), None)
    if tool:
        command = [tool, "--functions", "--demangle", "--no-inlines", f"--obj={path}"]
    elif shutil.which("addr2line"):
        command = ["addr2line", "-f", "-C", "-e", path]
    else:
        return fallback
    text = "".join(f"{address:#x}\n" for address in virtual)
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return fallback
    lines = [line for line in result.stdout.splitlines() if line]
    if len(lines) != 2 * len(offsets):
        return fallback
    return [
        _parse(function, place) or other for function, place, other in zip(lines[::2], lines[1::2], fallback)
    ]


def _parse(function: str, place: str) -> Location | None:
    if function == "??":
        return None
    parts = place.split(" ")[0].split(":")  # addr2line adds "(discriminator n)"
    numbers = [int(part) for part in parts[1:] if part.isdigit()]
    return Location(function, "" if parts[0] == "??" else parts[0], numbers[0] if numbers else 0)


def _virtual_addresses(path: str, offsets: list[int]) -> list[int]:
    """File offsets to the addresses of the file's program headers, in which symbolizers think (ELF-64)."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if header[:5] != b"\x7fELF\x02":
                return offsets
            start = int.from_bytes(header[32:40], "little")
            size, count = int.from_bytes(header[54:56], "little"), int.from_bytes(header[56:58], "little")
            file.seek(start)
            table = file.read(size * count)
    except OSError:
        return offsets
    loads = []
    for index in range(count):
        entry = table[index * size : (index + 1) * size]
        if int.from_bytes(entry[:4], "little") == 1:  # PT_LOAD
            loads.append(tuple(int.from_bytes(entry[at : at + 8], "little") for at in (8, 16, 32)))
    return [
        next((offset - at + address for at, address, length in loads if at <= offset < at + length), offset)
        for offset in offsets
    ]
