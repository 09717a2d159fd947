# SPDX-License-Identifier: Apache-2.0
"""Programs that srun starts: it gives them other variables than MPI's own launchers do."""

import json
import os
import shutil
import subprocess

import pytest
from conftest import CROWDED, SECONDS, clean_environment, run
from nodes_support import COMPILERS, built, jobs  # noqa: F401  (a fixture)
from slurm_support import slurm  # noqa: F401  (a fixture)

PMI = {"openmpi": "pmix", "mpich": "pmi2"}
SUM = "devices 2 others 2 sum 17997000\n"


@pytest.fixture(params=PMI)
def mpi(request) -> str:
    if shutil.which(f"mpicc.{request.param}") is None:
        pytest.skip(f"no {request.param}")
    return request.param


@pytest.fixture
def each(compiled, mpi):
    return compiled(f"mpicc.{mpi}", "nodes_each.c", *COMPILERS["gcc"][1:])


@pytest.fixture
def srun(jobs, slurm):  # noqa: F811
    def start(pmi, ranks, *words, **changes):
        words = [*slurm.words(pmi, ranks), *map(str, words)]
        return jobs.watched(words, "", None,
                            CROWDED | slurm.environment | {"OMP_TARGET_OFFLOAD": "mandatory"} | changes)

    return start


@pytest.mark.parametrize("pmi", PMI.values())
def test_workers_for_a_program_without_mpi(srun, jobs, compiled, pmi):  # noqa: F811
    result = srun(pmi, 3, jobs.command, "run", "--devices", "nodes", built(compiled, "gcc", "nodes_sum.c"))
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


def test_ranks_that_are_each_others_devices(srun, jobs, each, mpi):  # noqa: F811
    result = srun(PMI[mpi], 2, jobs.command, "run", "--devices", "nodes", each, "all")
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"rank {rank} right 2 wrong 0 other 1" for rank in range(2)]


def test_ranks_with_workers_of_their_own(srun, jobs, each, mpi):  # noqa: F811
    result = srun(PMI[mpi], 2, jobs.command, "run", "--devices", "nodes:1", each, "all")
    assert result.returncode == 0, result.stderr
    ranks = sorted(line for line in result.stdout.splitlines() if line.startswith("rank"))
    assert ranks == [f"rank {rank} right 1 wrong 0 other 1" for rank in range(2)]


def test_a_rank_that_fails_is_named(srun, jobs, compiled, mpi):  # noqa: F811
    program = compiled(f"mpicc.{mpi}", "ranks.c", "-fopenmp")
    result = srun(PMI[mpi], 2, jobs.command, "run", "-t", "1", program, "exit", "7")
    named = [line for line in result.stderr.splitlines() if line.startswith("marline: rank ")]
    assert named == [f"marline: rank 1 on {os.uname().nodename}: {program} ended with exit status 7"], result.stderr


def test_a_signal_comes_once(slurm, jobs, compiled, mpi):  # noqa: F811
    """`marline run` passes signals on to the program, unless Slurm has signalled both."""
    program = compiled(f"mpicc.{mpi}", "ranks.c", "-fopenmp")
    words = [*slurm.words(PMI[mpi], 2), jobs.command, "run", "-t", "1", program, "sleep"]
    environment = clean_environment(**CROWDED, **slurm.environment)
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            first = [process.stdout.readline() for _ in range(2)]
            job = slurm.ask("squeue", "-h", "-o", "%i").strip()
            run(["scancel", "--signal=USR1", f"{job}.0"], **slurm.environment)
            rest, errors = process.communicate(timeout=SECONDS)
        except BaseException:
            slurm.ask("scancel", "--signal=KILL", "--user=root")
            process.kill()
            raise
    assert sorted(first) == [f"rank={rank} size=2 threads=1\n" for rank in range(2)], errors
    assert sorted(rest.splitlines()) == [f"rank={rank} signals=1" for rank in range(2)]


def test_srun_stands_for_its_ranks(slurm, jobs, compiled, mpi):  # noqa: F811
    """`marline ps` of srun, whose tasks are not its children."""
    program = compiled(f"mpicc.{mpi}", "ranks.c", "-fopenmp")
    words = [*slurm.words(PMI[mpi], 2), jobs.command, "run", "-t", "1", program, "sleep"]
    environment = clean_environment(**CROWDED, **slurm.environment)
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            first = [process.stdout.readline() for _ in range(2)]
            found = run([jobs.command, "ps", str(process.pid), "--json", "--seconds", "0.1"])
            job = slurm.ask("squeue", "-h", "-o", "%i").strip()
            run(["scancel", "--signal=USR1", f"{job}.0"], **slurm.environment)
            process.communicate(timeout=SECONDS)
        except BaseException:
            slurm.ask("scancel", "--signal=KILL", "--user=root")
            process.kill()
            raise
    assert len(first) == 2 and found.stdout, found.stderr
    assert [rank["rank"] for rank in json.loads(found.stdout)["ranks"]] == [0, 1]


@pytest.mark.parametrize("pmi", PMI.values())
def test_the_printed_line(srun, slurm, jobs, compiled, pmi):  # noqa: F811
    program = built(compiled, "gcc", "nodes_sum.c")
    lines = jobs.run("-n", 3, "-t", 1, "--devices=nodes", "--print", program).stdout.splitlines()
    title, line = lines[-2:]
    assert title.startswith("# Slurm, with --mpi=pmix")
    start, words = "srun -n 3 -c 1 ", line.removeprefix("srun -n 3 -c 1 ")
    assert line == start + words
    result = srun(pmi, 3, *words.split())
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


def test_without_mpi_s_help_a_line_says_what_to_do(srun, jobs, compiled):  # noqa: F811
    result = srun("none", 2, jobs.command, "run", "--devices", "nodes", built(compiled, "gcc", "nodes_sum.c"))
    assert result.returncode != 0
    assert "start it by mpirun, or by srun with --mpi=pmix or --mpi=pmi2" in result.stderr


def test_a_prolog_makes_marline_the_runtime(srun, compiled, build):
    """The script of docs/guide/administrators.md, without `marline run`."""
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    compat = build / "lib" / "marline" / "compat"
    for variables, library in (({}, "libgomp.so"), ({"TEST_COMPAT": str(compat)}, "libmarline.so")):
        result = srun("none", 1, program, **variables)
        assert result.returncode == 0, result.stderr
        assert library in result.stdout.split()[0]
