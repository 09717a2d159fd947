/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of MPI Detach (J. Protze, M.-A. Hermanns, A. Demiralp, M. S. Mueller, T. Kuhlen: MPI detach - asynchronous
 * local completion, EuroMPI 2020) on Marline. Conventions, linking and what callbacks may do: marline_mpi.h. Callbacks
 * get no error code: use the functions with statuses, in which MPI_ERROR is set. Statuses are valid during the
 * callback.
 *
 * Marline makes progress itself: the environment variable MPIX_DETACH means nothing, and MPIX_Progress need not be
 * called. Requests become MPI_REQUEST_NULL, persistent ones too: keep a copy of persistent requests. */
#ifndef MARLINE_COMPAT_MPI_DETACH_H
#define MARLINE_COMPAT_MPI_DETACH_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void MPIX_Detach_function(void* data);
typedef void MPIX_Detach_status_function(void* data, MPI_Status* status);
typedef void MPIX_Detach_all_statuses_function(void* data, int count, MPI_Status statuses[]);

typedef MPIX_Detach_function MPIX_Detach_callback;
typedef MPIX_Detach_status_function MPIX_Detach_callback_status;
typedef MPIX_Detach_all_statuses_function MPIX_Detach_all_callback_statuses;

/* One request, one call of the callback. */
int MPIX_Detach(MPI_Request* request, MPIX_Detach_callback* callback, void* data);
int MPIX_Detach_status(MPI_Request* request, MPIX_Detach_callback_status* callback, void* data);

/* One call of the callback per request, with its own data, when that request completes. */
int MPIX_Detach_each(int count, MPI_Request requests[], MPIX_Detach_callback* callback, void* data[]);
int MPIX_Detach_each_status(int count, MPI_Request requests[], MPIX_Detach_callback_status* callback, void* data[]);

/* One call of the callback when all requests are complete. */
int MPIX_Detach_all(int count, MPI_Request requests[], MPIX_Detach_callback* callback, void* data);
int MPIX_Detach_all_status(int count, MPI_Request requests[], MPIX_Detach_all_callback_statuses* callback, void* data);

/* For programs that call it in a loop or register it somewhere: gives the core to other threads. */
int MPIX_Progress(void* unused);

#ifdef __cplusplus
}
#endif

#endif
