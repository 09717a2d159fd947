# SPDX-License-Identifier: Apache-2.0
"""A trace of two ranks made by hand, for the tests of exports: every number in it is easy to work out. Times are ns
from the first record.

    rank 0, thread 0   creates A, B, C | A (gemm) 10 to 110 | region `step` from 1 to 200
    rank 0, thread 1   C (trsm) 20 to 60, in it MPI_Send to rank 1 from 30 to 40 | B (gemm), after A, 130 to 180
    rank 1, thread 0   D (trsm) 10 to 100, in it MPI_Recv from 20 to 50, which its thread keeps
"""
from __future__ import annotations

from pathlib import Path

from handmade import IMPLICIT, SWITCH, COMPLETE, A, B, C, Stream, save

from marline.trace.read.events import CALL_NUMBER

OTHER, D, GEMM, TRSM, STEP = 201, 105, 71, 72, 73
CALL = {"tag": 7, "bytes": 64, "comm": 1}


def _text(stream: Stream, key: int, text: str) -> None:
    stream.add(1000, "text", key, low=int.from_bytes(text.encode(), "little"))


def _run(stream: Stream, task: int, start: int, end: int, outer: int) -> None:
    stream.add(1000 + end, "task_run", task, start=1000 + start, outer=outer)


def _call(stream: Stream, task: int, name: str, peer: int, start: int, end: int) -> None:
    stream.add(1000 + start, "mpi_enter", task, peer=peer, call=CALL_NUMBER[name], **CALL)
    stream.add(1000 + end, "mpi_exit", task, peer=peer, call=CALL_NUMBER[name], **CALL)


def two_ranks(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    for key, name in ((GEMM, "gemm"), (TRSM, "trsm"), (STEP, "step")):
        _text(first, key, name)
    first.add(1001, "region_begin", IMPLICIT, text=STEP)
    for time, task, label in ((2, A, GEMM), (4, B, GEMM), (6, C, TRSM)):
        first.add(1000 + time, "task_create", task, parent=IMPLICIT, flags=4)
        first.add(1000 + time, "task_label", task, text=label)
        if task != C:
            first.add(1001 + time, "dependence", task, type=3, address=64)
    _run(first, A, 10, 110, IMPLICIT)
    first.add(1200, "region_end", IMPLICIT).add(1200, "implicit_end", IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", OTHER, index=1, size=2)
    second.add(1020, "task_schedule", OTHER, next=C, status=SWITCH)
    _call(second, C, "MPI_Send", 1, 30, 40)
    second.add(1060, "task_schedule", C, next=OTHER, status=COMPLETE)
    _run(second, B, 130, 180, OTHER)
    second.add(1200, "implicit_end", OTHER)
    third = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    _text(third, TRSM, "trsm")
    third.add(1001, "task_create", D, parent=IMPLICIT, flags=4).add(1001, "task_label", D, text=TRSM)
    third.add(1010, "task_schedule", IMPLICIT, next=D, status=SWITCH)
    _call(third, D, "MPI_Recv", 0, 20, 50)
    third.add(1100, "task_schedule", D, next=IMPLICIT, status=COMPLETE)
    third.add(1200, "implicit_end", IMPLICIT)
    save(folder, [first, second], size=2, exe="/there/app", argv=["./app", "7"], host="node", runtime="Marline 9")
    return save(folder, [third], rank=1, size=2, exe="/there/app", host="node", runtime="Marline 9")
