# SPDX-License-Identifier: Apache-2.0
"""`marline trace` on real programs: the Cholesky on two ranks of Marline and on one of libomp, what it refuses before
the program starts, and what it says of one that fails. The command is started by this Python: it has the packages."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SECONDS, Result, run
from test_trace_export import Read

TRACED = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int sum = 0;
  #pragma omp parallel
  #pragma omp single
  for (int i = 0; i < 10; i++) {
    #pragma omp task shared(sum)
    {
      #pragma omp atomic
      sum += i;
    }
  }
  printf("sum=%d\n", sum);
  fflush(stdout);
  if (argc > 1 && argv[1][0] == 'k') raise(SIGKILL);
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture(scope="module")
def trace(build: Path) -> Callable[..., Result]:
    """trace("-t", "2", program) runs `marline trace` in this environment."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
    return lambda *words, **changes: run([build / "bin" / "marline", "trace", *words], **root | changes)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "tiny.c").write_text(TRACED)
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    words = ["clang-19", "-g", "-fopenmp=libomp", "-L/usr/lib/llvm-19/lib", "tiny.c", "-o", "tiny"]
    subprocess.run(words, cwd=folder, check=True, timeout=SECONDS)
    return folder / "tiny"


def cholesky(build: Path, name: str) -> Path:
    path = build / "apps" / name
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def document_of(build: Path, folder: Path) -> dict:
    result = run([build / "bin" / "marline", "report", folder, "--json"])
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def check_sums(document: dict) -> None:
    for row in [*document["ranks"], document["total"]]:
        parts = row["work_ns"] + row["idle_ns"] + row["overhead_ns"]
        assert parts == row["threads"] * row["makespan_ns"] > 0


def check_perfetto(path: Path) -> None:
    """Both ranks' tasks by name, and arrows that lead from sends to receives and from tasks to tasks."""
    read = Read(path)
    names = [name for _, name, *_ in read.slices]
    assert any(name.startswith("task_gemm factorise.c:") for name in names)
    assert {name[:6] for name in read.tracks.values() if name.startswith("rank ")} == {"rank 0", "rank 1"}
    pairs = [tuple(one.split()[0] for one in names) for names in read.arrows.values()]
    assert all(len(pair) == 2 for pair in pairs)
    assert {("MPI_Send", "MPI_Recv"), ("task_potrf", "task_trsm")} <= set(pairs)
    for _, _, begin, end, _ in read.slices:
        assert begin <= end


def test_two_ranks_on_marline(trace: Callable[..., Result], build: Path, tmp_path: Path) -> None:
    program = cholesky(build, "cholesky-clang19-openmpi")
    views = ["--perfetto", tmp_path / "p", "--chrome", tmp_path / "c", "--png", tmp_path / "g.png", "--svg",
             tmp_path / "g.svg"]  # fmt: skip
    result = trace("-n", "2", "-t", "1", "-o", tmp_path / "trace", *views, "--", program, "-n", "512", "-b", "64")
    assert result.returncode == 0, result.stderr
    assert "check passed" in result.stdout and "biggest loss" not in result.stdout  # the program owns its output
    assert "2 ranks x 1 thread: " in result.stderr and "biggest loss" in result.stderr
    assert f"the trace is in {tmp_path / 'trace'}" in result.stderr
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("c", "g.png", "g.svg"))
    check_perfetto(tmp_path / "p")
    document = document_of(build, tmp_path / "trace")
    assert document["program"]["runtime"].startswith("Marline") and document["incomplete"] == []
    assert [row["rank"] for row in document["ranks"]] == [0, 1]
    check_sums(document)
    assert document["communication"]["total"]["calls"] > 0
    assert any(kind["name"].startswith("task_gemm factorise.c:") for kind in document["kinds"])
    assert sum(kind["tasks"] for kind in document["kinds"]) == document["graph"]["tasks"]


def test_four_ranks_on_marline(trace: Callable[..., Result], build: Path, tmp_path: Path) -> None:
    program = cholesky(build, "cholesky-gcc12-mpich")
    result = trace("-n", "4", "-t", "2", "-o", tmp_path / "trace", "--", program, "-n", "256", "-b", "32")
    assert result.returncode == 0 and "check passed" in result.stdout, result.stderr
    document = document_of(build, tmp_path / "trace")
    assert [(row["rank"], row["threads"]) for row in document["ranks"]] == [(rank, 2) for rank in range(4)]
    assert document["incomplete"] == []
    check_sums(document)


