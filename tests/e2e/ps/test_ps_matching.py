# SPDX-License-Identifier: Apache-2.0
"""The judgement of `marline ps` on reports made by hand: who provides what, cycles, and what counts as moving."""

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from marline.ps.job import Process, read
from marline.ps.matching import brief
from marline.ps.text import report as as_text
from marline.ps.verdict import Verdict, judge

WORLD, SPLIT, PAIR = 1, -77, 78
MUTEX = "202 0x7f00 0x80 0x1 0x0 0x0 0x0 0x7ffd 0x7f01"  # futex without a time limit
TIMED = "202 0x7f00 0x80 0x1 0x7ffe 0x0 0x0 0x7ffd 0x7f01"
numbers = itertools.count(0x1000, 0x40)
Report = dict[str, Any]


def call(operation: str, peer: int = -2, tag: int = -2, comm: int = WORLD, **more: Any) -> Report:
    return {"operation": operation, "record": "0x1", "peer": peer, "tag": tag, "comm": comm, "bytes": 8, "requests": 0,
            **more}


def begun(*calls: Report) -> Report:
    """The library's table, with ids 1, 2, ... for these."""
    names = ("operation", "peer", "tag", "comm")
    known = [{"id": 1 + i, "count": 1, **{name: one[name] for name in names}} for i, one in enumerate(calls)]
    return {"complete": [0, -5], "requests": known}


def wait_for(*ids: int, operation: str = "MPI_Waitall", count: int | None = None) -> Report:
    return call(operation, comm=0, ids=list(ids), id_count=len(ids) if count is None else count)


def task(label: str, what: Report | None = None, kind: str = "event", thing: str = "0x5", **more: Any) -> Report:
    wait: Report = {"kind": kind, "object": thing}
    return {"id": hex(next(numbers)), "label": label, "kind": "tied", "parent": "0x1", "taskgroup": "0", "children": 0,
            "block": [], "wait": wait | ({"call": what} if what else {}), **more}  # fmt: skip


def thread(state: str = "idle", number: int = 10, suspensions: int = 0, ready: int = 0, **more: Any) -> Report:
    return {"worker": 0, "thread": number, "state": state, "suspensions": suspensions, "ready": ready, "below": [],
            **more}


def kernel(number: int = 10, cpu: int = 1, syscall: str = "running", state: str = "R", name: str = "a b") -> Report:
    return {"thread": number, "stat": f"{number} ({name}) {state} 1", "syscall": syscall, "schedstat": f"{cpu} 0 0"}


def communicators(size: int) -> list[Report]:
    known = [{"id": WORLD, "name": "MPI_COMM_WORLD", "ranks": list(range(size))},
             {"id": PAIR, "name": "pair", "ranks": [0, 1]}]
    known.append({"id": SPLIT, "name": "", "ranks": [size - 1, 0]})
    return [{"agreed": True, "rank": 0, "size": len(one["ranks"]), "remote": False, **one} for one in known]


def look(*ranks: Report, at: int = 0) -> dict[int, Process]:
    """One report for each rank: {"tasks": [...], "threads": [...], "kernel": [...], "messages": [...]}."""
    found = {}
    for rank, one in enumerate(ranks):
        known = [{**comm, "collectives": one.get("collectives", [])} for comm in communicators(len(ranks))]
        sections = {"mpi": {"rank": rank, "size": len(ranks), "communicators": known},
                    "mpi_messages": {"messages": one.get("messages", [])},
                    "mpi_requests": one.get("requests")}  # fmt: skip
        document = {"pid": 100 + rank, "host": "node", "program": "/bin/app", "nanoseconds": at, "maps": [],
                    "threads": one.get("threads", [thread()]), "tasks": one.get("tasks", []), "sections": sections,
                    "kernel_threads": one.get("kernel", [kernel()]), "blocked_threads": one.get("blocked", []),
                    "task_count": len(one.get("tasks", []))}  # fmt: skip
        found[rank] = read(document, rank)
    return found


def judge_at_rest(*ranks: Report, absent: dict[int, str] | None = None) -> Verdict:
    after = look(*ranks, at=10**9)
    for rank in absent or {}:
        del after[rank]
    return judge(look(*ranks), after, absent or {})


def needs(verdict: Verdict, ranks: tuple[Report, ...], rank: int, index: int = 0) -> str:
    return verdict.findings[rank, ranks[rank]["tasks"][index]["id"]].text


RECEIVE = call("MPI_Recv", 1, 7)


