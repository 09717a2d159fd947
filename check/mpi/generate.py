# SPDX-License-Identifier: Apache-2.0
"""Writes the MPI functions of libmarline-accesses-mpi.so from the prototypes in the mpi.h of an ABI (pmpi/abi).

    generate.py OUTDIR COMPILER [FLAG...]

COMPILER with its FLAGS preprocesses `#include <mpi.h>`. OUTDIR gets mpi_next.h (a struct with one pointer per function
of the next library), mpi_wrappers.c (the entry points) and mpi_missing.c (pmpi/missing.py). ACCESSES says which memory
a call reads and writes, by the names that the MPI standard gives its parameters; requests.c has the calls that
complete requests.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pmpi"))
import missing
from prototypes import GeneratorError, Parameter, parse_prototypes, preprocess

# Written by hand: requests.c. MPI_Init_thread, the ranks and the types are what that code itself needs of MPI.
BY_HAND = """MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Start
    MPI_Startall MPI_Request_free MPI_Type_free""".split()
ONLY_CALLED = """MPI_Init_thread MPI_Comm_size MPI_Comm_remote_size MPI_Comm_rank MPI_Comm_test_inter MPI_Pack
    MPI_Pack_size MPI_Unpack MPI_Type_get_true_extent MPI_Type_get_extent MPI_Type_size""".split()

SENDS = "reads(operation, buf, count, datatype);"
RECEIVES = "writes(operation, buf, count, datatype);"
SENT = "reads(operation, sendbuf, sendcount, sendtype);"
RECEIVED = "writes(operation, recvbuf, recvcount, recvtype);"
OWN_SENT = f"if (sendbuf != MPI_IN_PLACE) {SENT}"


def of_each(access: str, buffer: str, count: str, shift: str, datatype: str) -> str:
    """A part for each of the communicator's processes."""
    return (f"for (int i = 0, n = processes(comm); i < n; ++i)"
            f" {access}(operation, {shift.format(buffer)}, {count}, {datatype});")  # fmt: skip


def received_parts(displacements: str = "displs") -> str:
    shift = f"moved({{}}, {displacements}[i], recvtype)"
    return of_each("writes", "recvbuf", "recvcounts[i]", shift, "recvtype")


def sent_parts(displacements: str) -> str:
    shift = f"moved({{}}, {displacements}[i], sendtype)"
    return of_each("reads", "sendbuf", "sendcounts[i]", shift, "sendtype")


ALL_RECEIVED = of_each("writes", "recvbuf", "recvcount", "moved({}, (MPI_Aint)i * recvcount, recvtype)", "recvtype")
ALL_SENT = of_each("reads", "sendbuf", "sendcount", "moved({}, (MPI_Aint)i * sendcount, sendtype)", "sendtype")
IS_ROOT, IS_LEAF = "if (is_root(root, comm))", "if (is_leaf(root, comm))"
REDUCED = "reads(operation, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype);"
REDUCED_PARTS = "for (int i = 0, n = processes(comm); i < n; ++i) all += recvcounts[i];"

# C by family: what a call accesses.
ACCESSES = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), [SENDS]),
    **dict.fromkeys(("Recv", "Mrecv"), [RECEIVES]),
    "Sendrecv": [SENT, RECEIVED],
    "Sendrecv_replace": [SENDS, RECEIVES],
    "Bcast": [f"{IS_ROOT} reads(operation, buffer, count, datatype);",
              f"{IS_LEAF} writes(operation, buffer, count, datatype);"],
    "Gather": [f"if (sendbuf != MPI_IN_PLACE && !is_apart(root, comm)) {SENT}", f"{IS_ROOT} {ALL_RECEIVED}"],
    "Gatherv": [f"if (sendbuf != MPI_IN_PLACE && !is_apart(root, comm)) {SENT}", f"{IS_ROOT} {received_parts()}"],
    "Scatter": [f"{IS_ROOT} {ALL_SENT}", f"if (recvbuf != MPI_IN_PLACE && !is_apart(root, comm)) {RECEIVED}"],
    "Scatterv": [f"{IS_ROOT} {sent_parts('displs')}",
                 f"if (recvbuf != MPI_IN_PLACE && !is_apart(root, comm)) {RECEIVED}"],
    "Allgather": [OWN_SENT, ALL_RECEIVED],
    "Allgatherv": [OWN_SENT, received_parts()],
    "Alltoall": [f"if (sendbuf != MPI_IN_PLACE) {ALL_SENT}", ALL_RECEIVED],
    "Alltoallv": [f"if (sendbuf != MPI_IN_PLACE) {sent_parts('sdispls')}", received_parts("rdispls")],
    "Alltoallw": ["if (sendbuf != MPI_IN_PLACE) "
                  + of_each("reads", "sendbuf", "sendcounts[i]", "(const char*){} + sdispls[i]", "sendtypes[i]"),
                  of_each("writes", "recvbuf", "recvcounts[i]", "(const char*){} + rdispls[i]", "recvtypes[i]")],
    "Reduce": [f"if (!is_apart(root, comm)) {REDUCED}", f"{IS_ROOT} writes(operation, recvbuf, count, datatype);"],
    **dict.fromkeys(("Allreduce", "Scan", "Exscan"), [REDUCED, "writes(operation, recvbuf, count, datatype);"]),
    "Reduce_scatter_block": [
        REDUCED.replace("count,", "(MPI_Count)recvcount * processes(comm),"),
        "writes(operation, recvbuf, recvcount, datatype);"],
    "Reduce_scatter": ["MPI_Count all = 0;", REDUCED_PARTS, REDUCED.replace("count,", "all,"),
                       "writes(operation, recvbuf, recvcounts[rank_in(comm)], datatype);"],
}  # fmt: skip


