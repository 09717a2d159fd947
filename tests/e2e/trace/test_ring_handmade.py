# SPDX-License-Identifier: Apache-2.0
"""The reader of rings (python/marline/trace/read/ring.py), on files written by hand: a trace whose beginning is cut
says the same about the rest as the whole trace, wherever it is cut, and whatever part of the beginning is in the
table."""
from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
from test_analysis_properties import Runtime, bounded, runtimes  # noqa: E402

from conftest import EXHAUSTIVE  # noqa: E402
from handmade import A, B, COMPLETE, IMPLICIT, SWITCH, Stream, save  # noqa: E402
from handmade_ring import save_ring  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.read.events import CALL_NUMBER  # noqa: E402
from marline.trace.read.reader import TraceError, read_trace  # noqa: E402

Piece = tuple[int, int, int, int, bool]  # lane, task, start, end, waits


def one_thread() -> Stream:
    """A runs from 1010 to 1040 with a piece of B in between; C was created at 1002 and runs from 1050 to 1060."""
    thread = Stream(1).add(1000, "implicit_begin", 1 << 32 | 1, size=1)
    for time, task in ((1001, A), (1002, C), (1003, B)):
        thread.add(time, "task_create", task, parent=1 << 32 | 1, code=task, flags=4)
    thread.add(1010, "task_schedule", 1 << 32 | 1, next=A, status=SWITCH)
    thread.add(1020, "task_schedule", A, next=B, status=SWITCH)
    thread.add(1030, "task_schedule", B, next=A, status=COMPLETE)
    thread.add(1040, "task_schedule", A, next=1 << 32 | 1, status=COMPLETE)
    thread.add(1060, "task_run", C, start=1050, outer=1 << 32 | 1)
    return thread.add(1070, "implicit_end", 1 << 32 | 1)


C = 777


def test_what_lives_at_the_beginning(tmp_path: Path) -> None:
    """Cut at 1025: B runs, A is suspended, C waits for its turn. B's end, and all of C, follow."""
    of = Analysis(read_trace(save_ring(tmp_path, [one_thread()], horizon=1025)))
    tasks = of["tasks"]
    assert tasks.id.tolist() == [A, B, C] and tasks.created.tolist() == [0, 0, 0]
    assert tasks.start.tolist() == [0, 0, 25] and tasks.end.tolist() == [15, 5, 35]
    assert tasks.running.tolist() == [10, 5, 10] and tasks.code.tolist() == [A, B, C]
    assert of.trace.began == 25 and of.trace.began_before.tolist() == [A, B, C]
    (line,) = [one for one in of["integrity"].incomplete if "ring" in one]
    assert "from 0.000 s to 0.000 s of the run; created before: 3 tasks" in line


def test_a_task_that_ended_before_is_gone(tmp_path: Path) -> None:
    of = Analysis(read_trace(save_ring(tmp_path, [one_thread()], horizon=1040)))
    assert of["tasks"].id.tolist() == [C] and of["tasks"].end.tolist() == [20]


def test_a_task_that_runs_on_the_edge_begins_there(tmp_path: Path) -> None:
    of = Analysis(read_trace(save_ring(tmp_path, [one_thread()], horizon=1055)))
    assert of["tasks"].start.tolist() == [0] and of["tasks"].running.tolist() == [5]


def test_nothing_overwritten_is_a_whole_trace(tmp_path: Path) -> None:
    trace = read_trace(save_ring(tmp_path, [one_thread()], horizon=0))
    assert trace.began == 0 and len(trace.time) == 10


