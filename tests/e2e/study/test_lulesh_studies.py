# SPDX-License-Identifier: Apache-2.0
"""The studies of LULESH in their quick form, a point or two of each: real programs give the figures that the tables
ask for, and the figures are what the study says of them. No time is judged."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CROWDED
from study_fake import forked

ROOT = Path(__file__).resolve().parents[3]
Cells = dict[tuple[str, str], float]


@pytest.fixture
def measured(build: Path, tmp_path: Path) -> Callable[..., Cells]:
    """measured("lulesh_grain", "tasks=16", "*nowait"): medians by figure and input, of the one variant that fits."""

    def of(study: str, *patterns: str) -> Cells:
        chosen = [word for pattern in patterns for word in ("--only", pattern)]
        words = ["study", ROOT / "studies" / f"{study}.yaml", "--quick", "-o", tmp_path, *chosen]
        result = forked(words, build, tmp_path, **CROWDED)
        assert result.returncode == 0, result.stdout + result.stderr
        rows = json.loads((tmp_path / "results.json").read_text())["results"]
        return {(row["figure"], variant + "".join(f" {key}={value}" for key, value in row["parameters"].items())):
                cell["spread"]["median"] for row in rows for variant, cell in row["variants"].items()
                if "spread" in cell}  # fmt: skip

    return of


def only(cells: Cells, figure: str) -> float:
    (value,) = (value for (name, _), value in cells.items() if name == figure)
    return value


def test_grain(measured):
    cells = measured("lulesh_grain", "tasks=16", "*nowait")
    assert only(cells, "granularity_us") * 3 * 81 == pytest.approx(2e6 * only(cells, "elapsed_s"), rel=1e-3)
    assert only(cells, "work") > 0 and only(cells, "inflation") == 0 and only(cells, "fom") > 0


def test_discovery(measured):
    cells = measured("lulesh_discovery", "known", "(a)+(b)")
    assert only(cells, "edges") > 0
    assert only(cells, "before_filtering") > 10 * only(cells, "dependences") > 1000


def test_creations_that_take_longer(measured):
    cells = measured("lulesh_discovery", "slow", "all")
    (slow,) = (value for (name, place), value in cells.items() if name == "discovery_s" and "creation=18" in place)
    assert slow >= 18e-6 * 3 * 81


def test_hashing(measured):
    """Blocks are powers of two apart, which a function that takes an address's low bits cannot tell apart."""
    def collisions(variant: str) -> float:
        return only(measured("lulesh_hashing", "tasks=16", variant), "collisions")

    assert collisions("mix") < collisions("div_8")


def test_loops(measured):
    cells = measured("lulesh_loops", "gcc12", "size=6")
    assert len(cells) == 42 and min(cells.values()) >= 0
    assert only(cells, "loop_hourglass_forces") > only(cells, "loop_hydro_limit") > 0


def test_overlap(measured):
    cells = measured("lulesh_overlap", "tasks, Marline")
    assert 0 <= only(cells, "overlap") <= 100 and 0 <= only(cells, "overlap_collectives") <= 100
    assert only(cells, "collectives") >= 8 * 100e-6


def test_scaling(measured):
    cells = measured("lulesh_scaling", "weak", "tasks clang19+marline")
    assert {place.split("ranks=")[1][0] for name, place in cells if name == "us_per_element"} == {"1", "8"}


def test_forms(measured):
    assert len(measured("lulesh_forms", "edge_45", "tasks *")) == 4
    assert len(measured("lulesh_forms", "persistent *")) == 3


def test_large(measured):
    assert len(measured("lulesh_large", "tasks *")) == 1


def test_fugaku(measured, tmp_path):
    measured("fugaku", "lulesh", "*+marline, mpich")
    table = (tmp_path / "README.md").read_text().split("### Which programs end\n\n")[1].splitlines()
    assert table[2] == "| lulesh | all end | all end |"
