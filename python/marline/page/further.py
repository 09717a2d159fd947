# SPDX-License-Identifier: Apache-2.0
"""What further passes find: POP's efficiencies as a tree, the bounds as bars, loops with their imbalance, waits in MPI,
patterns that slow the discovery of tasks, messages that leave late, counters, memory by NUMA node, page faults."""

from __future__ import annotations

from html import escape
from typing import Any

from marline.report.machine import rate
from marline.report.notable import is_gain
from marline.trace.analysis import Analysis
from marline.trace.read.events import CALL_NUMBER
from marline.units import duration, percent

from . import places
from .bars import Lanes
from .html import Cell, Row, number, octets, share, table, time, words

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
# Key, name, what it is.
_THIS = ("makespan", "this run", "the makespan: from the first task, or parallel region, to the last")
_SAME_ORDER = ("infinite_network_same_order", "infinite network", "MPI takes no time, and all else is as it was")
_INFINITE = ("infinite_threads", "infinite threads", "the critical path: no number of threads is faster")
_BUSY = ("all_busy", "all threads busy", "the same work, spread evenly over as many threads, none of which ever waits; "
         "whatever depends on what")  # fmt: skip
# Of programs with tasks, where MPI takes time and where it does not; and of programs without.
_BOUNDS = (
    _THIS, ("infinite_network_same_order", "infinite network, same order of tasks",
            "MPI takes no time, and threads run the tasks that they ran here"),
    ("infinite_network", "infinite network", "MPI takes no time, and the work is spread evenly over as many threads"),
    _INFINITE, ("infinite_threads_and_network", "infinite threads and network", "both"), _BUSY)  # fmt: skip
_BOUNDS_WITHOUT_MPI = (
    _THIS, ("infinite_network", "these dependences, as many threads", "the work spread evenly, or the critical path if "
            "that is longer"), _INFINITE, _BUSY)  # fmt: skip
_BOUNDS_WITHOUT_TASKS = (
    ("no_barrier_waits", "no waits at barriers", "loops and the like are divided evenly, so that threads come to each "
     "barrier together"),
    ("no_serial_code", "no serial code", "code outside of parallel regions is shared by the threads"),
    ("no_lock_waits", "no waits for locks", "no thread waits for a lock or critical region"), _BUSY)  # fmt: skip
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
    rows, terms = [], []
    for key, depth, name, what in _TREE:
        if key == "communication" and not found["mpi"]:
            name = "scheduling"
        group, _, leaf = key.rpartition(".")
        part = found.get(group) if group else found
        if part:
            rows.append(_bar_row(name, depth, percent(part[leaf], 1), part[leaf], what))
            terms.append((name, what))
    return _card("efficiency", "Efficiency, by POP's definitions", rows, _counted(document), terms)


def _counted(document: Document) -> str:
    """How this goes together with the figures above, which divide the same time otherwise."""
    total, useful = document["total"], document["efficiency"]["parallel"]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    work = percent(total["work_ns"], whole)
    if not document["graph"]["tasks"]:
        return "Useful is what \"work\" is above: the program's code, outside of MPI and of waits."
    return (f"POP counts as useful all code of the program outside of MPI and of waits: {percent(useful, 1)} of thread "
            f"time. \"Work\" above is a part of it, the code inside of tasks: {work}. Code that creates tasks, and "
            "other code outside of them, is useful here, and overhead or idle above.")  # fmt: skip


def bounds(document: Document) -> str:
    found = document["bounds"]
    if not found["makespan_ns"]:
        return ""
    # As in the text: a network is named only where MPI takes time, and what threads wait for where it costs anything.
    has_mpi = found["infinite_threads_ns"] != found["infinite_threads_and_network_ns"]
    shown: tuple[tuple[str, str, str], ...] = _BOUNDS if has_mpi else _BOUNDS_WITHOUT_MPI
    if not document["graph"]["tasks"]:
        shown = (_THIS, *([_SAME_ORDER] if has_mpi else []),
                 *(one for one in _BOUNDS_WITHOUT_TASKS if one is _BUSY or is_gain(found, f"{one[0]}_ns")))  # fmt: skip
    rows = [_bar_row(name, 1, duration(found[f"{key}_ns"]), found[f"{key}_ns"] / found["makespan_ns"], what, "plain")
            for key, name, what in shown]  # fmt: skip
    return _card("machines", "How fast the same work could be", rows, "The bars are parts of this run's makespan: what "
                 "is missing is what that change would gain at most, without any other.",
                 [(name, what) for _, name, what in shown])  # fmt: skip


def _card(name: str, title: str, rows: list[str], note: str, terms: list[tuple[str, str]]) -> str:
    """Bars, what they count, and the meaning of each."""
    meanings = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in terms)
    return (f'<section class="card" id="{name}"><h3>{escape(title)}</h3><table class="bars" '
            f'aria-label="{escape(title)}"><tbody>' + "".join(rows) + f'</tbody></table><p class="note">{escape(note)}'
            f'</p><details class="data"><summary>what each means</summary><dl class="terms">{meanings}</dl></details>'
            "</section>")  # fmt: skip


def _bar_row(name: str, depth: int, value: str, part: float, what: str = "", level: str = "") -> str:
    level = level or ("good" if part >= 0.8 else "fair" if part >= 0.6 else "poor")
    return (f'<tr title="{escape(what)}"><th scope="row" class="depth{depth}">{escape(name)}</th><td class="n">{value}'
            f'</td><td class="track"><span class="{level}" style="width:{100 * min(part, 1):.1f}%"></span></td></tr>')


