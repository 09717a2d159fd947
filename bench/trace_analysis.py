#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast traces are read and analysed: writes a synthetic, valid trace of N records, runs every pass of
marline.trace on it, and prints a table of CPU seconds, records per second and peak memory per stage.

The program traced is a 1-D stencil of tasks on several ranks and threads: in each step every task of a rank depends on
itself and its neighbours of the step before; the first task of each rank sends to the next rank and the last receives,
both blocking, suspended meanwhile. Thread 1 of a rank creates all tasks of a step ahead of it.

    trace_analysis.py [--records N] [--ranks R] [--threads T] [--markdown FILE] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import platform
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(BUILD / "lib" / "marline" / "python"))  # beside the library that the package loads
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from handmade_file import groups, head  # noqa: E402
from marline.study.measure.machine import cpu_model  # noqa: E402
from marline.trace.analysis import Analysis, pass_names  # noqa: E402
from marline.trace.what_if.native_replay import replay  # noqa: E402
from marline.trace.read import reader  # noqa: E402
from marline.trace.allocation import keep_memory  # noqa: E402
from marline.trace.read.container import RECORD, UNIT_BYTES  # noqa: E402
from marline.trace.read.events import CALL_NUMBER, EVENTS, FINGERPRINT  # noqa: E402
from marline.trace.what_if import model  # noqa: E402, F401  registers its pass

COMPLETE, SWITCH = 1, 7  # ompt_task_status_t
IN, INOUT = 1, 3  # ompt_dependence_type_t
EXPLICIT_UNTIED = 0x04 | 0x10 << 8
GRAIN = 1000  # cycles; a counter of one cycle per nanosecond
PER_THREAD = 4  # tasks per thread and step
CREATION = 50  # cycles between two creations
RECORDS_PER_TASK = 5  # creation, three dependences, run
EXTRA_OF_MPI = 5  # enter, exit, and four switches in place of the run
BASE = 10**6


