# SPDX-License-Identifier: Apache-2.0
"""What the machine did to the run: time that other processes, the hypervisor or a quota took, page faults, memory; and
what it counted. The recorder has asked the kernel at the begin and at the end (trace/base/machine.hpp, core_waits.hpp).

All ranks of a node read the same counters of the node, so of these the greatest difference counts once per node."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from marline.trace.analysis import Analysis
from marline.trace.passes.thread_time import imbalance
from marline.trace.read.columns import group_starts
from marline.units import count, percent, size

_OF_NODE = ("steal_ns", "throttled_ns", "memory_stall_ns", "busy_ns")
_OF_RANK = ("cpu_ns", "system_ns", "minor_faults", "major_faults")
SLOWER = 0.9  # a frequency below this share of the first one is worth a remark
MISPLACED = 0.1  # by which the pages of a node exceed its threads, of all: worth a line
MOST_COUNTED = 5  # rows of counters


def machine(of: Analysis) -> dict[str, Any]:
    """Per rank and per node; empty where an older recorder did not ask. A rank whose records are lost has no row, as
    its time is no part of the breakdown; what it used on its node is still the program's."""
    recorded = set(of["breakdown"].ranks.tolist())
    peak = {row["rank"]: row["peak_bytes"] for row in of["memory"].ranks}
    ranks, nodes = [], defaultdict(list)
    for rank, described in sorted(of.trace.ranks.items()):
        begin, end = described.get("machine_begin"), described.get("machine_end")
        if begin is None or end is None:
            continue
        taken = {key: max(end[key] - begin[key], 0) for key in (*_OF_RANK, *_OF_NODE)}
        row = {"rank": rank, "window_ns": end["monotonic_ns"] - begin["monotonic_ns"],
               "peak_memory_bytes": peak[rank],
               "frequency_khz": [begin["frequency_khz"], end["frequency_khz"]]}  # fmt: skip
        if rank in recorded:
            ranks.append(row | {key: taken[key] for key in _OF_RANK})
        nodes[described["boot_id"]].append((described.get("host", ""), taken))
    return {"ranks": ranks, "nodes": [_node(rows) for rows in nodes.values()]}


def _node(rows: list[tuple[str, dict[str, int]]]) -> dict[str, Any]:
    most = {key: max(taken[key] for _, taken in rows) for key in _OF_NODE}
    busy = most.pop("busy_ns")
    own = sum(taken["cpu_ns"] for _, taken in rows)
    if busy > own:  # a hypervisor takes cores from other processes, too
        most["steal_ns"] = most["steal_ns"] * own // busy
    return {"host": rows[0][0], **most, "others_cpu_ns": max(busy - own, 0)}


def figures(of: Analysis, document: Mapping[str, Any], whole: int) -> dict[str, Any]:
    """For the rules of causes.py, of `whole` ns of thread time. Who waits for a quota waits for a core, too."""
    ranks, nodes = document["ranks"], document["nodes"]
    steal, throttled, stall = (min(sum(node[key] for node in nodes), whole)
                               for key in ("steal_ns", "throttled_ns", "memory_stall_ns"))  # fmt: skip
    core_wait = min(sum(imbalance.core_waits(of).values()), whole)
    in_total = min(_core_wait_in_total(of, ranks), whole)
    return {
        "steal_ns": steal, "throttled_ns": throttled, "memory_stall_ns": stall,
        "core_wait_ns": max(in_total - throttled, 0),
        # Time at which a thread was ready to run and did not run, wherever that was.
        "taken_ns": min(steal + max(throttled, core_wait), whole),
        "kernel_ns": min(sum(row["system_ns"] for row in ranks), whole),
        "minor_faults": sum(row["minor_faults"] for row in ranks),
        "major_faults": sum(row["major_faults"] for row in ranks),
        "window_ns": max((row["window_ns"] for row in ranks), default=0),
    }  # fmt: skip


