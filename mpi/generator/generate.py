# SPDX-License-Identifier: Apache-2.0
"""Writes libmarline-mpi's wrappers from calls.def and the prototypes in the mpi.h of an ABI (pmpi/abi).

    generate.py CALLS OUTDIR COMPILER [FLAG...]

COMPILER with its FLAGS preprocesses `#include <mpi.h>`. OUTDIR gets mpi_next.h (a struct with one pointer per function
of the header, for the functions of a tool or of the library), mpi_first.c (what the pointers lead to before the
functions are looked up), mpi_wrappers.c (the entry points), mpi_owner.c and mpi_inside.c (owner_functions.py), and
mpi_missing.c (pmpi/missing.py). Their text is in the .in files next to this one (pieces.py); this file decides what
goes where. The build ends if the table names a parameter that the header does not have, or a nonblocking form that
does not take the same arguments.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pmpi"))
from owner_functions import inside_source, member, owner_source, short
from pieces import Pieces
import missing
from prototypes import CONVERSIONS, NOT_DEFINED, GeneratorError, Parameter, parse_prototypes, preprocess

OBJECTS = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Comm *", "MPI_Win *", "MPI_File *")
LANES = {"": "kLaneOfObject", "alone": "kLaneAlone", "exposure": "kLaneExposure"}
COMPLETED = ("Barrier", "Bcast", "Reduce", "Allreduce")  # a rank that has not entered them can: speculation_stop.c
SAME_SIZE = ("MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan")
ONLY_USE_REQUESTS = {"MPI_Test", "MPI_Cancel"}  # these take a request and are not in the table
# Reductions: how many elements the process sends and receives (device_memory.h).
REDUCTIONS = {
    "MPI_Reduce": ("root == MPI_PROC_NULL || root == MPI_ROOT ? 0 : count",
                   "device_reduction_is_root(root, comm) ? count : 0"),
    "MPI_Allreduce": ("count", "count"),
    "MPI_Scan": ("count", "count"),
    "MPI_Exscan": ("count", "count"),
    "MPI_Reduce_scatter_block": ("device_reduction_block(recvcount, comm)", "recvcount"),
    "MPI_Reduce_scatter": ("device_reduction_sum$c(recvcounts, comm)", "device_reduction_own$c(recvcounts, comm)"),
}
WRAPPERS = Pieces("wrappers.c.in")
WAYS = {"send", "receive", "sendrecv", "starts_send", "makes_send", "makes_parts", "collective", "helper",
        "names", "by_hand"}


@dataclass(frozen=True)
class Call:
    name: str
    parameters: tuple[Parameter, ...]
    way: str
    detail: str

    @property
    def short(self) -> str:
        """The name of its pointer in next_mpi: comm_split for MPI_Comm_split."""
        return short(self.name)

    @property
    def declared(self) -> str:
        return ", ".join(parameter.text for parameter in self.parameters) or "void"

    @property
    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    @property
    def next(self) -> str:
        return f"next_mpi.{self.short}({self.arguments})"

    @property
    def sent(self) -> str:
        """The arguments of a send. The messages of a standard send may run ahead of the receiver."""
        standard = self.name.removesuffix("_c") in ("MPI_Send", "MPI_Isend")
        ahead = "run_ahead_destination(buf, count, datatype, dest, tag, comm)"
        return ", ".join(ahead if standard and parameter.name == "dest" else parameter.name
                         for parameter in self.parameters if parameter.name != "status")  # fmt: skip

    def parameter(self, *names: str) -> str | None:
        return next((name for name in names if any(p.name == name for p in self.parameters)), None)

    def first_of_type(self, *types: str) -> Parameter | None:
        found = [parameter for wanted in types for parameter in self.parameters if parameter.type == wanted]
        return found[0] if found else None

    @property
    def made(self) -> str | None:
        """The parameter for the communicator that the call makes."""
        ends = self.short in ("comm_free", "comm_disconnect")
        found = None if ends else self.first_of_type("MPI_Comm *")
        return found.name if found else None

    @property
    def made_from(self) -> str:
        """The parent of the identity (comm.h). The two sides of a two-sided call share no parent."""
        two_sided = self.short in ("intercomm_create", "comm_accept", "comm_connect")
        found = None if two_sided else self.first_of_type("MPI_Comm")
        return found.name if found else "(MPI_Comm)0"

    @property
    def gives_request(self) -> bool:
        return self.first_of_type("MPI_Request *") is not None

    @property
    def is_large(self) -> bool:
        return self.name.endswith("_c")


def read_calls(file: Path) -> dict[str, tuple[str, str]]:
    """Returns way and detail of each call by its name."""
    calls = {}
    for line in file.read_text(encoding="ascii").splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if not 2 <= len(words) <= 3 or words[1] not in WAYS or words[0] in calls:
            raise GeneratorError(f"{file.name}: cannot use the line '{line}'")
        calls[words[0]] = (words[1], words[2] if len(words) == 3 else "")
    return calls


def calls_of(table: dict[str, tuple[str, str]], prototypes: dict[str, tuple[Parameter, ...] | None]) -> list[Call]:
    """The table's calls that the header has, and their variants with large counts."""
    calls = []
    for name, (way, detail) in table.items():
        for suffix in ("", "_c"):
            parameters = prototypes.get(name + suffix)
            if parameters is not None:
                twin = detail + suffix if way in ("send", "receive", "collective") else detail
                calls.append(Call(name + suffix, parameters, way, twin))
    named = {call.name for call in calls}
    others = [Call(name, parameters or (), "begins", "") for name, parameters in prototypes.items()
              if name not in named]
    return calls + [call for call in others if call.gives_request and call.name not in ONLY_USE_REQUESTS]


