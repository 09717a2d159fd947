/* SPDX-License-Identifier: Apache-2.0
 *
 * The common start of the applications: MPI for all threads, and the data of the job. Main thread only.
 */
#ifndef APPS_COMMON_JOB_H
#define APPS_COMMON_JOB_H

#include <stdbool.h>

#include "failure.h"

typedef struct {
  const char* program; /* printed before messages */
  int ranks;
  int rank;
  int threads; /* 1 in a build without OpenMP */
  int thread_support;
} Job;

/* Starts MPI; MPI_Finalize is the caller's. `program` is not copied. */
Job job_start(const char* program, int* argc, char*** argv);

/* MPI may grant less than it was asked for: notes a failure if this job's threads need more. */
void job_check_thread_support(const Job* job, Failure* failure);

/* The largest message tag of this MPI library. */
int job_largest_tag(void);

/* Collective. 0 if no process noted a failure; otherwise the code of the lowest rank that did, which prints its text
 * after the program's name. */
int job_agree(const Job* job, const Failure* failure);

/* Collective, when the options have been read. False: the run ends here with *code, for a failure as in job_agree, or
 * because the first process has been asked for help and has printed it. */
bool job_goes_on(const Job* job, const Failure* failure, bool help, void (*print_usage)(void), int* code);

#endif
