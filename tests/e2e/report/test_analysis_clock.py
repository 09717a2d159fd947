# SPDX-License-Identifier: Apache-2.0
"""Clocks of several machines: offset and drift are taken out, and no message is received before it was sent; where no
correction exists, that is said. Counters here run at one cycle per nanosecond on rank 0."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handmade import A, B, Stream, description, save  # first: it finds marline
from marline.trace.analysis import Analysis
from marline.trace.read.clock import frequency
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import TraceError, read_trace
from marline.trace.read.records import Trace


def talk(stream: Stream, start: int, end: int, name: str, peer: int, tag: int) -> None:
    call = {"peer": peer, "tag": tag, "bytes": 8, "comm": 1, "call": CALL_NUMBER[name]}
    stream.add(start, "mpi_enter", A, **call).add(end, "mpi_exit", A, **call)


def sample(local: int, on_rank_0: int, round_trip: int = 0) -> dict[str, int]:
    return {"local": local, "sent": on_rank_0 - round_trip // 2, "received": on_rank_0 + round_trip // 2}


def slack(trace: Trace) -> list[int]:
    """From the start of each send to the end of its receive, least first."""
    of = Analysis(trace)
    calls, messages = of["calls"], of["messages"]
    return sorted((calls.end[messages.receive] - calls.start[messages.send]).tolist())


def test_offset_and_drift(tmp_path: Path) -> None:
    """Rank 1's counter was 10^15 ahead and runs at half speed: the messages of both directions take 100 ns."""
    ahead = 10**15

    def local(time: int) -> int:
        return ahead + (time - 1000) // 2

    first, second = Stream(), Stream()
    for number, time in enumerate(range(2000, 100_000, 2000)):
        talk(first, time, time + 10, "MPI_Send", 1, number)
        talk(second, local(time), local(time + 100), "MPI_Recv", 0, number)
        talk(second, local(time + 200), local(time + 210), "MPI_Send", 0, number)
        talk(first, time + 200, time + 300, "MPI_Recv", 1, number)
    save(tmp_path, [first])
    save(tmp_path, [second], 1, boot_id="elsewhere",
         clock_samples=[sample(local(1000), 1000, 40), sample(local(101_000), 101_000, 60)])  # fmt: skip
    trace = read_trace(tmp_path)
    assert set(slack(trace)) == {100} and trace.notes == []


def test_whole_runs_are_converted_too(tmp_path: Path) -> None:
    """A ran 2000-3000 on rank 0's clock; rank 1's counter is 500 late."""
    save(tmp_path, [Stream().add(1000, "thread_begin", 1)])
    stream = Stream().add(1400, "task_create", B, flags=4).add(2500, "task_run", B, start=1500, outer=A)
    save(tmp_path, [stream], 1, boot_id="elsewhere", clock_samples=[sample(500, 1000), sample(9500, 10_000)])
    tasks = Analysis(read_trace(tmp_path))["tasks"]
    assert (tasks.created.tolist(), tasks.start.tolist(), tasks.end.tolist()) == ([900], [1000], [2000])


def three_ranks(folder: Path, errors: tuple[int, int]) -> None:
    """A ring of messages, 100 ns each, all in order; the clock samples of ranks 1 and 2 are wrong by `errors`."""
    streams = [Stream() for _ in range(3)]
    for number in range(6):
        time, rank = 2000 + 1000 * number, number % 3
        talk(streams[rank], time, time + 10, "MPI_Send", (rank + 1) % 3, number)
        talk(streams[(rank + 1) % 3], time, time + 100, "MPI_Recv", rank, number)
    save(folder, [streams[0]])
    for rank, error in ((1, errors[0]), (2, errors[1])):
        save(folder, [streams[rank]], rank, boot_id=f"machine {rank}",
             clock_samples=[sample(1000, 1000 + error), sample(9000, 9000 + error)])  # fmt: skip


