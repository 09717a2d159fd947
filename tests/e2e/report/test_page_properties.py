# SPDX-License-Identifier: Apache-2.0
"""Any valid trace has a page: of random runs it holds every bar, dependence and message, bars of a lane never overlap,
levels keep the time, and what bounded the run goes on without a gap, with a place for each of its parts. The drawing of
the graph, its layout and the matrix of messages are worked out by hand; the overlap over time is what the pass says of
the whole run."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import handmade_ranks
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_analysis_properties import Runtime, runtimes
from test_page import read_numbers

from handmade import save
from marline.page import levels, over_time, tables
from marline.page.bars import Timeline, make_timeline
from marline.page.graph.kind_graph import kind_graph
from marline.page.graph.layout import Layout, arrange, order
from marline.page.places import Pair, Place, longest_steps
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
    check_steps(of, timeline)


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


def check_steps(of: Analysis, timeline: Timeline) -> None:
    """Each part of what bounded the run has a longest step."""
    chain = of.document("critical_path")["chain"]
    total = {row["name"]: row["total_ns"] for row in chain if row["kind"] not in ("wait", "start")}
    found = longest_steps(of, timeline.lanes)
    assert set(total) <= set(found)
    assert all(0 <= place.start < place.end <= of.trace.time.max() for place in found.values())


# The graph, by kind of task --------------------------------------------------------------------------------------


def test_layers_of_a_small_graph() -> None:
    """0 to 1 to 2 to 3, with one edge beside 1, which gets a point there, and one that leads back."""
    found = arrange(4, [(0, 1), (1, 2), (0, 2), (2, 3), (2, 0), (1, 1)])
    assert found.layer == [0, 1, 2, 3, 1] and found.back == [(2, 0)]
    assert found.route == {(0, 1): [0, 1], (1, 2): [1, 2], (0, 2): [0, 4, 2], (2, 3): [2, 3]}
    assert {found.place[1], found.place[4]} == {0, 1}


def test_the_order_of_a_circle() -> None:
    """trsm (1) leads to gemm (0) 8 times, and gemm to trsm once: trsm comes first. potrf (2), which nothing leads to,
    is before both, and 3, which leads nowhere, last."""
    assert order(4, {(1, 0): 8, (0, 1): 1, (2, 1): 3, (0, 3): 2, (0, 0): 9}) == [2, 1, 0, 3]


def crossings(found: Layout) -> int:
    """Pairs of edges between two layers that cross."""
    steps = {pair for route in found.route.values() for pair in zip(route, route[1:])}
    return sum((found.place[a] - found.place[c]) * (found.place[b] - found.place[d]) < 0
               for a, b in steps for c, d in steps if (a, b) < (c, d) and found.layer[a] == found.layer[c])  # fmt: skip


def test_edges_that_need_not_cross() -> None:
    assert crossings(arrange(6, [(0, 5), (1, 4), (2, 3)])) == 0


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_any_graph_has_layers(edges: list[tuple[int, int]]) -> None:
    """Each step of an edge leads one layer on; of each layer, places count from 0; no edge is lost."""
    found = arrange(10, edges)
    assert all(found.layer[b] == found.layer[a] + 1 for route in found.route.values() for a, b in zip(route, route[1:]))
    for layer in set(found.layer):
        places = [place for place, one in zip(found.place, found.layer) if one == layer]
        assert sorted(places) == list(range(len(places)))
    assert {*found.route, *found.back} == {edge for edge in edges if edge[0] != edge[1]}


def test_the_graph_of_two_ranks(tmp_path: Path) -> None:
    """gemm A is followed by gemm B, and the message of trsm C by trsm D: both stay within their kind. As much is in the
    table."""
    of = Analysis(read_trace(handmade_ranks.two_ranks(tmp_path / "app.trace")))
    text = kind_graph(of, find_styles(of))
    assert text.count('class="node') == 2 and "2 tasks, 150 ns, 1 in a row" in text
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text)
    assert sorted(cells[at : at + 4] for at in range(0, len(cells), 4)) == [
        ["gemm", "gemm", "dependence", "1"], ["trsm", "trsm", "message", "1"]]  # fmt: skip


def test_a_matrix_of_many_ranks_joins_neighbours() -> None:
    """64 ranks in 32 rows: rank 0 sends 100 bytes to 2 and 50 to 3, and 1 sends 10 to 2."""
    place = Place(5, 9, 1)
    pairs = [Pair(0, 2, 1, 100, 1.0, place), Pair(0, 3, 1, 50, 1.0, Place(1, 2, 0)),
             *(Pair(rank, (rank + 1) % 64, 1, 10, 1.0, place) for rank in range(1, 64))]  # fmt: skip
    text = tables._matrix(pairs)
    assert text.count('<th scope="row"') == 32 and ">2-3<" in text
    assert 'data-go="5,9,1" title="3 messages; show the slowest">160 B<' in text


def test_overlap_over_time_is_that_of_the_pass(tmp_path: Path) -> None:
    """C sends at 30, D has the message at 50: 20 ns under way, on the two threads of rank 0. Meanwhile A works, and C
    from 40 on."""
    of = Analysis(read_trace(handmade_ranks.two_ranks(tmp_path / "app.trace")))
    begin = int(of["calls"].start.min())
    done, possible = over_time.overlap_by_window(of, np.array([begin, begin + 15, begin + 20, begin + 100]))
    assert possible.tolist() == [10, 10, 20] and done.tolist() == [5, 5, 20]
    assert done.sum() == of["overlap"].work.sum()
