# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline for Paraver (BSC): FILE.prv with the records, FILE.pcf with the names of states and events,
FILE.row with the names of rows. The format: "Paraver: trace format" of BSC's manual.

One application; its tasks are the ranks, their threads the threads of the rank, then its lanes of suspended calls and
of devices. Each has a CPU of its own on its rank's node. Records of all rows are merged by time, so none is held in
memory for long."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..read.events import CALL_KINDS
from ..registry import Analysis
from ..views.timeline import CALL, HOST_SIDE, IMPLICIT, KERNEL_RUN, NODE, REGION, TASK, TRANSFER, WAIT, Timeline
from .nested import Track, nested_tracks

# Paraver's usual states, so that its own configurations work.
STATES = ("Idle", "Running", "Not created", "Waiting a message", "Blocking Send", "Synchronization", "Test/Probe",
          "Scheduling and Fork/Join", "Wait/WaitAll", "Blocked", "Immediate Send", "Immediate Receive", "I/O",
          "Group Communication", "Tracing Disabled", "Others", "Send Receive", "Memory transfer")  # fmt: skip
_COLORS = ((117, 195, 255), (0, 0, 255), (255, 255, 255), (255, 0, 0), (255, 0, 174), (179, 0, 0), (0, 255, 0),
           (255, 255, 0), (235, 0, 0), (0, 162, 0), (255, 0, 255), (100, 100, 177), (172, 174, 41), (255, 144, 26),
           (2, 255, 177), (192, 224, 0), (66, 66, 66), (255, 0, 96))  # fmt: skip
_IDLE = STATES.index("Idle")
_OF_CATEGORY = {TASK: 1, IMPLICIT: 1, WAIT: 5, REGION: 1, TRANSFER: 17, HOST_SIDE: 17, KERNEL_RUN: 1, NODE: 15}
_OF_CALL = {"send": 4, "receive": 3, "sendreceive": 16, "start_send": 10, "start_receive": 11, "collective": 13,
            "wait": 8, "test": 6, "probe": 6}  # fmt: skip
# Types of events: what bars of a category are, by their number among all names; 0 ends it.
_FIRST_TYPE = 91_000_000
_TYPES = {TASK: "Task", IMPLICIT: "Implicit task", WAIT: "Wait", REGION: "Region", CALL: "MPI call",
          TRANSFER: "Transfer", KERNEL_RUN: "Kernel", HOST_SIDE: "Transfer, host's side", NODE: "Node"}  # fmt: skip


@dataclass(frozen=True)
class _Row:
    """The object of a record: `CPU:application:task:thread`, all counted from 1."""

    track: Track
    text: str


def write_paraver(of: Analysis, drawn: Timeline, path: str | Path) -> list[Path]:
    """The three files."""
    files = [Path(path).with_suffix(suffix) for suffix in (".prv", ".pcf", ".row")]
    nodes = _nodes(of)
    rows = _rows(drawn, nodes)
    with files[0].open("w", encoding="utf-8") as file:
        _write_header(file, drawn, rows, nodes)
        states = _states(of, drawn)
        columns = drawn.slices.name.tolist(), drawn.slices.category.tolist(), states
        lines = [_records(row, *columns) for row in rows]
        for _, _, line in heapq.merge(*lines, _messages(of, drawn, rows)):
            file.write(line)
    with files[1].open("w", encoding="utf-8") as file:
        _write_names(file, drawn)
    with files[2].open("w", encoding="utf-8") as file:
        _write_rows(file, rows, nodes)
    return files


def _nodes(of: Analysis) -> dict[str, list[int]]:
    """The ranks of each host."""
    nodes: dict[str, list[int]] = {}
    for rank, one in of.trace.ranks.items():
        nodes.setdefault(one.get("host", "") or "host", []).append(rank)
    return nodes


def _rows(drawn: Timeline, nodes: dict[str, list[int]]) -> list[_Row]:
    """By node and rank: CPUs are numbered through."""
    by_rank: dict[int, list[Track]] = {}
    for track in nested_tracks(drawn):
        by_rank.setdefault(track.rank, []).append(track)
    task_of = {rank: number for number, rank in enumerate(sorted(by_rank), 1)}
    rows: list[_Row] = []
    for ranks in nodes.values():
        for rank in ranks:
            rows += [_Row(track, f"{len(rows) + number}:1:{task_of[rank]}:{number}")
                     for number, track in enumerate(by_rank.get(rank, []), 1)]  # fmt: skip
    return rows