# With errors e1 and e2 the messages 0-1, 1-2 and 2-0 seem to take 100 + e1, 100 + e2 - e1 and 100 - e2.
@pytest.mark.parametrize(("errors", "moved"), [
    ((0, 0), {}),
    ((-90, 0), {}),  # 10, 190, 100: hidden
    ((-250, 0), {1: 150}),  # -150, 350, 100
    ((-400, -150), {1: 300}),  # -300, 350, 250; the step leaves 50 for 1-2
    ((-250, -250), {1: 150, 2: 50}),  # -150, 100, 350; the step of rank 1 makes 1-2 -50
    ((250, 0), {0: 50, 2: 150}),  # 350, -150, 100; the step of rank 2 makes 2-0 -50
])
def test_violations_are_mended_by_the_least_step(
    tmp_path: Path, errors: tuple[int, int], moved: dict[int, int]
) -> None:
    true, wrong = tmp_path / "true", tmp_path / "wrong"
    for folder, used in ((true, (0, 0)), (wrong, errors)):
        folder.mkdir()
        three_ranks(folder, used)
    trace = read_trace(wrong)
    assert slack(trace)[0] >= 0
    assert trace.notes == [
        f"clocks: rank {rank} moved by {step} ns, as it received messages before they were sent"
        for rank, step in moved.items()
    ]
    assert Analysis(trace).document("integrity")["incomplete"][: len(moved)] == trace.notes
    # Within a rank nothing changed.
    whole = read_trace(true)
    for rank in range(3):
        assert np.diff(trace.time[trace.rank == rank]).tolist() == np.diff(whole.time[whole.rank == rank]).tolist()


def test_contradicting_messages_are_told_and_left(tmp_path: Path) -> None:
    """Rank 1's clock was 300 late at first and 300 early in the end, and its two samples do not show it: no one step
    mends both directions."""
    first, second = Stream(), Stream()
    talk(first, 2000, 2010, "MPI_Send", 1, 1)
    talk(second, 1700, 1800, "MPI_Recv", 0, 1)  # 200 before it was sent
    talk(second, 8300, 8310, "MPI_Send", 0, 2)
    talk(first, 8000, 8050, "MPI_Recv", 1, 2)  # 250 before
    save(tmp_path, [first])
    save(tmp_path, [second], 1, boot_id="elsewhere", clock_samples=[sample(1000, 1000), sample(9000, 9000)])
    trace = read_trace(tmp_path)
    assert slack(trace) == [-250, -200]
    assert trace.notes == ["clocks: 2 of 2 messages seem received before they were sent, by up to 250 ns, as a clock's "
                           "drift changed: times across ranks are that uncertain"]


def test_ranks_of_one_machine_are_left_alone(tmp_path: Path) -> None:
    """They read one counter; what looks like a violation is two messages taken for each other."""
    first, second = Stream(), Stream()
    talk(first, 2000, 2010, "MPI_Send", 1, 1)
    talk(second, 1700, 1800, "MPI_Recv", 0, 1)
    save(tmp_path, [first])
    save(tmp_path, [second], 1, clock_samples=[sample(1000, 99_000)])
    trace = read_trace(tmp_path)
    assert slack(trace) == [-200] and trace.notes == []


def test_one_sample_of_a_killed_program_gives_the_offset(tmp_path: Path) -> None:
    """Rank 1 runs at two cycles per nanosecond, by its own clock: the drift comes from the two frequencies."""
    save(tmp_path, [Stream().add(1000, "thread_begin", 1)])
    stream = Stream().add(5000, "thread_begin", 1).add(7000, "thread_end", 1)
    save(tmp_path, [stream], 1, boot_id="elsewhere", clock_samples=[sample(5000, 2000)],
         clock_begin={"cycles": 0, "monotonic_ns": 0}, clock_end={"cycles": 2000, "monotonic_ns": 1000})  # fmt: skip
    assert read_trace(tmp_path).time.tolist() == [0, 1000, 2000]


@pytest.mark.parametrize(("changes", "message"), [
    ({"clock_samples": []}, "rank 1 ran on another machine than rank 0 and its clock offset was not measured"),
    ({"clock_samples": [sample(5, 5)], "clock_end": {"cycles": 1000, "monotonic_ns": 6000}}, "stands still"),
])
def test_clocks_that_cannot_be_used(tmp_path: Path, changes: dict, message: str) -> None:
    save(tmp_path, [Stream().add(1000, "thread_begin", 1)])
    save(tmp_path, [Stream().add(1000, "thread_begin", 1)], 1, **({"boot_id": "elsewhere"} | changes))
    with pytest.raises(TraceError, match=message):
        read_trace(tmp_path)


def test_frequency() -> None:
    assert frequency(description(clock_end={"cycles": 3000, "monotonic_ns": 6000})) == 2.0
