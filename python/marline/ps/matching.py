# SPDX-License-Identifier: Apache-2.0
"""Which task or rank should provide what a task waits for: sends matched with receives over ranks, collectives with the
ranks that have not called them, children, locks. Judges a job that is at rest: what is not posted will not be
posted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Dict, Tuple  # of older Pythons

from marline.ps.job import ANY, NONE, Call, Process, Waiter

SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend"}
# A rank may be through with these before others have called them.
MAY_END_EARLY = ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter", "MPI_Scan", "MPI_Exscan")
BUT_NOT = ("MPI_Reduce_scatter",)
RECEIVES = {"MPI_Recv", "MPI_Mrecv", "MPI_Probe", "MPI_Mprobe"}
MOST_PARTS = 6  # of a call's requests are told
Key = Tuple[int, str]
Ranks = Dict[int, Process]


@dataclass
class Finding:
    """Of one waiter. `matched`: all that it needs is there, or on its way. `providers`: waiters one of which must go on
    first, unless `needs_all`."""

    text: str
    matched: bool = False
    definite: bool = True  # False: somebody out of sight may provide it
    providers: list[Key] = field(default_factory=list)
    needs_all: bool = False  # of the providers, each of which is judged by itself
    ranks: set[int] = field(default_factory=set)  # that must do something


def explain(ranks: Ranks) -> dict[Key, Finding]:
    return {waiter.key: _explain(ranks, process, waiter) for process in ranks.values() for waiter in process.waiters}


def blocking(operation: str) -> str:
    """The blocking call that does what this one begins: MPI_Isend_c, MPI_Send_init: MPI_Send."""
    name = re.sub(r"(_init)?(_c)?$", "", operation)
    verb = re.sub(r"^MPI_I", "", name)
    return name if verb == name or verb.startswith(("nit", "ntercomm")) else f"MPI_{verb.capitalize()}"


def direction(call: Call) -> str:
    """send, receive, collective, requests or other."""
    name = blocking(call.operation)
    if name in SENDS:
        return "send"
    if name in RECEIVES:
        return "receive"
    if name.startswith("MPI_Wait"):
        return "requests"
    if name == "MPI_Finalize" or (call.comm and call.tag == NONE and not name.startswith("MPI_Sendrecv")):
        return "collective"
    return "other"


def _explain(ranks: Ranks, process: Process, waiter: Waiter) -> Finding:
    call = waiter.call
    if call is not None and call.is_mpi and process.is_mpi:
        return _requests(ranks, process, waiter) if waiter.parts else _call(ranks, process, waiter, call)
    if waiter.is_device:
        return Finding(f"device {call.values['device']} must end it", definite=False)
    if call is not None:
        return Finding("its library must complete the call", definite=False)
    explainers = {"taskwait": _children, "taskgroup": _group, "lock": _lock, "dependences": _siblings,
                  "turn": _siblings}
    if waiter.wait in explainers:
        return explainers[waiter.wait](process, waiter)
    if waiter.wait in ("yield", "barrier", "permission"):
        return Finding("goes on when a thread is free", matched=True)
    return Finding("somebody must fulfil the event", definite=False)


def _call(ranks: Ranks, process: Process, waiter: Waiter, call: Call) -> Finding:
    way = direction(call)
    if way in ("send", "receive"):
        return _message(ranks, process, waiter, call, way)
    return _collective(ranks, process, call) if way == "collective" else _other(ranks, process, call)


# Messages -------------------------------------------------------------------------------------------------------------


def _message(ranks: Ranks, process: Process, waiter: Waiter, call: Call, way: str) -> Finding:
    peer = process.world_rank(call.comm, call.peer)
    if call.peer == ANY:
        return _from_anybody(ranks, process, waiter, call)
    if peer is None:
        return Finding("its peer is not known", definite=False)
    other = ranks.get(peer)
    if other is None:
        return Finding(f"rank {peer} does not tell what it does", definite=False, ranks={peer})
    back = "receive" if way == "send" else "send"
    offers = [one for one in _calls(other, back) if _aims_at(other, one[1], process.rank)]
    exact = next((one for one in offers if _fits(call, one[1])), None)
    if exact is not None:
        who, what = exact
        return Finding(f"rank {peer} has the matching {what.operation} ({who.title})", matched=True,
                       providers=[who.key], ranks={peer})  # fmt: skip
    arrived = _arrived(process, call, peer) if way == "receive" else []
    if any(_same(call, message) for message in arrived):
        return Finding(f"its message from rank {peer} has arrived", matched=True)
    return _unmatched(process, other, call, way, offers, arrived)


def _unmatched(process: Process, other: Process, call: Call, way: str, offers: list[tuple[Waiter, Call]],
               arrived: list[dict[str, int]]) -> Finding:  # fmt: skip
    """Nothing fits; what comes close is named."""
    peer = other.rank
    offered = {(what.tag, what.comm) for _, what in offers}  # a message may be of a call that waits still
    near = [f"has sent {_envelope(process, one['tag'], one['comm'])} ({one['bytes']} bytes), which nobody receives"
            for one in arrived if (one["tag"], one["comm"]) not in offered]  # fmt: skip
    verb = "sends" if way == "receive" else "receives"
    near += [f"{verb} {_envelope(other, what.tag, what.comm)} ({who.title})" for who, what in offers]
    if near:
        text = f"no match: rank {peer} " + "; and ".join(near)
        return Finding(text, providers=[one.key for one in other.waiters], ranks={peer})
    return Finding(f"rank {peer} {'sends' if way == 'receive' else 'receives'} nothing of that kind: "
                   f"{_what_it_does(other)}",
                   providers=[one.key for one in other.waiters], ranks={peer})  # fmt: skip


def _from_anybody(ranks: Ranks, process: Process, waiter: Waiter, call: Call) -> Finding:
    known = process.communicators.get(call.comm or 0)
    members = set((known or {}).get("ranks", []))
    others = [ranks[rank] for rank in sorted(members) if rank in ranks]
    all_seen = known is not None and len(others) == len(members)
    for other in others:
        for who, what in _calls(other, "send"):
            if _aims_at(other, what, process.rank) and _fits(call, what):
                return Finding(f"rank {other.rank} has the matching {what.operation}", matched=True,
                               providers=[who.key], ranks={other.rank})  # fmt: skip
    if any(_same(call, message) for message in process.messages):
        return Finding("its message has arrived", matched=True)
    keys = [one.key for other in others for one in other.waiters if one.key != waiter.key]
    text = "no rank of the communicator sends that" + ("" if all_seen else ", of those that can be seen")
    return Finding(text, providers=keys, ranks={one.rank for one in others}, definite=all_seen)


def _calls(process: Process, way: str) -> Iterator[tuple[Waiter, Call]]:
    return ((one, call) for one in process.waiters for call in one.calls if call.is_mpi and direction(call) == way)


def _aims_at(process: Process, call: Call, rank: int) -> bool:
    return call.peer == ANY or process.world_rank(call.comm, call.peer) == rank


def _fits(a: Call, b: Call) -> bool:
    return a.comm == b.comm and (a.tag == b.tag or ANY in (a.tag, b.tag))


def _same(call: Call, message: dict[str, int]) -> bool:
    return call.comm == message["comm"] and call.tag in (ANY, message["tag"])


def _arrived(process: Process, call: Call, peer: int) -> list[dict[str, int]]:
    return [one for one in process.messages if process.world_rank(one["comm"], one["source"]) == peer]


def _envelope(process: Process, tag: int | None, comm: int | None) -> str:
    return f"{'any tag' if tag == ANY else f'tag {tag}'} in {process.comm_name(comm)}"


# Calls that are given requests ----------------------------------------------------------------------------------------


def _requests(ranks: Ranks, process: Process, waiter: Waiter) -> Finding:
    """Of MPI_Waitall's some may be complete, and MPI does not say which: they have no partner any more either. But one
    is open, or the call would be over; so if none has a partner, the open ones have none."""
    found = [_part(ranks, process, waiter, part) for part in waiter.parts]
    if len(found) == 1 and not waiter.unknown:
        return found[0]
    one_is_enough = waiter.call_name.startswith(("MPI_Waitany", "MPI_Waitsome"))
    matched = any(one.matched for one in found) if one_is_enough else (
        all(one.matched for one in found) and not waiter.unknown)  # fmt: skip
    definite = all(one.definite and not one.matched for one in found) and not waiter.unknown
    texts = [f"{brief(process, part)}: {one.text}" for part, one in zip(waiter.parts, found)]
    more = len(texts) - MOST_PARTS
    texts = texts[:MOST_PARTS] + [f"and {more} more"] * (more > 0)
    texts += ["one that has no partner may be complete"] * (not one_is_enough and not matched)
    texts += [f"of {waiter.unknown} more it is not known what they are"] * (waiter.unknown > 0)
    return Finding("; ".join(texts), matched=matched, definite=definite,
                   providers=[key for one in found for key in one.providers if key != waiter.key],
                   ranks={rank for one in found for rank in one.ranks})  # fmt: skip


def _part(ranks: Ranks, process: Process, waiter: Waiter, part: Call) -> Finding:
    """Who has begun a collective need not wait for it yet, and is not seen then."""
    found = _call(ranks, process, waiter, part)
    found.definite = found.definite and direction(part) != "collective"
    return found


def brief(process: Process, call: Call) -> str:
    """As in: MPI_Irecv from rank 1, tag 3."""
    parts = []
    if call.peer is not None and call.peer != NONE:
        peer = process.world_rank(call.comm, call.peer)
        words = {"send": "to ", "receive": "from ", "collective": "with root "}
        preposition = words.get(direction(call), "with ")
        parts.append(preposition
                     + ("any rank" if call.peer == ANY else f"rank {peer if peer is not None else call.peer}"))
    if call.tag is not None and call.tag != NONE:
        parts.append("any tag" if call.tag == ANY else f"tag {call.tag}")
    return ", ".join([f"{call.operation} {parts[0]}", *parts[1:]]) if parts else call.operation


# Other calls of MPI ---------------------------------------------------------------------------------------------------


def _collective(ranks: Ranks, process: Process, call: Call) -> Finding:
    known = process.communicators.get(call.comm or 0)
    members = set(range(process.size)) if call.operation == "MPI_Finalize" else {*(known or {}).get("ranks", [])}
    missing, other_call = [], []
    for rank in sorted(members - {process.rank, -1}):
        calls = [call for one in ranks[rank].waiters for call in one.calls] if rank in ranks else []
        if any(one.operation == call.operation and one.comm == call.comm for one in calls):
            continue
        missing.append(rank)
        other_call += [f"rank {rank} is in {one.operation}" for one in calls
                       if one.comm == call.comm and one.is_mpi and direction(one) == "collective"]  # fmt: skip
    if not missing:
        text = "all ranks have called it" + _different_turns(ranks, process, call, members)
        return Finding(text, matched=True, definite=known is not None)
    may_be_through = call.operation.startswith(MAY_END_EARLY) and not call.operation.startswith(BUT_NOT)
    text = f"{_some(missing, 'is', 'are')} not in it, or not any more" if may_be_through else (
        f"{_some(missing, 'has', 'have')} not called it")  # fmt: skip
    if other_call:
        text += "; on the same communicator " + ", ".join(other_call[:3])
    elif len(missing) == 1 and missing[0] in ranks:
        text += f": {_what_it_does(ranks[missing[0]])}"
    keys = [one.key for rank in missing if rank in ranks for one in ranks[rank].waiters]
    return Finding(text, providers=keys, ranks=set(missing), definite=all(rank in ranks for rank in missing))


def _different_turns(ranks: Ranks, process: Process, call: Call, members: set[int]) -> str:
    """Whether all mean the same one in the order of the communicator's collectives. Of ranks that go on, some are
    ahead."""
    mine = process.turns(call)
    for rank in sorted(members - {process.rank, -1}):
        theirs = ranks[rank].turns(call) if rank in ranks else []
        if mine and theirs and not {*mine} & {*theirs}:
            return f" (as number {mine[0]} on the communicator, rank {rank} as number {theirs[0]})"
    return ""


def _some(missing: list[int], verb: str, verb_of_many: str) -> str:
    if len(missing) == 1:
        return f"rank {missing[0]} {verb}"
    names = ", ".join(map(str, missing[:6])) + (", ..." if len(missing) > 6 else "")
    return f"ranks {names} {verb_of_many}"


def _other(ranks: Ranks, process: Process, call: Call) -> Finding:
    peer = process.world_rank(call.comm, call.peer)
    if peer in ranks:
        keys = [one.key for one in ranks[peer].waiters]
        return Finding(f"rank {peer} must answer", definite=False, providers=keys, ranks={peer})
    return Finding("the operations of its requests must complete", definite=False)


def _what_it_does(process: Process) -> str:
    """In half a line."""
    if not process.waiters:
        return "none of its tasks waits"
    first = process.waiters[0]
    what = f"{first.title} waits in {first.call.operation if first.call else first.wait}"
    more = len(process.waiters) - 1
    return f"its {what}" + (f", and {more} more" if more else "")


# Within a process -----------------------------------------------------------------------------------------------------


def _children(process: Process, waiter: Waiter) -> Finding:
    children = [one for one in process.waiters if one.parent == waiter.id and one.kind != "thread"]
    unseen = waiter.children - len(children)
    text = f"{waiter.children} child{'ren' if waiter.children != 1 else ''}" if waiter.children else "its children"
    if children:
        text += ": " + ", ".join(one.title for one in children[:3]) + (", ..." if len(children) > 3 else "")
    if unseen > 0:
        text += f" ({unseen} not started, or detached)"
    return Finding(text, providers=[one.key for one in children], definite=bool(children), needs_all=True)


def _group(process: Process, waiter: Waiter) -> Finding:
    members = [one for one in process.waiters if one.taskgroup == waiter.object and one.key != waiter.key]
    text = f"{waiter.unfinished} task(s) of the group" if waiter.unfinished else "the tasks of the group"
    if members:
        text += ": " + ", ".join(one.title for one in members[:3]) + (", ..." if len(members) > 3 else "")
    return Finding(text, providers=[one.key for one in members], definite=bool(members), needs_all=True)


def _lock(process: Process, waiter: Waiter) -> Finding:
    others = [one for one in process.waiters
              if one.kind != "thread" and (one.wait, one.object) != ("lock", waiter.object)]
    if not others:
        return Finding("whoever holds the lock must release it", definite=False)
    names = ", ".join(one.title for one in others[:3]) + (", ..." if len(others) > 3 else "")
    held = "is held, it seems, by" if len(others) == 1 else "is held by one of"
    return Finding(f"the lock, which {held} {names}", providers=[one.key for one in others])


def _siblings(process: Process, waiter: Waiter) -> Finding:
    others = [one for one in process.waiters if one.kind != "thread" and one.parent == (waiter.parent, waiter.id)[
        waiter.wait == "dependences"] and one.key != waiter.key]  # fmt: skip
    if not others:
        return Finding("tasks that come before it", definite=False)
    return Finding("one of the tasks before it: " + ", ".join(one.title for one in others[:3]),
                   providers=[one.key for one in others])  # fmt: skip


def unmatched_messages(ranks: Ranks) -> list[dict[str, Any]]:
    """Arrived, and no call that waits now takes them."""
    found = []
    for process in ranks.values():
        waiting = [call for _, call in _calls(process, "receive")]
        for message in process.messages:
            sender = process.world_rank(message["comm"], message["source"])
            if not any(_same(call, message) and call.peer in (ANY, message["source"]) for call in waiting):
                found.append({"rank": process.rank, "from": sender, **message,
                              "communicator": process.comm_name(message["comm"])})  # fmt: skip
    return found
