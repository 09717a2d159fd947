# SPDX-License-Identifier: Apache-2.0
"""A report's document: what `marline report --json` prints, and what text and CSV are made from. Every metric comes
from an analysis pass; here they are put side by side, with what makes them doubtful.

The keys are a contract (studies read them): ranks, total, graph, discovery, communication, overlap, collectives,
devices, links, critical_path, the names in FURTHER and DETAILS, loops, mpi, counters_by_kind, memory, samples, machine,
causes, verdict, incomplete; what_if where it was asked for."""

import csv
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np

from marline.report import machine as report_machine
from marline.report import without_tasks
from marline.report.causes import WORTH_SAYING, find_causes
from marline.report.notable import one_address
from marline.report.what_if import add_expected
from marline.trace.analysis import Analysis
from marline.trace.passes import held_receives, tied_waits  # noqa: F401  registers their passes
from marline.trace.passes.thread_time.causes import CAUSES
from marline.trace.passes.thread_time.one_call import longest_wait
from marline.trace.read.records import is_recorded
from marline.trace.what_if import model  # noqa: F401  registers its pass
from marline.units import count, duration

# Each has its own key in the document; what `marline trace` says after a run needs none of them.
FURTHER = ("efficiency", "bounds", "early_sends", "outliers", "slow_patterns", "addresses", "work_by_kind")
# What the text does not print: of the JSON document, of conditions and, one of them, of the page.
DETAILS = ("matrix", "known_graph", "ready_queue")
FOR_PAGE = ("known_graph",)
FORMAT = "marline-report 1"
PASSES = ("breakdown", "graph", "discovery", "communication", "regions", "marks", "worksharing", "integrity",
          "tied_waits", "held_receives", "imbalance", "overlap", "collectives", "devices", "links", "critical_path",
          "gtdg", "loops", "locks", "mpi_waits", "samples", "counters", "counters_of_loops", "memory")  # fmt: skip
THREAD_COLUMNS = ("rank", "thread", "makespan_ns", "work_ns", "idle_ns", "overhead_ns")


def make_document(of: Analysis, own_passes: Sequence[str] = (),
                  more: Sequence[str] = (*FURTHER, *DETAILS)) -> dict[str, Any]:  # fmt: skip
    """Everything that is reported. `own_passes`: names of the user's; `more`: of FURTHER and DETAILS, what is shown."""
    results = {name: of.document(name) for name in (*PASSES, *more, *own_passes)}
    breakdown = results["breakdown"]
    document = {
        "format": FORMAT,
        "program": program(of),
        "ranks": breakdown["ranks"],
        "total": breakdown["total"],
        "windows": breakdown["windows"],
        "graph": results["graph"],
        "discovery": results["discovery"],
        "counters": counters(of),
        "communication": results["communication"],
        "overlap": results["overlap"],
        "collectives": results["collectives"],
        "devices": results["devices"],
        "links": results["links"],
        "critical_path": results["critical_path"],
        "gtdg": results["gtdg"],
        **{name: results[name] for name in more},
        "kinds": sorted(results["graph"]["kinds"], key=lambda kind: -kind["total_ns"] - kind["device_ns"]),
        "regions": results["regions"],
        "marks": results["marks"],
        "worksharing": results["worksharing"],
        "loops": results["loops"],
        "locks": results["locks"],
        "mpi": results["mpi_waits"],
        "samples": results["samples"],
        "counters_by_kind": results["counters"] | {"loops": results["counters_of_loops"]},
        "memory": results["memory"],
        "machine": report_machine.machine(of),
        "causes": [],
        "verdict": "",
        "remarks": [],
        "what_if": [],
        "incomplete": stopped(of) + results["integrity"]["incomplete"],
        "passes": {name: results[name] for name in own_passes},
    }
    known = figures(of, document)
    document["causes"] = find_causes(known)
    if not document["program"]["ranks_left_out"]:  # the model needs what each rank waited for
        add_expected(of, document["causes"], known)
    document["verdict"] = document["causes"][0]["text"] if document["causes"] else ""
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
        "hosts": sorted({one.get("host", "") for one in ranks.values() if is_recorded(one)}),
        "records": len(of.trace.time),
        "ranks_left_out": len(of.trace.left_out()),
        "left_out": sorted(of.trace.left_out()),
    }


