/* SPDX-License-Identifier: Apache-2.0
 *
 * StarPU: every cell is a registered variable; a task names the handles of its inputs with STARPU_R and of its output
 * with STARPU_W, and StarPU finds the graph from the order of submission (sequential consistency). The main thread
 * submits and is not one of the --workers CPU workers. StarPU gets no accelerators, so data stay where they are.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"
#include "starpu/start.h"

/* Not part of a task's argument, which is one word: a larger argument would need an allocation for each task. */
static struct Bench* the_bench;
static starpu_data_handle_t* handles; /* [slot * width + column] */

static void run(void* buffers[], void* argument) {
  (void)buffers; /* of one memory node: they are the cells */
  long width = the_bench->options.graph.width, task = (long)(intptr_t)argument;
  bench_run_task(the_bench, task / width, task % width);
}

static struct starpu_codelet codelet = {.cpu_funcs = {run}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "task"};

static starpu_data_handle_t handle_of(const struct Bench* bench, long t, long i) {
  return handles[(t & (bench->options.slots - 1)) * bench->options.graph.width + i];
}

static void make_room(struct starpu_task* task, int buffers) {
  task->nbuffers = buffers;
  if (buffers <= STARPU_NMAXBUFS) return;
  task->dyn_handles = malloc((size_t)buffers * sizeof *task->dyn_handles); /* StarPU frees both with the task */
  task->dyn_modes = malloc((size_t)buffers * sizeof *task->dyn_modes);
  if (!task->dyn_handles || !task->dyn_modes) fail("cannot allocate the %d handles of a task", buffers);
}

static void submit(const struct Bench* bench, long t, long i) {
  long count;
  const int32_t* inputs = bench_inputs(bench, t, i, &count);
  bool is_read = bench_is_read(bench, t, i);
  struct starpu_task* task = starpu_task_create();
  task->cl = &codelet;
  task->cl_arg = (void*)(intptr_t)(t * bench->options.graph.width + i);
  make_room(task, (int)count + is_read);
  for (long k = 0; k < count; ++k) {
    STARPU_TASK_SET_HANDLE(task, handle_of(bench, t - 1, inputs[k]), k);
    STARPU_TASK_SET_MODE(task, STARPU_R, k);
  }
  if (is_read) {
    STARPU_TASK_SET_HANDLE(task, handle_of(bench, t, i), count);
    STARPU_TASK_SET_MODE(task, STARPU_W, count);
  }
  int error = starpu_task_submit(task);
  if (error) fail("StarPU refuses task (%ld, %ld): error %d", t, i, error);
}

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  for (long t = 0; t < graph->steps; ++t)
    for (long i = 0; i < graph_width_at(graph, t); ++i) submit(bench, t, i);
  starpu_task_wait_for_all();
}

static void start_starpu(int workers) {
  int error = starpu_start(workers);
  if (error == kNoFolder) fail("cannot make, or remove, a folder for StarPU's measurements: set TMPDIR");
  if (error) fail("StarPU does not start with %d CPU workers: error %d", workers, error);
}

static void start(struct Bench* bench) {
  print_library("runtime", (const void*)starpu_init);
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  start_starpu((int)(bench->options.workers ? bench->options.workers : CPU_COUNT(&cores)));
  bench->workers = starpu_cpu_worker_get_count();
  printf("# scheduler %s\n", starpu_sched_ctx_get_sched_policy(0)->policy_name); /* 0: the context of all workers */
  the_bench = bench;
  long count = bench->options.slots * bench->options.graph.width;
  handles = allocate((size_t)count * sizeof *handles);
  for (long k = 0; k < count; ++k)
    starpu_variable_data_register(&handles[k], STARPU_MAIN_RAM,
                                  (uintptr_t)(bench->cells + (size_t)k * bench->cell_bytes),
                                  (size_t)bench->options.output_bytes);
}

static void finish(struct Bench* bench) {
  long count = bench->options.slots * bench->options.graph.width;
  for (long k = 0; k < count; ++k) starpu_data_unregister(handles[k]);
  free(handles);
  starpu_shutdown();
}

int main(int argc, char** argv) {
  const struct Driver driver = {"starpu", start, execute, finish, NULL, NULL};
  return taskbench_main(argc, argv, &driver);
}
