# SPDX-License-Identifier: Apache-2.0
"""What the machine did to a run is a cause of its own and no fault of the program: descriptions made by hand, and what
the recorder writes."""
from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from advice import CPUS, busy
from conftest import EXHAUSTIVE, SECONDS, clean_environment
from handmade import IMPLICIT, A, B, Stream, save  # first of what needs it: it finds marline
from test_without_tasks import AT_REGION_END, Team

from marline.report import machine, metrics
from marline.trace.analysis import Analysis
from marline.trace.views.export import load

US, MIB = 1000, 1 << 20
SAMPLE = {"monotonic_ns": 0, "steal_ns": 0, "busy_ns": 0, "cpu_ns": 0, "system_ns": 0, "throttled_ns": 0,
          "memory_stall_ns": 0, "minor_faults": 0, "major_faults": 0, "frequency_khz": 0,
          "peak_memory_bytes": 0}  # fmt: skip


def two_tasks() -> list[Stream]:
    """On two threads, from 10 us on: A runs to 20 us, B from 50 to 60 us. Up to 50 us B is ready: so of
    100 us of thread time 20 us are work, 70 us are overhead, or 35 us per task, and 10 us are idle at the end."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    first.add(1000, "task_create", A, parent=IMPLICIT, flags=4).add(1000, "task_create", B, parent=IMPLICIT, flags=4)
    first.add(1000 + 20 * US, "task_run", A, start=1000 + 10 * US, outer=IMPLICIT)
    first.add(1000 + 60 * US, "task_run", B, start=1000 + 50 * US, outer=IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", 201, index=1, size=2).add(1000, "wait_begin", 201, kind=9)
    return [first, second.add(1000 + 60 * US, "wait_end", 201, kind=9)]


def document(folder: Path, **changes: Any) -> dict[str, Any]:
    save(folder, two_tasks(), cpus=2, **changes)
    return metrics.make_document(Analysis(load(folder)))


def causes(folder: Path, **changes: Any) -> dict[str, str]:
    return {cause["name"]: cause["text"] for cause in document(folder, **changes)["causes"]}


def samples(begin: dict[str, int] | None = None, **end: int) -> dict[str, Any]:
    return {"machine_begin": SAMPLE | (begin or {}), "machine_end": SAMPLE | {"monotonic_ns": 2_000_000_000} | end}


def test_overhead_is_the_runtime_s_only_as_far_as_nobody_else_had_the_core(tmp_path: Path) -> None:
    assert "the runtime spends 35.0 us per task: 70.0 % of thread time" in causes(tmp_path)["fine grain"]
    found = causes(tmp_path, waited_for_core_ns=60 * US)
    assert "the runtime spends 5.00 us per task: 10.0 % of thread time" in found["fine grain"]
    assert list(found)[0] == "busy cores" and "for 60.0 % of their time (60.0 us)" in found["busy cores"]
    for taken in ({"waited_for_core_ns": 80 * US}, samples(steal_ns=80 * US), samples(throttled_ns=90 * US),
                  {"waited_for_core_ns": 50 * US} | samples(steal_ns=30 * US)):  # fmt: skip
        assert not {"fine grain", "overhead"} & set(causes(tmp_path, **taken)), taken


def test_threads_that_wait_for_one_without_a_core_wait_for_the_machine(tmp_path: Path) -> None:
    """Thread 1 works 400 us, thread 0 100 us and waits 300. If thread 1 had no core for 300 us, neither its loop nor
    the barrier is to blame."""
    team = Team()
    for index, length in ((0, 100 * US), (1, 400 * US)):
        team.work(index, 0, length)
        team.wait(index, length, 400 * US, AT_REGION_END)
    streams = list(team.end(400 * US).finish(400 * US))
    for taken, names in ((0, ["unequal threads"]), (300 * US, ["busy cores"])):
        save(tmp_path, streams, cpus=2, waited_for_core_ns=taken)
        found = metrics.make_document(Analysis(load(tmp_path)))["causes"]
        assert [cause["name"] for cause in found] == names


def test_each_cause_has_its_time(tmp_path: Path) -> None:
    """Time for which the quota stopped threads is in the kernel's count of their waits, too."""
    found = document(tmp_path, waited_for_core_ns=30 * US, **samples(
        {"steal_ns": 7 * US}, monotonic_ns=50 * US, steal_ns=12 * US, throttled_ns=20 * US,
        memory_stall_ns=3 * US))  # fmt: skip
    lost = {cause["name"]: cause["lost_ns"] for cause in found["causes"]}
    assert [lost[name] for name in ("stolen cores", "quota", "memory", "busy cores")] == [
        5 * US, 20 * US, 3 * US, 10 * US]  # fmt: skip


