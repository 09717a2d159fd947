/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of the program that are in device memory, for MPI libraries that take its addresses. Any thread.
 *
 * Where libmarline-mpi itself reads a buffer on the host, it reads a copy (device_memory_span): MPI libraries do not
 * promise MPI_Pack of device memory. Where it calls another function than the program has called, that function must
 * take device memory, too. Open MPI's blocking reductions do, its nonblocking ones do not (Open MPI 5.0, "Which MPI
 * APIs do NOT work with CUDA-aware UCX"; issues 9845 and 12045). So a reduction, which is converted to its nonblocking
 * form, works on copies (device_reduction_begin), as Open MPI's blocking ones do inside.
 */
#ifndef MARLINE_MPI_DEVICE_MEMORY_H
#define MARLINE_MPI_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/device_threads.h"
#include "base/mpi_library.h"

/* A copy in the host's memory of all that lies between the first and the last byte of the elements. */
typedef struct DeviceSpan {
  char* bytes;      /* to be freed; NULL: the buffer is the host's own */
  const char* base; /* what to pass in place of the buffer */
} DeviceSpan;

/* Blocks the thread, but does not suspend. `call`: for the line if the copy fails, which ends the program. */
DeviceSpan device_memory_span(const void* buffer, MPI_Count count, MPI_Datatype datatype, const char* call);

/* A reduction, for the time of the call. */
typedef struct DeviceReduction {
  const void* sendbuf; /* what to pass to MPI */
  void* recvbuf;
  const char* call;
  void* result; /* the program's recvbuf, if it is in device memory */
  size_t result_bytes;
  void* copies[2]; /* to be freed */
} DeviceReduction;

/* Whether reductions of device memory need copies. */
bool device_reductions_are_copied(void);

/* `sent`, `received`: numbers of elements of this process; 0: the buffer is not significant. */
DeviceReduction device_reduction_begin(const char* call, const void* sendbuf, MPI_Count sent, void* recvbuf,
                                       MPI_Count received, MPI_Datatype datatype);
/* Does not suspend. Returns `error`, after it has copied the result to the device if that is MPI_SUCCESS. */
int device_reduction_end(const DeviceReduction* reduction, int error);

/* Whether this process gets the result of MPI_Reduce. */
bool device_reduction_is_root(int root, MPI_Comm comm);
/* Numbers of elements in MPI_Reduce_scatter: of all processes, and of this one. */
MPI_Count device_reduction_sum(const int* counts, MPI_Comm comm);
MPI_Count device_reduction_own(const int* counts, MPI_Comm comm);
MPI_Count device_reduction_sum_c(const MPI_Count* counts, MPI_Comm comm);
MPI_Count device_reduction_own_c(const MPI_Count* counts, MPI_Comm comm);
MPI_Count device_reduction_block(MPI_Count count, MPI_Comm comm); /* MPI_Reduce_scatter_block: count for each process */

#endif
