# SPDX-License-Identifier: Apache-2.0
"""`make bench`: studies/micro.yaml on the real programs gives medians of every figure, goals in hand-overs, and a
runtime that served each run; a program that runs on another runtime than it was meant for is no data point."""

import json
import os
import shutil
from pathlib import Path

import pytest
import study_fake
from conftest import Result, run
from study_fake import forked, write_handover

ROOT = Path(__file__).resolve().parents[3]
LIBGOMP = "/usr/lib/x86_64-linux-gnu/libgomp.so.1"
FILE = ROOT / "studies" / "micro.yaml"
WORDS = ("study", FILE, "--quick", "-o")


def bench(prefix: Path, folder: Path, *words: str) -> tuple[Result, dict]:
    result = forked([*WORDS, folder, *words], prefix, prefix)
    document = folder / "results.json"
    return result, json.loads(document.read_text()) if document.exists() else {}


@pytest.fixture(scope="module")
def measured(build, tmp_path_factory) -> tuple[Result, dict]:
    """Of the real programs but for the hand-over, which is steady: how many samples count is the machine's affair."""
    folder, tree = tmp_path_factory.mktemp("micro"), fake_build(build, tmp_path_factory.mktemp("tree"))
    for program in (build / "bench" / "micro").glob("micro-*"):
        if program.name != "micro-handover":
            (tree / "bench" / "micro" / program.name).symlink_to(program)
    result = study_fake.measured(FILE, folder, tree, ("handover",), ("chain",), ("region",), ("recv_*",))
    assert result.returncode == 0, result.stdout + result.stderr
    result = run([tree / "bin" / "marline", *WORDS, folder, "--report-only"])
    return result, json.loads((folder / "results.json").read_text())


def test_real_programs_give_a_table_and_samples(measured):
    result, document = measured
    assert result.returncode == 0 and document["problems"] == []
    rows = {row["figure"]: row for row in document["results"]}
    for figure in ("chain", "region", "recv_plain", "recv_in_task"):
        good = {name: cell for name, cell in rows[figure]["variants"].items() if cell["status"] == "ok"}
        assert good, result.stdout
        assert all(len(cell["samples"]) == 3 and min(cell["samples"]) > 0 for cell in good.values())
        assert any(line.startswith(figure + " ") for line in result.stdout.splitlines())
    assert rows["fib"]["variants"]["gcc12+libgomp"]["status"] == "not run"


def test_goals_are_judged_for_marline_only(measured):
    rows = {row["figure"]: row for row in measured[1]["results"]}
    h = min(rows["handover"]["variants"]["machine"]["samples"])
    assert rows["region"]["goal"] == pytest.approx(8 * h) and rows["chain"]["goal"] == 250
    judged = {name for name, cell in rows["region"]["variants"].items() if "goal_met" in cell}
    assert judged and all(name.endswith("+marline") for name in judged)


def fake_build(build: Path, folder: Path) -> Path:
    """A build tree with Marline's libraries, and a steady hand-over time as its only program."""
    write_handover(folder, 50.0)
    shutil.copytree(build / "lib", folder / "lib", copy_function=os.symlink, symlinks=True)
    # What finds the tree from its own place is no link.
    (folder / "lib" / "marline" / "marline-python").unlink()
    shutil.copy(build / "lib" / "marline" / "marline-python", folder / "lib" / "marline" / "marline-python")
    (folder / "bin").mkdir()
    shutil.copy(build / "bin" / "marline", folder / "bin" / "marline")
    return folder


def fake_chains(build: Path, folder: Path, script: str) -> Path:
    """The same with `script` as the GCC build of chains."""
    program = fake_build(build, folder) / "bench" / "micro" / "micro-chains-gcc12"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(("script", "reason"), [
    (f"echo '# runtime {LIBGOMP}'; echo 'chain 500.0 ns'", ""),
    ("echo 'chain 500.0 ns'", "it loaded no OpenMP runtime and printed no '# runtime PATH'"),
    ("echo '# runtime /usr/lib/libomp.so.5'; echo 'chain 500.0 ns'", "meant for libgomp, but libomp.so.5 (libomp)"),
    (f"echo '# runtime {LIBGOMP}'; echo 'chain 500.0 ns'; kill -SEGV $$", "signal SIGSEGV"),
    ("echo 'bench: chain: wrong result after 4 rounds' >&2; exit 1", "exit status 1: bench: chain: wrong result"),
])  # fmt: skip
def test_only_a_right_answer_on_the_right_runtime_counts(build, tmp_path, script, reason):
    tree = fake_chains(build, tmp_path / "tree", script)
    result, document = bench(tree, tmp_path / "out", "--only", "chain", "--only", "gcc12+libgomp")
    cell = next(row for row in document["results"] if row["figure"] == "chain")["variants"]["gcc12+libgomp"]
    if reason:
        assert result.returncode == 1 and cell["status"] == "failed" and "samples" not in cell
        assert reason in cell["reason"] and "FAILED 3/3" in result.stdout
    else:
        assert result.returncode == 0 and cell["samples"] == [500.0] * 3
