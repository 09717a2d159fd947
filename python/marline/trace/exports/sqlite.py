# SPDX-License-Identifier: Apache-2.0
"""Writes a trace as an SQLite database, for queries and notebooks. Its tables and columns: schema.py.

Columns go into the database as they are in memory, a block of rows at a time; nothing else loops over rows. The file
takes its name when it is complete."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..global_graph.edges import EDGE_KINDS, WORK, GraphEdges
from ..model import UNTIED
from ..passes.communication import Communication
from ..passes.regions import Spans
from ..passes.samples.functions import Samples
from ..passes.thread_time.states import NEVER
from ..read.events import CALL_KINDS, MPI_CALLS
from ..read.progress import Progress, no_progress
from ..read.records import TASK_BITS
from ..registry import Analysis, AnalysisError
from ..thread_numbers import thread_numbers
from .schema import FORMAT, TABLES, Table

_BLOCK = 1 << 16
_TASK_MASK = np.uint64((1 << TASK_BITS) - 1)
_OPERATIONS = ("kernel", "to device", "from device", "upkeep", "wait")  # in the order of passes/devices.py

Rows = Sequence["np.ndarray | Sequence[Any]"]  # a column each


def write_sqlite(of: Analysis, path: str | Path, progress: Progress = no_progress) -> None:
    """Writes all tables to `path`."""
    path = Path(path)
    unfinished = path.with_name(path.name + ".part")
    unfinished.unlink(missing_ok=True)
    try:
        _write(of, unfinished, progress)
        unfinished.replace(path)
    except sqlite3.Error as error:
        raise AnalysisError(f"{path}: SQLite cannot write it: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write(of: Analysis, path: Path, progress: Progress) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        for number, table in enumerate(TABLES):
            progress(f"SQLite: {table.name}", number, len(TABLES))
            _fill(database, table, _ROWS[table.name](of))
        database.execute("COMMIT")
        progress("SQLite", len(TABLES), len(TABLES))
    finally:
        database.close()


def _fill(database: sqlite3.Connection, table: Table, columns: Rows) -> None:
    assert len(columns) == len(table.columns), table.name
    database.execute(table.create())
    for first in range(0, len(columns[0]), _BLOCK):
        block = [column[first : first + _BLOCK] for column in columns]
        lists = [one.tolist() if isinstance(one, np.ndarray) else one for one in block]
        database.executemany(table.insert(), zip(*lists, strict=True))
    for column in table.indices:
        database.execute(f"CREATE INDEX {table.name}_{column} ON {table.name} ({column})")


def _trace(of: Analysis) -> Rows:
    first = of.trace.ranks[min(of.trace.ranks)]
    total = of["breakdown"].edges
    facts = {"format": FORMAT, "program": first.get("exe", ""), "arguments": json.dumps(first.get("argv", [])[1:]),
             "records": str(len(of.trace.time)), "begin_ns": str(total[0]), "end_ns": str(total[-1])}  # fmt: skip
    return list(facts), list(facts.values())


def _ranks(of: Analysis) -> Rows:
    ranks = of.trace.ranks
    threads = np.bincount(of["breakdown"].lane_rank, minlength=max(ranks) + 1)
    texts = [[one.get(key, "") for one in ranks.values()] for key in ("host", "pid", "runtime", "mpi")]
    return list(ranks), texts[0], texts[1], threads[list(ranks)], texts[2], texts[3]


def _kinds(of: Analysis) -> Rows:
    kinds = of["kinds"]
    return range(len(kinds.names)), kinds.names, kinds.colors


def _tasks(of: Analysis) -> Rows:
    tasks, ready = of["tasks"], of["readiness"].time
    return (np.arange(len(tasks.id)), tasks.rank, of["kinds"].of_task, tasks.index(tasks.parent),
            tasks.id & _TASK_MASK, tasks.created, np.where(ready == NEVER, -1, ready), tasks.start, tasks.end,
            tasks.running, of["device_work"], of["critical_path"].slack, tasks.deferred.astype(np.int8),
            ((tasks.flags & UNTIED) != 0).astype(np.int8))  # fmt: skip


def _threads(of: Analysis, rank: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """By the numbers that reports show."""
    return thread_numbers(of.trace).of(rank, thread)


def _runs(of: Analysis) -> Rows:
    runs = of["segments"]
    return (of["owners"], runs.rank, _threads(of, runs.rank, runs.thread), runs.start, runs.end,
            runs.waits.astype(np.int8))  # fmt: skip


def _edges(of: Analysis) -> Rows:
    """The program's order between explicit tasks; the work within tasks is theirs."""
    graph, tasks = of["global_graph"], of["tasks"]
    edges = graph.edges.take(slice(graph.declared))
    edges = edges.take(np.flatnonzero(edges.kind != WORK))
    source, sink = (tasks.index(graph.points.task[column]) for column in (edges.source, edges.sink))
    between = np.flatnonzero((source >= 0) & (sink >= 0) & (source != sink))
    edges = edges.take(between)
    return (source[between], sink[between], _Names([kind.name for kind in EDGE_KINDS], edges.kind),
            graph.points.time[edges.source], graph.points.time[edges.sink], edges.weight)  # fmt: skip


