/* SPDX-License-Identifier: Apache-2.0
 *
 * A tool ends while the threads are in dynamic loops, at different places of different loops. As long as it is there,
 * it is told of each chunk; after it, threads may take several at a time. Each iteration runs once, before and after.
 * There are more loops than threads can be apart, so some begin after the end of the tool.
 *
 * Covers: parallel, for(schedule:dynamic, nowait), atomic
 */
#define TOOL_LOOKS_UP
#include "../tool.h"
#include <omp.h>

enum { kThreads = 4, kLoops = 200, kIterations = 250, kEnds = 8 };

static ompt_finalize_tool_t finalize_tool;
static _Atomic int chunks;
static int hits[kLoops][kIterations];

static void on_dispatch(ompt_data_t* parallel, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  if (kind == ompt_dispatch_ws_loop_chunk) chunks++;
}

static void tool_lookup(ompt_function_lookup_t lookup) {
  finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  set_callback(ompt_callback_dispatch, (ompt_callback_t)on_dispatch);
}

int main(void) {
#pragma omp parallel num_threads(kThreads)
  for (int loop = 0; loop < kLoops; loop++) {
#pragma omp for schedule(nonmonotonic : dynamic, 1) nowait
    for (int i = 0; i < kIterations; i++) {
#pragma omp atomic
      hits[loop][i]++;
      if (loop == kEnds && i == kIterations / 2) finalize_tool();
    }
  }
  for (int loop = 0; loop < kLoops; loop++) {
    for (int i = 0; i < kIterations; i++) CHECK_EQ(hits[loop][i], 1);
  }
  CHECK(chunks > 0);
  CHECK(chunks < kLoops * kIterations);
  return 0;
}
