# SPDX-License-Identifier: Apache-2.0
"""The recorder on real programs under LLVM's libomp and both MPIs: what the program did is what the trace says, also of
a program that was killed; what cannot be recorded or read is said in one line.
"""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import EXHAUSTIVE, SECONDS

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
LLVM = Path("/usr/lib/llvm-19/lib")
sys.path.insert(0, str(ROOT / "python"))

from marline.trace import graph, model  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.read import container, events, reader  # noqa: E402
from marline.trace.read.calls import call_mask, mpi_calls  # noqa: E402
from marline.trace.read.messages import messages as matched_messages  # noqa: E402
from marline.trace.views import export  # noqa: E402

TASKS = r"""
#include <omp.h>
static int cell[8];
static void spin(double us) { double end = omp_get_wtime() + us * 1e-6; while (omp_get_wtime() < end) {} }
int main(void) {
  #pragma omp parallel num_threads(2)
  #pragma omp single
  {
    for (int i = 0; i < 8; i++) {
      #pragma omp task depend(out: cell[i])
      spin(100);
    }
    for (int i = 1; i < 8; i++) {
      #pragma omp task depend(in: cell[i - 1]) depend(inout: cell[i])
      {
        #pragma omp task
        spin(20);
        #pragma omp taskwait
        spin(20);
      }
    }
  }
  return 0;
}
"""

ENDLESS = r"""
#include <stdio.h>
int main(void) {
  #pragma omp parallel num_threads(2)
  #pragma omp single
  for (long i = 0;; i++) {
    #pragma omp task firstprivate(i)
    if (i == 20000) { puts("running"); fflush(stdout); }
    if (i % 64 == 0) {
      #pragma omp taskwait
    }
  }
}
"""

