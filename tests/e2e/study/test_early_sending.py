# SPDX-License-Identifier: Apache-2.0
"""Priorities end to end: a Cholesky factorisation on two ranks of one thread sends earlier with MARLINE_PRIORITY.
Judged by the order of tasks in the trace, never by times."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
from early_sending import Run

ORDER, TILE = 512, 32


@pytest.fixture
def factorise(marline: Callable, program: Callable[[str], str], tmp_path: Path) -> Callable[..., Run]:
    """factorise("openmpi", MARLINE_PRIORITY="SA") is the recorded run."""

    def run(mpi: str, **environment: str) -> Run:
        folder = tmp_path / f"trace-{len(list(tmp_path.iterdir()))}"
        command = [program(f"cholesky-gcc12-{mpi}"), "-n", ORDER, "-b", TILE, "-p", "2x1", "--no-check"]
        result = marline("run", "-n", "2", "-t", "1", "--trace", folder, "--", *command, **environment)
        assert result.returncode == 0, result.stderr
        return Run.read(folder, ORDER, TILE)

    return run


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
def test_what_leads_to_a_send_comes_first(factorise: Callable[..., Run], mpi: str) -> None:
    """SA: the first panel, which needs nothing of other ones, is sent as a whole before any update. Without, an update
    follows the tile that makes it possible, as caches like it."""
    with_priorities, without = factorise(mpi, MARLINE_PRIORITY="SA"), factorise(mpi)
    assert [with_priorities.between(rank)[0] for rank in (0, 1)] == [0, 0]
    assert without.between(0)[0] >= 15
    assert with_priorities.between(0).sum() + with_priorities.between(1).sum() < sum(
        without.between(rank).sum() for rank in (0, 1)
    )


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
def test_tasks_that_send_are_recognised(factorise: Callable[..., Run], mpi: str) -> None:
    """FA, where the oldest task is first otherwise: once the rank has sent, tasks that send overtake all others.
    Creation is kept close to execution, so that there are such tasks after that."""
    common = {"MARLINE_SCHEDULE": "fifo", "MARLINE_MAX_TASKS": "250"}
    without = factorise(mpi, **common)
    for _ in range(3):  # how many such tasks there are depends on who is ahead, on a machine with other load
        learnt = factorise(mpi, MARLINE_PRIORITY="FA", **common)
        if all(len(learnt.waits(rank)) > 10 for rank in (0, 1)):
            break
    for rank in (0, 1):
        assert len(learnt.waits(rank)) > 10
        assert learnt.waits(rank).max() == 0
        assert without.waits(rank).mean() > 1
