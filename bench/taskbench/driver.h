/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface that a system must provide to be measured. taskbench_main calls, on the main thread: start once,
 * execute for each run (with bench->run set), finish once. execute returns when all tasks of this process have ended;
 * it runs task (t, i) only after the tasks that bench_inputs names, and writes no cell before its last readers have
 * ended. A driver decides nothing else; inputs, kernel and check are the same code for all drivers.
 */
#ifndef MARLINE_TASKBENCH_DRIVER_H
#define MARLINE_TASKBENCH_DRIVER_H

#include "task.h"

/* The processes that share one graph, as the frame sees them; NULL stands for one process. */
struct Ranks {
  int rank, count;
  void (*barrier)(void);
  uint64_t (*sum)(uint64_t value); /* over all ranks; all ranks get the result */
  double (*largest)(double value);
};

struct Driver {
  const char* name;
  void (*start)(struct Bench* bench); /* sets bench->workers, prints `# runtime PATH` on rank 0 */
  void (*execute)(struct Bench* bench);
  void (*finish)(struct Bench* bench);
  const struct Ranks* ranks;
  /* The tally of the tasks of the last run with outputs that are not read; NULL if tasks run by bench_run_task,
   * which counts by itself. The digests of these tasks depend on all other tasks, which have readers. */
  struct Tally (*unread)(const struct Bench* bench);
};

/* Exit status of the program. */
int taskbench_main(int argc, char** argv, const struct Driver* driver);

/* `# KEY PATH`: the shared object that holds `address`; so a run's output shows if its environment was meant to
 * replace a library and did not. */
void print_library(const char* key, const void* address);

#endif
