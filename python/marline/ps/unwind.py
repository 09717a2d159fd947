# SPDX-License-Identifier: Apache-2.0
"""Call stacks from a copy of a stack: return addresses by the call frame information that compilers put into every file
for exceptions (.eh_frame, .eh_frame_hdr: Linux Standard Base 5.0, Core, chapter 10; DWARF 5, section 6.4). Neither
frame pointers nor a debugger nor the process itself is needed. Where the information ends or cannot be followed, what
looks like a return address on the rest of the stack is taken, and marked as a guess. The files are the program's, and
may be damaged, or made to mislead: whatever they hold, this comes to an end, and says Unknown."""

from __future__ import annotations

import mmap
import os
import stat
import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

PT_LOAD, PT_GNU_EH_FRAME = 1, 0x6474E550
X86_64, AARCH64 = 62, 183
MOST_FRAMES = 128
MOST_MAPPINGS = 8192  # of a process
MOST_LEB_BYTES = 10  # of a number of 64 bits
MOST_TEXT_BYTES = 64  # of an augmentation
MOST_INSTRUCTIONS = 100_000  # of a function's call frame information


@dataclass(frozen=True)
class Machine:
    """DWARF's numbers of the registers that a switch of ours saves, in the order in which they lie above the saved
    stack pointer (runtime/exec/fiber/context_*.S), and how many bytes it takes."""

    saved: tuple[int, ...]
    saved_bytes: int
    stack_pointer: int
    return_address: int


MACHINES = {
    X86_64: Machine((15, 14, 13, 12, 3, 6, 16), 56, 7, 16),
    AARCH64: Machine((29, 30, *range(19, 29)), 160, 31, 30),
}


@dataclass(frozen=True)
class Frame:
    address: int  # after the call
    guessed: bool = False


@dataclass(frozen=True)
class Mapping:
    """A piece of a file's code in a process's memory: a line of /proc/PID/maps."""

    begin: int
    end: int
    offset: int
    path: str

    @staticmethod
    def parse(line: str) -> Mapping:
        spread, _, offset, _, _, path = line.split(maxsplit=5)
        begin, end = (int(number, 16) for number in spread.split("-"))
        return Mapping(begin, end, int(offset, 16), path)


class Code:
    """The code that a process has mapped."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.mappings = sorted(map(Mapping.parse, lines[:MOST_MAPPINGS]), key=lambda one: one.begin)
        self._begins = [one.begin for one in self.mappings]
        self._files: dict[str, File | None] = {}

    def find(self, address: int) -> Mapping | None:
        at = bisect_right(self._begins, address) - 1
        return self.mappings[at] if at >= 0 and address < self.mappings[at].end else None

    def file(self, mapping: Mapping) -> File | None:
        if mapping.path not in self._files:
            self._files[mapping.path] = File.open(mapping.path)
        return self._files[mapping.path]

    def machine(self) -> int:
        """Of the first file that can be read; x86-64 if none can."""
        files = (self.file(mapping) for mapping in self.mappings)
        return next((file.machine for file in files if file), X86_64)


@dataclass
class Row:
    """How to find the caller of one address: the frame's address is register + offset; saved registers lie at offsets
    from it. None among them: the register has no value in the caller."""

    register: int = 0
    offset: int = 0
    saved: dict[int, int | None] = field(default_factory=dict)

    def copy(self) -> Row:
        return Row(self.register, self.offset, dict(self.saved))


class Unknown(Exception):
    """The information does not say, or not in a way that is understood here."""


class Reader:
    """A cursor over the bytes of a file."""

    def __init__(self, data: bytes | mmap.mmap, at: int) -> None:
        self.data, self.at = data, at

    def take(self, kind: str) -> int:
        (value,) = struct.unpack_from(f"<{kind}", self.data, self.at)
        self.at += struct.calcsize(kind)
        return int(value)

    def uleb(self) -> int:
        value = 0
        for index in range(MOST_LEB_BYTES):
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << 7 * index
            if not byte & 0x80:
                return value
        raise Unknown("a number of too many bytes")

    def sleb(self) -> int:
        begin = self.at
        value = self.uleb()
        bits = 7 * (self.at - begin)
        return value - (1 << bits) if value >> (bits - 1) else value

    def text(self) -> bytes:
        begin = self.at
        end = self.data.find(b"\0", begin, begin + MOST_TEXT_BYTES)
        if end < 0:
            raise Unknown("a text without an end")
        self.at = end + 1
        return bytes(self.data[begin:end])

    def encoded(self, encoding: int, here: int, table: int = 0) -> int:
        """A pointer in one of the header's encodings; `here`: the address of its first byte."""
        kinds = {0: "Q", 2: "H", 3: "I", 4: "Q", 10: "h", 11: "i", 12: "q"}
        bases = {0x00: 0, 0x10: here, 0x30: table}
        if encoding & 0x0F not in kinds or encoding & 0x70 not in bases:
            raise Unknown(f"pointer encoding {encoding:#x}")
        return self.take(kinds[encoding & 0x0F]) + bases[encoding & 0x70]


