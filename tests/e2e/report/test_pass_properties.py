# SPDX-License-Identifier: Apache-2.0
"""Properties of the passes on any valid trace, of the small runtime of test_analysis_properties.py."""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handmade import COMPLETE, IMPLICIT, SWITCH, A, Stream, save  # first: it finds marline
from marline.report.several.compare import compare, summary
from marline.report.several.scaling import scaling
from marline.trace.analysis import Analysis
from marline.trace.global_graph.edges import LOCK
from marline.trace.passes.efficiency.ideal_network import replay
from marline.trace.passes.thread_time.causes import NUMBER
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace
from test_analysis_properties import BASE, Runtime, analysed, runtimes
from test_critical_path import begins, ends, section

few = settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RANKS = st.lists(runtimes(), min_size=1, max_size=2)


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9


@few
@given(RANKS)
def test_efficiencies(ranks: list[Runtime]) -> None:
    """Factors multiply to what they are factors of; efficiencies of time are at most 1; the replay with the network as
    it was gives the run again, and without it none that is longer."""
    of = analysed(ranks)
    found, graph, network = of.document("efficiency"), of["global_graph"], of["ideal_network"]
    assert replay(graph, ideal=False) == graph.end - graph.begin == network.makespan >= network.ideal
    assert 0 <= found["parallel"] <= 1 and 0 <= found["load_balance"] <= 1 and 0 <= found["communication"] <= 1
    assert close(found["parallel"], found["load_balance"] * found["communication"])
    if "code" not in of["breakdown"].models:  # what is useful and no work is code outside of tasks
        assert found["useful_ns"] - found["outside_tasks_ns"] == of.document("breakdown")["total"]["work_ns"]
    mpi, openmp = found["mpi"], found["openmp"]
    if mpi:
        assert close(mpi["parallel"], mpi["load_balance"] * mpi["serialisation"] * mpi["transfer"])
        assert max(mpi.pop("ideal_ns") - network.makespan, *(0, *mpi.pop("outside_ns"))) <= network.makespan
        assert all(0 <= value <= 1 + 1e-9 for value in mpi.values())
    if openmp and found["useful_ns"]:
        assert close(found["parallel"], mpi["parallel"] * openmp["parallel"])
        assert close(openmp["parallel"], openmp["load_balance"] * openmp["scheduling"])


@few
@given(RANKS)
def test_outliers(ranks: list[Runtime]) -> None:
    """They are longer than the median of their kind, and fewer than half of it."""
    of = analysed(ranks)
    found = of["outliers"]
    document = of.document("outliers")
    assert (found.excess > 0).all() and document["excess_ns"] == sum(row["excess_ns"] for row in document["kinds"])
    assert all(2 * row["outliers"] < row["tasks"] for row in document["kinds"] if row["outliers"])


