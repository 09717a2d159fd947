# SPDX-License-Identifier: Apache-2.0
"""`marline ps [PID]`: looks twice at all ranks of a job, and says what its tasks wait for. `--watch SECONDS` looks all
the time, and says it once, when nothing has moved for so long (MARLINE_MPI_WATCH starts that). `--trace DIR` copies
what the job has recorded last, `--report` says where its time goes."""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import select
import sys
import time
from pathlib import Path

from marline.errors import Refusal, say
from marline.ps import places, recorded, text
from marline.ps.client import Door, doors_of_job, local_reports
from marline.ps.job import Process
from marline.ps.looks import GLANCE, LOOK, LOOK_AT_REST, look
from marline.ps.rights import act_as_owner, limit_resources
from marline.ps.verdict import Verdict, as_document, judge, moving_ranks

HUNG = 1  # exit status: hung, stalled or waiting
LOOKS_PER_PERIOD = 4  # of --watch
PIDFD_OPEN = 434  # the system call's number, the same on all processors
SECONDS_TO_START = 10.0  # that a process may take until it answers, before --watch says that it does not


def main(arguments: list[str], prefix: Path) -> int:
    about = "What the tasks of a running or hung program wait for, on all its ranks. Exit status 1: it hangs."
    parser = argparse.ArgumentParser(prog="marline ps", description=about)
    parser.add_argument("pid", nargs="?", type=int,
                        help="a process of the job on this machine, or the `marline run`, mpirun or srun that has "
                        "started it; without it: a list")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="the same for programs")
    parser.add_argument("--all", action="store_true", help="all tasks, also where there are many")
    parser.add_argument("--seconds", type=_seconds, default=1.0, metavar="S", help="between the two looks (default: 1)")
    parser.add_argument("--watch", type=_seconds, metavar="S",
                        help="wait until nothing has moved for S seconds, then report on stderr; ends with the "
                        "process")  # fmt: skip
    recorded.add_options(parser)
    chosen = parser.parse_args(arguments)
    try:
        return recorded.answer(chosen, prefix) if recorded.is_asked(chosen) else _answer(chosen)
    except MemoryError as error:
        raise Refusal("no memory for the reports of the job: ask for fewer processes") from error


def _answer(chosen: argparse.Namespace) -> int:
    if chosen.pid is None:
        return _list(chosen.json)
    act_as_owner(chosen.pid, ends=chosen.watch is None)
    if chosen.watch is not None:
        return _watch(chosen.pid, chosen.watch)
    doors = doors_of_job(chosen.pid)
    before, _ = look(doors, GLANCE)
    time.sleep(chosen.seconds)
    return _report(doors, before, chosen.seconds, chosen, sys.stdout)


def _seconds(word: str) -> float:
    value = float(word)
    if not 0 < value < 1e9:
        raise ValueError
    return value


def _list(as_json: bool) -> int:
    if os.geteuid() == 0:
        limit_resources()
    reports = list(local_reports())
    if as_json:
        print(json.dumps(reports))
    else:
        print(text.listing(reports) if reports else "no process of yours runs on Marline here")
    return 0


def _second_look(doors: dict[int, Door], before: dict[int, Process]) -> tuple[dict[int, Process], Verdict, list[str]]:
    """With remarks. MPI is asked for messages only in a job at rest: see mpi/inspect/messages.h."""
    after, absent = look(doors, LOOK)
    if not after:
        raise Refusal("the job has ended")
    if not moving_ranks(before, after):
        after, absent = look(doors, LOOK_AT_REST)
    notes = places.locate(after.values())  # first: reasons have places in them
    return after, judge(before, after, absent), notes


def _report(doors: dict[int, Door], before: dict[int, Process], seconds: float, chosen: argparse.Namespace,
            stream: object) -> int:  # fmt: skip
    after, verdict, notes = _second_look(doors, before)
    if verdict.is_bad:
        notes += recorded.note_of_ring(doors)
    if chosen.json:
        print(json.dumps(as_document(before, after, verdict)), file=stream)  # type: ignore[arg-type]
    else:
        print(text.report(after, verdict, seconds, notes, chosen.all), file=stream)  # type: ignore[arg-type]
    return HUNG if verdict.is_bad else 0


# Watching -------------------------------------------------------------------------------------------------------------


def _open_pidfd(pid: int) -> int | None:
    """None before Linux 5.3. (Python's os.pidfd_open is as young as Python 3.9.)"""
    descriptor = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_OPEN, pid, 0)
    if descriptor < 0 and ctypes.get_errno() != errno.ENOSYS:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor if descriptor >= 0 else None


def _ends_within(pid: int, life: int | None, seconds: float) -> bool:
    if life is not None:
        return bool(select.select([life], [], [], seconds)[0])
    end = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists():
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(1.0, left))
    return True


def _watch(pid: int, seconds: float) -> int:
    """Until it has said something, or the process has ended."""
    life = _open_pidfd(pid)
    doors: dict[int, Door] = {}
    before: dict[int, Process] = {}
    begun = quiet_since = time.monotonic()
    has_said = False  # that it sees nothing
    while not _ends_within(pid, life, seconds / LOOKS_PER_PERIOD):
        try:
            doors = doors or doors_of_job(pid)
            after, absent = look(doors, GLANCE)
        except Refusal as refusal:
            if not before and not has_said and time.monotonic() - begun >= max(seconds, SECONDS_TO_START):
                has_said = True
                say(f"nothing can be seen of process {pid} yet, --watch goes on trying: {refusal}")
            continue
        if absent or not before or set(before) != set(after) or moving_ranks(before, after):
            quiet_since = time.monotonic()
            before = after
        elif time.monotonic() - quiet_since >= seconds and _say_what_is_wrong(doors, before, seconds):
            return HUNG
    return 0


def _say_what_is_wrong(doors: dict[int, Door], before: dict[int, Process], seconds: float) -> bool:
    try:
        after, verdict, notes = _second_look(doors, before)
    except Refusal:
        return False
    if not verdict.is_bad:
        return False
    words = text.report(after, verdict, seconds, notes, everything=False)
    say(f"MARLINE_MPI_WATCH: nothing has moved for {seconds:g} s\n{words}")
    recorded.keep_of_hang(doors)
    return True