@dataclass
class Records:
    """Records of one thread, in any order until they are written."""

    time: list[np.ndarray] = field(default_factory=list)
    head: list[np.ndarray] = field(default_factory=list)
    low: list[np.ndarray] = field(default_factory=list)
    high: list[np.ndarray] = field(default_factory=list)

    def add(self, name: str, when: np.ndarray, task: np.ndarray, **values: np.ndarray | int) -> None:
        words = [np.zeros(len(when), dtype=np.uint64), np.zeros(len(when), dtype=np.uint64)]
        for key, value in values.items():
            where = EVENTS[name].fields[key]
            bits = np.broadcast_to(np.asarray(value), len(when)).astype(np.int64).view(np.uint64)
            words[where.word] |= (bits & np.uint64((1 << where.bits) - 1)) << np.uint64(where.shift)
        self.time.append(np.asarray(when, dtype=np.uint64))
        self.head.append(np.asarray(task, dtype=np.uint64) << np.uint64(16) | np.uint64(EVENTS[name].number))
        self.low.append(words[0])
        self.high.append(words[1])

    def write(self, file: BinaryIO, process: int, thread: int) -> int:
        """How many units of the file they take."""
        when = np.concatenate(self.time)
        order = np.argsort(when, kind="stable")
        records = np.zeros(len(when), dtype=RECORD)
        records["time"], records["head"] = when[order], np.concatenate(self.head)[order]
        records["payload"][:, 0] = np.concatenate(self.low)[order]
        records["payload"][:, 1] = np.concatenate(self.high)[order]
        return sum(file.write(group) // UNIT_BYTES for group in groups(process, thread, records))


class Stencil:
    """The traced program, from arithmetic alone: when and where each task runs follows from its number."""

    def __init__(self, records: int, ranks: int, threads: int) -> None:
        self.ranks, self.threads = ranks, threads
        self.width = threads * PER_THREAD
        self.steps = max(records // ((RECORDS_PER_TASK * self.width + 2 * EXTRA_OF_MPI) * ranks), 2)
        self.period = self.width * CREATION + (PER_THREAD + 3) * GRAIN
        number = np.arange(self.steps * self.width)
        self.step, self.place = number // self.width, number % self.width
        self.task = np.uint64(1 << 32) + np.uint64(1000) + number.astype(np.uint64)
        # A step is created, then run; a thread runs its tasks one after another.
        self.created = BASE + self.step * self.period + self.place * CREATION + 10
        slot = self.place // threads
        self.thread = self.place % threads + 1
        self.start = BASE + self.step * self.period + self.width * CREATION + slot * (GRAIN + 10) + 20
        jitter = (number * 2654435761 % 401).astype(np.int64)
        self.end = self.start + GRAIN - jitter

    def implicit(self, thread: int) -> int:
        return thread << 32 | 1

    def rank(self, rank: int) -> list[Records]:
        streams = [Records() for _ in range(self.threads)]
        last = BASE + (self.steps + 1) * self.period
        for thread, stream in enumerate(streams, 1):
            task = np.array([self.implicit(thread)])
            stream.add("implicit_begin", np.array([BASE - 100]), task, index=thread - 1, size=self.threads)
            stream.add("implicit_end", np.array([last]), task)
        self._create(streams[0])
        # The last place of each step receives from the rank before, the first sends to the next one.
        talks = (self.place == 0) | (self.place == self.width - 1)
        for thread, stream in enumerate(streams, 1):
            mine = np.flatnonzero((self.thread == thread) & ~talks)
            stream.add("task_run", self.end[mine], self.task[mine], start=self.start[mine], outer=self.implicit(thread))
            self._talk(stream, np.flatnonzero((self.thread == thread) & talks), thread, rank)
        return streams

    def _create(self, producer: Records) -> None:
        producer.add("task_create", self.created, self.task, code=0x401000 + self.place % 2, parent=self.implicit(1),
                     flags=EXPLICIT_UNTIED, mantissa=np.where(self.place % 8 == 3, CREATION - 10, 0))  # fmt: skip
        for offset, kind in ((0, INOUT), (-1, IN), (1, IN)):
            # Two buffers, so that a step reads what the one before wrote.
            address = 0x10000 + 16 * ((self.place + offset) % self.width) + 8 * ((self.step + (offset != 0)) % 2)
            producer.add("dependence", self.created + 5 + offset, self.task, address=address, type=kind)

    def _talk(self, stream: Records, mine: np.ndarray, thread: int, rank: int) -> None:
        """Blocking calls: the task leaves its thread soon and comes back for its end."""
        task, start, end = self.task[mine], self.start[mine], self.end[mine]
        sends = self.place[mine] == 0
        peer = np.where(sends, (rank + 1) % self.ranks, (rank - 1) % self.ranks)
        call = np.where(sends, CALL_NUMBER["MPI_Send"], CALL_NUMBER["MPI_Recv"])
        what = {"peer": peer, "tag": self.step[mine] % 1000, "bytes": 8192, "comm": 1, "call": call}
        outer = self.implicit(thread)
        stream.add("task_schedule", start, np.full(len(mine), outer), next=task, status=SWITCH)
        stream.add("mpi_enter", start + 50, task, **what)
        stream.add("task_schedule", start + 100, task, next=outer, status=SWITCH)
        stream.add("task_schedule", end - 100, np.full(len(mine), outer), next=task, status=SWITCH)
        stream.add("mpi_exit", end - 50, task, **what)
        stream.add("task_schedule", end, task, next=outer, status=COMPLETE)

    def write(self, folder: Path) -> None:
        units = 0
        with (folder / "node.mtr").open("wb") as file:
            file.write(head(0))
            for rank in range(self.ranks):
                (folder / f"rank{rank:04}.json").write_text(json.dumps(self._description(rank)))
                for thread, stream in enumerate(self.rank(rank), 1):
                    units += stream.write(file, rank + 1, thread)
            file.seek(0)
            file.write(head(units, self.ranks))

    def _description(self, rank: int) -> dict[str, Any]:
        return {
            "format": reader.FORMAT, "rank": rank, "size": self.ranks, "file": "node.mtr", "process": rank + 1,
            "boot_id": "one", "clock_samples": [], "maps": [], "fingerprint": f"{FINGERPRINT:016x}",
            "clock_begin": {"cycles": 0, "monotonic_ns": 0}, "clock_end": {"cycles": 10**9, "monotonic_ns": 10**9},
        }  # fmt: skip


@dataclass
class Stage:
    """`kernel`: seconds of `seconds` that the kernel had, most of it for pages of new memory."""

    name: str
    seconds: float
    kernel: float
    peak_mib: float


class Clock:
    """CPU time, from its making on or from the last stage on."""

    def __init__(self) -> None:
        self.used = os.times()

    def stage(self, name: str) -> Stage:
        before, self.used = self.used, os.times()
        kernel = self.used.system - before.system
        return Stage(name, self.used.user - before.user + kernel, kernel, peak_mib())


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path) -> tuple[int, list[Stage], str]:
    """Reads and runs every pass, each charged only with its own time; then replays the run in the model of
    `--what-if`, and says how fast that is."""
    clock = Clock()
    trace = reader.read_trace(folder)
    stages = [clock.stage("read")]
    running = ""

    def progress(name: str, done: int, total: int) -> None:
        nonlocal running
        if running:
            stages.append(clock.stage(running))
        running = name if done < total else ""
        clock.used = os.times()

    of = Analysis(trace, progress)
    for name in pass_names():
        of[name]
    program = of["scheduler_model"].program
    clock.used = os.times()
    left = replay(program).unfinished
    stages.append(clock.stage("replay"))
    assert not left, f"{left} tasks of the replay never end"
    rate = len(of["tasks"].id) / max(stages[-1].seconds - stages[-1].kernel, 0.01)
    return len(trace.time), stages, f"a replay of {rate:,.0f} tasks/s of CPU time without the kernel's"


def new_memory_seconds() -> float:
    """CPU seconds until a GiB of new memory is there. A virtual machine may have to ask its host for each page."""
    size = 1 << 30
    with mmap.mmap(-1, size) as memory:
        begin = time.process_time()
        for at in range(0, size, mmap.PAGESIZE):
            memory[at] = 1
        return time.process_time() - begin


def table(records: int, stages: list[Stage]) -> list[str]:
    seconds, kernel = sum(stage.seconds for stage in stages), sum(stage.kernel for stage in stages)
    heads = ("stage", "CPU seconds", "of these the kernel's", "records/s", "peak memory, MiB")
    lines = [f"| {' | '.join(heads)} |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for stage in [*stages, Stage("**all**", seconds, kernel, max(stage.peak_mib for stage in stages))]:
        rate = records / stage.seconds if stage.seconds else float("inf")
        times = f"{stage.seconds:.2f} | {stage.kernel:.2f}"
        lines.append(f"| {stage.name} | {times} | {rate:,.0f} | {stage.peak_mib:,.0f} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the reading and the analysis of a synthetic trace.")
    parser.add_argument("--records", type=int, default=10**7)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the trace there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        # In a process of its own: what writing needed is not counted as the reader's memory.
        import multiprocessing

        writer = multiprocessing.get_context("fork").Process(
            target=Stencil(options.records, options.ranks, options.threads).write, args=(folder,))  # fmt: skip
        writer.start()
        writer.join()
        if writer.exitcode != 0:
            return 1
        keep_memory()  # as `marline report` does
        records, stages, replayed = measure(folder)
    lines = [f"{records:,} records, {options.ranks} ranks of {options.threads} threads; {replayed}.",
             f"{cpu_model()}, Linux {platform.release()}; a GiB of new memory takes {new_memory_seconds():.2f} s here, "
             "most of it the kernel's.", "", *table(records, stages)]  # fmt: skip
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
