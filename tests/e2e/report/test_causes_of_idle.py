# SPDX-License-Identifier: Apache-2.0
"""The causes of idle time beside messages, dependences and discovery, on traces made by hand; every answer is worked
out beside its trace. Times in comments count from the first record."""
from __future__ import annotations

import json
import re
from pathlib import Path

from handmade import COMPLETE, SWITCH, A, B, C, save  # first: it finds marline
from in_process import document_of, report
from test_analysis_breakdown import ONE, TWO, breakdown, causes, create, run, thread
from test_without_tasks import AT_REGION_END, LOOP, STATIC, Team

MUTEXINOUTSET = 4
CRITICAL = 5  # ompt_mutex_critical


def test_members_of_a_mutexinoutset_wait_for_each_other(tmp_path: Path) -> None:
    """A and B exclude each other: A runs 0-100 and B, on the other thread, 110-150. From 10 to 100 a thread waits for
    A; to 110 B could have started."""
    first, second = thread(1, ONE, 0), thread(2, TWO, 0)
    create(first, 0, A, MUTEXINOUTSET)
    create(first, 0, B, MUTEXINOUTSET)
    run(first, 0, 100, A, ONE)
    run(second, 110, 150, B, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 140, "overhead_scheduler": 20, "idle_constraint": 100, "idle_tail": 40}


def test_tasks_wait_for_a_lock(tmp_path: Path) -> None:
    """A and B run 0-100; B waits for a lock, which A has, from 20 to 60. A third thread has nothing to do."""
    first, second, third = thread(1, ONE, 0), thread(2, TWO, 0), thread(3, 203, 0)
    create(first, 0, A)
    create(first, 0, B)
    for stream, implicit, task in ((first, ONE, A), (second, TWO, B)):
        stream.add(1000, "task_schedule", implicit, next=task, status=SWITCH)
        stream.add(1100, "task_schedule", task, next=implicit, status=COMPLETE)
    second.add(1020, "mutex_acquire", B, kind=1).add(1060, "mutex_acquired", B, kind=1)
    found = breakdown(tmp_path, first, second, third)
    assert causes(found) == {"work_body": 160, "idle_constraint": 40 + 40, "idle_tail": 60}


def test_producer_runs_a_task_instead_of_creating_more(tmp_path: Path) -> None:
    """The creator of A runs A from 10 to 110, then creates B at 120, which runs 120-150 on the other thread."""
    first, second = thread(1, ONE), thread(2, TWO, 0)
    create(first, 0, A)
    first.add(1010, "task_schedule", ONE, next=A, status=SWITCH)
    first.add(1110, "task_schedule", A, next=ONE, status=COMPLETE)
    create(first, 120, B)
    run(second, 120, 150, B, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 130, "idle_throttled": 100, "idle_discovery": 20, "idle_tail": 30}


def test_creator_that_waits_is_not_throttled(tmp_path: Path) -> None:
    """The same, but the creator runs A in a taskwait."""
    first, second = thread(1, ONE), thread(2, TWO, 0)
    create(first, 0, A)
    first.add(1010, "wait_begin", ONE, kind=5)
    first.add(1010, "task_schedule", ONE, next=A, status=SWITCH)
    first.add(1110, "task_schedule", A, next=ONE, status=COMPLETE)
    first.add(1110, "wait_end", ONE, kind=5)
    create(first, 120, B)
    run(second, 120, 150, B, TWO)
    assert causes(breakdown(tmp_path, first, second)) == {
        "work_body": 130, "idle_tail": 100 + 30, "idle_discovery": 20}  # fmt: skip


def test_devices_work_meanwhile(tmp_path: Path) -> None:
    """A runs 0-100 beside a kernel from 20 to 70."""
    first, second = thread(1, ONE, 0), thread(2, TWO, 0)
    create(first, 0, A)
    run(first, 0, 100, A, ONE)
    first.add(1020, "device_kernel", 0, elapsed=50, device=0)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 100, "idle_device": 50, "idle_tail": 50}


def test_barrier_while_there_is_no_task(tmp_path: Path) -> None:
    """A runs 0-10 and C 60-70. In between, one thread runs code of the program, and the other waits in a barrier."""
    first, second = thread(1, ONE), thread(2, TWO, 0)
    create(first, 0, A)
    run(first, 0, 10, A, ONE)
    create(second, 60, C, parent=TWO)
    run(second, 60, 70, C, TWO)
    found = breakdown(tmp_path, first, second)
    assert causes(found) == {"work_body": 20, "idle_tail": 20, "idle_outside": 50, "idle_barrier": 50}


def test_locks_without_tasks(tmp_path: Path) -> None:
    """In one loop thread 1 waits 30 of its 100 ns for a critical region; thread 0 ends 20 ns earlier, and waits in the
    barrier. The page plots and paints both, each by its name."""
    team = Team()
    team.work(0, 0, 80)
    team.add(1, 0, "work_begin", kind=STATIC, code=LOOP, count=8)
    for time, name in ((10, "mutex_acquire"), (40, "mutex_acquired"), (50, "mutex_released")):
        team.add(1, time, name, kind=CRITICAL)
    team.add(1, 100, "work_end", kind=STATIC, code=LOOP, count=8)
    for index, end in ((0, 80), (1, 100)):
        team.wait(index, end, 100, AT_REGION_END)
    folder = save(tmp_path, list(team.end(100).finish(100)))
    document = document_of(folder)
    assert {name: time for name, time in document["total"]["causes"].items() if time} == {
        "work_body": 80 + 70, "idle_barrier": 20, "idle_lock": 30}  # fmt: skip
    first = document["causes"][0]
    assert (first["name"], first["lost_ns"]) == ("locks", 30) and "most of it in loop 0x51" in first["text"]
    page = tmp_path / "page.html"
    assert report(folder, "--html", page).returncode == 0
    (meta,) = re.findall(r'<script type="application/json" id="meta">(.*?)</script>', page.read_text())
    lines = {line["name"]: line["whole"] for plot in json.loads(meta)["plots"] for line in plot["lines"]}
    assert lines == {"work": 75, "idle: barrier": 10, "idle: lock": 15}
