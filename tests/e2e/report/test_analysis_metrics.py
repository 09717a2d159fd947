# SPDX-License-Identifier: Apache-2.0
"""Graph metrics, discovery, communication and regions of traces made by hand; answers are worked out beside them."""
from __future__ import annotations

from pathlib import Path

import pytest

from handmade import COMPLETE, IMPLICIT, SWITCH, TASKWAIT, UNDEFERRED, A, B, C, Stream, save  # first: finds marline
from marline.trace.analysis import Analysis
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

X, Y, Z = 0x1000, 0x2000, 0x3000
IN, OUT, INOUT = 1, 2, 3
D = 105


def analysed(folder: Path, *streams: Stream, windows: int = 2) -> Analysis:
    for stream in streams:
        stream.records.sort(key=lambda record: record[0])
    return Analysis(read_trace(save(folder, list(streams))), windows=windows)


def diamond() -> Stream:
    """A writes X and Y; B reads X and writes Z, C reads X and Y (one edge, declared twice); D reads Z, after B only.
    Running for 16, 20, 100 and 3 ns."""
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    for number, (task, clauses) in enumerate([
        (A, [(OUT, X), (OUT, Y)]), (B, [(IN, X), (OUT, Z)]), (C, [(IN, X), (IN, Y)]), (D, [(IN, Z)]),
    ]):  # fmt: skip
        stream.add(1010 + 10 * number, "task_create", task, parent=IMPLICIT, flags=4, code=1)
        for kind, address in clauses:
            stream.add(1010 + 10 * number, "dependence", task, type=kind, address=address)
    for task, start, end in ((A, 1100, 1116), (B, 1120, 1140), (C, 1150, 1250), (D, 1300, 1303)):
        stream.add(end, "task_run", task, start=start, outer=IMPLICIT)
    return stream


def test_graph_metrics(tmp_path: Path) -> None:
    """Edges A-B, A-C, B-D: in-degrees 0, 1, 1, 1; out-degrees 2, 1, 0, 0. Longest chain A, B, D."""
    found = analysed(tmp_path, diamond()).document("graph")
    assert (found["tasks"], found["completed"], found["edges"], found["duplicate_edges"]) == (4, 4, 3, 1)
    assert (found["roots"], found["leaves"], found["depth"]) == (1, 2, 3)
    assert found["in_degree"] == {"min": 0, "mean": 0.75, "median": 1.0, "max": 1}
    assert found["out_degree"] == {"min": 0, "mean": 0.75, "median": 0.5, "max": 2}
    assert found["grain_ns"] == {"min": 3, "mean": (16 + 20 + 100 + 3) / 4, "median": 18.0, "max": 100}
    # 3 lies in [2, 4), 16 and 20 in [16, 32), 100 in [64, 128).
    assert found["grain"]["edges_ns"] == [2, 4, 8, 16, 32, 64, 128]
    assert [kind["tasks"] for kind in found["grain"]["kinds"]] == [[1, 0, 0, 2, 0, 1]]
    assert [(kind["tasks"], kind["total_ns"]) for kind in found["kinds"]] == [(4, 139)]


def test_taskwait_with_dependences_is_no_task(tmp_path: Path) -> None:
    """The node between A and C orders them, but runs nothing."""
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    for time, task, flags in ((1010, A, 4), (1020, B, TASKWAIT | UNDEFERRED), (1060, C, 4)):
        stream.add(time, "task_create", task, parent=IMPLICIT, flags=flags, code=1)
        stream.add(time, "dependence", task, type=INOUT, address=X)
    stream.add(1040, "task_run", A, start=1030, outer=IMPLICIT)
    stream.add(1050, "task_schedule", B, next=0, status=8)
    stream.add(1090, "task_run", C, start=1070, outer=IMPLICIT)
    of = analysed(tmp_path, stream)
    found = of.document("graph")
    assert (found["tasks"], found["taskwaits"], found["edges"], found["depth"]) == (2, 1, 2, 3)
    assert found["grain_ns"]["min"] == 10 and of.document("discovery")["tasks"] == 2


def test_chain_through_creation_order_not_ids(tmp_path: Path) -> None:
    """Ids fall while tasks are created: a chain of 5."""
    stream = Stream()
    for number in range(5):
        stream.add(1000 + number, "task_create", 900 - number, parent=IMPLICIT, flags=4)
        stream.add(1000 + number, "dependence", 900 - number, type=INOUT, address=X)
    assert analysed(tmp_path, stream).document("graph")["depth"] == 5


