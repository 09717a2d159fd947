/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of MPI before MPI_Init: MPI ends the program and says why, with Marline as without it.
 */
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv) {
  int one = 1;
  int sum = 0;
  if (argc > 1 && strcmp(argv[1], "send") == 0)
    MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  else if (argc > 1 && strcmp(argv[1], "allreduce") == 0)
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  return 0;
}
