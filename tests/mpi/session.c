/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has a session of MPI 4.0 instead of MPI_Init: its calls, in tasks and outside, block as without
 * Marline.
 */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
  int rank = 0;
  int inside = 0;
  int outside = 0;
  const int one = 1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "session.c", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&world);
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&one, &outside, 1, MPI_INT, MPI_SUM, comm);
#pragma omp parallel
#pragma omp single
#pragma omp task shared(inside)
  MPI_Allreduce(&one, &inside, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (inside != 2 || outside != 2) return 1;
  printf("rank %d: done\n", rank);
  return 0;
}
