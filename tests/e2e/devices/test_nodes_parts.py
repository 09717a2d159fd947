# SPDX-License-Identifier: Apache-2.0
"""Workers that are several devices (MARLINE_NODE_DEVICES): parts of their CPUs and threads, and GPUs; and devices of
the program's own beside them."""

import os
import re

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import emulated_gpus
from nodes_support import MPIS, Jobs, built, jobs, only, said  # noqa: F401  (a fixture)

HERE, APART = "", "0,1,2"


@pytest.fixture(params=["gcc", "clang"])
def parted(request, compiled):
    return built(compiled, request.param, "nodes_parts.c")


def described(jobs: Jobs, parted, parts: str, **more) -> list[list[int]]:
    """Of each device: process, own number, threads, of these on the same CPUs, processors, CPUs, the first CPU."""
    result = jobs.nodes(parted, MARLINE_NODE_DEVICES=parts, OMP_TARGET_OFFLOAD="mandatory", **more)
    assert (result.returncode, said(result)) == (0, []), result.stdout
    *lines, errors = result.stdout.splitlines()
    assert errors == "errors 0"
    return [[int(word) for word in line.split()] for line in lines]


@pytest.mark.parametrize("nodes_as", [HERE, APART])
def test_each_worker_is_as_many_devices(jobs, parted, nodes_as):
    devices = described(jobs, parted, "2", nodes_as=nodes_as, OMP_NUM_THREADS="4")
    processes = [device[0] for device in devices]
    assert [device[1] for device in devices] == [0, 1, 2, 3]
    assert processes[0] == processes[1] != processes[2] == processes[3]
    for _, _, threads, alike, processors, cpus, _ in devices:
        assert (threads, alike) == (2, 2)
        assert processors == cpus
    whole = described(jobs, parted, "machine", nodes_as=nodes_as)
    assert len(whole) == 2
    if whole[0][5] > 1:  # CPUs of the first worker
        assert devices[0][6] != devices[1][6] and devices[0][5] + devices[1][5] == whole[0][5]


@pytest.mark.parametrize("parts", ["sockets", "numa"])
def test_parts_are_the_machine_s_own(jobs, parted, parts):
    devices = described(jobs, parted, parts, count=2)
    whole = described(jobs, parted, "machine", count=2)
    assert len({device[0] for device in devices}) == 1
    assert sum(device[5] for device in devices) == whole[0][5]


def test_there_may_be_more_devices_than_threads(jobs, parted):
    parts = min(2 * len(os.sched_getaffinity(0)) + 1, 9)
    devices = described(jobs, parted, str(parts), count=2, OMP_NUM_THREADS="1")
    assert [device[1:3] for device in devices] == [[number, 1] for number in range(parts)]


def test_a_busy_device_leaves_the_other_one_of_its_worker_alone(jobs, parted):
    result = jobs.nodes(parted, "beside", count=2, MARLINE_NODE_DEVICES="2", OMP_NUM_THREADS="2",
                        OMP_TARGET_OFFLOAD="mandatory")  # fmt: skip
    assert (result.returncode, result.stdout, said(result)) == (0, "done 7\n", [])


def test_each_device_has_clang_s_variables(jobs, compiled):
    result = jobs.nodes(built(compiled, "clang", "nodes_parts.c", "-DCOUNTS"), "count", count=2,
                        MARLINE_NODE_DEVICES="2")  # fmt: skip
    assert (result.returncode, result.stdout, said(result)) == (0, "counter 6\ncounter 6\n", [])


def test_devices_of_a_worker_share_gcc_s_variables(jobs, compiled):
    result = jobs.nodes(built(compiled, "gcc", "nodes_parts.c", "-DCOUNTS"), "count", count=2,
                        MARLINE_NODE_DEVICES="2")  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "counter 6\ncounter 7\n")
    assert only(result).startswith("marline: warning: the devices of a worker share the `declare target` variables")


def test_a_crash_names_the_device(jobs, parted):
    result = jobs.nodes(parted, "crash", count=2, MARLINE_NODE_DEVICES="2")
    worker, program_line = said(result)
    assert result.returncode == 1
    assert "device 1 (node, process 1 of the job on" in worker and "at address 0x8" in worker
    assert "a worker with 2 devices (node, process 1 of the job on" in program_line


