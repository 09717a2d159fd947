# SPDX-License-Identifier: Apache-2.0
"""The guide's program that exchanges rows between GPUs (docs/guide/programs/gpu_halo.c), under each command that starts
programs, on emulated GPUs and with a stand-in for a GPU-aware MPI (tests/mpi/devices/gpu_aware.c). The commands read
and write no buffer of a message: the host cannot touch a GPU's memory, so one that did would end the program."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CROWDED, Result, emulated_gpus

MPIS = ("openmpi", "mpich")


@pytest.fixture(params=MPIS)
def halo(request: pytest.FixtureRequest, build: Path) -> Path:
    path = build / "tests" / "mpi" / "bin" / f"mpi_gpu_halo-{request.param}"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture
def heat(halo: Path, marline: Callable[..., Result], build: Path) -> Callable[..., tuple[float, Result]]:
    """What the plate holds at the end, as the program prints it, and all that it has said."""

    def run(command: str, ranks: int, *options: str, **changes: str) -> tuple[float, Result]:
        environment = emulated_gpus(build, 2, OMP_TARGET_OFFLOAD="mandatory", **CROWDED, **changes)
        result = marline(command, "-n", str(ranks), *options, "--", halo, **environment)
        found = re.search(r"^heat ([0-9.]+)$", result.stdout, re.MULTILINE)
        assert result.returncode == 0 and found, result.stdout + result.stderr
        return float(found[1]), result

    return run


def test_two_gpus_have_the_heat_of_one(heat):
    alone, _ = heat("run", 1, "-t", "2")
    assert alone > 0
    for ranks, threads in ((2, 1), (3, 2)):
        together, _ = heat("run", ranks, "-t", str(threads))
        assert together == pytest.approx(alone, rel=1e-9)


def test_check_finds_nothing(heat):
    _, result = heat("check", 2, "-t", "2")
    assert "marline: check: no task was suspended under a mutex" in result.stderr, result.stderr


def test_trace_has_the_messages(heat, marline, tmp_path):
    trace = tmp_path / "halo.trace"
    _, _ = heat("trace", 2, "-t", "2", "-o", str(trace))
    report = marline("report", "--json", trace)
    assert report.returncode == 0, report.stderr
    assert "MPI_Recv" in json.dumps(json.loads(report.stdout)), report.stdout
