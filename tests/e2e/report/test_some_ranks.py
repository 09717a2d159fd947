# SPDX-License-Identifier: Apache-2.0
"""The records of some ranks only. MARLINE_TRACE_RANKS: some ranks record, all are known. `--here`: those of one node
are read, and `--merge` makes one report of such parts, whose sums are those of a report of all. What takes all ranks is
left out and not wrong. Real ranks, whether their launcher numbers them or only MPI does; and traces by hand."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import SECONDS, clean_environment

from handmade_ranks import two_ranks
from handmade_samples import MS, write_sampled_ranks
from in_process import document_of, report
from marline.trace.read import reader
from trace_mpi_support import BUILD, MPIS, ROOT, build, launch, recorder

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


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that names a region."""
    program = tmp_path_factory.mktemp("region") / "program"
    source = '#include <marline/trace.h>\nint main(void) { marline_region_begin("a"); marline_region_end(); }'
    subprocess.run(["gcc", "-xc", "-", f"-I{ROOT / 'include'}", "-o", program], check=True, text=True, input=source)
    return program


@pytest.mark.parametrize(("value", "rest"), [("x", "x"), ("0,3-1", "3-1"), ("0-:0", "0-:0")])
def test_list_that_cannot_be_read(region: Path, tmp_path: Path, value: str, rest: str) -> None:
    library = BUILD / "lib" / "marline" / "libmarline-trace.so"
    result = subprocess.run([region], capture_output=True, text=True, check=False, env=clean_environment(
        LD_PRELOAD=str(library), MARLINE_TRACE_DIR=str(tmp_path / "trace"), MARLINE_TRACE_RANKS=value))  # fmt: skip
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


# Reports of single nodes, and one report made of them ----------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each of the two ranks ran on a node of its own."""
    return parts_of(two_ranks(tmp_path / "trace"), tmp_path, monkeypatch)


def parts_of(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    files = [tmp_path / f"part{rank}.json" for rank in range(2)]
    for rank, file in enumerate(files):
        monkeypatch.setattr(reader, "file_of_this_node", lambda rank=rank: f"rank{rank:04}.mtr")
        result = report(folder, "--here", "--json")
        assert result.returncode == 0, result.stderr
        file.write_text(result.stdout)
    return files


def test_part_is_of_one_node(parts: list[Path]) -> None:
    first = json.loads(parts[0].read_text())
    assert [row["rank"] for row in first["ranks"]] == [0] and first["program"]["ranks_left_out"] == 1
    assert [line.partition(":")[0] for line in first["incomplete"]] == ["1 rank of 2 on other nodes, not read (--here)"]


def test_sums_of_the_parts_are_those_of_the_whole(parts: list[Path], tmp_path: Path) -> None:
    whole = document_of(tmp_path / "trace")
    merged = json.loads(report("--merge", *parts, "--json").stdout)
    assert merged["format"] == "marline-merged 1" and merged["program"] == whole["program"]
    assert [row["rank"] for row in merged["ranks"]] == [0, 1] and merged["incomplete"] == []
    assert merged["total"]["work_ns"] == whole["total"]["work_ns"] == 240 and merged["total"]["threads"] == 3
    assert merged["graph"] == {"tasks": 4, "edges": 1}
    kinds, all_kinds = ({kind["name"]: kind for kind in document["kinds"]} for document in (merged, whole))
    assert kinds == all_kinds and len(kinds) == 2
    sums = {row["name"]: (row["calls"], row["total_ns"], row["bytes"]) for row in merged["mpi"]["functions"]}
    assert sums == {"MPI_Recv": (1, 30, 64), "MPI_Send": (1, 10, 64)}
    assert merged["total"]["causes"]["work_body"] == 240


def test_samples_of_the_parts_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trace").mkdir()
    parts = parts_of(write_sampled_ranks(tmp_path / "trace"), tmp_path, monkeypatch)
    monkeypatch.undo()
    merged = json.loads(report("--merge", *parts, "--json").stdout)["samples"]
    assert merged == document_of(tmp_path / "trace")["samples"]
    assert (merged["samples"], merged["time_ns"]) == (3, 7 * MS)
    assert [(row["name"], row["own_ns"], row["samples"]) for row in merged["functions"][:2]] == [
        ("other", 6 * MS, 2), ("body", MS, 1)]  # fmt: skip
    said = report("--merge", *parts).stdout
    assert "functions by time (3 samples)" in said and "other app.c:30" in said


def test_merged_text_says_what_it_cannot_know(parts: list[Path]) -> None:
    result = report("--merge", *parts)
    said = " ".join(result.stdout.split())
    assert result.returncode == 0 and "2 ranks x 1-2 threads" in said and "trsm" in said and "MPI_Recv" in said
    assert "not known efficiency, critical path" in said and "no part has" not in said
    alone = " ".join(report("--merge", parts[0]).stdout.split())
    assert "no part has rank 1: figures are of the others" in alone


def test_ranks_of_no_part_are_named(parts: list[Path]) -> None:
    """One that a part does not know, as another node described it later; and many."""
    for file, left_out in zip(parts, ([1, 2, 3, 4, 7], [0, 2, 3, 4])):
        part = json.loads(file.read_text())
        part["program"] |= {"left_out": left_out, "ranks_left_out": len(left_out)}
        file.write_text(json.dumps(part))
    assert json.loads(report("--merge", *parts, "--json").stdout)["program"]["left_out"] == [2, 3, 4, 7]
    assert "no part has ranks 2-4, 7: " in " ".join(report("--merge", *parts).stdout.split())


@pytest.mark.parametrize(("words", "message"), [
    (["part0.json", "part0.json"], "rank 0 is in two of the parts"),
    (["part0.json", "other.json"], "other.json is of another run than part0.json"),
    (["part0.json", "text.json"], "text.json: not a report"),
    (["part0.json", "empty.json"], "empty.json: format None, expected 'marline-report 1'"),
    (["none.json"], "none.json: No such file"),
])
def test_parts_that_do_not_go_together(parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                       words: list[str], message: str) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    other = json.loads(parts[1].read_text())
    other["program"]["exe"] = "/there/other"
    Path("other.json").write_text(json.dumps(other))
    Path("text.json").write_text("no JSON")
    Path("empty.json").write_text("{}")
    result = report("--merge", *words)
    assert result.returncode == 125 and message in result.stderr and len(result.stderr.splitlines()) == 1


def test_options_that_do_not_go_together(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert report(tmp_path / "trace", "--merge", *parts).returncode == 2
    assert report("--merge", *parts, "--csv").returncode == 2
    refused = report(tmp_path / "trace", tmp_path / "trace", "--here")
    assert "--here describes one trace" in refused.stderr
    monkeypatch.setattr(reader, "file_of_this_node", lambda: "node.other.mtr")
    refused = report(tmp_path / "trace", "--here")
    assert refused.returncode == 125 and "holds no records of this node (node.other.mtr)" in refused.stderr


def test_recorder_and_reader_name_the_file_alike(region: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    subprocess.run([region], check=True, timeout=SECONDS, env=clean_environment(
        LD_PRELOAD=str(BUILD / "lib" / "marline" / "libmarline-trace.so"), MARLINE_TRACE_DIR=str(folder)))
    trace = reader.read_trace(folder, here=True)
    assert trace.left_out() == [] and len(trace.time) > 0
    assert document_of(folder, "--here")["regions"][0]["name"] == "a"
