# SPDX-License-Identifier: Apache-2.0
"""The report as text of at most 118 columns, without colours."""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path

from marline.ps.answers import Report
from marline.ps.job import Call, Kernel, Process, Waiter, Worker
from marline.ps.matching import MOST_PARTS, Ranks, brief
from marline.ps.verdict import ADVICE, Verdict
from marline.units import duration, size

WIDTH = 118
FRAMES = 6
WAITS = {"event": "an event", "taskwait": "taskwait", "dependences": "taskwait with dependences",
         "taskgroup": "the end of a taskgroup", "lock": "a lock", "turn": "its turn", "yield": "taskyield",
         "barrier": "a barrier", "permission": "leave to start a task", "detach": "the event of a detach clause",
         "none": "something"}  # fmt: skip
STATES = {"runs": "running", "idle": "idle", "barrier": "at a barrier", "blocked": "blocked in a call"}


def report(ranks: Ranks, verdict: Verdict, seconds: float, notes: list[str], everything: bool) -> str:
    lines = [_head(ranks, seconds), "", f"{verdict.state.upper()}: {ADVICE[verdict.state]}."]
    for reason in verdict.reasons:
        lines += _wrapped(reason, 2, 6)
    for rank in sorted(ranks):
        lines += ["", *_rank(ranks[rank], verdict, everything)]
    lines += [""] * bool(notes) + [line for note in notes for line in _wrapped(f"note: {note}", 0, 6)]
    return "\n".join(lines)


def _head(ranks: Ranks, seconds: float) -> str:
    first = next(iter(ranks.values()))
    hosts = Counter(process.host for process in ranks.values())
    where = first.host if len(hosts) == 1 else f"{len(hosts)} nodes"
    who = f"{len(ranks)} ranks of" if first.is_mpi and first.size > 1 else "process"
    return f"{who} {Path(first.program).name} on {where}, seen twice within {seconds:.1f} s"


def _rank(process: Process, verdict: Verdict, everything: bool) -> list[str]:
    who = f"rank {process.rank} (pid {process.pid}" if process.is_mpi else f"process (pid {process.pid}"
    states = Counter(thread.state for thread in process.threads if thread.worker is not None)
    threads = ", ".join(f"{count} {STATES[state]}" for state, count in sorted(states.items()))
    tasks = f"{process.task_count} task{'s' * (process.task_count != 1)} suspended"
    lines = [f"{who} on {process.host}): {tasks}; threads: {threads or 'none yet'}"]
    for thread in process.threads:
        if thread.state == "runs" and thread.task:
            label = f"task '{thread.task['label']}'" if thread.task.get("label") else _kind_that_runs(thread.task)
            lines += _wrapped(f"thread {thread.number} runs {label}: {thread.task.get('function', 'somewhere')}", 2, 6)
    ready = sum(thread.ready for thread in process.threads)
    if ready:
        lines.append(f"  {ready} task{'s' * (ready != 1)} ready, for which no thread is free")
    groups = _alike(process, verdict)
    most = len(groups) if everything else 20
    for some in groups[:most]:
        lines += _waiter(process, some, verdict)
    if len(groups) > most:
        lines.append(f"  ... and {sum(map(len, groups[most:]))} more (--all shows them)")
    lines += _asides(process)
    node = process.cluster
    if node:
        tasks = f"{node['under_way']} task{'s' * (node['under_way'] != 1)} under way"
        lines += _wrapped(f"cluster: {tasks}, {cluster_words(node)}", 2, 6)
    for worker in process.workers:
        lines += _worker(worker, everything)
    ends = any(one.call and one.call.operation == "MPI_Finalize" for one in process.waiters)
    lines += [line for problem in process.problems if not ends for line in _wrapped(f"note: {problem}", 2, 6)]
    return lines


def _kind_that_runs(task: dict[str, object]) -> str:
    return "the program" if task["kind"] == "implicit" else f"task {str(task['id'])[-6:]}"


def _alike(process: Process, verdict: Verdict) -> list[list[Waiter]]:
    """Tasks that differ in nothing that is shown but names and times stand together; tasks that cannot go on come
    first."""
    groups: dict[tuple[object, ...], list[Waiter]] = {}
    for one in process.waiters:
        key = (one.label or one.kind, what(process, one, age=False), tuple(one.frames), verdict.findings[one.key].text)
        groups.setdefault(key, []).append(one)
    return sorted(groups.values(), key=lambda some: verdict.findings[some[0].key].matched)


def _waiter(process: Process, some: list[Waiter], verdict: Verdict) -> list[str]:
    one = min(some, key=_since)
    count = f"{len(some)} of them, first: " if len(some) > 1 else ""
    kind = "" if one.kind == "thread" else f" ({one.kind}{f', of worker {one.home}' if one.home is not None else ''})"
    lines = _wrapped(f"{count}{one.title}{kind} waits in {what(process, one)}", 2, 6)
    lines += _stack(one, 6)
    finding = verdict.findings[one.key]
    if not verdict.moving or not one.call or finding.matched:
        lines += _wrapped(f"why   {finding.text}", 6, 12)
    return lines


def _stack(one: Waiter, indent: int) -> list[str]:
    if not one.frames:
        return []
    stack = " < ".join(one.frames[:FRAMES]) + (" < ..." if len(one.frames) > FRAMES else "")
    return _wrapped(f"{'near' if one.guessed else 'at  '}  {stack}", indent, indent + 6)


def _since(one: Waiter) -> int:
    return one.call.values.get("since", 0) if one.call else 0


