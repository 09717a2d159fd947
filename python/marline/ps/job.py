# SPDX-License-Identifier: Apache-2.0
"""One process's report as objects, and what moved between two of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANY, NONE = -1, -2  # marline_wait_t of libmarline-mpi: peers and tags
BUSY = 0.1  # of a core: a thread that is not Marline's and uses more of it computes
FUTEX = {"x86": "202", "arm": "98"}


@dataclass(frozen=True)
class Call:
    """A library call that a task or a thread waits in."""

    operation: str
    values: dict[str, int]
    requests_given: tuple[int, ...] = ()  # their ids
    given_count: int = 0  # more than there are ids, if they are many

    def __getattr__(self, name: str) -> int | None:
        return self.__dict__["values"].get(name)

    @property
    def is_mpi(self) -> bool:
        return self.operation.startswith("MPI_")


@dataclass
class Waiter:
    """A suspended task, or a thread that blocks: what `marline ps` has something to say about."""

    rank: int
    id: str  # of the task; "thread N" of a thread
    label: str
    kind: str  # tied, untied, implicit, thread
    wait: str  # kind of the wait: call, event, taskwait, lock, ...
    object: str
    call: Call | None
    parts: list[Call] = field(default_factory=list)  # how the requests began that the call was given
    unknown: int = 0  # of them: it is not known how they began
    parent: str = ""
    taskgroup: str = ""
    children: int = 0
    home: int | None = None
    unfinished: int = 0
    stack: dict[str, Any] = field(default_factory=dict)  # sp and bytes, as reported
    frames: list[str] = field(default_factory=list)  # the task's own, innermost first
    guessed: bool = False

    @property
    def key(self) -> tuple[int, str]:
        return self.rank, self.id

    @property
    def title(self) -> str:
        if self.kind == "thread":
            return self.id
        name = f"task '{self.label}'" if self.label else f"task {self.id[-6:]}"
        return name

    @property
    def call_name(self) -> str:
        return self.call.operation if self.call else self.wait

    @property
    def calls(self) -> list[Call]:
        """What it takes part in: the call that it waits in, or the calls that have begun its requests."""
        return self.parts or ([self.call] if self.call else [])

    @property
    def is_device(self) -> bool:
        return self.call is not None and "device" in self.call.values

    def signature(self) -> tuple[Any, ...]:
        return self.id, self.wait, self.object, str(self.call), self.stack.get("sp")


@dataclass(frozen=True)
class Aside:
    """A device construct: its task has no stack while the device works for it."""

    device: int
    what: str  # that it waits for
    where: str


@dataclass
class Thread:
    number: int
    worker: int | None
    state: str  # runs, idle, barrier, blocked
    ready: int
    suspensions: int
    task: dict[str, Any] | None
    cpu: int  # nanoseconds that it has run so far
    kernel_state: str
    syscall: list[str]
    name: str


@dataclass
class Process:
    rank: int
    pid: int
    host: str
    program: str
    is_mpi: bool
    size: int
    nanoseconds: int
    threads: list[Thread]
    waiters: list[Waiter]
    communicators: dict[int, dict[str, Any]]
    messages: list[dict[str, int]]
    problems: list[str]
    maps: list[str]
    task_count: int
    asides: list[Aside] = field(default_factory=list)
    asides_untold: int = 0
    workers: list[Worker] = field(default_factory=list)  # of a program with devices on nodes
    # Of a node of a cluster: under_way, waiting, copies, bytes, sent (offload/device/cluster/protocol/statistics.hpp).
    cluster: dict[str, int] = field(default_factory=dict)

    def comm_name(self, identity: int | None) -> str:
        known = self.communicators.get(identity or 0)
        if known is None:
            return "an unknown communicator"
        return known["name"] or f"a communicator of {known['size']}"

    def turns(self, call: Call) -> list[int]:
        """The numbers, in the order of the communicator's collectives, of the calls of this operation in progress."""
        known = self.communicators.get(call.comm or 0, {})
        return [one["number"] for one in known.get("collectives", []) if one["operation"] == call.operation]

    def world_rank(self, identity: int | None, peer: int | None) -> int | None:
        """None: not known, or any."""
        known = self.communicators.get(identity or 0)
        if known is None or peer is None or not 0 <= peer < len(known["ranks"]):
            return None
        found = known["ranks"][peer]
        return found if found >= 0 else None


