# SPDX-License-Identifier: Apache-2.0
"""MARLINE_TRACE_RANKS: some ranks record, all are known; what takes all ranks is left out of the report and not wrong.
Real ranks, whether their launcher numbers them or only MPI does; and a trace by hand."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import SECONDS, clean_environment

from handmade_ranks import two_ranks
from in_process import document_of, report
from trace_mpi_support import BUILD, MPIS, PROGRAMS, build, launch, reader, recorder

RANKS = 3
RING = """
#include <mpi.h>
int main(void) {
  int rank, size, value = 0;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("mpi", MPIS[:1])
def test_ranks_that_are_left_out_leave_a_description(tmp_path: Path, mpi: str) -> None:
    (tmp_path / "ring.c").write_text(RING)
    program, folder = build(tmp_path, mpi, tmp_path / "ring.c"), tmp_path / "trace"
    launch(mpi, RANKS, program, recorder(mpi), MARLINE_TRACE_DIR=str(folder), MARLINE_TRACE_RANKS="0-:2")
    found = [json.loads((folder / f"rank{rank:04}.json").read_text()) for rank in range(RANKS)]
    assert [one["recorded"] for one in found] == [True, False, True] and {one["size"] for one in found} == {RANKS}
    trace = reader.read_trace(folder)
    assert np.unique(trace.rank).tolist() == [0, 2] and sorted(trace.ranks) == [0, 1, 2]
    assert len(list(folder.glob("*.mtr"))) == 1
    # Without a launcher, only MPI says the rank: what was recorded until then does not count.
    alone = tmp_path / "alone"
    subprocess.run([program], check=True, timeout=SECONDS, env=clean_environment(
        LD_PRELOAD=str(recorder(mpi)), MARLINE_TRACE_DIR=str(alone), MARLINE_TRACE_RANKS="1-"))  # fmt: skip
    refused = report(alone)
    assert refused.returncode == 125 and "MARLINE_TRACE_RANKS names no rank of this run (0 to 0)" in refused.stderr


@pytest.mark.parametrize(("value", "rest"),
                         [("x", "x"), ("3-1", "3-1"), ("1,,2", ",2"), ("0-:0", "0-:0"), ("-1", "-1")])
def test_list_that_cannot_be_read(tmp_path: Path, value: str, rest: str) -> None:
    program = tmp_path / "program"
    source = '#include <marline/trace.h>\\nint main(void) { marline_region_begin("a"); marline_region_end(); }'
    subprocess.run(["gcc", "-xc", "-", f"-I{PROGRAMS.parents[2] / 'include'}", "-o", program], check=True, text=True,
                   input=source.replace("\\n", "\n"))  # fmt: skip
    library = BUILD / "lib" / "marline" / "libmarline-trace.so"
    result = subprocess.run([program], capture_output=True, text=True, check=False,
                            env={"LD_PRELOAD": str(library), "MARLINE_TRACE_DIR": str(tmp_path / "trace"),
                                 "MARLINE_TRACE_RANKS": value})  # fmt: skip
    assert result.returncode == 2 and f'from "{rest}" on: expected a list of ranks' in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_takes_all_ranks_is_left_out(tmp_path: Path) -> None:
    """Rank 1 of two was not recorded. Of rank 0, breakdown and tables stay what they were."""
    whole = document_of(two_ranks(tmp_path))
    path = tmp_path / "rank0001.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"recorded": False}))
    part = document_of(tmp_path)
    assert [row["rank"] for row in whole["ranks"]] == [0, 1] and part["program"]["ranks_left_out"] == 1
    assert [row["work_ns"] for row in part["ranks"]] == [whole["ranks"][0]["work_ns"]]
    assert part["causes"] == [] or "expected" not in part["causes"][0]
    said = " ".join(report(tmp_path).stdout.split())
    assert "they need all ranks, and the records of 1 of 2 are not here" in said
    assert "1 rank of 2 not recorded (MARLINE_TRACE_RANKS)" in said
    assert not any(word in said for word in ("bounded by", "at a time, on average", "at best", "parallel "))
    refused = report(tmp_path, "--what-if", "network x0")
    assert refused.returncode == 125 and "needs all ranks, and the records of 1 are not here" in refused.stderr
