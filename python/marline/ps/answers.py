# SPDX-License-Identifier: Apache-2.0
"""What a process may answer, as an object: whoever sits at its socket may be hostile. Bytes, time, depth, and how many
values there are have bounds; texts are cleaned of what terminals obey; what is read later has the right types. All that
is wrong is a NoAnswer, with the reason."""

from __future__ import annotations

import json
import re
import socket
import time
from typing import Any, Dict, List, Union  # of older Pythons

FORMAT = "marline-inspect 1"
SECONDS = 10.0  # of silence: a process that is stopped accepts, and does not answer
LONGEST = 60.0  # seconds that a whole answer may take
MOST_BYTES = 64 << 20  # 10^5 suspended tasks take 40 MB
MOST_VALUES = 4_000_000
MOST_DEPTH = 32
MOST_TEXT = 8192  # characters; a piece of a stack has 2048
MOST_RANKS = 1 << 20
MOST_NUMBER = 1 << 64
Report = Dict[str, Any]


class NoAnswer(Exception):
    """Why a process gives no report."""


def receive(connection: socket.socket, until: float, silence: float = SECONDS) -> bytes:
    """The whole answer. `until`: in time.monotonic(), when whoever asks has no more patience. `silence`: seconds of
    it."""
    until = min(until, time.monotonic() + LONGEST)
    pieces, size = [], 0
    while True:
        left = until - time.monotonic()
        try:
            connection.settimeout(max(min(left, silence), 1e-3))
            piece = connection.recv(1 << 16)
        except TimeoutError:
            if left > silence or not pieces:
                raise
            left = 0
        if left <= 0:
            raise NoAnswer("its answer does not come to an end")
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise NoAnswer(f"its answer has more than {MOST_BYTES >> 20} MiB")