@pytest.mark.parametrize(("program", "workers", "count"), [("", "2", 4), ("3", "2", 4), ("2", "machine", 2)])
@pytest.mark.parametrize("nodes_as", [HERE, APART])
def test_the_workers_value_counts(jobs, parted, nodes_as, program, workers, count):
    """The program's own environment has no value, or another one."""
    own = f"MARLINE_NODE_DEVICES={program}" if program else "-u MARLINE_NODE_DEVICES"
    line = f'[ "$MARLINE_JOB_NUMBER" = 0 ] && exec env {own} "$0"; exec "$0"'
    result = jobs.nodes("sh", "-c", line, parted, nodes_as=nodes_as, MARLINE_NODE_DEVICES=workers,
                        OMP_TARGET_OFFLOAD="mandatory", OMP_NUM_THREADS="2")  # fmt: skip
    assert (result.returncode, [line for line in said(result) if "note:" not in line]) == (0, []), result.stdout
    *devices, errors = result.stdout.splitlines()
    assert errors == "errors 0"
    assert [int(device.split()[1]) for device in devices] == list(range(count))
    assert len({device.split()[0] for device in devices}) == 2


@pytest.mark.parametrize("value", ["0", "64", "2x", "cores", "gpus,2"])
def test_wrong_parts(jobs, parted, value):
    result = jobs.nodes(parted, count=2, MARLINE_NODE_DEVICES=value)
    assert result.returncode == 2
    expected = (f'MARLINE_NODE_DEVICES="{value}" is not usable: expected machine, sockets, numa, a number from 1 '
                "to 63, or gpus")  # fmt: skip
    assert any(line.startswith(f"marline: fatal: {expected}") for line in said(result))


def test_too_many_devices(jobs, parted):
    result = jobs.nodes(parted, count=6, MARLINE_NODE_DEVICES="63", OMP_NUM_THREADS="1")
    assert result.returncode == 2
    assert only(result) == ("marline: fatal: the workers have more than 256 devices: start fewer, or see "
                            "MARLINE_NODE_DEVICES")  # fmt: skip


def test_the_program_has_devices_of_its_own_beside_those_of_workers(jobs, parted):
    """A worker's two devices stand between a process and the program itself."""
    result = jobs.run("-n", "2", "--devices=process,nodes,host", "--nodes-as", "0,1", "--", parted,
                      MARLINE_NODE_DEVICES="2", OMP_NUM_THREADS="2", OMP_TARGET_OFFLOAD="mandatory")  # fmt: skip
    assert (result.returncode, said(result)) == (0, []), result.stdout
    *lines, errors = result.stdout.splitlines()
    devices = [[int(word) for word in line.split()] for line in lines]
    processes = [device[0] for device in devices]
    assert errors == "errors 0"
    assert [device[1] for device in devices] == [0, 1, 2, 3]
    assert processes[1] == processes[2] and len(set(processes)) == 3 and processes[3] == 0
    assert [device[2] for device in devices] == [2, 1, 1, 2]


def test_marline_devices_lists_them_all(marline):
    result = marline("devices", "--devices", "nodes:2,process", MARLINE_NODE_DEVICES="2")
    assert (result.returncode, result.stderr) == (0, "")
    uids = re.findall(r"node-\S+|process-\d", result.stdout)
    assert [re.sub(r"-.*-(\d-part\d)", r"-\1", uid) for uid in uids] == [
        "node-1-part0", "node-1-part1", "node-2-part0", "node-2-part1", "process-0"]  # fmt: skip


def listed_memory(marline, parts: str) -> list[float]:
    result = marline("devices", "--devices", "nodes:1", MARLINE_NODE_DEVICES=parts)
    assert (result.returncode, result.stderr) == (0, "")
    sizes = re.findall(r"(\d+(?:\.\d+)?) ([KMGT])iB", result.stdout)
    return [float(number) * 1024.0 ** "KMGT".index(unit) for number, unit in sizes]


def test_parts_share_the_memory_of_their_worker(marline):
    whole, parts = listed_memory(marline, "machine"), listed_memory(marline, "2")
    assert (len(whole), len(parts)) == (1, 2)
    assert sum(parts) == pytest.approx(whole[0], rel=0.02)
    assert max(parts) < 0.9 * whole[0]


def test_a_part_that_is_a_domain_has_its_memory(marline):
    files = Path("/sys/devices/system/node").glob("node*/meminfo")
    domains = [int(re.search(r"MemTotal: +(\d+) kB", file.read_text())[1]) for file in files]
    if not domains:
        pytest.skip("the system knows no NUMA domains here")
    parts = listed_memory(marline, "numa")
    assert parts and all(any(part == pytest.approx(domain, rel=0.02) for domain in domains) for part in parts)


# GPUs of workers -----------------------------------------------------------------------------------------------------


@pytest.fixture
def emulated(build) -> dict[str, str]:
    return emulated_gpus(build, 2)


