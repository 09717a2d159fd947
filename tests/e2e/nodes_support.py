# SPDX-License-Identifier: Apache-2.0
"""What the tests of devices on nodes share: jobs of the launcher, and what is left after them."""

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, Result, clean_environment, emulated_gpus

MARK = "NODES_TEST"
COMPILERS = {"gcc": ("gcc-12", "-fopenmp"),
             "clang": ("clang-19", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")}  # fmt: skip
MPIS = ("openmpi", "mpich")


def require_target(build: Path) -> None:
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no libmarline-target")


def built(compiled: Callable[..., Path], kind: str, source: str, *flags: str) -> Path:
    compiler, *own = COMPILERS[kind]
    if source.endswith(".cpp"):
        compiler = {"gcc-12": "g++-12", "clang-19": "clang++-19"}[compiler]
    return compiled(compiler, source, *own, *flags)


@pytest.fixture
def emulated(build: Path) -> dict[str, str]:
    """A GPU for each worker of a node of its own, and no program without one."""
    return emulated_gpus(build, 1, OMP_TARGET_OFFLOAD="mandatory")


def gpu_program(build: Path, name: str) -> Path:
    """A program of tests/programs/offload: `cluster_all_*` have code for GPUs and processors, `emulator_device_*` for
    GPUs alone."""
    path = build / "tests" / "programs" / "offload" / "bin" / name
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def require_mpi(mpi: str) -> None:
    if shutil.which(f"mpicc.{mpi}") is None:
        pytest.skip(f"no {mpi}")


def built_with_mpi(compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str, mpi: str,
                   source: str) -> Path:
    require_mpi(mpi)
    compiler, *flags = COMPILERS[kind]
    monkeypatch.setenv("OMPI_CC", compiler)
    monkeypatch.setenv("MPICH_CC", compiler)
    return compiled(f"mpicc.{mpi}", source, *flags)


def said(result: Result) -> list[str]:
    """The lines on standard error, without the remark on a machine with few cores."""
    return [line for line in result.stderr.splitlines() if not line.endswith("cores")]


def only(result: Result) -> str:
    assert len(said(result)) == 1, result.stderr
    return said(result)[0]


def values(result: Result) -> dict[str, str]:
    assert result.returncode == 0, result.stderr
    return dict(line.split("=", 1) for line in result.stdout.splitlines())


def members(mark: str) -> list[int]:
    """The processes that have this mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended
    return found


def what_it_does(process: int) -> str:
    """Of a process that hangs: its command line and where its threads are, by the debugger if there is one."""
    folder = Path("/proc") / str(process)
    debugger = ["gdb", "-p", str(process), "-batch", "-ex", "thread apply all backtrace 30"]
    try:
        lines = [f"{process}: {(folder / 'cmdline').read_bytes().replace(bytes(1), b' ').decode(errors='replace')}"]
        lines += [f"  thread {thread.name}, {(thread / 'comm').read_text().strip()}: {(thread / 'wchan').read_text()}"
                  for thread in sorted((folder / "task").iterdir())]  # fmt: skip
        if shutil.which("gdb"):
            lines.append(subprocess.run(debugger, capture_output=True, text=True, timeout=SECONDS, check=False).stdout)
    except (OSError, subprocess.TimeoutExpired) as error:  # it has ended, or may not be looked at
        lines = [f"{process}: {error}"]
    return "\n".join(lines)


def segments() -> set[str]:
    """Shared memory with a name, but for what other tests' MPI and libomp leave there."""
    return {name for name in os.listdir("/dev/shm") if "marline" in name}


class Jobs:
    """Starts `marline run` and requires that neither processes nor shared memory are left after it."""

    def __init__(self, build: Path):
        self.command = str(build / "bin" / "marline")
        self.library = build / "lib"

    def run(self, *words: object, input: str = "", folder: Path | None = None, **changes: str) -> Result:
        return self.watched([self.command, "run", *map(str, words)], input, folder, changes)

    def nodes(self, *words: object, count: int = 3, nodes_as: str = "", **more) -> Result:
        made_up = ["--nodes-as", nodes_as] if nodes_as else []
        return self.run("-n", count, "--devices=nodes", *made_up, "--", *words, **more)

    def mpirun(self, mpi: str, ranks: int, *words: object, **changes: str) -> Result:
        return self.watched([f"mpirun.{mpi}", "-n", str(ranks), *map(str, words)], "", None, CROWDED | changes)

    def shell(self, line: str) -> Result:
        return self.watched(["sh", "-c", line], "", None, CROWDED)

    def preloaded(self) -> list[str]:
        """The words with which a launcher starts a program under Marline without `marline run`."""
        return ["env", f"LD_PRELOAD={self.library / 'libmarline.so'}",
                f"LD_LIBRARY_PATH={self.library / 'marline/compat'}"]  # fmt: skip

    def watched(self, words: list[str], input: str, folder: Path | None, changes: dict[str, str]) -> Result:
        mark, before = secrets.token_hex(8), segments()
        with subprocess.Popen(words, env=clean_environment(**changes, **{MARK: mark}), cwd=folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:  # fmt: skip
            try:
                stdout, stderr = process.communicate(input, SECONDS)
            except subprocess.TimeoutExpired:
                found = [what_it_does(member) for member in members(mark)]
                for member in members(mark):
                    os.kill(member, 9)
                pytest.fail("\n".join([f"no end after {SECONDS} s: {words}", *found]))
        deadline = time.monotonic() + SECONDS
        while members(mark) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert members(mark) == [], "a process of the job is left"
        assert segments() <= before, "shared memory is left"
        return Result(words, process.returncode, stdout, stderr)


@pytest.fixture
def jobs(build: Path) -> Jobs:
    require_target(build)
    return Jobs(build)
