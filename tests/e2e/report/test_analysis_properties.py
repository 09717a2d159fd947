# SPDX-License-Identifier: Apache-2.0
"""Properties of the analysis of any valid trace. The traces come from a small runtime that hypothesis drives: threads
take ready tasks, run them in pieces, wait for children, suspend them in MPI and resume them anywhere; the same events
are also counted one by one here, the slow way, and both must agree.
"""
from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handmade import COMPLETE, SWITCH, UNDEFERRED, UNTIED, Stream, save  # first: it finds marline
from marline.report.metrics import DETAILS, FURTHER
from marline.trace.analysis import Analysis
from marline.trace.passes.thread_time.causes import NUMBER, OF_PART
from marline.trace.read.container import UNIT_BYTES
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import TraceError, read_trace

BASE = 1000
BARRIER = 2
ADDRESSES = (0x10, 0x20, 0x30)
RECEIVE = {"peer": 0, "tag": 1, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}


@dataclass
class Task:
    id: int
    created: int
    needs: set[int]
    start: int = -1
    end: int = -1
    pieces: list[tuple[int, int]] = field(default_factory=list)  # on a thread, in its body
    held: list[tuple[int, int]] = field(default_factory=list)  # of these, in MPI
    late: list[tuple[int, int]] = field(default_factory=list)  # suspended, and could have gone on

    def is_in(self, pieces: list[tuple[int, int]], now: int) -> bool:
        return any(begin <= now < end for begin, end in pieces)


@dataclass
class Runtime:
    """One rank. Time passes by one for every event, and by what hypothesis adds."""

    threads: int
    streams: list[Stream] = field(default_factory=list)
    tasks: dict[int, Task] = field(default_factory=dict)
    suspended: list[int] = field(default_factory=list)
    could_go_on: dict[int, int] = field(default_factory=dict)  # suspended task -> since when
    on: dict[int, int] = field(default_factory=dict)  # thread -> task
    writers: dict[int, int] = field(default_factory=dict)
    began: dict[int, int] = field(default_factory=dict)  # task -> start of its current piece
    time: int = BASE

    def __post_init__(self) -> None:
        for thread in range(1, self.threads + 1):
            self.streams.append(Stream(thread).add(self.tick(), "implicit_begin", self.implicit(thread), size=1))
        for thread in range(2, self.threads + 1):
            self.streams[thread - 1].add(self.tick(), "wait_begin", self.implicit(thread), kind=BARRIER)

    @staticmethod
    def implicit(thread: int) -> int:
        return thread << 32 | 1

    def tick(self) -> int:
        self.time += 1
        return self.time

    def create(self, addresses: list[int], undeferred: bool) -> None:
        id, now = 1 << 32 | 100 + len(self.tasks), self.tick()
        task = Task(id, now, {self.writers[a] for a in addresses if a in self.writers})
        flags = 4 | UNDEFERRED * undeferred | UNTIED  # any thread can go on with it
        self.streams[0].add(now, "task_create", id, parent=self.implicit(1), flags=flags, code=1)
        for address in addresses:
            self.streams[0].add(now, "dependence", id, type=3, address=address)
            self.writers[address] = id
        self.tasks[id] = task

    def ready(self) -> list[int]:
        return [one.id for one in self.tasks.values()
                if one.start < 0 and all(self.tasks[need].end >= 0 for need in one.needs)]  # fmt: skip

    def switch(self, thread: int, task: int, status: int, into: bool) -> None:
        now, implicit = self.tick(), self.implicit(thread)
        prior, following = (implicit, task) if into else (task, implicit)
        self.streams[thread - 1].add(now, "task_schedule", prior, next=following, status=status)
        if into:
            self.on[thread], self.began[task] = task, now
            if self.tasks[task].start < 0:
                self.tasks[task].start = now
        else:
            del self.on[thread]
            self.tasks[task].pieces.append((self.began[task], now))

    def step(self, choice: int, thread: int) -> None:
        """One thing that `thread` can do now."""
        stream = self.streams[thread - 1]
        if thread in self.on:
            task = self.on[thread]
            if choice % 3 == 0 and task not in self.suspended:
                stream.add(entered := self.tick(), "mpi_enter", task, **RECEIVE)
                self.switch(thread, task, SWITCH, into=False)
                self.tasks[task].held.append((entered, self.time))
                self.suspended.append(task)
            else:
                self.switch(thread, task, COMPLETE, into=False)
                self.tasks[task].end = self.time
        elif self.suspended and choice % 2 == 0:
            task = self.suspended.pop(choice % len(self.suspended))
            self.switch(thread, task, SWITCH, into=True)
            if task in self.could_go_on:
                self.tasks[task].late.append((self.could_go_on.pop(task), self.time))
            stream.add(self.tick(), "mpi_exit", task, **RECEIVE)
            self.tasks[task].held.append((self.began[task], self.time))
        elif choice % 4 == 1 and (waiting := [one for one in self.suspended if one not in self.could_go_on]):
            self.could_go_on[waiting[0]] = self.tick()
            stream.add(self.time, "task_ready", waiting[0], by=self.implicit(thread))
        elif ready := self.ready():
            self.switch(thread, ready[choice % len(ready)], SWITCH, into=True)

    def finish(self) -> None:
        for thread, stream in enumerate(self.streams, 1):
            stream.add(self.tick(), "implicit_end", self.implicit(thread))


