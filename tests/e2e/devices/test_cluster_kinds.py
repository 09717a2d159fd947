# SPDX-License-Identifier: Apache-2.0
"""Processors and GPUs as one device (`--devices=cluster:all`). Programs that are judged by a reference are the tests
`devices.cluster_all_*` of tests/programs/offload, and mistakes are in test_cluster_said.py."""

import re

import pytest
from nodes_support import built, emulated, gpu_program, jobs, only, said, values  # noqa: F401  (fixtures)

NODES = "0,0,0,1"  # one GPU each: node 1 of the cluster has that of the program's node, node 2 has none left


def run(jobs, *words, **changes):
    return jobs.run("-n", 4, "-t", 2, "--devices=cluster:all", "--nodes-as", NODES, *words, **changes)


def launches(log) -> int:
    return len(re.findall(r"cuLaunchKernel __omp_offloading", log.read_text()))


def test_regions_run_on_gpus_and_processors(jobs, build, emulated, tmp_path):
    log = tmp_path / "calls"
    result = run(jobs, gpu_program(build, "cluster_all_gpu_chain"), "apart", 30, 1000,
                 **emulated | {"MARLINE_EMULATOR_LOG": str(log)})  # fmt: skip
    assert (result.returncode, said(result)) == (0, [])
    assert launches(log) == 15  # in turns on node 1 and node 2, which is a processor


def test_code_for_gpus_alone_runs_on_gpus(jobs, build, emulated, tmp_path):
    log = tmp_path / "calls"
    result = run(jobs, gpu_program(build, "emulator_device_cluster_gpu_chain"), "chain", 20, 1000,
                 **emulated | {"MARLINE_EMULATOR_LOG": str(log)})  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "the program has no image for 1 processor of the cluster, which gets no regions of it" in only(result)
    assert launches(log) == 20


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_code_for_processors_alone_has_no_gpus(jobs, compiled, kind, emulated):
    found = values(run(jobs, built(compiled, kind, "cluster.c"), MARLINE_CLUSTER_PLACEMENT="roundrobin", **emulated))
    assert (found["good"], found["processes"]) == ("1", "3")


# Two regions that take part in a reduction run at the same time, each with a copy on its GPU: were one to wait for the
# other's end, no two could begin within the time of a kernel.
def test_reductions_on_gpus_run_at_the_same_time(jobs, build, emulated, tmp_path):
    log, seconds = tmp_path / "calls", 0.05
    result = jobs.run("-n", 3, "-t", 2, "--devices=cluster:gpu",
                      gpu_program(build, "emulator_device_cluster_gpu_reduction"),
                      1, "alone", **emulated | {"MARLINE_EMULATOR_LOG": str(log),
                                                "MARLINE_CLUSTER_PLACEMENT": "roundrobin",
                                                "MARLINE_EMULATOR_KERNEL_TIME": str(int(seconds * 1e6))})  # fmt: skip
    assert (result.returncode, said(result)) == (0, [])
    starts = sorted(float(time)
                    for time in re.findall(r"(?m)^([\d.]+) cuLaunchKernel __omp_offloading\S*sums", log.read_text()))
    assert len(starts) == 24
    assert min(after - before for before, after in zip(starts, starts[1:])) < 0.9 * seconds
