# SPDX-License-Identifier: Apache-2.0
"""The recorder among libraries: every function of mpi.h is recorded or left out on purpose, other layers of MPI keep
their place, and clocks of several machines are measured."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS
from trace_mpi_support import BUILD, MPIS, PROGRAMS, ROOT, build, calls, events, launch, record, recorder, rows, seen

from marline.trace.read import messages, reader

GENERATOR = ROOT / "trace" / "mpi" / "generate.py"
TABLES = ROOT / "python" / "marline" / "trace" / "read"
MPI_TESTS = ROOT / "tests" / "mpi"
NONE = -1

_specification = importlib.util.spec_from_file_location("mpi_generate", GENERATOR)
assert _specification is not None and _specification.loader is not None
mpi_generate = importlib.util.module_from_spec(_specification)
sys.modules["mpi_generate"] = mpi_generate
_specification.loader.exec_module(mpi_generate)


def recorded_functions(mpi: str) -> set[str]:
    header = mpi_generate.preprocess(["gcc", f"-I{ROOT / 'pmpi' / 'abi' / mpi}"])
    return {function.name for function in mpi_generate.functions_of(header, mpi_generate.parse_tables(TABLES))}


@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "standard"])
def test_all_of_our_mpi_h_is_recorded(mpi: str) -> None:
    recorded = recorded_functions(mpi) - mpi_generate.NOT_DEFINED
    assert len(recorded) > 330 and {"MPI_Send", "MPI_File_write_at_all", "MPI_Ineighbor_alltoallw"} <= recorded
    listed = subprocess.run(["nm", "-D", "--defined-only", recorder(mpi)], capture_output=True, text=True, check=True)
    exported = {line.split()[2] for line in listed.stdout.splitlines()}
    wanted = {prefix + name for name in recorded | {mpi_generate.CONTROL} for prefix in ("", "P")}
    assert wanted == {name for name in exported if name.startswith(("MPI_", "PMPI_"))}


@pytest.mark.parametrize("mpi", MPIS)
def test_no_function_of_the_librarys_mpi_h_that_communicates_is_left_out(mpi: str) -> None:
    kinds = mpi_generate.parse_tables(TABLES)
    theirs = mpi_generate.parse_prototypes(mpi_generate.preprocess([f"mpicc.{mpi}"]))
    assert len(theirs) > 350
    assert {name for name in theirs.keys() - recorded_functions(mpi) if kinds.get(name, "local") != "local"} == set()


def test_numbers_of_calls() -> None:
    assert len(events.MPI_CALLS) == len(events.CALL_NUMBER) > 550
    assert max(events.MPI_CALLS) < 1 << events.EVENTS["mpi_enter"].fields["call"].bits
    for number, name in events.MPI_CALLS.items():
        if number >= 2048:
            assert name == events.MPI_CALLS[number - 2048] + "_c"


@pytest.mark.parametrize(("prototype", "complaint"), [
    ("int MPI_Frobnicate(MPI_Comm comm);", "does not number: MPI_Frobnicate"),
    ("int MPI_Recv(void *b, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm, MPI_Status *status);",
     "MPI_Recv has no parameter with the standard's name for its peer"),
])  # fmt: skip
def test_a_header_that_is_not_understood_ends_the_build(tmp_path: Path, prototype: str, complaint: str) -> None:
    compiler = tmp_path / "compiler"
    send = "int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);"
    compiler.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{send} {prototype}'\n")
    compiler.chmod(0o755)
    result = subprocess.run([sys.executable, GENERATOR, TABLES, tmp_path / "out", compiler], capture_output=True,
                            text=True, check=False)  # fmt: skip
    assert result.returncode == 1 and complaint in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "mpi_wrappers.cpp").exists()


@pytest.mark.parametrize("mpi", MPIS)
def test_a_tool_in_front_sees_every_call_too(tmp_path: Path, mpi: str) -> None:
    tool = build(tmp_path, mpi, MPI_TESTS / "pmpi_tool.c", "-shared", "-fPIC")
    program = build(tmp_path, mpi, PROGRAMS / "trace_mpi_messages.c")
    text = launch(mpi, 2, program, tool, recorder(mpi), MARLINE_TRACE_DIR=str(tmp_path / "trace"))
    said = sorted(line for line in text.split("\n") if line.startswith("tool:") and "receives" in line)
    assert said == ["tool: 0 receives, 1 barriers", "tool: 5 receives, 1 barriers"]
    trace = reader.read_trace(tmp_path / "trace")
    names = [call.name for call in seen(trace, 1)]
    # The program's, and the tool's own barrier at the end.
    assert names.count("Recv") == 5 and names.count("Barrier") == 2


@pytest.mark.parametrize("mpi", MPIS)
def test_a_tool_behind_is_reported(tmp_path: Path, mpi: str) -> None:
    tool = build(tmp_path, mpi, MPI_TESTS / "pmpi_tool.c", "-shared", "-fPIC")
    words = {"LD_PRELOAD": f"{recorder(mpi)}:{tool}", "MARLINE_TRACE_DIR": str(tmp_path / "trace")}
    source = tmp_path / "alone.c"
    source.write_text("#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Finalize(); }")
    program = build(tmp_path, mpi, source)
    result = subprocess.run([program], env={**os.environ, **words}, capture_output=True, text=True, timeout=SECONDS,
                            check=True)  # fmt: skip
    told = [line for line in result.stderr.splitlines() if line.startswith("marline-trace:")]
    assert len(told) == 1 and str(tool) in told[0] and "preload it in front" in told[0]
    alone = subprocess.run([program], env={**os.environ, **words, "LD_PRELOAD": str(recorder(mpi)),
                                           "MARLINE_TRACE_DIR": str(tmp_path / "second")},
                           capture_output=True, text=True, timeout=SECONDS, check=True)  # fmt: skip
    assert "marline-trace:" not in alone.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_library_that_never_suspends_is_known_behind_the_recorder(tmp_path: Path, mpi: str) -> None:
    """Its tasks would wait for a lock that their own thread holds: the program would hang."""
    library = build(tmp_path, mpi, MPI_TESTS / "global_library.c", "-shared", "-fPIC").rename(tmp_path / "libglobal.so")
    program = build(tmp_path, mpi, MPI_TESTS / "never_suspend.c", "-fopenmp", str(library))
    folder = BUILD / "lib" / "marline"
    text = launch(mpi, 2, program, recorder(mpi), folder / mpi / "libmarline-mpi.so", BUILD / "lib" / "libmarline.so",
                  MARLINE_TRACE_DIR=str(tmp_path / "trace"), MARLINE_MPI_NEVER_SUSPEND="libglobal",
                  LD_LIBRARY_PATH=str(folder / "compat"))  # fmt: skip
    assert text.count("done") == 2
    table = calls.mpi_calls(reader.read_trace(tmp_path / "trace"))
    for name in ("MPI_Send", "MPI_Recv", "MPI_Allreduce"):
        made = calls.call_mask(table, name)
        assert [int((made & (table.rank == rank)).sum()) for rank in (0, 1)] == [8, 8]
        assert len(set(table.task[made].tolist())) == 16


@pytest.mark.parametrize("mpi", MPIS)
def test_clocks_of_several_machines(tmp_path: Path, mpi: str) -> None:
    machines = build(tmp_path, mpi, PROGRAMS / "trace_mpi_machines.c", "-shared", "-fPIC")
    program = build(tmp_path, mpi, PROGRAMS / "trace_mpi_groups.c")
    trace = record(tmp_path, mpi, 3, program, machines, MACHINES="abb", MPI_TEST_FILE=str(tmp_path / "written"))
    samples = {rank: one["clock_samples"] for rank, one in trace.ranks.items()}
    # Rank 1 was measured for its machine, at the start and at the end; rank 2 shares its counter.
    assert samples[0] == [] and len(samples[1]) == 2 and samples[1] == samples[2]
    for sample in samples[1]:
        assert sample["sent"] <= sample["local"] <= sample["received"]  # in truth it is one counter
    assert samples[1][0]["received"] < samples[1][1]["sent"]
    table = calls.mpi_calls(trace)
    pairs = messages.messages(trace, table)
    assert len(pairs.send) == 4 and (table.end[pairs.receive] >= table.start[pairs.send]).all()


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_that_aborts(tmp_path: Path, mpi: str) -> None:
    source = tmp_path / "abort.c"
    source.write_text("#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD);"
                      "MPI_Abort(MPI_COMM_WORLD, 3); }")  # fmt: skip
    program = build(tmp_path, mpi, source)
    settings = {"LD_PRELOAD": str(recorder(mpi)), "MARLINE_TRACE_DIR": str(tmp_path / "trace")}
    result = subprocess.run([program], env={**os.environ, **settings}, capture_output=True, timeout=SECONDS,
                            check=False)  # fmt: skip
    assert result.returncode != 0
    table = calls.mpi_calls(reader.read_trace(tmp_path / "trace"))
    found = [(events.MPI_CALLS[call], ended) for call, ended in zip(table.call.tolist(), table.returned.tolist())]
    assert found == [("MPI_Init", True), ("MPI_Barrier", True), ("MPI_Abort", False)]


@pytest.mark.parametrize("mpi", MPIS)
def test_what_mpi_4_added(tmp_path: Path, mpi: str) -> None:
    if "MPI_Psend_init" not in mpi_generate.preprocess([f"mpicc.{mpi}"]):
        pytest.skip(f"{mpi} here is older than MPI 4.0")
    trace = record(tmp_path, mpi, 2, build(tmp_path, mpi, PROGRAMS / "trace_mpi_4.c"))
    found = [(call.name, call.peer, call.tag, call.bytes) for call in seen(trace, 0)]
    wait = ("Wait", NONE, NONE, 0)
    free = ("Request_free", NONE, NONE, 0)
    start = ("Start", NONE, NONE, 0)
    assert found[2:-1] == [
        ("Send_c", 1, 1, 12), ("Isendrecv", 1, 2, 8), wait, ("Allreduce_init", NONE, NONE, 16), start, wait, free,
        ("Psend_init", 1, 3, 64), start, ("Pready", NONE, NONE, 0), ("Pready", NONE, NONE, 0), wait, free]  # fmt: skip
    received = next(call for call in seen(trace, 1) if call.name == "Recv_c")
    assert (received.came, received.bytes) == ((0, 1), 12)
    assert rows(trace, 0, "mpi_recv_side", "peer", "tag", "bytes") == [(1, 2, 64)]
    started = calls.requests(trace, calls.mpi_calls(trace))
    assert len(started.call) == 2 * 3 and (started.done >= 0).all()


@pytest.mark.parametrize("mpi", MPIS)
def test_the_programs_attributes_are_copied_only_where_it_asks(tmp_path: Path, mpi: str) -> None:
    program = build(tmp_path, mpi, PROGRAMS / "trace_mpi_attribute.c")
    assert launch(mpi, 2, program, recorder(mpi), MARLINE_TRACE_DIR=str(tmp_path / "trace")) == "copied 1\n"
