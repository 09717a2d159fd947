/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills and reads the table of requests.
 */
#include "inspect/requests.h"

#include <stdbool.h>

#include "engine/waiting.h"

BegunRequest begun_requests[kRequests];
uint64_t complete_requests[kCompleteKinds];

void requests_start(void) {
  const MPI_Comm self = MPI_COMM_SELF;
  MPI_Request requests[kCompleteKinds];
  next_mpi.isend(NULL, 0, MPI_PACKED, MPI_PROC_NULL, 0, self, &requests[0]);
  next_mpi.irecv(NULL, 0, MPI_PACKED, MPI_PROC_NULL, 0, self, &requests[1]);
  next_mpi.ibarrier(self, &requests[2]);
  for (int i = 0; i < kCompleteKinds; ++i) {
    int is_complete = 0;
    const uint64_t handle = (uint64_t)(intptr_t)requests[i];
    next_mpi.test(&requests[i], &is_complete, MPI_STATUS_IGNORE);
    if (is_complete)
      complete_requests[i] = handle;
    else
      next_mpi.wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

typedef struct Found {
  uint64_t handle;
  MpiCall call;
  uint64_t comm;
} Found;

static bool read_place(const BegunRequest* place, Found* found) {
  const uint64_t handle = atomic_load_explicit(&place->handle, memory_order_relaxed);
  const uint64_t operation = atomic_load_explicit(&place->operation, memory_order_relaxed);
  const uint64_t comm = atomic_load_explicit(&place->comm, memory_order_relaxed);
  const uint64_t peer_and_tag = atomic_load_explicit(&place->peer_and_tag, memory_order_relaxed);
  const uint64_t count = atomic_load_explicit(&place->count, memory_order_relaxed);
  const uint64_t check = atomic_load_explicit(&place->check, memory_order_relaxed);
  *found = (Found){.handle = handle,
                   .call = {.name = (const char*)(uintptr_t)operation,
                            .count = (MPI_Count)count,
                            .peer = (int)(int32_t)(peer_and_tag >> 32),
                            .tag = (int)(int32_t)peer_and_tag},
                   .comm = comm};
  return handle != 0 && check == (handle ^ operation ^ comm ^ peer_and_tag ^ count);
}

static void describe_complete(const Out* out) {
  Found found;
  print(out, "{\"complete\":[%lld", (long long)(intptr_t)MPI_REQUEST_NULL);
  for (int i = 0; i < kCompleteKinds; ++i) print(out, ",%lld", (long long)complete_requests[i]);
  for (int i = 0; i < kRequests; ++i)
    if (read_place(&begun_requests[i], &found) && found.call.peer == MPI_PROC_NULL)
      print(out, ",%lld", (long long)found.handle);
  print(out, "]");
}

void requests_describe(const Out* out) {
  const char* comma = "";
  Found found;
  describe_complete(out);
  print(out, ",\"requests\":[");
  for (int i = 0; i < kRequests; ++i) {
    if (!read_place(&begun_requests[i], &found) || found.call.peer == MPI_PROC_NULL) continue;
    const marline_wait_t what = waiting_in_unchecked(&found.call);
    print(out, "%s{\"id\":%lld,\"operation\":", comma, (long long)found.handle);
    print_string(out, what.operation);
    print(out, ",\"peer\":%lld,\"tag\":%lld,\"comm\":%lld,\"count\":%lld}", (long long)what.values[0],
          (long long)what.values[1], (long long)found.comm, (long long)found.call.count);
    comma = ",";
  }
  print(out, "]}");
}
