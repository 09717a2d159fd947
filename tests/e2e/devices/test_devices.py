# SPDX-License-Identifier: Apache-2.0
"""`marline devices` says what a program finds, in the program's order, and why there are no GPUs."""

import os
import re

import pytest
from conftest import emulated_gpus


@pytest.fixture(autouse=True)
def _has_devices(build):
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")


def rows(result) -> list[list[str]]:
    """The lines of devices, by words, from the number on; the default device's number has a *."""
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if re.match(r"[ *]  +\d", line)]
    return [line.replace("*  ", "   *").split() for line in lines]


def test_lists_what_marline_devices_names(marline):
    listed = rows(marline("devices", "--devices", "process:2,host"))
    assert [row[:3] for row in listed] == [["*0", "process", "process-0"], ["1", "process", "process-1"],
                                           ["2", "host", "host-0"]]  # fmt: skip
    assert all(row[3] == os.uname().machine for row in listed)


def test_asks_workers_what_they_are(marline):
    """Each is a process of its own here, so all are alike but for their identifiers."""
    listed = rows(marline("devices", "--devices", "nodes:2,host"))
    assert [row[1] for row in listed] == ["node", "node", "host"]
    assert listed[0][2] != listed[1][2] and all(row[2].startswith("node-") for row in listed[:2])
    assert listed[0][3:] == listed[1][3:] == listed[2][3:]


def test_obeys_the_environment(marline):
    listed = rows(marline("devices", MARLINE_DEVICES="host:2,process", OMP_AVAILABLE_DEVICES="uid(process-0),*[1]"))
    assert [row[2] for row in listed] == ["process-0", "host-1"]


@pytest.mark.parametrize(("wish", "default"), [("1", "*1"), ("kind(cpu)[2]", "*2"), ("uid(gone),uid(process-0)", "*0"),
                                               ("auto", "*0"), ("7,uid(host-1)", "*2")])  # fmt: skip
def test_marks_the_default_device(marline, wish, default):
    listed = rows(marline("devices", "--devices", "process,host:2", OMP_DEFAULT_DEVICE=wish))
    assert [row[0] for row in listed if row[0].startswith("*")] == [default]


@pytest.mark.parametrize("wish", ["initial", "kind(gpu),initial", "kind(gpu)"])
def test_marks_no_device_for_the_host_and_none(marline, wish):
    listed = rows(marline("devices", "--devices", "host:2", OMP_DEFAULT_DEVICE=wish))
    assert [row[0] for row in listed] == ["0", "1"]


def test_says_that_there_are_none(marline):
    result = marline("devices", "--devices", "none")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "no devices: target regions run on the host\n"


def test_says_why_there_is_no_gpu(marline):
    result = marline("devices", MARLINE_LIBOMPTARGET="/nowhere/libomptarget.so")
    assert len(rows(result)) == 4
    assert "no GPUs: MARLINE_LIBOMPTARGET names no libomptarget" in result.stdout
    assert "no GPUs: OMP_TARGET_OFFLOAD=disabled" in marline("devices", OMP_TARGET_OFFLOAD="disabled").stdout


def test_says_why_a_library_cannot_be_used(marline, tmp_path):
    broken = tmp_path / "libomptarget.so"
    broken.write_text("no library")
    result = marline("devices", "--devices", "libomptarget", LD_LIBRARY_PATH=str(tmp_path),
                     MARLINE_LIBOMPTARGET=str(broken))
    assert re.search(r"MARLINE_LIBOMPTARGET names no libomptarget of LLVM 16 or later: \S+/libomptarget.so: \w",
                     result.stdout)


def test_refuses_what_is_no_list(marline):
    result = marline("devices", "--devices", "gpu")
    assert result.returncode == 2
    assert '"gpu" is not usable: expected auto, none, or a list' in result.stderr
    result = marline("devices", "--devices", "host", OMP_AVAILABLE_DEVICES="kind(gpu)&&")
    assert result.returncode == 125
    assert 'OMP_AVAILABLE_DEVICES="kind(gpu)&&" is not usable from "" on: expected' in result.stderr


@pytest.fixture
def emulated(build) -> dict[str, str]:
    return emulated_gpus(build, 3, MARLINE_EMULATOR_MEMORY="2G")


def test_lists_gpus(marline, emulated):
    listed = rows(marline("devices", **emulated))
    assert [row[1] for row in listed] == ["libomptarget"] * 3
    assert len({row[2] for row in listed}) == 3
    assert all(re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", row[2]) for row in listed)
    assert all(row[3:8] == ["nvptx64", "sm_90", "2.0", "GiB", "132"] for row in listed)
    assert rows(marline("devices", **emulated)) == listed


def test_orders_gpus_by_traits(marline, emulated):
    uids = [row[2] for row in rows(marline("devices", **emulated))]
    listed = rows(marline("devices", "--devices", "host:2,libomptarget", **emulated,
                          OMP_AVAILABLE_DEVICES="(kind(gpu)&&vendor(nvidia))[1:],!kind(gpu)"))  # fmt: skip
    assert [row[2] for row in listed] == [uids[1], uids[2], "host-0", "host-1"]


LAUNCHERS = (("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"), ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
             ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"))  # fmt: skip


def default_of(result) -> str:
    return next(row[0] for row in rows(result) if row[0].startswith("*"))


@pytest.mark.parametrize(("rank", "ranks"), LAUNCHERS)
def test_gives_each_rank_a_gpu(marline, emulated, rank, ranks):
    given = [default_of(marline("devices", **emulated, **{rank: str(number), ranks: "4"})) for number in range(4)]
    assert given == ["*0", "*1", "*2", "*0"]


def test_gives_a_rank_the_gpu_that_is_near(marline, emulated):
    """Ranks 1 and 0 of two, on one CPU each, which are both in domain 0: there are GPUs 1 and 2."""
    emulated["MARLINE_EMULATOR_NUMA"] = "7,0,0"
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if cpus != [0, 1] or os.cpu_count() < 2:
        pytest.skip("needs CPUs 0 and 1")
    given = []
    for cpu in cpus:
        os.sched_setaffinity(0, {cpu})
        try:
            given.append(default_of(marline("devices", **emulated, MPI_LOCALRANKID=str(1 - cpu), MPI_LOCALNRANKS="2")))
        finally:
            os.sched_setaffinity(0, cpus)
    assert given == ["*1", "*2"]


@pytest.mark.parametrize(("name", "value"), [("OMP_DEFAULT_DEVICE", "0"), ("CUDA_VISIBLE_DEVICES", "0,1,2"),
                                             ("ROCR_VISIBLE_DEVICES", "0")])  # fmt: skip
def test_leaves_the_users_choice(marline, emulated, name, value):
    ranks = {"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2", name: value}
    assert default_of(marline("devices", **emulated, **ranks)) == "*0"


def test_tells_of_a_ranks_gpu(marline, emulated):
    result = marline("devices", **emulated, MPI_LOCALRANKID="1", MPI_LOCALNRANKS="2", OMP_DISPLAY_ENV="verbose")
    assert re.search(r"marline: rank 1 of 2 on this node has device 1 \(GPU-\S+\) as its default device", result.stderr)


def test_works_without_gpu_software(marline, tmp_path):
    result = marline("devices", LD_LIBRARY_PATH=str(tmp_path))
    assert rows(result)
