# SPDX-License-Identifier: Apache-2.0
"""What Marline tells the recorder beyond OMPT: when a suspended task could go on, how long the creation of a task took,
and the iterations of persistent graphs. With libomp the same programs leave traces without any of it."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import handmade  # noqa: F401  first: it finds marline
from conftest import SECONDS
from test_trace_control import Records, build, execute
from trace_mpi_support import BUILD, MPIS
from trace_mpi_support import build as build_mpi

from marline.trace.analysis import Analysis
from marline.trace.passes import tied_waits  # noqa: F401  registers the pass
from marline.trace.global_graph import edges as kinds

WAITS = r"""
#include <marline/marline.h>
#include <omp.h>
#include <time.h>
#pragma weak marline_event_init
#pragma weak marline_event_wait
#pragma weak marline_event_fulfill

static marline_event_t event;
static omp_event_handle_t handle;
static omp_lock_t lock;

static void work(void) {  /* 3 ms */
  struct timespec now, begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 3000000);
}

/* In a team of one thread the task that is created last starts first. */
int main(void) {
  omp_init_lock(&lock);
  #pragma omp parallel num_threads(1)
  {
    marline_event_init(&event);
    #pragma omp task
    { marline_event_fulfill(&event); work(); }
    #pragma omp task
    marline_event_wait(&event);
    #pragma omp taskwait

    marline_event_init(&event);
    #pragma omp task
    { marline_event_fulfill(&event); work(); }
    #pragma omp task
    { omp_set_lock(&lock); omp_unset_lock(&lock); }
    #pragma omp task
    { omp_set_lock(&lock); marline_event_wait(&event); omp_unset_lock(&lock); work(); }
    #pragma omp taskwait

    #pragma omp task
    { omp_fulfill_event(handle); work(); }
    #pragma omp task
    {
      #pragma omp task detach(handle)
      { }
      #pragma omp taskwait
    }
    #pragma omp taskwait
  }
  return 0;
}
"""


def test_suspended_task_could_go_on_before_it_did(tmp_path: Path) -> None:
    """For an event, an event with a lock in hand, that lock, and a taskwait for a detached child: the task that ends
    the wait works for 3 ms more on the only thread."""
    assert execute(build(tmp_path, WAITS), "marline").stderr == ""
    records = Records(tmp_path / "trace")
    of = Analysis(records.trace)
    found, tasks = of["suspensions"], of["tasks"]
    suspended = np.flatnonzero(found.told)
    assert len(suspended) == 4 and len(found.task) == 5  # the fifth: a task lay below its child on a stack
    by = {row["task"]: row["by"] for row in records.rows("task_ready")}
    late = 0
    for row in suspended.tolist():
        assert found.start[row] < found.ready[row] <= found.end[row]
        ends_it = int(tasks.index(np.array([by[int(found.task[row])]], dtype=np.uint64))[0])
        late += tasks.start[ends_it] <= found.ready[row] <= tasks.end[ends_it] - 2_000_000
    assert late == 3  # the child is completed, and the taskwait over, only once the thread has nothing else to do
    assert of["global_graph"].backwards == 0
    assert of["tied_waits"].total == int((found.end - found.ready)[suspended].sum())


MESSAGES = r"""
#include <mpi.h>