def what(process: Process, one: Waiter, age: bool = True) -> str:
    if one.call is None:
        return WAITS.get(one.wait, one.wait)
    call = one.call
    if one.is_device:
        octets, since = call.values.get("bytes", 0), _since(one)
        lasts = f", for {duration(process.nanoseconds - since)}" if age and 0 < since < process.nanoseconds else ""
        return on_device(call.operation, call.values["device"]) + (f", {size(octets)}" if octets else "") + lasts
    if not call.is_mpi:
        return f"{call.operation}({', '.join(f'{name} {value}' for name, value in call.values.items())})"
    if one.parts:
        told = "; ".join(envelope(process, part) for part in one.parts[:MOST_PARTS])
        more = max(0, len(one.parts) - MOST_PARTS) + one.unknown
        return f"{call.operation} of {told}" + (f"; and {more} more" if more > 0 else "")
    return envelope(process, call)


def on_device(operation: str, device: int) -> str:
    """`kernel on device 1`, `copy to device 0`."""
    return f"{operation} {'' if operation.endswith((' to', ' from')) else 'on '}device {device}"


def _asides(process: Process) -> list[str]:
    """Constructs that are put aside: constructs that wait for the same thing stand in one line."""
    counts = Counter(process.asides)
    lines = []
    for aside, count in sorted(counts.items(), key=lambda item: (item[0].device, item[0].where)):
        where = f", {aside.where}" if aside.where else ""
        constructs = f"{count} constructs wait" if count > 1 else "a construct waits"
        lines += _wrapped(f"{constructs} in {on_device(aside.what, aside.device)}, put aside{where}", 2, 6)
    return lines + ([f"  ... and {process.asides_untold} more"] if process.asides_untold else [])


def _worker(worker: Worker, everything: bool) -> list[str]:
    """What it does: its kernels first, the oldest of equal ones for all of them."""
    if worker.process is None:
        return _wrapped(f"{worker.title} does not answer: {worker.absent}", 2, 6)
    counts = [f"{len(some)} region{'s' * (len(some) != 1)} {word}"
              for some, word in ((worker.running, "running"), (worker.queued, "waiting for a thread"))
              if some]  # fmt: skip
    counts += [f"{copies['count']} cop{'ies' if copies['count'] != 1 else 'y'} {word}, {size(copies['bytes'])}"
               for copies, word in ((worker.sending, "leaving"), (worker.arriving, "arriving"))
               if copies.get("count")]  # fmt: skip
    counts = counts or [f"idle for {duration(worker.idle)}"]
    node = worker.process.cluster
    if node:
        counts += ([f"{node['waiting']} region{'s' * (node['waiting'] != 1)} waiting for inputs"]
                   if node["waiting"] else [])  # fmt: skip
        counts.append(cluster_words(node))
    lines = _wrapped(f"{worker.title}: {', '.join(counts)}", 2, 6)
    groups = _kernels_alike(worker)
    most = len(groups) if everything else 8
    for kernel, count in groups[:most]:
        verb, others = "runs" if kernel.runs else "waits", f", {count} of them" if count > 1 else ""
        lines += _wrapped(f"{kernel.where} {verb} for {duration(kernel.age)}{others}", 6, 12)
    hidden = sum(count for _, count in groups[most:]) + worker.left_out
    lines += [f"      ... and {hidden} more"] if hidden else []
    for one in worker.process.waiters if worker.kernels else []:
        lines += _wrapped(f"{one.title} waits in {what(worker.process, one)}", 6, 12)
        lines += _stack(one, 10)
    return lines


def cluster_words(node: dict[str, int]) -> str:
    """What a node of a cluster has: `2 buffers held (8 MiB), 3 MiB sent, 8 MiB to its GPU and 0 B from it`."""
    buffers = f"{node['copies']} buffer{'s' * (node['copies'] != 1)} held ({size(node['bytes'])})"
    has_gpu = node["to_gpu"] or node["from_gpu"]
    bus = f", {size(node['to_gpu'])} to its GPU and {size(node['from_gpu'])} from it" if has_gpu else ""
    return f"{buffers}, {size(node['sent'])} sent{bus}"


def _kernels_alike(worker: Worker) -> list[tuple[Kernel, int]]:
    groups: dict[tuple[str, bool], list[Kernel]] = {}
    for kernel in worker.kernels:
        groups.setdefault((kernel.where, kernel.runs), []).append(kernel)
    oldest = [(max(some, key=lambda one: one.age), len(some)) for some in groups.values()]
    return sorted(oldest, key=lambda pair: (not pair[0].runs, -pair[0].age))


def envelope(process: Process, call: Call) -> str:
    parts = [process.comm_name(call.comm)] if call.comm else []
    parts += [f"{call.bytes} bytes"] if call.bytes else []
    parts += [f"{call.count} element{'s' * (call.count != 1)}"] if call.count else []
    parts += [f"{call.requests} request{'s' * (call.requests != 1)} open"] if call.requests else []
    first = brief(process, call)
    between = " " if first == call.operation else ", "
    return first + between + ", ".join(parts) if parts else first


def _wrapped(text: str, indent: int, further: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * further,
                         break_long_words=False, break_on_hyphens=False)  # fmt: skip


def listing(reports: list[Report]) -> str:
    """`marline ps` without a process: what runs here."""
    rows = [("PID", "RANK", "TASKS", "THREADS", "PROGRAM")]
    for one in reports:
        mpi = one["sections"].get("mpi")
        threads = Counter(thread["state"] for thread in one.get("threads", []))
        busy = f"{threads['runs']} of {sum(threads.values())} run"
        rows.append((str(one["pid"]), f"{mpi['rank']} of {mpi['size']}" if mpi else "-",
                     f"{one.get('task_count', 0)} suspended", busy, one["program"]))  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)
