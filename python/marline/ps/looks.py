# SPDX-License-Identifier: Apache-2.0
"""One look at a job: what all its ranks and workers answer; and what many looks say about where its time goes, for
`marline ps --report` of a job that keeps no ring. That needs nothing from the job but that it answers. The parts are
those of `marline report` (docs/design/time-breakdown.md), each the share of looks at a thread: work (it runs the
program's code), overhead (it does not, while tasks are ready), idle (the same while none is), by what suspended tasks
wait for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Tuple  # of older Pythons

from marline.ps.answers import NoAnswer
from marline.ps.client import Door, Request, ask_all
from marline.ps.job import Process, read
from marline.ps.workers import doors_of_workers, workers_of

STACKS, STACK_BYTES = 256, 16384
GLANCE = Request(stack_bytes=0, stacks=STACKS, sections=("mpi", "nodes"))
LOOK = Request(stack_bytes=STACK_BYTES, stacks=STACKS, sections=("mpi", "mpi_requests", "devices", "nodes", "cluster"))
LOOK_AT_REST = Request(stack_bytes=STACK_BYTES, stacks=STACKS, sections=(*LOOK.sections, "mpi_messages"))

LOOKS = 20  # for a report
CAUSES = {"idle_communication": "a task or thread is in MPI, or an event is awaited",
          "idle_device": "a device works", "idle_constraint": "a task waits for a lock",
          "idle_dependences": "tasks wait for others", "idle_tail": "only running tasks are left",
          "idle_outside": "there is no task"}  # fmt: skip
Looks = List[Dict[int, Process]]
Look = Tuple[Dict[int, Process], Dict[int, str]]


def look(doors: dict[int, Door], request: Request) -> Look:
    """The ranks that answer, with their workers, and why the others do not."""
    answers = ask_all(doors, request)
    of_workers = ask_all(doors_of_workers(doors, answers), replace(request, sections=("worker", "cluster")))
    present = {}
    for rank, answer in answers.items():
        if not isinstance(answer, NoAnswer):
            present[rank] = read(answer, rank)
            present[rank].workers = workers_of(rank, answer, of_workers)
    return present, {rank: str(answer) for rank, answer in answers.items() if isinstance(answer, NoAnswer)}


# Many looks -----------------------------------------------------------------------------------------------------------


def breakdown(looks: Looks) -> dict[str, Any]:
    """Shares of thread time by rank and in all, causes of idle time, and how much of all was in MPI."""
    ranks: dict[int, Counter[str]] = {}
    for look in looks:
        for rank, process in look.items():
            ranks.setdefault(rank, Counter()).update(_of_look(process))
    rows = [{"rank": rank, **_shares(counts)} for rank, counts in sorted(ranks.items())]
    return {"ranks": rows, "total": _shares(sum(ranks.values(), Counter())), "looks": len(looks)}


def _of_look(process: Process) -> Counter[str]:
    """One count per thread for its part, one more if it is in MPI."""
    counts: Counter[str] = Counter()
    workers = [thread for thread in process.threads if thread.worker is not None]
    is_ready = any(thread.ready for thread in workers)
    calls = {waiter.id for waiter in process.waiters if waiter.call is not None and waiter.call.is_mpi}
    for thread in workers:
        counts["threads"] += 1
        if thread.state == "blocked":
            counts["mpi"] += f"thread {thread.number}" in calls
        if thread.state == "runs":
            counts["work"] += 1
        elif is_ready:
            counts["overhead"] += 1
        else:
            counts["idle"] += 1
            counts[_cause(process, any(one.state == "runs" for one in workers))] += 1
    return counts


def _cause(process: Process, some_run: bool) -> str:
    """The first that holds, in the order of the time breakdown."""
    waits = {waiter.wait for waiter in process.waiters}
    if process.asides or any(waiter.is_device for waiter in process.waiters):
        return "idle_device"
    if waits & {"call", "event"}:
        return "idle_communication"
    if waits & {"lock", "permission"}:
        return "idle_constraint"
    if waits & {"taskwait", "taskgroup", "dependences"}:
        return "idle_dependences"
    return "idle_tail" if some_run else "idle_outside"


def _shares(counts: Counter[str]) -> dict[str, Any]:
    threads = max(counts["threads"], 1)
    parts = {name: counts[name] / threads for name in ("work", "idle", "overhead", "mpi")}
    causes = {name: counts[name] / threads for name in CAUSES if counts[name]}
    return {**parts, "threads": counts["threads"], "causes": causes}


def words(found: dict[str, Any], last: dict[int, Process], seconds: float) -> str:
    first = next(iter(last.values()))
    who = f"{len(last)} ranks of" if len(last) > 1 else "process"
    threads = {rank: sum(thread.worker is not None for thread in process.threads) for rank, process in last.items()}
    lines = [f"{who} {Path(first.program).name}, {found['looks']} looks within {seconds:.1f} s", "",
             "rank  threads    work    idle  overhead  in MPI"]  # fmt: skip
    rows = [(str(row["rank"]), threads.get(row["rank"], 0), row) for row in found["ranks"]]
    for name, count, row in [*rows, ("all", sum(threads.values()), found["total"])]:
        lines.append(f"{name:>4}{count:9}{row['work']:8.1%}{row['idle']:8.1%}{row['overhead']:10.1%}{row['mpi']:8.1%}")
    causes = sorted(found["total"]["causes"].items(), key=lambda pair: -pair[1])
    lines += [""] * bool(causes)
    lines += [f"{name.replace('_', ' ', 1):20}{share:6.1%}  {CAUSES[name]}" for name, share in causes]
    lines += ["", "note: shares of looks. For times, tasks, discovery and messages of the last seconds, start the job",
              "      with MARLINE_TRACE_RING=64M and `marline run --trace DIR`"]  # fmt: skip
    return "\n".join(lines)
