# SPDX-License-Identifier: Apache-2.0
"""A recorder that keeps sums and no records (MARLINE_TRACE_AGGREGATE): its counts are those of a recording of the same
random program, its times those of a program that sleeps, its memory does not grow, and what needs records says so."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import CROWDED, EXHAUSTIVE, PROGRAMS, SECONDS, clean_environment, run, wait_for
from test_trace_control import RUNTIMES, build, environment

MS = 1_000_000
SEEDS = range(1, 41 if EXHAUSTIVE else 4)
COMPILERS = {"clang-19": ("-fopenmp",), "gcc-12": ("-fopenmp",)}


@pytest.fixture
def marline(build: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *words, **changes: run([build / "bin" / "marline", *words], **CROWDED, **changes)


@pytest.fixture
def document(marline: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[[Path], dict[str, Any]]:
    def read(folder: Path) -> dict[str, Any]:
        result = marline("report", folder, "--json")
        assert result.returncode == 0, result.stderr
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return read


def is_consistent(found: dict[str, Any]) -> bool:
    """A thread is in one place at a time, and in none of them longer than the program ran."""
    total = found["total"]
    spent = sum(total["places"].values())
    rows = sum(row["time_ns"] for row in found["loops"])
    tasks = sum(row["total_ns"] for row in found["kinds"])
    rounding = 1000
    return (0 < spent <= total["threads"] * total["makespan_ns"] + rounding
            and rows <= total["places"]["loops and regions"] + rounding
            and tasks <= total["places"]["tasks"] + rounding)  # fmt: skip


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_counts_are_those_of_a_recording(tmp_path: Path, compiled: Callable[..., Path], runtime: str, compiler: str,
                                         document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    if runtime == "libomp" and compiler == "gcc-12":
        pytest.skip("libomp as libgomp has other names for what GCC calls")
    program = compiled(compiler, "sums.c", *COMPILERS[compiler])
    for seed in SEEDS:
        found = {}
        for mode in ("on", "off"):
            where = tmp_path / f"{seed}-{mode}"
            where.mkdir()
            env = environment(where, runtime, MARLINE_TRACE_AGGREGATE=mode)
            result = subprocess.run([program, str(seed)], env=env, capture_output=True, text=True, timeout=SECONDS,
                                    check=False)  # fmt: skip
            assert (result.returncode, result.stderr) == (0, "")
            found[mode] = document(where / "trace")
        assert is_consistent(found["on"])
        sums, records = ({row["name"]: row["tasks"] for row in one["kinds"]} for one in (found["on"], found["off"]))
        assert sums == records
        regions = {row["name"]: row["calls"] for row in found["off"]["loops"]["regions"]}
        assert {row["name"]: row["calls"] for row in found["on"]["loops"] if row["name"] in regions} == regions
        # The recording has constructs of regions without tasks only.
        loops = {row["name"]: row["calls"] for row in found["off"]["loops"]["constructs"]
                 if row["kind"] in ("loop", "single", "sections")}  # fmt: skip
        mine = {row["name"]: row["calls"] for row in found["on"]["loops"]}
        assert loops and {name: mine.get(name) for name in loops} == loops


def test_times_of_loops_tasks_and_waits(tmp_path: Path, compiled: Callable[..., Path],
                                        marline: Callable[..., subprocess.CompletedProcess[str]],
                                        document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    """Work is sleep, so it takes as long as it says at least: of the loop 20 and 60 ms, and 40 ms are waited; 40 tasks
    of 4 ms each."""
    program = compiled("clang-19", "advice.c", "-fopenmp", "-g")
    for word in ("uneven_loop", "even"):
        result = marline("trace", "--aggregate", "-t", "2", "-o", tmp_path / word, program, word)
        assert result.returncode == 0, result.stderr
        assert f"`marline report {tmp_path / word}`" in result.stderr.replace(os.path.relpath(tmp_path), str(tmp_path))
        assert [path.name for path in (tmp_path / word).iterdir()] == ["rank0000.json"]
    uneven = document(tmp_path / "uneven_loop")
    (loop,) = [row for row in uneven["loops"] if row["name"].startswith("loop ")]
    assert (loop["calls"], loop["threads"], loop["schedule"]) == (1, 2, "static")
    assert loop["time_ns"] >= 80 * MS and loop["waited_ns"] <= uneven["total"]["places"]["barriers"]
    assert is_consistent(uneven)
    tasks = document(tmp_path / "even")
    (kind,) = tasks["kinds"]
    assert kind["tasks"] == 40 and kind["total_ns"] >= 40 * kind["min_ns"] >= 40 * MS
    assert kind["max_ns"] >= kind["total_ns"] / 40


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_calls_of_mpi(tmp_path: Path, build: Path, mpi: str, marline: Callable[..., subprocess.CompletedProcess[str]],
                      document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    """The same calls and bytes as a recording, of programs with tasks that are suspended in calls, and without."""
    if shutil.which(f"mpicc.{mpi}") is None or not (build / "lib" / "marline" / mpi).exists():
        pytest.skip(f"no {mpi}")
    program = tmp_path / "advice"
    subprocess.run([f"mpicc.{mpi}", "-g", "-fopenmp", "-DWITH_MPI", PROGRAMS / "advice.c", "-o", program], check=True,
                   timeout=SECONDS)  # fmt: skip
    for word in ("in_turn", "blocks", "without_tasks"):
        found = {}
        for mode in ("sums", "records"):
            folder = tmp_path / f"{word}-{mode}"
            words = ["--aggregate"] if mode == "sums" else []
            result = marline("trace", *words, "-n", "2", "-t", "2", "--mpi", mpi, "-o", folder, program, word)
            assert result.returncode == 0, result.stderr
            found[mode] = document(folder)
        assert is_consistent(found["sums"])
        sums, records = ({row["name"]: (row["calls"], row["bytes"]) for row in one["mpi"]["functions"]}
                         for one in (found["sums"], found["records"]))  # fmt: skip
        assert sums == records
        held = sum(row["held_ns"] for row in found["sums"]["mpi"]["functions"])
        assert 0 < held <= found["sums"]["total"]["places"]["MPI"] + 1000
        assert all(row["held_ns"] <= row["total_ns"] + 1000 for row in found["sums"]["mpi"]["functions"])


def test_nothing_grows_with_the_run(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """Twenty times the steps leave a description of the same form, and no other file."""
    program = compiled("clang-19", "sums.c", "-fopenmp")
    sizes = []
    for steps in (100, 2000):
        where = tmp_path / str(steps)
        where.mkdir()
        env = environment(where, "marline", MARLINE_TRACE_AGGREGATE="on")
        subprocess.run([program, "1", str(steps)], env=env, check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)
        (description,) = (where / "trace").iterdir()
        sizes.append(len(json.loads(description.read_text())["sums"]["rows"]))
    assert sizes[0] == sizes[1]


def run_with_sums(folder: Path, source: str, runtime: str, *flags: str, **changes: str) -> Path:
    """The trace that the program of this source leaves."""
    env = environment(folder, runtime, MARLINE_TRACE_AGGREGATE="on", **changes)
    subprocess.run([build(folder, source, *flags)], env=env, check=True, timeout=SECONDS)
    return folder / "trace"


MANY = r"""
#include <marline/trace.h>
#include <omp.h>
#include <stdio.h>
int main(void) {
  char label[32];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3000; ++i) {
    sprintf(label, "kind %d", i);
    marline_name_task(label, 0);
#pragma omp task if(0)
    label[0] = 0;
  }
  return 0;
}
"""


def test_more_kinds_than_there_is_room_for(tmp_path: Path, document: Callable[[Path], dict[str, Any]]) -> None:
    found = document(run_with_sums(tmp_path, MANY, "marline"))
    assert 2000 < len(found["kinds"]) < 2048 and all(row["tasks"] == 1 for row in found["kinds"])
    assert any("2,046" in line for line in found["incomplete"])


THREADS = r"""
#include <omp.h>
#include <pthread.h>
static void *body(void *unused) {
#pragma omp parallel num_threads(1)
#pragma omp single
#pragma omp task
  ((volatile int *)&unused)[0] = 0;
  return 0;
}
int main(void) {
  for (int i = 0; i < 300; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, 0, body, 0) || pthread_join(thread, 0)) return 1;
  }
  return 0;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_threads_that_end_leave_their_sums(tmp_path: Path, runtime: str,
                                           document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    found = document(run_with_sums(tmp_path, THREADS, runtime, "-pthread"))
    assert [row["tasks"] for row in found["kinds"]] == [300] and 1 <= found["total"]["threads"] < 10


SLEEP = r"""
#include <marline/trace.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void ms(int time) { usleep(1000 * time); }
static void part(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task
    ms(1);
  }
}
"""
PARTS = SLEEP + r"""
int main(int argc, char **argv) {
  (void)argv;
  part();
  for (int i = 0; i < 2; ++i) {
    marline_trace_off();
    if (i == 0) part();
    ms(30);
    marline_trace_on();
  }
  part();
  if (argc > 1) pause();
  return 0;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_time_stands_still_while_recording_is_off(tmp_path: Path, runtime: str,
                                                  document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    """With events in that time, and without any."""
    folder = run_with_sums(tmp_path, PARTS, runtime)
    found = document(folder)
    assert [row["tasks"] for row in found["kinds"]] == [20] and is_consistent(found)
    assert found["ranks"][0]["not_recorded_ns"] >= 60 * MS
    # The begin of this run is known: what is recorded and what is not are its whole.
    described = json.loads((folder / "rank0000.json").read_text())
    clocks = [described[f"clock_{edge}"]["monotonic_ns"] for edge in ("begin", "end")]
    assert found["total"]["makespan_ns"] + found["ranks"][0]["not_recorded_ns"] <= clocks[1] - clocks[0]


LOCKS = SLEEP + r"""
int main(void) {
  omp_lock_t held;
  omp_nest_lock_t nested;
  omp_init_lock(&held);
  omp_init_nest_lock(&nested);
  omp_set_lock(&held);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      for (int i = 0; i < 20; ++i) {
        if (omp_test_lock(&held)) abort();
        ms(2);
      }
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      ms(40);
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
    }
  }
  return 0;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_test_of_a_lock_is_no_wait(tmp_path: Path, runtime: str,
                                     document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    """Nor is it to take a lock again that the task has."""
    places = document(run_with_sums(tmp_path, LOCKS, runtime))["total"]["places"]
    assert places["loops and regions"] >= 80 * MS > 40 * MS > places["locks"]


TEAMS = SLEEP + r"""
int main(void) {
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel for num_threads(i % 4 + 1) schedule(static, 1)
    for (int k = 0; k < 4; ++k) ms(0);
  }
#pragma omp parallel num_threads(2)
  ms(1);
  for (int i = 0; i < 10; ++i) {
#pragma omp parallel if (0)
    ms(4);
  }
#pragma omp parallel num_threads(2)
  ms(1);
  return 0;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_teams_of_any_size(tmp_path: Path, runtime: str, document: Callable[[Path], dict[str, Any]]) -> None:
    """A loop counts once for each time that a team comes to it. While regions of one thread run, the other one is in no
    barrier, though LLVM's runtime says the end of its last one later."""
    found = document(run_with_sums(tmp_path, TEAMS, runtime, OMP_NUM_THREADS="4"))
    (loop,) = [row for row in found["loops"] if row["name"].startswith("loop ")]
    assert (loop["calls"], loop["threads"]) == (100, 4)
    assert found["total"]["places"]["no region"] >= 35 * MS and is_consistent(found)


def test_a_killed_program_has_no_sums(tmp_path: Path, marline: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program = build(tmp_path, PARTS)
    env = environment(tmp_path, "marline", MARLINE_TRACE_AGGREGATE="on")
    with subprocess.Popen([program, "wait"], env=env) as process:
        wait_for(lambda: (tmp_path / "trace" / "rank0000.json").exists(), lambda: "no description")
        process.send_signal(signal.SIGKILL)
    refuses_what_was_killed(marline("report", tmp_path / "trace"))


def refuses_what_was_killed(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 125 and len(result.stderr.splitlines()) == 1
    assert "no process has written its sums, which it does at its end: was the program killed?" in result.stderr


POLLS = r"""
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, done = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) kill(getpid(), SIGKILL);
    pause();
  }
  if (rank == 0) {
    usleep(40000);
    MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


def test_polling_is_time_in_mpi(tmp_path: Path, marline: Callable[..., subprocess.CompletedProcess[str]],
                                document: Callable[[Path], dict[str, Any]]) -> None:  # fmt: skip
    """And a job that is killed after MPI_Init has no sums."""
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("no openmpi")
    (tmp_path / "polls.c").write_text(POLLS)
    subprocess.run(["mpicc.openmpi", "polls.c", "-o", "polls"], cwd=tmp_path, check=True, timeout=SECONDS)
    words = ["trace", "--aggregate", "-n", "2", "-t", "1"]
    assert marline(*words, "-o", tmp_path / "trace", tmp_path / "polls").returncode == 0
    (polls,) = [row for row in document(tmp_path / "trace")["mpi"]["functions"] if row["name"] == "MPI_Test"]
    assert polls["held_ns"] >= 0.9 * polls["total_ns"] > 0
    assert marline(*words, "-o", tmp_path / "killed", tmp_path / "polls", "die").returncode != 0
    refuses_what_was_killed(marline("report", tmp_path / "killed"))


def test_what_needs_records_says_so(tmp_path: Path, compiled: Callable[..., Path],
                                    marline: Callable[..., subprocess.CompletedProcess[str]]) -> None:  # fmt: skip
    program = compiled("clang-19", "sums.c", "-fopenmp")
    for words in (("--sample",), ("--counters", "PAPI_TOT_INS"), ("--html", "page.html"), ("--pass", "loops")):
        result = marline("trace", "--aggregate", *words, "-o", tmp_path / "none", program, "1")
        assert result.returncode == 2 and words[0] in result.stderr and not (tmp_path / "none").exists()
    folder = tmp_path / "sums"
    assert marline("trace", "--aggregate", "-o", folder, program, "1").returncode == 0
    for words, status in ((("--html", "page.html"), 2), (("--what-if", "threads 4"), 2), ((folder,), 125)):
        result = marline("report", folder, *words)
        assert result.returncode == status and "holds sums (MARLINE_TRACE_AGGREGATE), and no records" in result.stderr
    for name, value in (("RING", "1M"), ("SAMPLE", "on"), ("COUNTERS", "PAPI_TOT_INS")):
        env = clean_environment(MARLINE_TRACE_AGGREGATE="on", MARLINE_TRACE_DIR=str(tmp_path / "refused"),
                                LD_LIBRARY_PATH=str(RUNTIMES["marline"]),
                                LD_PRELOAD=environment(tmp_path, "marline")["LD_PRELOAD"],
                                **{f"MARLINE_TRACE_{name}": value})  # fmt: skip
        result = subprocess.run([program, "1"], env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert result.returncode == 2 and "MARLINE_TRACE_AGGREGATE" in result.stderr
