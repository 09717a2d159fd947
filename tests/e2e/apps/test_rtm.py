# SPDX-License-Identifier: Apache-2.0
"""apps/rtm end to end, as built by each compiler: the images of both models have their peaks where the models have
reflectors, judged here a second time from the file that the program writes; and serially, as tasks and as target tasks,
on any devices, the program makes the same image, bit for bit."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from application import EXIT_INPUT, EXIT_WRONG, ApplicationOutcome
from conftest import clean_environment

LLVM = "/usr/lib/llvm-19/lib"
COMPILERS = ("gcc12", "clang19")
SPACING, FREQUENCY = 10, 20
SHAPE = COLUMNS, ROWS = 120, 80
IMAGED = ("--grid", "120x80", "--frequency", FREQUENCY, "--sponge", 24, "--shots", 9, "--aperture", 350)
SMALL = ("--grid", "70x40", "--frequency", 20, "--sponge", 12, "--shots", 5, "--aperture", 200, "--time", 0.4)


class Outcome(ApplicationOutcome):
    program = "rtm"

    @property
    def figures(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        words = [line.split() for line in self.stdout.splitlines() if not line.startswith(("#", "check"))]
        return {name: float(value) for name, value, _ in words}


Run = Callable[..., Outcome]


@pytest.fixture
def alone(program: Callable[[str], str]) -> Run:
    """alone("gcc12", "--form", "tasks") is the outcome on the OpenMP runtime that the compiler linked."""

    def run(compiler: str, *arguments: object) -> Outcome:
        return Outcome.of([program(f"rtm-{compiler}"), *map(str, arguments)],
                          clean_environment(OMP_NUM_THREADS="2", LD_LIBRARY_PATH=LLVM))  # fmt: skip

    return run


@pytest.fixture
def on_marline(build: Path, program: Callable[[str], str]) -> Run:
    """on_marline("gcc12", "process:2", "--form", "target") is the outcome with two threads and these devices."""
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")

    def run(compiler: str, devices: str, *arguments: object) -> Outcome:
        words = [build / "bin" / "marline", "run", "-t", 2, "--devices", devices, "--", program(f"rtm-{compiler}")]
        return Outcome.of(list(map(str, (*words, *arguments))), clean_environment())

    return run


# The image -----------------------------------------------------------------------------------------------------------


def reflectors(speeds: np.ndarray) -> list[float]:
    """Where the speed changes in a column of the model, in points: between the rows."""
    return [row + 0.5 for row in np.flatnonzero(np.diff(speeds))]


def peaks(image: np.ndarray, count: int) -> list[float]:
    """The brightest local maxima of a column below its uppermost fifth, in points, from top to bottom."""
    rows = [row for row in range(len(image) // 5, len(image) - 1) if image[row - 1] < image[row] >= image[row + 1]]
    best = sorted(sorted(rows, key=lambda row: -image[row])[:count])
    bends = [(image[row + 1] - image[row - 1]) / (2 * (2 * image[row] - image[row - 1] - image[row + 1]))
             for row in best]
    return [row + bend for row, bend in zip(best, bends, strict=True)]


@pytest.mark.parametrize(("model", "compiler"), (("layers", "gcc12"), ("wedge", "clang19")))
def test_peaks_are_where_the_reflectors_are(on_marline, tmp_path, model, compiler):
    file = tmp_path / "image.npy"
    outcome = on_marline(compiler, "none", "--model", model, "--form", "tasks", "--check", "-o", file, *IMAGED)
    assert outcome.code == 0, outcome.stderr
    assert "check passed" in outcome.stdout.splitlines()
    assert 0 < float(outcome.remarks["reflector_error_wavelengths"]) <= 0.125
    assert float(outcome.remarks["rest"]) < 1e-4, "the source's wave, backwards, ends in silence"
    speeds, smooth, image = np.load(file)
    assert image.shape == SHAPE
    assert (smooth[:, 0] == speeds[:, 0]).all() and not (smooth == speeds).all()
    thin = 0
    for column in range(int(0.35 * COLUMNS), int(0.65 * COLUMNS)):
        depths = reflectors(speeds[column])
        lengths = [speeds[column, int(depth)] / FREQUENCY / SPACING for depth in depths]
        assert len(depths) == (3 if model == "layers" else 2)
        if min(b - a for a, b in itertools.pairwise(depths)) < max(lengths):
            thin += 1
            continue
        for peak, depth, length in zip(peaks(image[column], len(depths)), depths, lengths, strict=True):
            assert abs(peak - depth) < length / 8, (column, peak, depth)
    assert thin < COLUMNS / 6, "most columns were looked at"


def test_what_the_receivers_have_not_heard_is_not_in_the_image(alone):
    outcome = alone("gcc12", "--check", "--time", 0.4, *IMAGED)
    assert outcome.code == EXIT_WRONG
    assert len(outcome.complaints) == 1
    assert re.match(r"rtm: (a peak of the image is|the image is [0-9.]+ times as bright)", outcome.complaints[0])
    assert "seconds" not in outcome.stdout


# Forms ---------------------------------------------------------------------------------------------------------------


def test_all_forms_make_the_same_image(alone, on_marline):
    serial = alone("gcc12", *SMALL).remarks
    assert (serial["form"], serial["shots"]) == ("serial", "5")
    target = ("--form", "target", "--devices")
    for compiler in COMPILERS:
        outcomes = [
            alone(compiler, *SMALL, "--form", "tasks"),
            on_marline(compiler, "none", *SMALL, "--form", "tasks", "--threads", 3),
            on_marline(compiler, "process", *SMALL, *target, "default"),
            on_marline(compiler, "process:3", *SMALL, *target, "all"),
            on_marline(compiler, "host,process:2", *SMALL, *target, 2, "--threads", 2),
            on_marline(compiler, "nodes:2", *SMALL, *target, "all"),
            on_marline(compiler, "cluster:3", *SMALL, *target, "default"),
        ]
        assert {outcome.remarks["hash"] for outcome in outcomes} == {serial["hash"]}
        assert {outcome.remarks["energy"] for outcome in outcomes} == {serial["energy"]}
        assert [outcome.remarks.get("devices") for outcome in outcomes] == [None, None, "1", "3", "2", "2", "1"]
        assert [outcome.remarks["threads_of_shot"] for outcome in outcomes] == ["1", "3", "1", "1", "2", "1", "1"]
        assert outcomes[0].figures.keys() == {"seconds", "gpoints_per_s"}


@pytest.mark.parametrize(("devices", "words"), (("none", ("--form", "tasks")),
                                               ("process:2", ("--form", "target", "--devices", "all"))))  # fmt: skip
@pytest.mark.parametrize("compiler", COMPILERS)
def test_shots_that_sleep(on_marline, compiler, devices, words):
    """Five unequal ones, two at a time: half of what they sleep together is the least time. Unequal: the largest alone
    takes less. That they sleep at once is not shown: a busy machine exceeds any upper bound, and shots do not wait for
    each other as in test_devices_at_once.py."""
    outcome = on_marline(compiler, devices, *words, *SMALL, "--sleep", 50)
    assert 1 < float(outcome.remarks["largest_shot"]) < 2
    least = 5 * 0.05 / 2
    assert outcome.figures["seconds"] >= least
    assert outcome.figures["efficiency"] == pytest.approx(100 * least / outcome.figures["seconds"], abs=0.01)
    assert "hash" not in outcome.remarks


@pytest.mark.parametrize("compiler", COMPILERS)
def test_shots_that_sleep_on_one_device_take_turns(on_marline, compiler):
    """The least time is said to be that of two workers, which the default device, a single process, is not."""
    target = ("--form", "target", "--devices", "default")
    outcome = on_marline(compiler, "process", *target, *SMALL, "--sleep", 50, "--workers", 2)
    assert outcome.figures["seconds"] >= 5 * 0.05
    assert outcome.figures["efficiency"] == pytest.approx(100 * 5 * 0.05 / 2 / outcome.figures["seconds"], abs=0.01)


# What goes wrong -----------------------------------------------------------------------------------------------------


def test_memory_is_stated_and_its_lack_noticed(program):
    """A shot that keeps the border of its wave for a long time, in a process that may not have so much."""
    words = (program("rtm-gcc12"), *map(str, SMALL[:-1]), "80")
    outcome = Outcome.of(["sh", "-c", 'ulimit -v 100000; exec "$@"', "sh", *words], clean_environment())
    assert outcome.code == EXIT_INPUT
    assert int(re.search(r"^# shot_bytes (\d+)$", outcome.stdout, re.MULTILINE)[1]) > 100000 * 1024
    assert outcome.complaints[0].startswith("rtm: not enough memory for shot 0, which takes ")


MISTAKES = {
    "--model salt": "--model takes one of layers, wedge, not 'salt'",
    "--form fast": "--form takes one of serial, tasks, target, not 'fast'",
    "--grid 100": "--grid takes XxZ, numbers from 32 to 20000, not '100'",
    "--grid 100x9": "--grid takes XxZ, numbers from 32 to 20000, not '100x9'",
    "--frequency nan": "--frequency takes a number from 0.01 to 1e+06, not 'nan'",
    "--time 5000": "5000 s are 3111112 steps of 0.00160714 s; at most 1000000 are possible: take a shorter --time",
    "--frequency 30": "--frequency 30 makes waves of 2.00 points; they need 2.5: take a lower one, or a smaller "
    "--spacing",
    "--shots 0": "--shots takes a whole number from 1 to 10000, not '0'",
    "--form target --devices some": "--devices takes default, all, or a whole number from 1 to 1024, not 'some'",
    "--form tasks --devices 2": "--devices says where target tasks run: it needs --form target, not tasks",
    "--sleep 5 --check": "--sleep computes nothing: leave out --check",
    "--workers 2": "--workers serves the efficiency, which is known with --sleep only",
    "-o /nowhere/image.npy --time 0.01": "-o: cannot open '/nowhere/image.npy': No such file or directory",
    "--speed 3": "unknown option '--speed'; see --help",
    "-o": "option '-o' needs a value; see --help",
    "wedge": "unexpected argument 'wedge'; see --help",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes(alone, words):
    outcome = alone(COMPILERS[len(words) % 2], *words.split())
    assert (outcome.code, outcome.stdout) == (EXIT_INPUT, "")
    assert outcome.complaints == [f"rtm: {MISTAKES[words]}"]


@pytest.mark.parametrize(("devices", "words", "says"), (
    ("process:2", ("--devices", 3), "--devices 3: there are only 2 devices"),
    ("none", (), "there is no device; take --form tasks, or ask `marline devices` why"),
))  # fmt: skip
def test_devices_that_are_not_there(on_marline, devices, words, says):
    outcome = on_marline("gcc12", devices, "--form", "target", *words)
    assert (outcome.code, outcome.stdout) == (EXIT_INPUT, "")
    assert outcome.complaints == [f"rtm: {says}"]


def test_help(alone):
    outcome = alone("gcc12", "--help")
    assert outcome.code == 0
    assert outcome.stdout.startswith("usage: rtm ")
