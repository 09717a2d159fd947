# SPDX-License-Identifier: Apache-2.0
"""Threads have OpenMP's numbers wherever they are shown: in text, page, JSON, CSV, SQLite and pictures. The recorder
numbers them by their first records, and from 1."""
from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from pathlib import Path

import pytest
from handmade import IMPLICIT, Stream, save
from in_process import document_of, report

from marline.trace.read.events import CALL_NUMBER

INITIAL, REGION, INNER = 1, 300, 301
INITIAL_TASK, LONG, MPI_THREAD = 100, 100_000, 4
# By the recorder's number: OpenMP's number in the first team, or of thread 5 in an inner one, and what is shown.
INDEX, SHOWN = {1: 0, 2: 2, 3: 1, 5: 1}, {1: 0, 2: 2, 3: 1, 4: 3, 5: 4}
FIRST, TASKS = 1000, 12  # ids


def write(folder: Path) -> Path:
    """Thread 2 of the recorder runs a task 100 times as long as the others. Thread 4 only calls MPI."""
    streams = {number: Stream(number) for number in SHOWN}
    streams[1].add(1000, "implicit_begin", INITIAL_TASK, size=1, flags=INITIAL)
    for thread, index in INDEX.items():
        parallel = INNER if thread == 5 else REGION
        streams[thread].add(1000 + thread, "implicit_begin", IMPLICIT + 10 * thread, index=index, size=3, flags=2,
                            parallel=parallel)
    outer = IMPLICIT + 20
    for number in range(TASKS):
        streams[1].add(1010 + number, "task_create", FIRST + number, parent=IMPLICIT + 10, flags=4, code=4096)
        start = 2000 + 2000 * number
        end = start + (LONG if number == TASKS - 1 else 1000)
        streams[2].add(end, "task_run", FIRST + number, start=start, outer=outer)
    words = {"peer": -1, "comm": 1, "call": CALL_NUMBER["MPI_Barrier"]}
    streams[4].add(1000, "mpi_enter", 0, **words).add(1500, "mpi_exit", 0, **words)
    for thread in INDEX:
        streams[thread].add(1000 + 2 * LONG, "implicit_end", IMPLICIT + 10 * thread)
    faults = [{"thread": thread, "minor_faults": 10 * thread, "major_faults": 0, "cpu": 0, "node": 0}
              for thread in (5, 4, 3, 2, 1)]  # fmt: skip
    return save(folder, list(streams.values()), threads=faults)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("trace"))


def test_document(folder: Path) -> None:
    document = document_of(folder)
    assert [(row["thread"], row["minor_faults"]) for row in document["memory"]["threads"]] == [
        (0, 10), (1, 30), (2, 20), (3, 40), (4, 50)]  # fmt: skip
    works = {row["thread"]: row["work_ns"] > 0 for row in document["ranks"][0]["by_thread"]}
    assert [number for number, some in works.items() if some] == [2] and list(works) == sorted(works)
    assert document["outliers"]["worst"][0]["thread"] == 2
    assert "rank 0, thread 2, " in " ".join(report(folder).stdout.split())


def test_tables(folder: Path, tmp_path: Path) -> None:
    rows = csv.DictReader(io.StringIO(report(folder, "--csv").stdout))
    assert [row["thread"] for row in rows if row["work_ns"] != "0"] == ["2"]
    file = tmp_path / "trace.sqlite"
    assert report(folder, "--sqlite", file).returncode == 0
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT DISTINCT thread FROM runs WHERE task IS NOT NULL").fetchall() == [(2,)]
        assert database.execute("SELECT thread FROM calls").fetchall() == [(SHOWN[MPI_THREAD],)]


def test_timelines(folder: Path, tmp_path: Path) -> None:
    """In the page and in exports, lanes stand in the order of these numbers; the long bar is on thread 2."""
    page, chrome = tmp_path / "page.html", tmp_path / "chrome.json"
    assert report(folder, "--html", page, "--chrome", chrome).returncode == 0
    (meta,) = re.findall(r'<script type="application/json" id="meta">(.*?)</script>', page.read_text())
    assert [lane["text"] for lane in json.loads(meta)["lanes"]] == [f"thread {number}" for number in range(5)]
    assert re.search(r"<td[^>]*>thread 2</td>", page.read_text())
    events = json.loads(chrome.read_text())["traceEvents"]
    titles = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    order = {one["tid"]: one["args"]["sort_index"] for one in events if one["name"] == "thread_sort_index"}
    assert {titles[one["tid"]] for one in events if one["ph"] == "X" and one["dur"] == LONG / 1000} == {"thread 2"}
    assert [titles[track] for track in sorted(order, key=lambda track: order[track])] == [
        f"thread {number}" for number in range(5)]  # fmt: skip
