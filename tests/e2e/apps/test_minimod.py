# SPDX-License-Identifier: Apache-2.0
"""apps/minimod end to end: both forms and both starts, as built by each compiler, on devices that are processes, beside
other kinds and on emulated GPUs; without devices; and with MPI instead.

The program checks its numbers itself, against the exact solution and a serial run; that it notices a halo which did not
arrive is a test of its own. The build is the one in MARLINE_BUILD."""

from collections.abc import Callable
from pathlib import Path

import pytest

from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome
from conftest import LLVM, clean_environment, emulated_gpus

PROGRAMS = ("minimod-gcc12", "minimod-clang19")
FORMS = ("copies", "updates")
CHECKED = ("--grid", "48x40x44", "--wavelength", 6, "--steps", 75, "--exact", "--serial")
SHORT = ("--grid", "40x30x28", "--steps", 30, "--serial")
LAYERS = ("--model", "layers", "--sponge", 7)


class Outcome(ApplicationOutcome):
    program = "minimod"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        words = [line.split() for line in self.stdout.splitlines() if not line.startswith(("#", "check"))]
        return {name: float(value) for name, value, _ in words}

    @property
    def passed(self) -> bool:
        return self.code == 0 and "check passed" in self.stdout.splitlines()


class MpiOutcome(Outcome):
    program = "minimod-mpi"


@pytest.fixture
def on_devices(build: Path, program: Callable[[str], str]) -> Callable[..., Outcome]:
    """on_devices("minimod-gcc12", "process:2", threads, "--steps", 9) is the outcome on these devices under Marline."""
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")

    def run(name: str, devices: str, threads: int, *arguments: object, **changes: str) -> Outcome:
        words = [str(build / "bin" / "marline"), "run", "-t", str(threads), "--devices", devices, "--", program(name)]
        return Outcome.of([*words, *map(str, arguments)], clean_environment(OMP_TARGET_OFFLOAD="mandatory", **changes))

    return run


@pytest.fixture
def alone(program: Callable[[str], str]) -> Callable[..., Outcome]:
    """alone("minimod-gcc12", "--host") is the outcome on what its compiler linked."""

    def run(name: str, *arguments: object) -> Outcome:
        return Outcome.of([program(name), *map(str, arguments)],
                          clean_environment(OMP_NUM_THREADS="2", LD_LIBRARY_PATH=str(LLVM)))  # fmt: skip

    return run


@pytest.fixture
def on_ranks(program: Callable[[str], str]) -> Callable[..., MpiOutcome]:
    """on_ranks("mpich", 3, "--steps", 9) is the outcome of minimod-mpi, without Marline."""

    def run(mpi: str, ranks: int, *arguments: object) -> MpiOutcome:
        words = [f"mpirun.{mpi}", "-n", str(ranks), program(f"minimod-mpi-gcc12-{mpi}"), *map(str, arguments)]
        return MpiOutcome.of(words, clean_environment(OMP_NUM_THREADS="1"))

    return run


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", ("point", "mode"))
def test_both_checks_pass_on_devices(on_devices, name, form, start):
    outcome = on_devices(name, "process:3", 2, "--form", form, "--start", start, *CHECKED)
    assert outcome.passed, outcome.stderr
    assert (outcome.remarks["form"], outcome.remarks["devices"]) == (form, "3")
    assert outcome.remarks["points_differing"] == "0"
    assert 0 < float(outcome.remarks["error"]) <= float(outcome.remarks["tolerance"])
    assert outcome.figures["gpoints_per_s"] > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_thread_is_enough(on_devices, name):
    assert on_devices(name, "process:3", 1, *SHORT, *LAYERS).passed


@pytest.mark.parametrize("form", FORMS)
def test_kinds_of_devices_may_be_mixed(on_devices, form):
    assert on_devices(PROGRAMS[0], "host,process:2", 2, "--form", form, *SHORT, *LAYERS, "--chunk", 5).passed


@pytest.mark.parametrize("form", FORMS)
def test_emulated_gpus(build, on_devices, form):
    """One point per thread, as on a real one."""
    gpus = emulated_gpus(build, 3)
    words = ("--form", form, "--grid", "36x20x20", "--steps", 12, "--serial", "--chunk", 1)
    outcome = on_devices("minimod-gpu", "libomptarget", 2, *words, **gpus)
    assert outcome.passed, outcome.stderr
    assert outcome.remarks["devices"] == "3"


def test_fewer_devices_than_there_are(on_devices):
    outcome = on_devices(PROGRAMS[0], "process:3", 2, "--devices", 2, *SHORT)
    assert outcome.passed, outcome.stderr
    assert outcome.remarks["devices"] == "2"
    assert outcome.figures["halo_bytes"] == 2 * 4 * (30 + 8) * (28 + 8) * 4, "two messages of four planes of floats"


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("start", ("point", "mode"))
def test_host_on_the_compiler_s_own_runtime(alone, name, start):
    outcome = alone(name, "--host", "--start", start, *CHECKED)
    assert outcome.passed, outcome.stderr
    assert outcome.figures["halo_bytes"] == 0


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
@pytest.mark.parametrize("start", ("point", "mode"))
def test_ranks_instead_of_devices(on_ranks, mpi, start):
    outcome = on_ranks(mpi, 3, "--start", start, *CHECKED)
    assert outcome.passed, outcome.stderr
    assert (outcome.remarks["ranks"], outcome.remarks["points_differing"]) == ("3", "0")