@few
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 99)), max_size=8))
def test_matrix_and_late_sends(sends: list[tuple[int, int, int]]) -> None:
    """Messages (sender, receiver, bytes) of a task per rank, one after the other: pairs sum up to all of them, and the
    k-th is as late as it is after its task's creation."""
    with tempfile.TemporaryDirectory() as name:
        for rank in range(2):
            stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
            stream.add(1000, "task_create", A, parent=IMPLICIT, flags=4)
            stream.add(1005, "task_schedule", IMPLICIT, next=A, status=SWITCH)
            for number, (sender, receiver, size) in enumerate(sends):
                for which, peer, call in ((sender, receiver, "MPI_Send"), (receiver, sender, "MPI_Recv")):
                    if which == rank:
                        start = 1010 + 20 * number + 5 * (call == "MPI_Recv")
                        values = {"peer": peer, "bytes": size, "comm": 1, "call": CALL_NUMBER[call]}
                        stream.add(start, "mpi_enter", A, **values).add(start + 3, "mpi_exit", A, **values)
            stream.add(2000, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
            save(Path(name), [stream], rank, size=2)
        of = Analysis(read_trace(name))
    found = of.document("matrix")
    pairs = {(row["from"], row["to"]): (row["messages"], row["bytes"]) for row in found["pairs"]}
    ends = {tuple(one[:2]) for one in sends}
    expected = {pair: [size for *of, size in sends if tuple(of) == pair] for pair in ends}
    assert pairs == {pair: (len(sizes), sum(sizes)) for pair, sizes in expected.items()}
    late = of.document("early_sends")
    assert late["late_ns"] == late["queued_ns"] + late["inside_ns"] == sum(10 + 20 * k for k in range(len(sends)))


@few
@given(RANKS)
def test_known_graph_and_ready_queue(ranks: list[Runtime]) -> None:
    """Depth and width as a slow count of what happened gives them; the queue's mean is the sum of all waiting."""
    of = analysed(ranks)
    graph, queue, tasks = of["known_graph"], of["ready_queue"], of["tasks"]
    undeferred = set(tasks.id[~tasks.deferred].tolist())
    for number, end in enumerate(graph.edges[1:].tolist()):
        known, width = 0, {0: 0}
        for rank, runtime in enumerate(ranks):
            alive = {one.id: one for one in runtime.tasks.values()
                     if one.created - BASE - 1 <= end and (one.end < 0 or one.end - BASE - 1 > end)
                     and rank << 48 | one.id not in undeferred}  # fmt: skip
            level: dict[int, int] = {}
            for one in sorted(alive):
                level[one] = 1 + max([level[need] for need in alive[one].needs if need in alive], default=0)
                width[level[one]] = width.get(level[one], 0) + 1
            known += len(alive)
        found = (graph.known[number], graph.depth[number], graph.width[number])
        assert found == (known, max(width), max(width.values()))
    begin, end = int(queue.edges[0]), int(queue.edges[-1])
    until = np.clip(np.where(tasks.start < 0, end, tasks.start), begin, end)
    waited = np.maximum(until - np.clip(of["readiness"].time, begin, end), 0)[tasks.deferred].sum()
    assert close((queue.mean * np.diff(queue.edges)).sum(), waited)
    assert 0 <= queue.empty <= end - begin and np.all(queue.mean <= queue.most + 1e-9)


@few
@given(RANKS)
def test_work_by_kind_and_comparison(ranks: list[Runtime]) -> None:
    """Kinds of tasks share the breakdown's work; a run compared with itself differs in nothing."""
    of = analysed(ranks)
    if "code" not in of["breakdown"].models:
        work = of["breakdown"].time.sum(axis=(0, 1))[NUMBER["work_body"]]
        assert of["work_by_kind"].work[:-1].sum() == work
    document = compare([summary(of)], [summary(of)])
    assert set(document["ratios"].values()) <= {1.0, None}
    assert {row["work_ratio"] for row in document["kinds"]} <= {1.0, None}
    assert scaling([summary(of)] * 2)["runs"][1]["speedup"] == min(of["breakdown"].makespan, 1)


@few
@given(RANKS)
def test_bounds_and_patterns_of_edges(ranks: list[Runtime]) -> None:
    """Bounds are in order; edges beside a path of two are those that a search finds."""
    of = analysed(ranks)
    found, edges = of["bounds"], of["edges"]
    assert found.infinite_threads_and_network <= found.infinite_threads <= found.makespan
    assert found.infinite_threads_and_network <= found.infinite_network <= found.infinite_network_same_order
    assert found.infinite_network_same_order <= found.makespan
    pairs = set(zip(edges.source.tolist(), edges.sink.tolist()))
    patterns = of["slow_patterns"]
    beside = [any((u, w) in pairs and (w, v) in pairs for w in range(len(of["tasks"].id)))
              for u, v in zip(edges.source.tolist(), edges.sink.tolist())]  # fmt: skip
    assert patterns.transitive.tolist() == beside
    assert patterns.duplicate.sum() == edges.duplicates and not patterns.product.any()


@few
@given(RANKS)
def test_edges_by_address(ranks: list[Runtime]) -> None:
    """All declared edges come from some address; those that one address makes alone are no more than all."""
    of = analysed(ranks)
    found, edges = of["addresses"], of["edges"]
    assert found.edges.sum() == edges.times.sum() and found.alone.sum() == (edges.times == 1).sum()
    assert (found.alone <= found.edges).all() and (found.writers <= found.tasks).all()
    assert (found.held <= of["tasks"].running.sum()).all() and len(found.names) <= len(found.address)


SECTIONS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5)  # (pause, how long)


@few
@given(st.lists(SECTIONS, min_size=2, max_size=3))
def test_each_wait_for_a_lock_has_an_edge(threads: list[list[tuple[int, int]]]) -> None:
    """Tasks that have one lock in turn, first come, first served: as many edges as waits for another task, and the
    chain's parts add up to the makespan."""
    streams, waits, free, holder = [], 0, 0, -1
    clock, left = [0] * len(threads), [list(sections) for sections in threads]
    for number in range(len(threads)):
        streams.append(Stream(number + 1).add(1000, "implicit_begin", 200 + number, index=number, size=len(threads)))
        streams[-1].add(1000, "task_create", 100 + number, parent=200 + number, flags=4)
        begins(streams[-1], 100 + number, 200 + number)
    while any(left):
        one = min((n for n in range(len(threads)) if left[n]), key=lambda n: (clock[n] + left[n][0][0], n))
        pause, held = left[one].pop(0)
        asks = clock[one] + pause
        waits += free > asks and holder != one
        has = max(asks, free)
        section(streams[one], 100 + one, asks, has, has + held)
        clock[one] = free = has + held
        holder = one
    for number, stream in enumerate(streams):
        ends(stream, 100 + number, 200 + number, clock[number] + 1)
    with tempfile.TemporaryDirectory() as folder:
        of = Analysis(read_trace(save(Path(folder), streams)))
    edges, found = of["global_graph"].edges, of["critical_path"]
    assert int((edges.kind == LOCK).sum()) == waits
    assert sum(row["total_ns"] for row in found.document()["chain"]) == found.makespan