def counters(of: Analysis) -> dict[str, int]:
    """What Marline counted of the discovery of dependences, all ranks together; empty on other runtimes. Of ranks whose
    records are lost nothing else is known, so they do not count."""
    sums: Counter[str] = Counter()
    for rank in of["breakdown"].ranks.tolist():
        sums.update(of.trace.ranks[rank].get("counters", {}))
    return dict(sums) if sums["tasks"] else {}


def stopped(of: Analysis) -> list[str]:
    """Ranks where the recorder had to stop before the program ended, and why."""
    reasons = {rank: one.get("stopped", "") for rank, one in of.trace.ranks.items()}
    return [f"rank {rank} stopped recording: {reason}" for rank, reason in reasons.items() if reason]


def machine(of: Analysis, ranks: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Threads and CPUs of the fullest node; 0 CPUs where the trace does not say."""
    threads: Counter[str] = Counter()
    cores: dict[str, int] = {}
    for row in ranks:
        metadata = of.trace.ranks[row["rank"]]
        threads[metadata["boot_id"]] += row["threads"]
        cores[metadata["boot_id"]] = metadata.get("cpus", 0)
    fullest = max(threads, key=lambda node: threads[node] / max(cores[node], 1))
    return threads[fullest], cores[fullest]


def figures(of: Analysis, document: dict[str, Any]) -> dict[str, Any]:
    """What the rules of report/causes.py look at."""
    total, graph = document["total"], document["graph"]
    threads_per_node, cores_per_node = machine(of, document["ranks"])
    by_work = sorted(document["ranks"], key=lambda row: row["work_ns"] / row["threads"])
    least, most = by_work[0], by_work[-1]
    # Of devices that ran any kernel, in per cent.
    worked = [100 * row["time"]["work_ns"] / row["time"]["span_ns"] for row in document["devices"]
              if row["kernels"]["count"]]
    whole = total["work_ns"] + total["idle_ns"] + total["overhead_ns"]
    one_wait = without_tasks.one_wait(longest_wait(of), int(of["breakdown"].edges[0]))
    lost = {f"{cause.name}_ns": total["causes"].get(cause.name, 0) for cause in CAUSES}
    if graph["tasks"]:  # who waits in a barrier beside no task waits for code outside of tasks
        lost["idle_outside_ns"] += lost.pop("idle_barrier_ns")
        lost["idle_constraint_ns"] += lost.pop("idle_lock_ns")
        lost |= {"idle_barrier_ns": 0, "idle_lock_ns": 0}
    unequal = of["imbalance"]
    at_ends, in_communication, in_held = (
        int(column.sum()) for column in (unequal.at_ends, unequal.in_communication, unequal.in_held)
    )  # fmt: skip
    machine_s = report_machine.figures(of, document["machine"], whole)
    taken = machine_s["taken_ns"]
    code = without_tasks.figures(document, lost, whole, taken)
    return lost | machine_s | proven_overhead(lost, taken) | code | {
        # What ranks wait for each other has two remedies: divide the work evenly, or communicate otherwise. What may be
        # due to busy cores alone is neither.
        "imbalance_ns": int(unequal.proven.sum()),
        "idle_ranks_ns": lost["idle_ranks_ns"] - at_ends,
        "idle_communication_ns": lost["idle_communication_ns"] - in_communication,
        "idle_held_ns": lost["idle_held_ns"] - in_held,
        "thread_ns": whole,
        "overhead_per_task_ns": max(total["overhead_ns"] - taken, 0) / max(graph["tasks"], 1),
        "grain_median_ns": graph["grain_ns"]["median"],
        "tasks": graph["tasks"],
        "threads": total["threads"],
        "tasks_per_second": document["discovery"]["tasks_per_second"] or 0.0,
        "threads_per_node": threads_per_node,
        "cores_per_node": cores_per_node,
        "tied_wait_ns": of["tied_waits"].total,
        "mpi_calls": document["communication"]["total"]["calls"],
        "suspended_calls": int(np.count_nonzero(of["suspensions"].call >= 0)),
        "held_early_ns": of["held_receives"].early,
        "held_call": without_tasks.with_place(held_most(document["communication"]["calls"]), document["mpi"]),
        "on_marline": all(one.get("runtime", "").startswith("Marline") for one in of.trace.ranks.values()),
        "device_operations": len(of["devices"].rank),
        "device_least": min(worked, default=0.0),
        "device_most": max(worked, default=0.0),
        "work_least_ns": least["work_ns"] / least["threads"],
        "work_most_ns": most["work_ns"] / most["threads"],
        "rank_least": least["rank"],
        "rank_most": most["rank"],
        "one_wait": one_wait,
        "imbalance_advice": imbalance_advice(most["rank"], least["rank"], bool(one_wait)),
        "longest_task": longest_task(of),
        # Only where the sentence is needed: a short report does not count edges by address otherwise.
        "one_address": one_address(of["addresses"]) if lost["idle_dependences_ns"] >= WORTH_SAYING * whole > 0 else "",
    }


def imbalance_advice(most: int, least: int, at_once: bool) -> str:
    if at_once:
        return (f"see what rank {most} does before that call, and not before the others: divide it among the ranks, or "
                "do it where none waits")  # fmt: skip
    return f"move work from rank {most} (the most) to rank {least} (the least)"


def longest_task(of: Analysis) -> str:
    """Its kind, with the line that creates it; which one of its kind it is; how long it ran, and how long others do."""
    tasks, kinds = of["tasks"], of["kinds"]
    if not len(tasks.id):
        return ""
    longest = int(np.argmax(tasks.running))
    kind = kinds.of_task[longest]
    alike = np.flatnonzero(kinds.of_task == kind)
    if len(alike) == 1:
        return f"{kinds.names[kind]}, {duration(int(tasks.running[longest]))}"
    turn = int(np.count_nonzero(tasks.created[alike] <= tasks.created[longest]))
    return (f"{kinds.names[kind]}, {duration(int(tasks.running[longest]))}, the one created as number {count(turn)} of "
            f"{count(len(alike))} of its kind, whose median is {duration(float(np.median(tasks.running[alike])))}")


def proven_overhead(lost: dict[str, int], taken: int) -> dict[str, int]:
    """Time outside of tasks, without what may be nothing but waiting for a core (`taken`): where threads were when they
    had none is not known."""
    names = ("overhead_creation_ns", "overhead_code_ns", "overhead_scheduler_ns")
    whole = sum(lost[name] for name in names)
    return {name: lost[name] * max(whole - taken, 0) // max(whole, 1) for name in names}


def held_most(calls: Sequence[dict[str, Any]]) -> str:
    """The MPI function that has held threads longest; MPI_Init and the like do not count."""
    return max((row for row in calls if row["kind"] != "local"), key=lambda row: row["held_ns"],
               default={"name": "MPI"})["name"]  # fmt: skip


def remarks(of: Analysis, document: dict[str, Any]) -> list[str]:
    """What a reader should know of the numbers."""
    lines = []
    threads, cores = machine(of, document["ranks"])
    if threads > cores > 0:
        lines.append(f"recorded with {threads} threads on {cores} CPU{'s'[: cores > 1]}: they took turns, so every "
                     "time above includes waiting for one")  # fmt: skip
    if not (document["graph"]["tasks"] or document["worksharing"] or document["loops"]["regions"]):
        lines.append("no task was recorded: the program created none, or its OpenMP runtime has no OMPT (libgomp)")
    notes = list(dict.fromkeys([*of["kinds"].notes, *document["loops"]["notes"], *document["samples"]["notes"]]))
    return lines + report_machine.remarks(document["machine"]) + notes


def write_csv(document: dict[str, Any], file: TextIO) -> None:
    """A line per thread."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(THREAD_COLUMNS)
    for rank in document["ranks"]:
        for thread in rank["by_thread"]:
            values = {"rank": rank["rank"], "makespan_ns": rank["makespan_ns"]} | thread
            writer.writerow(values[column] for column in THREAD_COLUMNS)
