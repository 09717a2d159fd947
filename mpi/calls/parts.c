/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the requests that the poller tests for a call. Only the poller calls these functions, except parts_begin().
 */
#include "calls/parts.h"

#include <stddef.h>

void parts_begin(Parts* parts, Pending* whole, bool (*part_completed)(Several* several, Pending* part),
                 void (*part_failed_too)(Several* several, Pending* part)) {
  parts->several = (Several){
      .whole = whole, .parts = parts->parts, .part_completed = part_completed, .part_failed_too = part_failed_too};
  parts->are_too_many = false;
  whole->several = &parts->several;
}

bool parts_is_open(MPI_Request request) {
  int complete = 1;
  const int error = next_mpi.request_get_status(request, &complete, MPI_STATUS_IGNORE);
  return error == MPI_SUCCESS && !complete;
}

void parts_add(Parts* parts, int i, MPI_Request request) {
  Several* several = &parts->several;
  parts->indices[several->count] = i;
  parts->parts[several->count] =
      (Pending){.request = request, .status = parts->status, .call = several->whole->call, .several = several};
  ++several->count;
}

bool parts_add_open(Parts* parts, int count, const MPI_Request* requests) {
  const MPI_Request null = MPI_REQUEST_NULL;
  bool others = false;
  for (int i = 0; i < count && !parts->are_too_many; ++i) {
    if (requests[i] == null) continue;
    if (!parts_is_open(requests[i])) {
      others = true;
    } else if (parts->several.count < kMostParts) {
      parts_add(parts, i, requests[i]);
    } else {
      parts->several.count = 0;
      parts->are_too_many = true;
    }
  }
  return others && !parts->are_too_many;
}

int parts_index(const Parts* parts, const Pending* part) { return parts->indices[part - parts->parts]; }