def test_one_rank_on_libomp(trace: Callable[..., Result], build: Path, tmp_path: Path) -> None:
    program = cholesky(build, "cholesky-clang19-openmpi")
    words = ["-n", "1", "-t", "2", "--runtime", "native", "-o", tmp_path / "trace"]
    result = trace(*words, "--", program, "-n", "512", "-b", "64")
    assert result.returncode == 0 and "check passed" in result.stdout, result.stderr
    document = document_of(build, tmp_path / "trace")
    assert "LLVM" in document["program"]["runtime"] and document["graph"]["tasks"] > 100
    check_sums(document)


def test_libgomp_gives_mpi_calls_only_and_says_so(trace: Callable[..., Result], build: Path, tmp_path: Path) -> None:
    program = cholesky(build, "cholesky-gcc12-openmpi")
    words = ["-t", "1", "--runtime", "native", "-o", tmp_path / "trace"]
    result = trace(*words, "--", program, "-n", "256", "-b", "64")
    assert result.returncode == 0 and "has no OMPT: only its Open MPI calls are recorded" in result.stderr
    document = document_of(build, tmp_path / "trace")
    assert document["graph"]["tasks"] == 0 and document["communication"]["total"]["calls"] > 0
    assert any("no task was recorded" in remark for remark in document["remarks"])


def test_libgomp_without_mpi_is_refused(trace: Callable[..., Result], tmp_path: Path) -> None:
    if shutil.which("gcc-12") is None:
        pytest.skip("gcc-12 is not installed")
    (tmp_path / "tiny.c").write_text(TRACED)
    subprocess.run(["gcc-12", "-fopenmp", "tiny.c", "-o", "tiny"], cwd=tmp_path, check=True, timeout=SECONDS)
    result = trace("--runtime", "native", "-o", tmp_path / "trace", tmp_path / "tiny")
    assert result.returncode == 125 and result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert "there is nothing to record" in result.stderr


def test_default_folder_is_named_after_the_program_and_fresh(build: Path, program: Path, tmp_path: Path) -> None:
    for name in ("tiny.trace", "tiny-2.trace"):
        result = subprocess.run([build / "bin" / "marline", "trace", program], cwd=tmp_path, text=True,
                                capture_output=True, timeout=SECONDS, check=True)  # fmt: skip
        assert result.stdout == "sum=45\n" and f"the trace is in {name};" in result.stderr
        assert (tmp_path / name / "rank0000.json").exists()


