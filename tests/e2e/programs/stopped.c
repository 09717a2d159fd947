/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs for ever, with threads and a device; under MPI if built with USE_MPI. "pipe": says instead which signals it
 * ignores that an interpreter ignores for itself.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

static int ignores(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  return action.sa_handler == SIG_IGN;
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "pipe") == 0)
    return printf("pipe=%d size=%d\n", ignores(SIGPIPE), ignores(SIGXFSZ)) < 0;
#ifdef USE_MPI
  MPI_Init(&count, &arguments);
#endif
  int there = 0;
#pragma omp target map(tofrom : there)
  there = 1;
#pragma omp parallel
#pragma omp single
  {
    puts("ready");
    fflush(stdout);
  }
  for (;;) pause();
}