@pytest.mark.parametrize(
    ("receive", "send"),
    [
        (call("MPI_Recv", 1, 7), call("MPI_Ssend", 0, 7)),
        (call("MPI_Recv", 1, -1), call("MPI_Send", 0, 7)),
        (call("MPI_Recv", -1, 7), call("MPI_Rsend", 0, 7)),
        (call("MPI_Mprobe", -1, -1), call("MPI_Bsend", 0, 7)),
        (call("MPI_Recv_c", 0, 7, SPLIT), call("MPI_Ssend_c", 1, 7, SPLIT)),
    ],
)
def test_a_send_matches_a_receive(receive: Report, send: Report) -> None:
    ranks = {"tasks": [task("r", receive)]}, {"tasks": [task("s", send)]}
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "stalled"
    assert needs(verdict, ranks, 0).startswith("rank 1 has the matching")
    assert all(finding.matched for finding in verdict.findings.values())


@pytest.mark.parametrize(
    ("send", "close"),
    [
        (call("MPI_Ssend", 0, 8), "no match: rank 1 sends tag 8 in MPI_COMM_WORLD (task 's')"),
        (call("MPI_Ssend", 0, 7, PAIR), "no match: rank 1 sends tag 7 in pair (task 's')"),
        (call("MPI_Ssend", 1, 7), "rank 1 sends nothing of that kind: its task 's' waits in MPI_Ssend"),
    ],
)
def test_what_comes_close_is_named(send: Report, close: str) -> None:
    ranks = {"tasks": [task("r", RECEIVE)]}, {"tasks": [task("s", send)]}
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "hung"
    assert needs(verdict, ranks, 0) == close


def test_messages_that_have_arrived() -> None:
    right, wrong = ({"comm": WORLD, "source": 1, "tag": tag, "bytes": 8} for tag in (7, 9))
    ranks = {"tasks": [task("r", RECEIVE)], "messages": [right]}, {}
    assert judge_at_rest(*ranks).state == "stalled"
    ranks = {"tasks": [task("r", RECEIVE)], "messages": [wrong]}, {}
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "hung"
    assert needs(verdict, ranks, 0) == (
        "no match: rank 1 has sent tag 9 in MPI_COMM_WORLD (8 bytes), which nobody receives")  # fmt: skip
    assert [(one["rank"], one["from"], one["tag"]) for one in verdict.messages] == [(0, 1, 9)]


def test_a_collective_waits_for_those_who_have_not_called_it() -> None:
    def barrier(name: str) -> Report:
        return {"tasks": [task(name, call("MPI_Barrier"))]}

    assert judge_at_rest(barrier("a"), barrier("b"), barrier("c")).state == "stalled"
    ranks = barrier("a"), {"tasks": [task("b", call("MPI_Bcast", 0))]}, barrier("c")
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "hung"
    assert needs(verdict, ranks, 0) == (
        "rank 1 has not called it; on the same communicator rank 1 is in MPI_Bcast")  # fmt: skip
    ranks = barrier("a"), {}, {}
    assert needs(judge_at_rest(*ranks), ranks, 0) == "ranks 1, 2 have not called it"


def test_a_collective_that_ranks_number_differently() -> None:
    def barrier(number: int) -> Report:
        return {"tasks": [task("a", call("MPI_Barrier"))],
                "collectives": [{"number": number, "operation": "MPI_Barrier"}]}

    ranks = barrier(3), barrier(4)
    assert needs(judge_at_rest(*ranks), ranks, 0) == (
        "all ranks have called it (as number 3 on the communicator, rank 1 as number 4)")  # fmt: skip
    ranks = barrier(3), barrier(3)
    assert needs(judge_at_rest(*ranks), ranks, 0) == "all ranks have called it"


def test_a_cycle_over_three_ranks_through_a_taskwait() -> None:
    parent = task("parent", None, "taskwait", children=1)
    child = task("child", call("MPI_Recv", 1, 7), parent=parent["id"])
    ranks = ({"tasks": [parent, child]}, {"tasks": [task("b", call("MPI_Recv", 2, 7))]},
             {"tasks": [task("c", call("MPI_Recv", 0, 7))]})  # fmt: skip
    verdict = judge_at_rest(*ranks)
    assert needs(verdict, ranks, 0) == "1 child: task 'child'"
    assert len(verdict.cycles) == 1
    assert {rank for rank, _ in verdict.cycles[0]} == {0, 1, 2}
    assert verdict.reasons[0].startswith("cycle: rank 0 task 'parent' -> rank 0 task 'child' -> rank 1 task 'b'")


def test_locks_and_groups() -> None:
    group = task("group", None, "taskgroup", "0x99")
    group["wait"]["unfinished"] = 3
    ranks = ({"tasks": [task("wants", None, "lock", "0x7"), task("too", None, "lock", "0x7"), group,
                        task("member", None, taskgroup="0x99")]},)  # fmt: skip
    verdict = judge_at_rest(*ranks)
    assert needs(verdict, ranks, 0) == "the lock, which is held by one of task 'group', task 'member'"
    assert needs(verdict, ranks, 0, 2) == "3 task(s) of the group: task 'member'"