@dataclass
class File:
    """An ELF file's segments, and its index of call frame information."""

    data: mmap.mmap
    machine: int
    loads: list[tuple[int, int, int]]  # file offset, address, length
    header: int  # address of .eh_frame_hdr, 0: none

    @staticmethod
    def open(path: str) -> File | None:
        try:
            data = _mapped(path)
            if data[:6] != b"\x7fELF\x02\x01":
                return None
            (machine,), (table,) = struct.unpack_from("<H", data, 18), struct.unpack_from("<Q", data, 32)
            size, count = struct.unpack_from("<HH", data, 54)
            loads, header = [], 0
            for index in range(count):
                kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, table + index * size)
                loads += [(offset, address, length)] if kind == PT_LOAD else []
                header = address if kind == PT_GNU_EH_FRAME else header
            return File(data, machine, loads, header)
        except (OSError, ValueError, IndexError, OverflowError, struct.error):
            return None

    def address(self, offset: int) -> int:
        """In the numbers of the file's own headers."""
        return next((offset - at + address for at, address, length in self.loads if at <= offset < at + length), offset)

    def at(self, address: int) -> Reader:
        for offset, begin, length in self.loads:
            if begin <= address < begin + length:
                return Reader(self.data, address - begin + offset)
        raise Unknown(f"address {address:#x} is not in the file")

    def row(self, address: int) -> Row:
        """For the instruction before `address`, a return address."""
        try:
            return Interpreter(self, self._entry(address - 1), address - 1).row()
        except (IndexError, ValueError, OverflowError, struct.error) as error:
            raise Unknown(str(error)) from error

    def _entry(self, address: int) -> int:
        """The address of the description of the function around `address`: by bisection in the sorted table."""
        if not self.header:
            raise Unknown("no index of call frames")
        reader = self.at(self.header)
        _, frame_encoding, count_encoding, encoding = (reader.take("B") for _ in range(4))
        reader.encoded(frame_encoding, self.header + 4)
        count = reader.encoded(count_encoding, 0)
        if encoding != 0x3B:  # relative to the table, signed, four bytes: what linkers write
            raise Unknown("index of call frames in an unusual encoding")
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            (start,) = struct.unpack_from("<i", self.data, reader.at + 8 * middle)
            low, high = (middle + 1, high) if start + self.header <= address else (low, middle)
        if low == 0:
            raise Unknown("before the first function")
        (entry,) = struct.unpack_from("<i", self.data, reader.at + 8 * (low - 1) + 4)
        return int(entry) + self.header


def _mapped(path: str) -> mmap.mmap:
    """A regular file's bytes: to open a named pipe would wait, and a device may do anything."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path} is no regular file")
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


class Interpreter:
    """Runs one function's call frame instructions up to an address."""

    def __init__(self, file: File, entry: int, address: int) -> None:
        self.target = address
        reader = file.at(entry)
        place = reader.at
        length = reader.take("I")
        end = reader.at + length
        common = reader.at - reader.take("I")
        self._read_common(file, common, entry - place)
        begin = reader.encoded(self.encoding, entry + reader.at - place)
        span = reader.encoded(self.encoding & 0x0F, 0)
        if not begin <= address < begin + span:
            raise Unknown("between functions")
        if self.augmented:
            skipped = reader.uleb()
            reader.at += skipped
        self.location = begin
        self.body = reader, end

    def _read_common(self, file: File, at: int, shift: int) -> None:
        reader = Reader(file.data, at)
        length = reader.take("I")
        end = reader.at + length
        reader.take("I")
        version = reader.take("B")
        augmentation = reader.text()
        self.code_unit, self.data_unit = reader.uleb(), reader.sleb()
        reader.take("B") if version == 1 else reader.uleb()  # the register of the return address
        self.encoding, self.augmented = 0, augmentation.startswith(b"z")
        if self.augmented:
            reader.uleb()
            for letter in augmentation[1:].decode("latin-1"):
                if letter == "R":
                    self.encoding = reader.take("B")
                elif letter == "L":
                    reader.take("B")
                elif letter == "P":
                    encoding = reader.take("B")
                    reader.encoded(encoding & 0x7F, reader.at + shift)
        self.preamble = reader, end

    def row(self) -> Row:
        self.now = Row()
        self.first = self.now
        self.kept: list[Row] = []
        self.location, begin = -1, self.location
        self._run(*self.preamble)
        self.first = self.now.copy()
        self.location = begin
        self._run(*self.body)
        return self.now

    def _run(self, reader: Reader, end: int) -> None:
        for _ in range(MOST_INSTRUCTIONS):
            if reader.at >= end:
                return
            code = reader.take("B")
            high, low = code & 0xC0, code & 0x3F
            if high == 0x40:
                step: int | None = low
            elif high == 0x80:
                self.now.saved[low] = reader.uleb() * self.data_unit
                continue
            elif high == 0xC0:
                self._restore(low)
                continue
            else:
                step = self._extended(code, reader)
            if step is not None:
                self.location += step * self.code_unit
                if self.location > self.target:
                    return
        raise Unknown("too many call frame instructions")

    def _restore(self, register: int) -> None:
        self.now.saved.pop(register, None)
        if register in self.first.saved:
            self.now.saved[register] = self.first.saved[register]

    def _extended(self, code: int, reader: Reader) -> int | None:
        """Returns by how much the location advances, None where it does not."""
        now = self.now
        if code in (0x02, 0x03, 0x04):  # advance_loc1, 2, 4
            return reader.take({0x02: "B", 0x03: "H", 0x04: "I"}[code])
        if code == 0x0A:  # remember_state
            self.kept.append(now.copy())
        elif code == 0x0B:  # restore_state
            self.now = self.kept.pop()
        elif code in (0x0C, 0x12):  # def_cfa, def_cfa_sf
            now.register = reader.uleb()
            now.offset = reader.uleb() if code == 0x0C else reader.sleb() * self.data_unit
        elif code == 0x0D:  # def_cfa_register
            now.register = reader.uleb()
        elif code in (0x0E, 0x13):  # def_cfa_offset, _sf
            now.offset = reader.uleb() if code == 0x0E else reader.sleb() * self.data_unit
        elif code in (0x05, 0x11):  # offset_extended, _sf
            register = reader.uleb()
            now.saved[register] = (reader.uleb() if code == 0x05 else reader.sleb()) * self.data_unit
        elif code == 0x06:  # restore_extended
            self._restore(reader.uleb())
        elif code == 0x07:  # undefined
            now.saved[reader.uleb()] = None
        elif code == 0x08:  # same_value
            now.saved.pop(reader.uleb(), None)
        elif code in (0x10, 0x16):  # expression, val_expression: not followed
            now.saved[reader.uleb()] = None
            reader.at += reader.uleb()
        elif code == 0x2E:  # GNU_args_size
            reader.uleb()
        elif code not in (0x00, 0x2D):  # nop, AArch64's negate_ra_state
            raise Unknown(f"call frame instruction {code:#x}")
        return None


