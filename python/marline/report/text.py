# SPDX-License-Identifier: Apache-2.0
"""A report's document as one screen of text: 80 columns without colour where it does not go to a terminal."""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from marline.report import machine, what_if, without_tasks
from marline.report.efficiency_text import efficiency_tree
from marline.report.sections.names import fitted
from marline.report.notable import LATE_SENDS, bounds_by_machine, notable
from marline.report.pass_text import pass_result
from marline.report.sections import functions
from marline.trace.analysis import is_built_in
from marline.units import count, duration, percent, plural, size

WIDTH = 80
MOST_RANKS = 8  # rows of the breakdown; of more ranks the ones with least and most work are shown
MOST_KINDS = 5
MOST_OF_NAME = 44  # letters, of a kind of task
MOST_PARTS = 4  # of what bounded the run, if they are this share of it
LEAST_PART = 0.01
MOST_REGIONS = 8
MOST_DEVICES = 16
BAR = 24
# One letter of the bar each, so that it also reads without colour.
PARTS = (("work", "█", "green"), ("idle", "░", "blue"), ("overhead", "▒", "red"))


def console_for(file: TextIO) -> Console:
    """Rich looks at NO_COLOR and TERM itself."""
    width = min(shutil.get_terminal_size().columns, 120) if file.isatty() else WIDTH
    return Console(file=file, width=max(width, WIDTH), highlight=False, emoji=False, markup=False)


def print_report(document: dict[str, Any], console: Console, with_windows: bool = False) -> None:
    """The whole screen."""
    no_tasks = not document["graph"]["tasks"]
    parts = [header(document), *([verdict(document)] if no_tasks else []), breakdown(document)]
    parts += [windows(document)] if with_windows else []
    parts += [facts(document)]
    parts += [kinds(document)] if document["kinds"] else []
    parts += [machine.counters(document)] if machine.counted(document) else []
    parts += [without_tasks.loops(document)] if without_tasks.loop_rows(document) else []
    parts += [without_tasks.mpi(document)] if document["mpi"]["functions"] else []
    parts += [functions.functions(document)] if document["samples"]["samples"] else []
    parts += [devices(document)] if document["devices"] else []
    parts += [links(document)] if any(_is_between(row) for row in document["links"]) else []
    parts += [regions(document)] if document["regions"] or document["marks"] else []
    parts += [passes(document)] if document["passes"] else []
    parts += [what_if.table(found) for found in document["what_if"]]
    for part in [*parts, *([] if no_tasks else [verdict(document)])]:
        print_part(part, console)
        console.print()


# Blanks at the end of a line, before what switches colours off.
_TRAILING = re.compile(r" +((?:\x1b\[[\d;]*m)*)$", re.MULTILINE)


def print_part(part: RenderableType, console: Console, soft_wrap: bool = False) -> None:
    """Without the blanks with which tables fill their lines."""
    with console.capture() as captured:
        console.print(part, soft_wrap=soft_wrap)
    console.file.write(_TRAILING.sub(r"\1", captured.get()))


def print_short(document: dict[str, Any], console: Console) -> None:
    """What `marline trace` says after a run."""
    total = document["total"]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    shares = ", ".join(f"{name} {percent(total[f'{name}_ns'], whole)}" for name, _, _ in PARTS)
    print_part(f"{shape(document)}: {duration(total['makespan_ns'])}, {shares}", console, soft_wrap=True)
    if document["passes"]:
        print_part(passes(document), console)
    print_part(verdict(document), console)


def header(document: dict[str, Any], held: str = "") -> Text:
    """`held`: what the trace holds, if not records."""
    program = document["program"]
    text = Text()
    text.append(" ".join([Path(program["exe"]).name, *program["argv"][1:]]), style="bold")
    text.append(f"\n{shape(document)} on {program['runtime'] or 'a runtime without OMPT'}")
    text.append(f", {mpi_name(program['mpi'])}" if program["mpi"] else "")
    held = held or f"{count(program['records'])} records"
    text.append(f"; {held} from {', '.join(program['hosts'])}")
    return text


