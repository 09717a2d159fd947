/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded in front of Open MPI: the tenth message that a process receives has one number that is wrong by 10^-9.
 * Handles are pointers here, so that no MPI header is needed.
 */
#include <stddef.h>

int PMPI_Recv(void* buffer, int count, void* type, int source, int tag, void* comm, void* status);

int MPI_Recv(void* buffer, int count, void* type, int source, int tag, void* comm, void* status) {
  static int received;
  const int error = PMPI_Recv(buffer, count, type, source, tag, comm, status);
  if (__atomic_add_fetch(&received, 1, __ATOMIC_RELAXED) == 10) ((double*)buffer)[count / 2] += 1e-9;
  return error;
}
