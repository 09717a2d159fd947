# SPDX-License-Identifier: Apache-2.0
"""What the report says of programs without tasks: tables of their loops, regions and MPI functions, and the words for
the one that costs most. The figures come from the passes `loops` and `mpi_waits`."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from rich.table import Table

from marline.report.sections.names import fitted, place_of_function
from marline.trace.passes.thread_time.one_call import Wait
from marline.trace.passes.without_tasks.regions import SHORT_NS
from marline.units import count, duration, percent, size

WIDTH = 80  # of a line, for which names are cut
MOST_ROWS = 8
LEAST_SHARE = 0.01  # of thread time, for a row
FEW = 3  # places and partners that a sentence names
MOST = 0.8  # of a function's time: the places that have it are named
UNEVEN = 1.2  # from this ratio of times on, threads count as unequal
SMALL_PIECES = 8  # a dynamic loop with fewer iterations per thread has pieces too long for an even end
_WIDTHS = {"calls": 5, "sum": 7, "bytes": 8, "max/mean": 8}  # of columns, at least; of others 6
_PATTERNS = (("late_sender_ns", "late sender"), ("late_receiver_ns", "late receiver"),
             ("late_member_ns", "late member"))  # fmt: skip


# The words -----------------------------------------------------------------------------------------------------------


def figures(document: Mapping[str, Any], lost: Mapping[str, int], whole: int, taken: int) -> dict[str, Any]:
    """For the rules of causes.py. `lost`: the breakdown's causes; `taken`: for so long other programs had a thread's
    core. A thread that is late for this reason makes all others of its team wait, and is not the construct's fault, nor
    the barrier's, nor that of serial code."""
    constructs, barriers = document["loops"]["constructs"], lost["idle_barrier_ns"]
    worst = max(constructs, key=lambda one: one["waited_ns"], default=None)
    if worst and worst["waited_ns"] <= taken * (worst["threads"] - 1):
        worst = None
    others = [one for one in constructs if one is not worst]
    arrivals = document["loops"]["arrivals"]
    waited = min(worst["waited_ns"], barriers) if worst else 0
    locked = [one for one in constructs if one["locked_ns"]]
    by_others = taken * (max((one["threads"] for one in constructs), default=1) - 1)
    phase_work = sum(one["time_ns"] for one in constructs) / arrivals if arrivals else 0.0
    outside, between = _outside(document, lost["idle_outside_ns"], by_others, phase_work)
    return {
        "construct_wait_ns": waited,
        "construct_what": f"{worst['name']}: {difference(worst)}" if worst else "",
        "construct_advice": remedy(worst) if worst else "",
        "lock_place": f", most of it in {max(locked, key=lambda one: one['locked_ns'])['name']}" if locked else "",
        "lock_site": _lock_site(document["locks"]),
        "idle_barrier_ns": max(barriers - waited - by_others, 0),
        "barrier_places": _places(others, whole, ", also" if worst else ", most of it"),
        "phase_work_ns": phase_work,
        "idle_outside_ns": outside,
        "idle_between_ns": between,
        "serial_place": _serial(document["loops"]["serial"]) + _sampled_serial(document["samples"]),
        "mpi_most": mpi_most(document["mpi"]),
    }


def _outside(document: Mapping[str, Any], outside: int, by_others: int, phase_work: float) -> tuple[int, int]:
    """Of the time in which threads have no region, what serial code costs, and what lies between short regions that
    follow each other at once: there the runtime starts the next one. It has the share of the whole that it has of the
    time between regions."""
    if document["graph"]["tasks"]:
        return outside, 0
    proven = max(outside - by_others, 0)
    short, total = (sum(row[name] for row in document["loops"]["serial"]) for name in ("short_ns", "total_ns"))
    between = proven * short // total if total and 0 < phase_work < SHORT_NS else 0
    return proven - between, between


def difference(one: Mapping[str, Any]) -> str:
    """How the threads' times in a construct differ."""
    return _unequal(one) + (", most of this time in MPI" if 2 * one["mpi_ns"] >= one["time_ns"] else "")


def _unequal(one: Mapping[str, Any]) -> str:
    slowest, fastest = one["slowest"], one["fastest"]
    long, short = (f"thread {row['thread']}" for row in (slowest, fastest))
    if one["kind"] == "single":
        return "one thread runs it, and the others wait"
    if not fastest["time_ns"] and slowest["time_ns"]:
        return f"{long} works {duration(slowest['time_ns'])} in it, and {short} not at all"
    if slowest["time_ns"] >= UNEVEN * fastest["time_ns"]:
        return f"{long} works {slowest['time_ns'] / fastest['time_ns']:.1f}x as long as {short}"
    return f"each time another thread works longest, {one['imbalance']:.1f}x as long as the mean"


