# SPDX-License-Identifier: Apache-2.0
"""`marline report` on traces made by hand, with known answers: the text's form, JSON, CSV, windows, the user's own
passes, what is missing in a trace; and every rule of the table of causes."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from conftest import SECONDS, clean_environment
from handmade import COMPLETE, IMPLICIT, PACKAGE, SWITCH, A, B, C, Stream, save, suspended_receive

from marline import units
from marline.report import causes as report_causes
from marline.report import text as report_text
from marline.report.causes import MACHINE_RULES, RULES, find_causes
from marline.trace.passes.thread_time.causes import CAUSES, WORK
from marline.trace.read.events import CALL_NUMBER

MS = 1_000_000


def report(folder: Path, *words: str | Path, stdout: int | IO[str] = subprocess.PIPE,
           **changes: str) -> subprocess.CompletedProcess[str]:  # fmt: skip
    code = "import sys; from pathlib import Path; from marline.cli import main; sys.exit(main(sys.argv[1:], Path('/')))"
    environment = clean_environment(**{"PYTHONPATH": str(PACKAGE)} | changes)
    return subprocess.run([sys.executable, "-c", code, "report", str(folder), *map(str, words)], text=True,
                          env=environment, stdout=stdout, stderr=subprocess.PIPE, timeout=SECONDS,
                          check=False)  # fmt: skip


def document_of(folder: Path, *words: str | Path) -> dict:
    result = report(folder, "--json", *words)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def run_task(stream: Stream, task: int, start: int, end: int, outer: int = IMPLICIT) -> None:
    stream.add(1000 + start, "task_schedule", outer, next=task, status=SWITCH)
    stream.add(1000 + end, "task_schedule", task, next=outer, status=COMPLETE)


@pytest.fixture
def two_threads(tmp_path: Path) -> Path:
    """Thread 1 creates A, B and C at 0, 30 and 60 us and runs B from 40 to 50; thread 2 runs A from 10 to 20 and C from
    70 to 110. From 10 to 110 us, on two threads: 60 us of work. A task is ready from 30 to 40 and from 60 to 70: there
    both threads are outside of tasks, 40 us of overhead. The other 100 us are idle: 50 while thread 1 is still creating
    (10 to 30 and 50 to 60), 10 while it runs B from 40 to 50 instead, and 40 while the only task there is runs (C)."""
    us = 1000
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    for task, time in ((A, 0), (B, 30), (C, 60)):
        first.add(1000 + time * us, "task_create", task, parent=IMPLICIT)
        if task == B:
            run_task(first, B, 40 * us, 50 * us)
    first.records.sort(key=lambda record: record[0])
    first.add(1000 + 120 * us, "implicit_end", IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", 201, index=1, size=2)
    run_task(second, A, 10 * us, 20 * us, outer=201)
    run_task(second, C, 70 * us, 110 * us, outer=201)
    second.add(1000 + 120 * us, "implicit_end", 201)
    return save(tmp_path, [first, second], argv=["./app", "7"], exe="/there/app", host="node", runtime="Marline 9")


def test_known_breakdown(two_threads: Path) -> None:
    document = document_of(two_threads)
    assert document["format"] == "marline-report 1"
    (rank,) = document["ranks"]
    keys = ("rank", "threads", "makespan_ns", "work_ns", "idle_ns", "overhead_ns")
    assert [rank[key] for key in keys] == [0, 2, 100_000, 60_000, 100_000, 40_000]
    assert [document["total"][key] for key in keys[1:]] == [2, 100_000, 60_000, 100_000, 40_000]
    assert document["graph"]["tasks"] == 3 and document["graph"]["edges"] == 0
    assert document["discovery"]["seconds"] == pytest.approx(60e-6)
    assert [(kind["name"], kind["tasks"], kind["total_ns"]) for kind in document["kinds"]] == [("task", 3, 60_000)]
    assert document["incomplete"] == [] and document["program"]["records"] == 13
    assert [(cause["name"], cause["lost_ns"]) for cause in document["causes"]] == [
        ("discovery", 50_000), ("fine grain", 40_000), ("few tasks", 40_000), ("throttled producer", 10_000)]


def test_text_is_one_screen_of_80_columns_without_colour(two_threads: Path) -> None:
    result = report(two_threads)
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80 and "\x1b" not in result.stdout
    assert lines[0] == "app 7" and lines[1].startswith("1 rank x 2 threads on Marline 9; 13 records from node")
    assert re.search(r"^ +0 +2 +100 us +█{7}░{12}▒{5} +30.0 % +50.0 % +20.0 %$", result.stdout, re.MULTILINE)
    assert "3 tasks, 0 edges, grain 10.0 us in the median" in result.stdout
    assert "biggest loss" in result.stdout and "try next" in result.stdout


def test_no_color_is_respected_on_a_terminal(two_threads: Path) -> None:
    """What a terminal would get: with colour by default, without where NO_COLOR is set."""
    code = ("import io, json, sys; from marline.report import text as report_text; from rich.console import Console\n"
            "document = json.load(sys.stdin); file = io.StringIO(); file.isatty = lambda: True\n"
            "report_text.print_report(document, report_text.console_for(file)); print(file.getvalue())")
    text = report(two_threads, "--json").stdout
    for settings, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        environment = clean_environment(PYTHONPATH=str(PACKAGE), TERM="xterm-256color", **settings)
        environment = {key: value for key, value in environment.items() if key != "NO_COLOR" or settings}
        shown = subprocess.run([sys.executable, "-c", code], input=text, env=environment, text=True, timeout=SECONDS,
                               capture_output=True, check=True).stdout
        assert ("\x1b[32m" in shown) == coloured and "30.0 %" in shown


def test_progress_goes_to_a_terminal_on_standard_error_only(two_threads: Path) -> None:
    code = "import sys; from pathlib import Path; from marline.cli import main; sys.exit(main(sys.argv[1:], Path('/')))"
    ours, theirs = pty.openpty()
    environment = clean_environment(PYTHONPATH=str(PACKAGE), TERM="xterm-256color")
    with subprocess.Popen([sys.executable, "-c", code, "report", two_threads], env=environment, stderr=theirs,
                          stdout=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        shown = b""
        while chunk := read_terminal(ours):
            shown += chunk
        assert process.stdout is not None
        assert "biggest loss" in (text := process.stdout.read()) and "\x1b" not in text
    os.close(ours)
    assert process.returncode == 0 and "━".encode() in shown
    assert report(two_threads).stderr == ""


def read_terminal(descriptor: int) -> bytes:
    """What there is to read; nothing once the other side is closed, which Linux tells by EIO."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_windows(two_threads: Path) -> None:
    windows = document_of(two_threads, "--windows", "4")["windows"]
    assert [edge - windows["edges_ns"][0] for edge in windows["edges_ns"]] == [0, 25_000, 50_000, 75_000, 100_000]
    (rank,) = windows["ranks"]
    # 10-35, 35-60, 60-85, 85-110 us
    assert rank["work_ns"] == [10_000, 10_000, 15_000, 25_000]
    assert rank["overhead_ns"] == [10_000, 10_000, 20_000, 0]
    assert rank["idle_ns"] == [30_000, 30_000, 15_000, 25_000]
    text = report(two_threads, "--windows", "4").stdout
    assert re.search(r"^ *25.0 us +[█░▒]{24} +20.0 % +60.0 % +20.0 %$", text, re.MULTILINE)
    assert report(two_threads, "--windows", "0").returncode == 2


