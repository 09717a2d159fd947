# SPDX-License-Identifier: Apache-2.0
"""apps/xsbench end to end, as built by each compiler: on the host and on devices, of this process and of others, every
kind of grid gives the checksum of a reference that is written here a second time."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest
from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome
from conftest import clean_environment

COMPILERS = ("gcc12", "clang19")
GRIDS = ("unionised", "nuclide", "hash")
GRIDPOINTS = 20
LOOKUPS = 400


class Outcome(ApplicationOutcome):
    program = "xsbench"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        words = [line.split() for line in self.stdout.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value, _ in words}


# The reference -------------------------------------------------------------------------------------------------------


def numbers(state: int) -> Iterator[float]:
    while True:
        state = (2806196910506780709 * state + 1) % 2**63
        yield state / 2**63


FUEL = [58, 59, 60, 61, 40, 42, 43, 44, 45, 46, 1, 2, 3, 7, 8, 9, 10, 29, 57, 47, 48, 0, 62, 15, 33, 34, 52, 53, 54, 55,
        56, 18, 23, 41]  # fmt: skip
CLADDING = [63, 64, 65, 66, 67]
WATER = [24, 41, 4, 5]
VESSEL = [19, 20, 21, 22, 35, 36, 37, 38, 39, 25, 27, 28, 29, 30, 31, 32, 26, 49, 50, 51, 11, 12, 13, 14, 6, 16, 17]
STRUCTURE = WATER + VESSEL[:10] + VESSEL[17:24]
OTHERS = [CLADDING, WATER, WATER, VESSEL, *[STRUCTURE] * 5, *[WATER + CLADDING] * 2]
VOLUMES = [0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013]


@cache
def reference(lookups: int, size: str = "small") -> int:
    nuclides = {"small": 68, "large": 355}[size]
    draw = numbers(42)
    grids = [sorted([next(draw) for _ in range(6)] for _ in range(GRIDPOINTS)) for _ in range(nuclides)]
    draw = numbers(1070 * 1070)
    materials = [[(n, next(draw)) for n in material] for material in ([*FUEL, *range(68, nuclides)], *OTHERS)]
    limits = list(accumulate(VOLUMES))
    draw, total = numbers(1070), 0
    for _ in range(lookups):
        energy, material = next(draw), bisect_right(limits, next(draw)) + 1
        sums = [0.0] * 5
        for nuclide, density in materials[material % 12]:
            grid = grids[nuclide]
            place = min(max(bisect_right([point[0] for point in grid], energy) - 1, 0), GRIDPOINTS - 2)
            low, high = grid[place], grid[place + 1]
            part = (high[0] - energy) / (high[0] - low[0])
            sums = [s + density * (b - part * (b - a)) for s, a, b in zip(sums, low[1:], high[1:], strict=True)]
        total += sums.index(max(sums)) + 1
    return total % 999983


# Runs ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_marline("gcc12", "process:2", "--devices", 1) is the outcome on some of these devices."""

    def run(compiler: str, devices: str, *arguments: object, **changes: str) -> Outcome:
        if devices != "none" and not (build / "lib" / "marline" / "libmarline-target.so").exists():
            pytest.skip("this build has no libmarline-target")
        prefix = [str(build / "bin" / "marline"), "run", "-t", "2", "--devices", devices, "--"]
        words = [*prefix, program(f"xsbench-{compiler}"), *map(str, arguments)]
        return Outcome.of(words, clean_environment(**changes))

    return run


def small(lookups: int = LOOKUPS) -> tuple[object, ...]:
    return "--gridpoints", GRIDPOINTS, "--lookups", lookups


@pytest.mark.parametrize("size", ("small", "large"))
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_host(on_marline, compiler, grid, size):
    outcome = on_marline(compiler, "none", "--host", "--grid", grid, "--size", size, *small())
    assert outcome.figures["lookups_per_s"] > 0
    assert outcome.remarks["compared_with"] == "nothing"
    assert int(outcome.remarks["checksum"]) == reference(LOOKUPS, size)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_on_the_compilers_own_runtime(program, compiler):
    outcome = Outcome.of([program(f"xsbench-{compiler}"), "--host", *map(str, small())],
                         clean_environment(OMP_NUM_THREADS="2", LD_LIBRARY_PATH="/usr/lib/llvm-19/lib"))  # fmt: skip
    assert int(outcome.remarks["checksum"]) == reference(LOOKUPS)


@pytest.mark.parametrize("devices", ("process:3", "host:2", "process,host"))
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_devices(on_marline, compiler, grid, devices):
    outcome = on_marline(compiler, devices, "--grid", grid, *small(), OMP_TARGET_OFFLOAD="mandatory")
    assert set(outcome.figures) == {"seconds", "enter_s", "kernels_s", "lookups_per_s"}
    assert int(outcome.remarks["devices"]) == (3 if devices == "process:3" else 2)
    assert outcome.remarks["compared_with"] == "the host"
    assert int(outcome.remarks["checksum"]) == reference(LOOKUPS)


