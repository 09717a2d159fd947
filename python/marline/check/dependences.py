# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences`: the conflicts of all processes as text, each with the clause that is missing. Standard
library only."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from marline import symbolizer
from marline.check import conflicts
from marline.check.conflicts import Conflict, Module, Result, Side, Task
from marline.check.elf import Variables
from marline.errors import say
from marline.layout import Layout

IN, MUTEXINOUTSET, INOUTSET = 1, 4, 7
NO_CLAUSE = "an order between the two"
NAMES = {1: "in", 2: "out", 3: "inout", 4: "mutexinoutset", 7: "inoutset"}
HOW = ("compile with -fsanitize=thread -g, link without -fsanitize=thread and with -L{} -lmarline-accesses "
       "(docs/guide/dependences.md)")  # fmt: skip


@dataclass
class Found:
    """Equal findings, perhaps of several processes."""

    times: int
    writes: int  # of the two accesses that `lines` tell of
    lines: list[str]


@dataclass
class Report:
    processes: int = 0
    tasks: int = 0
    accesses: int = 0
    is_instrumented: bool = False
    incomplete: int = 0
    on_device: int = 0  # target regions
    found: dict[tuple[str, ...], Found] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


class Names:
    """Source places of code, and names of data, in one process."""

    def __init__(self, result: Result) -> None:
        self._modules = [one for one in result.modules if one.path.startswith("/")]
        self._places: dict[int, str] = {}
        self._variables: dict[str, Variables] = {}
        self.notes: list[str] = []
        codes: dict[Module, set[int]] = {}
        for conflict in result.conflicts:
            wanted = {conflict.allocated}
            for side in conflict.sides:
                wanted |= {side.code, side.task.construct, side.sibling.construct}
            for code in wanted - {0}:
                module = self._module(code)
                if module:
                    codes.setdefault(module, set()).add(code)
        for module, some in codes.items():
            self._ask(module, sorted(some))

    def _module(self, address: int) -> Module | None:
        return next((one for one in self._modules if one.low <= address < one.high), None)

    def _ask(self, module: Module, codes: list[int]) -> None:
        try:  # codes are return addresses: the call is before
            places = symbolizer.ask_inlined(module.path, [code - 1 - module.base for code in codes])
        except symbolizer.Failure as failure:
            self.notes.append(f"functions of {Path(module.path).name} have no lines: {failure}")
            return
        for code, found in zip(codes, places):
            own = [place for place in found if not place.file.startswith("/usr/")] or found[-1:]
            if own:
                self._places[code] = own[0].short()

    def place(self, code: int) -> str:
        if code in self._places:
            return self._places[code]
        module = self._module(code)
        return f"{Path(module.path).name}+{code - module.base:#x}" if module else f"{code:#x}"

    def variable(self, address: int) -> tuple[str, int, int] | None:
        """The name, address and size of the variable there, if it has static storage."""
        module = self._module(address)
        if not module:
            return None
        if module.path not in self._variables:
            self._variables[module.path] = Variables(module.path)
        found = self._variables[module.path].find(address - module.base)
        return (found.name, found.address + module.base, found.size) if found else None

    def task(self, task: Task) -> str:
        if task.is_operation:
            return task.label
        if not task.is_explicit:
            return "an implicit task" if task.kind & 0x2 else "the initial task"
        name = f'task "{task.label}"' if task.label else "the task"
        return f"{name} ({self.place(task.construct)})" if task.construct else name


