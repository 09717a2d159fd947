# SPDX-License-Identifier: Apache-2.0
"""`marline report --speedscope` and `--firefox`, read back by readers that are as strict as the formats' documentation:
traces made by hand, and bars that overlap."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from handmade import save, suspended_receive
from handmade_ranks import two_ranks
from handmade_samples import MS, write_sampled
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import report
from profile_formats import Bar, read_firefox, read_sampled, read_speedscope

from marline.trace.exports.nested import Track, _nest

IN_FIRST = [("rank 0 thread 0", "implicit task", 0, 10, 0), ("rank 0 thread 0", "gemm", 10, 110, 0),
            ("rank 0 thread 0", "implicit task", 110, 200, 0), ("rank 0 thread 0", "step", 1, 10, 1),
            ("rank 0 thread 0", "step", 110, 200, 1)]  # fmt: skip
IN_SECOND = [("rank 0 thread 1", "implicit task", 0, 20, 0), ("rank 0 thread 1", "trsm", 20, 60, 0),
             ("rank 0 thread 1", "MPI_Send to 1 tag 7", 30, 40, 1), ("rank 0 thread 1", "implicit task", 60, 130, 0),
             ("rank 0 thread 1", "gemm", 130, 180, 0), ("rank 0 thread 1", "implicit task", 180, 200, 0)]  # fmt: skip
IN_THIRD = [("rank 1 thread 0", "implicit task", 0, 10, 0), ("rank 1 thread 0", "trsm", 10, 100, 0),
            ("rank 1 thread 0", "MPI_Recv from 0 tag 7", 20, 50, 1),
            ("rank 1 thread 0", "implicit task", 100, 200, 0)]  # fmt: skip
BARS = sorted(IN_FIRST + IN_SECOND + IN_THIRD)


def written(folder: Path, option: str, said: str) -> dict:
    file = folder.parent / "out.json"
    result = report(folder, option, file)
    assert result.returncode == 0 and result.stderr == f"marline: {file}: open it in {said}\n"
    return json.loads(file.read_text())


def test_speedscope(tmp_path: Path) -> None:
    document = written(two_ranks(tmp_path / "trace"), "--speedscope", "https://www.speedscope.app")
    assert document["name"] == "app" and sorted(read_speedscope(document)) == BARS


def test_speedscope_has_samples(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    document = written(write_sampled(tmp_path / "trace"), "--speedscope", "https://www.speedscope.app")
    rank = "rank 0 samples of CPU time"
    assert read_sampled(document) == {
        (rank, "serial code", "main", "other"): 2 * MS, (rank, "task", "body", "middle", "inner", "memcpy"): 3 * MS,
        (rank, "task", "body"): MS, (rank, "waits", "main", "marline_worker"): MS,
    }  # fmt: skip
    assert ("rank 0 thread 0", "task", 10 * MS, 20 * MS, 0) in read_speedscope(document)


def test_firefox(tmp_path: Path) -> None:
    document = written(two_ranks(tmp_path / "trace"), "--firefox", "https://profiler.firefox.com")
    bars, time = read_firefox(document)
    assert sorted(bars) == sorted((*bar[:4], 0) for bar in BARS)
    expected = {
        ("rank 0 thread 0", "implicit task"): 1, ("rank 0 thread 0", "implicit task", "step"): 9 + 90,
        ("rank 0 thread 0", "gemm"): 100, ("rank 0 thread 1", "implicit task"): 20 + 70 + 20,
        ("rank 0 thread 1", "trsm"): 30, ("rank 0 thread 1", "trsm", "MPI_Send to 1 tag 7"): 10,
        ("rank 0 thread 1", "gemm"): 50, ("rank 1 thread 0", "implicit task"): 110, ("rank 1 thread 0", "trsm"): 60,
        ("rank 1 thread 0", "trsm", "MPI_Recv from 0 tag 7"): 30,
    }  # fmt: skip
    assert {path: round(value * 1e6) for path, value in time.items()} == expected
    assert document["meta"]["product"] == "app"


def test_firefox_has_samples(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    document = written(write_sampled(tmp_path / "trace"), "--firefox", "https://profiler.firefox.com")
    bars, time = read_firefox(document)
    thread = "rank 0 thread 0 samples of CPU time"
    assert {path[1:]: round(value * 1e6) for path, value in time.items() if path[0] == thread} == {
        ("serial code", "main", "other"): 2 * MS, ("task", "body", "middle", "inner", "memcpy"): 3 * MS,
        ("task", "body"): MS, ("waits", "main", "marline_worker"): MS,
    }  # fmt: skip
    sampled = next(one for one in document["threads"] if one["name"].endswith("samples of CPU time"))
    assert [round(time) for time in sampled["samples"]["time"]] == [1, 11, 12, 13, 22]
    assert ("rank 0 thread 0", "task", 10 * MS, 20 * MS, 0) in bars and not [bar for bar in bars if bar[0] == thread]


@pytest.mark.parametrize("option", ["--speedscope", "--firefox"])
def test_a_suspended_call_has_a_lane_of_its_own(tmp_path: Path, option: str) -> None:
    (tmp_path / "trace").mkdir()
    said = "https://www.speedscope.app" if option == "--speedscope" else "https://profiler.firefox.com"
    document = written(save(tmp_path / "trace", suspended_receive()), option, said)
    bars = read_speedscope(document) if option == "--speedscope" else read_firefox(document)[0]
    assert ("rank 0 suspended in MPI 0", "MPI_Recv from 1 tag 7", 110, 160, 0) in bars
    assert ("rank 0 thread 0", "task", 100, 120, 0) in bars and ("rank 0 thread 1", "task", 150, 170, 0) in bars


def nested(bars: list[tuple[int, int]]) -> tuple[Track, list[Bar]]:
    bars = sorted(bars, key=lambda bar: (bar[0], -bar[1]))
    track = Track(0, 1, "thread 1", [], [], [])
    _nest(track, list(range(len(bars))), [start for start, _ in bars], [end for _, end in bars])
    events = [{"type": "O" if opens else "C", "frame": row, "at": time}
              for time, row, opens in zip(track.time, track.row, track.opens, strict=True)]  # fmt: skip
    profile = {"type": "evented", "name": "thread", "unit": "nanoseconds", "startValue": 0, "endValue": 1000,
               "events": events}  # fmt: skip
    frames = [{"name": str(row)} for row in range(len(bars))]
    return track, read_speedscope({"$schema": "https://www.speedscope.app/file-format-schema.json",
                                   "shared": {"frames": frames}, "activeProfileIndex": 0, "profiles": [profile]})


def test_a_bar_that_ends_after_the_one_around_it_is_cut() -> None:
    assert sorted(bar[1:] for bar in nested([(0, 10), (5, 20), (6, 8), (20, 30)])[1]) == [
        ("0", 0, 10, 0), ("1", 5, 10, 1), ("2", 6, 8, 2), ("3", 20, 30, 0)]


INTERVAL = st.tuples(st.integers(0, 60), st.integers(1, 40)).map(lambda one: (one[0], one[0] + one[1]))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(INTERVAL, max_size=12))
def test_any_bars_nest(bars: list[tuple[int, int]]) -> None:
    """The reader refuses what does not; no bar is lost, begins elsewhere, or becomes longer."""
    found = sorted(nested(bars)[1], key=lambda bar: int(bar[1]))
    ordered = sorted(bars, key=lambda bar: (bar[0], -bar[1]))
    assert [bar[2] for bar in found] == [start for start, _ in ordered]
    assert all(bar[3] <= end for bar, (_, end) in zip(found, ordered, strict=True))
