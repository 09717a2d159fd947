# SPDX-License-Identifier: Apache-2.0
"""Sampled call stacks: what the passes `samples` and `flame`, the text and JSON make of a trace written by hand, whose
answers were worked out by hand; and properties of random stacks."""
from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from handmade import IMPLICIT, A, Stream  # first: it finds marline
from handmade_samples import CODE, INITIAL, MS, sample, save_sampled, write_sampled
from in_process import document_of, report
from marline.trace.analysis import Analysis
from marline.trace.views.export import load
from test_without_tasks import AT_REGION_END, INITIAL_TASK, Team


def analysed(folder: Path) -> Analysis:
    return Analysis(load(folder))


def test_who_owns_the_time(tmp_path: Path) -> None:
    """7 ms in 5 samples. Inlined functions count like others. The runtime's frames around a task, the C library's
    around main, and main itself where a task runs on its stack, are no part of the task."""
    found = document_of(write_sampled(tmp_path))["samples"]
    assert (found["hz"], found["samples"], found["time_ns"]) == (1000, 5, 7 * MS)
    times = {row["name"]: (row["own_ns"] / MS, row["total_ns"] / MS, row["samples"], row["line"])
             for row in found["functions"]}  # fmt: skip
    assert times == {"memcpy": (3, 3, 2, 0), "other": (2, 2, 1, 30), "body": (1, 4, 1, 10), "inner": (0, 3, 0, 21),
                     "middle": (0, 3, 0, 20), "main": (0, 3, 0, 40), "marline_worker": (1, 1, 1, 0)}  # fmt: skip
    for row in found["functions"]:
        time_in = {owner["name"]: one["own_ns"] for owner in found["owners"] for one in owner["functions"]
                   if one["name"] == row["name"]}  # fmt: skip
        assert row["owner"] == max(time_in, key=time_in.__getitem__, default=""), row["name"]
    owners = {row["name"]: (row["what"], row["time_ns"] / MS, [one["name"] for one in row["functions"]])
              for row in found["owners"]}  # fmt: skip
    assert owners == {"task": ("task", 4, ["memcpy", "body"]), "serial code": ("serial", 2, ["other"]),
                      "waits": ("waits", 1, ["marline_worker"])}  # fmt: skip
    assert [row["name"] for row in found["owners"]] == ["task", "serial code", "waits"]


def test_flame(tmp_path: Path) -> None:
    tree = analysed(write_sampled(tmp_path)).document("flame")
    paths = {}
    for node, (parent, name, time) in enumerate(zip(tree["parent"], tree["name"], tree["time_ns"])):
        paths[node] = (*(paths[parent] if node else ()), name)
    times = {paths[node][1:]: time / MS for node, time in enumerate(tree["time_ns"])}
    assert times == {
        (): 7, ("task",): 4, ("task", "body"): 4, ("task", "body", "middle"): 3, ("task", "body", "middle", "inner"): 3,
        ("task", "body", "middle", "inner", "memcpy"): 3, ("serial code",): 2, ("serial code", "main"): 2,
        ("serial code", "main", "other"): 2, ("waits",): 1, ("waits", "main"): 1,
        ("waits", "main", "marline_worker"): 1,
    }  # fmt: skip


def test_text(tmp_path: Path) -> None:
    lines = report(write_sampled(tmp_path)).stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("functions by time (5 samples)"))
    assert lines[at + 1].split() == ["memcpy", "3.00", "ms", "42.9", "%", "42.9", "%", "task"]
    assert lines[at + 3].split() == ["body", "app.c:10", "1.00", "ms", "14.3", "%", "57.1", "%", "task"]
    assert max(map(len, lines)) <= 80


def test_no_samples(tmp_path: Path) -> None:
    one = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1).add(2000, "implicit_end", IMPLICIT)
    found = document_of(save_sampled(tmp_path, [one]))["samples"]
    assert (found["samples"], found["functions"], found["owners"]) == (0, [], [])
    assert "functions by" not in report(tmp_path).stdout
    assert analysed(tmp_path).document("flame")["time_ns"] == [0]


def test_stacks_that_end_early(tmp_path: Path) -> None:
    """A killed program's last stack may lack frames, and code may lie in no file."""
    one = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1, flags=INITIAL)
    sample(one, 1, IMPLICIT, "unknown", "main", "entry")
    sample(one, 2, IMPLICIT, "other", "main", "entry")
    del one.records[-2:]
    other = sample(Stream(2).add(1000, "implicit_begin", 201, index=0, size=1, flags=INITIAL), 3, 201, "body")
    found = document_of(save_sampled(tmp_path, [one, other]))["samples"]
    assert found["samples"] == 3
    assert {row["name"]: row["total_ns"] for row in found["functions"]} == {
        "[unknown code]": MS, "main": MS, "other": MS, "body": MS}  # fmt: skip


