# SPDX-License-Identifier: Apache-2.0
"""bench/run.py: real programs give a table and a JSON document; a program that is wrong, crashes, hangs, answers with
nonsense or runs on another runtime than it was meant for is reported and is never a data point.

The bad programs are scripts in a build tree made up for the test, under the names that run.py looks for.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
LIBGOMP = "/usr/lib/x86_64-linux-gnu/libgomp.so.1"
GOOD = f"echo '# runtime {LIBGOMP}'; echo 'chain 500.0 ns'"


def bench(build: Path, tmp_path: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], dict]:
    out = tmp_path / "bench.json"
    result = subprocess.run([sys.executable, str(ROOT / "bench" / "run.py"), "--build", str(build), "--quick",
                             "--json", str(out), *arguments], capture_output=True, text=True, timeout=120, check=False)
    return result, json.loads(out.read_text()) if out.exists() else {}


def fake_build(tmp_path: Path, script: str) -> Path:
    """A build tree with a good hand-over program and `script` as the GCC build of chains."""
    folder = tmp_path / "build" / "bench" / "micro"
    folder.mkdir(parents=True)
    for name, body in (("micro-handover", "echo 'handover 80.0 ns'"), ("micro-chains-gcc12", script)):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return tmp_path / "build"


def chain_of(document: dict) -> dict:
    rows = [row for row in document["results"] if row["figure"] == "chain"]
    assert len(rows) == 1
    return rows[0]["variants"]["gcc12+libgomp"]


def test_real_programs_give_table_and_json(tmp_path: Path) -> None:
    result, document = bench(BUILD, tmp_path, "--repeats", "2", "--only", "chains", "forkjoin")
    assert result.returncode == 0, result.stdout + result.stderr
    assert document["problems"] == []
    assert document["handover_ns"]["least"] > 0
    assert document["machine"]["cpu"] and document["machine"]["kernel"]
    assert [row["figure"] for row in document["results"]] == ["chain", "region"]
    for row in document["results"]:
        measured = {name: v for name, v in row["variants"].items() if v["status"] == "ok"}
        assert measured, result.stdout
        for name, variant in measured.items():
            assert len(variant["samples"]) == 2 and min(variant["samples"]) > 0
            assert name.split("+")[1] in Path(variant["remarks"]["runtime"]).name or name.endswith("+marline")
        line = next(line for line in result.stdout.splitlines() if line.startswith(row["figure"] + " "))
        shown = re.search(r"([\d.,]+) ±\d+%", line)
        assert shown, result.stdout
        first = next(iter(measured.values()))
        assert float(shown.group(1).replace(",", "")) == pytest.approx(first["median"], abs=0.51)


def test_good_fake_is_measured(tmp_path: Path) -> None:
    """The control for the tests below: the same made-up tree, with a program that does nothing wrong."""
    result, document = bench(fake_build(tmp_path, GOOD), tmp_path, "--repeats", "2", "--only", "chains")
    assert result.returncode == 0, result.stdout + result.stderr
    assert chain_of(document) == {"status": "ok", "runs": 2, "samples": [500.0, 500.0], "deviation": 0.0,
                                  "median": 500.0, "ratio_to_best_peer": 1.0, "remarks": {"runtime": LIBGOMP}}
    assert "skipped: clang19+libomp" in result.stdout


@pytest.mark.parametrize(("script", "reason"), [
    (f"{GOOD}; echo 'bench: chain: wrong result after 4 rounds' >&2; exit 1", "wrong result after 4 rounds"),
    (f"{GOOD}; kill -SEGV $$", "signal SIGSEGV"),
    (f"{GOOD}; echo 'chain is fine'", "cannot read its output"),
    (f"{GOOD.replace('500.0', 'nan')}", "cannot read its output"),
    (f"echo '# runtime {LIBGOMP}'", "printed no figure"),
    (f"echo '# runtime {LIBGOMP}'; echo 'other 1.0 ns'", "did not print chain"),
    (GOOD.replace("libgomp", "libomp"), "meant for libgomp, but"),
    ("echo 'chain 500.0 ns'", "an unnamed library"),
])
def test_bad_program_is_no_data_point(tmp_path: Path, script: str, reason: str) -> None:
    result, document = bench(fake_build(tmp_path, script), tmp_path, "--repeats", "2", "--only", "chains")
    assert result.returncode == 1
    variant = chain_of(document)
    assert variant["status"] == "failed" and variant["median"] is None and "samples" not in variant
    assert reason in variant["problems"][0]
    assert "FAILED 2/2" in result.stdout and reason in result.stdout


def test_one_bad_run_spoils_the_median(tmp_path: Path) -> None:
    flag = tmp_path / "ran"
    script = f"if [ -e {flag} ]; then exit 3; fi; touch {flag}; {GOOD}"
    result, document = bench(fake_build(tmp_path, script), tmp_path, "--repeats", "2", "--only", "chains")
    assert result.returncode == 1
    assert chain_of(document)["samples"] == [500.0] and chain_of(document)["median"] is None
    assert "FAILED 1/2" in result.stdout


def living_processes(group: int) -> list[str]:
    """The process group's members that have not ended (a zombie has), as lines of /proc/PID/stat."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        state, _, member_of = text.rsplit(")", 1)[1].split()[:3]
        if int(member_of) == group and state != "Z":
            found.append(text)
    return found


def test_hang_is_cut_once_and_leaves_nothing(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; {GOOD}; sleep 600 & wait"
    start = time.monotonic()
    result, document = bench(fake_build(tmp_path, script), tmp_path, "--repeats", "3", "--limit", "1",
                             "--only", "chains")
    assert time.monotonic() - start < 20
    assert result.returncode == 1
    variant = chain_of(document)
    assert variant["status"] == "hang" and variant["runs"] == 1 and variant["median"] is None
    assert "HANG" in result.stdout and "cut after 1 s" in result.stdout
    assert living_processes(int(pid.read_text())) == []


def test_nothing_built_is_said(tmp_path: Path) -> None:
    result, document = bench(tmp_path, tmp_path, "--only", "chains")
    assert result.returncode == 2 and document == {}
    assert "build the benchmarks first" in result.stderr


def test_unknown_name_is_refused(tmp_path: Path) -> None:
    result, _ = bench(BUILD, tmp_path, "--only", "chians")
    assert result.returncode == 2 and "no benchmark or figure is called chians" in result.stderr