@dataclass
class Kernel:
    """A target region that a worker runs, or that waits there for a thread."""

    where: str
    runs: bool
    age: int  # nanoseconds since it began, or came


@dataclass
class Worker:
    rank: int  # of its program
    number: int  # of the process in the job
    node: str
    pid: int
    device: int = -1  # -1: not known
    process: Process | None = None  # None: it does not answer
    absent: str = ""  # why
    kernels: list[Kernel] = field(default_factory=list)
    left_out: int = 0  # kernels that are not told
    idle: int = 0  # nanoseconds since the last kernel has ended
    sending: dict[str, int] = field(default_factory=dict)  # count, bytes
    arriving: dict[str, int] = field(default_factory=dict)

    def place_of(self, kernel: Kernel) -> tuple[str, int] | None:
        """File and address, where a region of GCC's is told as a place in the program: `app+0x1299`."""
        found = re.search(r" at (\S+)\+0x([0-9a-f]+)$", kernel.where)
        program = self.process.program if self.process else ""
        return (program, int(found[2], 16)) if found and found[1] == Path(program).name else None

    @property
    def title(self) -> str:
        device = f"device {self.device}" if self.device >= 0 else f"worker {self.number}"
        return f"{device} (pid {self.pid} on {self.node})"

    @property
    def running(self) -> list[Kernel]:
        return [one for one in self.kernels if one.runs]

    @property
    def queued(self) -> list[Kernel]:
        return [one for one in self.kernels if not one.runs]


def read(report: dict[str, Any], rank: int) -> Process:
    mpi = report["sections"].get("mpi") or {}
    messages = report["sections"].get("mpi_messages") or {}
    kernel = {one["thread"]: one for one in report["kernel_threads"]}
    problems = [text for text in (report.get("problem"), messages.get("problem")) if text]
    bound = mpi.get("bound", 0)
    if bound:
        problems.append(f"{bound} request{'s' * (bound != 1)} open that a task is bound to, or a callback "
                        "(marline_mpi_iwait)")
    threads = [_thread(one, kernel) for one in report.get("threads", [])]
    known = {thread.number for thread in threads}
    blocked = {one["thread"] for one in report.get("blocked_threads", [])}
    threads += [_foreign(one, number in blocked) for number, one in kernel.items() if number not in known]
    waiters = [_suspended(rank, one) for one in report.get("tasks", [])]
    waiters += [_blocked(rank, one) for one in [*report.get("threads", []), *report.get("blocked_threads", [])]
                if "call" in one]  # fmt: skip
    comms = {one["id"]: one for one in mpi.get("communicators", [])}
    _tell_requests(waiters, report["sections"].get("mpi_requests") or {})
    devices = report["sections"].get("devices") or {}
    asides = [Aside(one["device"], one["what"], one["where"]) for one in devices.get("asides", [])]
    return Process(rank, report["pid"], report["host"], report["program"], bool(mpi), mpi.get("size", 1),
                   report["nanoseconds"], threads, waiters, comms, messages.get("messages", []), problems,
                   report["maps"], report.get("task_count", 0), asides,
                   devices.get("left_out", 0), cluster=report["sections"].get("cluster") or {})  # fmt: skip


def _call(one: dict[str, Any]) -> Call | None:
    values = dict(one.get("call") or {})
    operation = values.pop("operation", None)
    values.pop("record", None)
    ids, count = values.pop("ids", []), values.pop("id_count", 0)
    return Call(operation, values, tuple(ids), count) if operation else None


def _tell_requests(waiters: list[Waiter], section: dict[str, Any]) -> None:
    known = {one["id"]: Call(one["operation"], {name: one[name] for name in ("peer", "tag", "comm", "count")})
             for one in section.get("requests", [])}  # fmt: skip
    for waiter in waiters:
        if waiter.call is None or "complete" not in section:
            continue
        given = [one for one in waiter.call.requests_given if one not in section["complete"]]
        waiter.parts = [known[one] for one in given if one in known]
        untold = waiter.call.given_count - len(waiter.call.requests_given)
        waiter.unknown = len(given) - len(waiter.parts) + untold