def test_folder_with_something_in_it_is_refused_before_the_program_starts(
    trace: Callable[..., Result], program: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").touch()
    result = trace("-o", tmp_path, program)
    assert result.returncode == 125 and result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert "is not empty (it holds mine)" in result.stderr


def test_run_with_trace_refuses_such_a_folder_too(build: Path, program: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = run([build / "bin" / "marline", "run", "--trace", tmp_path, program])
    assert result.returncode == 125 and result.stdout == "" and "is not empty (it holds mine)" in result.stderr


def test_folder_that_cannot_be_made_is_refused(trace: Callable[..., Result], program: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = trace("-o", tmp_path / "file" / "trace", program)
    assert result.returncode == 125 and result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert "Not a directory" in result.stderr


def test_refused_program_leaves_no_folder(build: Path, tmp_path: Path) -> None:
    words = [build / "bin" / "marline", "trace", "./not-there"]
    result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert result.returncode == 127 and "no such program" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_failing_program_gives_its_status_and_a_report(trace: Callable[..., Result], program: Path, tmp_path: Path
                                                       ) -> None:  # fmt: skip
    result = trace("-t", "1", "-o", tmp_path / "trace", program, "7")
    assert result.returncode == 7 and result.stdout == "sum=45\n"
    assert "failed with status 7: its trace may be incomplete" in result.stderr
    assert "1 rank x 1 thread: " in result.stderr


def test_killed_program_ends_us_the_same_way_and_its_trace_is_read(
    trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path
) -> None:
    result = trace("-t", "1", "-o", tmp_path / "trace", program, "k")
    assert result.returncode == -signal.SIGKILL and result.stdout == "sum=45\n"
    assert "died of signal 9: its trace may be incomplete" in result.stderr
    assert document_of(build, tmp_path / "trace")["graph"]["tasks"] == 10


def test_events_choose_what_is_recorded(trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path
                                        ) -> None:  # fmt: skip
    result = trace("-t", "1", "--events", "task", "-o", tmp_path / "trace", program)
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "trace" / "rank0000.json").read_text())["events"] == ["task"]
    assert document_of(build, tmp_path / "trace")["graph"]["tasks"] == 10


def test_unknown_events_are_refused_with_the_list_that_the_recorder_has(
    trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path
) -> None:
    result = trace("--events", "task,taks", "-o", tmp_path / "trace", program)
    assert result.returncode == 125 and result.stdout == "" and len(result.stderr.splitlines()) == 1
    recorder = build / "lib" / "marline" / "libmarline-trace.so"
    own = run([program], LD_PRELOAD=str(recorder), MARLINE_TRACE_DIR=str(tmp_path / "other"), OMP_NUM_THREADS="1",
              MARLINE_TRACE_EVENTS="taks", LD_LIBRARY_PATH="/usr/lib/llvm-19/lib")  # fmt: skip
    words = re.search(r"expected a list of (.*)$", own.stderr, re.MULTILINE)
    assert words is not None and words[1] in result.stderr


def refused(result: Result) -> str:
    """The one line of what is refused."""
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (125, "", 1), result.stderr
    return result.stderr


def test_a_file_in_place_of_the_folder_is_refused_in_one_line(
    trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    assert "file is a file: name a new or empty folder" in refused(trace("-o", tmp_path / "file", program))
    marline = build / "bin" / "marline"
    assert "file is a file: name a new or empty folder" in refused(
        run([marline, "run", "--trace", tmp_path / "file", program]))  # fmt: skip
    assert "file is a file: give the folder of a trace" in refused(
        run([marline, "report", tmp_path / "file"]))  # fmt: skip


@pytest.mark.parametrize(("option", "name"), [("--png", "x.jpg"), ("--svg", "x.png")])
def test_a_chart_of_another_kind_is_refused_before_the_program_starts(
    trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path, option: str, name: str
) -> None:
    said = f"{option} {name}: the chart is written as {option[2:].upper()}: name it x.{option[2:]}"
    assert said in refused(trace(option, name, "-o", tmp_path / "trace", program))
    assert said in refused(run([build / "bin" / "marline", "report", tmp_path, option, name]))
    assert not (tmp_path / "trace").exists()


def test_a_run_that_records_nothing_leaves_no_folder_and_is_no_success(
    trace: Callable[..., Result], program: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "trace"
    said = refused(trace("--runtime", "native", "-o", folder, "/bin/true"))
    assert "nothing was recorded: /bin/true has used neither OpenMP" in said and not folder.exists()
    result = trace("-o", folder, program, MARLINE_TRACE_LIMIT="much")
    assert result.returncode == 2 and not folder.exists()
    fatal, nothing = result.stderr.splitlines()
    assert 'MARLINE_TRACE_LIMIT="much" is not usable' in fatal
    assert f"nothing was recorded: {program} failed with status 2" in nothing


def test_lines_end_without_blanks(trace: Callable[..., Result], build: Path, program: Path, tmp_path: Path) -> None:
    short = trace("-t", "2", "-o", tmp_path / "trace", program)
    whole = run([build / "bin" / "marline", "report", tmp_path / "trace"])
    lines = short.stderr.splitlines() + whole.stdout.splitlines()
    assert (short.returncode, whole.returncode) == (0, 0) and len(lines) > 10
    assert [line for line in lines if line != line.rstrip()] == []


def test_inside_of_another_launcher_it_says_what_to_do(trace: Callable[..., Result], program: Path, tmp_path: Path
                                                       ) -> None:  # fmt: skip
    result = trace("-o", tmp_path / "trace", program, PMI_RANK="0")
    assert result.returncode == 125 and result.stdout == ""
    assert "marline run --trace DIR" in result.stderr and len(result.stderr.splitlines()) == 1


def test_missing_package_is_one_line_and_costs_no_recording(build: Path, program: Path, tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise ImportError(\"No module named 'rich'\")\n")
    words = [build / "bin" / "marline", "trace", "-o", tmp_path / "trace", program]
    settings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert result.returncode == 0 and result.stdout == "sum=45\n"
    assert "python3 -m pip install numpy rich matplotlib" in result.stderr and "Traceback" not in result.stderr
    assert (tmp_path / "trace" / "rank0000.json").exists()
