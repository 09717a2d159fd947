# SPDX-License-Identifier: Apache-2.0
"""bench/instructions.py: the committed instruction counts hold, and the gate shuts when a figure grows."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(ROOT / "bench"))

import instructions  # noqa: E402  (the path above is what finds it)


def gate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "bench" / "instructions.py"), "--build", str(BUILD), *arguments],
                          capture_output=True, text=True, timeout=SECONDS, check=False)


def test_committed_figures_hold() -> None:
    result = gate()
    assert result.returncode == 0, result.stdout + result.stderr


def test_counts_of_a_peer_are_plausible() -> None:
    """The tool itself, on a runtime that we did not write: a task with dependences costs more than an empty one."""
    result = gate("--runtime", "libgomp")
    assert result.returncode == 0, result.stderr
    counts = {line.split()[0]: float(line.split()[2]) for line in result.stdout.splitlines()}
    assert 100 < counts["task_one_deferred"] < counts["chain"] < counts["wavefront"] < 20000


@pytest.mark.parametrize(("measured", "problems"), [
    ({"chain gcc12": 104.9}, 0),
    ({"chain gcc12": 50.0}, 0),
    ({"chain gcc12": 105.1}, 1),
    ({"chain gcc12": 100.0, "fib gcc12": 1.0}, 1),
    ({}, 1),
])
def test_gate_shuts_when_a_figure_grows(measured: dict[str, float], problems: int) -> None:
    assert len(instructions.compare(measured, {"chain gcc12": 100.0}, 0.05)) == problems


def test_check_says_how_to_update(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "instructions.json"
    path.write_text(json.dumps({"tolerance": 0.05, "instructions": {"chain gcc12": 100.0}}))
    assert instructions.check({"chain gcc12": 150.0}, path) == 1
    said = capsys.readouterr().err
    assert "chain gcc12: 150.0 instructions, committed 100.0 (+50.0 %" in said and "--update" in said
