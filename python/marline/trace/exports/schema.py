# SPDX-License-Identifier: Apache-2.0
"""THE tables of the SQLite export: names, types and meaning of all columns. The database holds these texts as comments
of its CREATE statements, and docs/guide/sqlite.md lists them (tools/gen_sqlite_doc.py)."""

from __future__ import annotations

from dataclasses import dataclass

FORMAT = "marline-sqlite 1"
INTEGER, TEXT, KEY = "INTEGER", "TEXT", "INTEGER PRIMARY KEY"


@dataclass(frozen=True)
class Column:
    """`text`: what it says. A column that is `optional` is NULL where there is no value; rows come with -1 there."""

    name: str
    type: str
    text: str
    optional: bool = False


@dataclass(frozen=True)
class Table:
    """`indices`: columns by which rows are often looked up."""

    name: str
    text: str
    columns: tuple[Column, ...]
    indices: tuple[str, ...] = ()

    def create(self) -> str:
        """The statement that makes it, with all texts as comments."""
        last = self.columns[-1]
        lines = [f"    {one.name} {one.type}{',' if one is not last else ' '} -- {one.text}" for one in self.columns]
        return "\n".join([f"CREATE TABLE {self.name} ( -- {self.text}", *lines, ")"])

    def insert(self) -> str:
        holes = ("NULLIF(?, -1)" if column.optional else "?" for column in self.columns)
        return f"INSERT INTO {self.name} VALUES ({', '.join(holes)})"


_RANK = Column("rank", INTEGER, "rank in MPI_COMM_WORLD; 0 without MPI")
_THREAD = Column("thread", INTEGER, "thread of the rank: OpenMP's number, from 0")
_TASK = Column("task", INTEGER, "tasks.id; NULL: code outside of explicit tasks", optional=True)
_START = Column("start_ns", INTEGER, "when it began")
_END = Column("end_ns", INTEGER, "when it ended")
_CLOSED = Column("closed", INTEGER, "1: its end is known from the records; 0: end_ns is the end of the trace")
_STEP = (
    Column("step", KEY, "position, in the order of time, from 0"),
    Column("kind", TEXT, "what the step is: work, message, dependence, barrier, ... (docs/design/global-graph.md)"),
    _TASK,
    Column("rank", INTEGER, "rank where the step ends; NULL: a barrier or a collective of several", optional=True),
    _START, _END,
    Column("weight_ns", INTEGER, "the least time that the step takes"),
)  # fmt: skip

