# SPDX-License-Identifier: Apache-2.0
"""Asks processes for their reports (docs/design/inspection.md): processes of this machine at their local sockets,
processes of other nodes through the relay of their rank."""

from __future__ import annotations

import os
import re
import socket
import struct
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from marline.errors import Refusal
from marline.ps import launched
from marline.ps.answers import SECONDS, NoAnswer, Report, parse, receive

PATIENCE = 120.0  # seconds for all processes of one look
SECONDS_AGAIN = 1.0  # of silence, for processes that did not answer last time: the command asks several times
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Door:
    """How to reach one process: at its local socket, or (`host`) through a relay: its own, or another process's of its
    machine."""

    pid: int
    host: str = ""
    port: int = 0
    secret: str = ""


@dataclass(frozen=True)
class Request:
    stack_bytes: int = 0
    stacks: int = 0
    sections: tuple[str, ...] = ("mpi",)

    def line(self, pid: int) -> bytes:
        """`pid`: for a relay, which asks this process; other processes take no notice."""
        names = "".join(f"{name}," for name in self.sections)
        return f"process={pid} stack={self.stack_bytes} stacks={self.stacks} sections={names}\n".encode()


_silent: set[Door] = set()  # that did not answer when they were asked the last time


def local_processes() -> list[int]:
    """Process numbers of Marline's doors on this machine."""
    listing = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    return sorted({int(pid) for pid in re.findall(r" @marline/([1-9]\d{0,9})$", listing, re.MULTILINE)})


def ask(door: Door, request: Request, until: float | None = None) -> Report:
    """`until`: in time.monotonic(), when whoever asks has no more patience."""
    until = time.monotonic() + PATIENCE if until is None else until
    if time.monotonic() >= until:
        raise NoAnswer(f"it was not asked: others have taken {PATIENCE:g} s")
    silence = SECONDS_AGAIN if door in _silent else SECONDS
    try:
        with _connect(door, silence) as connection:
            connection.sendall(request.line(door.pid))
            report = parse(receive(connection, until, silence))
    except TimeoutError as error:
        _silent.add(door)
        raise NoAnswer(f"no answer in {SECONDS:g} s: is it stopped?") from error
    except OSError as error:
        raise NoAnswer(error.strerror or str(error)) from error
    _silent.discard(door)
    if report["pid"] != door.pid:
        raise NoAnswer(f"its report is that of a process {report['pid']}")
    return report


def ask_all(doors: dict[Key, Door], request: Request) -> dict[Key, Report | NoAnswer]:
    """By rank, or whatever the keys are, all at the same time."""
    until = time.monotonic() + PATIENCE

    def ask_one(door: Door) -> Report | NoAnswer:
        try:
            return ask(door, request, until)
        except NoAnswer as reason:
            return reason

    if not doors:
        return {}
    with ThreadPoolExecutor(max_workers=min(64, len(doors))) as pool:
        return dict(zip(doors, pool.map(ask_one, doors.values())))


def doors_of_job(pid: int) -> dict[int, Door]:
    """All ranks of the job that the process of this machine belongs to or works for; the process alone where it
    is no rank."""
    request = Request(sections=("mpi", "mpi_peers", "nodes"))
    serving = serving_process(pid)
    door = Door(serving)
    try:
        first = ask(door, request)
        nodes = first["sections"].get("nodes") or {}
        if nodes.get("number") and nodes.get("processes"):  # a worker, which names its program
            door = door_from(door, nodes["processes"][0])
            first = ask(door, request)
    except NoAnswer as reason:
        raise Refusal(f"process {serving} does not tell what it does ({reason}): it must run on Marline, as this user, "
                      "without MARLINE_INSPECT=false") from reason  # fmt: skip
    return {0: door} if door.host else doors_from(first)