ACTION = st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 11), st.integers(0, 40),
                   st.lists(st.sampled_from(ADDRESSES), max_size=2, unique=True))  # fmt: skip


# Left to itself, hypothesis draws short lists: of 60 runs, none had a task that ended after one that it depends on.
LITTLE, MUCH = (st.lists(ACTION, min_size=least, max_size=60) for least in (1, 30))


@st.composite
def runtimes(draw: st.DrawFn) -> Runtime:
    threads = draw(st.integers(1, 3))
    runtime = Runtime(threads)
    for kind, thread, choice, pause, addresses in draw(LITTLE | MUCH):
        runtime.time += pause
        if kind == 0 and 1 not in runtime.on:
            runtime.create(addresses, undeferred=choice == 0)
        else:
            runtime.step(choice, (thread - 1) % threads + 1)
    runtime.finish()
    return runtime


def analysed(ranks: list[Runtime], windows: int = 3) -> Analysis:
    with tempfile.TemporaryDirectory() as name:
        for rank, runtime in enumerate(ranks):
            save(Path(name), runtime.streams, rank)
        return Analysis(read_trace(name), windows=windows)


bounded = settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded
@given(st.lists(runtimes(), min_size=1, max_size=2), st.integers(1, 7))
def test_work_and_overhead_and_idle_time_make_up_the_whole(ranks: list[Runtime], windows: int) -> None:
    found = analysed(ranks, windows)["breakdown"]
    assert np.all(found.time >= 0)
    assert np.all(found.time.sum(axis=2) == np.diff(found.edges))
    for row in found.document()["ranks"]:
        assert row["work_ns"] + row["overhead_ns"] + row["idle_ns"] == row["threads"] * row["makespan_ns"]


@bounded
@given(runtimes())
def test_nothing_overlaps_on_one_thread(runtime: Runtime) -> None:
    runs = analysed([runtime])["segments"]
    for thread in np.unique(runs.thread):
        mine = np.flatnonzero(runs.thread == thread)
        mine = mine[np.argsort(runs.start[mine])]
        assert np.all(runs.start[mine][1:] >= runs.end[mine][:-1])


@bounded
@given(runtimes())
def test_tasks_are_what_happened(runtime: Runtime) -> None:
    """Every scheduled task was created; times and running time as counted."""
    of = analysed([runtime])
    tasks, origin = of["tasks"], BASE + 1
    assert tasks.id.tolist() == sorted(runtime.tasks)
    for row, id in enumerate(tasks.id.tolist()):
        told = runtime.tasks[id]
        assert tasks.created[row] == told.created - origin
        assert tasks.start[row] == (told.start - origin if told.start >= 0 else -1)
        assert tasks.end[row] == (told.end - origin if told.end >= 0 else -1)
        if told.end >= 0:
            assert tasks.running[row] == sum(end - start for start, end in told.pieces)
    schedule = of.trace.select("task_schedule")
    named = of.trace.field("task_schedule", "next", schedule)
    assert {int(one) for one in named if int(one) & 0xFFFFFFFF != 1} <= set(runtime.tasks)


