# SPDX-License-Identifier: Apache-2.0
"""The report of sums, as text."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from marline.report import text, without_tasks
from marline.report.sections.names import fitted
from marline.report.sums.document import CONSTRUCTS, SERIAL, TASKS
from marline.units import count, duration, percent, size

NOT_KNOWN = ("dependences, messages, critical path, efficiency and causes of idle time: record the run without "
             "MARLINE_TRACE_AGGREGATE for these")  # fmt: skip
MOST_ROWS = 8
LEAST_SHARE = 0.01  # of thread time, for a row
_WORK = (TASKS, CONSTRUCTS, SERIAL)
Row = dict[str, Any]


def print_sums(document: Row, console: Console) -> None:
    parts = [text.header(document, "sums, and no records,"), _places(document)]
    parts += [_kinds(document)] if document["kinds"] else []
    parts += [_loops(document)] if document["loops"] else []
    parts += [_mpi(document)] if document["mpi"]["functions"] else []
    notes = text.lines()
    if lost := most_lost(document):
        notes.add_row("biggest loss", lost)
    notes.add_row("not known", NOT_KNOWN)
    if off := max(row["not_recorded_ns"] for row in document["ranks"]):
        notes.add_row("remark", f"recording was off for {duration(off)} of the run, which no figure here contains")
    for title, key in (("incomplete", "incomplete"), ("remark", "notes")):
        for line in document[key]:
            notes.add_row(title, line)
    for part in (*parts, notes):
        text.print_part(part, console)
        console.print()


def print_short(document: Row, console: Console) -> None:
    """What `marline trace` says after a run."""
    whole, places = _whole(document), document["total"]["places"]
    shares = ", ".join(f"{name} {percent(time, whole)}" for name, time in places.items() if time >= LEAST_SHARE * whole)
    text.print_part(f"{text.shape(document)}: {duration(document['total']['makespan_ns'])}, {shares}", console,
                    soft_wrap=True)  # fmt: skip
    if lost := most_lost(document):
        text.print_part(f"biggest loss: {lost}", console, soft_wrap=True)


def most_lost(document: Row) -> str:
    """Where most of the thread time is that is no work, and which loop or call it is for; empty below 1 %."""
    whole, places = _whole(document), document["total"]["places"]
    lost = {name: time for name, time in places.items() if name not in _WORK}
    name = max(lost, key=lambda one: lost[one])
    if not whole or lost[name] < LEAST_SHARE * whole:
        return ""
    much = f"for {percent(lost[name], whole)} of their time ({duration(lost[name])})"
    if name == "barriers":
        worst = max(document["loops"], key=lambda row: row["waited_ns"], default=None)
        after = f", most of it after {worst['name']}" if worst and worst["waited_ns"] else ""
        return f"threads wait in barriers {much}{after}"
    if name == "MPI":
        worst = max(document["mpi"]["functions"], key=lambda row: row["held_ns"], default=None)
        return f"threads are in MPI {much}" + (f", most of it in {worst['name']}" if worst else "")
    return {"taskwait": f"threads wait at a taskwait or the end of a taskgroup {much}, with no task to run",
            "locks": f"threads wait for locks and critical regions {much}",
            "no region": f"threads have nothing to do outside of parallel regions {much}"}[name]  # fmt: skip


def _whole(document: Row) -> int:
    return sum(document["total"]["places"].values())


def _places(document: Row) -> Table:
    """Where threads were: of each rank, and of all."""
    whole, total = _whole(document), document["total"]["places"]
    shown = [name for name in total if total[name] >= LEAST_SHARE * whole] or list(_WORK)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title in ("rank", "threads", "makespan", *shown):
        table.add_column(title, justify="right", no_wrap=True)
    ranks = document["ranks"]
    for row in ranks[: text.MOST_RANKS]:
        mine = sum(row["places"].values())
        table.add_row(str(row["rank"]), str(row["threads"]), duration(row["makespan_ns"]),
                      *(percent(row["places"][name], mine) for name in shown))  # fmt: skip
    if len(ranks) > 1:
        left_out = len(ranks) - text.MOST_RANKS
        title = f"all ({left_out} not shown)" if left_out > 0 else "all"
        table.add_row(title, str(document["total"]["threads"]), duration(document["total"]["makespan_ns"]),
                      *(percent(total[name], whole) for name in shown))  # fmt: skip
    return table


def _kinds(document: Row) -> Table:
    whole = _whole(document)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("tasks by time", overflow="ellipsis", no_wrap=True)
    for title in ("tasks", "mean", "longest", "sum", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in document["kinds"][:MOST_ROWS]:
        table.add_row(fitted(row["name"], text.MOST_OF_NAME), count(row["tasks"]),
                      duration(row["total_ns"] / row["tasks"]),
                      duration(row["max_ns"]), duration(row["total_ns"]), percent(row["total_ns"], whole))  # fmt: skip
    return table


def _loops(document: Row) -> Table:
    whole = _whole(document)
    rows = [row for row in document["loops"] if row["time_ns"] + row["waited_ns"] >= LEAST_SHARE * whole]
    lines = [[row["name"] + (f", {row['schedule']}" if row["schedule"] else ""), count(row["calls"]),
              duration(row["time_ns"]), percent(row["time_ns"], whole), f"{row['imbalance']:.2f}",
              percent(row["waited_ns"], whole)] for row in rows[:MOST_ROWS]]  # fmt: skip
    heads = ["calls", "sum", "share", "max/mean", "waits"]
    return without_tasks.table("loops and regions by time", heads, lines, len(rows) - MOST_ROWS)


def _mpi(document: Row) -> Table:
    """The share is of thread time: that in which a call's task was suspended is in its sum only."""
    whole, rows = _whole(document), document["mpi"]["functions"]
    lines = [[row["name"], count(row["calls"]), duration(row["total_ns"]), percent(row["held_ns"], whole),
              size(row["bytes"]) if row["bytes"] else ""] for row in rows[:MOST_ROWS]]  # fmt: skip
    return without_tasks.table("MPI by time", ["calls", "sum", "share", "bytes"], lines, len(rows) - MOST_ROWS)
