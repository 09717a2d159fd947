# SPDX-License-Identifier: Apache-2.0
"""What the tests of the MPI recorder share: programs built by each MPI's own wrapper, run under the recorder, and their
trace as plain lists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from conftest import SECONDS

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release")).resolve()
PROGRAMS = Path(__file__).parent / "programs"
MPIS = [mpi for mpi in ("openmpi", "mpich") if shutil.which(f"mpirun.{mpi}")]
sys.path.insert(0, str(ROOT / "python"))

from marline.trace.read import calls, events, reader  # noqa: E402
from marline.trace.read.records import Trace  # noqa: E402


def build(folder: Path, mpi: str, source: Path, *flags: str, wrapper: str = "mpicc") -> Path:
    output = folder / source.stem
    # The wrapper's linker may be told of libraries that the compiler does not need; the order is the wrapper's.
    subprocess.run([f"{wrapper}.{mpi}", "-O1", "-g", str(source), "-o", str(output), *flags], check=True, cwd=folder,
                   timeout=SECONDS)  # fmt: skip
    return output


def recorder(mpi: str) -> Path:
    return BUILD / "lib" / "marline" / mpi / "libmarline-trace.so"


def launch(mpi: str, ranks: int, program: Path, *preload: Path, **settings: str) -> str:
    """Runs it with these libraries in front and returns what it printed; the environment is the launcher's too."""
    dropped = ("OMP_", "MARLINE_", "LD_PRELOAD", "OMPI_COMM", "PMI_", "PMIX_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
             "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}  # fmt: skip
    words = [f"LD_PRELOAD={':'.join(str(library) for library in preload)}"]
    words += [f"{name}={value}" for name, value in settings.items()]
    result = subprocess.run([f"mpirun.{mpi}", "-n", str(ranks), "env", *words, str(program)], env=kept, text=True,
                            capture_output=True, timeout=SECONDS, check=False)  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def record(folder: Path, mpi: str, ranks: int, program: Path, *preload: Path, **settings: str) -> Trace:
    launch(mpi, ranks, program, *preload, recorder(mpi), MARLINE_TRACE_DIR=str(folder / "trace"), **settings)
    return reader.read_trace(folder / "trace")


@dataclass(frozen=True)
class Seen:
    """One call as the trace has it. `came` is what the exit says of source and tag; comm is the rank's own number."""

    name: str
    peer: int
    tag: int
    bytes: int
    came: tuple[int, int]
    comm: int


def seen(trace: Trace, rank: int) -> list[Seen]:
    table = calls.mpi_calls(trace)
    assert table.returned.all()
    order = np.flatnonzero(table.rank == rank)
    order = order[np.argsort(table.start[order], kind="stable")]
    return [Seen(events.MPI_CALLS[int(table.call[row])].removeprefix("MPI_"), int(table.peer[row]), int(table.tag[row]),
                 int(table.bytes[row]), (int(table.source[row]), int(table.received_tag[row])), int(table.comm[row]))
            for row in order]  # fmt: skip


def rows(trace: Trace, rank: int, name: str, *fields: str) -> list[tuple[int, ...]]:
    """The records of one kind on one rank, in the order of time."""
    found = trace.select(name)
    found = found[trace.rank[found] == rank]
    found = found[np.argsort(trace.time[found], kind="stable")]
    return list(zip(*(trace.field(name, field, found).tolist() for field in fields)))


def identities(trace: Trace, rank: int) -> dict[int, int]:
    return {comm: identity for comm, identity in rows(trace, rank, "mpi_comm", "comm", "identity")}