def reference(runtime: Runtime) -> dict[str, int]:
    """Work, and time with a task ready, nanosecond by nanosecond."""
    ran = [task for task in runtime.tasks.values() if task.start >= 0]
    last_record = {thread: stream.records[-1][0] for thread, stream in enumerate(runtime.streams, 1)}
    open_until = {task: last_record[thread] for thread, task in runtime.on.items()}
    begin = min(task.start for task in ran)
    end = max([task.end for task in ran] + [piece[1] for task in ran for piece in task.pieces]
              + list(open_until.values()) + [task.start for task in ran])  # fmt: skip
    for task, until in open_until.items():
        runtime.tasks[task].pieces.append((runtime.began[task], until))
    for task, since in runtime.could_go_on.items():  # it never did
        runtime.tasks[task].late.append((since, end))
    work = sum(end - begin for task in ran for begin, end in task.pieces)
    work -= sum(end - begin for task in ran for begin, end in task.held)
    undeferred = {task for stream in runtime.streams for _, head, words in stream.records
                  for task in [head >> 16] if head & 0xFFFF == 10 and words[0] >> 48 & UNDEFERRED}  # fmt: skip
    overhead = 0
    for now in range(begin, end):
        ready = any(
            task.id not in undeferred and task.created <= now and (task.start < 0 or task.start > now)
            and all(0 <= runtime.tasks[need].end <= now for need in task.needs)
            or task.is_in(task.late, now)
            for task in runtime.tasks.values()
        )  # fmt: skip
        if ready:
            working = sum(task.is_in(task.pieces, now) and not task.is_in(task.held, now) for task in ran)
            overhead += runtime.threads - working
    total = runtime.threads * (end - begin)
    return {"work": work, "overhead": overhead, "idle": total - work - overhead}


@bounded
@given(runtimes())
def test_breakdown_is_what_counting_by_hand_gives(runtime: Runtime) -> None:
    if not any(task.start >= 0 for task in runtime.tasks.values()):
        return
    found = analysed([runtime])["breakdown"]
    sums = found.time.sum(axis=(0, 1))
    assert {part: int(sums[numbers].sum()) for part, numbers in OF_PART.items()} == reference(runtime)
    assert sums[NUMBER["idle_unrecorded"]] == sums[NUMBER["idle_ranks"]] == 0


@bounded
@given(runtimes())
def test_edges_and_ready_times(runtime: Runtime) -> None:
    of = analysed([runtime])
    tasks, edges, readiness = of["tasks"], of["edges"], of["readiness"]
    found = {(int(tasks.id[a]), int(tasks.id[b])) for a, b in zip(edges.source, edges.sink)}
    assert found == {(need, task.id) for task in runtime.tasks.values() for need in task.needs}
    started = tasks.start >= 0
    assert np.all(readiness.time[started] <= tasks.start[started])
    assert np.all(readiness.time >= tasks.created)


def analyse_or_refuse(folder: Path) -> None:
    try:
        of = Analysis(read_trace(folder))
    except TraceError as error:
        assert len(str(error).splitlines()) == 1
        return
    assert np.all(of["breakdown"].time.sum(axis=2) == np.diff(of["breakdown"].edges))
    for name in ("graph", "discovery", "communication", "regions", "worksharing", "integrity", *FURTHER, *DETAILS):
        of.document(name)