def test_task_that_jumps(tmp_path: Path) -> None:
    """A task whose body ends in a call may have no frame of its own: memcpy returns to the runtime. Serial code that is
    in the runtime only is shown with the runtime's frames."""
    one = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1, flags=INITIAL)
    one.add(1001, "task_create", A, parent=IMPLICIT, flags=4)
    sample(one, 10, A, "copy", "worker", "entry")
    sample(one, 20, IMPLICIT, "copy", "worker", "entry")
    tree = analysed(save_sampled(tmp_path, [one.add(2000, "implicit_end", IMPLICIT)])).document("flame")
    assert list(zip(tree["parent"], tree["name"])) == [
        (0, "all"), (0, "serial code"), (0, "task"), (1, "__libc_start_main"), (2, "memcpy"), (3, "marline_worker"),
        (5, "memcpy")]  # fmt: skip


def test_mpi_only(tmp_path: Path) -> None:
    """A thread outside of OpenMP: its program's code is serial code, and what has none is outside of tasks."""
    outside = 1 << 32
    one = sample(Stream(1).add(1000, "thread_begin", outside), 10, outside, "other", "main", "entry")
    found = document_of(save_sampled(tmp_path, [sample(one, 20, outside, "worker", "entry")]))["samples"]
    assert {row["name"]: row["time_ns"] for row in found["owners"]} == {"serial code": MS, "outside of tasks": MS}


def test_properties(tmp_path: Path) -> None:
    """Own times add up to all of the time, no total is less than its own time, and each bar of the flame graph is as
    wide as what lies on it, or wider. Counted again one by one."""
    chance = random.Random(46)
    program = [name for name in CODE if name not in ("worker", "entry", "_start")]
    one = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1, flags=INITIAL)
    one.add(1001, "task_create", A, parent=IMPLICIT, flags=4)
    own: dict[str, int] = {}
    total: dict[str, int] = {}
    for number in range(300):
        stack, weight = chance.choices(program, k=chance.randint(1, 12)), chance.randint(1, 9)
        stack[-1] = "main"
        sample(one, 10 + number, IMPLICIT, *stack, "entry", weight=weight)
        names = [name.partition(".")[0] for address in stack for name, _ in CODE[address][2]]
        own[names[0]] = own.get(names[0], 0) + weight
        for name in set(names):
            total[name] = total.get(name, 0) + weight
    one.add(2000, "implicit_end", IMPLICIT).flushed = len(one.records) // one.window
    of = analysed(save_sampled(tmp_path, [one]))
    found = of.document("samples")
    names = [row["name"] for row in found["functions"]]
    assert {row["name"]: row["total_ns"] for row in found["functions"] if names.count(row["name"]) == 1} == {
        name: time for name, time in total.items() if names.count(name) == 1}  # fmt: skip
    assert sum(row["own_ns"] for row in found["functions"]) == sum(own.values()) == found["time_ns"]
    assert all(row["own_ns"] <= row["total_ns"] for row in found["functions"])
    tree = of["flame"]
    assert tree.time[0] == found["time_ns"] and np.all(tree.parent[1:] < np.arange(1, len(tree.parent)))
    assert np.all(np.bincount(tree.parent[1:], tree.time[1:], len(tree.time)) <= tree.time)
    assert len(tree.shown().time) <= len(tree.time) and tree.shown().time[0] == tree.time[0]


def test_serial_code_has_its_line(tmp_path: Path) -> None:
    """After a region of 1 ms comes serial code of 8 ms, of which 6 are sampled in `other`, and 2 in `body`."""
    team = Team()
    for index in range(2):
        team.wait(index, MS, MS, AT_REGION_END)
    team.end(MS)
    for time, name, weight in ((2, "other", 2), (4, "other", 4), (6, "body", 2)):
        sample(team.streams[0], time * MS, INITIAL_TASK, name, "main", "entry", "_start", weight=weight * MS)
    document = document_of(save_sampled(tmp_path, team.finish(9 * MS)))
    first = document["causes"][0]
    assert (first["name"], first["lost_ns"]) == ("serial code", 8 * MS)
    assert first["text"].endswith("after the region at 0x61; 75.0 % of its samples are in other app.c:30")
    (serial,) = (one for one in document["samples"]["owners"] if one["what"] == "serial")
    assert [(one["name"], one["file"], one["line"], one["own_ns"]) for one in serial["functions"]] == [
        ("other", "/src/app.c", 30, 6 * MS), ("body", "/src/app.c", 10, 2 * MS)]  # fmt: skip
