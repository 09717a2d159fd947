/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts Fortran's handles and constants to C's, for marline_mpi.f90, marline_mpi_f08.f90 and TAMPI's subroutines.
 * This file is only in the archive that programs link, because it needs the conversion functions of the program's MPI.
 * A Fortran status has the layout of a C status in both MPI libraries, in mpif.h's integers and in mpi_f08's type, so
 * the same memory is used for both.
 */
#include <stddef.h>
#include <stdlib.h>

#include "marline/compat/TAMPI.h"
#include "marline/marline_mpi.h"

enum { kUsual = 16 };

typedef struct Requests {
  MPI_Request* c;
  MPI_Request usual[kUsual];
} Requests;

static int to_c(Requests* requests, int count, const MPI_Fint* fortran) {
  requests->c = count <= kUsual ? requests->usual : malloc((size_t)count * sizeof *requests->c);
  if (requests->c == NULL) return MPI_ERR_NO_MEM;
  for (int i = 0; i < count; ++i) requests->c[i] = MPI_Request_f2c(fortran[i]);
  return MPI_SUCCESS;
}

/* Makes the program's handles null: the requests are not the program's any more. */
static void hand_over(Requests* requests, int count, MPI_Fint* fortran) {
  for (int i = 0; i < count; ++i) fortran[i] = MPI_Request_c2f(MPI_REQUEST_NULL);
  if (requests->c != requests->usual) free(requests->c);
}

/* Converts a pointer to one status or several. MPICH has constants of its own for mpi_f08. */
static MPI_Status* statuses_of(void* fortran) {
  if (fortran == (void*)MPI_F_STATUS_IGNORE || fortran == (void*)MPI_F_STATUSES_IGNORE) return MPI_STATUSES_IGNORE;
#if !MARLINE_MPI_IS_OPENMPI
  if (fortran == (void*)MPI_F08_STATUS_IGNORE || fortran == (void*)MPI_F08_STATUSES_IGNORE) return MPI_STATUSES_IGNORE;
#endif
  return fortran;
}

/* `error` is NULL where the caller leaves the argument out. */
static void give(MPI_Fint* error, int value) {
  if (error != NULL) *error = value;
}

/* For marline_mpi.f90, and for marline_mpi_f08.f90, where MPI_Request is a type with one integer. */

void marline_mpi_iwaitall_f(MPI_Fint count, MPI_Fint* fortran, void* statuses, MPI_Fint* error) {
  Requests requests;
  int result = to_c(&requests, count, fortran);
  if (result == MPI_SUCCESS) {
    result = marline_mpi_iwaitall(count, requests.c, statuses_of(statuses));
    hand_over(&requests, count, fortran);
  }
  give(error, result);
}

void marline_mpi_iwait_f(MPI_Fint* request, void* status, MPI_Fint* error) {
  marline_mpi_iwaitall_f(1, request, status, error);
}

void marline_mpi_on_completion_f(MPI_Fint count, MPI_Fint* fortran, void* statuses, marline_mpi_callback_fn callback,
                                 void* arg, MPI_Fint* error) {
  Requests requests;
  int result = to_c(&requests, count, fortran);
  if (result == MPI_SUCCESS) {
    result = marline_mpi_on_completion(count, requests.c, statuses_of(statuses), callback, arg);
    hand_over(&requests, count, fortran);
  }
  give(error, result);
}

void marline_mpi_fulfill_f(MPI_Fint count, MPI_Fint* fortran, void* statuses, uintptr_t event, MPI_Fint* error) {
  Requests requests;
  int result = to_c(&requests, count, fortran);
  if (result == MPI_SUCCESS) {
    result = marline_mpi_fulfill(count, requests.c, statuses_of(statuses), event);
    hand_over(&requests, count, fortran);
  }
  give(error, result);
}

/* TAMPI's subroutines, by the names that Fortran compilers give to external procedures. */

void tampi_iwait_(MPI_Fint* request, void* status, MPI_Fint* error) {
  marline_mpi_iwaitall_f(1, request, status, error);
}

void tampi_iwaitall_(MPI_Fint* count, MPI_Fint* requests, void* statuses, MPI_Fint* error) {
  marline_mpi_iwaitall_f(*count, requests, statuses, error);
}

void tampi_property_get_(MPI_Fint* property, MPI_Fint* value, MPI_Fint* error) {
  give(error, TAMPI_Property_get(*property, value));
}

void tampi_property_set_(MPI_Fint* property, MPI_Fint* value, MPI_Fint* error) {
  give(error, TAMPI_Property_set(*property, *value));
}

void tampi_blocking_enabled_(MPI_Fint* flag, MPI_Fint* error) { give(error, TAMPI_Blocking_enabled(flag)); }

void tampi_nonblocking_enabled_(MPI_Fint* flag, MPI_Fint* error) { give(error, TAMPI_Nonblocking_enabled(flag)); }
