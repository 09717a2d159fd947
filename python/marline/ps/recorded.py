# SPDX-License-Identifier: Apache-2.0
"""What `marline ps` does with a job that keeps its last records (docs/guide/tracing.md): `--trace DIR` copies the rings
of all ranks, `--report` makes the report of the last seconds, and a detected hang leaves a copy."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

from marline.errors import Refusal, say
from marline.ps.client import Door, doors_of_job, local_processes
from marline.ps.looks import GLANCE, LOOKS, breakdown, look, words
from marline.ps.rights import act_as_owner
from marline.ps.rings import Rings, copy_rings, no_ring, ring_of, rings_of


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trace", type=Path, metavar="DIR",
                        help="copy what the job has recorded last (MARLINE_TRACE_RING) into DIR, while it goes on")
    parser.add_argument("--report", action="store_true",
                        help="where the time goes, as `marline report` says it: of the last seconds if the job keeps a "
                        "ring, else by looking at it for --seconds")  # fmt: skip
    # For MARLINE_TRACE_SIGNAL: this process alone, beside other ranks' copies; without a line that says where.
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)


def is_asked(chosen: argparse.Namespace) -> bool:
    asked = [name for name, value in (("--trace", chosen.trace), ("--report", chosen.report),
                                      ("--watch", chosen.watch)) if value]  # fmt: skip
    if len(asked) > 1:
        raise Refusal(f"{asked[0]} and {asked[1]} are two different questions: give one of them")
    return chosen.trace is not None or chosen.report


def answer(chosen: argparse.Namespace, prefix: Path) -> int:
    pid = _the_only_process() if chosen.pid is None else chosen.pid
    act_as_owner(pid)
    doors = _doors(pid, chosen.only)
    rings, without = rings_of(doors)
    if chosen.report:
        return _report(doors, rings, chosen, prefix)
    if not rings:
        raise no_ring(pid)
    copy_rings(rings, chosen.trace, shared=chosen.only)
    if not chosen.quiet:
        print(_where("each rank that got the signal" if chosen.only else _ranks(rings, without), chosen.trace))
    return 0


def _the_only_process() -> int:
    """Without a number: where the processes of one job run here, one of them."""
    pids = local_processes()
    if not pids:
        raise Refusal("no process of yours runs on Marline here")
    found = {door.pid for door in doors_of_job(pids[0]).values()}
    others = [pid for pid in pids if pid not in found]
    if others:
        raise Refusal(f"several jobs run here: name a process of one, for example {pids[0]} or {others[0]}")
    return pids[0]


def _doors(pid: int, only: bool) -> dict[int, Door]:
    """Of the job; of the process alone where it does not answer, but keeps a ring: it runs on another runtime."""
    if only:
        return {0: Door(pid)}
    try:
        return doors_of_job(pid)
    except Refusal:
        if ring_of(pid) is None:
            raise
        return {0: Door(pid)}


def _ranks(rings: Rings, without: list[int]) -> str:
    more = f", but not rank {', '.join(map(str, without))}, whose ring is not seen here," if without else ""
    return f"{len(rings)} rank{'s' * (len(rings) != 1)}{more}"


def _where(whose: str, folder: Path) -> str:
    return f"{folder}: what {whose} recorded last; marline report {shlex.quote(str(folder))}"


def _report(doors: dict[int, Door], rings: Rings, chosen: argparse.Namespace, prefix: Path) -> int:
    if not rings:
        return _sampled(doors, chosen)
    from marline.report import command  # only here: it needs Python 3.10 and NumPy

    with tempfile.TemporaryDirectory(prefix="marline-") as folder:
        copy_rings(rings, Path(folder))
        return command.main([folder, *["--json"] * chosen.json], prefix)


def _sampled(doors: dict[int, Door], chosen: argparse.Namespace) -> int:
    looks = []
    begun = time.monotonic()
    for number in range(LOOKS):
        time.sleep(max(0.0, begun + chosen.seconds * number / LOOKS - time.monotonic()))
        present, _ = look(doors, GLANCE)
        if not present:
            raise Refusal("the job has ended")
        looks.append(present)
    found = breakdown(looks)
    print(json.dumps(found) if chosen.json else words(found, looks[-1], time.monotonic() - begun))
    return 0


def note_of_ring(doors: dict[int, Door]) -> list[str]:
    """For the report of a job that hangs."""
    pids = [door.pid for door in doors.values() if not door.host and ring_of(door.pid) is not None]
    return [f"the job keeps what it recorded last: marline ps --trace DIR {pids[0]}"] if pids else []


def keep_of_hang(doors: dict[int, Door]) -> None:
    """A copy beside the trace of a job that hangs: what it goes on to record would overwrite how it came to that."""
    rings, without = rings_of(doors)
    if not rings:
        return
    trace = next(iter(rings.values())).parent
    folder = trace.with_name(f"{trace.name}.hang")
    try:
        copy_rings(rings, folder)
    except Refusal as refusal:
        say(f"the last records lie in {trace}: marline report {shlex.quote(str(trace))} ({refusal})")
        return
    say(_where(_ranks(rings, without), folder))