def test_no_tasks_at_all(tmp_path: Path) -> None:
    of = analysed(tmp_path, Stream().add(1000, "thread_begin", 1 << 32).add(1010, "thread_end", 1 << 32))
    assert of.document("graph")["depth"] == 0 and of.document("graph")["in_degree"]["max"] == 0
    assert of.document("discovery") == {"tasks": 0, "seconds": 0.0, "tasks_per_second": None, "max_depth": 0,
                                        "share": 0.0, "measured_ns_per_task": None, "ranks": [],
                                        "edges_ns": [10, 10, 10]}  # fmt: skip
    assert of.document("communication")["total"] == {"calls": 0, "total_ns": 0, "held_ns": 0, "suspended_ns": 0}


def test_discovery(tmp_path: Path) -> None:
    """Created at 10, 20, 30, 40; completed at 116, 140, 250, 303. The span is 293, the creation 30 long.
    All four are known from 40 on; the mean depth is (106 + 120 + 220 + 263) / 293. Windows end at 156 and 303: two are
    left, then none. The producer's code runs from 0 to its last creation at 40."""
    found = analysed(tmp_path, diamond()).document("discovery")
    rank = found["ranks"][0]
    assert (rank["tasks"], rank["first_ns"], rank["last_ns"], rank["creating_ns"]) == (4, 10, 40, 40)
    assert rank["seconds"] == pytest.approx(30e-9) and rank["tasks_per_second"] == pytest.approx(4 / 30e-9)
    assert rank["creation_ns_per_task"] == 10 and rank["share"] == pytest.approx(30 / 293)
    assert rank["max_depth"] == 4 and rank["mean_depth"] == pytest.approx(709 / 293)
    assert found["edges_ns"] == [10, 156, 303] and rank["depth"] == [2, 0]


def test_depth_counts_completions_first(tmp_path: Path) -> None:
    """One task is created at the very time at which the one before completes: never two at once."""
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    for number in range(3):
        begin = 1010 + 20 * number
        stream.add(begin, "task_create", A + number, parent=IMPLICIT, flags=4)
        stream.add(begin + 20, "task_run", A + number, start=begin + 10, outer=IMPLICIT)
    assert analysed(tmp_path, stream).document("discovery")["max_depth"] == 1


CALL = {"tag": 7, "comm": 1}


