# SPDX-License-Identifier: Apache-2.0
"""Devices on other nodes: programs of each compiler under each launcher, what target regions find there, and libraries
that are opened late. How jobs end is in test_nodes_ends.py, programs that use MPI in test_nodes_mpi.py."""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS
from nodes_support import COMPILERS, MPIS, built, jobs, only, said, values  # noqa: F401  (a fixture)

SLURM = "# Slurm, with --mpi=pmix for Open MPI or --mpi=pmi2 for MPICH where that is not the default"
SUM = "devices 2 others 2 sum 17997000\n"
APART = "0,1,2"


@pytest.fixture(params=["gcc", "clang", "gfortran"])
def adder(request, compiled) -> Path:
    if request.param == "gfortran":
        return compiled("gfortran-12", "nodes_sum.f90", "-fopenmp")
    return built(compiled, request.param, "nodes_sum.c")


@pytest.mark.parametrize("nodes_as", ["", APART])
def test_processes_of_a_job_are_devices(jobs, adder, nodes_as):
    result = jobs.nodes(adder, nodes_as=nodes_as)
    assert (result.returncode, result.stdout, said(result)) == (0, SUM, [])


def test_a_program_may_have_workers_of_its_own(jobs, adder):
    result = jobs.run("--devices=nodes:2", adder)
    assert (result.returncode, result.stdout) == (0, SUM)


@pytest.mark.parametrize("nodes_as", ["", "apart"])
def test_many_workers(jobs, compiled, nodes_as):
    """More than a word has bits."""
    result = jobs.nodes(built(compiled, "clang", "nodes_sum.c"), count=76, nodes_as=nodes_as, OMP_NUM_THREADS="1")
    assert (result.returncode, result.stdout) == (0, "devices 75 others 75 sum 17997000\n"), result.stderr


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("nodes_as", ["", APART])
def test_plain_mpirun_starts_devices(jobs, adder, mpi, nodes_as):
    changes = {"MARLINE_NODES_AS": nodes_as} if nodes_as else {}
    result = jobs.mpirun(mpi, 3, *jobs.preloaded(), adder, MARLINE_DEVICES="nodes", **changes)
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_mpirun_starts_marline_run(jobs, compiled, mpi):
    result = jobs.mpirun(mpi, 3, jobs.command, "run", "--devices", "nodes", built(compiled, "gcc", "nodes_sum.c"))
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


def test_each_process_may_have_a_node_of_its_own(jobs, compiled):
    assert jobs.nodes(built(compiled, "gcc", "nodes_sum.c"), nodes_as="apart").stdout == SUM


def test_links_may_be_made_slow(jobs, compiled):
    result = jobs.nodes(built(compiled, "gcc", "nodes_sum.c"), nodes_as=APART, MARLINE_LINK="latency=20us,bandwidth=1G")
    assert (result.returncode, result.stdout) == (0, SUM)


