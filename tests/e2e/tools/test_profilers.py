# SPDX-License-Identifier: Apache-2.0
"""Profilers of others on Marline: Score-P, HPCToolkit, TAU, DLB with TALP, Caliper. No package of Debian or PyPI has
one of them, so models of them run (programs/profilers): each registers the callbacks that the profiler registers, and
ends the program where the profiler would abort or attribute time wrongly. LLVM's runtime, on which the profilers are
tested by their makers, must satisfy a model, too: else the model asks for too much."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import LLVM, PROGRAMS, SECONDS, Result, run

SOURCES = PROGRAMS / "profilers"
MODELS = ("scorep", "hpctoolkit", "tau", "dlb", "caliper")
COMPILERS = ("clang-19", "gcc-12")
PARTS = "loops locks nested tasks serial_tasks task_regions taskloops yields".split()
# TAU reads the data of the next task of each task_schedule, which is null in some events of these: not for it.
WITHOUT_NEXT_TASK = ["waits_for_one", "detached"]
# An untied task may begin a wait on one thread and end it on another. TAU and Caliper have one stack a thread.
UNTIED = ["untied_tasks"]
# A thread that waits at the end of a region that a task has opened may open another one and come back before its end:
# two timers of TAU overlap.
IN_TASKS = ["task_regions"]
# A few samples in the code of these tasks find no exit frame (docs/design/ompt.md).
OF_ALL_KINDS = ["tasks"]
# In a single, LLVM's runtime reports the end of the construct in another order than its begin.
LLVM_FAILS = {("tau", "tasks")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19, which has omp-tools.h")
    folder = tmp_path_factory.mktemp("profilers")
    for model in MODELS:  # -z nodelete: LLVM's runtime closes a tool that has ended
        compile_c("clang-19", "-shared", "-fPIC", "-fopenmp", "-Wl,-z,nodelete", SOURCES / f"{model}.c", "-o",
                  folder / f"{model}.so")  # fmt: skip
    for compiler in COMPILERS:
        if shutil.which(compiler) is not None:
            compile_c(compiler, "-fopenmp", SOURCES / "program.c", "-o", folder / compiler)
    return folder


def parts_for(model: str) -> list[str]:
    not_for = {"tau": WITHOUT_NEXT_TASK + UNTIED + IN_TASKS, "caliper": UNTIED, "hpctoolkit": OF_ALL_KINDS}
    return [part for part in PARTS + WITHOUT_NEXT_TASK + UNTIED if part not in not_for.get(model, [])]


def compile_c(*words: str | Path) -> None:
    command = [str(word) for word in (*words, "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-L{LLVM}")]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)


def counts(result: Result, model: str) -> dict[str, int]:
    """What the model has counted, in its line after the program's."""
    assert (result.returncode, result.stderr) == (0, "")
    done, counted = result.stdout.splitlines()
    assert done == "done 1" and counted.startswith(f"{model} ")
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", counted)}


Watch = Callable[..., dict[str, int]]


@pytest.fixture(scope="module")
def watch(build: Path, folder: Path) -> Watch:
    def run_program(
        model: str, compiler: str, threads: int, rounds: int, parts: list[str], **more: str
    ) -> dict[str, int]:
        if not (folder / compiler).exists():
            pytest.skip(f"no {compiler}")
        library = build / "lib"
        result = run([folder / compiler, str(rounds), *parts], OMP_NUM_THREADS=str(threads),
                     OMP_TOOL_LIBRARIES=str(folder / f"{model}.so"), LD_PRELOAD=str(library / "libmarline.so"),
                     LD_LIBRARY_PATH=f"{library}/marline/compat:{library}", **more)  # fmt: skip
        return counts(result, model)

    return run_program


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("model", MODELS)
def test_profiler_finds_what_it_relies_on(watch: Watch, model: str, compiler: str, threads: int) -> None:
    parts = parts_for(model)
    counted = watch(model, compiler, threads, 8, parts)
    assert counted["threads"] >= threads
    assert counted["regions"] >= 8 * (len(parts) - 1)
    if "tasks" in counted:
        assert counted["tasks"] > 8 * (400 if "tasks" in parts else 100)
    if model == "scorep":
        assert min(counted["switches"], counted["work"], counted["syncs"], counted["mutexes"]) > 0
        assert counted["members"] >= 8 * (len(parts) - 1) * threads


def test_samples_name_the_running_task(watch: Watch) -> None:
    """HPCToolkit's signals interrupt the program and the runtime at any instruction."""
    counted = {"program": 0, "samples": 0}
    for _ in range(8):
        counted = watch("hpctoolkit", "clang-19", 4, 60, [part for part in PARTS if part not in OF_ALL_KINDS])
        if counted["program"] > 0:
            break
    assert counted["program"] > 0 and counted["samples"] >= counted["program"]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("lent", [2, 3])
def test_dlb_sets_the_threads_of_the_region_that_begins(watch: Watch, compiler: str, lent: int) -> None:
    """It calls omp_set_num_threads when it starts and in parallel_begin: the model checks each region's threads."""
    counted = watch("dlb", compiler, 1, 4, ["loops", "tasks"], DLB_THREADS=str(lent))
    assert counted["regions"] == 8 and counted["threads"] == lent


@pytest.mark.parametrize("model", [model for model in MODELS if model != "hpctoolkit"])
def test_llvms_runtime_satisfies_the_model(folder: Path, model: str) -> None:
    """But for HPCToolkit's: a few samples at a region's end find no region there."""
    if not (LLVM / "libomp.so.5").exists():
        pytest.skip("no libomp of LLVM 19")
    for part in parts_for(model):
        if (model, part) in LLVM_FAILS:
            continue
        result = run([folder / "clang-19", "2", part], OMP_NUM_THREADS="3", LD_LIBRARY_PATH=str(LLVM),
                     OMP_TOOL_LIBRARIES=str(folder / f"{model}.so"))  # fmt: skip
        assert counts(result, model)["threads"] >= 1