class Object:
    """What the bytes of a conflict belong to."""

    def __init__(self, conflict: Conflict, names: Names) -> None:
        variable = names.variable(conflict.low)
        self.name = ""
        if variable:
            self.name, self.low, self.size = variable
        elif conflict.block:
            self.low, self.size = conflict.block, conflict.size
        else:
            self.low, self.size = conflict.low, conflict.high - conflict.low
        self._conflict = conflict
        self._allocated = names.place(conflict.allocated) if conflict.block else ""

    def has(self, address: int) -> bool:
        return self.low <= address < self.low + self.size

    def at(self, address: int) -> str:
        """An expression for a clause."""
        offset = address - self.low
        if self.name:
            return self.name if self._is_whole() and not offset else f"byte {offset} of {self.name}"
        if self._allocated:
            return f"byte {offset} of the block"
        return "this variable" if not offset else f"{address:#x}"

    def _is_whole(self) -> bool:
        return self.low == self._conflict.low and self.size == self._conflict.high - self._conflict.low

    def describe(self) -> str:
        first, last = self._conflict.low - self.low, self._conflict.high - self.low - 1
        part = f"bytes {first}..{last} of "
        if self.name:
            return self.name if self._is_whole() else f"{part}{self.name}"
        if self._allocated:
            return f"{part}a block of {self.size} bytes, allocated at {self._allocated}"
        where = "a local variable" if self._conflict.stack else f"address {self._conflict.low:#x}"
        return f"{self.size} byte{'s' * (self.size != 1)} of {where}"


def missing(conflict: Conflict, thing: Object, names: Names) -> str:
    """What would order the two accesses."""
    waits = [_wait_for(side, conflict, names) for side in conflict.sides if side.task.is_operation]
    if not waits:
        return _order(conflict, thing, names)
    # The task that has started an operation, if another one must come before or after it, needs its clauses, too.
    starters = [replace(side, depth=side.depth - 1) if side.task.is_operation else side for side in conflict.sides]
    if any(side.depth < 0 for side in starters):
        return waits[0]
    clauses = _clauses(replace(conflict, sides=starters), thing, names)
    return "; ".join([*dict.fromkeys(waits), *(text for text in clauses if text != NO_CLAUSE)])


def _wait_for(side: Side, conflict: Conflict, names: Names) -> str:
    """When the request must be known to be complete."""
    other = conflict.sides[0] if side is conflict.sides[1] else conflict.sides[1]
    if side.depth:
        when = f"the end of {names.task(side.sibling)}"
    elif other.depth < 0 or other.task.is_operation:
        when = names.place(other.code)
    else:
        when = f"{names.task(other.sibling)} is created"
    return f"a wait for the request of {side.task.label} (MPI_Wait, MPI_Test) before {when}"


def _order(conflict: Conflict, thing: Object, names: Names) -> str:
    first, second = conflict.sides
    creator = next((side for side in conflict.sides if side.depth < 0), None)
    if creator:
        other = second if creator is first else first
        kind = "inout" if creator.flags & conflicts.WRITES else "in"
        has_clause = not other.depth and any(thing.has(address) for address, _ in other.dependences)
        clause = f" (or taskwait depend({kind}: {_address(other, thing, conflict)}))" if has_clause else ""
        return f"a taskwait{clause} before {names.place(creator.code)}"
    if not (first.sibling.is_explicit and second.sibling.is_explicit):
        return "a barrier between the two, or a critical around both"
    return "; ".join(_clauses(conflict, thing, names))


def _address(side: Side, thing: Object, conflict: Conflict) -> str:
    named = [address for address, _ in side.dependences if thing.has(address)]
    return thing.at(_nearest(named, conflict.low) if named else conflict.low)


def _nearest(addresses: list[int], wanted: int) -> int:
    """The last one that is not behind the wanted one, else the first."""
    before = [address for address in addresses if address <= wanted]
    return max(before) if before else min(addresses)


