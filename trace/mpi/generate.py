# SPDX-License-Identifier: Apache-2.0
"""Writes the recorder's MPI wrappers from the prototypes in the mpi.h of an ABI (pmpi/abi).

    generate.py TABLES OUTDIR COMPILER [FLAG...]

TABLES is the folder of mpi_calls*.def; COMPILER with its FLAGS preprocesses `#include <mpi.h>`. OUTDIR gets
mpi_next.hpp (a struct with one pointer per function of the next library), mpi_wrappers.cpp (the entry points) and
mpi_missing.c (pmpi/missing.py). What a parameter means follows from its name in the MPI standard, which the headers
keep, and from the kind of the call in the table; a header that does not keep it, or has a function that this generator
has not been told about, ends the build.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pmpi"))
import missing
from prototypes import NOT_DEFINED, GeneratorError, Parameter, parse_prototypes, preprocess

# Functions that the recorder leaves alone, and why.
LEFT_OUT = {
    r"MPI_T_\w+": "the tools interface: for tools, not for communication",
    r"MPI_Wtime|MPI_Wtick": "reads a clock, in inner loops",
    r"MPI_Aint_(add|diff)": "adds two addresses, and is a macro in some libraries",
    r"MPI_\w+_(f2c|c2f|f2f08|f082f|c2f08|f082c)": "converts a handle, for each argument of each Fortran call",
}
# Written by hand: init.cpp, requests.cpp.
BY_HAND = set("""MPI_Init MPI_Init_thread MPI_Finalize MPI_Abort MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test
    MPI_Testall MPI_Testany MPI_Testsome MPI_Start MPI_Startall MPI_Request_free""".split())
# Also written by hand, and never recorded: it switches the recorder.
CONTROL = "MPI_Pcontrol"
# These take an existing request. (MPI_Cancel: its effect is recorded when the request completes.)
TAKES_REQUEST = {"MPI_Cancel"}
# Communicators that cannot be identified when the call returns: not yet complete, or of another MPI_COMM_WORLD.
UNIDENTIFIED = {"MPI_Comm_idup", "MPI_Comm_idup_with_info", "MPI_Comm_get_parent", "MPI_Comm_spawn",
                "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join"}  # fmt: skip
ENDS_COMM = {"MPI_Comm_free", "MPI_Comm_disconnect"}

POINT_TO_POINT = {"send", "receive", "sendreceive", "probe", "start_send", "start_receive", "persistent"}
RECEIVES = {"receive", "sendreceive", "probe"}
SEND = "bytes_of(sendcount, sendtype)"
RECV = "bytes_of(recvcount, recvtype)"
MINE_OF_RECV = "bytes_of(recvcounts[own_rank(comm)], recvtype)"
MINE_OF_SEND = "bytes_of(sendcounts[own_rank(comm)], sendtype)"
# The bytes that a rank contributes; for a scatter, that it gets. With MPI_IN_PLACE the arguments of the other side say
# that (MPI 4.0, 6.5).
COLLECTIVE_BYTES = {
    "Barrier": "0",
    "Bcast": "bytes_of(count, datatype)",
    "Gather": f"!takes_part(root) ? 0 : sendbuf == MPI_IN_PLACE ? {RECV} : {SEND}",
    "Gatherv": f"!takes_part(root) ? 0 : sendbuf == MPI_IN_PLACE ? {MINE_OF_RECV} : {SEND}",
    "Scatter": f"!takes_part(root) ? 0 : recvbuf == MPI_IN_PLACE ? {SEND} : {RECV}",
    "Scatterv": f"!takes_part(root) ? 0 : recvbuf == MPI_IN_PLACE ? {MINE_OF_SEND} : {RECV}",
    "Allgather": f"sendbuf == MPI_IN_PLACE ? {RECV} : {SEND}",
    "Allgatherv": f"sendbuf == MPI_IN_PLACE ? {MINE_OF_RECV} : {SEND}",
    "Alltoall": f"(sendbuf == MPI_IN_PLACE ? {RECV} : {SEND}) * peers(comm)",
    "Alltoallv": "sendbuf == MPI_IN_PLACE ? sum_of(recvcounts, peers(comm), recvtype)"
    " : sum_of(sendcounts, peers(comm), sendtype)",
    "Alltoallw": "sendbuf == MPI_IN_PLACE ? sum_of(recvcounts, peers(comm), recvtypes)"
    " : sum_of(sendcounts, peers(comm), sendtypes)",
    "Reduce": "!takes_part(root) ? 0 : bytes_of(count, datatype)",
    "Allreduce": "bytes_of(count, datatype)",
    "Reduce_scatter_block": "bytes_of(recvcount, datatype) * members(comm)",
    "Reduce_scatter": "sum_of(recvcounts, members(comm), datatype)",
    "Scan": "bytes_of(count, datatype)",
    "Exscan": "bytes_of(count, datatype)",
    "Neighbor_allgather": SEND,
    "Neighbor_allgatherv": SEND,
    "Neighbor_alltoall": f"{SEND} * neighbours(comm)",
    "Neighbor_alltoallv": "sum_of(sendcounts, neighbours(comm), sendtype)",
    "Neighbor_alltoallw": "sum_of(sendcounts, neighbours(comm), sendtypes)",
}


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    kind: str

    def has(self, *names: str) -> bool:
        return {parameter.name for parameter in self.parameters}.issuperset(names)

    def of_type(self, wanted: str) -> list[str]:
        return [parameter.name for parameter in self.parameters if parameter.type == wanted]

    @property
    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    @property
    def next(self) -> str:
        return f"mpi().{self.name.removeprefix('MPI_')}({self.arguments})"

    @property
    def family(self) -> str:
        """Bcast for MPI_Ibcast, MPI_Bcast_init_c and MPI_Bcast."""
        base = self.name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
        return base[1:].capitalize() if self.kind == "start_collective" else base


# Parsing --------------------------------------------------------------------------------------------------------------


def parse_tables(folder: Path) -> dict[str, str]:
    """Returns the kinds of calls by name."""
    text = "".join(file.read_text(encoding="ascii") for file in sorted(folder.glob("mpi_calls*.def")))
    return dict(re.findall(r"^MARLINE_MPI_CALL\(\d+, (\w+), (\w+)\)$", text, re.MULTILINE))


def functions_of(header: str, kinds: dict[str, str]) -> list[Function]:
    prototypes = parse_prototypes(header)
    recorded = {name: parameters for name, parameters in prototypes.items() if name != CONTROL
                and not any(re.fullmatch(pattern, name) for pattern in LEFT_OUT)}  # fmt: skip
    unknown = sorted(recorded.keys() - kinds.keys())
    if unknown:
        raise GeneratorError(f"mpi.h has functions that mpi_calls.def does not number: {', '.join(unknown)}: add them "
                             "there, or to LEFT_OUT in trace/mpi/generate.py with a reason")  # fmt: skip
    return [Function(name, parameters, kinds[name]) for name, parameters in recorded.items() if parameters is not None]


# What the parameters mean ---------------------------------------------------------------------------------------------


def comm_of(function: Function) -> str | None:
    comms, windows = function.of_type("MPI_Comm"), function.of_type("MPI_Win")
    if comms:
        return f"comm_id({comms[0]})"
    if function.name in ENDS_COMM:
        return "comm_id(*comm)"
    if windows:
        return f"window_comm_id({windows[0]})"
    if function.name == "MPI_Win_free":
        return "window_comm_id(*win)"
    if function.kind in ("receive", "start_receive") and function.has("message"):
        return "forget_message(*message)"
    return None


def peer_of(function: Function) -> str | None:
    names = ["dest", "source", "root", "target_rank"] + (["rank"] if function.kind == "rma" else [])
    if function.kind in ("local", "file"):
        return None
    return next((name for name in names if name in function.of_type("int")), None)


def tag_of(function: Function) -> str | None:
    if function.kind not in POINT_TO_POINT:
        return None
    return next((name for name in ("tag", "sendtag") if function.has(name)), None)


def bytes_of(function: Function) -> str | None:
    if function.family in COLLECTIVE_BYTES:
        return COLLECTIVE_BYTES[function.family]
    if function.kind in ("local", "collective", "start_collective"):
        return None
    if function.has("partitions", "count", "datatype"):
        return "static_cast<u64>(partitions) * bytes_of(count, datatype)"
    if function.has("sendcount", "sendtype"):
        return SEND
    if function.has("target_count", "target_datatype"):
        return "bytes_of(target_count, target_datatype)"
    if function.has("count", "datatype"):
        return "bytes_of(count, datatype)"
    return "bytes_of(1, datatype)" if function.kind == "rma" and function.has("datatype") else None


def receiving_half(function: Function) -> str | None:
    if function.has("dest", "source", "recvtag"):
        size = RECV if function.has("recvcount") else "bytes_of(count, datatype)"
        return f"enter_receive(call, source, recvtag, {size});"
    return None


def made_comm(function: Function) -> str | None:
    """The statement after a call that makes a communicator."""
    made = function.of_type("MPI_Comm *")
    if not made or function.name in UNIDENTIFIED | ENDS_COMM:
        return None
    comms = function.of_type("MPI_Comm")
    # Both sides of an inter-communicator make it from communicators of their own.
    parent = comms[0] if comms and function.name != "MPI_Intercomm_create" else "MPI_COMM_NULL"
    tag = ", tag" if function.has("tag") else ""
    return f"remember_comm(outcome, {parent}, *{made[0]}{tag});"


def made_window(function: Function) -> str | None:
    made = function.of_type("MPI_Win *")
    return f"remember_window(outcome, call.comm, *{made[0]});" if made and function.of_type("MPI_Comm") else None


def leaving(function: Function) -> str:
    if function.kind in RECEIVES and function.has("status"):
        return "leave_received(call, outcome, *status);"
    if "MPI_Request *" in {parameter.type for parameter in function.parameters} and function.name not in TAKES_REQUEST:
        return "leave_started(call, outcome, request);"
    return "leave(call);"


def check_roles(function: Function) -> None:
    """Ends the build if a header has other parameter names: the recorder would lose what a call communicates."""
    needed: dict[str, object] = {}
    if function.kind in POINT_TO_POINT and not function.has("message") and function.family not in COLLECTIVE_BYTES:
        needed |= {"communicator": comm_of(function), "peer": peer_of(function), "tag": tag_of(function)}
        if function.kind != "probe":
            needed["size"] = bytes_of(function)
    if function.kind.startswith("start_") or function.kind == "persistent":
        needed["request"] = "leave_started" in leaving(function)
    if function.kind in RECEIVES:
        needed["status"] = function.has("status")
    if function.kind.startswith(("send", "receive")) or (function.kind == "file" and function.has("buf", "count")):
        needed["size"] = bytes_of(function)
    if function.kind == "rma" and function.of_type("MPI_Datatype"):
        needed |= {"size": bytes_of(function), "peer": peer_of(function)}
    missing = [role for role, found in needed.items() if not found]
    if missing:
        raise GeneratorError(f"mpi.h: {function.name} has no parameter with the standard's name for its "
                             f"{', '.join(missing)}: {function.arguments}")  # fmt: skip


# Writing --------------------------------------------------------------------------------------------------------------


def call_expression(function: Function) -> str:
    fields = [f".number = call::k_{function.name}"]
    roles = (("comm", comm_of), ("peer", peer_of), ("tag", tag_of), ("bytes", bytes_of))
    fields += [f".{field} = {value}" for field, role in roles if (value := role(function))]
    return "{" + ", ".join(fields) + "}"


def body(function: Function) -> list[str]:
    after = [line for line in (made_comm(function),) if line]
    refused = [f"return {function.next};"]
    if after:
        refused = [f"const int outcome = {function.next};", *after, "return outcome;"]
    lines = ["if (!recorded(__builtin_return_address(0))) {", *("  " + line for line in refused), "}"]
    if function.kind in RECEIVES and function.has("status"):
        lines += ["MPI_Status own = empty_status();", "status = status_or(status, own);"]
    if function.kind in ("probe", "test", "rma") and function.has("flag"):
        return lines + polling(function)
    half = receiving_half(function)
    lines.append(f"const Call call = enter({call_expression(function)});")
    lines += [half] if half else []
    lines.append(f"const int outcome = {function.next};")
    lines += after + [line for line in (made_window(function),) if line]
    if function.kind == "probe" and function.has("message"):
        lines += ["if (outcome == MPI_SUCCESS) {", "  remember_message(*message, call.comm);", "}"]
    return [*lines, leaving(function), "return outcome;"]


def polling(function: Function) -> list[str]:
    lines = ["const u64 time = poll_time();", f"const int outcome = {function.next};"]
    lines += ["if (outcome != MPI_SUCCESS || !*flag) {", f"  poll_failed(call::k_{function.name}, time);",
              "  return outcome;", "}", f"const Call call = enter_at(time, {call_expression(function)});"]  # fmt: skip
    if function.has("message"):
        lines.append("remember_message(*message, call.comm);")
    return [*lines, leaving(function), "return outcome;"]


def wrapper(function: Function) -> str:
    check_roles(function)
    parameters = ", ".join(parameter.text for parameter in function.parameters) or "void"
    lines = "".join(f"  {line}\n" for line in body(function))
    alias = f'__attribute__((alias("{function.name}")))'
    return (f"MARLINE_MPI int {function.name}({parameters}) {{\n{lines}}}\n"
            f"MARLINE_MPI {alias} decltype({function.name}) P{function.name};\n")  # fmt: skip


def next_header(names: list[str]) -> str:
    members = "".join(f"  decltype(&::{name}) {name.removeprefix('MPI_')};\n" for name in names)
    return ("// Generated by trace/mpi/generate.py from mpi.h.\n#pragma once\n"
            '#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
            f"namespace marline::trace {{\nstruct NextMpi {{\n{members}}};\n}}\n"
            "#pragma GCC diagnostic pop\n")  # fmt: skip


def wrappers_source(functions: list[Function]) -> str:
    return ("// Generated by trace/mpi/generate.py from mpi.h.\n"
            '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
            '#include "mpi/bytes.hpp"\n#include "mpi/calls.hpp"\nusing namespace marline::trace;\n\n'
            + "\n".join(wrapper(function) for function in functions
                        if function.name not in BY_HAND | NOT_DEFINED))  # fmt: skip


def main(tables: str, folder: str, *compiler: str) -> None:
    functions = functions_of(preprocess(list(compiler)), parse_tables(Path(tables)))
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    names = [*(function.name for function in functions), CONTROL]
    (out / "mpi_next.hpp").write_text(next_header(names))
    (out / "mpi_missing.c").write_text(missing.source(names))
    (out / "mpi_wrappers.cpp").write_text(wrappers_source(functions))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: generate.py TABLES OUTDIR COMPILER [FLAG...]")
    try:
        main(*sys.argv[1:])
    except GeneratorError as error:
        sys.exit(f"generate.py: {error}")