def test_calls_and_requests(tmp_path: Path) -> None:
    """A calls MPI_Recv 20-80 and is suspended 30-70. B starts a receive (request 5) 100-110, a send (request 6)
    110-115, waits for both 130-160; the receive was done at 150. One more send is never finished, one is given up."""
    stream = Stream().add(1000, "implicit_begin", IMPLICIT, size=1)
    stream.add(1005, "task_create", A, parent=IMPLICIT, flags=4).add(1006, "task_create", B, parent=IMPLICIT, flags=4)
    stream.add(1010, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1020, "mpi_enter", A, peer=3, bytes=64, call=CALL_NUMBER["MPI_Recv"], **CALL)
    stream.add(1030, "task_schedule", A, next=IMPLICIT, status=SWITCH)
    stream.add(1070, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    stream.add(1080, "mpi_exit", A, peer=3, bytes=48, call=CALL_NUMBER["MPI_Recv"], **CALL)
    stream.add(1090, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    stream.add(1095, "task_schedule", IMPLICIT, next=B, status=SWITCH)
    for request, name, start, end in ((5, "MPI_Irecv", 100, 110), (6, "MPI_Isend", 110, 115),
                                      (7, "MPI_Isend", 116, 117), (8, "MPI_Isend", 118, 119)):  # fmt: skip
        call = {"peer": 2, "bytes": 100, "call": CALL_NUMBER[name], **CALL}
        stream.add(1000 + start, "mpi_enter", B, **call)
        stream.add(1000 + end, "mpi_request", B, request=request).add(1000 + end, "mpi_exit", B, **call)
    stream.add(1120, "mpi_enter", B, call=CALL_NUMBER["MPI_Request_free"]).add(1121, "mpi_free", B, request=8)
    stream.add(1121, "mpi_exit", B, call=CALL_NUMBER["MPI_Request_free"])
    stream.add(1130, "mpi_enter", B, call=CALL_NUMBER["MPI_Waitall"])
    stream.add(1130, "mpi_wait", B, request=5, index=0).add(1130, "mpi_wait", B, request=6, index=1)
    stream.add(1150, "mpi_done", B, peer=2, tag=7, bytes=40, index=0)
    stream.add(1160, "mpi_exit", B, call=CALL_NUMBER["MPI_Waitall"])
    stream.add(1200, "task_schedule", B, next=IMPLICIT, status=COMPLETE)
    of = analysed(tmp_path, stream)
    found = of.document("communication")
    calls = {row["name"]: row for row in found["calls"]}
    assert calls["MPI_Recv"] == {
        "name": "MPI_Recv", "kind": "receive", "count": 1, "total_ns": 60, "mean_ns": 60.0, "max_ns": 60, "held_ns": 20,
        "suspended_ns": 40, "bytes": 48, "unreturned": 0}  # fmt: skip
    assert (calls["MPI_Waitall"]["total_ns"], calls["MPI_Waitall"]["held_ns"]) == (30, 30)
    requests = {row["name"]: row for row in found["requests"]}
    # The receive took 100-150. Sends: 110-160, 116-200 (the end of the trace), 118-200 (unseen).
    assert requests["MPI_Irecv"] == {"name": "MPI_Irecv", "kind": "start_receive", "count": 1, "total_ns": 50,
                                     "mean_ns": 50.0, "max_ns": 50, "bytes": 40, "unfinished": 0, "freed": 0}
    assert requests["MPI_Isend"] == {"name": "MPI_Isend", "kind": "start_send", "count": 3, "total_ns": 50 + 84 + 82,
                                     "mean_ns": 72.0, "max_ns": 84, "bytes": 300, "unfinished": 1, "freed": 1}
    assert {(row["peer"], row["direction"]): (row["count"], row["bytes"]) for row in found["peers"]} == {
        (3, "receive"): (1, 48), (2, "receive"): (1, 100), (2, "send"): (3, 300)}
    # MPI_Request_free is no communication.
    assert found["total"] == {"calls": 6, "total_ns": 60 + 10 + 5 + 1 + 1 + 30, "held_ns": 67, "suspended_ns": 40}


def test_overlap(tmp_path: Path) -> None:
    """Task A works 10-60 on one thread of rank 0, but sends 20-30; B works 40-120 on the other. Rank 1 has got the
    message at 100, having waited for it. While it was under way, 20-100, A's thread worked 28 of 80, less what two
    calls more took (a message of rank 0 to itself, which does not count), B's 60 of 80."""
    one, two = Stream(thread=1), Stream(thread=2)
    one.add(1000, "implicit_begin", IMPLICIT, size=2)
    one.add(1001, "task_create", A, parent=IMPLICIT, flags=4).add(1002, "task_create", B, parent=IMPLICIT, flags=4)
    for start, end, name, peer in ((20, 30, "MPI_Send", 1), (31, 32, "MPI_Send", 0), (33, 34, "MPI_Recv", 0)):
        one.add(1000 + start, "mpi_enter", A, peer=peer, bytes=8, call=CALL_NUMBER[name], **CALL)
        one.add(1000 + end, "mpi_exit", A, peer=peer, bytes=8, call=CALL_NUMBER[name], **CALL)
    one.add(1060, "task_run", A, start=1010, outer=IMPLICIT)
    two.add(1120, "task_run", B, start=1040, outer=IMPLICIT)
    other = Stream().add(1050, "mpi_enter", C, peer=0, bytes=8, call=CALL_NUMBER["MPI_Recv"], **CALL)
    other.add(1100, "mpi_exit", C, peer=0, bytes=8, call=CALL_NUMBER["MPI_Recv"], **CALL)
    for stream in (one, two):
        stream.records.sort(key=lambda record: record[0])
    save(tmp_path, [other], rank=1)
    of = Analysis(read_trace(save(tmp_path, [one, two])))
    expected = {"rank": 0, "threads": 2, "messages": 1, "under_way_ns": 80, "work_ns": 28 + 60, "ratio": 88 / 160}
    assert of.document("overlap") == {"ratio": 88 / 160, "ranks": [expected]}


def test_overlap_of_a_collective(tmp_path: Path) -> None:
    """A reduces 20-60 in a task of one thread of two; B works 30-50 on the other: 20 of 80."""
    one, two = Stream(thread=1), Stream(thread=2)
    one.add(1000, "implicit_begin", IMPLICIT, size=2)
    one.add(1001, "task_create", A, parent=IMPLICIT, flags=4).add(1002, "task_create", B, parent=IMPLICIT, flags=4)
    one.add(1020, "mpi_enter", A, peer=0, bytes=8, call=CALL_NUMBER["MPI_Allreduce"], **CALL)
    one.add(1060, "mpi_exit", A, peer=0, bytes=8, call=CALL_NUMBER["MPI_Allreduce"], **CALL)
    one.add(1070, "task_run", A, start=1010, outer=IMPLICIT)
    two.add(1050, "task_run", B, start=1030, outer=IMPLICIT)
    of = Analysis(read_trace(save(tmp_path, [one, two])))
    assert of.document("collectives")["ratio"] == 20 / 80
    assert of.document("overlap") == {"ratio": None, "ranks": []}


def test_polls(tmp_path: Path) -> None:
    """Three polls in 50 ns, of which 20 in MPI, then a receive of 10."""
    stream = Stream().add(1000, "mpi_poll", A, count=3, elapsed=50, busy=20, call=CALL_NUMBER["MPI_Test"])
    stream.add(1060, "mpi_enter", A, peer=1, call=CALL_NUMBER["MPI_Recv"], **CALL)
    stream.add(1070, "mpi_exit", A, peer=1, call=CALL_NUMBER["MPI_Recv"], **CALL)
    of = analysed(tmp_path, stream)
    assert of.document("communication")["polls"] == {"count": 3, "total_ns": 20}
    assert of.document("breakdown")["total"]["causes"] == {"work_body": 40, "idle_communication": 30}


def test_waitany_finishes_only_what_it_names(tmp_path: Path) -> None:
    """Two requests, started at 0 and 10: the first wait (20-50) finishes the second one, the second (60-90) the first.
    A third use of the second's handle runs 55-95, to MPI_Test."""
    stream = Stream()

    def call(start: int, end: int, name: str, *inside: tuple[int, str, dict[str, int]]) -> None:
        stream.add(1000 + start, "mpi_enter", A, peer=1, call=CALL_NUMBER[name], **CALL)
        for time, event, values in inside:
            stream.add(1000 + time, event, A, **values)
        stream.add(1000 + end, "mpi_exit", A, peer=1, call=CALL_NUMBER[name], **CALL)

    call(0, 5, "MPI_Isend", (5, "mpi_request", {"request": 11}))
    call(10, 15, "MPI_Isend", (15, "mpi_request", {"request": 12}))
    both = [(20, "mpi_wait", {"request": 11, "index": 0}), (20, "mpi_wait", {"request": 12, "index": 1})]
    call(20, 50, "MPI_Waitany", *both, (50, "mpi_done", {"index": 1, "peer": -1, "tag": -1}))
    call(55, 58, "MPI_Isend", (58, "mpi_request", {"request": 12}))
    call(60, 90, "MPI_Waitany", (60, "mpi_wait", {"request": 11, "index": 0}),
         (60, "mpi_wait", {"request": 12, "index": 1}), (90, "mpi_done", {"index": 0, "peer": -1, "tag": -1}))
    call(92, 95, "MPI_Test", (92, "mpi_wait", {"request": 12, "index": 0}))
    requests = analysed(tmp_path, stream)["requests"]
    assert list(zip(requests.start.tolist(), requests.end.tolist())) == [(0, 90), (10, 50), (55, 95)]


def test_persistent_requests(tmp_path: Path) -> None:
    """Made once at 0, started at 20 and 60, finished at 50 and 90: two requests; the call that made them gives peer and
    size."""
    stream = Stream()
    call = {"peer": 4, "bytes": 32, "call": CALL_NUMBER["MPI_Send_init"], **CALL}
    stream.add(1000, "mpi_enter", A, **call).add(1005, "mpi_request", A, request=9).add(1006, "mpi_exit", A, **call)
    for start, end in ((20, 50), (60, 90)):
        stream.add(1000 + start, "mpi_enter", A, call=CALL_NUMBER["MPI_Start"])
        stream.add(1001 + start, "mpi_request", A, request=9).add(1002 + start, "mpi_exit", A,
                                                                  call=CALL_NUMBER["MPI_Start"])
        stream.add(990 + end, "mpi_enter", A, call=CALL_NUMBER["MPI_Wait"])
        stream.add(990 + end, "mpi_wait", A, request=9, index=0)
        stream.add(1000 + end, "mpi_exit", A, call=CALL_NUMBER["MPI_Wait"])
    of = analysed(tmp_path, stream)
    requests = of["requests"]
    assert list(zip(requests.start.tolist(), requests.end.tolist())) == [(20, 50), (60, 90)]
    assert of.document("communication")["requests"] == [
        {"name": "MPI_Send_init", "kind": "persistent", "count": 2, "total_ns": 60, "mean_ns": 30.0, "max_ns": 30,
         "bytes": 64, "unfinished": 0, "freed": 0}]  # fmt: skip


def message_ranks(folder: Path, sends: list[tuple[int, int, int]], receives: list[tuple[int, int, int]],
                  comm: int = 1, peers: tuple[int, int] = (1, 0)) -> Analysis:
    """Rank 0 sends and rank 1 receives: (start, end, tag) each. `peers`: what each calls the other in `comm`."""
    for rank, name, calls in ((0, "MPI_Send", sends), (1, "MPI_Recv", receives)):
        stream = Stream()
        if comm != 1:
            stream.add(1000, "mpi_comm", A, identity=77, comm=comm)
            for index in range(2):
                stream.add(1000, "mpi_member", A, comm=comm, index=index, world=1 - index, size=2)
        for start, end, tag in calls:
            call = {"peer": peers[rank], "tag": tag, "bytes": 8, "comm": comm, "call": CALL_NUMBER[name]}
            stream.add(1000 + start, "mpi_enter", A, **call).add(1000 + end, "mpi_exit", A, **call)
        save(folder, [stream], rank)
    return Analysis(read_trace(folder))


@pytest.mark.parametrize(("comm", "peers"), [(1, (1, 0)), (5, (0, 1))])  # 5: the world, numbered the other way
def test_messages_keep_their_order_per_tag(tmp_path: Path, comm: int, peers: tuple[int, int]) -> None:
    """Sends of tags 1, 2, 1; received as 2, 1, 1: latencies from the send's start to the receive's end."""
    of = message_ranks(tmp_path, [(0, 5, 1), (10, 15, 2), (20, 25, 1)], [(0, 30, 2), (35, 40, 1), (45, 50, 1)],
                       comm, peers)  # fmt: skip
    calls, messages = of["calls"], of["messages"]
    pairs = sorted(zip(calls.start[messages.send].tolist(), calls.end[messages.receive].tolist()))
    assert pairs == [(0, 40), (10, 30), (20, 50)]
    assert of.document("communication")["messages"] == {
        "count": 3, "mean_ns": 30.0, "max_ns": 40,
        "sizes": [{"bytes": 8, "count": 3, "total_bytes": 24, "mean_ns": 30.0, "max_ns": 40}]}  # fmt: skip
    assert {(row["rank"], row["peer"]) for row in of.document("communication")["peers"]} == {(0, 1), (1, 0)}


def test_regions_nest_within_a_task(tmp_path: Path) -> None:
    """`outer` 10-90 with `inner` 20-30 and 40-60 in A; `inner` in B meanwhile, 25-50; one `outer` in B stays open."""
    names = {71: b"outer", 72: b"inner"}
    stream = Stream()
    for key, text in names.items():
        stream.add(1000, "text", key, low=int.from_bytes(text, "little"))
    for time, task, text in ((10, A, 71), (20, A, 72), (25, B, 72), (30, A, 0), (40, A, 72), (50, B, 0), (60, A, 0),
                             (70, B, 71), (90, A, 0)):  # fmt: skip
        if text:
            stream.add(1000 + time, "region_begin", task, text=text, color=0xFF0000)
        else:
            stream.add(1000 + time, "region_end", task)
    stream.add(1100, "region_end", C)  # of a region that began before recording did
    assert analysed(tmp_path, stream).document("regions") == [
        {"name": "inner", "rank": 0, "count": 3, "total_ns": 55, "mean_ns": 55 / 3, "min_ns": 10, "max_ns": 25,
         "open": 0, "threads": 1, "max_thread_ns": 55},
        {"name": "outer", "rank": 0, "count": 2, "total_ns": 80 + 30, "mean_ns": 55.0, "min_ns": 30, "max_ns": 80,
         "open": 1, "threads": 1, "max_thread_ns": 110}]  # fmt: skip


def test_worksharing(tmp_path: Path) -> None:
    stream = Stream().add(1000, "work_begin", IMPLICIT, kind=1, count=8).add(1040, "work_end", IMPLICIT, kind=1)
    stream.add(1050, "work_begin", IMPLICIT, kind=3).add(1060, "work_end", IMPLICIT, kind=3)
    found = analysed(tmp_path, stream).document("worksharing")
    assert [(row["name"], row["count"], row["total_ns"]) for row in found] == [("loop", 1, 40),
                                                                               ("single (executes)", 1, 10)]
