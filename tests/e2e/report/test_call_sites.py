# SPDX-License-Identifier: Apache-2.0
"""Where the program calls MPI and requests locks, in sentences, tables and JSON: on traces made by hand, and of real
programs. A record says where only when the place changes."""
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CROWDED, PROGRAMS, Result
from handmade import Stream  # first: it finds marline
from handmade_samples import CODE, INITIAL, save_sampled
from in_process import document_of, report
from test_without_tasks import AT_REGION_END, INITIAL_TASK, LOOP, STATIC, Team
from trace_mpi_support import MPIS, build, launch, recorder

from marline.report import without_tasks
from marline.trace.read.events import CALL_NUMBER

CRITICAL = 5  # ompt_mutex_critical
LOCK, OTHER_LOCK = 0x900, 0x901


def note(stream: Stream, time: int, task: int, key: int, place: str, mutex: int = 0) -> None:
    stream.add(1000 + time, "call_site", task, key=key, code=CODE[place][0] + 1, mutex=mutex)


def test_locks(tmp_path: Path) -> None:
    """Thread 1 waits 30 ns for a lock that it requests in `body`, twice, and 10 for another one in `other`; before, it
    has one that the trace does not say the place of."""
    team = Team()
    team.work(0, 0, 100)
    team.add(1, 0, "work_begin", kind=STATIC, code=LOOP, count=8)
    places = {10: ("body", LOCK), 60: ("other", OTHER_LOCK)}
    for start, end, lock in ((2, 4, LOCK), (10, 30, LOCK), (40, 50, LOCK), (60, 70, OTHER_LOCK)):
        if start in places:
            note(team.streams[1], start, team.tasks[1], lock, places[start][0], 1)
        for time, name in ((start, "mutex_acquire"), (end, "mutex_acquired"), (end, "mutex_released")):
            team.add(1, time, name, kind=CRITICAL, wait_id=lock)
    team.add(1, 100, "work_end", kind=STATIC, code=LOOP, count=8)
    for index in range(2):
        team.wait(index, 100, 100, AT_REGION_END)
    folder, page = tmp_path / "trace", tmp_path / "page.html"
    folder.mkdir()
    document = document_of(save_sampled(folder, team.end(100).finish(100)))
    assert (document["locks"]["requests"], document["locks"]["waited_ns"]) == (4, 42)
    assert [(one["name"], one["calls"], one["total_ns"]) for one in document["locks"]["places"]] == [
        ("body app.c:10", 2, 30), ("other app.c:30", 1, 10)]  # fmt: skip
    assert document["causes"][0]["text"].endswith("most of it in loop 0x51; most of it is requested at body app.c:10")
    assert report(folder, "--html", page).returncode == 0
    assert "Locks by source line" in page.read_text() and "other app.c:30" in page.read_text()


def test_mpi(tmp_path: Path) -> None:
    """Rank 0 receives in `other` (100 ns and 300) and, once, in `body` (50); rank 1 sends 100, 300 and 50 ns later."""
    receiver, sender = (Stream(1).add(1000, "implicit_begin", INITIAL_TASK, size=1, flags=INITIAL) for _ in range(2))
    number = CALL_NUMBER["MPI_Recv"]
    for start, length, place in ((100, 100, "other"), (300, 300, ""), (700, 50, "body")):
        words = {"tag": 0, "bytes": 8, "comm": 1}
        if place:
            note(receiver, start, INITIAL_TASK, number, place)
        receiver.add(1000 + start, "mpi_enter", INITIAL_TASK, peer=1, call=number, **words)
        receiver.add(1000 + start + length, "mpi_exit", INITIAL_TASK, peer=1, call=number, **words)
        for time, name in ((start + length - 1, "mpi_enter"), (start + length, "mpi_exit")):
            sender.add(1000 + time, name, INITIAL_TASK, peer=0, call=CALL_NUMBER["MPI_Send"], **words)
    folder, page = tmp_path / "trace", tmp_path / "page.html"
    folder.mkdir()
    for rank, stream in enumerate((receiver, sender)):
        save_sampled(folder, [stream.add(1800, "implicit_end", INITIAL_TASK)], rank, 2)
    document = document_of(folder)
    rows = {row["name"]: row["places"] for row in document["mpi"]["functions"]}
    assert [(one["name"], one["calls"], one["total_ns"]) for one in rows["MPI_Recv"]] == [
        ("other app.c:30", 2, 400), ("body app.c:10", 1, 50)]  # fmt: skip
    assert rows["MPI_Send"] == []
    said = report(folder, "--html", page).stdout
    assert re.search(r"^MPI_Recv app\.c:30 +3 ", said, re.M) and re.search(r"^MPI_Send +3 ", said, re.M)
    assert without_tasks.mpi_most(document["mpi"]) == (
        ", most of it in MPI_Recv at other app.c:30: it waits 99.3 % of that for a late sender (rank 0 mostly for rank "
        "1)")  # fmt: skip
    assert re.search(r"<td[^>]*>MPI_Recv</td><td[^>]*>other app.c:30</td>", page.read_text())


