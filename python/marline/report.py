# SPDX-License-Identifier: Apache-2.0
"""A report's document: what `marline report --json` prints, and what text and CSV are made from. Every metric comes
from an analysis pass; here they are put side by side, with what makes them doubtful.

The keys are a contract (studies read them): ranks, total, graph, discovery, communication, causes, incomplete."""

import csv
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np

from marline.report_causes import find_causes
from marline.trace import report_passes  # noqa: F401  registers the passes
from marline.trace.analysis import Analysis
from marline.trace.passes.causes import CAUSES

FORMAT = "marline-report 1"
PASSES = ("breakdown", "graph", "discovery", "communication", "kind_times", "tied_waits")
MOST_NAMED = 8  # ranks that a sentence names
THREAD_COLUMNS = ("rank", "thread", "makespan_ns", "work_ns", "idle_ns", "overhead_ns")


def make_document(of: Analysis, own_passes: Sequence[str] = ()) -> dict[str, Any]:
    """Everything that is reported. `own_passes`: names of the user's."""
    results = {name: of.document(name) for name in (*PASSES, *own_passes)}
    breakdown = results["breakdown"]
    document = {
        "format": FORMAT,
        "program": program(of),
        "ranks": breakdown["ranks"],
        "total": breakdown["total"],
        "windows": breakdown["windows"],
        "graph": results["graph"],
        "discovery": results["discovery"],
        "communication": results["communication"],
        "kinds": results["kind_times"],
        "causes": [],
        "remarks": [],
        "incomplete": incomplete(of),
        "passes": {name: results[name] for name in own_passes},
    }
    document["causes"] = find_causes(figures(of, document))
    document["remarks"] = remarks(of, document)
    return document


def program(of: Analysis) -> dict[str, Any]:
    """What ran, as the lowest rank's description says."""
    ranks = of.trace.ranks
    first = ranks[min(ranks)]
    return {
        "exe": first.get("exe", ""),
        "argv": first.get("argv", []),
        "runtime": first.get("runtime", ""),
        "mpi": first.get("mpi", ""),
        "hosts": sorted({one.get("host", "") for one in ranks.values()}),
        "records": len(of.trace.time),
    }


def incomplete(of: Analysis) -> list[str]:
    """What is missing in the trace, each in one line."""
    trace = of.trace
    size = max(one["size"] for one in trace.ranks.values())
    absent = sorted(set(range(size)) - set(trace.ranks))
    lines = []
    if absent:
        named = ", ".join(map(str, absent[:MOST_NAMED])) + (", ..." if len(absent) > MOST_NAMED else "")
        lines.append(f"{len(absent)} of {size} ranks left no trace: {named}")
    lines += trace.cut
    tasks, calls = of["tasks"], of["calls"]
    unfinished = int(np.count_nonzero(tasks.end < 0))
    if unfinished:
        lines.append(f"{unfinished} of {len(tasks.id)} tasks had not completed when the trace ended")
    under_way = int(np.count_nonzero(~calls.returned))
    if under_way:
        lines.append(f"{under_way} MPI calls had not returned when the trace ended")
    return lines


def machine(of: Analysis, ranks: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Threads and cores of the fullest node; 0 cores where the trace does not say."""
    threads: Counter[str] = Counter()
    cores: dict[str, int] = {}
    for row in ranks:
        metadata = of.trace.ranks[row["rank"]]
        threads[metadata["boot_id"]] += row["threads"]
        cores[metadata["boot_id"]] = metadata.get("cores", 0)
    fullest = max(threads, key=lambda node: threads[node] / max(cores[node], 1))
    return threads[fullest], cores[fullest]


def figures(of: Analysis, document: dict[str, Any]) -> dict[str, float]:
    """What the rules of report_causes.py look at."""
    total, graph = document["total"], document["graph"]
    threads_per_node, cores_per_node = machine(of, document["ranks"])
    by_work = sorted(document["ranks"], key=lambda row: row["work_ns"] / row["threads"])
    least, most = by_work[0], by_work[-1]
    return {
        **{f"{cause.name}_ns": total["causes"].get(cause.name, 0) for cause in CAUSES},
        "thread_ns": total["work_ns"] + total["idle_ns"] + total["overhead_ns"],
        "overhead_per_task_ns": total["overhead_ns"] / max(graph["tasks"], 1),
        "grain_median_ns": graph["grain_median_ns"],
        "tasks": graph["tasks"],
        "threads": total["threads"],
        "tasks_per_second": document["discovery"]["tasks_per_second"],
        "threads_per_node": threads_per_node,
        "cores_per_node": cores_per_node,
        "tied_wait_ns": of["tied_waits"].total,
        "work_least_ns": least["work_ns"] / least["threads"],
        "work_most_ns": most["work_ns"] / most["threads"],
        "rank_least": least["rank"],
        "rank_most": most["rank"],
    }


def remarks(of: Analysis, document: dict[str, Any]) -> list[str]:
    """What a reader should know of the numbers."""
    lines = []
    threads, cores = machine(of, document["ranks"])
    if threads > cores > 0:
        lines.append(f"recorded with {threads} threads on {cores} cores: threads took turns, so every time above "
                     "includes waiting for a core")  # fmt: skip
    if not document["graph"]["tasks"]:
        lines.append("no task was recorded: the program created none, or its OpenMP runtime has no OMPT (libgomp)")
    return lines + of.trace.notes + of["kinds"].notes


def write_csv(document: dict[str, Any], file: TextIO) -> None:
    """A line per thread."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(THREAD_COLUMNS)
    for rank in document["ranks"]:
        for thread in rank["by_thread"]:
            values = {"rank": rank["rank"], "makespan_ns": rank["makespan_ns"]} | thread
            writer.writerow(values[column] for column in THREAD_COLUMNS)
