# SPDX-License-Identifier: Apache-2.0
"""Passes: computed once, after what they need; errors that name the pass and its file; the user's own passes from a
file; and partial traces, of which it is said what they lack."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import SECONDS
from handmade import COMPLETE, IMPLICIT, SWITCH, A, B, Stream, description, save  # first: it finds marline
from marline.trace import registry
from marline.trace.analysis import Analysis, AnalysisError, analysis_pass, load_passes, pass_names, resolve
from marline.trace.read.container import RECORD, UNIT, UNIT_BYTES
from marline.trace.read.reader import read_trace
from marline.trace.what_if import model as what_if_model  # noqa: F401  registers its pass


@pytest.fixture(autouse=True)
def takes_back() -> Iterator[None]:
    """Takes back what a test registers."""
    pass_names()  # Marline's own are there from here on
    before = dict(registry._passes)
    yield
    registry._restore(before)


def trace_of_two_tasks(folder: Path) -> Analysis:
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    for task, start, end in ((A, 1100, 1150), (B, 1160, 1200)):
        stream.add(start - 50, "task_create", task, parent=IMPLICIT, code=1)
        stream.add(start, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(end, "task_schedule", task, next=IMPLICIT, status=COMPLETE)
    stream.records.sort(key=lambda record: record[0])
    return Analysis(read_trace(save(folder, [stream])))


def test_each_pass_runs_once_and_after_its_needs(tmp_path: Path) -> None:
    ran: list[str] = []

    def add(name: str, *needs: str) -> None:
        @analysis_pass(name, needs=needs)
        def compute(of: Analysis) -> str:
            ran.append(name)
            return name + "".join(of[need] for need in needs)

    add("top", "left", "right")
    add("left", "base")
    add("right", "base")
    add("base")
    of = trace_of_two_tasks(tmp_path)
    assert of["top"] == "topleftbaserightbase"
    assert ran == ["base", "left", "right", "top"]
    assert of["left"] == "leftbase" and len(ran) == 4


def test_order_of_marline_s_own_passes() -> None:
    for name in pass_names():
        order = [one.name for one in resolve(name)]
        assert order[-1] == name and len(set(order)) == len(order)
        assert all(order.index(need) < order.index(one.name) for one in resolve(name) for need in one.needs)


def test_progress_counts_passes(tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    of = trace_of_two_tasks(tmp_path)
    Analysis(of.trace, lambda *values: said.append(values))["edges"]
    assert said == [("segments", 0, 4), ("tasks", 1, 4), ("accesses", 2, 4), ("edges", 3, 4), ("edges", 4, 4)]
    said.clear()
    read_trace(tmp_path, lambda *values: said.append(values))
    size = UNIT_BYTES - UNIT.size  # of the one window
    assert said == [("read", 0, size), ("read", size, size)]


def test_cycle_is_named() -> None:
    for name, need in (("one", "two"), ("two", "three"), ("three", "one")):
        analysis_pass(name, needs=(need,))(lambda of: None)
    with pytest.raises(AnalysisError, match="cycle: one -> two -> three -> one"):
        resolve("one")


def test_unknown_pass_is_named(tmp_path: Path) -> None:
    of = trace_of_two_tasks(tmp_path)
    with pytest.raises(AnalysisError, match="'breakdwon': no such pass; there are: .*breakdown"):
        of["breakdwon"]
    analysis_pass("mine", needs=("taks",))(lambda of: None)
    with pytest.raises(AnalysisError, match="pass 'mine' needs 'taks': no such pass"):
        of["mine"]


def test_undeclared_need_is_refused(tmp_path: Path) -> None:
    analysis_pass("mine", needs=("segments",))(lambda of: of["tasks"])
    with pytest.raises(AnalysisError, match=r"pass 'mine' \(.*test_analysis.py\) uses 'tasks' but does not declare it"):
        trace_of_two_tasks(tmp_path)["mine"]


USER_PASS = """
from dataclasses import dataclass
from marline.trace.analysis import Analysis, analysis_pass

@dataclass
class Longest:
    ns: int
    def document(self):
        return {"longest_ns": self.ns}

@analysis_pass("longest", needs=("tasks",))
def longest(of: Analysis) -> Longest:
    return Longest(int(of["tasks"].running.max()))