@pytest.fixture
def gpu_program(build) -> Callable[[str], Path]:
    def find(name: str) -> Path:
        path = build / "tests" / "emulator" / "bin" / f"emulator_{name}"
        if not path.exists():
            pytest.skip(f"{path} is not built")
        return path

    return find


def test_marline_devices_lists_gpus_of_workers(marline, emulated):
    result = marline("devices", "--devices", "nodes:1,libomptarget", MARLINE_NODE_DEVICES="1,gpus", **emulated)
    assert (result.returncode, result.stderr) == (0, "")
    listed = [line.split() for line in result.stdout.splitlines()[1:]]
    kinds = [words[1:3] if words[0] != "*" else words[2:4] for words in listed]
    assert [kind for kind, _ in kinds] == ["node", "node", "node", "libomptarget", "libomptarget"]
    assert [uid.split("-")[-1] for _, uid in kinds[:3]] == ["part0", "gpu0", "gpu1"]
    assert all("nvptx64" in words for words in listed[1:])


@pytest.mark.parametrize(("devices", "count"), [("nodes", 4), ("libomptarget,nodes", 6)])
def test_an_application_on_gpus_of_workers(jobs, program, emulated, devices, count):
    """Two workers, and in the second case the program's own GPUs: their halos go from any to any."""
    words = ("--grid", "76x20x20", "--steps", "4", "--serial", "--chunk", "1")
    result = jobs.run("-n", "3", "-t", "2", f"--devices={devices}", "--nodes-as", APART, "--",
                      program("minimod-gpu"), *words,
                      MARLINE_NODE_DEVICES="gpus", OMP_TARGET_OFFLOAD="mandatory", **emulated)  # fmt: skip
    assert (result.returncode, said(result)) == (0, []), result.stdout
    assert f"# devices {count}" in result.stdout


@pytest.mark.parametrize("mpi", MPIS)
def test_data_for_a_worker_s_gpu_goes_by_mpi(jobs, gpu_program, emulated, mpi):
    """Among others 24 MiB, in pieces of which several are under way at a time."""
    result = jobs.mpirun(mpi, 2, jobs.command, "run", "-t", "2", "--devices", "nodes", gpu_program("staging"), "all",
                         MARLINE_NODE_DEVICES="gpus", OMP_TARGET_OFFLOAD="mandatory", **emulated)  # fmt: skip
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("nodes_as", [HERE, APART])
@pytest.mark.parametrize("parts", ["gpus", "1,gpus"])
def test_copies_between_gpus_of_workers(jobs, gpu_program, emulated, nodes_as, parts):
    """Between GPUs of one worker and of two, and between them and the workers' processors. The program sends no data
    then, and once what all devices get."""
    made_up = ["--nodes-as", nodes_as] if nodes_as else []
    result = jobs.run("-n", "3", "-t", "2", "--devices=nodes", *made_up, "--", gpu_program("between"),
                      MARLINE_NODE_DEVICES=parts, OMP_TARGET_OFFLOAD="mandatory", **emulated)  # fmt: skip
    assert (result.returncode, said(result)) == (0, []), result.stderr
    between, to_all, block = map(int, result.stdout.split())
    assert between < 1024  # of 42 MiB or more
    assert to_all < 1.5 * block


@pytest.mark.parametrize("mpi", MPIS)
def test_copies_between_gpus_of_workers_by_mpi(jobs, gpu_program, emulated, mpi):
    result = jobs.mpirun(mpi, 3, jobs.command, "run", "-t", "2", "--devices", "nodes", gpu_program("between"),
                         MARLINE_NODE_DEVICES="gpus", OMP_TARGET_OFFLOAD="mandatory", **emulated)  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_what_fails_on_a_worker_s_gpu_is_named(jobs, program, emulated):
    words = ("--grid", "36x20x20", "--steps", "6", "--chunk", "1")
    result = jobs.run("-n", "2", "-t", "2", "--devices=nodes", "--", program("minimod-gpu"), *words,
                      MARLINE_NODE_DEVICES="gpus", MARLINE_EMULATOR_ERROR="illegal:3", OMP_TARGET_OFFLOAD="mandatory",
                      **emulated)  # fmt: skip
    assert result.returncode == 1
    assert re.search(r"device [01] \(node, process 1 of the job on \S+\) has ended by signal 6 \(Aborted\), in the "
                     "target region", result.stderr)  # fmt: skip


def test_gpus_that_are_not_there(jobs, parted):
    result = jobs.nodes(parted, count=2, MARLINE_NODE_DEVICES="machine,gpus")
    assert result.returncode == 1
    assert any(line.startswith("marline: fatal: MARLINE_NODE_DEVICES names gpus: ") for line in said(result))