def _write_header(file: TextIO, drawn: Timeline, rows: list[_Row], nodes: dict[str, list[int]]) -> None:
    node_of = {rank: number for number, ranks in enumerate(nodes.values(), 1) for rank in ranks}
    threads: dict[int, int] = {}
    for row in rows:
        threads[row.track.rank] = threads.get(row.track.rank, 0) + 1
    cpus = [sum(threads.get(rank, 0) for rank in ranks) for ranks in nodes.values()]
    tasks = ",".join(f"{threads[rank]}:{node_of[rank]}" for rank in sorted(threads))
    last = int(drawn.slices.end.max(initial=0))
    file.write(f"#Paraver (01/01/1970 at 00:00):{last}_ns:{len(nodes)}({','.join(map(str, cpus))}):1:"
               f"{len(threads)}({tasks})\n")  # fmt: skip


def _states(of: Analysis, drawn: Timeline) -> list[int]:
    """By slice."""
    state = np.array([_OF_CATEGORY.get(category, 15) for category in range(max(_TYPES) + 1)])[drawn.slices.category]
    calls = of["calls"].call
    of_call = {number: _OF_CALL.get(CALL_KINDS.get(number, "local"), 15) for number in np.unique(calls).tolist()}
    state[drawn.first_call : drawn.first_call + len(calls)] = [of_call[number] for number in calls.tolist()]
    return state.tolist()


def _records(row: _Row, names: list[int], categories: list[int],
             states: list[int]) -> Iterator[tuple[int, int, str]]:  # fmt: skip
    """(time, order among records of that time, line): events, the state that they lead to, messages. A state lasts from
    an event of the row to the next one of another time."""
    track, stack, begin = row.track, [], 0
    for time, bar, opens in zip(track.time, track.row, track.opens, strict=True):
        if time > begin:
            yield begin, 1, f"1:{row.text}:{begin}:{time}:{states[stack[-1]] if stack else _IDLE}\n"
            begin = time
        value = 0
        if opens:
            stack.append(bar)
            value = names[bar] + 1
        else:
            stack.pop()
            outer = [one for one in stack if categories[one] == categories[bar]]
            value = names[outer[-1]] + 1 if outer else 0
        yield time, 0, f"2:{row.text}:{time}:{_FIRST_TYPE + categories[bar]}:{value}\n"


def _messages(of: Analysis, drawn: Timeline, rows: list[_Row]) -> Iterator[tuple[int, int, str]]:
    """Logical and physical send as the sending call begins; logical receive as the receiving call begins, physical one
    as it ends."""
    calls, messages, slices = of["calls"], of["messages"], drawn.slices
    text = {(row.track.rank, row.track.number): row.text for row in rows}
    order = np.argsort(calls.start[messages.send], kind="stable")
    send, receive = messages.send[order], messages.receive[order]
    columns: tuple[Any, ...] = tuple(column.tolist() for column in (
        slices.rank[drawn.first_call + send], slices.track[drawn.first_call + send],
        slices.rank[drawn.first_call + receive], slices.track[drawn.first_call + receive],
        calls.start[send], calls.start[receive], calls.end[receive], calls.bytes[send].astype(np.int64),
        np.maximum(calls.tag[send], 0)))  # fmt: skip
    for from_rank, from_track, to_rank, to_track, sent, asked, received, size, tag in zip(*columns, strict=True):
        yield sent, 2, (f"3:{text[from_rank, from_track]}:{sent}:{sent}:{text[to_rank, to_track]}:{asked}:{received}:"
                        f"{size}:{tag}\n")  # fmt: skip


def _write_names(file: TextIO, drawn: Timeline) -> None:
    file.write("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n")
    file.write("STATES\n" + "".join(f"{number:<4}{name}\n" for number, name in enumerate(STATES)) + "\n")
    file.write("STATES_COLOR\n" + "".join(f"{number:<4}{{{','.join(map(str, color))}}}\n"
                                          for number, color in enumerate(_COLORS)) + "\n")  # fmt: skip
    used = np.unique(np.stack([drawn.slices.category, drawn.slices.name]), axis=1)
    for category in np.unique(used[0]).tolist():
        file.write(f"EVENT_TYPE\n0    {_FIRST_TYPE + category}    {_TYPES[category]}\nVALUES\n0      End\n")
        for name in used[1][used[0] == category].tolist():
            file.write(f"{name + 1}      {drawn.names[name]}\n")
        file.write("\n")


def _write_rows(file: TextIO, rows: list[_Row], nodes: dict[str, list[int]]) -> None:
    titles = [f"rank {row.track.rank} {row.track.name}" for row in rows]
    by_task = [title for _, title in sorted(zip(map(_place, rows), titles, strict=True))]
    tasks = [f"rank {rank}" for rank in sorted({row.track.rank for row in rows})]
    for level, names in (("CPU", titles), ("NODE", list(nodes)), ("TASK", tasks), ("THREAD", by_task)):
        file.write(f"LEVEL {level} SIZE {len(names)}\n" + "".join(f"{name}\n" for name in names) + "\n")


def _place(row: _Row) -> tuple[int, ...]:
    """Task and thread."""
    return tuple(map(int, row.text.split(":")[2:]))