@bounded
@given(runtimes(), st.data())
def test_any_damaged_file_is_read_or_refused_in_one_line(runtime: Runtime, data: st.DataObject) -> None:
    """Some bytes of one file have other values: the sums still hold, or one line says what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = save(Path(name), runtime.streams)
        file = folder / "rank0000.mtr"
        content = bytearray(file.read_bytes())
        used = [at for begin in range(0, len(content), UNIT_BYTES)
                for at in range(begin, begin + len(content[begin : begin + UNIT_BYTES].rstrip(b"\0")))]  # fmt: skip
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.sampled_from(used))] = data.draw(st.integers(0, 255))
        file.write_bytes(content)
        analyse_or_refuse(folder)


@bounded
@given(runtimes(), st.integers(0, 2000), st.integers(0, 3))
def test_any_truncated_file_is_read_or_refused_in_one_line(runtime: Runtime, cut: int, unit: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = save(Path(name), runtime.streams)
        file = folder / "rank0000.mtr"
        file.write_bytes(file.read_bytes()[: unit * UNIT_BYTES + cut])
        analyse_or_refuse(folder)


class Reference:
    """The longest path without MPI, by recursion over what happened. Before the first task's start nothing counts."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.undeferred = {head >> 16 for stream in runtime.streams for _, head, words in stream.records
                           if head & 0xFFFF == 10 and words[0] >> 48 & UNDEFERRED}  # fmt: skip
        self.begin = min(task.start for task in runtime.tasks.values() if task.start >= 0)
        # When thread 1 ran no task, but the code that creates them.
        switches = [(time, head & 0xFFFF == 11 and head >> 16 == runtime.implicit(1))
                    for time, head, _ in runtime.streams[0].records if head & 0xFFFF == 11]  # fmt: skip
        edges = [self.begin, *(time for time, _ in switches if time > self.begin), runtime.streams[0].records[-1][0]]
        away = runtime.tasks and any(time == self.begin and leaves for time, leaves in switches)
        self.creating = [pair for number, pair in enumerate(zip(edges, edges[1:])) if number % 2 == bool(away)]
        self.known: dict[int, int] = {}

    def created(self, since: int, until: int) -> int:
        return sum(max(0, min(end, until) - max(start, since)) for start, end in self.creating)

    def creator(self, until: int) -> int:
        """The longest path to the creator's code at a time."""
        inline = [one for one in self.undeferred if 0 <= self.runtime.tasks[one].end <= until]
        after = [self.finish(one) + self.created(self.runtime.tasks[one].end, until) for one in inline]
        return max([self.created(self.begin, until), *after])

    def finish(self, id: int) -> int:
        if id not in self.known:
            task = self.runtime.tasks[id]
            own = sum(end - start for start, end in task.pieces) - sum(end - start for start, end in task.held)
            self.known[id] = own + max([self.creator(task.created)] + [self.finish(need) for need in task.needs])
        return self.known[id]


@bounded
@given(runtimes())
def test_longest_path_is_what_recursion_gives(runtime: Runtime) -> None:
    if not any(task.start >= 0 for task in runtime.tasks.values()):
        return
    for task in runtime.on.values():  # to the end of its thread's records
        thread = next(number for number, one in runtime.on.items() if one == task)
        runtime.tasks[task].pieces.append((runtime.began[task], runtime.streams[thread - 1].records[-1][0]))
    of = analysed([runtime])
    slow = Reference(runtime)
    end = int(of["breakdown"].edges[-1]) + BASE + 1
    found, tasks = of["critical_path"], of["tasks"]
    expected = [slow.finish(id) if runtime.tasks[id].end >= 0 else -1 for id in tasks.id.tolist()]
    assert found.soonest.tolist() == expected
    assert found.span >= max([*expected, slow.creator(end)])
    assert of["global_graph"].backwards == 0


@bounded
@given(st.lists(runtimes(), min_size=1, max_size=2))
def test_bounds_of_any_run(ranks: list[Runtime]) -> None:
    of = analysed(ranks)
    found = of["critical_path"]
    assert 0 <= found.span <= found.path_length <= found.makespan
    assert found.least <= found.makespan
    assert sum(row["total_ns"] for row in found.document()["chain"]) == found.makespan
    assert sum(row["total_ns"] for row in found.document()["path"]) == found.path_length
    assert np.all(found.slack >= -1) and np.all(found.slack <= found.path_length)
    work = sum(piece[1] - piece[0] for rank in ranks for task in rank.tasks.values() if task.end >= 0
               for piece in task.pieces)  # fmt: skip
    held = sum(piece[1] - piece[0] for rank in ranks for task in rank.tasks.values() if task.end >= 0
               for piece in task.held)  # fmt: skip
    assert found.work >= work - held