@pytest.mark.parametrize("name", PROGRAMS)
def test_sleeping_kernels(on_devices, name):
    """That devices work at the same time is shown by test_devices_at_once.py."""
    figures = on_devices(name, "process:4", 1, "--grid", 48, "--steps", 10, "--sleep", 50).figures
    assert figures["step_us"] >= 50e3, "four slabs, each 50 ms per step"
    assert "gpoints_per_s" not in figures, "nothing was computed"


SLEEPING = ("--grid", 48, "--steps", 4, "--sleep", 5, "--overlap")


def expect_halves(figures: dict[str, float]) -> None:
    assert figures["step_us"] >= 5000 and figures["kernels_us"] >= 5000, "kernels sleep in both"
    assert 0 < figures["halos_us"]
    hidden = figures["kernels_us"] + figures["halos_us"] - figures["step_us"]
    assert figures["overlap"] == pytest.approx(100 * hidden / figures["halos_us"], abs=0.1, rel=1e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_overlap_on_devices(on_devices, name):
    expect_halves(on_devices(name, "process:2", 1, *SLEEPING).figures)


def test_overlap_on_ranks(on_ranks):
    expect_halves(on_ranks("openmpi", 2, *SLEEPING).figures)


@pytest.fixture
def lost_copy(compiled) -> Callable[[int], dict[str, str]]:
    """lost_copy(0) is the environment in which a copy between devices is not made, and the call returns 0."""
    library = compiled("gcc-12", "minimod_wrong.c", "-D_GNU_SOURCE", "-shared", "-fPIC")
    return lambda result: {"LD_PRELOAD": str(library), "MINIMOD_WRONG": str(result)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("check", "says"), [("--serial", "points differ from the serial run"),
                                             ("--exact", "differs from the exact solution")])  # fmt: skip
def test_an_old_halo_is_noticed(on_devices, lost_copy, name, check, says):
    outcome = on_devices(name, "process:3", 2, "--start", "mode", check, "--grid", 40, "--steps", 40, **lost_copy(0))
    assert outcome.code == EXIT_WRONG
    assert len(outcome.complaints) == 1 and says in outcome.complaints[0]
    assert "step_us" not in outcome.stdout


def test_an_error_of_a_copy_is_noticed(on_devices, lost_copy):
    outcome = on_devices(PROGRAMS[0], "process:3", 2, *SHORT, **lost_copy(1))
    assert outcome.code == EXIT_INPUT
    assert outcome.complaints == ["minimod: omp_target_memcpy failed between devices; --form updates does without"]


def test_picture(on_devices, tmp_path):
    picture = tmp_path / "wave.pgm"
    assert on_devices(PROGRAMS[0], "process:2", 2, *SHORT, "--picture", picture).passed
    head, pixels = picture.read_bytes().split(b"\n255\n", 1)
    assert head == b"P5\n40 28"
    assert len(pixels) == 40 * 28 and len(set(pixels)) > 10
    assert pixels[0] in (127, 128), "the wave has not come to the corner"


@pytest.mark.parametrize(("words", "says"), [
    (("--grid", "40x30"), "--grid takes N or XxYxZ, numbers from 8 to 10000, not '40x30'"),
    (("--courant", "0.5"), "--courant takes a number from 0.001 to 0.45, not '0.5'"),
    (("--model", "earth"), "--model takes uniform or layers, not 'earth'"),
    (("--sponge", "50"), "--sponge 50 does not fit twice into 96 points"),
    (("--sleep", "3", "--serial"), "--sleep computes nothing, so there is no result for --serial"),
    (("--overlap",), "--overlap leaves halos and kernels out in turns: it needs --sleep, and devices"),
    (("--exact", "--steps", "9"), "--exact: after 9 steps the wave has hardly left the source"),
    (("--host", "--devices", "2"), "--host uses no device: leave out --devices 2"),
    (("--speed", "9"), "unknown option '--speed'"),
    (("more",), "unexpected argument 'more'"),
    ((), "there is no device for target regions; --host runs without"),
])  # fmt: skip
def test_mistakes_are_refused(alone, words, says):
    outcome = alone(PROGRAMS[0], *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1 and says in outcome.complaints[0]


@pytest.mark.parametrize(("words", "says"), [
    (("--devices", "3"), "--devices 3: there are only 2"),
    (("--grid", "20"), "20 planes are too few for 2 devices, which need 12 each"),
    (("--devices", "1", "--overlap", "--sleep", "1"), "--overlap needs two devices or more"),
    (("--grid", "40", "--exact", "--steps", "900"), "--exact: after 900 steps most of the wave has met the border"),
])  # fmt: skip
def test_mistakes_on_devices_are_refused(on_devices, words, says):
    outcome = on_devices(PROGRAMS[0], "process:2", 1, *words)
    assert outcome.code == EXIT_INPUT
    assert len(outcome.complaints) == 1 and says in outcome.complaints[0]


def test_ranks_refuse_options_of_devices(on_ranks):
    outcome = on_ranks("openmpi", 1, "--form", "updates")
    assert outcome.code == EXIT_INPUT
    assert outcome.complaints == ["minimod-mpi: --form is an option of minimod, not of minimod-mpi"]


def test_help(alone, on_ranks):
    assert alone(PROGRAMS[0], "--help").stdout.startswith("usage: minimod [OPTIONS]")
    assert on_ranks("openmpi", 1, "--help").stdout.startswith("usage: minimod-mpi [OPTIONS]")
