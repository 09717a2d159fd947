# SPDX-License-Identifier: Apache-2.0
"""`marline report --what-if` on traces made by hand, with answers worked out by hand; wrong texts; and what holds of
any run. One cycle is one nanosecond, and records begin at 1000."""
from __future__ import annotations

import json
import re
import shlex
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, C, Stream, save
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import document_of, report
from test_analysis_properties import Runtime, analysed, bounded, runtimes
from test_critical_path import rank, run, two_ranks

from marline.report import what_if
from marline.report.options import SCHEMA
from marline.trace.analysis import Analysis, AnalysisError
from marline.trace.what_if.native_replay import replay
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace
from marline.trace.what_if.language import MOST_NAMES, Change, matching, parse
from marline.trace.what_if.predict import Prediction, WhatIf, length

UNREAD = SimpleNamespace(trace=SimpleNamespace(folder="app.trace"))  # an analysis that only says what it is of


def predicted(of: Analysis, text: str) -> int:
    return WhatIf(of).predict(parse(text)).predicted


@pytest.fixture
def late_sender(tmp_path: Path) -> Path:
    """Rank 0 works 100 ns and sends; rank 1 has asked at 10, gets the message at 130 and works 20 ns more."""
    two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 100, 105, 5), rank(1, A, False, "MPI_Recv", 10, 130, 20))
    return tmp_path


@pytest.mark.parametrize(("text", "time"), [
    ("task x1", 150), ("network x0", 120), ("network x2", 180), ("network +10ns", 160), ("task x2", 240 + 30),
    ("task x0", 30), ("t?sk x2, network x0", 240), ("threads 4", 150), ("overhead x9", 150), ("balance", 150),
])  # fmt: skip
def test_changes_of_a_late_sender(late_sender: Path, text: str, time: int) -> None:
    """The ranks have 105 and 30 ns of work."""
    of = Analysis(read_trace(late_sender))
    if text == "balance":
        sums = (100 + 5, 10 + 20)
        time = round(100 * sum(sums) / 2 / sums[0]) + 30 + round(20 * sum(sums) / 2 / sums[1])
    assert predicted(of, text) == time


@pytest.mark.parametrize(("text", "time"), [("network x0", 130), ("network +7ns", 157), ("task x1", 150)])
def test_collective_is_on_its_way_once(tmp_path: Path, text: str, time: int) -> None:
    """Rank 1 comes at 100, both have the result at 120, and rank 0 works 30 ns more."""
    first, second = (rank(number, A, False, "MPI_Allreduce", enter, 120, tail) for number, enter, tail in
                     ((0, 10, 30), (1, 100, 5)))  # fmt: skip
    two_ranks(tmp_path, first, second)
    assert predicted(Analysis(read_trace(tmp_path)), text) == time


@pytest.mark.parametrize(("text", "time"), [("network x0", 150), ("task x2", 200 + 30 + 40)])
def test_sender_waits_for_a_late_receiver(tmp_path: Path, text: str, time: int) -> None:
    """Rank 0 sends at 10, and MPI holds it until 130, 30 ns after rank 1 asks at 100; it works 20 ns more."""
    two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 10, 130, 20), rank(1, A, False, "MPI_Recv", 100, 125, 5))
    assert predicted(Analysis(read_trace(tmp_path)), text) == time


