/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that start what no receive of ours will see, and which links (links.h) can therefore not time: the job ends
 * with a line. With a plain delay they go straight through. No state.
 */
#include "links.h"
#include "next.h"

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  links_refuse("persistent requests");
  return next.Send_init(buffer, count, type, destination, tag, comm, request);
}

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made) {
  links_refuse("one-sided communication");
  return next.Win_create(base, size, unit, info, comm, made);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made) {
  links_refuse("one-sided communication");
  return next.Win_allocate(size, unit, info, comm, base, made);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* made) {
  links_refuse("one-sided communication");
  return next.Win_create_dynamic(info, comm, made);
}

#define ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
ALIAS(Send_init);
ALIAS(Win_create);
ALIAS(Win_allocate);
ALIAS(Win_create_dynamic);
