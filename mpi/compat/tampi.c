/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of compat/TAMPI.h, in terms of marline_mpi.h. In libmarline-mpi and in the archive that programs link.
 */
#pragma GCC visibility push(default)
#include "marline/compat/TAMPI.h"
#pragma GCC visibility pop

#include "marline/marline_mpi.h"

int TAMPI_Property_get(int property, int* value) {
  if (property != TAMPI_PROPERTY_BLOCKING_MODE && property != TAMPI_PROPERTY_NONBLOCKING_MODE &&
      property != TAMPI_PROPERTY_THREAD_TASKAWARE)
    return MPI_ERR_ARG;
  *value = marline_mpi_is_active();
  return MPI_SUCCESS;
}

int TAMPI_Property_set(int property, int value) {
  (void)property;
  (void)value;
  return MPI_ERR_ARG;
}

int TAMPI_Blocking_enabled(int* flag) { return TAMPI_Property_get(TAMPI_PROPERTY_BLOCKING_MODE, flag); }

int TAMPI_Nonblocking_enabled(int* flag) { return TAMPI_Property_get(TAMPI_PROPERTY_NONBLOCKING_MODE, flag); }

int TAMPI_Iwait(MPI_Request* request, MPI_Status* status) { return marline_mpi_iwait(request, status); }

int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  return marline_mpi_iwaitall(count, requests, statuses);
}
