# SPDX-License-Identifier: Apache-2.0
"""Devices that are processes work at the same time: regions that wait for each other, one on each device, end. No time
is measured."""

import pytest

COMPILERS = {"gcc": ("gcc-12", "-fopenmp"), "clang": ("clang-19", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")}


@pytest.mark.parametrize(("compiler", "devices", "count"), [
    ("gcc", "process:4", 4), ("clang", "process:4", 4), ("gcc", "nodes:3", 3),
])  # fmt: skip
def test_regions_on_all_devices_meet(build, marline, compiled, tmp_path, compiler, devices, count):
    """One thread creates them."""
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")
    name, *flags = COMPILERS[compiler]
    program = compiled(name, "devices_meet.c", "-D_GNU_SOURCE", *flags)
    result = marline("run", "-t", "1", "--devices", devices, "--", program, tmp_path, OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, result.stdout) == (0, f"devices={count} met={count}\n"), result.stderr
