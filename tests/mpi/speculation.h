/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of speculation scopes share. The functions are looked up, as libmarline-mpi is preloaded.
 */
#ifndef MARLINE_TESTS_MPI_SPECULATION_H
#define MARLINE_TESTS_MPI_SPECULATION_H

#include <dlfcn.h>
#include <marline/marline.h>
#include <marline/marline_mpi.h>
#include <omp.h>
#include <string.h>

#include "support.h"

static struct {
  __typeof__(marline_mpi_speculation_begin)* begin;
  __typeof__(marline_mpi_speculation_stop)* stop;
  __typeof__(marline_mpi_speculation_end)* end;
  __typeof__(marline_taskgroup_cancelled)* cancelled;
  __typeof__(marline_task_cancelled)* task_cancelled;
} marline;

static inline void find_marline(void) {
  *(void**)&marline.begin = dlsym(RTLD_DEFAULT, "marline_mpi_speculation_begin");
  *(void**)&marline.stop = dlsym(RTLD_DEFAULT, "marline_mpi_speculation_stop");
  *(void**)&marline.end = dlsym(RTLD_DEFAULT, "marline_mpi_speculation_end");
  *(void**)&marline.cancelled = dlsym(RTLD_DEFAULT, "marline_taskgroup_cancelled");
  *(void**)&marline.task_cancelled = dlsym(RTLD_DEFAULT, "marline_task_cancelled");
  expect(marline.begin && marline.stop && marline.end && marline.cancelled && marline.task_cancelled,
         "marline_mpi.h's functions are there");
}

/* After the scope's end: no sent message is left on any rank. */
static inline void expect_no_leftovers(MPI_Comm comm, const marline_mpi_speculation_counts_t* counts) {
  unsigned long long mine[3] = {counts->sent, counts->received, counts->drained}, all[3];
  MPI_Allreduce(mine, all, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  expect(all[0] == all[1] + all[2], "what was sent was received or drained");
  mine[0] = counts->entered + counts->completed;
  MPI_Allreduce(mine, all, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  expect(mine[0] == all[0], "all ranks have made as many collectives");
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  expect(!found, "no message is left");
  MPI_Barrier(comm); /* messages from here on are not leftovers */
}

#endif
