# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the `marline` command: the build tree, and programs compiled for the test at hand by a
compiler's plain command line. MARLINE_BUILD names the build tree (default: build/release)."""

import os
import shlex
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

# What no run takes, also beside 20 busy processes on two cores: it ends a run that hangs. No test judges a time.
SECONDS = 600
PROGRAMS = Path(__file__).parent / "programs"
LLVM = Path("/usr/lib/llvm-19/lib")
Result = subprocess.CompletedProcess[str]


def build_tree() -> Path:
    here = Path(__file__).resolve().parents[2]
    return Path(os.environ.get("MARLINE_BUILD", here / "build" / "release")).resolve()


def clean_environment(**changes: str) -> dict[str, str]:
    """The environment without what an outer test run or shell has set for OpenMP, MPI or Marline."""
    dropped = ("OMP_", "MARLINE_", "KMP_", "GOMP_", "LD_PRELOAD", "LD_LIBRARY_PATH", "OMPI_COMM", "PMI_", "PMIX_",
               "SLURM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | changes


def run(words: Sequence[str | Path], **changes: str) -> Result:
    return subprocess.run([str(word) for word in words], env=clean_environment(**changes), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip


def wait_for(look: Callable[[], Any], context: Callable[[], str]) -> Any:
    """What `look` finds, tried again until it finds something."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.1)
    pytest.fail(f"in vain: {context()}")


def device_flags(build: Path, compiler: str) -> list[str]:
    """For programs with target regions for processors: GCC's need none. Skips where this build has none of Clang's."""
    if not compiler.startswith("clang"):
        return []
    stub = build / "tests" / "programs" / "offload" / "link" / "clang19"
    if not (stub / "libomptarget.so").exists():
        pytest.skip("this build has no programs of Clang 19 for devices")
    return ["-fopenmp-targets=x86_64-pc-linux-gnu", f"-L{stub}"]


def emulated_gpus(build: Path, count: int, **changes: str) -> dict[str, str]:
    """The environment in which LLVM's libomptarget finds so many emulated GPUs. Skips where it cannot."""
    driver = build / "lib" / "marline" / "emulator"
    if not (driver / "libcuda.so").exists() or not any(LLVM.glob("libomptarget.so*")):
        pytest.skip("no emulated GPUs here")
    return {"LD_LIBRARY_PATH": f"{driver}:{LLVM}", "MARLINE_EMULATOR_DEVICES": str(count)} | changes


# All cases of all tests take minutes more. By default, every third case of each test in these files runs, from
# one on that its name decides: each test runs, and each file meets all compilers and MPIs.
EXHAUSTIVE = os.environ.get("MARLINE_EXHAUSTIVE", "") not in ("", "0")
LONG = {"test_nodes_each", "test_nodes_parts", "test_nodes", "test_lulesh", "test_cholesky", "test_hpccg", "test_ps",
        "test_nbody", "test_advice", "test_cluster", "test_gdb", "test_check", "test_halo", "test_archer",
        "test_nodes_ends", "test_nodes_copies", "test_run_mpi", "test_mpi_matrix", "test_slurm", "test_minimod",
        "test_report", "test_ten_minutes"}
EVERY = 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if Path(str(item.path)).stem in LONG and not EXHAUSTIVE:
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    left: set[pytest.Item] = set()
    for name, ones in cases.items():
        if len(ones) > 1:
            first = zlib.crc32(name.split("::")[-1].encode()) % EVERY
            left.update(one for at, one in enumerate(ones) if at % EVERY != first % len(ones))
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


# More ranks than cores, perhaps as root in a container: what Open MPI wants to be told.
CROWDED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip


def run_without_hang(words: Sequence[str], env: dict[str, str], seconds: float) -> Result:
    """Fails the test if there is no end in time; a launcher's ranks are killed with it."""
    with subprocess.Popen(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"hang: no end after {seconds} s: {shlex.join(words)}")
    return Result(words, process.returncode, stdout, stderr)


@pytest.fixture(scope="session")
def build() -> Path:
    tree = build_tree()
    assert (tree / "lib" / "libmarline.so").exists(), f"{tree} has no libmarline.so: build it, or set MARLINE_BUILD"
    return tree


@pytest.fixture(scope="session")
def program(build: Path) -> Callable[[str], str]:
    """program("nbody-gcc12-mpich") is the path of that application."""

    def find(name: str) -> str:
        path = build / "apps" / name
        if not path.exists():
            pytest.skip(f"{path} is not built")
        return str(path)

    return find


@pytest.fixture(scope="session")
def marline(build: Path) -> Callable[..., Result]:
    """marline("run", "./a.out", OMP_NUM_THREADS="2") runs the command with that environment added."""
    return lambda *words, **changes: run([build / "bin" / "marline", *words], **changes)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """compiled("gcc-12", "probe.c", "-fopenmp") is the executable; equal calls share it. Skips where the compiler is
    not installed."""
    folder = tmp_path_factory.mktemp("programs")
    made: dict[tuple[str, ...], Path] = {}

    def compile_once(compiler: str, source: str, *flags: str) -> Path:
        key = (compiler, source, *flags)
        if key not in made:
            if shutil.which(compiler) is None:
                pytest.skip(f"{compiler} is not installed")
            output = folder / f"{Path(source).stem}-{len(made)}"
            words = [compiler, "-O1", str(PROGRAMS / source), "-o", str(output), *flags]
            subprocess.run(words, check=True, timeout=SECONDS)
            made[key] = output
        return made[key]

    return compile_once
