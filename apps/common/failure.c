/* SPDX-License-Identifier: Apache-2.0
 *
 * Agreement on failures; see failure.h. Main thread only.
 */
#include "failure.h"

#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

void failure_note(Failure *failure, int code, const char *format, ...) {
  if (failure->code != 0) {
    return;
  }
  failure->code = code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
}

int failure_agree(const Failure *failure, const char *program) {
  struct {
    int rank;
    int code;
  } mine = {INT_MAX, 0}, first;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (failure->code != 0) {
    mine.rank = rank;
    mine.code = failure->code;
  }
  MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  if (first.rank == rank) {
    fprintf(stderr, "%s: %s\n", program, failure->text);
    fflush(stderr);
  }
  return first.code;
}
