# SPDX-License-Identifier: Apache-2.0
"""What marline-dependences (analysis/dependences/main.cpp says how) prints for the record of one process. Standard
library only."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from marline.errors import Refusal

WRITES, FREES = 1, 4


@dataclass(frozen=True)
class Task:
    number: int
    kind: int  # OMPT's flags, or 0x100
    construct: int  # a code address, or 0
    label: str

    @property
    def is_explicit(self) -> bool:
        return bool(self.kind & 0x4)

    @property
    def is_operation(self) -> bool:
        """Of MPI: the label is the function that started it, the construct that call."""
        return bool(self.kind & 0x100)


@dataclass(frozen=True)
class Side:
    """One of two conflicting accesses. `sibling`: the task above the accessing one, or itself, whose creator has also
    created that of the other side; `depth`: how many creations it is above. -1: the accessing task is the creator."""

    flags: int
    code: int
    task: Task
    sibling: Task
    depth: int
    dependences: tuple[tuple[int, int], ...]  # address, OMPT's type

    @property
    def verb(self) -> str:
        return "frees" if self.flags & FREES else "writes" if self.flags & WRITES else "reads"


@dataclass
class Conflict:
    times: int
    low: int
    high: int
    block: int
    size: int
    allocated: int
    stack: int
    sides: list[Side] = field(default_factory=list)  # the task that was created first comes first


@dataclass(frozen=True)
class Module:
    base: int
    low: int
    high: int
    path: str


@dataclass
class Result:
    conflicts: list[Conflict] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    tasks: int = 0
    accesses: int = 0
    is_instrumented: bool = False
    is_complete: bool = False
    on_device: int = 0  # target regions


def read(helper: Path, record: Path) -> Result:
    ran = subprocess.run([str(helper), str(record)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         universal_newlines=True, errors="replace", check=False)  # fmt: skip
    if ran.returncode != 0:
        raise Refusal(f"{helper.name} failed with status {ran.returncode}: {ran.stderr.strip()}")
    return _parse(ran.stdout)


def _number(text: str) -> int:
    return int(text, 0)


def _parse(output: str) -> Result:
    lines = [line.split("\t") for line in output.splitlines()]
    texts = {int(line[1]): line[2] for line in lines if line[0] == "text"}
    result = Result()
    accesses: list[tuple[int, int, Task]] = []
    above: list[tuple[Task, int, list[tuple[int, int]]]] = []
    for word, *rest in [*lines, ["end"]]:
        if word in ("conflict", "total") and result.conflicts:
            result.conflicts[-1].sides = _sides(accesses, above)
            accesses, above = [], []
        if word == "module":
            result.modules.append(Module(*map(_number, rest[:3]), texts[int(rest[3])]))
        elif word == "conflict":
            result.conflicts.append(Conflict(*map(_number, rest)))
        elif word == "side":
            accesses.append((_number(rest[0]), _number(rest[1]), _task(rest[3:], texts)))
        elif word == "ancestor":
            above.append((_task(rest, texts), int(rest[4]), []))
        elif word == "depend":
            above[-1][2].append((_number(rest[0]), _number(rest[1])))
        elif word == "total":
            result.tasks, result.accesses = int(rest[0]), int(rest[2])
            result.is_instrumented, result.is_complete = rest[3] == "1", rest[4] == "1"
            result.on_device = int(rest[5])
    return result


def _task(fields: list[str], texts: dict[int, str]) -> Task:
    return Task(int(fields[0]), _number(fields[1]), _number(fields[2]), texts.get(int(fields[3]), ""))


def _sides(accesses: list[tuple[int, int, Task]],
           above: list[tuple[Task, int, list[tuple[int, int]]]]) -> list[Side]:  # fmt: skip
    sides = [Side(*access, task, depth, tuple(dependences))
             for access, (task, depth, dependences) in zip(accesses, above)]  # fmt: skip
    return sorted(sides, key=lambda side: side.sibling.number)
