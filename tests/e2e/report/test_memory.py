# SPDX-License-Identifier: Apache-2.0
"""Memory over time and by NUMA node, and page faults of threads, on traces made by hand with answers worked out by
hand: the pass, the report's line, its JSON and the page."""
from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import LLVM, run
from handmade import IMPLICIT, Stream, save  # first: it finds marline
from in_process import document_of, report

from marline.report import machine
from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

MIB = 1 << 20
RESIDENT, ON_NODE = 1, 3
FIRST_TOUCH = "first touch"


def thread(number: int, node: int, **changes: int) -> dict[str, int]:
    return {"thread": number, "minor_faults": 0, "major_faults": 0, "cpu": 8 * node, "node": node} | changes


def trace(folder: Path, moments: list[tuple[int, int, dict[int, int]]], threads: list[dict[str, int]], rank: int = 0,
          **changes: Any) -> Path:
    """`moments`: (time, thread that records, MiB by node)."""
    streams = [Stream(number).add(1000, "implicit_begin", IMPLICIT + number, index=number - 1, size=2)
               for number in (1, 2)]
    for time, number, nodes in moments:
        stream = streams[number - 1]
        stream.add(1000 + time, "memory", IMPLICIT, bytes=sum(nodes.values()) * MIB, kind=RESIDENT)
        for node, size in nodes.items():
            stream.add(1000 + time, "memory", IMPLICIT, bytes=size * MIB, kind=ON_NODE, node=node)
    for number, stream in enumerate(streams):
        stream.add(1000 + 500, "implicit_end", IMPLICIT + 1 + number)
    folder.mkdir(exist_ok=True)
    return save(folder, streams, rank, threads=threads, **changes)


def said(folder: Path) -> str:
    return machine.first_touch(Analysis(read_trace(folder)).document("memory"))


def test_pages_beside_threads(tmp_path: Path) -> None:
    """Most pages are there at 200: 62 of 100 on node 0, where one of two threads runs."""
    folder = trace(tmp_path, [(100, 1, {0: 40}), (200, 2, {0: 62, 1: 38}), (300, 1, {0: 5, 1: 50})],
                   [thread(2, 1, minor_faults=7), thread(1, 0, minor_faults=900, major_faults=3)],
                   machine_end={"peak_memory_bytes": 101 * MIB})  # fmt: skip
    found = Analysis(read_trace(folder)).document("memory")
    assert found["ranks"] == [{"rank": 0, "peak_bytes": 101 * MIB, "excess": pytest.approx(0.12)}]
    assert found["over_time"] == [{"rank": 0, "time_ns": time, "resident_bytes": size * MIB}
                                  for time, size in ((100, 40), (200, 100), (300, 55))]  # fmt: skip
    assert found["nodes"] == [
        {"rank": 0, "node": 0, "bytes": 62 * MIB, "page_share": 0.62, "threads": 1, "thread_share": 0.5},
        {"rank": 0, "node": 1, "bytes": 38 * MIB, "page_share": 0.38, "threads": 1, "thread_share": 0.5}]
    assert [(one["thread"], one["minor_faults"], one["major_faults"]) for one in found["threads"]] == [
        (0, 900, 3), (1, 7, 0)]  # fmt: skip
    result = report(folder, "--html", tmp_path / "page.html")
    line = " ".join(result.stdout.partition(FIRST_TOUCH)[2].split())
    assert line.startswith("62.0 % of the pages lie on NUMA node 0, where 50.0 % of its threads run: initialise the "
                           "data in parallel, by the threads that will use it")
    page = (tmp_path / "page.html").read_text()
    assert "Memory by NUMA node" in page and "Page faults by thread" in page


@pytest.mark.parametrize(("nodes", "threads"), [
    ({0: 55, 1: 45}, [0, 1]),  # nearly even
    ({0: 90, 1: 30}, [0, 0, 0, 1]),  # as the threads are
    ({1: 100}, [1, 1]),  # a rank on one node
    ({}, [0, 0]),  # a machine with one node
    ({0: 100}, [-1, -1]),  # where threads ran is not known
])
def test_nothing_is_said_where_pages_lie_as_threads_run(tmp_path: Path, nodes: dict[int, int],
                                                        threads: list[int]) -> None:  # fmt: skip
    moments = [(100, 1, nodes)] if nodes else []
    folder = trace(tmp_path, moments, [thread(1 + at, node) for at, node in enumerate(threads)])
    assert said(folder) == ""


