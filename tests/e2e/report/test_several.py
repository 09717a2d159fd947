# SPDX-License-Identifier: Apache-2.0
"""`marline report` of several traces made by hand: comparison of two and the table of scaling, with answers worked out
by hand; on a terminal its cells have colours."""
from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from handmade import COMPLETE, IMPLICIT, SWITCH, A, Stream, save  # first: it finds marline
from marline.errors import Refusal
from marline.report import command
from marline.report.several.scaling import print_scaling
from marline.trace.analysis import Analysis
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

US = 1000
NAMES = {71: b"heavy", 72: b"light"}


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command prints."""

    def run(*words: str | Path) -> str:
        assert command.main([*map(str, words)], Path("/")) == 0
        return capsys.readouterr().out

    return run


def saved(folder: Path, threads: int, heavy: int, light: int, tasks: int = 2) -> Path:
    """On each thread, `tasks` tasks of `heavy` us and one of `light` us, one after the other from 0 on."""
    folder.mkdir()
    streams = []
    for thread in range(1, threads + 1):
        implicit = thread << 32 | 1
        stream = Stream(thread).add(1000, "implicit_begin", implicit, size=threads)
        if thread == 1:
            for key, text in NAMES.items():
                stream.add(1000, "text", key, low=int.from_bytes(text, "little"))
        now = 1000
        for number, length in enumerate([heavy] * tasks + [light]):
            task = thread << 32 | 100 + number
            stream.add(now, "task_create", task, parent=implicit, flags=4)
            stream.add(now, "task_label", task, text=71 if number < tasks else 72)
            stream.add(now + length * US, "task_run", task, start=now, outer=implicit)
            now += length * US
        stream.add(now, "wait_begin", implicit, kind=2)
        streams.append(stream.add(1000 + 100 * US, "implicit_end", implicit))
    return save(folder, streams, argv=["./app", "-b", "7"])


def test_two_runs(report: Any, tmp_path: Path) -> None:
    """Heavy tasks take 30 us in the first run; in the second, twice as many take 12 us. Light ones 10 and 20 us."""
    folders = saved(tmp_path / "a", 1, 30, 10), saved(tmp_path / "b", 1, 12, 20, tasks=4)
    found = json.loads(report(*folders, "--json"))
    assert found["format"] == "marline-compare 1"
    assert [run["work_ns"] for run in found["runs"]] == [70 * US, 68 * US]
    assert found["ratios"]["work"] == 68 / 70 and found["ratios"]["makespan"] == 68 / 70
    heavy, light = ({key: row[key] for key in ("name", "tasks", "work_ns", "work_ratio", "work_per_task_ratio")}
                    for row in found["kinds"][::-1])  # fmt: skip
    if heavy["name"] != "heavy":
        heavy, light = light, heavy
    assert heavy == {"name": "heavy", "tasks": [2, 4], "work_ns": [60 * US, 48 * US], "work_ratio": 0.8,
                     "work_per_task_ratio": 0.4}  # fmt: skip
    assert light == {"name": "light", "tasks": [1, 1], "work_ns": [10 * US, 20 * US], "work_ratio": 2.0,
                     "work_per_task_ratio": 2.0}  # fmt: skip
    text = report(*folders)
    assert re.search(r"^work +70.0 us +68.0 us +0.97$", text, re.MULTILINE)
    assert re.search(r"^heavy +2 +4 +60.0 us +48.0 us +0.80 +0.40$", text, re.MULTILINE)
    assert re.search(r"^light +1 +1 +10.0 us +20.0 us +2.00 +2.00$", text, re.MULTILINE)


def test_several_runs_of_each_side(report: Any, tmp_path: Path) -> None:
    """Heavy tasks take 30, 31, 32 and 33 us each in A, and 12 to 15 in B: of the 70 ways to divide eight runs in two,
    two lie as far apart. Light ones take 10 to 13 us in both, which is no difference."""
    sides = [",".join(str(saved(tmp_path / f"{side}{run}", 1, heavy + run, 10 + run)) for run in range(4))
             for side, heavy in (("a", 30), ("b", 12))]  # fmt: skip
    found = json.loads(report(*sides, "--json"))
    heavy, light = found["kinds"]
    assert (heavy["work_ns"], heavy["p"]) == ([63 * US, 27 * US], 2 / 70)
    assert (light["work_ns"], light["p"]) == ([11.5 * US, 11.5 * US], 1.0)
    assert [run["count"] for run in found["runs"]] == [4, 4] and found["p"]["work"] == 2 / 70
    text = report(*sides)
    assert re.search(r"^heavy +2 +2 +63.0 us +27.0 us +0.43 +0.43 +0.029$", text, re.MULTILINE)
    assert "median of 4 runs" in text and "p: how likely such a difference is by chance" in text


def test_a_table_of_three_needs_no_option(report: Any, tmp_path: Path, runs: list[Path]) -> None:
    assert re.search(r"^strong scaling +one +two +one$", report(*runs, runs[0]), re.MULTILINE)


def message(folder: Path, lasts: int) -> Path:
    """Rank 0 sends at 10 us from a task what rank 1 has `lasts` us later."""
    folder.mkdir()
    for rank, call, start, end in ((0, "MPI_Send", 10, 11), (1, "MPI_Recv", 5, 10 + lasts)):
        values = {"peer": 1 - rank, "bytes": 8, "comm": 1, "call": CALL_NUMBER[call]}
        stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
        stream.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
        stream.add(1000, "task_schedule", IMPLICIT, next=A, status=SWITCH)
        stream.add(1000 + start * US, "mpi_enter", A, **values).add(1000 + end * US, "mpi_exit", A, **values)
        save(folder, [stream.add(1000 + 50 * US, "task_schedule", A, next=IMPLICIT, status=COMPLETE)], rank, size=2)
    return folder


def test_messages_of_two_runs(report: Any, tmp_path: Path) -> None:
    (kind,) = json.loads(report(message(tmp_path / "a", 20), message(tmp_path / "b", 30), "--json"))["kinds"]
    assert kind["messages"] == [1, 1] and kind["communication_ns"] == [20 * US, 30 * US]
    assert kind["communication_ratio"] == 1.5
    assert kind["in_mpi_ns"] == [1 * US + 25 * US, 1 * US + 35 * US]
    assert Analysis(read_trace(tmp_path / "a")).document("work_by_kind") == [
        {"name": kind["name"], "tasks": 2, "work_ns": 49 * US + 25 * US, "in_mpi_ns": 26 * US, "messages": 1,
         "communication_ns": 20 * US}]  # fmt: skip


def test_what_comes_before_the_first_task_is_not_compared(tmp_path: Path) -> None:
    """40 us in a call, then 10 us of other code; the total begins with A, which runs 20 us."""
    barrier = {"comm": 1, "call": CALL_NUMBER["MPI_Barrier"]}
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    stream.add(1000, "mpi_enter", IMPLICIT, **barrier).add(1000 + 40 * US, "mpi_exit", IMPLICIT, **barrier)
    stream.add(1000 + 50 * US, "task_create", A, parent=IMPLICIT, flags=4)
    stream.add(1000 + 50 * US, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1000 + 70 * US, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    (kind,) = Analysis(read_trace(save(tmp_path, [stream]))).document("work_by_kind")
    assert (kind["tasks"], kind["work_ns"], kind["in_mpi_ns"]) == (1, 20 * US, 0)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Of 80 us of work: on one thread in 80, on two in 50 us with 100 us of work."""
    return [saved(tmp_path / "one", 1, 30, 20), saved(tmp_path / "two", 2, 20, 10)]


