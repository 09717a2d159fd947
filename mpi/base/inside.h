/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call that reaches MPI itself is made between marline_library_enter and marline_library_leave (marline.h),
 * because any call may call code of the program: a reduction's operation, an error handler, functions of attributes, of
 * generalized requests and of data representations. That code may use OpenMP as it likes. The functions that enter and
 * leave are generated (mpi_inside.c), and the pointers in mpi_itself lead to them.
 */
#ifndef MARLINE_MPI_INSIDE_H
#define MARLINE_MPI_INSIDE_H

#include "base/device_threads.h"
#include "base/mpi_library.h"
#include "marline/marline.h"

/* Lasts to the end of the block, which an error handler's C++ exception may leave. */
#define INSIDE_MPI                                                                     \
  __attribute__((cleanup(marline_library_leave))) marline_library_call_t library_call; \
  device_threads_prepare();                                                            \
  marline_library_enter(&library_call)

#endif
