/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Start, MPI_Startall, MPI_Request_free, and the tables of requests. A handle is removed when its request is freed.
 * Until then no other request has it, because MPI does not reuse the handle of an existing request.
 */
#include "calls/persistent.h"

#include <stddef.h>

#include "calls/request_set.h"
#include "marline/marline.h"

static RequestSet sends = REQUEST_SET("persistent sends");
static RequestSet not_for_testall = REQUEST_SET("partitioned requests and persistent collectives");

void persistent_made(int error, const MPI_Request* request) {
  if (error == MPI_SUCCESS) request_set_add(&sends, *request);
}

void not_for_testall_made(int error, const MPI_Request* request) {
  if (error == MPI_SUCCESS) request_set_add(&not_for_testall, *request);
}

bool are_any_not_for_testall(int count, const MPI_Request* requests) {
  return request_set_has_any(&not_for_testall, count, requests);
}

int MPI_Start(MPI_Request* request) {
  PASS_ON_FROM_TOOL(start(request));
  if (request_set_has_any(&sends, 1, request)) marline_task_sends();
  return next_mpi.start(request);
}

int MPI_Startall(int number, MPI_Request requests[]) {
  PASS_ON_FROM_TOOL(startall(number, requests));
  if (request_set_has_any(&sends, number, requests)) marline_task_sends();
  return next_mpi.startall(number, requests);
}

int MPI_Request_free(MPI_Request* request) {
  PASS_ON_FROM_TOOL(request_free(request));
  if (request != NULL) { /* MPI itself must refuse a null pointer */
    request_set_remove(&sends, *request);
    request_set_remove(&not_for_testall, *request);
  }
  return next_mpi.request_free(request);
}

extern __typeof__(MPI_Start) PMPI_Start __attribute__((alias("MPI_Start")));
extern __typeof__(MPI_Startall) PMPI_Startall __attribute__((alias("MPI_Startall")));
extern __typeof__(MPI_Request_free) PMPI_Request_free __attribute__((alias("MPI_Request_free")));
