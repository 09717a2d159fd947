/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of TAMPI (bsc-pm/tampi, version 4) on Marline. Conventions and linking: marline_mpi.h; in place of -ltampi
 * link the archive that is named there. Both of TAMPI's modes are provided: blocking calls of MPI suspend their task,
 * whichever threading level the program asks for, and TAMPI_Iwait binds requests to the current task.
 *
 * For Fortran: TAMPIf.h, and the subroutines TAMPI_Iwait(request, status, error), TAMPI_Iwaitall(count, requests,
 * statuses, error), TAMPI_Blocking_enabled(flag, error), TAMPI_Nonblocking_enabled(flag, error),
 * TAMPI_Property_get(property, value, error) and TAMPI_Property_set(property, value, error) with integer handles. */
#ifndef MARLINE_COMPAT_TAMPI_H
#define MARLINE_COMPAT_TAMPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A threading level for MPI_Init_thread, which is provided if MPI_THREAD_MULTIPLE is. */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

/* Properties that can be read. */
#define TAMPI_PROPERTY_BLOCKING_MODE 0x1
#define TAMPI_PROPERTY_NONBLOCKING_MODE 0x2
#define TAMPI_PROPERTY_THREAD_TASKAWARE 0x4

/* Return MPI_ERR_ARG if there is no such property; TAMPI_Property_set always does. */
int TAMPI_Property_get(int property, int* value);
int TAMPI_Property_set(int property, int value);

int TAMPI_Blocking_enabled(int* flag);
int TAMPI_Nonblocking_enabled(int* flag);

/* marline_mpi_iwait and marline_mpi_iwaitall. */
int TAMPI_Iwait(MPI_Request* request, MPI_Status* status);
int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status* statuses);

/* Starts an operation, and calls TAMPI_Iwait with its request. */
#define MARLINE_TAMPI_START(start, status) \
  MPI_Request request;                     \
  const int error = start;                 \
  return error != MPI_SUCCESS ? error : TAMPI_Iwait(&request, status)

static inline int TAMPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Isend(buf, count, type, dest, tag, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ibsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ibsend(buf, count, type, dest, tag, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Irsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Irsend(buf, count, type, dest, tag, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Issend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Issend(buf, count, type, dest, tag, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Status* status) {
  MARLINE_TAMPI_START(MPI_Irecv(buf, count, type, source, tag, comm, &request), status);
}
static inline int TAMPI_Ibarrier(MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ibarrier(comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ibcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ibcast(buf, count, type, root, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                                MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ireduce(from, to, count, type, op, root, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iallreduce(from, to, count, type, op, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iscan(from, to, count, type, op, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iexscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iexscan(from, to, count, type, op, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Igather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type,
                                int root, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Igather(from, n, type, to, m, to_type, root, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iscatter(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type,
                                 int root, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iscatter(from, n, type, to, m, to_type, root, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iallgather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type,
                                   MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iallgather(from, n, type, to, m, to_type, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ialltoall(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type,
                                  MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ialltoall(from, n, type, to, m, to_type, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ireduce_scatter_block(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op,
                                              MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ireduce_scatter_block(from, to, n, type, op, comm, &request), MPI_STATUS_IGNORE);
}

/* With counts per rank. */
static inline int TAMPI_Ireduce_scatter(const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ireduce_scatter(from, to, counts, type, op, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Igatherv(const void* from, int n, MPI_Datatype type, void* to, const int counts[],
                                 const int places[], MPI_Datatype to_type, int root, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Igatherv(from, n, type, to, counts, places, to_type, root, comm, &request),
                      MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iscatterv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
                                  int m, MPI_Datatype to_type, int root, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iscatterv(from, counts, places, type, to, m, to_type, root, comm, &request),
                      MPI_STATUS_IGNORE);
}
static inline int TAMPI_Iallgatherv(const void* from, int n, MPI_Datatype type, void* to, const int counts[],
                                    const int places[], MPI_Datatype to_type, MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Iallgatherv(from, n, type, to, counts, places, to_type, comm, &request), MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ialltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type,
                                   void* to, const int to_counts[], const int to_places[], MPI_Datatype to_type,
                                   MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ialltoallv(from, counts, places, type, to, to_counts, to_places, to_type, comm, &request),
                      MPI_STATUS_IGNORE);
}
static inline int TAMPI_Ialltoallw(const void* from, const int counts[], const int places[], const MPI_Datatype types[],
                                   void* to, const int to_counts[], const int to_places[],
                                   const MPI_Datatype to_types[], MPI_Comm comm) {
  MARLINE_TAMPI_START(MPI_Ialltoallw(from, counts, places, types, to, to_counts, to_places, to_types, comm, &request),
                      MPI_STATUS_IGNORE);
}

#undef MARLINE_TAMPI_START

#ifdef __cplusplus
}
#endif

#endif