def remedy(one: Mapping[str, Any]) -> str:
    """What to change at a construct whose threads work unequally long."""
    per_call = one["iterations"] / max(one["calls"], 1)
    few = f"it has {count(round(per_call))} iterations for {one['threads']} threads: "
    if one["kind"] == "single":
        return "let all threads do it (a loop, or tasks); or give it nowait if the next code does not need its result"
    if one["kind"] == "sections":
        return "cut the longest section in parts, or make tasks of the sections"
    if 2 * one["mpi_ns"] >= one["time_ns"]:
        return "let the other threads compute meanwhile: call MPI in a task, or before work that does not need it"
    if one["kind"] not in ("loop", "distribute"):
        return "share the work of its loops out evenly: try schedule(dynamic) or schedule(guided)"
    if per_call < 2 * one["threads"]:
        return few + "share out more and shorter ones (collapse, or the loop inside)"
    if one["schedule"] == "dynamic" and per_call < SMALL_PIECES * one["threads"]:
        return few + "make its chunks smaller, or its iterations shorter (collapse)"
    if one["schedule"] in ("dynamic", "guided"):
        return "make its chunks smaller: try schedule(dynamic), whose chunks are one iteration"
    return "try schedule(dynamic) or schedule(guided)"


def _places(waits: Sequence[Mapping[str, Any]], whole: int, begins: str) -> str:
    waited = {one["name"]: one["waited_ns"] + one["late_ns"] for one in waits}
    some = [f"{name} ({percent(waited[name], whole)})" for name in sorted(waited, key=lambda name: -waited[name])[:FEW]
            if waited[name] >= LEAST_SHARE * whole]  # fmt: skip
    return f"{begins} after {', '.join(some)}" if some else ""


