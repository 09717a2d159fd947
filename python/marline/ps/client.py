# SPDX-License-Identifier: Apache-2.0
"""Asks processes for their reports (docs/design/inspection.md): those of this machine at their local sockets, those of
other nodes through the relay of their rank."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from marline.errors import Refusal

FORMAT = "marline-inspect 1"
SECONDS = 10.0  # a process that is stopped accepts, and does not answer
Report = dict[str, Any]
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
        """`pid`: for a relay, whose process it asks; other processes take no notice."""
        names = "".join(f"{name}," for name in self.sections)
        return f"process={pid} stack={self.stack_bytes} stacks={self.stacks} sections={names}\n".encode()


class NoAnswer(Exception):
    """Why a process gives no report."""


def local_processes() -> list[int]:
    """Process numbers of Marline's doors on this machine."""
    listing = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    return sorted({int(pid) for pid in re.findall(r" @marline/(\d+)$", listing, re.MULTILINE)})


def ask(door: Door, request: Request) -> Report:
    try:
        with _connect(door) as connection:
            connection.sendall(request.line(door.pid))
            text = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except TimeoutError as error:
        raise NoAnswer(f"no answer in {SECONDS:g} s: is it stopped?") from error
    except OSError as error:
        raise NoAnswer(error.strerror or str(error)) from error
    if not text:
        raise NoAnswer("it refuses: is it another user's?")
    try:
        report = json.loads(text.decode("utf-8", "replace"))
    except ValueError as error:
        raise NoAnswer(f"its report ends early, as if it had ended meanwhile ({error})") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise NoAnswer("it runs another version of Marline")
    return report


def ask_all(doors: dict[Key, Door], request: Request) -> dict[Key, Report | NoAnswer]:
    """By rank, or whatever the keys are, all at the same time."""

    def ask_one(door: Door) -> Report | NoAnswer:
        try:
            return ask(door, request)
        except NoAnswer as reason:
            return reason

    if not doors:
        return {}
    with ThreadPoolExecutor(max_workers=min(64, len(doors))) as pool:
        return dict(zip(doors, pool.map(ask_one, doors.values()), strict=True))


def doors_of_job(pid: int) -> dict[int, Door]:
    """All ranks of the job that the process of this machine belongs to, or whose worker it is; the process alone where it
    is no rank."""
    request = Request(sections=("mpi", "mpi_peers", "nodes"))
    door = Door(pid)
    try:
        first = ask(door, request)
        nodes = first["sections"].get("nodes") or {}
        if nodes.get("number"):  # a worker, which names its program
            door = door_from(door, nodes["processes"][0])
            first = ask(door, request)
    except NoAnswer as reason:
        raise Refusal(f"process {pid} does not tell what it does ({reason}): it must run on Marline, as this user, "
                      "without MARLINE_INSPECT=false") from reason  # fmt: skip
    return {0: door} if door.host else doors_from(first)


def door_from(door: Door, process: dict[str, Any]) -> Door:
    """To a process that the one behind `door` names: the same way, if both are on one machine, else its own."""
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


def _connect(door: Door) -> socket.socket:
    if door.host:
        if not door.port:
            raise NoAnswer(f"no relay on {door.host}")
        connection = socket.create_connection((door.host, door.port), timeout=SECONDS)
        connection.sendall(door.secret.encode())
        return connection
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SECONDS)
    connection.connect(f"\0marline/{door.pid}")
    _check_owner(connection, door.pid)
    return connection


def _check_owner(connection: socket.socket, pid: int) -> None:
    """Names of sockets are free to take: the kernel says whose this one is."""
    ucred = struct.Struct("iII")
    _, uid, _ = ucred.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, ucred.size))
    if os.geteuid() not in (0, uid):
        connection.close()
        raise NoAnswer(f"the socket of process {pid} is that of user {uid}")


def local_reports() -> Iterator[Report]:
    """Of those that answer."""
    for pid in local_processes():
        try:
            yield ask(Door(pid), Request(sections=("mpi", "mpi_peers")))
        except NoAnswer:
            continue
