# SPDX-License-Identifier: Apache-2.0
"""The event table, parsed from the same file that the recorder is compiled with (events.def).

A field of an event is a bit range of one of the record's two payload words: `Field.extract` takes a whole column of
words and gives the column of the field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_name("events.def")

_EVENT = re.compile(r"^MARLINE_EVENT\((\d+), (\w+), (.*)\)$", re.MULTILINE)
_CALL = re.compile(r"^MARLINE_MPI_CALL\((\d+), (\w+), (\w+)\)$", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(\w+\.def)"$', re.MULTILINE)
_FIELD = re.compile(r"([ui])64 (\w+) : (\d+);")
_WORD_BITS = 64


@dataclass(frozen=True)
class Field:
    """Where a field stands: word (0 or 1), lowest bit, width, and whether it is signed."""

    word: int
    shift: int
    bits: int
    signed: bool

    def extract(self, column: np.ndarray) -> np.ndarray:
        """The field's column from that of its payload word."""
        if self.bits == _WORD_BITS:
            return column.view(np.int64) if self.signed else column
        # Shift the field to the top and back: the second shift extends the sign, or fills with zeros.
        top = np.ascontiguousarray(column) << np.uint64(_WORD_BITS - self.shift - self.bits)
        if self.signed:
            return top.view(np.int64) >> np.int64(_WORD_BITS - self.bits)
        return top >> np.uint64(_WORD_BITS - self.bits)


@dataclass(frozen=True)
class Event:
    """One kind of event: its number and its fields in order."""

    number: int
    name: str
    fields: dict[str, Field]


def _place_fields(text: str) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    word = shift = 0
    for kind, name, width in _FIELD.findall(text):
        bits = int(width)
        if shift + bits > _WORD_BITS:
            word, shift = word + 1, 0
        fields[name] = Field(word, shift, bits, kind == "i")
        shift += bits
    return fields


def _stored(text: str) -> str:
    """The table as recorders keep it (trace/file/record.hpp): its lines without macro names and punctuation."""
    lines: list[tuple[int, str]] = []
    for match in _EVENT.finditer(text):
        number, name, fields = match.groups()
        lines.append((match.start(), f"{number} {name} {fields}\n"))
    for match in _CALL.finditer(text):
        lines.append((match.start(), f"{match[1]} {match[2]} {match[3]}\n"))
    return "".join(line for _, line in sorted(lines))


@dataclass(frozen=True)
class Layouts:
    """A stored table by number: of events name and fields, of MPI calls name and kind."""

    events: dict[int, str]
    calls: dict[int, str]

    @staticmethod
    def of(stored: str) -> "Layouts":
        """Raises ValueError for what is no table."""
        found = Layouts({}, {})
        for line in stored.splitlines():
            number, text = line.split(" ", 1)
            (found.events if text.endswith(";") else found.calls)[int(number)] = text
        return found


def fingerprint(stored: str) -> int:
    """The hash of a stored table: FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in stored.encode():
        value = ((value ^ byte) * 0x100000001B3) & (2**64 - 1)
    return value


_text = _INCLUDE.sub(lambda match: TABLE.with_name(match[1]).read_text(encoding="ascii"),
                     TABLE.read_text(encoding="ascii"))  # fmt: skip
EVENTS: dict[str, Event] = {
    name: Event(int(number), name, _place_fields(fields)) for number, name, fields in _EVENT.findall(_text)
}
MPI_CALLS: dict[int, str] = {int(number): name for number, name, _ in _CALL.findall(_text)}
# How a call takes part in communication (mpi_calls.def names the kinds).
CALL_KINDS: dict[int, str] = {int(number): kind for number, _, kind in _CALL.findall(_text)}
CALL_NUMBER: dict[str, int] = {name: number for number, name in MPI_CALLS.items()}
STORED = _stored(_text)
LAYOUTS = Layouts.of(STORED)
FINGERPRINT = fingerprint(STORED)
