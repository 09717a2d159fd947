# SPDX-License-Identifier: Apache-2.0
"""What libmarline-check has written (check/report.c says how), as text: findings of equal places in several processes
are one. Standard library only."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from marline import symbolizer
from marline.symbolizer import Location

OURS = re.compile(r"libmarline(-check|-mpi|-target|-trace)?\.so")
SHOWN = 12  # frames of a stack

# The kinds of lines, and how many fields follow.
FIELDS = {"finding": 1, "task": 2, "at": 3, "lock": 2, "frame": 2, "locked": 3, "suspended": 3, "created": 3, "left": 3,
          "times": 2, "lost": 1, "complete": 0}  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """A code address: a loaded file, the address in it as linked, and the exported symbol before it."""

    path: str
    address: int
    symbol: str

    @property
    def is_ours(self) -> bool:
        return bool(OURS.match(Path(self.path).name))


@dataclass
class Finding:
    kind: str = "task"
    label: str = ""
    construct: Frame | None = None
    lock: str = ""
    lock_kind: str = "mutex"
    locked: list[Frame] = field(default_factory=list)
    suspended: list[Frame] = field(default_factory=list)
    frame: str = ""  # what a target region maps of a frame that was left: size and address
    created: list[Frame] = field(default_factory=list)
    left: list[Frame] = field(default_factory=list)
    times: int = 1

    @property
    def stacks(self) -> list[list[Frame]]:
        return [self.locked, self.suspended, self.created, self.left]

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.label, self.construct, *map(tuple, self.stacks))


@dataclass
class Findings:
    """The findings of all processes of a job."""

    processes: int = 0
    incomplete: int = 0  # processes that did not come to their end in an orderly way
    lost: int = 0  # locks that were not noted
    found: dict[tuple[object, ...], Finding] = field(default_factory=dict)


def read(folder: Path) -> Findings:
    result = Findings()
    for path in sorted(folder.iterdir()):
        numbered, complete, lost = _read_process(path.read_text(encoding="utf-8", errors="replace"))
        result.processes += 1
        result.incomplete += not complete
        result.lost += lost
        for finding in numbered.values():
            known = result.found.setdefault(finding.key, finding)
            known.times += finding.times if known is not finding else 0
    return result


def _frame(path: str, address: str, symbol: str) -> Frame:
    return Frame(path, int(address, 16), symbol)


def _read_process(text: str) -> tuple[dict[int, Finding], bool, int]:
    """The findings by number, whether the process came to its end, and how many locks it did not note."""
    finding = Finding()
    numbered: dict[int, Finding] = {}
    complete, lost = False, 0
    for line in text.splitlines():
        kind, *rest = line.split("\t")
        if FIELDS.get(kind) != len(rest):  # a killed process may leave half a line
            continue
        if kind == "finding":
            finding = numbered[int(rest[0])] = Finding()
        elif kind == "task":
            finding.kind, finding.label = rest
        elif kind == "at":
            finding.construct = _frame(*rest) if rest[0] != "?" else None
        elif kind == "lock":
            finding.lock, finding.lock_kind = rest
        elif kind == "frame":
            finding.frame = f"{rest[1]} byte{'s' * (rest[1] != '1')} at {rest[0]}"
        elif kind in ("locked", "suspended", "created", "left"):
            getattr(finding, kind).append(_frame(*rest))
        elif kind == "times":
            numbered[int(rest[0])].times = int(rest[1])
        elif kind == "lost":
            lost = int(rest[0])
        elif kind == "complete":
            complete = True
    return numbered, complete, lost


class Places:
    """Source places of frames, one per line: one question for each file."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.notes: list[str] = []
        self._known: dict[Frame, list[Location]] = {}
        by_file: dict[str, set[Frame]] = {}
        for finding in findings:
            for frame in [*chain(*finding.stacks), *([finding.construct] if finding.construct else [])]:
                if frame.path != "?" and not frame.is_ours:
                    by_file.setdefault(frame.path, set()).add(frame)
        for path, frames in by_file.items():
            self._ask(path, sorted(frames, key=lambda frame: frame.address))

    def _ask(self, path: str, frames: list[Frame]) -> None:
        try:
            places = symbolizer.ask_inlined(path, [frame.address for frame in frames])
        except symbolizer.Failure as failure:
            self.notes.append(f"functions of {Path(path).name} have no lines: {failure}")
            return
        self._known.update(zip(frames, places))

    def show(self, frame: Frame) -> list[str]:
        """The frame's functions, inlined ones first, without the functions of system headers: std::lock_guard, say."""
        raw = f"{Path(frame.path).name}+{frame.address:#x}"
        places = self._known.get(frame)
        if not places:
            return [f"{frame.symbol} {raw}" if frame.symbol != "?" else raw]
        own = [place for place in places if not place.file.startswith("/usr/")] or places[-1:]
        return [place.short() if place.line else f"{place.function} {raw}" for place in own]

    def show_all(self, stack: list[Frame]) -> list[str]:
        return [text for frame in stack for text in self.show(frame)][:SHOWN] or ["(unknown)"]


