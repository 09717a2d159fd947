# SPDX-License-Identifier: Apache-2.0
"""bench/taskbench: the patterns are what README.md says, every driver runs every pattern under every runtime and
prints what `marline study` reads, and the library rejects a run that broke the graph.

The graph is restated here task by task, as the rule of who reads whom; the library works with intervals, and with the
rule turned round.
"""
from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Result, run

PATTERNS = ("trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "all_to_all", "nearest",
            "spread", "random_nearest")  # fmt: skip
KERNELS = ("empty", "busy_wait", "compute", "memory", "load_imbalance", "sleep")
RUNTIMES = {"gcc12": ("libgomp", "marline"), "clang19": ("libomp", "marline")}
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
# What Open MPI asks of root, and of a machine with fewer cores than ranks, by environment.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
NEEDS = {"gcc12": "gcc-12", "clang19": "clang-19", "openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
FEW = ("--width", "7", "--steps", "30", "--iterations", "50")
Edges = set[tuple[int, int, int]]  # task (t, i) reads (t - 1, j): t, i, j


@pytest.fixture(scope="session")
def folder(build: Path) -> Path:
    return build / "bench" / "taskbench"


@pytest.fixture(scope="session")
def program(folder: Path) -> Callable[[str], Path]:
    """program("omp_task-gcc12"); skips where that compiler, MPI or StarPU is not installed."""

    def find(name: str) -> Path:
        for part, tool in NEEDS.items():
            if part in name and shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        if name == "starpu" and subprocess.run(["pkg-config", "--exists", "starpu-1.3"], check=False).returncode:
            pytest.skip("StarPU 1.3 is not installed")
        path = folder / f"taskbench-{name}"
        assert path.exists(), f"{path} was not built"
        return path

    return find


def swap(build: Path, runtime: str, mpi: str = "") -> dict[str, str]:
    """The environment that puts `runtime` under a program."""
    if runtime != "marline":
        return {}
    preload = [build / "lib" / "libmarline.so"]
    if mpi:
        preload.append(build / "lib" / "marline" / mpi / "libmarline-mpi.so")
    return {"LD_LIBRARY_PATH": str(build / "lib" / "marline" / "compat"), "LD_PRELOAD": ":".join(map(str, preload))}


def ranks(mpi: str, count: int, env: dict[str, str], *words: str | Path, **changes: str) -> Result:
    """Only the ranks see `env`: the launcher is no OpenMP program."""
    settings = [f"{key}={value}" for key, value in env.items()]
    return run([LAUNCHERS[mpi], "-n", str(count), "/usr/bin/env", *settings, *words], **ROOT, **changes)


def read_output(result: Result) -> tuple[dict[str, float], dict[str, str]]:
    """Figures and remarks of a run that must have been right."""
    assert result.returncode == 0, result.stderr
    figures: dict[str, float] = {}
    remarks: dict[str, str] = {}
    for line in result.stdout.splitlines():
        if line.startswith("# "):
            _, key, value = line.split(maxsplit=2)
            remarks[key] = value
        else:
            name, number, _unit = line.split()
            figures[name] = float(number)
    return figures, remarks


# --- the graph -------------------------------------------------------------------------------------------------------


def mix(x: int) -> int:
    """splitmix64's step."""
    word = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & word
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & word
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & word
    return x ^ x >> 31


def kept(seed: int, t: int, i: int, j: int, fraction: float) -> bool:
    """random_nearest's coin, which is the same again every 16 steps."""
    word = 0
    for part in (seed, 1 + (t - 1) % 16, i, j % 2**64):
        word = mix(word ^ part)
    return (word >> 11) / 2**53 < fraction


def reads(pattern: str, t: int, i: int, j: int, width: int, radix: int) -> bool:
    """Does task (t, i) read (t - 1, j)?"""
    levels = math.ceil(math.log2(width))
    ring = min((i - j) % width, (j - i) % width)
    first = i - radix // 2
    near = first <= j < first + radix
    match pattern:
        case "trivial":
            return False
        case "no_comm":
            return i == j
        case "stencil_1d":
            return abs(i - j) <= 1
        case "stencil_1d_periodic":
            return ring <= 1
        case "dom":
            return j in (i - 1, i)
        case "tree":
            return j == (i // 2 if t <= levels else i)
        case "fft":
            return i == j or abs(i - j) == 2 ** ((t - 1) % max(1, levels))
        case "all_to_all":
            return True
        case "nearest":
            return near
        case "spread":
            turn = (t - 1) % math.ceil(width / radix)
            return any((i + k * width // radix + turn) % width == j for k in range(radix))
        case "random_nearest":
            return near and kept(1, t, i, j, 0.5)
    raise AssertionError(pattern)


def width_at(pattern: str, t: int, width: int) -> int:
    return min(width, 2**t) if pattern == "tree" else width


def restated(pattern: str, steps: int, width: int, radix: int) -> Edges:
    return {(t, i, j) for t in range(1, steps) for i in range(width_at(pattern, t, width))
            for j in range(width_at(pattern, t - 1, width)) if reads(pattern, t, i, j, width, radix)}  # fmt: skip


def printed(output: str) -> tuple[set[tuple[int, int]], Edges, Edges]:
    """Tasks, edges by their readers, edges by their writers."""
    tasks, forwards, backwards = set(), set(), set()
    for line in output.splitlines():
        if "<" not in line:
            continue
        task, rest = line.split("<")
        t, i = map(int, task.split())
        inputs, readers = rest.split(">")
        tasks.add((t, i))
        forwards |= {(t, i, int(j)) for j in inputs.split()}
        backwards |= {(t + 1, int(k), i) for k in readers.split()}
    return tasks, forwards, backwards


def read_output_of_graph(result: Result) -> tuple[dict[str, float], dict[str, str]]:
    lines = [line for line in result.stdout.splitlines() if "<" not in line]
    return read_output(subprocess.CompletedProcess([], result.returncode, "\n".join(lines), result.stderr))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("width", "radix"), [(1, 1), (2, 2), (3, 1), (8, 3), (13, 4), (16, 5), (17, 17)])
def test_dependences(program, pattern, width, radix):
    steps = 40
    result = run([program("check"), "graph", "--pattern", pattern, "--width", str(width), "--steps", str(steps),
                  "--radix", str(radix), "--warmup", "0"])  # fmt: skip
    figures, _ = read_output_of_graph(result)
    tasks, forwards, backwards = printed(result.stdout)
    edges = restated(pattern, steps, width, radix)
    assert tasks == {(t, i) for t in range(steps) for i in range(width_at(pattern, t, width))}
    assert forwards == edges
    assert backwards == edges
    assert (figures["tasks"], figures["dependences"]) == (len(tasks), len(edges))


@pytest.mark.parametrize("radix", ["0", "2", "9"])
def test_nearest_of_any_radix(program, radix):
    result = run([program("check"), "graph", "--pattern", "nearest", "--width", "5", "--steps", "4", "--radix", radix,
                  "--warmup", "0"])  # fmt: skip
    assert printed(result.stdout)[1] == restated("nearest", 4, 5, int(radix))


# --- the check -------------------------------------------------------------------------------------------------------

TINY = ("--width", "4", "--steps", "6", "--output-bytes", "256", "--slots", "2")
FAULTS = {
    "skip_last": "run 0: 23 tasks",
    "twice": "run 0: 25 tasks",
    "skip_middle": "run 0: task (4, 0) read the output of (3, 0) and found at byte 0: stamp 2, column 0",
    "early": "run 0: task (4, 0) read the output of (3, 0) and found at byte 0: stamp 2, column 0",
    "overwritten": "run 0: task (3, 0) read the output of (2, 0) and found at byte 0: stamp 2, column 0",
    "old_run": "run 1: task (1, 0) read the output of (0, 0) and found at byte 0: stamp 5, column 0",
    "torn": "run 0: task (3, 0) read the output of (2, 0) and found at byte 240",
    "unread": "run 0: 4 tasks with checksum ",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_graph_is_an_error(program, fault):
    result = run([program("check"), fault, *TINY])
    assert result.returncode == 1
    assert FAULTS[fault] in result.stderr
    assert result.stderr.count("\n") == 1
    assert "elapsed_s" not in result.stdout


def test_without_a_fault_the_check_passes(program):
    result = run([program("check"), "none", *TINY])
    assert read_output(result)[0]["tasks"] == 24


# --- the drivers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("driver", ["omp_task", "omp_for"])
@pytest.mark.parametrize(("compiler", "runtime"), [(c, r) for c, both in RUNTIMES.items() for r in both])
def test_openmp(program, build, driver, compiler, runtime, pattern):
    result = run([program(f"{driver}-{compiler}"), "--pattern", pattern, *FEW], OMP_NUM_THREADS="3",
                 **swap(build, runtime))  # fmt: skip
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 30, 7, 5))
    assert Path(remarks["runtime"]).name.startswith("libmarline.so" if runtime == "marline" else runtime)
    assert (remarks["driver"], remarks["pattern"], remarks["workers"]) == (driver, pattern, "3")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("driver", ["mpi", "mpi_bulk"])
def test_mpi(program, driver, pattern):
    result = ranks("mpich", 2, {}, program(f"{driver}-mpich"), "--pattern", pattern, *FEW)
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 30, 7, 5))
    assert (remarks["driver"], remarks["workers"]) == (driver, "2")
    assert "libmpich" in remarks["runtime"]