def test_processes_share_the_cores(jobs, compiled):
    """All processes of the job on one machine, a rank's workers and other ranks' workers."""
    program, cores = built(compiled, "gcc", "nodes_threads.c"), len(os.sched_getaffinity(0))
    share = str(max(1, cores // 3))
    assert jobs.nodes(program).stdout.split() == [share] * 3
    share = str(max(1, cores // 4))
    ranks = jobs.mpirun("openmpi", 2, jobs.command, "run", "--devices", "nodes:1", program)
    assert ranks.stdout.split() == [share] * 4, ranks.stderr
    assert jobs.nodes(program, OMP_NUM_THREADS="3").stdout.split() == ["3"] * 3


# Programs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes_as", ["", "0,1,1"])
@pytest.mark.parametrize(("name", "words"), [
    ("minimod-gcc12", ("--grid", "40x30x28", "--steps", "20", "--serial")),
    ("minimod-clang19", ("--grid", "40x30x28", "--steps", "20", "--serial", "--form", "updates")),
    ("xsbench-gcc12", ("--gridpoints", "20", "--lookups", "400")),
    ("xsbench-clang19", ("--gridpoints", "20", "--lookups", "400")),
])  # fmt: skip
def test_applications(jobs, program, name, words, nodes_as):
    result = jobs.nodes(program(name), *words, nodes_as=nodes_as, OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, said(result)) == (0, []), result.stdout
    assert "# devices 2" in result.stdout


@pytest.mark.parametrize(("mpi", "name", "words"), [
    ("openmpi", "minimod-clang19", ("--grid", "40x30x28", "--steps", "20", "--serial")),
    ("mpich", "xsbench-gcc12", ("--gridpoints", "20", "--lookups", "400")),
])  # fmt: skip
def test_applications_by_plain_mpirun(jobs, program, mpi, name, words):
    changes = {"MARLINE_DEVICES": "nodes", "MARLINE_NODES_AS": APART, "OMP_TARGET_OFFLOAD": "mandatory"}
    result = jobs.mpirun(mpi, 3, *jobs.preloaded(), program(name), *words, **changes)
    assert result.returncode == 0, result.stderr
    assert "# devices 2" in result.stdout


@pytest.mark.parametrize("compiler", [("gcc-12",), ("clang-19", "-fopenmp-targets=x86_64-pc-linux-gnu")])
def test_the_guide_s_program(jobs, tmp_path, compiler):
    """Its output is the page's, but for the numbers of processes."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    page = (Path(__file__).resolve().parents[3] / "docs" / "guide" / "nodes.md").read_text()
    source, binary = tmp_path / "sums.c", tmp_path / "sums"
    source.write_text(re.search(r"^```c\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1])
    words = [*compiler, "-O2", "-Wall", "-Werror", "-fopenmp", source, "-o", binary]
    subprocess.run(words, check=True, timeout=SECONDS)
    result = jobs.run("-n", 3, "-t", 1, "--devices=nodes", binary, OMP_TARGET_OFFLOAD="mandatory")
    assert result.returncode == 0, result.stderr
    shown = re.search(r"^\$ marline run -n 3 -t 1 --devices=nodes ./sums\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    without = re.compile(r"process \d+")
    assert without.sub("", result.stdout) == without.sub("", shown)
    assert len(set(without.findall(result.stdout))) == 3


# What a region finds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", COMPILERS)
def test_regions_find_the_program_s_surroundings(jobs, compiled, tmp_path, kind):
    limit = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (4321 << 10, limit[1]))
    try:
        result = jobs.nodes(built(compiled, kind, "nodes_inside.c"), "look", input="a line\n", folder=tmp_path,
                            NODES_VARIABLE="mine", OMP_NUM_THREADS="3")  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, limit)
    assert values(result) == {"folder": str(tmp_path), "variable": "mine", "numbers": "3", "threads": "3",
                              "stack": str(4321 << 10), "input": "0", "line": "a line"}  # fmt: skip


@pytest.mark.parametrize("kind", COMPILERS)
def test_the_program_alone_has_the_standard_input(jobs, compiled, kind):
    found = values(jobs.nodes(built(compiled, kind, "nodes_inside.c"), "look", input="first\nsecond\n"))
    assert (found["input"], found["line"]) == ("0", "first"), "a region read none of it"


def test_the_command_may_be_started_with_closed_streams(jobs, compiled):
    """As by a daemon. No file or socket of the job becomes the descriptor of standard errors."""
    adder = built(compiled, "gcc", "nodes_sum.c")
    result = jobs.shell(f"exec '{jobs.command}' run -n 3 --devices=nodes '{adder}' <&- 2>&-")
    assert (result.returncode, result.stdout, result.stderr) == (0, SUM, "")


def test_mapping_to_another_node_takes_little_memory_of_the_program(jobs, compiled):
    found = values(jobs.nodes(built(compiled, "gcc", "nodes_inside.c"), "memory", count=2, nodes_as="0,1"))
    assert found["value"] == "2"
    assert int(found["after"]) - int(found["before"]) < 256 << 10, "KiB"


@pytest.mark.parametrize("kind", COMPILERS)
def test_children_of_the_program_do_not_join_the_job(jobs, compiled, kind):
    result = jobs.nodes(built(compiled, kind, "nodes_inside.c"), "children")
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["devices 0", "devices 2", "popen ended 0", "popen: devices 0",
                                                  "system ended 0"]  # fmt: skip


def test_a_child_may_be_a_job_of_its_own(jobs, compiled):
    adder = built(compiled, "gcc", "nodes_sum.c")
    command = f"'{jobs.command}' run -n 3 --devices=nodes '{adder}'"
    result = jobs.nodes(built(compiled, "gcc", "nodes_inside.c"), "launch", command)
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


# Libraries that are opened late --------------------------------------------------------------------------------------


@pytest.fixture
def opens(jobs, compiled):
    def run(kind: str, **changes: str):
        program = built(compiled, kind, "nodes_opens.c", "-ldl")
        library = built(compiled, kind, "nodes_opened.c", "-shared", "-fPIC")
        return jobs.nodes(program, library, nodes_as="0,0,1", **changes)

    return run


def test_images_of_clang_reach_the_workers_late(opens):
    result = opens("clang", OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, result.stdout.splitlines()) == (
        0, ["device 0 another process", "device 1 another process", "value 87"])  # fmt: skip


def test_late_code_of_gcc_runs_on_the_host(opens):
    result = opens("gcc")
    assert (result.returncode, result.stdout.splitlines()) == (
        0, ["device 0 this process", "device 1 this process", "value 87"])  # fmt: skip
    assert "warning: device 0 (node) does not have the target region at" in only(result)


def test_late_code_of_gcc_is_refused_where_devices_are_mandatory(opens):
    result = opens("gcc", OMP_TARGET_OFFLOAD="mandatory")
    assert result.returncode != 0
    assert "device 0 (node) does not have the target region at" in only(result)
    assert "its library was loaded, perhaps again, when the device had been started" in only(result)


def test_code_without_gcc_s_tables_runs_on_the_host(jobs, compiled, tmp_path):
    program = tmp_path / "without"
    words = ["objcopy", "-R", ".gnu.offload_funcs", "-R", ".gnu.offload_vars"]
    subprocess.run([*words, built(compiled, "gcc", "nodes_sum.c"), program], check=True, timeout=SECONDS)
    result = jobs.nodes(program)
    assert (result.returncode, result.stdout) == (0, SUM.replace("others 2", "others 0"))
    assert "its file has no section .gnu.offload_funcs" in only(result)


BY_PYTHON = """
import ctypes, os, sys, threading
library = ctypes.CDLL(sys.argv[1])
found = [None, None]
def use(device):
    process = ctypes.c_int()
    value = library.in_library(device, ctypes.byref(process))
    found[device] = (value, process.value != os.getpid())
threads = [threading.Thread(target=use, args=(device,)) for device in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(found)
"""


@pytest.mark.parametrize("kind", COMPILERS)
def test_a_program_that_opens_all_its_regions_late(jobs, compiled, kind):
    """Workers run its main, too, up to the first question about devices, here of two threads at once."""
    library = built(compiled, kind, "nodes_opened.c", "-shared", "-fPIC")
    result = jobs.nodes(sys.executable, "-c", BY_PYTHON, library, nodes_as="0,0,1", OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, result.stdout) == (0, "[(41, True), (41, True)]\n"), result.stderr


def test_workers_of_a_program_that_only_asks(jobs, compiled):
    result = jobs.nodes(compiled("gcc-12", "nodes_asks.c", "-fopenmp"))
    assert (result.returncode, result.stdout) == (0, "main\ndevices 2\n"), result.stderr
    assert "nodes_asks" in only(result) and "has no target regions for devices; build it with Clang and" in only(result)


# marline run --print -------------------------------------------------------------------------------------------------


def printed(jobs, *words: object, **changes: str) -> dict[str, str]:
    """The command lines by the launcher for which they are."""
    result = jobs.run("--print", *words, **changes)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    return dict(zip(lines[::2], lines[1::2], strict=True)) if len(lines) > 1 else {"": lines[0]}


@pytest.mark.parametrize("title", ["# Open MPI", "# MPICH"])
def test_printed_lines_start_the_same_by_mpirun(jobs, compiled, title):
    adder = built(compiled, "gcc", "nodes_sum.c")
    lines = printed(jobs, "-n", 3, "-t", 1, "--devices=nodes", "--nodes-as", APART, adder)
    if title not in lines:
        pytest.skip("its launcher is not here")
    for word in ("MARLINE_DEVICES=nodes", f"MARLINE_NODES_AS={APART}", "OMP_NUM_THREADS=1"):
        assert word in lines[title]
    result = jobs.shell(lines[title])
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


def test_srun_gets_the_same_words(jobs, compiled):
    adder = built(compiled, "gcc", "nodes_sum.c")
    line = printed(jobs, "-n", 3, "-t", 2, "--devices=nodes", adder, "two words")[SLURM]
    assert re.fullmatch(rf"srun -n 3 -c 2 env LD_LIBRARY_PATH=\S+ LD_PRELOAD=\S+ OMP_NUM_THREADS=2 "
                        rf"MARLINE_DEVICES=nodes {adder} 'two words'", line)  # fmt: skip


def test_printed_line_for_workers_of_its_own(jobs, compiled):
    line = printed(jobs, "--devices=nodes:2", built(compiled, "gcc", "nodes_sum.c"))[""]
    result = jobs.shell(line)
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr


def test_printed_line_without_a_launcher(jobs, compiled):
    line = printed(jobs, "--devices=process:2", built(compiled, "gcc", "nodes_sum.c"))[""]
    assert line.startswith("env LD_LIBRARY_PATH=")
    result = jobs.shell(line)
    assert (result.returncode, result.stdout) == (0, SUM), result.stderr