def mpi_name(version: str) -> str:
    """The name and number in what MPI_Get_library_version says, which may be a page."""
    words = version.partition("\n")[0].partition(",")[0].replace("Version:", " ").split()
    return " ".join(words)


def shape(document: dict[str, Any]) -> str:
    ranks = document["ranks"]
    threads = sorted({rank["threads"] for rank in ranks})
    each = str(threads[0]) if len(threads) == 1 else f"{threads[0]}-{threads[-1]}"
    return f"{plural(len(ranks), 'rank')} x {each} thread{'' if each == '1' else 's'}"


def breakdown(document: dict[str, Any]) -> Table:
    """Of each rank: makespan, and how its thread time divides."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("rank", "threads", "makespan"):
        table.add_column(title, justify="right")
    table.add_column("thread time")
    _add_part_columns(table)
    rows = document["ranks"]
    for row in _shown(rows):
        table.add_row(str(row["rank"]), str(row["threads"]), duration(row["makespan_ns"]), _bar(row), *_shares(row))
    if len(rows) > 1:
        total = document["total"]
        left_out = len(rows) - len(_shown(rows))
        title = "all" if not left_out else f"all ({left_out} not shown)"
        table.add_row(title, str(total["threads"]), duration(total["makespan_ns"]), _bar(total), *_shares(total))
    return table


def _shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(rows) <= MOST_RANKS:
        return list(rows)
    by_work = sorted(rows, key=lambda row: row["work_ns"])
    chosen = by_work[: MOST_RANKS // 2] + by_work[-(MOST_RANKS // 2) :]
    return sorted(chosen, key=lambda row: row["rank"])


def _whole(row: dict[str, Any]) -> int:
    return sum(row[f"{name}_ns"] for name, _, _ in PARTS)


def _shares(row: dict[str, Any]) -> list[str]:
    return [percent(row[f"{name}_ns"], _whole(row)) for name, _, _ in PARTS]


def _bar(row: dict[str, Any]) -> Text:
    """BAR letters, divided as the time is: each part ends where the sum so far does."""
    text, done, at, whole = Text(), 0, 0, _whole(row)
    for name, letter, colour in PARTS:
        at += row[f"{name}_ns"]
        end = round(BAR * at / whole) if whole else 0
        text.append(letter * (end - done), style=colour)
        done = end
    return text


def facts(document: dict[str, Any]) -> Table:
    """Discovery, graph and communication, a line each."""
    table = lines()
    graph, discovery = document["graph"], document["discovery"]
    if graph["tasks"]:
        rate = discovery["tasks_per_second"]
        cost = discovery["measured_ns_per_task"]
        table.add_row("discovery", f"{duration(discovery['seconds'] * 1e9)} from the first creation to the last"
                      + (f", {count(rate)} tasks/s" if rate else "")
                      + (f", a creation takes {duration(cost)}" if cost else ""))  # fmt: skip
        table.add_row("graph", f"{plural(graph['tasks'], 'task')}, {plural(graph['edges'], 'edge')}, grain "
                      f"{duration(graph['grain_ns']['median'])} in the median")  # fmt: skip
    counters = document["counters"]
    if counters:
        left_out = ", ".join(f"{count(counters[name])} {name}" for name in ("pruned", "duplicate", "transitive"))
        table.add_row("dependences", f"{count(counters['dependences'])} of {plural(counters['tasks'], 'task')}, "
                      f"{plural(counters['edges'], 'edge')} created, {left_out}")  # fmt: skip
    for title, text in of_all_ranks(document):
        table.add_row(title, text)
    calls = [row for row in document["communication"]["calls"] if row["kind"] != "local"]
    if calls:
        number, total, suspended = (sum(row[key] for row in calls) for key in ("count", "total_ns", "suspended_ns"))
        table.add_row("communication", f"{plural(number, 'MPI call')} of {duration(total)} in sum, "
                      f"{percent(suspended, total)} of it with the task suspended" + polls(document))  # fmt: skip
        # Where there are tasks, a wait that suspends its task costs nothing.
        if (longest := without_tasks.partners(document)) and not graph["tasks"]:
            table.add_row("waits", longest)
    for title, text in notable(document):
        if title != LATE_SENDS or not document["program"]["ranks_left_out"]:
            table.add_row(title, text)
    ratio = document["overlap"]["ratio"]
    if ratio is not None:
        number = sum(row["messages"] for row in document["overlap"]["ranks"])
        table.add_row("overlap", f"while {plural(number, 'message')} {'was' if number == 1 else 'were'} under way, "
                      f"threads worked {percent(ratio, 1)} of the time")  # fmt: skip
    if used := machine.memory(document["machine"]):
        table.add_row("memory", used)
    if lopsided := machine.first_touch(document["memory"]):
        table.add_row("first touch", lopsided)
    return table


def of_all_ranks(document: dict[str, Any]) -> list[tuple[str, str]]:
    """What bounds the run, which takes the records of every rank."""
    if left_out := document["program"]["ranks_left_out"]:
        known = left_out + len(document["ranks"])
        return [("not known", "efficiency, critical path, bounds and late sends: they need all ranks, and the records "
                 f"of {count(left_out)} of {count(known)} are not here")]  # fmt: skip
    path = bounds(document["critical_path"], len(document["ranks"]))
    least = bounds_by_machine(document["bounds"], document["graph"]["tasks"])
    return efficiency_tree(document["efficiency"]) + path + least


def polls(document: dict[str, Any]) -> str:
    """Calls that asked and found nothing are not among the others."""
    found = document["communication"]["polls"]
    return f"; and {plural(found['count'], 'poll')} of {duration(found['total_ns'])}" if found["count"] else ""


def bounds(path: dict[str, Any], ranks: int) -> list[tuple[str, str]]:
    """What came last, one after the other, and how fast the same work could be."""
    if not path["chain"]:
        return []
    parts = [row for row in path["chain"][:MOST_PARTS] if row["total_ns"] >= LEAST_PART * path["makespan_ns"]]
    shares = [f"{fitted(row['name'], MOST_OF_NAME)} {percent(row['total_ns'], path['makespan_ns'])}" for row in parts]
    most = path["chain_ranks"][0]
    where = f" (rank {most['rank']}: {percent(most['total_ns'], path['makespan_ns'])})" if ranks > 1 else ""
    # Where MPI takes time, or what matters is how loops are divided, the next line says more.
    has_mpi = path["span_ns"] != path["path_ns"]
    least = f"; at least {duration(path['least_ns'])} on {plural(path['threads'], 'thread')}"
    least = "" if has_mpi or not path["slack"] else least
    # Work by the path without MPI, which is shorter than the one that stands before it on the line.
    workers = f"{path['parallelism']:.1f} threads" + (" and devices" if path["on_devices_ns"] else "")
    width = (f"if MPI took no time, {workers} could work at a time, on average" if has_mpi else
             f"{workers} can work at a time, on average")  # fmt: skip
    return [("bounded by", "; ".join(shares) + where),
            ("critical path", f"{duration(path['path_ns'])}{least}; {width}{_pieces(path, ranks)}")]  # fmt: skip


def _pieces(path: dict[str, Any], ranks: int) -> str:
    """What a path says of a run as it was, and not of the program: another schedule, or tasks, may divide the code."""
    if path["outside_ns"] < LEAST_PART * path["path_ns"]:
        return ""
    if not path["slack"]:  # of tasks
        has_teams = path["threads"] > ranks
        return "; a thread's share of a loop counts as one piece: another schedule may be faster" if has_teams else ""
    return f"; code outside of tasks ({percent(path['outside_ns'], path['path_ns'])}) is one piece"


def kinds(document: dict[str, Any]) -> Table:
    """What the work consists of, on threads and, of target tasks, on devices."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("tasks by time", overflow="ellipsis", no_wrap=True)
    for title in ("tasks", "each", "sum", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    work = sum(kind["total_ns"] for kind in document["kinds"])
    has_devices = any(kind["device_ns"] for kind in document["kinds"])
    if has_devices:
        table.add_column("on devices", justify="right", no_wrap=True)
    most = MOST_OF_NAME - 14 if has_devices else MOST_OF_NAME  # one more column needs room
    for kind in document["kinds"][:MOST_KINDS]:
        each = kind["total_ns"] / kind["tasks"]
        on_devices = [duration(kind["device_ns"]) if kind["device_ns"] else ""] if has_devices else []
        table.add_row(fitted(kind["name"], most), count(kind["tasks"]), duration(each), duration(kind["total_ns"]),
                      percent(kind["total_ns"], work), *on_devices)  # fmt: skip
    return table


def devices(document: dict[str, Any]) -> Table:
    """Transfers and kernels of each device, by the device's own clock."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title in ("devices", ""):
        table.add_column(title, overflow="ellipsis", no_wrap=True)
    for title, width in (("times", 5), ("bytes", 8), ("each", 7), ("sum", 7), ("share", 6)):
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    many = len(document["ranks"]) > 1
    for row in document["devices"][:MOST_DEVICES]:
        name = f"device {row['device']}" + (f" ({row['type']})" if row["type"] else "")
        name = f"rank {row['rank']} {name}" if many else name
        time = row["time"]
        for key, title, part in (("to_device", "transfers to it", ""), ("from_device", "transfers from it", ""),
                                 ("kernels", "kernels", "work_ns"),
                                 ("upkeep", "upkeep of copies", "upkeep_ns")):  # fmt: skip
            some = row[key]
            if not some["count"]:
                continue  # none, or none that is known: libomptarget does not tell of its copies
            octets = size(some["bytes"]) if "bytes" in some else ""
            table.add_row(name, title, count(some["count"]), octets, duration(some["total_ns"] / some["count"]),
                          duration(some["total_ns"]), percent(time[part], time["span_ns"]) if part else "")  # fmt: skip
            name = ""
        for part, title in (("wait_ns", "waits for inputs"), ("idle_ns", "idle")):
            if time[part] and row["kernels"]["count"] and row["upkeep"]["count"]:  # a node of a cluster
                table.add_row("", title, "", "", "", duration(time[part]), percent(time[part], time["span_ns"]))
    _say_rest(table, len(document["devices"]) - MOST_DEVICES)
    return table


def _say_rest(table: Table, left_out: int) -> None:
    if left_out > 0:
        table.add_row(f"... {left_out} more (--json)")


def _is_between(row: dict[str, Any]) -> bool:
    return row["from"] >= 0 and row["to"] >= 0


def links(document: dict[str, Any]) -> Table:
    """Copies between devices, ordered by bytes, the most first."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("between devices", ""):
        table.add_column(title, overflow="ellipsis", no_wrap=True)
    for title in ("times", "bytes", "each", "sum"):
        table.add_column(title, justify="right", no_wrap=True)
    types = {(row["rank"], row["device"]): row["type"] for row in document["devices"]}
    rows = sorted((row for row in document["links"] if _is_between(row)), key=lambda row: -row["bytes"])
    for row in rows[:MOST_DEVICES]:
        ends = [f"device {row[end]} ({types.get((row['rank'], row[end]), '')})" for end in ("from", "to")]
        table.add_row(ends[0], f"to {ends[1]}", count(row["count"]), size(row["bytes"]),
                      duration(row["total_ns"] / row["count"]), duration(row["total_ns"]))  # fmt: skip
    _say_rest(table, len(rows) - MOST_DEVICES)
    return table


def regions(document: dict[str, Any]) -> Table:
    """What the program named itself, all ranks together, the longest first; then moments that it marked."""
    ranks = len(document["ranks"])
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("your regions by time", overflow="ellipsis", no_wrap=True)
    for title in ("times", "each", "sum", "max/mean of ranks" if ranks > 1 else "max/mean of threads"):
        table.add_column(title, justify="right", no_wrap=True)
    by_name, marks = _by_name(document["regions"]), _by_name(document["marks"])
    for name in sorted(by_name, key=lambda one: -_sum_of(by_name[one], "total_ns"))[:MOST_REGIONS]:
        times, spent = (_sum_of(by_name[name], key) for key in ("count", "total_ns"))
        table.add_row(name, count(times), duration(spent / times), duration(spent), _unequal(by_name[name], ranks))
    for name in sorted(marks, key=lambda one: -_sum_of(marks[one], "count"))[:MOST_REGIONS]:
        table.add_row(f"{name} (mark)", count(_sum_of(marks[name], "count")))
    _say_rest(table, max(len(by_name) - MOST_REGIONS, 0) + max(len(marks) - MOST_REGIONS, 0))
    return table


def _by_name(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["name"], []).append(row)
    return found


def _sum_of(rows: Sequence[dict[str, Any]], key: str) -> int:
    return sum(int(row[key]) for row in rows)


def _unequal(rows: Sequence[dict[str, Any]], ranks: int) -> str:
    """Of one region: the time of the rank with the most, of the mean of all ranks; in one rank the same of the threads
    that were in it. Empty if there is only one of them."""
    most = max(row["total_ns"] for row in rows) if ranks > 1 else rows[0]["max_thread_ns"]
    parts, total = ranks if ranks > 1 else rows[0]["threads"], _sum_of(rows, "total_ns")
    return f"{most * parts / total:.2f}" if parts > 1 and total else ""


def windows(document: dict[str, Any]) -> Table:
    """The breakdown over time, all ranks together."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("from", justify="right")
    table.add_column("thread time")
    _add_part_columns(table)
    edges, ranks = document["windows"]["edges_ns"], document["windows"]["ranks"]
    for number, start in enumerate(edges[:-1]):
        row = {key: sum(rank[key][number] for rank in ranks) for key in (f"{name}_ns" for name, _, _ in PARTS)}
        table.add_row(duration(start - edges[0]), _bar(row), *_shares(row))
    return table


def _add_part_columns(table: Table) -> None:
    for name, letter, colour in PARTS:
        table.add_column(f"{letter} {name}", justify="right", style=colour)


def passes(document: dict[str, Any]) -> Group:
    """What --pass asks for. What a user's pass gives is printed as it is."""
    table = lines()
    built_in = {name: result for name, result in document["passes"].items() if is_built_in(name)}
    for name, result in document["passes"].items():
        if name in built_in:
            continue
        values = result if isinstance(result, dict) else {"": result}
        for key, value in values.items():
            table.add_row(f"{name} {key}".rstrip(), str(value))
    results = [pass_result(name, result) for name, result in built_in.items()]
    return Group(*([table] if table.row_count else []), *results)


def verdict(document: dict[str, Any]) -> Table:
    """The biggest cause of lost time, the next thing to try, and what makes the numbers doubtful."""
    table = lines()
    causes = document["causes"]
    if causes:
        table.add_row(Text("biggest loss", style="red"), causes[0]["text"])
        table.add_row(Text("try next", style="green"), causes[0]["advice"])
        if "expected" in causes[0]:
            expected = causes[0]["expected"]
            table.add_row("expected", f"{what_if.expected_text(expected)}\nask: {expected['command']}")
    elif document["graph"]["tasks"]:
        table.add_row("biggest loss", "none of 1 % of thread time or more")
    for title in ("remark", "incomplete"):
        for text in document["remarks" if title == "remark" else title]:
            table.add_row(Text(title, style="yellow"), text)
    return table


def lines() -> Table:
    """A title and a text, which wraps beside its title."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    return table