@pytest.mark.parametrize("driver", ["mpi", "mpi_bulk"])
@pytest.mark.parametrize("pattern", ["stencil_1d", "random_nearest"])
def test_open_mpi(program, driver, pattern):
    result = ranks("openmpi", 3, {}, program(f"{driver}-openmpi"), "--pattern", pattern, *FEW)
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 30, 7, 5))
    assert remarks["workers"] == "3"
    assert "libmpi" in remarks["runtime"]


@pytest.mark.parametrize(("compiler", "pattern"), [("gcc12", pattern) for pattern in PATTERNS]
                         + [("clang19", "stencil_1d"), ("clang19", "tree"), ("clang19", "spread")])  # fmt: skip
def test_blocking_mpi_in_tasks(program, build, compiler, pattern):
    """One thread per rank: it ends only because a task that blocks gives the thread away."""
    result = ranks("mpich", 2, swap(build, "marline", "mpich"), program(f"mpi_omp_task-{compiler}-mpich"),
                   "--pattern", pattern, *FEW, OMP_NUM_THREADS="1")  # fmt: skip
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 30, 7, 5))
    assert (remarks["driver"], remarks["workers"]) == ("mpi_omp_task", "2")
    assert Path(remarks["runtime"]).name.startswith("libmarline.so")
    assert Path(remarks["mpi"]).name.startswith("libmarline-mpi.so")


