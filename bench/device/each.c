/* SPDX-License-Identifier: Apache-2.0
 *
 * The shortest program in which the ranks are each other's devices: `region` has each rank run one on every device,
 * `nothing` uses none. For start_end.py, which times its life.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** arguments) {
  int on_host = 0, given;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &given);
  for (int d = 0; count > 1 && strcmp(arguments[1], "region") == 0 && d < omp_get_num_devices(); ++d) {
#pragma omp target device(d) map(tofrom : on_host)
    on_host += omp_is_initial_device();
  }
  MPI_Finalize();
  if (on_host != 0) fprintf(stderr, "bench: %d regions ran on the host\n", on_host);
  return on_host != 0;
}
