/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that complete requests. MPI is not asked about requests that are held back. A call that needs all requests
 * complete says no while one is held back; a call that needs one asks MPI about the others. A wait asks again and
 * again. Any thread.
 */
#include <stdlib.h>
#include <string.h>

#include "delay.h"
#include "held.h"
#include "next.h"

enum { kOnStack = 64 };

/* The requests of a call, with MPI_REQUEST_NULL for each that is held back. */
typedef struct Others {
  MPI_Request* requests;
  int held;
  MPI_Request on_stack[kOnStack];
} Others;

static void others_make(Others* others, int count, const MPI_Request* requests) {
  others->requests = count <= kOnStack ? others->on_stack : malloc((size_t)count * sizeof(MPI_Request));
  if (others->requests == NULL) abort();
  others->held = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_held = held(requests[i]);
    others->requests[i] = is_held ? MPI_REQUEST_NULL : requests[i];
    others->held += is_held;
  }
}

static void others_free(Others* others) {
  if (others->requests != others->on_stack) free(others->requests);
}

/* Questions -------------------------------------------------------------------------------------------------------- */

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!held(*request)) return next.Test(request, flag, status);
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!held(request)) return next.Request_get_status(request, flag, status);
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!any_held(count, requests)) return next.Testall(count, requests, flag, statuses);
  *flag = 0;
  delay_progress();
  return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!delay_is_on()) return next.Testany(count, requests, index, flag, status);
  Others others;
  others_make(&others, count, requests);
  const int error = next.Testany(count, others.requests, index, flag, status);
  if (*flag && *index != MPI_UNDEFINED)
    requests[*index] = others.requests[*index];
  else if (*flag && others.held > 0) /* nothing but requests that are held back */
    *flag = 0;
  others_free(&others);
  return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]) {
  if (!delay_is_on()) return next.Testsome(count, requests, found, indices, statuses);
  Others others;
  others_make(&others, count, requests);
  const int error = next.Testsome(count, others.requests, found, indices, statuses);
  if (*found == MPI_UNDEFINED && others.held > 0) *found = 0;
  for (int i = 0; *found != MPI_UNDEFINED && i < *found; ++i) requests[indices[i]] = others.requests[indices[i]];
  others_free(&others);
  return error;
}

/* Waits ------------------------------------------------------------------------------------------------------------ */

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  while (held(*request)) delay_pause();
  return next.Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  while (any_held(count, requests)) delay_pause();
  return next.Waitall(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!any_held(count, requests)) return next.Waitany(count, requests, index, status);
  int flag = 0;
  int error = PMPI_Testany(count, requests, index, &flag, status);
  while (error == MPI_SUCCESS && !flag) {
    delay_pause();
    error = PMPI_Testany(count, requests, index, &flag, status);
  }
  return error;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]) {
  if (!any_held(count, requests)) return next.Waitsome(count, requests, found, indices, statuses);
  int error = PMPI_Testsome(count, requests, found, indices, statuses);
  while (error == MPI_SUCCESS && *found == 0) {
    delay_pause();
    error = PMPI_Testsome(count, requests, found, indices, statuses);
  }
  return error;
}

int MPI_Request_free(MPI_Request* request) {
  held_forget(*request);
  return next.Request_free(request);
}

#define ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
ALIAS(Test);
ALIAS(Request_get_status);
ALIAS(Testall);
ALIAS(Testany);
ALIAS(Testsome);
ALIAS(Wait);
ALIAS(Waitall);
ALIAS(Waitany);
ALIAS(Waitsome);
ALIAS(Request_free);