def serving_process(pid: int) -> int:
    """The process itself, or the first of those that it has started, as `marline run`, mpirun and srun do."""
    serving = local_processes()
    if pid in serving:
        return pid
    if not launched.exists(pid):
        raise Refusal(f"there is no process {pid} on this machine; `marline ps` lists those that run on Marline")
    below = launched.started_by(pid, serving)
    if not below:
        raise Refusal(f"process {pid} ({launched.name_of(pid)}) does not run on Marline, and has started no process "
                      "that does, or these have MARLINE_INSPECT=false; `marline ps` lists those that do")  # fmt: skip
    jobs = _jobs_of(below)
    if len(jobs) > 1:
        raise Refusal(f"below process {pid} ({launched.name_of(pid)}) run {len(jobs)} programs on Marline: name one of "
                      f"{', '.join(str(one) for one in sorted(jobs.values()))}")  # fmt: skip
    return below[0]


def _jobs_of(pids: list[int]) -> dict[Hashable, int]:
    """The jobs that the processes are ranks or workers of, each with its first process here."""
    answers = ask_all({pid: Door(pid) for pid in pids}, Request(sections=("mpi", "mpi_peers", "nodes")))
    jobs: dict[int, Hashable] = {}  # of each process that answers
    programs: dict[int, int] = {}  # of each worker
    for pid, answer in answers.items():
        if isinstance(answer, NoAnswer):
            continue
        nodes = answer["sections"].get("nodes") or {}
        peers = answer["sections"].get("mpi_peers")
        if nodes.get("number") and nodes.get("processes"):
            programs[pid] = nodes["processes"][0]["pid"]
        else:
            jobs[pid] = frozenset((one["host"], one["pid"]) for one in peers["ranks"]) if peers else pid
    found: dict[Hashable, int] = {}
    for pid in sorted({*jobs, *programs}):
        found.setdefault(jobs.get(pid, jobs.get(programs.get(pid, pid), programs.get(pid))), pid)
    return found


def door_from(door: Door, process: dict[str, Any]) -> Door:
    """To a process that the process at `door` names: the same way, if both are on one machine, else its own."""
    if process["here"]:
        return replace(door, pid=process["pid"])
    return Door(process["pid"], process.get("host", process["node"]), process.get("port", 0), process.get("secret", ""))


def doors_from(report: Report) -> dict[int, Door]:
    peers = report["sections"].get("mpi_peers")
    if not peers:
        return {0: Door(report["pid"])}
    here = report["host"]
    return {rank: Door(peer["pid"]) if peer["host"] == here
            else Door(peer["pid"], peer["host"], peer["port"], peers["secret"])
            for rank, peer in enumerate(peers["ranks"])}  # fmt: skip


def _connect(door: Door, seconds: float) -> socket.socket:
    if door.host:
        if not door.port:
            raise NoAnswer(f"no relay on {door.host}")
        connection = socket.create_connection((door.host, door.port), timeout=seconds)
        connection.sendall(door.secret.encode())
        return connection
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(seconds)
    try:
        connection.connect(f"\0marline/{door.pid}")
        _check_owner(connection, door.pid)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_owner(connection: socket.socket, pid: int) -> None:
    """Names of sockets are free to take: the kernel says which process listens, and as which user."""
    ucred = struct.Struct("iII")
    listener, uid, _ = ucred.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, ucred.size))
    if listener != pid:
        raise NoAnswer(f"the socket of process {pid} is that of process {listener}, of user {uid}")
    if uid not in (os.geteuid(), *_user_of(pid)):
        raise NoAnswer(f"the socket of process {pid} was opened by user {uid}, whose process it is not")
    if os.geteuid() not in (0, uid):
        raise NoAnswer(f"process {pid} is that of user {uid}")


def _user_of(pid: int) -> list[int]:
    """Its real and effective user; none: it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = re.search(r"^Uid:\s+(\d+)\s+(\d+)", status, re.MULTILINE)
    return [int(found[1]), int(found[2])] if found else []


def local_reports() -> Iterator[Report]:
    """Of the processes that answer."""
    answers = ask_all({pid: Door(pid) for pid in local_processes()}, Request(sections=("mpi",)))
    yield from (answer for answer in answers.values() if not isinstance(answer, NoAnswer))
