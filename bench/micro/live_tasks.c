/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a task that has been created and has not run: 200,000 tasks ordered after a detached task that
 * completes last, measured by the growth of the resident set. Figures, bytes per task: `live_chain`, one dependence and
 * one predecessor; `live_wavefront`, five dependences, up to four predecessors, and an address that no other task
 * writes, as in wavefront.c.
 */
#include "bench.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSide = 448, kTasks = kSide * kSide };

static char gate, cells[kSide + 1][kSide + 2];
static long run_tasks;

static double resident_bytes(void) {
  long pages = 0;
  FILE* in = fopen("/proc/self/statm", "r");
  if (!in || fscanf(in, "%*s %ld", &pages) != 1) bench_fail("/proc/self/statm cannot be read");
  fclose(in);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void create_chain(void) {
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task depend(inout : gate) firstprivate(i)
    run_tasks += i >= 0; /* one after another */
  }
}

static void create_wavefront(void) {
  for (int i = 1; i <= kSide; ++i)
    for (int j = 1; j <= kSide; ++j) {
#pragma omp task firstprivate(i, j) depend(in : cells[i][j - 1], cells[i - 1][j - 1], cells[i - 1][j]) \
    depend(in : cells[i - 1][j + 1]) depend(inout : cells[i][j])
      __atomic_fetch_add(&run_tasks, i > 0 && j > 0, __ATOMIC_RELAXED);
    }
}

static void measure(const char* name, void (*create)(void)) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  run_tasks = 0;
#pragma omp task detach(event) depend(out : gate, cells[0][0], cells[1][0], cells[0][1])
  {
  }
  double before = resident_bytes();
  create();
  bench_say(name, (resident_bytes() - before) / kTasks, "bytes");
  omp_fulfill_event(event);
#pragma omp taskwait
  if (run_tasks != kTasks) bench_fail("%s: %ld tasks ran", name, run_tasks);
}

/* In a process of its own: memory that another figure's tasks have left would be used again. */
static void measure_apart(const char* name, void (*create)(void)) {
  if (bench_options.only && strcmp(bench_options.only, name)) return;
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) bench_fail("%s: no process", name);
  if (child == 0) {
#pragma omp parallel num_threads(1)
#pragma omp single
    measure(name, create);
    fflush(stdout);
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) bench_fail("%s: status %d", name, status);
}

int main(int argc, char** argv) {
  bench_init(argc, argv);
  measure_apart("live_chain", create_chain);
  measure_apart("live_wavefront", create_wavefront);
  return 0;
}