def test_waits_for_a_core_are_counted_for_longer_than_the_total(tmp_path: Path) -> None:
    """The kernel counts 150 us over 100 us of two threads; the total has 50 us of them, so half of it: 75 us of 100 us.
    What the runtime costs is said only if none of the 150 us can be in it."""
    found = causes(tmp_path, waited_for_core_ns=150 * US, **samples(monotonic_ns=100 * US))
    assert "for 75.0 % of their time (75.0 us)" in found["busy cores"]
    assert not {"fine grain", "overhead"} & set(found)


def test_other_programs_are_not_blamed_where_a_rank_lacks(tmp_path: Path) -> None:
    """The rank whose records are lost may have had the cores."""
    assert "busy cores" not in causes(tmp_path, waited_for_core_ns=60 * US, size=2)


@pytest.mark.parametrize(("faults", "seconds", "said"), [(20, 2, True), (20, 0.5, False), (3, 2, False)])
def test_page_faults_are_a_cause_where_they_explain_the_kernel_s_time(tmp_path: Path, faults: int, seconds: float,
                                                                    said: bool) -> None:  # fmt: skip
    """10 us in the kernel: 20 faults of about half a microsecond each explain them, 3 do not."""
    end = {"monotonic_ns": int(seconds * 1e9), "system_ns": 10 * US, "minor_faults": faults}
    assert ("page faults" in causes(tmp_path, **samples(**end))) == said


def test_memory_and_frequency(tmp_path: Path) -> None:
    found = document(tmp_path, **samples({"frequency_khz": 3_400_000, "minor_faults": 5}, frequency_khz=2_100_000,
                                         peak_memory_bytes=300 * MIB, minor_faults=1005, major_faults=2))  # fmt: skip
    assert machine.memory(found["machine"]) == "300 MiB at most; 1,002 page faults, 2 of them from disk"
    (remark,) = [line for line in found["remarks"] if "GHz" in line]
    assert "ran at 3.40 GHz at the beginning and at 2.10 GHz at the end" in remark
    steady = samples({"frequency_khz": 3_400_000}, frequency_khz=3_300_000)
    assert not any("GHz" in line for line in document(tmp_path, **steady)["remarks"])


def test_counters_of_a_node_count_once(tmp_path: Path) -> None:
    """Two ranks of one node have read the same counters; each has used 10 us of the 80 us that its CPUs were busy. So a
    quarter of what the hypervisor took was taken from them."""
    for rank in range(2):
        save(tmp_path, two_tasks(), rank=rank, cpus=8, host="here",
             **samples(steal_ns=8 * US, busy_ns=80 * US, cpu_ns=10 * US, peak_memory_bytes=(rank + 1) * MIB))
    found = metrics.make_document(Analysis(load(tmp_path)))
    assert found["machine"]["nodes"] == [{"host": "here", "steal_ns": 2 * US, "throttled_ns": 0, "memory_stall_ns": 0,
                                          "others_cpu_ns": 60 * US}]  # fmt: skip
    assert machine.memory(found["machine"]).startswith("2 MiB at most in rank 1; ")