MPI = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, swapped, value = 7, other = 0, provided, done = 0;
  MPI_Request request[2];
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  #pragma omp parallel num_threads(2)
  #pragma omp single
  for (int i = 0; i < 4; i++) {
    #pragma omp task firstprivate(i)
    {
      double data[3] = {i, i, i};
      if (rank == 0)
        MPI_Send(data, 3, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
      else
        MPI_Recv(data, 3, MPI_DOUBLE, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* the same processes, numbered the other way */
  MPI_Comm_rank(comm, &swapped);
  MPI_Isend(&value, 1, MPI_INT, 1 - swapped, 50, comm, &request[0]);
  MPI_Irecv(&other, 1, MPI_INT, 1 - swapped, 50, comm, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Irecv(&other, 1, MPI_INT, 1 - rank, 51, MPI_COMM_WORLD, &request[0]);
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 51, MPI_COMM_WORLD);
  while (!done)
    MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, 52, &other, 1, MPI_INT, 1 - rank, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return other != 14;
}
"""


def compile_program(folder: Path, source: str, mpi: str | None = None) -> Path:
    (folder / "program.c").write_text(source)
    command = ["clang-19"]
    if mpi:
        shown = subprocess.run([f"mpicc.{mpi}", "-show"], capture_output=True, text=True, check=True).stdout.split()
        command += [word for word in shown if word[:2] in ("-I", "-L", "-l", "-D")]
    command += ["-fopenmp=libomp", f"-L{LLVM}", "-O1", "-g", str(folder / "program.c"), "-o", str(folder / "program")]
    subprocess.run(command + [word for word in command if word.startswith("-l")], check=True, timeout=SECONDS)
    return folder / "program"


def environment(trace: Path, mpi: str | None = None) -> dict[str, str]:
    library = BUILD / "lib" / "marline" / (mpi or "") / "libmarline-trace.so"
    return {**os.environ, "LD_LIBRARY_PATH": str(LLVM), "MARLINE_TRACE_DIR": str(trace), "LD_PRELOAD": str(library)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of TASKS, found by the runtime in OMP_TOOL_LIBRARIES as OpenMP says (4.2.2)."""
    folder = tmp_path_factory.mktemp("tasks")
    program = compile_program(folder, TASKS)
    settings = environment(folder / "trace")
    settings["OMP_TOOL_LIBRARIES"] = settings.pop("LD_PRELOAD")
    subprocess.run([program], env=settings, check=True, timeout=SECONDS)
    return folder / "trace"


def expected_edges() -> set[tuple[int, int]]:
    """By order of creation: 0-7 write, 8-14 are the chain's tasks 1 to 7."""
    into = {(cell, 7 + cell) for cell in range(1, 8)}
    along = {(6 + cell, 7 + cell) for cell in range(2, 8)}
    return into | along | {(0, 8)}


def test_tasks_and_edges_are_those_of_the_program(recorded: Path) -> None:
    trace = reader.read_trace(recorded)
    runs = model.segments(trace)
    tasks = model.tasks(trace, runs)
    assert len(tasks.id) == 8 + 7 + 7
    assert trace.cut == []
    # One task creates the first fifteen; each of the chain's tasks creates one more.
    parents, children = np.unique(tasks.parent, return_counts=True)
    assert sorted(children.tolist()) == [1] * 7 + [15]
    creator = parents[np.argmax(children)]
    siblings = np.flatnonzero(tasks.parent == creator)
    position = {int(row): place for place, row in enumerate(siblings[np.argsort(tasks.created[siblings])])}
    edges = graph.dependence_edges(graph.accesses(trace, tasks))
    assert {(position[a], position[b]) for a, b in zip(edges.source.tolist(), edges.sink.tolist())} == expected_edges()
    # And the schedule respects them.
    assert (tasks.start[edges.sink] >= tasks.end[edges.source]).all()


def test_task_with_more_dependences_than_a_window_has_records(tmp_path: Path) -> None:
    source = r"""
    static char cell[9000];
    int main(void) {
      #pragma omp parallel num_threads(1)
      #pragma omp single
      for (int i = 0; i < 2; i++) {
        #pragma omp task depend(iterator(k = 0 : 9000), inout: cell[k])
        cell[i]++;
      }
      return 0;
    }
    """
    program = compile_program(tmp_path, source)
    subprocess.run([program], env=environment(tmp_path / "trace"), check=True, timeout=SECONDS)
    trace = reader.read_trace(tmp_path / "trace")
    assert trace.cut == []
    assert len(trace.select("dependence")) == 2 * 9000


def test_schedule_is_consistent(recorded: Path) -> None:
    trace = reader.read_trace(recorded)
    runs = model.segments(trace)
    tasks = model.tasks(trace, runs)
    assert (tasks.end > 0).all() and (tasks.start >= tasks.created).all() and (tasks.end > tasks.start).all()
    assert (tasks.running <= tasks.end - tasks.start).all() and (tasks.running >= 19_000).all()
    assert len(np.unique(tasks.id)) == len(tasks.id)
    for thread in np.unique(runs.thread):
        mine = runs.thread == thread
        order = np.argsort(runs.start[mine])
        assert (runs.start[mine][order][1:] >= runs.end[mine][order][:-1]).all()


def test_code_is_resolved_to_function_file_and_line(recorded: Path) -> None:
    picture = Analysis(reader.read_trace(recorded))["picture"]
    lines = TASKS.splitlines()
    tasks = [number for number, line in enumerate(lines, start=1) if "omp task" in line and "wait" not in line]
    assert len(picture.kind_names) == 3
    shown = sorted(int(name.rsplit("program.c:", 1)[1]) for name in picture.kind_names)
    assert all(any(task <= line <= task + 2 for line in shown) for task in tasks), picture.kind_names


def test_description_says_what_ran(recorded: Path) -> None:
    text = json.loads((recorded / "rank0000.json").read_text())
    assert text["rank"] == 0 and text["size"] == 0 and text["mpi"] == ""
    assert "LLVM" in text["runtime"] and text["exe"].endswith("/program") and text["argv"] == [text["exe"]]
    assert any(entry["path"] == text["exe"] for entry in text["maps"])
    ghz = (text["clock_end"]["cycles"] - text["clock_begin"]["cycles"]) / (
        text["clock_end"]["monotonic_ns"] - text["clock_begin"]["monotonic_ns"])
    assert 0.01 < ghz < 10


@pytest.mark.parametrize("mpi", [m for m in ("openmpi", "mpich") if shutil.which(f"mpirun.{m}")])
def test_mpi_calls_and_messages(tmp_path: Path, mpi: str) -> None:
    program = compile_program(tmp_path, MPI, mpi)
    settings = environment(tmp_path / "trace", mpi)
    preload = settings.pop("LD_PRELOAD")
    settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    subprocess.run([f"mpirun.{mpi}", "-n", "2", "env", f"LD_PRELOAD={preload}", program], env=settings, check=True,
                   timeout=SECONDS)
    trace = reader.read_trace(tmp_path / "trace")
    # Both ranks read one counter: nothing to measure (test_trace_mpi.py makes believe that they are on two machines).
    assert {rank: len(one["clock_samples"]) for rank, one in trace.ranks.items()} == {0: 0, 1: 0}
    calls = mpi_calls(trace)
    assert calls.returned.all()

    def count(name: str, rank: int) -> int:
        return int(np.count_nonzero(call_mask(calls, name) & (calls.rank == rank)))

    for rank in (0, 1):
        for name in ("MPI_Init_thread", "MPI_Finalize", "MPI_Isend", "MPI_Waitall", "MPI_Test", "MPI_Sendrecv",
                     "MPI_Allreduce"):
            assert count(name, rank) == 1, name
        assert count("MPI_Irecv", rank) == 2
    assert (count("MPI_Send", 0), count("MPI_Send", 1), count("MPI_Recv", 0), count("MPI_Recv", 1)) == (5, 1, 0, 4)
    received = call_mask(calls, "MPI_Recv")
    assert sorted(calls.received_tag[received].tolist()) == [0, 1, 2, 3]
    for column, value in ((calls.source, 0), (calls.peer, -1), (calls.bytes, 24)):
        assert (column[received] == value).all()
    # Calls made in a task are recorded against it.
    tasks = model.tasks(trace, model.segments(trace))
    assert (tasks.index(calls.task[received]) >= 0).all() and len(np.unique(calls.task[received])) == 4

    messages = matched_messages(trace, calls)
    found = sorted(zip(calls.rank[messages.send].tolist(), calls.tag[messages.send].tolist(),
                       calls.rank[messages.receive].tolist()))
    assert found == [(0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 50, 1), (0, 51, 1), (0, 52, 1),
                     (1, 50, 0), (1, 51, 0), (1, 52, 0)]
    assert (calls.end[messages.receive] > calls.start[messages.send]).all()


def test_rank_that_only_mpi_knows(tmp_path: Path) -> None:
    """Started without a launcher, nothing in the environment says the rank: the files get their names in MPI_Init."""
    source = "#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }"
    mpi = next((m for m in ("mpich", "openmpi") if shutil.which(f"mpirun.{m}")), None)
    if mpi is None:
        pytest.skip("no MPI")
    program = compile_program(tmp_path, source, mpi)
    subprocess.run([program], env=environment(tmp_path / "trace", mpi), check=True, timeout=SECONDS)
    names = sorted(path.name for path in (tmp_path / "trace").iterdir())
    assert names[::2] == [f"events.{events.FINGERPRINT:016x}.def", "rank0000.json"] and len(names) == 3
    assert names[1].startswith("node.") and names[1].endswith(".mtr")
    assert (tmp_path / "trace" / names[0]).read_text() == events.STORED
    calls = mpi_calls(reader.read_trace(tmp_path / "trace"))
    assert [events.MPI_CALLS[call] for call in calls.call.tolist()] == ["MPI_Init", "MPI_Barrier", "MPI_Finalize"]


def test_child_of_a_fork_leaves_the_trace_alone(tmp_path: Path) -> None:
    source = r"""
    #include <sys/wait.h>
    #include <unistd.h>
    static void region(void) {
      #pragma omp parallel num_threads(1)
      {
        #pragma omp task if(0)
        { }
      }
    }
    int main(void) {
      region();
      if (fork() == 0) { for (int i = 0; i < 10000; i++) region(); _exit(0); }
      wait(0);
      region();
      return 0;
    }
    """
    program = compile_program(tmp_path, source)
    subprocess.run([program], env=environment(tmp_path / "trace"), check=True, timeout=SECONDS)
    trace = reader.read_trace(tmp_path / "trace")
    assert len(model.tasks(trace, model.segments(trace)).id) == 2 and trace.cut == []


def test_killed_program_leaves_a_readable_trace(tmp_path: Path) -> None:
    program = compile_program(tmp_path, ENDLESS)
    with subprocess.Popen([program], env=environment(tmp_path / "trace"), stdout=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stdout.readline() == b"running\n"
        running.send_signal(signal.SIGKILL)
    of = Analysis(reader.read_trace(tmp_path / "trace"))
    export.write_views(of, export.Views(perfetto=tmp_path / "out.pftrace", png=tmp_path / "out.png"))
    picture = of["picture"]
    tasks = picture.tasks
    completed = int(np.count_nonzero(tasks.end >= 0))
    # The line was printed by task 20000, so all but the last window of 64 before it had ended.
    assert completed > 19_900 and len(tasks.id) - completed < 1_000
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_folder_of_another_run_is_not_overwritten(recorded: Path, tmp_path: Path) -> None:
    copy = tmp_path / "trace"
    shutil.copytree(recorded, copy)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    program = recorded.parent / "program"
    result = subprocess.run([program], env=environment(copy), capture_output=True, text=True, check=True,
                            timeout=SECONDS)  # fmt: skip
    assert "File exists" in result.stderr and "empty folder" in result.stderr and len(result.stderr.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


def test_folder_that_cannot_be_made_is_said(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = subprocess.run([recorded.parent / "program"], env=environment(tmp_path / "file" / "trace"),
                            capture_output=True, text=True, check=False, timeout=SECONDS)
    assert result.returncode == 2
    assert "Not a directory" in result.stderr and len(result.stderr.splitlines()) == 1


def test_without_a_folder_nothing_is_recorded(recorded: Path, tmp_path: Path) -> None:
    settings = environment(tmp_path)
    del settings["MARLINE_TRACE_DIR"]
    result = subprocess.run([recorded.parent / "program"], env=settings, cwd=tmp_path, capture_output=True, check=True,
                            timeout=SECONDS)
    assert result.stderr == b"" and list(tmp_path.iterdir()) == []


def test_recorder_links_no_cxx_runtime() -> None:
    library = BUILD / "lib" / "marline" / "libmarline-trace.so"
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libc.so.6" in needed and "libstdc++" not in needed and "libmpi" not in needed


def test_command_line(recorded: Path, tmp_path: Path) -> None:
    command = [str(BUILD / "bin" / "marline"), "report", str(recorded), "--png",
               str(tmp_path / "x.png")]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    assert "22 tasks, 14 edges" in result.stdout and (tmp_path / "x.png").stat().st_size > 10_000
    bad = subprocess.run([*command[:2], str(tmp_path)], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert bad.returncode == 125 and "holds no trace" in bad.stderr and len(bad.stderr.splitlines()) == 1


def test_many_short_threads_leave_a_small_file(tmp_path: Path) -> None:
    """Threads that come and go: the windows of those that have ended are compressed, and used by others."""
    source = r"""
    #include <pthread.h>
    static void *body(void *unused) {
      #pragma omp parallel num_threads(1)
      {
        #pragma omp task if(0)
        { }
      }
      return unused;
    }
    int main(void) {
      for (int i = 0; i < 20; i++) { pthread_t t; pthread_create(&t, 0, body, 0); pthread_join(t, 0); }
      return 0;
    }
    """
    program = compile_program(tmp_path, source)
    start = time.monotonic()
    subprocess.run([program], env=environment(tmp_path / "trace"), check=True, timeout=SECONDS)
    assert time.monotonic() - start < 20
    trace = reader.read_trace(tmp_path / "trace")
    (file,) = (tmp_path / "trace").glob("*.mtr")
    assert file.stat().st_blocks * 512 < 200 << 10  # a window is 64 KiB
    assert len(model.tasks(trace, model.segments(trace)).id) == 20


@pytest.mark.skipif(not EXHAUSTIVE, reason="needs a core that is idle now and then")
def test_threads_that_end_leave_their_windows_to_others(tmp_path: Path) -> None:
    """A hundred threads, one after the other, fill three windows each: not three hundred are mapped at the end."""
    source = r"""
    #include <pthread.h>
    #include <stdio.h>
    #include <string.h>
    static void *body(void *unused) {
      #pragma omp parallel num_threads(1)
      for (int i = 0; i < 2500; i++) {
        #pragma omp task if(0)
        { }
      }
      return unused;
    }
    int main(void) {
      for (int i = 0; i < 100; i++) { pthread_t t; pthread_create(&t, 0, body, 0); pthread_join(t, 0); }
      char line[4096];
      unsigned long from, to, mapped = 0;
      FILE *maps = fopen("/proc/self/maps", "r");
      while (fgets(line, sizeof line, maps))
        if (strstr(line, ".mtr") && sscanf(line, "%lx-%lx", &from, &to) == 2) mapped += (to - from) >> 16;
      printf("%lu\n", mapped);
      return 0;
    }
    """
    program = compile_program(tmp_path, source)
    result = subprocess.run([program], env=environment(tmp_path / "trace"), capture_output=True, text=True, check=True,
                            timeout=SECONDS)  # fmt: skip
    assert int(result.stdout) < 100
    assert len(reader.read_trace(tmp_path / "trace").select("task_create")) == 250_000


def test_records_are_compressed_also_on_busy_cores(tmp_path: Path) -> None:
    """Six windows, each of which takes far longer to fill than to compress: if no core is idle, the thread does it."""
    source = r"""
    #include <unistd.h>
    int main(void) {
      #pragma omp parallel num_threads(1)
      for (int i = 0; i < 6000; i++) {
        #pragma omp task if(0)
        usleep(20);
      }
      return 0;
    }
    """
    program = compile_program(tmp_path, source)
    subprocess.run([program], env=environment(tmp_path / "trace"), check=True, timeout=SECONDS)
    trace = reader.read_trace(tmp_path / "trace")
    assert len(trace.select("task_create")) == 6000 and len(trace.time) > 12000 and trace.cut == []
    (file,) = (tmp_path / "trace").glob("*.mtr")
    assert file.stat().st_blocks * 512 < 160 << 10 < 12000 * 32  # one window, the head, and the blocks


def test_without_libzstd_records_are_stored_as_they_are(tmp_path: Path) -> None:
    source = r"""
    #include <pthread.h>
    static void *body(void *unused) {
      #pragma omp parallel num_threads(1)
      for (int i = 0; i < 3000; i++) {
        #pragma omp task if(0)
        { }
      }
      return unused;
    }
    int main(void) { pthread_t t; return pthread_create(&t, 0, body, 0) || pthread_join(t, 0); }
    """
    program = compile_program(tmp_path, source)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "libzstd.so.1").write_text("no library")
    settings = environment(tmp_path / "trace")
    settings["LD_LIBRARY_PATH"] = f"{tmp_path / 'none'}:{settings['LD_LIBRARY_PATH']}"
    subprocess.run([program], env=settings, check=True, timeout=SECONDS)
    assert len(reader.read_trace(tmp_path / "trace").select("task_create")) == 3000
    (file,) = (tmp_path / "trace").glob("*.mtr")
    forms = {piece.form for piece in container.Container(file).pieces()}
    assert container.STORED in forms and container.COLUMNS not in forms