def _serial(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    most = rows[0]
    if most["after"] == most["before"]:
        return f", most of it after the region at {most['after']}, before it runs again"
    if most["after"] and most["before"]:
        return f", most of it after the region at {most['after']}, before the one at {most['before']}"
    return f", most of it {'after' if most['after'] else 'before'} the region at {most['after'] or most['before']}"


def _lock_site(locks: Mapping[str, Any]) -> str:
    """Begins with a semicolon, or is empty: the place is not known, or nothing is waited for there."""
    most = next((one for one in locks["places"] if 2 * one["total_ns"] >= locks["waited_ns"] > 0), None)
    return f"; most of it is requested at {most['name']}" if most else ""


def with_place(name: str, mpi: Mapping[str, Any]) -> str:
    """An MPI function, and the places in the source where it takes most of its time, if these are few."""
    where = " and ".join(main_places(next((row for row in mpi["functions"] if row["name"] == name), None)))
    return f"{name} at {where}" if where else name


def main_places(row: Mapping[str, Any] | None) -> list[str]:
    """Where a function of MPI takes most of its time, in the order of lines; none if these places are more than a few.
    Places that take about as much as each other are thus named in every run. A name that repeats is left out."""
    if row is None:
        return []
    shares = accumulate(one["total_ns"] for one in row["places"])
    needed = next((at for at, share in enumerate(shares, 1) if share >= MOST * row["total_ns"]), FEW + 1)
    places = row["places"][:needed] if needed <= FEW else []
    most = sorted((one["name"].rpartition(":")[0], one["line"]) for one in places)
    return [str(line) if at and most[at - 1][0] == name else f"{name}:{line}" for at, (name, line) in enumerate(most)]


def _sampled_serial(samples: Mapping[str, Any]) -> str:
    """The function and line with most samples of serial code; begins with a semicolon, or is empty."""
    serial = next((one for one in samples["owners"] if one["what"] == "serial"), None)
    if serial is None:
        return ""
    most = serial["functions"][0]
    return f"; {percent(most['own_ns'], serial['time_ns'])} of its samples are in {place_of_function(most)}"


def mpi_most(mpi: Mapping[str, Any]) -> str:
    """Which function holds threads longest, and what it waits for; begins with a comma, or is empty."""
    held = sorted((row for row in mpi["functions"] if row["held_ns"]), key=lambda row: -row["held_ns"])
    if not held:
        return ""
    row = held[0]
    waits = [f"{percent(row[key], row['total_ns'])} of that for a {name}" for key, name in _PATTERNS
             if row[key] >= 0.1 * row["total_ns"]]  # fmt: skip
    most = f", most of it in {with_place(row['name'], mpi)}"
    if not waits:
        return most
    partner = next(one for one in mpi["partners"] if one["name"] == row["name"])
    return f"{most}: it waits {', '.join(waits)} (rank {partner['rank']} mostly for rank {partner['waits_for']})"


def one_wait(wait: Wait | None, begin: int) -> str:
    """For which call ranks have waited for most of what they have waited for each other; empty if there is none. Begins
    with a comma. `begin`: of the makespan, where the axis of the page has its 0."""
    if wait is None:
        return ""
    return (f", most of it in one call: rank {wait.rank} waits {duration(wait.end - wait.start)} for rank "
            f"{wait.partner} in the {wait.function} that begins {duration(wait.start - begin)} into the run")


# The tables ----------------------------------------------------------------------------------------------------------


def loop_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is worth a row."""
    whole = _whole(document)
    return [one for one in document["loops"]["constructs"]
            if one["time_ns"] + one["waited_ns"] + one["late_ns"] + one["locked_ns"] >= LEAST_SHARE * whole]


def loops(document: Mapping[str, Any]) -> Table:
    """Loops, regions and other constructs: the most expensive first."""
    rows, whole = loop_rows(document), _whole(document)
    has_locks = any(one["locked_ns"] >= LEAST_SHARE * whole for one in rows)
    heads = ["calls", "sum", "share", "max/mean", "waits", *(["locks"] if has_locks else []), "iter."]
    lines = []
    for one in rows[:MOST_ROWS]:
        locks = [percent(one["locked_ns"], whole)] if has_locks else []
        lines.append([one["name"] + (f", {one['schedule']}" if one["schedule"] else ""), count(one["calls"]),
                      duration(one["time_ns"]), percent(one["time_ns"], whole), f"{one['imbalance']:.2f}",
                      percent(one["waited_ns"] + one["late_ns"], whole), *locks,
                      count(one["iterations"]) if one["iterations"] else ""])  # fmt: skip
    return table("loops and regions by time", heads, lines, len(rows) - MOST_ROWS)


def mpi(document: Mapping[str, Any]) -> Table:
    """MPI functions by time: the share is of thread time, without calls whose task was suspended."""
    whole, rows = _whole(document), document["mpi"]["functions"]
    lines = []
    for row in rows[:MOST_ROWS]:
        waits = [f"{name} {percent(row[key], row['total_ns'])}" for key, name in _PATTERNS
                 if row[key] >= LEAST_SHARE * row["total_ns"]]  # fmt: skip
        where = ", ".join(place.rpartition(" ")[2] for place in main_places(row))
        name = f"{row['name']} {where}".rstrip()
        lines.append([name, count(row["calls"]), duration(row["total_ns"]), percent(row["held_ns"], whole),
                      size(row["bytes"]) if row["bytes"] else "", ", ".join(waits)])  # fmt: skip
    return table("MPI by time", ["calls", "sum", "share", "bytes"], lines, len(rows) - MOST_ROWS, "waits of the sum")


def partners(document: Mapping[str, Any]) -> str:
    """Who waited longest for whom; empty if nobody did."""
    some = document["mpi"]["partners"][:FEW]
    return "; ".join(f"rank {row['rank']} for rank {row['waits_for']}: {duration(row['total_ns'])} in {row['name']}"
                     for row in some)  # fmt: skip


def table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], left: int, last: str = "") -> Table:
    """Names, then numbers under `heads`, then words under `last`, if that is given. What a line has no room for is cut
    from the words, or else from the names. `left`: so many rows more."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(title, no_wrap=True)
    columns = list(zip(heads, *(line[1 : len(heads) + 1] for line in lines)))
    widths = [max(_WIDTHS.get(column[0], 6), *(len(cell) for cell in column)) for column in columns]
    for name, width in zip(heads, widths):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    if last:
        table.add_column(last, no_wrap=True)
    room = WIDTH - sum(width + 1 for width in widths)
    more = f"... {left} more (--json)" if left > 0 else ""
    for_words = room - 1 - max(len(title), len(more), *(len(line[0]) for line in lines))
    for line in lines:
        words = [line[-1] if len(line[-1]) <= for_words else f"{line[-1][: for_words - 1]}…"] if last else []
        table.add_row(line[0] if last else fitted(line[0], room - 1), *line[1 : len(heads) + 1], *words)
    if more:
        table.add_row(more)
    return table


def _whole(document: Mapping[str, Any]) -> int:
    total = document["total"]
    return int(total["work_ns"] + total["idle_ns"] + total["overhead_ns"])