def test_scaling(report: Any, runs: list[Path]) -> None:
    document = json.loads(report(*runs, "--scaling", "--json"))
    first, second = document["runs"]
    assert first["speedup"] == 1 and first["efficiency"]["global"] == 1
    assert (second["ranks"], second["threads"], second["speedup"]) == (1, 2, 1.6)
    assert second["efficiency"]["computation_scaling"] == 0.8 and second["efficiency"]["parallel"] == 1
    assert second["efficiency"]["global"] == 0.8
    weak = json.loads(report(*runs, "--weak-scaling", "--json"))["runs"][1]
    assert (weak["speedup"], weak["efficiency"]["computation_scaling"]) == (3.2, 1.6)
    terminal = io.StringIO()
    print_scaling(document, ["one", "two"], Console(file=terminal, force_terminal=True, color_system="standard"))
    assert "\x1b[30;42m 100.0 %" in terminal.getvalue() and "\x1b[30;43m" in terminal.getvalue()


def test_scaling_as_text(report: Any, runs: list[Path]) -> None:
    text = report(*runs, "--scaling")
    assert re.search(r"^strong scaling +one +two$", text, re.MULTILINE)
    assert re.search(r"^speedup +1.00 +1.60$", text, re.MULTILINE)
    assert re.search(r"^global efficiency +100.0 % +80.0 %$", text, re.MULTILINE) and "\x1b" not in text


@pytest.mark.parametrize(("words", "message"), [
    (["{1}", "--csv"], "--csv describes one trace, and 2 are given"),
    (["{1}", "--window", "0:1s"], "--window describes one trace"),
    (["{1}", "--pass", "efficiency"], "--pass describes one trace"),
    (["{1}", "--scaling", "--weak-scaling"], "give one of them"),
    (["/nowhere"], "/nowhere"),
])  # fmt: skip
def test_what_several_traces_have_no_answer_to(runs: list[Path], words: list[str], message: str) -> None:
    with pytest.raises(Refusal) as refused:
        command.main([str(runs[0]), *(word.format(*runs) for word in words)], Path("/"))
    assert message in str(refused.value) and len(str(refused.value).splitlines()) == 1
