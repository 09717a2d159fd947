# SPDX-License-Identifier: Apache-2.0
"""How fast the same work could be, where the program's own division is the fault: text, page and JSON say what even
loops, shared serial code and no waits for locks would give. Traces made by hand; answers are worked out beside them."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from handmade import IMPLICIT, A, B, Stream, save
from in_process import document_of, report
from test_without_tasks import AT_REGION_END, LOOP, STATIC, Team

CRITICAL = 5  # ompt_mutex_critical


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """20 ns of serial code; then thread 0 works 40 ns in a loop and waits 60 for thread 1, of whose 100 ns 20 are a
    wait for a critical region; then 20 ns of serial code. Of 140 ns x 2 threads 60 are waits at the barrier, 20 for the
    lock, and 40 those of thread 1 during the serial code; 160 are work."""
    team = Team(20)
    team.work(0, 20, 60)
    team.add(1, 20, "work_begin", kind=STATIC, code=LOOP, count=8)
    for time, name in ((30, "mutex_acquire"), (50, "mutex_acquired"), (60, "mutex_released")):
        team.add(1, time, name, kind=CRITICAL)
    team.add(1, 120, "work_end", kind=STATIC, code=LOOP, count=8)
    for index, end in ((0, 60), (1, 120)):
        team.wait(index, end, 120, AT_REGION_END)
    folder = tmp_path / "trace"
    folder.mkdir()
    return save(folder, list(team.end(120).finish(140)))


def test_each_remedy_has_its_bound(loop: Path) -> None:
    found = document_of(loop)["bounds"]
    assert (found["makespan_ns"], found["no_barrier_waits_ns"], found["no_serial_code_ns"], found["no_lock_waits_ns"],
            found["all_busy_ns"]) == (140, 140 - 60 / 2, 140 - 40 / 2, 140 - 20 / 2, 160 / 2)  # fmt: skip


def test_text(loop: Path) -> None:
    said = " ".join(report(loop).stdout.split())
    assert ("at best 110 ns if threads came to barriers together, 120 ns without serial code, 130 ns without waits for "
            "locks, 80.0 ns if all threads worked all the time") in said  # fmt: skip
    assert "at least" not in said  # as it is divided, 140 ns: that would say that nothing can be gained


def bars(page: str) -> dict[str, tuple[str, float]]:
    card = page[page.index('id="machines"') : page.index("</section>", page.index('id="machines"'))]
    rows = re.findall(r'<th scope="row"[^>]*>([^<]*)</th><td class="n">([^<]*)</td>.*?width:([\d.]+)%', card)
    return {name: (value, float(width)) for name, value, width in rows}


def test_page(loop: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert report(loop, "--html", page).returncode == 0
    assert bars(page.read_text()) == {
        "this run": ("140 ns", 100), "no waits at barriers": ("110 ns", 78.6), "no serial code": ("120 ns", 85.7),
        "no waits for locks": ("130 ns", 92.9), "all threads busy": ("80.0 ns", 57.1)}  # fmt: skip
    assert "if none ever waited" in page.read_text()


def test_tasks_in_a_chain(tmp_path: Path) -> None:
    """B follows A, 100 ns each, on two threads. These dependences leave no gain; without them half of the time is
    left."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    for number, task in enumerate((A, B)):
        first.add(1000 + number, "task_create", task, parent=IMPLICIT, flags=4)
        first.add(1000 + number, "dependence", task, type=3, address=8)
    first.add(1110, "task_run", A, start=1010, outer=IMPLICIT).add(1210, "task_run", B, start=1110, outer=IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", 201, index=1, size=2).add(1001, "wait_begin", 201, kind=3)
    second.add(1210, "wait_end", 201, kind=3).add(1210, "implicit_end", 201)
    folder, page = tmp_path / "trace", tmp_path / "page.html"
    folder.mkdir()
    save(folder, [first.add(1210, "implicit_end", IMPLICIT), second])
    said = " ".join(report(folder, "--html", page).stdout.split())
    assert "at least 200 ns on 2 threads" in said
    assert "at best 100 ns if all threads worked all the time, whatever waits for what" in said
    assert {name: width for name, (_, width) in bars(page.read_text()).items()} == {
        "this run": 100, "these dependences, as many threads": 100, "infinite threads": 100, "all threads busy": 50}