def parse(text: bytes) -> Report:
    if not text:
        raise NoAnswer("it refuses: is it another user's?")
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise NoAnswer(f"its report has more than {MOST_VALUES} values")
    try:
        report = cleaned(json.loads(text.decode("utf-8", "replace"), parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise NoAnswer(f"its report ends early, as if it had ended meanwhile, or is damaged ({error})") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise NoAnswer("it runs another version of Marline")
    check(report, REPORT, "report")
    return report


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


# Texts ----------------------------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Without control characters and the like, which stand as in Python's strings: a terminal would obey them, and a
    line break would begin a line that seems to be ours."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def cleaned(value: Any, depth: int = 0) -> Any:
    """Texts and keys of all that JSON has."""
    if isinstance(value, str):
        if len(value) > MOST_TEXT:
            raise ValueError(f"a text of {len(value)} characters")
        return clean(value)
    if depth == MOST_DEPTH:
        raise ValueError(f"nested more than {MOST_DEPTH} deep")
    if isinstance(value, list):
        return [cleaned(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {cleaned(name): cleaned(one, depth + 1) for name, one in value.items()}
    return value


# Types ----------------------------------------------------------------------------------------------------------------

PATTERN = type(re.compile(""))  # Python 3.6 has no re.Pattern
# A shape is a type, a pattern of a text, a range of a number, a list of one shape, or names with shapes: "name?" may be
# missing; "*" is any other name, all of which are allowed if there is none.
Shape = Union[type, "re.Pattern[str]", range, List[Any], Dict[str, Any]]


def check(value: Any, shape: Shape, place: str) -> None:
    if isinstance(shape, dict):
        _check_members(value, shape, place)
    elif isinstance(shape, list):
        _require(isinstance(value, list), place)
        for one in value:
            check(one, shape[0], place)
    elif isinstance(shape, PATTERN):
        _require(isinstance(value, str) and shape.fullmatch(value) is not None, place)
    elif isinstance(shape, range):
        _require(type(value) is int and value in shape, place)
    else:
        _require(type(value) is shape and (shape is not int or abs(value) < MOST_NUMBER), place)


def _check_members(value: Any, shape: dict[str, Any], place: str) -> None:
    _require(isinstance(value, dict), place)
    known = set()
    for name, inner in shape.items():
        name, optional = name.rstrip("?"), name.endswith("?")
        known.add(name)
        if name == "*":
            continue
        _require(optional or name in value, f"{place}.{name}")
        if name in value:
            check(value[name], inner, f"{place}.{name}")
    for name in value.keys() - known if "*" in shape else ():
        check(value[name], shape["*"], f"{place}.*")


def _require(holds: bool, place: str) -> None:
    if not holds:
        raise NoAnswer(f"its report is damaged ({place})")


ADDRESS = re.compile(r"0|0x[0-9a-f]{1,16}")
NUMBERS = range(MOST_RANKS)
PIDS = range(1, 1 << 31)
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}|")
SECRET = re.compile(r"[0-9a-f]{0,64}")
CALL = {"operation": str, "record?": ADDRESS, "ids?": [int], "id_count?": int, "*": int}
STACK = {"sp?": ADDRESS, "stack?": [re.compile(r"(?:[0-9a-f]{2})*")]}
RUNNING = {"id": ADDRESS, "label?": str, "kind": str, "block?": [ADDRESS]}
THREAD = {"thread": PIDS, "worker": int, "state": re.compile("runs|idle|barrier|blocked"), "ready": int,
          "suspensions": int, "task?": RUNNING, "call?": CALL, **STACK}  # fmt: skip
TASK = {**RUNNING, "parent": ADDRESS, "taskgroup": ADDRESS, "children": int, "home?": int,
        "wait": {"kind": str, "object": ADDRESS, "unfinished?": int, "call?": CALL}, **STACK}  # fmt: skip
KERNEL_THREAD = {"thread": PIDS, "stat?": str, "schedstat?": str,
                 "syscall?": re.compile(r"[a-z]*|-?\d+(?: 0x[0-9a-f]{1,16})*")}  # fmt: skip
COMMUNICATOR = {"id": int, "rank": int, "size": int, "name": str, "ranks": [int],
                "collectives?": [{"number": int, "operation": str}]}  # fmt: skip
REQUEST = {"id": int, "operation": str, "peer": int, "tag": int, "comm": int, "count": int}
MESSAGE = {"comm": int, "source": int, "tag": int, "bytes": int}
NODE_PROCESS = {"number": NUMBERS, "node": str, "pid": PIDS, "here": bool, "host?": HOST, "port?": range(1 << 16),
                "secret?": SECRET}  # fmt: skip
COPIES = {"count": int, "bytes": int}
CLUSTER = dict.fromkeys(("under_way", "waiting", "copies", "bytes", "sent", "to_gpu", "from_gpu"), int)
WORKER = {"device?": int, "kernels?": [{"where": str, "runs": bool, "since": int}], "left_out?": int,
          "idle_since?": int, "sending?": COPIES, "arriving?": COPIES}  # fmt: skip
SECTIONS = {
    "mpi?": {"rank": NUMBERS, "size": NUMBERS, "bound?": int, "communicators?": [COMMUNICATOR]},
    "mpi_peers?": {"secret": SECRET, "ranks": [{"host": HOST, "pid": PIDS, "port": range(1 << 16)}]},
    "mpi_messages?": {"problem?": str, "messages?": [MESSAGE]},
    "mpi_requests?": {"complete?": [int], "requests?": [REQUEST]},
    "devices?": {"asides?": [{"device": int, "what": str, "where": str}], "left_out?": int},
    "nodes?": {"number": NUMBERS, "processes?": [NODE_PROCESS]},
    "cluster?": CLUSTER,
    "worker?": WORKER,
}
# Lines of /proc/PID/maps: code of a file.
MAPS = re.compile(r"[0-9a-f]{1,16}-[0-9a-f]{1,16} \S{4} [0-9a-f]{1,16} \S+ \d+ +/.*")
REPORT = {
    "pid": PIDS, "host": str, "program": str, "nanoseconds": int, "task_count?": int, "problem?": str,
    "threads?": [THREAD], "blocked_threads?": [{"thread": PIDS, "call?": CALL, **STACK}], "tasks?": [TASK],
    "kernel_threads": [KERNEL_THREAD], "maps": [MAPS], "sections": SECTIONS,
}  # fmt: skip
