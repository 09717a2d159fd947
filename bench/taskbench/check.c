/* SPDX-License-Identifier: Apache-2.0
 *
 * The check of the library itself, used by tests/e2e/study/test_taskbench.py; measures nothing.
 *   taskbench-check graph [OPTIONS]   prints each task, what it reads and who reads it: `T I < J... > K...`
 *   taskbench-check FAULT [OPTIONS]   runs the graph in order on one thread, but for one fault: the library must end it
 *                                     with status 1 and a line that says what was seen
 * The faults are those that a runtime or a driver can commit. They concern column 0, and the middle step where it
 * matters; `unread`: what a driver reports of the outputs that are not read. They are mistakes of the caller; the
 * library under test is the one of the real drivers.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum Fault { kNone, kSkipLast, kSkipMiddle, kTwice, kEarly, kOverwritten, kOldRun, kTorn, kUnread, kFaults };

static const char* const kFaultNames[kFaults] = {"none",        "skip_last", "skip_middle", "twice", "early",
                                                 "overwritten", "old_run",   "torn",        "unread"};

static enum Fault fault;

/* The tally of a driver that sees only the tasks with unread outputs, with one wrong bit. */
static struct Tally wrong_unread(const struct Bench* bench) {
  struct Tally tally = bench_expected(bench);
  tally.unread_digests ^= 1;
  return tally;
}

/* Commits the fault before task (t, 0) or instead of it; true: instead. */
static bool commit_fault(const struct Bench* bench, long t) {
  long steps = bench->options.graph.steps, middle = steps / 2;
  switch (fault) {
    case kSkipLast: return t == steps - 1;
    case kSkipMiddle: return t == middle;
    case kOldRun: return bench->run == 1 && t == 0;
    case kTwice:
      if (t == steps - 1) bench_run_task(bench, t, 0);
      return false;
    case kEarly:
      if (t == middle) bench_run_task(bench, t + 1, 0);
      return false;
    case kTorn:
      if (t == middle) bench_cell(bench, t - 1, 0)[bench->options.output_bytes - 1] ^= 1;
      return false;
    default: return false;
  }
}

/* The next task that writes the cell comes before the readers of the cell: the fault that `out` of that task
 * prevents. */
static void overwrite(const struct Bench* bench, long t) {
  if (fault != kOverwritten || t != bench->options.graph.steps / 2) return;
  memcpy(bench_cell(bench, t - 1, 0), bench_cell(bench, t - 2, 0), bench->cell_bytes);
}

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  for (long t = 0; t < graph->steps; ++t) {
    overwrite(bench, t);
    for (long i = 0; i < graph_width_at(graph, t); ++i)
      if (i != 0 || !commit_fault(bench, t)) bench_run_task(bench, t, i);
  }
}

static void print_set(const char* before, const struct IntervalSet* set) {
  fputs(before, stdout);
  for (int k = 0; k < set->count; ++k)
    for (long j = set->at[k].first; j <= set->at[k].last; ++j) printf(" %ld", j);
}

static void print_graph(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  struct IntervalSet set;
  for (long t = 0; t < graph->steps; ++t) {
    for (long i = 0; i < graph_width_at(graph, t); ++i) {
      printf("%ld %ld", t, i);
      graph_dependences(graph, t, i, &set);
      print_set(" <", &set);
      graph_readers(graph, t, i, &set);
      print_set(" >", &set);
      putchar('\n');
      bench_run_task(bench, t, i); /* so that the plan of the drivers is checked against the same sets */
    }
  }
}

static void start(struct Bench* bench) { bench->workers = 1; }

static void finish(struct Bench* bench) { (void)bench; }

int main(int argc, char** argv) {
  struct Driver driver = {"check", start, execute, finish, NULL, NULL};
  const char* mode = argc > 1 ? argv[1] : "";
  if (!strcmp(mode, "graph")) {
    driver.execute = print_graph;
    return taskbench_main(argc - 1, argv + 1, &driver);
  }
  for (fault = kNone; fault < kFaults; ++fault) {
    if (strcmp(mode, kFaultNames[fault])) continue;
    if (fault == kUnread) driver.unread = wrong_unread;
    return taskbench_main(argc - 1, argv + 1, &driver);
  }
  fail("'%s' is neither graph nor a fault: see check.c", mode);
}
