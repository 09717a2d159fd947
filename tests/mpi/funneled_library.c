/* SPDX-License-Identifier: Apache-2.0
 *
 * An MPI library without MPI_THREAD_MULTIPLE, as far as anybody in front of it can see: preloaded behind libmarline-
 * mpi.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  (void)required;
  int (*init)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))dlsym(RTLD_NEXT, "PMPI_Init_thread");
  return init(argc, argv, MPI_THREAD_FUNNELED, provided);
}