TO, FROM = call("MPI_Isend", 1, 7), call("MPI_Irecv_c", 0, 7)


@pytest.mark.parametrize("other", [wait_for(1, -5), wait_for(0, 1, operation="MPI_Waitall"), call("MPI_Recv", 0, 7)])
def test_requests_match(other: Report) -> None:
    ranks = ({"tasks": [task("s", wait_for(1, operation="MPI_Wait"))], "requests": begun(TO)},
             {"tasks": [task("r", other)], "requests": begun(FROM)})  # fmt: skip
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "stalled"
    assert needs(verdict, ranks, 0).startswith("rank 1 has the matching MPI_")


def test_requests_none_of_which_has_a_partner() -> None:
    ranks = ({"tasks": [task("s", wait_for(1, 2))], "requests": begun(TO, call("MPI_Recv_init", 1, 9))}, {})
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "hung"
    assert needs(verdict, ranks, 0) == (
        "MPI_Isend to rank 1, tag 7: rank 1 receives nothing of that kind: none of its tasks waits; MPI_Recv_init from "
        "rank 1, tag 9: rank 1 sends nothing of that kind: none of its tasks waits; one that has no partner may be "
        "complete")  # fmt: skip


def test_one_partner_is_enough_for_waitany() -> None:
    known = begun(TO, call("MPI_Irecv", 1, 9))
    ranks = ({"tasks": [task("w", wait_for(1, 2, operation="MPI_Waitany"))], "requests": known},
             {"tasks": [task("p", call("MPI_Recv", 0, 7))]})  # fmt: skip
    assert judge_at_rest(*ranks).state == "stalled"
    ranks[1]["tasks"] = [task("p", call("MPI_Recv", 0, 3))]
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "hung"
    assert "may be complete" not in needs(verdict, ranks, 0)


def test_a_complete_request_beside_what_is_out_of_sight() -> None:
    """Rank 1 has sent tag 8 and will send tag 7 when its other task goes on."""
    ranks = ({"tasks": [task("r", call("MPI_Recv", 1, 7))]},
             {"tasks": [task("w", wait_for(1, 2)), task("e")],
              "requests": begun(call("MPI_Isend", 0, 8), call("MPI_Irecv", 0, 9))})  # fmt: skip
    verdict = judge_at_rest(*ranks)
    assert verdict.state == "waiting"
    assert needs(verdict, ranks, 0).startswith("no match: rank 1 sends tag 8")


def test_anybody_may_be_out_of_sight() -> None:
    receive = call("MPI_Recv", -1, 7)
    assert judge_at_rest({"tasks": [task("r", receive)]}, {}).state == "hung"
    assert judge_at_rest({"tasks": [task("r", receive)]}, {}, absent={1: "no answer"}).state == "waiting"
    assert judge_at_rest({"tasks": [task("r", call("MPI_Recv", -1, 7, comm=12345))]}, {}).state == "waiting"


@pytest.mark.parametrize(
    ("given", "known", "peer"),
    [
        (wait_for(1, 2), begun(TO, call("MPI_Irecv", 1, 9)), call("MPI_Recv", 0, 7)),  # one has a partner
        (wait_for(1, 2), begun(TO), call("MPI_Recv", 0, 3)),  # one is not known
        (wait_for(1, count=90), begun(TO), call("MPI_Recv", 0, 3)),  # there are more
        (wait_for(1), begun(call("MPI_Ibarrier")), None),  # the other may have begun it as well
        (wait_for(1), begun(call("MPI_File_iread", comm=0)), None),
        (wait_for(1), None, None),
    ],
)
def test_requests_that_may_go_on(given: Report, known: Report | None, peer: Report | None) -> None:
    ranks = ({"tasks": [task("w", given)], "requests": known}, {"tasks": [task("p", peer)] if peer else []})
    verdict = judge_at_rest(*ranks)
    assert not verdict.findings[0, ranks[0]["tasks"][0]["id"]].definite


def test_what_is_out_of_sight_is_not_called_hung() -> None:
    assert judge_at_rest({"tasks": [task("e")]}).state == "waiting"
    assert judge_at_rest({"tasks": [task("w", call("MPI_Wait", comm=0))]}).state == "waiting"
    assert judge_at_rest({}).state == "idle"
    verdict = judge_at_rest({"tasks": [task("r", RECEIVE)]}, {}, absent={1: "no answer"})
    assert verdict.state == "waiting"
    assert verdict.reasons == ["rank 1 does not answer: no answer"]