def test_a_rank_whose_records_are_lost_counts_for_its_node_only(tmp_path: Path) -> None:
    """Rank 1 has left its description alone: its tasks, faults and memory are not among the report's figures. Of the
    80 us that the CPUs were busy, its 10 us were not other programs'."""
    used = samples(busy_ns=80 * US, cpu_ns=10 * US, minor_faults=7, peak_memory_bytes=MIB)
    save(tmp_path, two_tasks(), size=2, cpus=8, counters={"tasks": 2, "edges": 1}, **used)
    save(tmp_path, [], rank=1, size=2, cpus=8, counters={"tasks": 9, "edges": 9}, **used)
    found = metrics.make_document(Analysis(load(tmp_path)))
    assert found["counters"] == {"tasks": 2, "edges": 1}
    assert [(row["rank"], row["minor_faults"]) for row in found["machine"]["ranks"]] == [(0, 7)]
    assert [node["others_cpu_ns"] for node in found["machine"]["nodes"]] == [60 * US]


def test_the_recorder_asks_the_kernel(marline: Callable[..., Any], compiled: Callable[..., Path],
                                      tmp_path: Path) -> None:  # fmt: skip
    """The program touches 64 MiB: that is its peak at least, and its page faults, unless pages are large."""
    program = compiled("gcc-12", "touches.c", "-fopenmp")
    result = marline("run", "-t", "2", "--trace", tmp_path / "trace", program)
    assert result.returncode == 0, result.stderr
    (description,) = (tmp_path / "trace").glob("rank*.json")
    begin, end = (json.loads(description.read_text())[key] for key in ("machine_begin", "machine_end"))
    assert set(begin) == set(end) == set(SAMPLE)
    threads = json.loads(description.read_text())["threads"]
    assert sorted(one["thread"] for one in threads) == [1, 2]
    assert 64 * MIB // (2 * MIB) <= sum(one["minor_faults"] for one in threads) <= end["minor_faults"]
    assert all(one["minor_faults"] > 0 and one["cpu"] >= 0 for one in threads)
    # The region ends before the memory is freed.
    found = Analysis(load(tmp_path / "trace")).document("memory")
    resident = max(one["resident_bytes"] for one in found["over_time"])
    assert 64 * MIB <= resident <= found["ranks"][0]["peak_bytes"]
    assert end["peak_memory_bytes"] >= 64 * MIB > begin["peak_memory_bytes"]
    assert end["minor_faults"] >= begin["minor_faults"] + 64 * MIB // (2 * MIB)
    for key in ("monotonic_ns", "cpu_ns", "busy_ns"):
        assert end[key] > begin[key], key
    assert end["cpu_ns"] - begin["cpu_ns"] <= 2 * (end["monotonic_ns"] - begin["monotonic_ns"])


@pytest.mark.skipif(not EXHAUSTIVE, reason="takes half a minute beside busy processes")
def test_busy_cores_are_not_the_runtime_s_overhead(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """Tasks as small as those of a naive Fibonacci, beside four busy processes a CPU: the cores are the biggest loss,
    and the runtime is given no time that threads may have waited for one."""
    program = compiled("clang-19", "advice.c", "-fopenmp")
    words = [build / "bin" / "marline", "run", "--no-bind", "-t", "2", "--trace", tmp_path / "trace", program, "tiny"]
    with busy(4 * CPUS):
        subprocess.run(words, env=clean_environment(), check=True, timeout=SECONDS, capture_output=True)
    found = metrics.make_document(Analysis(load(tmp_path / "trace")))
    rank = json.loads((tmp_path / "trace" / "rank0000.json").read_text())
    lost = {cause["name"]: cause["lost_ns"] for cause in found["causes"]}
    assert next(iter(lost)) == "busy cores"
    proven = max(found["total"]["overhead_ns"] - rank["waited_for_core_ns"], 0)
    assert lost.get("fine grain", 0) + lost.get("overhead", 0) <= proven
