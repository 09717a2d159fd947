# SPDX-License-Identifier: Apache-2.0
"""What a trace lacks, in sentences for the user: what was cut off, was not recorded, or had not ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...units import plural
from ..model import SWITCH, lane_number, recording_gaps
from ..read.columns import distinct, group_starts
from ..registry import Analysis, analysis_pass


_MOST_KINDS = 4  # that are named
_exactly = partial(plural, exact=True)


@dataclass
class Integrity:
    """`incomplete` is empty for a trace of a whole run."""

    incomplete: list[str]

    def document(self) -> dict[str, list[str]]:
        return {"incomplete": self.incomplete}


@analysis_pass("integrity", needs=("tasks", "calls", "kinds"))
def integrity(of: Analysis) -> Integrity:
    """Looks everywhere."""
    trace = of.trace
    return Integrity([*_ring(of), *trace.cut, *trace.notes, *_skipped(of), *_ranks(of), *_recording(of), *_tasks(of),
                      *_calls(of)])  # fmt: skip


def _ring(of: Analysis) -> list[str]:
    """From when to when, and which tasks had begun."""
    trace = of.trace
    if not trace.began:
        return []
    kinds = of["kinds"]
    of_task = kinds.of_task[of["tasks"].index(trace.began_before)]
    counts = np.bincount(of_task, minlength=len(kinds.names))
    # Rare kinds first: they live long, while the others are the work that was at hand.
    names = [f"{kinds.names[kind]} ({counts[kind]})" for kind in np.argsort(counts, kind="stable") if counts[kind]]
    some = ", ".join(names[:_MOST_KINDS]) + (", ..." if len(names) > _MOST_KINDS else "")
    began, end = trace.began / 1e9, (trace.began + int(trace.time.max())) / 1e9
    line = f"a ring (MARLINE_TRACE_RING) keeps the end: recorded is from {began:.3f} s to {end:.3f} s of the run"
    before = f"; created before: {_exactly(len(of_task), 'task')}, {some}" if len(of_task) else ""
    return [line + before]


def _skipped(of: Analysis) -> list[str]:
    skipped = of.trace.skipped
    names = ", ".join(f"{name} ({count})" for name, count in sorted(skipped.items()))
    records = _exactly(sum(skipped.values()), "record")
    return [f"{records} of events that this version of Marline does not know, skipped: {names}"] if skipped else []


def _ranks(of: Analysis) -> list[str]:
    size = max(int(metadata["size"]) for metadata in of.trace.ranks.values())
    missing = sorted(set(range(size)) - set(of.trace.ranks))
    left_out = of.trace.left_out()
    silent = sorted(set(of.trace.ranks) - set(of.trace.rank[group_starts(of.trace.rank)].tolist()) - set(left_out))
    found = [f"{_exactly(len(missing), 'rank')} of {size} left no trace: {_some(missing)}"] if missing else []
    elsewhere = [rank for rank in left_out if of.trace.ranks[rank].get("elsewhere")]
    # A wait for a rank without records has no cause, so figures over all ranks are figures of the recorded ones.
    for number, why in ((len(left_out) - len(elsewhere), "not recorded (MARLINE_TRACE_RANKS)"),
                        (len(elsewhere), "on other nodes, not read (--here)")):  # fmt: skip
        if number:
            found.append(f"{_exactly(number, 'rank')} of {len(of.trace.ranks)} {why}: figures are of the others; "
                         "messages to and from such ranks are in none")  # fmt: skip
    return found + ([f"{_exactly(len(silent), 'rank')} left no records: {_some(silent)}"] if silent else [])


def _recording(of: Analysis) -> list[str]:
    gaps = recording_gaps(of.trace)
    if not len(gaps.start):
        return []
    threads = len(distinct(lane_number(gaps.rank, gaps.thread)))
    return [f"recording was off for {int((gaps.end - gaps.start).sum()) / 1e6:.3f} ms, summed over {threads} thread(s)"]


def _tasks(of: Analysis) -> list[str]:
    trace, tasks = of.trace, of["tasks"]
    schedule, runs = trace.select("task_schedule"), trace.select("task_run")
    # Only an explicit task completes: statuses other than a switch tell it from an implicit one.
    ended = schedule[trace.field("task_schedule", "status", schedule) != SWITCH]
    ran = distinct(np.concatenate([trace.task[ended], trace.task[runs]]))
    strange = ran[(tasks.index(ran) < 0) & ((ran & np.uint64((1 << 32) - 1)) != 0)]
    found = []
    if len(strange):
        found.append(f"{_exactly(len(strange), 'task')} ran whose creation is not in the trace: records are missing")
    late = int(np.count_nonzero((tasks.parent == 0) & (tasks.code == 0)))
    if late:
        found.append(f"{_exactly(late, 'task')} became known after creation: dependences and ready times are not known")
    unfinished = int(np.count_nonzero(tasks.end < 0))
    if unfinished:
        found.append(f"{_exactly(unfinished, 'task')} of {len(tasks.id)} had not completed when the trace ended")
    return found


def _calls(of: Analysis) -> list[str]:
    inside = int(np.count_nonzero(~of["calls"].returned))
    return [f"{_exactly(inside, 'MPI call')} had not returned when the trace ended"] if inside else []


def _some(numbers: list[int], most: int = 8) -> str:
    return ", ".join(map(str, numbers[:most])) + (", ..." if len(numbers) > most else "")