@pytest.mark.parametrize("times, named", [
    ({"main a.c:9": 51, "main a.c:3": 49}, ["main a.c:3", "9"]),
    ({"main a.c:9": 49, "main a.c:3": 51}, ["main a.c:3", "9"]),
    ({"main a.c:9": 80, "main a.c:3": 20}, ["main a.c:9"]),
    ({"main b.c:1": 30, "f a.c:8": 30, "main a.c:7": 30, "main a.c:1": 9}, ["f a.c:8", "main a.c:7", "main b.c:1"]),
    ({"main a.c:1": 25, "main a.c:2": 25, "main a.c:3": 25, "main a.c:4": 25}, []),
    ({"main a.c:1": 50}, []),
])  # fmt: skip
def test_places_of_most_of_the_time(times: dict[str, int], named: list[str]) -> None:
    """Of 100 ns, the fewest places with 80 ns; the same whichever of two equal ones is first. Of some calls the place
    is not known."""
    places = [{"name": name, "line": int(name.rpartition(":")[2]), "total_ns": time}
              for name, time in sorted(times.items(), key=lambda one: -one[1])]  # fmt: skip
    assert without_tasks.main_places({"total_ns": 100, "places": places}) == named


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_line_of_a_critical_region(compiler: str, marline: Callable[..., Result], compiled: Callable[..., Path],
                                   tmp_path: Path) -> None:  # fmt: skip
    program = compiled(compiler, "loops.c", "-fopenmp", "-g")
    result = marline("run", "--trace", tmp_path / "trace", "-t", "2", "--", program, **CROWDED)
    assert result.returncode == 0, result.stderr
    (place,) = document_of(tmp_path / "trace")["locks"]["places"]
    lines = (PROGRAMS / "loops.c").read_text().splitlines()
    wanted = next(number for number, text in enumerate(lines, 1) if text.startswith("#pragma omp critical"))
    assert Path(place["file"]).name == "loops.c" and place["line"] - wanted in range(2) and place["calls"] == 2


CALLS = """#include <mpi.h>
int main(void) {
  int rank, value = 0;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 5000; ++i)
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);  // LOOP
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);  // ONCE
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("mpi", MPIS[:1])
def test_lines_of_mpi_calls(tmp_path: Path, mpi: str) -> None:
    """Also where the thread's records fill several windows."""
    (tmp_path / "calls.c").write_text(CALLS)
    program, folder = build(tmp_path, mpi, tmp_path / "calls.c"), tmp_path / "trace"
    launch(mpi, 1, program, recorder(mpi), MARLINE_TRACE_DIR=str(folder))
    rows = {row["name"]: row["places"] for row in document_of(folder)["mpi"]["functions"]}
    line = {word: number for number, text in enumerate(CALLS.splitlines(), 1) for word in re.findall(r"// (\w+)", text)}
    assert {(one["name"], one["calls"]) for one in rows["MPI_Bcast"]} == {
        (f"main calls.c:{line['LOOP']}", 5000), (f"main calls.c:{line['ONCE']}", 1)}  # fmt: skip