def _clauses(conflict: Conflict, thing: Object, names: Names) -> list[str]:
    """For two tasks of one creator: which dependences they lack on a common address."""
    named = [{address: kind for address, kind in side.dependences if thing.has(address)} for side in conflict.sides]
    common = [address for address in named[0] if address in named[1]]
    writers = [side for side in conflict.sides if side.flags & conflicts.WRITES]
    is_same = conflict.sides[0].sibling.construct == conflict.sides[1].sibling.construct
    candidates = [*(named[0] if conflict.sides[0] in writers else {}),
                  *(named[1] if conflict.sides[1] in writers else {})]  # fmt: skip
    candidates = candidates or common or [*named[0], *named[1]]
    address = _nearest(candidates, conflict.low) if candidates else conflict.low
    texts = []
    for side, there in zip(conflict.sides, named):
        kind = "inout" if side in writers or (is_same and not any(named)) else "in"
        has = there.get(address)
        if has is None:
            verb = "add"
        elif kind == "inout" and has in (IN, INOUTSET):
            verb = f"{NAMES[has]} is not enough, it must be"
        else:
            continue
        inner = f", and a taskwait at the end of its code (the access is {side.depth} creation"\
                f"{'s' * (side.depth > 1)} below)" if side.depth else ""  # fmt: skip
        text = f"{verb} depend({kind}: {thing.at(address)}) to {names.task(side.sibling)}{inner}"
        if text not in texts:
            texts.append(text)
    if not texts:
        deeper = [side for side in conflict.sides if side.depth]
        texts = [f"a taskwait at the end of {names.task(side.sibling)}, as its clause covers those below only then"
                 for side in deeper]  # fmt: skip
    return texts or [NO_CLAUSE]


def add(report: Report, result: Result) -> None:
    names = Names(result)
    report.processes += 1
    report.tasks += result.tasks
    report.accesses += result.accesses
    report.is_instrumented = report.is_instrumented or result.is_instrumented
    report.incomplete += not result.is_complete
    report.on_device += result.on_device
    for conflict in result.conflicts:
        thing = Object(conflict, names)
        first, second = conflict.sides
        writes = sum(side.flags & conflicts.WRITES for side in conflict.sides)
        places = [f"  {names.task(side.task)} {side.verb} at {names.place(side.code)}" for side in conflict.sides]
        where = [f"  object: {thing.describe()}", f"  missing: {missing(conflict, thing, names)}"]
        # A read and a write at the same two places are one mistake: the stronger pair is told.
        key = (*(names.task(side.task) + names.place(side.code) for side in conflict.sides), thing.name)
        known = report.found.setdefault(key, Found(0, 0, []))
        known.times = max(known.times, conflict.times)
        if writes > known.writes:
            known.writes, known.lines = writes, [*places, *where]
    for note in names.notes:
        report.notes[note] = None


def finish(folder: Path, layout: Layout, program: str) -> int:
    """Reports, and returns how many findings there are."""
    helper = layout.require(layout.dependences, "install Marline again")
    report = Report()
    for path in sorted(folder.glob("accesses.*")):
        if not path.stat().st_size:  # a process without OpenMP
            continue
        result = conflicts.read(helper, path)
        if result.tasks or result.is_complete:
            add(report, result)
    for found in report.found.values():
        often = f", {found.times} times" if found.times > 1 else ""
        say("\n".join([f"check: two accesses, at least one of them a write, are not ordered{often}", *found.lines]))
    for note in report.notes:
        say(f"check: {note}")
    if not report.processes:
        say(f"check: nothing was checked: {program} never came to OpenMP")
    elif not report.is_instrumented:
        say(f"check: nothing was checked: {program} has no instrumented code; {HOW.format(layout.dependences.parent)}")
    else:
        count = {0: "no accesses that are", 1: "1 pair of accesses that is"}.get(
            len(report.found), f"{len(report.found)} pairs of accesses that are"
        )
        if report.on_device:
            regions = f"{report.on_device} target region{'s' * (report.on_device > 1)}"
            say(f"check: {regions} ran on a device: what the code there accesses is not seen. "
                "OMP_TARGET_OFFLOAD=disabled runs it on the host")  # fmt: skip
        unfinished = f"; {report.incomplete} did not end in order" if report.incomplete else ""
        say(f"check: {count} not ordered, of {report.tasks} task{'s' * (report.tasks != 1)} in {report.processes} "
            f"process{'es' * (report.processes > 1)}{unfinished}")  # fmt: skip
    return len(report.found)
