/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of marline_mpi.h for programs that are linked without Marline. Each function calls libmarline-mpi, if
 * it is in the process, and otherwise waits for the requests itself. Built into libmarline-mpi-link.a, which calls the
 * program's MPI.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "compat/table.h"

/* The table once it is found. Relaxed: it is constant data of a library that was loaded before. */
static _Atomic(const MarlineMpiTable*) known;

static const MarlineMpiTable* table(void) {
  const MarlineMpiTable* found = atomic_load_explicit(&known, memory_order_relaxed);
  if (found != NULL) return found;
  found = dlsym(RTLD_DEFAULT, MARLINE_MPI_TABLE_NAME);
  if (found == NULL || found->version < kTableVersion) return NULL;
  atomic_store_explicit(&known, found, memory_order_relaxed);
  return found;
}

int marline_mpi_is_active(void) { return table() != NULL ? table()->is_active() : 0; }

int marline_mpi_iwaitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  return table() != NULL ? table()->iwaitall(count, requests, statuses)
                         : wait_here(MPI_Wait, MPI_REQUEST_NULL, count, requests, statuses);
}

int marline_mpi_iwait(MPI_Request* request, MPI_Status* status) {
  return marline_mpi_iwaitall(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

int marline_mpi_on_completion(int count, MPI_Request requests[], MPI_Status* statuses, marline_mpi_callback_fn callback,
                              void* arg) {
  if (table() != NULL) return table()->on_completion(count, requests, statuses, callback, arg);
  const int error = wait_here(MPI_Wait, MPI_REQUEST_NULL, count, requests, statuses);
  callback(error, arg);
  return error;
}

int marline_mpi_fulfill(int count, MPI_Request requests[], MPI_Status* statuses, uintptr_t event) {
  if (table() != NULL) return table()->fulfill(count, requests, statuses, event);
  const int error = wait_here(MPI_Wait, MPI_REQUEST_NULL, count, requests, statuses);
  /* Found by name, because a program without OpenMP is linked with this file, too. */
  void (*fulfill)(uintptr_t) = (void (*)(uintptr_t))dlsym(RTLD_DEFAULT, "omp_fulfill_event");
  if (fulfill != NULL) fulfill(event);
  return error;
}

marline_mpi_speculation_t* marline_mpi_speculation_begin(MPI_Comm comm) {
  return table() != NULL ? table()->speculation_begin(comm) : NULL;
}

void marline_mpi_speculation_stop(marline_mpi_speculation_t* speculation) {
  if (table() != NULL) table()->speculation_stop(speculation);
}

void marline_mpi_speculation_end(marline_mpi_speculation_t* speculation, marline_mpi_speculation_counts_t* counts) {
  if (table() != NULL)
    table()->speculation_end(speculation, counts);
  else if (counts != NULL)
    *counts = (marline_mpi_speculation_counts_t){0};
}

void marline_mpi_counters_read(marline_mpi_counters_t* out, size_t bytes) {
  if (table() != NULL)
    table()->counters_read(out, bytes);
  else
    memset(out, 0, bytes);
}