def loops(of: Analysis, document: Document, lanes: Lanes) -> str:
    """By source line, with how unequal its threads are."""
    found = document["loops"]
    where = places.longest_regions(of, lanes) | places.longest_constructs(of, lanes)
    ranks = places.of_ranks(of, lanes)
    total = document["total"]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    rows = [Row((words(one["name"] + (f", {one['schedule']}" if one["schedule"] else "")), number(one["calls"]),
                 number(one["threads"]), number(one["iterations"]) if one["iterations"] else Cell("", 0),
                 time(one["time_ns"]), share(one["time_ns"], whole), Cell(f"{one['imbalance']:.2f}", one["imbalance"]),
                 time(one["waited_ns"]), time(one["locked_ns"]), time(one["slowest"]["time_ns"]),
                 time(one["fastest"]["time_ns"])), where.get((one["file"], one["line"])) or ranks[one["rank"]])
            for one in found["constructs"]]  # fmt: skip
    heads = ("construct", "calls", "threads", "iterations", "sum", "share", "most / mean", "waits", "locks",
             "slowest thread", "fastest thread")  # fmt: skip
    return table("loops", "Loops and regions by source line", heads, rows, "Waits: of the other threads at its end.")


def mpi_waits(of: Analysis, document: Document, lanes: Lanes) -> str:
    found, where = document["mpi"], places.longest_waits(of, lanes)
    rows = [Row((words(one["name"]), time(one["total_ns"]), *(time(one[key]) for key, _ in _WAITS)),
                where.get(CALL_NUMBER.get(one["name"], -1)))
            for one in found["functions"] if any(one[key] for key, _ in _WAITS)]  # fmt: skip
    return table("mpi-waits", "What MPI calls wait for", ("function", "sum", *(name for _, name in _WAITS)), rows,
                 "Late sender: the message was sent after the receive had begun. Late receiver: the other way round. "
                 "Late member: a rank came later to a collective. \"show\" leads to the longest wait.")  # fmt: skip


def slow_patterns(of: Analysis, document: Document, lanes: Lanes) -> str:
    """Dependences that order nothing, by pattern and by kinds of tasks."""
    found, edges = document["slow_patterns"], of["slow_patterns"]
    where = {key: places.of_edges(of, lanes, getattr(edges, key) > 0) for key, _ in _PATTERNS}
    rows = [Row((words(name), words(one["from"]), words(one["to"]), number(one["edges"])),
                where[key].get((one["from"], one["to"])))
            for key, name in _PATTERNS for one in found[key]["kinds"]]  # fmt: skip
    costs = [f"{name}: {duration(found[key]['time_ns'])}" for key, name in _PATTERNS if found[key]["time_ns"]]
    note = f"Time of discovery that they cost, about: {'; '.join(costs)}." if costs else ""
    heads = ("pattern", "from", "to", "edges")
    return table("slow-patterns", "Dependences that slow the creation of tasks", heads, rows, note)


def early_sends(of: Analysis, document: Document, lanes: Lanes) -> str:
    """How late messages leave after their data was ready, and what they wait for."""
    where = places.latest_sends(of, lanes)
    rows = [Row((words(one["name"]), number(one["messages"]), *(time(one[f"{key}_ns"]) for key in _LATE)),
                where.get(one["name"]))
            for one in document["early_sends"]["kinds"]]  # fmt: skip
    heads = ("sent by", "messages", "late, in sum", "the latest", "not created yet", "ready, in the queue",
             "in the task, before the call")  # fmt: skip
    return table("early-sends", "How late messages leave after their data was ready", heads, rows)


def counters(document: Document) -> str:
    """A row for each kind and counter."""
    rows = [Row((words(kind["name"]), words(one["name"]), number(one["sum"]), _cell(one["per_task"]),
                 _cell(one["per_us"]), number(kind["tasks"]), time(kind["time_ns"])))
            for kind in (*document["counters_by_kind"]["kinds"], *document["counters_by_kind"]["loops"])
            for one in (*kind["counters"], *map(_ratio, kind["derived"]))]  # fmt: skip
    return table("counters", "Counters by kind of task, loop and region",
                 ("kind", "counter", "sum", "each task", "per us", "tasks", "time"), rows)  # fmt: skip


def _ratio(derived: dict[str, Any]) -> dict[str, Any]:
    return {"name": derived["name"], "sum": derived["value"], "per_task": None, "per_us": None}


def _cell(value: float | None) -> Cell:
    return Cell(rate(value), -1.0 if value is None else value)


def nodes(document: Document) -> str:
    """Where the pages of each rank lay, beside its threads."""
    rows = [Row((number(one["rank"]), number(one["node"]), octets(one["bytes"]), share(one["page_share"], 1),
                 number(one["threads"]), share(one["thread_share"], 1))) for one in document["memory"]["nodes"]]
    heads = ("rank", "node", "bytes", "of its pages", "threads", "of its threads")
    return table("numa", "Memory by NUMA node", heads, rows,
                 "When most of its memory was in use. A page lies where the thread runs that touches it first.")


def threads(document: Document) -> str:
    keys = ("rank", "thread", "minor_faults", "major_faults", "cpu")
    rows = [Row([number(one[key]) for key in keys]) for one in document["memory"]["threads"]]
    return table("faults", "Page faults by thread", ("rank", "thread", "page faults", "from disk", "last CPU"), rows,
                 "From the thread's first event on.")
