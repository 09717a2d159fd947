# SPDX-License-Identifier: Apache-2.0
"""A reader of Paraver's files that refuses what BSC's description of the trace format rules out."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_HEADER = re.compile(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)")


@dataclass
class Paraver:
    """By name of the row: states (begin, end, state) and events (time, type, value), with the names of the .pcf file.
    Messages: (from, to, sent, physically sent, asked, received, bytes, tag)."""

    length: int
    nodes: list[str]
    states: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    events: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)
    messages: list[tuple[str, str, int, int, int, int, int, int]] = field(default_factory=list)


def read_paraver(path: Path) -> Paraver:
    levels = _read_rows(path.with_suffix(".row"))
    states, types = _read_names(path.with_suffix(".pcf"))
    header, *lines = path.with_suffix(".prv").read_text().splitlines()
    match = _HEADER.fullmatch(header)
    assert match, header
    cpus = [int(one) for one in match[3].split(",")]
    tasks = [tuple(map(int, one.split(":"))) for one in match[5].split(",")]
    assert len(cpus) == int(match[2]) == len(levels["NODE"]) and len(tasks) == int(match[4]) == len(levels["TASK"])
    assert all(1 <= node <= len(cpus) for _, node in tasks) and len(levels["CPU"]) == sum(cpus)
    names = {(task, thread): levels["THREAD"][sum(count for count, _ in tasks[: task - 1]) + thread - 1]
             for task, (threads, _) in enumerate(tasks, 1) for thread in range(1, threads + 1)}  # fmt: skip
    found, cpu_of, last = Paraver(int(match[1]), levels["NODE"]), {}, 0

    def row(cpu: int, application: int, task: int, thread: int) -> str:
        name = names[task, thread]
        assert application == 1 and cpu_of.setdefault(name, cpu) == cpu and levels["CPU"][cpu - 1] == name
        return name

    for line in lines:
        kind, *fields = map(int, line.split(":"))
        assert kind in (1, 2, 3), line
        name, time = row(*fields[:4]), fields[4]
        assert last <= time <= found.length, f"{line}: after a record of {last}"
        last = time
        if kind == 1:
            begin, end, state = fields[4:]
            earlier = found.states.setdefault(name, [])
            assert begin < end and (not earlier or earlier[-1][1] == begin), line
            earlier.append((begin, end, states[state]))
        elif kind == 2:
            pairs = list(zip(fields[5::2], fields[6::2], strict=True))
            assert pairs
            named = [(time, types[one][0], types[one][1][value]) for one, value in pairs]
            found.events.setdefault(name, []).extend(named)
        else:
            assert len(fields) == 14
            found.messages.append((name, row(*fields[6:10]), *fields[4:6], *fields[10:]))
    assert len(set(cpu_of.values())) == len(cpu_of)
    return found


def _read_rows(path: Path) -> dict[str, list[str]]:
    levels = {}
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if line:
            _, level, _, size = line.split()
            levels[level] = [next(lines) for _ in range(int(size))]
    return levels


def _read_names(path: Path) -> tuple[dict[int, str], dict[int, tuple[str, dict[int, str]]]]:
    """States, and the types of events with their values."""
    states: dict[int, str] = {}
    types: dict[int, tuple[str, dict[int, str]]] = {}
    for part in path.read_text().strip().split("\n\n"):
        title, *lines = part.splitlines()
        if title == "STATES":
            states = {int(number): name for number, name in (line.split(None, 1) for line in lines)}
        elif title == "STATES_COLOR":
            colors = [re.fullmatch(r"(\d+) +\{(\d+),(\d+),(\d+)\}", line) for line in lines]
            assert all(color and max(map(int, color.groups()[1:])) <= 255 for color in colors)
            assert [int(color[1]) for color in colors if color] == list(states)
        elif title == "EVENT_TYPE":
            values = {int(number): name for number, name in (line.split(None, 1) for line in lines[2:])}
            _, number, name = lines[0].split(None, 2)
            assert lines[1] == "VALUES"
            types[int(number)] = name, values
    return states, types