def family_of(name: str) -> str:
    """Bcast for MPI_Ibcast, MPI_Bcast_init_c and MPI_Bcast."""
    base = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    base = base if base in ACCESSES else base.removeprefix("I").capitalize()
    return base if base in ACCESSES else ""


def check(name: str, parameters: tuple[Parameter, ...]) -> None:
    known = {parameter.name for parameter in parameters}
    text = " ".join(ACCESSES[family_of(name)])
    parameter = r"\b(?:(?:send|recv)(?:buf|counts?|types?)|buf|buffer|root|datatype|[sr]?displs|comm)\b"
    used = set(re.findall(parameter, text))
    if used - known:
        raise GeneratorError(f"mpi.h: {name} has no parameter with the standard's name for {sorted(used - known)}")


def wrapper(name: str, parameters: tuple[Parameter, ...]) -> str:
    check(name, parameters)
    declared = ", ".join(parameter.text for parameter in parameters)
    following = f"mpi()->{name.removeprefix('MPI_')}({', '.join(parameter.name for parameter in parameters)})"
    has_request = any(parameter.name == "request" for parameter in parameters)
    way = "kCurrentTask" if not has_request else "kKept" if re.search(r"_init(_c)?$", name) else "kStarted"
    lines = ["const void* code = __builtin_return_address(0);", f"if (!is_noted(code)) return {following};",
             f'Operation here = operation_begin({way}, "{name}", code), *operation = &here;',
             *ACCESSES[family_of(name)]]  # fmt: skip
    if has_request:
        lines += [f"const int outcome = {following};", "operation_keep(operation, outcome, request);",
                  "return outcome;"]  # fmt: skip
    else:
        lines.append(f"return {following};")
    body = "".join(f"  {line}\n" for line in lines)
    return (f"MPI_API int {name}({declared}) {{\n{body}}}\n"
            f"MPI_API __typeof__({name}) P{name} __attribute__((alias(\"{name}\")));\n")  # fmt: skip


def next_header(names: list[str]) -> str:
    members = "".join(f"  __typeof__({name})* {name.removeprefix('MPI_')};\n" for name in names)
    return ("/* Generated by check/mpi/generate.py from mpi.h. */\n#ifndef MARLINE_CHECK_MPI_NEXT_H\n"
            "#define MARLINE_CHECK_MPI_NEXT_H\n#include <mpi.h>\n"
            f"typedef struct NextMpi {{\n{members}}} NextMpi;\n#endif\n")  # fmt: skip


def main(folder: str, *compiler: str) -> None:
    prototypes = {name: parameters for name, parameters in parse_prototypes(preprocess(list(compiler))).items()
                  if parameters is not None}  # fmt: skip
    wrapped = [name for name in prototypes if family_of(name)]
    lost = (set(BY_HAND) | set(ONLY_CALLED)) - prototypes.keys()
    if lost:
        raise GeneratorError(f"mpi.h declares no {', '.join(sorted(lost))}")
    names = [*wrapped, *BY_HAND, *ONLY_CALLED]
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / "mpi_next.h").write_text(next_header(names))
    (out / "mpi_missing.c").write_text(missing.source(names))
    (out / "mpi_wrappers.c").write_text(
        '/* Generated by check/mpi/generate.py from mpi.h. */\n#include "mpi/buffers.h"\n#include "mpi/library.h"\n'
        '#include "mpi/requests.h"\n\n' + "\n".join(wrapper(name, prototypes[name]) for name in wrapped))  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: generate.py OUTDIR COMPILER [FLAG...]")
    try:
        main(*sys.argv[1:])
    except GeneratorError as error:
        sys.exit(f"generate.py: {error}")