def test_csv_has_a_line_per_thread(two_threads: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(report(two_threads, "--csv").stdout)))
    assert [(row["rank"], row["thread"], row["work_ns"], row["makespan_ns"]) for row in rows] == [
        ("0", "0", "10000", "100000"), ("0", "1", "50000", "100000")]
    for row in rows:
        assert sum(int(row[key]) for key in ("work_ns", "idle_ns", "overhead_ns")) == 100_000


def test_own_pass(two_threads: Path, tmp_path: Path) -> None:
    (tmp_path / "longest.py").write_text(
        "from marline.trace.analysis import analysis_pass\n"
        "class Longest:\n"
        "    def __init__(self, ns): self.ns = ns\n"
        "    def document(self): return {'ns': self.ns}\n"
        "@analysis_pass('longest', needs=('tasks',))\n"
        "def longest(of): return Longest(int(of['tasks'].running.max()))\n")
    assert document_of(two_threads, "--pass", tmp_path / "longest.py")["passes"] == {"longest": {"ns": 40_000}}
    assert re.search(r"^longest ns +40000", report(two_threads, "--pass", tmp_path / "longest.py").stdout, re.MULTILINE)


def test_pass_of_marline_by_its_name(two_threads: Path) -> None:
    """60 us of work on two threads in 100 us; values of the pass are lines, its lists tables. Of a window, the overlap
    is asked for by options of its own."""
    result = report(two_threads, "--pass", "efficiency", "--pass", "graph", "--window", "0:50us", "--ranks", "0")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^efficiency makespan +100 us$", result.stdout, re.MULTILINE)
    assert re.search(r"^efficiency mpi +-$", result.stdout, re.MULTILINE)
    assert re.search(r"^graph kinds\nname +tasks +total +min +max +device\n", result.stdout, re.MULTILINE)
    assert re.search(r"^overlap of set window +0 s 50.0 us$", result.stdout, re.MULTILINE)
    result = report(two_threads, "--pass", "eficiency")
    assert result.returncode == 125 and result.stderr.endswith("or the name of one of Marline's: 'efficiency'?\n")


