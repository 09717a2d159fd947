/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts MPI and makes processes agree on failures. No state.
 */
#include "job.h"

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

Job job_start(const char* program, int* argc, char*** argv) {
  Job job = {.program = program, .threads = 1};
#ifdef _OPENMP
  job.threads = omp_get_max_threads();
#endif
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &job.thread_support);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  return job;
}

void job_check_thread_support(const Job* job, Failure* failure) {
  if (job->threads > 1 && job->thread_support < MPI_THREAD_MULTIPLE) {
    failure_note(failure, kExitInput,
                 "this MPI library does not provide MPI_THREAD_MULTIPLE, which %d threads need; set OMP_NUM_THREADS=1",
                 job->threads);
  }
}

int job_largest_tag(void) {
  int* upper_bound = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper_bound, &found);
  return found ? *upper_bound : SHRT_MAX; /* the least that MPI guarantees, MPI 4.0 section 9.1.2 */
}

int job_agree(const Job* job, const Failure* failure) {
  struct {
    int rank;
    int code;
  } mine = {INT_MAX, 0}, first;
  if (failure->code != 0) {
    mine.rank = job->rank;
    mine.code = failure->code;
  }
  MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  if (first.rank == job->rank) {
    fprintf(stderr, "%s: %s\n", job->program, failure->text);
    fflush(stderr);
  }
  return first.code;
}

bool job_goes_on(const Job* job, const Failure* failure, bool help, void (*print_usage)(void), int* code) {
  *code = job_agree(job, failure);
  if (*code != 0 || !help) {
    return *code == 0;
  }
  if (job->rank == 0) {
    print_usage();
  }
  return false;
}
