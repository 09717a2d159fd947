# SPDX-License-Identifier: Apache-2.0
"""The analysis of real runs, on LLVM's libomp and on Marline: what the program did is what the passes say, and what
must hold of any trace holds of these."""
from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import SECONDS, clean_environment
from handmade import COMPLETE  # first: it finds marline
from marline.report.metrics import counters
from marline.trace.analysis import Analysis
from marline.trace.read.columns import distinct
from marline.trace.read.reader import read_trace
from marline.trace.what_if import model as what_if_model  # noqa: F401  registers its pass
from marline.trace.what_if.language import parse
from marline.trace.what_if.predict import WhatIf

LLVM = Path("/usr/lib/llvm-19/lib")


def traced(folder: Path, program: Path, libraries: Path, recorder: Path) -> Analysis:
    environment = clean_environment(MARLINE_TRACE_DIR=str(folder), LD_LIBRARY_PATH=str(libraries),
                                    LD_PRELOAD=str(recorder))  # fmt: skip
    subprocess.run([program], env=environment, check=True, timeout=SECONDS)
    return Analysis(read_trace(folder), windows=5)


@pytest.fixture(scope="module", params=["libomp", "marline"])
def of(
    request: pytest.FixtureRequest, build: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Analysis:
    if not (LLVM / "libomp.so.5").exists():
        pytest.skip("LLVM 19's libomp is not installed")
    program = compiled("clang-19", "analysis_tasks.c", "-fopenmp=libomp", f"-L{LLVM}")
    libraries = LLVM if request.param == "libomp" else build / "lib" / "marline" / "compat"
    recorder = build / "lib" / "marline" / "libmarline-trace.so"
    return traced(tmp_path_factory.mktemp(request.param), program, libraries, recorder)


def test_nothing_is_missing(of: Analysis) -> None:
    assert of.document("integrity") == {"incomplete": []}


def test_graph_is_the_program_s(of: Analysis) -> None:
    found = of.document("graph")
    assert (found["tasks"], found["completed"], found["depth"]) == (29, 29, 8)
    assert of.document("discovery")["tasks"] == 28  # all but the undeferred one


def test_counters_of_marline_are_in_the_trace(of: Analysis) -> None:
    found = counters(of)
    if not of.trace.ranks[0]["runtime"].startswith("Marline"):
        assert found == {}
        return
    assert found["tasks"] > 0 and found["lookups"] >= found["dependences"] >= found["tasks"]


def test_time_adds_up(of: Analysis) -> None:
    found = of["breakdown"]
    assert np.all(found.time >= 0) and np.all(found.time.sum(axis=2) == np.diff(found.edges))
    rank = found.document()["ranks"][0]
    assert rank["model"] == "tasks" and rank["threads"] == 2 and rank["work_ns"] > 0
    # Work is what the tasks ran, as nothing of them lies outside of the total, without the creation of other tasks.
    pieces = of["creations"].pieces
    created = int((pieces.end - pieces.start).sum())
    assert rank["work_ns"] == int(of["tasks"].running.sum()) - created


def test_tasks_that_ran_were_created_and_ready(of: Analysis) -> None:
    trace, tasks, ready = of.trace, of["tasks"], of["readiness"]
    schedule, runs = trace.select("task_schedule"), trace.select("task_run")
    ended = schedule[trace.field("task_schedule", "status", schedule) == COMPLETE]
    assert np.all(tasks.index(distinct(np.concatenate([trace.task[ended], trace.task[runs]]))) >= 0)
    started = tasks.start >= 0
    assert np.all(tasks.created[started] <= ready.time[started])
    assert np.all(ready.time[started] <= tasks.start[started])
    assert np.all(tasks.start[started] <= tasks.end[started])
    # Dependences were respected, so no ready time had to be corrected.
    edges = of["edges"]
    begun = tasks.start[edges.sink] >= 0
    assert np.all(tasks.end[edges.source][begun] <= tasks.start[edges.sink][begun])


def test_nothing_overlaps_on_one_thread(of: Analysis) -> None:
    runs = of["segments"]
    same = runs.lane[1:] == runs.lane[:-1]
    assert np.all(runs.end[:-1][same] <= runs.start[1:][same])


def test_loop_is_worksharing(of: Analysis) -> None:
    loops = [row for row in of.document("worksharing") if row["name"].startswith("loop")]
    assert sum(row["count"] for row in loops) == 2 and all(row["open"] == 0 for row in loops)


def test_model_replays_the_run(of: Analysis) -> None:
    """All tasks end in it; one thread takes all of their work, whatever the network."""
    work = int(of["tasks"].running.sum())
    for text in ("threads 1", "threads 1, network x0, overhead x0"):
        assert WhatIf(of).predict(parse(text)).changed >= work
