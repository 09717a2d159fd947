/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI library behind libmarline-mpi: its functions, found at run time. Nothing here is linked against libmpi, for
 * three reasons: this library is also preloaded into processes without MPI (a launcher's shell); RTLD_NEXT is what lets
 * a PMPI tool stand in front; and in a program of the other MPI implementation a missing symbol would end the process
 * in the dynamic linker, where it is our task to say why. Hence no data symbol of MPI either (Open MPI's MPI_COMM_WORLD
 * and MPI_REQUEST_NULL are some).
 *
 * `next_mpi` is written once, by library_resolve(), before the first use, and only read afterwards, by any thread.
 */
#ifndef MARLINE_MPI_LIBRARY_H
#define MARLINE_MPI_LIBRARY_H

/* The one place that includes mpi.h: everything else in this library is hidden, the MPI interface is not. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

typedef struct NextMpi {
  __typeof__(MPI_Init_thread) *init_thread;
  __typeof__(MPI_Finalize) *finalize;
  __typeof__(MPI_Get_library_version) *get_library_version;
  __typeof__(MPI_Send) *send;
  __typeof__(MPI_Ssend) *ssend;
  __typeof__(MPI_Bsend) *bsend;
  __typeof__(MPI_Rsend) *rsend;
  __typeof__(MPI_Recv) *recv;
  __typeof__(MPI_Sendrecv) *sendrecv;
  __typeof__(MPI_Probe) *probe;
  __typeof__(MPI_Wait) *wait;
  __typeof__(MPI_Waitall) *waitall;
  __typeof__(MPI_Waitany) *waitany;
  __typeof__(MPI_Barrier) *barrier;
  __typeof__(MPI_Bcast) *bcast;
  __typeof__(MPI_Reduce) *reduce;
  __typeof__(MPI_Allreduce) *allreduce;
  __typeof__(MPI_Isend) *isend;
  __typeof__(MPI_Issend) *issend;
  __typeof__(MPI_Ibsend) *ibsend;
  __typeof__(MPI_Irsend) *irsend;
  __typeof__(MPI_Irecv) *irecv;
  __typeof__(MPI_Iprobe) *iprobe;
  __typeof__(MPI_Cancel) *cancel;
  __typeof__(MPI_Test) *test;
  __typeof__(MPI_Testall) *testall;
  __typeof__(MPI_Testany) *testany;
  __typeof__(MPI_Ibarrier) *ibarrier;
  __typeof__(MPI_Ibcast) *ibcast;
  __typeof__(MPI_Ireduce) *ireduce;
  __typeof__(MPI_Iallreduce) *iallreduce;
} NextMpi;

extern NextMpi next_mpi;

/* Fills next_mpi; the first call decides, later ones return at once. Ends the process with one line if there is no MPI
 * library, if it is not the implementation that this build is for, or if it lacks a function. Thread-safe. */
void library_resolve(void);

#endif