@pytest.mark.parametrize("compiler", list(RUNTIMES))
def test_blocking_open_mpi_in_tasks(program, build, compiler):
    """Messages too big to be sent before somebody receives them: sends block as well."""
    result = ranks("openmpi", 2, swap(build, "marline", "openmpi"), program(f"mpi_omp_task-{compiler}-openmpi"),
                   "--pattern", "all_to_all", "--output-bytes", "65536", *FEW, OMP_NUM_THREADS="2")  # fmt: skip
    assert read_output(result)[1]["workers"] == "4"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_starpu(program, pattern):
    """Ten columns: all_to_all needs more inputs than StarPU keeps in a task."""
    result = run([program("starpu"), "--pattern", pattern, "--width", "10", "--steps", "20", "--workers", "2"])
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 20, 10, 5))
    assert (remarks["driver"], remarks["workers"]) == ("starpu", "2")
    assert "libstarpu" in remarks["runtime"]


def test_starpu_leaves_nothing_behind(program, tmp_path):
    result = run([program("starpu"), "--steps", "5", "--workers", "1"], HOME=str(tmp_path), TMPDIR=str(tmp_path))
    read_output(result)
    assert list(tmp_path.iterdir()) == []
    assert result.stderr == ""


def on_device(build: Path, device: str, *words: str | Path) -> Result:
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")
    return run([build / "bin" / "marline", "run", "-t", "2", "--devices", device, "--", *words],
               OMP_TARGET_OFFLOAD="mandatory")  # fmt: skip


@pytest.mark.parametrize(("compiler", "pattern", "device", "output_bytes"), [
    ("gcc12", "trivial", "process", "64"), ("clang19", "trivial", "nodes:1", "64"),
    ("gcc12", "stencil_1d", "nodes:1", "80"), ("clang19", "stencil_1d", "process", "4096"),
    ("gcc12", "fft", "process", "4096"), ("clang19", "fft", "host", "16"),
    ("gcc12", "tree", "host", "16"), ("clang19", "tree", "process", "80"),
    ("gcc12", "fft", "cluster:2", "4096"), ("clang19", "stencil_1d", "cluster:2", "80"),
    ("gcc12", "tree", "cluster:3", "64"), ("clang19", "trivial", "cluster:2", "16"),
])  # fmt: skip
def test_target_tasks(program, build, compiler, pattern, device, output_bytes):
    kernel = "load_imbalance" if device == "process" else "sleep"
    result = on_device(build, device, program(f"omp_target-{compiler}"), "--pattern", pattern, "--output-bytes",
                       output_bytes, "--slots", "2", "--kernel", kernel, "--workers", "2", *FEW)  # fmt: skip
    figures, remarks = read_output(result)
    assert figures["dependences"] == len(restated(pattern, 30, 7, 5))
    assert (remarks["driver"], remarks["pattern"], remarks["workers"]) == ("omp_target", pattern, "2")