def test_whoever_waits_for_what_is_out_of_sight_is_not_called_hung() -> None:
    assert judge_at_rest({"tasks": [task("e", parent="0x77"), task("p", None, "taskwait", id="0x77", children=1)]},
                         ).state == "waiting"  # fmt: skip
    alone = {"tasks": [task("b", call("MPI_Barrier"))]}
    assert judge_at_rest(alone, {}, absent={1: "no answer"}).state == "waiting"
    assert judge_at_rest(alone, {}).state == "hung"


def test_a_wait_for_tasks_whose_messages_are_on_their_way_is_no_deadlock() -> None:
    parent = task("p", None, "taskwait", id="0x77", children=1)
    receive, send = task("r", RECEIVE, parent="0x77"), task("s", call("MPI_Send", 0, 7))
    assert judge_at_rest({"tasks": [parent, receive]}, {"tasks": [send]}).state == "stalled"
    assert judge_at_rest({"tasks": [parent, receive]}, {}).state == "hung"


def pair(before: Report, after: Report) -> Verdict:
    waits = {"tasks": [task("r", call("MPI_Recv", 1, 7), sp="0x7")]}
    return judge(look(waits, before), look(waits, after, at=10**9), {})


SLEEPS = kernel(cpu=5, syscall=MUTEX, state="S")


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        ({"threads": [thread("runs")]}, {"threads": [thread("runs")]}, True),
        ({"threads": [thread("runs")], "kernel": [SLEEPS]}, {"threads": [thread("runs")], "kernel": [SLEEPS]}, False),
        ({"threads": [thread("runs")], "kernel": [SLEEPS | {"syscall": TIMED}]},
         {"threads": [thread("runs")], "kernel": [SLEEPS | {"syscall": TIMED}]}, True),
        ({"threads": [thread("runs")], "kernel": [kernel(cpu=5, syscall=MUTEX)]},
         {"threads": [thread("runs")], "kernel": [kernel(cpu=5 + 10**8, syscall=MUTEX)]}, True),
        # An idle thread polls MPI all the time, and one that blocks in MPI, too.
        ({"kernel": [kernel(cpu=0)]}, {"kernel": [kernel(cpu=10**9)]}, False),
        ({"threads": [thread("blocked")], "kernel": [kernel(cpu=0)]},
         {"threads": [thread("blocked")], "kernel": [kernel(cpu=10**9)]}, False),
        ({"threads": [thread(suspensions=4)]}, {"threads": [thread(suspensions=5)]}, True),
        ({"threads": [thread(ready=1)]}, {"threads": [thread(ready=1)]}, True),
        ({}, {"tasks": [task("new")]}, True),
        # No other process can tell how far a file is.
        ({"tasks": [task("f", call("MPI_File_write_all", comm=0), id="0x9")]},
         {"tasks": [task("f", call("MPI_File_write_all", comm=0), id="0x9")]}, True),
        # Threads that are not Marline's: one that computes, one that wakes up now and then, Marline's own watchdog.
        ({"kernel": [kernel(11, 0)]}, {"kernel": [kernel(11, 9 * 10**8)]}, True),
        ({"kernel": [kernel(11, 0)]}, {"kernel": [kernel(11, 10**6)]}, False),
        ({"kernel": [kernel(11, 0, name="marline/watch")]}, {"kernel": [kernel(11, 9 * 10**8, name="marline/watch")]},
         False),
    ],
)  # fmt: skip
def test_what_moves(before: Report, after: Report, moves: bool) -> None:
    verdict = pair(before, after)
    assert (verdict.state == "computing") == moves
    assert verdict.is_bad != moves
    assert ("rank 0 waits for rank 1, which goes on" in verdict.reasons) == moves


def test_the_text_folds_what_is_alike() -> None:
    many = {"tasks": [task("halo", call("MPI_Recv", 1, 7)) for _ in range(50)]}
    after = look(many, {}, at=10**9)
    words = as_text(after, judge(look(many, {}), after, {}), 1.0, ["a note"], everything=False)
    assert "50 of them, first: task 'halo'" in words
    assert words.count("waits in MPI_Recv") == 1
    assert words.endswith("note: a note")


@pytest.mark.parametrize(("given", "said"), [
    (call("MPI_Reduce", 1), "MPI_Reduce with root rank 1"), (call("MPI_Send", 1, 3), "MPI_Send to rank 1, tag 3"),
    (call("MPI_Recv", -1, -1), "MPI_Recv from any rank, any tag"),
    (call("MPI_Sendrecv", 1), "MPI_Sendrecv with rank 1"),
])  # fmt: skip
def test_a_call_in_words(given: Report, said: str) -> None:
    (process, _) = look({"tasks": [task("w", given)]}, {}).values()
    (waiter,) = process.waiters
    assert brief(process, waiter.calls[0]) == said
