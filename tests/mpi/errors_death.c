/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that end early, while tasks of the others are suspended in calls that will not be answered. The first argument
 * says how rank 1 ends, or, for the last ones, how all do:
 *
 *   kill, segv  by a signal
 *   exit        exit(3) outside of tasks, with a suspended task of its own
 *   quiet       exit(0) in the same place: without MPI_Finalize, which is an error all the same
 *   exit_task   exit(3) in a task
 *   abort       MPI_Abort(7) in a task
 *   finalize    MPI_Finalize of both ranks in a task, with a task in a receive that gets no message
 *   stray       MPI_Finalize outside of tasks, with a task in a receive that gets no message: all ranks end, with a
 *               warning
 *   twice       MPI_Finalize twice: MPI's own error
 */
#include <signal.h>
#include <string.h>

#include "support.h"

static char what[16];

static void die(void) {
  if (strcmp(what, "kill") == 0) raise(SIGKILL);
  if (strcmp(what, "segv") == 0) {
    signal(SIGSEGV, SIG_DFL); /* no backtrace of the MPI library's */
    raise(SIGSEGV);
  }
  if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(what, "exit_task") == 0) exit(3);
}

static void receive_from_nobody(void) {
  static int value;
  MPI_Recv(&value, 1, MPI_INT, 1 - world_rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  snprintf(what, sizeof what, "%s", argc > 1 ? argv[1] : "");
  start(&argc, &argv, 2);
  if (strcmp(what, "twice") == 0) {
    MPI_Finalize();
    MPI_Finalize();
    return 0;
  }
#pragma omp parallel
#pragma omp master
  {
#pragma omp task
    receive_from_nobody();
#pragma omp taskyield
    if (strcmp(what, "finalize") == 0) {
#pragma omp task
      exit(finish());
#pragma omp taskwait
    }
    if (strcmp(what, "stray") == 0) {
      exit(finish());
    } else if (world_rank == 1) {
      let_peer_block();
      if (strcmp(what, "exit") == 0) exit(3);
      if (strcmp(what, "quiet") == 0) exit(0);
#pragma omp task
      die();
    }
#pragma omp taskwait
  }
  return finish();
}
