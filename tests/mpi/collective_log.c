/* SPDX-License-Identifier: Apache-2.0
 *
 * The log of a communicator's collectives (mpi/comm/collective_log.h) with more of them in progress than 16 bits can
 * count. A program needs as many tasks that are suspended in collectives, which takes MPI itself many minutes. So this
 * tests the log alone.
 */
#include <stdio.h>

#include "comm/collective_log.h"

enum { kCalls = 70000 };

static CollectiveLog call_log;

static int fails(int holds, const char* what, uint64_t number) {
  if (!holds) fprintf(stderr, "FAILED at call %llu: %s\n", (unsigned long long)number, what);
  return !holds;
}

static int begin_one(uint64_t expected, int overlaps) {
  const MpiCall call = {.name = "MPI_Barrier", .peer = kNoPeer, .tag = kNoTag};
  uint64_t oldest = 0;
  const uint64_t number = collective_log_begin(&call_log, &call, NULL, &oldest);
  return fails(number == expected, "calls are numbered one by one", expected) ||
         fails((oldest != number) == overlaps, "it overlaps with those in progress, and only then", expected);
}

int main(void) {
  for (uint64_t i = 1; i <= kCalls; ++i)
    if (begin_one(i, i > 1)) return 1;
  for (uint64_t i = 1; i <= kCalls; ++i) collective_log_end(&call_log, i);
  return fails(collective_log_begun(&call_log) == kCalls, "all have begun", kCalls) || begin_one(kCalls + 1, 0);
}