class _Names:
    """A column of texts that are looked up when a block of it is written."""

    def __init__(self, names: Sequence[str] | dict[int, str], numbers: np.ndarray) -> None:
        self._names, self._numbers = names, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, block: slice) -> list[str]:
        return [self._names[one] for one in self._numbers[block].tolist()]


def _calls(of: Analysis) -> Rows:
    found: Communication = of["communication"]
    calls = found.calls
    known = np.unique(calls.call).tolist()
    tag = np.where(calls.received_tag >= 0, calls.received_tag, calls.tag)
    names = {one: MPI_CALLS.get(one, f"MPI call {one}") for one in known}
    kinds = {one: CALL_KINDS.get(one, "local") for one in known}
    return (np.arange(len(calls.call)), _Names(names, calls.call), _Names(kinds, calls.call),
            of["tasks"].index(calls.task), calls.rank, _threads(of, calls.rank, calls.start_thread), calls.start,
            calls.end, found.held, found.peer, np.maximum(tag, -1), calls.bytes.astype(np.int64),
            calls.returned.astype(np.int8))  # fmt: skip


def _messages(of: Analysis) -> Rows:
    calls, messages = of["calls"], of["messages"]
    send, receive = messages.send, messages.receive
    return (send, receive, messages.asked, calls.rank[send], calls.rank[receive], calls.bytes[send].astype(np.int64),
            calls.start[send], calls.end[receive])  # fmt: skip


def _spans(name: str) -> Callable[[Analysis], Rows]:
    def rows(of: Analysis) -> Rows:
        spans: Spans = of[name]
        return (_Names(spans.names, spans.name), of["tasks"].index(spans.task), spans.rank,
                _threads(of, spans.rank, spans.thread), spans.start, spans.end,
                spans.closed.astype(np.int8))  # fmt: skip

    return rows


def _counters(of: Analysis) -> Rows:
    found = of["counters"]
    task, counter, value = found.by_task()
    return task, _Names(found.names, counter), value


def _samples(of: Analysis) -> Rows:
    found: Samples = of["samples"]
    trace, record = of.trace, found.stacks.record
    return (np.arange(len(record)), of["tasks"].index(trace.task[record]), trace.rank[record],
            _threads(of, trace.rank[record], trace.thread[record]), trace.time[record], found.stacks.weight,
            _Names(found.owners.names, found.owners.of_sample))  # fmt: skip


def _frames(of: Analysis) -> Rows:
    frames = of["samples"].frames
    return (frames.sample, frames.place, _Names(frames.names, frames.function), _Names(frames.files, frames.function),
            frames.line)  # fmt: skip


def _device_operations(of: Analysis) -> Rows:
    devices = of["devices"]
    return (devices.rank, devices.device, _Names(_OPERATIONS, devices.what), _Names(devices.names, devices.name),
            devices.start, devices.end, devices.bytes, devices.other)  # fmt: skip


def _steps(which: str) -> Callable[[Analysis], Rows]:
    def rows(of: Analysis) -> Rows:
        graph, edges = of["global_graph"], getattr(of["critical_path"], which)
        assert isinstance(edges, GraphEdges)
        task = graph.points.task[edges.sink]
        rank = np.where(task != 0, (task >> np.uint64(TASK_BITS)).astype(np.int64), -1)
        return (np.arange(len(edges.source)), _Names([kind.name for kind in EDGE_KINDS], edges.kind),
                of["tasks"].index(task), rank, graph.time[edges.source], graph.time[edges.sink],
                edges.weight)  # fmt: skip

    return rows


_ROWS: dict[str, Callable[[Analysis], Rows]] = {
    "trace": _trace, "ranks": _ranks, "kinds": _kinds, "tasks": _tasks, "runs": _runs, "edges": _edges,
    "calls": _calls, "messages": _messages, "regions": _spans("regions"), "worksharing": _spans("worksharing"),
    "counters": _counters, "samples": _samples, "frames": _frames, "device_operations": _device_operations,
    "critical_path": _steps("path"), "chain": _steps("chain"),
}  # fmt: skip