def _suspended(rank: int, one: dict[str, Any]) -> Waiter:
    wait = one["wait"]
    call = _call(wait)
    kind = "call" if call else wait["kind"]
    stack = {name: one[name] for name in ("sp", "stack", "block") if name in one}
    return Waiter(rank, one["id"], one.get("label", ""), one["kind"], kind, wait["object"], call,
                  parent=one["parent"], taskgroup=one["taskgroup"], children=one["children"], home=one.get("home"),
                  unfinished=wait.get("unfinished", 0), stack=stack)  # fmt: skip


def _blocked(rank: int, one: dict[str, Any]) -> Waiter:
    task = one.get("task", {})
    return Waiter(rank, f"thread {one['thread']}", task.get("label", ""), "thread", "call", "", _call(one),
                  stack={"scan": True, **{name: one[name] for name in ("sp", "stack") if name in one}})  # fmt: skip


def _kernel(one: dict[str, Any]) -> tuple[int, str, list[str], str]:
    """CPU time, state, system call and name of a thread: see proc(5)."""
    stat, schedstat = one.get("stat", ""), one.get("schedstat", "").split()
    name = stat[stat.find("(") + 1 : stat.rfind(")")]
    rest = stat[stat.rfind(")") + 2 :].split()
    state = rest[0] if rest else "?"
    ticks = _number(rest[11]) + _number(rest[12]) if len(rest) > 12 else 0
    cpu = (_number(schedstat[0]) if schedstat else 0) or ticks * 10_000_000
    return cpu, state, one.get("syscall", "").split(), name


def _number(word: str) -> int:
    """0 where the file could not be read, or its beginning only: a thread's name may have a line break in it."""
    return int(word) if re.fullmatch("[0-9]{1,20}", word) else 0


def _thread(one: dict[str, Any], kernel: dict[int, dict[str, Any]]) -> Thread:
    facts = _kernel(kernel.get(one["thread"], {}))
    return Thread(one["thread"], one["worker"], one["state"], one["ready"], one["suspensions"], one.get("task"), *facts)


def _foreign(one: dict[str, Any], blocked: bool) -> Thread:
    return Thread(one["thread"], None, "blocked" if blocked else "foreign", 0, 0, None, *_kernel(one))


TASKS_ARE_READY = "tasks are ready"


# What moved -----------------------------------------------------------------------------------------------------------


def activity(before: Process, after: Process) -> list[str]:
    """What says that the process goes on by itself; empty where nothing does."""
    then = {thread.number: thread for thread in before.threads}
    elapsed = max(after.nanoseconds - before.nanoseconds, 1)
    found = []
    for thread in after.threads:
        previous = then.get(thread.number)
        used = (thread.cpu - previous.cpu) / elapsed if previous else 1.0
        if thread.state == "runs" and not _waits_for_ever(previous, thread, used):
            found.append(_what_runs(thread))
        elif thread.state == "foreign" and used > BUSY and not thread.name.startswith("marline/"):
            found.append(f"thread {thread.number} ({thread.name}), which Marline does not know, uses {used:.0%} of a "
                         "core")
        if previous and thread.suspensions != previous.suspensions:
            found.append(f"thread {thread.number} suspends and resumes tasks")
    found += [f"{one.title} reads or writes a file ({call.operation})" for one in after.waiters for call in one.calls
              if call.operation.startswith("MPI_File_")]  # fmt: skip
    if {one.signature() for one in before.waiters} != {one.signature() for one in after.waiters}:
        found.append("tasks come and go")
    if any(thread.ready for thread in after.threads) and any(thread.state == "idle" for thread in after.threads):
        found.append(TASKS_ARE_READY)
    return found


def _what_runs(thread: Thread) -> str:
    task = thread.task or {}
    what = (f"task '{task['label']}'" if task.get("label")
            else "the program" if task.get("kind") == "implicit" else "a task")  # fmt: skip
    return f"thread {thread.number} runs {what}"


def _waits_for_ever(before: Thread | None, now: Thread, used: float) -> bool:
    """In a futex without a time limit, as a mutex or a condition variable waits, the whole time: another thread must
    end that."""
    call = now.syscall
    if before is None or used > BUSY / 10 or before.syscall != call or len(call) < 5 or call[0] not in FUTEX.values():
        return False
    return int(call[4], 16) == 0