@pytest.mark.parametrize(("device", "words", "says"), [
    ("process", ("--pattern", "all_to_all"), "--pattern all_to_all: a target task can have 3 inputs, not 7"),
    ("process", ("--kernel", "memory"), "--kernel memory: target tasks have no scratch memory of a worker"),
    ("none", (), "there is no device for target tasks; `marline devices` says why"),
])  # fmt: skip
def test_what_target_tasks_cannot_do(program, build, device, words, says):
    result = on_device(build, device, program("omp_target-gcc12"), *FEW, *words)
    assert result.returncode == 1
    assert f"taskbench: {says}" in result.stderr
    assert "elapsed_s" not in result.stdout


# --- kernels, figures, options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("output_bytes", ["16", "80", "4096"])
def test_kernels_and_outputs(program, kernel, output_bytes):
    result = run([program("omp_task-gcc12"), "--kernel", kernel, "--output-bytes", output_bytes, "--slots", "2", *FEW],
                 OMP_NUM_THREADS="2")  # fmt: skip
    figures, remarks = read_output(result)
    units = figures["rate"] * figures["elapsed_s"]
    tasks = figures["tasks"]
    assert figures["granularity_us"] == pytest.approx(1e6 * figures["elapsed_s"] * 2 / tasks)
    per_task = {"empty": 1, "load_imbalance": units / tasks}.get(kernel, 50)
    assert units == pytest.approx(per_task * tasks)
    assert ("flop_rate" in figures) == (kernel in ("compute", "load_imbalance"))
    assert ("byte_rate" in figures) == (kernel == "memory")
    assert (remarks["kernel"], remarks["output-bytes"], remarks["slots"]) == (kernel, output_bytes, "2")


def work(program: Callable[[str], Path], *options: str) -> float:
    words = [program("check"), "none", "--kernel", "load_imbalance", "--width", "50", "--steps", "40",
             "--iterations", "1000", *options]  # fmt: skip
    figures, _ = read_output(run(words))
    return figures["rate"] * figures["elapsed_s"] / figures["tasks"]


def test_imbalance(program):
    """The factors have mean 1, depend on the seed, and on nothing else."""
    first, again, other = work(program), work(program), work(program, "--seed", "2")
    assert first == pytest.approx(again)
    assert first != pytest.approx(other)
    assert 950 < first < 1050 and 950 < other < 1050  # 2000 factors uniform in [0.5, 1.5): 15 standard errors
    assert work(program, "--imbalance", "0") == pytest.approx(1000)


MISTAKES = {
    ("--pattern", "star"): "bad value 'star' for --pattern",
    ("--steps", "0"): "bad value '0' for --steps",
    ("--steps",): "bad value '' for --steps",
    ("--width", "3x"): "bad value '3x' for --width",
    ("--seed", "-1"): "bad value '-1' for --seed",
    ("--imbalance", "nan"): "bad value 'nan' for --imbalance",
    ("--slots", "3"): "--slots must be a power of two",
    ("--output-bytes", "24"): "--output-bytes must be a multiple of 16",
    ("--scratch-bytes", "5000"): "--scratch-bytes must be a multiple of 4096",
    ("--pattern", "spread", "--radix", "9"): "--radix must be 1 to --width",
    ("--pattern", "all_to_all", "--width", "32768"): "take a smaller --width",
    ("--wdith", "3"): "no option is called --wdith",
    ("--workers", "5"): "--workers 5, but omp_task runs on 2",
}


@pytest.mark.parametrize("words", MISTAKES, ids=lambda words: " ".join(words))
def test_mistakes(program, words):
    result = run([program("omp_task-gcc12"), *words], OMP_NUM_THREADS="2")
    assert result.returncode == 1
    assert MISTAKES[words] in result.stderr
    assert result.stderr.count("\n") == 1
    assert "elapsed_s" not in result.stdout


def test_one_rank_speaks(program):
    result = ranks("mpich", 2, {}, program("mpi-mpich"), "--pattern", "star")
    assert result.returncode != 0
    assert (result.stdout + result.stderr).count("bad value 'star'") == 1


def test_help_names_every_remark(program):
    """What a run prints of its options is what --help explains."""
    help_text = run([program("omp_for-gcc12"), "--help"])
    assert help_text.returncode == 0
    _, remarks = read_output(run([program("omp_for-gcc12"), "--steps", "2"], OMP_NUM_THREADS="1"))
    assert all(f"--{key} " in help_text.stdout for key in remarks if key not in ("driver", "runtime"))