OWN = """\
from marline.trace.analysis import analysis_pass
class Result:
    def __init__(self, value): self.value = value
    def document(self): return {{"value": self.value + 0}}
@analysis_pass('own', needs={needs})
def own(of): {body}
"""


@pytest.mark.parametrize(("text", "message"), [
    ("x = 1\n", "registers no pass"),
    ("def f(:\n", "own.py:1: "),
    (OWN.format(needs="()", body="return of['no']"), "own"),
    (OWN.format(needs="'tasks'", body="return None"), "needs='tasks' of pass 'own' is a text"),
    (OWN.format(needs="()", body="raise SystemExit(0)"), "SystemExit"),
    ("raise SystemExit(0)", "SystemExit"),
    (OWN.format(needs="()", body="return Result(1 // 0)"), "ZeroDivisionError"),
    (OWN.format(needs="()", body="return Result(None)"), "document(): TypeError"),
    (OWN.format(needs="()", body="return Result(float('nan'))"), "document(): ValueError"),
])
def test_own_pass_with_a_fault_is_one_line(two_threads: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "own.py").write_text(text)
    result = report(two_threads, "--pass", tmp_path / "own.py")
    assert result.returncode == 125 and result.stdout == "" and message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    first, second = suspended_receive()
    second.records = second.records[:1]  # A never resumes
    folder = save(tmp_path, [first, second], size=3)
    file = folder / "rank0000.mtr"
    file.write_bytes(file.read_bytes()[:-20])  # nothing was there
    lines = document_of(folder)["incomplete"]
    assert "2 ranks of 3 left no trace: 1, 2" in lines
    assert "1 task of 2 had not completed when the trace ended" in lines
    assert "1 MPI call had not returned when the trace ended" in lines
    assert any("rank0000.mtr: 20 bytes missing at its end" in line for line in lines)
    text = report(folder).stdout
    assert all(f"incomplete    {line[:30]}" in text for line in lines)


