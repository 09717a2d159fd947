# SPDX-License-Identifier: Apache-2.0
"""What two looks at a job say together. A rank that runs anything of the program's, or on which anything has moved, is
never called hung, and neither is a job with such a rank."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from marline.ps.job import Process, activity
from marline.ps.matching import Finding, Key, Ranks, explain, unmatched_messages
from marline.ps.workers import document, hung_regions, worker_activity

MOST_CYCLES = 4
ADVICE = {
    "computing": "nothing is wrong that could be seen",
    "idle": "no task waits, and no thread runs the program",
    "waiting": "nothing moves; what the tasks wait for is out of sight",
    "stalled": "nothing moves, although all messages have their partners: MPI is stuck, or nobody calls it",
    "hung": "nothing moves, and nothing can",
}


@dataclass
class Verdict:
    state: str
    reasons: list[str] = field(default_factory=list)
    moving: dict[int, list[str]] = field(default_factory=dict)  # by rank: what goes on there
    findings: dict[Key, Finding] = field(default_factory=dict)
    cycles: list[list[Key]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    absent: dict[int, str] = field(default_factory=dict)  # ranks that do not answer, and why

    @property
    def is_bad(self) -> bool:
        return self.state in ("hung", "stalled", "waiting")


def moving_ranks(before: Ranks, after: Ranks) -> dict[int, list[str]]:
    found = {rank: activity(before[rank], process) + worker_activity(before[rank], process)
             for rank, process in after.items() if rank in before}  # fmt: skip
    return {rank: what for rank, what in found.items() if what}


def judge(before: Ranks, after: Ranks, absent: dict[int, str]) -> Verdict:
    verdict = Verdict("computing", moving=moving_ranks(before, after), findings=explain(after), absent=absent)
    if verdict.moving:
        verdict.reasons = [f"rank {rank}: {what[0]}" for rank, what in verdict.moving.items()][:8]
        verdict.reasons += _who_waits_for_whom(after, verdict)
        return verdict
    open_ones = [finding for finding in verdict.findings.values() if not finding.matched]
    if not verdict.findings:
        verdict.state = "waiting" if any(process.asides for process in after.values()) else "idle"
    elif set(verdict.findings) - _may_go_on(verdict.findings):
        verdict.state = "hung"
    elif any(not finding.definite for finding in open_ones):
        verdict.state = "waiting"
    else:
        verdict.state = "stalled"
    verdict.cycles = cycles(verdict.findings)
    verdict.messages = unmatched_messages(after)
    verdict.reasons = _reasons(after, verdict)
    return verdict


def _may_go_on(findings: dict[Key, Finding]) -> set[Key]:
    """Waiters that are matched, that wait for a process out of sight, or for a waiter that does; and waiters for
    several of which one may go on, as each of the rest is judged by itself."""
    unseen = {key for key, finding in findings.items() if not finding.matched and not finding.definite}
    unseen = _with_those_behind(unseen, {key: one for key, one in findings.items() if not one.matched})
    matched = {key for key, finding in findings.items() if finding.matched}
    return _with_those_behind(unseen | matched, {key: one for key, one in findings.items() if one.needs_all})


def _with_those_behind(some: set[Key], findings: dict[Key, Finding]) -> set[Key]:
    """And the waiters in `findings` that wait for one of them, directly or not."""
    found, more = set(some), set(some)
    while more:
        more = {key for key, finding in findings.items() if not found.isdisjoint(finding.providers)} - found
        found |= more
    return found


def _who_waits_for_whom(ranks: Ranks, verdict: Verdict) -> list[str]:
    """Of ranks that are at rest while others move."""
    lines = []
    for rank in sorted(set(ranks) - set(verdict.moving)):
        wanted = {other for key, finding in verdict.findings.items() if key[0] == rank for other in finding.ranks}
        busy = sorted(wanted & set(verdict.moving))
        if busy:
            lines.append(f"rank {rank} waits for rank {', '.join(map(str, busy))}, which goes on")
    return lines[:8]


def _reasons(ranks: Ranks, verdict: Verdict) -> list[str]:
    lines = [f"cycle: {' -> '.join(name(ranks, key) for key in [*cycle, cycle[0]])}" for cycle in verdict.cycles]
    lines += [f"unmatched: a message of {one['bytes']} bytes from rank {one['from']} with tag {one['tag']} in "
              f"{one['communicator']} has arrived at rank {one['rank']}, and no call that waits takes it"
              for one in verdict.messages]  # fmt: skip
    lines += [f"rank {rank} does not answer: {why}" for rank, why in verdict.absent.items()]
    lines += [line for process in ranks.values() for line in hung_regions(process)][:8]
    return lines


def name(ranks: Ranks, key: Key) -> str:
    waiter = next(one for one in ranks[key[0]].waiters if one.key == key)
    return f"rank {key[0]} {waiter.title}" if len(ranks) > 1 else waiter.title


def cycles(findings: dict[Key, Finding]) -> list[list[Key]]:
    """Shortest ones, each node in one of them only."""
    edges = {key: [other for other in finding.providers if other in findings and not findings[other].matched]
             for key, finding in findings.items() if not finding.matched}  # fmt: skip
    found: list[list[Key]] = []
    used: set[Key] = set()
    for start in edges:
        if start in used or len(found) == MOST_CYCLES:
            continue
        cycle = _shortest_cycle(edges, start)
        if cycle and not used & set(cycle):
            found.append(cycle)
            used.update(cycle)
    return found


def _shortest_cycle(edges: dict[Key, list[Key]], start: Key) -> list[Key]:
    came_from: dict[Key, Key] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in edges.get(node, []):
            if other == start:
                path = [node]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if other not in came_from:
                came_from[other] = node
                queue.append(other)
    return []


def as_document(before: Ranks, after: Ranks, verdict: Verdict) -> dict[str, Any]:
    """For --json."""
    return {
        "state": verdict.state,
        "reasons": verdict.reasons,
        "cycles": [[list(key) for key in cycle] for cycle in verdict.cycles],
        "unmatched": verdict.messages,
        "absent": verdict.absent,
        "ranks": [_rank_document(process, verdict) for process in after.values()],
    }


def _rank_document(process: Process, verdict: Verdict) -> dict[str, Any]:
    return {
        "rank": process.rank, "pid": process.pid, "host": process.host, "program": process.program,
        "moving": verdict.moving.get(process.rank, []),
        "threads": [{"thread": one.number, "state": one.state, "task": one.task} for one in process.threads],
        "problems": process.problems,
        "waiting": [{
            "id": one.id, "label": one.label, "kind": one.kind, "wait": one.wait,
            "operation": one.call.operation if one.call else None, "values": one.call.values if one.call else {},
            "requests": [{"operation": part.operation, "values": part.values} for part in one.parts],
            "stack": one.frames, "guessed": one.guessed, "needs": verdict.findings[one.key].text,
            "matched": verdict.findings[one.key].matched,
            "providers": [list(key) for key in verdict.findings[one.key].providers],
        } for one in process.waiters],
        "asides": [{"device": one.device, "what": one.what, "where": one.where} for one in process.asides],
        "workers": [document(worker) for worker in process.workers],
        "cluster": process.cluster,
    }  # fmt: skip
