# SPDX-License-Identifier: Apache-2.0
"""ThreadSanitizer with LLVM's Archer on Marline, which is not instrumented itself: correct programs of every construct
are silent, also when their tasks are suspended and go on on other threads, and each missing order is found."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS, Result, run

LLVM = Path("/usr/lib/llvm-19/lib")
ARCHER = LLVM / "libarcher.so"
INCLUDE = Path(__file__).resolve().parents[3] / "include"
RACE = "WARNING: ThreadSanitizer: data race"
FOUND = 66  # ThreadSanitizer's exit status


def compile_c(words: list[str | Path]) -> Result:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture(scope="module", params=["clang-19", "gcc-12"])
def built(
    request: pytest.FixtureRequest, build: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    compiler = str(request.param)
    if shutil.which(compiler) is None or not ARCHER.exists():
        pytest.skip(f"no {compiler} or no {ARCHER} (Debian: libomp-19-dev)")
    folder = tmp_path_factory.mktemp(compiler)

    def compile_program(name: str) -> Path:
        binary = folder / name
        if not binary.exists():
            words = [compiler, "-fopenmp", "-fsanitize=thread", "-g", "-O1", "-Wall", "-Werror", f"-I{INCLUDE}",
                     PROGRAMS / f"{name}.c", "-o", binary, f"-L{LLVM}", f"-L{build / 'lib'}", "-lmarline"]  # fmt: skip
            made = compile_c(words)
            if "libclang_rt.tsan" in made.stderr:
                pytest.skip("no ThreadSanitizer for clang-19 (Debian: libclang-rt-19-dev)")
            assert made.returncode == 0, made.stderr
        return binary

    return compile_program


def run_on_marline(build: Path, words: list[str | Path], **changes: str) -> Result:
    path = f"{build}/lib/marline/compat:{build}/lib"
    settings = {"LD_LIBRARY_PATH": path, "OMP_TOOL_LIBRARIES": str(ARCHER), "OMP_NUM_THREADS": "4",
                "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:symbolize=0:atexit_sleep_ms=20"}  # fmt: skip
    return run(words, **(settings | changes))


@pytest.mark.parametrize("settings", ["2", "4 random:1", "8 random:2"])
def test_correct_program_is_silent(build: Path, built: Callable[[str], Path], settings: str) -> None:
    threads, *schedule = settings.split()
    changes = {"MARLINE_SCHEDULE": schedule[0]} if schedule else {}
    result = run_on_marline(build, [built("archer_correct")], OMP_NUM_THREADS=threads, **changes)
    assert (result.returncode, result.stdout) == (0, "done 13\n"), result.stderr
    assert "ThreadSanitizer" not in result.stderr


RACES = ["dependence", "taskwait", "taskgroup", "critical", "loop", "nowait", "suspended", "reduction", "sink"]


@pytest.mark.parametrize("race", RACES)
def test_race_is_found(build: Path, built: Callable[[str], Path], race: str) -> None:
    result = run_on_marline(build, [built("archer_races"), race])
    assert (result.returncode, result.stdout) == (FOUND, "done\n"), result.stderr
    assert result.stderr.count(RACE) == 1 or race == "sink"  # which is one of two accesses, or both


def test_archer_is_found_by_itself(build: Path, built: Callable[[str], Path]) -> None:
    path = f"{build}/lib/marline/compat:{build}/lib"
    command = [build / "bin" / "marline", "run", built("archer_correct"), "0"]
    options = {"OMP_TOOL_VERBOSE_INIT": "stderr", "OMP_NUM_THREADS": "2",
               "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}  # fmt: skip
    found = run(command, LD_LIBRARY_PATH=f"{path}:{LLVM}", **options)
    assert (found.returncode, found.stdout) == (0, "done 13\n"), found.stderr
    assert "libarcher.so" in found.stderr
    assert "the tool is on" in found.stderr
    off = run([*command], LD_LIBRARY_PATH=f"{path}:{LLVM}", OMP_TOOL="disabled", **options)
    assert "libarcher.so" not in off.stderr


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_address_sanitizer(marline: Callable[..., Result], tmp_path: Path, compiler: str) -> None:
    binary = tmp_path / "program"
    words = [compiler, "-fopenmp", "-fsanitize=address", "-g", PROGRAMS / "address_tasks.c", "-o", binary, f"-L{LLVM}"]
    made = compile_c(words)
    if "libclang_rt.asan" in made.stderr:
        pytest.skip("no AddressSanitizer for clang-19 (Debian: libclang-rt-19-dev)")
    assert made.returncode == 0, made.stderr
    settings = {"OMP_NUM_THREADS": "4", "MARLINE_SCHEDULE": "random:1",
                "ASAN_OPTIONS": "symbolize=0:detect_stack_use_after_return=1"}  # fmt: skip
    correct = marline("run", binary, **settings)
    assert (correct.returncode, correct.stdout) == (0, "19900\n"), correct.stderr
    assert "Sanitizer" not in correct.stderr
    wrong = marline("run", binary, "wrong", **settings)
    assert wrong.returncode != 0
    # Clang leaves the variable in the task's block; GCC copies it to the stack of the task's function.
    place = "use-after-poison" if compiler == "clang-19" else "stack-use-after-return"
    assert f"ERROR: AddressSanitizer: {place}" in wrong.stderr
