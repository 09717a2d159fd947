/* SPDX-License-Identifier: Apache-2.0
 *
 * What cannot be done with persistent graphs ends the program with one line that says so.
 *
 * Covers: marline persistent graphs
 */
#include "../child.h"
#include <marline/marline.h>

static int value;

static void two_at_once(void) {
  marline_graph_t *a = marline_graph_begin(MARLINE_GRAPH_BARRIER), *b = marline_graph_begin(MARLINE_GRAPH_BARRIER);
  marline_graph_iterate(a);
  marline_graph_iterate(b);
}

static void share(void) {
  MARLINE_GRAPH_FOR(int it = 0, it < 2, ++it, MARLINE_GRAPH_BARRIER)
  marline_depend_share();
}

/* In an iteration that is replayed, too, dependences that no task was created with are noticed. */
static void no_task(void) {
  MARLINE_GRAPH_FOR(int it = 0, it < 4, ++it, MARLINE_GRAPH_BARRIER) {
#pragma omp task firstprivate(it)
    if (it == 2) {
      const marline_dependence_t list[] = {{&value, MARLINE_IN}};
      marline_task_depend(list, 1);
    }
#pragma omp taskwait
#pragma omp task
    value++;
  }
}

static void null_graph(void) { marline_graph_end(NULL); }

static int misuse(const char* how) {
#pragma omp parallel num_threads(1)
#pragma omp single
  if (strcmp(how, "two_at_once") == 0)
    two_at_once();
  else if (strcmp(how, "share") == 0)
    share();
  else if (strcmp(how, "null") == 0)
    null_graph();
  else
    no_task();
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return misuse(argv[1]);
  expect_fatal("two_at_once", "marline_graph_iterate: the task is in an iteration of another graph");
  expect_fatal("share", "marline_depend_share: the task is in an iteration of a persistent graph");
  expect_fatal("null", "marline_graph_end: the graph is null");
  expect_fatal("no_task", "then did not create a task");
  return 0;
}
