/* SPDX-License-Identifier: Apache-2.0
 *
 * Transcripts: a program runs its steps in tasks and prints everything that MPI returned to it, one line per call. The
 * runner compares the lines under plain MPI with those under Marline: they must be the same, whatever MPI returns.
 */
#ifndef MARLINE_TESTS_MPI_TRANSCRIPT_H
#define MARLINE_TESTS_MPI_TRANSCRIPT_H

#include "support.h"

enum { kUntouched = 0x5eed };

typedef struct Step {
  const char* name;
  void (*body)(void);
} Step;

static const char* step_name = "";
static int step_line;

static inline MPI_Status fresh_status(void) {
  MPI_Status status = {0};
  status.MPI_SOURCE = kUntouched;
  status.MPI_TAG = kUntouched;
  status.MPI_ERROR = kUntouched;
  return status;
}

static inline int error_class(int error) {
  int class = error;
  if (error != kUntouched) MPI_Error_class(error, &class);
  return class;
}

static inline void record(const char* call, int error, const char* name, int value) {
  printf("rank %d: %s %02d: %s: class %d, %s %d\n", world_rank, step_name, step_line++, call, error_class(error), name,
         value);
}

/* Without the field MPI_ERROR, which calls with one status leave alone. One printf per line: ranks share a pipe. */
static inline void record_status(const char* call, int error, MPI_Status* status) {
  int count = -1;
  int cancelled = -1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  printf("rank %d: %s %02d: %s: class %d, source %d, tag %d, count %d, cancelled %d\n", world_rank, step_name,
         step_line++, call, error_class(error), status->MPI_SOURCE, status->MPI_TAG, count, cancelled);
}

/* Each step in a task of its own on every rank, one after the other. */
static inline void run_steps(const Step* steps, int count) {
  for (int i = 0; i < count; ++i) {
    step_name = steps[i].name;
    step_line = 0;
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
      steps[i].body();
    }
  }
}

#endif
