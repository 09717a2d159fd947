/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies buffers that are in device memory.
 */
#include "base/device_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../pmpi/abi.h"
#include "../pmpi/library.h"
#include "base/report.h"

/* Whether the library is Open MPI: its blocking reductions take device memory, and its nonblocking ones do not. */
static bool is_open_mpi(void) {
  static atomic_int known; /* any thread; relaxed: all find the same. 0: not known, 1: it is, 2: it is not */
  if (atomic_load_explicit(&known, memory_order_relaxed) == 0) {
    char version[64];
    pmpi_version_of(pmpi_handle(), version, sizeof version);
    atomic_store_explicit(&known, strncmp(version, "Open MPI", 8) == 0 ? 1 : 2, memory_order_relaxed);
  }
  return atomic_load_explicit(&known, memory_order_relaxed) == 1;
}

static bool is_on_device(const void* buffer) {
  const marline_device_memory_t* memory = device_memory();
  return memory != NULL && buffer != NULL && buffer != MPI_IN_PLACE && memory->holds(buffer) == 1;
}

static void* allocate(size_t bytes, const char* call) {
  void* memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) report_fatal("%s of device memory: no memory for a copy of %zu bytes", call, bytes);
  return memory;
}

static void read_all(void* to, const void* from, size_t bytes, const char* call) {
  if (bytes > 0 && device_memory()->read(to, from, bytes) != 0)
    report_fatal("%s: cannot copy %zu bytes from device memory at %p to the host", call, bytes, from);
}

/* Where the elements' bytes are, from the buffer's address on. */
typedef struct Range {
  MPI_Count begin;
  size_t bytes;
} Range;

static Range range_of(MPI_Count count, MPI_Datatype datatype) {
  MPI_Aint unused = 0, extent = 0, lower = 0, true_extent = 0;
  if (count <= 0 || next_mpi.type_get_extent(datatype, &unused, &extent) != MPI_SUCCESS ||
      next_mpi.type_get_true_extent(datatype, &lower, &true_extent) != MPI_SUCCESS)
    return (Range){0, 0};
  const MPI_Count last = (count - 1) * (MPI_Count)extent;
  return (Range){.begin = lower + (last < 0 ? last : 0), .bytes = (size_t)(true_extent + (last < 0 ? -last : last))};
}

static char* copy_of(const void* buffer, const Range* range, const char* call) {
  char* copy = allocate(range->bytes, call);
  read_all(copy, (const char*)buffer + range->begin, range->bytes, call);
  return copy;
}

DeviceSpan device_memory_span(const void* buffer, MPI_Count count, MPI_Datatype datatype, const char* call) {
  if (!is_on_device(buffer)) return (DeviceSpan){NULL, buffer};
  const Range range = range_of(count, datatype);
  char* bytes = copy_of(buffer, &range, call);
  return (DeviceSpan){bytes, bytes - range.begin};
}

/* Reductions ------------------------------------------------------------------------------------------------------- */

/* As Open MPI's own for blocking reductions (ompi/mca/coll/cuda), a copy is written back as a whole. Where MPI writes
 * nothing (between elements, MPI_Exscan's first process), it holds the buffer's bytes of before. */
bool device_reductions_are_copied(void) { return device_memory() != NULL && is_open_mpi(); }

DeviceReduction device_reduction_begin(const char* call, const void* sendbuf, MPI_Count sent, void* recvbuf,
                                       MPI_Count received, MPI_Datatype datatype) {
  DeviceReduction reduction = {.sendbuf = sendbuf, .recvbuf = recvbuf, .call = call};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!in_place && sent > 0 && is_on_device(sendbuf)) {
    const Range range = range_of(sent, datatype);
    reduction.copies[0] = copy_of(sendbuf, &range, call);
    reduction.sendbuf = (char*)reduction.copies[0] - range.begin;
  }
  /* In place, MPI_Reduce_scatter reads the elements of all processes here, also for a process without a result. */
  const MPI_Count held = in_place && sent > received ? sent : received;
  if (held > 0 && is_on_device(recvbuf)) {
    const Range range = range_of(held, datatype);
    const Range result = range_of(received, datatype);
    reduction.copies[1] = copy_of(recvbuf, &range, call);
    reduction.recvbuf = (char*)reduction.copies[1] - range.begin;
    reduction.result = (char*)recvbuf + range.begin;
    reduction.result_bytes = result.bytes;
  }
  return reduction;
}

int device_reduction_end(const DeviceReduction* reduction, int error) {
  if (error == MPI_SUCCESS && reduction->result_bytes > 0 &&
      device_memory()->write(reduction->result, reduction->copies[1], reduction->result_bytes) != 0)
    report_fatal("%s: cannot copy %zu bytes to device memory at %p", reduction->call, reduction->result_bytes,
                 reduction->result);
  free(reduction->copies[0]);
  free(reduction->copies[1]);
  return error;
}

bool device_reduction_is_root(int root, MPI_Comm comm) {
  int between_groups = 0, rank = 0;
  if (root == MPI_ROOT) return true;
  if (next_mpi.comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) return false;
  return next_mpi.comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

static int size_of(MPI_Comm comm) {
  int size = 0;
  return next_mpi.comm_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

static int rank_of(MPI_Comm comm) {
  int rank = 0;
  return next_mpi.comm_rank(comm, &rank) == MPI_SUCCESS ? rank : 0;
}

MPI_Count device_reduction_sum(const int* counts, MPI_Comm comm) {
  MPI_Count sum = 0;
  for (int i = size_of(comm) - 1; i >= 0; --i) sum += counts[i];
  return sum;
}

MPI_Count device_reduction_own(const int* counts, MPI_Comm comm) { return counts[rank_of(comm)]; }

MPI_Count device_reduction_sum_c(const MPI_Count* counts, MPI_Comm comm) {
  MPI_Count sum = 0;
  for (int i = size_of(comm) - 1; i >= 0; --i) sum += counts[i];
  return sum;
}

MPI_Count device_reduction_own_c(const MPI_Count* counts, MPI_Comm comm) { return counts[rank_of(comm)]; }

MPI_Count device_reduction_block(MPI_Count count, MPI_Comm comm) { return count * size_of(comm); }