def program_part(stack: list[Frame]) -> tuple[str, list[Frame]]:
    """The call by which the program came into the runtime or MPI, and its own frames from there on outwards. What the
    runtime has underneath a task on the same stack is none of the task's."""
    first = next((i for i, frame in enumerate(stack) if not frame.is_ours), len(stack))
    entry = stack[first - 1].symbol if first else "?"
    entry = entry[1:] if entry.startswith("PMPI_") else entry  # one function by two names
    rest = stack[first:]
    last = next((i for i, frame in enumerate(rest) if frame.is_ours), len(rest))
    return entry, rest[:last]


def texts(found: Iterable[Finding], places: Places) -> list[str]:
    """A text of several lines for each finding; findings with equal source places are one."""
    numbers: dict[tuple[str, ...], int] = {}
    examples: dict[tuple[str, ...], Finding] = {}
    for finding in found:
        key = tuple(_lines(finding, places, 1, named=False))
        numbers[key] = numbers.get(key, 0) + finding.times
        examples.setdefault(key, finding)
    return ["\n".join(_lines(one, places, numbers[key])) for key, one in examples.items()]


def _lines(finding: Finding, places: Places, times: int, named: bool = True) -> list[str]:
    """Addresses of data, which differ from run to run, are `named` or not."""
    where = f" ({places.show(finding.construct)[-1]})" if finding.construct else ""
    often = f", {times} times" if times > 1 else ""
    if finding.frame:
        return _lines_of_frame(finding, places, f"{where} maps", often, named)
    task = f'task "{finding.label}"' if finding.label else "a task"
    if finding.kind == "implicit":
        task = "the implicit task of a parallel region"
    entry, frames = program_part(finding.suspended)
    _, locked = program_part(finding.locked)
    call = f"in {entry}, called at" if entry != "?" else "at"
    return [
        f"{task}{where} was suspended while it held a {finding.lock_kind}{often}",
        f"  suspended {call}",
        *(f"    {text}" for text in places.show_all(frames)),
        f"  {finding.lock_kind}{f' {finding.lock}' * named} locked at",
        *(f"    {text}" for text in places.show_all(locked)),
    ]


def _lines_of_frame(finding: Finding, places: Places, maps: str, often: str, named: bool) -> list[str]:
    region = f'target region "{finding.label}"' if finding.label else "a target region"
    _, left = program_part(finding.left)
    behind = ["  has left the frame, at", *(f"    {text}" for text in places.show_all(left))]
    return [
        f"{region}{maps} a frame that its creator left before the region was complete{often}",
        f"  created{f' ({finding.frame})' * named} at",
        *(f"    {text}" for text in places.show_all(program_part(finding.created)[1])),
        *(behind if left else ["  its creator has ended"]),
    ]