# The description of a call, for reports of what a task waits for ------------------------------------------------------


def length(call: Call) -> list[str]:
    """Count and datatype, if MPI reads them. Arguments that are not significant (MPI 3.1, 2.4, 5.5, 5.7: at some ranks,
    in place) may have any value, and need not be valid handles."""
    pairs = [("count", "datatype"), ("recvcount", "datatype")]
    pairs += [("sendcount", "sendtype")] if call.way == "sendrecv" else []
    pairs += [("recvcount", "recvtype")] if not call.parameter("root") else []
    for count, datatype in pairs:
        if call.parameter(count) and call.parameter(datatype):
            # A process in the root's group that is not the root, in an intercommunicator.
            value = f"root == MPI_PROC_NULL ? (MPI_Datatype)0 : {datatype}" if call.parameter("root") else datatype
            return [f".count = {count}", f".datatype = {value}"]
    return []


def description(call: Call, scope: str | None = None) -> str:
    """A MpiCall (call.h)."""
    fields = [f'.name = "{call.name}"', ".caller = __builtin_return_address(0)"]
    comm = call.first_of_type("MPI_Comm")
    fields += [f".comm = {comm.name}"] if comm else []
    fields += length(call)
    peer = (call.parameter("dest", "source", "root", "target_rank")
            or (call.parameter("rank") if "Win_" in call.name else None))  # fmt: skip
    fields.append(f".peer = {peer or 'kNoPeer'}")
    tag = call.parameter("tag")
    fields.append(f".tag = {tag}" if tag and peer else ".tag = kNoTag")
    fields += [f".scope = {scope}"] if scope else []
    return "&(const MpiCall){" + ", ".join(fields) + "}"


# One function per way -------------------------------------------------------------------------------------------------