@pytest.mark.parametrize(("text", "time"), [("task x1", 160), ("network x0", 130), ("task x2", 200 + 30 + 10 + 40)])
def test_what_a_suspended_call_takes_on_its_thread(tmp_path: Path, text: str, time: int) -> None:
    """Rank 1 enters MPI at 10 and is suspended at 30, goes on at 130, leaves MPI at 140 and works to 160. What rank 0
    has sent at 100 took 30 ns."""
    values = {"peer": 0, "tag": 7, "bytes": 8, "comm": 1, "call": CALL_NUMBER["MPI_Recv"]}
    second = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    second.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
    for at, task, following in ((0, IMPLICIT, A), (30, A, IMPLICIT), (130, IMPLICIT, A)):
        second.add(1000 + at, "task_schedule", task, next=following, status=SWITCH)
    second.add(1010, "mpi_enter", A, **values).add(1140, "mpi_exit", A, **values)
    second.add(1160, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    second.records.sort(key=lambda record: record[0])
    two_ranks(tmp_path, rank(0, A, True, "MPI_Send", 100, 105, 5), second)
    assert predicted(Analysis(read_trace(tmp_path)), text) == time


def kernels(folder: Path) -> Analysis:
    """One thread runs A 0-10 and B 10-20, each of which asks the only device for a kernel then, of 100 and 60 ns. The
    device runs A's 10-110, then B's to 170. A goes on 110-115, B 170-180."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=300, index=0, size=1)
    for task in (B, A):  # the newest is run first
        stream.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    stream.add(1000, "wait_begin", IMPLICIT, kind=3).add(1000, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1010, "target_begin", A, construct=500, device=0, kind=1)
    stream.add(1010, "task_schedule", A, next=B, status=SWITCH)
    stream.add(1010, "device_kernel", 500, elapsed=100, device=0)
    stream.add(1020, "target_begin", B, construct=501, device=0, kind=1)
    stream.add(1020, "task_schedule", B, next=IMPLICIT, status=SWITCH)
    stream.add(1110, "device_kernel", 501, elapsed=60, device=0)
    for task, start, end, construct in ((A, 1110, 1115, 500), (B, 1170, 1180, 501)):
        stream.add(start, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(start, "target_end", task, construct=construct)
        stream.add(end, "task_schedule", task, next=IMPLICIT, status=COMPLETE)
    save(folder, [stream])
    return Analysis(read_trace(folder))


@pytest.mark.parametrize(("text", "time"), [
    ("task x1", 180), ("devices x2", 115), ("task x2", 20 + 100 + 60 + 20),
    ("devices x2, task x2", 20 + 100 + 10),
])  # fmt: skip
def test_kernels_wait_for_their_device(tmp_path: Path, text: str, time: int) -> None:
    of = kernels(tmp_path)
    found = WhatIf(of).predict(parse(text))
    assert (found.as_is, found.predicted) == (180, time)
    if text == "task x1":
        assert {row["name"]: row["total_ns"] for row in found.bounds}["kernels and copies of devices"] == 160


@pytest.mark.parametrize(("text", "time"), [("task x1", 160), ("devices x2", 100)])
def test_tasks_that_only_a_device_runs(tmp_path: Path, text: str, time: int) -> None:
    """A and B begin at 0, and no thread runs them. Their device has A's kernel 0-100, then B's to 160."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=300, index=0, size=1)
    for task in (B, A):  # the newest is begun first
        stream.add(1000, "task_create", task, parent=IMPLICIT, flags=4)
    stream.add(1000, "wait_begin", IMPLICIT, kind=3)
    for task, construct in ((A, 500), (B, 501)):
        stream.add(1000, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(1000, "target_begin", task, construct=construct, device=0, kind=1)
        stream.add(1000, "task_schedule", task, next=IMPLICIT, status=SWITCH)
    stream.add(1000, "device_kernel", 500, elapsed=100, device=0).add(1100, "device_kernel", 501, elapsed=60, device=0)
    for task, end, construct in ((A, 1100, 500), (B, 1160, 501)):
        stream.add(end, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(end, "target_end", task, construct=construct)
        stream.add(end, "task_schedule", task, next=IMPLICIT, status=COMPLETE)
    stream.records.sort(key=lambda record: record[0])
    save(tmp_path, [stream])
    found = WhatIf(Analysis(read_trace(tmp_path))).predict(parse(text))
    assert (found.as_is, found.predicted) == (160, time)


def test_devices_that_there_are_not(late_sender: Path) -> None:
    with pytest.raises(AnalysisError, match="'devices x2': no device has worked"):
        predicted(Analysis(read_trace(late_sender)), "devices x2")


def test_a_device_cannot_do_half_a_kernel(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="'devices x0.5': each device did one kernel or copy at a time"):
        predicted(kernels(tmp_path), "devices x0.5")


def fork(folder: Path, threads: int, **more: Any) -> Analysis:
    """One thread creates A, B and C, 10 ns each after the first, and runs them, 100 ns each, one after the other."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, parallel=300, index=0, size=threads)
    for number, task in enumerate((A, B, C)):
        first.add(1000 + 10 * number, "task_create", task, parent=IMPLICIT, flags=4)
    first.add(1020, "sync_begin", IMPLICIT, kind=3).add(1020, "wait_begin", IMPLICIT, kind=3)
    for number, task in enumerate((A, B, C)):
        run(first, task, 20 + 100 * number, 120 + 100 * number, IMPLICIT)
    return Analysis(read_trace(save(folder, [first], **more)))


def test_threads_and_kernels_of_a_fork(tmp_path: Path) -> None:
    """The total begins with the first task, so creation takes no time."""
    of = fork(tmp_path, 1)
    assert of["breakdown"].makespan == 300
    times = {text: predicted(of, text) for text in ("threads 1", "threads 2", "threads x3", "threads +9", "task x0.5")}
    assert times == {"threads 1": 300, "threads 2": 200, "threads x3": 100, "threads +9": 100, "task x0.5": 150}


def test_what_took_the_time_then(late_sender: Path) -> None:
    document = document_of(late_sender, "--what-if", "network x2", "--what-if", "task x0")
    found = document["what_if"]
    assert [one["changes"] for one in found] == [["network x2"], ["task x0"]]
    assert found[0]["bounds"] == [{"name": "task", "total_ns": 120}, {"name": "messages", "total_ns": 60}]
    assert found[1]["bounds"] == [{"name": "messages", "total_ns": 30}]
    assert [one["model_error"] for one in found] == [0, 0] and found[0]["change"] == pytest.approx(0.2)
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    validator(json.loads(SCHEMA.read_text())).validate(document)


def test_text(late_sender: Path) -> None:
    shown = report(late_sender, "--what-if", "network x2, threads 64").stdout
    lines = {line[:17].strip(): line[17:] for line in shown[shown.index("what if") :].splitlines()}
    assert lines["what if"] == "network x2, threads 64" and lines["measured"] == "150 ns"
    assert lines["model as it was"] == "150 ns, +0.0 % beside the run" and lines["predicted"] == "180 ns, +20.0 %"
    assert lines["then bounded by"] == "task 66.7 %; messages 33.3 %"
    assert lines["not judged"].startswith("threads 64: no study")


def test_advice_says_what_the_model_expects(tmp_path: Path) -> None:
    """Rank 0 works 100 us and rank 1 300 us before both meet: with 200 us each, a third less."""
    us = 1000
    two_ranks(tmp_path, rank(0, A, False, "MPI_Allreduce", 100 * us, 300 * us, 0),
              rank(1, A, False, "MPI_Allreduce", 300 * us, 300 * us + 1, 0))  # fmt: skip
    cause = document_of(tmp_path)["causes"][0]
    assert cause["name"] == "imbalance" and cause["expected"]["what_if"] == "balance"
    assert cause["expected"]["change"] == pytest.approx(-1 / 3, abs=0.01)
    shown, command = report(tmp_path).stdout, f'marline report {tmp_path} --what-if "balance"'
    assert "expected      -33.3 % of the time at most, says the model of the run" in shown
    assert cause["expected"]["command"] == command and "".join(command.split()) in "".join(shown.split())
    page = tmp_path / "page.html"
    assert report(tmp_path, "--html", page).returncode == 0
    assert f"<code>{escape(command)}</code>" in page.read_text()
    # The command does what it promises.
    predicted = re.search(r"^predicted .*", report(*shlex.split(command)[2:]).stdout, re.M)
    assert predicted and "-33.3 %" in predicted[0]


def test_advice_without_gain_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """"-0.0 % at most" beside an advice would be a contradiction."""
    for then, said in ((1000, False), (996, False), (900, True)):
        found = Prediction([], 1000, 1000, then, [], [])
        monkeypatch.setattr(what_if, "WhatIf", lambda _, found=found: SimpleNamespace(predict=lambda _: found))
        cause: dict[str, object] = {"name": "narrow graph"}
        what_if.add_expected(UNREAD, [cause], {})
        assert ("expected" in cause) == said, then


@pytest.mark.parametrize("median", [0, 1, 10**3, 10**9])
def test_advice_for_fine_grain_is_a_change(median: int) -> None:
    """A task's time may be any small part of the time that the runtime takes for it."""
    text = what_if.ADVICE["fine grain"]({"grain_median_ns": median, "overhead_per_task_ns": 10**7})
    overhead, creation = parse(text)
    assert overhead.factor == creation.factor == pytest.approx(median / (what_if.GRAIN * 10**7), rel=0.05)


@pytest.mark.parametrize(("threads", "cores", "said"), [(2, 2, False), (2, 4, True), (2, 0, True)])
def test_nothing_is_expected_of_a_thread_without_a_core(monkeypatch: pytest.MonkeyPatch, threads: int, cores: int,
                                                        said: bool) -> None:  # fmt: skip
    """0 cores: the trace does not say how many there are."""
    found = Prediction([], 1000, 1000, 500, [], [])
    monkeypatch.setattr(what_if, "WhatIf", lambda _: SimpleNamespace(predict=lambda _: found))
    cause: dict[str, object] = {"name": "MPI at work"}
    what_if.add_expected(UNREAD, [cause], {"threads_per_node": threads, "cores_per_node": cores})
    assert ("expected" in cause) == said


@pytest.mark.parametrize(("text", "words"), [
    ("", "an item is empty"), ("task x0.5,,network x0", "an item is empty"), ("tusk x2", "did you mean 'task'?"),
    ("nothing x2", "there are: task"), ("task", "write NAME xF"), ("task x1e9", "write NAME xF"),
    ("task x9999999", "above 1,000,000"), ("threads 0", "not a whole number"), ("threads x0", "above 0"),
    ("threads two", "not a whole number"), ("threads +1us", "no unit"), ("network +50", "needs a unit"),
    ("ranks 4x", "not modelled"), ("ranks x4", "not modelled"), ("grain x2", "not modelled"),
    ("placement close", "not modelled"), ("priorities off", "does not say"), ("priorities up", "priorities path"),
    ("first tusk", "did you mean 'task'?"), ("first", "write NAME xF"),
])  # fmt: skip
def test_wrong_changes_are_one_line(late_sender: Path, text: str, words: str) -> None:
    of = Analysis(read_trace(late_sender))
    with pytest.raises(AnalysisError) as refused:
        WhatIf(of).predict(parse(text))
    line = str(refused.value)
    assert words in line and "--what-if" in line and len(line.splitlines()) == 1


def test_command_refuses(late_sender: Path) -> None:
    result = report(late_sender, "--what-if", "tusk x2")
    assert result.returncode == 125 and len(result.stderr.splitlines()) == 1 and "did you mean" in result.stderr


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(["task", "network", "threads", "ranks", " ", ",", "x", "+", "0", "7", ".", "us", "off",
                                 "path", "priorities", "first", "balance", "*", "[", "é", "\n", "٣"])
                | st.text(max_size=3), max_size=8))  # fmt: skip
def test_any_text_is_understood_or_refused_in_one_line(words: list[str]) -> None:
    try:
        for change in parse("".join(words)):
            assert change.what and change.factor >= 0 and change.added >= 0
    except AnalysisError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 500


def test_names() -> None:
    names = ["task_gemm a.c:7", "task_trsm a.c:9", "loop, static", "odd[1]"]
    for text, found in (("task_gemm", [0]), ("task_gemm a.c:7", [0]), ("task_*", [0, 1]), ("loop? static", [2]),
                        ("odd[1]", [3]), ("*", [0, 1, 2, 3])):  # fmt: skip
        assert matching(Change("named", text, text), names) == found
    with pytest.raises(AnalysisError, match=r"there are: n0, n1, .*\.\.\.$"):
        matching(Change("named", "zzz", "zzz"), [f"n{number}" for number in range(MOST_NAMES + 1)])


@settings(bounded, max_examples=15)
@given(st.lists(runtimes(), min_size=1, max_size=2))
def test_any_run_can_be_replayed(ranks: list[Runtime]) -> None:
    """To its end, in no less time than its longest path without MPI, and the same way again."""
    of = analysed(ranks)
    run_of = of["scheduler_model"]
    found = replay(run_of.program)
    assert found.unfinished == 0
    assert length(run_of, run_of.program, found) >= of["critical_path"].span
    for text in ("network x0", "threads 1", "threads 9, overhead x0", "priorities path", "untied"):
        assert WhatIf(of).predict(parse(text)).changed >= 0
