# SPDX-License-Identifier: Apache-2.0
"""OMPT as a tool sees it: how a tool is found and started, what it hears of a program of either compiler, and in which
order (OpenMP 5.2, chapter 19)."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS, Result, run

COMPILERS = ("clang-19", "gcc-12")
LLVM = "/usr/lib/llvm-19/lib"
INITIAL, IMPLICIT, EXPLICIT, UNDEFERRED, UNTIED, FINAL = 1, 2, 4, 1 << 27, 1 << 28, 1 << 29
COMPLETE, DETACH, LATE_FULFIL = 1, 4, 6
BARRIER_EXPLICIT, TASKWAIT, TASKGROUP, BARRIER_PARALLEL = 3, 5, 6, 9
Event = tuple[str, dict[str, str]]


def compile_c(words: list[str | Path]) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("tool") / "libompt_tool.so"
    compile_c(["clang-19", "-shared", "-fPIC", "-Wall", "-Werror", PROGRAMS / "ompt_tool.c", "-o", library])
    return library


@pytest.fixture(scope="module", params=COMPILERS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = str(request.param)
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    binary = tmp_path_factory.mktemp(compiler) / "program"
    libraries = [f"-L{LLVM}"] if compiler.startswith("clang") else []
    compile_c([compiler, "-O1", "-fopenmp", PROGRAMS / "ompt_program.c", "-o", binary, *libraries])
    return binary


def run_on_marline(build: Path, program: Path, **changes: str) -> Result:
    library = build / "lib"
    path = f"{library}/marline/compat:{library}"
    preload = " ".join([str(library / "libmarline.so"), *changes.pop("PRELOAD", "").split()])
    return run([program], LD_LIBRARY_PATH=path, LD_PRELOAD=preload, OMP_NUM_THREADS="2", **changes)


def events_of(result: Result) -> list[Event]:
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith(("finalize", "done")), result.stdout
    events = []
    for line in result.stdout.splitlines():
        name, *words = line.split()
        events.append((name, dict(word.split("=", 1) for word in words)))
    return events


def named(events: list[Event], name: str, **wanted: object) -> list[dict[str, str]]:
    return [words for event, words in events if event == name and all(words[k] == str(v) for k, v in wanted.items())]


@pytest.fixture(scope="module")
def events(build: Path, program: Path, tool: Path) -> list[Event]:
    return events_of(run_on_marline(build, program, OMP_TOOL_LIBRARIES=f"/no/such/library.so:{tool}"))


def test_tool_starts_and_ends(events: list[Event]) -> None:
    assert named(events, "start") == [{"version": "202011", "runtime": "Marline"}]
    assert named(events, "initialize") == [{"device": "0", "unknown": "0"}]
    by_result: dict[str, set[str]] = {}
    for words in named(events, "set"):
        by_result.setdefault(words["result"], set()).add(words["event"])
    assert by_result == {
        "5": {"thread_begin", "parallel_begin", "parallel_end", "implicit_task", "task_create", "task_schedule",
              "dependences", "task_dependence", "sync_region", "sync_region_wait", "control_tool", "lock_init",
              "lock_destroy", "nest_lock", "thread_end", "mutex_acquire", "mutex_acquired", "mutex_released",
              "reduction"},
        "4": {"work", "masked", "dispatch", "cancel"},
    }  # fmt: skip
    assert events[-1] == ("finalize", {"data": "7"})


def test_threads_and_regions(events: list[Event]) -> None:
    assert len(named(events, "thread_begin", type=1)) == 1
    assert len(named(events, "thread_begin", type=2)) == 1
    [initial] = named(events, "implicit_task", end=1, flags=INITIAL)
    assert (initial["size"], initial["index"]) == ("1", "1")
    [begin] = named(events, "parallel_begin")
    assert begin | {"parallel": "", "task": "", "at": ""} == {
        "task": "", "parallel": "", "frame": "1", "requested": "2", "flags": "80000002", "at": "",
    }  # fmt: skip
    assert begin["at"] != "0"
    assert begin["task"] == initial["task"]
    threads = named(events, "implicit_task", end=1, flags=IMPLICIT, parallel=begin["parallel"], size=2)
    assert sorted(words["index"] for words in threads) == ["0", "1"]
    assert {words["task"] for words in named(events, "implicit_task", end=2, flags=IMPLICIT)} == {
        words["task"] for words in threads
    }
    assert len(named(events, "parallel_end", parallel=begin["parallel"], task=initial["task"], at=begin["at"])) == 1
    assert len(named(events, "implicit_task", end=2, flags=INITIAL, task=initial["task"])) == 1
    began = [words["thread"] for words in named(events, "thread_begin")]
    ended = [words["thread"] for words in named(events, "thread_end")]
    assert sorted(began) == sorted(ended)
    assert ended[-1] == named(events, "thread_begin", type=1)[0]["thread"]


def test_tasks_are_created_with_their_clauses(events: list[Event]) -> None:
    tasks = named(events, "task_create")
    assert [int(words["flags"]) for words in tasks] == [
        EXPLICIT, EXPLICIT | UNTIED, EXPLICIT, EXPLICIT | UNDEFERRED, EXPLICIT | FINAL,
    ]  # fmt: skip
    assert [words["dependent"] for words in tasks] == ["1", "1", "1", "0", "0"]
    assert all(words["at"] != "0" and words["frame"] == "1" and words["known"] == "1" for words in tasks)
    assert (tasks[0]["label"], tasks[0]["color"]) == ("first", "ff8800")
    assert all((words["label"], words["color"]) == ("none", "000000") for words in tasks[1:])
    first, second = tasks[0]["task"], tasks[1]["task"]
    [out], [into] = named(events, "dependence", task=first), named(events, "dependence", task=second)
    assert (out["type"], into["type"]) == ("3", "1")
    assert out["address"] == into["address"]
    assert {(words["from"], words["to"]) for words in named(events, "task_dependence")} <= {(first, second)}


def test_every_task_starts_once_and_ends_once(events: list[Event]) -> None:
    created = [words["task"] for words in named(events, "task_create")]
    detached = created[2]
    for task in created:
        assert len(named(events, "task_schedule", next=task)) >= 1
        ends = named(events, "task_schedule", prior=task, status=DETACH if task == detached else COMPLETE)
        assert len(ends) == 1
    [late] = named(events, "task_schedule", prior=detached, status=LATE_FULFIL)
    assert late["next"] == "0"
    assert not [words for words in named(events, "task_schedule") if words["prior"] == words["next"]]


def test_regions_enclose_their_waits(events: list[Event]) -> None:
    members = {words["task"] for words in named(events, "implicit_task", end=1, flags=IMPLICIT)}
    for kind, tasks in ((TASKWAIT, 1), (TASKGROUP, 1), (BARRIER_EXPLICIT, 2), (BARRIER_PARALLEL, 2)):
        seen = {words["task"] for words in named(events, "sync_region", kind=kind)}
        assert seen <= members
        assert len(seen) == tasks
        for task in seen:
            steps = [
                (name, words["end"])
                for name, words in events
                if name.startswith("sync_region") and words["kind"] == str(kind) and words["task"] == task
            ]
            assert steps == [("sync_region", "1"), ("sync_region_wait", "1"), ("sync_region_wait", "2"),
                             ("sync_region", "2")]  # fmt: skip


def test_inquiries_inside_a_task(events: list[Event]) -> None:
    assert named(events, "answer") == [{"value": "42", "x": "1"}]
    [control] = named(events, "control_tool")
    assert (control["command"], control["modifier"]) == ("2", "9")
    assert control["thread"] in {words["thread"] for words in named(events, "thread_begin")}
    second = named(events, "task_create")[1]
    [initial] = named(events, "implicit_task", end=1, flags=INITIAL)
    # Either thread of the team may run the task: below it lies the implicit task of the thread that does.
    [start] = named(events, "task_schedule", next=second["task"])
    [below] = named(events, "implicit_task", end=1, flags=IMPLICIT, by=start["by"])
    chain = [(words["task"], int(words["flags"])) for words in named(events, "task_info")]
    assert chain == [
        (second["task"], EXPLICIT | UNTIED), (below["task"], IMPLICIT), (initial["task"], INITIAL),
    ]  # fmt: skip
    assert [words["size"] for words in named(events, "parallel_info")] == ["2", "1"]


def test_tool_that_is_preloaded_is_found(build: Path, program: Path, tool: Path) -> None:
    found = events_of(run_on_marline(build, program, PRELOAD=str(tool)))
    assert found[-1][0] == "finalize"


@pytest.mark.parametrize("variable", ["REFUSE", "DECLINE_LATE", "OMP_TOOL"])
def test_tool_that_stays_off_hears_nothing(build: Path, program: Path, tool: Path, variable: str) -> None:
    value = "disabled" if variable == "OMP_TOOL" else "1"
    result = run_on_marline(build, program, OMP_TOOL_LIBRARIES=str(tool), **{variable: value})
    heard = {name for name, _ in events_of(result)}
    assert heard <= {"start", "initialize", "state", "set", "answer", "done"}
    assert named(events_of(result), "answer") == [{"value": "-2", "x": "1"}]


def test_verbose_start_says_what_was_tried(build: Path, program: Path, tool: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_on_marline(build, program, OMP_TOOL_LIBRARIES=f"/no/such/library.so:{tool}", OMP_TOOL_VERBOSE_INIT=str(log))
    text = log.read_text()
    assert "/no/such/library.so" in text
    assert "cannot be loaded" in text
    assert str(tool) in text
    assert text.splitlines()[-1] == "tool search: the tool is on"