@dataclass
class Stack:
    """A copy of memory: the bytes from `low` on."""

    low: int
    bytes: bytes

    def word(self, address: int) -> int | None:
        at = address - self.low
        return int.from_bytes(self.bytes[at : at + 8], "little") if 0 <= at <= len(self.bytes) - 8 else None


def unwind(code: Code, stack: Stack) -> list[Frame]:
    """The frames of a task that a switch of ours has left, innermost first: the stack begins with what it saved."""
    machine = MACHINES.get(code.machine())
    if machine is None:
        return []
    words = [stack.word(stack.low + 8 * index) for index in range(len(machine.saved))]
    registers = {number: word for number, word in zip(machine.saved, words) if word is not None}
    registers[machine.stack_pointer] = stack.low + machine.saved_bytes
    frames: list[Frame] = []
    while len(frames) < MOST_FRAMES:
        address = registers.get(machine.return_address, 0)
        mapping = code.find(address - 1) if address else None
        if mapping is None:
            break
        frames.append(Frame(address))
        try:
            registers = _caller(code, mapping, machine, registers, stack)
        except Unknown:
            rest = scan(code, stack, registers[machine.stack_pointer])
            return frames + rest[: MOST_FRAMES - len(frames)]
    return frames


def _caller(code: Code, mapping: Mapping, machine: Machine, registers: dict[int, int], stack: Stack) -> dict[int, int]:
    file = code.file(mapping)
    if file is None:
        raise Unknown(f"{mapping.path} cannot be read")
    address = registers[machine.return_address]
    bias = address - file.address(address - mapping.begin + mapping.offset)
    row = file.row(address - bias)
    if row.register not in registers:
        raise Unknown("the frame's place depends on a register that is lost")
    base = registers[row.register] + row.offset
    result = dict(registers)
    for register, offset in row.saved.items():
        word = None if offset is None else stack.word(base + offset)
        if word is None:
            result.pop(register, None)
        else:
            result[register] = word
    result[machine.stack_pointer] = base
    return result


def scan(code: Code, stack: Stack, begin: int) -> list[Frame]:
    """Words from `begin` on that point after a call instruction, as far as one can see that."""
    found = []
    for address in range(begin + -begin % 8, stack.low + len(stack.bytes) - 7, 8):
        word = stack.word(address)
        mapping = code.find(word) if word else None
        if word and mapping and _follows_call(code, mapping, word):
            found.append(Frame(word, guessed=True))
    return found


def _follows_call(code: Code, mapping: Mapping, address: int) -> bool:
    file = code.file(mapping)
    if file is None:
        return False
    at = address - mapping.begin + mapping.offset
    before = bytes(file.data[max(at - 7, 0) : at])
    if len(before) < 7:
        return False
    if file.machine == AARCH64:
        word = int.from_bytes(before[-4:], "little")
        return word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000  # bl, blr
    if before[-5:-4] == b"\xe8":  # call by a distance
        return True
    return any(before[-n:][:1] == b"\xff" and before[-n:][1] >> 3 & 7 == 2
               for n in (2, 3, 4, 6, 7))  # through a pointer