@pytest.mark.parametrize("lookups", (LOOKUPS, 7))
@pytest.mark.parametrize("compiler", COMPILERS)
def test_shares(on_marline, compiler, lookups):
    """Several kernels on some of the devices; also more kernels than lookups."""
    outcome = on_marline(compiler, "process:3", "--devices", 2, "--kernels", 5, "--check", "none", *small(lookups))
    assert (outcome.remarks["devices"], outcome.remarks["kernels_per_device"]) == ("2", "5")
    assert int(outcome.remarks["checksum"]) == reference(lookups)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_weak_scaling(on_marline, compiler):
    """As many lookups on each of two devices as half of them are."""
    outcome = on_marline(compiler, "process:2", "--scaling", "weak", *small(LOOKUPS // 2))
    assert outcome.remarks["lookups"] == str(LOOKUPS)
    assert int(outcome.remarks["checksum"]) == reference(LOOKUPS)


@pytest.mark.parametrize(("scaling", "sleep"), (("strong", 2000), ("weak", 500)))
@pytest.mark.parametrize("compiler", COMPILERS)
def test_kernels_that_sleep(on_marline, compiler, scaling, sleep):
    """Four devices share what is slept: half a second each is the least time. That they sleep at once is not shown: a
    busy machine exceeds any upper bound, and kernels do not wait for each other as in test_devices_at_once.py."""
    outcome = on_marline(compiler, "process:4", "--sleep", sleep, "--kernels", 2, "--scaling", scaling, *small())
    least = 0.5
    assert outcome.figures["kernels_s"] >= least
    assert outcome.figures["efficiency"] == pytest.approx(100 * least / outcome.figures["kernels_s"], abs=0.01)
    assert outcome.remarks["compared_with"] == "the number of lookups"
    assert "checksum" not in outcome.remarks


@pytest.mark.parametrize("compiler", COMPILERS)
def test_kernels_that_sleep_on_one_device_take_turns(on_marline, compiler):
    outcome = on_marline(compiler, "process:4", "--devices", 1, "--kernels", 2, "--sleep", 500, *small())
    assert outcome.figures["kernels_s"] >= 0.5


# What goes wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", (["--host"], ["--devices", 2]), ids=("host", "devices"))
@pytest.mark.parametrize("compiler", COMPILERS)
def test_wrong_checksum(on_marline, compiler, place):
    right = reference(LOOKUPS)
    assert on_marline(compiler, "process:2", *place, *small(), "--expect", right).code == 0
    outcome = on_marline(compiler, "process:2", *place, *small(), "--expect", right + 1)
    assert outcome.code == EXIT_WRONG
    assert outcome.complaints == [f"xsbench: the checksum is {right}; by --expect it is {right + 1}"]
    assert "lookups_per_s" not in outcome.stdout


MISTAKES = {
    "--size medium": "--size takes one of small, large, not 'medium'",
    "--grid union": "--grid takes one of unionised, nuclide, hash, not 'union'",
    "--gridpoints 1": "--gridpoints takes a whole number from 2 to 16777216, not '1'",
    "--lookups 1e6": "--lookups takes a whole number from 1 to 1000000000000, not '1e6'",
    "--devices -1": "--devices takes a whole number from 0 to 1024, not '-1'",
    "--devices 3": "--devices 3: there are only 2 devices",
    "--kernels 0": "--kernels takes a whole number from 1 to 65536, not '0'",
    "--scaling up": "--scaling takes one of strong, weak, not 'up'",
    "--sleep nan": "--sleep takes a number from 0.001 to 1e+07, not 'nan'",
    "--check twice": "--check takes one of known, host, none, not 'twice'",
    "--expect -5": "--expect takes a whole number from 0 to 1000000000000, not '-5'",
    "--host --kernels 2": "--host uses no device: leave out --devices, --kernels, --scaling and --sleep",
    "--speed 3": "unknown option '--speed'; see --help",
    "--sleep": "option '--sleep' needs a value; see --help",
    "small": "unexpected argument 'small'; see --help",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes(on_marline, words):
    outcome = on_marline(COMPILERS[len(words) % 2], "process:2", *words.split())
    assert (outcome.code, outcome.stdout) == (EXIT_INPUT, "")
    assert outcome.complaints == [f"xsbench: {MISTAKES[words]}"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_device(on_marline, compiler):
    outcome = on_marline(compiler, "none", *small())
    assert outcome.code == EXIT_INPUT
    assert outcome.complaints == ["xsbench: there is no device; take --host, or ask `marline devices` why"]


def test_help(on_marline):
    outcome = on_marline("gcc12", "none", "--help")
    assert outcome.code == 0
    assert outcome.stdout.startswith("usage: xsbench ")
