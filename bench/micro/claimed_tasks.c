/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of a target task that a library claims at its creation and ends without running it (devices.h): creation,
 * predecessors, readiness and end, all by one thread, which bounds how many tasks one core can give away. 1,024 tasks
 * are created, then ended as they become ready. Figures: `claimed_alone` without dependences, `claimed_chain` in 64
 * chains, `claimed_stencil` with three dependences. Needs Marline.
 */
#include "bench.h"

#include <marline/devices.h>

enum { kWidth = 64, kSteps = 16, kTasks = kWidth * kSteps };

static char cells[2][kWidth + 2];
static marline_claimed_t* ready_tasks[kTasks];
static int ready_count;
static long claimed, ended, told;

static void* created(const marline_target_task_t* task) {
  ++claimed;
  return task->handle;
}

static void ordered(void* task, const uint64_t* numbers, size_t count, size_t others) {
  (void)task, (void)numbers;
  told += (long)(count + others);
}

static void ready(void* task) { ready_tasks[ready_count++] = task; }

static void end_all(void) {
  while (ready_count != 0) {
    marline_claimed_end(ready_tasks[--ready_count]);
    ++ended;
  }
}

static void create_alone(int step, int i) {
  char* cell = &cells[step & 1][i];
#pragma omp target nowait firstprivate(cell)
  ++*cell;
}

static void create_link(int step, int i) {
  char* cell = &cells[step & 1][i];
#pragma omp target nowait firstprivate(cell) depend(inout : cells[0][i])
  ++*cell;
}

static void create_point(int step, int i) {
  char *from = cells[step & 1], *to = cells[(step + 1) & 1];
#pragma omp target nowait firstprivate(from, to) depend(in : from[i], from[i + 2]) depend(inout : to[i + 1])
  to[i + 1] = from[i];
}

static void run(long rounds, void (*create)(int, int)) {
  claimed = ended = told = 0;
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; ++round) {
    for (int step = 0; step < kSteps; ++step)
      for (int i = 0; i < kWidth; ++i) create(step, i);
    end_all();
#pragma omp taskwait
  }
}

static void run_alone(long rounds) { run(rounds, create_alone); }
static void run_chains(long rounds) { run(rounds, create_link); }
static void run_stencil(long rounds) { run(rounds, create_point); }

static int check(long rounds) { return claimed == rounds * kTasks && ended == claimed; }
static int check_chains(long rounds) { return check(rounds) && told == rounds * (kTasks - kWidth); }

int main(int argc, char** argv) {
  static const marline_target_observer_t observer = {
      .bytes = sizeof observer, .created = created, .ordered = ordered, .ready = ready};
  static const struct BenchFigure figures[] = {{"claimed_alone", "ns", kTasks, run_alone, check, NULL},
                                               {"claimed_chain", "ns", kTasks, run_chains, check_chains, NULL},
                                               {"claimed_stencil", "ns", kTasks, run_stencil, check, NULL}};
  if (marline_target_tasks_observe(&observer) != 0) bench_fail("target tasks cannot be observed");
  return bench_main(argc, argv, figures, 3);
}