def twin(call: Call, prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    """Starts the nonblocking form of the call."""
    theirs = prototypes.get(call.detail)
    if theirs is None:
        raise GeneratorError(f"mpi.h has {call.name}, but not its twin {call.detail}")
    ours = [parameter for parameter in call.parameters if parameter.name != "status"]
    if [parameter.type for parameter in theirs] != [*(parameter.type for parameter in ours), "MPI_Request *"]:
        raise GeneratorError(f"mpi.h: {call.detail} does not take the arguments of {call.name}")
    return f"next_mpi.{short(call.detail)}({call.sent}, &request)"


def left_as_it_is(call: Call, condition: str) -> str:
    """The call goes straight to MPI, where the thread may block; `marline ps` shows that."""
    return WRAPPERS.fill("as_it_is", condition=condition, description=description(call), next=call.next,
                         short=call.short, arguments=call.arguments)  # fmt: skip


def in_a_scope(call: Call) -> str:
    """Before a message is started (speculation.h): if the scope is stopped, the message goes to, or comes from,
    MPI_PROC_NULL."""
    peer = call.parameter("dest", "source")
    if not call.parameter("comm") or not peer:
        return ""
    return WRAPPERS.fill("enter_scope", name=call.name, peers="dest = source" if call.way == "sendrecv" else peer,
                         next=call.next)  # fmt: skip


def out_of_a_scope(call: Call, status: str) -> str:
    """After the message has been started."""
    if not call.parameter("comm"):
        return ""
    if call.parameter("dest"):
        return WRAPPERS.fill("leave_scope_of_send")
    return WRAPPERS.fill("leave_scope_of_receive", status=status, description=description(call, "scope"))


def collective_call(call: Call) -> str:
    """A CollectiveCall (speculation.h)."""
    kind = call.name.removeprefix("MPI_").removesuffix("_c")
    if kind not in COMPLETED:
        return "&(const CollectiveCall){.kind = kCollectiveOther}"
    fields = [f".{field} = {field}" for field in ("root", "count", "datatype", "op") if call.parameter(field)]
    return "&(const CollectiveCall){" + ", ".join([f".kind = kCollective{kind}", *fields]) + "}"


def point_to_point(call: Call, prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    at_once = "source == MPI_PROC_NULL || " if call.parameter("source") else ""
    at_once = "is_from_nobody(*message) || " if call.parameter("message") else at_once
    status = "status" if call.parameter("status") else "MPI_STATUS_IGNORE"
    return WRAPPERS.fill("point_to_point", sends=WRAPPERS.fill("sends") if call.way == "send" else "",
                         as_it_is=left_as_it_is(call, f"{at_once}!engine_takes(__builtin_return_address(0))"),
                         enter_scope=in_a_scope(call), twin=twin(call, prototypes),
                         leave_scope=out_of_a_scope(call, status), status=status,
                         description=description(call))  # fmt: skip


def sendrecv(call: Call) -> str:
    return WRAPPERS.fill("sendrecv" if call.parameter("sendbuf") else "sendrecv_replace",
                         as_it_is=left_as_it_is(call, "!engine_takes(__builtin_return_address(0))"),
                         enter_scope=in_a_scope(call), c="_c" if call.is_large else "", name=call.name,
                         count="MPI_Count" if call.is_large else "int",
                         description=description(call, "scope"))  # fmt: skip


def same_size(call: Call) -> str:
    """After a collective in which MPI demands that all processes pass the same number of bytes."""
    if call.name.removesuffix("_c") not in SAME_SIZE:
        return ""
    return WRAPPERS.fill("same_size", description=description(call))


def in_order(call: Call) -> str:
    """In a call without a nonblocking form that is collective over a communicator, but not over a group of it."""
    if call.first_of_type("MPI_Comm") is None or call.detail:
        return ""
    return WRAPPERS.fill("in_order", description=description(call))


def begin_on_device(call: Call) -> str:
    """Before a reduction: its nonblocking form may not take device memory."""
    if call.name.removesuffix("_c") not in REDUCTIONS:
        return ""
    numbers = REDUCTIONS[call.name.removesuffix("_c")]
    sent, received = (number.replace("$c", "_c" if call.is_large else "") for number in numbers)
    return WRAPPERS.fill("begin_on_device", name=call.name, sent=sent, received=received)


def collective(call: Call, prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    begin = begin_on_device(call)
    return WRAPPERS.fill("collective", next=call.next, name=call.name, collective_call=collective_call(call),
                         begin_on_device=begin, description=description(call), twin=twin(call, prototypes),
                         same_size=same_size(call),
                         complete=WRAPPERS.fill("complete_on_device" if begin else "complete",
                                                description=description(call)))  # fmt: skip


def begun(call: Call) -> str:
    """After a call that gives a request."""
    return WRAPPERS.fill("begun", description=description(call)) if call.gives_request else ""


def starts_send(call: Call) -> str:
    enter = in_a_scope(call)
    return WRAPPERS.fill("starts_send", enter_scope=enter, start=f"next_mpi.{call.short}({call.sent})",
                         begun=begun(call), leave_scope=out_of_a_scope(call, "") if enter else "")  # fmt: skip


def lane(call: Call) -> str:
    if call.detail == "own":
        return "(HelperLane){(uintptr_t)&arguments, kLaneOfObject}"
    found = call.first_of_type(*OBJECTS)
    owner = "0" if found is None else f"(uintptr_t){'*' if '*' in found.type else ''}{found.name}"
    if call.detail in LANES:
        return f"(HelperLane){{{owner}, {LANES[call.detail]}}}"
    if not call.parameter(call.detail):
        raise GeneratorError(f"mpi.h: {call.name} has no parameter {call.detail}")
    return f"(HelperLane){{{owner}, {call.detail}}}"


def made_tag(call: Call) -> str:
    """Distinguishes communicators that are made from the same parent at the same time."""
    return "comm_tag_of(stringtag)" if call.parameter("stringtag") else call.parameter("tag") or "0"


def helper(call: Call) -> str:
    values = ", ".join(parameter.name for parameter in call.parameters) or "0"
    run = f"helper_run(run_{call.short}, &arguments, {lane(call)}, {description(call)})"
    if call.made:
        after = WRAPPERS.fill("made", **{"from": call.made_from, "made": call.made, "tag": made_tag(call)})
    else:
        after = WRAPPERS.fill("persistent_collective") if call.gives_request else ""
        after += begun(call)
    return WRAPPERS.fill("helper_and_more" if after else "helper", in_order=in_order(call), after=after, run=run,
                         as_it_is=left_as_it_is(call, "!may_suspend(__builtin_return_address(0))"), values=values,
                         description=description(call), next=call.next, short=call.short)  # fmt: skip


def helper_arguments(call: Call) -> str:
    """A struct of the arguments, and the function that the helper thread calls with it."""
    return WRAPPERS.fill("helper_arguments", short=call.short,
                         members="".join(f"  {member(parameter)}\n" for parameter in call.parameters)
                         or "  int none;\n",
                         values=", ".join(f"a->{parameter.name}" for parameter in call.parameters),
                         unused="" if call.parameters else "  (void)a;\n")  # fmt: skip


def wrapper(call: Call, prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    if call.way in ("send", "receive"):
        body = point_to_point(call, prototypes)
    elif call.way == "sendrecv":
        body = sendrecv(call)
    elif call.way == "collective":
        body = collective(call, prototypes)
    elif call.way == "helper":
        body = helper(call)
    elif call.way == "starts_send":
        body = starts_send(call)
    else:
        body = WRAPPERS.fill(call.way, next=call.next, arguments=call.arguments, begun=begun(call))
    before = helper_arguments(call) + "\n" if call.way == "helper" else ""
    return before + WRAPPERS.fill("wrapper", name=call.name, declared=call.declared, short=call.short,
                                  arguments=call.arguments, body=body)  # fmt: skip


# Files ----------------------------------------------------------------------------------------------------------------


def next_header(names: list[str]) -> str:
    pieces = Pieces("next.h.in")
    return pieces.fill("file", members="".join(pieces.fill("member", name=name, short=short(name)) for name in names),
                       profiled="".join(pieces.fill("profiled", name=name) for name in names))  # fmt: skip


def first_source(names: list[str], prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    """The functions that next_mpi leads to at first. A program may begin with MPI_Session_init (MPI 4.0, 11.3), with
    calls that MPI allows before MPI_Init, or by mistake with any other call, which MPI itself must refuse."""
    pieces = Pieces("first.c.in")
    calls = [Call(name, prototypes[name] or (), "by_hand", "") for name in names]
    functions = [pieces.fill("function", short=call.short, declared=call.declared, next=call.next) for call in calls]
    return pieces.fill("file", functions="\n".join(functions),
                       members="".join(pieces.fill("member", short=call.short) for call in calls))  # fmt: skip


def wrappers_source(calls: list[Call], prototypes: dict[str, tuple[Parameter, ...] | None]) -> str:
    made = [wrapper(call, prototypes) for call in calls if call.way != "by_hand"]
    return WRAPPERS.fill("file", wrappers="\n".join(made))


def main(table: str, folder: str, *compiler: str) -> None:
    prototypes = parse_prototypes(preprocess(list(compiler)))
    calls = calls_of(read_calls(Path(table)), prototypes)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    names = [name for name, parameters in prototypes.items() if parameters is not None and name not in CONVERSIONS]
    (out / "mpi_next.h").write_text(next_header(names))
    (out / "mpi_first.c").write_text(first_source(names, prototypes))
    (out / "mpi_wrappers.c").write_text(wrappers_source(calls, prototypes))
    (out / "mpi_inside.c").write_text(inside_source(names, prototypes))
    (out / "mpi_owner.c").write_text(owner_source(names, NOT_DEFINED | {call.name for call in calls}, prototypes))
    (out / "mpi_missing.c").write_text(missing.source(names))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: generate.py CALLS OUTDIR COMPILER [FLAG...]")
    try:
        main(*sys.argv[1:])
    except GeneratorError as error:
        sys.exit(f"generate.py: {error}")
