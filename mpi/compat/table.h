/* SPDX-License-Identifier: Apache-2.0
 *
 * What libmarline-mpi exports for the archive that programs link (link.c): one table, found by its name. The archive's
 * functions have the names of marline_mpi.h, so the table must have another name.
 */
#ifndef MARLINE_MPI_TABLE_H
#define MARLINE_MPI_TABLE_H

#pragma GCC visibility push(default)
#include "marline/marline_mpi.h"
#pragma GCC visibility pop

enum { kTableVersion = 1 };
#define MARLINE_MPI_TABLE_NAME "marline_mpi_table"

typedef struct MarlineMpiTable {
  int version; /* a later one adds members at the end */
  __typeof__(marline_mpi_is_active)* is_active;
  __typeof__(marline_mpi_iwaitall)* iwaitall;
  __typeof__(marline_mpi_on_completion)* on_completion;
  __typeof__(marline_mpi_fulfill)* fulfill;
  __typeof__(marline_mpi_speculation_begin)* speculation_begin;
  __typeof__(marline_mpi_speculation_stop)* speculation_stop;
  __typeof__(marline_mpi_speculation_end)* speculation_end;
  __typeof__(marline_mpi_counters_read)* counters_read;
} MarlineMpiTable;

/* A request of a call is complete: sets its status and the error of the call. As in MPI_Waitall, the errors of
 * several requests are in their statuses. */
static inline void note_result(int requests, int error, MPI_Status* status, int* call_error) {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  if (error != MPI_SUCCESS) *call_error = requests == 1 ? error : MPI_ERR_IN_STATUS;
}

/* What the functions do if no engine serves requests: they wait. `wait` is MPI_Wait, `null` MPI_REQUEST_NULL. */
static inline int wait_here(__typeof__(MPI_Wait)* wait, MPI_Request null, int count, MPI_Request requests[],
                            MPI_Status* statuses) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    note_result(count, wait(&requests[i], status), status, &error);
    requests[i] = null;
  }
  return error;
}

#endif
