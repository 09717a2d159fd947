/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Init and MPI_Init_thread: raised to MPI_THREAD_MULTIPLE, since tasks of one program call MPI from several threads
 * and the poller from any. The program learns what it got, which is never less than what it would have got.
 */
#include "../pmpi/caller.h"
#include "comm.h"
#include "describe.h"
#include "engine.h"
#include "mpi_library.h"
#include "order.h"
#include "report.h"

static void warn_of_options(void)
{
  size_t length = 0;
  const char *fault = caller_option_fault(&length);
  if (fault != NULL)
    report_warning("MARLINE_MPI_NEVER_SUSPEND: \"%.*s\" is the beginning of no library's file name, and without effect; "
                   "write names without folders or blanks, as in libone,libother", (int)length, fault);
}

static int init(int *argc, char ***argv, int *provided)
{
  library_resolve();
  const int error = next_mpi.init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (error == MPI_SUCCESS) {
    warn_of_options();
    comm_start();
    engine_start(*provided);
    describe_start(*provided);
    if (*provided == MPI_THREAD_MULTIPLE)
      order_start();
  }
  return error;
}

int MPI_Init(int *argc, char ***argv)
{
  int provided = MPI_THREAD_SINGLE;
  return init(argc, argv, &provided);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  (void)required; /* never more than MPI_THREAD_MULTIPLE */
  return init(argc, argv, provided);
}

extern __typeof__(MPI_Init) PMPI_Init __attribute__((alias("MPI_Init")));
extern __typeof__(MPI_Init_thread) PMPI_Init_thread __attribute__((alias("MPI_Init_thread")));