def test_regions_are_summed_up_by_name(tmp_path: Path) -> None:
    """Twice `halo`, 10 and 30 us, in the initial task of one thread; a loop of 50 us around both."""
    halo, us = 77, 1000
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1001, "text", halo, low=int.from_bytes(b"halo", "little"))
    stream.add(2000, "work_begin", IMPLICIT, kind=10)
    for start, length in ((5, 10), (20, 30)):
        stream.add(start * us, "region_begin", IMPLICIT, text=halo)
        stream.add((start + length) * us, "region_end", IMPLICIT)
    stream.add(52_000, "work_end", IMPLICIT, kind=10)
    stream.add(60_000, "implicit_end", IMPLICIT)
    folder = save(tmp_path, [stream])
    document = document_of(folder)
    assert [(row["name"], row["count"], row["total_ns"]) for row in document["regions"]] == [("halo", 2, 40_000)]
    assert [(row["name"], row["total_ns"]) for row in document["worksharing"]] == [("loop, static", 50_000)]
    line = next(line for line in report(folder).stdout.splitlines() if line.startswith("halo"))
    assert line.split() == ["halo", "2", "20.0", "us", "40.0", "us"]


def test_tasks_are_coloured_by_the_region_in_which_they_were_created(tmp_path: Path) -> None:
    """A before the first `cycle`, B and C in the second one."""
    key = 77
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1001, "text", key, low=int.from_bytes(b"cycle", "little"))
    stream.add(1010, "task_create", A, parent=IMPLICIT)
    for start in (1020, 1040):
        stream.add(start, "region_begin", IMPLICIT, text=key)
        if start == 1040:
            stream.add(1050, "task_create", B, parent=IMPLICIT).add(1055, "task_create", C, parent=IMPLICIT)
        stream.add(start + 18, "region_end", IMPLICIT)
    for number, task in enumerate((A, B, C)):
        run_task(stream, task, 100 + 20 * number, 110 + 20 * number)
    stream.add(2000, "implicit_end", IMPLICIT)
    folder = save(tmp_path, [stream])
    chart = tmp_path / "chart.svg"
    result = report(folder, "--svg", chart, "--color-by", "cycle")
    assert result.returncode == 0, result.stderr
    shown = re.findall(r"<!-- ((?:before )?cycle \d) -->", chart.read_text())
    assert shown == ["before cycle 1", "cycle 2"]
    result = report(folder, "--svg", chart, "--color-by", "step")
    assert (result.returncode, result.stderr) == (
        125, "marline: --color-by step: the trace has no region of that name; it has: cycle\n")  # fmt: skip


