# SPDX-License-Identifier: Apache-2.0
"""Any valid trace can be exported: the strict readers accept what is written of random runs, and its sums are those of
the analysis. Tasks are suspended in MPI, resumed anywhere, and some never end (test_analysis_properties.py)."""
from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paraver_format import read_paraver
from profile_formats import read_firefox, read_speedscope
from test_analysis_properties import Runtime, runtimes

from handmade import save
from marline.trace.analysis import Analysis
from marline.trace.exports.dot import write_dot
from marline.trace.exports.firefox import write_firefox
from marline.trace.exports.paraver import write_paraver
from marline.trace.exports.speedscope import write_speedscope
from marline.trace.exports.sqlite import write_sqlite
from marline.trace.read.reader import read_trace
from marline.trace.views.timeline import timeline

few = settings(max_examples=12, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(st.lists(runtimes(), min_size=1, max_size=2))
def test_any_run_can_be_exported(ranks: list[Runtime]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rank, runtime in enumerate(ranks):
            save(folder, runtime.streams, rank)
        of = Analysis(read_trace(folder))
        check_timelines(of, folder)
        check_database(of, folder)


def check_timelines(of: Analysis, folder: Path) -> None:
    drawn = timeline(of)
    write_speedscope(drawn, of["samples"], folder / "out", "app")
    bars = read_speedscope(json.loads((folder / "out").read_text()))
    on_threads = sum(end - start for name, _, start, end, depth in bars if "thread" in name and depth == 0)
    runs = of["segments"]
    assert on_threads == int((runs.end - runs.start).sum())
    write_firefox(of, drawn, folder / "out", "app")
    markers, time = read_firefox(json.loads((folder / "out").read_text()))
    assert sorted(bar[:4] for bar in markers) == sorted(bar[:4] for bar in bars)
    assert abs(sum(time.values()) * 1e6 - sum(end - start for *_, start, end, depth in bars if depth == 0)) < 1
    write_paraver(of, drawn, folder / "out")
    assert set(read_paraver(folder / "out").states) <= {f"rank {rank} {title}" for rank, _, title in drawn.tracks}


def check_database(of: Analysis, folder: Path) -> None:
    write_sqlite(of, folder / "out.db")
    database = sqlite3.connect(folder / "out.db")
    tasks, edges, calls = of["tasks"], of["edges"], of["calls"]
    for query, expected in (
        ("SELECT COUNT(*), COALESCE(SUM(running_ns), 0) FROM tasks", (len(tasks.id), int(tasks.running.sum()))),
        ("SELECT COUNT(*) FROM tasks WHERE end_ns IS NULL", (int(np.count_nonzero(tasks.end < 0)),)),
        ("SELECT COUNT(*) FROM edges WHERE kind = 'dependence'", (forward(of),)),
        ("SELECT COUNT(*) FROM calls WHERE returned", (int(np.count_nonzero(calls.returned)),)),
        ("SELECT COALESCE(SUM(weight_ns), 0) FROM critical_path", (of["critical_path"].path_length,)),
    ):
        assert database.execute(query).fetchone() == expected, query
    database.close()
    (said,) = write_dot(of, folder / "out")
    assert f"graph of {len(tasks.id)} tasks" in said and (folder / "out").read_text().count("[label=") == len(tasks.id)
    assert (folder / "out").read_text().count("dependence") == forward(of) <= len(edges.source)


def forward(of: Analysis) -> int:
    """Dependences between tasks of which the first has ended and the second begun."""
    tasks, edges = of["tasks"], of["edges"]
    started = np.where(tasks.flags & 0x10, tasks.end, tasks.start)
    return int(np.count_nonzero((tasks.end[edges.source] >= 0) & (started[edges.sink] >= 0)))