"""


def test_user_s_pass(tmp_path: Path) -> None:
    file = tmp_path / "longest.py"
    file.write_text(USER_PASS)
    assert load_passes(file) == ["longest"]
    assert trace_of_two_tasks(tmp_path).document("longest") == {"longest_ns": 50}
    assert load_passes(file) == ["longest"]  # the file may have changed


@pytest.mark.parametrize(("text", "message"), [
    (None, "user.py: no such file"),
    ("x = (\n", r"user.py:1: '\(' was never closed"),
    ("x = 1\n", "user.py: registers no pass"),
    ("import no_such_module\n", "user.py: ModuleNotFoundError while it was loaded: No module named 'no_such_module'"),
    ("from marline.trace.analysis import analysis_pass\n@analysis_pass('tasks')\ndef tasks(of): pass\n",
     "user.py: pass 'tasks' already exists in .*tables.py"),
])
def test_file_that_cannot_be_loaded(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "user.py"
    if text is not None:
        file.write_text(text)
    before = pass_names()
    with pytest.raises(AnalysisError, match=message) as error:
        load_passes(file)
    assert len(str(error.value).splitlines()) == 1 and pass_names() == before


def test_pass_that_raises_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text("from marline.trace.analysis import analysis_pass\n"
                    "@analysis_pass('bad')\ndef bad(of): return 1 / 0\n"
                    "@analysis_pass('mute')\ndef mute(of): return 1\n")  # fmt: skip
    load_passes(file)
    of = trace_of_two_tasks(tmp_path)
    with pytest.raises(AnalysisError, match=r"pass 'bad' \(.*user.py\): ZeroDivisionError: division by zero"):
        of["bad"]
    with pytest.raises(AnalysisError, match=r"pass 'mute' \(.*user.py\): its result has no method document"):
        of.document("mute")


def test_documents_are_json(tmp_path: Path) -> None:
    of = trace_of_two_tasks(tmp_path)
    names = ("breakdown", "graph", "discovery", "communication", "regions", "worksharing", "integrity")
    for name in names:
        json.dumps(of.document(name))


def test_windows_must_be_some(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="0 time windows"):
        Analysis(trace_of_two_tasks(tmp_path).trace, windows=0)


def incomplete(folder: Path) -> list[str]:
    return Analysis(read_trace(folder)).document("integrity")["incomplete"]


def test_whole_trace_lacks_nothing(tmp_path: Path) -> None:
    assert trace_of_two_tasks(tmp_path).document("integrity") == {"incomplete": []}


def test_what_partial_traces_lack(tmp_path: Path) -> None:
    trace_of_two_tasks(tmp_path)
    file = tmp_path / "rank0000.mtr"
    content = file.read_bytes()
    used = len(content.rstrip(b"\0"))  # the last record ends with zeros
    end = UNIT_BYTES + UNIT.size + (used - UNIT_BYTES - UNIT.size) // RECORD.itemsize * RECORD.itemsize
    file.write_bytes(content[: end + 8])  # the last record, B's end, is cut
    (tmp_path / "rank0001.json").write_text(json.dumps(description(1, size=4, file="rank0000.mtr", process=2)))
    assert incomplete(tmp_path) == [
        f"rank0000.mtr: {len(content) - end - 8} bytes missing at its end",
        "2 ranks of 4 left no trace: 2, 3",
        "1 rank left no records: 1",
        "1 task of 2 had not completed when the trace ended",
    ]


def test_lost_records_and_pauses_are_told(tmp_path: Path) -> None:
    """A's creation is missing; B was first heard of when it ran; recording was off for 2 ms."""
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    stream.add(1010, "task_run", A, start=1005, outer=IMPLICIT)
    stream.add(1020, "task_create", B, flags=4)
    stream.add(1030, "task_run", B, start=1020, outer=IMPLICIT)
    stream.add(2000, "recording_off", IMPLICIT).add(2_002_000, "recording_on", IMPLICIT)
    assert incomplete(save(tmp_path, [stream])) == [
        "recording was off for 2.000 ms, summed over 1 thread(s)",
        "1 task ran whose creation is not in the trace: records are missing",
        "1 task became known after creation: dependences and ready times are not known",
    ]


def test_benchmark_s_trace_is_valid(tmp_path: Path) -> None:
    """bench/trace_analysis.py times the analysis on a trace that a program could have left; its table has every
    pass."""
    root = Path(__file__).resolve().parents[3]
    table = tmp_path / "table.md"
    command = [sys.executable, root / "bench" / "trace_analysis.py", "--records", "20000", "--ranks", "2", "--threads",
               "3", "--markdown", table, "--keep", tmp_path / "trace"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert result.stdout == table.read_text()
    stages = [line.split(" | ")[0].removeprefix("| ") for line in result.stdout.splitlines()[5:]]
    assert sorted(stages) == sorted(["read", *pass_names(), "replay", "**all**"])
    of = Analysis(read_trace(tmp_path / "trace"))
    assert of.document("integrity") == {"incomplete": []}
    tasks, edges, messages = of["tasks"], of["edges"], of["messages"]
    assert (tasks.start > tasks.created).all() and (tasks.end > tasks.start).all()
    assert len(edges.source) > len(tasks.id) and (tasks.end[edges.source] <= tasks.start[edges.sink]).all()
    calls = of["calls"]
    assert len(messages.send) * 2 == len(calls.call)
    assert (calls.end[messages.receive] >= calls.start[messages.send]).all()
