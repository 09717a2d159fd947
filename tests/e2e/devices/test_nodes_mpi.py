# SPDX-License-Identifier: Apache-2.0
"""Devices on other nodes for programs that use MPI: each rank has workers of its own, and MPI does not see them."""

import os
import re
import signal
import subprocess

import pytest
from conftest import CROWDED, SECONDS
from nodes_support import (MPIS, COMPILERS, built, built_with_mpi, clean_environment,
                           jobs, require_mpi)  # noqa: F401  (a fixture)


@pytest.fixture(params=MPIS)
def mpi(request) -> str:
    require_mpi(request.param)
    return request.param


@pytest.fixture(params=COMPILERS)
def ranks(request, compiled, mpi, monkeypatch):
    return built_with_mpi(compiled, monkeypatch, request.param, mpi, "nodes_mpi.c")


def lines(count: int, devices: int) -> list[str]:
    sum_of_all = 10 * devices
    return [f"rank {rank} of {count} from {(rank - 1) % count} devices {sum_of_all} {sum_of_all} {sum_of_all}"
            for rank in range(count)]  # fmt: skip


def test_ranks_have_workers_of_their_own(jobs, ranks):
    """Regions run before MPI_Init, between, and after MPI_Finalize; MPI_COMM_WORLD has the ranks alone."""
    result = jobs.run("-n", 2, "--devices=nodes:2", ranks, **CROWDED)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, lines(2, 2)), result.stderr


def test_the_user_s_mpirun_starts_ranks_with_workers(jobs, compiled, mpi, monkeypatch):
    program = built_with_mpi(compiled, monkeypatch, "gcc", mpi, "nodes_mpi.c")
    result = jobs.mpirun(mpi, 2, jobs.command, "run", "--devices=nodes:1", program)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, lines(2, 1)), result.stderr


def test_a_program_without_mpi_may_be_started_by_a_launcher_of_either(jobs, compiled, mpi):
    program = built(compiled, "gcc", "nodes_sum.c")
    result = jobs.run("-n", 3, "--mpi", mpi, "--devices=nodes", program, **CROWDED)
    assert (result.returncode, result.stdout) == (0, "devices 2 others 2 sum 17997000\n"), result.stderr


def test_a_worker_of_mpirun_that_is_killed_is_named_in_one_line(jobs, compiled, mpi):
    """MPI's wire hears of no lost peer: mpirun ends the job, and the worker's `marline run` says who and why."""
    program = built(compiled, "gcc", "nodes_inside.c")
    words = [f"mpirun.{mpi}", "-n", "2", jobs.command, "run", "--devices=nodes", program, "busy"]
    with subprocess.Popen(list(map(str, words)), env=clean_environment(**CROWDED), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        stderr = process.communicate(timeout=SECONDS)[1]
    assert process.returncode != 0
    told = [line for line in stderr.splitlines() if line.startswith("marline: ")]
    named = rf"marline: rank 1 on {re.escape(os.uname().nodename)}: \S*nodes_inside\S* ended with signal 9 \(Killed\)"
    assert len(told) == 1 and re.fullmatch(named, told[0]), stderr