def test_tasks_are_coloured_by_the_iteration_of_their_graph(tmp_path: Path) -> None:
    """A in the first iteration, B in the second one, C after the graph."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    for number, task in enumerate((A, B, C)):
        stream.add(1010 + 10 * number, "graph_iteration", IMPLICIT, graph=1, iteration=min(number + 1, 2),
                   how=0 if task == C else 2)  # fmt: skip
        stream.add(1011 + 10 * number, "task_create", task, parent=IMPLICIT)
        run_task(stream, task, 100 + 20 * number, 110 + 20 * number)
    stream.add(2000, "implicit_end", IMPLICIT)
    stream.records.sort(key=lambda record: record[0])
    chart = tmp_path / "chart.svg"
    result = report(save(tmp_path, [stream]), "--svg", chart, "--color-by", "graph-iteration")
    assert result.returncode == 0, result.stderr
    shown = re.findall(r"<!-- ((?:no )?graph-iteration(?: \d)?) -->", chart.read_text())
    assert shown == ["no graph-iteration", "graph-iteration 1", "graph-iteration 2"]


def test_recording_that_stopped_is_said(two_threads: Path) -> None:
    path = two_threads / "rank0000.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"stopped": "the limit of 1M is reached"}))
    assert "rank 0 stopped recording: the limit of 1M is reached" in document_of(two_threads)["incomplete"]


def test_more_threads_than_cores_are_remarked(two_threads: Path) -> None:
    assert document_of(two_threads)["remarks"] == []
    path = two_threads / "rank0000.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cpus": 1}))
    document = document_of(two_threads)
    assert any("recorded with 2 threads on 1 CPU" in remark for remark in document["remarks"])
    assert "oversubscribed" in [cause["name"] for cause in document["causes"]]


@pytest.mark.parametrize(("words", "message"), [
    (["/nowhere"], "/nowhere: no such folder"),
    (["--perfetto", "/nowhere/out"], "/nowhere/out: No such file or directory"),
    (["--pass", "/nowhere.py"], "/nowhere.py: no such file"),
])
def test_refusals_are_one_line(two_threads: Path, words: list[str], message: str) -> None:
    result = report(*(words if words[0] == "/nowhere" else [two_threads, *words]))
    assert result.returncode == 125 and result.stdout == "" and message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [[], ["--json"], ["--csv"]])
def test_output_that_cannot_be_written_is_one_line(two_threads: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        result = report(two_threads, *words, stdout=full)
    assert (result.returncode, result.stderr) == (125, "marline: No space left on device\n")


def test_a_reader_that_went_away_is_no_traceback(two_threads: Path) -> None:
    end, start = os.pipe()
    os.close(end)
    result = report(two_threads, "--json", stdout=start)
    os.close(start)
    assert (result.returncode, result.stderr) == (1, "")


def test_missing_package_is_one_line(two_threads: Path, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "rich.py").write_text("raise ImportError(\"No module named 'rich'\")\n")
    result = report(two_threads, PYTHONPATH=f"{shadow}{os.pathsep}{PACKAGE}")
    assert result.returncode == 125 and "No module named 'rich'" in result.stderr
    assert "python3 -m pip install numpy rich matplotlib" in result.stderr and len(result.stderr.splitlines()) == 1


def test_communication_is_the_cause_where_all_wait_for_messages(tmp_path: Path) -> None:
    """Task A, tied, is suspended in MPI_Recv for 960 of 1000 us, and MPI holds its thread for 10 before and after; its
    thread has nothing else to do."""
    us = 1000
    call = {"peer": 1, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1000, "task_create", A, parent=IMPLICIT)
    stream.add(1000 + 10 * us, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1000 + 20 * us, "mpi_enter", A, **call)
    stream.add(1000 + 30 * us, "task_schedule", A, next=IMPLICIT, status=SWITCH)
    stream.add(1000 + 990 * us, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1000 + 1000 * us, "mpi_exit", A, **call)
    stream.add(1000 + 1010 * us, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    stream.add(1000 + 1020 * us, "implicit_end", IMPLICIT)
    causes = document_of(save(tmp_path, [stream]))["causes"]
    assert causes[0]["name"] == "communication" and causes[0]["lost_ns"] == (960 + 10 + 10) * us
    assert "98.0 % of thread time (980 us)" in causes[0]["text"]


def test_waiting_in_mpi_for_a_rank_with_more_work_is_imbalance(tmp_path: Path) -> None:
    """Each rank runs A and is then in a receive, of which it is suspended from 5 us on, until 605 us. Rank 1 works
    400 us more than rank 0: of the 505 us that rank 0 waits 400 are imbalance, and 105 of each rank are
    communication."""
    us = 1000
    call = {"peer": 1, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    for rank, work in ((0, 100), (1, 500)):
        stream = Stream().add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
        stream.add(1000, "task_create", A, parent=IMPLICIT)
        stream.add(1000 + 10 * us, "task_schedule", IMPLICIT, next=A, status=SWITCH)
        stream.add(1000 + work * us, "mpi_enter", A, **call)
        stream.add(1000 + (work + 5) * us, "task_schedule", A, next=IMPLICIT, status=SWITCH)
        stream.add(1000 + 605 * us, "task_schedule", IMPLICIT, next=A, status=SWITCH)
        stream.add(1000 + 605 * us, "mpi_exit", A, **call)
        stream.add(1000 + 610 * us, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
        stream.add(1000 + 611 * us, "implicit_end", IMPLICIT)
        save(tmp_path, [stream], rank=rank)
    lost = {cause["name"]: cause["lost_ns"] for cause in document_of(tmp_path)["causes"]}
    assert lost["imbalance"] == 400 * us and lost["communication"] == 210 * us


def test_imbalance_between_ranks(tmp_path: Path) -> None:
    """Rank 0 works for 100 us, rank 1 for 400: 300 of 800 us are lost."""
    for rank, length in ((0, 100_000), (1, 400_000)):
        stream = Stream().add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
        stream.add(1010, "task_create", A, parent=IMPLICIT)
        run_task(stream, A, 20, 20 + length)
        stream.add(1000 + 20 + length, "implicit_end", IMPLICIT)
        save(tmp_path, [stream], rank=rank)
    cause = document_of(tmp_path)["causes"][0]
    assert cause["name"] == "imbalance" and cause["lost_ns"] == 300_000
    assert "37.5 % of thread time (300 us)" in cause["text"]
    assert "from rank 1 (the most) to rank 0 (the least)" in cause["advice"]


@pytest.mark.parametrize(("extra", "said"), [(0, False), (400, True)])
def test_imbalance_that_is_one_call(tmp_path: Path, extra: int, said: bool) -> None:
    """Four times rank 0 works for 100 us and rank 1 for 130 us, and then both call MPI_Barrier. More work of rank 1,
    once, makes rank 0 wait for 430 us in one call, of 520 us in all four."""
    us, call = 1000, {"peer": -1, "comm": 1, "call": CALL_NUMBER["MPI_Barrier"]}
    streams = [Stream(), Stream()]
    time = 0
    for turn in range(4):
        works = [100, 130 + extra * (turn == 2)]
        for stream, work in zip(streams, works):
            stream.add(1000 + (time + work) * us, "mpi_enter", 1 << 32, **call)
        time += max(works)
        for stream in streams:
            stream.add(1000 + time * us, "mpi_exit", 1 << 32, **call)
    for rank, stream in enumerate(streams):
        first = Stream().add(1000, "mpi_enter", 1 << 32, **call).add(1000, "mpi_exit", 1 << 32, **call)
        first.records += stream.records
        save(tmp_path, [first], rank=rank, size=2)
    (cause,) = [cause for cause in document_of(tmp_path)["causes"] if cause["name"] == "imbalance"]
    sentence = "in one call: rank 0 waits 430 us for rank 1 in the MPI_Barrier that begins 360 us into the run"
    assert (sentence in cause["text"]) == said
    assert cause["advice"].startswith("see what rank 1 does before that call" if said else "move work from rank 1 ")


# What each rule of the table needs to be the biggest, beside these.
QUIET = {f"{cause.name}_ns": 0 for cause in CAUSES} | {
    "thread_ns": 100 * MS, "overhead_per_task_ns": 400.0, "grain_median_ns": 50_000.0, "tasks": 1000, "threads": 4,
    "tasks_per_second": 1_100_000.0, "threads_per_node": 4, "cores_per_node": 8, "tied_wait_ns": 0,
    "core_wait_ns": 0, "imbalance_ns": 0, "work_least_ns": 10 * MS, "work_most_ns": 30 * MS, "rank_least": 3,
    "rank_most": 5, "one_wait": "", "imbalance_advice": "move work from rank 5 (the most) to rank 3 (the least)",
    "longest_task": "step a.c:9, 140 ms", "one_address": "",
    "mpi_calls": 8, "suspended_calls": 0, "held_early_ns": 0, "held_call": "MPI_Recv", "on_marline": True,
    "device_operations": 0, "device_least": 0, "device_most": 0,
    "taken_ns": 0, "steal_ns": 0, "throttled_ns": 0, "memory_stall_ns": 0, "kernel_ns": 0, "minor_faults": 0,
    "major_faults": 0, "window_ns": 2000 * MS, "construct_wait_ns": 0, "construct_what": "", "construct_advice": "",
    "lock_site": "", "lock_place": "", "phase_work_ns": 0, "idle_between_ns": 0, "barrier_places": "",
    "serial_place": "", "mpi_most": "",
}  # fmt: skip
TRIGGERS = {
    "busy cores": ({"core_wait_ns": 20 * MS}, "for 20.0 % of their time (20.0 ms)"),
    "oversubscribed": ({"overhead_scheduler_ns": 20 * MS, "cores_per_node": 2}, "4 threads share 2 cores: 20.0 %"),
    "fine grain": ({"overhead_creation_ns": 20 * MS, "grain_median_ns": 1200.0},
                   "tasks are 1.20 us long in the median, and the runtime spends 400 ns per task: 20.0 %"),
    "overhead": ({"overhead_code_ns": 20 * MS}, "for 20.0 % of their time (20.0 ms) while tasks are ready"),
    "discovery": ({"idle_discovery_ns": 34 * MS},
                  "1.10 M tasks/s are created: for 34.0 % of thread time (34.0 ms), that of the producer between "
                  "creations included, no task was ready"),
    "devices": ({"idle_communication_ns": 20 * MS, "tied_wait_ns": 15 * MS, "device_operations": 9, "mpi_calls": 0},
                "no task was ready, and tasks waited for devices"),
    "communication": ({"idle_communication_ns": 20 * MS}, "for 20.0 % of thread time (20.0 ms) no task was ready"),
    "tied tasks": ({"idle_communication_ns": 20 * MS, "tied_wait_ns": 15 * MS}, "went on 15.0 ms later, in sum"),
    "MPI": ({"idle_communication_ns": 20 * MS, "tasks": 0, "mpi_most": ", most of it in MPI_Recv"},
            "of a program without tasks for 20.0 % of their time (20.0 ms), most of it in MPI_Recv"),
    "held by MPI": ({"overhead_held_ns": 10 * MS, "overhead_mpi_ns": 10 * MS, "on_marline": False},
                    "for 20.0 % of thread time (20.0 ms), most of it in MPI_Recv"),
    "no suspension": ({"overhead_held_ns": 20 * MS, "held_early_ns": 15 * MS}, "no call has suspended its task"),
    "MPI at work": ({"overhead_held_ns": 20 * MS, "held_early_ns": 5 * MS}, "so MPI itself works"),
    "imbalance": ({"imbalance_ns": 20 * MS, "one_wait": ", most of it in one call: rank 3"},
                  "for 20.0 % of thread time (20.0 ms) they wait for the ones that have more, most of it in one call"),
    "ranks out of step": ({"idle_ranks_ns": 20 * MS}, "20.0 % of thread time (20.0 ms) passes before a rank's first"),
    "devices at work": ({"idle_device_ns": 20 * MS, "tasks": 7, "device_least": 30, "device_most": 90},
                        "while devices ran kernels: for 30 % to 90 % of the time"),
    "throttled producer": ({"idle_throttled_ns": 20 * MS}, "the creator of more tasks ran one instead"),
    "mutual exclusion": ({"idle_constraint_ns": 20 * MS}, "tasks waited for locks, critical regions or others"),
    "few tasks": ({"idle_tail_ns": 20 * MS, "tasks": 7}, "there are 7 tasks for 4 threads: for 20.0 % of thread time"),
    "narrow graph": ({"idle_dependences_ns": 20 * MS, "one_address": "; 9 of 9 dependences come from state alone"},
                     "(20.0 ms) no task was ready: all that were left waited for running ones; 9 of 9 dependences"),
    "last tasks": ({"idle_tail_ns": 20 * MS}, "no other was left; the longest task is step a.c:9, 140 ms"),
    "code outside of tasks": ({"idle_outside_ns": 20 * MS}, "for 20.0 % of thread time (20.0 ms) there was no task"),
    "serial code": ({"idle_outside_ns": 20 * MS, "tasks": 0, "serial_place": ", most of it after the region f a.c:4"},
                    "for 20.0 % of their time (20.0 ms), most of it after the region f a.c:4"),
    "unequal threads": ({"construct_wait_ns": 20 * MS, "construct_what": "loop f a.c:7: thread 3 works 4.1x as long as "
                         "thread 0", "construct_advice": "try schedule(dynamic)"},
                        "loop f a.c:7: thread 3 works 4.1x as long as thread 0; waits at its end cost 20.0 % of"),
    "locks": ({"idle_lock_ns": 20 * MS, "lock_place": ", most of it in loop f a.c:7"},
              "(20.0 ms), most of it in loop f a.c:7"),
    "barriers": ({"idle_barrier_ns": 20 * MS, "phase_work_ns": 20_000,
                  "barrier_places": ", also after loop f a.c:7 (3.0 %)"},
                 "for 20.0 % of their time (20.0 ms), also after loop f a.c:7 (3.0 %)"),
    "short regions": ({"idle_barrier_ns": 11 * MS, "idle_between_ns": 9 * MS, "phase_work_ns": 2000},
                      "threads work 2.00 us between two barriers, on average, and wait in barriers and for the next "
                      "region for 20.0 % of their time (20.0 ms)"),
}
MACHINE_TRIGGERS = {
    "stolen cores": ({"steal_ns": 20 * MS}, "for 20.0 % of thread time (20.0 ms) the hypervisor gave the cores"),
    "quota": ({"throttled_ns": 20 * MS}, "for 20.0 % of thread time (20.0 ms) threads were stopped"),
    "memory": ({"memory_stall_ns": 20 * MS}, "(20.0 ms) processes of the node waited for memory"),
    "page faults": ({"kernel_ns": 20 * MS, "minor_faults": 30_000, "major_faults": 3},
                    "for the program for 20.0 % of thread time (20.0 ms): it serves 30.0 k page faults, and 3 from"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRIGGERS | MACHINE_TRIGGERS)
def test_each_rule_comes_first_where_its_cause_is_the_biggest(name: str) -> None:
    changes, text = (TRIGGERS | MACHINE_TRIGGERS)[name]
    causes = find_causes(QUIET | changes | ({"imbalance_ns": 2 * MS} if name != "imbalance" else {}))
    assert causes[0]["name"] == name and text in causes[0]["text"] and "{" not in causes[0]["advice"]
    assert causes[0]["share"] == causes[0]["lost_ns"] / QUIET["thread_ns"]
    assert len(causes) == (1 if name == "imbalance" else 2)


def test_fine_grain_advice_names_the_grain_to_reach() -> None:
    (cause,) = find_causes(QUIET | TRIGGERS["fine grain"][0])
    assert cause["advice"].startswith("raise the grain to 4.00 us or more (10 x 400 ns)")


def test_every_rule_is_triggered_and_every_lost_nanosecond_has_a_rule() -> None:
    assert [rule.name for rule in RULES] == list(TRIGGERS)
    assert [rule.name for rule in MACHINE_RULES] == list(MACHINE_TRIGGERS)
    explained = {part for rule in RULES for part in rule.parts}
    lost = {cause.name for cause in CAUSES if cause.part != WORK}
    assert lost - explained == {"idle_unrecorded"}  # said as incomplete


def test_small_losses_are_not_worth_saying() -> None:
    almost = int(report_causes.WORTH_SAYING * QUIET["thread_ns"]) - 1
    assert find_causes(QUIET | {"imbalance_ns": almost}) == []
    assert find_causes(QUIET | {"thread_ns": 0}) == []


@pytest.mark.parametrize(("version", "name"), [
    ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI v4.1.4"),
    ("MPICH Version:    4.0.2\nMPICH Release date:     Thu Apr  7", "MPICH 4.0.2"),
])
def test_names_of_mpi(version: str, name: str) -> None:
    assert report_text.mpi_name(version) == name


@pytest.mark.parametrize(("value", "text"), [
    (0, "0 s"), (0.5, "0.50 ns"), (12, "12.0 ns"), (999.97, "1000 ns"), (1234, "1.23 us"), (34_560_000, "34.6 ms"),
    (1.5e9, "1.50 s"), (7.2e12, "7200 s"),
])
def test_durations(value: float, text: str) -> None:
    assert units.duration(value) == text


@pytest.mark.parametrize(("value", "text"), [(7, "7"), (1234, "1,234"), (12_345, "12.3 k"), (1_100_000, "1.10 M")])
def test_counts(value: float, text: str) -> None:
    assert units.count(value) == text
