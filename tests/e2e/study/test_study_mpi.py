# SPDX-License-Identifier: Apache-2.0
"""studies/mpi.yaml on the real programs, cut to a few of its points: every figure is there, the delay of messages
reaches the programs, and goals are judged for the variants that suspend tasks."""

import json
from pathlib import Path

import pytest
import study_fake
from conftest import run

FILE = Path(__file__).resolve().parents[3] / "studies" / "mpi.yaml"


@pytest.fixture(scope="module")
def measured(build, tmp_path_factory) -> dict[str, dict]:
    """Rows by figure."""
    for program in ("apps/halo-clang19-openmpi", "bench/micro/micro-recv_ready-clang19"):
        if not (build / program).exists():
            pytest.skip(f"{program} is not built")
    folder = tmp_path_factory.mktemp("mpi")
    points = [("slack", "for, libomp"), ("slack", "Marline"), ("recv_ready", "Marline")]
    result = study_fake.measured(FILE, folder, build, *points)
    assert result.returncode == 0, result.stdout + result.stderr
    result = run([build / "bin" / "marline", "study", FILE, "--quick", "-o", folder, "--report-only"])
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads((folder / "results.json").read_text())
    assert document["problems"] == []
    return {row["figure"]: row["variants"] for row in document["results"] if row["program"] != "halo"}


def test_every_figure_is_there(measured):
    assert all(len(measured["growth_in_slack"][name]["samples"]) == 2 for name in ("for, libomp", "Marline"))
    assert measured["ready_in_task"]["Marline"]["status"] == "ok"


def test_overlap_comes_from_recorded_runs(measured):
    assert all(0 < value < 100 for value in measured["overlap"]["Marline"]["samples"])
    assert measured["overlap"]["for, libomp"]["status"] == "ok"


def test_goals_are_judged_for_what_suspends_tasks(measured):
    judged = {name for name, cell in measured["growth_in_slack"].items() if "goal_met" in cell}
    assert judged == {"Marline"}