def _core_wait_in_total(of: Analysis, ranks: Sequence[Mapping[str, Any]]) -> int:
    """The kernel counts the waits of all recorded threads over all of the program; the breakdown is of the threads that
    count, in the total. So a part of the counted time is taken, as if it were spread evenly over threads and time; all
    of it where the length of the count is not known. None where ranks lack: their threads may have had the cores."""
    trace, table = of.trace, of["breakdown"]
    threads = Counter(table.lane_rank.tolist())
    if len(threads) < max(one["size"] for one in trace.ranks.values()):
        return 0
    first = group_starts(trace.rank, trace.thread)
    streams = Counter(trace.rank[first].tolist())
    windows = {row["rank"]: row["window_ns"] for row in ranks}
    found = 0.0
    for rank, waited in imbalance.core_waits(of).items():
        counted = windows.get(rank, 0) * streams[rank]
        found += waited * (min(threads[rank] * table.makespan / counted, 1.0) if counted else 1.0)
    return round(found)


def memory(document: Mapping[str, Any]) -> str:
    """A line on the memory of ranks; empty if it is not known."""
    ranks = document["ranks"]
    if not ranks:
        return ""
    most = max(ranks, key=lambda row: row["peak_memory_bytes"])
    faults, from_disk = (sum(row[key] for row in ranks) for key in ("minor_faults", "major_faults"))
    where = f" in rank {most['rank']}" if len(ranks) > 1 else ""
    return (f"{size(most['peak_memory_bytes'])} at most{where}; {count(faults + from_disk)} page faults, "
            f"{count(from_disk)} of them from disk")  # fmt: skip


def remarks(document: Mapping[str, Any]) -> list[str]:
    """Of frequencies: what they cost is not known, as they are read at the begin and at the end only."""
    slower = [row for row in document["ranks"] if 0 < row["frequency_khz"][1] < SLOWER * row["frequency_khz"][0]]
    if not slower:
        return []
    row = min(slower, key=lambda one: one["frequency_khz"][1] / one["frequency_khz"][0])
    before, after = (f"{khz / 1e6:.2f} GHz" for khz in row["frequency_khz"])
    return [f"the cores of rank {row['rank']} ran at {before} at the beginning and at {after} at the end: what runs "
            "later seems to take longer"]  # fmt: skip


def first_touch(document: Mapping[str, Any]) -> str:
    """A line on memory that lies on other NUMA nodes than the threads that may use it (passes/usage/memory.py); empty
    if the pages of all ranks lie about where their threads run. What it costs is not known, so it is no cause."""
    ranks = document["ranks"]
    worst = max(ranks, key=lambda row: row["excess"] or 0.0, default=None)
    if worst is None or (worst["excess"] or 0.0) < MISPLACED:
        return ""
    nodes = [one for one in document["nodes"] if one["rank"] == worst["rank"]]
    node = max(nodes, key=lambda one: one["page_share"] - one["thread_share"])
    of_rank = f" of rank {worst['rank']}" if len(ranks) > 1 else ""
    return (f"{percent(node['page_share'], 1)} of the pages{of_rank} lie on NUMA node {node['node']}, where "
            f"{percent(node['thread_share'], 1)} of its threads run: initialise the data in parallel, by the threads "
            "that will use it")  # fmt: skip


def counted(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the table of counters: kinds of tasks, or in a program without tasks loops and regions."""
    found = document["counters_by_kind"]
    return found["kinds" if document["graph"]["tasks"] else "loops"][:MOST_COUNTED]


def counters(document: Mapping[str, Any]) -> Table:
    """What was counted (MARLINE_TRACE_COUNTERS): of each row a line for each counter, and for each ratio of them."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title, most in (("counters by time", 25), ("", 25)):  # so that a line has 80 letters at most
        table.add_column(title, overflow="ellipsis", no_wrap=True, max_width=most)
    for title in ("sum", "each task", "per us"):
        table.add_column(title, justify="right", no_wrap=True, min_width=len(title))
    for row in counted(document):
        name = row["name"]
        for one in row["counters"]:
            table.add_row(name, one["name"], count(one["sum"]), rate(one["per_task"]), rate(one["per_us"]))
            name = ""
        for one in row["derived"]:
            table.add_row("", one["name"].replace("1000 instructions", "1000 ins."), count(one["value"]), "", "")
    return table


def rate(value: float | None) -> str:
    """Empty if there is none."""
    return "" if value is None else count(value)
