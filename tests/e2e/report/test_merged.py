# SPDX-License-Identifier: Apache-2.0
"""Reports of single nodes (`--here`), and one report made of them (`--merge`): sums are those of a report of all."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment

from handmade_ranks import two_ranks  # first: it finds marline
from in_process import document_of, report
from marline.trace.read import reader
from trace_mpi_support import BUILD, ROOT


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each of the two ranks ran on a node of its own."""
    folder = two_ranks(tmp_path / "trace")
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


def test_merged_text_says_what_it_cannot_know(parts: list[Path]) -> None:
    result = report("--merge", *parts)
    said = " ".join(result.stdout.split())
    assert result.returncode == 0 and "2 ranks x 1-2 threads" in said and "trsm" in said and "MPI_Recv" in said
    assert "not known efficiency, critical path" in said and "in none of the parts" not in said
    alone = " ".join(report("--merge", parts[0]).stdout.split())
    assert "1 ranks are in none of the parts" in alone


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


def test_recorder_and_reader_name_the_file_alike(tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = '#include <marline/trace.h>\nint main(void) { marline_region_begin("a"); marline_region_end(); }'
    subprocess.run(["gcc", "-xc", "-", f"-I{ROOT / 'include'}", "-o", program], check=True, text=True, input=source)
    subprocess.run([program], check=True, timeout=SECONDS, env=clean_environment(
        LD_PRELOAD=str(BUILD / "lib" / "marline" / "libmarline-trace.so"),
        MARLINE_TRACE_DIR=str(tmp_path / "trace")))  # fmt: skip
    trace = reader.read_trace(tmp_path / "trace", here=True)
    assert trace.left_out() == [] and len(trace.time) > 0
    assert document_of(tmp_path / "trace", "--here")["regions"][0]["name"] == "a"
