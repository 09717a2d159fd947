# SPDX-License-Identifier: Apache-2.0
"""Any valid trace has a page: of random runs it holds every bar, dependence and message, bars of a lane never overlap,
levels keep the time, and what bounded the run goes on without a gap."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_analysis_properties import Runtime, runtimes
from test_page import read_numbers

from handmade import save
from marline.page import levels
from marline.page.bars import Timeline, make_timeline
from marline.page.styles import find_styles
from marline.page.write import write_page
from marline.report.metrics import make_document
from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

few = settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(st.lists(runtimes(), min_size=1, max_size=2))
def test_any_run_has_a_page(ranks: list[Runtime]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rank, runtime in enumerate(ranks):
            save(folder, runtime.streams, rank)
        of = Analysis(read_trace(folder))
        write_page(of, make_document(of), folder / "page.html")
        meta, columns = read_page(folder / "page.html")
    styles = find_styles(of)
    timeline = make_timeline(of, styles)
    check_bars(of, timeline, columns)
    check_levels(timeline, len(styles.document()), meta)
    check_links(of, columns, meta)


def read_page(page: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    text = page.read_text()
    meta = json.loads(re.search(r'id="meta">(.*?)</script>', text, re.S)[1])
    packed = gzip.decompress(base64.b64decode(re.search(r'id="data">(.*?)</script>', text, re.S)[1]))
    columns, ends = {}, [one["at"] for one in meta["columns"].values()][1:] + [len(packed)]
    for (name, where), end in zip(meta["columns"].items(), ends):
        columns[name] = np.array(read_numbers(packed[where["at"] : end], where["coding"]), dtype=np.int64)
        assert len(columns[name]) == where["count"]
    return meta, columns


def check_bars(of: Analysis, timeline: Timeline, columns: dict[str, np.ndarray]) -> None:
    for name, bars in timeline.layers.items():
        assert np.array_equal(columns[f"{name}.lane"], bars.lane)
        assert np.array_equal(columns[f"{name}.time"], bars.end - bars.start)
        same = bars.lane[1:] == bars.lane[:-1]
        assert np.all(np.diff(bars.lane) >= 0) and np.all(bars.start[1:][same] >= bars.end[:-1][same])
    main, runs = timeline.layers["main"], of["segments"]
    is_thread = np.array([lane.kind == "thread" for lane in timeline.lanes.all])[main.lane]
    assert int((main.end - main.start)[is_thread].sum()) == int((runs.end - runs.start).sum())


def check_levels(timeline: Timeline, styles: int, meta: dict[str, Any]) -> None:
    """Within the rounding of shares."""
    main, begin, end = timeline.layers["main"], meta["begin"], meta["end"]
    spent = int((main.end - main.start).sum())
    for level in levels.make_levels(main, len(timeline.lanes.all), styles, begin, end):
        width = (end - begin) / level.parts
        rounding = (width / levels.WHOLE + 1) * (len(main.lane) + len(level.cell) + 1)
        assert abs(level.share.sum() * width / levels.WHOLE - spent) <= rounding


def check_links(of: Analysis, columns: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    edges, tasks = of["edges"], columns["task.number"]
    kept = np.isin(edges.source, tasks) & np.isin(edges.sink, tasks)
    sink = columns["edge.sink"]
    pairs = set(zip(tasks[sink - columns["edge.back"]].tolist(), tasks[sink].tolist()))
    assert pairs == set(zip(edges.source[kept].tolist(), edges.sink[kept].tolist()))
    assert len(columns["message.start"]) == len(of["messages"].send)
    start, time = columns["chain.start"], columns["chain.time"]
    assert np.all(time >= 0) and np.array_equal(start[1:], (start + time)[:-1])
    assert int(time.sum()) <= meta["home"][1] - meta["home"][0]