def test_one_peak_is_said(tmp_path: Path) -> None:
    """The kernel's own figure is behind the greatest that was seen."""
    sample = {"monotonic_ns": 0, "frequency_khz": 0} | dict.fromkeys(
        ("cpu_ns", "system_ns", "minor_faults", "major_faults", "steal_ns", "throttled_ns", "memory_stall_ns",
         "busy_ns"), 0)  # fmt: skip
    folder = trace(tmp_path, [(100, 1, {0: 120}), (200, 1, {0: 30})], [thread(1, 0)], machine_begin=sample,
                   machine_end=sample | {"monotonic_ns": 500, "peak_memory_bytes": 101 * MIB})  # fmt: skip
    document = document_of(folder)
    assert [row["peak_memory_bytes"] for row in document["machine"]["ranks"]] == [120 * MIB]
    assert [row["peak_bytes"] for row in document["memory"]["ranks"]] == [120 * MIB]
    assert "120 MiB at most" in " ".join(report(folder).stdout.split())


def test_memory_on_a_node_without_threads(tmp_path: Path) -> None:
    folder = trace(tmp_path, [(100, 1, {0: 60, 2: 40})], [thread(1, 0), thread(2, 0)])
    assert said(folder).startswith("40.0 % of the pages lie on NUMA node 2, where 0.0 % of its threads run: ")


def test_the_rank_with_the_most_misplaced_pages_is_named(tmp_path: Path) -> None:
    trace(tmp_path, [(100, 1, {0: 50, 1: 50})], [thread(1, 0), thread(2, 1)], size=2)
    folder = trace(tmp_path, [(100, 2, {2: 80, 3: 20})], [thread(1, 2), thread(2, 3)], rank=1, size=2)
    assert said(folder).startswith("80.0 % of the pages of rank 1 lie on NUMA node 2, where 50.0 % of its threads run")


def test_a_trace_of_an_older_recorder(tmp_path: Path) -> None:
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1).add(1100, "implicit_end", IMPLICIT)
    assert Analysis(read_trace(save(tmp_path, [stream]))).document("memory") == {
        "ranks": [{"rank": 0, "peak_bytes": 0, "excess": None}], "nodes": [], "threads": [], "over_time": []}


TWO_NODES = """
set -e
mount -t tmpfs none /sys/devices/system/node
mkdir /sys/devices/system/node/node0 /sys/devices/system/node/node1
mount -t tmpfs none /sys/devices/system/cpu/cpu1
mkdir /sys/devices/system/cpu/cpu1/node1
exec "$@"
"""


def test_the_recorder_on_two_nodes(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """In a namespace where /sys says that CPU 1 belongs to a second node. All pages lie on the real one, where one of
    the two threads runs."""
    if not Path("/proc/self/numa_maps").exists() or not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs two CPUs, and a kernel that knows NUMA nodes")
    if subprocess.run(["unshare", "-m", "sh", "-c", TWO_NODES, "sh", "true"], check=False).returncode:
        pytest.skip("may not mount what the test needs")
    program = compiled("clang-19", "touches.c", "-fopenmp=libomp", f"-L{LLVM}")
    settings = {"LD_LIBRARY_PATH": str(LLVM), "LD_PRELOAD": str(build / "lib/marline/libmarline-trace.so"),
                "MARLINE_TRACE_DIR": str(tmp_path / "trace"), "OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true",
                "OMP_PLACES": "{0},{1}"}  # fmt: skip
    assert run(["unshare", "-m", "sh", "-c", TWO_NODES, "sh", program], **settings).stderr == ""
    found = Analysis(read_trace(tmp_path / "trace")).document("memory")
    assert [(one["node"], one["threads"]) for one in found["nodes"]] == [(0, 1), (1, 1)]
    assert found["nodes"][0]["bytes"] >= 64 * MIB and found["nodes"][1]["bytes"] == 0
    assert machine.first_touch(found).startswith("100.0 % of the pages lie on NUMA node 0, where 50.0 % of its threads")
