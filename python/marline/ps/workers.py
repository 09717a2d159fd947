# SPDX-License-Identifier: Apache-2.0
"""The workers of a job with devices on nodes (docs/guide/nodes.md): where they are, as their program tells it, and what
each does, as it tells by itself."""

from __future__ import annotations

from collections import Counter
from typing import Any, Tuple  # of older Pythons

from marline.ps.answers import NoAnswer, Report
from marline.ps.client import Door, door_from
from marline.ps.job import TASKS_ARE_READY, Kernel, Process, Worker, activity, read

# What a worker's dispatching task waits in (offload/device/processor/dispatcher.cpp).
DISPATCHER_WAITS = ("commands", "yield")
Place = Tuple[int, int]  # rank, and number of the worker among its processes


def doors_of_workers(doors: dict[int, Door], answers: dict[int, Report | NoAnswer]) -> dict[Place, Door]:
    """Of all ranks that have workers."""
    found = {}
    for rank, answer in answers.items():
        nodes = {} if isinstance(answer, NoAnswer) else answer["sections"].get("nodes") or {}
        for one in nodes.get("processes", []):
            if nodes["number"] == 0:
                found[rank, one["number"]] = door_from(doors[rank], one)
    return found


def workers_of(rank: int, report: Report, answers: dict[Place, Report | NoAnswer]) -> list[Worker]:
    """`answers`: of the workers of all ranks, by Place."""
    nodes = report["sections"].get("nodes") or {}
    named = [one for one in nodes.get("processes", []) if (rank, one["number"]) in answers]
    return [_worker(rank, one, answers[rank, one["number"]]) for one in named]


def _worker(rank: int, one: dict[str, Any], answer: Report | NoAnswer) -> Worker:
    worker = Worker(rank, one["number"], one["node"], one["pid"])
    if isinstance(answer, NoAnswer):
        worker.absent = str(answer)
        return worker
    worker.process = read(answer, rank)
    worker.process.waiters = [one for one in worker.process.waiters if one.call_name not in DISPATCHER_WAITS]
    # The process's first thread waits on the wire, and polls while all others run regions.
    worker.process.threads = [one for one in worker.process.threads if one.number != answer["pid"]]
    work = answer["sections"].get("worker") or {}
    now = answer["nanoseconds"]
    worker.kernels = [Kernel(one["where"], one["runs"], max(0, now - one["since"])) for one in work.get("kernels", [])]
    worker.device = work.get("device", -1)
    worker.left_out = work.get("left_out", 0)
    worker.idle = max(0, now - work.get("idle_since", now))
    worker.sending, worker.arriving = work.get("sending", {}), work.get("arriving", {})
    return worker


def worker_activity(before: Process, after: Process) -> list[str]:
    """What says that a rank's workers go on."""
    then = {worker.number: worker for worker in before.workers}
    found = []
    for worker in after.workers:
        previous = then.get(worker.number)
        if previous is None or previous.process is None or worker.process is None:
            continue
        # The dispatcher waits on the wire, and looks round now and then.
        if not worker.kernels and not previous.kernels:
            continue
        # A region that waits for a thread is a ready task of the crew: its threads are busy; the dispatcher's first
        # thread may be idle meanwhile (offload/device/processor/dispatcher.hpp).
        waits = any(not one.runs for one in worker.kernels)
        found += [f"{worker.title}: {what}" for what in activity(previous.process, worker.process)
                  if not (waits and what == TASKS_ARE_READY)]  # fmt: skip
    return found


def hung_regions(process: Process) -> list[str]:
    """What to look at if nothing moves: the regions that have begun and do not end, and workers that do not answer."""
    lines = [f"{worker.title} does not answer: {worker.absent}" for worker in process.workers if worker.absent]
    for worker in process.workers:
        regions = Counter(kernel.where for kernel in worker.running)
        lines += [f"{worker.title} does not come to the end of {where}{f' ({count} times)' if count > 1 else ''}"
                  for where, count in regions.items()]  # fmt: skip
    return lines


def document(worker: Worker) -> dict[str, Any]:
    """For --json."""
    return {
        "number": worker.number, "node": worker.node, "pid": worker.pid, "device": worker.device,
        "absent": worker.absent, "host": worker.process.host if worker.process else "",
        "kernels": [{"where": one.where, "runs": one.runs, "nanoseconds": one.age} for one in worker.kernels],
        "left_out": worker.left_out, "idle_nanoseconds": 0 if worker.kernels else worker.idle,
        "sending": worker.sending, "arriving": worker.arriving,
        "cluster": worker.process.cluster if worker.process else {},
        "threads": [{"thread": one.number, "state": one.state, "task": one.task}
                    for one in (worker.process.threads if worker.process else [])],
    }  # fmt: skip