/* In a team of one thread the task that is created first starts last: then all receives wait. */
int main(int argc, char** argv) {
  int level, rank, go = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Recv(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  #pragma omp parallel num_threads(1)
  for (int i = 0; i < 5; i++) {
    #pragma omp task
    {
      int word = i;
      if (i == 0) {
        if (rank == 1) MPI_Send(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
      } else if (rank == 0) {
        MPI_Send(&word, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
      } else {
        MPI_Recv(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.skipif(not MPIS, reason="no MPI")
def test_message_ends_where_its_receiver_could_go_on(tmp_path: Path) -> None:
    """Four receives are suspended until their message comes; each edge of a message leads to that moment."""
    source = tmp_path / "messages.c"
    source.write_text(MESSAGES)
    program = build_mpi(tmp_path, MPIS[0], source, "-fopenmp")
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
    words = [str(BUILD / "bin" / "marline"), "trace", "-n", "2", "-t", "1", "-o", str(tmp_path / "trace"), str(program)]
    subprocess.run(words, env=os.environ | settings, capture_output=True, check=True, timeout=SECONDS)
    of = Analysis(Records(tmp_path / "trace").trace)
    found, calls, messages, graph = of["suspensions"], of["calls"], of["messages"], of["global_graph"]
    received = np.isin(found.call, messages.receive)
    assert received.sum() == 4 and found.told[received].all()
    sent = calls.start[messages.send[np.argsort(messages.receive)]]
    suspended = found.call[received]
    assert (found.ready[received] >= sent[np.searchsorted(np.sort(messages.receive), suspended)]).all()
    edges = graph.edges.take(slice(graph.declared))
    sinks = graph.points.time[edges.sink[edges.kind == kinds.MESSAGE]]
    assert set(found.ready[received].tolist()) <= set(sinks.tolist())


CREATES = r"""
int main(void) {
  static int data[1000];
  #pragma omp parallel num_threads(2)
  #pragma omp single
  for (int i = 0; i < 1000; i++) {
    #pragma omp task depend(inout: data[i % 10])
    data[i]++;
  }
  return 0;
}
"""


@pytest.mark.parametrize("runtime", ["marline", "libomp"])
def test_creation_takes_time(tmp_path: Path, runtime: str) -> None:
    assert execute(build(tmp_path, CREATES), runtime).stderr == ""
    of = Analysis(Records(tmp_path / "trace").trace)
    found = of["creations"]
    (rank,) = of.document("discovery")["ranks"]
    assert rank["tasks"] == 1000 and rank["measured_tasks"] == found.measured.sum()
    if runtime == "libomp":
        assert not found.measured.any() and not found.time.any() and rank["measured_ns_per_task"] is None
        return
    assert 100 <= found.measured.sum() <= 150  # one in eight
    assert rank["measured_ns"] > 0 and (found.time > 0).mean() > 0.9
    assert found.time.max() <= of["tasks"].creation.max()


GRAPH = r"""
#include <marline/marline.h>
#pragma weak marline_graph_begin
#pragma weak marline_graph_iterate
#pragma weak marline_graph_end

int main(void) {
  static int data[4];
  #pragma omp parallel num_threads(2)
  #pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(MODE);
    for (int i = 0; i < 6; i++) {
      if (!marline_graph_iterate(graph)) continue;
      for (int j = 0; j < 4; j++) {
        #pragma omp task depend(inout: data[j])
        data[j]++;
      }
    }
    marline_graph_end(graph);
    #pragma omp task
    data[0]++;
  }
  return data[0] != 7 || data[3] != 6;
}
"""


@pytest.mark.parametrize(("mode", "how"), [
    ("BARRIER", {"recorded": 1, "replayed": 5, "replayed without code": 0}),
    ("NOWAIT", {"recorded": 2, "replayed": 4, "replayed without code": 0}),
    ("REPLAY", {"recorded": 1, "replayed": 0, "replayed without code": 5}),
])  # fmt: skip
def test_iterations_of_persistent_graphs(tmp_path: Path, mode: str, how: dict[str, int]) -> None:
    """Six iterations of four tasks; dependences order each task after its like in the iteration before."""
    program = build(tmp_path, GRAPH, f"-DMODE=MARLINE_GRAPH_{mode}")
    assert execute(program, "marline").stderr == ""
    of = Analysis(Records(tmp_path / "trace").trace)
    found, tasks, edges = of["iterations"], of["tasks"], of["edges"]
    assert of.document("iterations") == {"graphs": 1, "iterations": how, "tasks": 24}
    assert sorted(found.iteration.tolist()) == [0] + [number for number in range(1, 7) for _ in range(4)]
    assert len(edges.source) == 20
    assert (found.iteration[edges.sink] == found.iteration[edges.source] + 1).all()
    graph = of["global_graph"]
    assert graph.backwards == 0
    waits = graph.edges.take(slice(graph.declared))
    # Of iterations that overlap, the producer waits for each; the taskgroups of the others hold the same four tasks.
    assert (waits.kind == kinds.TASKWAIT).sum() == 24
    assert (tasks.end[found.iteration == 1].max() <= tasks.created[found.iteration == 3]).all()