def test_messages_are_matched_from_the_beginning_on(tmp_path: Path) -> None:
    """Rank 0 sends three messages, at 10, 30 and 50; rank 1 gets them at 25, 45 and 65. Cut at 20: the first was sent
    before, so rank 1's first receive has no partner."""
    call = {"tag": 7, "bytes": 8, "comm": 1}
    for rank, name, times in ((0, "MPI_Send", (10, 30, 50)), (1, "MPI_Recv", (25, 45, 65))):
        stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, size=1)
        for time in times:
            words = call | {"peer": 1 - rank, "call": CALL_NUMBER[name]}
            stream.add(1000 + time - 2, "mpi_enter", IMPLICIT, **words)
            stream.add(1000 + time, "mpi_exit", IMPLICIT, **words)
        stream.add(1080, "implicit_end", IMPLICIT)
        folder = tmp_path / str(rank)
        folder.mkdir()
        save_ring(folder, [stream], horizon=1020 if rank == 0 else 1015)
        text = (folder / "rank0000.json").read_text().replace("rank0000", f"rank000{rank}")
        (tmp_path / f"rank000{rank}.json").write_text(text.replace('"rank": 0', f'"rank": {rank}'))
        (folder / "rank0000.mtr").rename(tmp_path / f"rank000{rank}.mtr")
        (folder / "rank0000.ring").rename(tmp_path / f"rank000{rank}.ring")
    of = Analysis(read_trace(tmp_path))
    calls, found = of["calls"], of["messages"]
    assert sorted((calls.end[found.send] + 20).tolist()) == [30, 50]
    assert sorted((calls.end[found.receive] + 20).tolist()) == [45, 65]


@pytest.mark.parametrize("damage", ["short", "magic", "slots", "thread"])
def test_damage_is_one_line(tmp_path: Path, damage: str) -> None:
    path = save_ring(tmp_path, [one_thread()], horizon=1025) / "rank0000.ring"
    data = bytearray(path.read_bytes())
    if damage == "short":
        data = data[:100]
    elif damage == "magic":
        data[0] = 0
    elif damage == "slots":
        data[16] = 200
    else:
        data[160 + 8 : 160 + 12] = bytes(4)
    path.write_bytes(data)
    with pytest.raises(TraceError, match="rank0000.ring: ") as caught:
        read_trace(tmp_path)
    assert "\n" not in str(caught.value)


# Any run, cut anywhere ------------------------------------------------------------------------------------------------


def pieces(of: Analysis, shift: int, since: int, ends: dict[int, int]) -> list[Piece]:
    """Who ran where from `since` to the thread's last record, with pieces that continue one another as one."""
    runs = of["segments"]
    rows = zip(runs.lane.tolist(), runs.task.tolist(), (runs.start + shift).tolist(), (runs.end + shift).tolist(),
               runs.waits.tolist())  # fmt: skip
    found: list[Piece] = []
    for lane, task, start, end, waits in rows:
        start, end = max(start, since), min(end, ends.get(lane, 0))
        if end <= start:
            continue
        last = found[-1] if found else None
        if last is not None and (last[0], last[1], last[3], last[4]) == (lane, task, start, waits):
            found[-1] = (lane, task, last[2], end, waits)
        else:
            found.append((lane, task, start, end, waits))
    return found


def lasts(of: Analysis) -> dict[int, int]:
    lane = of.trace.rank.astype(np.int64) << 16 | of.trace.thread
    return dict(zip(lane.tolist(), of.trace.time.tolist()))


@settings(bounded, max_examples=60 if EXHAUSTIVE else 8)
@given(runtimes(), st.data())
def test_the_rest_is_as_in_the_whole_trace(runtime: Runtime, data: st.DataObject) -> None:
    first, last = runtime.streams[0].records[0][0], max(one.records[-1][0] for one in runtime.streams)
    horizon = data.draw(st.integers(first, last - 1), label="horizon")
    gone = {one.thread: data.draw(st.integers(0, sum(row[0] <= horizon for row in one.records)))
            for one in runtime.streams}  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        whole = Analysis(read_trace(save(Path(name), runtime.streams)))
    with tempfile.TemporaryDirectory() as name:
        cut = Analysis(read_trace(save_ring(Path(name), runtime.streams, horizon, gone)))
    since = horizon - first
    assert pieces(cut, since, since, lasts(whole)) == pieces(whole, 0, since, lasts(whole))
    tasks, known = cut["tasks"], whole["tasks"]
    alive = known.id[(known.created <= since) & ((known.end < 0) | (known.end > since))]
    assert cut.trace.began_before.tolist() == alive.tolist()
    row = known.index(tasks.id)
    assert np.array_equal(np.where(tasks.end < 0, -1, tasks.end + since), known.end[row])
    assert np.array_equal(tasks.start >= 0, known.start[row] >= 0)
