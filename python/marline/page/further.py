# SPDX-License-Identifier: Apache-2.0
"""What further passes find: POP's efficiencies as a tree, the bounds as bars, loops with their imbalance, waits in MPI,
patterns that slow the discovery of tasks, messages that leave late."""

from __future__ import annotations

from html import escape
from typing import Any

from marline.trace.analysis import Analysis
from marline.units import duration, percent

from . import places
from .bars import Lanes
from .html import Cell, Row, number, share, table, time, words

Document = dict[str, Any]
# Key, indentation, name, what it is.
_TREE = (
    ("parallel", 0, "parallel efficiency", "useful time of all threads, code outside of tasks included, of all their "
     "time"),
    ("load_balance", 1, "load balance", "mean useful time, of the most of any thread"),
    ("communication", 1, "communication", "most useful time of any thread, of the makespan"),
    ("mpi.parallel", 0, "MPI parallel efficiency", "time outside of MPI"),
    ("mpi.load_balance", 1, "MPI load balance", "mean of the ranks, of the most of any rank"),
    ("mpi.communication", 1, "MPI communication", "most of any rank, of the makespan"),
    ("mpi.serialisation", 2, "serialisation", "waiting for each other, also on an ideal network"),
    ("mpi.transfer", 2, "transfer", "the network's part"),
    ("openmp.parallel", 0, "OpenMP parallel efficiency", "useful time, of the time outside of MPI"),
    ("openmp.load_balance", 1, "OpenMP load balance", "among the threads of a rank"),
    ("openmp.scheduling", 1, "OpenMP scheduling", "scheduling, waiting and code that one thread runs"),
)
_BOUNDS = (("makespan", "this run"), ("infinite_threads", "infinite threads"), ("infinite_network", "infinite network"),
           ("infinite_network_same_order", "infinite network, same order of tasks"),
           ("infinite_threads_and_network", "infinite threads and network"))  # fmt: skip
_PATTERNS = (("duplicate", "several edges between two tasks"), ("transitive", "follows from other edges"),
             ("product", "every task of a set after every one of another: inoutset"))  # fmt: skip
_LATE = ("late", "max", "undiscovered", "queued", "inside")
_WAITS = (("late_sender_ns", "late sender"), ("late_receiver_ns", "late receiver"), ("late_member_ns", "late member"))


def cards(document: Document) -> str:
    """Below the figures. Both need the records of every rank."""
    if document["program"]["ranks_left_out"]:
        return ""
    return f'<div class="cards">{efficiencies(document)}{bounds(document)}</div>'


def efficiencies(document: Document) -> str:
    """Without MPI, all that a thread does beside its work is scheduling: the text calls it so, too."""
    found = document["efficiency"]
    rows = []
    for key, depth, name, what in _TREE:
        if key == "communication" and not found["mpi"]:
            name = "scheduling"
        group, _, leaf = key.rpartition(".")
        part = found.get(group) if group else found
        if part:
            rows.append(_bar_row(name, depth, percent(part[leaf], 1), part[leaf], what))
    return _card("efficiency", "Efficiency, by POP's definitions", rows)


def bounds(document: Document) -> str:
    found = document["bounds"]
    if not found["makespan_ns"]:
        return ""
    # As in the text: a network is named only where MPI takes time.
    has_mpi = found["infinite_threads_ns"] != found["infinite_threads_and_network_ns"]
    rows = [_bar_row(name, 1, duration(found[f"{key}_ns"]), found[f"{key}_ns"] / found["makespan_ns"], level="plain")
            for key, name in (_BOUNDS if has_mpi else _BOUNDS[:2])]  # fmt: skip
    return _card("machines", "The same work on other machines", rows)


def _card(name: str, title: str, rows: list[str]) -> str:
    return (f'<section class="card" id="{name}"><h3>{escape(title)}</h3><table class="bars" '
            f'aria-label="{escape(title)}"><tbody>' + "".join(rows) + "</tbody></table></section>")  # fmt: skip


def _bar_row(name: str, depth: int, value: str, part: float, what: str = "", level: str = "") -> str:
    level = level or ("good" if part >= 0.8 else "fair" if part >= 0.6 else "poor")
    return (f'<tr title="{escape(what)}"><th scope="row" class="depth{depth}">{escape(name)}</th><td class="n">{value}'
            f'</td><td class="track"><span class="{level}" style="width:{100 * min(part, 1):.1f}%"></span></td></tr>')


def loops(of: Analysis, document: Document, lanes: Lanes) -> str:
    """By source line, with how unequal its threads are."""
    found = document["loops"]
    where = places.longest_constructs(of, lanes)
    total = document["total"]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    rows = [Row((words(one["name"] + (f", {one['schedule']}" if one["schedule"] else "")), number(one["calls"]),
                 number(one["threads"]), number(one["iterations"]) if one["iterations"] else Cell("", 0),
                 time(one["time_ns"]), share(one["time_ns"], whole), Cell(f"{one['imbalance']:.2f}", one["imbalance"]),
                 time(one["waited_ns"]), time(one["locked_ns"]), time(one["slowest"]["time_ns"]),
                 time(one["fastest"]["time_ns"])), where.get((one["file"], one["line"])))
            for one in found["constructs"]]  # fmt: skip
    heads = ("construct", "calls", "threads", "iterations", "sum", "share", "most / mean", "waits", "locks",
             "slowest thread", "fastest thread")  # fmt: skip
    return table("loops", "Loops and regions by source line", heads, rows, "Waits: of the other threads at its end.")


def mpi_waits(document: Document) -> str:
    found = document["mpi"]
    rows = [Row((words(one["name"]), time(one["total_ns"]), *(time(one[key]) for key, _ in _WAITS)))
            for one in found["functions"] if any(one[key] for key, _ in _WAITS)]  # fmt: skip
    return table("mpi-waits", "What MPI calls wait for", ("function", "sum", *(name for _, name in _WAITS)), rows)


def slow_patterns(document: Document) -> str:
    """Dependences that order nothing, by pattern and by kinds of tasks."""
    found = document["slow_patterns"]
    rows = [Row((words(name), words(one["from"]), words(one["to"]), number(one["edges"])))
            for key, name in _PATTERNS for one in found[key]["kinds"]]  # fmt: skip
    costs = [f"{name}: {duration(found[key]['time_ns'])}" for key, name in _PATTERNS if found[key]["time_ns"]]
    note = f"Time of discovery that they cost, about: {'; '.join(costs)}." if costs else ""
    heads = ("pattern", "from", "to", "edges")
    return table("slow-patterns", "Dependences that slow the creation of tasks", heads, rows, note)


def early_sends(document: Document) -> str:
    """How late messages leave after their data was ready, and what they wait for."""
    rows = [Row((words(one["name"]), number(one["messages"]), *(time(one[f"{key}_ns"]) for key in _LATE)))
            for one in document["early_sends"]["kinds"]]  # fmt: skip
    heads = ("sent by", "messages", "late, in sum", "the latest", "not created yet", "ready, in the queue",
             "in the task, before the call")  # fmt: skip
    return table("early-sends", "How late messages leave after their data was ready", heads, rows)