TABLES = (
    Table("trace", "facts about the whole trace", (
        Column("key", TEXT, "format, program, arguments, records; begin_ns and end_ns: what the breakdown covers"),
        Column("value", TEXT, "the value"),
    )),
    Table("ranks", "a row for each process", (
        Column("rank", KEY, "rank in MPI_COMM_WORLD; 0 without MPI"),
        Column("host", TEXT, "name of the machine"),
        Column("pid", INTEGER, "number of the process there"),
        Column("threads", INTEGER, "threads that ran tasks or called MPI"),
        Column("runtime", TEXT, "OpenMP runtime"),
        Column("mpi", TEXT, "MPI library"),
    )),
    Table("kinds", "kinds of tasks", (
        Column("id", KEY, "number of the kind"),
        Column("name", TEXT, "label of the task, or function and line of the code that created it"),
        Column("color", TEXT, "colour in charts, #rrggbb"),
    )),
    Table("tasks", "explicit tasks, and taskwaits with dependences", (
        Column("id", KEY, "number of the task in this file, from 0"),
        _RANK,
        Column("kind", INTEGER, "kinds.id"),
        Column("parent", INTEGER, "tasks.id of the task that created it; NULL: created outside of explicit tasks",
               optional=True),
        Column("number", INTEGER, "the task's id within its rank, as timelines show it"),
        Column("created_ns", INTEGER, "when it was created; 0: before the first record"),
        Column("ready_ns", INTEGER, "when its last predecessor had ended; NULL: one never did", optional=True),
        Column("start_ns", INTEGER, "when it first ran; NULL: never", optional=True),
        Column("end_ns", INTEGER, "when it was complete; NULL: never", optional=True),
        Column("running_ns", INTEGER, "time on threads, MPI included, waits not"),
        Column("device_ns", INTEGER, "time of its kernels on devices"),
        Column("slack_ns", INTEGER, "how much later it could end without a longer critical path; 0: on it",
               optional=True),
        Column("deferred", INTEGER, "1: it waited in a queue; 0: it ran at once in its creator, or is a taskwait"),
        Column("untied", INTEGER, "1: any thread of the team may go on with it"),
    ), indices=("kind",)),
    Table("runs", "stretches of time in which a thread ran a task", (
        _TASK, _RANK, _THREAD, _START, _END,
        Column("waits", INTEGER, "1: the thread only waited there (barrier, taskwait, lock)"),
    ), indices=("task",)),
    Table("edges", "what explicit tasks waited for in other explicit tasks", (
        Column("source", INTEGER, "tasks.id that comes first"),
        Column("sink", INTEGER, "tasks.id that comes later"),
        Column("kind", TEXT, "dependence, create, taskwait, message, event or inline (docs/design/global-graph.md)"),
        Column("source_ns", INTEGER, "when the source got there"),
        Column("sink_ns", INTEGER, "when the sink went on"),
        Column("weight_ns", INTEGER, "the least time in between: of a message, from when both sides had called"),
    ), indices=("source", "sink")),
    Table("calls", "calls of MPI", (
        Column("id", KEY, "number of the call in this file, from 0"),
        Column("name", TEXT, "MPI_Send, ..."),
        Column("kind", TEXT, "send, receive, collective, wait, local, ..."),
        _TASK, _RANK, _THREAD, _START,
        Column("end_ns", INTEGER, "when it returned, or the end of the trace"),
        Column("held_ns", INTEGER, "part of it in which its task kept its thread"),
        Column("peer", INTEGER, "the other rank in MPI_COMM_WORLD, or a collective's root; NULL: none, or any",
               optional=True),
        Column("tag", INTEGER, "tag of a message; NULL: none, or any", optional=True),
        Column("bytes", INTEGER, "bytes that this rank sent or received"),
        Column("returned", INTEGER, "1: its end was recorded"),
    ), indices=("task",)),
    Table("messages", "sends with the receives that got them", (
        Column("send", INTEGER, "calls.id that sent"),
        Column("receive", INTEGER, "calls.id in which the receiver got it: a receive or a wait"),
        Column("asked", INTEGER, "calls.id that had asked for it; NULL: not recorded", optional=True),
        Column("source", INTEGER, "rank that sent"),
        Column("target", INTEGER, "rank that received"),
        Column("bytes", INTEGER, "size"),
        Column("sent_ns", INTEGER, "when the sending call began"),
        Column("received_ns", INTEGER, "when the receiver had it"),
    )),
    Table("regions", "what the program named: by marline/trace.h, NVTX, Caliper or Score-P", (
        Column("name", TEXT, "the name"), _TASK, _RANK, _THREAD, _START, _END, _CLOSED,
    )),
    Table("worksharing", "loops, sections, single and the like, by thread", (
        Column("name", TEXT, "the construct"), _TASK, _RANK, _THREAD, _START, _END, _CLOSED,
    )),
    Table("counters", "what tasks have counted (MARLINE_TRACE_COUNTERS)", (
        Column("task", INTEGER, "tasks.id"),
        Column("name", TEXT, "the event, as PAPI calls it"),
        Column("value", INTEGER, "how often it happened while the task ran, without waits"),
    ), indices=("task",)),
    Table("samples", "call stacks that were taken by CPU time (marline trace --sample)", (
        Column("id", KEY, "row of the sample, from 0"),
        _TASK, _RANK, _THREAD,
        Column("time_ns", INTEGER, "when it was taken"),
        Column("weight_ns", INTEGER, "the CPU time that it stands for"),
        Column("owner", TEXT, "the kind of task, the parallel region, serial code, waits or outside of tasks"),
    )),
    Table("frames", "the functions of each sample", (
        Column("sample", INTEGER, "samples.id"),
        Column("place", INTEGER, "0: the innermost function; inlined ones count"),
        Column("function", TEXT, "its name"),
        Column("file", TEXT, "its source; of code without debug information the library; empty: not known"),
        Column("line", INTEGER, "where it was; 0: not known"),
    ), indices=("sample",)),
    Table("device_operations", "kernels and copies, by the clock of the device", (
        _RANK,
        Column("device", INTEGER, "number of the device"),
        Column("kind", TEXT, "kernel, to device, from device, upkeep or wait"),
        Column("name", TEXT, "what it is: of a kernel its place in the source"),
        _START, _END,
        Column("bytes", INTEGER, "of a copy"),
        Column("other", INTEGER, "of a copy the device at its other end; NULL: the host", optional=True),
    )),
    Table("critical_path", "the longest path through the graph of all ranks", _STEP),
    Table("chain", "back from the last event of the run, each time to what came last: what the run was made of", _STEP),
)  # fmt: skip
